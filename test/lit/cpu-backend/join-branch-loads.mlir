// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-join-branch-loads --canonicalize | FileCheck %s

!ptr = memref<?xf32, strided<[1], offset: ?>>
!block = memref<64x16xf32, strided<[1, ?], offset: ?>>

// A block with a mask or without one is one load of a box, of which the condition chooses the sizes. What is computed in the branch
// moves before it; each branch has its own place, which is the same number.
// CHECK-LABEL: func.func @joined(
// CHECK-SAME: %[[P:[a-z0-9]*]]: memref<?xf32, {{.*}}>, %[[PART:[a-z0-9]*]]: i1, %[[I:[a-z0-9]*]]: i64, %[[STEP:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK-NOT: scf.if
// CHECK: %[[AT:.*]] = arith.index_cast %[[I]] : i64 to index
// CHECK: %[[ALL:.*]] = memref.reinterpret_cast %[[P]] to offset: [%[[AT]]], sizes: [64, 16], strides: [1, %[[STEP]]]
// CHECK: %[[MANY:.*]] = arith.maxsi %[[N]], %c0
// CHECK: %[[SIZE:.*]] = arith.select %[[PART]], %[[MANY]], %c16
// CHECK: %[[REST:.*]] = arith.subi %c16, %[[SIZE]]
// CHECK: %[[SOME:.*]] = memref.subview %[[ALL]][0, 0] [64, %[[SIZE]]] [1, 1]
// CHECK: %[[BOX:.*]] = bufferization.to_tensor %[[SOME]]
// CHECK: %[[X:.*]] = tensor.pad %[[BOX]] low[0, 0] high[0, %[[REST]]] {
// CHECK: return %[[X]]
func.func @joined(%p: !ptr, %part: i1, %i: i64, %step: index, %n: index) -> tensor<64x16xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %f1 = arith.constant 1.0 : f32
  %x = scf.if %part -> (tensor<64x16xf32>) {
    %at = arith.index_cast %i : i64 to index
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [64, 16], strides: [1, %step] : !ptr to !block
    %many = arith.maxsi %n, %c0 : index
    %some = memref.subview %all[0, 0] [64, %many] [1, 1] : !block to memref<64x?xf32, strided<[1, ?], offset: ?>>
    %box = bufferization.to_tensor %some : memref<64x?xf32, strided<[1, ?], offset: ?>> to tensor<64x?xf32>
    %rest = arith.subi %c16, %many : index
    %padded = tensor.pad %box low[0, 0] high[0, %rest] {
    ^bb0(%r: index, %c: index):
      tensor.yield %f1 : f32
    } : tensor<64x?xf32> to tensor<64x16xf32>
    scf.yield %padded : tensor<64x16xf32>
  } else {
    %at = arith.index_cast %i : i64 to index
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [64, 16], strides: [1, %step] : !ptr to !block
    %whole = bufferization.to_tensor %all : !block to tensor<64x16xf32>
    scf.yield %whole : tensor<64x16xf32>
  }
  return %x : tensor<64x16xf32>
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
!block = memref<64xf32, strided<[1], offset: ?>>
!part = memref<?xf32, strided<[1], offset: ?>>

