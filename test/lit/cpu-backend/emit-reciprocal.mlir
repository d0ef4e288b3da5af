// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=512 | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit="vector-bits=512 reciprocals=false" | FileCheck %s --check-prefix=EXACT

#id = affine_map<(d0) -> (d0)>

// One number for all lanes: the reciprocal of the number, brought near 1 by a power of two where it is far from it.
// CHECK-LABEL: func.func @by_one
// CHECK-SAME: %[[BY:[a-z0-9]+]]: f32
// CHECK-DAG: %[[SIZE:.*]] = math.absf %[[BY]]
// CHECK-DAG: arith.cmpf ogt, %[[SIZE]]
// CHECK-DAG: arith.cmpf olt, %[[SIZE]]
// CHECK: %[[NEAR:.*]] = arith.mulf %[[BY]], %{{.*}} : f32
// CHECK: arith.divf %{{.*}}, %[[NEAR]] : f32
// CHECK-COUNT-2: arith.mulf {{.*}} : vector<64xf32>
// CHECK-NOT: arith.divf
// CHECK: vector.store
// The flag goes away: LLVM would estimate the quotient.
// EXACT-LABEL: func.func @by_one
// EXACT: arith.divf %{{.*}}, %{{.*}} : vector<64xf32>
func.func @by_one(%x: memref<64xf32>, %by: f32, %out: memref<64xf32>) {
  %t = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  %s = tensor.splat %by : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%t, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.divf %a, %b fastmath<arcp> : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %q in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// Neither without the flag, nor where each lane has its own divisor.
// CHECK-LABEL: func.func @others
// CHECK: arith.divf %{{.*}}, %{{.*}} : vector<{{[0-9]+}}xf32>
// CHECK: arith.divf %{{.*}}, %{{.*}} : vector<{{[0-9]+}}xf32>
func.func @others(%x: memref<64xf32>, %by: f32, %out: memref<64xf32>) {
  %t = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  %s = tensor.splat %by : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%t, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.divf %a, %b : f32
    %r = arith.divf %b, %d fastmath<arcp> : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %q in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}
