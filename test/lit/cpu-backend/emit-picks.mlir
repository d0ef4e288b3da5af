// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit="vector-bits=512 byte-lookups=true" -canonicalize | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=512 -canonicalize | FileCheck %s --check-prefix=NOVBMI
// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=256 -canonicalize | FileCheck %s --check-prefix=AVX2
// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=128 -canonicalize | FileCheck %s --check-prefix=SSE

// A short row is loaded before the loop along the lanes, and they are picked from registers; no index is stored or
// loaded but by the loop of the result.
// CHECK-LABEL: func.func @codebook
// CHECK: vector.load %{{.*}} vector<16xf32>
// CHECK: scf.for
// CHECK: arith.minui
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"
// CHECK-NOT: scf.for
// CHECK: vector.store
// CHECK: return
// AVX2-LABEL: func.func @codebook
// AVX2: scf.for
// AVX2: %[[LOW:.*]] = llvm.call_intrinsic "llvm.x86.avx2.permd"
// AVX2: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.x86.avx2.permd"
// AVX2: arith.select %{{.*}}, %[[HIGH]], %[[LOW]]
// AVX2: return
// SSE-LABEL: func.func @codebook
// SSE-NOT: llvm.call_intrinsic
// SSE: scf.for
// SSE: vector.gather
// SSE: return
func.func @codebook(%x: memref<16xf32>, %i: memref<256xi32>, %out: memref<256xf32>) {
  %t = bufferization.to_tensor %x : memref<16xf32> to tensor<16xf32>
  %n = bufferization.to_tensor %i : memref<256xi32> to tensor<256xi32>
  %r = linalg_ext.gather_along %t[%n] dimension = 0 : tensor<16xf32>, tensor<256xi32> -> tensor<256xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// Each row has its own; two registers are one permutation, four are two.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for
// CHECK: vector.load %{{.*}} vector<64xf32>
// CHECK: scf.for
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.d.512"
// CHECK: arith.select
// CHECK: return
// AVX2-LABEL: func.func @rows
// AVX2-NOT: llvm.call_intrinsic
// AVX2: vector.gather
// AVX2: return
func.func @rows(%x: memref<8x64xf32>, %i: memref<8x256xi64>, %out: memref<8x256xf32>) {
  %t = bufferization.to_tensor %x : memref<8x64xf32> to tensor<8x64xf32>
  %n = bufferization.to_tensor %i : memref<8x256xi64> to tensor<8x256xi64>
  %r = linalg_ext.gather_along %t[%n] dimension = 1 : tensor<8x64xf32>, tensor<8x256xi64> -> tensor<8x256xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<8x256xf32>, memref<8x256xf32>) -> ()
  return
}

// Each lane has another row: from memory.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: llvm.call_intrinsic
// CHECK: vector.gather
// CHECK: return
func.func @columns(%x: memref<16x64xf32>, %i: memref<8x64xi32>, %out: memref<8x64xf32>) {
  %t = bufferization.to_tensor %x : memref<16x64xf32> to tensor<16x64xf32>
  %n = bufferization.to_tensor %i : memref<8x64xi32> to tensor<8x64xi32>
  %r = linalg_ext.gather_along %t[%n] dimension = 0 : tensor<16x64xf32>, tensor<8x64xi32> -> tensor<8x64xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<8x64xf32>, memref<8x64xf32>) -> ()
  return
}

// All numbers that the indices' type has are places: nothing to bound.
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: arith.minui
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"
// CHECK: return
// NOVBMI-LABEL: func.func @bytes
// NOVBMI-COUNT-4: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.hi.512"
// NOVBMI: return
func.func @bytes(%x: memref<256xi8>, %i: memref<256xi8>, %out: memref<256xi8>) {
  %t = bufferization.to_tensor %x : memref<256xi8> to tensor<256xi8>
  %n = bufferization.to_tensor %i : memref<256xi8> to tensor<256xi8>
  %r = linalg_ext.gather_along %t[%n] dimension = 0 : tensor<256xi8>, tensor<256xi8> -> tensor<256xi8>
  bufferization.materialize_in_destination %r in writable %out : (tensor<256xi8>, memref<256xi8>) -> ()
  return
}

// Sixteen bytes are shuffled within 128 bits; halves of 16 bits are two bytes.
// CHECK-LABEL: func.func @short
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.hi.512"
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.qi.512"
// CHECK: return
// NOVBMI-LABEL: func.func @short
// NOVBMI: llvm.call_intrinsic "llvm.x86.avx512.permvar.hi.512"
// NOVBMI: llvm.call_intrinsic "llvm.x86.avx512.pshuf.b.512"
// NOVBMI: return
// AVX2-LABEL: func.func @short
// AVX2: vector.interleave
// AVX2-COUNT-3: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"
// AVX2: return
func.func @short(%x: memref<16xf16>, %y: memref<16xi8>, %i: memref<256xi8>, %out: memref<256xf16>, %bytes: memref<256xi8>) {
  %t = bufferization.to_tensor %x : memref<16xf16> to tensor<16xf16>
  %u = bufferization.to_tensor %y : memref<16xi8> to tensor<16xi8>
  %n = bufferization.to_tensor %i : memref<256xi8> to tensor<256xi8>
  %r = linalg_ext.gather_along %t[%n] dimension = 0 : tensor<16xf16>, tensor<256xi8> -> tensor<256xf16>
  bufferization.materialize_in_destination %r in writable %out : (tensor<256xf16>, memref<256xf16>) -> ()
  %s = linalg_ext.gather_along %u[%n] dimension = 0 : tensor<16xi8>, tensor<256xi8> -> tensor<256xi8>
  bufferization.materialize_in_destination %s in writable %bytes : (tensor<256xi8>, memref<256xi8>) -> ()
  return
}

// A reshape of what an atomic gives is in memory, as it is picked from.
// CHECK-LABEL: func.func @reshaped
// CHECK: llvm.atomicrmw xchg
// CHECK: memref.store %{{.*}}, %[[OLD:.*]][%{{.*}}] : memref<2xf64>
// CHECK: memref.reinterpret_cast %[[OLD]] to
// CHECK: return
func.func @reshaped(%p: memref<?xf64, strided<[1], offset: ?>>, %at: memref<2xi64>, %v: memref<2xf64>, %i: memref<2x1xi32>, %out: memref<2x1xf64>) {
  %places = bufferization.to_tensor %at : memref<2xi64> to tensor<2xi64>
  %values = bufferization.to_tensor %v : memref<2xf64> to tensor<2xf64>
  %n = bufferization.to_tensor %i : memref<2x1xi32> to tensor<2x1xi32>
  %old = linalg_ext.atomic_rmw exch acquire gpu %p[%places], %values : (memref<?xf64, strided<[1], offset: ?>>, tensor<2xi64>, tensor<2xf64>) -> tensor<2xf64>
  %rows = tensor.expand_shape %old [[0, 1]] output_shape [2, 1] : tensor<2xf64> into tensor<2x1xf64>
  %picked = linalg_ext.gather_along %rows[%n] dimension = 1 : tensor<2x1xf64>, tensor<2x1xi32> -> tensor<2x1xf64>
  bufferization.materialize_in_destination %picked in writable %out : (tensor<2x1xf64>, memref<2x1xf64>) -> ()
  return
}
