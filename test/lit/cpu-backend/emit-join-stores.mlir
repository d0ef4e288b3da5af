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
