//===- DimensionEquivalenceTest.cpp - dimensions that are one -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/DimensionEquivalence.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/SeparateUses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace tilebridge;
using linalg_ext::SeparateUses;

namespace {

/// The common rules, with nothing of a back end but what is fixed.
class Classes : private linalg_ext::DimensionEquivalence {
public:
  explicit Classes(func::FuncOp func) {
    visitAll(func);
    close();
  }

  bool same(Value a, unsigned aDim, Value b, unsigned bDim) const {
    return *classOf(a, aDim) == *classOf(b, bDim);
  }
  bool isFixed(Value tensor, unsigned dim) const {
    return llvm::any_of(fixed, [&](unsigned number) {
      return classOf(number) == *classOf(tensor, dim);
    });
  }
  unsigned iterators = 0;

private:
  bool visitOwn(Operation *op) override { return false; }
  void fix(Value tensor, unsigned dim, Operation *because) override {
    fixed.insert(number(tensor, dim));
  }
  void visitIterators(linalg::LinalgOp op,
                      ArrayRef<SmallVector<Place>> places) override {
    iterators += places.size();
  }

  std::set<unsigned> fixed;
};

class DimensionEquivalenceTest : public testing::Test {
protected:
  func::FuncOp parse(llvm::StringRef text) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, scf::SCFDialect,
                        tensor::TensorDialect, linalg_ext::LinalgExtDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return *module->getOps<func::FuncOp>().begin();
  }
  template <typename OpT> SmallVector<OpT> all() {
    SmallVector<OpT> ops;
    module->walk([&](OpT op) { ops.push_back(op); });
    return ops;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

TEST_F(DimensionEquivalenceTest, Products) {
  func::FuncOp func = parse(R"(
    func.func @f(%a: tensor<8x16xf32>, %b: tensor<4x16xf32>, %c: tensor<8x4xf32>) {
      %e = tensor.empty() : tensor<16x4xf32>
      %t = linalg.transpose ins(%b : tensor<4x16xf32>) outs(%e : tensor<16x4xf32>) permutation = [1, 0]
      %p = linalg.matmul ins(%a, %t : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
      %w = tensor.empty() : tensor<8xf32>
      %s = linalg.reduce { arith.addf } ins(%p : tensor<8x4xf32>) outs(%w : tensor<8xf32>) dimensions = [1]
      return
    })");
  Classes classes(func);
  Value a = func.getArgument(0), b = func.getArgument(1);
  Value product = all<linalg::MatmulOp>()[0].getResult(0);
  Value sum = all<linalg::ReduceOp>()[0].getResult(0);
  EXPECT_TRUE(classes.same(a, 0, product, 0));
  EXPECT_TRUE(classes.same(a, 1, b, 1));
  EXPECT_TRUE(classes.same(b, 0, product, 1));
  EXPECT_TRUE(classes.same(sum, 0, a, 0));
  EXPECT_FALSE(classes.same(a, 0, a, 1));
  EXPECT_FALSE(classes.same(a, 0, b, 0));
  EXPECT_FALSE(classes.isFixed(a, 0));
  EXPECT_FALSE(classes.isFixed(a, 1));
  // Of the transposition, the product and the sum.
  EXPECT_EQ(classes.iterators, 2u + 3u + 2u);
}

TEST_F(DimensionEquivalenceTest, Reshapes) {
  func::FuncOp func = parse(R"(
    func.func @f(%a: tensor<8x16xf32>) {
      %r = tensor.expand_shape %a [[0, 1], [2, 3]] output_shape [1, 8, 4, 4] : tensor<8x16xf32> into tensor<1x8x4x4xf32>
      %c = tensor.collapse_shape %r [[0, 1, 2], [3]] : tensor<1x8x4x4xf32> into tensor<32x4xf32>
      return
    })");
  Classes classes(func);
  Value a = func.getArgument(0);
  Value wide = all<tensor::ExpandShapeOp>()[0].getResult();
  Value flat = all<tensor::CollapseShapeOp>()[0].getResult();
  EXPECT_TRUE(classes.same(a, 0, wide, 1));
  EXPECT_TRUE(classes.same(wide, 3, flat, 1));
  EXPECT_TRUE(classes.isFixed(a, 1));
  EXPECT_TRUE(classes.isFixed(wide, 2));
  EXPECT_TRUE(classes.isFixed(flat, 0));
  // Ones are nobody's.
  EXPECT_FALSE(classes.isFixed(wide, 0));
}

TEST_F(DimensionEquivalenceTest, ControlFlow) {
  func::FuncOp func = parse(R"(
    func.func @f(%a: tensor<8xf32>, %b: tensor<8xf32>, %x: tensor<8xf32>, %c: i1, %i: index) {
      %0 = scf.for %j = %i to %i step %i iter_args(%in = %a) -> tensor<8xf32> {
        %1 = scf.if %c -> tensor<8xf32> {
          scf.yield %in : tensor<8xf32>
        } else {
          scf.yield %b : tensor<8xf32>
        }
        scf.yield %1 : tensor<8xf32>
      }
      %2 = scf.index_switch %i -> tensor<8xf32>
      case 0 {
        scf.yield %0 : tensor<8xf32>
      }
      default {
        %3 = scf.while (%before = %b) : (tensor<8xf32>) -> tensor<8xf32> {
          scf.condition(%c) %before : tensor<8xf32>
        } do {
        ^bb0(%after: tensor<8xf32>):
          scf.yield %after : tensor<8xf32>
        }
        scf.yield %3 : tensor<8xf32>
      }
      %4 = scf.execute_region -> tensor<8xf32> {
        scf.yield %x : tensor<8xf32>
      }
      return
    })");
  Classes classes(func);
  Value a = func.getArgument(0), b = func.getArgument(1),
        x = func.getArgument(2);
  auto loop = all<scf::WhileOp>()[0];
  EXPECT_TRUE(classes.same(a, 0, b, 0));
  EXPECT_TRUE(classes.same(a, 0, all<scf::ForOp>()[0].getRegionIterArg(0), 0));
  EXPECT_TRUE(classes.same(a, 0, all<scf::IndexSwitchOp>()[0].getResult(0), 0));
  EXPECT_TRUE(classes.same(a, 0, loop.getBeforeArguments()[0], 0));
  EXPECT_TRUE(classes.same(a, 0, loop.getAfterArguments()[0], 0));
  EXPECT_TRUE(classes.same(a, 0, loop.getResult(0), 0));
  EXPECT_FALSE(classes.isFixed(a, 0));
  // Nothing is known of it, nor of what ends it.
  EXPECT_TRUE(classes.isFixed(x, 0));
  EXPECT_TRUE(classes.isFixed(all<scf::ExecuteRegionOp>()[0].getResult(0), 0));
}

TEST_F(DimensionEquivalenceTest, WhatTakesWholeBlocks) {
  func::FuncOp func = parse(R"(
    func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>, %i: index) -> tensor<2xf32> {
      %different = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %equal = arith.constant dense<1.0> : tensor<2xf32>
      %e = tensor.empty() : tensor<2x2xf32>
      %0 = tensor.extract %b[%i] : tensor<2xf32>
      return %a : tensor<2xf32>
    })");
  Classes classes(func);
  auto constants = all<arith::ConstantOp>();
  EXPECT_TRUE(classes.isFixed(func.getArgument(0), 0));
  EXPECT_TRUE(classes.isFixed(func.getArgument(1), 0));
  EXPECT_TRUE(classes.isFixed(constants[0], 0));
  EXPECT_FALSE(classes.isFixed(constants[1], 0));
  EXPECT_FALSE(classes.isFixed(all<tensor::EmptyOp>()[0], 1));
}

namespace {

/// A range that two blocks of a loop are made of.
const char *sharedRange = R"(
  func.func @f(%n: index) {
    %e = tensor.empty() : tensor<8xi32>
    %w = tensor.empty() : tensor<8x8xi32>
    %unused = tensor.empty() : tensor<8x8xi32>
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<8xi32>) {
    ^bb0(%out: i32):
      %i = linalg.index 0 : index
      %c = arith.index_cast %i : index to i32
      linalg.yield %c : i32
    } -> tensor<8xi32>
    scf.for %j = %n to %n step %n {
      %rows = linalg.broadcast ins(%r : tensor<8xi32>) outs(%w : tensor<8x8xi32>) dimensions = [1]
      %columns = linalg.broadcast ins(%r : tensor<8xi32>) outs(%w : tensor<8x8xi32>) dimensions = [0]
    }
    return
  })";

bool isNoBroadcast(Operation *op) { return !isa<linalg::BroadcastOp>(op); }

} // namespace

