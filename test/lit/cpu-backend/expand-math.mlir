// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-math="vector-bits=256 libmvec=d" -verify-diagnostics | FileCheck %s
// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-math="fma=false" -verify-diagnostics | FileCheck %s --check-prefix=PLAIN
// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-math="vector-bits=512 scalef" -verify-diagnostics | FileCheck %s --check-prefix=SCALEF
// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-math="vector-bits=512 scalef free-underflow" -verify-diagnostics | FileCheck %s --check-prefix=FREE
// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-math="vector-bits=256 second-if-nan" -verify-diagnostics | FileCheck %s --check-prefix=X86
// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-math="vector-bits=512 root-estimates" -verify-diagnostics | FileCheck %s --check-prefix=ESTIMATE
// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-math="f16-arithmetic" -verify-diagnostics | FileCheck %s --check-prefix=HALVES

// CHECK-DAG: llvm.func @_ZGVdN8v_sinf(vector<8xf32>) -> vector<8xf32> attributes {{{.*}}memory_effects = #llvm.memory_effects<other = none
// CHECK-DAG: llvm.func @sin(f64) -> f64

// Where no lane is far from 0 the power's exponent is added to the polynomial's; else it is two factors.
// CHECK-LABEL: func.func @exp
// CHECK-NOT: math.exp
// CHECK: %[[SIZE:.*]] = arith.andi %{{.*}} : vector<48xi32>
// CHECK-COUNT-5: arith.maxsi {{.*}} : vector<8xi32>
// CHECK: %[[FAR:.*]] = arith.cmpf ugt, %{{.*}} : vector<8xf32>
// CHECK: %[[BITS:.*]] = llvm.bitcast %[[FAR]] : vector<8xi1> to i8
// CHECK: %[[ANY:.*]] = arith.cmpi ne, %[[BITS]], %c0_i8
// CHECK: scf.if %[[ANY]]
// CHECK: arith.cmpf ogt
// CHECK: math.fma {{.*}} : vector<48xf32>
// CHECK-COUNT-2: arith.mulf {{.*}} : vector<48xf32>
// CHECK: } else {
// CHECK-NOT: arith.mulf
// CHECK: arith.shli {{.*}} : vector<48xi32>
// CHECK: arith.addi {{.*}} : vector<48xi32>
// CHECK-NOT: call
// PLAIN-LABEL: func.func @exp
// PLAIN-NOT: math.fma
// A table of 16 floats, and a shorter polynomial. A mask leaves out what underflows, where that is slow.
// SCALEF-LABEL: func.func @exp
// SCALEF: %[[WANTED:.*]] = arith.cmpf uge, %{{.*}} : vector<48xf32>
// SCALEF: %[[SUM:.*]] = math.fma {{.*}} : vector<48xf32>
// SCALEF: %[[N:.*]] = arith.subf %[[SUM]], {{.*}} : vector<48xf32>
// SCALEF-COUNT-3: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// SCALEF-COUNT-3: math.fma
// SCALEF: arith.andi {{.*}} : vector<48xi32>
// SCALEF: arith.ori {{.*}} : vector<48xi32>
// SCALEF: %[[N0:.*]] = vector.extract_strided_slice %[[N]] {offsets = [0]
// SCALEF: %[[WANTED0:.*]] = vector.extract_strided_slice %[[WANTED]] {offsets = [0]
// SCALEF: %[[WORD:.*]] = vector.bitcast %[[WANTED0]] : vector<16xi1> to vector<1xi16>
// SCALEF: %[[BITS:.*]] = vector.extract %[[WORD]][0]
// SCALEF: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%{{.*}}, %[[N0]], %{{.*}}, %[[BITS]], %{{.*}}) : (vector<16xf32>, vector<16xf32>, vector<16xf32>, i16, i32)
// SCALEF-COUNT-2: llvm.call_intrinsic
// SCALEF-NOT: llvm.call_intrinsic
// FREE-LABEL: func.func @exp
// FREE: %[[ALL:.*]] = arith.constant -1 : i16
// FREE-NOT: cmpf
// FREE: "llvm.x86.avx512.mask.scalef.ps.512"(%{{.*}}, %{{.*}}, %{{.*}}, %[[ALL]], %{{.*}})
func.func @exp(%x: vector<48xf32>) -> vector<48xf32> {
  %y = math.exp %x : vector<48xf32>
  return %y : vector<48xf32>
}

