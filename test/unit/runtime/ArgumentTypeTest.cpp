//===- ArgumentTypeTest.cpp - types of arguments, their bits ---------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Probes.h"

#include "runtime/ArgumentType.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace tilebridge::rt;

TEST(ArgumentType, Parses) {
  ArgumentType type;
  for (const char *good :
       {"*fp32", "*i1", "*kbf16", "i1", "u1", "i8", "u64", "fp16", "bf16",
        "fp32", "fp64", "tensordesc<fp16[32, 64]>", "tensordesc<u8[1]>"})
    EXPECT_TRUE(parseArgumentType(good, type)) << good;
  for (const char *bad :
       {"", "*", "*k", "i", "i7", "i999999999999", "fp8", "f32", "tensordesc",
        "tensordesc<[4]>", "tensordesc<fp16[a]>",
        "tensordesc<fp16[1,1,1,1,1,1,1,1,1]>"})
    EXPECT_FALSE(parseArgumentType(bad, type)) << bad;
  ASSERT_TRUE(parseArgumentType("tensordesc<fp16[32, 64, 8]>", type));
  EXPECT_EQ(type.slotCount(), 8u);
}

TEST(ArgumentType, RoundsToHalf) {
  EXPECT_EQ(toHalfBits(1.0), 0x3c00);
  EXPECT_EQ(toHalfBits(-2.5), 0xc100);
  EXPECT_EQ(toHalfBits(65504.0), 0x7bff);
  EXPECT_EQ(toHalfBits(65520.0), 0x7c00);
  EXPECT_EQ(toHalfBits(65519.999), 0x7bff);
  EXPECT_EQ(toHalfBits(0x1p-24), 0x0001);
  EXPECT_EQ(toHalfBits(0x1p-25), 0x0000);
  EXPECT_EQ(toHalfBits(0x1.000001p-25), 0x0001);
  EXPECT_EQ(toHalfBits(0x1.ff8p-15), 0x03ff);
  EXPECT_EQ(toHalfBits(0x1.ffcp-15), 0x0400);
  EXPECT_EQ(toHalfBits(-0.0), 0x8000);
  EXPECT_EQ(toHalfBits(HUGE_VAL), 0x7c00);
  EXPECT_EQ(toHalfBits(1e300), 0x7c00);
  EXPECT_EQ(toHalfBits(5e-324), 0x0000);
  EXPECT_EQ(toHalfBits(std::nan("")) & 0x7e00, 0x7e00);
  // Between two ties: rounding to float first would give 0x3c00.
  EXPECT_EQ(toHalfBits(1 + 0x1p-11 + 0x1p-40), 0x3c01);
}

#if defined(__x86_64__)
TEST(ArgumentType, RoundsToHalfLikeTheCompiler) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    double value = std::ldexp(double(int64_t(random())) * 0x1p-63,
                              int(random() % 60) - 36);
    _Float16 half = _Float16(value);
    uint16_t bits;
    std::memcpy(&bits, &half, sizeof(bits));
    ASSERT_EQ(toHalfBits(value), bits) << value;
  }
}
#endif

TEST(ArgumentType, RoundsToBFloat) {
  EXPECT_EQ(toBFloatBits(1.0), 0x3f80);
  EXPECT_EQ(toBFloatBits(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(toBFloatBits(1 + 0x1p-8 + 0x1p-30), 0x3f81);
  EXPECT_EQ(toBFloatBits(double(std::numeric_limits<float>::max())), 0x7f80);
  EXPECT_EQ(toBFloatBits(0x1p-133), 0x0001);
}

static tilebridge_argument integer(const char *type, int64_t value) {
  tilebridge_argument argument = {type, {}};
  argument.value.integer = value;
  return argument;
}

static tilebridge_argument pointer(const char *type, void *value) {
  tilebridge_argument argument = {type, {}};
  argument.value.pointer = value;
  return argument;
}

TEST(LaunchTyped, ChecksCountTypesAndRanges) {
  KernelPtr kernel = load("probe");
  int64_t data[4] = {};
  auto run = [&](tilebridge_argument first, tilebridge_argument second,
                 size_t count = 2) {
    tilebridge_argument arguments[] = {first, second};
    return tilebridge_launch_typed(kernel.get(), 4, 1, 1, arguments, count,
                                   nullptr);
  };
  EXPECT_EQ(run(pointer("*i64", data), integer("i32", Count)), TILEBRIDGE_OK);
  EXPECT_EQ(run(pointer("*u64", data), integer("u32", Count)), TILEBRIDGE_OK);
  EXPECT_EQ(data[3], 2);
  EXPECT_EQ(run(pointer("*i64", data), integer("i32", Count), 1),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(run(pointer("*fp32", data), integer("i32", Count)),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tilebridge_last_error()).find("argument 0 (*i64)"),
            std::string::npos);
  EXPECT_EQ(run(pointer("*i64", data), integer("i64", Count)),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(run(pointer("*i64", data), integer(nullptr, Count)),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(run(pointer("*i64", data), integer("i32", int64_t(1) << 31)),
            TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tilebridge_last_error()).find("does not fit"),
            std::string::npos);
  EXPECT_EQ(
      run(pointer("*i64", nullptr), integer("u32", (int64_t(1) << 32) - 1)),
      TILEBRIDGE_OK);
}

TEST(LaunchTyped, TakesDescriptors) {
  KernelPtr kernel = load("probe-descriptor");
  tilebridge_descriptor descriptor = {};
  descriptor.rank = 2;
  tilebridge_argument arguments[3] = {
      {"tensordesc<fp16[16,32]>", {}}, {"fp16", {}}, {"i8", {}}};
  arguments[0].value.descriptor = &descriptor;
  EXPECT_EQ(
      tilebridge_launch_typed(kernel.get(), 0, 1, 1, arguments, 3, nullptr),
      TILEBRIDGE_OK);
  // A stride of a dimension of one element means nothing.
  descriptor.sizes[1] = 1;
  descriptor.strides[1] = 7;
  EXPECT_EQ(
      tilebridge_launch_typed(kernel.get(), 0, 1, 1, arguments, 3, nullptr),
      TILEBRIDGE_OK);
  descriptor.sizes[1] = 32;
  EXPECT_EQ(
      tilebridge_launch_typed(kernel.get(), 0, 1, 1, arguments, 3, nullptr),
      TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tilebridge_last_error()).find("last stride"),
            std::string::npos);
  descriptor.strides[1] = 1;
  descriptor.rank = 3;
  EXPECT_EQ(
      tilebridge_launch_typed(kernel.get(), 0, 1, 1, arguments, 3, nullptr),
      TILEBRIDGE_ERROR_INVALID_ARGUMENT);
  arguments[0].value.descriptor = nullptr;
  EXPECT_EQ(
      tilebridge_launch_typed(kernel.get(), 0, 1, 1, arguments, 3, nullptr),
      TILEBRIDGE_ERROR_INVALID_ARGUMENT);
}
