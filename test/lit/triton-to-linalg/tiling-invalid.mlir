// What TilingInterface of linalg_ext refuses, and what it says then.
// RUN: tilebridge-opt %s -transform-interpreter -split-input-file -verify-diagnostics

func.func @whole(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  // expected-error @+3 {{cannot be cut along dimension 1, which it combines or looks up}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0 = linalg_ext.scan(%x) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg_ext.yield %s : f32
  } {tile} : (tensor<64x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match attributes {tile} in %root : (!transform.any_op) -> !transform.any_op
    %t, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!pointer = memref<?xf32, strided<[1], offset: ?>>
func.func @order(%p: !pointer, %x: tensor<64x32xf32>, %o: tensor<64x32xi64>) {
  // expected-error @+3 {{happens in row-major order: a tile must be one element of the outer dimensions and all of the inner ones}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  linalg_ext.scatter %x into %p[%o] {tile} : (tensor<64x32xf32>, !pointer, tensor<64x32xi64>) -> ()
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match attributes {tile} in %root : (!transform.any_op) -> !transform.any_op
    %t, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

!pointer = memref<?xf32, strided<[1], offset: ?>>
func.func @uneven(%p: !pointer, %o: tensor<64x32xi64>) -> tensor<64x32xf32> {
  // expected-error @+3 {{can only be cut into tiles of one size: shapes of blocks are static, so choose sizes that divide the block's}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0 = linalg_ext.gather %p[%o] {tile} : (!pointer, tensor<64x32xi64>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match attributes {tile} in %root : (!transform.any_op) -> !transform.any_op
    %t, %loop = transform.structured.tile_using_for %op tile_sizes [24] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
