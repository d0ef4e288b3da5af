// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256 stream-bytes=4096" --canonicalize --cse | FileCheck %s

// A launch that reads and writes much (8 bytes an element here): from the first line on by stores around the caches, what is left at both ends in one loop with masks. Steps before the first
// line end where it begins, and whole lines behind the loop go around the caches as well. The line that the next program's row ends in is asked for, if that is a part of one.
// CHECK-LABEL: func.func @scale(
// CHECK-SAME: i32, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32, %[[NX:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32)
func.func @scale(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c256 = arith.constant 256 : index
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %c256 : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [256], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [256], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
  %y = arith.addf %t, %t : tensor<256xf32>
  // CHECK: %[[PROGRAMS:.*]] = arith.index_cast %[[NX]]
  // CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %c2048
  // CHECK: %[[MUCH:.*]] = arith.cmpi sge, %[[BYTES]], %c4096
  // CHECK: %[[LARGE:.*]] = arith.andi %[[MUCH]]
  // CHECK: %[[FIRST:.*]] = arith.select %[[STREAMS:.*]], %{{.*}}, %c0
  // CHECK: %[[REST:.*]] = arith.subi %c256, %[[FIRST]]
  // CHECK: %[[LENGTH:.*]] = arith.maxsi %[[REST]], %c0
  // CHECK: arith.andi %[[LENGTH]], %c-32
  // CHECK: %[[IS_PART:.*]] = arith.cmpi ne, %{{.*}}, %c0
  // CHECK-NEXT: %[[ASKS:.*]] = arith.andi %[[LARGE]], %[[IS_PART]]
  // CHECK-NEXT: scf.if %[[ASKS]] {
  // CHECK-NEXT: %[[LAST:.*]] = arith.addi %{{.*}}, %c511
  // CHECK-NEXT: memref.prefetch %{{.*}}[%[[LAST]]], write
  // CHECK: scf.for
  // CHECK: %[[SUM:.*]] = arith.addf {{.*}} : vector<32xf32>
  // CHECK: scf.if %{{[0-9]+}} {
  // CHECK-NEXT: vector.store %[[SUM]], {{.*}} {alignment = 64 : i64, nontemporal = true}
  // CHECK-NEXT: } else {
  // CHECK-NEXT: vector.store %[[SUM]]
  // CHECK-NOT: nontemporal
  // CHECK: %[[BEFORE:.*]] = arith.ceildivsi %[[FIRST]], %c8
  // CHECK: %[[LINES:.*]] = arith.andi %[[LENGTH]], %c-16
  // CHECK: %[[WHOLE_END:.*]] = arith.addi %[[FIRST]], %[[LINES]]
  // CHECK: scf.for %[[STEP:[a-z0-9]+]] =
  // CHECK: %[[BASE:.*]] = arith.select %{{.*}}, %[[FIRST]], %{{.*}}
  // CHECK: %[[NUMBER:.*]] = arith.subi %[[STEP]], %[[BEFORE]]
  // CHECK: %[[FAR:.*]] = arith.muli %[[NUMBER]], %c8
  // CHECK: %[[AT:.*]] = arith.addi %[[BASE]], %[[FAR]]
  // CHECK: %[[TOO_LOW:.*]] = vector.create_mask {{.*}} : vector<8xi1>
  // CHECK: %[[BELOW_END:.*]] = vector.create_mask {{.*}} : vector<8xi1>
  // CHECK: %[[NOT_TOO_LOW:.*]] = arith.xori %[[TOO_LOW]]
  // CHECK: %[[MASK:.*]] = arith.andi %[[BELOW_END]], %[[NOT_TOO_LOW]]
  // CHECK: %[[IS_BEHIND:.*]] = arith.cmpi sge, %[[STEP]], %[[BEFORE]]
  // CHECK: %[[IS_INSIDE:.*]] = arith.cmpi sle, %{{.*}}, %[[WHOLE_END]]
  // CHECK: %[[IS_WHOLE:.*]] = arith.andi %[[IS_BEHIND]], %[[IS_INSIDE]]
  // CHECK: %[[AROUND:.*]] = arith.andi %[[IS_WHOLE]], %[[STREAMS]]
  // CHECK: vector.maskedload {{.*}}, %[[MASK]]
  // CHECK: scf.if %[[AROUND]] {
  // CHECK-NEXT: vector.store {{.*}} {alignment = 32 : i64, nontemporal = true}
  // CHECK-NEXT: } else {
  // CHECK-NEXT: vector.maskedstore {{.*}}, %[[MASK]]
  bufferization.materialize_in_destination %y in writable %out : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// What is read, too, is in the caches already.
// CHECK-LABEL: func.func @in_place(
// CHECK-NOT: nontemporal
func.func @in_place(%x: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %id = arith.index_cast %px : i32 to index
  %in = memref.reinterpret_cast %x to offset: [%id], sizes: [256], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
  %y = arith.addf %t, %t : tensor<256xf32>
  bufferization.materialize_in_destination %y in writable %in : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Programs that speak with one another see stores in their order.
// CHECK-LABEL: func.func @signals(
// CHECK-NOT: nontemporal
func.func @signals(%o: memref<?xf32, strided<[1], offset: ?>>, %flag: memref<?xi32, strided<[1], offset: ?>>,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %y = arith.constant dense<1.0> : tensor<256xf32>
  %id = arith.index_cast %px : i32 to index
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [256], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %y in writable %out : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  %offset = arith.constant 0 : i64
  %old = linalg_ext.atomic_rmw exch release gpu %flag[%offset], %one : (memref<?xi32, strided<[1], offset: ?>>, i64, i32) -> i32
  return
}

// -----

// A norm's weights are the same for all programs, and a column is short: only `x` and the output count, 8 bytes of each element.
// CHECK-LABEL: func.func @weights(
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %c2048
// CHECK: arith.cmpi sge, %[[BYTES]], %c4096
func.func @weights(%x: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>,
                   %c: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c256 = arith.constant 256 : index
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %c256 : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [2, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<2x128xf32, strided<[128, 1], offset: ?>>
  %ws = memref.reinterpret_cast %w to offset: [5], sizes: [2, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<2x128xf32, strided<[128, 1], offset: 5>>
  %cs = memref.reinterpret_cast %c to offset: [%at], sizes: [2], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<2xf32, strided<[1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [2, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<2x128xf32, strided<[128, 1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<2x128xf32, strided<[128, 1], offset: ?>> to tensor<2x128xf32>
  %v = bufferization.to_tensor %ws : memref<2x128xf32, strided<[128, 1], offset: 5>> to tensor<2x128xf32>
  %r = bufferization.to_tensor %cs : memref<2xf32, strided<[1], offset: ?>> to tensor<2xf32>
  %empty = tensor.empty() : tensor<2x128xf32>
  %rows = linalg.broadcast ins(%r : tensor<2xf32>) outs(%empty : tensor<2x128xf32>) dimensions = [1]
  %y = arith.mulf %t, %v : tensor<2x128xf32>
  %z = arith.addf %y, %rows : tensor<2x128xf32>
  bufferization.materialize_in_destination %z in writable %out : (tensor<2x128xf32>, memref<2x128xf32, strided<[128, 1], offset: ?>>) -> ()
  return
}

// -----

// What a buffer was computed from counts, too: 8 bytes an element move.
// CHECK-LABEL: func.func @kept(
// CHECK: arith.muli %{{.*}}, %c2048
func.func @kept(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %c256 : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [256], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [256], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
  %e = math.exp %t : tensor<256xf32>
  %init = tensor.splat %zero : tensor<f32>
  %sum = linalg.reduce ins(%e : tensor<256xf32>) outs(%init : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  %number = tensor.extract %sum[] : tensor<f32>
  %all = tensor.splat %number : tensor<256xf32>
  %y = arith.divf %e, %all : tensor<256xf32>
  bufferization.materialize_in_destination %y in writable %out : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// So does what is copied to be transposed.
// CHECK-LABEL: func.func @transposed(
// CHECK: arith.muli %{{.*}}, %c8192
func.func @transposed(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>,
                      %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c32 = arith.constant 32 : index
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %c32 : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [32, 32], strides: [1, 4096]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[1, 4096], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [32, 32], strides: [4096, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[4096, 1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<32x32xf32, strided<[1, 4096], offset: ?>> to tensor<32x32xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<32x32xf32>, memref<32x32xf32, strided<[4096, 1], offset: ?>>) -> ()
  return
}

// -----

// What other programs scatter to is only written, too; what is copied to scratch memory comes from memory: 2048 bytes with what is stored.
// CHECK-LABEL: func.func @scattered(
// CHECK: arith.muli %{{.*}}, %c2048
// CHECK: vector.store {{.*}}nontemporal = true
func.func @scattered(%x: memref<?xf32, strided<[1], offset: ?>>, %p: memref<?xi64, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>,
                     %n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c256 = arith.constant 256 : index
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %c256 : index
  %wraps = arith.cmpi slt, %px, %n : i32
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [256], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
  scf.if %wraps {
    %numbers = memref.reinterpret_cast %p to offset: [%at], sizes: [256], strides: [1] : memref<?xi64, strided<[1], offset: ?>> to memref<256xi64, strided<[1], offset: ?>>
    %places = bufferization.to_tensor %numbers : memref<256xi64, strided<[1], offset: ?>> to tensor<256xi64>
    linalg_ext.scatter %t into %o[%places] : (tensor<256xf32>, memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> ()
  } else {
    %out = memref.reinterpret_cast %o to offset: [%at], sizes: [256], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %t in writable %out : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}
