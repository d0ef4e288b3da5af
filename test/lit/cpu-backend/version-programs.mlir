// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-version-programs | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(tilebridge-cpu-version-programs),canonicalize,cse)" \
// RUN:   | FileCheck %s --check-prefix=CLEAN

#id = affine_map<(d0) -> (d0)>

// Both conditions are asked once. In the first body there are boxes only, in the second one all that was there.
// CHECK-LABEL: func.func @two
// CHECK: %[[A:.*]] = arith.cmpi sge
// CHECK: %[[B:.*]] = arith.cmpi slt
// CHECK: %[[ALL:.*]] = arith.andi %[[A]], %[[B]]
// CHECK: scf.if %[[ALL]] {
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: scf.if %[[TRUE]]
// CHECK: scf.if %[[TRUE]]
// CHECK: } else {
// CHECK: scf.if %[[A]]
// CHECK: scf.if %[[B]]
// CLEAN-LABEL: func.func @two
// CLEAN: scf.if
// CLEAN-NOT: linalg_ext.gather
// CLEAN: bufferization.to_tensor
// CLEAN: bufferization.to_tensor
// CLEAN: bufferization.materialize_in_destination
// CLEAN: } else {
// CLEAN: linalg_ext.gather
// CLEAN: linalg_ext.gather
func.func @two(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>, %at: tensor<64xi64>, %p: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c9 = arith.constant 9 : i32
  %start = arith.index_cast %p : i32 to index
  %a = arith.cmpi sge, %p, %c0 : i32
  %v = scf.if %a -> (tensor<64xf32>) {
    %box = memref.reinterpret_cast %x to offset: [%start], sizes: [64], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %box : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  } else {
    %g = linalg_ext.gather %x[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>) -> tensor<64xf32>
    scf.yield %g : tensor<64xf32>
  }
  %q = arith.addi %p, %p : i32
  %b = arith.cmpi slt, %q, %c9 : i32
  %w = scf.if %b -> (tensor<64xf32>) {
    %box = memref.reinterpret_cast %y to offset: [%start], sizes: [64], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %box : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  } else {
    %g = linalg_ext.gather %y[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>) -> tensor<64xf32>
    scf.yield %g : tensor<64xf32>
  }
  %empty = tensor.empty() : tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%v, %w : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %out = memref.reinterpret_cast %y to offset: [%start], sizes: [64], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A condition that is read from memory is only known where it is read.
// CHECK-LABEL: func.func @read
// CHECK-COUNT-1: scf.if
// CHECK-NOT: scf.if
func.func @read(%x: memref<?xf32, strided<[1], offset: ?>>, %flags: memref<1xi1>, %at: tensor<64xi64>) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : index
  %a = memref.load %flags[%c0] : memref<1xi1>
  %v = scf.if %a -> (tensor<64xf32>) {
    %box = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %box : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  } else {
    %g = linalg_ext.gather %x[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>) -> tensor<64xf32>
    scf.yield %g : tensor<64xf32>
  }
  %out = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %v in writable %out : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A branch without single elements, and a function that is no kernel.
// CHECK-LABEL: func.func @other
// CHECK-COUNT-2: scf.if
// CHECK-NOT: scf.if
func.func @other(%c: i1, %x: tensor<64xf32>, %y: tensor<64xf32>) attributes {tilebridge.kernel} {
  %v = scf.if %c -> (tensor<64xf32>) {
    scf.yield %x : tensor<64xf32>
  } else {
    scf.yield %y : tensor<64xf32>
  }
  return
}
func.func @called(%c: i1, %x: memref<?xf32, strided<[1], offset: ?>>, %y: tensor<64xf32>, %at: tensor<64xi64>) {
  %v = scf.if %c -> (tensor<64xf32>) {
    scf.yield %y : tensor<64xf32>
  } else {
    %g = linalg_ext.gather %x[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>) -> tensor<64xf32>
    scf.yield %g : tensor<64xf32>
  }
  return
}
