// RUN: tilebridge-opt %s --tilebridge-cpu-plan | FileCheck %s

#line = affine_map<(d0) -> (d0)>

// What is in branches is looked at once, however deep they are.
// CHECK-LABEL: func.func @deep_branches
func.func @deep_branches(%c: i1, %x: memref<64xf32>, %y: memref<64xf32>, %m: i32) {
  // CHECK: bufferization.to_tensor
  %t = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  %empty = tensor.empty() : tensor<64xf32>
  %e = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%t : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %v0 = scf.if %c -> i32 {
  %v1 = scf.if %c -> i32 {
  %v2 = scf.if %c -> i32 {
  %v3 = scf.if %c -> i32 {
  %v4 = scf.if %c -> i32 {
  %v5 = scf.if %c -> i32 {
  %v6 = scf.if %c -> i32 {
  %v7 = scf.if %c -> i32 {
  %v8 = scf.if %c -> i32 {
  %v9 = scf.if %c -> i32 {
  %v10 = scf.if %c -> i32 {
  %v11 = scf.if %c -> i32 {
  %v12 = scf.if %c -> i32 {
  %v13 = scf.if %c -> i32 {
  %v14 = scf.if %c -> i32 {
  %v15 = scf.if %c -> i32 {
  %v16 = scf.if %c -> i32 {
  %v17 = scf.if %c -> i32 {
  %v18 = scf.if %c -> i32 {
  %v19 = scf.if %c -> i32 {
  %v20 = scf.if %c -> i32 {
  %v21 = scf.if %c -> i32 {
  %v22 = scf.if %c -> i32 {
  %v23 = scf.if %c -> i32 {
  %v24 = scf.if %c -> i32 {
  %v25 = scf.if %c -> i32 {
  scf.yield %m : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v25 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v24 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v23 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v22 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v21 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v20 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v19 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v18 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v17 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v16 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v15 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v14 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v13 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v12 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v11 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v10 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v9 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v8 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v7 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v6 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v5 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v4 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v3 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v2 : i32
  } else {
  scf.yield %m : i32
  }
  scf.yield %v1 : i32
  } else {
  scf.yield %m : i32
  }
  bufferization.materialize_in_destination %e in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}
