// RUN: tilebridge-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tilebridge-cpu-drop-unit-dims))' | FileCheck %s

// A row under masks of both dimensions is a row that is empty where its own mask is off; its sums are numbers that the loop
// carries, and what stores them has a block as before.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME: %[[X:[^:]*]]: memref<1x64xf32, {{[^%]*}}, %{{[^:]*}}: memref<1xf32, {{[^%]*}}, %[[ROWS:[^:]*]]: index, %[[COLUMNS:[^:]*]]: index
// CHECK: %[[BOX:.*]] = memref.subview %[[X]][0, 0] [%[[ROWS]], %[[COLUMNS]]] [1, 1]
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32) {
// CHECK: %[[IS_THERE:.*]] = arith.cmpi sgt, %[[ROWS]], %{{.*}} : index
// CHECK: %[[SIZE:.*]] = arith.select %[[IS_THERE]], %[[COLUMNS]], %{{.*}} : index
// CHECK: %[[ROW:.*]] = memref.subview %[[BOX]][0, 0] [1, %[[SIZE]]] [1, 1] : {{.*}} to memref<?xf32, strided<[1], offset: ?>>
// CHECK: %[[READ:.*]] = bufferization.to_tensor %[[ROW]] : {{.*}} to tensor<?xf32>
// CHECK: %[[HIGH:.*]] = arith.subi %{{.*}}, %[[SIZE]] : index
// CHECK: %[[ALL:.*]] = tensor.pad %[[READ]] low[0] high[%[[HIGH]]]
// CHECK: tensor<?xf32> to tensor<64xf32>
// CHECK: %[[RANK0:.*]] = linalg.reduce { arith.addf } ins(%[[ALL]] : tensor<64xf32>) outs(%{{.*}} : tensor<f32>) dimensions = [0]
// CHECK: %[[NUMBER:.*]] = tensor.extract %[[RANK0]][] : tensor<f32>
// CHECK: %[[NEXT:.*]] = arith.addf %[[SO_FAR]], %[[NUMBER]] : f32
// CHECK: scf.yield %[[NEXT]] : f32
// CHECK: %[[BLOCK:.*]] = tensor.splat %[[SUM]] : tensor<1xf32>
// CHECK: bufferization.materialize_in_destination %[[BLOCK]]
#map = affine_map<(d0) -> (d0)>
func.func @sums(%x: memref<1x64xf32, strided<[64, 1], offset: ?>>, %y: memref<1xf32, strided<[1], offset: ?>>, %rows: index, %columns: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %other = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %start = arith.constant dense<-0.0> : tensor<1xf32>
  %init = tensor.empty() : tensor<1xf32>
  %box = memref.subview %x[0, 0] [%rows, %columns] [1, 1] : memref<1x64xf32, strided<[64, 1], offset: ?>> to memref<?x?xf32, strided<[64, 1], offset: ?>>
  %no_rows = arith.subi %c1, %rows : index
  %no_columns = arith.subi %c64, %columns : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%so_far = %zero) -> (tensor<1xf32>) {
    %read = bufferization.to_tensor %box : memref<?x?xf32, strided<[64, 1], offset: ?>> to tensor<?x?xf32>
    %all = tensor.pad %read low[0, 0] high[%no_rows, %no_columns] {
    ^bb0(%a: index, %b: index):
      tensor.yield %other : f32
    } : tensor<?x?xf32> to tensor<1x64xf32>
    %part = linalg.reduce { arith.addf } ins(%all : tensor<1x64xf32>) outs(%start : tensor<1xf32>) dimensions = [1]
    %next = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%so_far, %part : tensor<1xf32>, tensor<1xf32>) outs(%init : tensor<1xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<1xf32>
    scf.yield %next : tensor<1xf32>
  }
  bufferization.materialize_in_destination %sum in writable %y : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Two masks: nothing is stored unless both hold. What begins behind a block's first element still does.
// CHECK-LABEL: func.func @store(
// CHECK-SAME: %[[Y:[^:]*]]: memref<1x32x1xf32, {{[^%]*}}, %[[A:[^:]*]]: index, %[[LOW:[^:]*]]: index, %[[N:[^:]*]]: index, %[[B:[^:]*]]: index
// CHECK: %[[BOX:.*]] = memref.subview %[[Y]]
// CHECK: %[[IS_A:.*]] = arith.cmpi sgt, %[[A]]
// CHECK: %[[IS_B:.*]] = arith.cmpi sgt, %[[B]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[IS_A]], %[[IS_B]]
// CHECK: %[[SIZE:.*]] = arith.select %[[BOTH]], %[[N]], %{{.*}} : index
// CHECK: %[[ROW:.*]] = memref.subview %[[BOX]][0, 0, 0] [1, %[[SIZE]], 1] [1, 1, 1] : {{.*}} to memref<?xf32, strided<[7], offset: ?>>
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[%[[LOW]]] [%[[SIZE]]] [1] : tensor<32xf32> to tensor<?xf32>
// CHECK: materialize_in_destination %[[PART]] in writable %[[ROW]]
func.func @store(%y: memref<1x32x1xf32, strided<[224, 7, 1]>>, %a: index, %low: index, %n: index, %b: index, %x: memref<1x32x1xf32, strided<[32, 1, 1]>>) {
  %block = bufferization.to_tensor %x : memref<1x32x1xf32, strided<[32, 1, 1]>> to tensor<1x32x1xf32>
  %box = memref.subview %y[0, %low, 0] [%a, %n, %b] [1, 1, 1] : memref<1x32x1xf32, strided<[224, 7, 1]>> to memref<?x?x?xf32, strided<[224, 7, 1], offset: ?>>
  %part = tensor.extract_slice %block[0, %low, 0] [%a, %n, %b] [1, 1, 1] : tensor<1x32x1xf32> to tensor<?x?x?xf32>
  bufferization.materialize_in_destination %part in writable %box : (tensor<?x?x?xf32>, memref<?x?x?xf32, strided<[224, 7, 1], offset: ?>>) -> ()
  return
}

// -----

// Outside of the box there is another block.
// CHECK-LABEL: func.func @other(
// CHECK: %[[OTHER:.*]] = bufferization.to_tensor %{{.*}} to tensor<32xf32>
// CHECK: %[[READ:.*]] = bufferization.to_tensor %{{.*}} : memref<?xf32, {{.*}} to tensor<?xf32>
// CHECK: tensor.insert_slice %[[READ]] into %[[OTHER]][0] [%{{.*}}] [1] : tensor<?xf32> into tensor<32xf32>
func.func @other(%x: memref<32x1xf32, strided<[3, 1]>>, %n: index, %y: memref<32x1xf32, strided<[3, 1]>>) {
  %block = bufferization.to_tensor %y : memref<32x1xf32, strided<[3, 1]>> to tensor<32x1xf32>
  %box = memref.subview %x[0, 0] [%n, 1] [1, 1] : memref<32x1xf32, strided<[3, 1]>> to memref<?x1xf32, strided<[3, 1]>>
  %read = bufferization.to_tensor %box : memref<?x1xf32, strided<[3, 1]>> to tensor<?x1xf32>
  %all = tensor.insert_slice %read into %block[0, 0] [%n, 1] [1, 1] : tensor<?x1xf32> into tensor<32x1xf32>
  bufferization.materialize_in_destination %all in writable %y : (tensor<32x1xf32>, memref<32x1xf32, strided<[3, 1]>>) -> ()
  return
}

// -----

// Indices of the other dimensions, and 0.
// CHECK-LABEL: func.func @indices(
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: arith.addi %[[ZERO]], %[[I]]
// CHECK: tensor<16xi64>
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @indices(%y: memref<1x16xi64, strided<[16, 1]>>) {
  %init = tensor.empty() : tensor<1x16xi64>
  %t = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%init : tensor<1x16xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addi %i, %j : index
    %c = arith.index_cast %s : index to i64
    linalg.yield %c : i64
  } -> tensor<1x16xi64>
  bufferization.materialize_in_destination %t in writable %y : (tensor<1x16xi64>, memref<1x16xi64, strided<[16, 1]>>) -> ()
  return
}

