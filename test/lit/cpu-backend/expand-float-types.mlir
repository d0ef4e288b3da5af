// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-float-types -verify-diagnostics | FileCheck %s
// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-float-types="f16c=false" -verify-diagnostics | FileCheck %s --check-prefix=SOFT
// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-float-types="bf16-rounding" -verify-diagnostics | FileCheck %s --check-prefix=BF16
// RUN: tilebridge-opt %s -split-input-file -tilebridge-cpu-expand-float-types="byte-lookups" -verify-diagnostics | FileCheck %s --check-prefix=BYTES

// CHECK-LABEL: func.func @bf16_add
// CHECK-COUNT-2: arith.shli
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: arith.cmpf uno
// CHECK: %[[HALVES:.*]] = vector.bitcast {{.*}} : vector<16xi32> to vector<32xi16>
// CHECK: vector.shuffle %[[HALVES]], %[[HALVES]] [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]
// CHECK: arith.bitcast {{.*}} : vector<16xi16> to vector<16xi16>
// CHECK-NOT: bf16
func.func @bf16_add(%a: vector<16xbf16>, %b: vector<16xbf16>) -> vector<16xbf16> {
  %y = arith.addf %a, %b : vector<16xbf16>
  return %y : vector<16xbf16>
}

// CHECK-LABEL: func.func @f16
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: math.exp {{.*}} : f32
// CHECK: arith.truncf {{.*}} : f32 to f16
// SOFT-LABEL: func.func @f16
// SOFT-NOT: arith.extf
// SOFT-NOT: arith.truncf
// SOFT: return
func.func @f16(%a: f16) -> f16 {
  %y = math.exp %a : f16
  return %y : f16
}

// The sum is rounded before it is multiplied.
// CHECK-LABEL: func.func @each_rounds
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK: arith.extf
// CHECK: arith.mulf
func.func @each_rounds(%a: f16) -> f16 {
  %x = arith.addf %a, %a : f16
  %y = arith.mulf %x, %a : f16
  return %y : f16
}

// CHECK-LABEL: func.func @compare
// CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : vector<8xf32>
func.func @compare(%a: vector<8xf8E4M3FN>, %b: vector<8xf8E4M3FN>) -> vector<8xi1> {
  %y = arith.cmpf olt, %a, %b : vector<8xf8E4M3FN>
  return %y : vector<8xi1>
}

// CHECK-LABEL: func.func @f64_once
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: arith.cmpf one
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @f64_once(%a: f64) -> f16 {
  %y = arith.truncf %a : f64 to f16
  return %y : f16
}

// CHECK-LABEL: func.func @constant
// CHECK: %[[C:.*]] = arith.constant dense<[56, -64]> : vector<2xi8>
// CHECK: arith.bitcast %[[C]] : vector<2xi8> to vector<2xf8E4M3FN>
func.func @constant() -> vector<2xf8E4M3FN> {
  %y = arith.constant dense<[1.0, -2.0]> : vector<2xf8E4M3FN>
  return %y : vector<2xf8E4M3FN>
}

// CHECK-LABEL: func.func @moves_stay
// CHECK-NEXT: arith.select
// CHECK-NEXT: vector.shuffle
// CHECK-NEXT: return
func.func @moves_stay(%c: i1, %a: vector<8xf8E5M2>, %b: vector<8xf8E5M2>) -> vector<8xf8E5M2> {
  %x = arith.select %c, %a, %b : vector<8xf8E5M2>
  %y = vector.shuffle %x, %a [0, 1, 2, 3, 8, 9, 10, 11] : vector<8xf8E5M2>, vector<8xf8E5M2>
  return %y : vector<8xf8E5M2>
}

// CHECK-LABEL: func.func @reduction
// CHECK: vector.reduction <add>, %{{.*}} : vector<16xf32> into f32
func.func @reduction(%a: vector<16xf16>) -> f16 {
  %y = vector.reduction <add>, %a : vector<16xf16> into f16
  return %y : f16
}

// -----

func.func @mode(%a: f32) -> bf16 {
  // expected-error @below {{rounding mode 'upward' is not supported}}
  %y = arith.truncf %a upward : f32 to bf16
  return %y : bf16
}

// -----

// What a block-scaled matrix has is only read.
// CHECK-LABEL: func.func @scaled
// CHECK: arith.shli
// CHECK: arith.select
func.func @scaled(%a: f4E2M1FN, %s: f8E8M0FNU) -> f32 {
  %x = arith.extf %a : f4E2M1FN to f32
  %t = arith.extf %s : f8E8M0FNU to f32
  %y = arith.mulf %x, %t : f32
  return %y : f32
}

