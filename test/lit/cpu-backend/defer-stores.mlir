// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-defer-stores | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-defer-stores=long-rows | FileCheck %s --check-prefix=ROWS

// The buffer and the total are kept; what the program before has left is stored in the loop that fills the buffer.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME: tilebridge.deferred
// CHECK: %[[STATE:.*]] = memref.alloc() {tilebridge.zeroed} : memref<256xi64>
// CHECK: %[[FLAG:.*]] = memref.load %[[STATE]]
// CHECK: %[[THERE:.*]] = arith.cmpi ne, %[[FLAG]]
// CHECK: %[[ID:.*]] = arith.select %[[THERE]], %{{.*}}, %arg2 : i32
// CHECK: %[[PLACE:.*]] = memref.alloc() {tilebridge.kept} : memref<1xf32>
// CHECK: %[[TOTAL:.*]] = memref.load %[[PLACE]]
// CHECK: %[[ROW:.*]] = arith.index_cast %[[ID]] : i32 to index
// CHECK: %[[AT:.*]] = arith.muli %[[ROW]]
// CHECK: %[[REST:.*]] = arith.cmpi slt, %arg2
// CHECK: %[[BUFFER:.*]] = memref.alloc() {tilebridge.kept} : memref<1024xf32>
// The call behind the last program.
// CHECK: scf.if %[[REST]] {
// CHECK-NEXT: scf.if %[[THERE]] {
// CHECK-NEXT: scf.for
// CHECK: vector.store
// CHECK: memref.store %{{.*}}, %[[STATE]]
// CHECK: } else {
// Steps that are not in the loop below, before it.
// CHECK: scf.if %[[THERE]] {
// CHECK-NEXT: scf.for
// CHECK: vector.store
// CHECK: %[[FUSED:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[LENGTH:.*]] step %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<16xf32>) {
// What is read comes before what is stored.
// CHECK: vector.load %arg0
// CHECK: vector.load %arg0
// CHECK: vector.load %[[BUFFER]]
// CHECK: vector.broadcast %[[TOTAL]]
// CHECK: %[[TO:.*]] = arith.addi %[[AT]]
// CHECK: vector.store %{{.*}}, %arg1[%[[TO]]]
// CHECK: math.exp
// CHECK: vector.store %{{.*}}, %[[BUFFER]]
// CHECK: math.exp
// CHECK: vector.store %{{.*}}, %[[BUFFER]]
// CHECK: scf.yield
// CHECK: %[[FROM:.*]] = arith.addi %{{.*}}, %[[LENGTH]]
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[FROM]] to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %[[FUSED]])
// CHECK: %[[NEW:.*]] = vector.reduction <add>, %[[SUM]]
// CHECK-NOT: scf.for
// CHECK: memref.store %[[NEW]], %[[PLACE]]
// CHECK: memref.store %{{.*}}, %[[STATE]]
func.func @softmax(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %buffer = memref.alloc() : memref<1024xf32>
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c1024 : index
  %sum = scf.for %i = %c0 to %c1024 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %e = math.exp %v : vector<16xf32>
    vector.store %e, %buffer[%i] : memref<1024xf32>, vector<16xf32>
    %next = arith.addf %acc, %e : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %c1024 step %c32 {
    %e = vector.load %buffer[%i] : memref<1024xf32>, vector<32xf32>
    %all = vector.broadcast %total : f32 to vector<32xf32>
    %q = arith.divf %e, %all : vector<32xf32>
    %to = arith.addi %at, %i : index
    vector.store %q, %out[%to] : memref<?xf32>, vector<32xf32>
  }
  return
}

// -----

