// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-widen-bf16 | FileCheck %s

// Products and sums of bf16 keep their NaNs: no test. What is stored is rounded as everywhere.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[X:.*]]: vector<16xbf16>, %[[Y:.*]]: vector<16xbf16>)
// CHECK-DAG: %[[XF:.*]] = arith.extf %[[X]]
// CHECK-DAG: %[[YF:.*]] = arith.extf %[[Y]]
// CHECK: %[[P:.*]] = arith.mulf %[[XF]], %[[YF]] : vector<16xf32>
// CHECK: %[[BITS:.*]] = arith.bitcast %[[P]]
// CHECK: %[[UPPER:.*]] = arith.shrui %[[BITS]], %
// CHECK: %[[ODD:.*]] = arith.andi %[[UPPER]], %
// CHECK: %[[UP:.*]] = arith.addi %[[ODD]], %
// CHECK: %[[SUM:.*]] = arith.addi %[[BITS]], %[[UP]]
// CHECK-NOT: arith.cmpf
// CHECK: %[[CUT:.*]] = arith.andi %[[SUM]], %
// CHECK: %[[PF:.*]] = arith.bitcast %[[CUT]]
// CHECK: %[[S:.*]] = arith.addf %[[PF]], %[[XF]]
// CHECK-NOT: arith.cmpf
// CHECK: %[[Q:.*]] = arith.divf %{{.*}}, %[[PF]]
// CHECK: %[[R:.*]] = arith.truncf %[[Q]] {tilebridge.short_nans} : vector<16xf32> to vector<16xbf16>
// CHECK-NEXT: return %[[R]]
func.func @chain(%x: vector<16xbf16>, %y: vector<16xbf16>) -> vector<16xbf16> {
  %p = arith.mulf %x, %y : vector<16xbf16>
  %s = arith.addf %p, %x : vector<16xbf16>
  %q = arith.divf %s, %p : vector<16xbf16>
  return %q : vector<16xbf16>
}

// -----

// Of f32, of f16 and of functions that are called NaNs may be of any kind; others keep them. The other user gets bf16.
// CHECK-LABEL: func.func @any_nans
// CHECK-COUNT-2: arith.cmpf uno
// CHECK: math.exp %{{.*}} : f32
// CHECK: math.sin %{{.*}} : f32
// CHECK: arith.cmpf uno
// CHECK-NOT: arith.cmpf
func.func @any_nans(%x: f32, %h: f16, %y: bf16) -> (f32, f32, f32, bf16) {
  %a = arith.truncf %x : f32 to bf16
  %af = arith.extf %a : bf16 to f32
  %hf = arith.extf %h : f16 to f32
  %b = arith.truncf %hf : f32 to bf16
  %bf = arith.extf %b : bf16 to f32
  %e = math.exp %y : bf16
  %c = math.sin %e : bf16
  %cf = arith.extf %c : bf16 to f32
  return %af, %bf, %cf, %a : f32, f32, f32, bf16
}

// -----

// Nothing is to be rounded: signs, minima, choices.
// CHECK-LABEL: func.func @exact
// CHECK: arith.negf %{{.*}} : f32
// CHECK-NEXT: %[[A:.*]] = math.absf
// CHECK-NEXT: %[[M:.*]] = arith.maximumf %[[A]], %{{.*}} : f32
// CHECK-NEXT: arith.truncf %[[M]] toward_zero {tilebridge.short_nans}
// CHECK: arith.cmpf olt, %{{.*}} : f32
func.func @exact(%x: bf16, %y: bf16) -> (bf16, i1) {
  %n = arith.negf %x : bf16
  %a = math.absf %n : bf16
  %m = arith.maximumf %a, %y : bf16
  %l = arith.cmpf olt, %x, %y : bf16
  return %m, %l : bf16, i1
}

// -----

// One number is tested before the loop in place of all in it. One that nobody else rounds is what it was.
// CHECK-LABEL: func.func @before_the_loop
// CHECK-SAME: %[[MEAN:[a-z0-9]+]]: f32, %[[SCALE:[a-z0-9]+]]: vector<16xf32>
// CHECK: %[[NANS:.*]] = arith.cmpf uno, %[[SCALE]], %[[SCALE]]
// CHECK: %[[S:.*]] = arith.select %[[NANS]], %{{.*}}, %[[SCALE]]
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[MEAN]], %[[MEAN]]
// CHECK: %[[M:.*]] = arith.select %[[NAN]], %{{.*}}, %[[MEAN]]
// CHECK: scf.for
// CHECK: vector.broadcast %[[M]]
// CHECK: arith.mulf %{{.*}}, %[[S]]
// CHECK: vector.store
// CHECK-SAME: vector<16xf32>
// CHECK: arith.truncf %{{.*}} {tilebridge.short_nans}
func.func @before_the_loop(%x: memref<?xbf16>, %sums: memref<?xf32>, %n: index, %mean: f32, %scale: vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %n step %c16 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<16xbf16>
    %w = arith.extf %v : vector<16xbf16> to vector<16xf32>
    %m = vector.broadcast %mean : f32 to vector<16xf32>
    %d = arith.subf %w, %m : vector<16xf32>
    %s = arith.mulf %d, %scale : vector<16xf32>
    vector.store %scale, %sums[%i] : memref<?xf32>, vector<16xf32>
    %r = arith.truncf %s : vector<16xf32> to vector<16xbf16>
    vector.store %r, %x[%i] : memref<?xbf16>, vector<16xbf16>
  }
  return
}

