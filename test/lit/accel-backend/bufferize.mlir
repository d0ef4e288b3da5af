// RUN: tilebridge-opt %s -tilebridge-accel-bufferize -canonicalize -cse | FileCheck %s

!local = memref<16x16xf32, #accel.memory<"local">>

// The accumulator stays in one buffer over all iterations.
// CHECK-LABEL: @matmul(
func.func @matmul(%a: memref<16x16xf32, strided<[?, 1], offset: ?>>, %c: memref<16x16xf32, strided<[?, 1], offset: ?>>, %n: index) {
  // CHECK: %[[ACC:.*]] = accel.alloc : memref<16x16xf32, #accel.memory<"local">>
  // CHECK: linalg.fill {{.*}} outs(%[[ACC]]
  // CHECK: scf.for
  // CHECK-NOT: linalg.copy
  // CHECK-NOT: iter_args
  // CHECK: accel.copy %{{.*}} to %[[X:.*]] :
  // CHECK: linalg.matmul ins(%[[X]], %[[X]] : {{.*}}) outs(%[[ACC]] :
  // CHECK: }
  // CHECK: accel.copy %[[ACC]] to %{{.*}} :
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x16xf32>
  %init = linalg.fill ins(%z : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<16x16xf32> {
    %t = accel.copy %a to %empty : (memref<16x16xf32, strided<[?, 1], offset: ?>>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %m = linalg.matmul ins(%t, %t : tensor<16x16xf32>, tensor<16x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %m : tensor<16x16xf32>
  }
  accel.copy %r to %c : (tensor<16x16xf32>, memref<16x16xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// A carried maximum is still read after the new one is known: the new one is copied at the end, into the one buffer.
// CHECK-LABEL: @running_max(
func.func @running_max(%a: memref<8xf32>, %c: memref<8xf32>, %n: index) {
  // CHECK: %[[MAX:.*]] = accel.alloc
  // CHECK: scf.for
  // CHECK-NOT: iter_args
  // CHECK: linalg.generic {{.*}} outs(%[[NEW:.*]] :
  // CHECK: linalg.generic {{.*}} ins(%[[MAX]], %[[NEW]]
  // CHECK: accel.copy
  // CHECK: linalg.copy ins(%[[NEW]] : {{.*}}) outs(%[[MAX]] :
  // CHECK: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%z : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%old = %init) -> tensor<8xf32> {
    %t = accel.copy %a to %empty : (memref<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %new = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]} ins(%old, %t : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.maximumf %x, %y : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]} ins(%old, %new : tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    accel.copy %d to %c : (tensor<8xf32>, memref<8xf32>) -> ()
    scf.yield %new : tensor<8xf32>
  }
  accel.copy %r to %c : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// Two blocks that change places: one is saved first.
// CHECK-LABEL: @swap(
func.func @swap(%a: memref<8xf32>, %c: memref<8xf32>, %n: index) {
  // CHECK: scf.for
  // CHECK-NOT: iter_args
  // CHECK-COUNT-3: linalg.copy
  // CHECK-NOT: linalg.copy
  // CHECK: }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<8xf32>
  %x = accel.copy %a to %empty : (memref<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = accel.copy %c to %empty : (memref<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.yield %q, %p : tensor<8xf32>, tensor<8xf32>
  }
  accel.copy %r#0 to %a : (tensor<8xf32>, memref<8xf32>) -> ()
  accel.copy %r#1 to %c : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// An accumulator of two loops is in one buffer; where its old contents are used once more the sum is copied.
// CHECK-LABEL: @nested(
func.func @nested(%a: memref<8xf32>, %c: memref<8xf32>, %n: index) {
  // CHECK: %[[ACC:.*]] = accel.alloc
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-NOT: linalg.copy
  // CHECK: linalg.generic {{.*}} outs(%[[ACC]] :
  // CHECK: accel.copy %[[ACC]] to
  // CHECK: scf.for
  // CHECK: linalg.copy ins(%[[ACC]] : {{.*}}) outs(%[[SUM:.*]] :
  // CHECK: scf.for
  // CHECK: linalg.generic {{.*}} outs(%[[SUM]] :
  // CHECK: accel.copy %[[ACC]] to
  // CHECK: linalg.copy {{.*}} outs(%[[ACC]] :
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<8xf32>
  %x = accel.copy %a to %empty : (memref<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> tensor<8xf32> {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%q = %p) -> tensor<8xf32> {
      %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%q : tensor<8xf32>) {
      ^bb0(%o: f32):
        %0 = arith.addf %o, %o : f32
        linalg.yield %0 : f32
      } -> tensor<8xf32>
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %s : tensor<8xf32>
  }
  accel.copy %r to %c : (tensor<8xf32>, memref<8xf32>) -> ()
  %u = scf.for %i = %c0 to %n step %c1 iter_args(%p = %r) -> tensor<8xf32> {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%q = %p) -> tensor<8xf32> {
      %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%q : tensor<8xf32>) {
      ^bb0(%o: f32):
        %0 = arith.addf %o, %o : f32
        linalg.yield %0 : f32
      } -> tensor<8xf32>
      scf.yield %t : tensor<8xf32>
    }
    accel.copy %p to %c : (tensor<8xf32>, memref<8xf32>) -> ()
    scf.yield %s : tensor<8xf32>
  }
  accel.copy %u to %a : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// CHECK-LABEL: @compute(
func.func @compute(%a: memref<8xi32>, %c: memref<4xi32>, %o: memref<8xi64>, %p: memref<?xi32>) {
  // CHECK: accel.compute vector ins(%{{.*}} : memref<8xi32, #accel.memory<"local">>) outs(%{{.*}} : memref<4xi32, #accel.memory<"local">>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<8xi32>, %{{.*}}: tensor<4xi32>):
  // CHECK: }
  // CHECK-NEXT: accel.copy
  %e = tensor.empty() : tensor<8xi32>
  %x = accel.copy %a to %e : (memref<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %init = tensor.empty() : tensor<4xi32>
  %0 = accel.compute vector ins(%x : tensor<8xi32>) outs(%init : tensor<4xi32>) {
  ^bb0(%in: tensor<8xi32>, %out: tensor<4xi32>):
    %1 = linalg_ext.histogram %in : tensor<8xi32> -> tensor<4xi32>
    accel.yield %1 : tensor<4xi32>
  } -> tensor<4xi32>
  accel.copy %0 to %c : (tensor<4xi32>, memref<4xi32>) -> ()
  // CHECK: accel.atomic add relaxed gpu %{{.*}} values(%{{.*}}) old(%{{.*}}) : {{.*}} -> ()
  %e64 = tensor.empty() : tensor<8xi64>
  %offsets = accel.copy %o to %e64 : (memref<8xi64>, tensor<8xi64>) -> tensor<8xi64>
  %old = accel.atomic add relaxed gpu %p[%offsets] values(%x) old(%e)
      : (memref<?xi32>, tensor<8xi64>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  accel.copy %old to %a : (tensor<8xi32>, memref<8xi32>) -> ()
  return
}

// Two blocks that inner loops, one after the other, carry on are in one buffer each: nothing is copied but what each loop gives.
// CHECK-LABEL: @carried_on(
func.func @carried_on(%c: memref<16xf32, strided<[1], offset: ?>>, %d: memref<16xf32, strided<[1], offset: ?>>, %n: index, %m: index, %l: index) {
  // CHECK: %[[A:.*]] = accel.alloc
  // CHECK: %[[B:.*]] = accel.alloc
  // CHECK-NOT: accel.alloc
  // CHECK-NOT: linalg.copy
  // CHECK-COUNT-3: scf.for
  // CHECK-NOT: linalg.copy
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %o = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<16xf32>
  %zeros = linalg.fill ins(%z : f32) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  %ones = linalg.fill ins(%o : f32) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zeros, %b = %ones) -> (tensor<16xf32>, tensor<16xf32>) {
    %s:2 = scf.for %j = %c0 to %m step %c1 iter_args(%a1 = %a, %b1 = %b) -> (tensor<16xf32>, tensor<16xf32>) {
      %a2 = linalg.add ins(%a1, %a1 : tensor<16xf32>, tensor<16xf32>) outs(%a1 : tensor<16xf32>) -> tensor<16xf32>
      %b2 = linalg.exp ins(%b1 : tensor<16xf32>) outs(%b1 : tensor<16xf32>) -> tensor<16xf32>
      scf.yield %a2, %b2 : tensor<16xf32>, tensor<16xf32>
    }
    %t:2 = scf.for %j = %c0 to %l step %c1 iter_args(%a1 = %s#0, %b1 = %s#1) -> (tensor<16xf32>, tensor<16xf32>) {
      %a2 = linalg.exp ins(%a1 : tensor<16xf32>) outs(%a1 : tensor<16xf32>) -> tensor<16xf32>
      %b2 = linalg.add ins(%b1, %b1 : tensor<16xf32>, tensor<16xf32>) outs(%b1 : tensor<16xf32>) -> tensor<16xf32>
      scf.yield %a2, %b2 : tensor<16xf32>, tensor<16xf32>
    }
    scf.yield %t#0, %t#1 : tensor<16xf32>, tensor<16xf32>
  }
  accel.copy %r#0 to %c : (tensor<16xf32>, memref<16xf32, strided<[1], offset: ?>>) -> ()
  accel.copy %r#1 to %d : (tensor<16xf32>, memref<16xf32, strided<[1], offset: ?>>) -> ()
  return
}

// A block that the inner loop goes on with, and the outer one needs as it was.
// CHECK-LABEL: @needed_as_it_was(
func.func @needed_as_it_was(%c: memref<16xf32, strided<[1], offset: ?>>, %n: index, %m: index) {
  // CHECK: scf.for
  // CHECK: linalg.copy
  // CHECK: scf.for
  // CHECK: linalg.exp
  // CHECK: linalg.add
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16xf32>
  %zeros = linalg.fill ins(%z : f32) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zeros) -> tensor<16xf32> {
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%a1 = %a) -> tensor<16xf32> {
      %a2 = linalg.exp ins(%a1 : tensor<16xf32>) outs(%a1 : tensor<16xf32>) -> tensor<16xf32>
      scf.yield %a2 : tensor<16xf32>
    }
    %t = linalg.add ins(%s, %a : tensor<16xf32>, tensor<16xf32>) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
    scf.yield %t : tensor<16xf32>
  }
  accel.copy %r to %c : (tensor<16xf32>, memref<16xf32, strided<[1], offset: ?>>) -> ()
  return
}

// What a branch computes is added to what the loop carries, which is still needed then: a buffer of its own. What was loaded, and the branch
// only passes on, is not written over.
// CHECK-LABEL: @branch(
func.func @branch(%a: memref<16xf32, strided<[1], offset: ?>>, %c: memref<16xf32, strided<[1], offset: ?>>, %n: index, %m: index) {
  // CHECK: %[[ACC:.*]] = accel.alloc
  // CHECK: scf.for
  // CHECK: %[[X:.*]] = accel.alloc
  // CHECK: accel.copy %{{.*}} to %[[X]]
  // CHECK: scf.for
  // CHECK: %[[V:.*]] = scf.if
  // CHECK: %[[OWN:.*]] = accel.alloc
  // CHECK: linalg.add ins(%[[X]], %[[X]] : {{.*}}) outs(%[[OWN]]
  // CHECK: else
  // CHECK-NEXT: scf.yield %[[X]]
  // CHECK: linalg.generic {{.*}} ins(%[[ACC]], %[[V]] : {{.*}}) outs(%[[ACC]]
  // CHECK: accel.copy %[[ACC]] to
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16xf32>
  %zeros = linalg.fill ins(%z : f32) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> tensor<16xf32> {
    %x = accel.copy %a to %empty : (memref<16xf32, strided<[1], offset: ?>>, tensor<16xf32>) -> tensor<16xf32>
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%old = %acc) -> tensor<16xf32> {
      %is = arith.cmpi sge, %i, %m : index
      %v = scf.if %is -> tensor<16xf32> {
        %two = linalg.add ins(%x, %x : tensor<16xf32>, tensor<16xf32>) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
        scf.yield %two : tensor<16xf32>
      } else {
        scf.yield %x : tensor<16xf32>
      }
      %new = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%old, %v : tensor<16xf32>, tensor<16xf32>) outs(%empty : tensor<16xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %d = arith.subf %p, %q : f32
        linalg.yield %d : f32
      } -> tensor<16xf32>
      scf.yield %new : tensor<16xf32>
    }
    scf.yield %s : tensor<16xf32>
  }
  accel.copy %r to %c : (tensor<16xf32>, memref<16xf32, strided<[1], offset: ?>>) -> ()
  return
}

// The same where it is the branch's block that is written.
// CHECK-LABEL: @branch_as_destination(
func.func @branch_as_destination(%a: memref<16xf32, strided<[1], offset: ?>>, %c: memref<16xf32, strided<[1], offset: ?>>, %n: index, %m: index) {
  // CHECK: scf.if
  // CHECK: linalg.add
  // CHECK: linalg.generic
  // CHECK: accel.copy %{{.*}} to
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16xf32>
  %zeros = linalg.fill ins(%z : f32) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> tensor<16xf32> {
    %x = accel.copy %a to %empty : (memref<16xf32, strided<[1], offset: ?>>, tensor<16xf32>) -> tensor<16xf32>
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%old = %acc) -> tensor<16xf32> {
      %is = arith.cmpi sge, %i, %m : index
      %v = scf.if %is -> tensor<16xf32> {
        %two = linalg.add ins(%x, %x : tensor<16xf32>, tensor<16xf32>) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
        scf.yield %two : tensor<16xf32>
      } else {
        scf.yield %x : tensor<16xf32>
      }
      %new = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%old : tensor<16xf32>) outs(%v : tensor<16xf32>) {
      ^bb0(%p: f32, %q: f32):
        %d = arith.subf %p, %q : f32
        linalg.yield %d : f32
      } -> tensor<16xf32>
      scf.yield %new : tensor<16xf32>
    }
    scf.yield %s : tensor<16xf32>
  }
  accel.copy %r to %c : (tensor<16xf32>, memref<16xf32, strided<[1], offset: ?>>) -> ()
  return
}