// -----

// One element is computed as a number: its index is 0, and its quotient is not estimated.
// CHECK-LABEL: func.func @number(
// CHECK-NOT: linalg.generic
// CHECK: %[[X:.*]] = tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<1x1xf32>
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[I:.*]] = arith.index_cast %[[ZERO]] : index to i32
// CHECK: %[[F:.*]] = arith.sitofp %[[I]]
// CHECK: %[[Q:.*]] = arith.divf %[[F]], %[[X]] : f32
// CHECK: tensor.splat %[[Q]] : tensor<1x1xf32>
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @number(%x: memref<1x1xf32, strided<[1, 1]>>) {
  %block = bufferization.to_tensor %x : memref<1x1xf32, strided<[1, 1]>> to tensor<1x1xf32>
  %init = tensor.empty() : tensor<1x1xf32>
  %t = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%block : tensor<1x1xf32>) outs(%init : tensor<1x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 1 : index
    %c = arith.index_cast %i : index to i32
    %f = arith.sitofp %c : i32 to f32
    %q = arith.divf %f, %a fastmath<arcp> : f32
    linalg.yield %q : f32
  } -> tensor<1x1xf32>
  bufferization.materialize_in_destination %t in writable %x : (tensor<1x1xf32>, memref<1x1xf32, strided<[1, 1]>>) -> ()
  return
}

