// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-pair-halves="vector-bits=512 bf16-rounding" | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-pair-halves="vector-bits=256" | FileCheck %s --check-prefix=HALF
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-pair-halves="vector-bits=128 bf16-rounding" | FileCheck %s --check-prefix=NONE

// Even elements and odd ones of two vectors; a sum does not care for their order. What is only moved stays as it is.
// CHECK-LABEL: func.func @sum
// CHECK: %[[X:.*]] = vector.load {{.*}} vector<64xbf16>
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[X]] : vector<64xbf16> to vector<32xi32>
// CHECK: %[[EVEN:.*]] = arith.shli %[[WORDS]], %{{.*}} : vector<32xi32>
// CHECK: %[[ODD:.*]] = arith.andi %[[WORDS]], %{{.*}} : vector<32xi32>
// CHECK: %[[E:.*]] = arith.bitcast %[[EVEN]]
// CHECK: %[[O:.*]] = arith.bitcast %[[ODD]]
// CHECK: %[[ALL:.*]] = vector.shuffle %[[E]], %[[O]] [0, {{.*}} 14, 15, 32, {{.*}} 47, 16, 17, {{.*}} 31, 48, {{.*}} 63]
// CHECK: vector.store %[[X]],
// CHECK: arith.addf %{{.*}}, %[[ALL]]
// HALF-LABEL: func.func @sum
// HALF: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 32, 33,
// NONE-LABEL: func.func @sum
// NONE: arith.extf
func.func @sum(%x: memref<?xbf16>, %copy: memref<?xbf16>, %n: index, %init: vector<64xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%s = %init) -> (vector<64xf32>) {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<64xbf16>
    %w = arith.extf %v : vector<64xbf16> to vector<64xf32>
    vector.store %v, %copy[%i] : memref<?xbf16>, vector<64xbf16>
    %t = arith.addf %s, %w : vector<64xf32>
    scf.yield %t : vector<64xf32>
  }
  // A last step with a mask.
  %all = scf.for %i = %n to %c64 step %c64 iter_args(%s = %sum) -> (vector<64xf32>) {
    %t = arith.addf %s, %init : vector<64xf32>
    scf.yield %t : vector<64xf32>
  }
  %a = vector.shuffle %all, %all [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62] : vector<64xf32>, vector<64xf32>
  %b = vector.shuffle %all, %all [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63] : vector<64xf32>, vector<64xf32>
  %c = arith.addf %a, %b : vector<32xf32>
  %d = vector.shuffle %c, %c [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : vector<32xf32>, vector<32xf32>
  %e = vector.shuffle %c, %c [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31] : vector<32xf32>, vector<32xf32>
  %f = arith.addf %d, %e : vector<16xf32>
  %g = vector.shuffle %f, %f [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf32>, vector<16xf32>
  %h = vector.shuffle %f, %f [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf32>, vector<16xf32>
  %k = arith.addf %g, %h : vector<8xf32>
  %l = vector.shuffle %k, %k [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
  %m = vector.shuffle %k, %k [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
  %o = arith.addf %l, %m : vector<4xf32>
  %p = vector.shuffle %o, %o [0, 1] : vector<4xf32>, vector<4xf32>
  %q = vector.shuffle %o, %o [2, 3] : vector<4xf32>, vector<4xf32>
  %r = arith.addf %p, %q : vector<2xf32>
  %y = vector.shuffle %r, %r [0] : vector<2xf32>, vector<2xf32>
  %z = vector.shuffle %r, %r [1] : vector<2xf32>, vector<2xf32>
  %last = arith.addf %y, %z : vector<1xf32>
  %result = vector.extract %last[0] : f32 from vector<1xf32>
  return %result : f32
}

// -----

// What is stored as bf16 is put in order: by a shuffle where one instruction rounds a whole vector, else as it was widened.
// CHECK-LABEL: func.func @store
// CHECK: vector.bitcast
// CHECK: %[[Y:.*]] = arith.truncf
// CHECK: %[[ORDER:.*]] = vector.shuffle %[[Y]], %[[Y]] [0, 16, 1, 17, {{.*}} 15, 31]
// CHECK: scf.if
// CHECK: vector.store %[[ORDER]],
// HALF-LABEL: func.func @store
// HALF: %[[Y:.*]] = arith.mulf
// HALF: arith.cmpf uno, %[[Y]], %[[Y]]
// HALF: %[[UPPER:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<32xi1>, vector<32xi32>
// HALF: %[[EVENS:.*]] = vector.shuffle %[[UPPER]], %[[UPPER]] [0, 1, 2, 3, 4, 5, 6, 7, 16, {{.*}} 23]
// HALF: %[[ODDS:.*]] = vector.shuffle %[[UPPER]], %[[UPPER]] [8, {{.*}} 15, 24, {{.*}} 31]
// HALF: %[[EVEN:.*]] = arith.shrui %[[EVENS]],
// HALF: %[[ODD:.*]] = arith.andi %[[ODDS]],
// HALF: %[[WORDS:.*]] = arith.ori %[[EVEN]], %[[ODD]]
// HALF: %[[HIGH:.*]] = vector.bitcast %[[WORDS]] : vector<16xi32> to vector<32xi16>
// All upper halves are rounded at once, by their lower ones.
// HALF: %[[EVEN_REST:.*]] = arith.andi %[[EVENS]],
// HALF: %[[ODD_REST:.*]] = arith.shli %[[ODDS]],
// HALF: %[[RESTS:.*]] = arith.ori %[[EVEN_REST]], %[[ODD_REST]]
// HALF: %[[LOW:.*]] = vector.bitcast %[[RESTS]] : vector<16xi32> to vector<32xi16>
// HALF: %[[IS_EVEN:.*]] = arith.xori %[[HIGH]],
// HALF: %[[LESS:.*]] = arith.andi %[[IS_EVEN]],
// HALF: %[[MOST:.*]] = arith.maxui %[[LOW]], %[[LESS]]
// HALF: %[[MORE:.*]] = arith.subi %[[MOST]], %[[LESS]]
// HALF: %[[CARRY:.*]] = arith.shrui %[[MORE]],
// HALF: %[[ROUNDED:.*]] = arith.addi %[[HIGH]], %[[CARRY]]
// HALF: %[[ORDER:.*]] = arith.bitcast %[[ROUNDED]] : vector<32xi16> to vector<32xbf16>
// HALF: scf.if
// HALF: vector.store %[[ORDER]],
func.func @store(%x: memref<?xbf16>, %y: memref<?xbf16>, %n: index, %by: f32, %twice: i1) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %factor = vector.broadcast %by : f32 to vector<32xf32>
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %t = arith.mulf %w, %factor : vector<32xf32>
    %r = arith.truncf %t : vector<32xf32> to vector<32xbf16>
    scf.if %twice {
      vector.store %r, %y[%i] : memref<?xbf16>, vector<32xbf16>
    }
  }
  return
}

// -----

// Lanes that meet something of another order: a store of f32, a load of f32, a mask, numbers that differ by lane, a sum that
// is stored, and one that is taken in another way than the loop does.
// CHECK-LABEL: func.func @others
// CHECK-NOT: vector.bitcast
// CHECK: return
func.func @others(%x: memref<?xbf16>, %y: memref<?xf32>, %z: memref<?xbf16>, %n: index, %init: vector<32xf32>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %lanes = vector.step : vector<32xindex>
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    vector.store %w, %y[%i] : memref<?xf32>, vector<32xf32>
  }
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %f = vector.load %y[%i] : memref<?xf32>, vector<32xf32>
    %t = arith.addf %w, %f : vector<32xf32>
    %r = arith.truncf %t : vector<32xf32> to vector<32xbf16>
    vector.store %r, %z[%i] : memref<?xbf16>, vector<32xbf16>
  }
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %m = vector.create_mask %n : vector<32xi1>
    %t = arith.select %m, %w, %init : vector<32xi1>, vector<32xf32>
    %r = arith.truncf %t : vector<32xf32> to vector<32xbf16>
    vector.store %r, %z[%i] : memref<?xbf16>, vector<32xbf16>
  }
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %t = arith.addf %w, %init : vector<32xf32>
    %r = arith.truncf %t : vector<32xf32> to vector<32xbf16>
    vector.store %r, %z[%i] : memref<?xbf16>, vector<32xbf16>
  }
  %kept = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (vector<32xf32>) {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %t = arith.addf %s, %w : vector<32xf32>
    scf.yield %t : vector<32xf32>
  }
  vector.store %kept, %y[%c0] : memref<?xf32>, vector<32xf32>
  %largest = scf.for %i = %c0 to %n step %c32 iter_args(%s = %init) -> (vector<32xf32>) {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %t = arith.maxnumf %s, %w : vector<32xf32>
    scf.yield %t : vector<32xf32>
  }
  %a = vector.shuffle %largest, %largest [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : vector<32xf32>, vector<32xf32>
  %b = vector.shuffle %largest, %largest [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31] : vector<32xf32>, vector<32xf32>
  %c = arith.addf %a, %b : vector<16xf32>
  return %c : vector<16xf32>
}

