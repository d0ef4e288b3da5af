// RUN: tilebridge-opt %s -tilebridge-accel-pipeline-copies -canonicalize -cse | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-accel-pipeline-copies=depth=3 | FileCheck %s --check-prefix=THREE
// RUN: tilebridge-opt %s -tilebridge-accel-pipeline-copies=depth=1 | FileCheck %s --check-prefix=ONE

!ptr = memref<?xf32, strided<[1], offset: ?>>
!view = memref<16x16xf32, strided<[16, 1], offset: ?>>
!row = memref<33xf32, strided<[1], offset: ?>>
!local = memref<16x16xf32, #accel.memory<"local">>
!vector = memref<33xf32, #accel.memory<"local">>

// A loop of unknown length: the first load is started only if there is an iteration, the accumulator stays.
// CHECK-LABEL: @matmul(
// THREE-LABEL: @matmul(
// ONE-LABEL: @matmul(
func.func @matmul(%a: !ptr, %c: !ptr {accel.noalias}, %n: i32, %stride: i64) attributes {accel.kernel} {
  // CHECK: %[[ACC:.*]] = accel.alloc : memref<16x16xf32,
  // CHECK: %[[SLOTS:.*]] = accel.alloc : memref<2x16x16xf32,
  // CHECK: %[[FIRST:.*]] = scf.if
  // CHECK: accel.copy_start
  // CHECK: else
  // CHECK: accel.completed
  // CHECK: scf.for {{.*}} iter_args({{.*}}, %[[CURRENT:.*]] = %[[FIRST]]) -> (i64, index, i64, !accel.token)
  // CHECK: %[[NEXT:.*]] = scf.if
  // CHECK: memref.subview %[[SLOTS]]
  // CHECK: accel.copy_start
  // CHECK: accel.wait %[[CURRENT]]
  // CHECK: linalg.matmul {{.*}} outs(%[[ACC]]
  // CHECK: scf.yield {{.*}}, %[[NEXT]]
  // THREE: accel.alloc : memref<3x16x16xf32,
  // THREE-COUNT-2: accel.copy_start
  // THREE: scf.for {{.*}} -> (i64, index, i64, !accel.token, !accel.token)
  // ONE-NOT: accel.completed
  // ONE: scf.for
  // ONE: %[[T:.*]] = accel.copy_start
  // ONE-NEXT: accel.wait %[[T]]
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %start = arith.constant 0 : i64
  %z = arith.constant 0.0 : f32
  %acc = accel.alloc : !local
  linalg.fill ins(%z : f32) outs(%acc : !local)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %start) -> i64 : i32 {
    %index = arith.index_cast %o : i64 to index
    %v = memref.reinterpret_cast %a to offset: [%index], sizes: [16, 16], strides: [16, 1] : !ptr to !view
    %b = accel.alloc : !local
    accel.copy %v to %b : (!view, !local) -> ()
    linalg.matmul ins(%b, %b : !local, !local) outs(%acc : !local)
    %next = arith.addi %o, %stride : i64
    scf.yield %next : i64
  }
  %v = memref.reinterpret_cast %c to offset: [0], sizes: [16, 16], strides: [16, 1] : !ptr to !view
  accel.copy %acc to %v : (!local, !view) -> ()
  return
}

// Both sides of a loop over vectors; the store is guarded.
// CHECK-LABEL: @vector(
func.func @vector(%x: !ptr {accel.noalias}, %y: !ptr {accel.noalias}, %n: index, %active: i1) attributes {accel.kernel} {
  // CHECK: %[[IN:.*]] = accel.alloc : memref<2x33xf32,
  // CHECK: %[[OUT:.*]] = accel.alloc : memref<2x33xf32,
  // CHECK: %[[R:.*]]:{{.*}} = scf.for {{.*}} iter_args({{.*}} = %{{.*}}, %[[STORE:[^ ]*]] = %{{[^ ]*}}) ->
  // CHECK: linalg.generic
  // CHECK: accel.wait %[[STORE]]
  // CHECK: scf.if {{.*}} -> (!accel.token)
  // CHECK: accel.copy_start
  // CHECK: }
  // CHECK: }
  // CHECK: }
  // CHECK: accel.wait %[[R]]#
  // CHECK-NEXT: accel.wait
  // CHECK-NEXT: return
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %n step %c7 {
    %v = memref.reinterpret_cast %x to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %w = memref.reinterpret_cast %y to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %a = accel.alloc : !vector
    accel.copy %v to %a : (!row, !vector) -> ()
    %b = accel.alloc : !vector
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%a : !vector) outs(%b : !vector) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %in : f32
      linalg.yield %0 : f32
    }
    scf.if %active {
      accel.copy %b to %w : (!vector, !row) -> ()
    }
  }
  return
}