// -----

func.func @rounded_to_element(%a: f32) -> f4E2M1FN {
  // expected-error @below {{nothing can be rounded to 'f4E2M1FN'}}
  %y = arith.truncf %a : f32 to f4E2M1FN
  return %y : f4E2M1FN
}

// -----

// Single elements of bf16 are integers wherever they only move.
// CHECK-LABEL: func.func @moved
// CHECK-SAME: memref<?xi16>
// CHECK: vector.load {{.*}} : memref<?xi16>, vector<1xi16>
// CHECK: vector.broadcast {{.*}} : i16 to vector<8xi16>
func.func @moved(%x: memref<?xbf16>, %i: index) {
  %0 = vector.load %x[%i] : memref<?xbf16>, vector<1xbf16>
  %1 = vector.extract %0[0] : bf16 from vector<1xbf16>
  %2 = vector.broadcast %1 : bf16 to vector<8xbf16>
  vector.store %2, %x[%i] : memref<?xbf16>, vector<8xbf16>
  return
}

// f64 to f32 toward zero: to the nearest, and one step back where that is larger.
// CHECK-LABEL: func.func @cut
// CHECK: %[[NEAR:.*]] = arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
// CHECK: %[[WIDE:.*]] = arith.extf %[[NEAR]]
// CHECK: %[[LARGER:.*]] = arith.cmpf ogt, %{{.*}}, %{{.*}} : vector<4xf64>
// CHECK: %[[STEP:.*]] = arith.extui %[[LARGER]]
// CHECK: arith.subi %{{.*}}, %[[STEP]]
func.func @cut(%x: vector<4xf64>) -> vector<4xf32> {
  %0 = arith.truncf %x toward_zero : vector<4xf64> to vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// The instruction for products of bf16 takes them as such.
// CHECK-LABEL: func.func @products
// CHECK: %[[A:.*]] = llvm.bitcast %{{.*}} : vector<32xi16> to vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %[[A]], %{{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
func.func @products(%sum: vector<16xf32>, %a: vector<32xi16>, %b: vector<32xi16>) -> vector<16xf32> {
  %x = vector.bitcast %a : vector<32xi16> to vector<32xbf16>
  %y = vector.bitcast %b : vector<32xi16> to vector<32xbf16>
  %r = llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%sum, %x, %y) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
  return %r : vector<16xf32>
}

// -----

// 64 numbers by the instruction for 32, unless one of them is NaN or below the normal numbers.
// BF16-LABEL: func.func @round_many
// BF16-COUNT-4: llvm.call_intrinsic "llvm.x86.avx512.fpclass.ps.512"
// BF16: %[[ANY:.*]] = arith.cmpi ne, %{{.*}}, %c0_i16
// BF16: scf.if %[[ANY]] -> (vector<64xi16>) {
// BF16: arith.cmpf uno
// BF16: } else {
// BF16-NEXT: %[[HIGH:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [16]
// BF16-NEXT: %[[LOW:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [0]
// BF16-NEXT: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%[[HIGH]], %[[LOW]])
// BF16: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// BF16: }
// CHECK-LABEL: func.func @round_many
// CHECK-NOT: call_intrinsic
// CHECK: return
func.func @round_many(%x: vector<64xf32>) -> vector<64xbf16> {
  %y = arith.truncf %x : vector<64xf32> to vector<64xbf16>
  return %y : vector<64xbf16>
}

// Where NaNs are short only results are looked at: a zero may be of a number below the normal ones.
// BF16-LABEL: func.func @round_many_short
// BF16-NOT: fpclass
// BF16-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
// BF16-NOT: fpclass
// BF16: %[[SOME:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : vector<32xi16>
// BF16: llvm.bitcast %[[SOME]] : vector<32xi1> to i32
// BF16: %[[ZERO:.*]] = arith.cmpi ne, %{{.*}}, %c0_i32
// BF16: scf.if %[[ZERO]] -> (vector<64xi16>) {
// BF16-COUNT-4: llvm.call_intrinsic "llvm.x86.avx512.fpclass.ps.512"
// BF16: scf.if %{{.*}} -> (vector<64xi16>) {
// BF16-NOT: arith.cmpf
// BF16: return
func.func @round_many_short(%x: vector<64xf32>) -> vector<64xbf16> {
  %y = arith.truncf %x {tilebridge.short_nans} : vector<64xf32> to vector<64xbf16>
  return %y : vector<64xbf16>
}

// -----

