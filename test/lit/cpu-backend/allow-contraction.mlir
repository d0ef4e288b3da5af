// RUN: tilebridge-opt %s -tilebridge-cpu-allow-contraction | FileCheck %s

// CHECK-LABEL: func.func @fused
// CHECK: arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : vector<8xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<nnan,contract> : vector<8xf32>
// CHECK: arith.divf %{{.*}}, %{{.*}} : vector<8xf32>
func.func @fused(%a: vector<8xf32>, %b: vector<8xf32>) -> vector<8xf32> {
  %0 = arith.mulf %a, %b : vector<8xf32>
  %1 = arith.addf %0, %b fastmath<nnan> : vector<8xf32>
  %2 = arith.divf %1, %a : vector<8xf32>
  return %2 : vector<8xf32>
}