// -----

// A batch of one product. What the loop begins with is a block of the new shape.
// CHECK-LABEL: func.func @batch(
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
// CHECK: scf.for {{.*}} iter_args(%[[SUMS:.*]] = %[[ZEROS]]) -> (tensor<16x16xf32>)
// CHECK: linalg.matmul {tilebridge.short_sums} ins(%{{.*}}, %{{.*}} : tensor<16x32xbf16>, tensor<32x16xbf16>) outs(%[[SUMS]] : tensor<16x16xf32>)
func.func @batch(%a: memref<1x16x32xbf16, strided<[512, 32, 1]>>, %b: memref<1x32x16xbf16, strided<[512, 16, 1]>>, %y: memref<1x16x16xf32, strided<[256, 16, 1]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<1x16x16xf32>
  %ta = bufferization.to_tensor %a : memref<1x16x32xbf16, strided<[512, 32, 1]>> to tensor<1x16x32xbf16>
  %tb = bufferization.to_tensor %b : memref<1x32x16xbf16, strided<[512, 16, 1]>> to tensor<1x32x16xbf16>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sums = %zeros) -> (tensor<1x16x16xf32>) {
    %p = linalg.batch_matmul {tilebridge.short_sums} ins(%ta, %tb : tensor<1x16x32xbf16>, tensor<1x32x16xbf16>) outs(%sums : tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
    scf.yield %p : tensor<1x16x16xf32>
  }
  bufferization.materialize_in_destination %r in writable %y : (tensor<1x16x16xf32>, memref<1x16x16xf32, strided<[256, 16, 1]>>) -> ()
  return
}

// -----

// A product with one row keeps it, and so does what it is computed from.
// CHECK-LABEL: func.func @one_row(
// CHECK: bufferization.to_tensor %{{.*}} to tensor<1x32xf32>
// CHECK: linalg.generic {{.*}} ["parallel", "parallel"]
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<1x32xf32>, tensor<32x16xf32>)
// CHECK: materialize_in_destination %{{.*}} : (tensor<1x16xf32>
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @one_row(%a: memref<1x32xf32, strided<[32, 1]>>, %b: memref<32x16xf32, strided<[16, 1]>>, %y: memref<1x16xf32, strided<[16, 1]>>) {
  %zeros = arith.constant dense<0.0> : tensor<1x16xf32>
  %init = tensor.empty() : tensor<1x32xf32>
  %ta = bufferization.to_tensor %a : memref<1x32xf32, strided<[32, 1]>> to tensor<1x32xf32>
  %tb = bufferization.to_tensor %b : memref<32x16xf32, strided<[16, 1]>> to tensor<32x16xf32>
  %neg = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%ta : tensor<1x32xf32>) outs(%init : tensor<1x32xf32>) {
  ^bb0(%e: f32, %o: f32):
    %n = arith.negf %e : f32
    linalg.yield %n : f32
  } -> tensor<1x32xf32>
  %p = linalg.matmul ins(%neg, %tb : tensor<1x32xf32>, tensor<32x16xf32>) outs(%zeros : tensor<1x16xf32>) -> tensor<1x16xf32>
  bufferization.materialize_in_destination %p in writable %y : (tensor<1x16xf32>, memref<1x16xf32, strided<[16, 1]>>) -> ()
  return
}