// Tables of 32 floats, for 16 lanes at a time: five coefficients and the value at the center.
// Without them two polynomials, of which each lane takes one.
// CHECK-LABEL: func.func @erf
// CHECK-COUNT-18: math.fma
// CHECK: arith.cmpf olt
// CHECK: math.copysign
// CHECK-NOT: call
// SCALEF-LABEL: func.func @erf
// SCALEF-COUNT-12: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// SCALEF-NOT: call
// SCALEF: math.copysign
func.func @erf(%x: vector<32xf32>) -> vector<32xf32> {
  %y = math.erf %x : vector<32xf32>
  return %y : vector<32xf32>
}

// Quarters of octaves: six coefficients and the value at the center.
// CHECK-LABEL: func.func @tanh
// CHECK-COUNT-16: math.fma
// CHECK: arith.divf
// CHECK: arith.cmpf olt
// CHECK: math.copysign
// CHECK-NOT: call
// SCALEF-LABEL: func.func @tanh
// SCALEF: arith.maxui
// SCALEF: arith.shrui
// SCALEF-COUNT-7: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// SCALEF-NOT: call
// SCALEF: math.copysign
func.func @tanh(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.tanh %x : vector<16xf32>
  return %y : vector<16xf32>
}

// Two tables of 32 floats, and AVX-512's mantissa and exponent, which need no comparison for numbers that are not usual.
// CHECK-LABEL: func.func @logarithms
// CHECK: call @_ZGVdN8v_log10f
// SCALEF-LABEL: func.func @logarithms
// SCALEF: %[[M:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.getmant.ps.512"(%[[X:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (vector<16xf32>, i32, vector<16xf32>, i16, i32)
// SCALEF: %[[E:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.getexp.ps.512"(%[[X]], {{.*}}) : (vector<16xf32>, vector<16xf32>, i16, i32)
// SCALEF: %[[BELOW:.*]] = arith.cmpf olt, %[[M]]
// SCALEF: arith.select %[[BELOW]], %{{.*}}, %[[E]]
// SCALEF-COUNT-2: "llvm.x86.avx512.vpermi2var.ps.512"
// SCALEF-COUNT-6: math.fma
// SCALEF-NOT: math.fma
// SCALEF: llvm.call_intrinsic "llvm.x86.avx512.mask.getmant.ps.512"
// SCALEF-NOT: call @
// SCALEF: return
func.func @logarithms(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %a = math.log %x : vector<16xf32>
  %b = math.log10 %x : vector<16xf32>
  return %a, %b : vector<16xf32>, vector<16xf32>
}

// Scalars and odd numbers of lanes have no native vector.
// CHECK-LABEL: func.func @lanes
// SCALEF-LABEL: func.func @lanes
// SCALEF: vector.shape_cast {{.*}} : vector<2x4xf32> to vector<8xf32>
// SCALEF: "llvm.x86.avx512.mask.scalef.ps.256"({{.*}}) : (vector<8xf32>, vector<8xf32>, vector<8xf32>, i8)
// SCALEF: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 4, 4, 4] : vector<4xi1>, vector<4xi1>
// SCALEF: "llvm.x86.avx512.mask.scalef.ps.128"({{.*}}) : (vector<4xf32>, vector<4xf32>, vector<4xf32>, i8)
// SCALEF-NOT: llvm.x86
func.func @lanes(%x: f32, %v: vector<5xf32>, %w: vector<2x4xf32>, %q: vector<4xf32>) -> (f32, vector<5xf32>, vector<2x4xf32>, vector<4xf32>) {
  %a = math.exp2 %w : vector<2x4xf32>
  %d = math.exp2 %q : vector<4xf32>
  %b = math.exp2 %x : f32
  %c = math.exp %v : vector<5xf32>
  return %b, %c, %a, %d : f32, vector<5xf32>, vector<2x4xf32>, vector<4xf32>
}

// A function with an order has no vector form; it is called for each lane.
// CHECK-LABEL: func.func @libm
// CHECK-COUNT-4: llvm.call @jn(%{{.*}}, %{{.*}}) : (i32, f64) -> f64
// CHECK-NOT: llvm.call @jn(
// CHECK: llvm.call @tgammaf(%{{.*}}) : (f32) -> f32
func.func @libm(%n: vector<2x2xi32>, %x: vector<2x2xf64>, %s: f32) -> (vector<2x2xf64>, f32) {
  %0 = linalg_ext.libm "jn"(%n, %x) : (vector<2x2xi32>, vector<2x2xf64>) -> vector<2x2xf64>
  %1 = linalg_ext.libm "tgamma"(%s) : (f32) -> f32
  return %0, %1 : vector<2x2xf64>, f32
}

