//===- NumberStarts.cpp - tilebridge-cpu-number-starts --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A maximum for which NaN counts as missing begins with NaN: so it is NaN if
// nothing else was there. Where it is only compared with a number afterwards,
// as with the largest one of the loop's iterations before, that makes no
// difference, and it may begin with -inf. What was found so far is a number
// then, and x86's instruction, which gives its second operand where one is NaN,
// is all that each vector takes.
//===----------------------------------------------------------------------===//

#include "cpu-backend/NeverNan.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUNUMBERSTARTSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

/// All that is done with `value` is that ops named `name` compare it with
/// numbers.
static bool isComparedWithNumbers(Value value, OperationName name) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user->getName() == name)
      return isNeverNan(user->getOperand(1 - use.getOperandNumber()));
    if (isa<tensor::ExtractOp>(user))
      return isComparedWithNumbers(user->getResult(0), name);
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return generic && generic.isDpsInput(&use) &&
           isComparedWithNumbers(generic.getMatchingBlockArgument(&use), name);
  });
}

static void startWithNumber(linalg::ReduceOp op) {
  if (op.getNumDpsInputs() != 1)
    return;
  Operation *combiner = combinerOf(op.getCombiner().front());
  DenseFPElementsAttr start;
  if (!isa_and_nonnull<arith::MaxNumFOp, arith::MinNumFOp>(combiner) ||
      !matchPattern(op.getInits().front(), m_Constant(&start)) ||
      !start.isSplat() || !start.getSplatValue<APFloat>().isNaN() ||
      !isComparedWithNumbers(op->getResult(0), combiner->getName()))
    return;
  OpBuilder b(op);
  APFloat least = APFloat::getInf(start.getSplatValue<APFloat>().getSemantics(),
                                  /*Negative=*/isa<arith::MaxNumFOp>(combiner));
  op.getInitsMutable().assign(
      arith::ConstantOp::create(b, op.getLoc(),
                                DenseElementsAttr::get(start.getType(), least))
          .getResult());
}

namespace {
struct CpuNumberStartsPass
    : tilebridge::cpu::impl::CpuNumberStartsPassBase<CpuNumberStartsPass> {
  void runOnOperation() override { getOperation().walk(startWithNumber); }
};
} // namespace
