// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=1048576 prefetch-bytes=1048576" --canonicalize --cse | FileCheck %s

// While functions of a row of 2 KiB are computed the row 8 KiB behind is asked for, where there are so many programs, not where
// rows follow one another.
// CHECK-LABEL: func.func @functions(
// CHECK-SAME: %[[STRIDE:[a-z0-9]+]]: index, %[[ID:[a-z0-9]+]]: i32,
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: }
// CHECK-DAG: %[[FOURTH:.*]] = arith.addi %[[ID]], %c4_i32
// CHECK-DAG: arith.cmpi slt, %[[FOURTH]]
// CHECK-DAG: %[[AHEAD:.*]] = arith.muli %[[STRIDE]], %c4 : index
// CHECK: %[[NEARER:.*]] = arith.select %{{.*}}, %[[STRIDE]], %c0 : index
// CHECK: %[[DISTANCE:.*]] = arith.select %{{.*}}, %[[AHEAD]], %[[NEARER]] : index
// CHECK: scf.for
// CHECK: arith.addi %{{.*}}, %[[DISTANCE]]
// CHECK: memref.prefetch
// CHECK: math.exp
func.func @functions(%x: memref<?xbf16, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                     %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %stride : index
  %low = arith.constant dense<0x7FC00000> : tensor<1xf32>
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 1024], strides: [1024, 1] : memref<?xbf16, strided<[1], offset: ?>> to memref<1x1024xbf16, strided<[1024, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [1], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1x1024xbf16, strided<[1024, 1], offset: ?>> to tensor<1x1024xbf16>
  %v = arith.extf %t : tensor<1x1024xbf16> to tensor<1x1024xf32>
  %top = linalg.reduce { arith.maxnumf } ins(%v : tensor<1x1024xf32>) outs(%low : tensor<1xf32>) dimensions = [1]
  %empty = tensor.empty() : tensor<1x1024xf32>
  %tops = linalg.broadcast ins(%top : tensor<1xf32>) outs(%empty : tensor<1x1024xf32>) dimensions = [1]
  %d = arith.subf %v, %tops : tensor<1x1024xf32>
  %e = math.exp %d : tensor<1x1024xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<1x1024xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
  bufferization.materialize_in_destination %sum in writable %out : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Without functions the next row is, if it is far away; so it is of rows of 1 KiB.
// CHECK-LABEL: func.func @squares(
// CHECK-NOT: %c4_i32
// CHECK: memref.prefetch
// CHECK-NOT: %c4_i32
// CHECK: return
func.func @squares(%x: memref<?xbf16, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %stride : index
  %low = arith.constant dense<0x7FC00000> : tensor<1xf32>
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 1024], strides: [1024, 1] : memref<?xbf16, strided<[1], offset: ?>> to memref<1x1024xbf16, strided<[1024, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [1], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1x1024xbf16, strided<[1024, 1], offset: ?>> to tensor<1x1024xbf16>
  %v = arith.extf %t : tensor<1x1024xbf16> to tensor<1x1024xf32>
  %top = linalg.reduce { arith.maxnumf } ins(%v : tensor<1x1024xf32>) outs(%low : tensor<1xf32>) dimensions = [1]
  %empty = tensor.empty() : tensor<1x1024xf32>
  %tops = linalg.broadcast ins(%top : tensor<1xf32>) outs(%empty : tensor<1x1024xf32>) dimensions = [1]
  %d = arith.subf %v, %tops : tensor<1x1024xf32>
  %e = arith.mulf %d, %d : tensor<1x1024xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<1x1024xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
  bufferization.materialize_in_destination %sum in writable %out : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @short_row(
// CHECK-NOT: %c4_i32
// CHECK-NOT: %c8_i32
// CHECK: memref.prefetch
// CHECK: math.exp
func.func @short_row(%x: memref<?xbf16, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                     %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %stride : index
  %low = arith.constant dense<0x7FC00000> : tensor<1xf32>
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [1, 512], strides: [512, 1] : memref<?xbf16, strided<[1], offset: ?>> to memref<1x512xbf16, strided<[512, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%id], sizes: [1], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<1x512xbf16, strided<[512, 1], offset: ?>> to tensor<1x512xbf16>
  %v = arith.extf %t : tensor<1x512xbf16> to tensor<1x512xf32>
  %top = linalg.reduce { arith.maxnumf } ins(%v : tensor<1x512xf32>) outs(%low : tensor<1xf32>) dimensions = [1]
  %empty = tensor.empty() : tensor<1x512xf32>
  %tops = linalg.broadcast ins(%top : tensor<1xf32>) outs(%empty : tensor<1x512xf32>) dimensions = [1]
  %d = arith.subf %v, %tops : tensor<1x512xf32>
  %e = math.exp %d : tensor<1x512xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<1x512xf32>) outs(%zero : tensor<1xf32>) dimensions = [1]
  bufferization.materialize_in_destination %sum in writable %out : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}