// IEEE 754-2008 makes NaN of a signaling NaN and a number, as AArch64 does.
// CHECK-LABEL: func.func @maxnum
// CHECK-SAME: (%[[X:.*]]: vector<8xf32>, %[[Y:.*]]: vector<8xf32>)
// CHECK: llvm.call_intrinsic "llvm.maximumnum"(%[[Y]], %[[X]]) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
// CHECK: llvm.call_intrinsic "llvm.minimumnum"(%[[Y]], %[[X]]) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
// X86-LABEL: func.func @maxnum
// X86-SAME: (%[[X:.*]]: vector<8xf32>, %[[Y:.*]]: vector<8xf32>)
// X86: llvm.intr.maxnum(%[[Y]], %[[X]]) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
// X86: llvm.intr.minnum(%[[Y]], %[[X]]) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
func.func @maxnum(%x: vector<8xf32>, %y: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %a = arith.maxnumf %x, %y : vector<8xf32>
  %b = arith.minnumf %x, %y : vector<8xf32>
  return %a, %b : vector<8xf32>, vector<8xf32>
}

// What a reduction has found so far is kept where it is larger; only where one of the new elements is NaN is each looked at.
// Two native vectors take one comparison.
// CHECK-LABEL: func.func @row_maximum
// CHECK: llvm.maximumnum
// CHECK-NOT: scf.if
// CHECK-LABEL: func.func @short_row
// X86-LABEL: func.func @row_maximum
// X86: scf.for {{.*}} iter_args(%[[TOP:.*]] = %{{.*}})
// X86: %[[V:.*]] = vector.load
// X86: %[[P0:.*]] = vector.extract_strided_slice %[[V]] {offsets = [0]
// X86: %[[P1:.*]] = vector.extract_strided_slice %[[V]] {offsets = [8]
// X86: %[[N01:.*]] = arith.cmpf uno, %[[P0]], %[[P1]] : vector<8xf32>
// X86: %[[N22:.*]] = arith.cmpf uno, %[[P2:.*]], %[[P2]] : vector<8xf32>
// X86: %[[ANY:.*]] = arith.ori %[[N01]], %[[N22]]
// X86: llvm.bitcast %[[ANY]] : vector<8xi1> to i8
// X86: %[[M:.*]] = scf.if
// X86-NEXT: %[[GENERAL:.*]] = llvm.intr.maxnum(%[[V]], %[[TOP]])
// X86-NEXT: scf.yield %[[GENERAL]]
// X86-NEXT: } else {
// X86-NEXT: %[[KEPT:.*]] = arith.cmpf ogt, %[[TOP]], %[[V]]
// X86-NEXT: arith.select %[[KEPT]], %[[TOP]], %[[V]]
// X86: scf.yield %[[M]]
func.func @row_maximum(%x: memref<?xf32>, %start: vector<24xf32>, %n: index) -> vector<24xf32> {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %r = scf.for %i = %c0 to %n step %c24 iter_args(%top = %start) -> vector<24xf32> {
    %v = vector.load %x[%i] : memref<?xf32>, vector<24xf32>
    %m = arith.maxnumf %top, %v : vector<24xf32>
    scf.yield %m : vector<24xf32>
  }
  return %r : vector<24xf32>
}
// One native vector is not worth a branch; nor is what no loop carries.
// X86-LABEL: func.func @short_row
// X86-NOT: scf.if
// X86: return
func.func @short_row(%x: memref<?xf32>, %start: vector<8xf32>, %w: vector<24xf32>, %n: index) -> (vector<8xf32>, vector<24xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %r:2 = scf.for %i = %c0 to %n step %c8 iter_args(%low = %start, %all = %w) -> (vector<8xf32>, vector<24xf32>) {
    %v = vector.load %x[%i] : memref<?xf32>, vector<8xf32>
    %m = arith.minnumf %v, %low : vector<8xf32>
    %o = arith.minnumf %w, %w : vector<24xf32>
    scf.yield %m, %o : vector<8xf32>, vector<24xf32>
  }
  return %r#0, %r#1 : vector<8xf32>, vector<24xf32>
}