// -----

// What is cut off instead of rounded is put together in the same way, also where an instruction rounds.
// CHECK-LABEL: func.func @cut
// CHECK: arith.ori {{.*}} : vector<16xi32>
// HALF-LABEL: func.func @cut
// HALF: arith.mulf
// HALF-NOT: arith.addi
// HALF: arith.ori {{.*}} : vector<16xi32>
// HALF: vector.store
func.func @cut(%x: memref<?xbf16>, %y: memref<?xbf16>, %n: index, %by: f32) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %factor = vector.broadcast %by : f32 to vector<32xf32>
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %t = arith.mulf %w, %factor : vector<32xf32>
    %r = arith.truncf %t toward_zero : vector<32xf32> to vector<32xbf16>
    vector.store %r, %y[%i] : memref<?xbf16>, vector<32xbf16>
  }
  return
}

// -----

// NaNs that rounding keeps are not tested.
// HALF-LABEL: func.func @short_nans
// HALF: arith.mulf
// HALF-NOT: arith.cmpf
// HALF-COUNT-2: arith.ori {{.*}} : vector<16xi32>
// HALF-NOT: arith.cmpf
// HALF: arith.addi {{.*}} : vector<32xi16>
// HALF-NOT: arith.cmpf
// HALF: vector.store
func.func @short_nans(%x: memref<?xbf16>, %y: memref<?xbf16>, %n: index, %by: f32) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %factor = vector.broadcast %by : f32 to vector<32xf32>
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %t = arith.mulf %w, %factor : vector<32xf32>
    %r = arith.truncf %t {tilebridge.short_nans} : vector<32xf32> to vector<32xbf16>
    vector.store %r, %y[%i] : memref<?xbf16>, vector<32xbf16>
  }
  return
}

