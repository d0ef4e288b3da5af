//===- MathTanh.cpp - the hyperbolic tangent of f32, by tables ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// As MathErf.cpp, but the pieces are quarters of octaves, [1, 1.25), [1.25,
// 1.5), ..., from 1/16 on: the exponent and two bits of the mantissa are the
// index, and the largest number of a piece is at most 1.25 times the smallest.
// Below 1/16 there is one piece more, with 0 as its center. The largest error
// is 0.70 units in the last place.

#include "cpu-backend/MathF32.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
/// What is below them in an f32 is the place in a piece.
constexpr int32_t pieceBits = 21;
constexpr float firstPiece = 0x1p-4f;
/// tanh of the center, rounded to f32.
constexpr float atCenter[32] = {
    0.9780261f,  0.99185973f, 0.99699765f, 0.99889445f, 0.99975324f,
    0.9999666f,  0.99999547f, 0.9999994f,  0.99999994f, 0.0f,
    0.0f,        0.0f,        0.07019686f, 0.08572657f, 0.10121473f,
    0.11665399f, 0.1397053f,  0.17020231f, 0.20037672f, 0.2301757f,
    0.2740616f,  0.33082113f, 0.38528398f, 0.43718877f, 0.50983f,
    0.59637356f, 0.6709671f,  0.7340715f,  0.8093011f,  0.8798267f,
    0.9253462f,  0.95404524f};
/// Of powers of the distance to the center, lowest first.
constexpr float coefficients[6][32] = {
    {1.7190542e-08f,
     -1.3651576e-08f,
     -2.0807795e-08f,
     -1.10513865e-08f,
     -3.6879197e-08f,
     -2.5736627e-08f,
     9.10201e-09f,
     -1.5785401e-08f,
     2.9144317e-08f,
     0.0f,
     0.0f,
     0.0f,
     -2.2853324e-09f,
     -2.677103e-10f,
     1.821003e-09f,
     2.3955524e-09f,
     2.4971765e-09f,
     -6.447231e-09f,
     -7.159925e-10f,
     7.2681403e-09f,
     -1.4744426e-09f,
     -9.207909e-09f,
     -1.0525744e-08f,
     1.0792767e-08f,
     -2.4350504e-08f,
     -2.586812e-09f,
     -2.7830435e-08f,
     2.6487163e-08f,
     -5.9142655e-09f,
     -2.3569566e-08f,
     3.0104424e-08f,
     2.4146479e-08f},
    {0.043464918f,   0.016214289f,  0.0059957164f, 0.002209893f,
     0.0004935282f,  6.680606e-05f, 9.041478e-06f, 1.2236358e-06f,
     6.1080584e-08f, 0.0f,          0.0f,          0.0f,
     0.9950724f,     0.9926509f,    0.9897556f,    0.98639184f,
     0.9804824f,     0.9710312f,    0.9598492f,    0.94701916f,
     0.9248902f,     0.8905574f,    0.85155624f,   0.80886596f,
     0.7400734f,     0.6443386f,    0.5498032f,    0.461139f,
     0.34503177f,    0.22590497f,   0.14373437f,   0.08979764f},
    {-0.042508237f,   -0.0160811f,    -0.0059771794f, -0.0022072394f,
     -0.0004926094f,  -6.669514e-05f, -9.026713e-06f, -1.2216422e-06f,
     -5.8650034e-08f, 0.0f,           0.0f,           0.0f,
     -0.06985096f,    -0.08509656f,   -0.10017785f,   -0.11506654f,
     -0.1369786f,     -0.16527174f,   -0.19233142f,   -0.2179808f,
     -0.25347686f,    -0.29461515f,   -0.32809094f,   -0.3536271f,
     -0.3773113f,     -0.3842664f,    -0.3688999f,    -0.33850914f,
     -0.27923712f,    -0.19875874f,   -0.13300462f,   -0.085671104f},
    {0.027087692f,   0.010546303f,  0.003960985f,  0.0014682898f,
     0.00032842305f, 4.448448e-05f, 6.021013e-06f, 8.148679e-07f,
     5.0659903e-08f, 0.0f,          0.0f,          -0.33333334f,
     -0.32800278f,   -0.322031f,    -0.31939498f,  -0.31513512f,
     -0.30731207f,   -0.29574078f,  -0.28151736f,  -0.26573172f,
     -0.23874559f,   -0.19945344f,  -0.15736584f,  -0.11501451f,
     -0.054314304f,  0.0143657755f, 0.06424191f,   0.09478546f,
     0.11097657f,    0.099572346f,  0.07516322f,   0.05180228f},
    {-0.012390367f,
     -0.0051511163f,
     -0.0019794966f,
     -0.00073987327f,
     -0.00017255182f,
     -2.3398621e-05f,
     -3.1675067e-06f,
     -4.286906e-07f,
     -1.6168047e-09f,
     0.0f,
     0.0f,
     0.0f,
     0.04628878f,
     0.056148898f,
     0.06579779f,
     0.07514089f,
     0.088644266f,
     0.105366446f,
     0.12044485f,
     0.13374671f,
     0.14984831f,
     0.16405873f,
     0.16992265f,
     0.16806325f,
     0.15325178f,
     0.119445264f,
     0.07990256f,
     0.043359205f,
     0.0037001614f,
     -0.021095287f,
     -0.025120817f,
     -0.020848792f},
    {0.0039777956f,  0.0019143343f, 0.0007704566f,  0.00029262863f,
     6.830398e-05f,  9.279905e-06f, 1.2565279e-06f, 1.7006492e-07f,
     2.2598234e-08f, 0.0f,          0.0f,           0.13318641f,
     14.350239f,     -18.103474f,   -4.372819f,     -2.6810095f,
     -0.9962052f,    0.6678659f,    0.40219176f,    0.7591582f,
     -0.0015663573f, 0.08015616f,   -0.0511715f,    -0.021317573f,
     -0.04575875f,   -0.05777996f,  -0.06087868f,   -0.054654937f,
     -0.032119017f,  -0.009562824f, 0.0014288251f,  0.0045758537f}};
} // namespace

Value MathF32::tanh(Value x) {
  if (!hasTables())
    return tanhInParts(x);
  // From there on the nearest f32 is 1.
  Value size = sizeUpTo(x, 9.02f);
  Value isSmall =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, c(firstPiece));
  // What is below the first piece is in the one before.
  int32_t before =
      llvm::bit_cast<int32_t>(firstPiece) - (int32_t(1) << pieceBits);
  Value bits = arith::MaxUIOp::create(b, toBits(size), ci(before));
  Value index = arith::ShRUIOp::create(b, bits, ci(pieceBits));
  constexpr int32_t half = int32_t(1) << (pieceBits - 1);
  Value center = fromBits(arith::OrIOp::create(
      b, arith::AndIOp::create(b, bits, ci(-2 * half)), ci(half)));
  center = arith::SelectOp::create(b, isSmall, c(0.0f), center);
  Value distance = arith::SubFOp::create(b, size, center);
  Value rest = lookup(coefficients[5], index);
  for (int degree = 4; degree >= 0; --degree)
    rest = mulAdd(rest, distance, lookup(coefficients[degree], index));
  Value base =
      arith::SelectOp::create(b, isSmall, size, lookup(atCenter, index));
  return math::CopySignOp::create(b, arith::AddFOp::create(b, base, rest), x);
}