// What began with a number is one, in the next loop and in half of its lanes, too: it comes second, and is the result where the other is NaN.
// CHECK-LABEL: func.func @found_numbers
// X86-LABEL: func.func @found_numbers
// X86-NOT: llvm.intr.maxnum
// X86: scf.for {{.*}} iter_args(%[[TOP:.*]] = %{{.*}})
// X86-NEXT: %[[V:.*]] = vector.load
// X86-NEXT: %[[LARGER:.*]] = arith.cmpf ogt, %[[V]], %[[TOP]] : vector<24xf32>
// X86-NEXT: arith.select %[[LARGER]], %[[V]], %[[TOP]]
// X86: scf.for {{.*}} iter_args(%[[TOP:.*]] = %{{.*}})
// X86-NEXT: %[[V:.*]] = vector.load
// X86-NEXT: %[[LARGER:.*]] = arith.cmpf ogt, %[[V]], %[[TOP]] : vector<24xf32>
// X86: %[[LOW:.*]] = vector.shuffle
// X86: %[[HIGH:.*]] = vector.shuffle
// X86: arith.cmpf olt, %[[LOW]], %[[HIGH]] : vector<12xf32>
// X86: return
func.func @found_numbers(%x: memref<?xf32>, %n: index) -> vector<12xf32> {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %start = arith.constant dense<0xFF800000> : vector<24xf32>
  %r = scf.for %i = %c0 to %n step %c24 iter_args(%top = %start) -> vector<24xf32> {
    %v = vector.load %x[%i] : memref<?xf32>, vector<24xf32>
    %m = arith.maxnumf %top, %v : vector<24xf32>
    scf.yield %m : vector<24xf32>
  }
  %s = scf.for %i = %c0 to %n step %c24 iter_args(%top = %r) -> vector<24xf32> {
    %v = vector.load %x[%i] : memref<?xf32>, vector<24xf32>
    %m = arith.maxnumf %v, %top : vector<24xf32>
    scf.yield %m : vector<24xf32>
  }
  %low = vector.shuffle %s, %s [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] : vector<24xf32>, vector<24xf32>
  %high = vector.shuffle %s, %s [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23] : vector<24xf32>, vector<24xf32>
  %m = arith.minnumf %low, %high : vector<12xf32>
  return %m : vector<12xf32>
}

// The same where NaN stays, and zeros are not told apart; the others are LLVM's functions.
// CHECK-LABEL: func.func @nan_stays
// CHECK: llvm.intr.maximum(%{{.*}}, %{{.*}}) {fastmathFlags = #llvm.fastmath<nsz>}
// X86-LABEL: func.func @nan_stays
// X86: scf.for {{.*}} iter_args(%[[TOP:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// X86: %[[V:.*]] = vector.load
// X86: scf.if
// X86-NEXT: %[[GENERAL:.*]] = llvm.intr.maximum(%[[TOP]], %[[V]]) {fastmathFlags = #llvm.fastmath<nsz>}
// X86-NEXT: scf.yield %[[GENERAL]]
// X86-NEXT: } else {
// X86-NEXT: %[[TAKEN:.*]] = arith.cmpf ogt, %[[V]], %[[TOP]]
// X86-NEXT: arith.select %[[TAKEN]], %[[V]], %[[TOP]]
// X86: llvm.intr.minimum(%{{.*}}, %{{.*}}) : (
func.func @nan_stays(%x: memref<?xf32>, %start: vector<16xf32>, %n: index) -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %r:2 = scf.for %i = %c0 to %n step %c16 iter_args(%top = %start, %low = %start) -> (vector<16xf32>, vector<16xf32>) {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %m = arith.maximumf %top, %v fastmath<nsz> : vector<16xf32>
    %l = arith.minimumf %low, %v : vector<16xf32>
    scf.yield %m, %l : vector<16xf32>, vector<16xf32>
  }
  return %r#0, %r#1 : vector<16xf32>, vector<16xf32>
}

