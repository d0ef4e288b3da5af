//===- ProgramsTest.cpp - blocks, memory, atomics, control flow, host ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BridgeProgram.h"

#include <numeric>

namespace {

std::string load(int64_t count) {
  std::string n = std::to_string(count);
  return "%view = memref.reinterpret_cast %in to offset: [0], sizes: [" + n +
         "], strides: [1] : memref<?xi32, strided<[1], offset: ?>> to memref<" +
         n +
         "xi32, strided<[1]>>\n%x = bufferization.to_tensor %view : memref<" +
         n + "xi32, strided<[1]>> to tensor<" + n + "xi32>\n";
}

std::string store(const std::string &value, int64_t count) {
  std::string n = std::to_string(count);
  return "%to = memref.reinterpret_cast %out to offset: [0], sizes: [" + n +
         "], strides: [1] : memref<?xi32, strided<[1], offset: ?>> to memref<" +
         n +
         "xi32, strided<[1]>>\n"
         "bufferization.materialize_in_destination " +
         value + " in writable %to : (tensor<" + n + "xi32>, memref<" + n +
         "xi32, strided<[1]>>) -> ()\n";
}

using Ints = std::vector<int32_t>;

Ints range(int32_t count) {
  Ints result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

Ints run(const std::string &body, int64_t in, int64_t out, Ints data = {}) {
  BridgeProgram program("i32", load(in) + body + store("%r", out));
  return program.results(data.empty() ? range(int32_t(in)) : data, out);
}

TEST(Shapes, PadAndSlices) {
  EXPECT_EQ(run("%c9 = arith.constant 9 : i32\n"
                "%r = tensor.pad %x low[1] high[2] {\n^bb0(%i: index):\n"
                "tensor.yield %c9 : i32\n} : tensor<2xi32> to tensor<5xi32>\n",
                2, 5),
            (Ints{9, 0, 1, 9, 9}));
  EXPECT_EQ(run("%s = tensor.extract_slice %x[1] [3] [2] : tensor<8xi32> to "
                "tensor<3xi32>\n%r = tensor.insert_slice %s into %x[0] [3] [1] "
                ": tensor<3xi32> into tensor<8xi32>\n",
                8, 8),
            (Ints{1, 3, 5, 3, 4, 5, 6, 7}));
}

TEST(Shapes, TransposeAndBroadcast) {
  EXPECT_EQ(run("%e = tensor.expand_shape %x [[0, 1]] output_shape [2, 3] : "
                "tensor<6xi32> into tensor<2x3xi32>\n"
                "%i = tensor.empty() : tensor<3x2xi32>\n"
                "%t = linalg.transpose ins(%e : tensor<2x3xi32>) outs(%i : "
                "tensor<3x2xi32>) permutation = [1, 0]\n"
                "%r = tensor.collapse_shape %t [[0, 1]] : tensor<3x2xi32> into "
                "tensor<6xi32>\n",
                6, 6),
            (Ints{0, 3, 1, 4, 2, 5}));
}

TEST(Linalg, ElementwiseWithPositions) {
  EXPECT_EQ(run("%i = tensor.empty() : tensor<4xi32>\n"
                "%c3 = arith.constant 3 : i32\n"
                "%r = linalg.generic {indexing_maps = [affine_map<(d0) -> "
                "(d0)>, affine_map<(d0) -> (d0)>], iterator_types = "
                "[\"parallel\"]} ins(%x : tensor<4xi32>) outs(%i : "
                "tensor<4xi32>) {\n^bb0(%a: i32, %o: i32):\n"
                "%p = linalg.index 0 : index\n"
                "%q = arith.index_cast %p : index to i32\n"
                "%m = arith.muli %a, %q : i32\n%s = arith.addi %m, %c3 : i32\n"
                "linalg.yield %s : i32\n} -> tensor<4xi32>\n",
                4, 4),
            (Ints{3, 4, 7, 12}));
}

TEST(Linalg, LanesTakeTheirOwnBranches) {
  EXPECT_EQ(run("%i = tensor.empty() : tensor<4xi32>\n"
                "%c2 = arith.constant 2 : i32\n"
                "%r = linalg.generic {indexing_maps = [affine_map<(d0) -> "
                "(d0)>, affine_map<(d0) -> (d0)>], iterator_types = "
                "[\"parallel\"]} ins(%x : tensor<4xi32>) outs(%i : "
                "tensor<4xi32>) {\n^bb0(%a: i32, %o: i32):\n"
                "%p = linalg.index 0 : index\n"
                "%q = arith.index_cast %p : index to i32\n"
                "%c = arith.cmpi slt, %a, %c2 : i32\n"
                "%s = scf.if %c -> (i32) {\n%t = arith.subi %a, %q : i32\n"
                "scf.yield %t : i32\n} else {\nscf.yield %a : i32\n}\n"
                "linalg.yield %s : i32\n} -> tensor<4xi32>\n",
                4, 4),
            (Ints{0, 0, 2, 3}));
}

TEST(Linalg, Matmul) {
  EXPECT_EQ(run("%a = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : "
                "tensor<4xi32> into tensor<2x2xi32>\n"
                "%c1 = arith.constant 1 : i32\n"
                "%i = tensor.splat %c1 : tensor<2x2xi32>\n"
                "%m = linalg.matmul ins(%a, %a : tensor<2x2xi32>, "
                "tensor<2x2xi32>) outs(%i : tensor<2x2xi32>) -> "
                "tensor<2x2xi32>\n%r = tensor.collapse_shape %m [[0, 1]] : "
                "tensor<2x2xi32> into tensor<4xi32>\n",
                4, 4),
            (Ints{3, 4, 7, 12}));
}

TEST(Reductions, AnyRegion) {
  EXPECT_EQ(run("%e = tensor.expand_shape %x [[0, 1]] output_shape [2, 3] : "
                "tensor<6xi32> into tensor<2x3xi32>\n"
                "%r = linalg_ext.reduce(%e) dimension = 0 {\n"
                "^bb0(%a: i32, %b: i32):\n%m = arith.subi %a, %b : i32\n"
                "linalg_ext.yield %m : i32\n} : (tensor<2x3xi32>) -> "
                "tensor<3xi32>\n",
                6, 3, {5, 6, 7, 1, 3, 9}),
            (Ints{4, 3, -2}));
}

TEST(Reductions, ScanBothWays) {
  for (bool isReverse : {false, true})
    EXPECT_EQ(run(std::string("%r = linalg_ext.scan(%x) dimension = 0 ") +
                      (isReverse ? "reverse " : "") +
                      "{\n^bb0(%a: i32, %b: i32):\n%m = arith.addi %a, %b : "
                      "i32\nlinalg_ext.yield %m : i32\n} : (tensor<4xi32>) -> "
                      "tensor<4xi32>\n",
                  4, 4),
              isReverse ? (Ints{6, 6, 5, 3}) : (Ints{0, 1, 3, 6}));
}

TEST(Reductions, HistogramAndLookup) {
  EXPECT_EQ(run("%r = linalg_ext.histogram %x : tensor<6xi32> -> "
                "tensor<3xi32>\n",
                6, 3, {0, 2, 2, 7, -1, 2}),
            (Ints{1, 0, 3}));
  EXPECT_EQ(run("%r = linalg_ext.gather_along %x[%x] dimension = 0 : "
                "tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>\n",
                4, 4, {3, 0, 99, -1}),
            (Ints{-1, 3, -1, -1}));
}

constexpr const char *kPointer = "memref<?xi32, strided<[1], offset: ?>>";

TEST(Memory, GatherAndScatter) {
  std::string mask = "%m = arith.constant dense<[true, false, true, true]> : "
                     "tensor<4xi1>\n%c7 = arith.constant 7 : i32\n";
  BridgeProgram program(
      "i32", load(4) + mask +
                 "%g = linalg_ext.gather %in[%x] mask %m other %c7 : (" +
                 kPointer +
                 ", tensor<4xi32>, tensor<4xi1>, i32) -> tensor<4xi32>\n"
                 "linalg_ext.scatter %g into %out[%x] mask %m : "
                 "(tensor<4xi32>, " +
                 kPointer + ", tensor<4xi32>, tensor<4xi1>) -> ()\n");
  EXPECT_EQ(program.results(Ints{3, 1000, 0, 1}, 4), (Ints{3, 1000, 0, 1}));
}

TEST(Memory, WhatIsOutsideIsAnError) {
  BridgeProgram program("i32", load(4) + store("%x", 4));
  Ints out(3);
  EXPECT_TRUE(program.run(range(4), out).isError);
  EXPECT_NE(program.errors.find("program (0, 0, 0) writes element 3 of the "
                                "array of argument 1, which has 3 elements"),
            std::string::npos)
      << program.errors;
  BridgeProgram reader("i32", load(5));
  EXPECT_TRUE(reader.run(range(4), out).isError);
  EXPECT_NE(reader.errors.find("reads element 4"), std::string::npos);
}

TEST(Atomics, EveryKind) {
  std::vector<std::pair<std::string, int32_t>> kinds = {
      {"and", 4},  {"or", 13}, {"xor", 9},   {"add", 17},
      {"max", 12}, {"min", 5}, {"umax", 12}, {"umin", 5},
      {"exch", 5}, {"inc", 0}, {"dec", 5}};
  for (auto &[kind, wanted] : kinds) {
    BridgeProgram program("i32", "%c0 = arith.constant 0 : i64\n"
                                 "%c5 = arith.constant 5 : i32\n"
                                 "%old = linalg_ext.atomic_rmw " +
                                     kind + " relaxed gpu %out[%c0], %c5 : (" +
                                     kPointer + ", i64, i32) -> i32\n");
    Ints out = {12};
    EXPECT_FALSE(program.run(Ints{0}, out).isError) << program.errors;
    EXPECT_EQ(out.front(), wanted) << kind;
  }
}

TEST(Atomics, ProgramsThatWaitProgress) {
  // Each program but the last waits until the next one has set its flag.
  BridgeProgram program(
      "i32", std::string("%one = arith.constant 1 : i32\n"
                         "%c4 = arith.constant 4 : i32\n"
                         "%next = arith.addi %px, %one : i32\n"
                         "%isLast = arith.cmpi eq, %next, %c4 : i32\n"
                         "%own = arith.extsi %px : i32 to i64\n"
                         "%other = arith.extsi %next : i32 to i64\n"
                         "%zero = arith.constant 0 : i32\n"
                         "scf.if %isLast {\n} else {\n"
                         "%w = scf.while (%v = %zero) : (i32) -> i32 {\n"
                         "%f = linalg_ext.atomic_load acquire gpu "
                         "%out[%other] : (") +
                 kPointer +
                 ", i64) -> i32\n%go = arith.cmpi eq, %f, %zero : i32\n"
                 "scf.condition(%go) %f : i32\n} do {\n^bb0(%f: i32):\n"
                 "scf.yield %f : i32\n}\n}\n"
                 "linalg_ext.atomic_store release gpu %one into %out[%own] : "
                 "(i32, " +
                 kPointer + ", i64) -> ()\n");
  EXPECT_EQ(program.results(Ints{0}, 4, 4), (Ints{1, 1, 1, 1}));
}

TEST(Control, LoopsAndCalls) {
  std::string callee =
      "func.func private @twice(%v: i32, %px: i32, %py: i32, %pz: i32, %nx: "
      "i32, %ny: i32, %nz: i32) -> i32 {\n%r = arith.addi %v, %v : i32\n"
      "return %r : i32\n}\n";
  std::string body =
      std::string("%c0 = arith.constant 0 : index\n"
                  "%zero = arith.constant 0 : i32\n"
                  "%five = arith.constant 5 : i32\n"
                  "%two = arith.constant 2 : i32\n"
                  "%sum = scf.for %i = %zero to %five step %two iter_args(%s = "
                  "%zero) -> (i32) : i32 {\n%n = arith.addi %s, %i : i32\n"
                  "scf.yield %n : i32\n}\n"
                  "%d = func.call @twice(%sum, %px, %py, %pz, %nx, %ny, %nz) : "
                  "(i32, i32, i32, i32, i32, i32, i32) -> i32\n"
                  "memref.store %d, %out[%c0] : ") +
      kPointer;
  EXPECT_EQ(BridgeProgram("i32", body, callee).results(Ints{0}, 1), Ints{12});
}

TEST(Control, RecursionIsAnError) {
  std::string callee =
      "func.func private @again(%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: "
      "i32, %nz: i32) {\nfunc.call @again(%px, %py, %pz, %nx, %ny, %nz) : "
      "(i32, i32, i32, i32, i32, i32) -> ()\nreturn\n}\n";
  BridgeProgram program("i32",
                        "func.call @again(%px, %py, %pz, %nx, %ny, %nz) : "
                        "(i32, i32, i32, i32, i32, i32) -> ()",
                        callee);
  Ints out(1);
  EXPECT_TRUE(program.run(Ints{0}, out).isError);
  EXPECT_NE(program.errors.find("recursion"), std::string::npos);
}

TEST(Host, PrintAndAssert) {
  BridgeProgram program(
      "i32", load(2) + "linalg_ext.print \" x: \" programs(%px, %py, %pz) "
                       "values(%x) signed = [true] : tensor<2xi32>\n"
                       "%c = arith.cmpi eq, %px, %py : i32\n"
                       "linalg_ext.assert %c, \"only one\" : i1\n");
  Ints out(1);
  auto outcome = program.run(Ints{-1, 7}, out, 2);
  EXPECT_NE(program.printed.find("pid (0, 0, 0) idx (0) x: -1\n"),
            std::string::npos)
      << program.printed;
  EXPECT_NE(outcome.assertion.find("only one"), std::string::npos);
}

TEST(Unknown, OperationsAreErrors) {
  BridgeProgram program("i32", "%c = arith.constant 2 : index\n"
                               "%m = memref.alloc(%c) : memref<?xi32>");
  Ints out(1);
  EXPECT_TRUE(program.run(Ints{0}, out).isError);
  EXPECT_NE(program.errors.find("does not know 'memref.alloc'"),
            std::string::npos)
      << program.errors;
}

} // namespace
