// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512" --canonicalize | FileCheck %s

// 64 rows of 2 elements that follow one another are one of 128.

// CHECK-LABEL: func.func @one_row
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c64
// CHECK: vector.load {{.*}} vector<64xf32>
// CHECK: arith.addf {{.*}} : vector<64xf32>
// CHECK: vector.store {{.*}} vector<64xf32>
// CHECK-NOT: vector<2xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @one_row(%x: memref<64x2xf32, strided<[2, 1]>>, %out: memref<64x2xf32, strided<[2, 1]>>,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %t = bufferization.to_tensor %x : memref<64x2xf32, strided<[2, 1]>> to tensor<64x2xf32>
  %e = tensor.empty() : tensor<64x2xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<64x2xf32>) outs(%e : tensor<64x2xf32>) {
  ^bb0(%in: f32, %o: f32):
    %s = arith.addf %in, %in : f32
    linalg.yield %s : f32
  } -> tensor<64x2xf32>
  bufferization.materialize_in_destination %y in writable %out : (tensor<64x2xf32>, memref<64x2xf32, strided<[2, 1]>>) -> ()
  return
}

// -----

// Not where rows lie apart, nor where elements depend on their index.

// CHECK-LABEL: func.func @gaps
// CHECK: vector<2xf32>
func.func @gaps(%x: memref<64x2xf32, strided<[3, 1]>>, %out: memref<64x2xf32, strided<[2, 1]>>,
                %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %t = bufferization.to_tensor %x : memref<64x2xf32, strided<[3, 1]>> to tensor<64x2xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<64x2xf32>, memref<64x2xf32, strided<[2, 1]>>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @numbers
// CHECK-NOT: %c128 step
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @numbers(%out: memref<64x2xi64, strided<[2, 1]>>,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %e = tensor.empty() : tensor<64x2xi64>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x2xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i64
    linalg.yield %n : i64
  } -> tensor<64x2xi64>
  bufferization.materialize_in_destination %y in writable %out : (tensor<64x2xi64>, memref<64x2xi64, strided<[2, 1]>>) -> ()
  return
}