// A comparison would not tell -0 from +0.
// CHECK-LABEL: func.func @maximum
// CHECK: llvm.intr.maximum(%{{.*}}) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
// CHECK: llvm.intr.minimum(%{{.*}}) : (f64, f64) -> f64
func.func @maximum(%x: vector<8xf32>, %y: vector<8xf32>, %z: f64) -> (vector<8xf32>, f64) {
  %a = arith.maximumf %x, %y : vector<8xf32>
  %b = arith.minimumf %z, %z : f64
  return %a, %b : vector<8xf32>, f64
}

// The power of two of a division by one number is 1 for usual numbers: a branch instead of a product, for several vectors in a loop.
// CHECK-LABEL: func.func @divide_rows
// CHECK: %[[POWER:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: scf.for
// CHECK: %[[X:.*]] = vector.load {{.*}} vector<16xf32>
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK: %[[OTHER:.*]] = arith.cmpi ne, %[[BITS]], %{{.*}} : i32
// CHECK: %[[SCALED:.*]] = scf.if %[[OTHER]] -> (vector<16xf32>) {
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[X]], %{{.*}}
// CHECK-NEXT: scf.yield %[[PRODUCT]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[X]]
// CHECK: arith.mulf %[[SCALED]], %{{.*}}
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK-NOT: scf.if
// CHECK: return
func.func @divide_rows(%x: memref<?xf32>, %power: f32, %large: i1, %small: i1, %reciprocal: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  %up = arith.constant 0x5E800000 : f32
  %down = arith.constant 0x20800000 : f32
  %usual = arith.select %large, %down, %one : f32
  %p = arith.select %small, %up, %usual : f32
  scf.for %i = %c0 to %n step %c16 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
    %ps = vector.broadcast %p : f32 to vector<16xf32>
    %s = arith.mulf %v, %ps : vector<16xf32>
    %rs = vector.broadcast %reciprocal : f32 to vector<16xf32>
    %q = arith.mulf %s, %rs : vector<16xf32>
    vector.store %q, %x[%i] : memref<?xf32>, vector<16xf32>
    // One native vector, and a factor that may be anything.
    %w = vector.load %x[%i] : memref<?xf32>, vector<8xf32>
    %pw = vector.broadcast %p : f32 to vector<8xf32>
    %sw = arith.mulf %w, %pw : vector<8xf32>
    vector.store %sw, %x[%i] : memref<?xf32>, vector<8xf32>
    %any = vector.broadcast %power : f32 to vector<16xf32>
    %t = arith.mulf %q, %any : vector<16xf32>
    vector.store %t, %x[%i] : memref<?xf32>, vector<16xf32>
  }
  return
}

// CHECK-LABEL: func.func @inline_functions
// CHECK-NOT: call
// CHECK-NOT: math.exp
// CHECK-NOT: math.log
func.func @inline_functions(%x: f32, %v: vector<2x4xf32>) -> (f32, f32, vector<2x4xf32>) {
  %a = math.exp2 %x : f32
  %b = math.log %x : f32
  %c = math.log2 %v : vector<2x4xf32>
  return %a, %b, %c : f32, f32, vector<2x4xf32>
}

