// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit='vector-bits=512 two-fmas=true' --canonicalize --cse | FileCheck %s --check-prefix=FMAS

// FMAS-LABEL: func.func @wide
// FMAS: %[[ROWS:.*]] = arith.minsi %{{.*}}, %c16
// FMAS: arith.cmpi sle, %[[ROWS]], %c15 : index

// Fewer rows than the block has are multiplied with long rows of b where they lie, in each iteration.
// CHECK-LABEL: func.func @wide
// CHECK-SAME: %[[M:[a-z0-9]*]]: index, %{{.*}}, %[[B:[a-z0-9]*]]: memref<16x512xf32
// CHECK: %[[WANTED:.*]] = arith.minsi %[[M]], %c16
// CHECK: %[[LEFT:.*]] = memref.alloc() {{.*}} : memref<16x144xf32>
// CHECK: %[[PANELS:.*]] = memref.alloc() {{.*}} : memref<16x128x32xf32>
// CHECK: %[[PLACE:.*]] = memref.alloc() {{.*}} : memref<6xi64>
// CHECK: %[[RIGHT:.*]] = memref.alloc() {{.*}} : memref<6xi64>
// Shorter vectors have low tiles, each of which reads all of b: then these are up to 4.
// CHECK: %[[IS_FEW:.*]] = arith.cmpi sle, %[[WANTED]], %c4 : index
// CHECK: arith.select %[[IS_FEW]], %c2, %c0 : index
// CHECK: scf.for {{.*}} iter_args(%[[TOTAL:.*]] = %c0) -> (index)
// CHECK: %[[WORD:.*]] = memref.load %[[RIGHT]][%c5]
// CHECK: %[[MODE:.*]] = arith.index_cast %[[WORD]] : i64 to index
// CHECK: %[[ALONE:.*]] = arith.cmpi ne, %[[MODE]], %c0 : index
// CHECK: %[[FILLED:.*]] = arith.subi %[[TOTAL]], {{.*}} : index
// Steps before a jump of a are packed if b stays.
// CHECK: scf.if %[[ALONE]] {
// CHECK: memref.store %c0_i64, %[[PLACE]][%c3]
// CHECK: scf.if %[[ALONE]] {
// CHECK-NOT: vector.load
// CHECK: memref.store {{.*}}, %[[RIGHT]][%c2]
// CHECK-NOT: vector.load
// CHECK: memref.store {{.*}}, %[[RIGHT]][%c3]
// CHECK: } else {
// CHECK: memref.store %c0_i64, %[[RIGHT]][%c2]
// CHECK: arith.addi %[[FILLED]], {{.*}} : index
// CHECK: memref.prefetch %[[B]]
// CHECK: vector.store {{.*}}, %[[PANELS]]
// CHECK: %[[NOW:.*]] = arith.addi %[[FILLED]], %c16 : index
// CHECK: %[[ENOUGH:.*]] = arith.cmpi uge, %[[NOW]], %c128 : index
// What is multiplied alone are the steps of this iteration only, and the first of them has no sums yet.
// CHECK: %[[WAITING:.*]] = arith.select %{{.*}}, %[[NOW]], %[[FILLED]] : index
// CHECK: %[[DUE:.*]] = arith.select %[[ALONE]], {{.*}} : i1
// CHECK: scf.if %[[DUE]] {
// CHECK: scf.for %[[PLACE_OF:.*]] = {{.*}} step %c1
// CHECK: %[[DEPTH:.*]] = arith.select %{{.*}}, %[[WAITING]], %c16 : index
// CHECK: %[[AHEAD:.*]] = arith.select %{{.*}}, %c0, %c16 : index
// CHECK: %[[AHEAD_ROWS:.*]] = arith.muli %[[AHEAD]], %{{.*}} : index
// Up to 4 rows of a take 8 of b at once.
// CHECK: %[[TOGETHER:.*]] = arith.select %{{.*}}, %c8, %[[DEPTH]] : index
// CHECK: scf.for %{{.*}} = %c0 to %[[DEPTH]] step %[[TOGETHER]]
// CHECK: arith.cmpi eq, %[[WANTED]], %c1 : index
// While a row is read, that of the next iteration is asked for, line by line.
// CHECK: scf.for %[[STEP:.*]] = %c0 to %[[TOGETHER]] step %c1
// CHECK-NEXT: arith.muli %[[STEP]], {{.*}} : index
// CHECK-NOT: %[[PANELS]]
// CHECK: %[[AHEAD_BYTES:.*]] = arith.index_cast %[[AHEAD_ROWS]] : index to i64
// CHECK: %[[LATER:.*]] = llvm.getelementptr %{{.*}}[%[[AHEAD_BYTES]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: %[[LINE:.*]] = llvm.getelementptr %[[LATER]][
// CHECK: "llvm.intr.prefetch"(%[[LINE]]) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK-NOT: "llvm.intr.prefetch"
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: %[[ALL:.*]] = arith.select %[[ALONE]], %c16, %[[NOW]] : index
// CHECK: %[[STEPS:.*]] = arith.select %{{.*}}, %[[ALL]], %{{.*}} : index
// CHECK: scf.for {{.*}} = %{{.*}} to %[[STEPS]] step %c1
// CHECK: vector.load %[[PANELS]]
func.func @wide(%m: index, %a: memref<?x16xf32, strided<[?, 1], offset: ?>>, %b: memref<16x512xf32, strided<[?, 1], offset: ?>>, %n: i32,
                %out: memref<?x512xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x512xf32>
  %pad = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rows = arith.minsi %m, %c16 : index
  %rest = arith.subi %c16, %rows : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x512xf32>) : i32 {
    %there = memref.subview %a[0, 0] [%rows, 16] [1, 1] : memref<?x16xf32, strided<[?, 1], offset: ?>> to memref<?x16xf32, strided<[?, 1], offset: ?>>
    %some = bufferization.to_tensor %there : memref<?x16xf32, strided<[?, 1], offset: ?>> to tensor<?x16xf32>
    %x = tensor.pad %some low[0, 0] high[%rest, 0] {
    ^bb0(%r: index, %c: index):
      tensor.yield %pad : f32
    } : tensor<?x16xf32> to tensor<16x16xf32>
    %y = bufferization.to_tensor %b : memref<16x512xf32, strided<[?, 1], offset: ?>> to tensor<16x512xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x16xf32>, tensor<16x512xf32>) outs(%acc : tensor<16x512xf32>) -> tensor<16x512xf32>
    scf.yield %d : tensor<16x512xf32>
  }
  %size = arith.minsi %m, %c16 : index
  %part = tensor.extract_slice %sum[0, 0] [%size, 512] [1, 1] : tensor<16x512xf32> to tensor<?x512xf32>
  %to = memref.subview %out[0, 0] [%size, 512] [1, 1] : memref<?x512xf32> to memref<?x512xf32, strided<[512, 1]>>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?x512xf32>, memref<?x512xf32, strided<[512, 1]>>) -> ()
  return
}

