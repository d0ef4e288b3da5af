// RUN: tilebridge compile %s --target=cpu:znver4 --emit=vector -o %t.mlir && FileCheck %s < %t.mlir
// RUN: tilebridge compile %s --target=cpu:x86-64 --emit=vector -o %t.words.mlir && FileCheck %s --check-prefix=WORDS < %t.words.mlir
// RUN: tilebridge compile %s --target=cpu:znver4 --emit=asm -o %t.s && FileCheck %s --check-prefix=ASM < %t.s
// RUN: tilebridge compile %s --target=cpu:neoverse-v1 -o %t.so

// Lanes whose elements follow one another, and begin at a multiple of 16 bytes, take one exchange;
// of 8, where the CPU has none of 16.

// ASM-COUNT-3: cmpxchg16b
tt.func public @lanes(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %h: !tt.ptr<bf16>, %d: !tt.ptr<f64>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ns = tt.splat %n : i32 -> tensor<512xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %v = tt.load %xp, %mask : tensor<512x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  // CHECK: "llvm.intr.prefetch"(%{{.*}}) <{{.*}}rw = 1 : i32}>
  // CHECK: vector.load {{.*}} vector<4xi64>
  // CHECK: vector.reduction <and>
  // CHECK: arith.andi %{{.*}}, %c15_i64
  // CHECK: scf.if
  // CHECK: vector.reduction <or>
  // CHECK-COUNT-2: llvm.load {{.*}} atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64
  // CHECK: arith.addf {{.*}} : vector<4xf32>
  // CHECK: arith.select {{.*}} : vector<4xi1>, vector<4xf32>
  // CHECK: llvm.cmpxchg {{.*}} acq_rel acquire {{.*}} i128
  // Nobody asks for what was there.
  // CHECK-NOT: store
  // CHECK: llvm.atomicrmw fadd
  // CHECK-NOT: memref.store
  // WORDS: arith.andi %{{.*}}, %c7_i64
  // WORDS: arith.addf {{.*}} : vector<2xf32>
  // WORDS: llvm.cmpxchg {{.*}} i64
  %0 = tt.atomic_rmw fadd, acq_rel, sys, %yp, %v, %mask : (tensor<512x!tt.ptr<f32>>, tensor<512xf32>, tensor<512xi1>) -> tensor<512xf32>

  // What was there is kept.
  %hs = tt.splat %h : !tt.ptr<bf16> -> tensor<512x!tt.ptr<bf16>>
  %hp = tt.addptr %hs, %i : tensor<512x!tt.ptr<bf16>>, tensor<512xi32>
  %halves = arith.truncf %v : tensor<512xf32> to tensor<512xbf16>
  // CHECK: arith.addf {{.*}} : vector<8xbf16>
  // CHECK: llvm.cmpxchg {{.*}} monotonic monotonic {{.*}} i128
  // CHECK: vector.store {{.*}} vector<8xbf16>
  // CHECK: memref.store {{.*}} : memref<512xbf16
  // WORDS: arith.addf {{.*}} : vector<4xbf16>
  // WORDS: llvm.cmpxchg {{.*}} i64
  %1 = tt.atomic_rmw fadd, relaxed, sys, %hp, %halves : (tensor<512x!tt.ptr<bf16>>, tensor<512xbf16>) -> tensor<512xbf16>
  tt.store %hp, %1 : tensor<512x!tt.ptr<bf16>>

  // In a word there is one f64 only.
  %ds = tt.splat %d : !tt.ptr<f64> -> tensor<512x!tt.ptr<f64>>
  %dp = tt.addptr %ds, %i : tensor<512x!tt.ptr<f64>>, tensor<512xi32>
  %wide = arith.extf %v : tensor<512xf32> to tensor<512xf64>
  // CHECK: arith.addf {{.*}} : vector<2xf64>
  // CHECK: llvm.cmpxchg {{.*}} i128
  // WORDS-NOT: vector<2xf64>
  // WORDS: llvm.atomicrmw fadd {{.*}} f64
  %2 = tt.atomic_rmw fadd, acq_rel, sys, %dp, %wide : (tensor<512x!tt.ptr<f64>>, tensor<512xf64>) -> tensor<512xf64>
  tt.return
}