// Too few, and another rounding.
// BF16-LABEL: func.func @round_few
// BF16-NOT: call_intrinsic
// BF16: return
func.func @round_few(%x: vector<16xf32>, %y: vector<32xf32>) -> (vector<16xbf16>, vector<32xbf16>) {
  %few = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  %cut = arith.truncf %y toward_zero : vector<32xf32> to vector<32xbf16>
  return %few, %cut : vector<16xbf16>, vector<32xbf16>
}

// NaNs that rounding keeps are not tested.
// CHECK-LABEL: func.func @short_nans
// CHECK-NOT: arith.cmpf
// CHECK: return
func.func @short_nans(%x: vector<16xf32>, %y: f32) -> (vector<16xbf16>, bf16) {
  %many = arith.truncf %x {tilebridge.short_nans} : vector<16xf32> to vector<16xbf16>
  %one = arith.truncf %y {tilebridge.short_nans} : f32 to bf16
  return %many, %one : vector<16xbf16>, bf16
}

// -----

// Integers up to 256 have nothing behind their upper half as f32, and neither has a float of 8 bits: only NaN is looked after.
// CHECK-LABEL: func.func @exact
// CHECK: arith.sitofp {{.*}} : vector<4xi8> to vector<4xf32>
// CHECK-NOT: arith.addi
// CHECK: arith.sitofp {{.*}} : vector<4xi32> to vector<4xf32>
// CHECK-NOT: arith.addi
// CHECK: arith.uitofp {{.*}} : vector<4xi8> to vector<4xf32>
// CHECK-NOT: arith.addi {{.*}} : vector<4xi32>
// CHECK: arith.mulf
// CHECK-NOT: arith.addi {{.*}} : vector<4xi32>
// CHECK: return
func.func @exact(%a: vector<4xi8>, %b: vector<4xi32>, %c: vector<4xf8E4M3FN>)
    -> (vector<4xbf16>, vector<4xbf16>, vector<4xbf16>, vector<4xbf16>) {
  %mask = arith.constant dense<255> : vector<4xi32>
  %low = arith.andi %b, %mask : vector<4xi32>
  %0 = arith.sitofp %a : vector<4xi8> to vector<4xbf16>
  %1 = arith.sitofp %low : vector<4xi32> to vector<4xbf16>
  %2 = arith.uitofp %a : vector<4xi8> to vector<4xbf16>
  %3 = arith.extf %c : vector<4xf8E4M3FN> to vector<4xbf16>
  return %0, %1, %2, %3 : vector<4xbf16>, vector<4xbf16>, vector<4xbf16>, vector<4xbf16>
}

// -----

// Others are rounded: 9 bits, sums of unsigned bytes, and what has 16 bits.
// CHECK-LABEL: func.func @rounded
// CHECK: arith.sitofp {{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: arith.addi
// CHECK: arith.sitofp {{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: arith.addi
// CHECK: arith.sitofp {{.*}} : vector<4xi16> to vector<4xf32>
// CHECK: arith.addi
func.func @rounded(%a: vector<4xi8>, %b: vector<4xi32>, %c: vector<4xi16>) -> (vector<4xbf16>, vector<4xbf16>, vector<4xbf16>) {
  %mask = arith.constant dense<511> : vector<4xi32>
  %low = arith.andi %b, %mask : vector<4xi32>
  %wide = arith.extui %a : vector<4xi8> to vector<4xi32>
  %sum = arith.addi %wide, %wide : vector<4xi32>
  %0 = arith.sitofp %low : vector<4xi32> to vector<4xbf16>
  %1 = arith.sitofp %sum : vector<4xi32> to vector<4xbf16>
  %2 = arith.sitofp %c : vector<4xi16> to vector<4xbf16>
  return %0, %1, %2 : vector<4xbf16>, vector<4xbf16>, vector<4xbf16>
}

// -----

