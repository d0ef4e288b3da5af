// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-order-programs --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-order-programs=two-fmas --canonicalize --cse | FileCheck %s --check-prefix=FMAS

// Blocks of 256 elements along y, in rows that lie `stride` apart along x: a row's blocks follow one another, unless
// rows are no longer than a block; what lies between costs up to a page.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: tilebridge.order = @rows.order
// CHECK: func.func private @rows.order(%{{[^,]*}}: memref<?xf32, strided<[1], offset: ?>>, %[[STRIDE:[^,]*]]: i32, %[[X:[^,]*]]: i32, %{{[^,]*}}: i32, %{{[^,]*}}: i32, %[[NX:[^,]*]]: i32, %[[NY:[^,]*]]: i32, %[[NZ:[^,]*]]: i32) -> i32
// CHECK-DAG: %[[PAGE:.*]] = arith.constant 1024 : index
// CHECK-DAG: %[[OWN:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[GROWTH:.*]] = arith.index_cast %[[STRIDE]] : i32 to index
// CHECK-DAG: arith.maxsi %[[GROWTH]]
// CHECK: arith.subi %[[PAGE]]
// CHECK: %[[FOLLOWS:.*]] = arith.cmpi sle, %{{.*}}, %[[OWN]]
// CHECK: arith.select %[[FOLLOWS]], %c16
// CHECK: arith.cmpi ule, %[[NX]]
// CHECK: arith.cmpi ule, %[[NY]]
// CHECK: %[[AXIS:.*]] = arith.select {{.*}} : i32
// CHECK: return %[[AXIS]] : i32
func.func @rows(%x: memref<?xf32, strided<[1], offset: ?>>, %stride: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c256 = arith.constant 256 : i32
  %row = arith.muli %px, %stride : i32
  %column = arith.muli %py, %c256 : i32
  %sum = arith.addi %row, %column : i32
  %at = arith.index_cast %sum : i32 to index
  %view = memref.reinterpret_cast %x to offset: [%at], sizes: [256], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %view : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
  bufferization.materialize_in_destination %t in writable %view : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A divisor is not what the kernel has guarded it to be: nothing is divided by 0.

// CHECK-LABEL: func.func private @batches.order(
// CHECK: %[[BY:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK: arith.divsi %{{.*}}, %[[BY]]
// CHECK: arith.remsi %{{.*}}, %[[BY]]
func.func @batches(%x: memref<?xf32, strided<[1], offset: ?>>, %length: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c8192 = arith.constant 8192 : i32
  %none = arith.cmpi eq, %length, %c0 : i32
  scf.if %none {
  } else {
    %batch = arith.divsi %px, %length : i32
    %place = arith.remsi %px, %length : i32
    %far = arith.muli %batch, %c64 : i32
    %near = arith.muli %place, %c8192 : i32
    %row = arith.addi %far, %near : i32
    %head = arith.muli %pz, %c64 : i32
    %sum = arith.addi %row, %head : i32
    %at = arith.index_cast %sum : i32 to index
    %view = memref.reinterpret_cast %x to offset: [%at], sizes: [64], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %view : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    bufferization.materialize_in_destination %t in writable %view : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}

// -----

// A part of a descriptor's tensor, whose strides are the argument's.

// CHECK-LABEL: func.func private @tensor.order(
// CHECK: memref.extract_strided_metadata
func.func @tensor(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %i = arith.index_cast %px : i32 to index
  %j = arith.index_cast %py : i32 to index
  %view = memref.subview %x[%i, %j] [1, 64] [1, 1]
      : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<1x64xf32, strided<[?, 1], offset: ?>>
  %t = bufferization.to_tensor %view : memref<1x64xf32, strided<[?, 1], offset: ?>> to tensor<1x64xf32>
  bufferization.materialize_in_destination %t in writable %view : (tensor<1x64xf32>, memref<1x64xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// A block whose box has any size counts as a whole: 256 elements that are read and one that is written, far along x.

// CHECK-LABEL: func.func private @box.order(
// CHECK: arith.constant 49344 : index
func.func @box(%x: memref<?xf32, strided<[1], offset: ?>>, %n: index, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4096 = arith.constant 4096 : i32
  %far = arith.muli %px, %c4096 : i32
  %sum = arith.addi %far, %py : i32
  %at = arith.index_cast %sum : i32 to index
  %high = arith.subi %c0, %n : index
  %view = memref.reinterpret_cast %x to offset: [%at], sizes: [256], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
  %part = memref.subview %view[0] [%n] [1] : memref<256xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %part : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %block = tensor.pad %t low[0] high[%high] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<256xf32>
  %e = tensor.extract %block[%c0] : tensor<256xf32>
  %one = memref.reinterpret_cast %x to offset: [%at], sizes: [1], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<1xf32, strided<[1], offset: ?>>
  %s = tensor.splat %e : tensor<1xf32>
  bufferization.materialize_in_destination %s in writable %one : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A row whose number is read under a mask that only x decides: along y, programs read and write blocks that follow one another,
// 2048 bytes each; along x they are far.

// CHECK-LABEL: func.func private @chosen_row.order(
// CHECK-SAME: %[[NX:[^ ]*]]: i32, %[[NY:[^ ]*]]: i32, %{{[^ ]*}}: i32) -> i32
// CHECK-DAG: %[[NEAR:.*]] = arith.constant 65536 : index
// CHECK-DAG: %[[FAR:.*]] = arith.constant 196608 : index
// CHECK: %[[X_ALONE:.*]] = arith.cmpi ule, %[[NX]], %{{.*}} : i32
// CHECK: arith.select %[[X_ALONE]], %{{.*}}, %[[FAR]]
// CHECK: %[[Y_ALONE:.*]] = arith.cmpi ule, %[[NY]], %{{.*}} : i32
// CHECK: arith.select %[[Y_ALONE]], %{{.*}}, %[[NEAR]]
func.func @chosen_row(%x: memref<?xf32, strided<[1], offset: ?>>, %rows: memref<?xi64, strided<[1], offset: ?>>, %n: i32,
                      %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %none = arith.constant 0 : i64
  %c512 = arith.constant 512 : i32
  %is_row = arith.cmpi slt, %px, %n : i32
  %row = scf.if %is_row -> i64 {
    %i = arith.index_cast %px : i32 to index
    %read = memref.load %rows[%i] : memref<?xi64, strided<[1], offset: ?>>
    scf.yield %read : i64
  } else {
    scf.yield %none : i64
  }
  %columns = arith.muli %py, %c512 : i32
  %row_at = arith.index_cast %row : i64 to index
  %column_at = arith.index_cast %columns : i32 to index
  %at = arith.addi %row_at, %column_at : index
  %view = memref.reinterpret_cast %x to offset: [%at], sizes: [512], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<512xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %view : memref<512xf32, strided<[1], offset: ?>> to tensor<512xf32>
  bufferization.materialize_in_destination %t in writable %view : (tensor<512xf32>, memref<512xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Elements at places that are read, of rows that lie `length` apart along x: programs along y, which read other elements of the same
// row, follow one another. A number of rows that is read says nothing.

// CHECK-LABEL: func.func @read_columns(
// CHECK: func.func private @read_columns.order(
// CHECK-SAME: %[[LENGTH:[^ ]*]]: i32, %{{[^ ]*}}: i32, %{{[^ ]*}}: i32, %{{[^ ]*}}: i32, %[[NX:[^ ]*]]: i32, %[[NY:[^ ]*]]: i32, %{{[^ ]*}}: i32) -> i32
// CHECK-DAG: %[[ALONG_Y:.*]] = arith.constant 65536 : index
// CHECK-DAG: %[[LENGTHS:.*]] = arith.index_cast %[[LENGTH]] : i32 to index
// CHECK-DAG: %[[GROWTH:.*]] = arith.muli %[[LENGTHS]], %c2
// CHECK: %[[DISTANCE:.*]] = arith.maxsi %[[GROWTH]]
// CHECK: arith.subi %c1024{{[^,]*}}, %[[DISTANCE]]
// CHECK: arith.cmpi ule, %[[NX]]
// CHECK: %[[Y_ALONE:.*]] = arith.cmpi ule, %[[NY]]
// CHECK: arith.select %[[Y_ALONE]], %{{.*}}, %[[ALONG_Y]]
func.func @read_columns(%x: memref<?xf32, strided<[1], offset: ?>>, %numbers: memref<?xi64, strided<[1], offset: ?>>, %length: i32,
                        %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c2 = arith.constant 2 : i32
  %c256 = arith.constant 256 : i32
  %rows = arith.muli %px, %c2 : i32
  %row = arith.muli %rows, %length : i32
  %row64 = arith.extsi %row : i32 to i64
  %column = arith.muli %py, %c256 : i32
  %at = arith.index_cast %column : i32 to index
  %view = memref.reinterpret_cast %numbers to offset: [%at], sizes: [256], strides: [1]
      : memref<?xi64, strided<[1], offset: ?>> to memref<256xi64, strided<[1], offset: ?>>
  %n = bufferization.to_tensor %view : memref<256xi64, strided<[1], offset: ?>> to tensor<256xi64>
  %s = tensor.splat %row64 : tensor<256xi64>
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s, %n : tensor<256xi64>, tensor<256xi64>) outs(%e : tensor<256xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %sum = arith.addi %a, %b : i64
    linalg.yield %sum : i64
  } -> tensor<256xi64>
  %v = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  linalg_ext.scatter %v into %x[%places] : (tensor<256xf32>, memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func private @read_rows.order(
// CHECK-NOT: arith.muli %{{.*}}, %c1024
// CHECK: return
func.func @read_rows(%x: memref<?xf32, strided<[1], offset: ?>>, %numbers: memref<?xi64, strided<[1], offset: ?>>, %length: i64,
                     %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c256 = arith.constant 256 : i32
  %first = arith.muli %py, %c256 : i32
  %at = arith.index_cast %first : i32 to index
  %view = memref.reinterpret_cast %numbers to offset: [%at], sizes: [256], strides: [1]
      : memref<?xi64, strided<[1], offset: ?>> to memref<256xi64, strided<[1], offset: ?>>
  %n = bufferization.to_tensor %view : memref<256xi64, strided<[1], offset: ?>> to tensor<256xi64>
  %s = tensor.splat %length : tensor<256xi64>
  %column = arith.extsi %px : i32 to i64
  %c = tensor.splat %column : tensor<256xi64>
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%n, %s, %c : tensor<256xi64>, tensor<256xi64>, tensor<256xi64>) outs(%e : tensor<256xi64>) {
  ^bb0(%i: i64, %by: i64, %j: i64, %o: i64):
    %row = arith.muli %i, %by : i64
    %sum = arith.addi %row, %j : i64
    linalg.yield %sum : i64
  } -> tensor<256xi64>
  %v = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  linalg_ext.scatter %v into %x[%places] : (tensor<256xf32>, memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> ()
  return
}

// -----

// Programs along x alone have one order; those that add to what others do, or print, keep theirs.

// CHECK-NOT: .order
func.func @line(%x: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %at = arith.index_cast %px : i32 to index
  %view = memref.reinterpret_cast %x to offset: [%at], sizes: [64], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %view : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
  bufferization.materialize_in_destination %t in writable %view : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// CHECK-NOT: .order
func.func @atomics(%x: memref<?xf32, strided<[1], offset: ?>>, %n: memref<?xi32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i32
  %old = linalg_ext.atomic_rmw add acq_rel gpu %n[%c0], %c1 : (memref<?xi32, strided<[1], offset: ?>>, i64, i32) -> i32
  %at = arith.index_cast %py : i32 to index
  %view = memref.reinterpret_cast %x to offset: [%at], sizes: [64], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %view : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
  bufferization.materialize_in_destination %t in writable %view : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// What is called may wait, too.

// CHECK-NOT: .order
func.func private @elsewhere(%a: i32)
func.func @calls(%x: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  func.call @elsewhere(%px) : (i32) -> ()
  %at = arith.index_cast %py : i32 to index
  %view = memref.reinterpret_cast %x to offset: [%at], sizes: [64], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %t = bufferization.to_tensor %view : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
  bufferization.materialize_in_destination %t in writable %view : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Weights that are unpacked, of column `pid % columns`: programs that are as far apart follow one another, if x has a multiple of so many.

// CHECK-LABEL: func.func @unpacked(
// CHECK-SAME: tilebridge.order = @unpacked.order
// CHECK: func.func private @unpacked.order(%{{[^,]*}}: memref{{[^%]*}}, %{{[^,]*}}: memref{{[^%]*}}, %{{[^,]*}}: memref{{[^%]*}}, %[[N:[^,]*]]: i32, %{{[^,]*}}: i32, %{{[^,]*}}: i32, %{{[^,]*}}: i32, %{{[^,]*}}: i32, %[[NX:[^,]*]]: i32, %{{[^,]*}}: i32, %{{[^,]*}}: i32) -> i32
// All of them: a column is unpacked once.
// CHECK-SAME: tilebridge.apart = 0 : i64
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[COLUMNS:.*]] = arith.divsi %[[N]], %{{.*}} : i32
// CHECK-DAG: %[[APART:.*]] = arith.extsi %[[COLUMNS]] : i32 to i64
// CHECK-DAG: %[[COUNT:.*]] = arith.extui %[[NX]] : i32 to i64
// CHECK: arith.remsi %[[COUNT]]
// CHECK: %[[CODE:.*]] = arith.addi %[[APART]], %[[TWO]]
// CHECK: arith.select %{{.*}}, %[[CODE]], %[[ZERO]]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @unpacked(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xi8, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %steps: i32,
                    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %two = arith.constant 2.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<32x32xf32>
  %columns = arith.divsi %n, %c32 : i32
  %row = arith.divsi %px, %columns : i32
  %column = arith.remsi %px, %columns : i32
  %first = arith.muli %column, %c32 : i32
  %sums = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %zeros) -> tensor<32x32xf32> : i32 {
    %k = arith.muli %i, %c32 : i32
    %down = arith.muli %k, %n : i32
    %place = arith.addi %down, %first : i32
    %at = arith.index_cast %place : i32 to index
    %stride = arith.index_cast %n : i32 to index
    %view = memref.reinterpret_cast %w to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xi8, strided<[1], offset: ?>> to memref<32x32xi8, strided<[?, 1], offset: ?>>
    %t = bufferization.to_tensor %view : memref<32x32xi8, strided<[?, 1], offset: ?>> to tensor<32x32xi8>
    %e = tensor.empty() : tensor<32x32xf32>
    %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<32x32xi8>) outs(%e : tensor<32x32xf32>) {
    ^bb0(%x: i8, %o: f32):
      %0 = arith.sitofp %x : i8 to f32
      %1 = arith.addf %0, %two : f32
      %2 = arith.mulf %1, %1 : f32
      %3 = arith.subf %2, %two : f32
      %4 = arith.mulf %3, %0 : f32
      %5 = arith.addf %4, %two : f32
      linalg.yield %5 : f32
    } -> tensor<32x32xf32>
    %rows = arith.muli %row, %c32 : i32
    %from = arith.addi %rows, %k : i32
    %fromIndex = arith.index_cast %from : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%fromIndex], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
    %sum = linalg.matmul ins(%l, %wide : tensor<32x32xf32>, tensor<32x32xf32>) outs(%acc : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %sum : tensor<32x32xf32>
  }
  %outAt = arith.index_cast %px : i32 to index
  %out = memref.reinterpret_cast %c to offset: [%outAt], sizes: [32, 32], strides: [32, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[32, 1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<32x32xf32>, memref<32x32xf32, strided<[32, 1], offset: ?>>) -> ()
  return
}

// -----

// Blocks that are read as they are, and packed: of 32 x 32 only where a CPU waits long for what is packed, and asks for rows of a before.
// 16 programs that are so far apart follow one another at most.

// CHECK-LABEL: func.func @plain(
// CHECK-NOT: tilebridge.order
// FMAS-LABEL: func.func @plain(
// FMAS-SAME: tilebridge.order = @plain.order
// FMAS: func.func private @plain.order({{.*}}tilebridge.apart = 16 : i64
// FMAS: arith.remsi
func.func @plain(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %steps: i32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<32x32xf32>
  %stride = arith.index_cast %n : i32 to index
  %columns = arith.divsi %n, %c32 : i32
  %row = arith.divsi %px, %columns : i32
  %column = arith.remsi %px, %columns : i32
  %sums = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %zeros) -> tensor<32x32xf32> : i32 {
    %k = arith.muli %i, %c32 : i32
    %place = arith.addi %k, %column : i32
    %at = arith.index_cast %place : i32 to index
    %view = memref.reinterpret_cast %w to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
    %r = bufferization.to_tensor %view : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
    %from = arith.addi %k, %row : i32
    %fromIndex = arith.index_cast %from : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%fromIndex], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
    %sum = linalg.matmul ins(%l, %r : tensor<32x32xf32>, tensor<32x32xf32>) outs(%acc : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %sum : tensor<32x32xf32>
  }
  %outAt = arith.index_cast %px : i32 to index
  %out = memref.reinterpret_cast %c to offset: [%outAt], sizes: [32, 32], strides: [32, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[32, 1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<32x32xf32>, memref<32x32xf32, strided<[32, 1], offset: ?>>) -> ()
  return
}

// -----

// Of wide blocks on all CPUs; along y, too.

// CHECK-LABEL: func.func @wide(
// CHECK: func.func private @wide.order({{.*}}tilebridge.apart = 16 : i64
func.func @wide(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %steps: i32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<32x128xf32>
  %stride = arith.index_cast %n : i32 to index
  %columns = arith.divsi %n, %c32 : i32
  %row = arith.divsi %px, %columns : i32
  %column = arith.remsi %px, %columns : i32
  %sums = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %zeros) -> tensor<32x128xf32> : i32 {
    %k = arith.muli %i, %c32 : i32
    %place = arith.addi %k, %column : i32
    %at = arith.index_cast %place : i32 to index
    %view = memref.reinterpret_cast %w to offset: [%at], sizes: [32, 128], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x128xf32, strided<[?, 1], offset: ?>>
    %r = bufferization.to_tensor %view : memref<32x128xf32, strided<[?, 1], offset: ?>> to tensor<32x128xf32>
    %from = arith.addi %k, %row : i32
    %fromIndex = arith.index_cast %from : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%fromIndex], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
    %sum = linalg.matmul ins(%l, %r : tensor<32x32xf32>, tensor<32x128xf32>) outs(%acc : tensor<32x128xf32>) -> tensor<32x128xf32>
    scf.yield %sum : tensor<32x128xf32>
  }
  %outAt = arith.index_cast %px : i32 to index
  %out = memref.reinterpret_cast %c to offset: [%outAt], sizes: [32, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x128xf32, strided<[128, 1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<32x128xf32>, memref<32x128xf32, strided<[128, 1], offset: ?>>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func private @along_y.order(
// CHECK-SAME: %[[NY:[^ ]*]]: i32, %{{[^ ]*}}: i32) -> i32
// CHECK-NOT: tilebridge.apart
// CHECK-DAG: %[[LEAST:.*]] = arith.constant 2 : i64
// CHECK-DAG: %[[COUNT:.*]] = arith.extui %[[NY]] : i32 to i64
// CHECK: %[[MANY:.*]] = arith.cmpi uge, %[[COUNT]], %[[LEAST]]
// CHECK: %[[AXIS:.*]] = arith.extui %[[MANY]] : i1 to i32
// CHECK: return %[[AXIS]]
func.func @along_y(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %steps: i32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<32x128xf32>
  %stride = arith.index_cast %n : i32 to index
  %row = arith.addi %py, %pz : i32
  %column = arith.addi %px, %c1 : i32
  %sums = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %zeros) -> tensor<32x128xf32> : i32 {
    %k = arith.muli %i, %c32 : i32
    %place = arith.addi %k, %column : i32
    %at = arith.index_cast %place : i32 to index
    %view = memref.reinterpret_cast %w to offset: [%at], sizes: [32, 128], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x128xf32, strided<[?, 1], offset: ?>>
    %r = bufferization.to_tensor %view : memref<32x128xf32, strided<[?, 1], offset: ?>> to tensor<32x128xf32>
    %from = arith.addi %k, %row : i32
    %fromIndex = arith.index_cast %from : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%fromIndex], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
    %sum = linalg.matmul ins(%l, %r : tensor<32x32xf32>, tensor<32x128xf32>) outs(%acc : tensor<32x128xf32>) -> tensor<32x128xf32>
    scf.yield %sum : tensor<32x128xf32>
  }
  %outAt = arith.index_cast %px : i32 to index
  %out = memref.reinterpret_cast %c to offset: [%outAt], sizes: [32, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x128xf32, strided<[128, 1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<32x128xf32>, memref<32x128xf32, strided<[128, 1], offset: ?>>) -> ()
  return
}

// -----

// There is little of b in blocks with four times as many rows as columns.

// FMAS-LABEL: func.func @narrow(
// FMAS-NOT: tilebridge.order
func.func @narrow(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %steps: i32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<128x32xf32>
  %stride = arith.index_cast %n : i32 to index
  %columns = arith.divsi %n, %c32 : i32
  %row = arith.divsi %px, %columns : i32
  %column = arith.remsi %px, %columns : i32
  %sums = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %zeros) -> tensor<128x32xf32> : i32 {
    %k = arith.muli %i, %c32 : i32
    %place = arith.addi %k, %column : i32
    %at = arith.index_cast %place : i32 to index
    %view = memref.reinterpret_cast %w to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
    %r = bufferization.to_tensor %view : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
    %from = arith.addi %k, %row : i32
    %fromIndex = arith.index_cast %from : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%fromIndex], sizes: [128, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<128x32xf32, strided<[?, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<128x32xf32, strided<[?, 1], offset: ?>> to tensor<128x32xf32>
    %sum = linalg.matmul ins(%l, %r : tensor<128x32xf32>, tensor<32x32xf32>) outs(%acc : tensor<128x32xf32>) -> tensor<128x32xf32>
    scf.yield %sum : tensor<128x32xf32>
  }
  %outAt = arith.index_cast %px : i32 to index
  %out = memref.reinterpret_cast %c to offset: [%outAt], sizes: [128, 32], strides: [32, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<128x32xf32, strided<[32, 1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<128x32xf32>, memref<128x32xf32, strided<[32, 1], offset: ?>>) -> ()
  return
}

// -----

// Columns that are contiguous in memory, of f32: two programs with few rows each multiply with these where they lie, so that it takes three.

// CHECK-LABEL: func.func @columns(
// CHECK-NOT: tilebridge.order
// FMAS-LABEL: func.func @columns(
// FMAS-SAME: tilebridge.order = @columns.order
// FMAS: func.func private @columns.order({{.*}}tilebridge.apart = 16 : i64
// FMAS-DAG: %[[LEAST:.*]] = arith.constant 3 : i64
// FMAS: %[[ROWS:.*]] = arith.divsi {{.*}} : i64
// FMAS: arith.cmpi sge, %[[ROWS]], %[[LEAST]] : i64
func.func @columns(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %steps: i32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<32x128xf32>
  %stride = arith.index_cast %n : i32 to index
  %columns = arith.divsi %n, %c32 : i32
  %row = arith.divsi %px, %columns : i32
  %column = arith.remsi %px, %columns : i32
  %sums = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %zeros) -> tensor<32x128xf32> : i32 {
    %k = arith.muli %i, %c32 : i32
    %place = arith.addi %k, %column : i32
    %at = arith.index_cast %place : i32 to index
    %view = memref.reinterpret_cast %w to offset: [%at], sizes: [32, 128], strides: [1, %stride] : memref<?xf32, strided<[1], offset: ?>> to memref<32x128xf32, strided<[1, ?], offset: ?>>
    %r = bufferization.to_tensor %view : memref<32x128xf32, strided<[1, ?], offset: ?>> to tensor<32x128xf32>
    %from = arith.addi %k, %row : i32
    %fromIndex = arith.index_cast %from : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%fromIndex], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
    %sum = linalg.matmul ins(%l, %r : tensor<32x32xf32>, tensor<32x128xf32>) outs(%acc : tensor<32x128xf32>) -> tensor<32x128xf32>
    scf.yield %sum : tensor<32x128xf32>
  }
  %outAt = arith.index_cast %px : i32 to index
  %out = memref.reinterpret_cast %c to offset: [%outAt], sizes: [32, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x128xf32, strided<[128, 1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<32x128xf32>, memref<32x128xf32, strided<[128, 1], offset: ?>>) -> ()
  return
}

// -----

// Those of bf16 are read by AMX's tiles where they lie, and rows of a are kept for the next program.

// FMAS-LABEL: func.func @columns_bf16(
// FMAS-NOT: tilebridge.order
func.func @columns_bf16(%a: memref<?xbf16, strided<[1], offset: ?>>, %w: memref<?xbf16, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %steps: i32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<32x128xf32>
  %stride = arith.index_cast %n : i32 to index
  %columns = arith.divsi %n, %c32 : i32
  %row = arith.divsi %px, %columns : i32
  %column = arith.remsi %px, %columns : i32
  %sums = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %zeros) -> tensor<32x128xf32> : i32 {
    %k = arith.muli %i, %c32 : i32
    %place = arith.addi %k, %column : i32
    %at = arith.index_cast %place : i32 to index
    %view = memref.reinterpret_cast %w to offset: [%at], sizes: [32, 128], strides: [1, %stride] : memref<?xbf16, strided<[1], offset: ?>> to memref<32x128xbf16, strided<[1, ?], offset: ?>>
    %r = bufferization.to_tensor %view : memref<32x128xbf16, strided<[1, ?], offset: ?>> to tensor<32x128xbf16>
    %from = arith.addi %k, %row : i32
    %fromIndex = arith.index_cast %from : i32 to index
    %left = memref.reinterpret_cast %a to offset: [%fromIndex], sizes: [32, 32], strides: [%stride, 1] : memref<?xbf16, strided<[1], offset: ?>> to memref<32x32xbf16, strided<[?, 1], offset: ?>>
    %l = bufferization.to_tensor %left : memref<32x32xbf16, strided<[?, 1], offset: ?>> to tensor<32x32xbf16>
    %sum = linalg.matmul ins(%l, %r : tensor<32x32xbf16>, tensor<32x128xbf16>) outs(%acc : tensor<32x128xf32>) -> tensor<32x128xf32>
    scf.yield %sum : tensor<32x128xf32>
  }
  %outAt = arith.index_cast %px : i32 to index
  %out = memref.reinterpret_cast %c to offset: [%outAt], sizes: [32, 128], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x128xf32, strided<[128, 1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<32x128xf32>, memref<32x128xf32, strided<[128, 1], offset: ?>>) -> ()
  return
}
