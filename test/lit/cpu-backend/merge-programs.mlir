// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-merge-programs | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-merge-programs --tilebridge-cpu-entry=cpu=x86-64 | FileCheck %s --check-prefix=ENTRY
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-merge-programs=large-read=1048576 | FileCheck %s --check-prefix=LARGE
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-merge-programs=large-read=1048576 --tilebridge-cpu-entry=cpu=x86-64 | FileCheck %s --check-prefix=APART

#id = affine_map<(d0) -> (d0)>

// A line has 16 elements. The rows that are inside are the same for all, so that nothing is compared.
// ENTRY-LABEL: func.func private @column.program(
// ENTRY: llvm.func internal @tilebridge_run
// In launches for which nothing is merged programs run one by one.
// ENTRY: scf.if
// ENTRY: scf.for
// ENTRY: func.call @column.program
// ENTRY: } else {
// ENTRY: scf.while
// ENTRY: %[[SPAN:.*]] = arith.muli %{{.*}}, %c16_i64
// ENTRY: arith.remui %{{.*}}, %[[SPAN]]
// All programs of the group exist: the first one runs it.
// ENTRY: %[[WHOLE:.*]] = arith.cmpi ule
// ENTRY: scf.if %[[WHOLE]]
// ENTRY: %[[FIRST:.*]] = arith.cmpi eq
// ENTRY: scf.if %[[FIRST]] {
// ENTRY: %[[DONE:.*]] = func.call @column.merged.program
// ENTRY: scf.for
// ENTRY: func.call @column.program
// ENTRY: } else {
// ENTRY: func.call @column.program
// ENTRY: llvm.func internal @tilebridge_at_once
// ENTRY: llvm.mlir.addressof @tilebridge_at_once
// CHECK-LABEL: func.func @column(
// CHECK: memref.reinterpret_cast {{.*}} sizes: [64], strides: [%{{.*}}]
// CHECK-LABEL: func.func private @column.merged(
// CHECK-SAME: -> i1 attributes {tilebridge.merged_axis = 1 : i64, tilebridge.merged_programs = 16 : i64}
// CHECK-NOT: scf.if
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [64, 16], strides: [%{{.*}}, 1]
// CHECK: memref.subview %{{.*}}[0, 0] [%[[N:.*]], 16] [1, 1]
// CHECK: tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: } : tensor<?x16xf32> to tensor<64x16xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: linalg_ext.scan(%{{.*}}) dimension = 0
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<64x16xf32>) outs(%{{.*}} : tensor<16xf32>) dimensions = [0]
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [%[[N]], 16] [1, 1]
// CHECK: bufferization.materialize_in_destination {{.*}} (tensor<?x16xf32>,
// The scalar that each program stores.
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [16], strides: [1]
// CHECK: bufferization.materialize_in_destination %{{.*}} : (tensor<16xf32>
// CHECK: return %true
func.func @column(%x: memref<?xf32, strided<[1], offset: ?>>, %sums: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %stride: i32,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "i32", "i32"]} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<-0.0> : tensor<f32>
  %p = arith.index_cast %py : i32 to index
  %s = arith.index_cast %stride : i32 to index
  %rows = arith.index_cast %n : i32 to index
  %inside = arith.minsi %rows, %c64 : index
  %view = memref.reinterpret_cast %x to offset: [%p], sizes: [64], strides: [%s]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[?], offset: ?>>
  %box = memref.subview %view[0] [%inside] [1] : memref<64xf32, strided<[?], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
  %in = bufferization.to_tensor %box : memref<?xf32, strided<[?], offset: ?>> to tensor<?xf32>
  %high = arith.subi %c64, %inside : index
  %v = tensor.pad %in low[0] high[%high] { ^bb0(%i: index): tensor.yield %zero : f32 } : tensor<?xf32> to tensor<64xf32>
  %empty = tensor.empty() : tensor<64xf32>
  %square = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %a : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  %sum = linalg_ext.scan(%square) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg_ext.yield %0 : f32
  } : (tensor<64xf32>) -> tensor<64xf32>
  %all = linalg.reduce { arith.addf } ins(%square : tensor<64xf32>) outs(%none : tensor<f32>) dimensions = [0]
  %total = tensor.extract %all[] : tensor<f32>
  %part = tensor.extract_slice %sum[0] [%inside] [1] : tensor<64xf32> to tensor<?xf32>
  bufferization.materialize_in_destination %part in writable %box : (tensor<?xf32>, memref<?xf32, strided<[?], offset: ?>>) -> ()
  memref.store %total, %sums[%p] : memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----

