// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge | FileCheck %s

// CHECK-LABEL: func.func private @descriptor
// CHECK-SAME: (%[[P:[^:]*]]: memref<?xf16, strided<[1], offset: ?>>, %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[S:[^:]*]]: i64
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[P]]
// CHECK: %[[ROWS:.*]] = arith.index_cast %[[M]] : i32 to index
// CHECK: %[[COLUMNS:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK: %[[STRIDE:.*]] = arith.index_cast %[[S]] : i64 to index
// CHECK: %[[WHOLE:.*]] = memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [%[[ROWS]], %[[COLUMNS]]], strides: [%[[STRIDE]], %{{.*}}] : memref<f16> to memref<?x?xf16, strided<[?, ?], offset: ?>>
// CHECK: %[[NAN:.*]] = arith.constant true
// CHECK: %[[ZERO:.*]] = arith.constant false
// CHECK: return %[[WHOLE]], %[[NAN]], %{{.*}}, %[[ZERO]]
tt.func private @descriptor(%p: !tt.ptr<f16>, %m: i32, %n: i32, %s: i64)
    -> (!tt.tensordesc<32x64xf16>, !tt.tensordesc<8x8xf16>) {
  %one = arith.constant 1 : i64
  %0 = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] {padding = 2 : i32} : <f16>, <32x64xf16>
  %1 = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f16>, <8x8xf16>
  tt.return %0, %1 : !tt.tensordesc<32x64xf16>, !tt.tensordesc<8x8xf16>
}

// -----

// Hazard 15: in nested loops an inner advance begins anew with each outer iteration, where the program says so.
// CHECK-LABEL: func.func private @advance
// CHECK: memref.reinterpret_cast {{.*}} to memref<?x?xf16, strided<[?, ?], offset: ?>>
// CHECK: %[[I0:.*]] = arith.index_cast
// CHECK: %[[J0:.*]] = arith.index_cast
// CHECK: scf.for {{.*}} iter_args(%[[V:.*]] = %{{.*}}, %[[I:.*]] = %[[I0]], %[[J:.*]] = %[[J0]])
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[V]], %[[K:.*]] = %[[I]], %[[L:.*]] = %[[J]])
// CHECK: arith.addi %[[K]], %{{.*}} : index
// CHECK: arith.addi %[[L]], %{{.*}} : index
// CHECK: scf.yield
// CHECK: arith.addi %[[I]], %{{.*}} : index
// CHECK: arith.addi %[[J]], %{{.*}} : index
// CHECK: scf.yield
tt.func private @advance(%p: !tt.ptr<f16>, %m: i64, %n: i64, %o: i32, %k: i32) -> !tt.ptr<tensor<32x64xf16>> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %0 = tt.make_tensor_ptr %p, [%m, %n], [%n, %one], [%o, %c0] {order = array<i32: 1, 0>} : <tensor<32x64xf16>>
  %1 = scf.for %i = %c0 to %k step %c1 iter_args(%a = %0) -> (!tt.ptr<tensor<32x64xf16>>) : i32 {
    %2 = scf.for %j = %c0 to %k step %c1 iter_args(%b = %a) -> (!tt.ptr<tensor<32x64xf16>>) : i32 {
      %3 = tt.advance %b, [%c0, %c64] : <tensor<32x64xf16>>
      scf.yield %3 : !tt.ptr<tensor<32x64xf16>>
    }
    %4 = tt.advance %a, [%c64, %c0] : <tensor<32x64xf16>>
    scf.yield %4 : !tt.ptr<tensor<32x64xf16>>
  }
  tt.return %1 : !tt.ptr<tensor<32x64xf16>>
}
