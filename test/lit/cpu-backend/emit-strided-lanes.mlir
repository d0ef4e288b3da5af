// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=512 -canonicalize | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=256 -canonicalize | FileCheck %s --check-prefixes=CHECK,NARROW

#id = affine_map<(d0) -> (d0)>

// Every second element: the two vectors that they are spread over, the second of which ends with the last lane. They
// are stored by masks that leave the others out; without such masks they are scattered.
// CHECK-LABEL: func.func @every_second
// CHECK-NOT: vector.gather
// WIDE: %[[LOW:.*]] = vector.load %{{.*}}, vector<16xf32>
// WIDE: %[[PART:.*]] = vector.shuffle %[[LOW]], %[[LOW]] [0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1]
// WIDE: %[[HIGH:.*]] = vector.load %{{.*}}[%c15] : {{.*}}, vector<16xf32>
// WIDE: vector.shuffle %[[PART]], %[[HIGH]] [0, 1, 2, 3, 4, 5, 6, 7, 17, 19, 21, 23, 25, 27, 29, 31]
// WIDE-NOT: vector.scatter
// WIDE: vector.maskedstore {{.*}}, vector<16xi1>, vector<16xf32>
// NARROW: vector.load {{.*}} vector<8xf32>
// NARROW: vector.scatter
// CHECK: return
func.func @every_second(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>) {
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [2]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[2]>>
  %out = memref.reinterpret_cast %y to offset: [0], sizes: [64], strides: [2]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[2]>>
  %t = bufferization.to_tensor %in : memref<64xf32, strided<[2]>> to tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.mulf %a, %a : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %q in writable %out : (tensor<64xf32>, memref<64xf32, strided<[2]>>) -> ()
  return
}

// Too far apart.
// CHECK-LABEL: func.func @every_ninth
// CHECK: vector.gather
func.func @every_ninth(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<64xf32>) {
  %in = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [9]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[9]>>
  %t = bufferization.to_tensor %in : memref<64xf32, strided<[9]>> to tensor<64xf32>
  bufferization.materialize_in_destination %t in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// What may be in scratch memory instead, where ranges overlap, is as far apart there: the stride is a constant.
// CHECK-LABEL: func.func @pairs
// CHECK: memref.alloc() {{.*}} memref<130xf32>
// CHECK-NOT: vector.gather
// WIDE-NOT: vector.scatter
// CHECK: return
func.func @pairs(%x: memref<?xf32, strided<[1], offset: ?>>, %n: index) {
  %re = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [2]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[2]>>
  %im = memref.reinterpret_cast %x to offset: [%n], sizes: [64], strides: [2]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[2], offset: ?>>
  %a = bufferization.to_tensor %re : memref<64xf32, strided<[2]>> to tensor<64xf32>
  %b = bufferization.to_tensor %im : memref<64xf32, strided<[2], offset: ?>> to tensor<64xf32>
  bufferization.materialize_in_destination %b in writable %re : (tensor<64xf32>, memref<64xf32, strided<[2]>>) -> ()
  bufferization.materialize_in_destination %a in writable %im : (tensor<64xf32>, memref<64xf32, strided<[2], offset: ?>>) -> ()
  return
}
