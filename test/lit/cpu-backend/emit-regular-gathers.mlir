// RUN: tilebridge-opt %s -tilebridge-cpu-plan -tilebridge-cpu-emit=vector-bits=512 -canonicalize | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// Places that come from a division: all lanes at one place are one load, neighbours are a vector, and what lies in one line of memory,
// none of it on another page, is a vector that is put in order.
// CHECK-LABEL: func.func @repeated
// CHECK: vector.reduction <and>
// CHECK: scf.if
// CHECK: vector.load {{.*}}vector<1xf32>
// CHECK: } else {
// CHECK: vector.reduction <and>
// CHECK: scf.if
// CHECK: vector.load
// CHECK: } else {
// CHECK: arith.cmpi ult, %{{.*}} : vector<8xi64>
// CHECK: %[[INPAGE:.*]] = arith.andi %{{.*}}, %c4095
// CHECK: arith.cmpi ule, %[[INPAGE]], %c4032
// CHECK: scf.if
// CHECK: %[[LINE:.*]] = vector.load {{.*}} vector<16xf32>
// CHECK: %[[WORDS:.*]] = arith.bitcast %[[LINE]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"(%[[WORDS]], %{{.*}})
// CHECK: } else {
// CHECK: vector.gather
// CHECK: return
func.func @repeated(%x: memref<?xf32, strided<[1], offset: ?>>, %n: i32, %out: memref<64xf32>) {
  %e = tensor.empty() : tensor<64xi64>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<64xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.divsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<64xi64>
  %t = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>) -> tensor<64xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// Places that are read from memory may be anywhere: nothing is tested.
// CHECK-LABEL: func.func @anywhere
// CHECK-NOT: vector.reduction
// CHECK: vector.gather
// CHECK-NOT: vector.reduction
// CHECK: return
func.func @anywhere(%x: memref<?xf32, strided<[1], offset: ?>>, %index: memref<64xi64>, %out: memref<64xf32>) {
  %places = bufferization.to_tensor %index : memref<64xi64> to tensor<64xi64>
  %t = linalg_ext.gather %x[%places] : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xi64>) -> tensor<64xf32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// The row is read from a table, but is one for all lanes, whose places in it come from a division: zeros of quantized weights, eight a word.
// CHECK-LABEL: func.func @rows_of_a_table
// CHECK: vector.reduction <and>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"
// CHECK: vector.gather
// CHECK: return
func.func @rows_of_a_table(%x: memref<?xi32, strided<[1], offset: ?>>, %table: memref<32xi64>, %n: i32, %out: memref<32x64xi32>) {
  %e = tensor.empty() : tensor<64xi64>
  %words = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<64xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.divsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<64xi64>
  %rows = bufferization.to_tensor %table : memref<32xi64> to tensor<32xi64>
  %f = tensor.empty() : tensor<32x64xi64>
  %wide = linalg.broadcast ins(%rows : tensor<32xi64>) outs(%f : tensor<32x64xi64>) dimensions = [1]
  %long = linalg.broadcast ins(%words : tensor<64xi64>) outs(%f : tensor<32x64xi64>) dimensions = [0]
  %places = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%wide, %long : tensor<32x64xi64>, tensor<32x64xi64>) outs(%f : tensor<32x64xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %s = arith.addi %a, %b : i64
    linalg.yield %s : i64
  } -> tensor<32x64xi64>
  %t = linalg_ext.gather %x[%places] : (memref<?xi32, strided<[1], offset: ?>>, tensor<32x64xi64>) -> tensor<32x64xi32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<32x64xi32>, memref<32x64xi32>) -> ()
  return
}

// What a table says for each lane is anywhere, whatever row is divided.
// CHECK-LABEL: func.func @columns_of_a_table
// CHECK-NOT: permvar
// CHECK: vector.gather
// CHECK-NOT: permvar
// CHECK: return
func.func @columns_of_a_table(%x: memref<?xi32, strided<[1], offset: ?>>, %table: memref<64xi64>, %n: i32, %out: memref<32x64xi32>) {
  %e = tensor.empty() : tensor<32xi64>
  %rows = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<32xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.divsi %j, %n : i32
    %l = arith.extsi %k : i32 to i64
    linalg.yield %l : i64
  } -> tensor<32xi64>
  %columns = bufferization.to_tensor %table : memref<64xi64> to tensor<64xi64>
  %f = tensor.empty() : tensor<32x64xi64>
  %wide = linalg.broadcast ins(%rows : tensor<32xi64>) outs(%f : tensor<32x64xi64>) dimensions = [1]
  %long = linalg.broadcast ins(%columns : tensor<64xi64>) outs(%f : tensor<32x64xi64>) dimensions = [0]
  %places = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%wide, %long : tensor<32x64xi64>, tensor<32x64xi64>) outs(%f : tensor<32x64xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %s = arith.addi %a, %b : i64
    linalg.yield %s : i64
  } -> tensor<32x64xi64>
  %t = linalg_ext.gather %x[%places] : (memref<?xi32, strided<[1], offset: ?>>, tensor<32x64xi64>) -> tensor<32x64xi32>
  bufferization.materialize_in_destination %t in writable %out : (tensor<32x64xi32>, memref<32x64xi32>) -> ()
  return
}
