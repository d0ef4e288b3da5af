// RUN: tilebridge-opt %s --split-input-file --verify-diagnostics --tilebridge-cpu-place-scratch | FileCheck %s

// What does not live at the same time shares memory; a buffer used in a loop lives as long as the loop.
// CHECK-LABEL: func.func @share
// CHECK-SAME: %[[S:[a-z0-9]+]]: memref<?xi8> {llvm.noalias, tilebridge.scratch}
// CHECK-SAME: tilebridge.scratch_bytes = 192 : i64
func.func @share(%v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: memref.view %[[S]][%c0{{.*}}][] : memref<?xi8> to memref<10xf32>
  // CHECK: memref.view %[[S]][%c64{{.*}}][] : memref<?xi8> to memref<32xf32>
  // CHECK: memref.view %[[S]][%c0{{.*}}][] : memref<?xi8> to memref<1xf64>
  %a = memref.alloc() : memref<10xf32>
  %b = memref.alloc() : memref<32xf32>
  %c = memref.alloc() : memref<1xf64>
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %v, %b[%c1] : memref<32xf32>
    memref.store %v, %a[%i] : memref<10xf32>
  }
  %x = memref.load %b[%c0] : memref<32xf32>
  %y = arith.extf %x : f32 to f64
  memref.store %y, %c[%c0] : memref<1xf64>
  return
}

// -----

// CHECK-LABEL: func.func private @callee(%{{.*}}: memref<?xi8> {llvm.noalias, tilebridge.scratch}) attributes {tilebridge.scratch_bytes = 64 : i64}
func.func private @callee() {
  %c0 = arith.constant 0 : index
  %v = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<4xf32>
  memref.store %v, %a[%c0] : memref<4xf32>
  return
}

// CHECK-LABEL: func.func @caller
// CHECK: call @callee(%{{.*}}) : (memref<?xi8>) -> ()
func.func @caller() {
  func.call @callee() : () -> ()
  return
}

// -----

// expected-error @below {{calls itself; recursion is not supported by the CPU backend}}
func.func @again() {
  func.call @again() : () -> ()
  return
}

// -----

// What programs keep for the next one shares no memory, and what is zeroed before the first one lies at the beginning.
// CHECK-LABEL: func.func @kept
// CHECK-SAME: %[[S:[a-z0-9]+]]: memref<?xi8> {llvm.noalias, tilebridge.scratch}
// CHECK-SAME: tilebridge.scratch_bytes = 256 : i64
func.func @kept(%v: f32) {
  %c0 = arith.constant 0 : index
  // CHECK: memref.view %[[S]][%c192{{.*}}][] : memref<?xi8> to memref<10xf32>
  // CHECK: memref.view %[[S]][%c64{{.*}}][] : memref<?xi8> to memref<32xf32>
  // CHECK: memref.view %[[S]][%c0{{.*}}][] : memref<?xi8> to memref<2xf32>
  // CHECK: memref.view %[[S]][%c192{{.*}}][] : memref<?xi8> to memref<12xf32>
  %a = memref.alloc() : memref<10xf32>
  %b = memref.alloc() {tilebridge.kept} : memref<32xf32>
  %z = memref.alloc() {tilebridge.zeroed} : memref<2xf32>
  memref.store %v, %a[%c0] : memref<10xf32>
  memref.store %v, %b[%c0] : memref<32xf32>
  memref.store %v, %z[%c0] : memref<2xf32>
  %d = memref.alloc() : memref<12xf32>
  memref.store %v, %d[%c0] : memref<12xf32>
  return
}

// -----

// A buffer lives as long as something is read from an address in it.
// CHECK-LABEL: func.func @addresses
// CHECK-SAME: tilebridge.scratch_bytes = 128 : i64
func.func @addresses(%v: f32, %n: index) {
  %c0 = arith.constant 0 : index
  // CHECK: memref.view %{{.*}}[%c0{{.*}}][] : memref<?xi8> to memref<10xf32>
  // CHECK: memref.view %{{.*}}[%c64{{.*}}][] : memref<?xi8> to memref<12xf32>
  %a = memref.alloc() : memref<10xf32>
  %b = memref.alloc() : memref<12xf32>
  %base = memref.extract_aligned_pointer_as_index %a : memref<10xf32> -> index
  %at = arith.addi %base, %n : index
  %number = arith.index_cast %at : index to i64
  %address = llvm.inttoptr %number : i64 to !llvm.ptr
  memref.store %v, %b[%c0] : memref<12xf32>
  %read = llvm.load %address : !llvm.ptr -> f32
  memref.store %read, %b[%c0] : memref<12xf32>
  return
}
