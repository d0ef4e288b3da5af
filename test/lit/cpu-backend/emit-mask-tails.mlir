// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256" --canonicalize --cse | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>

// Scores of n keys in a block of 128, and minus infinity behind them: panels of keys, the loops of a softmax, and
// the steps of the second product end behind the last key.
// CHECK-LABEL: func.func @attention(
// CHECK-SAME: %[[N:[a-z0-9]*]]: index
// CHECK: %[[BELOW:.*]] = arith.maxsi %[[N]], %c0
// CHECK: %[[END:.*]] = arith.minsi %[[BELOW]], %c128
// The largest score: up to a multiple of 32 keys.
// CHECK: %[[BEHIND:.*]] = arith.addi %[[END]], %c32
// CHECK: %[[UP:.*]] = arith.andi %[[BEHIND]], %c-32
// CHECK: %[[LAST:.*]] = arith.minsi %[[UP]], %c128
// CHECK: scf.for %{{.*}} = %c0 to %{{[0-9]+}} step %c16 iter_args
// CHECK: arith.maximumf
// One step behind the last key is multiplied, too, up to a multiple of four: so many weights are there.
// CHECK: %[[MORE:.*]] = arith.addi %{{[0-9]+}}, %c1
// CHECK: arith.ceildivsi %[[MORE]], %c4
// CHECK: %[[FOURS:.*]] = arith.muli
// CHECK: %[[STEPS:.*]] = arith.minsi %[[FOURS]], %c128
// CHECK: scf.for %{{.*}} = %c0 to %{{[0-9]+}} step %c16 {
// CHECK: math.exp2
// CHECK: arith.ceildivsi %[[STEPS]], %c4
// CHECK: %[[K:.*]] = arith.minsi %{{[0-9]+}}, %c128
// CHECK: scf.for %{{.*}} = %c0 to %[[K]] step %c4 iter_args
func.func @attention(%q: memref<16x32xf32>, %k: memref<32x128xf32>, %v: memref<128x16xf32>, %o: memref<16x16xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %zeros = arith.constant dense<0.0> : tensor<16x128xf32>
  %sums = arith.constant dense<0.0> : tensor<16x16xf32>
  %low = arith.constant dense<0xFF800000> : tensor<16xf32>
  %below = arith.maxsi %n, %c0 : index
  %end = arith.minsi %below, %c128 : index
  %rest = arith.subi %c128, %end : index
  %empty = tensor.empty() : tensor<128xi64>
  %keys = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%empty : tensor<128xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %cast = arith.index_cast %i : index to i64
    linalg.yield %cast : i64
  } -> tensor<128xi64>
  %number = arith.index_cast %n : index to i64
  %limits = tensor.splat %number : tensor<128xi64>
  %bools = tensor.empty() : tensor<128xi1>
  %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%keys, %limits : tensor<128xi64>, tensor<128xi64>) outs(%bools : tensor<128xi1>) {
  ^bb0(%i: i64, %limit: i64, %out: i1):
    %is = arith.cmpi slt, %i, %limit : i64
    linalg.yield %is : i1
  } -> tensor<128xi1>
  %a = bufferization.to_tensor %q : memref<16x32xf32> to tensor<16x32xf32>
  %k_part = memref.subview %k[0, 0] [32, %end] [1, 1] : memref<32x128xf32> to memref<32x?xf32, strided<[128, 1]>>
  %k_read = bufferization.to_tensor %k_part : memref<32x?xf32, strided<[128, 1]>> to tensor<32x?xf32>
  %b = tensor.pad %k_read low[0, 0] high[0, %rest] {
  ^bb0(%x: index, %y: index):
    tensor.yield %zero : f32
  } : tensor<32x?xf32> to tensor<32x128xf32>
  %scores = linalg.matmul ins(%a, %b : tensor<16x32xf32>, tensor<32x128xf32>) outs(%zeros : tensor<16x128xf32>) -> tensor<16x128xf32>
  %block = tensor.empty() : tensor<16x128xf32>
  %seen = linalg.generic {indexing_maps = [#columns, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%mask, %scores : tensor<128xi1>, tensor<16x128xf32>) outs(%block : tensor<16x128xf32>) {
  ^bb0(%is: i1, %x: f32, %out: f32):
    %y = arith.select %is, %x, %inf : f32
    linalg.yield %y : f32
  } -> tensor<16x128xf32>
  %top = linalg.reduce { arith.maximumf } ins(%seen : tensor<16x128xf32>) outs(%low : tensor<16xf32>) dimensions = [1]
  %weights = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]} ins(%seen, %top : tensor<16x128xf32>, tensor<16xf32>) outs(%block : tensor<16x128xf32>) {
  ^bb0(%x: f32, %t: f32, %out: f32):
    %less = arith.subf %x, %t : f32
    %y = math.exp2 %less : f32
    linalg.yield %y : f32
  } -> tensor<16x128xf32>
  %v_part = memref.subview %v[0, 0] [%end, 16] [1, 1] : memref<128x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  %v_read = bufferization.to_tensor %v_part : memref<?x16xf32, strided<[16, 1]>> to tensor<?x16xf32>
  %values = tensor.pad %v_read low[0, 0] high[%rest, 0] {
  ^bb0(%x: index, %y: index):
    tensor.yield %zero : f32
  } : tensor<?x16xf32> to tensor<128x16xf32>
  %result = linalg.matmul ins(%weights, %values : tensor<16x128xf32>, tensor<128x16xf32>) outs(%sums : tensor<16x16xf32>) -> tensor<16x16xf32>
  bufferization.materialize_in_destination %result in writable %o : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>

// Values behind the last key may be NaN: all steps are multiplied. Scores of a mask are computed up to its end alone.
// CHECK-LABEL: func.func @values_are_there(
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c32 {
// CHECK: math.exp2
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c4 iter_args
func.func @values_are_there(%q: memref<16x32xf32>, %k: memref<32x128xf32>, %v: memref<128x16xf32>, %o: memref<16x16xf32>, %kept: memref<128xi1>) {
  %inf = arith.constant 0xFF800000 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x128xf32>
  %sums = arith.constant dense<0.0> : tensor<16x16xf32>
  %mask = bufferization.to_tensor %kept : memref<128xi1> to tensor<128xi1>
  %a = bufferization.to_tensor %q : memref<16x32xf32> to tensor<16x32xf32>
  %b = bufferization.to_tensor %k : memref<32x128xf32> to tensor<32x128xf32>
  %scores = linalg.matmul ins(%a, %b : tensor<16x32xf32>, tensor<32x128xf32>) outs(%zeros : tensor<16x128xf32>) -> tensor<16x128xf32>
  %block = tensor.empty() : tensor<16x128xf32>
  %weights = linalg.generic {indexing_maps = [#columns, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%mask, %scores : tensor<128xi1>, tensor<16x128xf32>) outs(%block : tensor<16x128xf32>) {
  ^bb0(%is: i1, %x: f32, %out: f32):
    %y = arith.select %is, %x, %inf : f32
    %z = math.exp2 %y : f32
    linalg.yield %z : f32
  } -> tensor<16x128xf32>
  %values = bufferization.to_tensor %v : memref<128x16xf32> to tensor<128x16xf32>
  %result = linalg.matmul ins(%weights, %values : tensor<16x128xf32>, tensor<128x16xf32>) outs(%sums : tensor<16x16xf32>) -> tensor<16x16xf32>
  bufferization.materialize_in_destination %result in writable %o : (tensor<16x16xf32>, memref<16x16xf32>) -> ()
  return
}
