//===- RootsTest.cpp - ops that bring their own loops, run ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockKernel.h"
#include "CompiledKernel.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace tilebridge::cpu;
using namespace tilebridge::cpu::test;

namespace {

TEST(Scan, SumsAlongEveryDimension) {
  for (auto shape : {std::vector<int64_t>{64},
                     {4},
                     {16},
                     {8, 32},
                     {3, 5},
                     {2, 3, 20},
                     {1, 1}})
    for (size_t dim = 0; dim < shape.size(); ++dim)
      for (bool reverse : {false, true}) {
        std::string type = tensor(shape, "f32");
        CompiledKernel k(kernel({{"x", "f32"}, {"y", "f32"}},
                                load("t", "x", shape, "f32") +
                                    "  %s = linalg_ext.scan(%t) dimension = " +
                                    std::to_string(dim) +
                                    (reverse ? " reverse" : "") +
                                    " {\n  ^bb0(%a: f32, %b: f32):\n    %0 = "
                                    "arith.addf %a, %b : f32\n"
                                    "    linalg_ext.yield %0 : f32\n  } : (" +
                                    type + ") -> " + type + "\n" +
                                    storeTo("s", "y", shape, "f32")));
        ASSERT_TRUE(k);
        int64_t size = 1, inner = 1;
        for (size_t i = 0; i < shape.size(); ++i)
          size *= shape[i], inner *= i > dim ? shape[i] : 1;
        std::vector<float> x(size), y(size), want(size);
        for (int64_t i = 0; i < size; ++i)
          x[i] = i * 7 % 11;
        for (int64_t i = 0; i < size; ++i) {
          int64_t at = i / inner % shape[dim];
          for (int64_t j = 0; j < shape[dim]; ++j)
            if (reverse ? j >= at : j <= at)
              want[i] += x[i + (j - at) * inner];
        }
        k.run({slot(x.data()), slot(y.data())});
        EXPECT_EQ(y, want) << "dimension " << dim << " of " << type
                           << (reverse ? " reverse" : "");
      }
}

/// x -> a * x + b, composed: not commutative, two operands, as a linear
/// recurrence needs it.
TEST(Scan, ComposesInOrder) {
  std::vector<int64_t> shape = {2, 32};
  std::string type = tensor(shape, "i32");
  for (bool reverse : {false, true}) {
    CompiledKernel k(
        kernel({{"x", "i32"}, {"y", "i32"}, {"p", "i32"}, {"q", "i32"}},
               load("t", "x", shape, "i32") + load("u", "y", shape, "i32") +
                   "  %r:2 = linalg_ext.scan(%t, %u) dimension = 1 " +
                   (reverse ? "reverse " : "") +
                   "{\n  ^bb0(%a0: i32, %b0: i32, %a1: i32, %b1: i32):\n    %a "
                   "= arith.muli %a0, %a1 : i32\n"
                   "    %m = arith.muli %b0, %a1 : i32\n    %b = arith.addi "
                   "%m, %b1 : i32\n"
                   "    linalg_ext.yield %a, %b : i32, i32\n  } : (" +
                   type + ", " + type + ") -> (" + type + ", " + type + ")\n" +
                   storeTo("r#0", "p", shape, "i32") +
                   storeTo("r#1", "q", shape, "i32")));
    ASSERT_TRUE(k);
    std::vector<int32_t> x(64), y(64), p(64), q(64), wantP(64), wantQ(64);
    for (int i = 0; i < 64; ++i)
      x[i] = i % 3 + 1, y[i] = i % 5 - 2;
    for (int row = 0; row < 2; ++row) {
      uint32_t a = 1, b = 0;
      for (int i = 0; i < 32; ++i) {
        int at = row * 32 + (reverse ? 31 - i : i);
        b = b * x[at] + y[at];
        a *= x[at];
        wantP[at] = a, wantQ[at] = b;
      }
    }
    k.run({slot(x.data()), slot(y.data()), slot(p.data()), slot(q.data())});
    EXPECT_EQ(p, wantP);
    EXPECT_EQ(q, wantQ);
  }
}

TEST(Indexed, HistogramCountsOnlyBinsAndMask) {
  std::vector<int64_t> shape = {128};
  CompiledKernel k(
      kernel({{"x", "i32"}, {"y", "i32"}},
             load("t", "x", shape, "i32") +
                 "  %zero = arith.constant dense<3> : tensor<128xi32>\n  "
                 "%empty = tensor.empty() : tensor<128xi1>\n"
                 "  %m = linalg.generic {indexing_maps = [affine_map<(i) -> "
                 "(i)>, affine_map<(i) -> (i)>, "
                 "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} "
                 "ins(%t, %zero : tensor<128xi32>, "
                 "tensor<128xi32>) outs(%empty : tensor<128xi1>) {\n  ^bb0(%a: "
                 "i32, %b: i32, %o: i1):\n"
                 "    %c = arith.cmpi ne, %a, %b : i32\n    linalg.yield %c : "
                 "i1\n  } -> tensor<128xi1>\n"
                 "  %h = linalg_ext.histogram %t, %m : tensor<128xi32>, "
                 "tensor<128xi1> -> tensor<8xi32>\n" +
                 storeTo("h", "y", {8}, "i32")));
  ASSERT_TRUE(k);
  std::vector<int32_t> x(128), y(8, -1), want(8);
  for (int i = 0; i < 128; ++i) {
    x[i] = i * 13 % 11 - 1; // -1 and 8, 9 are no bins.
    if (x[i] >= 0 && x[i] < 8 && x[i] != 3)
      ++want[x[i]];
  }
  k.run({slot(x.data()), slot(y.data())});
  EXPECT_EQ(y, want);
}

TEST(Indexed, GatherAlong) {
  CompiledKernel k(kernel({{"x", "f32"}, {"i", "i32"}, {"y", "f32"}},
                          load("t", "x", {4, 16}, "f32") +
                              load("u", "i", {4, 8}, "i32") +
                              "  %g = linalg_ext.gather_along %t[%u] dimension "
                              "= 1 : tensor<4x16xf32>, tensor<4x8xi32> -> "
                              "tensor<4x8xf32>\n" +
                              storeTo("g", "y", {4, 8}, "f32")));
  ASSERT_TRUE(k);
  std::vector<float> x(64), y(32), want(32);
  std::vector<int32_t> index(32);
  std::iota(x.begin(), x.end(), 0);
  for (int i = 0; i < 32; ++i) {
    index[i] = i == 5 ? -1 : i == 6 ? 99 : i * 5 % 16;
    want[i] = x[i / 8 * 16 + (i == 5 || i == 6 ? 15 : index[i])];
  }
  k.run({slot(x.data()), slot(index.data()), slot(y.data())});
  EXPECT_EQ(y, want);
}

TEST(Matmul, OfTheBridge) {
  for (bool batch : {false, true}) {
    std::vector<int64_t> a = {16, 8}, b = {8, 32}, c = {16, 32};
    if (batch)
      for (auto *shape : {&a, &b, &c})
        shape->insert(shape->begin(), 3);
    CompiledKernel k(kernel(
        {{"a", "f16"}, {"b", "f16"}, {"c", "f32"}},
        load("ta", "a", a, "f16") + load("tb", "b", b, "f16") +
            load("tc", "c", c, "f32") + "  %r = linalg." +
            (batch ? "batch_matmul" : "matmul") +
            " ins(%ta, %tb : " + tensor(a, "f16") + ", " + tensor(b, "f16") +
            ") outs(%tc : " + tensor(c, "f32") + ") -> " + tensor(c, "f32") +
            "\n" + storeTo("r", "c", c, "f32")));
    ASSERT_TRUE(k);
    int n = batch ? 3 : 1;
    std::vector<uint16_t> x(n * 128, 0x3c00), y(n * 256, 0x4000);
    std::vector<float> z(n * 512, 1);
    x[n * 128 - 1] = 0;
    k.run({slot(x.data()), slot(y.data()), slot(z.data())});
    for (int i = 0; i < n * 512; ++i)
      ASSERT_EQ(z[i], i / 32 == n * 16 - 1 ? 15 : 17) << i;
  }
}

/// Small ones are in the code, large ones in the executable's data; a buffer
/// that is updated in place leaves them alone.
TEST(Roots, ConstantsOfManyValues) {
  for (int64_t n : {60, 1000, 5000, 12288}) {
    SCOPED_TRACE(n);
    auto number = [](int64_t i) { return int(i * 7 % 1001 - 500); };
    const std::vector<std::pair<std::string, uint8_t>> floats = {
        {"1.0", 0x38}, {"-2.0", 0xc0}, {"0.5", 0x30}};
    std::string integers, f8, booleans;
    for (int64_t i = 0; i < n; ++i) {
      std::string comma = i ? ", " : "";
      integers += comma + std::to_string(number(i));
      f8 += comma + floats[i % 3].first;
      booleans += comma + (i % 3 ? "true" : "false");
    }
    std::string size = std::to_string(n), slice = std::to_string(n / 2);
    CompiledKernel kernel(::kernel(
        {{"x", "i32"}, {"y", "f8E4M3FN"}, {"z", "i32"}},
        "  %a = arith.constant dense<[" + integers + "]> : tensor<" + size +
            "xi32>\n  %b = arith.constant dense<[" + f8 + "]> : tensor<" +
            size + "xf8E4M3FN>\n  %m = arith.constant dense<[" + booleans +
            "]> : tensor<" + size + "xi1>\n  %e = tensor.empty() : tensor<" +
            size + "xi32>\n" +
            "  %w = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, "
            "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%m "
            ": tensor<" +
            size + "xi1>) outs(%e : tensor<" + size +
            "xi32>) {\n  ^bb0(%p: i1, %o: i32):\n    %i = arith.extui %p : i1 "
            "to i32\n    linalg.yield %i : i32\n  } -> tensor<" +
            size + "xi32>\n" + "  %h = tensor.extract_slice %w[0] [" + slice +
            "] [1] : tensor<" + size + "xi32> to tensor<" + slice +
            "xi32>\n  %c = tensor.insert_slice %h into %a[0] [" + slice +
            "] [1] : tensor<" + slice + "xi32> into tensor<" + size +
            "xi32>\n" + storeTo("c", "x", {n}, "i32") +
            storeTo("b", "y", {n}, "f8E4M3FN") +
            storeTo("w", "z", {n}, "i32")));
    ASSERT_TRUE(kernel);
    std::vector<int32_t> x(n), z(n);
    std::vector<uint8_t> y(n);
    for (int run = 0; run < 2; ++run) {
      kernel.run({slot(x.data()), slot(y.data()), slot(z.data())});
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(x[i], i < n / 2 ? i % 3 != 0 : number(i)) << i;
        ASSERT_EQ(y[i], floats[i % 3].second) << i;
        ASSERT_EQ(z[i], i % 3 != 0) << i;
      }
    }
  }
}

} // namespace