// -----

// A rounding that is refused later stays as it is.
// HALF-LABEL: func.func @upward
// HALF: arith.truncf {{.*}} upward
// HALF: vector.store
func.func @upward(%x: memref<?xbf16>, %y: memref<?xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %r = arith.truncf %w upward : vector<32xf32> to vector<32xbf16>
    vector.store %r, %y[%i] : memref<?xbf16>, vector<32xbf16>
  }
  return
}

// -----

// What is kept between two loops has its even elements first, then the odd ones; where a loop begins at an odd element,
// it reads the odd ones first. A vector at the row's end, with a mask, is put together.
// CHECK-LABEL: func.func @kept
// CHECK: %[[ROW:.*]] = memref.view
// CHECK: scf.for
// CHECK: vector.extract_strided_slice {{.*}} {offsets = [0], sizes = [16]
// CHECK: vector.store %{{.*}}, %[[ROW]][%{{.*}}] : memref<128xf32>, vector<16xf32>
// CHECK: vector.extract_strided_slice {{.*}} {offsets = [16], sizes = [16]
// CHECK: vector.store %{{.*}}, %[[ROW]][%{{.*}}] : memref<128xf32>, vector<16xf32>
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[BIT:.*]] = arith.andi %[[I]], %c1
// CHECK: %[[ODD:.*]] = arith.cmpi ne, %[[BIT]]
// CHECK: %[[DOWN:.*]] = arith.shrsi %[[I]]
// CHECK: %[[TO:.*]] = arith.select %[[ODD]], %c64{{.*}}, %c0
// CHECK: %[[FIRST:.*]] = arith.addi %[[DOWN]], %[[TO]]
// CHECK: %[[MORE:.*]] = arith.select %[[ODD]], %c1{{.*}}, %c64
// CHECK: %[[SECOND:.*]] = arith.addi %[[DOWN]], %[[MORE]]
// CHECK: vector.load %[[ROW]][%[[FIRST]]] : memref<128xf32>, vector<16xf32>
// CHECK: vector.load %[[ROW]][%[[SECOND]]] : memref<128xf32>, vector<16xf32>
// CHECK: arith.truncf
// CHECK: vector.shuffle {{.*}} [0, 16, 1, 17,
// CHECK: scf.for
// CHECK: vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14] : vector<16xi1>
// CHECK: vector.maskedload %[[ROW]]{{.*}} vector<8xf32>
// CHECK: vector.shuffle {{.*}} [1, 3, 5, 7, 9, 11, 13, 15] : vector<16xi1>
// CHECK: vector.maskedload %[[ROW]]{{.*}} vector<8xf32>
// CHECK: vector.shuffle {{.*}} [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15] : vector<8xf32>
func.func @kept(%x: memref<?xbf16>, %out: memref<?xbf16>, %begin: index, %n: index, %scratch: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %row = memref.view %scratch[%c0][] : memref<?xi8> to memref<128xf32>
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    %e = arith.mulf %w, %w : vector<32xf32>
    vector.store %e, %row[%i] : memref<128xf32>, vector<32xf32>
  }
  scf.for %i = %begin to %n step %c32 {
    %v = vector.load %row[%i] : memref<128xf32>, vector<32xf32>
    %r = arith.truncf %v : vector<32xf32> to vector<32xbf16>
    vector.store %r, %out[%i] : memref<?xbf16>, vector<32xbf16>
  }
  scf.for %i = %n to %c32 step %c16 {
    %mask = vector.create_mask %i : vector<16xi1>
    %v = vector.maskedload %row[%i], %mask, %zeros : memref<128xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    %r = arith.truncf %v : vector<16xf32> to vector<16xbf16>
    vector.maskedstore %out[%i], %mask, %r : memref<?xbf16>, vector<16xi1>, vector<16xbf16>
  }
  return
}