// What is stored may be what the next iteration loads: nothing moves.
// CHECK-LABEL: @in_place(
func.func @in_place(%x: !ptr {accel.noalias}, %n: index) attributes {accel.kernel} {
  // CHECK: scf.for
  // CHECK-NOT: iter_args
  // CHECK: %[[T:.*]] = accel.copy_start
  // CHECK-NEXT: accel.wait %[[T]]
  // CHECK-NEXT: %[[U:.*]] = accel.copy_start
  // CHECK-NEXT: accel.wait %[[U]]
  // CHECK-NEXT: }
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %n step %c7 {
    %v = memref.reinterpret_cast %x to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %a = accel.alloc : !vector
    accel.copy %v to %a : (!row, !vector) -> ()
    accel.copy %a to %v : (!vector, !row) -> ()
  }
  return
}

// Arguments of which nothing is known may overlap.
// CHECK-LABEL: @may_alias(
func.func @may_alias(%x: !ptr, %y: !ptr, %n: index) attributes {accel.kernel} {
  // CHECK: scf.for
  // CHECK-NOT: iter_args
  // CHECK: }
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %n step %c7 {
    %v = memref.reinterpret_cast %x to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %w = memref.reinterpret_cast %y to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %a = accel.alloc : !vector
    accel.copy %v to %a : (!row, !vector) -> ()
    accel.copy %a to %w : (!vector, !row) -> ()
  }
  return
}

// The address comes from memory that the loop does not write: it is read as early, where there is such an iteration. From memory that
// it writes, or from a division that another iteration must not do: loads stay.
// CHECK-LABEL: @address_from_memory(
func.func @address_from_memory(%x: !ptr, %p: memref<?xindex>, %n: index, %d: index) attributes {accel.kernel} {
  // CHECK: scf.for %[[I:[a-z0-9]+]] = {{.*}} -> (index, !accel.token)
  // CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1
  // CHECK: scf.if
  // CHECK-NEXT: %[[O:.*]] = memref.load %{{.*}}[%[[NEXT]]]
  // CHECK-NEXT: memref.reinterpret_cast %{{.*}} to offset: [%[[O]]]
  // CHECK: accel.copy_start
  // CHECK: scf.for
  // CHECK-NOT: accel.token
  // CHECK: accel.copy_start
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %o = memref.load %p[%i] : memref<?xindex>
    %v = memref.reinterpret_cast %x to offset: [%o], sizes: [33], strides: [1] : !ptr to !row
    %a = accel.alloc : !vector
    accel.copy %v to %a : (!row, !vector) -> ()
  }
  scf.for %i = %c0 to %n step %c1 {
    %o = memref.load %p[%i] : memref<?xindex>
    %v = memref.reinterpret_cast %x to offset: [%o], sizes: [33], strides: [1] : !ptr to !row
    %a = accel.alloc : !vector
    accel.copy %v to %a : (!row, !vector) -> ()
    memref.store %i, %p[%o] : memref<?xindex>
  }
  // CHECK: scf.for {{.*}} iter_args({{.*}}) -> (index) {
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %c0) -> index {
    %v = memref.reinterpret_cast %x to offset: [%o], sizes: [33], strides: [1] : !ptr to !row
    %a = accel.alloc : !vector
    accel.copy %v to %a : (!row, !vector) -> ()
    %q = arith.divui %d, %o : index
    scf.yield %q : index
  }
  %z = arith.constant 0 : i32
  %s = arith.index_cast %r : index to i64
  linalg_ext.print " r: " programs(%z, %z, %z) values(%s) signed = [true] : i64
  return
}

