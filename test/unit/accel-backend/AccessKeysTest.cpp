//===- AccessKeysTest.cpp - which programs access the same memory ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "accel-backend/plan/AccessKeys.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace tilebridge::accel;
using tilebridge::test::Kernel;

/// Seeds program ids and counts.
static InstanceValues programsOf(const Kernel &kernel,
                                 std::array<int64_t, 3> grid) {
  auto ids = Kernel::idsOf(grid);
  InstanceValues values(ids[0].size());
  for (unsigned d = 0; d < 3; ++d) {
    values.seed(kernel.launchArgument(d), ids[d]);
    values.seed(kernel.launchArgument(3 + d),
                std::vector<int64_t>(values.size(), grid[d]));
  }
  return values;
}

/// The classes of all structured loads, in program order.
static std::vector<Classes> classesOfLoads(const Kernel &kernel,
                                           std::array<int64_t, 3> grid) {
  InstanceValues values = programsOf(kernel, grid);
  AccessKeys keys(kernel.func(), values);
  std::vector<Classes> result;
  kernel.func().walk([&](bufferization::ToTensorOp load) {
    std::optional<Classes> classes = keys.ofAccess(load, load->getOperands());
    EXPECT_TRUE(classes);
    if (classes)
      result.push_back(*classes);
  });
  return result;
}

/// Programs are in one class if, and only if, the function gives one number.
template <typename FunctionT>
static void expectClasses(const Classes &classes, std::array<int64_t, 3> grid,
                          FunctionT number) {
  auto ids = Kernel::idsOf(grid);
  Classes expected(ids[0].size());
  InstanceValues::Row row;
  for (size_t i = 0; i < ids[0].size(); ++i)
    row.push_back(number(ids[0][i], ids[1][i], ids[2][i]));
  expected.refine(row);
  EXPECT_TRUE(classes == expected)
      << classes.count << " classes, expected " << expected.count;
}

TEST(InstanceValues, ArithmeticIsThatOfTheProgram) {
  // Every operation on random numbers, against MLIR's own folding.
  const char *operations[] = {
      "addi",      "subi",      "muli",      "divsi",    "divui", "remsi",
      "remui",     "andi",      "ori",       "xori",     "minsi", "maxsi",
      "minui",     "maxui",     "shli",      "shrsi",    "shrui", "floordivsi",
      "cmpi slt,", "cmpi uge,", "ceildivsi", "ceildivui"};
  std::mt19937_64 random(3);
  for (const char *operation : operations)
    for (const char *type : {"i8", "i32", "i64", "index"}) {
      std::string text = "func.func @f(%a: " + std::string(type) +
                         ", %b: " + type + ") {\n %0 = arith." + operation +
                         " %a, %b : " + type + "\n return\n}";
      Kernel kernel = Kernel::parse(text);
      Operation *op = &kernel.func().getBody().front().front();
      unsigned width = llvm::StringRef(type) == "i8"    ? 8
                       : llvm::StringRef(type) == "i32" ? 32
                                                        : 64;
      for (unsigned round = 0; round < 40; ++round) {
        auto number = [&] {
          uint64_t bits = random();
          // Small ones, negative ones, large ones.
          if (round % 2)
            bits = uint64_t(int64_t(bits % 9) - 2);
          return llvm::SignExtend64(bits, width);
        };
        int64_t a = number(), b = number();
        InstanceValues values(2);
        values.seed(kernel.func().getArgument(0), {a, a});
        values.seed(kernel.func().getArgument(1), {b, b});
        const InstanceValues::Row *row = values.get(op->getResult(0));

        Builder builder(kernel.func().getContext());
        Type operandType = kernel.func().getArgument(0).getType();
        SmallVector<Attribute> operands{builder.getIntegerAttr(operandType, a),
                                        builder.getIntegerAttr(operandType, b)};
        SmallVector<OpFoldResult> folded;
        bool folds = succeeded(op->fold(operands, folded)) &&
                     folded.size() == 1 && isa<Attribute>(folded[0]);
        if (!folds)
          continue;
        ASSERT_TRUE(row) << operation << " " << a << " " << b;
        APInt expected =
            cast<IntegerAttr>(cast<Attribute>(folded[0])).getValue();
        EXPECT_EQ((*row)[1], expected.getSExtValue())
            << operation << " of " << type << " " << a << " and " << b;
      }
    }
}

TEST(InstanceValues, WhatIsUnknown) {
  Kernel kernel = Kernel::parse(R"(
    func.func @f(%n: i32, %m: memref<4xi32>, %x: i32) {
      %c0 = arith.constant 0 : index
      %c0_i32 = arith.constant 0 : i32
      %0 = arith.addi %x, %n : i32
      %1 = memref.load %m[%c0] : memref<4xi32>
      %2 = arith.divsi %x, %c0_i32 : i32
      %3 = arith.addi %x, %x : i32
      %4 = arith.extui %x : i32 to i64
      %5 = arith.trunci %4 : i64 to i8
      return
    })");
  InstanceValues values(3);
  values.seed(kernel.func().getArgument(2), {-1, 127, 200});
  SmallVector<bool> known;
  SmallVector<const InstanceValues::Row *> rows;
  for (Operation &op : kernel.func().getBody().front().without_terminator())
    rows.push_back(values.get(op.getResult(0)));
  EXPECT_FALSE(rows[2]);
  EXPECT_FALSE(rows[3]);
  EXPECT_FALSE(rows[4]);
  ASSERT_TRUE(rows[5] && rows[6] && rows[7]);
  EXPECT_EQ(*rows[5], (InstanceValues::Row{-2, 254, 400}));
  EXPECT_EQ(*rows[6], (InstanceValues::Row{0xffffffff, 127, 200}));
  EXPECT_EQ(*rows[7], (InstanceValues::Row{-1, 127, -56}));
}

