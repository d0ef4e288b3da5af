// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=512 | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=256 | FileCheck %s --check-prefixes=CHECK,NARROW

#id = affine_map<(d0) -> (d0)>

// A step of an exponential is two vectors where registers are many, one where its constants fill them.
// CHECK-LABEL: func.func @exponential
// CHECK: scf.for
// WIDE: math.exp %{{.*}} : vector<32xf32>
// NARROW: math.exp %{{.*}} : vector<8xf32>
func.func @exponential(%x: memref<256xf32>, %out: memref<256xf32>) {
  %t = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  %e = tensor.empty() : tensor<256xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<256xf32>) outs(%e : tensor<256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = math.exp %a : f32
    linalg.yield %d : f32
  } -> tensor<256xf32>
  bufferization.materialize_in_destination %q in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// A short body is four.
// CHECK-LABEL: func.func @sum
// WIDE: arith.addf %{{.*}} : vector<64xf32>
// NARROW: arith.addf %{{.*}} : vector<32xf32>
func.func @sum(%x: memref<256xf32>, %out: memref<256xf32>) {
  %t = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  %e = tensor.empty() : tensor<256xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : tensor<256xf32>) outs(%e : tensor<256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.addf %a, %a : f32
    linalg.yield %d : f32
  } -> tensor<256xf32>
  bufferization.materialize_in_destination %q in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}
