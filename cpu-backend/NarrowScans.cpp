//===- NarrowScans.cpp - tilebridge-cpu-narrow-scans ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The indices of tl.associative_scan((values, indices), ...) are those of
// tl.arange, which are i32, and are often widened to i64, as PyTorch returns
// them. Then a vector has half as many lanes. What only chooses among its
// operands chooses as well before they are widened.
//===----------------------------------------------------------------------===//

#include "cpu-backend/ElementwiseBlock.h"
#include "cpu-backend/Passes.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUNARROWSCANSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

/// A block before it was widened. Making it may take operations.
struct Narrow {
  Value block;
  bool isSigned = false;
};

/// Operand `index` of a scan.
class Operand {
public:
  Operand(linalg_ext::ScanOp op, unsigned index) : op(op), index(index) {}

  /// The scan that has it as it was before it was widened; null if it was not,
  /// or if that would not be the same.
  linalg_ext::ScanOp narrow() {
    Value input = op.getInputs()[index];
    Type wide = elementOf(input);
    OpBuilder b(op);
    if (!wide.isInteger() || !isWidened(input) || !isOnlyChosen())
      return {};
    Narrow found = narrowOf(b, input);
    Type element = elementOf(found.block);

    SmallVector<Value> inputs(op.getInputs());
    inputs[index] = found.block;
    SmallVector<Type> types(op->getResultTypes());
    types[index] = found.block.getType();
    auto scan =
        linalg_ext::ScanOp::create(b, op.getLoc(), types, inputs,
                                   op.getDimensionAttr(), op.getReverseAttr());
    scan->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    scan.getCombiner().takeBody(op.getCombiner());
    for (Value value : chosen)
      value.setType(element);
    for (arith::CmpIOp compare : compares)
      if (!found.isSigned)
        compare.setPredicate(withoutSign(compare.getPredicate()));

    SmallVector<Value> results(scan.getResults());
    auto type = cast<RankedTensorType>(op->getResult(index).getType());
    results[index] = elementwiseBlock(
        b, op.getLoc(), type, results[index],
        [&](OpBuilder &b, ValueRange elements) -> Value {
          if (found.isSigned)
            return arith::ExtSIOp::create(b, op.getLoc(), wide, elements[0]);
          return arith::ExtUIOp::create(b, op.getLoc(), wide, elements[0]);
        });
    op->replaceAllUsesWith(results);
    op->erase();
    return scan;
  }

private:
  static Type elementOf(Value block) {
    return cast<RankedTensorType>(block.getType()).getElementType();
  }

  /// The operation that widens each element of `op` by itself.
  static Operation *extensionOf(linalg::GenericOp op) {
    if (!op || op.getNumDpsInputs() != 1 || op->getNumResults() != 1 ||
        op.getNumLoops() != op.getNumParallelLoops() ||
        !llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); }) ||
        !llvm::hasSingleElement(op.getBody()->without_terminator()))
      return nullptr;
    Operation *only = &op.getBody()->front();
    bool isExtension =
        isa<arith::ExtSIOp, arith::ExtUIOp>(only) &&
        only->getOperand(0) == op.getBody()->getArgument(0) &&
        op.getBody()->getTerminator()->getOperand(0) == only->getResult(0) &&
        only->getOperand(0).getType().getIntOrFloatBitWidth() >= 8;
    return isExtension ? only : nullptr;
  }

  static bool isWidened(Value block) {
    if (auto broadcast = block.getDefiningOp<linalg::BroadcastOp>())
      return isWidened(broadcast.getInput());
    return extensionOf(block.getDefiningOp<linalg::GenericOp>());
  }

  static Narrow narrowOf(OpBuilder &b, Value block) {
    if (auto broadcast = block.getDefiningOp<linalg::BroadcastOp>()) {
      Narrow found = narrowOf(b, broadcast.getInput());
      auto type = cast<RankedTensorType>(block.getType());
      Value empty = tensor::EmptyOp::create(
          b, broadcast.getLoc(), type.getShape(), elementOf(found.block));
      found.block =
          linalg::BroadcastOp::create(b, broadcast.getLoc(), found.block, empty,
                                      broadcast.getDimensions())
              ->getResult(0);
      return found;
    }
    auto widen = block.getDefiningOp<linalg::GenericOp>();
    return {widen.getInputs().front(), isa<arith::ExtSIOp>(extensionOf(widen))};
  }

  /// Whether the region does nothing with the operand's elements but to compare
  /// them with one another, and to choose among them. Notes where.
  bool isOnlyChosen() {
    Block &region = op.getCombiner().front();
    Operation *yield = region.getTerminator();
    chosen.insert(region.getArgument(index));
    chosen.insert(region.getArgument(op.getInputs().size() + index));
    for (Operation &inner : region.without_terminator())
      if (auto select = dyn_cast<arith::SelectOp>(inner))
        if (chosen.contains(select.getTrueValue()) &&
            chosen.contains(select.getFalseValue()))
          chosen.insert(select.getResult());
    for (Value value : chosen)
      for (OpOperand &use : value.getUses()) {
        Operation *user = use.getOwner();
        if (user == yield && use.getOperandNumber() == index)
          continue;
        if (auto select = dyn_cast<arith::SelectOp>(user))
          if (chosen.contains(select.getResult()))
            continue;
        auto compare = dyn_cast<arith::CmpIOp>(user);
        if (!compare || !chosen.contains(compare.getLhs()) ||
            !chosen.contains(compare.getRhs()))
          return false;
        compares.insert(compare);
      }
    return chosen.contains(yield->getOperand(index));
  }

  /// Numbers that were widened without a sign have none.
  static arith::CmpIPredicate withoutSign(arith::CmpIPredicate predicate) {
    switch (predicate) {
    case arith::CmpIPredicate::slt:
      return arith::CmpIPredicate::ult;
    case arith::CmpIPredicate::sle:
      return arith::CmpIPredicate::ule;
    case arith::CmpIPredicate::sgt:
      return arith::CmpIPredicate::ugt;
    case arith::CmpIPredicate::sge:
      return arith::CmpIPredicate::uge;
    default:
      return predicate;
    }
  }

  linalg_ext::ScanOp op;
  unsigned index;
  llvm::SetVector<Value> chosen;
  llvm::SetVector<arith::CmpIOp> compares;
};

struct NarrowScansPass
    : public tilebridge::cpu::impl::CpuNarrowScansPassBase<NarrowScansPass> {
  void runOnOperation() override {
    SmallVector<linalg_ext::ScanOp> scans;
    getOperation().walk([&](linalg_ext::ScanOp op) { scans.push_back(op); });
    for (linalg_ext::ScanOp op : scans)
      for (unsigned i = 0; i < op.getInputs().size(); ++i)
        if (linalg_ext::ScanOp narrow = Operand(op, i).narrow())
          op = narrow;
  }
};

} // namespace
