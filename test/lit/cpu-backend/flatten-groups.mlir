// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-flatten-groups --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-flatten-groups --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=512 --canonicalize --cse | FileCheck %s --check-prefix=EMIT

// `i ^ 1`: pairs that run backwards are read as the row that they are, and change places when they are there.
// CHECK-LABEL: func.func @pairs(
// CHECK: %[[ROW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [64], strides: [1]
// CHECK: %[[X:.*]] = bufferization.to_tensor %[[ROW]]
// CHECK: %[[Y:.*]] = linalg_ext.gather_along %[[X]][%{{.*}}] dimension = 0 {tilebridge.near}
// CHECK: bufferization.materialize_in_destination %[[Y]]
// EMIT-LABEL: func.func @pairs(
// EMIT: %[[X:.*]] = vector.load %{{.*}} : memref<{{.*}}>, vector<[[LANES:.*]]xf32>
// EMIT: %[[Y:.*]] = vector.shuffle %[[X]], %[[X]] [1, 0, 3, 2, {{.*}}] : vector<[[LANES]]xf32>
// EMIT: vector.store %[[Y]]
func.func @pairs(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<64xf32>) {
  %view = memref.reinterpret_cast %x to offset: [1], sizes: [32, 2], strides: [2, -1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x2xf32, strided<[2, -1], offset: 1>>
  %in = bufferization.to_tensor %view : memref<32x2xf32, strided<[2, -1], offset: 1>> to tensor<32x2xf32>
  %flat = tensor.collapse_shape %in [[0, 1]] : tensor<32x2xf32> into tensor<64xf32>
  bufferization.materialize_in_destination %flat in writable %o : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// `i ^ 2` of as many groups as are there: the row ends with a group.
// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %[[GROUPS:[a-z0-9]*]]: index)
// CHECK: %[[END:.*]] = arith.muli %[[GROUPS]], %c4
// CHECK: memref.subview %{{.*}}[0] [%[[END]]] [1] : memref<64xf32, {{.*}}>
// CHECK: tensor.pad %{{.*}} low[0] high[
// CHECK: %[[BIT:.*]] = arith.xori %{{.*}}, %c2
// CHECK: linalg_ext.gather_along {{.*}} {tilebridge.near}
// EMIT-LABEL: func.func @halves(
// EMIT: %[[X:.*]] = vector.load
// EMIT: vector.shuffle %[[X]], %[[X]] [2, 3, 0, 1, 6, 7, 4, 5
// EMIT: %[[TAIL:.*]] = vector.maskedload
// EMIT: vector.shuffle %[[TAIL]], %[[TAIL]] [2, 3, 0, 1
func.func @halves(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<64xf32>, %groups: index) {
  %c16 = arith.constant 16 : index
  %none = arith.constant 7.0 : f32
  %view = memref.reinterpret_cast %x to offset: [2], sizes: [16, 2, 2], strides: [4, -2, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x2x2xf32, strided<[4, -2, 1], offset: 2>>
  %box = memref.subview %view[0, 0, 0] [%groups, 2, 2] [1, 1, 1] : memref<16x2x2xf32, strided<[4, -2, 1], offset: 2>> to memref<?x2x2xf32, strided<[4, -2, 1], offset: 2>>
  %part = bufferization.to_tensor %box : memref<?x2x2xf32, strided<[4, -2, 1], offset: 2>> to tensor<?x2x2xf32>
  %high = arith.subi %c16, %groups : index
  %in = tensor.pad %part low[0, 0, 0] high[%high, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %none : f32
  } : tensor<?x2x2xf32> to tensor<16x2x2xf32>
  %flat = tensor.collapse_shape %in [[0, 1, 2]] : tensor<16x2x2xf32> into tensor<64xf32>
  bufferization.materialize_in_destination %flat in writable %o : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// `i ^ 3` is `i ^ 1` and `i ^ 2`.
// CHECK-LABEL: func.func @backwards(
// CHECK: linalg_ext.gather_along {{.*}} {tilebridge.near}
// CHECK: linalg_ext.gather_along {{.*}} {tilebridge.near}
// EMIT-LABEL: func.func @backwards(
// EMIT: vector.shuffle %{{.*}} [1, 0, 3, 2
// EMIT: vector.shuffle %{{.*}} [2, 3, 0, 1
func.func @backwards(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<64xf32>) {
  %view = memref.reinterpret_cast %x to offset: [3], sizes: [16, 4], strides: [4, -1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x4xf32, strided<[4, -1], offset: 3>>
  %in = bufferization.to_tensor %view : memref<16x4xf32, strided<[4, -1], offset: 3>> to tensor<16x4xf32>
  %flat = tensor.collapse_shape %in [[0, 1]] : tensor<16x4xf32> into tensor<64xf32>
  bufferization.materialize_in_destination %flat in writable %o : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

// `i // 4` of rows: each element is loaded once, and is in four lanes; the row's end counts four times.
// CHECK-LABEL: func.func @repeated(
// CHECK: %[[ROW:.*]] = tensor.pad {{.*}}
// CHECK: tensor<2x?xf32> to tensor<2x16xf32>
// CHECK: %[[WIDE:.*]] = linalg.broadcast ins(%[[ROW]] : tensor<2x16xf32>) outs(%{{.*}} : tensor<2x16x4xf32>) dimensions = [2]
// CHECK: tensor.collapse_shape %[[WIDE]] {{\[\[}}0], [1, 2]] {tilebridge.near}
// EMIT-LABEL: func.func @repeated(
// EMIT: vector.load {{.*}} vector<[[FEW:8|4|16]]xf32>
// EMIT: vector.shuffle %{{.*}} [0, 0, 0, 0, 1, 1, 1, 1{{.*}}] : vector<[[FEW]]xf32>
// EMIT: vector.maskedload
func.func @repeated(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<2x64xf32>, %n: index) {
  %c16 = arith.constant 16 : index
  %none = arith.constant 7.0 : f32
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [2, 16, 4], strides: [16, 1, 0] : memref<?xf32, strided<[1], offset: ?>> to memref<2x16x4xf32, strided<[16, 1, 0]>>
  %box = memref.subview %view[0, 0, 0] [2, %n, 4] [1, 1, 1] : memref<2x16x4xf32, strided<[16, 1, 0]>> to memref<2x?x4xf32, strided<[16, 1, 0]>>
  %part = bufferization.to_tensor %box : memref<2x?x4xf32, strided<[16, 1, 0]>> to tensor<2x?x4xf32>
  %high = arith.subi %c16, %n : index
  %in = tensor.pad %part low[0, 0, 0] high[0, %high, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %none : f32
  } : tensor<2x?x4xf32> to tensor<2x16x4xf32>
  %flat = tensor.collapse_shape %in [[0], [1, 2]] : tensor<2x16x4xf32> into tensor<2x64xf32>
  bufferization.materialize_in_destination %flat in writable %o : (tensor<2x64xf32>, memref<2x64xf32>) -> ()
  return
}

// -----

// A store to pairs that run backwards: elements change places before.
// CHECK-LABEL: func.func @stored(
// CHECK: %[[X:.*]] = bufferization.to_tensor
// CHECK: %[[ROW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [64], strides: [1]
// CHECK: %[[END:.*]] = arith.muli %{{.*}}, %c2
// CHECK: %[[PART:.*]] = memref.subview %[[ROW]][0] [%[[END]]] [1]
// CHECK: %[[Y:.*]] = linalg_ext.gather_along %[[X]]
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[Y]][0] [%{{.*}}] [1]
// CHECK: bufferization.materialize_in_destination %[[SLICE]] in writable %[[PART]]
func.func @stored(%in: memref<64xf32>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index) {
  %x = bufferization.to_tensor %in : memref<64xf32> to tensor<64xf32>
  %pairs = tensor.expand_shape %x [[0, 1]] output_shape [32, 2] : tensor<64xf32> into tensor<32x2xf32>
  %view = memref.reinterpret_cast %o to offset: [1], sizes: [32, 2], strides: [2, -1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x2xf32, strided<[2, -1], offset: 1>>
  %box = memref.subview %view[0, 0] [%n, 2] [1, 1] : memref<32x2xf32, strided<[2, -1], offset: 1>> to memref<?x2xf32, strided<[2, -1], offset: 1>>
  %part = tensor.extract_slice %pairs[0, 0] [%n, 2] [1, 1] : tensor<32x2xf32> to tensor<?x2xf32>
  bufferization.materialize_in_destination %part in writable %box : (tensor<?x2xf32>, memref<?x2xf32, strided<[2, -1], offset: 1>>) -> ()
  return
}

// -----

// Left alone: halves of more than two lines, groups that are there in part, that lie apart, that are no power of two, and blocks that
// stay blocks.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: tilebridge.near
// CHECK: return
func.func @others(%x: memref<?xf32, strided<[1], offset: ?>>, %n: index, %o0: memref<256xf32>, %o1: memref<64xf32>, %o2: memref<64xf32>, %o3: memref<48xf32>, %o4: memref<32x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %c2 = arith.constant 2 : index
  %0 = memref.reinterpret_cast %x to offset: [64], sizes: [2, 2, 64], strides: [128, -64, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<2x2x64xf32, strided<[128, -64, 1], offset: 64>>
  %1 = bufferization.to_tensor %0 : memref<2x2x64xf32, strided<[128, -64, 1], offset: 64>> to tensor<2x2x64xf32>
  %far = tensor.collapse_shape %1 [[0, 1, 2]] : tensor<2x2x64xf32> into tensor<256xf32>
  %2 = memref.reinterpret_cast %x to offset: [1], sizes: [32, 2], strides: [2, -1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x2xf32, strided<[2, -1], offset: 1>>
  %3 = memref.subview %2[0, 0] [32, %n] [1, 1] : memref<32x2xf32, strided<[2, -1], offset: 1>> to memref<32x?xf32, strided<[2, -1], offset: 1>>
  %4 = bufferization.to_tensor %3 : memref<32x?xf32, strided<[2, -1], offset: 1>> to tensor<32x?xf32>
  %5 = arith.subi %c2, %n : index
  %6 = tensor.pad %4 low[0, 0] high[0, %5] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<32x?xf32> to tensor<32x2xf32>
  %some = tensor.collapse_shape %6 [[0, 1]] : tensor<32x2xf32> into tensor<64xf32>
  %7 = memref.reinterpret_cast %x to offset: [1], sizes: [32, 2], strides: [4, -1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x2xf32, strided<[4, -1], offset: 1>>
  %8 = bufferization.to_tensor %7 : memref<32x2xf32, strided<[4, -1], offset: 1>> to tensor<32x2xf32>
  %apart = tensor.collapse_shape %8 [[0, 1]] : tensor<32x2xf32> into tensor<64xf32>
  %9 = memref.reinterpret_cast %x to offset: [2], sizes: [16, 3], strides: [3, -1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x3xf32, strided<[3, -1], offset: 2>>
  %10 = bufferization.to_tensor %9 : memref<16x3xf32, strided<[3, -1], offset: 2>> to tensor<16x3xf32>
  %three = tensor.collapse_shape %10 [[0, 1]] : tensor<16x3xf32> into tensor<48xf32>
  %block = bufferization.to_tensor %2 : memref<32x2xf32, strided<[2, -1], offset: 1>> to tensor<32x2xf32>
  bufferization.materialize_in_destination %far in writable %o0 : (tensor<256xf32>, memref<256xf32>) -> ()
  bufferization.materialize_in_destination %some in writable %o1 : (tensor<64xf32>, memref<64xf32>) -> ()
  bufferization.materialize_in_destination %apart in writable %o2 : (tensor<64xf32>, memref<64xf32>) -> ()
  bufferization.materialize_in_destination %three in writable %o3 : (tensor<48xf32>, memref<48xf32>) -> ()
  bufferization.materialize_in_destination %block in writable %o4 : (tensor<32x2xf32>, memref<32x2xf32>) -> ()
  return
}

// -----

// So are operands of products, which pack what is in memory, and what they are computed from.
// CHECK-LABEL: func.func @packed(
// CHECK-NOT: tilebridge.near
// CHECK: linalg.matmul
func.func @packed(%x: memref<?xf32, strided<[1], offset: ?>>, %a: memref<16x16xf32>, %o: memref<16x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [16, 32, 2], strides: [32, 1, 0] : memref<?xf32, strided<[1], offset: ?>> to memref<16x32x2xf32, strided<[32, 1, 0]>>
  %0 = bufferization.to_tensor %view : memref<16x32x2xf32, strided<[32, 1, 0]>> to tensor<16x32x2xf32>
  %b = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<16x32x2xf32> into tensor<16x64xf32>
  %e = tensor.empty() : tensor<16x64xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %n = arith.negf %p : f32
    linalg.yield %n : f32
  } -> tensor<16x64xf32>
  %l = bufferization.to_tensor %a : memref<16x16xf32> to tensor<16x16xf32>
  %y = linalg.matmul ins(%l, %c : tensor<16x16xf32>, tensor<16x64xf32>) outs(%zero : tensor<16x64xf32>) -> tensor<16x64xf32>
  bufferization.materialize_in_destination %y in writable %o : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
  return
}

// -----

// Gathered rows are spread where they are stored, and not before a product.
// CHECK-LABEL: func.func @gathered(
// CHECK: tensor.collapse_shape {{.*}} {tilebridge.near} : tensor<4x2x8xf32> into tensor<4x16xf32>
// CHECK: bufferization.materialize_in_destination
// CHECK-NOT: tilebridge.near
// CHECK: linalg.matmul
// EMIT-LABEL: func.func @gathered(
// EMIT: vector.shuffle %{{.*}} [0, 0, 0, 0, 0, 0, 0, 0, 1, 1
func.func @gathered(%x: memref<?x2xf32, strided<[2, 1]>>, %table: memref<4xi64>, %o: memref<4x16xf32>, %y: memref<16x16xf32>, %p: memref<4x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %rows = bufferization.to_tensor %table : memref<4xi64> to tensor<4xi64>
  %b = bufferization.to_tensor %y : memref<16x16xf32> to tensor<16x16xf32>
  %wide = tensor.empty() : tensor<4x2x8xf32>
  %0 = linalg_ext.gather_rows %x[%rows] dim 0 : (memref<?x2xf32, strided<[2, 1]>>, tensor<4xi64>) -> tensor<4x2xf32>
  %1 = linalg.broadcast ins(%0 : tensor<4x2xf32>) outs(%wide : tensor<4x2x8xf32>) dimensions = [2]
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<4x2x8xf32> into tensor<4x16xf32>
  bufferization.materialize_in_destination %2 in writable %o : (tensor<4x16xf32>, memref<4x16xf32>) -> ()
  %3 = linalg_ext.gather_rows %x[%rows] dim 0 : (memref<?x2xf32, strided<[2, 1]>>, tensor<4xi64>) -> tensor<4x2xf32>
  %4 = linalg.broadcast ins(%3 : tensor<4x2xf32>) outs(%wide : tensor<4x2x8xf32>) dimensions = [2]
  %5 = tensor.collapse_shape %4 [[0], [1, 2]] : tensor<4x2x8xf32> into tensor<4x16xf32>
  %6 = linalg.matmul ins(%5, %b : tensor<4x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<4x16xf32>) -> tensor<4x16xf32>
  bufferization.materialize_in_destination %6 in writable %p : (tensor<4x16xf32>, memref<4x16xf32>) -> ()
  return
}
