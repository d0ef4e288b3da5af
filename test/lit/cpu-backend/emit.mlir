// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The interior of a box has no masks, and a load is not copied.
// CHECK-LABEL: func.func @masked
// CHECK-SAME: (%[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}}, %[[N:[a-z0-9]+]]: index, %

// CHECK: %[[MAIN:.*]] = arith.andi %[[N]], %c-32
// CHECK: scf.for
// CHECK-NOT: mask
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK-NEXT: arith.addf
// CHECK-NOT: mask
// CHECK: vector.store
// CHECK-NEXT: }
// CHECK: scf.for {{.*}} to %[[N]]
// CHECK: vector.create_mask
// CHECK: vector.maskedload
// CHECK-NEXT: arith.addf
// CHECK: vector.maskedstore
func.func @masked(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>, %n: index, %o: index) {
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %h = arith.subi %c1024, %n : index
  %vx = memref.reinterpret_cast %x to offset: [%o], sizes: [1024], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %bx = memref.subview %vx[0] [%n] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %in = bufferization.to_tensor %bx : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %t = tensor.pad %in low[0] high[%h] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<1024xf32>
  %empty = tensor.empty() : tensor<1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  %vy = memref.reinterpret_cast %y to offset: [%o], sizes: [1024], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %by = memref.subview %vy[0] [%n] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %part = tensor.extract_slice %r[0] [%n] [1] : tensor<1024xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %part in writable %by
      : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Along a row lanes are accumulators, and a tree of halves follows.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK: %[[ACC:.*]] = scf.for {{.*}} -> (vector<32xf32>)
// CHECK: vector.load
// CHECK-NEXT: arith.addf
// CHECK: vector.shuffle %[[ACC]], %[[ACC]] [0, 1, 2, 3,
// CHECK: vector.store {{.*}} vector<1xf32>
func.func @rows(%x: memref<16x256xf32>, %y: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = bufferization.to_tensor %x : memref<16x256xf32> to tensor<16x256xf32>
  %init = tensor.splat %zero : tensor<16xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<16x256xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  bufferization.materialize_in_destination %s in writable %y : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// Down the columns whole vectors of a row are accumulated.
// CHECK-LABEL: func.func @columns
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<32xf32>)
// CHECK: vector.load
// CHECK-NEXT: arith.addf
// CHECK-NOT: vector.shuffle
// CHECK: vector.store
func.func @columns(%x: memref<16x256xf32>, %y: memref<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = bufferization.to_tensor %x : memref<16x256xf32> to tensor<16x256xf32>
  %init = tensor.splat %zero : tensor<256xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<16x256xf32>) outs(%init : tensor<256xf32>) dimensions = [0]
  bufferization.materialize_in_destination %s in writable %y : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// In place on one view: nothing to guard.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT: scf.if
// CHECK: return
func.func @in_place(%x: memref<256xf32>) {
  %t = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  %empty = tensor.empty() : tensor<256xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<256xf32>) outs(%empty : tensor<256xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  bufferization.materialize_in_destination %r in writable %x : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// -----

// Two pointers may overlap: tested once, before the loop, which exists once.
// CHECK-LABEL: func.func @guarded
// CHECK: arith.cmpi ne
// CHECK-NEXT: %[[UNSAFE:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: arith.select %[[UNSAFE]], {{.*}} : memref<?xf32
// CHECK: scf.for
// CHECK-NEXT: vector.load
// CHECK-NEXT: vector.store
// CHECK-NEXT: }
// CHECK: scf.if %[[UNSAFE]] {
func.func @guarded(%x: memref<256xf32>, %y: memref<256xf32>) {
  %t = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  bufferization.materialize_in_destination %t in writable %y : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// -----

// What is read after a store is copied before it if that overlaps; the loop exists once, and chooses what it reads.
// CHECK-LABEL: func.func @guarded_read
// CHECK-SAME: (%[[X:.*]]: memref<256xf32>, %[[Y:.*]]: memref<256xf32>, %[[R:.*]]: memref<?xf32>
// CHECK: %[[BELOW:.*]] = arith.cmpi slt
// CHECK: %[[ABOVE:.*]] = arith.cmpi slt
// CHECK: %[[OVERLAPS:.*]] = arith.andi %[[BELOW]], %[[ABOVE]] : i1
// CHECK: %[[COPY:.*]] = memref.alloc() {{.*}} : memref<256xf32>
// CHECK: scf.if %[[OVERLAPS]] {
// CHECK: scf.for
// CHECK: vector.store
// CHECK: %[[READ:.*]] = arith.select %[[OVERLAPS]], %{{.*}}, %{{.*}} : memref<?xf32
// CHECK-NOT: scf.for
// CHECK: memref.store %{{.*}}, %[[R]][%c0] : memref<?xf32>
// CHECK: scf.for
// CHECK-NEXT: vector.load %[[READ]]
func.func @guarded_read(%x: memref<256xf32>, %y: memref<256xf32>, %r: memref<?xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %t = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  memref.store %v, %r[%c0] : memref<?xf32>
  bufferization.materialize_in_destination %t in writable %y : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}