// The buffer that is loaded is the one that is stored, twice: it has the load's slots, each store is waited for at once.
// CHECK-LABEL: @copy(
func.func @copy(%x: !ptr {accel.noalias}, %y: !ptr {accel.noalias}, %z: !ptr {accel.noalias}, %n: index) attributes {accel.kernel} {
  // CHECK: accel.alloc : memref<2x33xf32
  // CHECK-NOT: accel.alloc
  // CHECK: scf.for
  // CHECK: accel.wait
  // CHECK: %[[T:.*]] = accel.copy_start %[[B:.*]] to
  // CHECK-NEXT: accel.wait %[[T]]
  // CHECK: %[[U:.*]] = accel.copy_start %[[B]] to
  // CHECK-NEXT: accel.wait %[[U]]
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %n step %c7 {
    %v = memref.reinterpret_cast %x to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %w = memref.reinterpret_cast %y to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %u = memref.reinterpret_cast %z to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %a = accel.alloc : !vector
    accel.copy %v to %a : (!row, !vector) -> ()
    accel.copy %a to %w : (!vector, !row) -> ()
    accel.copy %a to %u : (!vector, !row) -> ()
  }
  return
}

// Where there is memory for one buffer only, stores have one too.
// CHECK-LABEL: @one_buffer(
func.func @one_buffer(%x: !ptr {accel.noalias}, %y: !ptr {accel.noalias}, %n: index) attributes {accel.kernel} {
  // CHECK-NOT: memref<2x
  // CHECK: return
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c7 {
    %v = memref.reinterpret_cast %x to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %w = memref.reinterpret_cast %y to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %a = accel.alloc : !vector
    accel.copy %v to %a {accel.depth = 1 : i64} : (!row, !vector) -> ()
    %b = accel.alloc : !vector
    linalg.fill ins(%z : f32) outs(%b : !vector)
    accel.copy %b to %w : (!vector, !row) -> ()
  }
  return
}

// What is around the box is written in each iteration, before the load: that is not started ahead.
// CHECK-LABEL: @around(
func.func @around(%x: !ptr {accel.noalias}, %y: !ptr {accel.noalias}, %n: index, %z: f32) attributes {accel.kernel} {
  // CHECK: scf.for
  // CHECK: linalg.fill
  // CHECK: %[[T:.*]] = accel.copy_start %{{.*}} : (memref<20xf32,
  // CHECK: accel.wait %[[T]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %b = accel.alloc : !vector
    linalg.fill ins(%z : f32) outs(%b : !vector)
    %v = memref.reinterpret_cast %x to offset: [%i], sizes: [20], strides: [1] : !ptr to memref<20xf32, strided<[1], offset: ?>>
    accel.copy %v to %b : (memref<20xf32, strided<[1], offset: ?>>, !vector) -> ()
    %o = memref.reinterpret_cast %y to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    accel.copy %b to %o : (!vector, !row) -> ()
  }
  return
}

// A block that is stored, then computed on in its place, by a view and in a branch too: its store is waited for at once. One that is
// only read behind its store has two buffers.
// CHECK-LABEL: @written_behind(
func.func @written_behind(%y: !ptr {accel.noalias}, %z: !ptr {accel.noalias}, %n: index, %more: i1) attributes {accel.kernel} {
  // CHECK: %[[READ:.*]] = accel.alloc : memref<2x33xf32
  // CHECK: scf.for
  // CHECK: %[[WRITTEN:.*]] = accel.alloc : memref<33xf32
  // CHECK: %[[T:.*]] = accel.copy_start %[[WRITTEN]] to
  // CHECK-NEXT: accel.wait %[[T]]
  // CHECK: %[[U:.*]] = accel.copy_start
  // CHECK-NOT: accel.wait %[[U]]
  // CHECK: scf.if
  // CHECK: linalg.fill
  // CHECK: scf.yield {{.*}}%[[U]]
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c7 {
    %w = memref.reinterpret_cast %y to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %u = memref.reinterpret_cast %z to offset: [%i], sizes: [33], strides: [1] : !ptr to !row
    %a = accel.alloc : !vector
    %b = accel.alloc : !vector
    linalg.fill ins(%one : f32) outs(%a : !vector)
    linalg.fill ins(%one : f32) outs(%b : !vector)
    accel.copy %a to %w : (!vector, !row) -> ()
    accel.copy %b to %u : (!vector, !row) -> ()
    scf.if %more {
      %part = memref.subview %a[1] [4] [1] : !vector to memref<4xf32, strided<[1], offset: 1>, #accel.memory<"local">>
      linalg.fill ins(%one : f32) outs(%part : memref<4xf32, strided<[1], offset: 1>, #accel.memory<"local">>)
      linalg.exp ins(%b : !vector) outs(%a : !vector)
    }
  }
  return
}
