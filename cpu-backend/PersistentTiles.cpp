//===- PersistentTiles.cpp - tilebridge-cpu-persistent-tiles --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// `for tile in tl.range(tl.program_id(0), tiles, NUM_SMS)`: on a GPU such a
// persistent kernel fills each multiprocessor once. Here it would hide from
// everything that knows programs that tiles are independent: which of them a
// thread runs one after the other, and that they multiply with the same panels.
//===----------------------------------------------------------------------===//

#include "cpu-backend/PersistentTiles.h"

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/LaunchUniform.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUPERSISTENTTILESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using linalg_ext::kProgramArguments;

namespace {

/// A kernel whose last operation is a loop over its tiles.
class TileLoop {
public:
  explicit TileLoop(func::FuncOp kernel)
      : kernel(kernel), body(&kernel.getBody().front()),
        programs(kernel.getArguments().take_back(kProgramArguments)) {}

  /// Whether each tile could be a program of its own.
  bool find();
  /// Makes each tile one.
  void replace();

private:
  bool isLoopOverTiles();
  bool findUnit();
  bool isPlainBefore();
  bool areCounters();
  bool areIndependent();
  bool areSame(Value to, Value from);
  bool addAccesses(Operation *op);
  bool addAllAccesses(Operation *op) {
    return !anyInside(op, [this](Operation *in) { return !addAccesses(in); });
  }
  std::optional<int64_t> stepsBehind(Value init);
  bool isStep(Value value);
  Value createIsApart(ImplicitLocOpBuilder &b, IRMapping &map);
  void createTiles();
  Value id() { return programs[0]; }
  /// Of a program's first tile, and of a tile where it is a program.
  Value begin() { return loop.getLowerBound(); }

  func::FuncOp kernel;
  Block *body;
  ValueRange programs;
  scf::ForOp loop;
  /// The loop counts so many for each tile.
  int64_t unit = 1;
  /// How many tiles a step is; null: as many as `constantStep`.
  Value step;
  int64_t constantStep = 0;
  /// What adds a step to a counter.
  llvm::DenseSet<Operation *> counting;
  /// Memory that tiles read and write; some of it at places that are operands.
  llvm::SetVector<Value> read, written;
  llvm::DenseSet<Value> atPlaces;
};

} // namespace

bool TileLoop::find() {
  return isLoopOverTiles() && areCounters() && isPlainBefore() &&
         areIndependent();
}

bool TileLoop::isLoopOverTiles() {
  Operation *last = body->getTerminator()->getPrevNode();
  loop = dyn_cast_or_null<scf::ForOp>(last);
  // Ids have 32 bits.
  if (!loop || loop.getUnsignedCmp() ||
      !loop.getInductionVar().getType().isInteger(32) || !findUnit())
    return false;
  LaunchUniform ofLaunch(kernel, [&](Operation *op) {
    return op->getBlock() == body && op->getNumRegions() == 0 &&
           isMemoryEffectFree(op);
  });
  return ofLaunch.contains(loop.getUpperBound()) &&
         ofLaunch.contains(loop.getStep()) && !hasOrder(kernel);
}

/// Loops count tiles, or elements: from `id * BLOCK` in steps of as many blocks
/// as there are programs.
bool TileLoop::findUnit() {
  APInt number;
  if (begin() != id()) {
    auto mul = begin().getDefiningOp<arith::MulIOp>();
    if (!mul || mul.getLhs() != id() ||
        !matchPattern(mul.getRhs(), m_ConstantInt(&number)) ||
        !number.isStrictlyPositive())
      return false;
    unit = number.getSExtValue();
  }
  if (matchPattern(loop.getStep(), m_ConstantInt(&number))) {
    constantStep = number.getSExtValue() / unit;
    return number.isStrictlyPositive() && number.getSExtValue() % unit == 0;
  }
  step = loop.getStep();
  if (unit == 1)
    return true;
  auto mul = step.getDefiningOp<arith::MulIOp>();
  if (!mul || !matchPattern(mul.getRhs(), m_ConstantInt(&number)) ||
      number.getSExtValue() != unit)
    return false;
  step = mul.getLhs();
  return true;
}

