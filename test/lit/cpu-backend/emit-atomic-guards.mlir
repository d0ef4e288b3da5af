// RUN: split-file %s %t
// RUN: tilebridge compile %t/rows.ttir --target=cpu:znver4 --emit=vector -o %t.rows.mlir && FileCheck %t/rows.ttir < %t.rows.mlir
// RUN: tilebridge compile %t/gathered.ttir --target=cpu:znver4 --emit=vector -o %t.gathered.mlir && FileCheck %t/gathered.ttir < %t.gathered.mlir
// RUN: tilebridge compile %t/counts.ttir --target=cpu:haswell --emit=vector -o %t.counts.mlir && FileCheck %t/counts.ttir < %t.counts.mlir
// RUN: tilebridge compile %t/system.ttir --target=cpu:haswell --emit=vector -o %t.system.mlir && FileCheck %t/system.ttir < %t.system.mlir
// RUN: tilebridge compile %t/lock.ttir --target=cpu:haswell --emit=vector -o %t.lock.mlir && FileCheck %t/lock.ttir < %t.lock.mlir
// RUN: tilebridge compile %t/single.ttir --target=cpu:haswell --emit=vector -o %t.single.mlir && FileCheck %t/single.ttir < %t.single.mlir
// RUN: tilebridge compile %t/none.ttir --target=cpu:haswell --emit=llvm -o %t.none.ll && FileCheck %t/none.ttir < %t.none.ll
// RUN: tilebridge compile %t/flat.ttir --target=cpu:znver4 --emit=vector -o %t.flat.mlir && FileCheck %t/flat.ttir < %t.flat.mlir
// RUN: tilebridge compile %t/each.ttir --target=cpu:znver4 --emit=vector -o %t.each.mlir && FileCheck %t/each.ttir < %t.each.mlir
// RUN: tilebridge compile %t/flat.ttir --target=cpu:neoverse-v1 -o %t.so
// RUN: tilebridge compile %t/rows.ttir --target=cpu:neoverse-v1 -o %t.so
// RUN: tilebridge compile %t/rows.ttir --target=cpu:x86-64 -o %t.so

// Where the launch says that no other one has atomics, lanes that follow one another are changed by vectors, by who
// has the guard of that memory.

