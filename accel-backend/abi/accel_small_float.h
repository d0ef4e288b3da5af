//===- accel_small_float.h - floats of 4 to 16 bits -----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The element types that C++17 lacks. A machine whose compiler has them puts a
// header of this name before this one.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace accel {

/// What the largest exponents and the negative zero stand for.
enum class specials {
  ieee, // infinity and NaN
  fn,   // NaN is all ones, there is no infinity
  fnuz  // NaN is the negative zero, there is no infinity
};

template <class To, class From> To bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "bits are kept");
  To result;
  std::memcpy(&result, &value, sizeof(To));
  return result;
}

/// A float of at most 16 bits: a type to store, computed with as float.
template <int Exponent, int Fraction, int Bias, specials Specials>
struct small_float {
  using storage =
      std::conditional_t<(Exponent + Fraction < 8), uint8_t, uint16_t>;
  storage raw;

  static constexpr int sign_at = Exponent + Fraction;
  static constexpr unsigned exponents = (1u << Exponent) - 1;
  /// The least magnitude that is no finite number.
  static constexpr unsigned above =
      Specials == specials::ieee ? exponents << Fraction
      : Specials == specials::fn ? (1u << sign_at) - 1
                                 : 1u << sign_at;

  small_float() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit small_float(T value) : raw(round(double(value), false)) {}
  template <int E, int F, int B, specials S>
  explicit small_float(small_float<E, F, B, S> value)
      : small_float(float(value)) {}

  static small_float of_bits(storage raw) {
    small_float result;
    result.raw = raw;
    return result;
  }
  /// Rounded towards zero.
  template <class T> static small_float truncated(T value) {
    return of_bits(round(double(value), true));
  }

  explicit operator float() const {
    unsigned magnitude = raw & ((1u << sign_at) - 1), sign = raw >> sign_at;
    if (Specials == specials::fnuz
            ? sign && !magnitude
            : magnitude > above - (Specials == specials::fn))
      return std::numeric_limits<float>::quiet_NaN();
    float result;
    int exponent = int(magnitude >> Fraction);
    unsigned fraction = magnitude & ((1u << Fraction) - 1);
    if (Specials == specials::ieee && magnitude == above)
      result = std::numeric_limits<float>::infinity();
    else if (Exponent ==
             8) // the format of float itself, with a shorter fraction
      result = bits<float>(uint32_t(magnitude) << (23 - Fraction));
    else if (exponent == 0)
      result = std::ldexp(float(fraction), 1 - Bias - Fraction);
    else
      result = bits<float>(uint32_t(exponent - Bias + 127) << 23 |
                           fraction << (23 - Fraction));
    return sign ? -result : result;
  }
  explicit operator double() const { return float(*this); }

  friend small_float operator+(small_float x, small_float y) {
    return small_float(float(x) + float(y));
  }
  friend small_float operator-(small_float x, small_float y) {
    return small_float(float(x) - float(y));
  }
  friend small_float operator*(small_float x, small_float y) {
    return small_float(float(x) * float(y));
  }
  friend small_float operator/(small_float x, small_float y) {
    return small_float(float(x) / float(y));
  }
  small_float operator-() const {
    return of_bits(storage(raw ^ (1u << sign_at)));
  }
  friend bool operator==(small_float x, small_float y) {
    return float(x) == float(y);
  }
  friend bool operator!=(small_float x, small_float y) {
    return float(x) != float(y);
  }
  friend bool operator<(small_float x, small_float y) {
    return float(x) < float(y);
  }
  friend bool operator<=(small_float x, small_float y) {
    return float(x) <= float(y);
  }
  friend bool operator>(small_float x, small_float y) {
    return float(x) > float(y);
  }
  friend bool operator>=(small_float x, small_float y) {
    return float(x) >= float(y);
  }

private:
  static storage nan(unsigned sign) {
    if (Specials == specials::fnuz)
      return storage(1u << sign_at);
    unsigned quiet =
        Specials == specials::fn ? above : above | 1u << (Fraction - 1);
    return storage(sign << sign_at | quiet);
  }

