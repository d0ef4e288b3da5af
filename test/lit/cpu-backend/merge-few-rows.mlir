// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-merge-programs | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-merge-programs --tilebridge-cpu-order-programs=two-fmas --tilebridge-cpu-entry=cpu=x86-64 | FileCheck %s --check-prefix=ENTRY
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-merge-programs=cores=2 | FileCheck %s --check-prefix=TWO
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-merge-programs=cores=8 | FileCheck %s --check-prefix=EIGHT
// RUN: not tilebridge-opt %s --split-input-file --tilebridge-cpu-merge-programs=cores=0 2>&1 | FileCheck %s --check-prefix=NONE

// NONE: error: expected the option 'cores' to be at least 1, but it is 0

// Programs of a few rows with 64 columns of f32 each: four have 1024 bytes of each row of b, and a, which is the same for
// them, stays as it is.

// CHECK-LABEL: func.func @columns(
// CHECK-LABEL: func.func private @columns.merged_step(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK-SAME: %[[NX:[a-z0-9]*]]: i32, %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i32) -> i64
// CHECK-DAG: %[[LEAST:.*]] = arith.constant 32 : i32
// CHECK-DAG: %[[FEW:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[ENOUGH:.*]] = arith.cmpi uge, %[[NX]], %[[LEAST]]
// CHECK-DAG: %[[ROWS:.*]] = arith.cmpi sle, %{{.*}}, %[[FEW]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[ENOUGH]], %[[ROWS]]
// CHECK: %[[STEP:.*]] = arith.extui %[[BOTH]] : i1 to i64
// CHECK: return %[[STEP]]
// CHECK-LABEL: func.func private @columns.merged(
// CHECK-SAME: tilebridge.merged_axis = 0
// CHECK-SAME: tilebridge.merged_programs = 4
// CHECK-SAME: tilebridge.merged_rows = 4
// CHECK-SAME: tilebridge.merged_step = @columns.merged_step
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x32xf32>, tensor<32x256xf32>) outs(%{{.*}} : tensor<16x256xf32>)

// Two cores read 1024 columns each where there are as many, and need fewer programs for four at once.
// TWO-LABEL: func.func private @columns.merged_wide(
// TWO-SAME: tilebridge.merged_groups = 2
// TWO-SAME: tilebridge.merged_programs = 16
// TWO-SAME: tilebridge.merged_rows = 4
// TWO-SAME: tilebridge.merged_step = @columns.merged_step
// TWO: tensor<32x1024xf32>
// TWO-LABEL: func.func private @columns.merged_step(
// TWO: arith.constant 16 : i32
// TWO-LABEL: func.func private @columns.merged(
// TWO-SAME: tilebridge.merged_programs = 4
// TWO-LABEL: func.func @all_rows(
// TWO-NOT: tilebridge.merged
// TWO-LABEL: func.func @apart(
// EIGHT-LABEL: func.func private @columns.merged_wide(
// EIGHT-SAME: tilebridge.merged_groups = 8
// EIGHT-SAME: tilebridge.merged_programs = 8
// EIGHT: tensor<32x512xf32>

