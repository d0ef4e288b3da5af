//===- AtomicsTest.cpp - atomics on elements, run --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockKernel.h"
#include "CompiledKernel.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>
#include <thread>

using namespace tilebridge::cpu;
using namespace tilebridge::cpu::test;

namespace {

struct Rmw {
  const char *kind;
  int64_t (*apply)(int64_t, int64_t);
};

template <typename T> void checkRmw(const Rmw &rmw, const std::string &type) {
  SCOPED_TRACE(std::string(rmw.kind) + " " + type);
  std::string t = tensor({32}, type);
  CompiledKernel k(kernel(
      {{"o", "i64"}, {"v", type}, {"x", type}, {"old", type}},
      load("a", "o", {32}, "i64") + load("b", "v", {32}, type) +
          "  %r = linalg_ext.atomic_rmw " + rmw.kind +
          " acq_rel gpu %x[%a], %b : (" + pointer(type) + ", tensor<32xi64>, " +
          t + ") -> " + t + "\n" + storeTo("r", "old", {32}, type)));
  ASSERT_TRUE(k);
  std::vector<int64_t> offsets(32);
  std::vector<T> v(32), x(8), old(32), wantX, wantOld(32);
  std::mt19937 random(1);
  for (int i = 0; i < 32; ++i)
    offsets[i] = random() % 8, v[i] = T(int(random() % 200) - 100);
  for (int i = 0; i < 8; ++i)
    x[i] = T(int(random() % 200) - 100);
  wantX = x;
  for (int i = 0; i < 32; ++i) {
    wantOld[i] = wantX[offsets[i]];
    wantX[offsets[i]] = T(rmw.apply(wantX[offsets[i]], v[i]));
  }
  k.run(
      {slot(offsets.data()), slot(v.data()), slot(x.data()), slot(old.data())});
  EXPECT_EQ(x, wantX);
  EXPECT_EQ(old, wantOld);
}

TEST(Atomics, IntegersOfEveryWidth) {
  const Rmw kinds[] = {
      {"add", [](int64_t a, int64_t b) { return a + b; }},
      {"and", [](int64_t a, int64_t b) { return a & b; }},
      {"or", [](int64_t a, int64_t b) { return a | b; }},
      {"xor", [](int64_t a, int64_t b) { return a ^ b; }},
      {"max", [](int64_t a, int64_t b) { return std::max(a, b); }},
      {"min", [](int64_t a, int64_t b) { return std::min(a, b); }},
      {"exch", [](int64_t, int64_t b) { return b; }}};
  for (const Rmw &rmw : kinds) {
    checkRmw<int8_t>(rmw, "i8");
    checkRmw<int16_t>(rmw, "i16");
    checkRmw<int32_t>(rmw, "i32");
    checkRmw<int64_t>(rmw, "i64");
  }
  const Rmw unsignedKinds[] = {
      {"umax", [](int64_t a, int64_t b) { return std::max(a, b); }},
      {"umin", [](int64_t a, int64_t b) { return std::min(a, b); }},
      {"inc", [](int64_t a, int64_t b) { return a >= b ? 0 : a + 1; }},
      {"dec",
       [](int64_t a, int64_t b) { return a == 0 || a > b ? b : a - 1; }}};
  for (const Rmw &rmw : unsignedKinds) {
    checkRmw<uint8_t>(rmw, "i8");
    checkRmw<uint32_t>(rmw, "i32");
  }
  checkRmw<float>({"fadd", [](int64_t a, int64_t b) { return a + b; }}, "f32");
  checkRmw<double>({"fadd", [](int64_t a, int64_t b) { return a + b; }}, "f64");
}

/// Two threads add ones to a counter in narrow floats: nothing is lost, and the
/// sum stays at the last exact integer.
TEST(Atomics, NarrowFloatsLoseNothing) {
  for (const char *type : {"f16", "bf16"}) {
    CompiledKernel k(
        kernel({{"x", type}},
               std::string("  %one = arith.constant 1.0 : ") + type +
                   "\n  %o = arith.constant 1 : i64\n  %r = "
                   "linalg_ext.atomic_rmw fadd relaxed "
                   "gpu %x[%o], %one : (" +
                   pointer(type) + ", i64, " + type + ") -> " + type + "\n"));
    ASSERT_TRUE(k);
    uint16_t x[3] = {};
    std::vector<uint64_t> slots = {slot(&x[0])};
    uint32_t count = type[0] == 'f' ? 1000 : 100;
    std::thread other([&] { k.run(slots, {count, 1, 1}); });
    k.run(slots, {count, 1, 1});
    other.join();
    // 2000 in f16, 200 in bf16.
    EXPECT_EQ(x[1], type[0] == 'f' ? 0x67d0 : 0x4348) << type;
    EXPECT_EQ(x[0], 0);
    EXPECT_EQ(x[2], 0);
  }
}

TEST(Atomics, CompareAndSwapLoadAndStoreUnderMasks) {
  for (const char *type : {"i32", "f32", "i8", "bf16", "f64"}) {
    std::string t = tensor({8}, type);
    CompiledKernel k(kernel(
        {{"x", type}, {"c", type}, {"v", type}, {"old", type}, {"seen", type}},
        load("cmp", "c", {8}, type) + load("val", "v", {8}, type) +
            "  %o = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : "
            "tensor<8xi32>\n"
            "  %m = arith.constant dense<[1, 1, 0, 1, 0, 1, 1, 0]> : "
            "tensor<8xi1>\n"
            "  %r = linalg_ext.atomic_cas acq_rel gpu %x[%o], %cmp, %val : (" +
            pointer(type) + ", tensor<8xi32>, " + t + ", " + t + ") -> " + t +
            "\n" + storeTo("r", "old", {8}, type) +
            "  %l = linalg_ext.atomic_load acquire gpu %x[%o] mask %m : (" +
            pointer(type) + ", tensor<8xi32>, tensor<8xi1>) -> " + t + "\n" +
            storeTo("l", "seen", {8}, type) +
            "  linalg_ext.atomic_store release gpu %cmp into %x[%o] mask %m : "
            "(" +
            t + ", " + pointer(type) +
            ", tensor<8xi32>, tensor<8xi1>) -> ()\n"));
    ASSERT_TRUE(k);
    // Bytes that mean something in any type; compared as bits.
    size_t size = std::string(type) == "i8"     ? 1
                  : std::string(type) == "bf16" ? 2
                  : std::string(type) == "f64"  ? 8
                                                : 4;
    auto fill = [&](int seed) {
      std::vector<uint8_t> bytes(8 * size);
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = uint8_t((i / size + 1) * seed);
      return bytes;
    };
    std::vector<uint8_t> x = fill(3), before = x, compare = fill(5),
                         value = fill(7), old(8 * size), seen(8 * size);
    for (int lane : {1, 2, 6}) // These match.
      std::copy_n(x.begin() + lane * size, size, compare.begin() + lane * size);
    k.run({slot(x.data()), slot(compare.data()), slot(value.data()),
           slot(old.data()), slot(seen.data())});
    const bool mask[8] = {true, true, false, true, false, true, true, false};
    for (int lane = 0; lane < 8; ++lane)
      for (size_t i = lane * size; i < (lane + 1) * size; ++i) {
        bool matches = lane == 1 || lane == 2 || lane == 6;
        uint8_t swapped = matches ? value[i] : before[i];
        EXPECT_EQ(old[i], before[i]) << type << " lane " << lane;
        EXPECT_EQ(seen[i], mask[lane] ? swapped : 0)
            << type << " lane " << lane;
        EXPECT_EQ(x[i], mask[lane] ? compare[i] : swapped)
            << type << " lane " << lane;
      }
  }
}

/// The operand was loaded from the memory that the op changes.
TEST(Atomics, OperandsAreReadFirst) {
  CompiledKernel k(kernel(
      {{"x", "i32"}}, load("t", "x", {4}, "i32") +
                          "  %o = arith.constant dense<[1, 2, 3, 0]> : "
                          "tensor<4xi64>\n  %r = linalg_ext.atomic_rmw exch "
                          "relaxed gpu %x[%o], %t : (" +
                          pointer("i32") +
                          ", tensor<4xi64>, tensor<4xi32>) -> "
                          "tensor<4xi32>\n"));
  ASSERT_TRUE(k);
  std::vector<int32_t> x = {10, 11, 12, 13};
  k.run({slot(x.data())});
  EXPECT_EQ(x, (std::vector<int32_t>{13, 10, 11, 12}));
}

} // namespace
