//===- FloatTypesTest.cpp - conversions of narrow floats, bit by bit ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledKernel.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace tilebridge::cpu;
using namespace tilebridge::cpu::test;

namespace {

struct Format {
  const char *type;
  unsigned bits, mantissa;
  int bias;
  bool infinity; ///< the largest exponent is special
  bool fnuz;
};
const Format kFormats[] = {{"f16", 16, 10, 15, true, false},
                           {"bf16", 16, 7, 127, true, false},
                           {"f8E5M2", 8, 2, 15, true, false},
                           {"f8E4M3FN", 8, 3, 7, false, false},
                           {"f8E5M2FNUZ", 8, 2, 16, false, true},
                           {"f8E4M3FNUZ", 8, 3, 8, false, true}};

/// What a code means, by the definition of the format.
double decode(const Format &format, uint32_t code) {
  uint32_t sign = code >> (format.bits - 1),
           magnitude = code & ((1u << (format.bits - 1)) - 1);
  int exponent = magnitude >> format.mantissa;
  uint32_t fraction = magnitude & ((1u << format.mantissa) - 1);
  int top = (1 << (format.bits - 1 - format.mantissa)) - 1;
  if (format.fnuz && sign && !magnitude)
    return NAN;
  if (format.infinity && exponent == top)
    return fraction ? NAN : sign ? -INFINITY : INFINITY;
  if (!format.infinity && !format.fnuz &&
      magnitude == (1u << (format.bits - 1)) - 1)
    return NAN;
  double value =
      exponent ? std::ldexp(fraction + (1 << format.mantissa),
                            exponent - format.bias - int(format.mantissa))
               : std::ldexp(fraction, 1 - format.bias - int(format.mantissa));
  return sign ? -value : value;
}

/// The finite magnitudes of a format, in order: index is code.
std::vector<double> magnitudes(const Format &format) {
  std::vector<double> list;
  for (uint32_t code = 0;; ++code) {
    double value = decode(format, code);
    if (!std::isfinite(value) || code >> (format.bits - 1))
      return list;
    list.push_back(value);
  }
}

bool isNanCode(const Format &format, uint32_t code) {
  return std::isnan(decode(format, code));
}

/// The code of a value, by search in the list of all numbers.
uint32_t encode(const Format &format, const std::vector<double> &list,
                double value, bool towardZero) {
  const uint32_t sign = std::signbit(value) ? 1u << (format.bits - 1) : 0,
                 nan = ~0u;
  if (std::isnan(value))
    return nan;
  double magnitude = std::abs(value);
  uint32_t largest = list.size() - 1;
  double step = list[largest] - list[largest - 1];
  uint32_t overflow = format.infinity ? largest + 1
                      : format.fnuz   ? nan
                                      : largest;
  auto withSign = [&](uint32_t code) {
    return code == nan || (format.fnuz && code == 0) ? code : code | sign;
  };
  if (std::isinf(magnitude))
    return withSign(overflow);
  if (magnitude > list[largest]) {
    if (towardZero)
      return withSign(largest);
    double middle = list[largest] + step / 2;
    bool up = magnitude > middle || (magnitude == middle && largest % 2 == 1);
    return withSign(up ? overflow : largest);
  }
  uint32_t below =
      std::upper_bound(list.begin(), list.end(), magnitude) - list.begin() - 1;
  if (list[below] == magnitude || towardZero)
    return withSign(below);
  double down = magnitude - list[below], up = list[below + 1] - magnitude;
  return withSign(down < up || (down == up && below % 2 == 0) ? below
                                                              : below + 1);
}

std::string convertKernel(const std::string &op, const std::string &from,
                          const std::string &to, int lanes) {
  auto pointer = [](const std::string &type) {
    return "memref<?x" + type + ", strided<[1], offset: ?>>";
  };
  auto value = [&](const std::string &type) {
    return lanes == 1 ? type
                      : "vector<" + std::to_string(lanes) + "x" + type + ">";
  };
  std::string load = lanes == 1 ? "memref.load" : "vector.load",
              store = lanes == 1 ? "memref.store" : "vector.store";
  auto types = [&](const std::string &type) {
    return lanes == 1 ? pointer(type) : pointer(type) + ", " + value(type);
  };
  return "func.func @convert(%in: " + pointer(from) + ", %out: " + pointer(to) +
         ", %n: i64, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: "
         "i32) attributes {tilebridge.kernel} {\n"
         "  %c0 = arith.constant 0 : index\n  %end = arith.index_cast %n : i64 "
         "to index\n"
         "  %step = arith.constant " +
         std::to_string(lanes) +
         " : index\n"
         "  scf.for %i = %c0 to %end step %step {\n"
         "    %x = " +
         load + " %in[%i] : " + types(from) +
         "\n"
         "    %y = " +
         op + " : " + value(from) + (from == to ? "" : " to " + value(to)) +
         "\n"
         "    " +
         store + " %y, %out[%i] : " + types(to) + "\n  }\n  return\n}\n";
}

const char *const kTargets[] = {"cpu", "cpu:x86-64-v3", "cpu:x86-64"};

/// The elements and scales of block-scaled matrices, each in a byte of its own.
TEST(FloatTypes, ExtendsCodesOfBlockScaledMatrices) {
  auto decodeExponent = [](uint32_t code) {
    return code == 255 ? NAN : std::ldexp(1.0, int(code) - 127);
  };
  struct Element {
    const char *type;
    unsigned bits, mantissa;
    int bias;
  };
  for (const char *target : kTargets)
    for (const Element &element :
         {Element{"f4E2M1FN", 4, 1, 1}, Element{"f6E2M3FN", 6, 3, 1},
          Element{"f6E3M2FN", 6, 2, 3}, Element{"f8E8M0FNU", 8, 0, 127}}) {
      SCOPED_TRACE(std::string(element.type) + " " + target);
      std::string code = "vector<32xi" + std::to_string(element.bits) + ">",
                  value = std::string("vector<32x") + element.type + ">";
      std::string narrow =
          element.bits == 8 ? "" : "arith.trunci %x : vector<32xi8> to " + code;
      CompiledKernel kernel(
          "func.func @extend(%in: memref<?xi8, strided<[1], offset: ?>>, %out: "
          "memref<?xf32, strided<[1], offset: ?>>, %px: i32, %py: i32, %pz: "
          "i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} "
          "{\n  %zero = arith.constant 0 : index\n  %step = arith.constant 32 "
          ": "
          "index\n  %end = arith.constant 256 : index\n"
          "  scf.for %i = %zero to %end step %step {\n"
          "    %x = vector.load %in[%i] : memref<?xi8, strided<[1], offset: "
          "?>>, vector<32xi8>\n" +
              (narrow.empty() ? std::string() : "    %c = " + narrow + "\n") +
              "    %f = arith.bitcast " + (narrow.empty() ? "%x" : "%c") +
              " : " + code + " to " + value +
              "\n    %y = arith.extf %f : " + value +
              " to vector<32xf32>\n    vector.store %y, %out[%i] : "
              "memref<?xf32, strided<[1], offset: ?>>, vector<32xf32>\n"
              "  }\n  return\n}\n",
          target);
      ASSERT_TRUE(kernel);
      std::vector<uint8_t> in(256);
      for (size_t i = 0; i < in.size(); ++i)
        in[i] = i;
      std::vector<float> out(256);
      kernel.run({slot(in.data()), slot(out.data())});
      for (uint32_t i = 0; i < 256; ++i) {
        // As a format of which no code is special.
        Format format = {element.type, element.bits, element.mantissa,
                         element.bias, false,        true};
        uint32_t low = i & ((1u << element.bits) - 1);
        double want = element.mantissa == 0             ? decodeExponent(i)
                      : low == 1u << (element.bits - 1) ? -0.0
                                                        : decode(format, low);
        ASSERT_TRUE(
            (std::isnan(out[i]) && std::isnan(want)) ||
            (out[i] == want && std::signbit(out[i]) == std::signbit(want)))
            << i << ": " << out[i] << " and not " << want;
      }
    }
}

/// With tables and without, through f16 and not.
const char *const kExtendTargets[] = {"cpu", "cpu,-avx512vbmi", "cpu:x86-64-v3",
                                      "cpu:x86-64-v2", "cpu:x86-64"};

/// With one number, with fewer than tables look up, with as many, and with
/// more.
TEST(FloatTypes, ExtendsEveryCode) {
  for (const char *target : kExtendTargets)
    for (const Format &format : kFormats)
      for (const Format &to :
           {Format{"f32", 32, 23, 127, true, false},
            Format{"f64", 64, 0, 0, true, false}, kFormats[0], kFormats[1]})
        for (int lanes : {1, 16, 32, 64, 160}) {
          // Halves have no tables.
          if (to.bits <= format.bits ||
              (format.bits == 16 && lanes != 1 && lanes != 32))
            continue;
          SCOPED_TRACE(std::string(format.type) + " to " + to.type + " " +
                       target + " " + std::to_string(lanes));
          CompiledKernel kernel(
              convertKernel("arith.extf %x", format.type, to.type, lanes),
              target);
          ASSERT_TRUE(kernel);
          size_t n = size_t(1) << format.bits,
                 padded = (n + lanes - 1) / lanes * lanes;
          std::vector<uint8_t> in8(padded);
          std::vector<uint16_t> in16(padded), out16(padded);
          for (size_t i = 0; i < n; ++i)
            in8[i] = i, in16[i] = i;
          std::vector<float> out32(padded);
          std::vector<double> out64(padded);
          kernel.run({format.bits == 8 ? slot(in8.data()) : slot(in16.data()),
                      to.bits == 64   ? slot(out64.data())
                      : to.bits == 32 ? slot(out32.data())
                                      : slot(out16.data()),
                      n});
          for (size_t i = 0; i < n; ++i) {
            double got = to.bits == 64   ? out64[i]
                         : to.bits == 32 ? out32[i]
                                         : decode(to, out16[i]),
                   want = decode(format, i);
            ASSERT_TRUE(
                (std::isnan(got) && std::isnan(want)) ||
                (got == want && std::signbit(got) == std::signbit(want)))
                << i << ": " << got << " and not " << want;
          }
        }
}

/// A product of f16 or bf16 that is summed as f32: the codes themselves are
/// widened to f32, in a loop that carries the sums.
TEST(FloatTypes, SumsProductsOfEveryCode) {
  for (const char *target : kExtendTargets)
    for (const Format &format : kFormats)
      for (const char *by : {"f16", "bf16"})
        for (int lanes : {16, 32, 64}) {
          if (format.bits != 8)
            continue;
          SCOPED_TRACE(std::string(format.type) + " by " + by + " " + target +
                       " " + std::to_string(lanes));
          std::string shape = "vector<" + std::to_string(lanes) + "x",
                      code = shape + format.type + ">", half = shape + by + ">",
                      sum = shape + "f32>",
                      in = std::string("memref<?x") + format.type +
                           ", strided<[1], offset: ?>>",
                      out = "memref<?xf32, strided<[1], offset: ?>>";
          CompiledKernel kernel(
              "func.func @sum(%in: " + in + ", %out: " + out +
                  ", %n: i64, %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: "
                  "i32, %nz: i32) attributes {tilebridge.kernel} {\n"
                  "  %c0 = arith.constant 0 : index\n"
                  "  %c256 = arith.constant 256 : index\n"
                  "  %end = arith.index_cast %n : i64 to index\n"
                  "  %step = arith.constant " +
                  std::to_string(lanes) +
                  " : index\n  %none = arith.constant dense<-0.0> : " + sum +
                  "\n  %by = arith.constant dense<0.5> : " + half +
                  "\n  scf.for %i = %c0 to %c256 step %step {\n"
                  "    %s = scf.for %row = %c0 to %end step %c256 "
                  "iter_args(%acc = %none) -> (" +
                  sum + ") {\n      %at = arith.addi %i, %row : index\n" +
                  "      %x = vector.load %in[%at] : " + in + ", " + code +
                  "\n      %h = arith.extf %x : " + code + " to " + half +
                  "\n      %m = arith.mulf %h, %by : " + half +
                  "\n      %w = arith.extf %m : " + half + " to " + sum +
                  "\n      %next = arith.addf %acc, %w : " + sum +
                  "\n      scf.yield %next : " + sum +
                  "\n    }\n    vector.store %s, %out[%i] : " + out + ", " +
                  sum + "\n  }\n  return\n}\n",
              target);
          ASSERT_TRUE(kernel);
          // Codes in the second of three rows, the others are 0.
          std::vector<uint8_t> codes(3 * 256);
          for (size_t i = 0; i < 256; ++i)
            codes[256 + i] = i;
          std::vector<float> sums(256);
          kernel.run({slot(codes.data()), slot(sums.data()), codes.size()});
          for (size_t i = 0; i < 256; ++i) {
            double want = decode(format, i) / 2;
            ASSERT_TRUE((std::isnan(sums[i]) && std::isnan(want)) ||
                        sums[i] == want)
                << i << ": " << sums[i] << " and not " << want;
          }
        }
}

/// Every number of the format, every middle between two, and what lies next to
/// these; then random numbers.
template <typename T>
std::vector<T> interesting(const std::vector<double> &list, size_t multiple) {
  std::vector<T> values = {T(0),
                           T(-0.0),
                           T(INFINITY),
                           T(-INFINITY),
                           T(NAN),
                           T(-NAN),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::lowest(),
                           std::numeric_limits<T>::denorm_min()};
  for (size_t i = 0; i < list.size(); ++i) {
    double next = i + 1 < list.size() ? list[i + 1] : 2 * list[i] - list[i - 1];
    for (double value : {list[i], (list[i] + next) / 2, next}) {
      T exact = T(value);
      for (T one : {exact, std::nextafter(exact, T(INFINITY)),
                    std::nextafter(exact, T(0))})
        values.push_back(one), values.push_back(-one);
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = random();
    T any;
    std::memcpy(&any, &bits, sizeof any);
    values.push_back(any);
    values.push_back(T(list[random() % list.size()]) *
                     T(1 + std::ldexp(double(random() % 4096), -14)));
  }
  while (values.size() % multiple)
    values.push_back(0);
  return values;
}

template <typename T>
void checkTruncate(const Format &format, const char *target, bool towardZero,
                   int lanes) {
  const char *from = sizeof(T) == 4 ? "f32" : "f64";
  SCOPED_TRACE(std::string(from) + " to " + format.type +
               (towardZero ? " toward zero " : " nearest ") + target + " " +
               std::to_string(lanes));
  CompiledKernel kernel(convertKernel(towardZero ? "arith.truncf %x toward_zero"
                                                 : "arith.truncf %x",
                                      from, format.type, lanes),
                        target);
  ASSERT_TRUE(kernel);
  std::vector<double> list = magnitudes(format);
  std::vector<T> in = interesting<T>(list, lanes);
  std::vector<uint8_t> out8(in.size());
  std::vector<uint16_t> out16(in.size());
  kernel.run({slot(in.data()),
              format.bits == 8 ? slot(out8.data()) : slot(out16.data()),
              in.size()});
  for (size_t i = 0; i < in.size(); ++i) {
    uint32_t got = format.bits == 8 ? out8[i] : out16[i],
             want = encode(format, list, in[i], towardZero);
    if (want == ~0u)
      ASSERT_TRUE(isNanCode(format, got))
          << in[i] << " gives " << got << " and not NaN";
    else
      ASSERT_EQ(got, want) << in[i];
  }
}

TEST(FloatTypes, TruncatesAsTheDefinitionSays) {
  for (const char *target : kTargets)
    for (const Format &format : kFormats)
      for (bool towardZero : {false, true}) {
        checkTruncate<float>(format, target, towardZero, 32);
        checkTruncate<double>(format, target, towardZero, 16);
      }
  for (const Format &format : kFormats)
    for (bool towardZero : {false, true}) {
      checkTruncate<float>(format, "cpu", towardZero, 1);
      checkTruncate<double>(format, "cpu", towardZero, 1);
    }
}

TEST(FloatTypes, ArithmeticRoundsEachOperation) {
  for (const Format &format : kFormats)
    for (int lanes : {1, 16}) {
      SCOPED_TRACE(format.type);
      std::string value = lanes == 1
                              ? format.type
                              : std::string("vector<16x") + format.type + ">";
      CompiledKernel kernel(
          convertKernel("arith.mulf %x, %x", format.type, format.type, lanes));
      ASSERT_TRUE(kernel);
      std::vector<double> list = magnitudes(format);
      size_t n = size_t(1) << format.bits;
      std::vector<uint8_t> in8(n), out8(n);
      std::vector<uint16_t> in16(n), out16(n);
      for (size_t i = 0; i < n; ++i)
        in8[i] = i, in16[i] = i;
      kernel.run({format.bits == 8 ? slot(in8.data()) : slot(in16.data()),
                  format.bits == 8 ? slot(out8.data()) : slot(out16.data()),
                  n});
      for (size_t i = 0; i < n; ++i) {
        double x = decode(format, i);
        uint32_t got = format.bits == 8 ? out8[i] : out16[i],
                 want = encode(format, list, x * x, false);
        if (want == ~0u)
          ASSERT_TRUE(isNanCode(format, got)) << x;
        else
          ASSERT_EQ(got, want) << x;
      }
    }
}

TEST(FloatTypes, ConstantsAndMovesOfF8) {
  CompiledKernel kernel(R"mlir(
    func.func @constants(%out: memref<?xf8E4M3FN, strided<[1], offset: ?>>, %x: memref<?xf8E4M3FN, strided<[1], offset: ?>>,
                         %px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32) attributes {tilebridge.kernel} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %v = arith.constant dense<[1.0, -2.0, 448.0, 0.0]> : vector<4xf8E4M3FN>
      %s = arith.constant -0.5 : f8E4M3FN
      %b = vector.broadcast %s : f8E4M3FN to vector<4xf8E4M3FN>
      %l = vector.load %x[%c0] : memref<?xf8E4M3FN, strided<[1], offset: ?>>, vector<4xf8E4M3FN>
      %m = arith.cmpf olt, %l, %v : vector<4xf8E4M3FN>
      %r = arith.select %m, %v, %b : vector<4xi1>, vector<4xf8E4M3FN>
      vector.store %r, %out[%c0] : memref<?xf8E4M3FN, strided<[1], offset: ?>>, vector<4xf8E4M3FN>
      vector.store %v, %out[%c4] : memref<?xf8E4M3FN, strided<[1], offset: ?>>, vector<4xf8E4M3FN>
      return
    })mlir");
  ASSERT_TRUE(kernel);
  std::vector<uint8_t> out(8), x = {0x30, 0x30, 0x30, 0x30}; // 0.5
  kernel.run({slot(out.data()), slot(x.data())});
  EXPECT_EQ(out, (std::vector<uint8_t>{0x38, 0xb0, 0x7e, 0xb0, 0x38, 0xc0, 0x7e,
                                       0x00}));
}

} // namespace
