// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Each turn of the outer loop has rows of its own: all others are zeros. The inner loop adds products up.
// CHECK-LABEL: func.func @experts
// CHECK: linalg.matmul {tilebridge.deep, tilebridge.masked_rows}
func.func @experts(%x: memref<?x32xf32>, %w: memref<?x32x64xf32>, %mine: tensor<64xi64>, %rows: tensor<64xi64>,
                   %n: index, %k: index) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64xi1>
  %sums = scf.for %e = %c0 to %n step %c1 iter_args(%outer = %zeros) -> tensor<64x64xf32> {
    %number = arith.index_cast %e : index to i64
    %numbers = tensor.splat %number : tensor<64xi64>
    %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%mine, %numbers : tensor<64xi64>, tensor<64xi64>) outs(%empty : tensor<64xi1>) {
    ^bb0(%a: i64, %b: i64, %o: i1):
      %is = arith.cmpi eq, %a, %b : i64
      linalg.yield %is : i1
    } -> tensor<64xi1>
    %inner = scf.for %i = %c0 to %k step %c1 iter_args(%sum = %outer) -> tensor<64x64xf32> {
      %left = linalg_ext.gather_rows %x[%rows] dim 0 rowmask %mask other %zero
          : (memref<?x32xf32>, tensor<64xi64>, tensor<64xi1>, f32) -> tensor<64x32xf32>
      %block = memref.subview %w[%i, 0, 0] [1, 32, 64] [1, 1, 1] : memref<?x32x64xf32> to memref<32x64xf32, strided<[64, 1], offset: ?>>
      %right = bufferization.to_tensor %block : memref<32x64xf32, strided<[64, 1], offset: ?>> to tensor<32x64xf32>
      %next = linalg.matmul ins(%left, %right : tensor<64x32xf32>, tensor<32x64xf32>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    scf.yield %inner : tensor<64x64xf32>
  }
  return %sums : tensor<64x64xf32>
}

// -----

// The mask is another one for each product: no loop gathers operands of several.
// CHECK-LABEL: func.func @shallow
// CHECK: linalg.matmul {tilebridge.masked_rows}
func.func @shallow(%x: memref<64x32xf32>, %right: tensor<32x64xf32>, %masks: memref<?x64xi1>, %n: index) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64x32xi1>
  %sums = scf.for %e = %c0 to %n step %c1 iter_args(%sum = %zeros) -> tensor<64x64xf32> {
    %row = memref.subview %masks[%e, 0] [1, 64] [1, 1] : memref<?x64xi1> to memref<64xi1, strided<[1], offset: ?>>
    %mask = bufferization.to_tensor %row : memref<64xi1, strided<[1], offset: ?>> to tensor<64xi1>
    %wide = linalg.broadcast ins(%mask : tensor<64xi1>) outs(%empty : tensor<64x32xi1>) dimensions = [1]
    %left = linalg_ext.masked_load %x, %wide : (memref<64x32xf32>, tensor<64x32xi1>) -> tensor<64x32xf32>
    %next = linalg.matmul ins(%left, %right : tensor<64x32xf32>, tensor<32x64xf32>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  return %sums : tensor<64x64xf32>
}

// -----

// Sums that begin with what is not 0.0 may be -0.0, which zeros change.
// CHECK-LABEL: func.func @negative
// CHECK: linalg.matmul {tilebridge.deep} ins
func.func @negative(%x: memref<64x32xf32>, %right: tensor<32x64xf32>, %masks: memref<?x64xi1>, %n: index) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = arith.constant dense<-0.0> : tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64x32xi1>
  %sums = scf.for %e = %c0 to %n step %c1 iter_args(%sum = %zeros) -> tensor<64x64xf32> {
    %row = memref.subview %masks[%e, 0] [1, 64] [1, 1] : memref<?x64xi1> to memref<64xi1, strided<[1], offset: ?>>
    %mask = bufferization.to_tensor %row : memref<64xi1, strided<[1], offset: ?>> to tensor<64xi1>
    %wide = linalg.broadcast ins(%mask : tensor<64xi1>) outs(%empty : tensor<64x32xi1>) dimensions = [1]
    %left = linalg_ext.masked_load %x, %wide : (memref<64x32xf32>, tensor<64x32xi1>) -> tensor<64x32xf32>
    %next = linalg.matmul ins(%left, %right : tensor<64x32xf32>, tensor<32x64xf32>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  return %sums : tensor<64x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Something else happens to the sums between two products; a row that is left out is not zero; the mask is the same one
// in all turns.
// CHECK-LABEL: func.func @others
// CHECK: linalg.matmul ins
// CHECK: linalg.matmul {tilebridge.deep} ins
// CHECK: linalg.matmul {tilebridge.deep} ins
func.func @others(%x: memref<64x32xf32>, %right: tensor<32x64xf32>, %masks: memref<?x64xi1>, %same: tensor<64x32xi1>,
                  %n: index) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64x32xi1>
  %0 = scf.for %e = %c0 to %n step %c1 iter_args(%sum = %zeros) -> tensor<64x64xf32> {
    %row = memref.subview %masks[%e, 0] [1, 64] [1, 1] : memref<?x64xi1> to memref<64xi1, strided<[1], offset: ?>>
    %mask = bufferization.to_tensor %row : memref<64xi1, strided<[1], offset: ?>> to tensor<64xi1>
    %wide = linalg.broadcast ins(%mask : tensor<64xi1>) outs(%empty : tensor<64x32xi1>) dimensions = [1]
    %left = linalg_ext.masked_load %x, %wide : (memref<64x32xf32>, tensor<64x32xi1>) -> tensor<64x32xf32>
    %next = linalg.matmul ins(%left, %right : tensor<64x32xf32>, tensor<32x64xf32>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
    %scaled = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%next : tensor<64x64xf32>) {
    ^bb0(%a: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    scf.yield %scaled : tensor<64x64xf32>
  }
  %1 = scf.for %e = %c0 to %n step %c1 iter_args(%sum = %zeros) -> tensor<64x64xf32> {
    %row = memref.subview %masks[%e, 0] [1, 64] [1, 1] : memref<?x64xi1> to memref<64xi1, strided<[1], offset: ?>>
    %mask = bufferization.to_tensor %row : memref<64xi1, strided<[1], offset: ?>> to tensor<64xi1>
    %wide = linalg.broadcast ins(%mask : tensor<64xi1>) outs(%empty : tensor<64x32xi1>) dimensions = [1]
    %left = linalg_ext.masked_load %x, %wide other %one : (memref<64x32xf32>, tensor<64x32xi1>, f32) -> tensor<64x32xf32>
    %next = linalg.matmul ins(%left, %right : tensor<64x32xf32>, tensor<32x64xf32>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %2 = scf.for %e = %c0 to %n step %c1 iter_args(%sum = %zeros) -> tensor<64x64xf32> {
    %left = linalg_ext.masked_load %x, %same : (memref<64x32xf32>, tensor<64x32xi1>) -> tensor<64x32xf32>
    %next = linalg.matmul ins(%left, %right : tensor<64x32xf32>, tensor<32x64xf32>) outs(%sum : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  return %0, %1, %2 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
