//===- ScalarsTest.cpp - integers, floats, casts ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BridgeProgram.h"

#include <cmath>
#include <limits>

namespace {

/// `op` on the first two elements of `in`.
std::string binary(const std::string &op, const std::string &type) {
  std::string pointer = "memref<?x" + type + ", strided<[1], offset: ?>>";
  return "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
         "%x = memref.load %in[%c0] : " +
         pointer + "\n%y = memref.load %in[%c1] : " + pointer + "\n%z = " + op +
         " : " + type + "\nmemref.store %z, %out[%c0] : " + pointer;
}

template <typename T>
T compute(const std::string &op, const std::string &type, T x, T y) {
  return BridgeProgram(type, binary(op, type))
      .results(std::vector<T>{x, y}, 1)
      .front();
}

int8_t onBytes(const std::string &op, int8_t x, int8_t y) {
  return compute<int8_t>("arith." + op + " %x, %y", "i8", x, y);
}

TEST(Integers, WrapAround) {
  EXPECT_EQ(onBytes("addi", 127, 1), -128);
  EXPECT_EQ(onBytes("subi", -128, 1), 127);
  EXPECT_EQ(onBytes("muli", 100, 3), 44);
}

TEST(Integers, DivideInEveryWay) {
  EXPECT_EQ(onBytes("divsi", -7, 2), -3);
  EXPECT_EQ(onBytes("remsi", -7, 2), -1);
  EXPECT_EQ(onBytes("floordivsi", -7, 2), -4);
  EXPECT_EQ(onBytes("ceildivsi", -7, 2), -3);
  EXPECT_EQ(onBytes("ceildivsi", 7, 2), 4);
  EXPECT_EQ(onBytes("divui", -7, 2), 124);
  EXPECT_EQ(onBytes("remui", -7, 16), 9);
  EXPECT_EQ(onBytes("ceildivui", -7, 2), 125);
}

TEST(Integers, DivisionsDoNotTrap) {
  for (const char *op : {"divsi", "divui", "remsi", "remui", "floordivsi"}) {
    onBytes(op, 5, 0);
    onBytes(op, -128, -1);
  }
  compute<int64_t>("arith.divsi %x, %y", "i64",
                   std::numeric_limits<int64_t>::min(), -1);
}

TEST(Integers, KnowTheirSigns) {
  EXPECT_EQ(onBytes("maxsi", -1, 1), 1);
  EXPECT_EQ(onBytes("maxui", -1, 1), -1);
  EXPECT_EQ(onBytes("minsi", -1, 1), -1);
  EXPECT_EQ(onBytes("minui", -1, 1), 1);
  EXPECT_EQ(onBytes("shrsi", -128, 3), -16);
  EXPECT_EQ(onBytes("shrui", -128, 3), 16);
  EXPECT_EQ(onBytes("shli", 1, 7), -128);
}

TEST(Floats, RoundOnce) {
  EXPECT_EQ(compute<float>("arith.addf %x, %y", "f32", 1.0f, 0x1p-24f), 1.0f);
  // The product has 48 bits: only one rounding gives the last of them.
  float x = 1.0f + 0x1p-23f;
  std::string fma = "math.fma %x, %x, %y";
  EXPECT_EQ(compute<float>(fma, "f32", x, -x * x), std::fma(x, x, -x * x));
  EXPECT_NE(compute<float>(fma, "f32", x, -x * x), 0.0f);
  EXPECT_EQ(compute<double>("arith.divf %x, %y", "f64", 1.0, 3.0), 1.0 / 3.0);
}

TEST(Floats, HalvesRoundAfterEachOperation) {
  // 2048 + 1 in f16; bits of 2048, 1.
  EXPECT_EQ(compute<uint16_t>("arith.addf %x, %y", "f16", 0x6800, 0x3C00),
            0x6800);
  EXPECT_EQ(compute<uint16_t>("arith.mulf %x, %y", "bf16", 0x3F81, 0x3F81),
            0x3F82);
}

TEST(Floats, NanWinsOrLoses) {
  float nan = std::nanf("");
  EXPECT_TRUE(
      std::isnan(compute<float>("arith.maximumf %x, %y", "f32", nan, 1.0f)));
  EXPECT_TRUE(
      std::isnan(compute<float>("arith.minimumf %x, %y", "f32", 1.0f, nan)));
  EXPECT_EQ(compute<float>("arith.maxnumf %x, %y", "f32", nan, 1.0f), 1.0f);
  EXPECT_EQ(compute<float>("arith.minnumf %x, %y", "f32", 1.0f, nan), 1.0f);
  EXPECT_FALSE(std::signbit(
      compute<float>("arith.maximumf %x, %y", "f32", -0.0f, 0.0f)));
  EXPECT_TRUE(std::signbit(
      compute<float>("arith.minimumf %x, %y", "f32", 0.0f, -0.0f)));
}

TEST(Floats, SignsAreBits) {
  EXPECT_TRUE(std::signbit(compute<float>("arith.negf %x", "f32", 0.0f, 0)));
  EXPECT_EQ(compute<float>("math.copysign %x, %y", "f32", 3.0f, -0.0f), -3.0f);
  EXPECT_EQ(compute<float>("math.absf %x", "f32", -2.0f, 0), 2.0f);
  EXPECT_EQ(compute<float>("math.roundeven %x", "f32", 2.5f, 0), 2.0f);
}

std::string castBody(const std::string &cast) {
  return "%c0 = arith.constant 0 : index\n"
         "%x = memref.load %in[%c0] : memref<?xi64, strided<[1], offset: "
         "?>>\n" +
         cast +
         "\nmemref.store %z, %out[%c0] : memref<?xi64, strided<[1], offset: "
         "?>>";
}

int64_t castOf(const std::string &cast, int64_t x) {
  return BridgeProgram("i64", castBody(cast))
      .results(std::vector<int64_t>{x}, 1)
      .front();
}

TEST(Casts, IntegersRoundOnce) {
  // 2049 * 2^30 + 1 is above the tie between two halves' neighbours in f32.
  int64_t x = (int64_t(16777217) << 30) + 1;
  std::string single = "%f = arith.sitofp %x : i64 to f32\n"
                       "%z = arith.fptosi %f : f32 to i64";
  EXPECT_EQ(castOf(single, x), int64_t(16777218) << 30);
  std::string half = "%f = arith.sitofp %x : i64 to f16\n"
                     "%z = arith.fptosi %f : f16 to i64";
  EXPECT_EQ(castOf(half, 2051), 2052);
  EXPECT_EQ(castOf(half, 2049), 2048);
}

TEST(Casts, WidthsAndSigns) {
  EXPECT_EQ(castOf("%n = arith.trunci %x : i64 to i8\n"
                   "%z = arith.extsi %n : i8 to i64",
                   0x1FF),
            -1);
  EXPECT_EQ(castOf("%n = arith.trunci %x : i64 to i8\n"
                   "%z = arith.extui %n : i8 to i64",
                   0x1FF),
            255);
  EXPECT_EQ(castOf("%n = arith.trunci %x : i64 to i1\n"
                   "%z = arith.extsi %n : i1 to i64",
                   3),
            -1);
  EXPECT_EQ(castOf("%f = arith.bitcast %x : i64 to f64\n"
                   "%n = arith.truncf %f toward_zero : f64 to f16\n"
                   "%w = arith.extf %n : f16 to f64\n"
                   "%z = arith.fptosi %w : f64 to i64",
                   llvm::bit_cast<int64_t>(2051.9)),
            2050);
}

TEST(Casts, OutOfRangeIsTheNearest) {
  std::string cast = "%f = arith.bitcast %x : i64 to f64\n"
                     "%n = arith.fptosi %f : f64 to i8\n"
                     "%z = arith.extsi %n : i8 to i64";
  EXPECT_EQ(castOf(cast, llvm::bit_cast<int64_t>(1e30)), 127);
  EXPECT_EQ(castOf(cast, llvm::bit_cast<int64_t>(-1e30)), -128);
  EXPECT_EQ(castOf(cast, llvm::bit_cast<int64_t>(-3.9)), -3);
}

} // namespace