// With AVX512_VBMI bytes of 64 magnitudes are looked up, the lower ones and the upper ones; then signs are set. Not of fewer codes,
// nor of types that have another NaN.
// BYTES-LABEL: func.func @bytes
// BYTES: %[[CODES:.*]] = arith.bitcast %{{.*}} : vector<64xf8E4M3FN> to vector<64xi8>
// BYTES: %[[LOW:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"(%{{.*}}, %[[CODES]], %{{.*}})
// BYTES: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"(%{{.*}}, %[[CODES]], %{{.*}})
// BYTES: %[[SIGN:.*]] = arith.andi %[[CODES]], %{{.*}} : vector<64xi8>
// BYTES: %[[UPPER:.*]] = arith.ori %[[HIGH]], %[[SIGN]]
// BYTES: vector.interleave %[[LOW]], %[[UPPER]]
// BYTES-COUNT-2: llvm.x86.avx512.vpermi2var.qi.512
// BYTES-NOT: vpermi2var
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: vpermi2var
func.func @bytes(%a: vector<64xf8E4M3FN>, %b: vector<64xf8E5M2>, %c: vector<16xf8E4M3FN>, %d: vector<64xf8E4M3FNUZ>)
    -> (vector<64xbf16>, vector<64xbf16>, vector<16xbf16>, vector<64xbf16>) {
  %0 = arith.extf %a : vector<64xf8E4M3FN> to vector<64xbf16>
  %1 = arith.extf %b : vector<64xf8E5M2> to vector<64xbf16>
  %2 = arith.extf %c : vector<16xf8E4M3FN> to vector<16xbf16>
  %3 = arith.extf %d : vector<64xf8E4M3FNUZ> to vector<64xbf16>
  return %0, %1, %2, %3 : vector<64xbf16>, vector<64xbf16>, vector<16xbf16>, vector<64xbf16>
}

// -----

// f32 as well, of 32 codes and more: both bytes of a bf16 are the code of 32, and shuffles within 128 bits make f32 of it.
// BYTES-LABEL: func.func @bytes_to_f32
// BYTES: %[[CODES:.*]] = vector.shuffle %{{.*}} [0, 0, 1, 1, 2, 2, 3, 3, 16, 16, 17, 17, 18, 18, 19, 19, 4, 4, {{.*}}] : vector<32xi8>, vector<32xi8>
// BYTES: %[[LOW:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"(%{{.*}}, %[[CODES]], %{{.*}})
// BYTES: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"(%{{.*}}, %[[CODES]], %{{.*}})
// BYTES: arith.select %{{.*}}, %[[HIGH]], %[[LOW]]
// BYTES: vector.shuffle %{{.*}} [0, 32, 1, 33, 2, 34, 3, 35, 8, 40, {{.*}}] : vector<32xi16>, vector<32xi16>
// BYTES: vector.shuffle %{{.*}} [4, 36, 5, 37, 6, 38, 7, 39, 12, 44, {{.*}}] : vector<32xi16>, vector<32xi16>
// 64 and 32 of 96.
// BYTES: vector.shuffle %{{.*}} [0, 1, 2, 3, 16, 17, 18, 19, 32, {{.*}}] : vector<64xi8>, vector<64xi8>
// BYTES-COUNT-2: llvm.x86.avx512.vpermi2var.qi.512
// BYTES-COUNT-2: llvm.x86.avx512.vpermi2var.qi.512
// BYTES-NOT: vpermi2var
// BYTES: return
func.func @bytes_to_f32(%a: vector<32xf8E4M3FN>, %b: vector<96xf8E4M3FN>, %c: vector<16xf8E4M3FN>, %d: vector<64xf8E5M2>)
    -> (vector<32xf32>, vector<96xf32>, vector<16xf32>, vector<64xf32>) {
  %0 = arith.extf %a : vector<32xf8E4M3FN> to vector<32xf32>
  %1 = arith.extf %b : vector<96xf8E4M3FN> to vector<96xf32>
  %2 = arith.extf %c : vector<16xf8E4M3FN> to vector<16xf32>
  %3 = arith.extf %d : vector<64xf8E5M2> to vector<64xf32>
  return %0, %1, %2, %3 : vector<32xf32>, vector<96xf32>, vector<16xf32>, vector<64xf32>
}

// -----

// Through f16: NaN is set without a test, and e5m2 is the upper byte.
// CHECK-LABEL: func.func @through_f16
// CHECK: %[[WIDE:.*]] = arith.extsi %{{.*}} : vector<16xi8> to vector<16xi16>
// CHECK: %[[UP:.*]] = arith.shli %[[WIDE]], %{{.*}} : vector<16xi16>
// CHECK: %[[BITS:.*]] = arith.andi %[[UP]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[BITS]]
// CHECK: %[[NAN:.*]] = arith.andi %[[NEXT]]
// CHECK: arith.ori %[[BITS]], %[[NAN]]
// CHECK: arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.mulf
// CHECK: arith.extsi
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.shli
// CHECK-NEXT: arith.bitcast
// CHECK-NEXT: arith.extf
// CHECK-NEXT: return
// SOFT-LABEL: func.func @through_f16
// SOFT: arith.extsi %{{.*}} : vector<16xi8> to vector<16xi32>
// SOFT: arith.select
// SOFT: arith.mulf
// SOFT: arith.select
// SOFT: arith.mulf
func.func @through_f16(%a: vector<16xf8E4M3FN>, %b: vector<16xf8E5M2>) -> (vector<16xf32>, vector<16xf32>) {
  %0 = arith.extf %a : vector<16xf8E4M3FN> to vector<16xf32>
  %1 = arith.extf %b : vector<16xf8E5M2> to vector<16xf32>
  return %0, %1 : vector<16xf32>, vector<16xf32>
}

