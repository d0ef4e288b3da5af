// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 bf16-pairs i16-pairs" --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" | FileCheck %s --check-prefix=NONE
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256 bf16-pairs i16-pairs" | FileCheck %s --check-prefix=NONE

// NONE-NOT: llvm.call_intrinsic

// Two rows of b are one; a is read where it lies, two elements at once.
// CHECK-LABEL: func.func @bf16
// CHECK-SAME: (%[[A:[a-z0-9]+]]: memref<16x32xbf16>
// CHECK: %[[PACKED:.*]] = memref.alloc() {{.*}} : memref<1x16x64xi16>
// CHECK: scf.for
// CHECK: vector.interleave {{.*}} : vector<16xi16> -> vector<32xi16>
// CHECK: vector.store {{.*}}, %[[PACKED]]
// CHECK: scf.for {{.*}} to %c16
// CHECK: vector.load %[[PACKED]]{{.*}} vector<32xi16>
// CHECK: vector.load %[[A]]{{.*}} vector<2xbf16>
// CHECK: vector.bitcast {{.*}} : vector<2xbf16> to vector<1xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"({{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
func.func @bf16(%a: memref<16x32xbf16>, %b: memref<32x32xbf16>, %out: memref<16x32xf32>) {
  %x = bufferization.to_tensor %a : memref<16x32xbf16> to tensor<16x32xbf16>
  %y = bufferization.to_tensor %b : memref<32x32xbf16> to tensor<32x32xbf16>
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<16x32xf32>
  %c = linalg.matmul ins(%x, %y : tensor<16x32xbf16>, tensor<32x32xbf16>) outs(%init : tensor<16x32xf32>) -> tensor<16x32xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// NONE-NOT: llvm.call_intrinsic

// CHECK-LABEL: func.func @i8
// CHECK: arith.extsi {{.*}} : vector<16xi8> to vector<16xi16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"({{.*}}) : (vector<16xi32>, vector<32xi16>, vector<32xi16>) -> vector<16xi32>
func.func @i8(%a: memref<16x32xi8>, %b: memref<32x32xi8>, %out: memref<16x32xi32>) {
  %x = bufferization.to_tensor %a : memref<16x32xi8> to tensor<16x32xi8>
  %y = bufferization.to_tensor %b : memref<32x32xi8> to tensor<32x32xi8>
  %zero = arith.constant 0 : i32
  %init = tensor.splat %zero : tensor<16x32xi32>
  %c = linalg.matmul ins(%x, %y : tensor<16x32xi8>, tensor<32x32xi8>) outs(%init : tensor<16x32xi32>) -> tensor<16x32xi32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<16x32xi32>, memref<16x32xi32>) -> ()
  return
}

// -----

// An odd number of steps, and sums in another type, are left to the general loops.
// CHECK-LABEL: func.func @others
// CHECK-NOT: llvm.call_intrinsic
func.func @others(%a: memref<16x31xbf16>, %b: memref<31x32xbf16>, %d: memref<16x32xf16>, %e: memref<32x32xf16>, %out: memref<16x32xf32>) {
  %x = bufferization.to_tensor %a : memref<16x31xbf16> to tensor<16x31xbf16>
  %y = bufferization.to_tensor %b : memref<31x32xbf16> to tensor<31x32xbf16>
  %z = bufferization.to_tensor %d : memref<16x32xf16> to tensor<16x32xf16>
  %w = bufferization.to_tensor %e : memref<32x32xf16> to tensor<32x32xf16>
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<16x32xf32>
  %c = linalg.matmul ins(%x, %y : tensor<16x31xbf16>, tensor<31x32xbf16>) outs(%init : tensor<16x32xf32>) -> tensor<16x32xf32>
  %f = linalg.matmul ins(%z, %w : tensor<16x32xf16>, tensor<32x32xf16>) outs(%c : tensor<16x32xf32>) -> tensor<16x32xf32>
  bufferization.materialize_in_destination %f in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}
