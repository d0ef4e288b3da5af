// RUN: tilebridge-opt %s | tilebridge-opt | FileCheck %s
// RUN: tilebridge-opt %s -mlir-print-op-generic | tilebridge-opt | FileCheck %s

!view = memref<64x?xf16, strided<[?, 1], offset: ?>>
!local = memref<64x32xf16, #accel.memory<"local">>
!ids = memref<64xi64, #accel.memory<"local">>
!mask = memref<64xi1, #accel.memory<"local">>
!ptr = memref<?xf32, strided<[1], offset: ?>>

// CHECK-LABEL: module attributes {accel.target = "mtia-2i-like"}
module attributes {accel.target = "mtia-2i-like"} {

// CHECK-LABEL: func.func @kernel
// CHECK-SAME: {accel.noalias, accel.placed = "sram"}
// CHECK-SAME: attributes {accel.kernel}
func.func @kernel(%p: !ptr {accel.noalias, accel.placed = "sram"}) attributes {accel.kernel} {
  return
}

// CHECK-LABEL: @programs
func.func @programs(%step: index, %n: i32) {
  // CHECK: accel.pe_id 0 : index
  %r = accel.pe_id 0 : index
  // CHECK: accel.pe_count 1 : index
  %c = accel.pe_count 1 : index
  // CHECK: accel.program %{{.*}} counts(%{{.*}}, %{{.*}}, %{{.*}}) {assignment = #accel.assignment<interleaved>}
  %x:4 = accel.program %step counts(%n, %n, %n) {assignment = #accel.assignment<interleaved>}
  // CHECK: assignment = #accel.assignment<blocked : [4]>
  %y:4 = accel.program %step counts(%n, %n, %n) {assignment = #accel.assignment<blocked : [4]>}
  // CHECK: assignment = #accel.assignment<grid : [1, -1]>
  %z:4 = accel.program %step counts(%n, %n, %n) {assignment = #accel.assignment<grid : [1, -1]>}
  // CHECK: #accel.assignment<table = dense<{{\[\[\[0, 1\], \[2, -1\]\]\]}}> : tensor<1x2x2xi32>>
  %w:4 = accel.program %step counts(%n, %n, %n)
      {assignment = #accel.assignment<table = dense<[[[0, 1], [2, -1]]]> : tensor<1x2x2xi32>>}
  return
}

// CHECK-LABEL: @buffers
func.func @buffers() {
  // CHECK: accel.alloc {bank = 1 : i64, offset = 4096 : i64} : memref<64x32xf16, #accel.memory<"local">>
  %a = accel.alloc {offset = 4096 : i64, bank = 1 : i64} : !local
  // CHECK: accel.dealloc %{{.*}} : memref<64x32xf16, #accel.memory<"local">>
  accel.dealloc %a : !local
  return
}

// CHECK-LABEL: @copies
func.func @copies(%v: !view, %init: tensor<64x32xf16>, %i: index, %pad: f16, %m: tensor<64x?xi1>) -> tensor<64x32xf16> {
  // CHECK: accel.copy %{{.*}} to %{{.*}} : (memref<64x?xf16, strided<[?, 1], offset: ?>>, tensor<64x32xf16>) -> tensor<64x32xf16>
  %0 = accel.copy %v to %init : (!view, tensor<64x32xf16>) -> tensor<64x32xf16>
  // CHECK: accel.copy %{{.*}} to %{{.*}} low[%{{.*}}, %{{.*}}] pad %{{.*}} mask %{{.*}} {accel.depth = 2 : i64} :
  %1 = accel.copy %v to %0 low[%i, %i] pad %pad mask %m {accel.depth = 2 : i64}
      : (!view, tensor<64x32xf16>, index, index, f16, tensor<64x?xi1>) -> tensor<64x32xf16>
  // CHECK: accel.copy %{{.*}} to %{{.*}} accumulate add : (tensor<64x32xf16>, memref<64x?xf16, {{.*}}>) -> ()
  accel.copy %1 to %v accumulate add : (tensor<64x32xf16>, !view) -> ()
  return %1 : tensor<64x32xf16>
}

// CHECK-LABEL: @rows
func.func @rows(%v: memref<?x32xf16, strided<[?, 1], offset: ?>>, %b: !local, %r: !ids, %m: !mask, %pad: f16) {
  // CHECK: accel.copy %{{.*}} to %{{.*}} rows[%{{.*}}] dim 0 pad %{{.*}} mask %{{.*}} multicast [1] :
  accel.copy %v to %b rows [%r] dim 0 pad %pad mask %m multicast [1]
      : (memref<?x32xf16, strided<[?, 1], offset: ?>>, !local, !ids, f16, !mask) -> ()
  // CHECK: accel.copy_start %{{.*}} to %{{.*}} rows[%{{.*}}] dim 0 scatter : {{.*}} -> !accel.token
  %t = accel.copy_start %b to %v rows [%r] dim 0 scatter
      : (!local, memref<?x32xf16, strided<[?, 1], offset: ?>>, !ids) -> !accel.token
  // CHECK: accel.completed : !accel.token
  %u = accel.completed : !accel.token
  // CHECK: accel.wait %{{.*}}, %{{.*}}
  accel.wait %t, %u
  return
}

// CHECK-LABEL: @lines
func.func @lines(%b: !local, %i: index) {
  // CHECK: accel.reduce_line add %{{.*}} along [1] to %{{.*}} algorithm chain : memref<64x32xf16, #accel.memory<"local">>
  accel.reduce_line add %b along [1] to %i algorithm chain : !local
  // CHECK: accel.reduce_line maxnum %{{.*}} along [0, 1] algorithm tree
  accel.reduce_line maxnum %b along [0, 1] algorithm tree : !local
  // CHECK: accel.barrier [0, 1]
  accel.barrier [0, 1]
  return
}

// CHECK-LABEL: @atomics
func.func @atomics(%p: !ptr, %o: tensor<8xi64>, %v: tensor<8xf32>, %m: tensor<8xi1>, %i: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: accel.atomic fadd acq_rel gpu %{{.*}}[%{{.*}}] values(%{{.*}}) mask(%{{.*}}) old(%{{.*}}) :
  %0 = accel.atomic fadd acq_rel gpu %p[%o] values(%v) mask(%m) old(%i)
      : (!ptr, tensor<8xi64>, tensor<8xf32>, tensor<8xi1>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: accel.atomic cas acq_rel gpu %{{.*}}[%{{.*}}] values(%{{.*}}) compare(%{{.*}}) old(%{{.*}}) :
  %1 = accel.atomic cas acq_rel gpu %p[%o] values(%v) compare(%0) old(%i)
      : (!ptr, tensor<8xi64>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: accel.atomic store release sys %{{.*}}[%{{.*}}] values(%{{.*}}) :
  accel.atomic store release sys %p[%o] values(%1) : (!ptr, tensor<8xi64>, tensor<8xf32>) -> ()
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: @compute
func.func @compute(%x: tensor<8xf32>, %s: f32, %a: memref<8xf32, #accel.memory<"local">>) -> tensor<8xf32> {
  %init = tensor.empty() : tensor<8xf32>
  // CHECK: accel.compute vector ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<8xf32>)
  %0 = accel.compute vector ins(%x : tensor<8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: tensor<8xf32>, %out: tensor<8xf32>):
    %1 = linalg_ext.scan(%in) dimension = 0 {
    ^bb0(%sum: f32, %element: f32):
      %2 = arith.addf %sum, %element : f32
      %3 = arith.addf %2, %s : f32
      linalg_ext.yield %3 : f32
    } : (tensor<8xf32>) -> tensor<8xf32>
    // CHECK: accel.yield %{{.*}} : tensor<8xf32>
    accel.yield %1 : tensor<8xf32>
  // CHECK: } -> tensor<8xf32>
  } -> tensor<8xf32>
  // CHECK: accel.compute scalar ins(%{{.*}} : memref<8xf32, #accel.memory<"local">>) {
  accel.compute scalar ins(%a : memref<8xf32, #accel.memory<"local">>) {
  ^bb0(%in: tensor<8xf32>):
    %c0 = arith.constant 0 : i32
    linalg_ext.print " x: " programs(%c0, %c0, %c0) values(%in) signed = [true] : tensor<8xf32>
    accel.yield
  }
  return %0 : tensor<8xf32>
}

}
