// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 bf16-pairs i16-pairs" --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" | FileCheck %s --check-prefix=NONE
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256 i16-pairs" | FileCheck %s --check-prefix=SHORT
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 i16-pair-sums" | FileCheck %s --check-prefix=SUMS

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

// The elements of b are 128 too high, and four rows of it are one; what that makes too much are the sums of the rows of a, which
// stays where it is.
// CHECK-LABEL: func.func @i8
// CHECK-SAME: (%[[A:[a-z0-9]+]]: memref<16x32xi8>, %[[B:[a-z0-9]+]]: memref<32x32xi8>
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<-128> : vector<16xi8>
// CHECK-DAG: %[[OFFSET:.*]] = arith.constant dense<-128> : vector<32xi8>
// CHECK: %[[RIGHT:.*]] = memref.alloc() {{.*}} : memref<1x8x128xi8>
// CHECK: vector.load %[[B]]
// CHECK: arith.xori {{.*}}, %[[HIGH]] : vector<16xi8>
// CHECK: vector.interleave {{.*}} : vector<32xi8> -> vector<64xi8>
// CHECK: vector.store {{.*}}, %[[RIGHT]]
// CHECK: %[[CORRECTIONS:.*]] = memref.alloc() {{.*}} : memref<16xi32>
// CHECK: %[[ROW:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<32xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"({{.*}}, %[[OFFSET]], %[[ROW]]) : (vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>
// CHECK: vector.reduction <add>
// CHECK: memref.store {{.*}}, %[[CORRECTIONS]]
// CHECK: arith.subi {{.*}} : vector<16xi32>
// CHECK: scf.for {{.*}} to %c8
// CHECK: vector.load %[[RIGHT]]
// CHECK: vector.load %[[A]]{{.*}} vector<4xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"({{.*}}) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// SHORT-LABEL: func.func @i8
// SHORT: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"({{.*}}) : (vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>
// SUMS-LABEL: func.func @i8
// SUMS: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"({{.*}}) : (vector<32xi16>, vector<32xi16>) -> vector<16xi32>
// SUMS: arith.addi {{.*}} : vector<16xi32>
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

// Both without a sign: two of them, widened, are one step.
// CHECK-LABEL: func.func @u8
// CHECK: arith.extui {{.*}} : vector<16xi8> to vector<16xi16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpwssd.512"({{.*}}) : (vector<16xi32>, vector<32xi16>, vector<32xi16>) -> vector<16xi32>
func.func @u8(%a: memref<16x32xi8>, %b: memref<32x32xi8>, %out: memref<16x32xi32>) {
  %x = bufferization.to_tensor %a : memref<16x32xi8> to tensor<16x32xi8>
  %y = bufferization.to_tensor %b : memref<32x32xi8> to tensor<32x32xi8>
  %zero = arith.constant 0 : i32
  %init = tensor.splat %zero : tensor<16x32xi32>
  %c = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%x, %y : tensor<16x32xi8>, tensor<32x32xi8>) outs(%init : tensor<16x32xi32>) -> tensor<16x32xi32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<16x32xi32>, memref<16x32xi32>) -> ()
  return
}

// -----

// 8-bit floats are numbers of bf16. A matrix that is contiguous along its columns has two steps of each beside each other: words
// that are transposed.
// CHECK-LABEL: func.func @f8
// CHECK: %[[RIGHT:.*]] = memref.alloc() {{.*}} : memref<1x16x64xi16>
// CHECK: vector.load {{.*}} vector<32xf8E5M2>
// CHECK: arith.extf {{.*}} : vector<32xf8E5M2> to vector<32xf32>
// CHECK: arith.trunci {{.*}} : vector<32xi32> to vector<32xi16>
// CHECK: vector.bitcast {{.*}} : vector<32xi16> to vector<16xi32>
// CHECK: vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK: vector.store {{.*}}, %[[RIGHT]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
func.func @f8(%a: memref<16x32xf8E4M3FN>, %b: memref<32x32xf8E5M2, strided<[1, 32]>>, %out: memref<16x32xf32>) {
  %x = bufferization.to_tensor %a : memref<16x32xf8E4M3FN> to tensor<16x32xf8E4M3FN>
  %y = bufferization.to_tensor %b : memref<32x32xf8E5M2, strided<[1, 32]>> to tensor<32x32xf8E5M2>
  %zero = arith.constant 0.0 : f32
  %init = tensor.splat %zero : tensor<16x32xf32>
  %c = linalg.matmul ins(%x, %y : tensor<16x32xf8E4M3FN>, tensor<32x32xf8E5M2>) outs(%init : tensor<16x32xf32>) -> tensor<16x32xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
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
