// TilingInterface of linalg_ext, by upstream's own means.
// RUN: tilebridge-opt %s -transform-interpreter -canonicalize -cse | FileCheck %s

!pointer = memref<?xf32, strided<[1], offset: ?>>

// CHECK-LABEL: func.func @gather
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: scf.for %[[J:[^ ]*]] =
// CHECK: %[[O:.*]] = tensor.extract_slice %{{.*}}[%[[I]], %[[J]]] [16, 8] [1, 1] : tensor<64x32xi64>
// CHECK: %[[M:.*]] = tensor.extract_slice %{{.*}}[%[[I]], %[[J]]] [16, 8] [1, 1] : tensor<64x32xi1>
// CHECK: %[[G:.*]] = linalg_ext.gather %{{.*}}[%[[O]]] mask %[[M]] other %{{.*}} -> tensor<16x8xf32>
// CHECK: tensor.insert_slice %[[G]] into %{{.*}}[%[[I]], %[[J]]]
func.func @gather(%p: !pointer, %o: tensor<64x32xi64>, %m: tensor<64x32xi1>, %z: f32) -> tensor<64x32xf32> {
  %0 = linalg_ext.gather %p[%o] mask %m other %z {tile_16_8} : (!pointer, tensor<64x32xi64>, tensor<64x32xi1>, f32) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// Rows are cut with the block, the other dimension is cut to what the view has of it.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: scf.for %[[J:[^ ]*]] =
// CHECK: %[[N:.*]] = memref.dim %{{.*}}, %c1
// CHECK: %[[AT:.*]] = arith.minsi %[[J]], %[[N]]
// CHECK: %[[REST:.*]] = arith.subi %[[N]], %[[AT]]
// CHECK: %[[SIZE:.*]] = arith.minsi %[[REST]], %c8
// CHECK: %[[VIEW:.*]] = memref.subview %{{.*}}[0, %[[AT]]] [%{{.*}}, %[[SIZE]]] [1, 1]
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %{{.*}}[%[[I]]] [16] [1]
// CHECK: linalg_ext.gather_rows %[[VIEW]][%[[ROWS]]] dim 0 {{.*}} -> tensor<16x8xf32>
func.func @rows(%v: memref<?x?xf32, strided<[?, 1], offset: ?>>, %r: tensor<64xi64>) -> tensor<64x32xf32> {
  %0 = linalg_ext.gather_rows %v[%r] dim 0 {tile_16_8} : (memref<?x?xf32, strided<[?, 1], offset: ?>>, tensor<64xi64>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// CHECK-LABEL: func.func @masked
// CHECK: scf.for
// CHECK: %[[VIEW:.*]] = memref.subview %{{.*}} [16, 8] [1, 1]
// CHECK: %[[M:.*]] = tensor.extract_slice
// CHECK: linalg_ext.masked_load %[[VIEW]], %[[M]]
func.func @masked(%v: memref<64x32xf32, strided<[?, 1], offset: ?>>, %m: tensor<64x32xi1>) -> tensor<64x32xf32> {
  %0 = linalg_ext.masked_load %v, %m {tile_16_8} : (memref<64x32xf32, strided<[?, 1], offset: ?>>, tensor<64x32xi1>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// CHECK-LABEL: func.func @along
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, 0] [16, 128] [1, 1]
// CHECK: %[[I:.*]] = tensor.extract_slice %{{.*}} [16, 8] [1, 1]
// CHECK: linalg_ext.gather_along %[[S]][%[[I]]] dimension = 1
func.func @along(%x: tensor<64x128xf32>, %i: tensor<64x32xi32>) -> tensor<64x32xf32> {
  %0 = linalg_ext.gather_along %x[%i] dimension = 1 {tile_16_8} : tensor<64x128xf32>, tensor<64x32xi32> -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// Dimensions that are not combined are parallel.
// CHECK-LABEL: func.func @lines
// CHECK: scf.for
// CHECK: linalg_ext.scan({{.*}}) dimension = 1
// CHECK: (tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK: scf.for
// CHECK: linalg_ext.reduce({{.*}}) dimension = 1
// CHECK: (tensor<16x32xf32>) -> tensor<16xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}] [16] [1]
func.func @lines(%x: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
  %0 = linalg_ext.scan(%x) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg_ext.yield %s : f32
  } {tile_16} : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = linalg_ext.reduce(%x) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    linalg_ext.yield %s : f32
  } {tile_16} : (tensor<64x32xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<64x32xf32>, tensor<64xf32>
}

// What writes is cut into runs of its order.
// CHECK-LABEL: func.func @writes
// CHECK: scf.for
// CHECK: linalg_ext.scatter {{.*}} : (tensor<16x32xf32>,
// CHECK: scf.for
// CHECK: linalg_ext.scatter_rows {{.*}} : (tensor<16x32xf32>,
// CHECK: scf.for
// CHECK: linalg_ext.masked_store {{.*}} : (tensor<16x32xf32>,
// CHECK: scf.for
// CHECK: linalg_ext.atomic_rmw {{.*}} -> tensor<16x32xf32>
func.func @writes(%p: !pointer, %v: memref<?x?xf32, strided<[?, 1], offset: ?>>, %w: memref<64x32xf32, strided<[?, 1], offset: ?>>,
                  %x: tensor<64x32xf32>, %o: tensor<64x32xi64>, %m: tensor<64x32xi1>, %r: tensor<64xi64>) -> tensor<64x32xf32> {
  linalg_ext.scatter %x into %p[%o] mask %m {tile_16} : (tensor<64x32xf32>, !pointer, tensor<64x32xi64>, tensor<64x32xi1>) -> ()
  linalg_ext.scatter_rows %x into %v[%r] dim 0 {tile_16} : (tensor<64x32xf32>, memref<?x?xf32, strided<[?, 1], offset: ?>>, tensor<64xi64>) -> ()
  linalg_ext.masked_store %x, %w, %m {tile_16} : (tensor<64x32xf32>, memref<64x32xf32, strided<[?, 1], offset: ?>>, tensor<64x32xi1>) -> ()
  %0 = linalg_ext.atomic_rmw fadd relaxed gpu %p[%o], %x {tile_16} : (!pointer, tensor<64x32xi64>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// A producer is fused into the tiles of what reads it.
// CHECK-LABEL: func.func @fused
// CHECK: scf.forall
// CHECK: %[[S:.*]] = linalg_ext.scan
// CHECK: (tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK: linalg_ext.gather_along %[[S]]
func.func @fused(%x: tensor<64x32xf32>, %i: tensor<64x32xi32>) -> tensor<64x32xf32> {
  %0 = linalg_ext.scan(%x) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg_ext.yield %s : f32
  } {producer} : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = linalg_ext.gather_along %0[%i] dimension = 1 {consumer} : tensor<64x32xf32>, tensor<64x32xi32> -> tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %both = transform.structured.match attributes {tile_16_8} in %root : (!transform.any_op) -> !transform.any_op
    transform.foreach %both : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      %t, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    }
    %outer = transform.structured.match attributes {tile_16} in %root : (!transform.any_op) -> !transform.any_op
    transform.foreach %outer : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      %t, %loop = transform.structured.tile_using_for %op tile_sizes [16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    }
    %consumer = transform.structured.match attributes {consumer} in %root : (!transform.any_op) -> !transform.any_op
    %producer = transform.structured.match attributes {producer} in %root : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.tile_using_forall %consumer tile_sizes [16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused, %new = transform.structured.fuse_into_containing_op %producer into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