// Of 16 bits a line has 32. A sum that may wrap around, and a branch by the program's number, are compared for each program.
// CHECK-LABEL: func.func private @compared.merged(
// CHECK-SAME: tilebridge.merged_programs = 32
// CHECK: %[[HOLDS:.*]] = scf.for %{{.*}} = %c1 to %c32 step %c1 iter_args(%{{.*}} = %true) -> (i1) {
// CHECK: arith.cmpi eq
// CHECK: arith.cmpi eq
// CHECK: scf.if %[[HOLDS]] {
// CHECK: sizes: [64, 32], strides: [%{{.*}}, 1]
// CHECK: scf.if
// CHECK: bufferization.materialize_in_destination
// CHECK: return %[[HOLDS]] : i1
func.func @compared(%x: memref<?xbf16, strided<[1], offset: ?>>, %n: i32, %stride: index, %first: i32,
                    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*bf16", "i32", "i64", "i32"]} {
  %sum = arith.addi %px, %first : i32
  %p = arith.index_cast %sum : i32 to index
  %view = memref.reinterpret_cast %x to offset: [%p], sizes: [64], strides: [%stride]
      : memref<?xbf16, strided<[1], offset: ?>> to memref<64xbf16, strided<[?], offset: ?>>
  %v = bufferization.to_tensor %view : memref<64xbf16, strided<[?], offset: ?>> to tensor<64xbf16>
  %is = arith.cmpi slt, %px, %n : i32
  scf.if %is {
    bufferization.materialize_in_destination %v in writable %view : (tensor<64xbf16>, memref<64xbf16, strided<[?], offset: ?>>) -> ()
  }
  return
}

// -----

