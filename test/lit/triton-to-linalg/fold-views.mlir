// RUN: tilebridge-opt %s -tilebridge-fold-views | FileCheck %s

!pointer = memref<?xf32, strided<[1], offset: ?>>
!known = memref<?x?xf32, strided<[?, 1], offset: ?>>
!unknown = memref<?x?xf32, strided<[?, ?], offset: ?>>

// CHECK-LABEL: func.func private @layout
// CHECK-SAME: %{{.*}}, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index
// CHECK: %[[WHOLE:.*]] = memref.reinterpret_cast
// CHECK: bufferization.to_tensor %[[WHOLE]] : memref<?x?xf32, strided<[?, 1], offset: ?>>
// CHECK: bufferization.materialize_in_destination %{{.*}} in writable %[[WHOLE]]
// CHECK: return %[[M]], %[[N]]
func.func private @layout(%p: !pointer, %m: index, %n: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %whole = memref.reinterpret_cast %p to offset: [%m], sizes: [%m, %n], strides: [%n, 1] : !pointer to !known
  %rows = memref.dim %whole, %c0 : !known
  %columns = memref.dim %whole, %c1 : !known
  %cast = memref.cast %whole : !known to !unknown
  %t = bufferization.to_tensor %cast : !unknown to tensor<?x?xf32>
  bufferization.materialize_in_destination %t in writable %cast : (tensor<?x?xf32>, !unknown) -> ()
  return %rows, %columns : index, index
}

// What a cast of the size hides is known of the tensor.
// CHECK-LABEL: func.func private @size
// CHECK-SAME: %[[M:[^:]*]]: memref<8xf32>
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[M]] : memref<8xf32> to tensor<8xf32>
// CHECK: %[[CAST:.*]] = tensor.cast %[[T]] : tensor<8xf32> to tensor<?xf32>
// CHECK: %[[BACK:.*]] = tensor.cast %[[CAST]] : tensor<?xf32> to tensor<8xf32>
// CHECK: bufferization.materialize_in_destination %[[BACK]] in writable %[[M]]
// CHECK: return %[[CAST]]
func.func private @size(%m: memref<8xf32>) -> tensor<?xf32> {
  %cast = memref.cast %m : memref<8xf32> to memref<?xf32>
  %t = bufferization.to_tensor %cast : memref<?xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %t in writable %cast : (tensor<?xf32>, memref<?xf32>) -> ()
  return %t : tensor<?xf32>
}

// A cast that claims a size is no source of facts.
// CHECK-LABEL: func.func private @claim
// CHECK: %[[CAST:.*]] = memref.cast
// CHECK: bufferization.to_tensor %[[CAST]]
func.func private @claim(%m: memref<?xf32>) -> tensor<8xf32> {
  %cast = memref.cast %m : memref<?xf32> to memref<8xf32>
  %t = bufferization.to_tensor %cast : memref<8xf32> to tensor<8xf32>
  return %t : tensor<8xf32>
}

// CHECK-LABEL: func.func private @metadata
// CHECK-SAME: %[[P:[^:]*]]: memref{{.*}}, %[[O:[^:]*]]: index, %[[N:[^:]*]]: index
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[P]]
// CHECK: return %[[BASE]], %[[O]], %[[N]], %[[ONE]]
func.func private @metadata(%p: !pointer, %o: index, %n: index) -> (memref<f32>, index, index, index) {
  %view = memref.reinterpret_cast %p to offset: [%o], sizes: [%n], strides: [1] : !pointer to !pointer
  %base, %offset, %size, %stride = memref.extract_strided_metadata %view : !pointer -> memref<f32>, index, index, index
  return %base, %offset, %size, %stride : memref<f32>, index, index, index
}

// A part that is stored as it was read has the shape of its block again.
// CHECK-LABEL: func.func private @copy_of_part
// CHECK-SAME: %[[FROM:[^:]*]]: memref<64xf32>, %{{[^:]*}}: memref<?xf32>, %[[N:[^:]*]]: index
// CHECK-DAG: %[[ALL:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[PART:.*]] = bufferization.to_tensor
// CHECK: %[[REST:.*]] = arith.subi %[[ALL]], %[[N]]
// CHECK: %[[BLOCK:.*]] = tensor.pad %[[PART]] low[0] high[%[[REST]]]
// CHECK: tensor.yield %[[ZERO]]
// CHECK: tensor<?xf32> to tensor<64xf32>
// CHECK: %[[STORED:.*]] = tensor.extract_slice %[[BLOCK]][0] [%[[N]]] [1] : tensor<64xf32> to tensor<?xf32>
// CHECK: bufferization.materialize_in_destination %[[STORED]]
func.func private @copy_of_part(%from: memref<64xf32>, %to: memref<?xf32>, %n: index) {
  %part = memref.subview %from[0] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
  %t = bufferization.to_tensor %part : memref<?xf32, strided<[1]>> to tensor<?xf32>
  bufferization.materialize_in_destination %t in writable %to : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}

// Of an array whose size is not known there is no block.
// CHECK-LABEL: func.func private @copy_of_array
// CHECK: %[[T:.*]] = bufferization.to_tensor
// CHECK-NEXT: bufferization.materialize_in_destination %[[T]]
func.func private @copy_of_array(%from: memref<?xf32>, %to: memref<?xf32>, %n: index) {
  %part = memref.subview %from[0] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  %t = bufferization.to_tensor %part : memref<?xf32, strided<[1]>> to tensor<?xf32>
  bufferization.materialize_in_destination %t in writable %to : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}
