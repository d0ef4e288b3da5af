// RUN: tilebridge-opt %s -tilebridge-flatten-branches | FileCheck %s

// Inner branches go first. What is not taken divides by 1.
// CHECK-LABEL: tt.func public @nested
// CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32):
// CHECK-NOT: scf.if
// CHECK: %[[C:.*]] = arith.cmpi slt, %[[A]], %[[B]]
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[D:.*]] = arith.select %[[C]], %[[B]], %[[ONE]]
// CHECK: %[[Q:.*]] = arith.divsi %[[A]], %[[D]]
// CHECK: %[[E:.*]] = arith.cmpi eq, %[[A]], %[[B]]
// CHECK: %[[ONE2:.*]] = arith.constant 1 : i32
// CHECK: %[[D2:.*]] = arith.select %[[E]], %[[ONE2]], %[[B]]
// CHECK: %[[D3:.*]] = arith.select %[[C]], %{{.*}}, %[[D2]]
// CHECK: %[[R:.*]] = arith.remui %[[A]], %[[D3]]
// CHECK: %[[INNER:.*]] = arith.select %[[E]], %[[A]], %[[R]]
// CHECK: %[[OUTER:.*]] = arith.select %[[C]], %[[Q]], %[[INNER]]
// CHECK: tt.map_elementwise.return %[[OUTER]]
tt.func public @nested(%x: tensor<8xi32>, %y: tensor<8xi32>) {
  %0 = "tt.map_elementwise"(%x, %y) <{pack = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.cmpi slt, %a, %b : i32
    %r = scf.if %c -> i32 {
      %q = arith.divsi %a, %b : i32
      scf.yield %q : i32
    } else {
      %e = arith.cmpi eq, %a, %b : i32
      %s = scf.if %e -> i32 {
        scf.yield %a : i32
      } else {
        %m = arith.remui %a, %b : i32
        scf.yield %m : i32
      }
      scf.yield %s : i32
    }
    tt.map_elementwise.return %r : i32
  }) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  tt.return
}

// A loop may be endless where its branch is not taken.
// CHECK-LABEL: tt.func public @loop
// CHECK: scf.if
// CHECK: scf.while
tt.func public @loop(%x: tensor<8xi32>) {
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c = arith.cmpi sgt, %a, %zero : i32
    %r = scf.if %c -> i32 {
      %w = scf.while (%i = %a) : (i32) -> i32 {
        %more = arith.cmpi ne, %i, %zero : i32
        scf.condition(%more) %i : i32
      } do {
      ^bb0(%i: i32):
        %j = arith.subi %i, %one : i32
        scf.yield %j : i32
      }
      scf.yield %w : i32
    } else {
      scf.yield %a : i32
    }
    tt.map_elementwise.return %r : i32
  }) : (tensor<8xi32>) -> tensor<8xi32>
  tt.return
}

// Elsewhere a branch saves work.
// CHECK-LABEL: tt.func private @outside
// CHECK: scf.if
tt.func private @outside(%c: i1, %x: i32) -> i32 {
  %r = scf.if %c -> i32 {
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
  } else {
    scf.yield %x : i32
  }
  tt.return %r : i32
}
