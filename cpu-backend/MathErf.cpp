//===- MathErf.cpp - the error function of f32, by tables -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// AVX-512 looks up 16 lanes in a table of 32 floats by one instruction: a short
// polynomial around each multiple of 1/8 costs half of one that fits the whole
// function. Coefficients are least-squares fits on Chebyshev nodes, rounded to
// f32 one after the other, lowest first, the rest refitted each time.

#include "cpu-backend/MathF32.h"
#include "cpu-backend/MathVectors.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
/// Below 1 the polynomial is of erf(x) / x - 1, from 1 on of erf(x) - erf(k /
/// 8) with erf(k / 8) rounded to f32: the largest term is exact, or nearly so.
constexpr int32_t firstAbsolute = 8;
constexpr float atCenter[32] = {
    0.0f,         0.0f,         0.0f,         0.0f,         0.0f,
    0.0f,         0.0f,         0.0f,         0.842700779f, 0.888388216f,
    0.92290014f,  0.948170066f, 0.966105163f, 0.978443742f, 0.986671686f,
    0.99199003f,  0.995322287f, 0.997345984f, 0.998537302f, 0.999217033f,
    0.999593019f, 0.999794602f, 0.999899387f, 0.999952137f, 0.999977887f,
    0.999990106f, 0.999995708f, 0.999998212f, 0.999999285f, 0.999999702f,
    0.999999881f, 0.99999994f};
/// Of powers of the distance to the center, lowest first.
constexpr float coefficients[5][32] = {
    {0.128379166f,     0.122529641f,     0.10530556f,      0.0776450932f,
     0.0409997553f,    -0.00281458837f,  -0.0517924875f,   -0.103914216f,
     1.35202267e-08f,  1.52350559e-08f,  -1.19894299e-08f, 6.94349289e-09f,
     -1.65861032e-08f, -8.53157456e-09f, -1.49365995e-08f, 2.78659247e-08f,
     -2.2062844e-08f,  -1.33449438e-08f, -1.86092901e-08f, 2.83900849e-08f,
     2.8491872e-08f,   2.18655707e-08f,  -9.28482713e-09f, 7.68788588e-09f,
     2.28248371e-08f,  -2.36443642e-09f, -1.12455316e-08f, -2.71423577e-08f,
     -2.78427805e-08f, 2.88295743e-09f,  5.48199708e-09f,  1.70906844e-08f},
    {0.0f,
     -0.0931548551f,
     -0.181165561f,
     -0.259445876f,
     -0.324434102f,
     -0.373897165f,
     -0.407035083f,
     -0.424389303f,
     0.415107816f,
     0.31827426f,
     0.236521348f,
     0.170359924f,
     0.118930362f,
     0.0804722682f,
     0.0527749658f,
     0.0335457735f,
     0.0206669234f,
     0.0123407608f,
     0.00714226812f,
     0.00400643796f,
     0.002178255f,
     0.00114785496f,
     0.000586264068f,
     0.000290220109f,
     0.000139248194f,
     6.47559282e-05f,
     2.9187524e-05f,
     1.27509575e-05f,
     5.39903385e-06f,
     2.21573077e-06f,
     8.81344192e-07f,
     3.39783043e-07f},
    {-0.376125216f,    -0.365647942f,    -0.335350335f,    -0.288497925f,
     -0.229913503f,    -0.165263876f,    -0.100218475f,    -0.0397284515f,
     -0.415107548f,    -0.358058333f,    -0.295651585f,    -0.234244883f,
     -0.178395599f,    -0.130767539f,    -0.0923563167f,   -0.0628984645f,
     -0.0413339734f,   -0.0262242276f,   -0.0160701927f,   -0.00951535814f,
     -0.00544568663f,  -0.00301315286f,  -0.00161224825f,  -0.000834396516f,
     -0.000417752803f, -0.000202366995f, -9.48620655e-05f, -4.30358668e-05f,
     -1.88973245e-05f, -8.03237072e-06f, -3.30520493e-06f, -1.3167346e-06f},
    {0.0f,
     0.0552821793f,
     0.104548641f,
     0.142764241f,
     0.166651845f,
     0.17511487f,
     0.169158936f,
     0.151480243f,
     0.138034865f,
     0.162150353f,
     0.167305171f,
     0.157786772f,
     0.13867873f,
     0.114830442f,
     0.0901891217f,
     0.0674970895f,
     0.0482867025f,
     0.0330984704f,
     0.0217766091f,
     0.0137713589f,
     0.00837998372f,
     0.00491104694f,
     0.00277386419f,
     0.00151090941f,
     0.000794072344f,
     0.000402841368f,
     0.000197345536f,
     9.33845949e-05f,
     4.26975857e-05f,
     1.88676677e-05f,
     8.05963646e-06f,
     3.32872878e-06f},
    {0.112487592f,     0.106995039f,     0.0887766704f,    0.0631580129f,
     0.032283742f,     0.00185257872f,   -0.0245915391f,   -0.0447596796f,
     0.0692148358f,    0.0280633084f,    -0.00603495724f,  -0.0303696301f,
     -0.0444858186f,   -0.0496360138f,   -0.0480505787f,   -0.0422355272f,
     -0.0344426297f,   -0.0263716467f,   -0.0191004463f,   -0.0131514706f,
     -0.00863874611f,  -0.00542747555f,  -0.00326781278f,  -0.00188844511f,
     -0.00104872941f,  -0.00056022784f,  -0.000288115902f, -0.000142747012f,
     -6.81742895e-05f, -3.14007375e-05f, -1.39544145e-05f, -5.98540419e-06f}};
} // namespace

/// table[index], of which so many bits count as the table needs: 16 floats or
/// 32. For 16 lanes or several times as many.
Value MathF32::lookup(ArrayRef<float> table, Value index) {
  auto half = [&](unsigned from) -> Value {
    auto piece = VectorType::get(16, b.getF32Type());
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(piece, table.slice(from, 16)));
  };
  auto vector = cast<VectorType>(type);
  if (table.size() == 16)
    return callForPieces(b, vector, "llvm.x86.avx512.permvar.sf.512",
                         {half(0), index});
  return callForPieces(b, vector, "llvm.x86.avx512.vpermi2var.ps.512",
                       {half(0), index, half(16)});
}

Value MathF32::erf(Value x) {
  if (!hasTables())
    return erfInParts(x);
  // From there on the nearest f32 is 1.
  Value size = sizeUpTo(x, 3.9374f);
  // The sum's last bit counts eighths.
  Value magic = c(0x1p20f);
  Value sum = arith::AddFOp::create(b, size, magic);
  Value center = arith::SubFOp::create(b, sum, magic);
  Value distance = arith::SubFOp::create(b, size, center);
  Value index = toBits(sum);
  Value polynomial = lookup(coefficients[4], index);
  for (int degree = 3; degree >= 0; --degree)
    polynomial =
        mulAdd(polynomial, distance, lookup(coefficients[degree], index));
  Value isRelative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, center,
                                           c(firstAbsolute / 8.0f));
  Value factor = arith::SelectOp::create(b, isRelative, size, c(1.0f));
  Value base =
      arith::SelectOp::create(b, isRelative, size, lookup(atCenter, index));
  return math::CopySignOp::create(b, mulAdd(factor, polynomial, base), x);
}
