// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=512 -canonicalize -cse | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Short rows are put into scratch memory, and behind each as many elements as a
// vector has lanes: not longer ones, nor where less than two are read, or the
// index may run over. A loop reads them from where the last vector ended. All
// others go by pieces.
// CHECK-LABEL: func.func @bias
// CHECK: arith.remsi
// CHECK: arith.cmpi sle, {{.*}}, %c80_i64
// CHECK: arith.cmpi sle, {{.*}}, %c256_i64
// CHECK: scf.if
// CHECK: %[[ALL:.*]] = memref.alloc() {{.*}} : memref<112xf32>
// CHECK: %[[TABLE:.*]] = memref.reinterpret_cast %[[ALL]]
// CHECK: scf.for {{.*}} step %c16
// CHECK: vector.maskedload
// CHECK: vector.store {{.*}}, %[[TABLE]]
// CHECK: scf.for
// CHECK: vector.store {{.*}}, %[[TABLE]]
// CHECK: %[[STEP:.*]] = arith.remui %c16
// CHECK: scf.for {{.*}} step %c16 iter_args(%[[NOW:.*]] = %{{.*}}) -> (index)
// CHECK: vector.load %[[TABLE]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[NOW]], %[[STEP]]
// CHECK: %[[LESS:.*]] = arith.subi %[[NEXT]]
// CHECK: %[[IN:.*]] = arith.minui %[[NEXT]], %[[LESS]]
// CHECK: scf.yield %[[IN]]
// CHECK: scf.while
// CHECK: return
func.func @bias(%x: memref<256xf32>, %b: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %f = tensor.empty() : tensor<256xf32>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.remsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %bias = linalg_ext.gather %b[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  %0 = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%0, %bias : tensor<256xf32>, tensor<256xf32>) outs(%f : tensor<256xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  bufferization.materialize_in_destination %sum in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}

// A quotient is no table, nor is a row beside one.
// CHECK-LABEL: func.func @row
// CHECK-NOT: iter_args
// CHECK: scf.while
// CHECK: return
func.func @row(%b: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<256xf32>) {
  %e = tensor.empty() : tensor<256xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<256xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.divsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<256xi64>
  %rows = linalg_ext.gather %b[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>) -> tensor<256xf32>
  bufferization.materialize_in_destination %rows in restrict writable %out : (tensor<256xf32>, memref<256xf32>) -> ()
  return
}