// The blocks of one column are a number of programs apart that the launch knows, and their rows lie side by side if a stride is 1.
// ENTRY: llvm.func internal @tilebridge_run
// ENTRY: func.call @tiles.merged_step.program
// LARGE-LABEL: func.func private @tiles.merged_lines(
// LARGE-SAME: tilebridge.merged_apart = 4096
// LARGE-LABEL: func.func private @tiles.merged(
// LARGE-SAME: tilebridge.merged_apart = 4096
// LARGE-NOT: merged_apart =
// If the programs are 4096 or more, and a multiple of that number, those that are so far apart follow one another.
// APART-LABEL: llvm.func internal @tilebridge_run
// APART: %[[STEP:.*]] = func.call @tiles.merged_step.program
// APART: %[[REST:.*]] = arith.remui %[[COUNT:[^,]*]], %{{.*}} : i64
// APART: arith.cmpi eq, %[[REST]], %c0_i64
// APART: arith.cmpi uge, %[[COUNT]], %c4096_i64
// CHECK-LABEL: func.func @tiles(
// CHECK-LABEL: func.func private @tiles.merged_step(
// CHECK-SAME: -> i64
// CHECK: arith.cmpi eq, %arg3, %c1_i32
// CHECK: arith.select
// CHECK: arith.cmpi eq, %arg6, %c1_i32
// CHECK: arith.select
// CHECK-LABEL: func.func private @tiles.merged(
// CHECK-SAME: tilebridge.merged_step = @tiles.merged_step
// CHECK: scf.if
// CHECK: memref.reinterpret_cast {{.*}} sizes: [64, 16], strides: [%{{.*}}, 1]
// CHECK: memref.reinterpret_cast {{.*}} sizes: [64, 16], strides: [1, %{{.*}}]
func.func @tiles(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>, %tiles: i32,
                 %s0: i32, %s1: i32, %o0: i32, %o1: i32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "i32", "i32", "i32", "i32", "i32"]} {
  %c64 = arith.constant 64 : index
  %row = arith.divsi %px, %tiles : i32
  %tile = arith.remsi %px, %tiles : i32
  %r = arith.index_cast %row : i32 to index
  %t = arith.index_cast %tile : i32 to index
  %col = arith.muli %t, %c64 : index
  %is0 = arith.index_cast %s0 : i32 to index
  %is1 = arith.index_cast %s1 : i32 to index
  %io0 = arith.index_cast %o0 : i32 to index
  %io1 = arith.index_cast %o1 : i32 to index
  %a0 = arith.muli %r, %is0 : index
  %a1 = arith.muli %col, %is1 : index
  %a = arith.addi %a0, %a1 : index
  %b0 = arith.muli %r, %io0 : index
  %b1 = arith.muli %col, %io1 : index
  %b = arith.addi %b0, %b1 : index
  %from = memref.reinterpret_cast %x to offset: [%a], sizes: [64], strides: [%is1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[?], offset: ?>>
  %v = bufferization.to_tensor %from : memref<64xf32, strided<[?], offset: ?>> to tensor<64xf32>
  %to = memref.reinterpret_cast %y to offset: [%b], sizes: [64], strides: [%io1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[?], offset: ?>>
  bufferization.materialize_in_destination %v in writable %to : (tensor<64xf32>, memref<64xf32, strided<[?], offset: ?>>) -> ()
  return
}

// -----

// A row that is contiguous counts for more than the sum that each program stores beside the next one's.
// ENTRY-LABEL: func.func private @rows.program(
// ENTRY-NOT: tilebridge_at_once
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: merged
func.func @rows(%x: memref<?xf32, strided<[1], offset: ?>>, %sums: memref<?xf32, strided<[1], offset: ?>>, %stride: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "i32"]} {
  %none = arith.constant dense<-0.0> : tensor<f32>
  %p = arith.index_cast %px : i32 to index
  %s = arith.index_cast %stride : i32 to index
  %at = arith.muli %p, %s : index
  %view = memref.reinterpret_cast %x to offset: [%at], sizes: [64], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %v = bufferization.to_tensor %view : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
  %all = linalg.reduce { arith.addf } ins(%v : tensor<64xf32>) outs(%none : tensor<f32>) dimensions = [0]
  %total = tensor.extract %all[] : tensor<f32>
  memref.store %total, %sums[%p] : memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----

// Programs with atomics are in an order of their own.
// CHECK-LABEL: func.func @atomic(
// CHECK-NOT: merged
func.func @atomic(%x: memref<?xi32, strided<[1], offset: ?>>, %y: memref<?xi32, strided<[1], offset: ?>>, %stride: i32,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*i32", "*i32", "i32"]} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i32
  %p = arith.index_cast %px : i32 to index
  %s = arith.index_cast %stride : i32 to index
  %view = memref.reinterpret_cast %x to offset: [%p], sizes: [64], strides: [%s]
      : memref<?xi32, strided<[1], offset: ?>> to memref<64xi32, strided<[?], offset: ?>>
  %v = bufferization.to_tensor %view : memref<64xi32, strided<[?], offset: ?>> to tensor<64xi32>
  %old = linalg_ext.atomic_rmw add acq_rel gpu %y[%zero], %one : (memref<?xi32, strided<[1], offset: ?>>, i64, i32) -> i32
  bufferization.materialize_in_destination %v in writable %view : (tensor<64xi32>, memref<64xi32, strided<[?], offset: ?>>) -> ()
  return
}

// -----

// A loop as long as the program's number says runs for each.
// CHECK-LABEL: func.func @lengths(
// CHECK-NOT: merged
func.func @lengths(%x: memref<?xi32, strided<[1], offset: ?>>, %stride: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*i32", "i64"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.index_cast %px : i32 to index
  %d = arith.xori %p, %stride : index
  %view = memref.reinterpret_cast %x to offset: [%p], sizes: [64], strides: [%stride]
      : memref<?xi32, strided<[1], offset: ?>> to memref<64xi32, strided<[?], offset: ?>>
  scf.for %i = %c0 to %d step %c1 {
    %v = bufferization.to_tensor %view : memref<64xi32, strided<[?], offset: ?>> to tensor<64xi32>
    bufferization.materialize_in_destination %v in writable %view : (tensor<64xi32>, memref<64xi32, strided<[?], offset: ?>>) -> ()
  }
  return
}

// -----

// An assertion that fails ends the programs behind it.
// CHECK-LABEL: func.func @asserted(
// CHECK-NOT: merged
func.func @asserted(%x: memref<?xi32, strided<[1], offset: ?>>, %stride: index, %holds: i1,
                    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*i32", "i64", "i1"]} {
  %p = arith.index_cast %px : i32 to index
  %view = memref.reinterpret_cast %x to offset: [%p], sizes: [64], strides: [%stride]
      : memref<?xi32, strided<[1], offset: ?>> to memref<64xi32, strided<[?], offset: ?>>
  %v = bufferization.to_tensor %view : memref<64xi32, strided<[?], offset: ?>> to tensor<64xi32>
  linalg_ext.assert %holds, "holds" : i1
  bufferization.materialize_in_destination %v in writable %view : (tensor<64xi32>, memref<64xi32, strided<[?], offset: ?>>) -> ()
  return
}

// -----

// Columns of 1024 elements: four lines run together where as many are left, then one.
// ENTRY-LABEL: func.func private @long.program(
// ENTRY: llvm.func internal @tilebridge_run
// ENTRY: %[[LINES:.*]] = arith.muli %{{.*}}, %c64_i64
// ENTRY: arith.remui %{{.*}}, %[[LINES]]
// ENTRY: arith.cmpi uge, %{{.*}}, %c4096_i64
// ENTRY: func.call @long.merged_lines.program
// ENTRY: func.call @long.merged.program
// ENTRY: func.call @long.program
// ENTRY: } else {
// ENTRY: %[[LINE:.*]] = arith.muli %{{.*}}, %c16_i64
// ENTRY: arith.remui %{{.*}}, %[[LINE]]
// ENTRY: func.call @long.merged.program
// ENTRY: func.call @long.program
// ENTRY: } else {
// ENTRY: func.call @long.program
// CHECK-LABEL: func.func @long(
// CHECK-DAG: func.func private @long.merged(
// CHECK-DAG: func.func private @long.merged_lines({{.*}} tilebridge.merged_programs = 64 : i64
func.func @long(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: i32,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %p = arith.index_cast %px : i32 to index
  %stride = arith.index_cast %n : i32 to index
  %view = memref.reinterpret_cast %x to offset: [%p], sizes: [1024], strides: [%stride]
      : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[?], offset: ?>>
  %column = bufferization.to_tensor %view : memref<1024xf32, strided<[?], offset: ?>> to tensor<1024xf32>
  %out = memref.reinterpret_cast %o to offset: [%p], sizes: [1024], strides: [%stride]
      : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[?], offset: ?>>
  bufferization.materialize_in_destination %column in writable %out : (tensor<1024xf32>, memref<1024xf32, strided<[?], offset: ?>>) -> ()
  return
}

// -----

// The remainder is a column of a sum along the dimension before the last: programs that follow one another are merged, if they have one quotient.
// CHECK-LABEL: func.func @middle(
// CHECK-NOT: @middle.merged_step
// CHECK-LABEL: func.func private @middle.merged(
// CHECK-SAME: tilebridge.merged_axis = 0 : i64, tilebridge.merged_programs = 16 : i64}
// CHECK: %[[FIRST:.*]] = arith.divsi %arg4, %arg3
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = arith.divsi
// CHECK: %[[COLUMN:.*]] = arith.remsi
// CHECK: arith.cmpi eq, %[[ROW]], %[[FIRST]]
// CHECK: scf.if
// CHECK: memref.reinterpret_cast {{.*}} sizes: [64, 16], strides: [%{{.*}}, 1]
func.func @middle(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>, %stride: i32, %columns: i32,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "i32", "i32"]} {
  %row = arith.divsi %px, %columns : i32
  %column = arith.remsi %px, %columns : i32
  %first = arith.muli %row, %stride : i32
  %at = arith.addi %first, %column : i32
  %a = arith.index_cast %at : i32 to index
  %step = arith.index_cast %columns : i32 to index
  %from = memref.reinterpret_cast %x to offset: [%a], sizes: [64], strides: [%step]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[?], offset: ?>>
  %v = bufferization.to_tensor %from : memref<64xf32, strided<[?], offset: ?>> to tensor<64xf32>
  %to = memref.reinterpret_cast %y to offset: [%a], sizes: [64], strides: [%step]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[?], offset: ?>>
  bufferization.materialize_in_destination %v in writable %to : (tensor<64xf32>, memref<64xf32, strided<[?], offset: ?>>) -> ()
  return
}

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0) -> (d0)>

