// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=512 | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=256 | FileCheck %s --check-prefixes=CHECK,NARROW

#id = affine_map<(d0) -> (d0)>

// A step of an exponential is two vectors, or four of half as many lanes.
// CHECK-LABEL: func.func @exponential
// CHECK: scf.for
// WIDE: math.exp %{{.*}} : vector<32xf32>
// NARROW: math.exp %{{.*}} : vector<32xf32>
func.func @exponential(%x: memref<256xf32>, %out: memref<256xf32>) {
  %t = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  %e = tensor.empty() : tensor<256xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<256xf32>) outs(%e : tensor<256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = math.exp %a : f32
    linalg.yield %d : f32
  } -> tensor<256xf32>
  bufferization.materialize_in_destination %q in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// A short body is four.
// CHECK-LABEL: func.func @sum
// WIDE: arith.addf %{{.*}} : vector<64xf32>
// NARROW: arith.addf %{{.*}} : vector<32xf32>
func.func @sum(%x: memref<256xf32>, %out: memref<256xf32>) {
  %t = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  %e = tensor.empty() : tensor<256xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<256xf32>) outs(%e : tensor<256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.addf %a, %a : f32
    linalg.yield %d : f32
  } -> tensor<256xf32>
  bufferization.materialize_in_destination %q in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// Lanes that run backwards are one vector, and not a gather: loaded from where the last of them is, and reversed.
// CHECK-LABEL: func.func @backwards
// CHECK-NOT: vector.gather
// CHECK-NOT: vector.scatter
// WIDE: %[[BEFORE:.*]] = arith.constant 63 : index
// WIDE: arith.subi %{{.*}}, %[[BEFORE]] : index
// CHECK: %[[ROW:.*]] = vector.load
// CHECK: vector.shuffle %[[ROW]], %[[ROW]]
// CHECK: return
func.func @backwards(%x: memref<?xf32, strided<[1], offset: ?>>, %out: memref<256xf32>) {
  %view = memref.reinterpret_cast %x to offset: [255], sizes: [256], strides: [-1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[-1], offset: 255>>
  %t = bufferization.to_tensor %view : memref<256xf32, strided<[-1], offset: 255>> to tensor<256xf32>
  %e = tensor.empty() : tensor<256xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<256xf32>) outs(%e : tensor<256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.addf %a, %a : f32
    linalg.yield %d : f32
  } -> tensor<256xf32>
  bufferization.materialize_in_destination %q in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// So are stores.
// CHECK-LABEL: func.func @stored_backwards
// CHECK-NOT: vector.scatter
// CHECK: vector.shuffle
// CHECK-NEXT: vector.store
// CHECK-NOT: vector.scatter
// CHECK: return
func.func @stored_backwards(%value: f32, %out: memref<?xf32, strided<[1], offset: ?>>) {
  %view = memref.reinterpret_cast %out to offset: [255], sizes: [256], strides: [-1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[-1], offset: 255>>
  %s = tensor.splat %value : tensor<256xf32>
  bufferization.materialize_in_destination %s in writable %view : (tensor<256xf32>, memref<256xf32, strided<[-1], offset: 255>>) -> ()
  return
}

// A matrix that is contiguous along the rows of its transpose, times a vector: the distance of what is reduced is not
// known, but no 1, where the other one is. Lanes run along the sums, and nothing is transposed.
// CHECK-LABEL: func.func @transposed_times_vector
// CHECK-NOT: vector.shuffle
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK: vector.load {{.*}} vector<1xf32>
// CHECK: vector.broadcast {{.*}} : f32 to vector<32xf32>
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func @transposed_times_vector(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: index, %v: memref<64xf32>, %out: memref<32xf32>) {
  %view = memref.reinterpret_cast %x to offset: [0], sizes: [32, 64], strides: [1, %stride]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[1, ?]>>
  %t = bufferization.to_tensor %view : memref<32x64xf32, strided<[1, ?]>> to tensor<32x64xf32>
  %w = bufferization.to_tensor %v : memref<64xf32> to tensor<64xf32>
  %e = tensor.empty() : tensor<32x64xf32>
  %rows = linalg.broadcast ins(%w : tensor<64xf32>) outs(%e : tensor<32x64xf32>) dimensions = [0]
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]} ins(%t, %rows : tensor<32x64xf32>, tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.mulf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<32x64xf32>
  %zero = arith.constant dense<-0.0> : tensor<32xf32>
  %sum = linalg.reduce { arith.addf } ins(%p : tensor<32x64xf32>) outs(%zero : tensor<32xf32>) dimensions = [1]
  bufferization.materialize_in_destination %sum in writable %out : (tensor<32xf32>, memref<32xf32>) -> ()
  return
}
