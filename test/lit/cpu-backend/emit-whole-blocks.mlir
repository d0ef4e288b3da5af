// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=512 --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=512 --remarks-filter=tilebridge-cpu --remark-format=emitRemark 2>&1 >%t.mlir | FileCheck %s --check-prefix=TOLD

// Rows of one vector: a block that is whole is reduced without masks, and without asking for each row. It is told once.
// CHECK-LABEL: func.func @rows(
// CHECK-DAG: %[[ROWS:.*]] = arith.cmpi eq, %{{.*}}, %c16
// CHECK-DAG: %[[COLUMNS:.*]] = arith.cmpi eq, %{{.*}}, %c16
// CHECK: %[[WHOLE:.*]] = arith.andi
// CHECK: scf.if %[[WHOLE]]
// CHECK-NOT: scf.if
// CHECK-NOT: masked
// CHECK-COUNT-8: vector.load {{.*}} vector<16xf32>
// CHECK: vector.store
// CHECK: } else {
// CHECK: vector.maskedload
// TOLD: 16x16, reduced along 1: {{.*}}, without bounds where the block is whole
// TOLD-NOT: Text="16x16
func.func @rows(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %o: memref<16xf32>, %h0: index, %h1: index) {
  %zero = arith.constant 0.0 : f32
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %in = bufferization.to_tensor %x : memref<?x?xf32, strided<[?, 1], offset: ?>> to tensor<?x?xf32>
  %t = tensor.pad %in low[0, 0] high[%h0, %h1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x?xf32> to tensor<16x16xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<16x16xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  bufferization.materialize_in_destination %s in writable %o : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// Rows of four vectors have bounds of their own, which cost little there.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT: arith.cmpi eq
// CHECK: vector.maskedload
// TOLD: Text="16x64, reduced along 1
// TOLD-NOT: without bounds
func.func @wide(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %o: memref<16xf32>, %h0: index, %h1: index) {
  %zero = arith.constant 0.0 : f32
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %in = bufferization.to_tensor %x : memref<?x?xf32, strided<[?, 1], offset: ?>> to tensor<?x?xf32>
  %t = tensor.pad %in low[0, 0] high[%h0, %h1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x?xf32> to tensor<16x64xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<16x64xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  bufferization.materialize_in_destination %s in writable %o : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// A block that is never whole is not asked for.
// CHECK-LABEL: func.func @never(
// CHECK-NOT: arith.cmpi eq
// CHECK: vector.maskedload
// TOLD: Text="16x16, reduced along 1
// TOLD-NOT: without bounds
func.func @never(%x: memref<?x13xf32, strided<[?, 1], offset: ?>>, %o: memref<16xf32>, %h0: index) {
  %zero = arith.constant 0.0 : f32
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %in = bufferization.to_tensor %x : memref<?x13xf32, strided<[?, 1], offset: ?>> to tensor<?x13xf32>
  %t = tensor.pad %in low[0, 0] high[%h0, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x13xf32> to tensor<16x16xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<16x16xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  bufferization.materialize_in_destination %s in writable %o : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}
