//===- FormsTest.cpp - the forms of integer tensors and masks --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/triton-to-linalg/Harness.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::test;
using namespace tilebridge::ttl;
using llvm::APInt;
using TermKind = DimTerm::Kind;

namespace {

const char *ranges = R"(
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %as = tt.splat %a : i32 -> tensor<8xi32>
  %bs = tt.splat %b : i32 -> tensor<8xi32>
  %s = arith.addi %as, %r : tensor<8xi32>
)";

const char *planes = R"(
  %c = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %i = tt.expand_dims %s {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %j = tt.expand_dims %c {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %ii = tt.broadcast %i : tensor<8x1xi32> -> tensor<8x4xi32>
  %jj = tt.broadcast %j : tensor<1x4xi32> -> tensor<8x4xi32>
  %bb = tt.splat %b : i32 -> tensor<8x4xi32>
)";

/// Runs with many arguments; where the block does not wrap around in i32 (the
/// contract of docs/bridge-ir.md) all lanes have the form's values.
void checkForm(Program &program, const TensorForm &form, unsigned width) {
  std::mt19937_64 random(7);
  auto type = cast<RankedTensorType>(program.result().getType());
  for (int round = 0; round < 400; ++round) {
    program.run(awkward(random, 32), awkward(random, 32), awkward(random, 64));
    const Lanes &lanes = program.lanesOf(program.result());
    size_t place = 0;
    for (const auto &at : positionsOf(type.getShape())) {
      std::optional<APInt> value = program.evaluate(form, at);
      if (value) {
        ASSERT_EQ(value->getBitWidth(), width);
        ASSERT_EQ(*value, lanes[place]) << "round " << round;
      }
      ++place;
    }
  }
}

TensorForm formOf(Program &program, ExprPool &pool) {
  AccessAnalysis analysis(pool);
  std::optional<TensorForm> form = analysis.integers(program.result());
  EXPECT_TRUE(form.has_value()) << analysis.reason().text;
  return form.value_or(TensorForm());
}

TEST(TensorFormTest, Ranges) {
  Program program("tensor<8xi32>", std::string(ranges) + R"(
    %m = arith.muli %s, %bs : tensor<8xi32>
    tt.return %m : tensor<8xi32>)");
  ASSERT_TRUE(program.isValid());
  ExprPool pool;
  TensorForm form = formOf(program, pool);
  EXPECT_TRUE(form.isLinear());
  EXPECT_EQ(form.onlyDim(), 0u);
  checkForm(program, form, 32);
}

TEST(TensorFormTest, TwoDimensionsAreASum) {
  Program program("tensor<8x4xi32>", std::string(ranges) + planes + R"(
    %m = arith.muli %ii, %bb : tensor<8x4xi32>
    %n = arith.subi %m, %jj : tensor<8x4xi32>
    tt.return %n : tensor<8x4xi32>)");
  ASSERT_TRUE(program.isValid());
  ExprPool pool;
  TensorForm form = formOf(program, pool);
  EXPECT_EQ(form.countOf(TermKind::Linear), 2u);
  EXPECT_TRUE(form.terms[1].stride->isConstant(-1));
  checkForm(program, form, 32);
}

TEST(TensorFormTest, ReshapesAndTransposes) {
  Program program("tensor<2x4x4xi32>", std::string(ranges) + planes + R"(
    %c4 = arith.constant dense<4> : tensor<8x4xi32>
    %m = arith.muli %ii, %c4 : tensor<8x4xi32>
    %n = arith.addi %m, %jj : tensor<8x4xi32>
    %t = tt.trans %n {order = array<i32: 1, 0>} : tensor<8x4xi32> -> tensor<4x8xi32>
    %u = tt.trans %t {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
    %v = tt.reshape %u : tensor<8x4xi32> -> tensor<2x4x4xi32>
    tt.return %v : tensor<2x4x4xi32>)");
  ASSERT_TRUE(program.isValid());
  ExprPool pool;
  TensorForm form = formOf(program, pool);
  EXPECT_TRUE(form.isLinear());
  EXPECT_TRUE(form.terms[0].stride->isConstant(16));
  checkForm(program, form, 32);
}

TEST(TensorFormTest, ProductsOfRangesAreNotLinear) {
  Program program("tensor<8x4xi32>", std::string(ranges) + planes + R"(
    %m = arith.muli %ii, %jj : tensor<8x4xi32>
    tt.return %m : tensor<8x4xi32>)");
  ASSERT_TRUE(program.isValid());
  ExprPool pool;
  AccessAnalysis analysis(pool);
  EXPECT_FALSE(analysis.integers(program.result()).has_value());
  EXPECT_NE(analysis.reason().text.find("not linear"), std::string::npos);
  EXPECT_EQ(analysis.reason().op, program.result().getDefiningOp());
}

/// Division and remainder of any form: the lanes are the program's, and where
/// the condition of the linear case holds so is that.
void checkDivision(const char *op) {
  Program program("tensor<8xi32>", std::string(ranges) + "%d = arith." + op +
                                       " %s, %bs : tensor<8xi32>\n"
                                       "tt.return %d : tensor<8xi32>");
  ASSERT_TRUE(program.isValid());
  ExprPool pool;
  TensorForm form = formOf(program, pool);
  checkForm(program, form, 32);
  ASSERT_TRUE(form.terms[0].linear.has_value());
  const LinearCase &linear = *form.terms[0].linear;
  std::mt19937_64 random(3);
  int held = 0;
  for (int round = 0; round < 20000; ++round) {
    program.run(awkward(random, 32), awkward(random, 32), 0);
    std::optional<APInt> condition = program.evaluate(linear.condition);
    if (!condition || condition->isZero())
      continue;
    ++held;
    const Lanes &lanes = program.lanesOf(program.result());
    for (int64_t i = 0; i < 8; ++i)
      ASSERT_EQ(*program.evaluate(linear.base) +
                    *program.evaluate(linear.stride) * APInt(32, i),
                lanes[i])
          << op << " round " << round << " lane " << i;
  }
  EXPECT_GT(held, 1000) << op;
}

TEST(TensorFormTest, SignedRemainder) { checkDivision("remsi"); }
TEST(TensorFormTest, UnsignedRemainder) { checkDivision("remui"); }
TEST(TensorFormTest, SignedQuotient) { checkDivision("divsi"); }
TEST(TensorFormTest, UnsignedQuotient) { checkDivision("divui"); }

/// The linear case of a quotient or remainder in a block of 64 from a multiple
/// of 16 on (s; s4: of 64): where its condition holds it gives what the program
/// computes. `inner` is 0 where all lanes are one run.
void checkSplit(const std::string &body, int64_t inner, bool hasRuns) {
  Program program("tensor<64xi32>", R"(
    %c16 = arith.constant 16 : i32
    %start = arith.muli %a, %c16 : i32
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ss = tt.splat %start : i32 -> tensor<64xi32>
    %s = arith.addi %ss, %r : tensor<64xi32>
    %d16 = arith.constant dense<16> : tensor<64xi32>
    %d48 = arith.constant dense<48> : tensor<64xi32>
    %d24 = arith.constant dense<24> : tensor<64xi32>
    %d10 = arith.constant dense<10> : tensor<64xi32>
    %d8 = arith.constant dense<8> : tensor<64xi32>
    %c4 = arith.constant 4 : i32
    %start4 = arith.muli %start, %c4 : i32
    %ss4 = tt.splat %start4 : i32 -> tensor<64xi32>
    %s4 = arith.addi %ss4, %r : tensor<64xi32>
    )" + body + "tt.return %d : tensor<64xi32>");
  ASSERT_TRUE(program.isValid()) << body;
  ExprPool pool;
  TensorForm form = formOf(program, pool);
  ASSERT_TRUE(form.terms[0].linear.has_value()) << body;
  const LinearCase &linear = *form.terms[0].linear;
  ASSERT_EQ(linear.inner, inner) << body;
  ASSERT_EQ(linear.hasRuns(), hasRuns) << body;
  std::mt19937_64 random(3);
  int held = 0;
  for (int round = 0; round < 4000; ++round) {
    program.run(awkward(random, 32), 0, 0);
    std::optional<APInt> condition = program.evaluate(linear.condition);
    if (!condition || condition->isZero())
      continue;
    ++held;
    const Lanes &lanes = program.lanesOf(program.result());
    int64_t run = inner ? inner : 64;
    for (int64_t i = 0; i < 64; ++i) {
      APInt first = hasRuns ? lanes[i / run * run]
                            : *program.evaluate(form.uniform) +
                                  *program.evaluate(linear.base);
      if (linear.outer)
        first += *program.evaluate(linear.outer) * APInt(32, i / run);
      ASSERT_EQ(first + *program.evaluate(linear.stride) * APInt(32, i % run),
                lanes[i])
          << body << " round " << round << " lane " << i;
    }
  }
  EXPECT_GT(held, 200) << body;
}

TEST(TensorFormTest, BlocksThatAreTakenApart) {
  checkSplit("%d = arith.divsi %s, %d16 : tensor<64xi32>\n", 16, false);
  checkSplit("%d = arith.remui %s, %d16 : tensor<64xi32>\n", 16, false);
  // A divisor that the block is no multiple of.
  checkSplit("%d = arith.divsi %s, %d48 : tensor<64xi32>\n", 16, true);
  checkSplit("%d = arith.remsi %s, %d48 : tensor<64xi32>\n", 16, true);
  checkSplit("%d = arith.remui %s, %d24 : tensor<64xi32>\n", 8, true);
  // The quotients of a block from a multiple of 64 on lie between two multiples
  // of 8: a box. Elsewhere a block may run over one, but its runs never do.
  checkSplit(R"(
    %q = arith.divsi %s4, %d16 : tensor<64xi32>
    %d = arith.remsi %q, %d8 : tensor<64xi32>
    )",
             16, false);
  checkSplit(R"(
    %q = arith.divui %s4, %d16 : tensor<64xi32>
    %d = arith.divui %q, %d8 : tensor<64xi32>
    )",
             0, false);
  checkSplit(R"(
    %q = arith.divsi %s, %d16 : tensor<64xi32>
    %d = arith.remsi %q, %d8 : tensor<64xi32>
    )",
             16, true);
  // Three levels, and the sum of all of them.
  std::string middle = R"(
    %q = arith.divsi %s, %d16 : tensor<64xi32>
    %d = arith.remsi %q, %d10 : tensor<64xi32>
    )";
  checkSplit(middle, 16, true);
  checkSplit(R"(
    %q = arith.divsi %s, %d16 : tensor<64xi32>
    %m = arith.remsi %q, %d10 : tensor<64xi32>
    %o = arith.divsi %s, %d24 : tensor<64xi32>
    %i = arith.remsi %s, %d16 : tensor<64xi32>
    %x = arith.muli %m, %d48 : tensor<64xi32>
    %y = arith.muli %i, %d10 : tensor<64xi32>
    %z = arith.addi %x, %y : tensor<64xi32>
    %d = arith.addi %z, %o : tensor<64xi32>
    )",
             8, true);
}

