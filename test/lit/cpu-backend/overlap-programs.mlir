// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-overlap-programs | FileCheck %s

// The sum is kept, as that is the first number; the root is taken when the next program is called, before it begins, and the
// last loop is behind its first one.
// CHECK-LABEL: func.func @norm
// CHECK-SAME: tilebridge.deferred
// CHECK: %[[STATE:.*]] = memref.alloc() {tilebridge.zeroed} : memref<8xi64>
// CHECK: %[[PLACE:.*]] = memref.alloc() {tilebridge.kept} : memref<1xf32>
// CHECK: %[[REST:.*]] = arith.cmpi slt, %arg4
// 2048 bytes of bf16.
// CHECK: %[[LENGTH:.*]] = arith.subi
// CHECK: %[[MOST:.*]] = arith.constant 1024 : index
// CHECK: %[[PAYS:.*]] = arith.cmpi sle, %[[LENGTH]], %[[MOST]]
// CHECK: %[[ONCE:.*]] = arith.ori %[[REST]], %[[PAYS]]
// CHECK: %[[TIMES:.*]] = arith.select %[[ONCE]]
// CHECK: scf.for %[[TURN:.*]] = %{{.*}} to %[[TIMES]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TURN]]
// CHECK: %[[IS:.*]] = arith.andi %[[FIRST]]
// CHECK: %[[FLAG:.*]] = memref.load %[[STATE]]
// CHECK: %[[THERE:.*]] = arith.cmpi ne, %[[FLAG]]
// CHECK: %[[ID:.*]] = arith.select %[[THERE]], %{{.*}}, %arg4 : i32
// CHECK: %[[TOTAL:.*]] = memref.load %[[PLACE]]
// CHECK: %[[ROOT:.*]] = scf.if %[[THERE]] -> (f32) {
// CHECK: %[[ROW:.*]] = arith.index_cast %[[ID]]
// CHECK: %[[SCALE:.*]] = math.rsqrt %[[TOTAL]]
// CHECK: memref.store %[[SCALE]], %arg2[%[[ROW]]]
// CHECK: scf.yield %[[SCALE]]
// CHECK: scf.if %[[IS]] {
// CHECK: arith.index_cast %arg4
// CHECK: scf.for
// CHECK: arith.mulf
// CHECK: %[[SUM:.*]] = vector.reduction <add>
// CHECK-NOT: math.rsqrt
// CHECK: memref.store %[[SUM]], %[[PLACE]]
// CHECK: memref.store %{{.*}}, %[[STATE]]
// CHECK: } else {
// CHECK: memref.store %{{.*}}, %[[STATE]]
// CHECK: scf.if %[[THERE]] {
// CHECK: arith.index_cast %[[ID]]
// CHECK: scf.for
// CHECK: vector.broadcast %[[ROOT]]
// CHECK: vector.store %{{.*}}, %arg1
func.func @norm(%in: memref<?xbf16>, %out: memref<?xbf16>, %rstd: memref<?xf32>, %n: i32, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32,
    %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %length = arith.index_cast %n : i32 to index
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %length : index
  %sum = scf.for %i = %c0 to %length step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xbf16>, vector<16xbf16>
    %w = arith.extf %v : vector<16xbf16> to vector<16xf32>
    %q = arith.mulf %w, %w : vector<16xf32>
    %next = arith.addf %acc, %q : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  %scale = math.rsqrt %total : f32
  memref.store %scale, %rstd[%row] : memref<?xf32>
  scf.for %i = %c0 to %length step %c16 {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xbf16>, vector<16xbf16>
    %w = arith.extf %v : vector<16xbf16> to vector<16xf32>
    %all = vector.broadcast %scale : f32 to vector<16xf32>
    %q = arith.mulf %w, %all : vector<16xf32>
    %r = arith.truncf %q : vector<16xf32> to vector<16xbf16>
    vector.store %r, %out[%from] : memref<?xbf16>, vector<16xbf16>
  }
  return
}

