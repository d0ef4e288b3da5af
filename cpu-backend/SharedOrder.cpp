//===- SharedOrder.cpp - programs that multiply the same ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// `pid_m = pid // n; pid_n = pid % n`: programs that follow one another have
// another `b` each, which is packed, and weights that are unpacked are
// unpacked, again for each row of programs. In the order of `pid % n` a thread
// finds the panels of the program before (ShareOperands.cpp).
//===----------------------------------------------------------------------===//

#include "cpu-backend/SharedOrder.h"
#include "cpu-backend/OrderPrograms.h"
#include "cpu-backend/emit/LaunchUniform.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "cpu-backend/emit/ShareOperands.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Operations for each element of `block`, in its loop; what is read counts
/// nothing.
static int64_t operationsOf(Value block, scf::ForOp loop,
                            DenseSet<Operation *> &seen) {
  Operation *op = block.getDefiningOp();
  if (!op || !loop->isProperAncestor(op) || matchLoad(block) ||
      isa<linalg::BroadcastOp>(op) || !seen.insert(op).second)
    return 0;
  int64_t operations = 0;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    operations = generic.getBody()->getOperations().size() - 1;
  else if (isElementwise(op))
    operations = 1;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      operations += operationsOf(operand, loop, seen);
  return operations;
}

namespace {
/// What programs would share.
struct SharedBlock {
  enum Kind {
    None,
    /// Computed element by element, by so many operations.
    Computed,
    /// Read, and packed.
    Packed,
    /// The same, but of columns that are contiguous in memory: few rows are
    /// multiplied with them where they lie.
    Columns,
  };
  Kind kind = None;
  int64_t operations = 0;
};
} // namespace

static SharedBlock sharedBlockOf(linalg::MatmulOp op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop)
    return {};
  DenseSet<Operation *> seen;
  Value block = op.getInputs()[1];
  if (int64_t operations = operationsOf(block, loop, seen))
    return {SharedBlock::Computed, operations};
  auto load = matchLoad(block);
  auto type = load ? dyn_cast<MemRefType>(load->read.getBuffer().getType())
                   : MemRefType();
  if (!type || type.getRank() != 2 || !isDeepMatmul(op))
    return {};
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  // Rows that a mask chooses are multiplied with what is packed.
  if (strides[0] == 1 && findMaskedRows(op))
    return {SharedBlock::Packed};
  return {strides[1] == 1   ? SharedBlock::Packed
          : strides[0] == 1 ? SharedBlock::Columns
                            : SharedBlock::None};
}

/// What is saved is operations on a block of `b`, and its packing; what is lost
/// is that rows of `a` come from far away again for each column of programs.
/// Measured on Zen 4 with blocks of 64 x 64, 32 x 128 and 128 x 128, bf16 and
/// f32, 1 and 2 operations: gains of 3 to 30 % where this says so, losses of 2
/// to 9 % else. CPUs with two 512-bit multiply-adds wait longer for what is
/// packed, and ask for rows of `a` before: on a Xeon with AMX, groups of 16
/// programs gain 8 to 200 % without any operation (f32, f16, bf16, blocks of 32
/// x 32 to 128 x 128), but nothing where a block has four times as many rows as
/// columns. With columns f32 and f16 gain 10 to 60 %; AMX's tiles read these
/// where they lie, and keep `a`.
static bool isWorthSharing(linalg::MatmulOp op, SharedBlock block,
                           bool hasTwoFmas) {
  if (block.kind == SharedBlock::None)
    return false;
  auto left = cast<RankedTensorType>(op.getInputs()[0].getType());
  auto sums = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rows = sums.getDimSize(0), columns = sums.getDimSize(1);
  if (block.kind == SharedBlock::Columns) {
    Type right = getElementTypeOrSelf(op.getInputs()[1].getType());
    if (!hasTwoFmas || (!right.isF32() && !right.isF16()))
      return false;
  }
  if (hasTwoFmas && block.kind != SharedBlock::Computed)
    return rows < 4 * columns;
  int64_t bytes = llvm::divideCeil(left.getElementTypeBitWidth(), 8);
  return (block.operations + 2) * columns >= 2 * bytes * rows;
}

namespace {

/// Looks for `id % n` in what decides an operand.
class Search {
public:
  explicit Search(func::FuncOp kernel)
      : ids(programIdsOf(kernel)), body(&kernel.getBody().front()),
        ofLaunch(kernel, [this](Operation *op) { return isPlain(op); }) {}

  /// The number is the same for programs `distance` apart along x.
  bool repeats(Value number) {
    if (ofLaunch.contains(number) || number == ids[1] || number == ids[2])
      return true;
    // The turns of a loop are mostly those of the program before.
    if (isTurn(number))
      return true;
    Operation *op = number.getDefiningOp();
    if (!op)
      return false;
    if (isa<arith::RemSIOp, arith::RemUIOp>(op) && isId(op->getOperand(0)) &&
        ofLaunch.contains(op->getOperand(1))) {
      Value other = op->getOperand(1);
      bool isSame = !distance || distance == other;
      distance = other;
      return isSame;
    }
    return isPlain(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
             return repeats(operand);
           });
  }

