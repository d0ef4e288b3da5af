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

// -----

// A product whose right operand is computed from what a branch gives, with a condition of which the loop knows a part, and another
// branch that asks for the known part alone. The left operand is packed from whatever its branch gives, so that nobody asks for it
// before. The quotient may be of a number by zero; in front of it nothing but numbers is computed.
// CHECK-LABEL: func.func @product
// CHECK-SAME: %[[P:[a-z0-9]*]]: i32, %[[G:[a-z0-9]*]]: i32
// CHECK: %[[Q:.*]] = arith.divsi %[[P]], %[[G]]
// CHECK: %[[A:.*]] = arith.cmpi sge, %[[Q]]
// CHECK: scf.if %[[A]] {
// CLEAN-LABEL: func.func @product
// CLEAN: scf.if
// CLEAN: scf.for
// The left operand.
// CLEAN: scf.if
// CLEAN: linalg_ext.gather
// What only the loop knows.
// CLEAN: %[[J:.*]] = arith.cmpi slt, %{{.*}}, %c9
// CLEAN: scf.if %[[J]]
// CLEAN: linalg_ext.gather
// CLEAN-NOT: linalg_ext.gather
// CLEAN: linalg.matmul
// CLEAN: } else {
// CLEAN: scf.for
// CLEAN: linalg_ext.gather %
// CLEAN: linalg_ext.gather_rows
// CLEAN: linalg_ext.gather %
// A row alone is not worth a second product.
// CHECK-LABEL: func.func @row
// CHECK: arith.cmpi
// CHECK: scf.for
// CHECK: linalg.matmul
// CHECK-NOT: linalg.matmul
// CHECK: return
// Behind a loop that may not end a quotient stays where it is.
// CHECK-LABEL: func.func @behind
// CHECK: scf.while
// CHECK-COUNT-1: scf.if
// CHECK-NOT: scf.if
func.func @product(%p: i32, %g: i32, %x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32, strided<[1], offset: ?>>, %at: tensor<64x64xi64>, %starts: tensor<64xi64>, %n: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %q = arith.divsi %p, %g : i32
  %start = arith.index_cast %q : i32 to index
  %a = arith.cmpi sge, %q, %c0 : i32
  %b = arith.cmpi sge, %n, %c9 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %left = scf.if %b -> (tensor<64x64xf32>) {
      %box = memref.reinterpret_cast %x to offset: [%start], sizes: [64, 64], strides: [64, 1]
          : memref<?xf32, strided<[1], offset: ?>> to memref<64x64xf32, strided<[64, 1], offset: ?>>
      %t = bufferization.to_tensor %box : memref<64x64xf32, strided<[64, 1], offset: ?>> to tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    } else {
      %t = linalg_ext.gather %x[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64x64xi64>) -> tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    }
    %right = scf.if %a -> (tensor<64x64xf32>) {
      %box = memref.reinterpret_cast %y to offset: [%start], sizes: [64, 64], strides: [64, 1]
          : memref<?xf32, strided<[1], offset: ?>> to memref<64x64xf32, strided<[64, 1], offset: ?>>
      %t = bufferization.to_tensor %box : memref<64x64xf32, strided<[64, 1], offset: ?>> to tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    } else {
      %rows = memref.reinterpret_cast %y to offset: [0], sizes: [64, 64], strides: [1, 64]
          : memref<?xf32, strided<[1], offset: ?>> to memref<64x64xf32, strided<[1, 64]>>
      %any = memref.cast %rows : memref<64x64xf32, strided<[1, 64]>> to memref<64x?xf32, strided<[1, 64]>>
      %t = linalg_ext.gather_rows %any[%starts] dim 1 : (memref<64x?xf32, strided<[1, 64]>>, tensor<64xi64>) -> tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    }
    %j = arith.cmpi slt, %k, %c9 : i32
    %both = arith.andi %j, %a : i1
    %scale = scf.if %both -> (tensor<64x64xf32>) {
      %box = memref.reinterpret_cast %y to offset: [%start], sizes: [64, 64], strides: [64, 1]
          : memref<?xf32, strided<[1], offset: ?>> to memref<64x64xf32, strided<[64, 1], offset: ?>>
      %t = bufferization.to_tensor %box : memref<64x64xf32, strided<[64, 1], offset: ?>> to tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    } else {
      %t = linalg_ext.gather %y[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64x64xi64>) -> tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    }
    %scaled = arith.mulf %right, %scale : tensor<64x64xf32>
    %d = linalg.matmul ins(%left, %scaled : tensor<64x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %out = memref.reinterpret_cast %x to offset: [0], sizes: [64, 64], strides: [64, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64x64xf32>, memref<64x64xf32, strided<[64, 1]>>) -> ()
  return
}
func.func @row(%p: i32, %x: memref<?xf32, strided<[1], offset: ?>>, %l: tensor<64x64xf32>, %at: tensor<1x64xi64>, %n: i32)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %start = arith.index_cast %p : i32 to index
  %a = arith.cmpi sge, %p, %c0 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %row = scf.if %a -> (tensor<1x64xf32>) {
      %box = memref.reinterpret_cast %x to offset: [%start], sizes: [1, 64], strides: [64, 1]
          : memref<?xf32, strided<[1], offset: ?>> to memref<1x64xf32, strided<[64, 1], offset: ?>>
      %t = bufferization.to_tensor %box : memref<1x64xf32, strided<[64, 1], offset: ?>> to tensor<1x64xf32>
      scf.yield %t : tensor<1x64xf32>
    } else {
      %t = linalg_ext.gather %x[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<1x64xi64>) -> tensor<1x64xf32>
      scf.yield %t : tensor<1x64xf32>
    }
    %line = tensor.collapse_shape %row [[0, 1]] : tensor<1x64xf32> into tensor<64xf32>
    %wide = linalg.broadcast ins(%line : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [0]
    %d = linalg.matmul ins(%l, %wide : tensor<64x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %out = memref.reinterpret_cast %x to offset: [0], sizes: [64, 64], strides: [64, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %sum in writable %out : (tensor<64x64xf32>, memref<64x64xf32, strided<[64, 1]>>) -> ()
  return
}
func.func @behind(%p: i32, %g: i32, %x: memref<?xf32, strided<[1], offset: ?>>, %at: tensor<64xi64>) attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %w = scf.while (%i = %p) : (i32) -> i32 {
    %more = arith.cmpi ne, %i, %c0 : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %half = arith.shrsi %i, %g : i32
    scf.yield %half : i32
  }
  %q = arith.divsi %p, %g : i32
  %a = arith.cmpi sge, %q, %c0 : i32
  %v = scf.if %a -> (tensor<64xf32>) {
    %box = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1]
        : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %box : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  } else {
    %t = linalg_ext.gather %x[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>) -> tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  }
  %out = memref.reinterpret_cast %x to offset: [0], sizes: [64], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %v in writable %out : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Rows of packed weights: gathered only where the block begins below zero. Without a product, too, what is computed from the block is
// not computed from a copy.
// CHECK-LABEL: func.func @rows
// CLEAN-LABEL: func.func @rows
// CLEAN: %[[A:.*]] = arith.cmpi sge
// CLEAN: scf.if %[[A]] {
// CLEAN-NOT: linalg_ext.gather_rows
// CLEAN: tensor.collapse_shape
// CLEAN-NOT: scf.if
// CLEAN: linalg.reduce
// CLEAN: } else {
// CLEAN: linalg_ext.gather_rows
// CLEAN: linalg.reduce
func.func @rows(%p: i32, %x: memref<?xi32, strided<[1], offset: ?>>, %starts: tensor<64xi64>, %y: memref<64xi32>)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %start = arith.index_cast %p : i32 to index
  %a = arith.cmpi sge, %p, %c0 : i32
  %zero = arith.constant dense<0> : tensor<64xi32>
  %w = scf.if %a -> (tensor<64x64xi32>) {
    %box = memref.reinterpret_cast %x to offset: [%start], sizes: [8, 8, 64], strides: [64, 0, 1]
        : memref<?xi32, strided<[1], offset: ?>> to memref<8x8x64xi32, strided<[64, 0, 1], offset: ?>>
    %t = bufferization.to_tensor %box : memref<8x8x64xi32, strided<[64, 0, 1], offset: ?>> to tensor<8x8x64xi32>
    %c = tensor.collapse_shape %t [[0, 1], [2]] : tensor<8x8x64xi32> into tensor<64x64xi32>
    scf.yield %c : tensor<64x64xi32>
  } else {
    %rows = memref.reinterpret_cast %x to offset: [0], sizes: [64, 64], strides: [1, 1]
        : memref<?xi32, strided<[1], offset: ?>> to memref<64x64xi32, strided<[1, 1]>>
    %any = memref.cast %rows : memref<64x64xi32, strided<[1, 1]>> to memref<?x64xi32, strided<[1, 1]>>
    %t = linalg_ext.gather_rows %any[%starts] dim 0 : (memref<?x64xi32, strided<[1, 1]>>, tensor<64xi64>) -> tensor<64x64xi32>
    scf.yield %t : tensor<64x64xi32>
  }
  %sum = linalg.reduce { arith.addi } ins(%w : tensor<64x64xi32>) outs(%zero : tensor<64xi32>) dimensions = [0]
  bufferization.materialize_in_destination %sum in writable %y : (tensor<64xi32>, memref<64xi32>) -> ()
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>

// What a branch gives to a product that is scaled before it is added up is not packed there: it would be copied first.
// CHECK-LABEL: func.func @scaled
// CHECK: scf.if
// CHECK: linalg.matmul
// CHECK: } else {
// CHECK: linalg.matmul
// CLEAN-LABEL: func.func @scaled
// CLEAN: scf.if
// CLEAN-NOT: linalg_ext.gather
// CLEAN: linalg.matmul
// CLEAN: } else {
// CLEAN: linalg_ext.gather
// CLEAN: linalg.matmul
func.func @scaled(%p: i32, %x: tensor<16x64xf32>, %y: memref<?xf32, strided<[1], offset: ?>>, %at: tensor<64x64xi64>, %n: i32, %o: memref<16x64xf32>)
    attributes {tilebridge.kernel} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %start = arith.index_cast %p : i32 to index
  %a = arith.cmpi sge, %p, %c0 : i32
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %e = tensor.empty() : tensor<16x64xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {
    %right = scf.if %a -> (tensor<64x64xf32>) {
      %box = memref.reinterpret_cast %y to offset: [%start], sizes: [64, 64], strides: [64, 1]
          : memref<?xf32, strided<[1], offset: ?>> to memref<64x64xf32, strided<[64, 1], offset: ?>>
      %t = bufferization.to_tensor %box : memref<64x64xf32, strided<[64, 1], offset: ?>> to tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    } else {
      %t = linalg_ext.gather %y[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64x64xi64>) -> tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    }
    %d = linalg.matmul ins(%x, %right : tensor<16x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<16x64xf32>) -> tensor<16x64xf32>
    %s = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%d, %acc : tensor<16x64xf32>, tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
    ^bb0(%v: f32, %w: f32, %out: f32):
      %twice = arith.addf %v, %v : f32
      %t = arith.addf %twice, %w : f32
      linalg.yield %t : f32
    } -> tensor<16x64xf32>
    scf.yield %s : tensor<16x64xf32>
  }
  bufferization.materialize_in_destination %sum in writable %o : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
  return
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>

// A program that may end early asks behind that, where the numbers are known.
// CHECK-LABEL: func.func @ends_early
// CHECK: scf.if %{{.*}} {
// CHECK: %[[INSIDE:.*]] = arith.cmpi sge
// CHECK: scf.if %[[INSIDE]] {
// CHECK: linalg.matmul
// CHECK: } else {
// CHECK: linalg.matmul
// CLEAN-LABEL: func.func @ends_early
// CLEAN: scf.if
// CLEAN: scf.if
// CLEAN-NOT: linalg_ext.gather
// CLEAN: linalg.matmul
// CLEAN: } else {
// CLEAN: linalg_ext.gather
// CLEAN: linalg.matmul
func.func @ends_early(%p: i32, %x: tensor<16x64xf32>, %y: memref<?xf32, strided<[1], offset: ?>>, %at: tensor<64x64xi64>, %n: i32,
                      %last: memref<1xi32>, %o: memref<16x64xf32>) attributes {tilebridge.kernel} {
  %i0 = arith.constant 0 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %end = memref.load %last[%i0] : memref<1xi32>
  %goes_on = arith.cmpi slt, %p, %end : i32
  scf.if %goes_on {
    %first = arith.subi %end, %p : i32
    %start = arith.index_cast %first : i32 to index
    %a = arith.cmpi sge, %first, %c0 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {
      %right = scf.if %a -> (tensor<64x64xf32>) {
        %box = memref.reinterpret_cast %y to offset: [%start], sizes: [64, 64], strides: [64, 1]
            : memref<?xf32, strided<[1], offset: ?>> to memref<64x64xf32, strided<[64, 1], offset: ?>>
        %t = bufferization.to_tensor %box : memref<64x64xf32, strided<[64, 1], offset: ?>> to tensor<64x64xf32>
        scf.yield %t : tensor<64x64xf32>
      } else {
        %t = linalg_ext.gather %y[%at] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64x64xi64>) -> tensor<64x64xf32>
        scf.yield %t : tensor<64x64xf32>
      }
      %weight = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
          ins(%right : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
      ^bb0(%v: f32, %out: f32):
        %t = arith.negf %v : f32
        linalg.yield %t : f32
      } -> tensor<64x64xf32>
      %d = linalg.matmul ins(%x, %weight : tensor<16x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<16x64xf32>) -> tensor<16x64xf32>
      scf.yield %d : tensor<16x64xf32>
    }
    bufferization.materialize_in_destination %sum in writable %o : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
  }
  return
}