// CHECK-LABEL: func.func @native_pieces
// CHECK-COUNT-2: llvm.call @_ZGVdN8v_sinf
// CHECK-NOT: llvm.call
// PLAIN-LABEL: func.func @native_pieces
// PLAIN-COUNT-16: llvm.call @sinf
func.func @native_pieces(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.sin %x : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @padded
// CHECK: vector.shuffle {{.*}}[0, 1, 2, 3, 4, 4, 4, 4] : vector<5xf32>, vector<5xf32>
// CHECK: llvm.call @_ZGVdN8v_sinf
func.func @padded(%x: vector<5xf32>) -> vector<5xf32> {
  %y = math.sin %x : vector<5xf32>
  return %y : vector<5xf32>
}

// CHECK-LABEL: func.func @scalar
// CHECK: llvm.call @sin(%{{.*}}) : (f64) -> f64
func.func @scalar(%x: f64) -> f64 {
  %y = math.sin %x : f64
  return %y : f64
}

// CHECK-LABEL: func.func @rsqrt
// CHECK: math.sqrt
// CHECK: arith.divf
func.func @rsqrt(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.rsqrt %x : vector<8xf32>
  return %y : vector<8xf32>
}

// From an estimate, for vectors of 512 bits in loops. One round for f32, two for f64; x - g^2 is rounded last.
// CHECK-LABEL: func.func @roots
// CHECK-COUNT-2: math.sqrt
// ESTIMATE-LABEL: func.func @roots
// ESTIMATE: scf.for
// ESTIMATE: %[[X:.*]] = arith.select
// ESTIMATE-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.rsqrt14.ps.512"(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xf32>, i16)
// ESTIMATE-COUNT-4: math.fma
// ESTIMATE: %[[ROOT:.*]] = math.fma
// ESTIMATE-NOT: math.fma
// ESTIMATE: arith.select
// ESTIMATE-COUNT-2: "llvm.x86.avx512.mask.fixupimm.ps.512"({{.*}}) : (vector<16xf32>, vector<16xf32>, vector<16xi32>, i32, i16, i32)
// ESTIMATE: "llvm.x86.avx512.rsqrt14.pd.512"
// ESTIMATE-COUNT-8: math.fma
// ESTIMATE: "llvm.x86.avx512.rsqrt14.ps.512"
// ESTIMATE-NOT: math.rsqrt
// ESTIMATE: math.sqrt {{.*}} : vector<8xf32>
// ESTIMATE: }
// ESTIMATE: math.sqrt {{.*}} : vector<32xf32>
func.func @roots(%x: vector<32xf32>, %y: vector<8xf64>, %z: vector<16xf32>, %w: vector<8xf32>, %n: index) -> (vector<32xf32>, vector<8xf64>, vector<16xf32>, vector<8xf32>, vector<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y, %c = %z, %d = %w) -> (vector<32xf32>, vector<8xf64>, vector<16xf32>, vector<8xf32>) {
    %ra = math.sqrt %a : vector<32xf32>
    %rb = math.sqrt %b : vector<8xf64>
    %rc = math.rsqrt %c : vector<16xf32>
    %rd = math.sqrt %d : vector<8xf32>
    scf.yield %ra, %rb, %rc, %rd : vector<32xf32>, vector<8xf64>, vector<16xf32>, vector<8xf32>
  }
  %s = math.sqrt %x : vector<32xf32>
  return %r#0, %r#1, %r#2, %r#3, %s : vector<32xf32>, vector<8xf64>, vector<16xf32>, vector<8xf32>, vector<32xf32>
}

// LLVM would make the first a division of f16, which is slower. Sums are not.
// CHECK-LABEL: func.func @quotients
// CHECK-NOT: fence
// CHECK: return
// HALVES-LABEL: func.func @quotients
// HALVES: %[[Q:.*]] = arith.divf {{.*}} : vector<32xf32>
// HALVES: %[[F:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[Q]]) : (vector<32xf32>) -> vector<32xf32>
// HALVES: arith.truncf %[[F]] : vector<32xf32> to vector<32xf16>
// HALVES-NOT: fence
// HALVES: return
func.func @quotients(%x: vector<32xf16>, %y: vector<32xf16>) -> (vector<32xf16>, vector<32xf16>, vector<32xbf16>) {
  %a = arith.extf %x : vector<32xf16> to vector<32xf32>
  %b = arith.extf %y : vector<32xf16> to vector<32xf32>
  %q = arith.divf %a, %b : vector<32xf32>
  %s = arith.addf %a, %b : vector<32xf32>
  %c = arith.truncf %q : vector<32xf32> to vector<32xf16>
  %d = arith.truncf %s : vector<32xf32> to vector<32xf16>
  %e = arith.truncf %q : vector<32xf32> to vector<32xbf16>
  return %c, %d, %e : vector<32xf16>, vector<32xf16>, vector<32xbf16>
}

