//===- ExprTest.cpp - integer expressions ----------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/triton-to-linalg/Harness.h"

#include "frontend/TTOps.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::test;
using namespace tilebridge::ttl;
using llvm::APInt;
using Kind = Expr::Kind;
using Pred = arith::CmpIPredicate;

namespace {

struct ExprTest : testing::Test {
  Program program{"i32", "tt.return %a : i32"};
  ExprPool pool;
  Value argument(unsigned number) {
    return cast<BlockArgument>(program.result())
        .getOwner()
        ->getArgument(number);
  }
  const Expr *a = pool.scalar(argument(0));
  const Expr *b = pool.scalar(argument(1));
  const Expr *c(int64_t value) { return pool.constant(32, value); }
};

TEST_F(ExprTest, EqualExpressionsAreOneObject) {
  EXPECT_EQ(pool.add(a, b), pool.add(a, b));
  EXPECT_NE(pool.sub(a, b), pool.sub(b, a));
  EXPECT_EQ(pool.scalar(argument(0)), a);
}

TEST_F(ExprTest, Simplifies) {
  EXPECT_EQ(pool.add(a, c(0)), a);
  EXPECT_EQ(pool.add(pool.add(a, c(3)), c(-3)), a);
  EXPECT_EQ(pool.sub(a, a), c(0));
  EXPECT_EQ(pool.sub(pool.add(a, b), a), b);
  EXPECT_EQ(pool.mul(a, c(1)), a);
  EXPECT_EQ(pool.mul(a, c(0)), c(0));
  EXPECT_EQ(pool.truncate(pool.extend(a, 64, true), 32), a);
  EXPECT_EQ(pool.select(pool.boolean(true), a, b), a);
  EXPECT_EQ(pool.select(pool.cmp(Pred::slt, a, b), a, a), a);
}

TEST_F(ExprTest, ConstantsWrapAround) {
  EXPECT_TRUE(pool.add(c(INT32_MAX), c(1))->isConstant(INT32_MIN));
  EXPECT_TRUE(pool.mul(c(1 << 20), c(1 << 20))->isConstant(0));
  EXPECT_EQ(pool.division(Kind::DivS, c(INT32_MIN), c(-1))->kind, Kind::DivS);
  EXPECT_EQ(pool.division(Kind::RemU, c(7), c(0))->kind, Kind::RemU);
}

TEST_F(ExprTest, RangesDecide) {
  const Expr *small = pool.division(Kind::RemU, a, c(8)); // 0 .. 7
  EXPECT_TRUE(small->isNonNegative());
  EXPECT_FALSE(a->isNonNegative());
  EXPECT_FALSE(pool.add(small, a)->isNonNegative());
  EXPECT_TRUE(pool.add(small, c(5))->isNonNegative());
  EXPECT_FALSE(pool.add(small, c(INT32_MAX))->isNonNegative());
  EXPECT_EQ(pool.minS(small, c(8)), small);
  EXPECT_EQ(pool.maxS(small, c(7)), c(7));
  EXPECT_EQ(pool.division(Kind::DivS, small, c(8)), c(0));
  EXPECT_EQ(pool.division(Kind::RemS, small, c(8)), small);
  EXPECT_TRUE(pool.cmp(Pred::slt, small, c(8))->isConstant());
  EXPECT_FALSE(pool.cmp(Pred::slt, small, c(7))->isConstant());
}

TEST_F(ExprTest, LowestBits) {
  const Expr *block = pool.mul(a, c(64));
  EXPECT_EQ(block->zeros, 6u);
  EXPECT_EQ(pool.add(block, c(16))->zeros, 4u);
  EXPECT_EQ(pool.mul(block, c(4))->zeros, 8u);
  EXPECT_EQ(pool.extend(block, 64, true)->zeros, 6u);
  EXPECT_EQ(a->zeros, 0u);
}

/// Random trees mean after simplification what they meant before.
TEST_F(ExprTest, SimplifiedTreesKeepTheirValue) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    program.run(awkward(random, 32), awkward(random, 32), awkward(random, 64));
    // Expressions with the value that each has by plain arithmetic.
    std::vector<std::pair<const Expr *, APInt>> known;
    for (const Expr *leaf : {a, b, c(awkward(random, 32)), c(3)})
      known.push_back({leaf, *program.evaluate(leaf)});
    for (int step = 0; step < 12; ++step) {
      auto [x, p] = known[random() % known.size()];
      auto [y, q] = known[random() % known.size()];
      static constexpr Kind kinds[] = {
          Kind::Add, Kind::Sub,  Kind::Mul,  Kind::MinS, Kind::MaxS, Kind::MinU,
          Kind::And, Kind::DivS, Kind::DivU, Kind::RemS, Kind::RemU};
      Kind kind = kinds[random() % std::size(kinds)];
      bool isDivision = kind >= Kind::DivS && kind <= Kind::RemU;
      if (isDivision && (q.isZero() || q.isAllOnes()))
        continue;
      APInt value = kind == Kind::Add    ? p + q
                    : kind == Kind::Sub  ? p - q
                    : kind == Kind::Mul  ? p * q
                    : kind == Kind::MinS ? llvm::APIntOps::smin(p, q)
                    : kind == Kind::MaxS ? llvm::APIntOps::smax(p, q)
                    : kind == Kind::MinU ? llvm::APIntOps::umin(p, q)
                    : kind == Kind::And  ? (p & q)
                    : kind == Kind::DivS ? p.sdiv(q)
                    : kind == Kind::DivU ? p.udiv(q)
                    : kind == Kind::RemS ? p.srem(q)
                                         : p.urem(q);
      const Expr *made = pool.binary(kind, x, y);
      std::optional<APInt> found = program.evaluate(made);
      ASSERT_TRUE(found.has_value());
      ASSERT_EQ(*found, value) << "round " << round;
      ASSERT_TRUE(made->range->smin().sle(value));
      ASSERT_TRUE(made->range->smax().sge(value));
      ASSERT_GE(value.countr_zero(), made->zeros);
      known.push_back({made, value});
    }
  }
}

} // namespace
