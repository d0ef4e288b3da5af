// RUN: tilebridge-opt %s --tilebridge-cpu-plan | FileCheck %s --check-prefix=PLAN
// RUN: tilebridge-opt %s --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize --cse | FileCheck %s

// A scan that is only stored, element by element, is in the store's loop: the row is read once, in masked steps where it ends, the
// scan has two vectors a step, and there is no memory for it.
// PLAN-LABEL: func.func @row(
// PLAN: linalg_ext.scan
// PLAN: tilebridge.plan = "inline", tilebridge.streamed
// CHECK-LABEL: func.func @row(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK: %[[X:.*]] = vector.load {{.*}}, vector<32xf32>
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: %[[LOW:.*]] = vector.shuffle {{.*}} [0, 1, 2, 3, {{.*}} 14, 15]
// CHECK: %[[FIRST:.*]] = arith.addf %[[BEFORE]], %[[WITHIN:.*]] : vector<16xf32>
// CHECK: %[[LAST:.*]] = vector.shuffle %[[WITHIN]], %[[WITHIN]] [15, 15, {{.*}} 15]
// CHECK: %[[NEXT:.*]] = arith.addf %[[BEFORE]], %[[LAST]] : vector<16xf32>
// CHECK: vector.shuffle {{.*}} [16, 17, {{.*}} 31]
// CHECK: arith.addf %[[NEXT]], %{{.*}} : vector<16xf32>
// CHECK: %[[BEHIND:.*]] = arith.addf %[[NEXT]], %{{.*}} : vector<16xf32>
// CHECK: vector.store {{.*}} vector<32xf32>
// CHECK: scf.yield %[[BEHIND]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[SUMS]]) -> (vector<16xf32>)
// CHECK: vector.maskedstore
func.func @row(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %n: index,
               %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %n : index
  %zero = arith.constant 0.0 : f32
  %c256 = arith.constant 256 : index
  %length = arith.minsi %n, %c256 : index
  %in = memref.reinterpret_cast %x to offset: [%at], sizes: [%length], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %part = bufferization.to_tensor %in : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %empty = tensor.splat %zero : tensor<256xf32>
  %t = tensor.insert_slice %part into %empty[0] [%length] [1] : tensor<?xf32> into tensor<256xf32>
  %twice = arith.addf %t, %t : tensor<256xf32>
  %s = linalg_ext.scan(%twice) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<256xf32>) -> tensor<256xf32>
  %y = arith.negf %s : tensor<256xf32>
  %stored = tensor.extract_slice %y[0] [%length] [1] : tensor<256xf32> to tensor<?xf32>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [%length], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %stored in writable %out : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  return
}

// Not one that is stored twice, that runs backwards, along columns, or whose result is read at other places.
// PLAN-LABEL: func.func @others(
// PLAN-NOT: tilebridge.streamed
// PLAN: return
func.func @others(%x: memref<16x64xf32, strided<[64, 1], offset: ?>>, %o: memref<16x64xf32, strided<[64, 1], offset: ?>>,
                  %p: memref<16x64xf32, strided<[64, 1], offset: ?>>, %q: memref<64x16xf32, strided<[16, 1], offset: ?>>,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %t = bufferization.to_tensor %x : memref<16x64xf32, strided<[64, 1], offset: ?>> to tensor<16x64xf32>
  %twice = linalg_ext.scan(%t) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  bufferization.materialize_in_destination %twice in writable %o : (tensor<16x64xf32>, memref<16x64xf32, strided<[64, 1], offset: ?>>) -> ()
  bufferization.materialize_in_destination %twice in writable %p : (tensor<16x64xf32>, memref<16x64xf32, strided<[64, 1], offset: ?>>) -> ()
  %back = linalg_ext.scan(%t) dimension = 1 reverse {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  bufferization.materialize_in_destination %back in writable %o : (tensor<16x64xf32>, memref<16x64xf32, strided<[64, 1], offset: ?>>) -> ()
  %down = linalg_ext.scan(%t) dimension = 0 {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  bufferization.materialize_in_destination %down in writable %p : (tensor<16x64xf32>, memref<16x64xf32, strided<[64, 1], offset: ?>>) -> ()
  %crossed = linalg_ext.scan(%t) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %empty = tensor.empty() : tensor<64x16xf32>
  %across = linalg.transpose ins(%crossed : tensor<16x64xf32>) outs(%empty : tensor<64x16xf32>) permutation = [1, 0]
  bufferization.materialize_in_destination %across in writable %q : (tensor<64x16xf32>, memref<64x16xf32, strided<[16, 1], offset: ?>>) -> ()
  return
}

// Nor short rows, several of which a vector has.
// PLAN-LABEL: func.func @short(
// PLAN-NOT: tilebridge.streamed
// PLAN: return
func.func @short(%x: memref<64x8xf32, strided<[8, 1], offset: ?>>, %o: memref<64x8xf32, strided<[8, 1], offset: ?>>,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %t = bufferization.to_tensor %x : memref<64x8xf32, strided<[8, 1], offset: ?>> to tensor<64x8xf32>
  %s = linalg_ext.scan(%t) dimension = 1 {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    linalg_ext.yield %sum : f32
  } : (tensor<64x8xf32>) -> tensor<64x8xf32>
  bufferization.materialize_in_destination %s in writable %o : (tensor<64x8xf32>, memref<64x8xf32, strided<[8, 1], offset: ?>>) -> ()
  return
}