TEST_F(DimensionEquivalenceTest, SeparateUses) {
  func::FuncOp func = parse(sharedRange);
  auto blocks = all<linalg::BroadcastOp>();
  {
    Classes classes(func);
    EXPECT_TRUE(
        classes.same(blocks[0]->getResult(0), 0, blocks[1]->getResult(0), 1));
  }
  SeparateUses separated(func, isNoBroadcast, 100,
                         SeparateUses::Place::BesideOriginal);
  EXPECT_TRUE(separated.isComplete());
  EXPECT_TRUE(succeeded(verify(*module)));
  // Two ranges, each with its own tensor, and one for each broadcast.
  EXPECT_EQ(all<linalg::GenericOp>().size(), 2u);
  EXPECT_EQ(all<tensor::EmptyOp>().size(), 4u);
  for (auto range : all<linalg::GenericOp>())
    EXPECT_EQ(range->getParentOp(), func);
  {
    Classes classes(func);
    EXPECT_FALSE(
        classes.same(blocks[0]->getResult(0), 0, blocks[1]->getResult(0), 1));
  }
  separated.undo();
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(all<linalg::GenericOp>().size(), 1u);
  EXPECT_EQ(all<tensor::EmptyOp>().size(), 2u);
}

TEST_F(DimensionEquivalenceTest, SeparateUsesBesideUsers) {
  func::FuncOp func = parse(sharedRange);
  SeparateUses separated(func, isNoBroadcast, 100,
                         SeparateUses::Place::BesideUser);
  EXPECT_TRUE(separated.isComplete());
  EXPECT_TRUE(succeeded(verify(*module)));
  auto ranges = all<linalg::GenericOp>();
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0]->getParentOp(), func);
  EXPECT_TRUE(isa<scf::ForOp>(ranges[1]->getParentOp()));
}

TEST_F(DimensionEquivalenceTest, TooManyUses) {
  func::FuncOp func = parse(sharedRange);
  SeparateUses separated(func, isNoBroadcast, 1,
                         SeparateUses::Place::BesideUser);
  EXPECT_FALSE(separated.isComplete());
  EXPECT_EQ(all<linalg::GenericOp>().size(), 2u);
  EXPECT_TRUE(succeeded(verify(*module)));
}
