// RUN: tilebridge compile %s --target=cpu:znver4 --emit=asm -o %t.s && FileCheck %s < %t.s
// RUN: tilebridge compile %s --target=cpu:neoverse-v1 --emit=asm -o %t.arm.s && FileCheck %s < %t.arm.s

// What a chain of branches on an integer gives is read from a table; no jump depends on data.

// CHECK-NOT: jmpq *
// CHECK-NOT: {{^[[:space:]]br[[:space:]]}}
// CHECK: {{switch.table.tilebridge_run.*:}}
// CHECK-NEXT: 0xc1100000
// CHECK-NEXT: 0x40400000
// CHECK-NEXT: 0x40a00000
// CHECK-NEXT: 0x40e00000
// CHECK-NEXT: 0x41300000
tt.func public @codes(%x: !tt.ptr<i32>, %y: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %f1 = arith.constant 3.0 : f32
  %f2 = arith.constant 5.0 : f32
  %f3 = arith.constant 7.0 : f32
  %f4 = arith.constant 11.0 : f32
  %f5 = arith.constant 13.0 : f32
  %f0 = arith.constant -9.0 : f32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %xp = tt.addptr %x, %i : !tt.ptr<i32>, i32
    %v = tt.load %xp : !tt.ptr<i32>
    %is1 = arith.cmpi eq, %v, %c1 : i32
    %r1 = scf.if %is1 -> (f32) {
      scf.yield %f1 : f32
    } else {
      %is2 = arith.cmpi eq, %v, %c2 : i32
      %r2 = scf.if %is2 -> (f32) {
        scf.yield %f2 : f32
      } else {
        %is3 = arith.cmpi eq, %v, %c3 : i32
        %r3 = scf.if %is3 -> (f32) {
          scf.yield %f3 : f32
        } else {
          %is4 = arith.cmpi eq, %v, %c4 : i32
          %r4 = scf.if %is4 -> (f32) {
            scf.yield %f4 : f32
          } else {
            %is0 = arith.cmpi eq, %v, %c0 : i32
            %r0 = scf.if %is0 -> (f32) {
              scf.yield %f0 : f32
            } else {
              scf.yield %f5 : f32
            }
            scf.yield %r0 : f32
          }
          scf.yield %r4 : f32
        }
        scf.yield %r3 : f32
      }
      scf.yield %r2 : f32
    }
    %yp = tt.addptr %y, %i : !tt.ptr<f32>, i32
    tt.store %yp, %r1 : !tt.ptr<f32>
  }
  tt.return
}