// -----

// What is printed is printed with its indices; one element is a block for who prints or checks it, and a number for others.
// CHECK-LABEL: func.func @printed(
// CHECK: %[[ROW:.*]] = bufferization.to_tensor %{{.*}} to tensor<1x4xf32>
// CHECK: linalg_ext.print "row" {{.*}} values(%[[ROW]])
// CHECK: %[[ONE:.*]] = bufferization.to_tensor %{{.*}} to tensor<1xf32>
// CHECK: %[[NUMBER:.*]] = tensor.extract %[[ONE]]
// CHECK: %[[NEG:.*]] = arith.negf %[[NUMBER]]
// CHECK: %[[BLOCK:.*]] = tensor.splat %[[NEG]] : tensor<1xf32>
// CHECK: linalg_ext.print "one" {{.*}} values(%[[BLOCK]])
#map = affine_map<(d0) -> (d0)>
func.func @printed(%p: i32, %x: memref<1x4xf32, strided<[4, 1]>>, %y: memref<1xf32, strided<[1]>>) {
  %row = bufferization.to_tensor %x : memref<1x4xf32, strided<[4, 1]>> to tensor<1x4xf32>
  linalg_ext.print "row" programs(%p, %p, %p) values(%row) signed = [true] : tensor<1x4xf32>
  %one = bufferization.to_tensor %y : memref<1xf32, strided<[1]>> to tensor<1xf32>
  %init = tensor.empty() : tensor<1xf32>
  %neg = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%one : tensor<1xf32>) outs(%init : tensor<1xf32>) {
  ^bb0(%e: f32, %o: f32):
    %n = arith.negf %e : f32
    linalg.yield %n : f32
  } -> tensor<1xf32>
  linalg_ext.print "one" programs(%p, %p, %p) values(%neg) signed = [true] : tensor<1xf32>
  return
}

// -----

// Along one element a scan or a reduction gives what it reads; along others the dimension has another number.
// CHECK-LABEL: func.func @along(
// CHECK: %[[ROW:.*]] = bufferization.to_tensor %{{.*}} to tensor<8xf32>
// CHECK: %[[SUMS:.*]] = linalg_ext.scan(%[[ROW]]) dimension = 0 {
// CHECK: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: %[[RANK0:.*]] = linalg_ext.reduce(%[[SUMS]]) dimension = 0 {
// CHECK: %[[LAST:.*]] = tensor.extract %[[RANK0]][] : tensor<f32>
// CHECK: %[[BLOCK:.*]] = tensor.splat %[[LAST]] : tensor<1xf32>
// CHECK: materialize_in_destination %[[BLOCK]]
// CHECK: materialize_in_destination %[[SUMS]]
// CHECK-NOT: linalg_ext
func.func @along(%x: memref<1x8xf32, strided<[8, 1]>>, %y: memref<1xf32, strided<[1]>>, %z: memref<8xf32, strided<[1]>>) {
  %row = bufferization.to_tensor %x : memref<1x8xf32, strided<[8, 1]>> to tensor<1x8xf32>
  %same = linalg_ext.scan(%row) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg_ext.yield %s : f32
  } : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %sums = linalg_ext.scan(%same) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg_ext.yield %s : f32
  } : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %last = linalg_ext.reduce(%sums) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %b : f32
  } : (tensor<1x8xf32>) -> tensor<1xf32>
  bufferization.materialize_in_destination %last in writable %y : (tensor<1xf32>, memref<1xf32, strided<[1]>>) -> ()
  %all = linalg_ext.reduce(%sums) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    linalg_ext.yield %b : f32
  } : (tensor<1x8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %all in writable %z : (tensor<8xf32>, memref<8xf32, strided<[1]>>) -> ()
  return
}

// -----

