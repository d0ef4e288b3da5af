// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-map-grid -canonicalize | FileCheck %s
// RUN: tilebridge-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(tilebridge-accel-map-grid{assignment=grid grid=1,0}))" | FileCheck %s --check-prefix=GRID
// RUN: tilebridge-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(tilebridge-accel-map-grid{assignment=blocked}))" | FileCheck %s --check-prefix=BLOCKED

// Neither a target nor a grid: steps are counted at run time, and a store is done by PEs that have a program.

// CHECK-LABEL: func.func @unknown
// CHECK-SAME: %[[P:.*]]: memref<?xf32, strided<[1], offset: ?>>, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[NX:.*]]: i32, %[[NY:.*]]: i32, %[[NZ:.*]]: i32
// CHECK-DAG: %[[ROWS:.*]] = accel.pe_count 0
// CHECK-DAG: %[[COLUMNS:.*]] = accel.pe_count 1
// CHECK: %[[PES:.*]] = arith.muli %[[ROWS]], %[[COLUMNS]]
// CHECK: %[[STEPS:.*]] = arith.ceildivui %{{.*}}, %[[PES]]
// CHECK: scf.for %[[STEP:.*]] = %c0 to %[[STEPS]] step %c1
// CHECK: %[[X:.*]], %{{.*}}, %{{.*}}, %[[ACTIVE:.*]] = accel.program %[[STEP]] counts(%[[NX]], %[[NY]], %[[NZ]]) {assignment = #accel.assignment<interleaved>}
// CHECK: %[[I:.*]] = arith.index_cast %[[X]]
// CHECK: %[[V:.*]] = memref.load %[[P]][%[[I]]]
// CHECK: scf.if %[[ACTIVE]] {
// CHECK-NEXT: memref.store %[[V]]
func.func @unknown(%p: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
  %i = arith.index_cast %px : i32 to index
  %v = memref.load %p[%i] : memref<?xf32, strided<[1], offset: ?>>
  memref.store %v, %p[%i] : memref<?xf32, strided<[1], offset: ?>>
  return
}

// -----

// 256 programs on 64 PEs in four steps; every PE has one in each, and nothing is guarded. Blocks of A and B are shared: the
// dimensions of the launch go over rows and columns.