// -----

// So are rows of many steps, of which up to 4 rows of a take 16 at once, or 8
// where caches have sets of so many lines.
// CHECK-LABEL: func.func @deep
// CHECK: memref<6xi64>
// CHECK: memref<6xi64>
// CHECK: scf.for
// CHECK: arith.select %{{.*}}, %c8, %{{.*}} : index
// FMAS-LABEL: func.func @deep
// FMAS: arith.select %{{.*}}, %c16, %{{.*}} : index
func.func @deep(%m: index, %a: memref<?x32xf32, strided<[?, 1], offset: ?>>, %b: memref<32x512xf32, strided<[?, 1], offset: ?>>, %n: i32,
                %out: memref<?x512xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x512xf32>
  %pad = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rows = arith.minsi %m, %c16 : index
  %rest = arith.subi %c16, %rows : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x512xf32>) : i32 {
    %there = memref.subview %a[0, 0] [%rows, 32] [1, 1] : memref<?x32xf32, strided<[?, 1], offset: ?>> to memref<?x32xf32, strided<[?, 1], offset: ?>>
    %some = bufferization.to_tensor %there : memref<?x32xf32, strided<[?, 1], offset: ?>> to tensor<?x32xf32>
    %x = tensor.pad %some low[0, 0] high[%rest, 0] {
    ^bb0(%r: index, %c: index):
      tensor.yield %pad : f32
    } : tensor<?x32xf32> to tensor<16x32xf32>
    %y = bufferization.to_tensor %b : memref<32x512xf32, strided<[?, 1], offset: ?>> to tensor<32x512xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x32xf32>, tensor<32x512xf32>) outs(%acc : tensor<16x512xf32>) -> tensor<16x512xf32>
    scf.yield %d : tensor<16x512xf32>
  }
  %size = arith.minsi %m, %c16 : index
  %part = tensor.extract_slice %sum[0, 0] [%size, 512] [1, 1] : tensor<16x512xf32> to tensor<?x512xf32>
  %to = memref.subview %out[0, 0] [%size, 512] [1, 1] : memref<?x512xf32> to memref<?x512xf32, strided<[512, 1]>>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?x512xf32>, memref<?x512xf32, strided<[512, 1]>>) -> ()
  return
}

