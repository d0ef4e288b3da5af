// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit="vector-bits=512 byte-lookups=true" -canonicalize | FileCheck %s
// RUN: tilebridge-opt %s -tilebridge-cpu-plan | FileCheck %s --check-prefix=PLAN

#map = affine_map<(d0) -> (d0)>

// Four bits choose one of 16 elements: these are loaded if they are on one page, and picked from. What is stored is
// compared with the table's range, and no scratch memory is between.
// CHECK-LABEL: func.func @codebook
// CHECK: %[[INSIDE:.*]] = arith.cmpi ule, %{{.*}}, %c4032
// CHECK: scf.if %[[INSIDE]]
// CHECK: vector.load %{{.*}} vector<16xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"
// CHECK: } else {
// CHECK: vector.gather
// CHECK: vector.store
// CHECK: return
// PLAN-LABEL: func.func @codebook
// PLAN: linalg_ext.gather {{.*}}tilebridge.plan = "inline"
func.func @codebook(%x: memref<?xf32, strided<[1], offset: ?>>, %i: memref<256xi8>, %out: memref<256xf32>) {
  %c15 = arith.constant 15 : i8
  %n = bufferization.to_tensor %i : memref<256xi8> to tensor<256xi8>
  %e = tensor.empty() : tensor<256xi8>
  %low = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%n : tensor<256xi8>) outs(%e : tensor<256xi8>) {
  ^bb0(%in: i8, %o: i8):
    %b = arith.andi %in, %c15 : i8
    linalg.yield %b : i8
  } -> tensor<256xi8>
  %w = tensor.empty() : tensor<256xi64>
  %at = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%low : tensor<256xi8>) outs(%w : tensor<256xi64>) {
  ^bb0(%in: i8, %o: i64):
    %b = arith.extui %in : i8 to i64
    linalg.yield %b : i64
  } -> tensor<256xi64>
  %r = linalg_ext.gather %x[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// Four bits with a sign may be before the table: a gather, which is done before anything is stored.
// CHECK-LABEL: func.func @signed
// CHECK-NOT: llvm.call_intrinsic
// CHECK: vector.gather
// CHECK: return
// PLAN-LABEL: func.func @signed
// PLAN: linalg_ext.gather {{.*}}tilebridge.plan = "buffer"
func.func @signed(%x: memref<?xf32, strided<[1], offset: ?>>, %i: memref<256xi8>, %out: memref<256xf32>) {
  %c4 = arith.constant 4 : i8
  %n = bufferization.to_tensor %i : memref<256xi8> to tensor<256xi8>
  %w = tensor.empty() : tensor<256xi64>
  %at = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%n : tensor<256xi8>) outs(%w : tensor<256xi64>) {
  ^bb0(%in: i8, %o: i64):
    %b = arith.shrsi %in, %c4 : i8
    %c = arith.extsi %b : i8 to i64
    linalg.yield %c : i64
  } -> tensor<256xi64>
  %r = linalg_ext.gather %x[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %r in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// With a mask, some lane must be on.
// CHECK-LABEL: func.func @masked
// CHECK: %[[ANY:.*]] = vector.reduction <or>
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[ANY]]
// CHECK: scf.if %[[BOTH]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.hi.512"
// CHECK: arith.select
// CHECK: return
func.func @masked(%x: memref<?xf16, strided<[1], offset: ?>>, %i: memref<256xi8>, %m: memref<256xi8>, %out: memref<256xf16>) {
  %c63 = arith.constant 63 : i8
  %c0 = arith.constant 0 : i8
  %other = arith.constant 0.0 : f16
  %n = bufferization.to_tensor %i : memref<256xi8> to tensor<256xi8>
  %o = bufferization.to_tensor %m : memref<256xi8> to tensor<256xi8>
  %w = tensor.empty() : tensor<256xi64>
  %at = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%n : tensor<256xi8>) outs(%w : tensor<256xi64>) {
  ^bb0(%in: i8, %u: i64):
    %b = arith.andi %in, %c63 : i8
    %c = arith.extui %b : i8 to i64
    linalg.yield %c : i64
  } -> tensor<256xi64>
  %v = tensor.empty() : tensor<256xi1>
  %on = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%o : tensor<256xi8>) outs(%v : tensor<256xi1>) {
  ^bb0(%in: i8, %u: i1):
    %b = arith.cmpi ne, %in, %c0 : i8
    linalg.yield %b : i1
  } -> tensor<256xi1>
  %r = linalg_ext.gather %x[%at] mask %on other %other : (memref<?xf16, strided<[1], offset: ?>>, tensor<256xi64>, tensor<256xi1>, f16) -> tensor<256xf16>
  bufferization.materialize_in_destination %r in writable %out : (tensor<256xf16>, memref<256xf16>) -> ()
  return
}

// The table of a row begins where the other part of the sum says; 32 bits may wrap around for the last elements.
// CHECK-LABEL: func.func @rows
// CHECK: arith.cmpi sle, %{{.*}}, %c2147483632_i32
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}} : index
// CHECK: scf.if
// CHECK: vector.load %{{.*}}[%{{.*}}] : {{.*}}, vector<16xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"
// CHECK: } else {
// CHECK: vector.gather
// CHECK: return
#map2 = affine_map<(d0, d1) -> (d0, d1)>
func.func @rows(%x: memref<?xf32, strided<[1], offset: ?>>, %r: memref<4xi32>, %i: memref<4x128xi8>, %out: memref<4x128xf32>) {
  %c4 = arith.constant 4 : i8
  %n = bufferization.to_tensor %i : memref<4x128xi8> to tensor<4x128xi8>
  %b = bufferization.to_tensor %r : memref<4xi32> to tensor<4xi32>
  %v = tensor.empty() : tensor<4x128xi32>
  %begin = linalg.broadcast ins(%b : tensor<4xi32>) outs(%v : tensor<4x128xi32>) dimensions = [1]
  %high = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<4x128xi8>) outs(%v : tensor<4x128xi32>) {
  ^bb0(%in: i8, %u: i32):
    %c = arith.shrui %in, %c4 : i8
    %d = arith.extui %c : i8 to i32
    linalg.yield %d : i32
  } -> tensor<4x128xi32>
  %sum = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%begin, %high : tensor<4x128xi32>, tensor<4x128xi32>) outs(%v : tensor<4x128xi32>) {
  ^bb0(%p: i32, %q: i32, %u: i32):
    %c = arith.addi %p, %q : i32
    linalg.yield %c : i32
  } -> tensor<4x128xi32>
  %w = tensor.empty() : tensor<4x128xi64>
  %at = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<4x128xi32>) outs(%w : tensor<4x128xi64>) {
  ^bb0(%in: i32, %u: i64):
    %c = arith.extsi %in : i32 to i64
    linalg.yield %c : i64
  } -> tensor<4x128xi64>
  %g = linalg_ext.gather %x[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<4x128xi64>) -> tensor<4x128xf32>
  bufferization.materialize_in_destination %g in writable %out : (tensor<4x128xf32>, memref<4x128xf32>) -> ()
  return
}
