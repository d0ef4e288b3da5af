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
