// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-merge-rows --tilebridge-cpu-raise-products --canonicalize --cse | FileCheck %s

#map = affine_map<(d0) -> (d0)>

// Rows along x: 16 of them, or 8, are a block, whose sums are computed as rows and stored so. That places grow evenly is asked.

// CHECK-LABEL: func.func @rows(
// CHECK-NOT: linalg.matmul
// CHECK: return
// CHECK-LABEL: func.func private @rows.merged_few(
// CHECK-SAME: tilebridge.merged_programs = 8 : i64
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<8x64xf32>)
// CHECK-LABEL: func.func private @rows.merged(
// CHECK-SAME: -> i1 attributes {tilebridge.merged_axis = 0 : i64, tilebridge.merged_groups = 4 : i64, tilebridge.merged_programs = 16 : i64}
// CHECK: scf.for {{.*}} -> (i1)
// CHECK: scf.if
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} -> (tensor<16x64xf32>)
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<16x8xf32>, tensor<8x64xf32>)
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [16, 64], strides: [%{{.*}}, 1]
// CHECK: bufferization.materialize_in_destination %[[SUMS]] in writable %[[VIEW]]
func.func @rows(%a: memref<?xf32, strided<[1], offset: ?>>, %b: memref<?xf32, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>,
                %n: i32, %k: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32", "i32", "i32"]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %above = arith.muli %px, %k : i32
  %first = arith.index_cast %above : i32 to index
  %left = arith.muli %py, %c64 : i32
  %t = scf.for %s = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %i = arith.index_cast %s : i32 to index
    %at = arith.addi %first, %i : index
    %x = memref.load %a[%at] : memref<?xf32, strided<[1], offset: ?>>
    %o = arith.muli %s, %n : i32
    %p = arith.addi %o, %left : i32
    %q = arith.index_cast %p : i32 to index
    %v = memref.reinterpret_cast %b to offset: [%q], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %row = bufferization.to_tensor %v : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %e = tensor.empty() : tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%acc, %row : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%l: f32, %r: f32, %u: f32):
      %f = math.fma %x, %r, %l : f32
      linalg.yield %f : f32
    } -> tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  }
  %down = arith.muli %px, %n : i32
  %begin = arith.addi %down, %left : i32
  %to = arith.index_cast %begin : i32 to index
  %w = memref.reinterpret_cast %c to offset: [%to], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %t in writable %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

#map = affine_map<(d0) -> (d0)>

// Rows of one column of programs are as far apart as the quotient's divisor says.

// CHECK-LABEL: func.func @divided(
// CHECK-LABEL: func.func private @divided.merged_few_step(
// CHECK-LABEL: func.func private @divided.merged_few(
// CHECK-SAME: tilebridge.merged_step = @divided.merged_few_step
// CHECK-LABEL: func.func private @divided.merged_step(
// CHECK-LABEL: func.func private @divided.merged(
// CHECK-SAME: tilebridge.merged_step = @divided.merged_step
// CHECK: linalg.matmul
func.func @divided(%a: memref<?xf32, strided<[1], offset: ?>>, %b: memref<?xf32, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>,
                   %n: i32, %k: i32, %blocks: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32", "i32", "i32", "i32"]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %m = arith.divsi %px, %blocks : i32
  %block = arith.remsi %px, %blocks : i32
  %above = arith.muli %m, %k : i32
  %first = arith.index_cast %above : i32 to index
  %left = arith.muli %block, %c64 : i32
  %t = scf.for %s = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %i = arith.index_cast %s : i32 to index
    %at = arith.addi %first, %i : index
    %x = memref.load %a[%at] : memref<?xf32, strided<[1], offset: ?>>
    %o = arith.muli %s, %n : i32
    %p = arith.addi %o, %left : i32
    %q = arith.index_cast %p : i32 to index
    %v = memref.reinterpret_cast %b to offset: [%q], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %row = bufferization.to_tensor %v : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %e = tensor.empty() : tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%acc, %row : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%l: f32, %r: f32, %u: f32):
      %f = math.fma %x, %r, %l : f32
      linalg.yield %f : f32
    } -> tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  }
  %down = arith.muli %m, %n : i32
  %begin = arith.addi %down, %left : i32
  %to = arith.index_cast %begin : i32 to index
  %w = memref.reinterpret_cast %c to offset: [%to], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %t in writable %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

#map = affine_map<(d0) -> (d0)>

// Not where each program has rows of its own, and not for sums that are no products.

// CHECK-LABEL: func.func @own_rows(
// CHECK-NOT: func.func
func.func @own_rows(%a: memref<?xf32, strided<[1], offset: ?>>, %b: memref<?xf32, strided<[1], offset: ?>>, %c: memref<?xf32, strided<[1], offset: ?>>,
                    %n: i32, %k: i32, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32", "i32", "i32"]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %left = arith.muli %px, %c64 : i32
  %t = scf.for %s = %c0 to %k step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %i = arith.index_cast %s : i32 to index
    %x = memref.load %a[%i] : memref<?xf32, strided<[1], offset: ?>>
    %o = arith.muli %s, %n : i32
    %p = arith.addi %o, %left : i32
    %q = arith.index_cast %p : i32 to index
    %v = memref.reinterpret_cast %b to offset: [%q], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %row = bufferization.to_tensor %v : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    %e = tensor.empty() : tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%acc, %row : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%l: f32, %r: f32, %u: f32):
      %f = math.fma %x, %r, %l : f32
      linalg.yield %f : f32
    } -> tensor<64xf32>
    scf.yield %sum : tensor<64xf32>
  }
  %to = arith.index_cast %left : i32 to index
  %w = memref.reinterpret_cast %c to offset: [%to], sizes: [64], strides: [1] : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %t in writable %w : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}
