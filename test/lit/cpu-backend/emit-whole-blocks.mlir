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

// -----

// Two reductions of the same rows: eight rows at once, and a tree for each reduction.
// CHECK-LABEL: func.func @two(
// CHECK: scf.if
// CHECK-NOT: masked
// CHECK-COUNT-8: vector.load {{.*}} vector<16xf32>
// CHECK: vector.store %{{.*}} vector<8xf32>
// CHECK: vector.store %{{.*}} vector<8xf32>
// CHECK: } else {
// TOLD: 16x16, reduced along 1: {{.*}}, 8 rows at once, without bounds where the block is whole; one nest for 2 reductions
func.func @two(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %o: memref<16xf32>, %p: memref<16xf32>, %h0: index, %h1: index) {
  %zero = arith.constant 0.0 : f32
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %in = bufferization.to_tensor %x : memref<?x?xf32, strided<[?, 1], offset: ?>> to tensor<?x?xf32>
  %t = tensor.pad %in low[0, 0] high[%h0, %h1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x?xf32> to tensor<16x16xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<16x16xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  %m = linalg.reduce { arith.maximumf } ins(%t : tensor<16x16xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  bufferization.materialize_in_destination %s in writable %o : (tensor<16xf32>, memref<16xf32>) -> ()
  bufferization.materialize_in_destination %m in writable %p : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// -----

// A conversion that takes a dozen instructions is simple; what is converted for all rows does not count. Of two vectors four rows.
// CHECK-LABEL: func.func @converted(
// TOLD: 16x16, reduced along 1: {{.*}}, 8 rows at once
// TOLD: 16x32, reduced along 1: {{.*}}, 4 rows at once
// A function takes as long as it does.
// CHECK-LABEL: func.func @function(
// TOLD: 16x16, reduced along 1
// TOLD-NOT: rows at once
func.func @converted(%x: memref<16x16xf8E4M3FN>, %y: memref<16xf8E4M3FN>, %w: memref<16x32xf8E4M3FN>, %o: memref<16xf32>, %p: memref<16xf32>) {
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %e = tensor.empty() : tensor<16x16xf32>
  %a = bufferization.to_tensor %x : memref<16x16xf8E4M3FN> to tensor<16x16xf8E4M3FN>
  %b = bufferization.to_tensor %y : memref<16xf8E4M3FN> to tensor<16xf8E4M3FN>
  %c = bufferization.to_tensor %w : memref<16x32xf8E4M3FN> to tensor<16x32xf8E4M3FN>
  %ax = arith.extf %a : tensor<16x16xf8E4M3FN> to tensor<16x16xf32>
  %bx = arith.extf %b : tensor<16xf8E4M3FN> to tensor<16xf32>
  %bb = linalg.broadcast ins(%bx : tensor<16xf32>) outs(%e : tensor<16x16xf32>) dimensions = [0]
  %m = arith.mulf %ax, %bb : tensor<16x16xf32>
  %s = linalg.reduce { arith.addf } ins(%m : tensor<16x16xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  bufferization.materialize_in_destination %s in writable %o : (tensor<16xf32>, memref<16xf32>) -> ()
  %cx = arith.extf %c : tensor<16x32xf8E4M3FN> to tensor<16x32xf32>
  %t = linalg.reduce { arith.addf } ins(%cx : tensor<16x32xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  bufferization.materialize_in_destination %t in writable %p : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}
func.func @function(%x: memref<16x16xf32>, %o: memref<16xf32>) {
  %init = arith.constant dense<-0.0> : tensor<16xf32>
  %a = bufferization.to_tensor %x : memref<16x16xf32> to tensor<16x16xf32>
  %e = math.exp %a : tensor<16x16xf32>
  %s = linalg.reduce { arith.addf } ins(%e : tensor<16x16xf32>) outs(%init : tensor<16xf32>) dimensions = [1]
  bufferization.materialize_in_destination %s in writable %o : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}