// Where they do not run together, the kernel runs in the order that shares b.
// ENTRY-LABEL: func.func private @columns.order.program(
// ENTRY-LABEL: llvm.func internal @tilebridge_run(
// ENTRY: %[[APART:.*]] = func.call @columns.merged_step.program(
// ENTRY: scf.if
// ENTRY: func.call @columns.order.program(
// ENTRY: func.call @columns.program(
// ENTRY: } else {
// ENTRY: func.call @columns.merged.program(
func.func @columns(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>,
                   %m: index, %k: index, %n: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32", "i64", "i64", "i64"]} {
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %high = arith.constant 16 : i32
  %width = arith.constant 64 : i32
  %first = arith.muli %px, %width : i32
  %at = arith.index_cast %first : i32 to index
  %top = arith.muli %py, %high : i32
  %row = arith.index_cast %top : i32 to index
  %left = arith.subi %m, %row : index
  %some = arith.maxsi %left, %c0 : index
  %rows = arith.minsi %some, %c16 : index
  %above = arith.muli %row, %k : index
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%so = %zeros) -> (tensor<16x64xf32>) {
    %begin = arith.addi %above, %i : index
    %va = memref.reinterpret_cast %a to offset: [%begin], sizes: [16, 32], strides: [%k, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x32xf32, strided<[?, 1], offset: ?>>
    %ta = bufferization.to_tensor %va : memref<16x32xf32, strided<[?, 1], offset: ?>> to tensor<16x32xf32>
    %far = arith.muli %i, %n : index
    %from = arith.addi %far, %at : index
    %vw = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 64], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[?, 1], offset: ?>>
    %tw = bufferization.to_tensor %vw : memref<32x64xf32, strided<[?, 1], offset: ?>> to tensor<32x64xf32>
    %next = linalg.matmul ins(%ta, %tw : tensor<16x32xf32>, tensor<32x64xf32>) outs(%so : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  %down = arith.muli %row, %n : index
  %to = arith.addi %down, %at : index
  %out = memref.reinterpret_cast %y to offset: [%to], sizes: [16, 64], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x64xf32, strided<[?, 1], offset: ?>>
  %part = tensor.extract_slice %sum[0, 0] [%rows, 64] [1, 1] : tensor<16x64xf32> to tensor<?x64xf32>
  %there = memref.subview %out[0, 0] [%rows, 64] [1, 1] : memref<16x64xf32, strided<[?, 1], offset: ?>> to memref<?x64xf32, strided<[?, 1], offset: ?>>
  bufferization.materialize_in_destination %part in writable %there : (tensor<?x64xf32>, memref<?x64xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// All rows of the block are stored, and may be many.
// CHECK-LABEL: func.func @all_rows(
// CHECK-NOT: tilebridge.merged
func.func @all_rows(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>,
                   %m: index, %k: index, %n: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32", "i64", "i64", "i64"]} {
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %high = arith.constant 16 : i32
  %width = arith.constant 64 : i32
  %first = arith.muli %px, %width : i32
  %at = arith.index_cast %first : i32 to index
  %top = arith.muli %py, %high : i32
  %row = arith.index_cast %top : i32 to index
  %left = arith.subi %m, %row : index
  %some = arith.maxsi %left, %c0 : index
  %rows = arith.minsi %some, %c16 : index
  %above = arith.muli %row, %k : index
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%so = %zeros) -> (tensor<16x64xf32>) {
    %begin = arith.addi %above, %i : index
    %va = memref.reinterpret_cast %a to offset: [%begin], sizes: [16, 32], strides: [%k, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x32xf32, strided<[?, 1], offset: ?>>
    %ta = bufferization.to_tensor %va : memref<16x32xf32, strided<[?, 1], offset: ?>> to tensor<16x32xf32>
    %far = arith.muli %i, %n : index
    %from = arith.addi %far, %at : index
    %vw = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 64], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[?, 1], offset: ?>>
    %tw = bufferization.to_tensor %vw : memref<32x64xf32, strided<[?, 1], offset: ?>> to tensor<32x64xf32>
    %next = linalg.matmul ins(%ta, %tw : tensor<16x32xf32>, tensor<32x64xf32>) outs(%so : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  %down = arith.muli %row, %n : index
  %to = arith.addi %down, %at : index
  %out = memref.reinterpret_cast %y to offset: [%to], sizes: [16, 64], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x64xf32, strided<[?, 1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x64xf32>, memref<16x64xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// Columns that are contiguous are read along K.
// CHECK-LABEL: func.func @apart(
// CHECK-NOT: tilebridge.merged
func.func @apart(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>,
                   %m: index, %k: index, %n: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32", "i64", "i64", "i64"]} {
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %high = arith.constant 16 : i32
  %width = arith.constant 64 : i32
  %first = arith.muli %px, %width : i32
  %at = arith.index_cast %first : i32 to index
  %top = arith.muli %py, %high : i32
  %row = arith.index_cast %top : i32 to index
  %left = arith.subi %m, %row : index
  %some = arith.maxsi %left, %c0 : index
  %rows = arith.minsi %some, %c16 : index
  %above = arith.muli %row, %k : index
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%so = %zeros) -> (tensor<16x64xf32>) {
    %begin = arith.addi %above, %i : index
    %va = memref.reinterpret_cast %a to offset: [%begin], sizes: [16, 32], strides: [%k, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x32xf32, strided<[?, 1], offset: ?>>
    %ta = bufferization.to_tensor %va : memref<16x32xf32, strided<[?, 1], offset: ?>> to tensor<16x32xf32>
    %far = arith.muli %i, %n : index
    %from = arith.addi %far, %at : index
    %vw = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 64], strides: [1, %n] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[1, ?], offset: ?>>
    %tw = bufferization.to_tensor %vw : memref<32x64xf32, strided<[1, ?], offset: ?>> to tensor<32x64xf32>
    %next = linalg.matmul ins(%ta, %tw : tensor<16x32xf32>, tensor<32x64xf32>) outs(%so : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  %down = arith.muli %row, %n : index
  %to = arith.addi %down, %at : index
  %out = memref.reinterpret_cast %y to offset: [%to], sizes: [16, 64], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x64xf32, strided<[?, 1], offset: ?>>
  %part = tensor.extract_slice %sum[0, 0] [%rows, 64] [1, 1] : tensor<16x64xf32> to tensor<?x64xf32>
  %there = memref.subview %out[0, 0] [%rows, 64] [1, 1] : memref<16x64xf32, strided<[?, 1], offset: ?>> to memref<?x64xf32, strided<[?, 1], offset: ?>>
  bufferization.materialize_in_destination %part in writable %there : (tensor<?x64xf32>, memref<?x64xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// The next program does not go on where this one ends.
// CHECK-LABEL: func.func @gaps(
// CHECK-NOT: tilebridge.merged
func.func @gaps(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>,
                   %m: index, %k: index, %n: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32", "i64", "i64", "i64"]} {
  %zeros = arith.constant dense<0.0> : tensor<16x64xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %high = arith.constant 16 : i32
  %width = arith.constant 128 : i32
  %first = arith.muli %px, %width : i32
  %at = arith.index_cast %first : i32 to index
  %top = arith.muli %py, %high : i32
  %row = arith.index_cast %top : i32 to index
  %left = arith.subi %m, %row : index
  %some = arith.maxsi %left, %c0 : index
  %rows = arith.minsi %some, %c16 : index
  %above = arith.muli %row, %k : index
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%so = %zeros) -> (tensor<16x64xf32>) {
    %begin = arith.addi %above, %i : index
    %va = memref.reinterpret_cast %a to offset: [%begin], sizes: [16, 32], strides: [%k, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x32xf32, strided<[?, 1], offset: ?>>
    %ta = bufferization.to_tensor %va : memref<16x32xf32, strided<[?, 1], offset: ?>> to tensor<16x32xf32>
    %far = arith.muli %i, %n : index
    %from = arith.addi %far, %at : index
    %vw = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 64], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[?, 1], offset: ?>>
    %tw = bufferization.to_tensor %vw : memref<32x64xf32, strided<[?, 1], offset: ?>> to tensor<32x64xf32>
    %next = linalg.matmul ins(%ta, %tw : tensor<16x32xf32>, tensor<32x64xf32>) outs(%so : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  %down = arith.muli %row, %n : index
  %to = arith.addi %down, %at : index
  %out = memref.reinterpret_cast %y to offset: [%to], sizes: [16, 64], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x64xf32, strided<[?, 1], offset: ?>>
  %part = tensor.extract_slice %sum[0, 0] [%rows, 64] [1, 1] : tensor<16x64xf32> to tensor<?x64xf32>
  %there = memref.subview %out[0, 0] [%rows, 64] [1, 1] : memref<16x64xf32, strided<[?, 1], offset: ?>> to memref<?x64xf32, strided<[?, 1], offset: ?>>
  bufferization.materialize_in_destination %part in writable %there : (tensor<?x64xf32>, memref<?x64xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// A block of 32 rows is not meant for few.
// CHECK-LABEL: func.func @high(
// CHECK-NOT: tilebridge.merged
func.func @high(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>,
                   %m: index, %k: index, %n: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32", "i64", "i64", "i64"]} {
  %zeros = arith.constant dense<0.0> : tensor<32x64xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %high = arith.constant 16 : i32
  %width = arith.constant 64 : i32
  %first = arith.muli %px, %width : i32
  %at = arith.index_cast %first : i32 to index
  %top = arith.muli %py, %high : i32
  %row = arith.index_cast %top : i32 to index
  %left = arith.subi %m, %row : index
  %some = arith.maxsi %left, %c0 : index
  %rows = arith.minsi %some, %c16 : index
  %above = arith.muli %row, %k : index
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%so = %zeros) -> (tensor<32x64xf32>) {
    %begin = arith.addi %above, %i : index
    %va = memref.reinterpret_cast %a to offset: [%begin], sizes: [32, 32], strides: [%k, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
    %ta = bufferization.to_tensor %va : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
    %far = arith.muli %i, %n : index
    %from = arith.addi %far, %at : index
    %vw = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 64], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[?, 1], offset: ?>>
    %tw = bufferization.to_tensor %vw : memref<32x64xf32, strided<[?, 1], offset: ?>> to tensor<32x64xf32>
    %next = linalg.matmul ins(%ta, %tw : tensor<32x32xf32>, tensor<32x64xf32>) outs(%so : tensor<32x64xf32>) -> tensor<32x64xf32>
    scf.yield %next : tensor<32x64xf32>
  }
  %down = arith.muli %row, %n : index
  %to = arith.addi %down, %at : index
  %out = memref.reinterpret_cast %y to offset: [%to], sizes: [32, 64], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x64xf32, strided<[?, 1], offset: ?>>
  %part = tensor.extract_slice %sum[0, 0] [%rows, 64] [1, 1] : tensor<32x64xf32> to tensor<?x64xf32>
  %there = memref.subview %out[0, 0] [%rows, 64] [1, 1] : memref<32x64xf32, strided<[?, 1], offset: ?>> to memref<?x64xf32, strided<[?, 1], offset: ?>>
  bufferization.materialize_in_destination %part in writable %there : (tensor<?x64xf32>, memref<?x64xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// Rows of 1024 bytes are long enough.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT: tilebridge.merged
func.func @wide(%a: memref<?xf32, strided<[1], offset: ?>>, %w: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>,
                   %m: index, %k: index, %n: index,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32", "i64", "i64", "i64"]} {
  %zeros = arith.constant dense<0.0> : tensor<16x256xf32>
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %high = arith.constant 16 : i32
  %width = arith.constant 256 : i32
  %first = arith.muli %px, %width : i32
  %at = arith.index_cast %first : i32 to index
  %top = arith.muli %py, %high : i32
  %row = arith.index_cast %top : i32 to index
  %left = arith.subi %m, %row : index
  %some = arith.maxsi %left, %c0 : index
  %rows = arith.minsi %some, %c16 : index
  %above = arith.muli %row, %k : index
  %sum = scf.for %i = %c0 to %k step %c32 iter_args(%so = %zeros) -> (tensor<16x256xf32>) {
    %begin = arith.addi %above, %i : index
    %va = memref.reinterpret_cast %a to offset: [%begin], sizes: [16, 32], strides: [%k, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x32xf32, strided<[?, 1], offset: ?>>
    %ta = bufferization.to_tensor %va : memref<16x32xf32, strided<[?, 1], offset: ?>> to tensor<16x32xf32>
    %far = arith.muli %i, %n : index
    %from = arith.addi %far, %at : index
    %vw = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 256], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x256xf32, strided<[?, 1], offset: ?>>
    %tw = bufferization.to_tensor %vw : memref<32x256xf32, strided<[?, 1], offset: ?>> to tensor<32x256xf32>
    %next = linalg.matmul ins(%ta, %tw : tensor<16x32xf32>, tensor<32x256xf32>) outs(%so : tensor<16x256xf32>) -> tensor<16x256xf32>
    scf.yield %next : tensor<16x256xf32>
  }
  %down = arith.muli %row, %n : index
  %to = arith.addi %down, %at : index
  %out = memref.reinterpret_cast %y to offset: [%to], sizes: [16, 256], strides: [%n, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<16x256xf32, strided<[?, 1], offset: ?>>
  %part = tensor.extract_slice %sum[0, 0] [%rows, 256] [1, 1] : tensor<16x256xf32> to tensor<?x256xf32>
  %there = memref.subview %out[0, 0] [%rows, 256] [1, 1] : memref<16x256xf32, strided<[?, 1], offset: ?>> to memref<?x256xf32, strided<[?, 1], offset: ?>>
  bufferization.materialize_in_destination %part in writable %there : (tensor<?x256xf32>, memref<?x256xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}
