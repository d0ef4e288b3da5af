// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 two-fmas bf16-pairs" --canonicalize --cse | FileCheck %s

// CPUs that do two multiply-adds of f32 a cycle do one vdpbf16ps in two: bf16 is widened where it is packed. Of a block of rows that exist in
// part, those that are stored are read where they lie, and a tile reads the last of them in place of others; a single row has a tile of its own.
// Sums of bf16 are one chain, as those of f32 are.
// CHECK-LABEL: func.func @rows
// CHECK: %[[WANTED:.*]] = arith.minsi %{{.*}}, %c16
// CHECK: memref.alloc() {{.*}} : memref<16x{{[0-9]+}}xf32>
// CHECK: scf.for
// CHECK: %[[ISTHERE:.*]] = arith.cmpi sge, %{{.*}}, %[[WANTED]]
// CHECK: scf.if %[[ISTHERE]] {
// CHECK: %[[END:.*]] = arith.minsi %[[WANTED]], %c16
// CHECK: scf.for %[[ROW:.*]] = %c0 to %[[END]] step %c1
// CHECK: %[[PIECE:.*]] = llvm.load {{.*}} {alignment = 2 : i64} {{.*}} -> vector<16xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[PIECE]] {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: vector.store %[[WIDE]], %{{.*}}[%[[ROW]], %{{.*}}]
// CHECK: } else {
// CHECK: vector.store
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[WANTED]], %c1
// CHECK: scf.if %[[ONE]]
// CHECK-NOT: dpbf16ps
// CHECK-NOT: to %c4 step %c1
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CHECK: } else {
// CHECK: %[[LAST:.*]] = arith.addi %[[WANTED]], %c-1
// CHECK: %[[CLAMPED:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK: vector.load %{{.*}}[%[[CLAMPED]], %{{.*}}]
// CHECK-NOT: dpbf16ps
func.func @rows(%m: index, %a: memref<?x128xbf16, strided<[?, 1], offset: ?>>, %b: memref<128x16xbf16, strided<[?, 1], offset: ?>>, %n: i32,
                %out: memref<?x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %pad = arith.constant 0.0 : bf16
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rows = arith.minsi %m, %c16 : index
  %rest = arith.subi %c16, %rows : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %there = memref.subview %a[0, 0] [%rows, 128] [1, 1] : memref<?x128xbf16, strided<[?, 1], offset: ?>> to memref<?x128xbf16, strided<[?, 1], offset: ?>>
    %some = bufferization.to_tensor %there : memref<?x128xbf16, strided<[?, 1], offset: ?>> to tensor<?x128xbf16>
    %x = tensor.pad %some low[0, 0] high[%rest, 0] {
    ^bb0(%r: index, %c: index):
      tensor.yield %pad : bf16
    } : tensor<?x128xbf16> to tensor<16x128xbf16>
    %y = bufferization.to_tensor %b : memref<128x16xbf16, strided<[?, 1], offset: ?>> to tensor<128x16xbf16>
    %d = linalg.matmul ins(%x, %y : tensor<16x128xbf16>, tensor<128x16xbf16>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %size = arith.minsi %m, %c16 : index
  %part = tensor.extract_slice %sum[0, 0] [%size, 16] [1, 1] : tensor<16x16xf32> to tensor<?x16xf32>
  %to = memref.subview %out[0, 0] [%size, 16] [1, 1] : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?x16xf32>, memref<?x16xf32, strided<[16, 1]>>) -> ()
  return
}

// -----

// What DotScaled.cpp rounds, though nothing is lost, is multiplied as it was before; what a kernel rounds stays rounded.
// CHECK-LABEL: func.func @scaled
// CHECK: arith.mulf
// CHECK-NEXT: vector.store {{.*}} : memref<1x{{.*}}xf32>
// CHECK-LABEL: func.func @rounded
// CHECK: arith.mulf
// CHECK: arith.truncf {{.*}} to vector<16xbf16>
// CHECK: arith.extf
// CHECK: vector.store {{.*}} : memref<1x{{.*}}xf32>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @scaled(%a: memref<16x64xbf16>, %b: memref<64x16xf32>, %n: i32, %out: memref<16x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x64xbf16> to tensor<16x64xbf16>
    %y = bufferization.to_tensor %b : memref<64x16xf32> to tensor<64x16xf32>
    %e = tensor.empty() : tensor<64x16xbf16>
    %w = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<64x16xf32>) outs(%e : tensor<64x16xbf16>) {
    ^bb0(%v: f32, %o: bf16):
      %p = arith.mulf %v, %v : f32
      %t = arith.truncf %p fastmath<contract> : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<64x16xbf16>
    %d = linalg.matmul ins(%x, %w : tensor<16x64xbf16>, tensor<64x16xbf16>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

func.func @rounded(%a: memref<16x64xbf16>, %b: memref<64x16xf32>, %n: i32, %out: memref<16x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %x = bufferization.to_tensor %a : memref<16x64xbf16> to tensor<16x64xbf16>
    %y = bufferization.to_tensor %b : memref<64x16xf32> to tensor<64x16xf32>
    %e = tensor.empty() : tensor<64x16xbf16>
    %w = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<64x16xf32>) outs(%e : tensor<64x16xbf16>) {
    ^bb0(%v: f32, %o: bf16):
      %p = arith.mulf %v, %v : f32
      %t = arith.truncf %p : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<64x16xbf16>
    %d = linalg.matmul ins(%x, %w : tensor<16x64xbf16>, tensor<64x16xbf16>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  bufferization.materialize_in_destination %sum in writable %out : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