// A sum along a dimension of one element, with others: an initial value changes nothing.
// CHECK-LABEL: func.func @plain_sums(
// CHECK: %[[ROWS:.*]] = bufferization.to_tensor %{{.*}} to tensor<4x8xf32>
// CHECK: linalg.reduce { arith.addf } ins(%[[ROWS]] : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>) dimensions = [1]
// CHECK-NOT: linalg.reduce
// CHECK: materialize_in_destination %[[ROWS]]
func.func @plain_sums(%x: memref<4x1x8xf32, strided<[8, 8, 1]>>, %y: memref<4xf32, strided<[1]>>, %z: memref<4x8xf32, strided<[8, 1]>>) {
  %four = arith.constant dense<-0.0> : tensor<4xf32>
  %start = arith.constant dense<-0.0> : tensor<4x8xf32>
  %rows = bufferization.to_tensor %x : memref<4x1x8xf32, strided<[8, 8, 1]>> to tensor<4x1x8xf32>
  %sums = linalg.reduce { arith.addf } ins(%rows : tensor<4x1x8xf32>) outs(%four : tensor<4xf32>) dimensions = [1, 2]
  bufferization.materialize_in_destination %sums in writable %y : (tensor<4xf32>, memref<4xf32, strided<[1]>>) -> ()
  %same = linalg.reduce { arith.addf } ins(%rows : tensor<4x1x8xf32>) outs(%start : tensor<4x8xf32>) dimensions = [1]
  bufferization.materialize_in_destination %same in writable %z : (tensor<4x8xf32>, memref<4x8xf32, strided<[8, 1]>>) -> ()
  return
}

// -----

