//===- accel_numbers.h - numbers of emitted kernels ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Arithmetic that means the same for every compiler: integers wrap around, a
// division that is undefined divides by one, conversions saturate. Elementary
// functions are those of double, rounded once.
#pragma once

#include "accel_small_float.h"

#include <cfenv>

namespace accel {

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// An unsigned type in which nothing is promoted to int.
template <class T>
using wide_unsigned = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
/// The bits of an integer as an unsigned one of its own width.
template <class T> auto unsigned_of(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return uint8_t(x);
  else
    return std::make_unsigned_t<T>(x);
}
/// A boolean is an integer of one bit: as a signed one, true is -1.
template <class To, class T> To sext(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return x ? To(-1) : To(0);
  else
    return To(x);
}
template <class To, class T> To zext(T x) { return To(unsigned_of(x)); }
template <class To, class T> To trunc(T x) {
  if constexpr (std::is_same_v<To, bool>)
    return (x & 1) != 0;
  else
    return To(x);
}

template <class T> T add(T x, T y) {
  return trunc<T>(wide_unsigned<T>(x) + wide_unsigned<T>(y));
}
template <class T> T sub(T x, T y) {
  return trunc<T>(wide_unsigned<T>(x) - wide_unsigned<T>(y));
}
template <class T> T mul(T x, T y) {
  return trunc<T>(wide_unsigned<T>(x) * wide_unsigned<T>(y));
}
template <class T>
constexpr unsigned width_of = std::is_same_v<T, bool> ? 1 : 8 * sizeof(T);
template <class T> T shl(T x, T n) {
  auto by = unsigned_of(n);
  return by < width_of<T> ? trunc<T>(wide_unsigned<T>(x) << by) : T(0);
}
template <class T> T shru(T x, T n) {
  auto by = unsigned_of(n);
  return by < width_of<T> ? trunc<T>(unsigned_of(x) >> by) : T(0);
}
template <class T> T shrs(T x, T n) {
  auto by = unsigned_of(n);
  return trunc<T>(sext<int64_t>(x) >>
                  (by < width_of<T> ? by : width_of<T> - 1));
}

template <class T> T divisor(T x, T y) {
  bool overflows = y == T(-1) && x == std::numeric_limits<T>::min();
  return y == 0 || overflows ? T(1) : y;
}
template <class T> T divs(T x, T y) { return T(x / divisor(x, y)); }
template <class T> T rems(T x, T y) { return T(x % divisor(x, y)); }
template <class T> T divu(T x, T y) {
  return T(unsigned_of(x) / unsigned_of(y ? y : T(1)));
}
template <class T> T remu(T x, T y) {
  return T(unsigned_of(x) % unsigned_of(y ? y : T(1)));
}
template <class T> T floordivs(T x, T y) {
  T rest = rems(x, y);
  return T(divs(x, y) - (rest != 0 && (rest < 0) != (divisor(x, y) < 0)));
}
template <class T> T ceildivs(T x, T y) {
  T rest = rems(x, y);
  return T(divs(x, y) + (rest != 0 && (rest < 0) == (divisor(x, y) < 0)));
}
template <class T> T ceildivu(T x, T y) {
  return T(divu(x, y) + (remu(x, y) != 0));
}

template <class T> T bit_and(T x, T y) { return T(x & y); }
template <class T> T bit_or(T x, T y) { return T(x | y); }
template <class T> T bit_xor(T x, T y) { return T(x ^ y); }
template <class T> bool slt(T x, T y) {
  return sext<int64_t>(x) < sext<int64_t>(y);
}
template <class T> bool sle(T x, T y) {
  return sext<int64_t>(x) <= sext<int64_t>(y);
}
template <class T> bool ult(T x, T y) {
  return unsigned_of(x) < unsigned_of(y);
}
template <class T> bool ule(T x, T y) {
  return unsigned_of(x) <= unsigned_of(y);
}
template <class T> T maxs(T x, T y) { return slt(x, y) ? y : x; }
template <class T> T mins(T x, T y) { return slt(x, y) ? x : y; }
template <class T> T maxu(T x, T y) { return ult(x, y) ? y : x; }
template <class T> T minu(T x, T y) { return ult(x, y) ? x : y; }
template <class T> T abs_of(T x) { return slt(x, T(0)) ? sub(T(0), x) : x; }

/// The upper halves of products and sums of twice the width.
inline uint64_t upper_product(uint64_t x, uint64_t y) {
  uint64_t low = uint32_t(x), high = x >> 32, low_y = uint32_t(y),
           high_y = y >> 32;
  uint64_t middle = high * low_y + (low * low_y >> 32);
  return high * high_y + (middle >> 32) +
         ((low * high_y + uint32_t(middle)) >> 32);
}
template <class T> T mulhiu(T x, T y) {
  if constexpr (sizeof(T) == 8)
    return T(upper_product(uint64_t(x), uint64_t(y)));
  else
    return T(uint64_t(unsigned_of(x)) * unsigned_of(y) >> width_of<T>);
}
template <class T> T mulhis(T x, T y) {
  if constexpr (sizeof(T) == 8)
    return T(upper_product(uint64_t(x), uint64_t(y)) -
             (x < 0 ? uint64_t(y) : 0) - (y < 0 ? uint64_t(x) : 0));
  else
    return T(int64_t(x) * int64_t(y) >> width_of<T>);
}
template <class T> bool carry(T x, T y) { return ult(add(x, y), x); }

template <class T> T ctpop(T x) {
  T count = 0;
  for (auto rest = uint64_t(unsigned_of(x)); rest; rest &= rest - 1)
    ++count;
  return count;
}
template <class T> T cttz(T x) {
  unsigned count = 0;
  while (count < width_of<T> && !(uint64_t(unsigned_of(x)) >> count & 1))
    ++count;
  return T(count);
}
template <class T> T ctlz(T x) {
  unsigned count = 0;
  while (count < width_of<T> &&
         !(uint64_t(unsigned_of(x)) >> (width_of<T> - 1 - count) & 1))
    ++count;
  return T(count);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

template <class To, class T> To to_int(T value) {
  double x = std::trunc(double(value)),
         limit = std::ldexp(1.0, width_of<To> - 1);
  if (std::isnan(x))
    return To(0);
  if (x < -limit)
    return std::numeric_limits<To>::min();
  return x >= limit ? std::numeric_limits<To>::max() : To(x);
}
/// The bits of the unsigned integer.
template <class To, class T> To to_uint(T value) {
  double x = std::trunc(double(value));
  if (!(x > 0))
    return To(0);
  using limits = std::numeric_limits<decltype(unsigned_of(To()))>;
  uint64_t most = std::is_same_v<To, bool> ? 1 : limits::max();
  return x >= std::ldexp(1.0, width_of<To>) ? trunc<To>(most)
                                            : trunc<To>(uint64_t(x));
}

template <class To, class T> To from_int(T value) {
  return To(sext<int64_t>(value));
}
template <class To, class T> To from_uint(T value) {
  return To(uint64_t(unsigned_of(value)));
}

/// The larger one; of two zeros the positive one.
template <class T> T larger(T x, T y) {
  if (x == y)
    return std::signbit(double(x)) ? y : x;
  return x > y ? x : y;
}
template <class T> T smaller(T x, T y) {
  if (x == y)
    return std::signbit(double(x)) ? x : y;
  return x < y ? x : y;
}
template <class T> bool is_nan(T x) { return std::isnan(double(x)); }
template <class T> bool is_inf(T x) { return std::isinf(double(x)); }
template <class T> bool is_finite(T x) { return std::isfinite(double(x)); }
template <class T> bool is_normal(T x) { return std::isnormal(double(x)); }
template <class T> bool ordered(T x, T y) { return !is_nan(x) && !is_nan(y); }
template <class T> bool less_or_greater(T x, T y) { return x < y || x > y; }
/// NaN wins ...
template <class T> T maximum(T x, T y) {
  return is_nan(x) ? x : is_nan(y) ? y : larger(x, y);
}
template <class T> T minimum(T x, T y) {
  return is_nan(x) ? x : is_nan(y) ? y : smaller(x, y);
}
/// ... or loses.
template <class T> T maxnum(T x, T y) {
  return is_nan(x) ? y : is_nan(y) ? x : larger(x, y);
}
template <class T> T minnum(T x, T y) {
  return is_nan(x) ? y : is_nan(y) ? x : smaller(x, y);
}
template <class T> T fma(T x, T y, T z) {
  if constexpr (std::is_same_v<T, float>)
    return std::fma(x, y, z);
  else
    return T(std::fma(double(x), double(y), double(z)));
}
template <class T> T rem(T x, T y) {
  return T(std::fmod(double(x), double(y)));
}
template <class T> T copysign(T x, T y) {
  return std::signbit(double(x)) == std::signbit(double(y)) ? x : -x;
}
template <class T> T fabs(T x) { return std::signbit(double(x)) ? -x : x; }
template <class To> To truncated(double value) {
  if constexpr (std::is_same_v<To, float>) {
    float result = float(value);
    return std::fabs(double(result)) > std::fabs(value)
               ? std::nextafter(result, 0.0f)
               : result;
  } else {
    return To::truncated(value);
  }
}

/// A function of double, rounded to the type.
#define ACCEL_UNARY(name, value)                                               \
  template <class T> T name(T argument) {                                      \
    double x = double(argument);                                               \
    return T(value);                                                           \
  }
ACCEL_UNARY(exp, std::exp(x))
ACCEL_UNARY(exp2, std::exp2(x))
ACCEL_UNARY(expm1, std::expm1(x))
ACCEL_UNARY(log, std::log(x))
ACCEL_UNARY(log2, std::log2(x))
ACCEL_UNARY(log10, std::log10(x))
ACCEL_UNARY(log1p, std::log1p(x))
ACCEL_UNARY(sqrt, std::sqrt(x))
ACCEL_UNARY(rsqrt, 1.0 / std::sqrt(x))
ACCEL_UNARY(cbrt, std::cbrt(x))
ACCEL_UNARY(erf, std::erf(x))
ACCEL_UNARY(erfc, std::erfc(x))
ACCEL_UNARY(floor, std::floor(x))
ACCEL_UNARY(ceil, std::ceil(x))
ACCEL_UNARY(trunc_of, std::trunc(x))
ACCEL_UNARY(round, std::round(x))
ACCEL_UNARY(roundeven, std::nearbyint(x))
ACCEL_UNARY(sin, std::sin(x))
ACCEL_UNARY(cos, std::cos(x))
ACCEL_UNARY(tan, std::tan(x))
ACCEL_UNARY(asin, std::asin(x))
ACCEL_UNARY(acos, std::acos(x))
ACCEL_UNARY(atan, std::atan(x))
ACCEL_UNARY(sinh, std::sinh(x))
ACCEL_UNARY(cosh, std::cosh(x))
ACCEL_UNARY(tanh, std::tanh(x))
ACCEL_UNARY(asinh, std::asinh(x))
ACCEL_UNARY(acosh, std::acosh(x))
ACCEL_UNARY(atanh, std::atanh(x))
#undef ACCEL_UNARY
template <class T> T pow(T x, T y) { return T(std::pow(double(x), double(y))); }
template <class T> T atan2(T y, T x) {
  return T(std::atan2(double(y), double(x)));
}
template <class T, class N> T powi(T x, N n) {
  return T(std::pow(double(x), double(sext<int64_t>(n))));
}

/// Powers of integers wrap around; negative exponents give 0, 1 or -1.
template <class T> T ipowi(T x, T n) {
  if (slt(n, T(0)))
    return x == T(1) ? T(1) : x == T(-1) ? T(n % 2 ? -1 : 1) : T(0);
  T result = 1;
  for (uint64_t rest = uint64_t(unsigned_of(n)); rest;
       rest >>= 1, x = mul(x, x))
    if (rest & 1)
      result = mul(result, x);
  return result;
}

/// Functions of C's math library, of the type itself.
template <class T> T libm_hypot(T x, T y) { return std::hypot(x, y); }
template <class T> T libm_remainder(T x, T y) { return std::remainder(x, y); }
template <class T> T libm_lgamma(T x) { return std::lgamma(x); }
template <class T> T libm_tgamma(T x) { return std::tgamma(x); }
template <class T> T libm_j0(T x) { return T(::j0(double(x))); }
template <class T> T libm_j1(T x) { return T(::j1(double(x))); }
template <class T> T libm_y0(T x) { return T(::y0(double(x))); }
template <class T> T libm_y1(T x) { return T(::y1(double(x))); }
template <class T> T libm_jn(int32_t n, T x) { return T(::jn(n, double(x))); }
template <class T> T libm_yn(int32_t n, T x) { return T(::yn(n, double(x))); }

//===----------------------------------------------------------------------===//
// Rounded once, in a direction: FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO
//===----------------------------------------------------------------------===//

/// What is volatile is read after the direction is set, and written before it
/// is set back.
template <int Direction, class To, class Function, class... Ts>
To directed(Function function, Ts... operands) {
  const int before = std::fegetround();
  std::fesetround(Direction);
  volatile To result = [&](volatile Ts... now) {
    return To(function(Ts(now)...));
  }(operands...);
  std::fesetround(before);
  return result;
}

template <int Direction, class T> T directed_add(T x, T y) {
  return directed<Direction, T>([](T a, T b) { return a + b; }, x, y);
}
template <int Direction, class T> T directed_sub(T x, T y) {
  return directed<Direction, T>([](T a, T b) { return a - b; }, x, y);
}
template <int Direction, class T> T directed_mul(T x, T y) {
  return directed<Direction, T>([](T a, T b) { return a * b; }, x, y);
}
template <int Direction, class T> T directed_div(T x, T y) {
  return directed<Direction, T>([](T a, T b) { return a / b; }, x, y);
}
template <int Direction, class T> T directed_sqrt(T x) {
  return directed<Direction, T>([](T a) { return std::sqrt(a); }, x);
}
template <int Direction, class T> T directed_fma(T x, T y, T z) {
  return directed<Direction, T>([](T a, T b, T c) { return std::fma(a, b, c); },
                                x, y, z);
}
template <int Direction, class To, class T> To directed_truncf(T x) {
  return directed<Direction, To>([](T a) { return a; }, x);
}
template <int Direction, class To, class T> To directed_sitofp(T x) {
  return directed<Direction, To>([](T a) { return a; }, x);
}
template <int Direction, class To, class T> To directed_uitofp(T x) {
  return directed<Direction, To>([](auto a) { return a; }, unsigned_of(x));
}

} // namespace accel
