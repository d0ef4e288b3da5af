// RUN: tilebridge-opt %s --tilebridge-cpu-share-operands --tilebridge-cpu-plan --tilebridge-cpu-emit="vector-bits=512 two-fmas bf16-pairs bf16-tiles" --canonicalize --cse | FileCheck %s

// Programs of a thread find the rows that the one before has packed: five words say how many steps of which slot are there, three whose rows they are. More
// than two tiles of rows are multiplied in parts of eight steps, whose sums wait in memory.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK: %[[STATE:.*]] = memref.alloc() {{.*}}tilebridge.zeroed{{.*}} : memref<32xi64>
// CHECK: %[[KEPT:.*]] = memref.alloc() {{.*}}tilebridge.kept{{.*}} : memref<6x4x64x16x16xi32>
// CHECK: scf.for
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[M]], %c16
// CHECK: llvm.x86.ldtilecfg
// CHECK: %[[HAS_SLOT:.*]] = arith.cmpi ult, %[[NUMBER:.*]], %c5
// CHECK: %[[IS_KEPT:.*]] = arith.andi %{{.*}}, %[[HAS_SLOT]]
// CHECK: arith.select %[[IS_KEPT]], %[[NUMBER]], %c5
// CHECK: memref.load %[[STATE]][%c8]
// CHECK: memref.load %[[STATE]][%c9]
// CHECK: memref.load %[[STATE]][%c10]
// CHECK: %[[STEPS:.*]] = arith.addi %{{.*}}, %c11
// CHECK: memref.load %[[STATE]][%[[STEPS]]]
// CHECK: %[[IS_ENOUGH:.*]] = arith.cmpi uge
// CHECK: %[[IS_THERE:.*]] = arith.andi %{{.*}}, %[[IS_ENOUGH]]
// CHECK: memref.subview %[[KEPT]]
// CHECK: scf.if %[[IS_THERE]] {
// CHECK-NEXT: } else {
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<16xi32>
// CHECK: scf.if %[[IS_KEPT]] {
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: } else {
// CHECK: memref.store %{{.*}}, %[[STATE]][%c8]
// CHECK: memref.store %c0_i64, %[[STATE]][%c15]
// CHECK: memref.store %{{.*}}, %[[STATE]][%[[STEPS]]]
// CHECK: %[[SUMS:.*]] = memref.alloc() {{.*}}: memref<4x4x16x16xf32>
// CHECK: %[[MANY:.*]] = arith.cmpi ugt, %[[TILES]], %c2
// CHECK: %[[PART:.*]] = arith.select %[[MANY]], %c8
// CHECK: scf.for %[[BEGIN:.*]] = %c0 to %[[ALL:.*]] step %[[PART]] {
// CHECK: %[[END:.*]] = arith.minui %{{.*}}, %[[ALL]]
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c16 {
// CHECK: arith.remui %[[TILES]], %c4
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[BEGIN]], %c0
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK-COUNT-4: llvm.x86.tilezero
// CHECK: } else {
// CHECK-COUNT-4: llvm.x86.tileloadd64
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c1 {
// CHECK-COUNT-4: llvm.x86.tdpbf16ps
// CHECK-COUNT-4: llvm.x86.tilestored64
// CHECK-COUNT-3: llvm.x86.tdpbf16ps
// CHECK-COUNT-2: llvm.x86.tdpbf16ps
// One tile's second chain of sums is added to the first.
// CHECK-COUNT-2: llvm.x86.tdpbf16ps
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c16 step %c1
// CHECK: vector.load %[[SUMS]][%{{.*}}, %{{.*}}, %[[ROW]], %c0]
// CHECK: vector.load %[[SUMS]][%{{.*}}, %{{.*}}, %[[ROW]], %c0]
// CHECK: vector.store %{{.*}}, %[[SUMS]][%{{.*}}, %{{.*}}, %[[ROW]], %c0]
// All tiles of sums are transposed by one loop.
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[END]], %[[ALL]]
// CHECK: scf.if %[[IS_LAST]] {
// CHECK: scf.for %[[TILE:.*]] = %c0 to %[[TILES]] step %c1
// CHECK: %[[PLACE:.*]] = arith.remui %[[TILE]], %c4
// CHECK: vector.load %[[SUMS]][%{{.*}}, %[[PLACE]], %c0, %c0]
// CHECK-COUNT-64: vector.shuffle {{.*}} vector<16xf32>
// CHECK-NOT: vector.shuffle
// CHECK: llvm.x86.tilerelease
// What was left in its array for columns is packed for panels, as other rows than the wanted ones may not exist.
// CHECK: scf.if %{{.*}} -> (index, index) {
// CHECK: vector.store {{.*}} : memref<64x512xi16, strided<[?, 1]>>
// CHECK: llvm.x86.ldtilecfg
// CHECK: return
func.func @loop(%m: index, %a: memref<?x4096xbf16>, %b: memref<?xbf16>, %n: index, %k: index, %o: memref<64x64xf32>, %x: i32, %y: i32, %z: i32, %nx: i32, %ny: i32, %nz: i32)
    attributes {tilebridge.kernel} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %f0 = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %program = arith.index_cast %x : i32 to index
  %first = arith.muli %program, %n : index
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) {
    %at = arith.addi %first, %i : index
    %rows = memref.subview %a[0, %i] [%m, 64] [1, 1] : memref<?x4096xbf16> to memref<?x64xbf16, strided<[4096, 1], offset: ?>>
    %columns = memref.reinterpret_cast %b to offset: [%at], sizes: [64, 64], strides: [1, %n] : memref<?xbf16> to memref<64x64xbf16, strided<[1, ?], offset: ?>>
    %some = bufferization.to_tensor %rows : memref<?x64xbf16, strided<[4096, 1], offset: ?>> to tensor<?x64xbf16>
    %above = arith.subi %c64, %m : index
    %l = tensor.pad %some low[0, 0] high[%above, 0] {
    ^bb0(%u: index, %v: index):
      tensor.yield %f0 : bf16
    } : tensor<?x64xbf16> to tensor<64x64xbf16>
    %r = bufferization.to_tensor %columns : memref<64x64xbf16, strided<[1, ?], offset: ?>> to tensor<64x64xbf16>
    %d = linalg.matmul ins(%l, %r : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%acc : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %slice = tensor.extract_slice %sum[0, 0] [%m, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
  %to = memref.subview %o[0, 0] [%m, 64] [1, 1] : memref<64x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  bufferization.materialize_in_destination %slice in writable %to : (tensor<?x64xf32>, memref<?x64xf32, strided<[64, 1]>>) -> ()
  return
}
