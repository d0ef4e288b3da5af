// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=512 --canonicalize --cse | FileCheck %s --check-prefix=WIDE

// The second store fills the first one's gaps: no lane is stored by itself, and none left out by a mask,
// but where what is read overlaps.
// CHECK-LABEL: func.func @pairs
// CHECK-NOT: vector.scatter
// CHECK: %[[BOTH:.*]] = vector.interleave %{{.*}}, %{{.*}} : vector<[[N:.*]]xf32> -> vector<[[M:.*]]xf32>
// CHECK: vector.store %[[BOTH]]
// CHECK: scf.if
// WIDE-LABEL: func.func @pairs
// WIDE-NOT: vector.maskedstore
// WIDE: vector.interleave
func.func @pairs(%a: memref<64xf32>, %b: memref<64xf32>, %out: memref<128xf32>) {
  %x = bufferization.to_tensor %a : memref<64xf32> to tensor<64xf32>
  %y = bufferization.to_tensor %b : memref<64xf32> to tensor<64xf32>
  %odd = memref.subview %out[1] [64] [2] : memref<128xf32> to memref<64xf32, strided<[2], offset: 1>>
  bufferization.materialize_in_destination %x in writable %odd : (tensor<64xf32>, memref<64xf32, strided<[2], offset: 1>>) -> ()
  %even = memref.subview %out[0] [64] [2] : memref<128xf32> to memref<64xf32, strided<[2]>>
  bufferization.materialize_in_destination %y in writable %even : (tensor<64xf32>, memref<64xf32, strided<[2]>>) -> ()
  return
}

// -----

// Three colors, of two and one.
// CHECK-LABEL: func.func @colors
// CHECK: %[[TWO:.*]] = vector.interleave
// CHECK: %[[ALL:.*]] = vector.shuffle %[[TWO]], %{{.*}} [0, 1, {{.*}}]
// CHECK: vector.store %[[ALL]]
func.func @colors(%a: memref<64xi8>, %b: memref<64xi8>, %c: memref<64xi8>, %out: memref<192xi8>) {
  %x = bufferization.to_tensor %a : memref<64xi8> to tensor<64xi8>
  %y = bufferization.to_tensor %b : memref<64xi8> to tensor<64xi8>
  %z = bufferization.to_tensor %c : memref<64xi8> to tensor<64xi8>
  %0 = memref.subview %out[0] [64] [3] : memref<192xi8> to memref<64xi8, strided<[3]>>
  bufferization.materialize_in_destination %x in writable %0 : (tensor<64xi8>, memref<64xi8, strided<[3]>>) -> ()
  %1 = memref.subview %out[1] [64] [3] : memref<192xi8> to memref<64xi8, strided<[3], offset: 1>>
  bufferization.materialize_in_destination %y in writable %1 : (tensor<64xi8>, memref<64xi8, strided<[3], offset: 1>>) -> ()
  %2 = memref.subview %out[2] [64] [3] : memref<192xi8> to memref<64xi8, strided<[3], offset: 2>>
  bufferization.materialize_in_destination %z in writable %2 : (tensor<64xi8>, memref<64xi8, strided<[3], offset: 2>>) -> ()
  return
}

// -----

// Two behind, and two of three.
// CHECK-LABEL: func.func @others
// CHECK-NOT: vector.interleave
func.func @others(%a: memref<64xf32>, %b: memref<64xf32>, %out: memref<130xf32>, %three: memref<192xf32>) {
  %x = bufferization.to_tensor %a : memref<64xf32> to tensor<64xf32>
  %y = bufferization.to_tensor %b : memref<64xf32> to tensor<64xf32>
  %0 = memref.subview %out[0] [64] [2] : memref<130xf32> to memref<64xf32, strided<[2]>>
  bufferization.materialize_in_destination %x in writable %0 : (tensor<64xf32>, memref<64xf32, strided<[2]>>) -> ()
  %1 = memref.subview %out[2] [64] [2] : memref<130xf32> to memref<64xf32, strided<[2], offset: 2>>
  bufferization.materialize_in_destination %y in writable %1 : (tensor<64xf32>, memref<64xf32, strided<[2], offset: 2>>) -> ()
  %2 = memref.subview %three[0] [64] [3] : memref<192xf32> to memref<64xf32, strided<[3]>>
  bufferization.materialize_in_destination %x in writable %2 : (tensor<64xf32>, memref<64xf32, strided<[3]>>) -> ()
  %3 = memref.subview %three[1] [64] [3] : memref<192xf32> to memref<64xf32, strided<[3], offset: 1>>
  bufferization.materialize_in_destination %y in writable %3 : (tensor<64xf32>, memref<64xf32, strided<[3], offset: 1>>) -> ()
  return
}

