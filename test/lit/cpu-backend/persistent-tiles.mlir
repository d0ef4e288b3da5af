// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-persistent-tiles --canonicalize --cse | FileCheck %s

// Rows of a persistent kernel: each is a program. The count along x is the step.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:[^:]*]]: memref<?xf32
// CHECK-SAME: %[[ID:[^:,]*]]: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32) attributes
// CHECK-SAME: tilebridge.tiles = @rows.tiles
// CHECK-NOT: scf.for
// CHECK: %[[FROM:.*]] = arith.index_cast %[[ID]] : i32 to index
// CHECK: memref.reinterpret_cast %[[X]] to offset: [%[[FROM]]]
// CHECK: return
// CHECK: func.func private @rows.tiles(%[[TX:[^:]*]]: memref<?xf32, strided<[1], offset: ?>>, %[[TOUT:[^:]*]]: memref<?xf32, strided<[1], offset: ?>>, %[[N:[^:]*]]: i32, {{.*}} %[[NX:[^:]*]]: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32) -> (i64, i64)
// CHECK-NOT: memref.extract_aligned_pointer_as_index
// CHECK: %[[END:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK: return %[[END]], %c0_i64 : i64, i64
func.func @rows(%x: memref<?xf32, strided<[1], offset: ?>>, %out: memref<?xf32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  scf.for %row = %px to %n step %nx : i32 {
    %from = arith.index_cast %row : i32 to index
    %source = memref.reinterpret_cast %x to offset: [%from], sizes: [256], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %source : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
    %view = memref.reinterpret_cast %out to offset: [%from], sizes: [256], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %t in writable %view : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}

// -----

// A counter is another name of the tile's number; that both arrays are read and written at the same place is not seen.

// CHECK-LABEL: func.func @counted(
// CHECK-SAME: %[[OUT:[^:,]*]]: memref<?xf32, strided<[1], offset: ?>>, %{{[^:,]*}}: i32, %[[ID:[^:,]*]]: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32,
// CHECK-SAME: tilebridge.tiles = @counted.tiles
// CHECK-NEXT: %[[AT:.*]] = arith.index_cast %[[ID]] : i32 to index
// CHECK: memref.reinterpret_cast %[[OUT]] to offset: [%[[AT]]]
// CHECK: return
// CHECK: func.func private @counted.tiles(
// CHECK: memref.extract_aligned_pointer_as_index
func.func @counted(%x: memref<?xf32, strided<[1], offset: ?>>, %out: memref<?xf32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %before = arith.subi %px, %nx : i32
  %end = scf.for %row = %px to %n step %nx iter_args(%counter = %before) -> (i32) : i32 {
    %from = arith.index_cast %row : i32 to index
    %source = memref.reinterpret_cast %x to offset: [%from], sizes: [256], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %source : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
    %next = arith.addi %counter, %nx : i32
    %at = arith.index_cast %next : i32 to index
    %view = memref.reinterpret_cast %out to offset: [%at], sizes: [256], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %t in writable %view : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
    scf.yield %next : i32
  }
  return
}

// -----

// Another part of the other array is read: they must not begin at the same place. The step is a constant.

// CHECK-LABEL: func.func @apart(
// CHECK-SAME: tilebridge.tiles = @apart.tiles
// CHECK-NOT: scf.for
// CHECK: func.func private @apart.tiles(%[[X:[^:]*]]: memref<?xf32, strided<[1], offset: ?>>, %[[OUT:[^:]*]]: memref<?xf32, strided<[1], offset: ?>>, %[[N:[^:]*]]: i32, {{.*}} %[[NX:[^:]*]]: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32) -> (i64, i64)
// CHECK-DAG: %[[SEVEN:.*]] = arith.constant 7 : i32
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[STEP:.*]] = arith.constant 7 : i64
// CHECK-DAG: %[[ALL:.*]] = arith.cmpi eq, %[[NX]], %[[SEVEN]]
// CHECK-DAG: %[[EACH:.*]] = arith.cmpi sge, %[[NX]], %[[N]]
// CHECK-DAG: %[[EVERY:.*]] = arith.ori %[[ALL]], %[[EACH]]
// CHECK-DAG: %[[TO:.*]] = memref.extract_aligned_pointer_as_index %[[OUT]]
// CHECK-DAG: %[[FROM:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: %[[DIFFER:.*]] = arith.cmpi ne, %[[TO]], %[[FROM]]
// CHECK: %[[TOGETHER:.*]] = arith.andi %[[EVERY]], %[[DIFFER]]
// CHECK: %[[RESULT:.*]] = arith.select %[[TOGETHER]], %[[NONE]], %[[STEP]]
// CHECK: return %{{.*}}, %[[RESULT]] : i64, i64
func.func @apart(%x: memref<?xf32, strided<[1], offset: ?>>, %out: memref<?xf32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c7 = arith.constant 7 : i32
  %c9 = arith.constant 9 : index
  scf.for %row = %px to %n step %c7 : i32 {
    %at = arith.index_cast %row : i32 to index
    %from = arith.addi %at, %c9 : index
    %source = memref.reinterpret_cast %x to offset: [%from], sizes: [256], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %source : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
    %view = memref.reinterpret_cast %out to offset: [%at], sizes: [256], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %t in writable %view : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}

// -----

// The loop counts elements, in steps of as many blocks of 64 as there are programs.

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME: %{{[^:,]*}}: i32, %[[ID:[^:,]*]]: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32) attributes
// CHECK-SAME: tilebridge.tiles = @blocks.tiles
// CHECK: %[[START:.*]] = arith.muli %[[ID]], %c64
// CHECK-NOT: scf.for
// CHECK: arith.index_cast %[[START]]
// CHECK: func.func private @blocks.tiles(
// CHECK-SAME: %[[N:[^:,]*]]: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32, %[[NX:[^:,]*]]: i32, %{{[^:,]*}}: i32, %{{[^:,]*}}: i32) -> (i64, i64)
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[N]], %c64
// CHECK: %[[END:.*]] = arith.extsi %[[TILES]] : i32 to i64
// CHECK: return %[[END]], %c0_i64 : i64, i64
func.func @blocks(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %start = arith.muli %px, %c64 : i32
  %step = arith.muli %nx, %c64 : i32
  scf.for %from = %start to %n step %step : i32 {
    %at = arith.index_cast %from : i32 to index
    %view = memref.reinterpret_cast %x to offset: [%at], sizes: [64], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %zero in writable %view : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}

// -----

// A step that is no multiple of a block, and one that is another number of them.

// CHECK-LABEL: func.func @odd(
// CHECK-NOT: tilebridge.tiles
// CHECK: scf.for
func.func @odd(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c64 = arith.constant 64 : i32
  %c200 = arith.constant 200 : i32
  %start = arith.muli %px, %c64 : i32
  scf.for %from = %start to %n step %c200 : i32 {
    %at = arith.index_cast %from : i32 to index
    %value = arith.constant 0.0 : f32
    memref.store %value, %x[%at] : memref<?xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

// CHECK-LABEL: func.func @wider(
// CHECK-NOT: tilebridge.tiles
// CHECK: scf.for
func.func @wider(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %start = arith.muli %px, %c64 : i32
  %step = arith.muli %nx, %c128 : i32
  scf.for %from = %start to %n step %step : i32 {
    %at = arith.index_cast %from : i32 to index
    %value = arith.constant 0.0 : f32
    memref.store %value, %x[%at] : memref<?xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

// A tile reads what another one writes.

// CHECK-LABEL: func.func @chain(
// CHECK-NOT: tilebridge.tiles
// CHECK: scf.for
func.func @chain(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c9 = arith.constant 9 : index
  scf.for %row = %px to %n step %nx : i32 {
    %at = arith.index_cast %row : i32 to index
    %from = arith.addi %at, %c9 : index
    %source = memref.reinterpret_cast %x to offset: [%from], sizes: [256], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %source : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
    %view = memref.reinterpret_cast %x to offset: [%at], sizes: [256], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<256xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %t in writable %view : (tensor<256xf32>, memref<256xf32, strided<[1], offset: ?>>) -> ()
  }
  return
}

// -----

// Tiles know which program runs them: by its number, by a remainder, and by how many programs there are.

// CHECK-LABEL: func.func @number(
// CHECK-NOT: tilebridge.tiles
// CHECK: scf.for
func.func @number(%out: memref<?xi32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %at = arith.index_cast %px : i32 to index
  scf.for %row = %px to %n step %nx : i32 {
    memref.store %row, %out[%at] : memref<?xi32, strided<[1], offset: ?>>
  }
  return
}

// -----

// CHECK-LABEL: func.func @remainder(
// CHECK-NOT: tilebridge.tiles
// CHECK: scf.for
func.func @remainder(%out: memref<?xi32, strided<[1], offset: ?>>, %n: i32, %step: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  scf.for %row = %px to %n step %step : i32 {
    %own = arith.remsi %row, %step : i32
    %at = arith.index_cast %own : i32 to index
    memref.store %row, %out[%at] : memref<?xi32, strided<[1], offset: ?>>
  }
  return
}

// -----

// CHECK-LABEL: func.func @count(
// CHECK-NOT: tilebridge.tiles
// CHECK: scf.for
func.func @count(%out: memref<?xi32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %before = arith.subi %px, %nx : i32
  %end = scf.for %row = %px to %n step %nx iter_args(%counter = %before) -> (i32) : i32 {
    %at = arith.index_cast %row : i32 to index
    // Besides its next number the counter's own is used.
    memref.store %counter, %out[%at] : memref<?xi32, strided<[1], offset: ?>>
    %next = arith.addi %counter, %nx : i32
    scf.yield %next : i32
  }
  return
}

// -----

// A counter is used when it is a step ahead: the count along x is where tiles end in the kernel.

// CHECK-LABEL: func.func @ahead(
// CHECK-NOT: tilebridge.tiles
// CHECK: scf.for
func.func @ahead(%out: memref<?xi32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %end = scf.for %row = %px to %n step %nx iter_args(%counter = %px) -> (i32) : i32 {
    %at = arith.index_cast %row : i32 to index
    %next = arith.addi %counter, %nx : i32
    memref.store %next, %out[%at] : memref<?xi32, strided<[1], offset: ?>>
    scf.yield %next : i32
  }
  return
}

// -----

// One number of an array that other tiles write, at places that are no part of its type.

// CHECK-LABEL: func.func @numbers(
// CHECK-NOT: tilebridge.tiles
// CHECK: scf.for
func.func @numbers(%x: memref<?xi32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c9 = arith.constant 9 : index
  scf.for %row = %px to %n step %nx : i32 {
    %at = arith.index_cast %row : i32 to index
    %from = arith.addi %at, %c9 : index
    %value = memref.load %x[%from] : memref<?xi32, strided<[1], offset: ?>>
    memref.store %value, %x[%at] : memref<?xi32, strided<[1], offset: ?>>
  }
  return
}

// -----

// A loop that hands on a sum, and one with something behind it.

// CHECK-LABEL: func.func @sum(
// CHECK-NOT: tilebridge.tiles
// CHECK: scf.for
func.func @sum(%x: memref<?xi32, strided<[1], offset: ?>>, %out: memref<?xi32, strided<[1], offset: ?>>, %n: i32,
    %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %place = arith.index_cast %px : i32 to index
  %total = scf.for %row = %px to %n step %nx iter_args(%sum = %c0) -> (i32) : i32 {
    %at = arith.index_cast %row : i32 to index
    %value = memref.load %x[%at] : memref<?xi32, strided<[1], offset: ?>>
    %next = arith.addi %sum, %value : i32
    scf.yield %next : i32
  }
  memref.store %total, %out[%place] : memref<?xi32, strided<[1], offset: ?>>
  return
}
