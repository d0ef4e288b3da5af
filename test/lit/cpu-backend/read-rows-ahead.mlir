// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-defer-stores --tilebridge-cpu-read-rows-ahead | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-defer-stores --tilebridge-cpu-read-rows-ahead="cache-bytes=4096" | FileCheck %s --check-prefix=SMALL

// The maximum of a row is looked for while the row of the program before is computed, and the one before that is stored.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME: tilebridge.deferred = 2
// CHECK: %[[STATE:.*]] = memref.alloc() {tilebridge.zeroed} : memref<256xi64>
// CHECK: %[[STORED:.*]] = arith.cmpi ne
// CHECK: %[[TOTAL:.*]] = memref.load %{{.*}} : memref<1xf32>
// CHECK: %[[REST:.*]] = arith.cmpi slt, %arg2
// CHECK: %[[BUFFER:.*]] = memref.alloc() {tilebridge.kept} : memref<1024xf32>
// Where this program's row is, and what is behind it.
// CHECK: %[[AT:.*]] = arith.muli
// CHECK: %[[BEHIND:.*]] = arith.addi %[[AT]]
// Where the row of the program before is, and its maximum.
// CHECK: %[[WORD:.*]] = arith.constant 4 : index
// CHECK: %[[FLAG:.*]] = memref.load %[[STATE]][%[[WORD]]]
// CHECK: %[[THERE:.*]] = arith.cmpi ne, %[[FLAG]]
// CHECK: %[[ID:.*]] = arith.select %[[THERE]], %{{.*}}, %arg2 : i32
// CHECK: %[[PLACE:.*]] = memref.alloc() {tilebridge.kept} : memref<1xf32>
// CHECK: %[[TOP:.*]] = memref.load %[[PLACE]]
// CHECK: %[[ROW:.*]] = arith.index_cast %[[ID]]
// CHECK: %[[LAST:.*]] = arith.muli %[[ROW]]
// The second call behind the last program stores.
// CHECK: %[[PROGRAM:.*]] = arith.xori %[[REST]]
// CHECK: %[[NONE:.*]] = arith.xori %[[THERE]]
// CHECK: %[[END:.*]] = arith.andi %[[REST]], %[[NONE]]
// CHECK: scf.if %[[END]] {
// CHECK-NEXT: scf.if %[[STORED]] {
// CHECK: vector.store %{{.*}}, %arg1
// What the loop does not store.
// CHECK: scf.if %[[THERE]] {
// CHECK-NEXT: scf.if %[[STORED]] {
// CHECK: vector.store %{{.*}}, %arg1
// In a cache.
// CHECK: %[[BOTH:.*]] = arith.andi %[[PROGRAM]], %[[THERE]]
// CHECK: %[[MOST:.*]] = arith.constant 2097152 : index
// CHECK: %[[SIZE:.*]] = arith.cmpi sle, %{{.*}}, %[[MOST]]
// CHECK: %[[FUSED:.*]] = arith.andi %[[BOTH]], %[[SIZE]]
// CHECK: %[[COUNT:.*]] = arith.select %[[FUSED]]
// CHECK: %[[LENGTH:.*]] = arith.muli %[[COUNT]]
// CHECK: %[[ALL:.*]]:2 = scf.for %{{.*}} = %{{.*}} to %[[LENGTH]] step %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SOFAR:.*]] = %{{.*}}) -> (vector<16xf32>, vector<32xf32>) {
// The row behind this one is asked for, not this one.
// CHECK: arith.addi %[[BEHIND]]
// CHECK-NEXT: memref.prefetch
// CHECK: %[[NOW:.*]] = arith.addi %[[AT]]
// CHECK: %[[VALUES:.*]] = vector.load %arg0[%[[NOW]]]
// CHECK: %[[NEXT:.*]] = arith.maxnumf %[[SOFAR]], %[[VALUES]]
// CHECK: %[[FROM:.*]] = arith.addi %[[LAST]]
// CHECK-NOT: memref.prefetch
// CHECK: vector.load %arg0[%[[FROM]]]
// CHECK: vector.broadcast %[[TOTAL]]
// CHECK: vector.store %{{.*}}, %arg1
// CHECK: vector.broadcast %[[TOP]]
// CHECK: math.exp
// CHECK: vector.store %{{.*}}, %[[BUFFER]]
// CHECK: math.exp
// CHECK: scf.yield %{{.*}}, %[[NEXT]]
// CHECK: scf.if %[[THERE]] {
// CHECK: %[[SUMS:.*]] = scf.for %{{.*}} = %[[LENGTH]] to %{{.*}} iter_args(%{{.*}} = %[[ALL]]#0)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[SUMS]])
// CHECK: vector.reduction <add>
// CHECK: memref.store
// CHECK: arith.extui %[[ID]]
// CHECK: scf.if %[[PROGRAM]] {
// CHECK: %[[ON:.*]] = arith.addi %{{.*}}, %[[LENGTH]]
// CHECK: %[[TOPS:.*]] = scf.for %{{.*}} = %[[ON]] to %{{.*}} iter_args(%{{.*}} = %[[ALL]]#1)
// CHECK: %[[NEWTOP:.*]] = vector.reduction <maxnumf>, %[[TOPS]]
// CHECK: memref.store %[[NEWTOP]], %[[PLACE]]
// CHECK: arith.extui %arg2
// CHECK: } else {
// CHECK: memref.store %{{.*}}, %[[STATE]]

