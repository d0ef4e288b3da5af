// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-share-operands | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-order-programs=two-fmas --canonicalize --cse | FileCheck %s --check-prefix=ORDER

#id = affine_map<(d0) -> (d0)>

// Rows of tokens that are sorted by their experts: the next program mostly has the same one. Programs of one column of
// weights follow one another.
// CHECK-LABEL: func.func @experts
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[A:.*]] = linalg_ext.gather_rows
// CHECK: %[[B:.*]] = scf.if %true
// CHECK: {tilebridge.shared}
// CHECK: linalg.matmul {tilebridge.deep} ins(%[[A]], %[[B]] :
// ORDER-LABEL: func.func @experts
// ORDER-SAME: tilebridge.order = @experts.order
// ORDER-LABEL: func.func private @experts.order
func.func @experts(%x: memref<?xf32>, %w: memref<?xf32>, %to: memref<?xf32>, %experts: memref<?xi64>, %n: i32, %k: i32,
                   %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64xi1>
  %block = arith.divsi %px, %c4 : i32
  %column = arith.remsi %px, %c4 : i32
  %row = arith.muli %block, %c64 : i32
  %first = arith.index_cast %row : i32 to index
  %there = memref.reinterpret_cast %experts to offset: [%first], sizes: [64], strides: [1] : memref<?xi64> to memref<64xi64, strided<[1], offset: ?>>
  %mine = bufferization.to_tensor %there : memref<64xi64, strided<[1], offset: ?>> to tensor<64xi64>
  %sums = scf.for %e = %c0 to %n step %c1 iter_args(%outer = %zeros) -> (tensor<64x64xf32>) : i32 {
    %number = arith.extsi %e : i32 to i64
    %same = tensor.splat %number : tensor<64xi64>
    %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%mine, %same : tensor<64xi64>, tensor<64xi64>) outs(%empty : tensor<64xi1>) {
    ^bb0(%a: i64, %b: i64, %o: i1):
      %is = arith.cmpi eq, %a, %b : i64
      linalg.yield %is : i1
    } -> tensor<64xi1>
    %inner = scf.for %i = %c0 to %k step %c32 iter_args(%sum = %outer) -> (tensor<64x64xf32>) : i32 {
      %at = arith.index_cast %i : i32 to index
      %view = memref.reinterpret_cast %x to offset: [%at], sizes: [64, 32], strides: [32, 1] : memref<?xf32> to memref<64x32xf32, strided<[32, 1], offset: ?>>
      %rows = memref.cast %view : memref<64x32xf32, strided<[32, 1], offset: ?>> to memref<?x32xf32, strided<[32, 1], offset: ?>>
      %left = linalg_ext.gather_rows %rows[%mine] dim 0 rowmask %mask other %zero
          : (memref<?x32xf32, strided<[32, 1], offset: ?>>, tensor<64xi64>, tensor<64xi1>, f32) -> tensor<64x32xf32>
      %far = arith.muli %e, %k : i32
      %near = arith.muli %column, %c64 : i32
      %base = arith.addi %far, %near : i32
      %place = arith.addi %base, %i : i32
      %from = arith.index_cast %place : i32 to index
      %part = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 64], strides: [256, 1] : memref<?xf32> to memref<32x64xf32, strided<[256, 1], offset: ?>>
      %right = bufferization.to_tensor %part : memref<32x64xf32, strided<[256, 1], offset: ?>> to tensor<32x64xf32>
      %next = linalg.matmul ins(%left, %right : tensor<64x32xf32>, tensor<32x64xf32>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    scf.yield %inner : tensor<64x64xf32>
  }
  %out = memref.reinterpret_cast %to to offset: [%first], sizes: [64, 64], strides: [64, 1] : memref<?xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
  bufferization.materialize_in_destination %sums in writable %out : (tensor<64x64xf32>, memref<64x64xf32, strided<[64, 1], offset: ?>>) -> ()
  return
}

// -----

// A loop around whose turns have nothing to do with rows: each has another b.
// CHECK-LABEL: func.func @turns
// CHECK-NOT: tilebridge.shared
// ORDER-LABEL: func.func @turns
// ORDER-NOT: order
func.func @turns(%x: memref<?xf32>, %w: memref<?xf32>, %to: memref<64x64xf32>, %n: i32, %k: i32,
                 %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %sums = scf.for %e = %c0 to %n step %c1 iter_args(%outer = %zeros) -> (tensor<64x64xf32>) : i32 {
    %inner = scf.for %i = %c0 to %k step %c32 iter_args(%sum = %outer) -> (tensor<64x64xf32>) : i32 {
      %at = arith.index_cast %i : i32 to index
      %view = memref.reinterpret_cast %x to offset: [%at], sizes: [64, 32], strides: [32, 1] : memref<?xf32> to memref<64x32xf32, strided<[32, 1], offset: ?>>
      %left = bufferization.to_tensor %view : memref<64x32xf32, strided<[32, 1], offset: ?>> to tensor<64x32xf32>
      %far = arith.muli %e, %k : i32
      %place = arith.addi %far, %i : i32
      %from = arith.index_cast %place : i32 to index
      %part = memref.reinterpret_cast %w to offset: [%from], sizes: [32, 64], strides: [256, 1] : memref<?xf32> to memref<32x64xf32, strided<[256, 1], offset: ?>>
      %right = bufferization.to_tensor %part : memref<32x64xf32, strided<[256, 1], offset: ?>> to tensor<32x64xf32>
      %next = linalg.matmul ins(%left, %right : tensor<64x32xf32>, tensor<32x64xf32>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    scf.yield %inner : tensor<64x64xf32>
  }
  bufferization.materialize_in_destination %sums in writable %to : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
  return
}
