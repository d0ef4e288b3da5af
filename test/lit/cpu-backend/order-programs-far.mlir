// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-order-programs --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-order-programs=large-read=1048576 --canonicalize --cse | FileCheck %s --check-prefix=LARGE

// Of a transpose, 1024 bytes each: along x what is read is far and what is written near, along y the other way: x. What is
// read counts more if it comes from memory.

// CHECK-LABEL: func.func private @transpose.order(
// CHECK-SAME: %[[NX:[^ ]*]]: i32, %[[NY:[^ ]*]]: i32, %{{[^ ]*}}: i32) -> i32
// CHECK: %[[BOTH:.*]] = arith.constant 65536 : index
// CHECK: %[[X_ALONE:.*]] = arith.cmpi ule, %[[NX]], %{{.*}} : i32
// CHECK: arith.select %[[X_ALONE]], %{{.*}}, %[[BOTH]]
// CHECK: %[[Y_ALONE:.*]] = arith.cmpi ule, %[[NY]], %{{.*}} : i32
// CHECK: arith.select %[[Y_ALONE]], %{{.*}}, %[[BOTH]]
// LARGE-LABEL: func.func private @transpose.order(
// LARGE-SAME: %[[NX:[^ ]*]]: i32, %[[NY:[^ ]*]]: i32, %[[NZ:[^ ]*]]: i32) -> i32
// LARGE: %[[Z:.*]] = arith.uitofp %[[NZ]] : i32 to f64
// LARGE: %[[BYTES:.*]] = arith.mulf %{{.*}}, %[[Z]] : f64
// LARGE: %[[LARGE:.*]] = arith.cmpf oge, %[[BYTES]], %{{.*}} : f64
// LARGE: arith.select %[[LARGE]], %c64{{[^,]*}}, %c48{{.*}} : index
// LARGE: arith.select %[[LARGE]], %c32{{[^,]*}}, %c48{{.*}} : index
func.func @transpose(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>,
                     %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c16 = arith.constant 16 : index
  %c65536 = arith.constant 65536 : index
  %i = arith.index_cast %px : i32 to index
  %j = arith.index_cast %py : i32 to index
  %ifar = arith.muli %i, %c65536 : index
  %inear = arith.muli %i, %c16 : index
  %jfar = arith.muli %j, %c65536 : index
  %jnear = arith.muli %j, %c16 : index
  %from = arith.addi %ifar, %jnear : index
  %to = arith.addi %jfar, %inear : index
  %in = memref.reinterpret_cast %x to offset: [%from], sizes: [16, 16], strides: [4096, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<16x16xf32, strided<[4096, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%to], sizes: [16, 16], strides: [1, 4096]
      : memref<?xf32, strided<[1], offset: ?>> to memref<16x16xf32, strided<[1, 4096], offset: ?>>
  %t = bufferization.to_tensor %in : memref<16x16xf32, strided<[4096, 1], offset: ?>> to tensor<16x16xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<16x16xf32>, memref<16x16xf32, strided<[1, 4096], offset: ?>>) -> ()
  return
}

// -----

// Rows whose numbers are read from where only x decides are other ones along x, 4096 bytes that are far; along y the same
// rows go on, on the next page.

// CHECK-LABEL: func.func private @gathered.order(
// CHECK-SAME: %[[NX:[^ ]*]]: i32, %[[NY:[^ ]*]]: i32, %{{[^ ]*}}: i32) -> i32
// CHECK-DAG: %[[NEAR:.*]] = arith.constant 131072 : index
// CHECK-DAG: %[[FAR:.*]] = arith.constant 393728 : index
// CHECK: %[[X_ALONE:.*]] = arith.cmpi ule, %[[NX]], %{{.*}} : i32
// CHECK: arith.select %[[X_ALONE]], %{{.*}}, %[[FAR]]
// CHECK: %[[Y_ALONE:.*]] = arith.cmpi ule, %[[NY]], %{{.*}} : i32
// CHECK: arith.select %[[Y_ALONE]], %{{.*}}, %[[NEAR]]
func.func @gathered(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>,
                    %ids: memref<?xi64, strided<[1], offset: ?>>,
                    %n: index, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c4 = arith.constant 4 : index
  %c256 = arith.constant 256 : index
  %c16384 = arith.constant 16384 : index
  %i = arith.index_cast %px : i32 to index
  %j = arith.index_cast %py : i32 to index
  %column = arith.muli %j, %c256 : index
  %first = arith.muli %i, %c4 : index
  %row = arith.muli %i, %c16384 : index
  %to = arith.addi %row, %column : index
  %list = memref.reinterpret_cast %ids to offset: [%first], sizes: [4], strides: [1]
      : memref<?xi64, strided<[1], offset: ?>> to memref<4xi64, strided<[1], offset: ?>>
  %rows = bufferization.to_tensor %list : memref<4xi64, strided<[1], offset: ?>> to tensor<4xi64>
  %in = memref.reinterpret_cast %x to offset: [%column], sizes: [%n, 256], strides: [4096, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<?x256xf32, strided<[4096, 1], offset: ?>>
  %v = linalg_ext.gather_rows %in[%rows] dim 0 : (memref<?x256xf32, strided<[4096, 1], offset: ?>>, tensor<4xi64>) -> tensor<4x256xf32>
  %out = memref.reinterpret_cast %o to offset: [%to], sizes: [4, 256], strides: [4096, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<4x256xf32, strided<[4096, 1], offset: ?>>
  bufferization.materialize_in_destination %v in writable %out : (tensor<4x256xf32>, memref<4x256xf32, strided<[4096, 1], offset: ?>>) -> ()
  return
}
