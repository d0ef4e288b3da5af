// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=4096 two-fmas" --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=4096" --canonicalize --cse | FileCheck %s --check-prefix=OTHER

// Without claims there is one request, for the line that a row ends in.
// OTHER-LABEL: func.func @add(
// OTHER: memref.prefetch
// OTHER-NOT: memref.prefetch
// OTHER-LABEL: func.func @in_place(
// OTHER-NOT: memref.prefetch
// OTHER-LABEL: func.func @softmax(
// OTHER: memref.prefetch
// OTHER-NOT: memref.prefetch

// The lines of an output are asked for before they are stored to, but not where stores go around the caches.
// CHECK-LABEL: func.func @add(
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = arith.addf {{.*}} : vector<64xf32>
// CHECK: scf.if %{{[0-9]+}} {
// CHECK-NEXT: vector.store %[[SUM]], {{.*}}nontemporal = true
// CHECK-NEXT: } else {
// CHECK: memref.prefetch %[[O:.*]][%[[AT:.*]]], write, locality<3>, data
// CHECK-COUNT-3: memref.prefetch %[[O]][%{{.*}}], write, locality<3>, data
// CHECK-NEXT: vector.store %[[SUM]], %[[O]][%[[AT]]]
// CHECK-NOT: memref.prefetch
func.func @add(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>,
               %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c1024 = arith.constant 1024 : index
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1024xf32, strided<[1], offset: ?>> to tensor<1024xf32>
  %y = arith.addf %t, %t : tensor<1024xf32>
  bufferization.materialize_in_destination %y in writable %out : (tensor<1024xf32>, memref<1024xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// In place: nothing goes around the caches, and one branch less.
// CHECK-LABEL: func.func @in_place(
// CHECK: %[[SUM:.*]] = arith.addf {{.*}} : vector<64xf32>
// CHECK-NOT: scf.if
// CHECK-COUNT-4: memref.prefetch %{{.*}}, write, locality<3>, data
// CHECK-NEXT: vector.store %[[SUM]]
func.func @in_place(%x: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c1024 = arith.constant 1024 : index
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1024xf32, strided<[1], offset: ?>> to tensor<1024xf32>
  %y = arith.addf %t, %t : tensor<1024xf32>
  bufferization.materialize_in_destination %y in writable %in : (tensor<1024xf32>, memref<1024xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// What was kept in scratch memory is stored while the CPU reads the next row: requests for the output would hold up these loads. Only the line that a
// row around the caches ends in is asked for, if that is a part of one.
// CHECK-LABEL: func.func @softmax(
// CHECK-NOT: memref.prefetch
// CHECK: memref.prefetch %{{.*}}, write, locality<3>, data
// CHECK-NEXT: }
// CHECK-NEXT: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @softmax(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant dense<0.0> : tensor<f32>
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %c1024 : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [1024], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1024xf32, strided<[1], offset: ?>> to tensor<1024xf32>
  %e = math.exp %t : tensor<1024xf32>
  %sum = linalg.reduce ins(%e : tensor<1024xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  %empty = tensor.empty() : tensor<1024xf32>
  %sums = linalg.broadcast ins(%sum : tensor<f32>) outs(%empty : tensor<1024xf32>) dimensions = [0]
  %y = arith.divf %e, %sums : tensor<1024xf32>
  bufferization.materialize_in_destination %y in writable %out : (tensor<1024xf32>, memref<1024xf32, strided<[1], offset: ?>>) -> ()
  return
}