// -----

// A loop that reads floats of another kind beside it has them in their order.
// CHECK-LABEL: func.func @kept_in_order
// CHECK: arith.extf
// CHECK-COUNT-1: vector.store %{{.*}} : memref<128xf32>, vector<32xf32>
// CHECK: vector.load %{{.*}} : memref<128xf32>, vector<32xf32>
func.func @kept_in_order(%x: memref<?xbf16>, %y: memref<?xf32>, %out: memref<?xf32>, %n: index, %scratch: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %row = memref.view %scratch[%c0][] : memref<?xi8> to memref<128xf32>
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    vector.store %w, %row[%i] : memref<128xf32>, vector<32xf32>
  }
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %row[%i] : memref<128xf32>, vector<32xf32>
    %u = vector.load %y[%i] : memref<?xf32>, vector<32xf32>
    %r = arith.addf %v, %u : vector<32xf32>
    vector.store %r, %out[%i] : memref<?xf32>, vector<32xf32>
  }
  return
}

// -----

// What is kept and then only moved elsewhere is moved as it is in memory.
// CHECK-LABEL: func.func @kept_and_moved
// CHECK: arith.extf
// CHECK-COUNT-1: vector.store %{{.*}} : memref<128xf32>, vector<32xf32>
// CHECK: %[[V:.*]] = vector.load %{{.*}} : memref<128xf32>, vector<32xf32>
// CHECK: vector.store %[[V]], %{{.*}} : memref<?xf32>, vector<32xf32>
func.func @kept_and_moved(%x: memref<?xbf16>, %out: memref<?xf32>, %n: index, %scratch: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %row = memref.view %scratch[%c0][] : memref<?xi8> to memref<128xf32>
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<32xbf16>
    %w = arith.extf %v : vector<32xbf16> to vector<32xf32>
    vector.store %w, %row[%i] : memref<128xf32>, vector<32xf32>
  }
  scf.for %i = %c0 to %n step %c32 {
    %v = vector.load %row[%i] : memref<128xf32>, vector<32xf32>
    vector.store %v, %out[%i] : memref<?xf32>, vector<32xf32>
  }
  return
}