TEST(TensorFormTest, ShortRunsAreNone) {
  Program program("tensor<64xi32>", R"(
    %c4 = arith.constant 4 : i32
    %start = arith.muli %a, %c4 : i32
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ss = tt.splat %start : i32 -> tensor<64xi32>
    %s = arith.addi %ss, %r : tensor<64xi32>
    %c = arith.constant dense<48> : tensor<64xi32>
    %d = arith.remsi %s, %c : tensor<64xi32>
    tt.return %d : tensor<64xi32>)");
  ASSERT_TRUE(program.isValid());
  ExprPool pool;
  TensorForm form = formOf(program, pool);
  EXPECT_EQ(form.countOf(TermKind::Lanes), 1u);
  EXPECT_FALSE(form.terms[0].linear.has_value());
}

TEST(TensorFormTest, AlignedBlocksDoNotWrapAround) {
  Program program("tensor<8xi32>", R"(
    %c8 = arith.constant 8 : i32
    %c64 = arith.constant dense<64> : tensor<8xi32>
    %start = arith.muli %a, %c8 : i32
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %ss = tt.splat %start : i32 -> tensor<8xi32>
    %s = arith.addi %ss, %r : tensor<8xi32>
    %d = arith.remui %s, %c64 : tensor<8xi32>
    tt.return %d : tensor<8xi32>)");
  ASSERT_TRUE(program.isValid());
  ExprPool pool;
  TensorForm form = formOf(program, pool);
  checkForm(program, form, 32);
}

