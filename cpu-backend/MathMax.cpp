//===- MathMax.cpp - maxima of rows ---------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// x86's instruction gives its second operand where one is NaN: right for an
// element that is none, whatever was found so far. So a reduction asks of
// several vectors at once whether there is a NaN, two with one comparison, and
// takes the way that cares for them only then: without, each vector is one
// instruction, and not three.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathMax.h"
#include "cpu-backend/MathVectors.h"
#include "cpu-backend/NeverNan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The operand that a loop carries from one `op` to the next: what was found so
/// far.
static std::optional<unsigned> carriedOperand(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop || !op->hasOneUse())
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    auto argument = dyn_cast<BlockArgument>(op->getOperand(i));
    if (!argument || argument.getOwner() != loop.getBody() ||
        argument == loop.getInductionVar())
      continue;
    OpOperand *yielded = loop.getTiedLoopYieldedValue(argument);
    if (yielded->get() == op->getResult(0) && op->getOperand(1 - i) != argument)
      return i;
  }
  return std::nullopt;
}

/// Whether an element of x, of so many native vectors, is NaN.
static Value isAnyNan(ImplicitLocOpBuilder &b, Value x, int64_t count) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements() / count;
  auto part = [&](int64_t i) -> Value {
    return sliceLanes(b, x, i * lanes, lanes);
  };
  Value any;
  for (int64_t i = 0; i < count; i += 2) {
    Value first = part(i), second = i + 1 < count ? part(i + 1) : first;
    Value isNan =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, first, second);
    any = any ? arith::OrIOp::create(b, any, isNan).getResult() : isNan;
  }
  return isAnySet(b, any);
}

bool tilebridge::cpu::expandReducedMaximum(
    Operation *op, int64_t vectorBits,
    llvm::function_ref<Value(OpBuilder &, Value, Value)> general) {
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!type || type.getRank() != 1 || type.isScalable() ||
      !type.getElementType().isF32())
    return false;
  int64_t bits = type.getNumElements() * 32;
  auto carried = carriedOperand(op);
  if (!carried || bits % vectorBits != 0 || bits < 2 * vectorBits)
    return false;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value found = op->getOperand(*carried), x = op->getOperand(1 - *carried);
  auto branch = scf::IfOp::create(b, type, isAnyNan(b, x, bits / vectorBits),
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, general(b, found, x));
  b.setInsertionPointToStart(branch.elseBlock());
  bool isMaximum = isa<arith::MaxNumFOp, arith::MaximumFOp>(op);
  auto predicate =
      isMaximum ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  // What was found may be NaN: as it is at the beginning, where NaN is missing;
  // else it stays.
  bool staysNan = isa<arith::MaximumFOp, arith::MinimumFOp>(op);
  Value taken = staysNan ? x : found, other = staysNan ? found : x;
  Value isTaken = arith::CmpFOp::create(b, predicate, taken, other);
  scf::YieldOp::create(
      b, arith::SelectOp::create(b, isTaken, taken, other).getResult());
  op->replaceAllUsesWith(branch);
  op->erase();
  return true;
}

llvm::DenseMap<Operation *, unsigned>
tilebridge::cpu::findNumbers(ArrayRef<Operation *> ops) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (Operation *op : ops)
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
      for (OpOperand &operand : op->getOpOperands())
        if (isNeverNan(operand.get()))
          numbers[op] = operand.getOperandNumber();
  return numbers;
}

void tilebridge::cpu::expandMaximumWithNumber(Operation *op, unsigned number) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value x = op->getOperand(1 - number), y = op->getOperand(number);
  auto predicate = isa<arith::MaxNumFOp>(op) ? arith::CmpFPredicate::OGT
                                             : arith::CmpFPredicate::OLT;
  // The number comes second, and is the result where x is NaN.
  Value isTaken = arith::CmpFOp::create(b, predicate, x, y);
  Value chosen = arith::SelectOp::create(b, isTaken, x, y);
  op->getResult(0).replaceAllUsesWith(chosen);
  op->erase();
}