  /// It is the same for all programs along the axis.
  bool isFixedAlong(Value number, unsigned axis) {
    if (isTurn(number))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(number))
      return argument.getOwner() == body && number != ids[axis];
    Operation *op = number.getDefiningOp();
    return isPlain(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
             return isFixedAlong(operand, axis);
           });
  }

  Value distance;

private:
  static constexpr unsigned mostSteps = 64;

  bool isId(Value value) const { return value == ids[0]; }
  static bool isTurn(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto loop = argument
                    ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                    : scf::ForOp();
    return loop && argument == loop.getInductionVar();
  }
  /// A quotient by what a kernel may have guarded is not computed before.
  static bool mayTrap(Operation *op) {
    if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
      return false;
    return constantOf(op->getOperand(1)).value_or(0) <= 0;
  }
  bool isPlain(Operation *op) {
    return !mayTrap(op) && ++steps < mostSteps && op->getBlock() == body &&
           op->getNumRegions() == 0 && op->getNumResults() == 1 &&
           isMemoryEffectFree(op) && op->getResult(0).getType().isIntOrIndex();
  }

  ValueRange ids;
  Block *body;
  unsigned steps = 0;
  /// What can be computed before any program runs.
  LaunchUniform ofLaunch;
};

} // namespace

static SharedOrder orderOf(linalg::MatmulOp op, func::FuncOp kernel) {
  auto keys = findSharingKeys(op);
  if (!keys)
    return {};
  Search search(kernel);
  auto repeats = [&](Value key) { return search.repeats(key); };
  if (llvm::all_of(*keys, repeats))
    return {search.distance, 0};
  for (unsigned axis : {1, 2}) {
    auto isFixed = [&](Value key) {
      return Search(kernel).isFixedAlong(key, axis);
    };
    if (llvm::all_of(*keys, isFixed))
      return {Value(), axis};
  }
  return {};
}

SharedOrder tilebridge::cpu::findSharedOrder(func::FuncOp kernel,
                                             bool hasTwoFmas) {
  // What is saved by packing once is less than by computing once.
  for (bool areComputed : {true, false}) {
    std::optional<SharedOrder> found;
    kernel.walk([&](linalg::MatmulOp op) {
      SharedBlock block = sharedBlockOf(op);
      bool isComputed = block.kind == SharedBlock::Computed;
      if (isComputed != areComputed || !isWorthSharing(op, block, hasTwoFmas))
        return;
      SharedOrder here = orderOf(op, kernel);
      here.isComputed = isComputed;
      // Two with few rows each multiply columns where they lie.
      here.least = block.kind == SharedBlock::Columns ? 3 : 2;
      if (!found)
        found = here;
      else if (found->distance != here.distance || found->axis != here.axis)
        found = SharedOrder();
      else
        found->least = std::max(found->least, here.least);
    });
    if (found && (found->distance || found->axis != 0))
      return *found;
  }
  return {};
}

void tilebridge::cpu::returnSharedOrder(OpBuilder &b, Location loc,
                                        IRMapping &map,
                                        const SharedOrder &order,
                                        ValueRange counts) {
  Type i64 = b.getI64Type();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, i64, value);
  };
  auto is = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  auto programs = [&](unsigned axis) -> Value {
    return arith::ExtUIOp::create(b, loc, i64, counts[axis]);
  };
  Value holds, result;
  if (order.distance) {
    Value apart = copyWithSources(b, map, order.distance), count = programs(0);
    if (apart.getType().isIndex())
      apart = arith::IndexCastOp::create(b, loc, i64, apart);
    else if (apart.getType() != i64)
      apart = arith::ExtSIOp::create(b, loc, i64, apart);
    Value isSome = is(arith::CmpIPredicate::sgt, apart, number(1)),
          divisor = arith::MaxSIOp::create(b, loc, apart, number(1)),
          rest = arith::RemSIOp::create(b, loc, count, divisor),
          isEnough = is(arith::CmpIPredicate::sge,
                        arith::DivSIOp::create(b, loc, count, divisor),
                        number(order.least));
    holds = arith::AndIOp::create(
        b, loc, is(arith::CmpIPredicate::eq, rest, number(0)),
        arith::AndIOp::create(b, loc, isSome, isEnough));
    result = arith::AddIOp::create(b, loc, apart, number(lastAxis));
  } else {
    holds = is(arith::CmpIPredicate::uge, programs(order.axis),
               number(order.least));
    result = number(order.axis);
  }
  result = arith::SelectOp::create(b, loc, holds, result, number(0));
  func::ReturnOp::create(
      b, loc,
      ValueRange{arith::TruncIOp::create(b, loc, b.getI32Type(), result)});
}
