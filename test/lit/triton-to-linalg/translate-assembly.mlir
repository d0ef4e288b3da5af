// RUN: tilebridge-opt %s -split-input-file -tilebridge-translate-assembly -canonicalize | FileCheck %s

// CHECK-LABEL: tt.func private @rotate
// CHECK: "tt.map_elementwise"(%{{.*}}) <{pack = 1 : i32}>
// CHECK: ^bb0(%[[A:.*]]: i32):
// CHECK: arith.shli %{{.*}} : i64
// CHECK: arith.trunci %{{.*}} : i64 to i32
// CHECK: tt.map_elementwise.return %{{.*}} : i32
tt.func private @rotate(%x: tensor<64xi32>) -> tensor<64xi32> {
  %0 = tt.elementwise_inline_asm "shf.l.wrap.b32 $0, $1, $1, 7;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<64xi32> -> tensor<64xi32>
  tt.return %0 : tensor<64xi32>
}

// -----

// Four bytes share a register; what is declared inside of braces, and comments.
// CHECK-LABEL: tt.func private @packed
// CHECK: ^bb0(%{{.*}}: i8, %{{.*}}: i8, %{{.*}}: i8, %{{.*}}: i8):
// CHECK-COUNT-3: arith.ori
// CHECK: arith.andi %{{.*}}, %{{.*}} : i32
// CHECK: arith.shli %{{.*}}, %{{.*}} : i32
// CHECK: tt.map_elementwise.return {{.*}} : i8, i8, i8, i8
tt.func private @packed(%x: tensor<64xi8>) -> tensor<64xi8> {
  %0 = tt.elementwise_inline_asm "{ .reg .b32 a<2>, b; and.b32 a1, $1, 0x1F1F1F1F; // five bits\0A shl.b32 $0, a1, 3; }"
      {constraints = "=r,r", packed_element = 4 : i32, pure = true} %x : tensor<64xi8> -> tensor<64xi8>
  tt.return %0 : tensor<64xi8>
}

// -----

// Scalars need no map. The first of a pair is in the lower half.
// CHECK-LABEL: tt.func private @scalars
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK: %[[T:.*]] = math.tanh %[[X]] : f32
// CHECK: %[[LOW:.*]] = arith.truncf %[[Y]] : f32 to bf16
// CHECK: %[[HIGH:.*]] = arith.truncf %[[X]] : f32 to bf16
// CHECK: tt.return %[[T]]
tt.func private @scalars(%x: f32, %y: f32) -> (f32, i32) {
  %0 = tt.elementwise_inline_asm "tanh.approx.f32 $0, $1;" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %x : f32 -> f32
  %1 = tt.elementwise_inline_asm "cvt.rn.bf16x2.f32 $0, $1, $2;" {constraints = "=r,f,f", packed_element = 1 : i32, pure = true} %x, %y : f32, f32 -> i32
  tt.return %0, %1 : f32, i32
}

// -----

// A predicate keeps what a register had.
// CHECK-LABEL: tt.func private @guard
// CHECK-SAME: (%[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK: %[[P:.*]] = arith.cmpi slt, %[[X]], %[[Y]]
// CHECK: %[[R:.*]] = arith.select %[[P]], %[[X]], %[[Y]]
// CHECK: tt.return %[[R]]
tt.func private @guard(%x: i32, %y: i32) -> i32 {
  %0 = tt.elementwise_inline_asm ".reg .pred p; mov.b32 $0, $1; setp.lt.s32 p, $1, $2; @!p mov.b32 $0, $2;"
      {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %x, %y : i32, i32 -> i32
  tt.return %0 : i32
}

// -----

// CHECK-LABEL: tt.func private @clock
// CHECK: %[[T:.*]] = linalg_ext.clock
// CHECK: tt.return %[[T]] : i64
tt.func private @clock() -> i64 {
  %0 = tt.elementwise_inline_asm "mov.u64 $0, %globaltimer;" {constraints = "=l", packed_element = 1 : i32, pure = false} -> i64
  tt.return %0 : i64
}

// -----

// A scale is the exponent, rounded up: only what is beside a power of two moves. The sign is left away.
// CHECK-LABEL: tt.func private @scale
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
// CHECK: %[[SIZE:.*]] = arith.andi %[[BITS]], %{{.*}} : i32
// CHECK: arith.addi %[[SIZE]], %{{.*}} : i32
// CHECK: %[[CODE:.*]] = arith.shrui
// CHECK: arith.minui %[[CODE]]
// CHECK: arith.trunci %{{.*}} : i32 to i8
tt.func private @scale(%x: f32) -> i16 {
  %0 = tt.elementwise_inline_asm "cvt.rp.ue8m0x2.f32 $0, 0.0, $1;" {constraints = "=h,r", packed_element = 1 : i32, pure = true} %x : f32 -> i16
  tt.return %0 : i16
}

// -----

// Two codes of 4 bits in a byte, from comparisons and sums.
// CHECK-LABEL: tt.func private @float4
// CHECK-NOT: f4E2M1FN
// CHECK: math.absf
// CHECK: arith.cmpf uno
// CHECK: math.absf
// CHECK: %[[UPPER:.*]] = arith.shli
// CHECK: arith.ori %{{.*}}, %[[UPPER]] : i32
// CHECK-NOT: f4E2M1FN
tt.func private @float4(%x: f32, %y: f32) -> i32 {
  %0 = tt.elementwise_inline_asm ".reg .b8 a; cvt.rn.satfinite.e2m1x2.f32 a, $1, $2; mov.b32 $0, {a, a, a, a};"
      {constraints = "=r,f,f", packed_element = 1 : i32, pure = true} %x, %y : f32, f32 -> i32
  tt.return %0 : i32
}

// A register may be a pair, and anything blank stands behind its type.
// CHECK-LABEL: tt.func private @pair_register
// CHECK: %[[UPPER:.*]] = arith.shrui %{{.*}}, %{{.*}} : i32
// CHECK: arith.trunci %[[UPPER]] : i32 to i16
// CHECK-NOT: tt.elementwise_inline_asm
tt.func private @pair_register(%x: i32) -> i32 {
  %0 = tt.elementwise_inline_asm "{ .reg .b8\09a; .reg .f16x2 b; mov.b32 b, $1; cvt.rn.satfinite.e2m1x2.f16x2 a, b; cvt.u32.u8 $0, a; }"
      {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : i32 -> i32
  tt.return %0 : i32
}