// The other branch may be the one with the mask, and both may have one; other results stay.
// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[FIRST:[a-z0-9]*]]: i1, %{{[a-z0-9]*}}: index, %[[M:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK: %[[SIZE:.*]] = arith.select %[[FIRST]], %[[M]], %[[N]]
// CHECK: memref.subview %{{.*}}[0] [%[[SIZE]]] [1]
// CHECK: tensor.pad
// CHECK: arith.select %[[FIRST]], %[[M]], %[[N]]
func.func @both(%p: !ptr, %first: i1, %at: index, %m: index, %n: index) -> (tensor<64xf32>, index) {
  %c64 = arith.constant 64 : index
  %f0 = arith.constant 0.0 : f32
  %x:2 = scf.if %first -> (tensor<64xf32>, index) {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : !ptr to !block
    %some = memref.subview %all[0] [%m] [1] : !block to !part
    %box = bufferization.to_tensor %some : !part to tensor<?xf32>
    %rest = arith.subi %c64, %m : index
    %padded = tensor.pad %box low[0] high[%rest] {
    ^bb0(%r: index):
      tensor.yield %f0 : f32
    } : tensor<?xf32> to tensor<64xf32>
    scf.yield %padded, %m : tensor<64xf32>, index
  } else {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : !ptr to !block
    %some = memref.subview %all[0] [%n] [1] : !block to !part
    %box = bufferization.to_tensor %some : !part to tensor<?xf32>
    %rest = arith.subi %c64, %n : index
    %padded = tensor.pad %box low[0] high[%rest] {
    ^bb0(%r: index):
      tensor.yield %f0 : f32
    } : tensor<?xf32> to tensor<64xf32>
    scf.yield %padded, %n : tensor<64xf32>, index
  }
  return %x#0, %x#1 : tensor<64xf32>, index
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
!block = memref<64xf32, strided<[1], offset: ?>>

// Another place, another array, and what a branch has written before: these stay.
// CHECK-LABEL: func.func @elsewhere(
// CHECK-COUNT-3: scf.if
// CHECK-NOT: tensor.pad
func.func @elsewhere(%p: !ptr, %q: !ptr, %first: i1, %second: i1, %at: index, %other: index, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %a = scf.if %first -> (tensor<64xf32>) {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : !ptr to !block
    %whole = bufferization.to_tensor %all : !block to tensor<64xf32>
    scf.yield %whole : tensor<64xf32>
  } else {
    %all = memref.reinterpret_cast %p to offset: [%other], sizes: [64], strides: [1] : !ptr to !block
    %whole = bufferization.to_tensor %all : !block to tensor<64xf32>
    scf.yield %whole : tensor<64xf32>
  }
  %b = scf.if %second -> (tensor<64xf32>) {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : !ptr to !block
    %whole = bufferization.to_tensor %all : !block to tensor<64xf32>
    scf.yield %whole : tensor<64xf32>
  } else {
    %all = memref.reinterpret_cast %q to offset: [%at], sizes: [64], strides: [1] : !ptr to !block
    %whole = bufferization.to_tensor %all : !block to tensor<64xf32>
    scf.yield %whole : tensor<64xf32>
  }
  %c = scf.if %first -> (tensor<64xf32>) {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : !ptr to !block
    bufferization.materialize_in_destination %y in writable %all : (tensor<64xf32>, !block) -> ()
    %whole = bufferization.to_tensor %all : !block to tensor<64xf32>
    scf.yield %whole : tensor<64xf32>
  } else {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : !ptr to !block
    %whole = bufferization.to_tensor %all : !block to tensor<64xf32>
    scf.yield %whole : tensor<64xf32>
  }
  return %a, %b, %c : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

!ptr = memref<?xf32, strided<[1], offset: ?>>
!block = memref<64xf32, strided<[1], offset: ?>>
!part = memref<?xf32, strided<[1], offset: ?>>

// Two numbers outside, and a place that the branch reads from memory.
// CHECK-LABEL: func.func @outside(
// CHECK-COUNT-2: scf.if
func.func @outside(%p: !ptr, %table: memref<?xindex>, %first: i1, %second: i1, %at: index, %n: index) -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %f0 = arith.constant 0.0 : f32
  %f1 = arith.constant 1.0 : f32
  %rest = arith.subi %c64, %n : index
  %a = scf.if %first -> (tensor<64xf32>) {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : !ptr to !block
    %some = memref.subview %all[0] [%n] [1] : !block to !part
    %box = bufferization.to_tensor %some : !part to tensor<?xf32>
    %padded = tensor.pad %box low[0] high[%rest] {
    ^bb0(%r: index):
      tensor.yield %f0 : f32
    } : tensor<?xf32> to tensor<64xf32>
    scf.yield %padded : tensor<64xf32>
  } else {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [64], strides: [1] : !ptr to !block
    %some = memref.subview %all[0] [%n] [1] : !block to !part
    %box = bufferization.to_tensor %some : !part to tensor<?xf32>
    %padded = tensor.pad %box low[0] high[%rest] {
    ^bb0(%r: index):
      tensor.yield %f1 : f32
    } : tensor<?xf32> to tensor<64xf32>
    scf.yield %padded : tensor<64xf32>
  }
  %b = scf.if %second -> (tensor<64xf32>) {
    %place = memref.load %table[%c0] : memref<?xindex>
    %all = memref.reinterpret_cast %p to offset: [%place], sizes: [64], strides: [1] : !ptr to !block
    %whole = bufferization.to_tensor %all : !block to tensor<64xf32>
    scf.yield %whole : tensor<64xf32>
  } else {
    %place = memref.load %table[%c0] : memref<?xindex>
    %all = memref.reinterpret_cast %p to offset: [%place], sizes: [64], strides: [1] : !ptr to !block
    %whole = bufferization.to_tensor %all : !block to tensor<64xf32>
    scf.yield %whole : tensor<64xf32>
  }
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}

// A load that is a box in some programs, and a gather that loops read in pieces
// in the others: the gather is what is left, if it is only stored. Not without
// the mark: then the branches may read different elements.
// CHECK-LABEL: func.func @pieces(
// CHECK-NOT: scf.if
// CHECK: %[[READ:.*]] = linalg_ext.gather
// CHECK: bufferization.materialize_in_destination %[[READ]]
// CHECK: %[[OTHERS:.*]]:2 = scf.if
// CHECK: materialize_in_destination %[[OTHERS]]#1
// CHECK: return %[[OTHERS]]#0
func.func @pieces(%p: !ptr, %n: i32, %is: i1, %at: index, %out: memref<256xf32>, %other: memref<256xf32>) -> tensor<256xf32> {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %f = tensor.empty() : tensor<256xi32>
  %narrow = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%f : tensor<256xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    linalg.yield %k : i32
  } -> tensor<256xi32>
  %stored = scf.if %is -> (tensor<256xf32>) {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [256], strides: [1] : !ptr to memref<256xf32, strided<[1], offset: ?>>
    %box = bufferization.to_tensor %all : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
    scf.yield %box : tensor<256xf32>
  } else {
    %wide = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%narrow : tensor<256xi32>) outs(%e : tensor<256xi64>) {
    ^bb0(%k: i32, %o: i64):
      %l = arith.extsi %k : i32 to i64
      linalg.yield %l : i64
    } -> tensor<256xi64>
    %read = linalg_ext.gather %p[%wide] {tilebridge.same_load} : (!ptr, tensor<256xi64>) -> tensor<256xf32>
    scf.yield %read : tensor<256xf32>
  }
  bufferization.materialize_in_destination %stored in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  %returned = scf.if %is -> (tensor<256xf32>) {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [256], strides: [1] : !ptr to memref<256xf32, strided<[1], offset: ?>>
    %box = bufferization.to_tensor %all : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
    scf.yield %box : tensor<256xf32>
  } else {
    %read = linalg_ext.gather %p[%places] {tilebridge.same_load} : (!ptr, tensor<256xi64>) -> tensor<256xf32>
    scf.yield %read : tensor<256xf32>
  }
  %unmarked = scf.if %is -> (tensor<256xf32>) {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [256], strides: [1] : !ptr to memref<256xf32, strided<[1], offset: ?>>
    %box = bufferization.to_tensor %all : memref<256xf32, strided<[1], offset: ?>> to tensor<256xf32>
    scf.yield %box : tensor<256xf32>
  } else {
    %read = linalg_ext.gather %p[%places] : (!ptr, tensor<256xi64>) -> tensor<256xf32>
    scf.yield %read : tensor<256xf32>
  }
  bufferization.materialize_in_destination %unmarked in writable %other : (tensor<256xf32>, memref<256xf32>) -> ()
  return %returned : tensor<256xf32>
}