// -----

// The loop between gives a number to the last ones. Of f32 a launch of 256 KiB pays, of rows of at most 4 KiB.
// CHECK-LABEL: func.func @three
// CHECK-SAME: tilebridge.deferred
// CHECK: %[[LENGTH:.*]] = arith.subi
// CHECK: %[[MOST:.*]] = arith.constant 1024 : index
// CHECK: %[[SHORT:.*]] = arith.cmpi sle, %[[LENGTH]], %[[MOST]]
// CHECK: arith.muli
// CHECK: arith.muli
// CHECK: %[[ALL:.*]] = arith.muli
// CHECK: %[[FEW:.*]] = arith.constant 65536 : index
// CHECK: %[[SMALL:.*]] = arith.cmpi sle, %[[ALL]], %[[FEW]]
// CHECK: arith.andi %[[SHORT]], %[[SMALL]]
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = memref.load %{{.*}} : memref<1xf32>
// CHECK: %[[SQUARES:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK: scf.for
// CHECK: vector.broadcast %[[SUM]]
// CHECK: scf.if
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK: vector.broadcast %[[SQUARES]]
func.func @three(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c512 : index
  %sum = scf.for %i = %c0 to %c512 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  %squares = scf.for %i = %c0 to %c512 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %all = vector.broadcast %total : f32 to vector<16xf32>
    %d = arith.subf %v, %all : vector<16xf32>
    %q = arith.mulf %d, %d : vector<16xf32>
    %next = arith.addf %acc, %q : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %scale = vector.reduction <add>, %squares : vector<16xf32> into f32
  scf.for %i = %c0 to %c512 step %c16 {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %all = vector.broadcast %scale : f32 to vector<16xf32>
    %q = arith.mulf %v, %all : vector<16xf32>
    vector.store %q, %out[%from] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// What the first loop leaves in a buffer the next program's would overwrite.
// CHECK-LABEL: func.func @buffer
// CHECK-NOT: tilebridge.deferred
func.func @buffer(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %buffer = memref.alloc() : memref<64xf32>
  %sum = scf.for %i = %c0 to %c64 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    vector.store %v, %buffer[%i] : memref<64xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %c64 step %c16 {
    %v = vector.load %buffer[%i] : memref<64xf32>, vector<16xf32>
    %all = vector.broadcast %total : f32 to vector<16xf32>
    %q = arith.mulf %v, %all : vector<16xf32>
    vector.store %q, %out[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// The last loop takes a block from the first one.
// CHECK-LABEL: func.func @block
// CHECK-NOT: tilebridge.deferred
func.func @block(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %sum = scf.for %i = %c0 to %c64 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  scf.for %i = %c0 to %c64 step %c16 {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    %q = arith.mulf %v, %sum : vector<16xf32>
    vector.store %q, %out[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// How long the row is is only known when the program has begun.
// CHECK-LABEL: func.func @loaded_length
// CHECK-NOT: tilebridge.deferred
func.func @loaded_length(%in: memref<?xf32>, %lengths: memref<?xi32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32,
    %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %row = arith.index_cast %x : i32 to index
  %loaded = memref.load %lengths[%row] : memref<?xi32>
  %n = arith.index_cast %loaded : i32 to index
  %sum = scf.for %i = %c0 to %n step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %n step %c16 {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    %all = vector.broadcast %total : f32 to vector<16xf32>
    %q = arith.mulf %v, %all : vector<16xf32>
    vector.store %q, %out[%i] : memref<?xf32>, vector<16xf32>
  }
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
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %old = memref.atomic_rmw addf %one, %in[%c0] : (f32, memref<?xf32>) -> f32
  %sum = scf.for %i = %c0 to %c64 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %v = vector.load %in[%i] : memref<?xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %c64 step %c16 {
    %all = vector.broadcast %total : f32 to vector<16xf32>
    vector.store %all, %out[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}
