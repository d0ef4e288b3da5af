// RUN: tilebridge-opt %s -tilebridge-cpu-expand-math="vector-bits=512 scalef free-underflow" | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-cpu-expand-math="vector-bits=256" | FileCheck %s --check-prefix=AVX2
// RUN: tilebridge-opt %s -tilebridge-cpu-expand-math="vector-bits=128 fma=false" | FileCheck %s --check-prefix=PLAIN

// Exponentials of which few bits count.

// For bf16 the largest root of 32 and 1 + r: three multiplications. Elsewhere a polynomial of degree 4, not 6, and one step to r.
// CHECK-LABEL: func.func @for_bf16
// CHECK: math.fma
// CHECK: %[[N:.*]] = arith.subf
// CHECK: %[[R:.*]] = math.fma %[[N]]
// CHECK: %[[ROOT:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// CHECK: %[[FACTOR:.*]] = math.fma %[[ROOT]], %[[R]], %[[ROOT]]
// CHECK-NOT: math.fma
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%{{.*}}, %[[N]],
// AVX2-LABEL: func.func @for_bf16
// AVX2: scf.if
// AVX2: } else {
// AVX2-COUNT-6: math.fma
// AVX2-NOT: math.fma
// AVX2: return
// Without fused multiply-adds the step to r is two.
// PLAIN-LABEL: func.func @for_bf16
// PLAIN: dense<-0.693359375>
// PLAIN: 0.0414586067
func.func @for_bf16(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x fastmath<afn> {tilebridge.for_bf16} : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @power_for_bf16
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// CHECK: arith.mulf
// CHECK: math.fma
// CHECK-NOT: math.fma
// CHECK: return
// AVX2-LABEL: func.func @power_for_bf16
// AVX2: } else {
// AVX2-COUNT-4: math.fma
// AVX2-NOT: math.fma
// AVX2: return
func.func @power_for_bf16(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp2 %x fastmath<afn> {tilebridge.for_bf16} : vector<16xf32>
  return %y : vector<16xf32>
}

// For f16 16 roots and 1 + r + r^2 / 2.
// CHECK-LABEL: func.func @for_f16
// CHECK-COUNT-2: math.fma
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK: arith.mulf
// CHECK-COUNT-2: math.fma
// CHECK-NOT: math.fma
// CHECK: return
func.func @for_f16(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x fastmath<afn> : vector<16xf32>
  return %y : vector<16xf32>
}

// Numbers have no table; other functions take no notice of the flag.
// CHECK-LABEL: func.func @others
// CHECK-NOT: permi2var
// CHECK-NOT: permvar
// CHECK: return
func.func @others(%x: f32, %y: vector<16xf32>) -> (f32, vector<16xf32>) {
  %e = math.exp %x fastmath<afn> {tilebridge.for_bf16} : f32
  %s = math.sqrt %y fastmath<afn> : vector<16xf32>
  return %e, %s : f32, vector<16xf32>
}
