// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-join-programs="cache-bytes=65536" | FileCheck %s

// Both rows, of bf16, are added up by one loop, the weights are read once, and where the
// stores begin is compared: rows that are asked for are the fourth and the
// fifth behind.
// CHECK-LABEL: func.func @norm(
// CHECK-SAME: passthrough = ["alwaysinline"]
// CHECK-LABEL: func.func private @norm.joined(
// CHECK-SAME: -> i1 attributes {tilebridge.merged_axis = 0 : i64, tilebridge.merged_programs = 2 : i64, tilebridge.merged_step = @norm.joined_step}
// CHECK: %[[SECOND:.*]] = arith.addi %arg4, %{{.*}} : i32
// CHECK: %[[FOURTH:.*]] = arith.addi %arg4, %{{.*}} : i32
// CHECK: %[[FIFTH:.*]] = arith.addi %arg4, %{{.*}} : i32
// CHECK: %[[I0:.*]] = arith.index_cast %arg4
// CHECK: %[[I1:.*]] = arith.index_cast %[[SECOND]]
// CHECK: %[[I4:.*]] = arith.index_cast %[[FOURTH]]
// CHECK: %[[I5:.*]] = arith.index_cast %[[FIFTH]]
// CHECK: %[[R0:.*]] = arith.muli %[[I0]],
// CHECK: %[[R1:.*]] = arith.muli %[[I1]],
// CHECK: %[[R4:.*]] = arith.muli %[[I4]],
// CHECK: %[[R5:.*]] = arith.muli %[[I5]],
// CHECK: %[[SUMS:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[A0:.*]] = %[[ZEROS:.*]], %[[A1:.*]] = %[[ZEROS]])
// CHECK: %[[AT0:.*]] = arith.addi %[[R0]], %[[I]]
// CHECK: %[[AT1:.*]] = arith.addi %[[R1]], %[[I]]
// CHECK: %[[AT4:.*]] = arith.addi %[[R4]], %[[I]]
// CHECK: %[[AT5:.*]] = arith.addi %[[R5]], %[[I]]
// CHECK: memref.prefetch %arg0[%[[AT4]]]
// CHECK: memref.prefetch %arg0[%[[AT5]]]
// CHECK-NOT: memref.prefetch
// CHECK: %[[X0:.*]] = vector.load %arg0[%[[AT0]]]
// CHECK: %[[X1:.*]] = vector.load %arg0[%[[AT1]]]
// CHECK: %[[V0:.*]] = arith.extf %[[X0]]
// CHECK: %[[V1:.*]] = arith.extf %[[X1]]
// CHECK: %[[N0:.*]] = arith.addf %[[A0]], %[[V0]]
// CHECK: %[[N1:.*]] = arith.addf %[[A1]], %[[V1]]
// CHECK: scf.yield %[[N0]], %[[N1]]
// CHECK: vector.reduction <add>, %[[SUMS]]#0
// CHECK: vector.reduction <add>, %[[SUMS]]#1
// CHECK: %[[SAME:.*]] = arith.andi
// CHECK: scf.if %[[SAME]]
// CHECK: scf.for
// CHECK-COUNT-2: vector.load %arg0
// CHECK: vector.load %arg1
// CHECK-NOT: vector.load %arg1
// CHECK-COUNT-2: vector.store
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: return %{{.*}} : i1
// 128 programs, rows of 2048 numbers, and what they read and write in 64 KiB.
// CHECK-LABEL: func.func private @norm.joined_step(
// CHECK-SAME: -> i64
// CHECK: %[[N:.*]] = arith.index_cast %arg3
// CHECK: %[[LENGTH:.*]] = arith.subi
// CHECK-DAG: arith.cmpi sle, %[[LENGTH]], %c2048
// CHECK-DAG: arith.cmpi sge, %{{.*}}, %c128
// CHECK-DAG: arith.cmpi sle, %{{.*}}, %c65536
func.func @norm(%x: memref<?xbf16>, %w: memref<?xf32>, %out: memref<?xf32>, %n: i32, %id: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %columns = arith.index_cast %n : i32 to index
  %program = arith.index_cast %id : i32 to index
  %row = arith.muli %program, %columns : index
  %sum = scf.for %i = %c0 to %columns step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %at = arith.addi %row, %i : index
    memref.prefetch %x[%at], read, locality<2>, data : memref<?xbf16>
    %b = vector.load %x[%at] : memref<?xbf16>, vector<16xbf16>
    %v = arith.extf %b : vector<16xbf16> to vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  %all = vector.broadcast %total : f32 to vector<16xf32>
  %begin = arith.remui %row, %c16 : index
  scf.for %i = %begin to %columns step %c16 {
    %at = arith.addi %row, %i : index
    %b = vector.load %x[%at] : memref<?xbf16>, vector<16xbf16>
    %v = arith.extf %b : vector<16xbf16> to vector<16xf32>
    %u = vector.load %w[%i] : memref<?xf32>, vector<16xf32>
    %d = arith.divf %v, %all : vector<16xf32>
    %r = arith.mulf %d, %u : vector<16xf32>
    vector.store %r, %out[%at] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// Vectors with masks, at a row's ends, are computed one program after the
// other where their loops differ.
// CHECK-LABEL: func.func private @ends.joined(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.maskedstore
// CHECK: scf.for
// CHECK: vector.maskedstore
// CHECK-NOT: scf.for
// CHECK: return
func.func @ends(%x: memref<?xbf16>, %out: memref<?xf32>, %n: i32, %id: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %columns = arith.index_cast %n : i32 to index
  %program = arith.index_cast %id : i32 to index
  %row = arith.muli %program, %columns : index
  %sum = scf.for %i = %c0 to %columns step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %at = arith.addi %row, %i : index
    %b = vector.load %x[%at] : memref<?xbf16>, vector<16xbf16>
    %v = arith.extf %b : vector<16xbf16> to vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  %all = vector.broadcast %total : f32 to vector<16xf32>
  scf.for %i = %row to %columns step %c16 {
    %rest = arith.subi %columns, %i : index
    %mask = vector.create_mask %rest : vector<16xi1>
    vector.maskedstore %out[%i], %mask, %all : memref<?xf32>, vector<16xi1>, vector<16xf32>
  }
  return
}

// -----

// Rows of f32 that are waited for twice, and for one sum only.
// CHECK-LABEL: func.func private @twice.joined(
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @twice(%x: memref<?xf32>, %out: memref<?xf32>, %n: i32, %id: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %columns = arith.index_cast %n : i32 to index
  %program = arith.index_cast %id : i32 to index
  %row = arith.muli %program, %columns : index
  %sum = scf.for %i = %c0 to %columns step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %at = arith.addi %row, %i : index
    %v = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  %all = vector.broadcast %total : f32 to vector<16xf32>
  %sum2 = scf.for %i = %c0 to %columns step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %at = arith.addi %row, %i : index
    %v = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
    %d = arith.subf %v, %all : vector<16xf32>
    %next = arith.addf %acc, %d : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total2 = vector.reduction <add>, %sum2 : vector<16xf32> into f32
  %all2 = vector.broadcast %total2 : f32 to vector<16xf32>
  scf.for %i = %c0 to %columns step %c16 {
    %at = arith.addi %row, %i : index
    vector.store %all2, %out[%at] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @once(
// CHECK-NOT: joined
func.func @once(%x: memref<?xf32>, %out: memref<?xf32>, %n: i32, %id: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %columns = arith.index_cast %n : i32 to index
  %program = arith.index_cast %id : i32 to index
  %row = arith.muli %program, %columns : index
  %sum = scf.for %i = %c0 to %columns step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %at = arith.addi %row, %i : index
    %v = vector.load %x[%at] : memref<?xf32>, vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  %all = vector.broadcast %total : f32 to vector<16xf32>
  scf.for %i = %c0 to %columns step %c16 {
    %at = arith.addi %row, %i : index
    vector.store %all, %out[%at] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// No loop waits for the sum.
// CHECK-LABEL: func.func @one_loop(
// CHECK-NOT: joined
func.func @one_loop(%x: memref<?xbf16>, %f: memref<?xf32>, %out: memref<?xf32>, %n: i32, %id: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %columns = arith.index_cast %n : i32 to index
  %program = arith.index_cast %id : i32 to index
  %row = arith.muli %program, %columns : index
  %sum = scf.for %i = %c0 to %columns step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %at = arith.addi %row, %i : index
    %b = vector.load %x[%at] : memref<?xbf16>, vector<16xbf16>
    %v = arith.extf %b : vector<16xbf16> to vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  memref.store %total, %out[%program] : memref<?xf32>
  return
}

// -----

// How long a row is differs from program to program.
// CHECK-LABEL: func.func @ragged(
// CHECK-NOT: joined
func.func @ragged(%x: memref<?xbf16>, %f: memref<?xf32>, %id: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %program = arith.index_cast %id : i32 to index
  %sum = scf.for %i = %c0 to %program step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %b = vector.load %x[%i] : memref<?xbf16>, vector<16xbf16>
    %v = arith.extf %b : vector<16xbf16> to vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  scf.for %i = %c0 to %program step %c16 {
    vector.store %sum, %f[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// -----

// Others may wait for what a program adds.
// CHECK-LABEL: func.func @atomic(
// CHECK-NOT: joined
func.func @atomic(%x: memref<?xbf16>, %f: memref<?xf32>, %n: i32, %id: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %columns = arith.index_cast %n : i32 to index
  %program = arith.index_cast %id : i32 to index
  %sum = scf.for %i = %c0 to %columns step %c16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %b = vector.load %x[%i] : memref<?xbf16>, vector<16xbf16>
    %v = arith.extf %b : vector<16xbf16> to vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %total = vector.reduction <add>, %sum : vector<16xf32> into f32
  %old = memref.atomic_rmw addf %total, %f[%program] : (f32, memref<?xf32>) -> f32
  scf.for %i = %c0 to %columns step %c16 {
    vector.store %sum, %f[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}