  /// Rounds once, to the nearest even or towards zero.
  static storage round(double value, bool truncates) {
    uint64_t wide = bits<uint64_t>(value),
             magnitude = wide & ~(uint64_t(1) << 63);
    unsigned sign = unsigned(wide >> 63);
    if (magnitude > uint64_t(0x7ff) << 52)
      return nan(sign);
    int exponent = int(magnitude >> 52), target = exponent - 1023 + Bias,
        dropped = 52 - Fraction;
    uint64_t significand = (magnitude & ((uint64_t(1) << 52) - 1)) |
                           (exponent ? uint64_t(1) << 52 : 0);
    if (target <= 0) { // a number without a leading one
      dropped += 1 - target;
      target = 1;
    }
    uint64_t kept = 0;
    if (dropped < 64) {
      kept = significand >> dropped;
      uint64_t rest = significand & ((uint64_t(1) << dropped) - 1),
               half = uint64_t(1) << (dropped - 1);
      kept += !truncates && (rest > half || (rest == half && (kept & 1)));
    }
    // The leading one counts the exponent up by one, and so does a carry.
    uint64_t result = (uint64_t(target - 1) << Fraction) + kept;
    if (result >= above || exponent == 0x7ff) {
      if (truncates && exponent != 0x7ff)
        result = above - 1;
      else if (Specials == specials::ieee)
        result = above;
      else
        return nan(sign);
    }
    if (Specials == specials::fnuz && result == 0)
      sign = 0;
    return storage(result | uint64_t(sign) << sign_at);
  }
};

using f16 = small_float<5, 10, 15, specials::ieee>;
using bf16 = small_float<8, 7, 127, specials::ieee>;
using f8e5m2 = small_float<5, 2, 15, specials::ieee>;
using f8e4m3fn = small_float<4, 3, 7, specials::fn>;
using f8e4m3b11fnuz = small_float<4, 3, 11, specials::fnuz>;
using f8e4m3fnuz = small_float<4, 3, 8, specials::fnuz>;
using f8e5m2fnuz = small_float<5, 2, 16, specials::fnuz>;

/// So many bits of a float, as they are packed in wider integers.
template <int Width> struct small_bits {
  uint8_t raw;

  small_bits() = default;
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
  explicit small_bits(T value)
      : raw(uint8_t(uint64_t(value) & ((1u << Width) - 1))) {}
};
using bits4 = small_bits<4>;
using bits6 = small_bits<6>;

/// A float of 4 or 6 bits, an element of a scaled block: neither infinity nor
/// NaN. It is read, and not computed to.
template <int Exponent, int Fraction, int Bias> struct tiny_float {
  uint8_t raw;

  explicit operator float() const {
    int exponent = raw >> Fraction & ((1 << Exponent) - 1);
    int fraction = raw & ((1 << Fraction) - 1);
    float result = exponent == 0
                       ? std::ldexp(float(fraction), 1 - Bias - Fraction)
                       : std::ldexp(float(fraction + (1 << Fraction)),
                                    exponent - Bias - Fraction);
    return raw >> (Exponent + Fraction) & 1 ? -result : result;
  }
  explicit operator double() const { return float(*this); }
  template <int E, int F, int B, specials S>
  explicit operator small_float<E, F, B, S>() const {
    return small_float<E, F, B, S>(float(*this));
  }
};
using f4e2m1fn = tiny_float<2, 1, 1>;
using f6e2m3fn = tiny_float<2, 3, 1>;
using f6e3m2fn = tiny_float<3, 2, 3>;

/// A power of two, the scale of a block: an exponent and nothing else.
struct f8e8m0fnu {
  uint8_t raw;

  explicit operator float() const {
    return raw == 0xff ? std::numeric_limits<float>::quiet_NaN()
                       : std::ldexp(1.0f, int(raw) - 127);
  }
  explicit operator double() const { return float(*this); }
};

} // namespace accel
