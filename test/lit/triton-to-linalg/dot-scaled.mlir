// RUN: tilebridge-opt %s -split-input-file -tilebridge-to-bridge | FileCheck %s

// Scales are powers of two from bytes; a group of K is a dimension while they are multiplied, and is not copied.
// CHECK-LABEL: func.func private @mxfp8
// CHECK-SAME: (%[[A:.*]]: tensor<16x64xf8E4M3FN>, %[[S:.*]]: tensor<16x2xi8>, %[[B:.*]]: tensor<64x32xf8E5M2>, %[[T:.*]]: tensor<32x2xi8>, %[[C:.*]]: tensor<16x32xf32>
// CHECK: linalg.generic {{.*}} ins(%[[S]] :
// CHECK: arith.bitcast %{{.*}} : i8 to f8E8M0FNU
// CHECK: arith.extf {{.*}} : f8E8M0FNU to f32
// CHECK: %[[GROUPS:.*]] = tensor.expand_shape %[[A]] {{\[}}[0], [1, 2]{{\]}} {{.*}} into tensor<16x2x32xf8E4M3FN>
// CHECK: %[[WIDE:.*]] = linalg.broadcast {{.*}} dimensions = [2]
// CHECK: linalg.generic {{.*}} ins(%[[GROUPS]], %[[WIDE]] :
// CHECK-NEXT: ^bb0(%[[X:.*]]: f8E4M3FN, %[[XS:.*]]: f32, %{{.*}}: bf16):
// CHECK-NEXT: %[[X32:.*]] = arith.extf %[[X]]
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[X32]], %[[XS]]
// CHECK-NEXT: arith.truncf %[[PRODUCT]] fastmath<contract> : f32 to bf16
// CHECK: %[[LEFT:.*]] = tensor.collapse_shape {{.*}} into tensor<16x64xbf16>
// CHECK: linalg.generic {{.*}} ins(%[[T]] :
// CHECK: linalg.transpose {{.*}} permutation = [1, 0]
// CHECK: tensor.expand_shape %[[B]] {{\[}}[0, 1], [2]{{\]}} {{.*}} into tensor<2x32x32xf8E5M2>
// CHECK: linalg.broadcast {{.*}} dimensions = [1]
// CHECK: %[[RIGHT:.*]] = tensor.collapse_shape {{.*}} into tensor<64x32xbf16>
// CHECK: linalg.matmul {tilebridge.short_sums} ins(%[[LEFT]], %[[RIGHT]] : {{.*}}) outs(%[[C]] :
tt.func private @mxfp8(%a: tensor<16x64xf8E4M3FN>, %s: tensor<16x2xi8>, %b: tensor<64x32xf8E5M2>, %t: tensor<32x2xi8>,
                       %c: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e5m2 {fastMath = false}
      : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x32xf8E5M2>, tensor<32x2xi8> -> tensor<16x32xf32>
  tt.return %0 : tensor<16x32xf32>
}

// -----

// Pairs along K on both sides: the lower halves of the bytes, then the upper ones; nothing is put in turns.
// CHECK-LABEL: func.func private @mxfp4
// CHECK-NOT: insert_slice
// CHECK: arith.trunci %{{.*}} : i8 to i4
// CHECK: arith.bitcast %{{.*}} : i4 to f4E2M1FN
// CHECK: linalg.matmul {tilebridge.short_sums} ins({{.*}} : tensor<16x32xbf16>, tensor<32x8xbf16>) outs(%{{.*}} :
// CHECK: arith.shrui
// CHECK: linalg.matmul {tilebridge.short_sums} ins({{.*}} : tensor<16x32xbf16>, tensor<32x8xbf16>) outs(%{{.*}} :
tt.func private @mxfp4(%a: tensor<16x32xi8>, %s: tensor<16x4xf8E4M3FN>, %b: tensor<32x8xi8>, %t: tensor<8x4xf8E4M3FN>,
                       %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e2m1 rhs = e2m1 {fastMath = false}
      : tensor<16x32xi8>, tensor<16x4xf8E4M3FN> * tensor<32x8xi8>, tensor<8x4xf8E4M3FN> -> tensor<16x8xf32>
  tt.return %0 : tensor<16x8xf32>
}

// -----

// The partner of such a side is cut into its even and odd rows.
// CHECK-LABEL: func.func private @mixed
// CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<64x8xbf16>
// CHECK-DAG: tensor.extract_slice %[[B]][0, 0] [32, 8] [2, 1]
// CHECK: linalg.matmul
// CHECK-DAG: tensor.extract_slice %[[B]][1, 0] [32, 8] [2, 1]
// CHECK: linalg.matmul
tt.func private @mixed(%a: tensor<16x32xi8>, %b: tensor<64x8xbf16>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false}
      : tensor<16x32xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>
  tt.return %0 : tensor<16x8xf32>
}

// -----

