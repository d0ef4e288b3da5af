// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=512 --canonicalize --cse | FileCheck %s

// Products of floats narrower than f32 that want it are summed in chains of 32 steps, to which the steps of a part are dealt out in
// turn; each chain begins at zero and is added to the accumulator.
// CHECK-LABEL: func.func @four
// CHECK: scf.for %[[TURN:.*]] = %c0 to %c4 step %c1 {
// CHECK: %[[SUMS:.*]]:16 = scf.for %{{.*}} = %[[TURN]] to %c128 step %c4 iter_args(%{{.*}} = %cst,
// CHECK: arith.addf %{{.*}}, %[[SUMS]]#0
func.func @four(%a: memref<16x128xf16>, %b: memref<128x32xf16>, %out: memref<16x32xf32>) {
  %x = bufferization.to_tensor %a : memref<16x128xf16> to tensor<16x128xf16>
  %y = bufferization.to_tensor %b : memref<128x32xf16> to tensor<128x32xf16>
  %acc = bufferization.to_tensor %out : memref<16x32xf32> to tensor<16x32xf32>
  %c = linalg.matmul {tilebridge.short_sums} ins(%x, %y : tensor<16x128xf16>, tensor<128x32xf16>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @one_by_one
// CHECK: scf.for %[[FROM:.*]] = %c0 to %c96 step %c32 {
// CHECK: %[[TO:.*]] = arith.addi %[[FROM]], %c32
// CHECK: %[[SUMS:.*]]:16 = scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1 iter_args(%{{.*}} = %cst,
// CHECK: arith.addf %{{.*}}, %[[SUMS]]#0
func.func @one_by_one(%a: memref<16x96xf16>, %b: memref<96x32xf16>, %out: memref<16x32xf32>) {
  %x = bufferization.to_tensor %a : memref<16x96xf16> to tensor<16x96xf16>
  %y = bufferization.to_tensor %b : memref<96x32xf16> to tensor<96x32xf16>
  %acc = bufferization.to_tensor %out : memref<16x32xf32> to tensor<16x32xf32>
  %c = linalg.matmul {tilebridge.short_sums} ins(%x, %y : tensor<16x96xf16>, tensor<96x32xf16>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}

// -----

// Others are one chain.
// CHECK-LABEL: func.func @one_chain
// CHECK: %[[SUMS:.*]]:16 = scf.for %{{.*}} = %c0 to %c128 step %c1 iter_args(%{{.*}} = %cst,
// CHECK: arith.addf %{{.*}}, %[[SUMS]]#0
func.func @one_chain(%a: memref<16x128xf16>, %b: memref<128x32xf16>, %out: memref<16x32xf32>) {
  %x = bufferization.to_tensor %a : memref<16x128xf16> to tensor<16x128xf16>
  %y = bufferization.to_tensor %b : memref<128x32xf16> to tensor<128x32xf16>
  %acc = bufferization.to_tensor %out : memref<16x32xf32> to tensor<16x32xf32>
  %c = linalg.matmul ins(%x, %y : tensor<16x128xf16>, tensor<128x32xf16>) outs(%acc : tensor<16x32xf32>) -> tensor<16x32xf32>
  bufferization.materialize_in_destination %c in writable %out : (tensor<16x32xf32>, memref<16x32xf32>) -> ()
  return
}