TEST(TensorFormTest, ConstantsThatWrapAroundAreNotExtended) {
  Program program("tensor<8xi64>", R"(
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %c = arith.constant dense<2147483644> : tensor<8xi32>
    %s = arith.addi %r, %c : tensor<8xi32>
    %e = arith.extsi %s : tensor<8xi32> to tensor<8xi64>
    tt.return %e : tensor<8xi64>)");
  ASSERT_TRUE(program.isValid());
  ExprPool pool;
  TensorForm form = formOf(program, pool);
  EXPECT_EQ(form.countOf(TermKind::Lanes), 1u);
  checkForm(program, form, 64);
}

/// Wherever the mask's parts can be computed they say what the program does.
void checkMask(const std::string &type, const std::string &body, bool isBox) {
  Program program(type, body);
  ASSERT_TRUE(program.isValid());
  ExprPool pool;
  AccessAnalysis analysis(pool);
  MaskForm mask = analysis.mask(program.result());
  EXPECT_EQ(mask.residuals.empty(), isBox) << body;
  std::mt19937_64 random(5);
  auto shape = cast<RankedTensorType>(program.result().getType()).getShape();
  for (int round = 0; round < 2000; ++round) {
    int32_t a = awkward(random, 32);
    // Ranges of offsets do not wrap around: the contract of the bridge IR.
    a = std::clamp(a, INT32_MIN + 8, INT32_MAX - 8);
    program.run(a, awkward(random, 32), awkward(random, 64));
    const Lanes &lanes = program.lanesOf(program.result());
    size_t place = 0;
    for (const auto &at : positionsOf(shape)) {
      std::optional<bool> value = program.evaluate(mask, at);
      if (value) {
        ASSERT_EQ(*value, !lanes[place].isZero())
            << body << " round " << round << " place " << place;
      }
      ++place;
    }
  }
}