// Blocks in groups of rows, numbered by one id; M = 512, N = 384.
TEST(AccessKeys, GroupedMatmul) {
  Kernel kernel = Kernel::example(
      "matmul-f16-pointers",
      {{3, 512}, {4, 384}, {5, 256}, {6, 256}, {7, 384}, {8, 384}});
  std::array<int64_t, 3> grid{48, 1, 1};
  std::vector<Classes> loads = classesOfLoads(kernel, grid);
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_EQ(loads[0].count, 8u);
  EXPECT_EQ(loads[1].count, 6u);
  // All 8 rows of blocks are one group: ids go down a column first.
  expectClasses(loads[0], grid,
                [](int64_t x, int64_t, int64_t) { return x % 8; });
  expectClasses(loads[1], grid,
                [](int64_t x, int64_t, int64_t) { return x / 8; });
}

// The last group has fewer rows: M = 640 is 10 blocks, 8 and 2.
TEST(AccessKeys, GroupedMatmulWithASmallerGroup) {
  Kernel kernel = Kernel::example(
      "matmul-f16-pointers",
      {{3, 640}, {4, 128}, {5, 256}, {6, 256}, {7, 128}, {8, 128}});
  std::array<int64_t, 3> grid{20, 1, 1};
  std::vector<Classes> loads = classesOfLoads(kernel, grid);
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_EQ(loads[0].count, 10u);
  EXPECT_EQ(loads[1].count, 2u);
  Classes both = loads[0];
  both.refine(loads[1]);
  EXPECT_EQ(both.count, 20u);
}

// Arguments that are not known: classes are those of what the ids go through.
TEST(AccessKeys, UnknownStrides) {
  Kernel kernel =
      Kernel::example("matmul-f16-pointers", {{3, 512}, {4, 384}, {5, 256}});
  std::vector<Classes> loads = classesOfLoads(kernel, {48, 1, 1});
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_EQ(loads[0].count, 8u);
  EXPECT_EQ(loads[1].count, 6u);
}

/// Two heads of 256 by 64.
static Kernel attention(llvm::StringRef name) {
  const int64_t sequence = 256, heads = 2, size = 64;
  std::map<unsigned, int64_t> arguments{
      {17, heads}, {18, sequence}, {19, sequence}};
  for (unsigned first : {5u, 8u, 11u, 14u}) {
    arguments[first] = heads * sequence * size;
    arguments[first + 1] = sequence * size;
    arguments[first + 2] = size;
  }
  return Kernel::example(name, arguments);
}

// Queries differ for each block and head; keys and values for each head.
TEST(AccessKeys, Attention) {
  Kernel kernel = attention("attention-f16");
  std::array<int64_t, 3> grid{4, 6, 1};
  std::vector<Classes> loads = classesOfLoads(kernel, grid);
  ASSERT_GE(loads.size(), 3u);
  expectClasses(loads[0], grid,
                [](int64_t x, int64_t y, int64_t) { return y * 4 + x; });
  for (const Classes &load : llvm::drop_begin(loads))
    expectClasses(load, grid, [](int64_t, int64_t y, int64_t) { return y; });
}

// A causal mask ends the loop over keys elsewhere for each block of queries.
TEST(AccessKeys, ControlCounts) {
  Kernel kernel = attention("attention-causal-f32");
  InstanceValues values = programsOf(kernel, {4, 6, 1});
  AccessKeys keys(kernel.func(), values);
  unsigned inLoops = 0;
  kernel.func().walk([&](bufferization::ToTensorOp load) {
    if (load->getParentOp() == kernel.func())
      return;
    std::optional<Classes> address = keys.ofValues(load->getOperands());
    std::optional<Classes> access = keys.ofAccess(load, load->getOperands());
    ASSERT_TRUE(address && access);
    EXPECT_GT(access->count, 6u);
    ++inLoops;
  });
  EXPECT_GT(inLoops, 0u);
}

// A row for each program; weights and biases are the same for all.
TEST(AccessKeys, RowKernel) {
  Kernel kernel = Kernel::example("layer-norm-f32", {{6, 1024}, {7, 1000}});
  std::array<int64_t, 3> grid{32, 1, 1};
  std::vector<Classes> loads = classesOfLoads(kernel, grid);
  ASSERT_GE(loads.size(), 3u);
  unsigned shared = 0, own = 0;
  for (const Classes &load : loads) {
    shared += load.count == 1;
    own += load.count == 32;
  }
  EXPECT_EQ(shared, 2u);
  EXPECT_EQ(shared + own, loads.size());
}

// Two programs that wait for one another may read different contents.
TEST(AccessKeys, UnknownSources) {
  Kernel kernel = Kernel::parse(R"(
    func.func @f(%p: memref<?xf32, strided<[1], offset: ?>>, %x: i32) {
      %0 = linalg_ext.clock
      %1 = arith.index_cast %0 : i64 to index
      %2 = memref.load %p[%1] : memref<?xf32, strided<[1], offset: ?>>
      %c0 = arith.constant 0 : index
      %3 = memref.load %p[%c0] : memref<?xf32, strided<[1], offset: ?>>
      return
    })");
  InstanceValues values(4);
  values.seed(kernel.func().getArgument(1), {0, 1, 2, 3});
  AccessKeys keys(kernel.func(), values);
  SmallVector<std::optional<Classes>> loads;
  kernel.func().walk([&](memref::LoadOp load) {
    loads.push_back(keys.ofValues(load->getOperands()));
  });
  EXPECT_FALSE(loads[0]);
  ASSERT_TRUE(loads[1]);
  EXPECT_EQ(loads[1]->count, 1u);
}