/// What is before the loop runs once a tile, too: it is to be cheap, to be the
/// same then, and not to tell tiles by which program runs them.
bool TileLoop::isPlainBefore() {
  llvm::DenseSet<Value> ofProgram = {programs[0], programs[3]};
  for (Operation &op : *body) {
    if (&op == loop)
      break;
    bool isCostly = anyInside(&op, [](Operation *inner) {
      OpKind kind = kindOf(inner);
      return isa<LoopLikeOpInterface>(inner) || isProduct(inner) ||
             kind == OpKind::NestRoot || kind == OpKind::OwnRoot;
    });
    if (isCostly || mayWrite(&op) || !addAllAccesses(&op))
      return false;
    bool isOfProgram = anyInside(&op, [&](Operation *inner) {
      return llvm::any_of(inner->getOperands(), [&](Value operand) {
        return ofProgram.contains(operand);
      });
    });
    if (isOfProgram)
      ofProgram.insert_range(op.getResults());
  }
  // Of what a program works in, alone, tiles know by a remainder.
  auto isOwnNumber = [&](Operation *inner) {
    return isa<arith::RemSIOp, arith::RemUIOp>(inner) &&
           inner->getOperand(0) == loop.getInductionVar() &&
           isStep(inner->getOperand(1));
  };
  return !anyInside(loop, [&](Operation *inner) {
    if (inner == loop || counting.contains(inner))
      return false;
    return isOwnNumber(inner) ||
           llvm::any_of(inner->getOperands(), [&](Value operand) {
             return ofProgram.contains(operand);
           });
  });
}

bool TileLoop::isStep(Value value) {
  APInt one, other;
  return value == loop.getStep() ||
         (value.getType() == loop.getStep().getType() &&
          matchPattern(value, m_ConstantInt(&one)) &&
          matchPattern(loop.getStep(), m_ConstantInt(&other)) && one == other);
}

/// Of a number that begins as `init` and grows by a step with each tile: how
/// many steps it is behind the loop's own number, 0 or 1.
std::optional<int64_t> TileLoop::stepsBehind(Value init) {
  if (init == begin())
    return 0;
  APInt added, step;
  if (auto sub = init.getDefiningOp<arith::SubIOp>();
      sub && sub.getLhs() == begin() && isStep(sub.getRhs()))
    return 1;
  if (auto add = init.getDefiningOp<arith::AddIOp>();
      add && add.getLhs() == begin() &&
      matchPattern(add.getRhs(), m_ConstantInt(&added)) &&
      matchPattern(loop.getStep(), m_ConstantInt(&step)) && added == -step)
    return 1;
  return std::nullopt;
}

/// All that a tile hands to the next one are other names of its number: authors
/// count once for what is before the product, and once for what is behind.
bool TileLoop::areCounters() {
  auto yielded = loop.getYieldedValues();
  for (auto [init, argument, next, result] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(), yielded,
                       loop.getResults())) {
    auto add = next.getDefiningOp<arith::AddIOp>();
    if (!result.use_empty() || !add || add.getLhs() != argument ||
        !isStep(add.getRhs()))
      return false;
    auto behind = stepsBehind(init);
    // What is a step away from the tile's number is left in the kernel, where
    // the number of programs is another one.
    bool isFar = behind == 0 ? !next.hasOneUse() : !argument.hasOneUse();
    if (!behind || (isFar && !matchPattern(loop.getStep(), m_Constant())))
      return false;
    counting.insert(add);
  }
  return true;
}

/// Adds the memory that `op` reads and writes; fails where that is not known.
bool TileLoop::addAccesses(Operation *op) {
  if (op->getNumRegions() != 0 && isa<scf::SCFDialect>(op->getDialect()))
    return true;
  bool writes = mayWrite(op), reads = mayRead(op), isKnown = false;
  if (!writes && !reads)
    return true;
  for (Value operand : op->getOperands()) {
    if (!isa<BaseMemRefType>(operand.getType()))
      continue;
    if (!argumentOf(operand))
      return false;
    isKnown = true;
    if (!isa<bufferization::ToTensorOp,
             bufferization::MaterializeInDestinationOp,
             linalg_ext::MaskedLoadOp, linalg_ext::MaskedStoreOp>(op))
      atPlaces.insert(operand);
    if (writes)
      written.insert(operand);
    if (reads)
      read.insert(operand);
  }
  return isKnown;
}

/// Both are the same part of the arguments that they are of.
static bool areSameParts(Value one, Value other) {
  Operation *op = one.getDefiningOp(), *otherOp = other.getDefiningOp();
  if (one == other)
    return true;
  auto ofKernel = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  };
  if (ofKernel(one) && ofKernel(other))
    return one.getType() == other.getType();
  if (!op || !otherOp || op->getName() != otherOp->getName() ||
      op->getAttrDictionary() != otherOp->getAttrDictionary() ||
      one.getType() != other.getType() ||
      op->getNumOperands() != otherOp->getNumOperands())
    return false;
  return llvm::all_of(
      llvm::zip_equal(op->getOperands(), otherOp->getOperands()),
      [](auto operands) {
        auto [operand, otherOperand] = operands;
        return operand == otherOperand ||
               (isa<BaseMemRefType>(operand.getType()) &&
                isa<BaseMemRefType>(otherOperand.getType()) &&
                areSameParts(operand, otherOperand));
      });
}

