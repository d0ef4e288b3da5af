// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit -canonicalize -cse | FileCheck %s

// Exchanges of elements nearer than a step of the loop are shuffles, and what is farther is read from the buffer it was written to.
#row = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @sort
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[C32]]
// CHECK: %[[X:.*]] = vector.load %{{.*}} : {{.*}}, vector<32xf32>
// CHECK-NEXT: %[[Y:.*]] = vector.shuffle %[[X]], %[[X]] [1, 0, 3, 2, {{.*}}, 31, 30]
// CHECK-NEXT: %[[A:.*]] = arith.subf %[[X]], %[[Y]]
// CHECK-NEXT: %[[Z:.*]] = vector.shuffle %[[A]], %[[A]] [16, 17, {{.*}}, 14, 15]
// CHECK-NEXT: %[[B:.*]] = arith.subf %[[A]], %[[Z]]
// CHECK-NEXT: vector.store %[[B]], %[[BUFFER:.*]][%{{.*}}]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %[[C32]]
// CHECK: %[[HERE:.*]] = vector.load %[[BUFFER]][%[[I]]]
// CHECK: %[[J:.*]] = arith.xori %[[I]], %[[C64]] : index
// CHECK: %[[THERE:.*]] = vector.load %[[BUFFER]][%[[J]]]
// CHECK: arith.subf %[[HERE]], %[[THERE]] : vector<32xf32>
func.func @sort(%in: memref<256xf32>, %out: memref<256xf32>) attributes {tilebridge.kernel} {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %e = tensor.empty() : tensor<256xi32>
  %f = tensor.empty() : tensor<256xf32>
  %x = bufferization.to_tensor %in : memref<256xf32> to tensor<256xf32>
  %p1 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%e : tensor<256xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.xori %i, %c1 : index
    %k = arith.index_cast %j : index to i32
    linalg.yield %k : i32
  } -> tensor<256xi32>
  %y1 = linalg_ext.gather_along %x[%p1] dimension = 0 {tilebridge.lanes = 32 : i64} : tensor<256xf32>, tensor<256xi32> -> tensor<256xf32>
  %z1 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%x, %y1 : tensor<256xf32>, tensor<256xf32>) outs(%f : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  %p16 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%e : tensor<256xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.xori %i, %c16 : index
    %k = arith.index_cast %j : index to i32
    linalg.yield %k : i32
  } -> tensor<256xi32>
  %y16 = linalg_ext.gather_along %z1[%p16] dimension = 0 {tilebridge.lanes = 32 : i64} : tensor<256xf32>, tensor<256xi32> -> tensor<256xf32>
  %z16 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%z1, %y16 : tensor<256xf32>, tensor<256xf32>) outs(%f : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  %p64 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%e : tensor<256xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.xori %i, %c64 : index
    %k = arith.index_cast %j : index to i32
    linalg.yield %k : i32
  } -> tensor<256xi32>
  %y64 = linalg_ext.gather_along %z16[%p64] dimension = 0 {tilebridge.lanes = 32 : i64} : tensor<256xf32>, tensor<256xi32> -> tensor<256xf32>
  %z64 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%z16, %y64 : tensor<256xf32>, tensor<256xf32>) outs(%f : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  bufferization.materialize_in_destination %z64 in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}
