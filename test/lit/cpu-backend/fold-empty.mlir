// RUN: tilebridge-opt %s -tilebridge-cpu-fold-empty | FileCheck %s

// CHECK-LABEL: func.func @load
// CHECK-SAME: %[[ZERO:[a-z0-9]*]]: f32
// CHECK-NEXT: %[[ALL:.*]] = tensor.splat %[[ZERO]] : tensor<64xf32>
// CHECK-NEXT: return %[[ALL]]
func.func @load(%x: memref<0xf32, strided<[1], offset: ?>>, %zero: f32) -> tensor<64xf32> {
  %0 = bufferization.to_tensor %x : memref<0xf32, strided<[1], offset: ?>> to tensor<0xf32>
  %1 = tensor.pad %0 low[0] high[64] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<0xf32> to tensor<64xf32>
  return %1 : tensor<64xf32>
}

// CHECK-LABEL: func.func @padding_in_the_body
// CHECK-NEXT: arith.constant dense<1.000000e+00> : tensor<64xf32>
func.func @padding_in_the_body(%x: tensor<0xf32>) -> tensor<64xf32> {
  %1 = tensor.pad %x low[0] high[64] {
  ^bb0(%i: index):
    %one = arith.constant 1.0 : f32
    tensor.yield %one : f32
  } : tensor<0xf32> to tensor<64xf32>
  return %1 : tensor<64xf32>
}

// CHECK-LABEL: func.func @other
// CHECK-SAME: %{{.*}}: tensor<4x0xf32>, %[[OTHER:.*]]: tensor<4x8xf32>
// CHECK-NEXT: return %[[OTHER]]
func.func @other(%x: tensor<4x0xf32>, %other: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tensor.insert_slice %x into %other[0, 7] [4, 0] [1, 1] : tensor<4x0xf32> into tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @store
// CHECK-NEXT: return
func.func @store(%x: tensor<0xf32>, %y: memref<0xf32, strided<[1], offset: ?>>) {
  bufferization.materialize_in_destination %x in writable %y : (tensor<0xf32>, memref<0xf32, strided<[1], offset: ?>>) -> ()
  return
}

// CHECK-LABEL: func.func @not_empty
// CHECK: bufferization.materialize_in_destination
func.func @not_empty(%x: tensor<1xf32>, %y: memref<1xf32, strided<[1], offset: ?>>) {
  bufferization.materialize_in_destination %x in writable %y : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}
