// RUN: tilebridge-opt %s --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=4096" --canonicalize --cse | FileCheck %s
// RUN: tilebridge-opt %s --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256 stream-bytes=4096" --canonicalize --cse | FileCheck %s --check-prefix=FEW

// With 32 registers the columns of squares are whole lines, and go around the caches if all of them begin with one. There is one choice for a square, not one for each store.
// CHECK-LABEL: func.func @transpose(
// CHECK: arith.cmpi sge, %{{.*}}, %c4096
// CHECK: %[[IN_LINE:.*]] = arith.andi %{{.*}}, %c15
// CHECK: %[[ALL:.*]] = arith.cmpi eq, %[[IN_LINE]], %c0
// CHECK: arith.andi %{{.*}}, %[[ALL]]
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16
// CHECK-COUNT-16: llvm.load {{.*}} vector<16xf32>
// CHECK-COUNT-64: vector.shuffle
// CHECK: scf.if
// CHECK-COUNT-16: vector.store {{.*}}alignment = 64 : i64, nontemporal = true{{.*}} vector<16xf32>
// CHECK: } else {
// CHECK-NOT: nontemporal
// CHECK-COUNT-16: vector.store %{{[^ ]*}}, {{.*}} vector<16xf32>

// Fewer registers: what is large is copied to scratch memory, and goes around the caches from there, row by row; only what is not is transposed in registers.
// FEW-LABEL: func.func @transpose(
// FEW: arith.cmpi sge, %{{.*}}, %c4096
// FEW: %[[END:.*]] = arith.select %{{.*}}, %c0, %c32
// FEW: scf.for %{{.*}} = %c0 to %[[END]] step %c16
// FEW-NOT: nontemporal
// FEW: %[[LEFT:.*]] = arith.cmpi slt, %[[END]], %c32
// FEW-NEXT: scf.if %[[LEFT]]
// FEW: nontemporal = true
func.func @transpose(%x: memref<?xf32, strided<[1], offset: ?>>, %o: memref<?xf32, strided<[1], offset: ?>>, %stride: index,
                     %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
  %c32 = arith.constant 32 : index
  %id = arith.index_cast %px : i32 to index
  %at = arith.muli %id, %c32 : index
  %row = arith.muli %at, %stride : index
  %in = memref.reinterpret_cast %x to offset: [%row], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %out = memref.reinterpret_cast %o to offset: [%at], sizes: [32, 32], strides: [%stride, 1] : memref<?xf32, strided<[1], offset: ?>> to memref<32x32xf32, strided<[?, 1], offset: ?>>
  %t = bufferization.to_tensor %in : memref<32x32xf32, strided<[?, 1], offset: ?>> to tensor<32x32xf32>
  %e = tensor.empty() : tensor<32x32xf32>
  %y = linalg.transpose ins(%t : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) permutation = [1, 0]
  bufferization.materialize_in_destination %y in writable %out : (tensor<32x32xf32>, memref<32x32xf32, strided<[?, 1], offset: ?>>) -> ()
  return
}

// It is told once that the stores go around the caches.
// RUN: tilebridge-opt %s --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 stream-bytes=4096" --remarks-filter=tilebridge-cpu --remark-format=emitRemark 2>&1 >%t.mlir | FileCheck %s --check-prefix=TOLD
// RUN: tilebridge-opt %s --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=256 stream-bytes=4096" --remarks-filter=tilebridge-cpu --remark-format=emitRemark 2>&1 >%t.mlir | FileCheck %s --check-prefix=TOLD
// TOLD: Kind=transposed
// TOLD: Kind=loops
// TOLD: Kind=stores{{.*}}around the caches
// TOLD-NOT: Kind=stores
