// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=512 -canonicalize | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A load in the opposite order is another view of its memory: vectors of which only those at the end of the box are masked.
// CHECK-LABEL: func.func @masked
// CHECK-SAME: index, %[[N:[a-z0-9]*]]: index)
// CHECK-NOT: vector.gather
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK: vector.maskedload
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = vector.load
// CHECK-NEXT: vector.shuffle %[[ROW]], %[[ROW]]
// CHECK: return
func.func @masked(%x: memref<?xf32, strided<[1], offset: ?>>, %out: memref<256xf32>, %size: index, %n: index) {
  %c255 = arith.constant 255 : index
  %zero = arith.constant 0.0 : f32
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1]>>
  %box = memref.subview %view[0] [%size] [1] : memref<256xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  %in = bufferization.to_tensor %box : memref<?xf32, strided<[1]>> to tensor<?xf32>
  %t = tensor.pad %in low[0] high[%n] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<256xf32>
  %e = tensor.empty() : tensor<256xi32>
  %order = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.subi %c255, %i : index
    %k = arith.index_cast %j : index to i32
    linalg.yield %k : i32
  } -> tensor<256xi32>
  %r = linalg_ext.gather_along %t[%order] dimension = 0 : tensor<256xf32>, tensor<256xi32> -> tensor<256xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// What is computed is computed at the opposite index; lanes that run backwards leave the box at the first ones.
// CHECK-LABEL: func.func @computed
// CHECK-NOT: vector.gather
// CHECK: %[[OUTSIDE:.*]] = vector.create_mask
// CHECK: arith.xori %[[OUTSIDE]]
// CHECK: vector.maskedload
// CHECK: math.absf
// CHECK: return
func.func @computed(%x: memref<?xf32, strided<[1], offset: ?>>, %out: memref<256xf32>, %size: index, %n: index) {
  %c255 = arith.constant 255 : index
  %zero = arith.constant 0.0 : f32
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [256], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1]>>
  %box = memref.subview %view[0] [%size] [1] : memref<256xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
  %in = bufferization.to_tensor %box : memref<?xf32, strided<[1]>> to tensor<?xf32>
  %t = tensor.pad %in low[0] high[%n] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<256xf32>
  %f = tensor.empty() : tensor<256xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<256xf32>) outs(%f : tensor<256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = math.absf %a : f32
    linalg.yield %d : f32
  } -> tensor<256xf32>
  %e = tensor.empty() : tensor<256xi32>
  %order = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.subi %c255, %i : index
    %k = arith.index_cast %j : index to i32
    linalg.yield %k : i32
  } -> tensor<256xi32>
  %r = linalg_ext.gather_along %q[%order] dimension = 0 : tensor<256xf32>, tensor<256xi32> -> tensor<256xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// Other indices are looked up.
// CHECK-LABEL: func.func @others
// CHECK: arith.minui
// CHECK: return
func.func @others(%x: memref<256xf32>, %out: memref<256xf32>) {
  %c254 = arith.constant 254 : index
  %t = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  %e = tensor.empty() : tensor<256xi32>
  %order = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.subi %c254, %i : index
    %k = arith.index_cast %j : index to i32
    linalg.yield %k : i32
  } -> tensor<256xi32>
  %r = linalg_ext.gather_along %t[%order] dimension = 0 : tensor<256xf32>, tensor<256xi32> -> tensor<256xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}