// Numbers that are repeated, rows that are repeated or transposed, and branches.
// CHECK-LABEL: func.func @shapes(
// CHECK: %[[ROW:.*]] = bufferization.to_tensor %{{.*}} to tensor<8xf32>
// CHECK: %[[ONE:.*]] = bufferization.to_tensor %{{.*}} to tensor<1xf32>
// CHECK: %[[NUMBER:.*]] = tensor.extract %[[ONE]]
// CHECK: %[[CHOSEN:.*]]:2 = scf.if %{{.*}} -> (tensor<8xf32>, f32) {
// CHECK: scf.yield %[[ROW]], %[[NUMBER]] : tensor<8xf32>, f32
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<8xf32>, f32
// CHECK: %[[SPLAT:.*]] = tensor.splat %[[CHOSEN]]#1 : tensor<8xf32>
// CHECK: materialize_in_destination %[[SPLAT]]
// CHECK: %[[ROWS:.*]] = linalg.broadcast ins(%[[CHOSEN]]#0 : tensor<8xf32>) outs(%{{.*}} : tensor<4x8xf32>) dimensions = [0]
// CHECK: %[[COLUMNS:.*]] = linalg.transpose ins(%[[ROWS]] : tensor<4x8xf32>) outs(%{{.*}} : tensor<8x4xf32>) permutation = [1, 0]
// CHECK: materialize_in_destination %[[COLUMNS]] in writable %{{.*}} : (tensor<8x4xf32>, memref<8x4xf32, strided<[4, 1]>>)
// CHECK: materialize_in_destination %[[CHOSEN]]#0 in writable %{{.*}} : (tensor<8xf32>, memref<8xf32, strided<[1]>>)
func.func @shapes(%c: i1, %x: memref<1x8xf32, strided<[8, 1]>>, %o: memref<1xf32, strided<[1]>>, %y: memref<1x8xf32, strided<[8, 1]>>, %z: memref<8x1x4xf32, strided<[4, 4, 1]>>, %w: memref<8x1xf32, strided<[1, 1]>>) {
  %row = bufferization.to_tensor %x : memref<1x8xf32, strided<[8, 1]>> to tensor<1x8xf32>
  %one = bufferization.to_tensor %o : memref<1xf32, strided<[1]>> to tensor<1xf32>
  %zeros = arith.constant dense<0.0> : tensor<1x8xf32>
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %chosen:2 = scf.if %c -> (tensor<1x8xf32>, tensor<1xf32>) {
    scf.yield %row, %one : tensor<1x8xf32>, tensor<1xf32>
  } else {
    scf.yield %zeros, %zero : tensor<1x8xf32>, tensor<1xf32>
  }
  %init = tensor.empty() : tensor<1x8xf32>
  %ones = linalg.broadcast ins(%chosen#1 : tensor<1xf32>) outs(%init : tensor<1x8xf32>) dimensions = [1]
  bufferization.materialize_in_destination %ones in writable %y : (tensor<1x8xf32>, memref<1x8xf32, strided<[8, 1]>>) -> ()
  %init4 = tensor.empty() : tensor<4x1x8xf32>
  %rows = linalg.broadcast ins(%chosen#0 : tensor<1x8xf32>) outs(%init4 : tensor<4x1x8xf32>) dimensions = [0]
  %init8 = tensor.empty() : tensor<8x1x4xf32>
  %columns = linalg.transpose ins(%rows : tensor<4x1x8xf32>) outs(%init8 : tensor<8x1x4xf32>) permutation = [2, 1, 0]
  bufferization.materialize_in_destination %columns in writable %z : (tensor<8x1x4xf32>, memref<8x1x4xf32, strided<[4, 4, 1]>>) -> ()
  %init1 = tensor.empty() : tensor<8x1xf32>
  %column = linalg.transpose ins(%chosen#0 : tensor<1x8xf32>) outs(%init1 : tensor<8x1xf32>) permutation = [1, 0]
  bufferization.materialize_in_destination %column in writable %w : (tensor<8x1xf32>, memref<8x1xf32, strided<[1, 1]>>) -> ()
  return
}

// -----

// Elements by their places. A read row that is put beside another one is a part of a block, and stays as it is.
// CHECK-LABEL: func.func @places(
// CHECK: linalg_ext.gather %{{.*}}[%{{.*}}] : (memref<?xf32, {{.*}}>, tensor<8xi64>) -> tensor<8xf32>
// CHECK: linalg_ext.gather_along %{{.*}}[%{{.*}}] dimension = 0 : tensor<8xf32>, tensor<8xi64> -> tensor<8xf32>
// CHECK: linalg_ext.atomic_rmw fadd relaxed gpu %{{.*}}[%{{.*}}], %{{.*}} : (memref<?xf32, {{.*}}>, tensor<8xi64>, tensor<8xf32>) -> tensor<8xf32>
// CHECK: linalg_ext.scatter %{{.*}} into %{{.*}}[%{{.*}}] : (tensor<8xf32>, memref<?xf32, {{.*}}>, tensor<8xi64>) -> ()
// CHECK-NOT: linalg_ext
// CHECK: %[[READ:.*]] = bufferization.to_tensor %{{.*}} to tensor<1x8xf32>
// CHECK: tensor.insert_slice %[[READ]] into %{{.*}}[1, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<2x8xf32>
func.func @places(%p: memref<?xf32, strided<[1], offset: ?>>, %i: memref<1x8xi64, strided<[8, 1]>>, %y: memref<2x8xf32, strided<[8, 1]>>, %x: memref<1x8xf32, strided<[8, 1]>>) {
  %at = bufferization.to_tensor %i : memref<1x8xi64, strided<[8, 1]>> to tensor<1x8xi64>
  %t = linalg_ext.gather %p[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<1x8xi64>) -> tensor<1x8xf32>
  %u = linalg_ext.gather_along %t[%at] dimension = 1 : tensor<1x8xf32>, tensor<1x8xi64> -> tensor<1x8xf32>
  %r = linalg_ext.atomic_rmw fadd relaxed gpu %p[%at], %u : (memref<?xf32, strided<[1], offset: ?>>, tensor<1x8xi64>, tensor<1x8xf32>) -> tensor<1x8xf32>
  linalg_ext.scatter %u into %p[%at] : (tensor<1x8xf32>, memref<?xf32, strided<[1], offset: ?>>, tensor<1x8xi64>) -> ()
  %zeros = arith.constant dense<0.0> : tensor<2x8xf32>
  %read = bufferization.to_tensor %x : memref<1x8xf32, strided<[8, 1]>> to tensor<1x8xf32>
  %both = tensor.insert_slice %read into %zeros[1, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<2x8xf32>
  bufferization.materialize_in_destination %both in writable %y : (tensor<2x8xf32>, memref<2x8xf32, strided<[8, 1]>>) -> ()
  return
}