// Exactly in f64 where each quotient is below 2^29, of f64 below 2^53; else, and for no numbers, by the C library. Scalars stay.
// CHECK-LABEL: func.func @remainder
// CHECK: %[[Q:.*]] = arith.divf {{.*}} : vector<8xf64>
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[Q]], %{{.*}} : vector<8xf64>
// CHECK: math.trunc %[[Q]] : vector<8xf64>
// CHECK: %[[REST:.*]] = math.copysign {{.*}} : vector<8xf32>
// CHECK: %[[ALL:.*]] = vector.reduction <and>, %[[SMALL]]
// CHECK: scf.if %[[ALL]] -> (vector<8xf32>) {
// CHECK-NEXT: scf.yield %[[REST]]
// CHECK-NEXT: } else {
// CHECK-NEXT: arith.remf %{{.*}} : vector<8xf32>
// CHECK: %[[T:.*]] = math.trunc %{{.*}} : vector<8xf64>
// CHECK: %[[MINUS:.*]] = arith.negf %[[T]]
// CHECK: %[[DIFFERENCE:.*]] = math.fma %[[MINUS]], %{{.*}}, %{{.*}} : vector<8xf64>
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[DIFFERENCE]]
// CHECK: arith.select %[[BELOW]]
// CHECK: arith.remf %{{.*}} : vector<8xf64>
// CHECK: arith.remf %{{.*}} : f64
// PLAIN-LABEL: func.func @remainder
// PLAIN: scf.if
// PLAIN-NOT: scf.if
// PLAIN: return
func.func @remainder(%x: vector<8xf32>, %y: vector<8xf32>, %v: vector<8xf64>, %w: vector<8xf64>, %z: f64) -> (vector<8xf32>, vector<8xf64>, f64) {
  %r = arith.remf %x, %y : vector<8xf32>
  %s = arith.remf %v, %w : vector<8xf64>
  %t = arith.remf %z, %z : f64
  return %r, %s, %t : vector<8xf32>, vector<8xf64>, f64
}

// CHECK-LABEL: func.func @instructions_stay
// CHECK: math.floor
// CHECK: math.sqrt
func.func @instructions_stay(%x: vector<8xf64>) -> vector<8xf64> {
  %y = math.floor %x : vector<8xf64>
  %z = math.sqrt %y : vector<8xf64>
  return %z : vector<8xf64>
}

// -----

// Sixteen doubles and what they leave are two tables of two registers each. Where underflow is slow, the power is -infinity for a 0.
// CHECK-LABEL: func.func @exp_of_f64
// CHECK: call @_ZGVdN4v_exp(
// SCALEF-LABEL: func.func @exp_of_f64
// SCALEF-COUNT-2: "llvm.x86.avx512.vpermi2var.pd.512"({{.*}}) : (vector<8xf64>, vector<8xi64>, vector<8xf64>) -> vector<8xf64>
// SCALEF: arith.minui
// SCALEF: arith.maxui
// SCALEF: arith.cmpf olt, {{.*}} : vector<8xf64>
// SCALEF: %[[N:.*]] = arith.select
// SCALEF: "llvm.x86.avx512.mask.scalef.pd.512"(%{{.*}}, %[[N]], {{.*}}) : (vector<8xf64>, vector<8xf64>, vector<8xf64>, i8, i32)
// SCALEF: call @exp(
// FREE-LABEL: func.func @exp_of_f64
// FREE-NOT: arith.cmpf
// FREE: mask.scalef.pd
// FREE: return
func.func @exp_of_f64(%x: vector<8xf64>, %y: vector<2x8xf64>) -> (vector<8xf64>, vector<2x8xf64>) {
  %a = math.exp %x : vector<8xf64>
  %b = math.exp %y : vector<2x8xf64>
  return %a, %b : vector<8xf64>, vector<2x8xf64>
}

// -----

func.func @narrow(%x: vector<8xbf16>) -> vector<8xbf16> {
  // expected-error @below {{there is no 'exp' of type 'bf16' on a CPU: expected f32 or f64}}
  %y = math.exp %x : vector<8xbf16>
  return %y : vector<8xbf16>
}

// -----

// Sines of native vectors are inline up to 40000, those of others, and without fused multiply-adds, the C library's. Both functions of one number share
// all but the last steps.
// CHECK-LABEL: func.func @turns
// CHECK: arith.constant dense<1.57079625>
// CHECK: %[[LARGE:.*]] = arith.cmpf ugt, %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: scf.if
// CHECK: call @_ZGVdN8v_sinf
// CHECK: scf.yield
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK: scf.if
// CHECK: call @_ZGVdN8v_cosf
// CHECK: call @_ZGVbN4v_sinf
// PLAIN-LABEL: func.func @turns
// PLAIN-NOT: scf.if
// PLAIN: return
func.func @turns(%x: vector<8xf32>, %y: vector<4xf32>) -> (vector<8xf32>, vector<8xf32>, vector<4xf32>) {
  %s = math.sin %x : vector<8xf32>
  %c = math.cos %x : vector<8xf32>
  %t = math.sin %y : vector<4xf32>
  return %s, %c, %t : vector<8xf32>, vector<8xf32>, vector<4xf32>
}