TEST(MaskFormTest, Comparisons) {
  for (const char *predicate :
       {"slt", "sle", "sgt", "sge", "eq", "ult", "ule", "ugt", "uge", "ne"}) {
    std::string compare = std::string("%m = arith.cmpi ") + predicate;
    bool isUnsigned = predicate[0] == 'u', isNe = predicate[0] == 'n';
    checkMask("tensor<8xi1>",
              std::string(ranges) + compare +
                  ", %s, %bs : tensor<8xi32>\ntt.return %m : tensor<8xi1>",
              !isUnsigned && !isNe);
    checkMask("tensor<8xi1>",
              std::string(ranges) + compare +
                  ", %bs, %s : tensor<8xi32>\ntt.return %m : tensor<8xi1>",
              !isUnsigned && !isNe);
  }
}

TEST(MaskFormTest, StridesOfAnySign) {
  for (int stride : {2, 3, -1, -5})
    checkMask("tensor<8xi1>",
              std::string(ranges) + "%k = arith.constant dense<" +
                  std::to_string(stride) + R"(> : tensor<8xi32>
      %t = arith.muli %r, %k : tensor<8xi32>
      %m = arith.cmpi slt, %t, %bs : tensor<8xi32>
      tt.return %m : tensor<8xi1>)",
              true);
}

TEST(MaskFormTest, BothSidesAndConditions) {
  checkMask("tensor<8x4xi1>", std::string(ranges) + planes + R"(
    %low = arith.cmpi sge, %ii, %jj : tensor<8x4xi32>
    %high = arith.cmpi slt, %ii, %bb : tensor<8x4xi32>
    %both = arith.andi %high, %high : tensor<8x4xi1>
    tt.return %both : tensor<8x4xi1>)",
            true);
  checkMask("tensor<8xi1>", std::string(ranges) + R"(
    %c0 = arith.constant dense<0> : tensor<8xi32>
    %p = arith.cmpi sge, %s, %c0 : tensor<8xi32>
    %q = arith.cmpi slt, %s, %bs : tensor<8xi32>
    %c = arith.cmpi slt, %a, %b : i32
    %cs = tt.splat %c : i1 -> tensor<8xi1>
    %m = arith.andi %p, %q : tensor<8xi1>
    %n = arith.andi %m, %cs : tensor<8xi1>
    tt.return %n : tensor<8xi1>)",
            true);
}

TEST(MaskFormTest, WideNumbers) {
  checkMask("tensor<8xi1>", std::string(ranges) + R"(
    %e = arith.extsi %s : tensor<8xi32> to tensor<8xi64>
    %ws = tt.splat %w : i64 -> tensor<8xi64>
    %m = arith.cmpi slt, %e, %ws : tensor<8xi64>
    tt.return %m : tensor<8xi1>)",
            true);
}

} // namespace