// -----

// How far rows are apart is known to the launch: where that is no multiple of two, a row of one block may be
// over the other's, and both are stored to scratch memory.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[STRIDE:[^:]*]]: index
// CHECK: %[[REST:.*]] = arith.remsi %[[STRIDE]], %{{.*}} : index
// CHECK: arith.cmpi eq, %[[REST]], %{{.*}} : index
// CHECK-NOT: vector.scatter
// CHECK: vector.interleave
// CHECK: scf.if
// WIDE-LABEL: func.func @rows
// WIDE-NOT: vector.maskedstore
// WIDE: vector.interleave
func.func @rows(%a: memref<4x64xf32>, %b: memref<4x64xf32>, %out: memref<?xf32>, %stride: index) {
  %x = bufferization.to_tensor %a : memref<4x64xf32> to tensor<4x64xf32>
  %y = bufferization.to_tensor %b : memref<4x64xf32> to tensor<4x64xf32>
  %even = memref.reinterpret_cast %out to offset: [0], sizes: [4, 64], strides: [%stride, 2] : memref<?xf32> to memref<4x64xf32, strided<[?, 2]>>
  bufferization.materialize_in_destination %x in writable %even : (tensor<4x64xf32>, memref<4x64xf32, strided<[?, 2]>>) -> ()
  %odd = memref.reinterpret_cast %out to offset: [1], sizes: [4, 64], strides: [%stride, 2] : memref<?xf32> to memref<4x64xf32, strided<[?, 2], offset: 1>>
  bufferization.materialize_in_destination %y in writable %odd : (tensor<4x64xf32>, memref<4x64xf32, strided<[?, 2], offset: 1>>) -> ()
  return
}

// -----

// Scratch memory has no such gaps as those of 64 elements: each block has its own. In place each is between the other's
// elements, and nothing is copied; that is asked of the distance of what is read and what is stored.
// CHECK-LABEL: func.func @far
// CHECK-SAME: %[[A:[^:]*]]: memref
// CHECK-SAME: %[[B:[^:]*]]: memref
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 256 : index
// CHECK: arith.remsi %{{.*}}, %[[BYTES]]
// CHECK-COUNT-2: memref.alloc() {{.*}} : memref<64xf32>
// CHECK: scf.for
func.func @far(%a: memref<4096xf32>, %b: memref<4096xf32>) {
  %0 = memref.subview %a[0] [64] [64] : memref<4096xf32> to memref<64xf32, strided<[64]>>
  %1 = memref.subview %a[1] [64] [64] : memref<4096xf32> to memref<64xf32, strided<[64], offset: 1>>
  %x = bufferization.to_tensor %0 : memref<64xf32, strided<[64]>> to tensor<64xf32>
  %y = bufferization.to_tensor %1 : memref<64xf32, strided<[64], offset: 1>> to tensor<64xf32>
  %2 = memref.subview %b[0] [64] [64] : memref<4096xf32> to memref<64xf32, strided<[64]>>
  %3 = memref.subview %b[1] [64] [64] : memref<4096xf32> to memref<64xf32, strided<[64], offset: 1>>
  bufferization.materialize_in_destination %y in writable %2 : (tensor<64xf32>, memref<64xf32, strided<[64]>>) -> ()
  bufferization.materialize_in_destination %x in writable %3 : (tensor<64xf32>, memref<64xf32, strided<[64], offset: 1>>) -> ()
  return
}
