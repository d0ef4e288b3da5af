// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge | FileCheck %s

// An offset counts elements, and is added to what the memref has; hazard 11: it is widened as a signed number.
// CHECK-LABEL: func.func private @addptr
// CHECK-SAME: %[[P:[^:]*]]: memref<?xbf16, strided<[1], offset: ?>>, %[[I:[^:]*]]: i32
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %[[SIZE:.*]], %{{.*}} = memref.extract_strided_metadata %[[P]]
// CHECK: %[[J:.*]] = arith.index_cast %[[I]] : i32 to index
// CHECK: %[[O:.*]] = arith.addi %[[OFFSET]], %[[J]] : index
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%[[O]]], sizes: [%[[SIZE]]], strides: [1]
tt.func private @addptr(%p: !tt.ptr<bf16>, %i: i32) -> !tt.ptr<bf16> {
  %0 = tt.addptr %p, %i : !tt.ptr<bf16>, i32
  tt.return %0 : !tt.ptr<bf16>
}

// -----

// Hazard 13: a boolean in memory is a byte, so that the pointers are the same.
// CHECK-LABEL: func.func private @booleans
// CHECK-SAME: (%[[P:[^:]*]]: memref<?xi8, strided<[1], offset: ?>>
// CHECK-NEXT: return %[[P]]
tt.func private @booleans(%p: !tt.ptr<i1>) -> !tt.ptr<i8> {
  %0 = tt.bitcast %p : !tt.ptr<i1> -> !tt.ptr<i8>
  tt.return %0 : !tt.ptr<i8>
}

// -----

// CHECK-LABEL: func.func private @bitcast
// CHECK-SAME: %[[P:[^:]*]]: memref<?xf64, strided<[1], offset: ?>>
// CHECK: %[[A:.*]] = memref.extract_aligned_pointer_as_index %[[P]]
// CHECK: %{{.*}}, %[[O:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[P]]
// CHECK: %[[B:.*]] = arith.index_cast %[[A]] : index to i64
// CHECK: %[[Q:.*]] = arith.index_cast %[[O]] : index to i64
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : i64
// CHECK: %[[R:.*]] = arith.muli %[[Q]], %[[EIGHT]]
// CHECK: %[[S:.*]] = arith.addi %[[B]], %[[R]]
// CHECK: linalg_ext.view_address %[[S]] : (i64) -> memref<?xi32, strided<[1], offset: ?>>
tt.func private @bitcast(%p: !tt.ptr<f64>) -> !tt.ptr<i32> {
  %0 = tt.bitcast %p : !tt.ptr<f64> -> !tt.ptr<i32>
  tt.return %0 : !tt.ptr<i32>
}

// -----

// CHECK-LABEL: func.func private @integers
// CHECK-SAME: %[[A:[^:]*]]: i64, %[[T:[^:]*]]: tensor<8xi64>
// CHECK: linalg_ext.view_address %[[A]] : (i64) -> memref<?xf32, strided<[1], offset: ?>>
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: return %{{.*}}, %[[T]]
tt.func private @integers(%a: i64, %t: tensor<8xi64>) -> (i64, tensor<8xi64>) {
  %0 = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
  %1 = tt.ptr_to_int %0 : !tt.ptr<f32> -> i64
  %2 = tt.int_to_ptr %t : tensor<8xi64> -> tensor<8x!tt.ptr<f32>>
  %3 = tt.ptr_to_int %2 : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
  tt.return %1, %3 : i64, tensor<8xi64>
}

// -----

// Tensors of pointers that no access took with it are byte addresses.
// CHECK-LABEL: func.func private @addresses
// CHECK: tensor.splat %{{.*}} : tensor<8xi64>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8xi64>, tensor<8xi32>)
// CHECK: arith.extsi %{{.*}} : i32 to i64
// CHECK: arith.constant 2 : i64
// CHECK: arith.muli
// CHECK: arith.addi
// CHECK: tensor.expand_shape %{{.*}} : tensor<8xi64> into tensor<8x1xi64>
// CHECK: linalg.broadcast {{.*}} outs(%{{.*}} : tensor<8x4xi64>)
tt.func private @addresses(%p: !tt.ptr<f16>, %i: tensor<8xi32>) -> tensor<8x4x!tt.ptr<f16>> {
  %0 = tt.splat %p : !tt.ptr<f16> -> tensor<8x!tt.ptr<f16>>
  %1 = tt.addptr %0, %i : tensor<8x!tt.ptr<f16>>, tensor<8xi32>
  %2 = tt.expand_dims %1 {axis = 1 : i32} : tensor<8x!tt.ptr<f16>> -> tensor<8x1x!tt.ptr<f16>>
  %3 = tt.broadcast %2 : tensor<8x1x!tt.ptr<f16>> -> tensor<8x4x!tt.ptr<f16>>
  tt.return %3 : tensor<8x4x!tt.ptr<f16>>
}

// -----

// CHECK-LABEL: func.func private @one_of_tensor
// CHECK: %[[A:.*]] = tensor.extract %{{.*}}[%{{.*}}] : tensor<1xi64>
// CHECK: linalg_ext.view_address %[[A]]
tt.func private @one_of_tensor(%t: tensor<1x!tt.ptr<i16>>) -> !tt.ptr<i16> {
  %0 = tt.unsplat %t : tensor<1x!tt.ptr<i16>>
  tt.return %0 : !tt.ptr<i16>
}

// -----

// Casts that the lowering of accesses leaves meet what they cast.
// CHECK-LABEL: func.func private @casts
// CHECK-SAME: (%[[P:[^:]*]]: memref<?xf32, strided<[1], offset: ?>>, %[[D:[^:]*]]: memref<?xf32, strided<[?], offset: ?>>, %[[NAN:[^:]*]]: i1
// CHECK-NOT: unrealized
// CHECK: memref.load %[[P]]
// CHECK: memref.load %[[D]]
// CHECK: return %{{.*}}, %{{.*}}, %[[D]], %[[NAN]]
tt.func private @casts(%p: !tt.ptr<f32>, %d: !tt.tensordesc<8xf32>) -> (f32, f32, !tt.tensordesc<8xf32>) {
  %zero = arith.constant 0 : index
  %m = builtin.unrealized_conversion_cast %p : !tt.ptr<f32> to memref<?xf32, strided<[1], offset: ?>>
  %0 = memref.load %m[%zero] : memref<?xf32, strided<[1], offset: ?>>
  %v:2 = builtin.unrealized_conversion_cast %d : !tt.tensordesc<8xf32> to memref<?xf32, strided<[?], offset: ?>>, i1
  %1 = memref.load %v#0[%zero] : memref<?xf32, strided<[?], offset: ?>>
  %e = builtin.unrealized_conversion_cast %v#0, %v#1 : memref<?xf32, strided<[?], offset: ?>>, i1 to !tt.tensordesc<8xf32>
  tt.return %0, %1, %e : f32, f32, !tt.tensordesc<8xf32>
}