//--- rows.ttir
// CHECK: module attributes {{.*}}tilebridge.atomics = "guarded"
// CHECK: llvm.mlir.global internal thread_local @tilebridge_current_launch
tt.func public @rows(%index: !tt.ptr<i64>, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %total: !tt.ptr<i32>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ns = tt.splat %n : i32 -> tensor<512xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %v = tt.load %xp, %mask : tensor<512x!tt.ptr<f32>>
  %row = tt.load %index : !tt.ptr<i64>
  %ys = tt.addptr %y, %row : !tt.ptr<f32>, i64
  %yr = tt.splat %ys : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %yp = tt.addptr %yr, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  // CHECK: %[[LAUNCH:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
  // CHECK: llvm.getelementptr %[[LAUNCH]][20]
  // CHECK: scf.if
  // Neither places nor the mask are in memory. A thread alone takes no guard.
  // CHECK-NOT: vector.store
  // CHECK: %[[SHARED:.*]] = arith.cmpi ne, %{{.*}}, %c0_i64
  // CHECK: scf.if %[[SHARED]]
  // CHECK: llvm.atomicrmw xchg {{.*}} acquire
  // How far places grow, and then parts of one guard each.
  // CHECK: scf.while
  // CHECK: scf.while
  // CHECK: llvm.store {{.*}} atomic release
  // CHECK: llvm.atomicrmw xchg {{.*}} acquire
  // CHECK-NOT: vector.reduction
  // CHECK: scf.for {{.*}} step %c16
  // CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK: arith.addf {{.*}} : vector<16xf32>
  // CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  // The last lanes of a part.
  // CHECK: vector.create_mask
  // CHECK: llvm.intr.masked.load
  // CHECK: llvm.intr.masked.store
  // CHECK: llvm.store {{.*}} atomic release
  // CHECK: } else {
  // CHECK: llvm.cmpxchg {{.*}} i128
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %yp, %v, %mask : (tensor<512x!tt.ptr<f32>>, tensor<512xf32>, tensor<512xi1>) -> tensor<512xf32>
  // What is single takes a guard as well.
  // CHECK: scf.if
  // CHECK: llvm.atomicrmw xchg
  // CHECK: arith.addi
  // CHECK: llvm.store {{.*}} atomic release
  // CHECK: } else {
  // CHECK: llvm.atomicrmw add
  %one = arith.constant 1 : i32
  %true = arith.constant true
  %1 = tt.atomic_rmw add, relaxed, cta, %total, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

// Rows that end within the block, and what is read of each.
//--- flat.ttir
tt.func public @flat(%index: !tt.ptr<i64>, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %n = arith.constant dense<100> : tensor<512xi32>
  %n64 = arith.constant dense<100> : tensor<512xi64>
  %row = arith.divsi %i, %n : tensor<512xi32>
  %column = arith.remsi %i, %n : tensor<512xi32>
  %is = tt.splat %index : !tt.ptr<i64> -> tensor<512x!tt.ptr<i64>>
  %ip = tt.addptr %is, %row : tensor<512x!tt.ptr<i64>>, tensor<512xi32>
  %id = tt.load %ip : tensor<512x!tt.ptr<i64>>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %v = tt.load %xp : tensor<512x!tt.ptr<f32>>
  %first = arith.muli %id, %n64 : tensor<512xi64>
  %wide = arith.extsi %column : tensor<512xi32> to tensor<512xi64>
  %place = arith.addi %wide, %first : tensor<512xi64>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %place : tensor<512x!tt.ptr<f32>>, tensor<512xi64>
  // CHECK: llvm.getelementptr %{{.*}}[20]
  // CHECK: scf.if
  // The pieces, of which so many may be short: a column grows up to the end of its row, and how far what is read is one number is
  // asked of vectors.
  // CHECK: %[[TABLE:.*]] = memref.view {{.*}} to memref<108xi64>
  // CHECK: scf.while
  // CHECK: arith.divui %{{.*}}, %c16
  // CHECK: arith.remsi
  // CHECK: scf.while
  // CHECK: arith.cmpi ne, {{.*}} : vector<8xi64>
  // CHECK: vector.bitcast {{.*}} : vector<8xi1> to vector<1xi8>
  // CHECK: math.cttz
  // CHECK: memref.store {{.*}}, %[[TABLE]]
  // Where they are short all places are in memory.
  // CHECK: scf.if
  // CHECK: vector.store {{.*}} vector<{{.*}}xi64>
  // Then the pieces are changed.
  // CHECK: } else {
  // CHECK: llvm.atomicrmw xchg {{.*}} acquire
  // CHECK: memref.load %[[TABLE]]
  // CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  %true = arith.constant dense<true> : tensor<512xi1>
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %yp, %v, %true : (tensor<512x!tt.ptr<f32>>, tensor<512xf32>, tensor<512xi1>) -> tensor<512xf32>
  tt.return
}

// What is read of each element is not the same for any.
//--- each.ttir
tt.func public @each(%index: !tt.ptr<i64>, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %n = arith.constant dense<100> : tensor<512xi32>
  %n64 = arith.constant dense<100> : tensor<512xi64>
  %row = arith.divsi %i, %n : tensor<512xi32>
  %column = arith.remsi %i, %n : tensor<512xi32>
  %is = tt.splat %index : !tt.ptr<i64> -> tensor<512x!tt.ptr<i64>>
  %ip = tt.addptr %is, %i : tensor<512x!tt.ptr<i64>>, tensor<512xi32>
  %id = tt.load %ip : tensor<512x!tt.ptr<i64>>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %v = tt.load %xp : tensor<512x!tt.ptr<f32>>
  %first = arith.muli %id, %n64 : tensor<512xi64>
  %wide = arith.extsi %column : tensor<512xi32> to tensor<512xi64>
  %place = arith.addi %wide, %first : tensor<512xi64>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %place : tensor<512x!tt.ptr<f32>>, tensor<512xi64>
  // CHECK: llvm.getelementptr %{{.*}}[20]
  // CHECK-NOT: memref<108xi64>
  %true = arith.constant dense<true> : tensor<512xi1>
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %yp, %v, %true : (tensor<512x!tt.ptr<f32>>, tensor<512xf32>, tensor<512xi1>) -> tensor<512xf32>
  tt.return
}

//--- gathered.ttir
// Where places are read along the row, vectors are asked whether their lanes follow one another.
// CHECK: module attributes {{.*}}tilebridge.atomics = "guarded"
tt.func public @gathered(%index: !tt.ptr<i32>, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ns = tt.splat %n : i32 -> tensor<512xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %v = tt.load %xp, %mask : tensor<512x!tt.ptr<f32>>
  %is = tt.splat %index : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %ip = tt.addptr %is, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %row = tt.load %ip, %mask : tensor<512x!tt.ptr<i32>>
  %place = arith.addi %row, %i : tensor<512xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %place : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  // CHECK: %[[LAUNCH:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
  // CHECK: llvm.getelementptr %[[LAUNCH]][20]
  // CHECK: scf.if
  // CHECK: llvm.atomicrmw xchg {{.*}} acquire
  // CHECK: scf.for {{.*}} step %c16 iter_args
  // CHECK: vector.reduction <and>
  // CHECK: scf.if
  // CHECK: llvm.store {{.*}} atomic release
  // CHECK: llvm.atomicrmw xchg {{.*}} acquire
  // CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK: arith.addf {{.*}} : vector<16xf32>
  // CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  // Others one by one, those whose mask is on.
  // CHECK: scf.for
  // CHECK: arith.addf {{.*}} : f32
  // CHECK: llvm.store {{.*}} atomic release
  // CHECK: } else {
  // CHECK: llvm.cmpxchg {{.*}} i128
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %yp, %v, %mask : (tensor<512x!tt.ptr<f32>>, tensor<512xf32>, tensor<512xi1>) -> tensor<512xf32>
  tt.return
}

//--- counts.ttir
// Lanes that lie anywhere are quicker by instructions where several threads would take guards.
// CHECK: tilebridge.atomics = "alone"
tt.func public @counts(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %bin = tt.load %xp : tensor<512x!tt.ptr<i32>>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %yp = tt.addptr %ys, %bin : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %one = arith.constant dense<1> : tensor<512xi32>
  // CHECK: llvm.atomicrmw xchg
  %0 = tt.atomic_rmw add, relaxed, gpu, %yp, %one : (tensor<512x!tt.ptr<i32>>, tensor<512xi32>) -> tensor<512xi32>
  tt.return
}

//--- system.ttir
// CHECK: tilebridge.atomics = "own"
tt.func public @system(%y: !tt.ptr<i32>) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %yp = tt.addptr %ys, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %one = arith.constant dense<1> : tensor<512xi32>
  // CHECK-NOT: llvm.atomicrmw xchg
  %0 = tt.atomic_rmw add, relaxed, gpu, %yp, %one : (tensor<512x!tt.ptr<i32>>, tensor<512xi32>) -> tensor<512xi32>
  %1 = tt.atomic_rmw add, relaxed, sys, %yp, %one : (tensor<512x!tt.ptr<i32>>, tensor<512xi32>) -> tensor<512xi32>
  tt.return
}

//--- lock.ttir
// It may wait for another launch.
// CHECK: tilebridge.atomics = "own"
tt.func public @lock(%y: !tt.ptr<i32>, %l: !tt.ptr<i32>) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %yp = tt.addptr %ys, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %ones = arith.constant dense<1> : tensor<512xi32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK-NOT: llvm.atomicrmw xchg
  %0 = tt.atomic_rmw add, relaxed, gpu, %yp, %ones : (tensor<512x!tt.ptr<i32>>, tensor<512xi32>) -> tensor<512xi32>
  %1 = tt.atomic_cas acq_rel, gpu, %l, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

//--- single.ttir
// Nothing is gained.
// CHECK: tilebridge.atomics = "own"
tt.func public @single(%total: !tt.ptr<i32>) {
  %one = arith.constant 1 : i32
  %true = arith.constant true
  // CHECK-NOT: llvm.atomicrmw xchg
  %1 = tt.atomic_rmw add, relaxed, gpu, %total, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}

//--- none.ttir
// CHECK: \22atomics\22:\22none\22
tt.func public @none(%y: !tt.ptr<i32>) {
  %one = arith.constant 1 : i32
  tt.store %y, %one : !tt.ptr<i32>
  tt.return
}
