//===- FloatTest.cpp - floats of any type as double ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Float.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace tilebridge::reference;

namespace {

struct FloatTest : ::testing::Test {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  Builder b{&context};
};

TEST_F(FloatTest, EveryValueOfSmallTypesComesBack) {
  std::vector<FloatType> types = {Float8E5M2Type::get(&context),
                                  Float8E4M3FNType::get(&context),
                                  Float8E5M2FNUZType::get(&context),
                                  Float8E4M3FNUZType::get(&context),
                                  b.getF16Type(),
                                  b.getBF16Type()};
  for (FloatType type : types)
    for (uint64_t bits = 0; bits < uint64_t(1) << type.getWidth(); ++bits) {
      double value = toDouble(bits, type);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(toDouble(fromDouble(value, type), type)));
      else
        EXPECT_EQ(fromDouble(value, type), bits);
    }
}

TEST_F(FloatTest, RoundsToTheNearestEvenOnce) {
  FloatType f16 = b.getF16Type(), bf16 = b.getBF16Type(), f32 = b.getF32Type();
  EXPECT_EQ(toDouble(fromDouble(2049.0, f16), f16), 2048.0);
  EXPECT_EQ(toDouble(fromDouble(2051.0, f16), f16), 2052.0);
  // Just above a tie: f32 in between would make it one.
  EXPECT_EQ(toDouble(fromDouble(2049.0 + 0x1p-40, f16), f16), 2050.0);
  EXPECT_EQ(toDouble(fromDouble(257.0 + 0x1p-30, bf16), bf16), 258.0);
  EXPECT_EQ(toDouble(fromDouble(0x1p-149 * 0.75, f32), f32), 0x1p-149);
  EXPECT_TRUE(std::isinf(toDouble(fromDouble(65520.0, f16), f16)));
  EXPECT_EQ(toDouble(fromDouble(65519.0, f16), f16), 65504.0);
}

TEST_F(FloatTest, RoundsAsAPFloatDoes) {
  std::mt19937_64 random(1);
  for (FloatType type : {FloatType(b.getF16Type()), FloatType(b.getBF16Type())})
    for (int i = 0; i < 200000; ++i) {
      // All magnitudes, and values next to ties.
      uint64_t bits = random();
      if (i % 2)
        bits = llvm::bit_cast<uint64_t>(
                   toDouble(random() & 0xffff, type) *
                   (1 + double(int(random() % 3) - 1) * 0x1p-12)) +
               random() % 3 - 1;
      double value = llvm::bit_cast<double>(bits);
      if (!std::isfinite(value))
        continue;
      llvm::APFloat expected(value);
      bool losesInfo;
      expected.convert(type.getFloatSemantics(),
                       llvm::RoundingMode::NearestTiesToEven, &losesInfo);
      ASSERT_EQ(fromDouble(value, type), fromAPFloat(expected)) << value;
    }
}

TEST_F(FloatTest, RoundsTowardZeroWhereAsked) {
  FloatType f16 = b.getF16Type(), bf16 = b.getBF16Type();
  auto cut = [](double value, FloatType type) {
    return toDouble(fromDouble(value, type, llvm::RoundingMode::TowardZero),
                    type);
  };
  EXPECT_EQ(cut(2051.9, f16), 2050.0);
  EXPECT_EQ(cut(-2051.9, f16), -2050.0);
  EXPECT_EQ(cut(1e10, f16), 65504.0);
  EXPECT_EQ(cut(259.9, bf16), 258.0);
}

TEST_F(FloatTest, SignsOfZerosStay) {
  for (FloatType type : {FloatType(b.getF16Type()), FloatType(b.getF32Type()),
                         FloatType(b.getF64Type())}) {
    EXPECT_EQ(fromDouble(-0.0, type), uint64_t(1) << (type.getWidth() - 1));
    EXPECT_TRUE(std::signbit(toDouble(fromDouble(-0.0, type), type)));
  }
}

} // namespace
