// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-order-copies | FileCheck %s
// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-order-copies -verify-diagnostics -o /dev/null

// An engine that moves runs: a transposed load is 32 rows of 64 elements, and a transposition. The box and its padding go with it.

// CHECK-LABEL: func.func @load
// CHECK: %[[W:.*]] = memref.reinterpret_cast %arg0 to offset: [%{{.*}}], sizes: [32, 64], strides: [512, 1]
// CHECK: %[[B:.*]] = memref.subview %[[W]][0, %[[L:.*]]] [32, %[[N:.*]]] [1, 1]
// CHECK: %[[E:.*]] = tensor.empty() : tensor<32x64xf16>
// CHECK: %[[S:.*]] = accel.copy %[[B]] to %[[E]] low[%c0, %[[L]]] pad %{{.*}} -> tensor<32x64xf16>
// CHECK: %[[F:.*]] = tensor.empty() : tensor<64x32xf16>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[S]] : tensor<32x64xf16>) outs(%[[F]] : tensor<64x32xf16>) permutation = [1, 0]
// CHECK: return %[[T]]
module attributes {accel.target = "dma-1d"} {
func.func @load(%p: memref<?xf16, strided<[1], offset: ?>>, %o: index, %l: index, %n: index) -> tensor<64x32xf16> attributes {accel.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %v = memref.reinterpret_cast %p to offset: [%o], sizes: [64, 32], strides: [1, 512] : memref<?xf16, strided<[1], offset: ?>> to memref<64x32xf16, strided<[1, 512], offset: ?>>
  %b = memref.subview %v[%l, 0] [%n, 32] [1, 1] : memref<64x32xf16, strided<[1, 512], offset: ?>> to memref<?x32xf16, strided<[1, 512], offset: ?>>
  %e = tensor.empty() : tensor<64x32xf16>
  // expected-remark @+1 {{is copied in the order of memory and transposed in local memory: engine 'dma' takes 2048 descriptors for the block, and 32 in the order of memory}}
  %t = accel.copy %b to %e low [%l, %c0] pad %zero : (memref<?x32xf16, strided<[1, 512], offset: ?>>, tensor<64x32xf16>, index, index, f16) -> tensor<64x32xf16>
  return %t : tensor<64x32xf16>
}
}

// -----

// A store of a part transposes the whole block, and stores that part of it.

// CHECK-LABEL: func.func @store
// CHECK: %[[W:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [4, 32, 64], strides: [65536, 512, 1]
// CHECK: %[[B:.*]] = memref.subview %[[W]][0, 0, 0] [4, 32, %[[N:.*]]] [1, 1, 1]
// CHECK: %[[T:.*]] = linalg.transpose ins(%arg1 : tensor<4x64x32xi8>) outs(%{{.*}} : tensor<4x32x64xi8>) permutation = [0, 2, 1]
// CHECK: %[[P:.*]] = tensor.extract_slice %[[T]][0, 0, 0] [4, 32, %[[N]]] [1, 1, 1]
// CHECK: accel.copy %[[P]] to %[[B]] :
module attributes {accel.target = "dma-1d"} {
func.func @store(%p: memref<?xi8, strided<[1], offset: ?>>, %t: tensor<4x64x32xi8>, %n: index) attributes {accel.kernel} {
  %v = memref.reinterpret_cast %p to offset: [0], sizes: [4, 64, 32], strides: [65536, 1, 512] : memref<?xi8, strided<[1], offset: ?>> to memref<4x64x32xi8, strided<[65536, 1, 512]>>
  %b = memref.subview %v[0, 0, 0] [4, %n, 32] [1, 1, 1] : memref<4x64x32xi8, strided<[65536, 1, 512]>> to memref<4x?x32xi8, strided<[65536, 1, 512]>>
  %part = tensor.extract_slice %t[0, 0, 0] [4, %n, 32] [1, 1, 1] : tensor<4x64x32xi8> to tensor<4x?x32xi8>
  // expected-remark @+1 {{engine 'dma' takes 8192 descriptors for the block, and 128 in the order of memory}}
  accel.copy %part to %b : (tensor<4x?x32xi8>, memref<4x?x32xi8, strided<[65536, 1, 512]>>) -> ()
  return
}
}