// -----

// What is read as f32 in the loop may be any NaN, and so may what the loop carries.
// CHECK-LABEL: func.func @in_the_loop
// CHECK-NOT: arith.cmpf
// CHECK-NOT: short_nans
func.func @in_the_loop(%x: memref<?xbf16>, %y: memref<?xf32>, %n: index, %init: vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %last = scf.for %i = %c0 to %n step %c16 iter_args(%sum = %init) -> (vector<16xf32>) {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<16xbf16>
    %w = arith.extf %v : vector<16xbf16> to vector<16xf32>
    %u = vector.load %y[%i] : memref<?xf32>, vector<16xf32>
    %s = arith.mulf %u, %w : vector<16xf32>
    %r = arith.truncf %s : vector<16xf32> to vector<16xbf16>
    vector.store %r, %x[%i] : memref<?xbf16>, vector<16xbf16>
    %next = arith.addf %sum, %w : vector<16xf32>
    %t = arith.truncf %next : vector<16xf32> to vector<16xbf16>
    vector.store %t, %x[%i] : memref<?xbf16>, vector<16xbf16>
    scf.yield %next : vector<16xf32>
  }
  return
}

// -----

// Toward zero is left to tilebridge-cpu-expand-float-types.
// CHECK-LABEL: func.func @toward_zero
// CHECK-NEXT: arith.truncf %{{.*}} toward_zero
// CHECK-NEXT: arith.extf
func.func @toward_zero(%x: f32) -> f32 {
  %a = arith.truncf %x toward_zero : f32 to bf16
  %f = arith.extf %a : bf16 to f32
  return %f : f32
}

// -----

// A weight of 4 bits and its zero: their difference is exact as bf16, so that the f32 is taken as it is.
// CHECK-LABEL: func.func @codes
// CHECK: %[[D:.*]] = arith.subi
// CHECK-NOT: arith.extf
// CHECK: %[[F:.*]] = arith.sitofp %[[D]] : vector<16xi32> to vector<16xf32>
// CHECK-NOT: arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: arith.mulf %[[F]], %{{.*}} : vector<16xf32>
func.func @codes(%w: vector<16xi32>, %z: vector<16xi32>, %s: vector<16xf32>) -> vector<16xbf16> {
  %mask = arith.constant dense<15> : vector<16xi32>
  %a = arith.andi %w, %mask : vector<16xi32>
  %b = arith.andi %z, %mask : vector<16xi32>
  %d = arith.subi %a, %b : vector<16xi32>
  %f = arith.sitofp %d : vector<16xi32> to vector<16xbf16>
  %t = arith.truncf %s : vector<16xf32> to vector<16xbf16>
  %p = arith.mulf %f, %t : vector<16xbf16>
  return %p : vector<16xbf16>
}

// -----

// What bf16 was and went through scratch memory is short; what else was stored there is not.
// CHECK-LABEL: func.func @by_scratch_memory
// CHECK: arith.truncf %{{.*}} {tilebridge.short_nans} : vector<16xf32> to vector<16xbf16>
// CHECK: arith.truncf %{{[^ ]*}} : vector<16xf32> to vector<16xbf16>
func.func @by_scratch_memory(%area: memref<?xi8>, %scale: vector<16xbf16>, %other: vector<16xf32>, %out: memref<?xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c16 = arith.constant 16 : index
  %kept = memref.view %area[%c0][] : memref<?xi8> to memref<16xf32>
  %flat = memref.reinterpret_cast %kept to offset: [0], sizes: [16], strides: [1] : memref<16xf32> to memref<16xf32, strided<[1]>>
  %mixed = memref.view %area[%c64][] : memref<?xi8> to memref<16xf32>
  %wide = arith.extf %scale : vector<16xbf16> to vector<16xf32>
  vector.store %wide, %flat[%c0] : memref<16xf32, strided<[1]>>, vector<16xf32>
  vector.store %wide, %mixed[%c0] : memref<16xf32>, vector<16xf32>
  vector.store %other, %mixed[%c0] : memref<16xf32>, vector<16xf32>
  scf.for %i = %c0 to %n step %c16 {
    %a = vector.load %kept[%c0] : memref<16xf32>, vector<16xf32>
    %p = arith.mulf %a, %a : vector<16xf32>
    %s = arith.truncf %p : vector<16xf32> to vector<16xbf16>
    vector.store %s, %out[%i] : memref<?xbf16>, vector<16xbf16>
    %b = vector.load %mixed[%c0] : memref<16xf32>, vector<16xf32>
    %q = arith.mulf %b, %b : vector<16xf32>
    %t = arith.truncf %q : vector<16xf32> to vector<16xbf16>
    vector.store %t, %out[%i] : memref<?xbf16>, vector<16xbf16>
  }
  return
}

