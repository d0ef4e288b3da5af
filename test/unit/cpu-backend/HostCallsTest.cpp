//===- HostCallsTest.cpp - print and assert, run ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockKernel.h"
#include "CompiledKernel.h"

#include "gtest/gtest.h"

using namespace tilebridge::cpu;
using namespace tilebridge::cpu::test;

namespace {

TEST(HostCalls, PrintsElementsWithTheirPlace) {
  CompiledKernel k(kernel({{"x", "f32"}},
                          load("t", "x", {2, 12}, "f32") +
                              "  %n = arith.constant -7 : i32\n"
                              "  linalg_ext.print \" n: 100% \" programs(%px, "
                              "%py, %pz) values(%n) signed = [true] : i32\n"
                              "  linalg_ext.print \" h: \" programs(%px, %py, "
                              "%pz) values(%n) signed = [false] hex : i32\n"
                              "  linalg_ext.print \" t: \" programs(%px, %py, "
                              "%pz) values(%t) signed = [true] : "
                              "tensor<2x12xf32>\n"));
  ASSERT_TRUE(k);
  std::vector<float> x(24, 0.5f);
  k.run({slot(x.data())}, {1, 2, 1}, 1, 2);
  EXPECT_EQ(k.printed.substr(0, k.printed.find(" t: ")),
            "pid (0, 1, 0) idx () n: 100% -7\n"
            "pid (0, 1, 0) idx () h: 0xfffffff9\n"
            "pid (0, 1, 0) idx (0,  0)");
  EXPECT_EQ(std::count(k.printed.begin(), k.printed.end(), '\n'), 26);
  EXPECT_NE(k.printed.find("pid (0, 1, 0) idx (1, 11) t: 0.500000\n"),
            std::string::npos)
      << k.printed;
}

TEST(HostCalls, AFailedAssertionEndsTheRange) {
  CompiledKernel k(kernel({{"x", "i32"}}, R"mlir(
  %two = arith.constant 2 : i32
  %ok = arith.cmpi ne, %px, %two : i32
  linalg_ext.assert %ok, "two is not allowed" : i1 loc("file.py":12:3)
  %i = arith.index_cast %px : i32 to index
  %one = arith.constant 1 : i32
  memref.store %one, %x[%i] : memref<?xi32, strided<[1], offset: ?>>
)mlir"));
  ASSERT_TRUE(k);
  std::vector<int32_t> x(4);
  k.run({slot(x.data())}, {4, 1, 1});
  EXPECT_EQ(k.failure,
            "file.py:12:3: device-side assert failed: two is not allowed\n");
  EXPECT_EQ(x, (std::vector<int32_t>{1, 1, 0, 0}));
  k.run({slot(x.data())}, {4, 1, 1}, 3, 4);
  EXPECT_EQ(x, (std::vector<int32_t>{1, 1, 0, 1}));
}

TEST(HostCalls, AssertsEveryElement) {
  CompiledKernel k(kernel(
      {{"x", "i8"}}, load("t", "x", {16}, "i8") +
                         "  %e = tensor.empty() : tensor<16xi1>\n"
                         "  %m = linalg.generic {indexing_maps = "
                         "[affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
                         "iterator_types = [\"parallel\"]} ins(%t : "
                         "tensor<16xi8>) outs(%e : tensor<16xi1>) {\n"
                         "  ^bb0(%a: i8, %o: i1):\n    %z = arith.constant 0 : "
                         "i8\n    %c = arith.cmpi eq, %a, %z : i8\n"
                         "    linalg.yield %c : i1\n  } -> tensor<16xi1>\n"
                         "  linalg_ext.assert %m, \"zero\" : tensor<16xi1>\n"));
  ASSERT_TRUE(k);
  std::vector<int8_t> x(16);
  k.run({slot(x.data())});
  EXPECT_EQ(k.failure, "");
  x[13] = 1;
  k.run({slot(x.data())});
  EXPECT_NE(k.failure.find(": zero\n"), std::string::npos);
}

} // namespace
