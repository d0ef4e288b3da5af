// RUN: tilebridge-opt %s | tilebridge-opt | FileCheck %s
// RUN: tilebridge-opt %s -mlir-print-op-generic | tilebridge-opt | FileCheck %s
// RUN: tilebridge-opt %s -emit-bytecode | tilebridge-opt | FileCheck %s

// What the dumps of the wheels in test/ttir do not contain, and what versions spell differently.

// CHECK-LABEL: tt.func @types(
// CHECK-SAME: !tt.ptr<f32>, %{{.*}}: !tt.ptr<f32>, %{{.*}}: !tt.ptr<f32>, %{{.*}}: !tt.ptr<f32, "constant">
// CHECK-SAME: !tt.ptr<i8, "descriptor">, %{{.*}}: !tt.ptr<f16, "constant">
// CHECK-SAME: !tt.ptr<tensor<16x32xf16>>
// CHECK-SAME: !tt.tensordesc<16x32xf32>, %{{.*}}: !tt.tensordesc<16x32xf32>
// CHECK-SAME: !tt.tensordesc<64xui8>, %{{.*}}: !tt.tensordesc<8x8xf16, 7 : i32>
// CHECK-SAME: !tt.ptr<!tt.ptr<f32>>, %{{.*}}: tensor<4x!tt.ptr<f8E4M3FN, "constant">>
tt.func @types(%0: !tt.ptr<f32>, %1: !tt.ptr<f32, 1>, %2: !tt.ptr<f32, "global">, %3: !tt.ptr<f32, "constant">,
               %4: !tt.ptr<i8, 0>, %5: !tt.ptr<f16, constant>, %6: !tt.ptr<tensor<16x32xf16>>,
               %7: !tt.tensordesc<16x32xf32>, %8: !tt.tensordesc<tensor<16x32xf32>>, %9: !tt.tensordesc<64xui8>,
               %10: !tt.tensordesc<8x8xf16, 7 : i32>, %11: !tt.ptr<!tt.ptr<f32>>,
               %12: tensor<4x!tt.ptr<f8E4M3FN, "constant">>) {
  tt.return
}

// CHECK-LABEL: tt.func private @declared(!tt.ptr<f32> {tt.divisibility = 16 : i32}) -> (f32, i32)
tt.func private @declared(!tt.ptr<f32> {tt.divisibility = 16 : i32}) -> (f32, i32)

