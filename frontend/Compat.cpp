//===- Compat.cpp - one normal form for what versions write ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Passes.h"
#include "frontend/TTOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::frontend {
#define GEN_PASS_DEF_NORMALIZEPASS
#include "frontend/Passes.h.inc"
} // namespace tilebridge::frontend

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::tt;

/// Up to 3.8 two attributes say how to cache, since 3.9 one does. Hints that
/// say nothing are dropped, so that they do not tell equal accesses apart.
template <typename OpTy> static void normalizeCacheHints(OpTy op) {
  MLIRContext *context = op.getContext();
  if (!op.getCachePolicyAttr())
    op.setCachePolicyAttr(
        CachePolicyAttr::get(context, op.getCache(), op.getEvict()));
  op.setCache(CacheModifier::NONE);
  op.setEvict(EvictionPolicy::NORMAL);
  if (op.getCachePolicyAttr() == CachePolicyAttr::get(context,
                                                      CacheModifier::NONE,
                                                      EvictionPolicy::NORMAL))
    op.removeCachePolicyAttr();
}

/// 3.6 writes `gpu.barrier`, later versions `ttg.barrier all`.
static void normalizeBarrier(gpu::BarrierOp op) {
  OpBuilder builder(op);
  BarrierOp::create(builder, op.getLoc(),
                    *symbolizeAddrSpace(static_cast<uint32_t>(31)));
  op.erase();
}

/// Up to 3.8 waiting for other grids, and launching them, is assembly text
/// with a result that nobody reads.
static void normalizeGridDependency(ElementwiseInlineAsmOp op) {
  if (!op->use_empty() || !op.getArgs().empty())
    return;
  StringRef text = op.getAsmString().split("//").first.trim(" \t\n;");
  OpBuilder builder(op);
  if (text == "griddepcontrol.wait")
    GridDependencyWaitOp::create(builder, op.getLoc());
  else if (text == "griddepcontrol.launch_dependents")
    GridDependencyLaunchDependentsOp::create(builder, op.getLoc());
  else
    return;
  op.erase();
}

/// 3.6 puts constants into names of private functions as Python prints them,
/// with parentheses and commas. Assemblers and linkers want plain names.
static LogicalResult normalizeSymbolNames(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto func : llvm::make_early_inc_range(module.getOps<FuncOp>())) {
    if (!func.isPrivate())
      continue;
    std::string name = func.getName().str();
    for (char &c : name)
      if (!llvm::isAlnum(c) && c != '_' && c != '.' && c != '$')
        c = '_';
    if (name == func.getName())
      continue;
    std::string unique = name;
    for (unsigned count = 0; symbols.lookup(unique); ++count)
      unique = name + "_" + std::to_string(count);
    if (failed(symbols.rename(func, unique)))
      return func.emitError() << "could not be renamed to '" << unique << "'";
  }
  return success();
}

/// Arithmetic of single bits is logic, and what reads masks knows logic only:
/// `(i < n) * (j < m)` is the box that `(i < n) & (j < m)` is. Sums wrap
/// around, so they are exclusive ors; 'true' is 1 without a sign, and -1 with
/// one.
static void normalizeBits(Operation *op) {
  if (op->getNumResults() != 1 ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value logic;
  if (isa<arith::MulIOp, arith::MinUIOp, arith::MaxSIOp>(op))
    logic = arith::AndIOp::create(b, op->getOperand(0), op->getOperand(1));
  else if (isa<arith::MaxUIOp, arith::MinSIOp>(op))
    logic = arith::OrIOp::create(b, op->getOperand(0), op->getOperand(1));
  else if (isa<arith::AddIOp, arith::SubIOp>(op))
    logic = arith::XOrIOp::create(b, op->getOperand(0), op->getOperand(1));
  else if (auto choice = dyn_cast<arith::SelectOp>(op);
           choice && choice.getCondition().getType() == choice.getType()) {
    if (matchPattern(choice.getFalseValue(), m_Zero()))
      logic = arith::AndIOp::create(b, choice.getCondition(),
                                    choice.getTrueValue());
    else if (matchPattern(choice.getTrueValue(), m_One()))
      logic = arith::OrIOp::create(b, choice.getCondition(),
                                   choice.getFalseValue());
  }
  if (!logic)
    return;
  op->replaceAllUsesWith(ValueRange{logic});
  op->erase();
}

/// Numbers that stand for bits, compared with a number, are the bits again:
/// `tl.where(i < n, 1, 0).to(tl.int1)` is the mask `i < n`.
static void normalizeChosenNumbers(arith::CmpIOp op) {
  auto choice = op.getLhs().getDefiningOp<arith::SelectOp>();
  APInt yes, no, other;
  if (!choice || !matchPattern(op.getRhs(), m_ConstantInt(&other)) ||
      !matchPattern(choice.getTrueValue(), m_ConstantInt(&yes)) ||
      !matchPattern(choice.getFalseValue(), m_ConstantInt(&no)))
    return;
  Value condition = choice.getCondition();
  // One bit that chooses a whole block.
  if (condition.getType() != op.getType())
    return;
  bool ifYes = arith::applyCmpPredicate(op.getPredicate(), yes, other),
       ifNo = arith::applyCmpPredicate(op.getPredicate(), no, other);
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto constant = [&](bool value) -> Value {
    Type type = condition.getType();
    TypedAttr attr = b.getBoolAttr(value);
    if (auto tensor = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(tensor, value);
    return arith::ConstantOp::create(b, attr);
  };
  Value bits = condition;
  if (ifYes == ifNo)
    bits = constant(ifYes);
  else if (ifNo)
    bits = arith::XOrIOp::create(b, condition, constant(true));
  op.replaceAllUsesWith(bits);
  op.erase();
}

namespace {
struct NormalizePass
    : tilebridge::frontend::impl::NormalizePassBase<NormalizePass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto load = dyn_cast<LoadOp>(op))
        normalizeCacheHints(load);
      else if (auto store = dyn_cast<StoreOp>(op))
        normalizeCacheHints(store);
      else if (auto block = dyn_cast<DescriptorLoadOp>(op))
        normalizeCacheHints(block);
      else if (auto barrier = dyn_cast<gpu::BarrierOp>(op))
        normalizeBarrier(barrier);
      else if (auto text = dyn_cast<ElementwiseInlineAsmOp>(op))
        normalizeGridDependency(text);
      else if (auto compared = dyn_cast<arith::CmpIOp>(op))
        normalizeChosenNumbers(compared);
      else
        normalizeBits(op);
    });
    if (failed(normalizeSymbolNames(getOperation())))
      signalPassFailure();
  }
};
} // namespace
