//===- MathLog.cpp - logarithms of f32, by tables -------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// x = 2^e * m with m in [0.75, 1.5), and c is the multiple of 1/32 next to m:
// log(x) = e * log(2) - log(s) + log(1 + r) with s about 1/c, r = m * s - 1.
//
// s is one of the many numbers next to 1/c whose logarithm is, to 2^-31 or so,
// a multiple of a power of two so large that e * high - log(s) is exact, with
// log(2) = high + low. So only the last sum rounds what matters. Next to 1, s
// is 1 for three multiples: there the result is r and less, and r = m - 1 is
// exact. Around 15/16 and 17/16 s is chosen so that r is small where the result
// is.
//
// Largest errors, of all positive f32 against f64: log 0.79 units in the last
// place, log2 0.90, log10 0.81.
//
// AVX-512's instructions take 0, infinity, NaN, negative and subnormal numbers
// apart in a way that makes the result right without another comparison.
// The coefficients are fits for the smallest error in units of the result's
// last place, rounded to f32 one after the other, lowest first, the rest
// refitted each time.

#include "cpu-backend/MathF32.h"
#include "cpu-backend/MathVectors.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// A logarithm to one base. That of 1 + r is r * (factor + a polynomial of r),
/// whose lowest coefficient is what `factor` leaves of log(e).
struct MathF32::LogTable {
  float high, low; ///< log(2)
  float factor;
  float q[5]; ///< lowest first
  float s[32], minusLog[32];
};

static constexpr MathF32::LogTable natural = {
    0.693145751953125f,
    1.428606765330187e-06f,
    1.0f,
    {0.0f, -0.5f, 0.33333322f, -0.25030777f, 0.20036355f},
    {1.0f,        1.0f,        0.94219804f, 0.915002f,   0.88983244f,
     0.86613464f, 0.8423222f,  0.82148004f, 0.8002678f,  0.7803055f,
     0.7610966f,  0.74445343f, 0.72803533f, 0.71087205f, 0.69646335f,
     0.68020004f, 0.66654015f, 1.0f,        1.0f,        1.0f,
     1.0f,        1.0f,        1.0f,        1.0f,        1.3338516f,
     1.2806208f,  1.2309692f,  1.1846608f,  1.1443995f,  1.1047646f,
     1.0640885f,  1.0f},
    {0.0f,         0.0f,         0.059539795f, 0.08882904f,  0.11672211f,
     0.1437149f,   0.17159271f,  0.19664764f,  0.22280884f,  0.24806976f,
     0.272995f,    0.29510498f,  0.3174057f,   0.34126282f,  0.3617401f,
     0.38536835f,  0.4056549f,   0.0f,         0.0f,         0.0f,
     0.0f,         0.0f,         0.0f,         0.0f,         -0.28807068f,
     -0.24734497f, -0.20780182f, -0.16945648f, -0.13488007f, -0.09963226f,
     -0.06211853f, 0.0f}};

static constexpr MathF32::LogTable binary = {
    1.0f,
    0.0f,
    1.4426950216293335f,
    {1.925963e-08f, -0.7213472f, 0.48089772f, -0.36129126f, 0.28927207f},
    {1.0f,       1.0f,       0.9422917f,  0.9131231f,  0.8894551f,  0.86410356f,
     0.8414747f, 0.8210868f, 0.80093026f, 0.7807068f,  0.7621539f,  0.7444276f,
     0.7271367f, 0.7104051f, 0.6950429f,  0.67987627f, 0.66711175f, 1.0f,
     1.0f,       1.0f,       1.0f,        1.0f,        1.0f,        1.0f,
     1.3342235f, 1.280999f,  1.2302879f,  1.1846877f,  1.1422507f,  1.1035725f,
     1.0655164f, 1.0f},
    {0.0f,          0.0f,         0.085754395f, 0.13111877f,  0.16900635f,
     0.21072388f,   0.24900818f,  0.2843933f,   0.32025146f,  0.35714722f,
     0.3918457f,    0.4257965f,   0.45970154f,  0.49328613f,  0.52482605f,
     0.5566559f,    0.58399963f,  0.0f,         0.0f,         0.0f,
     0.0f,          0.0f,         0.0f,         0.0f,         -0.41600037f,
     -0.3572693f,   -0.29899597f, -0.24450684f, -0.19187927f, -0.1421814f,
     -0.091552734f, 0.0f}};

static constexpr MathF32::LogTable decimal = {
    0.3010292053222656f,
    7.903416872068192e-07f,
    0.4342944920063019f,
    {-1.010305e-08f, -0.21714714f, 0.14476472f, -0.10876388f, 0.087044045f},
    {1.0f,       1.0f,        0.9417551f,  0.9145278f, 0.889993f,   0.8647178f,
     0.8429249f, 0.82103914f, 0.80003077f, 0.7814933f, 0.76296306f, 0.7432318f,
     0.7267952f, 0.7111655f,  0.6956641f,  0.6808175f, 0.6668088f,  1.0f,
     1.0f,       1.0f,        1.0f,        1.0f,       1.0f,        1.0f,
     1.3347402f, 1.281705f,   1.2316424f,  1.1863245f, 1.1439695f,  1.1025649f,
     1.0644245f, 1.0f},
    {0.0f,          0.0f,         0.026062012f, 0.0388031f,   0.050613403f,
     0.06312561f,   0.07421112f,  0.08563614f,  0.09689331f,  0.10707474f,
     0.11749649f,   0.12887573f,  0.13858795f,  0.14802933f,  0.1576004f,
     0.1669693f,    0.17599869f,  0.0f,         0.0f,         0.0f,
     0.0f,          0.0f,         0.0f,         0.0f,         -0.12539673f,
     -0.107788086f, -0.09048462f, -0.07420349f, -0.05841446f, -0.042404175f,
     -0.027114868f, 0.0f}};

Value MathF32::logByTable(Value x, const LogTable &table) {
  Avx512 cpu(b, cast<VectorType>(type));
  Value m = cpu.mantissa(x), e = cpu.exponent(x), one = c(1.0f);
  Value isBelow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, m, one);
  Value next = arith::AddFOp::create(b, e, one);
  e = arith::SelectOp::create(b, isBelow, next, e);
  // The sum's last bit counts 1/32.
  Value index = toBits(arith::AddFOp::create(b, m, c(0x1.8p18f)));
  Value r = mulAdd(m, lookup(table.s, index), c(-1.0f));
  Value minusLog = lookup(table.minusLog, index);
  bool isNatural = table.factor == 1;
  Value q = polynomial(r, ArrayRef(table.q).drop_front(isNatural ? 1 : 0));
  Value rest = isNatural
                   ? mulAdd(arith::MulFOp::create(b, r, r), q, r)
                   : mulAdd(r, c(table.factor), arith::MulFOp::create(b, r, q));
  if (table.low == 0) // 2 to base 2
    return arith::AddFOp::create(b, arith::AddFOp::create(b, e, minusLog),
                                 rest);
  return arith::AddFOp::create(b, mulAdd(e, c(table.high), minusLog),
                               mulAdd(e, c(table.low), rest));
}

Value MathF32::naturalByTable(Value x) { return logByTable(x, natural); }
Value MathF32::binaryByTable(Value x) { return logByTable(x, binary); }

Value MathF32::log10(Value x) {
  return hasTables() ? logByTable(x, decimal) : Value();
}
