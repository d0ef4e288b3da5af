// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256 two-fmas" --canonicalize --cse | FileCheck %s --check-prefix=TWO

// Rows go straight to where they are stored. What they may overlap is decided by the lowest and the highest of them; a row
// that is masked off ends the loop without masks before it begins. A row 2048 bytes ahead is asked for.
// TWO-LABEL: func.func @rows_to_store
// TWO-COUNT-2: memref.prefetch {{.*}} read, locality<3>, data
// CHECK-LABEL: func.func @rows_to_store
// CHECK: %[[BOUNDS:.*]]:2 = scf.for {{.*}} step %c4 {{.*}} -> (vector<4xi64>, vector<4xi64>)
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: vector.reduction <minsi>, %[[BOUNDS]]#0
// CHECK: vector.reduction <maxsi>, %[[BOUNDS]]#1
// CHECK: %[[UNSAFE:.*]] = arith.ori
// CHECK: %[[OUT:.*]] = arith.select %[[UNSAFE]]
// CHECK: scf.for
// CHECK: %[[KNOWN:.*]] = arith.cmpi sge
// CHECK: %[[LIMIT:.*]] = arith.select %[[KNOWN]], %c64, %c0
// CHECK: arith.minsi {{.*}}, %c15
// CHECK: scf.for {{.*}} step %c32
// CHECK-NOT: scf.if
// CHECK-COUNT-2: memref.prefetch {{.*}} read, locality<2>, data
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK-NEXT: arith.addi
// CHECK-NEXT: vector.store {{.*}}, %[[OUT]]
// CHECK: scf.for {{.*}} step %c8
// CHECK: arith.subi %[[LIMIT]]
// CHECK: vector.maskedload
// CHECK: scf.if %[[UNSAFE]]
func.func @rows_to_store(%table: memref<?x?xf32, strided<[1, 1], offset: ?>>, %ids: memref<16xi64>, %out: memref<16x64xf32>) {
  %minus = arith.constant -1.0 : f32
  %zero = arith.constant 0 : i64
  %rows = bufferization.to_tensor %ids : memref<16xi64> to tensor<16xi64>
  %empty = tensor.empty() : tensor<16xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%rows : tensor<16xi64>) outs(%empty : tensor<16xi1>) {
  ^bb0(%row: i64, %o: i1):
    %known = arith.cmpi sge, %row, %zero : i64
    linalg.yield %known : i1
  } -> tensor<16xi1>
  %box = memref.subview %table[0, 0] [16, 64] [1, 1]
      : memref<?x?xf32, strided<[1, 1], offset: ?>> to memref<16x64xf32, strided<[1, 1], offset: ?>>
  %view = memref.cast %box : memref<16x64xf32, strided<[1, 1], offset: ?>> to memref<?x?xf32, strided<[1, 1], offset: ?>>
  %t = linalg_ext.gather_rows %view[%rows] dim 0 rowmask %mask other %minus
      : (memref<?x?xf32, strided<[1, 1], offset: ?>>, tensor<16xi64>, tensor<16xi1>, f32) -> tensor<16x64xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
  return
}

// -----

// The mask of a load comes from memory that has bounds of its own: the loop without masks ends there.
// CHECK-LABEL: func.func @mask_with_bounds
// CHECK-SAME: %[[N:[a-z0-9]+]]: index)
// CHECK: %[[MIN:.*]] = arith.minsi %[[N]], %c64
// CHECK: %[[MAIN:.*]] = arith.andi %[[MIN]], %c-
// CHECK: %[[END:.*]] = arith.maxsi %[[MAIN]], %c0
// CHECK: scf.for {{.*}} to %[[END]]
// CHECK: vector.load {{.*}} memref<2147483647xi32
// CHECK: scf.for {{.*}} %[[END]] to %c64
// CHECK: vector.maskedload {{.*}} memref<2147483647xi32
func.func @mask_with_bounds(%flags: memref<64xi32>, %x: memref<64xf32>, %out: memref<64xf32>, %n: index) {
  %zero = arith.constant 0 : i32
  %c64 = arith.constant 64 : index
  %h = arith.subi %c64, %n : index
  %box = memref.subview %flags[0] [%n] [1] : memref<64xi32> to memref<?xi32, strided<[1]>>
  %in = bufferization.to_tensor %box : memref<?xi32, strided<[1]>> to tensor<?xi32>
  %flag = tensor.pad %in low[0] high[%h] {
  ^bb0(%i: index):
    tensor.yield %zero : i32
  } : tensor<?xi32> to tensor<64xi32>
  %empty = tensor.empty() : tensor<64xi1>
  %mask = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%flag : tensor<64xi32>) outs(%empty : tensor<64xi1>) {
  ^bb0(%f: i32, %o: i1):
    %set = arith.cmpi ne, %f, %zero : i32
    linalg.yield %set : i1
  } -> tensor<64xi1>
  %t = linalg_ext.masked_load %x, %mask : (memref<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}