// -----

// What computes with f16 of a float of 8 bits takes its f32, but not from outside a loop.
// CHECK-LABEL: func.func @known
// CHECK: %[[F16:.*]] = arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: %[[F32:.*]] = arith.mulf %[[F16]]
// CHECK: %[[NARROW:.*]] = arith.truncf %[[F32]] : vector<16xf32> to vector<16xf16>
// CHECK: %[[Y:.*]] = arith.extf %arg1
// CHECK: arith.mulf %[[F32]], %[[Y]] : vector<16xf32>
// CHECK: scf.for
// CHECK: arith.extf %[[NARROW]] : vector<16xf16> to vector<16xf32>
// A scale may be more than f16 holds.
// CHECK-LABEL: func.func @power
// CHECK: %[[POWER:.*]] = arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
// CHECK: arith.extf %[[POWER]]
func.func @known(%x: vector<16xf8E4M3FN>, %y: vector<16xf16>, %n: index) -> (vector<16xf16>, vector<16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.extf %x : vector<16xf8E4M3FN> to vector<16xf16>
  %1 = arith.mulf %0, %y : vector<16xf16>
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> (vector<16xf16>) {
    %3 = arith.addf %s, %0 : vector<16xf16>
    scf.yield %3 : vector<16xf16>
  }
  return %1, %2 : vector<16xf16>, vector<16xf16>
}
func.func @power(%x: vector<16xf8E8M0FNU>) -> vector<16xf32> {
  %0 = arith.extf %x : vector<16xf8E8M0FNU> to vector<16xf16>
  %1 = arith.extf %0 : vector<16xf16> to vector<16xf32>
  return %1 : vector<16xf32>
}

// -----

// What is chosen among numbers is one of them: nothing is rounded in between.
// CHECK-LABEL: func.func @clamp(
// CHECK-SAME: %[[X:[a-z0-9]+]]: vector<16xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]] : vector<16xf16> to vector<16xf32>
// CHECK: %[[ABOVE:.*]] = arith.maxnumf %[[WIDE]], %{{.*}} : vector<16xf32>
// CHECK: %[[BOTH:.*]] = arith.minnumf %[[ABOVE]], %{{.*}} : vector<16xf32>
// CHECK: arith.truncf %[[BOTH]] : vector<16xf32> to vector<16xf16>
func.func @clamp(%x: vector<16xf16>, %low: vector<16xf16>, %high: vector<16xf16>) -> vector<16xf16> {
  %above = arith.maxnumf %x, %low : vector<16xf16>
  %both = arith.minnumf %above, %high : vector<16xf16>
  return %both : vector<16xf16>
}

// -----

// Differences of numbers of 8 bits are numbers of f16: what computes with them takes their f32. Those of 11 bits and a sign may
// be rounded.
// CHECK-LABEL: func.func @small_integers
// CHECK: %[[F:.*]] = arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: arith.mulf %[[F]], %{{.*}} : vector<16xf32>
// CHECK: %[[LARGE:.*]] = arith.sitofp
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[LARGE]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[ROUNDED]]
// CHECK: arith.mulf %[[WIDE]], %{{.*}} : vector<16xf32>
func.func @small_integers(%x: vector<16xi32>, %z: vector<16xi32>, %s: vector<16xf16>) -> (vector<16xf16>, vector<16xf16>) {
  %bits = arith.constant dense<255> : vector<16xi32>
  %more = arith.constant dense<2047> : vector<16xi32>
  %a = arith.andi %x, %bits : vector<16xi32>
  %b = arith.andi %z, %bits : vector<16xi32>
  %d = arith.subi %a, %b : vector<16xi32>
  %f = arith.sitofp %d : vector<16xi32> to vector<16xf16>
  %y = arith.mulf %f, %s : vector<16xf16>
  %c = arith.andi %x, %more : vector<16xi32>
  %e = arith.subi %c, %b : vector<16xi32>
  %g = arith.sitofp %e : vector<16xi32> to vector<16xf16>
  %w = arith.mulf %g, %s : vector<16xf16>
  return %y, %w : vector<16xf16>, vector<16xf16>
}
