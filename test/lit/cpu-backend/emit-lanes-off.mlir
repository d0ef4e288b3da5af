// RUN: tilebridge-opt %s --split-input-file --tilebridge-cpu-plan --tilebridge-cpu-emit=vector-bits=256 --canonicalize --cse | FileCheck %s

// Masked loads and stores of which no lane is on go to the argument's first element, which is there: a fault that a mask
// suppresses takes a hundred cycles and more.

// A row that may be left out as a whole: decided before all loops.
// CHECK-LABEL: func.func @row
// CHECK-SAME: (%[[X:[a-z0-9]+]]: {{.*}}, %{{[a-z0-9]+}}: {{.*}}, %[[N:[a-z0-9]+]]: index, %[[O:[a-z0-9]+]]: index
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[N]], %c0
// CHECK-NEXT: %[[PLACE:.*]] = arith.select %[[ANY]], %[[O]], %c0
// CHECK: scf.for %[[I:.*]] =
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[O]], %[[I]]
// CHECK-NEXT: vector.load %{{.*}}[%[[AT]]]
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[AT:.*]] = arith.addi %[[PLACE]], %[[I]]
// CHECK-NEXT: vector.maskedload %{{.*}}[%[[AT]]]
func.func @row(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<1024xf32>, %n: index, %o: index) {
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %h = arith.subi %c1024, %n : index
  %vx = memref.reinterpret_cast %x to offset: [%o], sizes: [1024], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<1024xf32, strided<[1], offset: ?>>
  %bx = memref.subview %vx[0] [%n] [1] : memref<1024xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  %in = bufferization.to_tensor %bx : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
  %t = tensor.pad %in low[0] high[%h] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<1024xf32>
  bufferization.materialize_in_destination %t in writable %y : (tensor<1024xf32>, memref<1024xf32>) -> ()
  return
}

// -----

// Rows behind the last one, each for itself.
// CHECK-LABEL: func.func @rows
// CHECK: scf.for %[[R:.*]] = %c0 to %c16
// CHECK: %[[IS:.*]] = arith.cmpi slt, %[[R]], %
// CHECK-NEXT: %[[LIMIT:.*]] = arith.select %[[IS]], %c40, %c0
// CHECK: scf.for
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[LIMIT]], %c0
// CHECK-NEXT: %[[PLACE:.*]] = arith.select %[[ANY]], %{{.*}}, %c0
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[PLACE]]
// CHECK-NEXT: vector.maskedload %{{.*}}[%[[AT]]]
func.func @rows(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<16x64xf32>, %n: index) {
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %h = arith.subi %c16, %n : index
  %vx = memref.reinterpret_cast %x to offset: [0], sizes: [16, 64], strides: [40, 1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<16x64xf32, strided<[40, 1]>>
  %bx = memref.subview %vx[0, 0] [%n, 40] [1, 1] : memref<16x64xf32, strided<[40, 1]>> to memref<?x40xf32, strided<[40, 1]>>
  %in = bufferization.to_tensor %bx : memref<?x40xf32, strided<[40, 1]>> to tensor<?x40xf32>
  %t = tensor.pad %in low[0, 0] high[%h, 24] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x40xf32> to tensor<16x64xf32>
  bufferization.materialize_in_destination %t in writable %y : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
  return
}

// -----

// Loads with any mask; stores only where all lanes have one.
// CHECK-LABEL: func.func @irregular
// CHECK-SAME: %[[O:[a-z0-9]+]]: index)
// CHECK: scf.for %[[I:.*]] = {{.*}} step %c32
// CHECK: %[[MASK:.*]] = arith.cmpf ogt
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[MASK]] : vector<32xi1> into i1
// CHECK-NEXT: %[[PLACE:.*]] = arith.select %[[ANY]], %[[O]], %c0
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[PLACE]], %[[I]]
// CHECK-NEXT: vector.maskedload %{{.*}}[%[[AT]]], %[[MASK]]
// CHECK-NOT: arith.select
// CHECK: vector.maskedstore %{{.*}}, %[[MASK]]
func.func @irregular(%x: memref<?xf32, strided<[1], offset: ?>>, %m: memref<64xf32>, %o: index) {
  %tm = bufferization.to_tensor %m : memref<64xf32> to tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %mask = arith.cmpf ogt, %tm, %zero : tensor<64xf32>
  %vx = memref.reinterpret_cast %x to offset: [%o], sizes: [64], strides: [1]
      : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
  %t = linalg_ext.masked_load %vx, %mask : (memref<64xf32, strided<[1], offset: ?>>, tensor<64xi1>) -> tensor<64xf32>
  linalg_ext.masked_store %t, %vx, %mask : (tensor<64xf32>, memref<64xf32, strided<[1], offset: ?>>, tensor<64xi1>) -> ()
  return
}

// -----

// A scatter of which no lane of a step is on is not begun.
// CHECK-LABEL: func.func @bin
// CHECK: scf.for
// CHECK: %[[MASK:.*]] = arith.cmpi eq, %{{.*}} : vector<8xi32>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[MASK]] : vector<8xi1> into i1
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK: vector.scatter %{{.*}}, %[[MASK]], %{{.*}} : memref<?xf32{{.*}}>
// CHECK: }
func.func @bin(%x: memref<256xf32>, %keys: memref<256xi32>, %at: memref<256xi64>, %out: memref<?xf32, strided<[1], offset: ?>>, %bin: i32) {
  %e = tensor.empty() : tensor<256xi1>
  %v = bufferization.to_tensor %x : memref<256xf32> to tensor<256xf32>
  %k = bufferization.to_tensor %keys : memref<256xi32> to tensor<256xi32>
  %p = bufferization.to_tensor %at : memref<256xi64> to tensor<256xi64>
  %m = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%k : tensor<256xi32>) outs(%e : tensor<256xi1>) {
  ^bb0(%a: i32, %o: i1):
    %c = arith.cmpi eq, %a, %bin : i32
    linalg.yield %c : i1
  } -> tensor<256xi1>
  linalg_ext.scatter %v into %out[%p] mask %m : (tensor<256xf32>, memref<?xf32, strided<[1], offset: ?>>, tensor<256xi64>, tensor<256xi1>) -> ()
  return
}