// -----

// A mask is transposed with its block; what is there where nothing is loaded, too.

// CHECK-LABEL: func.func @masked
// CHECK-DAG: %[[O:.*]] = linalg.transpose ins(%arg2 : tensor<64x32xf32>) outs(%{{.*}}) permutation = [1, 0]
// CHECK-DAG: %[[M:.*]] = linalg.transpose ins(%arg1 : tensor<64x32xi1>) outs(%{{.*}}) permutation = [1, 0]
// CHECK: %[[S:.*]] = accel.copy %{{.*}} to %[[O]] mask %[[M]]
// CHECK: linalg.transpose ins(%[[S]] : tensor<32x64xf32>)
module attributes {accel.target = "dma-1d"} {
func.func @masked(%p: memref<?xf32, strided<[1], offset: ?>>, %m: tensor<64x32xi1>, %other: tensor<64x32xf32>) -> tensor<64x32xf32> attributes {accel.kernel} {
  %v = memref.reinterpret_cast %p to offset: [0], sizes: [64, 32], strides: [1, 64] : memref<?xf32, strided<[1], offset: ?>> to memref<64x32xf32, strided<[1, 64]>>
  // expected-remark @+1 {{and 1 in the order of memory}}
  %t = accel.copy %v to %other mask %m : (memref<64x32xf32, strided<[1, 64]>>, tensor<64x32xf32>, tensor<64x32xi1>) -> tensor<64x32xf32>
  return %t : tensor<64x32xf32>
}
}

// -----

// What the engine says, or what is no faster, stays: a block by its rows, strides in both dimensions, rows by indices;
// and views whose strides are not known.

// CHECK-LABEL: func.func @stays
// CHECK-NOT: linalg.transpose
module attributes {accel.target = "dma-1d"} {
func.func @stays(%p: memref<?xf32, strided<[1], offset: ?>>, %q: memref<64x32xf32, strided<[1, 64], offset: ?>>, %i: tensor<64xi64>, %t: tensor<64x32xf32>) attributes {accel.kernel} {
  %rows = memref.reinterpret_cast %p to offset: [0], sizes: [64, 32], strides: [32, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<64x32xf32, strided<[32, 1]>>
  accel.copy %t to %rows : (tensor<64x32xf32>, memref<64x32xf32, strided<[32, 1]>>) -> ()
  %apart = memref.reinterpret_cast %p to offset: [0], sizes: [64, 32], strides: [2, 256] : memref<?xf32, strided<[1], offset: ?>> to memref<64x32xf32, strided<[2, 256]>>
  accel.copy %t to %apart : (tensor<64x32xf32>, memref<64x32xf32, strided<[2, 256]>>) -> ()
  accel.copy %t to %q : (tensor<64x32xf32>, memref<64x32xf32, strided<[1, 64], offset: ?>>) -> ()
  accel.copy %t to %rows rows [%i] dim 0 scatter : (tensor<64x32xf32>, memref<64x32xf32, strided<[32, 1]>>, tensor<64xi64>) -> ()
  return
}
}

// -----

// Three dimensions are enough for a transposed matrix.

// CHECK-LABEL: func.func @enough
// CHECK-NOT: linalg.transpose
module attributes {accel.target = "align-64"} {
func.func @enough(%p: memref<?xf32, strided<[1], offset: ?>>, %t: tensor<64x32xf32>) attributes {accel.kernel} {
  %v = memref.reinterpret_cast %p to offset: [0], sizes: [64, 32], strides: [1, 64] : memref<?xf32, strided<[1], offset: ?>> to memref<64x32xf32, strided<[1, 64]>>
  accel.copy %t to %v : (tensor<64x32xf32>, memref<64x32xf32, strided<[1, 64]>>) -> ()
  return
}
}