// Pairs along K on the right alone are a dimension, of which the index says by how much bytes are shifted.
// CHECK-LABEL: func.func private @pairs
// CHECK-SAME: %[[B:[a-z0-9]*]]: tensor<32x8xi8>
// CHECK-NOT: insert_slice
// CHECK: %[[GROUPS:.*]] = tensor.expand_shape %[[B]] {{\[}}[0, 1], [2]{{\]}} {{.*}} into tensor<2x16x8xi8>
// CHECK: linalg.broadcast ins(%[[GROUPS]] : {{.*}}) outs({{.*}} : tensor<2x16x2x8xi8>) dimensions = [2]
// CHECK: linalg.broadcast {{.*}} outs({{.*}} : tensor<2x16x2x8xf32>) dimensions = [1, 2]
// CHECK: %[[WHICH:.*]] = linalg.index 2
// CHECK: arith.shrui
// CHECK: arith.bitcast %{{.*}} : i4 to f4E2M1FN
// CHECK: %[[RIGHT:.*]] = tensor.collapse_shape %{{.*}} into tensor<64x8xbf16>
// CHECK: linalg.matmul {tilebridge.short_sums} ins({{.*}}, %[[RIGHT]] : tensor<16x64xbf16>, tensor<64x8xbf16>)
tt.func private @pairs(%a: tensor<16x64xbf16>, %b: tensor<32x8xi8>, %t: tensor<8x2xi8>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tt.dot_scaled %a, %b scale %t, %c lhs = bf16 rhs = e2m1 {fastMath = false}
      : tensor<16x64xbf16> * tensor<32x8xi8>, tensor<8x2xi8> -> tensor<16x8xf32>
  tt.return %0 : tensor<16x8xf32>
}

// -----

// Elements of f16 do not fit bf16, nor do those of bf16 with scales that are more than a power of two.
// CHECK-LABEL: func.func private @wide
// CHECK: linalg.matmul {tilebridge.short_sums} ins({{.*}} : tensor<16x32xf32>, tensor<32x8xf16>)
// CHECK: linalg.matmul {tilebridge.short_sums} ins({{.*}} : tensor<16x32xf32>, tensor<32x8xbf16>)
tt.func private @wide(%a: tensor<16x32xf8E5M2>, %s: tensor<16x1xi8>, %b: tensor<32x8xf16>, %d: tensor<16x32xbf16>,
                      %t: tensor<16x1xf8E4M3FN>, %e: tensor<32x8xbf16>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e5m2 rhs = fp16 {fastMath = false}
      : tensor<16x32xf8E5M2>, tensor<16x1xi8> * tensor<32x8xf16> -> tensor<16x8xf32>
  %1 = tt.dot_scaled %d scale %t, %e, %0 lhs = bf16 rhs = bf16 {fastMath = false}
      : tensor<16x32xbf16>, tensor<16x1xf8E4M3FN> * tensor<32x8xbf16> -> tensor<16x8xf32>
  tt.return %1 : tensor<16x8xf32>
}

// -----

// Along M or N, pairs go where they belong.
// CHECK-LABEL: func.func private @in_turns
// CHECK: tensor.insert_slice {{.*}} into %{{.*}}[0, 0] [16, 64] [2, 1]
// CHECK: tensor.insert_slice {{.*}} into %{{.*}}[1, 0] [16, 64] [2, 1]
// CHECK: tensor.insert_slice {{.*}} into %{{.*}}[0, 0] [64, 4] [1, 2]
// CHECK: tensor.insert_slice {{.*}} into %{{.*}}[0, 1] [64, 4] [1, 2]
// CHECK: linalg.matmul {tilebridge.short_sums} ins({{.*}} : tensor<32x64xbf16>, tensor<64x8xbf16>)
tt.func private @in_turns(%a: tensor<16x64xi8>, %s: tensor<32x2xi8>, %b: tensor<64x4xi8>, %c: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = e2m1 {fastMath = false, lhs_k_pack = false, rhs_k_pack = false}
      : tensor<16x64xi8>, tensor<32x2xi8> * tensor<64x4xi8> -> tensor<32x8xf32>
  tt.return %0 : tensor<32x8xf32>
}

// -----

// An operand without scales stays as narrow as it is; bytes become their format. A narrow accumulator is rounded once.
// CHECK-LABEL: func.func private @narrow
// CHECK-SAME: (%[[A:.*]]: tensor<2x16x32xi8>, %[[B:.*]]: tensor<2x32x8xf16>, %[[C:.*]]: tensor<2x16x8xf16>
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: arith.bitcast {{.*}} : i8 to f8E5M2
// CHECK: %[[SUM:.*]] = linalg.batch_matmul {tilebridge.short_sums} ins(%{{.*}}, %[[B]] : tensor<2x16x32xf8E5M2>, tensor<2x32x8xf16>) outs(%{{.*}} : tensor<2x16x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] :
// CHECK: arith.truncf {{.*}} : f32 to f16
tt.func private @narrow(%a: tensor<2x16x32xi8>, %b: tensor<2x32x8xf16>, %c: tensor<2x16x8xf16>) -> tensor<2x16x8xf16> {
  %0 = tt.dot_scaled %a, %b, %c lhs = e5m2 rhs = fp16 {fastMath = false}
      : tensor<2x16x32xi8> * tensor<2x32x8xf16> -> tensor<2x16x8xf16>
  tt.return %0 : tensor<2x16x8xf16>
}

// -----

// Formats of 6 bits have no type that is multiplied.
// CHECK-LABEL: func.func private @mxfp6
// CHECK: arith.trunci %{{.*}} : i8 to i6
// CHECK: arith.bitcast %{{.*}} : i6 to f6E2M3FN
// CHECK: arith.bitcast %{{.*}} : i6 to f6E3M2FN
// CHECK: linalg.matmul {tilebridge.short_sums} ins({{.*}} : tensor<16x32xbf16>, tensor<32x8xbf16>)
tt.func private @mxfp6(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m3 rhs = e3m2 {fastMath = false}
      : tensor<16x32xi8> * tensor<32x8xi8> -> tensor<16x8xf32>
  tt.return %0 : tensor<16x8xf32>
}