// -----

// Rows of one line are packed.
// CHECK-LABEL: func.func @narrow
// CHECK: memref<6xi64>
// CHECK-NOT: memref<6xi64>
// CHECK: scf.for
func.func @narrow(%m: index, %a: memref<?x16xf32, strided<[?, 1], offset: ?>>, %b: memref<16x16xf32, strided<[?, 1], offset: ?>>, %n: i32,
                %out: memref<?x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %pad = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rows = arith.minsi %m, %c16 : index
  %rest = arith.subi %c16, %rows : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %there = memref.subview %a[0, 0] [%rows, 16] [1, 1] : memref<?x16xf32, strided<[?, 1], offset: ?>> to memref<?x16xf32, strided<[?, 1], offset: ?>>
    %some = bufferization.to_tensor %there : memref<?x16xf32, strided<[?, 1], offset: ?>> to tensor<?x16xf32>
    %x = tensor.pad %some low[0, 0] high[%rest, 0] {
    ^bb0(%r: index, %c: index):
      tensor.yield %pad : f32
    } : tensor<?x16xf32> to tensor<16x16xf32>
    %y = bufferization.to_tensor %b : memref<16x16xf32, strided<[?, 1], offset: ?>> to tensor<16x16xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x16xf32>, tensor<16x16xf32>) outs(%acc : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %d : tensor<16x16xf32>
  }
  %size = arith.minsi %m, %c16 : index
  %part = tensor.extract_slice %sum[0, 0] [%size, 16] [1, 1] : tensor<16x16xf32> to tensor<?x16xf32>
  %to = memref.subview %out[0, 0] [%size, 16] [1, 1] : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1]>>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?x16xf32>, memref<?x16xf32, strided<[16, 1]>>) -> ()
  return
}

// -----

// Rows that may not be contiguous are packed, those of each iteration from the panels' beginning.
// CHECK-LABEL: func.func @columns
// CHECK: %[[RIGHT:.*]] = memref.alloc() {{.*}} : memref<6xi64>
// CHECK: scf.for
// CHECK: %[[ALONE:.*]] = arith.cmpi ne
// CHECK: %[[FILLED:.*]] = arith.subi
// CHECK: memref.store %c0_i64, %[[RIGHT]][%c2]
// CHECK: arith.select %[[ALONE]], %c0, %[[FILLED]] : index
// CHECK: arith.select %[[ALONE]], %[[FILLED]], %c0 : index
func.func @columns(%m: index, %a: memref<?x16xf32, strided<[?, 1], offset: ?>>, %b: memref<16x512xf32, strided<[?, ?], offset: ?>>, %n: i32,
                %out: memref<?x512xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x512xf32>
  %pad = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %rows = arith.minsi %m, %c16 : index
  %rest = arith.subi %c16, %rows : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x512xf32>) : i32 {
    %there = memref.subview %a[0, 0] [%rows, 16] [1, 1] : memref<?x16xf32, strided<[?, 1], offset: ?>> to memref<?x16xf32, strided<[?, 1], offset: ?>>
    %some = bufferization.to_tensor %there : memref<?x16xf32, strided<[?, 1], offset: ?>> to tensor<?x16xf32>
    %x = tensor.pad %some low[0, 0] high[%rest, 0] {
    ^bb0(%r: index, %c: index):
      tensor.yield %pad : f32
    } : tensor<?x16xf32> to tensor<16x16xf32>
    %y = bufferization.to_tensor %b : memref<16x512xf32, strided<[?, ?], offset: ?>> to tensor<16x512xf32>
    %d = linalg.matmul ins(%x, %y : tensor<16x16xf32>, tensor<16x512xf32>) outs(%acc : tensor<16x512xf32>) -> tensor<16x512xf32>
    scf.yield %d : tensor<16x512xf32>
  }
  %size = arith.minsi %m, %c16 : index
  %part = tensor.extract_slice %sum[0, 0] [%size, 512] [1, 1] : tensor<16x512xf32> to tensor<?x512xf32>
  %to = memref.subview %out[0, 0] [%size, 512] [1, 1] : memref<?x512xf32> to memref<?x512xf32, strided<[512, 1]>>
  bufferization.materialize_in_destination %part in writable %to : (tensor<?x512xf32>, memref<?x512xf32, strided<[512, 1]>>) -> ()
  return
}