// -----

// A softmax's weights, which one loop keeps, are short where another one reads them, with a mask, too; the factor, which is loaded, is made so before.
// CHECK-LABEL: func.func @kept_weights
// CHECK: scf.for
// CHECK-NOT: arith.cmpf
// CHECK: math.exp
// CHECK-NOT: arith.cmpf
// CHECK: %[[FACTOR:.*]] = vector.broadcast
// CHECK: %[[IS_NAN:.*]] = arith.cmpf uno, %[[FACTOR]], %[[FACTOR]]
// CHECK: arith.select %[[IS_NAN]], %{{.*}}, %[[FACTOR]]
// CHECK: scf.for
// CHECK-NOT: arith.cmpf
// CHECK: arith.truncf %{{.*}} {tilebridge.short_nans} : vector<16xf32> to vector<16xbf16>
// CHECK: arith.truncf %{{.*}} {tilebridge.short_nans} : vector<16xf32> to vector<16xbf16>
func.func @kept_weights(%area: memref<?xi8>, %x: memref<?xbf16>, %factors: memref<?xf32>, %mask: vector<16xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %kept = memref.view %area[%c0][] : memref<?xi8> to memref<64xf32>
  %flat = memref.reinterpret_cast %kept to offset: [0], sizes: [64], strides: [1] : memref<64xf32> to memref<64xf32, strided<[1]>>
  %factor = memref.load %factors[%c0] : memref<?xf32>
  scf.for %i = %c0 to %n step %c16 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<16xbf16>
    %w = arith.extf %v : vector<16xbf16> to vector<16xf32>
    %e = math.exp %w : vector<16xf32>
    vector.maskedstore %flat[%i], %mask, %e : memref<64xf32, strided<[1]>>, vector<16xi1>, vector<16xf32>
  }
  %b = vector.broadcast %factor : f32 to vector<16xf32>
  scf.for %i = %c0 to %n step %c16 {
    %e = vector.load %flat[%i] : memref<64xf32, strided<[1]>>, vector<16xf32>
    %p = arith.mulf %e, %b : vector<16xf32>
    %r = arith.truncf %p : vector<16xf32> to vector<16xbf16>
    vector.store %r, %x[%i] : memref<?xbf16>, vector<16xbf16>
    %m = vector.maskedload %flat[%i], %mask, %zeros : memref<64xf32, strided<[1]>>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    %q = arith.mulf %m, %b : vector<16xf32>
    %s = arith.truncf %q : vector<16xf32> to vector<16xbf16>
    vector.store %s, %x[%i] : memref<?xbf16>, vector<16xbf16>
  }
  return
}

// -----

// Not where some of what is kept is f32 of memory, nor where lanes that are off get any number.
// CHECK-LABEL: func.func @kept_numbers
// CHECK-NOT: short_nans
// CHECK-NOT: arith.cmpf
func.func @kept_numbers(%area: memref<?xi8>, %x: memref<?xbf16>, %y: memref<?xf32>, %mask: vector<16xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %kept = memref.view %area[%c0][] : memref<?xi8> to memref<64xf32>
  %other = memref.view %area[%c256][] : memref<?xi8> to memref<64xf32>
  scf.for %i = %c0 to %n step %c16 {
    %v = vector.load %x[%i] : memref<?xbf16>, vector<16xbf16>
    %w = arith.extf %v : vector<16xbf16> to vector<16xf32>
    %u = vector.load %y[%i] : memref<?xf32>, vector<16xf32>
    %p = arith.mulf %w, %u : vector<16xf32>
    vector.store %p, %kept[%i] : memref<64xf32>, vector<16xf32>
    vector.store %w, %other[%i] : memref<64xf32>, vector<16xf32>
  }
  scf.for %i = %c0 to %n step %c16 {
    %e = vector.load %kept[%i] : memref<64xf32>, vector<16xf32>
    %f = arith.addf %e, %e : vector<16xf32>
    %r = arith.truncf %f : vector<16xf32> to vector<16xbf16>
    vector.store %r, %x[%i] : memref<?xbf16>, vector<16xbf16>
  }
  scf.for %i = %c0 to %n step %c16 {
    %any_lane = vector.load %y[%i] : memref<?xf32>, vector<16xf32>
    %m = vector.maskedload %other[%i], %mask, %any_lane : memref<64xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    %f = arith.addf %m, %m : vector<16xf32>
    %s = arith.truncf %f : vector<16xf32> to vector<16xbf16>
    vector.store %s, %x[%i] : memref<?xbf16>, vector<16xbf16>
  }
  return
}
