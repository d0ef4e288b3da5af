// RUN: tilebridge-opt %s -tilebridge-lift-control-flow | FileCheck %s

// CHECK-LABEL: tt.func public @early_return
// CHECK-SAME: (%[[P:.*]]: !tt.ptr<f32>, %[[N:.*]]: i32)
tt.func public @early_return(%p: !tt.ptr<f32>, %n: i32) {
  %id = tt.get_program_id x : i32
  // CHECK: %[[OUT:.*]] = arith.cmpi sge
  %out = arith.cmpi sge, %id, %n : i32
  // CHECK-NEXT: scf.if %[[OUT]] {
  // CHECK-NEXT: } else {
  // CHECK: %[[V:.*]] = tt.load %[[P]]
  // CHECK-NEXT: tt.store %[[P]], %[[V]]
  // CHECK: }
  // CHECK-NEXT: tt.return
  // CHECK-NOT: ^bb
  cf.cond_br %out, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  %v = tt.load %p : !tt.ptr<f32>
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}

// Values of a pointer, a tensor of pointers, a descriptor and a block pointer cross the blocks.
// CHECK-LABEL: tt.func private @values
tt.func private @values(%c: i1, %d: i1, %p: !tt.ptr<f32>, %t: tensor<8x!tt.ptr<f32>>, %e: !tt.tensordesc<8xf32>,
                        %b: !tt.ptr<tensor<8xf32>>, %i: i32)
    -> (!tt.ptr<f32>, tensor<8x!tt.ptr<f32>>, !tt.tensordesc<8xf32>, !tt.ptr<tensor<8xf32>>) {
  // CHECK: %[[R:.*]]:4 = scf.if
  // CHECK: tt.return %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3
  // CHECK-NOT: ^bb
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return %p, %t, %e, %b : !tt.ptr<f32>, tensor<8x!tt.ptr<f32>>, !tt.tensordesc<8xf32>, !tt.ptr<tensor<8xf32>>
^bb2:
  %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
  %s = tt.splat %q : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %f = tt.advance %b, [%i] : <tensor<8xf32>>
  cf.br ^bb3(%q, %s : !tt.ptr<f32>, tensor<8x!tt.ptr<f32>>)
^bb3(%x: !tt.ptr<f32>, %y: tensor<8x!tt.ptr<f32>>):
  tt.return %x, %y, %e, %f : !tt.ptr<f32>, tensor<8x!tt.ptr<f32>>, !tt.tensordesc<8xf32>, !tt.ptr<tensor<8xf32>>
}

// As the wheels write it before their passes: blocks behind a return that nothing reaches.
// CHECK-LABEL: tt.func public @unreachable
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @unreachable(%p: !tt.ptr<f32>) {
  tt.return
^bb1:
  %v = tt.load %p : !tt.ptr<f32>
  cf.br ^bb2(%v : f32)
^bb2(%x: f32):
  tt.store %p, %x : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func public @loop
tt.func public @loop(%p: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: scf.while
  // CHECK: scf.condition
  // CHECK: tt.return
  // CHECK-NOT: ^bb{{[1-9]}}
  cf.br ^bb1(%zero : i32)
^bb1(%i: i32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^bb2, ^bb3
^bb2:
  %next = arith.addi %i, %one : i32
  cf.br ^bb1(%next : i32)
^bb3:
  tt.store %p, %i : !tt.ptr<i32>
  tt.return
}

// It never returns: what follows the loop is poison.
// CHECK-LABEL: tt.func private @endless
tt.func private @endless() -> tensor<8xf32> {
  // CHECK: scf.while
  // CHECK: %[[X:.*]] = ub.poison : tensor<8xf32>
  // CHECK: tt.return %[[X]]
  cf.br ^bb1
^bb1:
  cf.br ^bb1
}

// CHECK-LABEL: tt.func public @map
tt.func public @map(%x: tensor<8xi32>, %c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  // CHECK: "tt.map_elementwise"
  // CHECK-NEXT: ^bb0(%[[A:.*]]: i32):
  // CHECK: %[[R:.*]] = scf.if
  // CHECK: tt.map_elementwise.return %[[R]] : i32
  // CHECK-NEXT: })
  %y = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    %zero = arith.constant 0 : i32
    %less = arith.cmpi slt, %a, %zero : i32
    cf.cond_br %less, ^bb4, ^bb5(%a : i32)
  ^bb4:
    %negated = arith.subi %zero, %a : i32
    cf.br ^bb5(%negated : i32)
  ^bb5(%r: i32):
    tt.map_elementwise.return %r : i32
  }) : (tensor<8xi32>) -> tensor<8xi32>
  cf.br ^bb2
^bb2:
  tt.return
}

// CHECK-LABEL: tt.func public @map_endless
tt.func public @map_endless(%x: tensor<8xi32>) {
  // CHECK: %[[Q:.*]] = ub.poison : f32
  // CHECK: tt.map_elementwise.return %[[Q]], %[[Q]] : f32, f32
  %y = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    cf.br ^bb1
  ^bb1:
    cf.br ^bb1
  }) : (tensor<8xi32>) -> tensor<8xf32>
  tt.return
}