// CHECK-LABEL: func.func @matmul
// CHECK: scf.for %[[STEP:.*]] = %c0 to %c4 step %c1
// CHECK: accel.program %[[STEP]] counts(%c16_i32, %c16_i32, %c1_i32) {assignment = #accel.assignment<grid : [0, 1]>}
// CHECK-NOT: scf.if
// GRID-LABEL: func.func @matmul
// GRID: accel.program %{{.*}} {assignment = #accel.assignment<grid : [1, 0]>}
// BLOCKED-LABEL: func.func @matmul
// BLOCKED: accel.program %{{.*}} {assignment = #accel.assignment<blocked : [4]>}
module attributes {accel.target = "mtia-2i-like"} {
func.func @matmul(%a: memref<?xf16, strided<[1], offset: ?>>, %b: memref<?xf16, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 16, 16, 1>, tilebridge.kernel, tilebridge.signature = ["*fp16", "*fp16", "*fp32"]} {
  %c64 = arith.constant 64 : i32
  %c8192 = arith.constant 8192 : i32
  %n = arith.muli %px, %c64 : i32
  %m = arith.muli %py, %c8192 : i32
  %o = arith.addi %m, %n : i32
  %ma = arith.index_cast %m : i32 to index
  %nb = arith.index_cast %n : i32 to index
  %oc = arith.index_cast %o : i32 to index
  %va = memref.reinterpret_cast %a to offset: [%ma], sizes: [64, 32], strides: [128, 1] : memref<?xf16, strided<[1], offset: ?>> to memref<64x32xf16, strided<[128, 1], offset: ?>>
  %vb = memref.reinterpret_cast %b to offset: [%nb], sizes: [32, 64], strides: [128, 1] : memref<?xf16, strided<[1], offset: ?>> to memref<32x64xf16, strided<[128, 1], offset: ?>>
  %vc = memref.reinterpret_cast %c to offset: [%oc], sizes: [64, 64], strides: [128, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<64x64xf32, strided<[128, 1], offset: ?>>
  %ea = tensor.empty() : tensor<64x32xf16>
  %eb = tensor.empty() : tensor<32x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %ta = accel.copy %va to %ea : (memref<64x32xf16, strided<[128, 1], offset: ?>>, tensor<64x32xf16>) -> tensor<64x32xf16>
  %tb = accel.copy %vb to %eb : (memref<32x64xf16, strided<[128, 1], offset: ?>>, tensor<32x64xf16>) -> tensor<32x64xf16>
  %r = linalg.matmul ins(%ta, %tb : tensor<64x32xf16>, tensor<32x64xf16>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  accel.copy %r to %vc : (tensor<64x64xf32>, memref<64x64xf32, strided<[128, 1], offset: ?>>) -> ()
  return
}
}

// -----

// 6 x 3 blocks numbered by one id, in groups; with 8 x 8 PEs a table puts blocks of one row into one line. The PEs
// beyond load what others load, and store nothing.

// CHECK-LABEL: func.func @numbered
// CHECK: accel.program %c0 counts(%c18_i32, %c1_i32, %c1_i32) {assignment = #accel.assignment<table = dense<
// CHECK: accel.copy
// CHECK: accel.copy
// CHECK: scf.if
// CHECK-NEXT: accel.copy
module attributes {accel.target = "mtia-2i-like"} {
func.func @numbered(%a: memref<?xf16, strided<[1], offset: ?>>, %b: memref<?xf16, strided<[1], offset: ?>>, %c: memref<?xf16, strided<[1], offset: ?>>,
                    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 18, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp16", "*fp16", "*fp16"]} {
  %c6 = arith.constant 6 : i32
  %x = arith.remsi %px, %c6 : i32
  %y = arith.divsi %px, %c6 : i32
  %c64 = arith.constant 64 : i32
  %o = arith.muli %x, %c64 : i32
  %p = arith.muli %y, %c64 : i32
  %q = arith.muli %px, %c64 : i32
  %oi = arith.index_cast %o : i32 to index
  %pi = arith.index_cast %p : i32 to index
  %qi = arith.index_cast %q : i32 to index
  %va = memref.reinterpret_cast %a to offset: [%oi], sizes: [64], strides: [1] : memref<?xf16, strided<[1], offset: ?>> to memref<64xf16, strided<[1], offset: ?>>
  %vb = memref.reinterpret_cast %b to offset: [%pi], sizes: [64], strides: [1] : memref<?xf16, strided<[1], offset: ?>> to memref<64xf16, strided<[1], offset: ?>>
  %vc = memref.reinterpret_cast %c to offset: [%qi], sizes: [64], strides: [1] : memref<?xf16, strided<[1], offset: ?>> to memref<64xf16, strided<[1], offset: ?>>
  %e = tensor.empty() : tensor<64xf16>
  %ta = accel.copy %va to %e : (memref<64xf16, strided<[1], offset: ?>>, tensor<64xf16>) -> tensor<64xf16>
  %tb = accel.copy %vb to %e : (memref<64xf16, strided<[1], offset: ?>>, tensor<64xf16>) -> tensor<64xf16>
  %s = linalg.add ins(%ta, %tb : tensor<64xf16>, tensor<64xf16>) outs(%e : tensor<64xf16>) -> tensor<64xf16>
  accel.copy %s to %vc : (tensor<64xf16>, memref<64xf16, strided<[1], offset: ?>>) -> ()
  return
}
}

// -----

// Nothing is shared, 130 programs on 64 PEs: three steps, interleaved.

// CHECK-LABEL: func.func @elementwise
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: {assignment = #accel.assignment<interleaved>}
// BLOCKED-LABEL: func.func @elementwise
// BLOCKED: {assignment = #accel.assignment<blocked : [3]>}
module attributes {accel.target = "mtia-2i-like"} {
func.func @elementwise(%a: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 130, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32"]} {
  %c64 = arith.constant 64 : i32
  %o = arith.muli %px, %c64 : i32
  %oi = arith.index_cast %o : i32 to index
  %va = memref.reinterpret_cast %a to offset: [%oi], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %e = tensor.empty() : tensor<64xf32>
  %ta = accel.copy %va to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  accel.copy %ta to %va : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
}

// -----

// A program that waits for what another one writes is run as a whole or not at all.

// CHECK-LABEL: func.func @waits
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[ACTIVE:.*]] = accel.program
// CHECK-NEXT: scf.if %[[ACTIVE]] {
// CHECK: scf.while
func.func @waits(%p: memref<?xi32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.kernel, tilebridge.signature = ["*i32"]} {
  %i = arith.index_cast %px : i32 to index
  scf.while : () -> () {
    %v = memref.load %p[%i] : memref<?xi32, strided<[1], offset: ?>>
    %again = arith.cmpi ne, %v, %px : i32
    scf.condition(%again)
  } do {
    memref.store %px, %p[%i] : memref<?xi32, strided<[1], offset: ?>>
    scf.yield
  }
  return
}

// -----

// Three programs on 64 PEs, each with a block of its own: the other PEs do nothing, and load nothing.

// CHECK-LABEL: func.func @few
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[ACTIVE:.*]] = accel.program
// CHECK: scf.if %[[ACTIVE]] {
// CHECK: accel.copy {{.*}} -> tensor<64xf32>
// CHECK: accel.copy {{.*}} -> ()
module attributes {accel.target = "mtia-2i-like"} {
func.func @few(%p: memref<?xf32, strided<[1], offset: ?>> {accel.noalias}, %q: memref<?xf32, strided<[1], offset: ?>>,
               %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 3, 1, 1>, tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c64 = arith.constant 64 : i32
  %o = arith.muli %px, %c64 : i32
  %i = arith.index_cast %o : i32 to index
  %v = memref.reinterpret_cast %p to offset: [%i], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %w = memref.reinterpret_cast %q to offset: [%i], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %e = tensor.empty() : tensor<64xf32>
  %0 = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
  accel.copy %0 to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
}

// -----

// Tiles of three heads, in loops of different lengths over their head's keys. Neighbours are tiles of different heads; the PEs of a row
// get those of one, as they can run the loop equally often.

// CHECK-LABEL: func.func @uneven
// CHECK: accel.program {{.*}}assignment = #accel.assignment<table = dense<{{\[\[\[}}0, 3, 6, 9, 12, 15, 18, 21], [24, 27, 30, 33, 36, 39, 42, 45], [1, 4,
module attributes {accel.target = "mtia-2i-like"} {
func.func @uneven(%k: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, accel.grid = array<i64: 3, 16, 1>, tilebridge.signature = ["*fp32", "*fp32"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %keys = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %head = arith.index_cast %px : i32 to index
  %tile = arith.index_cast %py : i32 to index
  %base = arith.muli %head, %keys : index
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %sum = scf.for %i = %c0 to %tile step %c1 iter_args(%acc = %f) -> (tensor<64xf32>) {
    %at = arith.muli %i, %c64 : index
    %begin = arith.addi %base, %at : index
    %v = memref.reinterpret_cast %k to offset: [%begin], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %x = accel.copy %v to %e : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
    %next = linalg.add ins(%acc, %x : tensor<64xf32>, tensor<64xf32>) outs(%acc : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %row = arith.muli %tile, %c64 : index
  %place = arith.addi %base, %row : index
  %w = memref.reinterpret_cast %o to offset: [%place], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  accel.copy %sum to %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
}
