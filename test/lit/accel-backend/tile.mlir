// RUN: tilebridge-opt %s -split-input-file -tilebridge-accel-tile -canonicalize -cse | FileCheck %s

#map = affine_map<(d0) -> (d0)>

// Positions, loads, values and stores of parts; a mask's box is cut, and what another argument's attribute promises lets
// the parts go one after the other.

// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: %[[A:.*]]: memref<256xf32, strided<[1], offset: ?>> {accel.noalias}, %[[B:.*]]: memref<256xf32, strided<[1], offset: ?>>, %[[N:.*]]: index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: scf.for %[[I:.*]] = %[[C0]] to %c256 step %[[C64]] {
// CHECK: %[[V:.*]] = memref.subview %[[A]][%[[I]]] [64] [1]
// CHECK: %[[T:.*]] = accel.copy %[[V]] to %{{.*}} : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xf32>) -> tensor<64xf32>
// CHECK: linalg.generic
// CHECK: %[[X:.*]] = linalg.index 0
// CHECK: %[[Y:.*]] = arith.addi %[[X]], %[[I]]
// CHECK: arith.index_cast %[[Y]]
// CHECK: } -> tensor<64xf32>
// CHECK: %[[REST:.*]] = arith.subi %[[N]], %[[I]]
// CHECK: %[[SKIPPED:.*]] = arith.minsi %[[I]], %[[N]]
// CHECK: %[[LESS:.*]] = arith.minsi %[[REST]], %[[C64]]
// CHECK: %[[SIZE:.*]] = arith.maxsi %[[LESS]], %[[C0]]
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[0] [%[[SIZE]]] [1] : tensor<64xf32> to tensor<?xf32>
// CHECK: %[[W:.*]] = memref.subview %{{.*}}[%[[SKIPPED]]] [%[[SIZE]]] [1]
// CHECK: accel.copy %[[S]] to %[[W]]
func.func @elementwise(%a: memref<256xf32, strided<[1], offset: ?>> {accel.noalias}, %b: memref<256xf32, strided<[1], offset: ?>>, %n: index,
                       %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64"]} {
  %e = tensor.empty() : tensor<256xf32>
  %t = accel.copy %a to %e {accel.tile = array<i64: 64>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%t : tensor<256xf32>) outs(%e : tensor<256xf32>) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %s = arith.addf %x, %k : f32
    linalg.yield %s : f32
  } -> tensor<256xf32>
  %part = tensor.extract_slice %r[0] [%n] [1] : tensor<256xf32> to tensor<?xf32>
  %box = memref.subview %b[0] [%n] [1] : memref<256xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  accel.copy %part to %box : (tensor<?xf32>, memref<?xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// A box that begins inside of the block: its place in the part is counted from the part's own beginning.

// CHECK-LABEL: func.func @padded
// CHECK: scf.for %[[I:.*]] = %c0 to %c64 step %c16
// CHECK: %[[BEFORE:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK: accel.copy %{{.*}} to %{{.*}} low[%[[LOW:.*]]] pad %{{.*}} : (memref<?xf32, strided<[1], offset: ?>>, tensor<16xf32>, index, f32) -> tensor<16xf32>
func.func @padded(%a: memref<?xf32, strided<[1], offset: ?>> {accel.noalias}, %b: memref<64xf32, strided<[1], offset: ?>>, %l: index, %z: f32,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "i64", "fp32"]} {
  %e = tensor.empty() : tensor<64xf32>
  %t = accel.copy %a to %e low [%l] pad %z : (memref<?xf32, strided<[1], offset: ?>>, tensor<64xf32>, index, f32) -> tensor<64xf32>
  accel.copy %t to %b {accel.tile = array<i64: 16>} : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Rows of A and what is multiplied in parts: one loop around the program, one around the matmul.

// CHECK-LABEL: func.func @matmul
// CHECK: scf.for %[[M:.*]] = %c0 to %c64 step %c32
// CHECK: %[[AM:.*]] = memref.subview %{{.*}}[%[[M]], 0] [32, 128] [1, 1]
// CHECK: %[[ACC:.*]] = scf.for %[[K:.*]] = %c0 to %c128 step %c16 iter_args(%[[C:.*]] = %{{.*}}) -> (tensor<32x48xf32>)
// CHECK-DAG: memref.subview %[[AM]][0, %[[K]]] [32, 16] [1, 1]
// CHECK-DAG: memref.subview %{{.*}}[%[[K]], 0] [16, 48] [1, 1]
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<32x16xf16>, tensor<16x48xf16>) outs(%[[C]] : tensor<32x48xf32>)
// CHECK: memref.subview %{{.*}}[%[[M]], 0] [32, 48] [1, 1]
// CHECK: accel.copy %[[ACC]]
func.func @matmul(%a: memref<64x128xf16, strided<[?, 1], offset: ?>>, %b: memref<128x48xf16, strided<[?, 1], offset: ?>>,
                  %c: memref<64x48xf32, strided<[?, 1], offset: ?>> {accel.noalias}, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp16", "*fp16", "*fp32"]} {
  %ea = tensor.empty() : tensor<64x128xf16>
  %eb = tensor.empty() : tensor<128x48xf16>
  %zero = arith.constant dense<0.0> : tensor<64x48xf32>
  %ta = accel.copy %a to %ea {accel.tile = array<i64: 32, 16>} : (memref<64x128xf16, strided<[?, 1], offset: ?>>, tensor<64x128xf16>) -> tensor<64x128xf16>
  %tb = accel.copy %b to %eb : (memref<128x48xf16, strided<[?, 1], offset: ?>>, tensor<128x48xf16>) -> tensor<128x48xf16>
  %r = linalg.matmul ins(%ta, %tb : tensor<64x128xf16>, tensor<128x48xf16>) outs(%zero : tensor<64x48xf32>) -> tensor<64x48xf32>
  accel.copy %r to %c : (tensor<64x48xf32>, memref<64x48xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// In place: each part loads and stores its own elements. Rows that are gathered are a part of the rows. What a loop carries
// is a part, too.

// CHECK-LABEL: func.func @rows
// CHECK: scf.for %[[I:.*]] = %c0 to %c32 step %c8
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<8x16xf32>)
// CHECK: accel.copy %{{.*}} to %{{.*}} rows[%{{.*}}] dim 0 : (memref<?x16xf32, strided<[16, 1], offset: ?>>, tensor<8x16xf32>, tensor<8xi64>) -> tensor<8x16xf32>
func.func @rows(%p: memref<32x16xf32, strided<[?, 1], offset: ?>> {accel.noalias}, %q: memref<?x16xf32, strided<[16, 1], offset: ?>>,
                %r: memref<32xi64, strided<[1], offset: ?>>, %n: index, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "*i64", "i64"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<32x16xf32>
  %er = tensor.empty() : tensor<32xi64>
  %t = accel.copy %p to %e {accel.tile = array<i64: 8, 16>} : (memref<32x16xf32, strided<[?, 1], offset: ?>>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %rows = accel.copy %r to %er : (memref<32xi64, strided<[1], offset: ?>>, tensor<32xi64>) -> tensor<32xi64>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %t) -> tensor<32x16xf32> {
    %g = accel.copy %q to %e rows[%rows] dim 0 : (memref<?x16xf32, strided<[16, 1], offset: ?>>, tensor<32x16xf32>, tensor<32xi64>) -> tensor<32x16xf32>
    %a = linalg.add ins(%acc, %g : tensor<32x16xf32>, tensor<32x16xf32>) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
    scf.yield %a : tensor<32x16xf32>
  }
  accel.copy %s to %p : (tensor<32x16xf32>, memref<32x16xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// -----

// Sums over a block are taken part by part, both in one loop; what needs the first one comes after it.

// CHECK-LABEL: func.func @sums
// CHECK: %[[R:.*]]:2 = scf.for %[[I:.*]] = %c0 to %c256 step %c64 iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (tensor<f32>, tensor<f32>)
// CHECK: memref.subview %{{.*}}[%[[I]]] [64] [1]
// CHECK: linalg.reduce {{.*}} ins(%{{.*}} : tensor<64xf32>) outs(%[[A]] : tensor<f32>)
// CHECK: linalg.reduce {{.*}} ins(%{{.*}} : tensor<64xf32>) outs(%[[B]] : tensor<f32>)
// CHECK: scf.yield
// CHECK: accel.copy %[[R]]#0 to
// CHECK: accel.copy %[[R]]#1 to
func.func @sums(%a: memref<256xf32, strided<[1], offset: ?>> {accel.noalias}, %b: memref<f32, strided<[], offset: ?>>,
                %c: memref<f32, strided<[], offset: ?>> {accel.noalias}, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32"]} {
  %e = tensor.empty() : tensor<256xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  %t = accel.copy %a to %e {accel.tile = array<i64: 64>} : (memref<256xf32, strided<[1], offset: ?>>, tensor<256xf32>) -> tensor<256xf32>
  %r = linalg.reduce { arith.addf } ins(%t : tensor<256xf32>) outs(%z : tensor<f32>) dimensions = [0]
  accel.copy %r to %b : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  %s = linalg.reduce { arith.maximumf } ins(%t : tensor<256xf32>) outs(%z : tensor<f32>) dimensions = [0]
  accel.copy %s to %c : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  return
}

// -----

// Counts of parts are added up where they are made.

// CHECK-LABEL: func.func @counts
// CHECK: scf.for %{{.*}} = %c0 to %c512 step %c128 iter_args(%[[C:.*]] = %{{.*}}) -> (tensor<16xi32>)
// CHECK: accel.compute vector ins(%{{.*}} : tensor<128xi32>) outs(%[[C]] : tensor<16xi32>)
// CHECK: ^bb0(%[[IN:.*]]: tensor<128xi32>, %[[OUT:.*]]: tensor<16xi32>):
// CHECK: %[[H:.*]] = linalg_ext.histogram %[[IN]]
// CHECK: linalg.generic {{.*}} ins(%[[H]] : tensor<16xi32>) outs(%[[OUT]] : tensor<16xi32>)
func.func @counts(%a: memref<512xi32, strided<[1], offset: ?>> {accel.noalias}, %b: memref<16xi32, strided<[1], offset: ?>>,
                  %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*i32", "*i32"]} {
  %e = tensor.empty() : tensor<512xi32>
  %eh = tensor.empty() : tensor<16xi32>
  %t = accel.copy %a to %e {accel.tile = array<i64: 128>} : (memref<512xi32, strided<[1], offset: ?>>, tensor<512xi32>) -> tensor<512xi32>
  %h = accel.compute vector ins(%t : tensor<512xi32>) outs(%eh : tensor<16xi32>) {
  ^bb0(%in: tensor<512xi32>, %out: tensor<16xi32>):
    %0 = linalg_ext.histogram %in : tensor<512xi32> -> tensor<16xi32>
    accel.yield %0 : tensor<16xi32>
  } -> tensor<16xi32>
  accel.copy %h to %b : (tensor<16xi32>, memref<16xi32, strided<[1], offset: ?>>) -> ()
  return
}

// -----

// Two blocks that are cut together, each by the sizes of the other's dimension: the one that has the whole block decides nothing.

// CHECK-LABEL: func.func @each_one
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c8
// CHECK: arith.addf
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @each_one(%a: memref<32x64xf32, strided<[64, 1], offset: ?>> {accel.noalias}, %b: memref<32x64xf32, strided<[64, 1], offset: ?>> {accel.noalias},
                    %c: memref<32x64xf32, strided<[64, 1], offset: ?>> {accel.noalias}, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*fp32", "*fp32"]} {
  %e = tensor.empty() : tensor<32x64xf32>
  %t = accel.copy %a to %e {accel.tile = array<i64: 8, 64>} : (memref<32x64xf32, strided<[64, 1], offset: ?>>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %u = accel.copy %b to %e {accel.tile = array<i64: 32, 16>} : (memref<32x64xf32, strided<[64, 1], offset: ?>>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%t, %u : tensor<32x64xf32>, tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<32x64xf32>
  accel.copy %r to %c : (tensor<32x64xf32>, memref<32x64xf32, strided<[64, 1], offset: ?>>) -> ()
  return
}

// -----

// A reduction with a region of its own and several blocks: the region combines what the parts before gave with what this one gives,
// which for the first part is all there is.

// CHECK-LABEL: func.func @first_largest
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0 to %c512 step %c128 iter_args(%[[V:.*]] = %{{.*}}, %[[W:.*]] = %{{.*}}) -> (tensor<f32>, tensor<i32>)
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[I]], %c0
// CHECK: accel.compute vector ins(%{{.*}}, %{{.*}} : tensor<128xf32>, tensor<128xi32>) outs(%[[V]], %[[W]] : tensor<f32>, tensor<i32>)
// CHECK: %[[R:.*]]:2 = linalg_ext.reduce
// CHECK: linalg.generic {{.*}} ins(%[[R]]#0, %[[R]]#1 : tensor<f32>, tensor<i32>)
// CHECK: ^bb0(%[[PV:.*]]: f32, %[[PW:.*]]: i32, %[[OV:.*]]: f32, %[[OW:.*]]: i32):
// CHECK: %[[GT:.*]] = arith.cmpf ogt, %[[OV]], %[[PV]]
// CHECK: %[[BV:.*]] = arith.select %[[GT]], %[[OV]], %[[PV]]
// CHECK: %[[BW:.*]] = arith.select %[[GT]], %[[OW]], %[[PW]]
// CHECK: arith.select %[[FIRST]], %[[PV]], %[[BV]]
// CHECK: arith.select %[[FIRST]], %[[PW]], %[[BW]]
func.func @first_largest(%a: memref<512xf32, strided<[1], offset: ?>> {accel.noalias}, %b: memref<512xi32, strided<[1], offset: ?>> {accel.noalias},
                         %c: memref<f32, strided<[], offset: ?>>, %d: memref<i32, strided<[], offset: ?>>, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {accel.kernel, tilebridge.signature = ["*fp32", "*i32", "*fp32", "*i32"]} {
  %e = tensor.empty() : tensor<512xf32>
  %ei = tensor.empty() : tensor<512xi32>
  %rv = tensor.empty() : tensor<f32>
  %rw = tensor.empty() : tensor<i32>
  %t = accel.copy %a to %e {accel.tile = array<i64: 128>} : (memref<512xf32, strided<[1], offset: ?>>, tensor<512xf32>) -> tensor<512xf32>
  %u = accel.copy %b to %ei : (memref<512xi32, strided<[1], offset: ?>>, tensor<512xi32>) -> tensor<512xi32>
  %h:2 = accel.compute vector ins(%t, %u : tensor<512xf32>, tensor<512xi32>) outs(%rv, %rw : tensor<f32>, tensor<i32>) {
  ^bb0(%x: tensor<512xf32>, %y: tensor<512xi32>, %ov: tensor<f32>, %ow: tensor<i32>):
    %0:2 = linalg_ext.reduce(%x, %y) dimension = 0 {
    ^bb1(%v0: f32, %i0: i32, %v1: f32, %i1: i32):
      %gt = arith.cmpf ogt, %v0, %v1 : f32
      %v = arith.select %gt, %v0, %v1 : f32
      %i = arith.select %gt, %i0, %i1 : i32
      linalg_ext.yield %v, %i : f32, i32
    } : (tensor<512xf32>, tensor<512xi32>) -> (tensor<f32>, tensor<i32>)
    accel.yield %0#0, %0#1 : tensor<f32>, tensor<i32>
  } -> tensor<f32>, tensor<i32>
  accel.copy %h#0 to %c : (tensor<f32>, memref<f32, strided<[], offset: ?>>) -> ()
  accel.copy %h#1 to %d : (tensor<i32>, memref<i32, strided<[], offset: ?>>) -> ()
  return
}