// What was loaded is kept, and what is computed from it computed again. The buffer has another name.
// CHECK-LABEL: func.func @length
// CHECK-SAME: tilebridge.deferred
// CHECK: %[[PLACE:.*]] = memref.alloc() {tilebridge.kept} : memref<1xi64>
// CHECK: %[[KEPT:.*]] = memref.load %[[PLACE]]
// CHECK: %[[LENGTH:.*]] = arith.trunci %[[KEPT]] : i64 to i32
// CHECK: %[[N:.*]] = arith.index_cast %[[LENGTH]] : i32 to index
// CHECK: %[[END:.*]] = arith.minsi %[[N]]
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
// CHECK: %[[LOADED:.*]] = memref.load %arg1
// CHECK: %[[WIDE:.*]] = arith.extui %[[LOADED]] : i32 to i64
// CHECK: memref.store %[[WIDE]], %[[PLACE]]
func.func @length(%in: memref<?xf32>, %lengths: memref<?xi32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32,
    %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<64xf32>
  %name = memref.reinterpret_cast %buffer to offset: [0], sizes: [100], strides: [1] : memref<64xf32> to memref<100xf32, strided<[1]>>
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c64 : index
  %length = memref.load %lengths[%row] : memref<?xi32>
  %n = arith.index_cast %length : i32 to index
  %end = arith.minsi %n, %c64 : index
  scf.for %i = %c0 to %end step %c16 {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    vector.store %v, %name[%i] : memref<100xf32, strided<[1]>>, vector<16xf32>
  }
  scf.for %i = %c0 to %end step %c16 {
    %e = vector.load %name[%i] : memref<100xf32, strided<[1]>>, vector<16xf32>
    %to = arith.addi %at, %i : index
    vector.store %e, %out[%to] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// A program's own order: something is stored behind the loop, which may be in the same place.
// CHECK-LABEL: func.func @store_behind
// CHECK-NOT: tilebridge.deferred
// CHECK-NOT: tilebridge.kept
func.func @store_behind(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %buffer = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c16 {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    vector.store %v, %buffer[%i] : memref<64xf32>, vector<16xf32>
  }
  scf.for %i = %c0 to %c64 step %c16 {
    %e = vector.load %buffer[%i] : memref<64xf32>, vector<16xf32>
    vector.store %e, %out[%i] : memref<?xf32>, vector<16xf32>
  }
  memref.store %one, %out[%c0] : memref<?xf32>
  return
}

// -----

// Atomics are seen by other programs.
// CHECK-LABEL: func.func @atomic
// CHECK-NOT: tilebridge.deferred
func.func @atomic(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %buffer = memref.alloc() : memref<64xf32>
  %old = memref.atomic_rmw addf %one, %in[%c0] : (f32, memref<?xf32>) -> f32
  scf.for %i = %c0 to %c64 step %c16 {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    vector.store %v, %buffer[%i] : memref<64xf32>, vector<16xf32>
  }
  scf.for %i = %c0 to %c64 step %c16 {
    %e = vector.load %buffer[%i] : memref<64xf32>, vector<16xf32>
    vector.store %e, %out[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// The buffer is read elsewhere than it is filled: a step would overwrite what is not stored yet.
// CHECK-LABEL: func.func @reversed
// CHECK-NOT: tilebridge.deferred
func.func @reversed(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c16 {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    vector.store %v, %buffer[%i] : memref<64xf32>, vector<16xf32>
  }
  scf.for %i = %c0 to %c64 step %c16 {
    %j = arith.subi %c48, %i : index
    %e = vector.load %buffer[%j] : memref<64xf32>, vector<16xf32>
    vector.store %e, %out[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// Stores to two arrays keep their order, as these may be one.
// CHECK-LABEL: func.func @two_arrays
// CHECK-NOT: tilebridge.deferred
func.func @two_arrays(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c16 {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    vector.store %v, %buffer[%i] : memref<64xf32>, vector<16xf32>
  }
  scf.for %i = %c0 to %c64 step %c16 {
    %e = vector.load %buffer[%i] : memref<64xf32>, vector<16xf32>
    vector.store %e, %out[%i] : memref<?xf32>, vector<16xf32>
    vector.store %e, %in[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// What is longer than 512 KiB has left the second cache before the next program comes.
// CHECK-LABEL: func.func @long_row
// CHECK-NOT: tilebridge.deferred
func.func @long_row(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = arith.constant 131088 : index
  %buffer = memref.alloc() : memref<131088xf32>
  scf.for %i = %c0 to %n step %c16 {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    vector.store %v, %buffer[%i] : memref<131088xf32>, vector<16xf32>
  }
  scf.for %i = %c0 to %n step %c16 {
    %e = vector.load %buffer[%i] : memref<131088xf32>, vector<16xf32>
    vector.store %e, %out[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// A long row, which is read again, is stored while the next program reads its own the first time, if that is 16 KiB, and the launch's are 32 MiB;
// else it is stored before. What the program copied where arguments overlap is kept, and copied back behind the loop. The row behind the next one is asked for.
// CHECK-LABEL: func.func @norm
// CHECK-NOT: tilebridge.kept
// ROWS-LABEL: func.func @norm
// ROWS-SAME: tilebridge.deferred
// ROWS: %[[COPY:.*]] = memref.alloc() {tilebridge.kept} : memref<8192xf32>
// ROWS: %[[NAME:.*]] = memref.cast %[[COPY]]
// ROWS: %[[STATE:.*]] = memref.alloc() {tilebridge.zeroed} : memref<256xi64>
// ROWS: %[[THERE:.*]] = arith.cmpi ne
// ROWS: %[[PLACE:.*]] = memref.alloc() {tilebridge.kept} : memref<1xf32>
// ROWS: %[[TOTAL:.*]] = memref.load %[[PLACE]]
// ROWS: %[[TO:.*]] = arith.select %{{.*}}, %[[NAME]], %{{.*}} : memref<?xf32>
// ROWS: arith.cmpi slt, %arg4
// ROWS: scf.if
// ROWS: } else {
// ROWS: %[[LONG:.*]] = arith.cmpi sge, %{{.*}}, %c16385
// ROWS: %[[MANY:.*]] = arith.cmpi sge, %{{.*}}, %c33554432
// ROWS: %[[PAYS:.*]] = arith.andi %[[LONG]], %[[MANY]]
// ROWS: arith.select %[[THERE]], %[[PAYS]]
// ROWS: %[[FURTHER:.*]] = arith.muli %{{.*}}, %c2
// ROWS: scf.for %{{.*}} iter_args
// ROWS: arith.addi %{{.*}}, %[[FURTHER]]
// ROWS: memref.prefetch
// ROWS: vector.broadcast %[[TOTAL]]
// ROWS: vector.store %{{.*}}, %[[TO]]
// ROWS-NOT: memref.prefetch
// ROWS: scf.yield %{{.*}} : vector<16xf32>
// What the loop has left, and what comes behind.
// ROWS: scf.if %[[THERE]] {
// ROWS: scf.for
// ROWS: vector.store %{{.*}}, %[[TO]]
// ROWS: scf.if
// ROWS: memref.store
// ROWS: vector.reduction
// ROWS-NOT: vector.store
// ROWS: return
func.func @norm(%in: memref<?xf32>, %out: memref<?xf32>, %n: index, %ahead: index, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c8192 = arith.constant 8192 : index
  %c100 = arith.constant 100 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %zero = arith.constant 0.0 : f32
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c8192 : index
  %end = arith.minsi %n, %c8192 : index
  %sum = scf.for %i = %c0 to %end step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %later = arith.addi %from, %c100 : index
    memref.prefetch %in[%later], read, locality<2>, data : memref<?xf32>
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  %copy = memref.alloc() : memref<8192xf32>
  %name = memref.cast %copy : memref<8192xf32> to memref<?xf32>
  %overlaps = arith.cmpi slt, %at, %c100 : index
  %to = arith.select %overlaps, %name, %out : memref<?xf32>
  scf.for %i = %c0 to %end step %c16 {
    %from = arith.addi %at, %i : index
    %next_row = arith.addi %from, %ahead : index
    memref.prefetch %in[%next_row], read, locality<2>, data : memref<?xf32>
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %t = vector.broadcast %total : f32 to vector<16xf32>
    %d = arith.subf %v, %t : vector<16xf32>
    vector.store %d, %to[%i] : memref<?xf32>, vector<16xf32>
  }
  scf.if %overlaps {
    memref.store %zero, %out[%at] : memref<?xf32>
  }
  return
}

// -----

// Not a row of 16 KiB, nor one whose length is not seen, nor where the first loop stores, or has others in it.
// ROWS-LABEL: func.func @short
// ROWS-NOT: tilebridge.kept
func.func @short(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c4096 = arith.constant 4096 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %sum = scf.for %i = %c0 to %c4096 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  scf.for %i = %c0 to %c4096 step %c16 {
    vector.store %sum, %out[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// ROWS-LABEL: func.func @any_length
// ROWS-NOT: tilebridge.kept
func.func @any_length(%in: memref<?xf32>, %out: memref<?xf32>, %n: index, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  scf.for %i = %c0 to %n step %c16 {
    vector.store %sum, %out[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// ROWS-LABEL: func.func @stores_first
// ROWS-NOT: tilebridge.kept
func.func @stores_first(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c8192 = arith.constant 8192 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %sum = scf.for %i = %c0 to %c8192 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    vector.store %v, %out[%i] : memref<?xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  scf.for %i = %c0 to %c8192 step %c16 {
    vector.store %sum, %out[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}