// SMALL-LABEL: func.func @softmax
// SMALL: %[[MOST:.*]] = arith.constant 512 : index
// SMALL: arith.cmpi sle, %{{.*}}, %[[MOST]]
func.func @softmax(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %lowest = arith.constant dense<0xFF800000> : vector<32xf32>
  %buffer = memref.alloc() : memref<1024xf32>
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c1024 : index
  %tops = scf.for %i = %c0 to %c1024 step %c32 iter_args(%acc = %lowest) -> (vector<32xf32>) {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xf32>, vector<32xf32>
    %next = arith.maxnumf %acc, %v : vector<32xf32>
    scf.yield %next : vector<32xf32>
  }
  %top = vector.reduction <maxnumf>, %tops : vector<32xf32> into f32
  %behind = arith.addi %at, %c1024 : index
  %sum = scf.for %i = %c0 to %c1024 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %later = arith.addi %behind, %i : index
    memref.prefetch %in[%later], read, locality<2>, data : memref<?xf32>
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %tops16 = vector.broadcast %top : f32 to vector<16xf32>
    %d = arith.subf %v, %tops16 : vector<16xf32>
    %e = math.exp %d : vector<16xf32>
    vector.store %e, %buffer[%i] : memref<1024xf32>, vector<16xf32>
    %next = arith.addf %acc, %e : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %c1024 step %c32 {
    %e = vector.load %buffer[%i] : memref<1024xf32>, vector<32xf32>
    %totals = vector.broadcast %total : f32 to vector<32xf32>
    %v = arith.divf %e, %totals : vector<32xf32>
    %to = arith.addi %at, %i : index
    vector.store %v, %out[%to] : memref<?xf32>, vector<32xf32>
  }
  return
}

// -----

// Where the row ends is not known without reading memory.
// CHECK-LABEL: func.func @loaded_length
// CHECK-SAME: tilebridge.deferred = 1
func.func @loaded_length(%in: memref<?xf32>, %out: memref<?xf32>, %lengths: memref<?xindex>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %lowest = arith.constant dense<0xFF800000> : vector<32xf32>
  %buffer = memref.alloc() : memref<1024xf32>
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c1024 : index
  %length = memref.load %lengths[%row] : memref<?xindex>
  %tops = scf.for %i = %c0 to %length step %c32 iter_args(%acc = %lowest) -> (vector<32xf32>) {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xf32>, vector<32xf32>
    %next = arith.maxnumf %acc, %v : vector<32xf32>
    scf.yield %next : vector<32xf32>
  }
  %top = vector.reduction <maxnumf>, %tops : vector<32xf32> into f32
  %behind = arith.addi %at, %c1024 : index
  %sum = scf.for %i = %c0 to %c1024 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %later = arith.addi %behind, %i : index
    memref.prefetch %in[%later], read, locality<2>, data : memref<?xf32>
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %tops16 = vector.broadcast %top : f32 to vector<16xf32>
    %d = arith.subf %v, %tops16 : vector<16xf32>
    %e = math.exp %d : vector<16xf32>
    vector.store %e, %buffer[%i] : memref<1024xf32>, vector<16xf32>
    %next = arith.addf %acc, %e : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %c1024 step %c32 {
    %e = vector.load %buffer[%i] : memref<1024xf32>, vector<32xf32>
    %totals = vector.broadcast %total : f32 to vector<32xf32>
    %v = arith.divf %e, %totals : vector<32xf32>
    %to = arith.addi %at, %i : index
    vector.store %v, %out[%to] : memref<?xf32>, vector<32xf32>
  }
  return
}

// -----