// CHECK-LABEL: tt.func @memory
tt.func @memory(%p: !tt.ptr<f32>, %b: !tt.ptr<tensor<8xf32>>, %m: i1, %z: f32, %t: tensor<8xf32>) {
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = cg evictionPolicy = evict_last {isVolatile = true} : !tt.ptr<f32>
  %0 = tt.load %p, %m, %z cacheModifier = cg evictionPolicy = evict_last {isVolatile = true} : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}} {boundaryCheck = array<i32: 0>, padding = 2 : i32} : !tt.ptr<tensor<8xf32>>
  %1 = tt.load %b {boundaryCheck = array<i32: 0>, padding = 2 : i32} : !tt.ptr<tensor<8xf32>>
  // CHECK: tt.load %{{.*}} {cachePolicy = 3 : i8} : !tt.ptr<f32>
  %2 = tt.load %p {cachePolicy = 3 : i8} : !tt.ptr<f32>
  // CHECK: tt.store %{{.*}}, %{{.*}} {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<8xf32>>
  tt.store %b, %t {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<8xf32>>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = wt {ignore_cta} : !tt.ptr<f32>
  tt.store %p, %z, %m cacheModifier = wt {ignore_cta} : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func @atomics
tt.func @atomics(%p: !tt.ptr<i32>, %q: tensor<8x!tt.ptr<i32>>, %v: tensor<8xi32>, %m: tensor<8xi1>, %one: i32, %ns: i64) {
  // CHECK: tt.atomic_load relaxed, cta, %{{.*}} : (!tt.ptr<i32>) -> i32
  %0 = tt.atomic_load relaxed, cta, %p : (!tt.ptr<i32>) -> i32
  // CHECK: tt.atomic_store release, sys, %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<i32>>
  tt.atomic_store release, sys, %q, %v : tensor<8x!tt.ptr<i32>>
  // CHECK: tt.atomic_poll acquire, gpu, %{{.*}}, %{{.*}} timeout %{{.*}} : !tt.ptr<i32>, i32 -> i1
  %1 = tt.atomic_poll acquire, gpu, %p, %one timeout %ns : !tt.ptr<i32>, i32 -> i1
  // CHECK: tt.atomic_poll relaxed, gpu, %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<i32>>, tensor<8xi32> -> tensor<8xi1>
  %2 = tt.atomic_poll relaxed, gpu, %q, %v : tensor<8x!tt.ptr<i32>>, tensor<8xi32> -> tensor<8xi1>
  // CHECK: tt.atomic_rmw umax, acq_rel, gpu, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32) -> i32
  %3 = tt.atomic_rmw umax, acq_rel, gpu, %p, %one : (!tt.ptr<i32>, i32) -> i32
  // CHECK: tt.atomic_cas acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i32) -> i32
  %4 = tt.atomic_cas acq_rel, gpu, %p, %one, %one : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

// CHECK-LABEL: tt.func @descriptors
tt.func @descriptors(%d: !tt.tensordesc<1x64xf16>, %e: !tt.tensordesc<64xsi32>, %i: i32, %v: tensor<64xi32>,
                     %rows: tensor<8xi16>) {
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] evictionPolicy = evict_first : !tt.tensordesc<1x64xf16> -> tensor<64xf16>
  %0 = tt.descriptor_load %d[%i, %i] evictionPolicy = evict_first : !tt.tensordesc<1x64xf16> -> tensor<64xf16>
  // CHECK: tt.descriptor_reduce max, %{{.*}}[%{{.*}}], %{{.*}} : !tt.tensordesc<64xsi32>, tensor<64xi32>
  tt.descriptor_reduce max, %e[%i], %v : !tt.tensordesc<64xsi32>, tensor<64xi32>
  // CHECK: tt.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : (!tt.tensordesc<1x64xf16>, tensor<8xi16>, i32) -> tensor<8x64xf16>
  %1 = tt.descriptor_gather %d[%rows, %i] : (!tt.tensordesc<1x64xf16>, tensor<8xi16>, i32) -> tensor<8x64xf16>
  // CHECK: tt.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<1x64xf16>, tensor<8xi16>, i32, tensor<8x64xf16>
  tt.descriptor_scatter %d[%rows, %i], %1 : !tt.tensordesc<1x64xf16>, tensor<8xi16>, i32, tensor<8x64xf16>
  tt.return
}

// CHECK-LABEL: tt.func @compute
tt.func @compute(%x: tensor<8xf32>, %s: f32, %b: tensor<2x16x16xi8>, %c: tensor<2x16x16xi32>,
                 %a4: tensor<16x32xi8>, %b4: tensor<32x8xi8>, %acc: tensor<32x16xf32>, %sa: tensor<32x1xi8>) {
  // CHECK: tt.approx_divf %{{.*}}, %{{.*}} : tensor<8xf32>
  %0 = tt.approx_divf %x, %x : tensor<8xf32>
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : f32
  %1 = tt.clampf %s, %s, %s, propagateNan = all : f32
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtz : f32 -> f8E4M3FNUZ
  %2 = tt.fp_to_fp %s, rounding = rtz : f32 -> f8E4M3FNUZ
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} {maxNumImpreciseAcc = 32 : i32} : tensor<2x16x16xi8> * tensor<2x16x16xi8> -> tensor<2x16x16xi32>
  %3 = tt.dot %b, %b, %c {maxNumImpreciseAcc = 32 : i32} : tensor<2x16x16xi8> * tensor<2x16x16xi8> -> tensor<2x16x16xi32>
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}}, %{{.*}} lhs = e2m1 rhs = e2m1 {fastMath = true, lhs_k_pack = false, rhs_k_pack = false}
  // CHECK-SAME: : tensor<16x32xi8>, tensor<32x1xi8> * tensor<32x8xi8> -> tensor<32x16xf32>
  %4 = tt.dot_scaled %a4 scale %sa, %b4, %acc lhs = e2m1 rhs = e2m1 {fastMath = true, lhs_k_pack = false, rhs_k_pack = false}
      : tensor<16x32xi8>, tensor<32x1xi8> * tensor<32x8xi8> -> tensor<32x16xf32>
  tt.return
}

// CHECK-LABEL: tt.func @program
tt.func @program(%x: tensor<8xf32>) {
  // CHECK: tt.grid_dependency_wait
  tt.grid_dependency_wait
  // CHECK: tt.grid_dependency_launch_dependents
  tt.grid_dependency_launch_dependents
  // CHECK: ttg.barrier all
  ttg.barrier all
  // CHECK: ttg.barrier local|tensor_write
  ttg.barrier local|tensor_write
  // CHECK: ttg.barrier none
  ttg.barrier none
  // CHECK: tt.print "here" {hex = false, isSigned = array<i32>}
  tt.print "here" {hex = false, isSigned = array<i32>}
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<8xf32> -> tensor<2x4xf32>
  %0 = tt.reshape %x allow_reorder efficient_layout : tensor<8xf32> -> tensor<2x4xf32>
  // CHECK: tt.elementwise_inline_asm "nop" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  %1 = tt.elementwise_inline_asm "nop" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  tt.return
}