// Blocks of four columns that a loop sums up, down the rows: four programs have a line of each row, 64 have sixteen. All columns
// of all of them have to be inside.
// CHECK-LABEL: func.func @narrow(
// CHECK: sizes: [32, 4], strides: [%{{.*}}, 1]
// CHECK-LABEL: func.func private @narrow.merged_lines(
// CHECK-SAME: tilebridge.merged_groups = 4 : i64, tilebridge.merged_programs = 64
// CHECK-LABEL: func.func private @narrow.merged(
// CHECK-SAME: tilebridge.merged_axis = 0 : i64, tilebridge.merged_programs = 4 : i64
// The first program's columns, then that others' are as many.
// CHECK: %[[ALL:.*]] = arith.cmpi eq, %{{.*}}, %c4
// CHECK: scf.for %{{.*}} = %c1 to %c4
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: scf.for {{.*}} -> (tensor<16xf32>)
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [32, 16], strides: [%{{.*}}, 1]
// CHECK: memref.subview %{{.*}}[0, 0] [%{{.*}}, 16] [1, 1]
// CHECK: tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// What is the same in a row's columns is so in the longer row.
// CHECK: linalg.broadcast ins(%{{.*}} : tensor<32xf32>) outs(%{{.*}} : tensor<32x16xf32>) dimensions = [1]
// Each program counts its own columns.
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: arith.remui %[[I]], %c4
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<32x16xf32>) outs(%{{.*}} : tensor<16xf32>) dimensions = [0]
// CHECK: bufferization.materialize_in_destination {{.*}} (tensor<16xf32>,
func.func @narrow(%w: memref<?xf32, strided<[1], offset: ?>>, %x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>,
                  %k: i32, %n: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32", "i32", "i32"]} {
  %none = arith.constant dense<-0.0> : tensor<4xf32>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c4_i32 = arith.constant 4 : i32
  %rows = arith.index_cast %k : i32 to index
  %columns = arith.index_cast %n : i32 to index
  %first = arith.muli %px, %c4_i32 : i32
  %at = arith.index_cast %first : i32 to index
  %left = arith.subi %columns, %at : index
  %inside = arith.minsi %left, %c4 : index
  %high = arith.subi %c4, %inside : index
  %sum = scf.for %i = %c0 to %rows step %c32 iter_args(%so = %zeros) -> (tensor<4xf32>) {
    %row = arith.muli %i, %columns : index
    %from = arith.addi %row, %at : index
    %view = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 4], strides: [%columns, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x4xf32, strided<[?, 1], offset: ?>>
    %rest = arith.subi %rows, %i : index
    %many = arith.minsi %rest, %c32 : index
    %box = memref.subview %view[0, 0] [%many, %inside] [1, 1] : memref<32x4xf32, strided<[?, 1], offset: ?>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %part = bufferization.to_tensor %box : memref<?x?xf32, strided<[?, 1], offset: ?>> to tensor<?x?xf32>
    %below = arith.subi %c32, %many : index
    %a = tensor.pad %part low[0, 0] high[%below, %high] { ^bb0(%r: index, %c: index): tensor.yield %zero : f32 } : tensor<?x?xf32> to tensor<32x4xf32>
    %vector = memref.reinterpret_cast %x to offset: [%i], sizes: [32], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1], offset: ?>>
    %b = bufferization.to_tensor %vector : memref<32xf32, strided<[1], offset: ?>> to tensor<32xf32>
    %e = tensor.empty() : tensor<32x4xf32>
    %spread = linalg.broadcast ins(%b : tensor<32xf32>) outs(%e : tensor<32x4xf32>) dimensions = [1]
    %products = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%a, %spread : tensor<32x4xf32>, tensor<32x4xf32>) outs(%e : tensor<32x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %c = linalg.index 1 : index
      %isFirst = arith.cmpi eq, %c, %c0 : index
      %m = arith.mulf %p, %q : f32
      %s = arith.select %isFirst, %m, %p : f32
      linalg.yield %s : f32
    } -> tensor<32x4xf32>
    %reduced = linalg.reduce { arith.addf } ins(%products : tensor<32x4xf32>) outs(%none : tensor<4xf32>) dimensions = [0]
    %e4 = tensor.empty() : tensor<4xf32>
    %next = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%so, %reduced : tensor<4xf32>, tensor<4xf32>) outs(%e4 : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.addf %p, %q : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  %out = memref.reinterpret_cast %y to offset: [%at], sizes: [4], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<4xf32, strided<[1], offset: ?>>
  %stored = tensor.extract_slice %sum[0] [%inside] [1] : tensor<4xf32> to tensor<?xf32>
  %to = memref.subview %out[0] [%inside] [1] : memref<4xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %stored in writable %to : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A sum of the columns of each row is not of one program.
// CHECK-LABEL: func.func @across(
// CHECK-NOT: tilebridge.merged
func.func @across(%w: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>, %n: index,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64"]} {
  %none = arith.constant dense<-0.0> : tensor<32xf32>
  %c4 = arith.constant 4 : i32
  %c32 = arith.constant 32 : i32
  %first = arith.muli %px, %c4 : i32
  %at = arith.index_cast %first : i32 to index
  %view = memref.reinterpret_cast %w to offset: [%at], sizes: [32, 4], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x4xf32, strided<[?, 1], offset: ?>>
  %a = bufferization.to_tensor %view : memref<32x4xf32, strided<[?, 1], offset: ?>> to tensor<32x4xf32>
  %sums = linalg.reduce { arith.addf } ins(%a : tensor<32x4xf32>) outs(%none : tensor<32xf32>) dimensions = [1]
  %place = arith.muli %px, %c32 : i32
  %to = arith.index_cast %place : i32 to index
  %out = memref.reinterpret_cast %y to offset: [%to], sizes: [32], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<32xf32>, memref<32xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

#row = affine_map<(d0) -> (d0)>

// Two lines of each row, where rows are summed up and nothing else: eight programs have sixteen.
// CHECK-LABEL: func.func @two_lines(
// CHECK: func.func private @two_lines.merged_lines({{.*}} tilebridge.merged_programs = 8 : i64
// CHECK: sizes: [32, 256], strides: [%{{.*}}, 1]
// CHECK: func.func private @two_lines.merged({{.*}} tilebridge.merged_programs = 2 : i64
func.func @two_lines(%w: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>, %k: index, %n: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64", "i64"]} {
  %none = arith.constant dense<-0.0> : tensor<32xf32>
  %zeros = arith.constant dense<0.0> : tensor<32xf32>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %width = arith.constant 32 : i32
  %first = arith.muli %px, %width : i32
  %at = arith.index_cast %first : i32 to index
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%so = %zeros) -> (tensor<32xf32>) {
    %row = arith.muli %i, %n : index
    %from = arith.addi %row, %at : index
    %view = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 32], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
    %a = bufferization.to_tensor %view : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
    %reduced = linalg.reduce { arith.addf } ins(%a : tensor<32x32xf32>) outs(%none : tensor<32xf32>) dimensions = [0]
    %e = tensor.empty() : tensor<32xf32>
    %next = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%so, %reduced : tensor<32xf32>, tensor<32xf32>) outs(%e : tensor<32xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.addf %p, %q : f32
      linalg.yield %m : f32
    } -> tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  %out = memref.reinterpret_cast %y to offset: [%at], sizes: [32], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<32xf32>, memref<32xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

#row = affine_map<(d0) -> (d0)>

// Eight lines are enough.
// CHECK-LABEL: func.func @eight_lines(
// CHECK-NOT: tilebridge.merged
func.func @eight_lines(%w: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>, %k: index, %n: index,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64", "i64"]} {
  %none = arith.constant dense<-0.0> : tensor<128xf32>
  %zeros = arith.constant dense<0.0> : tensor<128xf32>
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %width = arith.constant 128 : i32
  %first = arith.muli %px, %width : i32
  %at = arith.index_cast %first : i32 to index
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%so = %zeros) -> (tensor<128xf32>) {
    %row = arith.muli %i, %n : index
    %from = arith.addi %row, %at : index
    %view = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 128], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x128xf32, strided<[?, 1], offset: ?>>
    %a = bufferization.to_tensor %view : memref<32x128xf32, strided<[?, 1], offset: ?>> to tensor<32x128xf32>
    %reduced = linalg.reduce { arith.addf } ins(%a : tensor<32x128xf32>) outs(%none : tensor<128xf32>) dimensions = [0]
    %e = tensor.empty() : tensor<128xf32>
    %next = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
        ins(%so, %reduced : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %m = arith.addf %p, %q : f32
      linalg.yield %m : f32
    } -> tensor<128xf32>
    scf.yield %next : tensor<128xf32>
  }
  %out = memref.reinterpret_cast %y to offset: [%at], sizes: [128], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<128xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<128xf32>, memref<128xf32, strided<[1], offset: ?>>) -> ()
  return
}