// Rows of bf16 do not wait for memory.
// CHECK-LABEL: func.func @narrow
// CHECK-SAME: tilebridge.deferred = 1
func.func @narrow(%in: memref<?xbf16>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %lowest = arith.constant dense<0xFF800000> : vector<32xf32>
  %buffer = memref.alloc() : memref<1024xf32>
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c1024 : index
  %tops = scf.for %i = %c0 to %c1024 step %c32 iter_args(%acc = %lowest) -> (vector<32xf32>) {
    %from = arith.addi %at, %i : index
    %h = vector.load %in[%from] : memref<?xbf16>, vector<32xbf16>
    %v = arith.extf %h : vector<32xbf16> to vector<32xf32>
    %next = arith.maxnumf %acc, %v : vector<32xf32>
    scf.yield %next : vector<32xf32>
  }
  %top = vector.reduction <maxnumf>, %tops : vector<32xf32> into f32
  %behind = arith.addi %at, %c1024 : index
  %sum = scf.for %i = %c0 to %c1024 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %later = arith.addi %behind, %i : index
    %h = vector.load %in[%from] : memref<?xbf16>, vector<16xbf16>
    %v = arith.extf %h : vector<16xbf16> to vector<16xf32>
    %tops16 = vector.broadcast %top : f32 to vector<16xf32>
    %d = arith.subf %v, %tops16 : vector<16xf32>
    %e = math.exp %d : vector<16xf32>
    vector.store %e, %buffer[%i] : memref<1024xf32>, vector<16xf32>
    %next = arith.addf %acc, %e : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %c1024 step %c32 {
    %e = vector.load %buffer[%i] : memref<1024xf32>, vector<32xf32>
    %totals = vector.broadcast %total : f32 to vector<32xf32>
    %v = arith.divf %e, %totals : vector<32xf32>
    %to = arith.addi %at, %i : index
    vector.store %v, %out[%to] : memref<?xf32>, vector<32xf32>
  }
  return
}

// -----

// What is kept would not be in the second cache beside two rows.
// CHECK-LABEL: func.func @long
// CHECK-SAME: tilebridge.deferred = 1
func.func @long(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 65536 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %lowest = arith.constant dense<0xFF800000> : vector<32xf32>
  %buffer = memref.alloc() : memref<65536xf32>
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c1024 : index
  %tops = scf.for %i = %c0 to %c1024 step %c32 iter_args(%acc = %lowest) -> (vector<32xf32>) {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xf32>, vector<32xf32>
    %next = arith.maxnumf %acc, %v : vector<32xf32>
    scf.yield %next : vector<32xf32>
  }
  %top = vector.reduction <maxnumf>, %tops : vector<32xf32> into f32
  %behind = arith.addi %at, %c1024 : index
  %sum = scf.for %i = %c0 to %c1024 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %later = arith.addi %behind, %i : index
    memref.prefetch %in[%later], read, locality<2>, data : memref<?xf32>
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %tops16 = vector.broadcast %top : f32 to vector<16xf32>
    %d = arith.subf %v, %tops16 : vector<16xf32>
    %e = math.exp %d : vector<16xf32>
    vector.store %e, %buffer[%i] : memref<65536xf32>, vector<16xf32>
    %next = arith.addf %acc, %e : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %c1024 step %c32 {
    %e = vector.load %buffer[%i] : memref<65536xf32>, vector<32xf32>
    %totals = vector.broadcast %total : f32 to vector<32xf32>
    %v = arith.divf %e, %totals : vector<32xf32>
    %to = arith.addi %at, %i : index
    vector.store %v, %out[%to] : memref<?xf32>, vector<32xf32>
  }
  return
}

// -----

// The maximum of a row is computed by no loop.
// CHECK-LABEL: func.func @no_row
// CHECK-SAME: tilebridge.deferred = 1
func.func @no_row(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %lowest = arith.constant dense<0xFF800000> : vector<32xf32>
  %buffer = memref.alloc() : memref<1024xf32>
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c1024 : index
  %tops = vector.load %in[%at] : memref<?xf32>, vector<32xf32>
  %top = vector.reduction <maxnumf>, %tops : vector<32xf32> into f32
  %behind = arith.addi %at, %c1024 : index
  %sum = scf.for %i = %c0 to %c1024 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %later = arith.addi %behind, %i : index
    memref.prefetch %in[%later], read, locality<2>, data : memref<?xf32>
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %tops16 = vector.broadcast %top : f32 to vector<16xf32>
    %d = arith.subf %v, %tops16 : vector<16xf32>
    %e = math.exp %d : vector<16xf32>
    vector.store %e, %buffer[%i] : memref<1024xf32>, vector<16xf32>
    %next = arith.addf %acc, %e : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %c1024 step %c32 {
    %e = vector.load %buffer[%i] : memref<1024xf32>, vector<32xf32>
    %totals = vector.broadcast %total : f32 to vector<32xf32>
    %v = arith.divf %e, %totals : vector<32xf32>
    %to = arith.addi %at, %i : index
    vector.store %v, %out[%to] : memref<?xf32>, vector<32xf32>
  }
  return
}