// Pairs of one element that are known to be a box are read as that.
// CHECK-LABEL: func.func @pairs(
// CHECK: %[[BOX:.*]] = tensor.collapse_shape
// CHECK: bufferization.materialize_in_destination %[[BOX]]
func.func @pairs(%p: !ptr, %at: index, %out: memref<256xf32>) {
  %is = arith.constant true
  %e = tensor.empty() : tensor<256xi64>
  %c2 = arith.constant 2 : i64
  %places = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %k = arith.divsi %j, %c2 : i64
    linalg.yield %k : i64
  } -> tensor<256xi64>
  %stored = scf.if %is -> (tensor<256xf32>) {
    %all = memref.reinterpret_cast %p to offset: [%at], sizes: [128, 2], strides: [1, 0] : !ptr to memref<128x2xf32, strided<[1, 0], offset: ?>>
    %block = bufferization.to_tensor %all : memref<128x2xf32, strided<[1, 0], offset: ?>> to tensor<128x2xf32>
    %box = tensor.collapse_shape %block [[0, 1]] : tensor<128x2xf32> into tensor<256xf32>
    scf.yield %box : tensor<256xf32>
  } else {
    %read = linalg_ext.gather %p[%places] {tilebridge.same_load} : (!ptr, tensor<256xi64>) -> tensor<256xf32>
    scf.yield %read : tensor<256xf32>
  }
  bufferization.materialize_in_destination %stored in writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}