/// A tile reads and writes the same, if both arguments are the same memory.
bool TileLoop::areSame(Value to, Value from) {
  return !atPlaces.contains(to) && !atPlaces.contains(from) &&
         areSameParts(to, from);
}

/// No tile reads what another one writes: of an argument that is written only
/// the part is read that the tile writes itself. Whether two arguments are the
/// same memory is asked when the kernel runs.
bool TileLoop::areIndependent() {
  return addAllAccesses(loop) && llvm::all_of(written, [&](Value to) {
           return llvm::all_of(read, [&](Value from) {
             return argumentOf(to) != argumentOf(from) || areSame(to, from);
           });
         });
}

/// No array that is written begins where one does of which tiles read another
/// part.
Value TileLoop::createIsApart(ImplicitLocOpBuilder &b, IRMapping &map) {
  llvm::SetVector<std::pair<Value, Value>> pairs;
  for (Value to : written)
    for (Value from : read)
      if (argumentOf(to) != argumentOf(from) && !areSame(to, from))
        pairs.insert({argumentOf(to), argumentOf(from)});
  auto begin = [&](Value argument) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(b,
                                                          map.lookup(argument));
  };
  Value result = arith::ConstantIntOp::create(b, 1, 1);
  for (auto [to, from] : pairs)
    result =
        arith::AndIOp::create(b, result,
                              arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                                    begin(to), begin(from)));
  return result;
}

/// The function of `tilesAttr`.
void TileLoop::createTiles() {
  ImplicitLocOpBuilder b(loop.getLoc(), kernel.getContext());
  b.setInsertionPointAfter(kernel);
  Type i64 = b.getI64Type();
  auto function = func::FuncOp::create(
      b, (kernel.getName() + ".tiles").str(),
      b.getFunctionType(kernel.getArgumentTypes(), {i64, i64}));
  function.setPrivate();
  kernel->setAttr(tilesAttr, FlatSymbolRefAttr::get(function.getNameAttr()));
  b.setInsertionPointToStart(function.addEntryBlock());
  IRMapping map;
  map.map(kernel.getArguments(), function.getArguments());
  auto is = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, predicate, x, y);
  };
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  Value end = copyWithSources(b, map, loop.getUpperBound()),
        tiles = step ? copyWithSources(b, map, step) : number(constantStep),
        one = number(1);
  if (unit != 1)
    end = arith::CeilDivSIOp::create(b, end, number(unit));
  auto counts = function.getArguments().take_back(3);
  // Programs begin at all numbers below the step, or one begins at each tile.
  Value together =
      arith::OrIOp::create(b, is(arith::CmpIPredicate::eq, counts[0], tiles),
                           is(arith::CmpIPredicate::sge, counts[0], end));
  together = arith::AndIOp::create(b, together, createIsApart(b, map));
  Value none = arith::ConstantIntOp::create(b, 0, 64);
  Value apart = arith::MaxSIOp::create(b, tiles, one);
  Value result = arith::SelectOp::create(b, together, none,
                                         arith::ExtSIOp::create(b, i64, apart));
  Value last = arith::ExtSIOp::create(b, i64, end);
  func::ReturnOp::create(b, ValueRange{last, result});
}

void TileLoop::replace() {
  createTiles();
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (*stepsBehind(init) == 0) {
      argument.replaceAllUsesWith(begin());
      continue;
    }
    // One step later it is the tile's number.
    loop.getTiedLoopYieldedValue(argument)->get().replaceAllUsesWith(begin());
    argument.replaceAllUsesWith(
        arith::SubIOp::create(b, begin(), loop.getStep()).getResult());
  }
  loop.getInductionVar().replaceAllUsesWith(begin());
  for (Operation *add : counting)
    if (add->use_empty())
      add->erase();
  for (Operation &op :
       llvm::make_early_inc_range(loop.getBody()->without_terminator()))
    op.moveBefore(loop);
  if (Decision::isWanted(kernel.getContext()))
    Decision(loop.getLoc(), "tiles")
        .report("each tile of this loop is a program: threads share them, if "
                "the launch runs each once");
  loop.erase();
}

namespace {
struct PersistentTilesPass
    : public tilebridge::cpu::impl::CpuPersistentTilesPassBase<
          PersistentTilesPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (!func->hasAttr("tilebridge.kernel") ||
          func.getNumArguments() < kProgramArguments ||
          !func.getBody().hasOneBlock())
        continue;
      TileLoop tiles(func);
      if (tiles.find())
        tiles.replace();
    }
  }
};
} // namespace