// -----

// No step is a multiple of the other.
// CHECK-LABEL: func.func @other_steps
// CHECK-SAME: tilebridge.deferred = 1
func.func @other_steps(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c1024 = arith.constant 1024 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %lowest = arith.constant dense<0xFF800000> : vector<32xf32>
  %buffer = memref.alloc() : memref<1024xf32>
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c1024 : index
  %tops = scf.for %i = %c0 to %c1024 step %c48 iter_args(%acc = %lowest) -> (vector<32xf32>) {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xf32>, vector<32xf32>
    %next = arith.maxnumf %acc, %v : vector<32xf32>
    scf.yield %next : vector<32xf32>
  }
  %top = vector.reduction <maxnumf>, %tops : vector<32xf32> into f32
  %behind = arith.addi %at, %c1024 : index
  %sum = scf.for %i = %c0 to %c1024 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %later = arith.addi %behind, %i : index
    memref.prefetch %in[%later], read, locality<2>, data : memref<?xf32>
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %tops16 = vector.broadcast %top : f32 to vector<16xf32>
    %d = arith.subf %v, %tops16 : vector<16xf32>
    %e = math.exp %d : vector<16xf32>
    vector.store %e, %buffer[%i] : memref<1024xf32>, vector<16xf32>
    %next = arith.addf %acc, %e : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %c1024 step %c32 {
    %e = vector.load %buffer[%i] : memref<1024xf32>, vector<32xf32>
    %totals = vector.broadcast %total : f32 to vector<32xf32>
    %v = arith.divf %e, %totals : vector<32xf32>
    %to = arith.addi %at, %i : index
    vector.store %v, %out[%to] : memref<?xf32>, vector<32xf32>
  }
  return
}

// -----

// The block that was read is used again: it is no number.
// CHECK-LABEL: func.func @block
// CHECK-SAME: tilebridge.deferred = 1
func.func @block(%in: memref<?xf32>, %out: memref<?xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %lowest = arith.constant dense<0xFF800000> : vector<32xf32>
  %buffer = memref.alloc() : memref<1024xf32>
  %row = arith.index_cast %x : i32 to index
  %at = arith.muli %row, %c1024 : index
  %tops = scf.for %i = %c0 to %c1024 step %c32 iter_args(%acc = %lowest) -> (vector<32xf32>) {
    %from = arith.addi %at, %i : index
    %v = vector.load %in[%from] : memref<?xf32>, vector<32xf32>
    %next = arith.maxnumf %acc, %v : vector<32xf32>
    scf.yield %next : vector<32xf32>
  }
  %top = vector.reduction <maxnumf>, %tops : vector<32xf32> into f32
  %behind = arith.addi %at, %c1024 : index
  %sum = scf.for %i = %c0 to %c1024 step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %from = arith.addi %at, %i : index
    %later = arith.addi %behind, %i : index
    memref.prefetch %in[%later], read, locality<2>, data : memref<?xf32>
    %v = vector.load %in[%from] : memref<?xf32>, vector<16xf32>
    %tops16 = vector.broadcast %top : f32 to vector<16xf32>
    %lanes = vector.extract_strided_slice %tops {offsets = [0], sizes = [16], strides = [1]} : vector<32xf32> to vector<16xf32>
    %d = arith.subf %v, %lanes : vector<16xf32>
    %e = math.exp %d : vector<16xf32>
    vector.store %e, %buffer[%i] : memref<1024xf32>, vector<16xf32>
    %next = arith.addf %acc, %e : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  scf.for %i = %c0 to %c1024 step %c32 {
    %e = vector.load %buffer[%i] : memref<1024xf32>, vector<32xf32>
    %totals = vector.broadcast %total : f32 to vector<32xf32>
    %v = arith.divf %e, %totals : vector<32xf32>
    %to = arith.addi %at, %i : index
    vector.store %v, %out[%to] : memref<?xf32>, vector<32xf32>
  }
  return
}
