// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-unroll-carried | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Both loops are written out; what the numbers decide is known.
// CHECK-LABEL: func.func @window(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?xf32>
// CHECK-NOT: scf.for
// CHECK-DAG: memref.subview %[[X]][5] [64] [1]
// CHECK-DAG: memref.subview %[[X]][7] [64] [1]
// CHECK-DAG: memref.subview %[[X]][15] [64] [1]
// CHECK-DAG: memref.subview %[[X]][17] [64] [1]
// CHECK: %[[LAST:.*]] = linalg.generic
// CHECK: bufferization.materialize_in_destination %[[LAST]]
func.func @window(%x: memref<?xf32>, %y: memref<64xf32>) {
  %c5 = arith.constant 5 : index
  %c10 = arith.constant 10 : index
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %c20 = arith.constant 20 : index
  %c2 = arith.constant 2 : index
  %low = arith.constant dense<0xFF800000> : tensor<64xf32>
  %t = scf.for %r = %c0 to %c20 step %c10 iter_args(%above = %low) -> (tensor<64xf32>) {
    // 5 and 7: the last step ends behind 8.
    %u = scf.for %s = %c5 to %c8 step %c2 iter_args(%acc = %above) -> (tensor<64xf32>) {
      %at = arith.addi %r, %s : index
      %view = memref.subview %x[%at] [64] [1] : memref<?xf32> to memref<64xf32, strided<[1], offset: ?>>
      %block = bufferization.to_tensor %view : memref<64xf32, strided<[1], offset: ?>> to tensor<64xf32>
      %empty = tensor.empty() : tensor<64xf32>
      %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%acc, %block : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %most = arith.maximumf %a, %b : f32
        linalg.yield %most : f32
      } -> tensor<64xf32>
      scf.yield %m : tensor<64xf32>
    }
    scf.yield %u : tensor<64xf32>
  }
  bufferization.materialize_in_destination %t in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Blocks change places, and all do at once.
// CHECK-LABEL: func.func @places(
// CHECK-SAME: memref<64xf32>, %[[Y:[a-z0-9]*]]: memref<64xf32>, %[[OUT:[a-z0-9]*]]:
// CHECK: %[[B:.*]] = bufferization.to_tensor %[[Y]]
// CHECK-NOT: scf.for
// CHECK: bufferization.materialize_in_destination %[[B]] in writable %[[OUT]]
func.func @places(%x: memref<64xf32>, %y: memref<64xf32>, %out: memref<64xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %a = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
  %b = bufferization.to_tensor %y : memref<64xf32> to tensor<64xf32>
  %t:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %a, %q = %b) -> (tensor<64xf32>, tensor<64xf32>) : i32 {
    scf.yield %q, %p : tensor<64xf32>, tensor<64xf32>
  }
  bufferization.materialize_in_destination %t#0 in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Loops stay that write, whose number of iterations is not known, whose block is reduced behind them, and that have many iterations.
// CHECK-LABEL: func.func @others(
// CHECK: scf.for
// CHECK: materialize_in_destination
// CHECK: scf.for
// CHECK: scf.for
// CHECK: linalg.reduce
// CHECK: scf.for
func.func @others(%x: memref<64xf32>, %y: memref<64xf32>, %n: index) -> (tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c65 = arith.constant 65 : index
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %empty = tensor.empty() : tensor<64xf32>
  %init = arith.constant dense<0.0> : tensor<f32>
  %s = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %zeros) -> (tensor<64xf32>) {
    %b = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
    %m = linalg.add ins(%acc, %b : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
    bufferization.materialize_in_destination %m in writable %y : (tensor<64xf32>, memref<64xf32>) -> ()
    scf.yield %m : tensor<64xf32>
  }
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<64xf32>) {
    %b = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
    %m = linalg.add ins(%acc, %b : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %m : tensor<64xf32>
  }
  %u = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %zeros) -> (tensor<64xf32>) {
    %b = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
    %m = linalg.add ins(%acc, %b : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %m : tensor<64xf32>
  }
  %r = linalg.reduce { arith.addf } ins(%u : tensor<64xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %v = scf.for %i = %c0 to %c65 step %c1 iter_args(%acc = %zeros) -> (tensor<64xf32>) {
    %b = bufferization.to_tensor %x : memref<64xf32> to tensor<64xf32>
    %m = linalg.add ins(%acc, %b : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %m : tensor<64xf32>
  }
  return %s, %t, %r, %v : tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<64xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Elements that lie apart, of which the first ones may be missing.
// CHECK-LABEL: func.func @apart(
// CHECK: scf.for
// CHECK: memref.subview
// CHECK-NOT: memref.subview
// CHECK: return
func.func @apart(%x: memref<?xf32>, %low: index, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64xf32>
  %empty = tensor.empty() : tensor<64xf32>
  %s = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %zeros) -> (tensor<64xf32>) {
    %view = memref.subview %x[%i] [%n] [2] : memref<?xf32> to memref<?xf32, strided<[2], offset: ?>>
    %part = bufferization.to_tensor %view : memref<?xf32, strided<[2], offset: ?>> to tensor<?xf32>
    %b = tensor.pad %part low[%low] high[%n] {
    ^bb0(%p: index):
      tensor.yield %zero : f32
    } : tensor<?xf32> to tensor<64xf32>
    %m = linalg.add ins(%acc, %b : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %m : tensor<64xf32>
  }
  return %s : tensor<64xf32>
}
