// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

// Rows that end anywhere, of which a mask leaves out some: whole vectors up to the end, which is the row's beginning where it is left
// out, and one with a mask behind them.
// CHECK-LABEL: func.func @rows_with_end
// CHECK-SAME: %{{[^:]*}}: memref<16x64xf32>, %[[OUT:[^:]*]]: memref<?x?xf32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[WHOLE_LANES:.*]] = arith.constant -8 : index
// CHECK: scf.for %[[ROW:.*]] = %[[ZERO]] to %c16 step %c1
// CHECK: %[[TAKEN:.*]] = arith.cmpi sge
// CHECK: %[[END:.*]] = arith.select %[[TAKEN]], %{{.*}}, %[[ZERO]]
// CHECK: %[[WHOLE:.*]] = arith.andi %[[END]], %[[WHOLE_LANES]]
// CHECK: scf.for {{.*}} to %[[WHOLE]] step %c8
// CHECK-NOT: vector.maskedstore
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK: }
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[WHOLE]], %[[END]]
// CHECK: scf.if %[[MORE]]
// CHECK: %[[LANES:.*]] = vector.create_mask
// CHECK: vector.maskedstore {{.*}}, %[[LANES]]
// CHECK-NOT: vector.store
// CHECK: return
func.func @rows_with_end(%values: memref<16x64xf32>, %out: memref<?x?xf32, strided<[1, 1], offset: ?>>, %ids: memref<16xi64>) {
  %zero = arith.constant 0 : i64
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %empty = tensor.empty() : tensor<16xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%rows : tensor<16xi64>) outs(%empty : tensor<16xi1>) {
  ^bb0(%row: i64, %o: i1):
    %known = arith.cmpi sge, %row, %zero : i64
    linalg.yield %known : i1
  } -> tensor<16xi1>
  %block = bufferization.to_tensor %values : memref<16x64xf32> to tensor<16x64xf32>
  linalg_ext.scatter_rows %block into %out[%rows] dim 0 rowmask %mask
      : (tensor<16x64xf32>, memref<?x?xf32, strided<[1, 1], offset: ?>>, tensor<16xi64>, tensor<16xi1>) -> ()
  return
}

// -----

// Whole rows need no mask, and have nothing behind them.
// CHECK-LABEL: func.func @whole_rows
// CHECK: scf.for {{.*}} to %c64 step %c8
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: scf.if
// CHECK-NOT: maskedstore
// CHECK: return
func.func @whole_rows(%values: memref<16x64xf32>, %out: memref<?x64xf32, strided<[1, 1], offset: ?>>, %ids: memref<16xi64>) {
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %block = bufferization.to_tensor %values : memref<16x64xf32> to tensor<16x64xf32>
  linalg_ext.scatter_rows %block into %out[%rows] dim 0
      : (tensor<16x64xf32>, memref<?x64xf32, strided<[1, 1], offset: ?>>, tensor<16xi64>) -> ()
  return
}

// -----

// A row of one element is stored where it is taken.
// CHECK-LABEL: func.func @short_rows
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: vector.store {{.*}} vector<1xf32>
// CHECK-NEXT: }
func.func @short_rows(%values: memref<16x1xf32>, %out: memref<?x1xf32, strided<[1, 1], offset: ?>>, %ids: memref<16xi64>) {
  %zero = arith.constant 0 : i64
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %empty = tensor.empty() : tensor<16xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%rows : tensor<16xi64>) outs(%empty : tensor<16xi1>) {
  ^bb0(%row: i64, %o: i1):
    %known = arith.cmpi sge, %row, %zero : i64
    linalg.yield %known : i1
  } -> tensor<16xi1>
  %block = bufferization.to_tensor %values : memref<16x1xf32> to tensor<16x1xf32>
  linalg_ext.scatter_rows %block into %out[%rows] dim 0 rowmask %mask
      : (tensor<16x1xf32>, memref<?x1xf32, strided<[1, 1], offset: ?>>, tensor<16xi64>, tensor<16xi1>) -> ()
  return
}

// -----

// Rows of one element that follow one another are columns in memory: a square is transposed, and stored by vectors, with a mask where
// not all of it is there. Others are stored row by row.
// CHECK-LABEL: func.func @pixels
// CHECK-DAG: %[[SQUARE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x8xf32>
// CHECK: scf.for %[[ROWS:.*]] = %c0 to %c16 step %c8
// CHECK: %[[GOESON:.*]] = vector.reduction <and>
// CHECK: scf.if %[[GOESON]] {
// CHECK: scf.for {{.*}} step %c8
// CHECK: vector.store {{.*}}, %[[SQUARE]]
// CHECK: vector.load %[[SQUARE]]
// CHECK-COUNT-24: vector.shuffle
// CHECK: scf.if
// CHECK-COUNT-8: vector.store
// CHECK: } else {
// CHECK-COUNT-8: vector.maskedstore
// CHECK: } else {
// CHECK: scf.for
func.func @pixels(%values: memref<16x32xf32>, %out: memref<?x?xf32, strided<[1, ?], offset: ?>>, %ids: memref<16xi64>) {
  %zero = arith.constant 0 : i64
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %empty = tensor.empty() : tensor<16xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%rows : tensor<16xi64>) outs(%empty : tensor<16xi1>) {
  ^bb0(%row: i64, %o: i1):
    %known = arith.cmpi sge, %row, %zero : i64
    linalg.yield %known : i1
  } -> tensor<16xi1>
  %block = bufferization.to_tensor %values : memref<16x32xf32> to tensor<16x32xf32>
  %view = memref.cast %out : memref<?x?xf32, strided<[1, ?], offset: ?>> to memref<?x?xf32, strided<[1, ?], offset: ?>>
  linalg_ext.scatter_rows %block into %view[%rows] dim 0 rowmask %mask
      : (tensor<16x32xf32>, memref<?x?xf32, strided<[1, ?], offset: ?>>, tensor<16xi64>, tensor<16xi1>) -> ()
  return
}
