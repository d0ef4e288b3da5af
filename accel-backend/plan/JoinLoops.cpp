//===- JoinLoops.cpp - two loops over one range become one ----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which iterations load the same is not matched by how addresses are written:
// they are evaluated in all iterations of all turns.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Iterations.h"
#include "accel-backend/plan/KernelLaunch.h"
#include "accel-backend/plan/LineBound.h"
#include "accel-backend/plan/LoadsInStep.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELJOINLOOPSPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

//===----------------------------------------------------------------------===//
// What is loaded
//===----------------------------------------------------------------------===//

namespace {
/// The elements of an argument that a view has, in each iteration.
struct Elements {
  Value argument;
  InstanceValues::Row offset;
  SmallVector<InstanceValues::Row> sizes, strides;

  friend bool operator==(const Elements &a, const Elements &b) {
    return a.argument == b.argument && a.offset == b.offset &&
           a.sizes == b.sizes && a.strides == b.strides;
  }
};
} // namespace

static std::optional<InstanceValues::Row> rowOf(OpFoldResult number,
                                                Iterations &iterations) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return InstanceValues::Row(iterations.size(), *constant);
  const InstanceValues::Row *row = iterations.valuesOf(cast<Value>(number));
  return row ? std::optional(*row) : std::nullopt;
}

static std::optional<SmallVector<InstanceValues::Row>>
rowsOf(ArrayRef<OpFoldResult> numbers, Iterations &iterations) {
  SmallVector<InstanceValues::Row> rows;
  for (OpFoldResult number : numbers) {
    std::optional<InstanceValues::Row> row = rowOf(number, iterations);
    if (!row)
      return std::nullopt;
    rows.push_back(std::move(*row));
  }
  return rows;
}

static std::optional<Elements> elementsOf(Value view, Iterations &iterations) {
  if (auto cast = view.getDefiningOp<memref::CastOp>())
    return elementsOf(cast.getSource(), iterations);
  if (auto made = view.getDefiningOp<memref::ReinterpretCastOp>()) {
    auto offset = rowOf(made.getMixedOffsets().front(), iterations);
    auto sizes = rowsOf(made.getMixedSizes(), iterations);
    auto strides = rowsOf(made.getMixedStrides(), iterations);
    if (!isa<BlockArgument>(made.getSource()) || !offset || !sizes || !strides)
      return std::nullopt;
    return Elements{made.getSource(), *offset, *sizes, *strides};
  }
  auto part = view.getDefiningOp<memref::SubViewOp>();
  if (!part)
    return std::nullopt;
  std::optional<Elements> whole = elementsOf(part.getSource(), iterations);
  auto offsets = rowsOf(part.getMixedOffsets(), iterations);
  auto sizes = rowsOf(part.getMixedSizes(), iterations);
  auto strides = rowsOf(part.getMixedStrides(), iterations);
  if (!whole || !offsets || !sizes || !strides)
    return std::nullopt;
  Elements result{whole->argument, whole->offset, {}, {}};
  for (unsigned d = 0; d < offsets->size(); ++d) {
    InstanceValues::Row stride = whole->strides[d];
    for (size_t each = 0; each < stride.size(); ++each) {
      result.offset[each] += (*offsets)[d][each] * stride[each];
      stride[each] *= (*strides)[d][each];
    }
    if (part.getDroppedDims().test(d))
      continue;
    result.sizes.push_back((*sizes)[d]);
    result.strides.push_back(std::move(stride));
  }
  return result;
}

// Whether a load fills all of its block.
static bool fillsAll(CopyOp copy, const Elements &elements) {
  auto type = cast<ShapedType>(copy.getDest().getType());
  for (unsigned d = 0; d < elements.sizes.size(); ++d)
    if (llvm::any_of(elements.sizes[d],
                     [&](int64_t size) { return size != type.getDimSize(d); }))
      return false;
  return true;
}

// Whether both loads give the same block in each of these iterations.
static bool loadTheSame(CopyOp a, CopyOp b, Iterations &iterations) {
  for (CopyOp copy : {a, b})
    if (copy.getRows() || copy.getMask() || copy.getAccumulate() ||
        copy.getMulticast() || !copy.getLow().empty() || !copy->getNumResults())
      return false;
  if (a->getResultTypes() != b->getResultTypes())
    return false;
  std::optional<Elements> first = elementsOf(a.getSource(), iterations);
  std::optional<Elements> second = elementsOf(b.getSource(), iterations);
  if (!first || !second || !(*first == *second))
    return false;
  return fillsAll(a, *first) || (a.getPad() && a.getPad() == b.getPad());
}

//===----------------------------------------------------------------------===//
// Two loops
//===----------------------------------------------------------------------===//

namespace {
/// A loop, and one behind it that goes on where it ends.
struct Pair {
  scf::ForOp first, second;
  /// For each load of the first one that of the second one that loads the same.
  SmallVector<std::pair<CopyOp, CopyOp>> loads;
  /// By what the second one carries: the number of the first one's result that
  /// it begins with, none where it is something else.
  SmallVector<std::optional<unsigned>> continued;
};
} // namespace

// Whether iterations of the second loop are those that would come next.
static bool goesOn(const Pair &pair, Turns &turns) {
  scf::ForOp first = pair.first, second = pair.second;
  const InstanceValues::Row *rows[] = {turns.valuesOf(first.getLowerBound()),
                                       turns.valuesOf(first.getUpperBound()),
                                       turns.valuesOf(first.getStep()),
                                       turns.valuesOf(second.getLowerBound()),
                                       turns.valuesOf(second.getUpperBound()),
                                       turns.valuesOf(second.getStep())};
  if (llvm::is_contained(rows, nullptr))
    return false;
  for (size_t turn = 0; turn < turns.size(); ++turn) {
    int64_t begin = (*rows[0])[turn], end = (*rows[1])[turn];
    int64_t step = (*rows[2])[turn];
    if (step <= 0 || step != (*rows[5])[turn])
      return false;
    // Bounds are of at most 64 bits, and far from where these would overflow.
    constexpr int64_t most = int64_t(1) << 60;
    if (std::abs(begin) > most || std::abs(end) > most || step > most)
      return false;
    bool isRun = begin < end;
    int64_t next =
        isRun ? begin + (end - begin + step - 1) / step * step : begin;
    if ((*rows[3])[turn] != next || (isRun && (*rows[4])[turn] < end))
      return false;
  }
  return true;
}

// Whether all between the loops can be before the first one.
static bool areMovable(const Pair &pair) {
  for (Operation *op = pair.first->getNextNode(); op != pair.second;
       op = op->getNextNode()) {
    bool dependsOnFirst = llvm::is_contained(pair.first->getUsers(), op) ||
                          op->getNumRegions() != 0;
    if (dependsOnFirst || !isMemoryEffectFree(op))
      return false;
    for (Value operand : op->getOperands())
      if (operand.getDefiningOp() == pair.first)
        return false;
  }
  return true;
}

// What the second loop carries on; false where a result of the first one is
// needed as it is.
static bool findContinued(Pair &pair) {
  llvm::SmallDenseSet<unsigned> taken;
  for (Value init : pair.second.getInitArgs()) {
    auto &number = pair.continued.emplace_back();
    if (init.getDefiningOp() != pair.first)
      continue;
    number = cast<OpResult>(init).getResultNumber();
    if (!taken.insert(*number).second || !init.hasOneUse())
      return false;
  }
  Operation *second = pair.second;
  return llvm::none_of(pair.first->getUsers(), [&](Operation *user) {
    return second->isProperAncestor(user);
  });
}

static bool pairLoads(Pair &pair, ArrayRef<CopyOp> ofFirst,
                      ArrayRef<CopyOp> ofSecond, Turns &turns) {
  std::optional<Iterations> iterations = Iterations::of(pair.first, turns);
  if (!iterations || !iterations->size() || ofFirst.size() != ofSecond.size())
    return false;
  iterations->seedAsVariable(pair.second.getInductionVar());
  SmallVector<CopyOp> left(ofSecond);
  for (CopyOp load : ofFirst) {
    auto same = llvm::find_if(left, [&](CopyOp other) {
      return loadTheSame(load, other, *iterations);
    });
    if (same == left.end())
      return false;
    pair.loads.push_back({load, *same});
    left.erase(same);
  }
  return true;
}

// Whether joined loops could share loads that they do not share alone.
static bool isWorthwhile(const Pair &pair, ArrayRef<CopyOp> ofFirst,
                         ArrayRef<CopyOp> ofSecond, const Target &target,
                         Turns &turns) {
  Sharing lines = linesOf(ofFirst, pair.first, target, turns);
  for (CopyOp load : ofSecond) {
    Sharing alone = turns.ofAccess(load, sourceOf(load));
    lines.alongRows &= !alone.alongRows;
    lines.alongColumns &= !alone.alongColumns;
  }
  if (!lines.alongRows && !lines.alongColumns)
    return false;
  scf::ForOp first = pair.first, second = pair.second;
  std::optional<LineBound> bound =
      LineBound::of(first, second.getUpperBound(), lines, target, turns);
  return bound && bound->isFree();
}

static std::optional<Pair> pairOf(scf::ForOp first, scf::ForOp second,
                                  const Target &target, Turns &turns) {
  Pair pair{first, second, {}, {}};
  if (first.getUnsignedCmp() || second.getUnsignedCmp() ||
      first.getInductionVar().getType() != second.getInductionVar().getType())
    return std::nullopt;
  SmallVector<CopyOp> ofFirst = loadsOf(first), ofSecond = loadsOf(second);
  if (ofFirst.empty() || ofFirst.size() != ofSecond.size())
    return std::nullopt;
  for (auto [loads, loop] : {std::pair(ofFirst, first), {ofSecond, second}}) {
    std::optional<NeededByLoads> needed = neededBy(loads, loop);
    if (!needed || !needed->carried.empty())
      return std::nullopt;
  }
  if (!areMovable(pair) || !findContinued(pair) || !goesOn(pair, turns) ||
      !isWorthwhile(pair, ofFirst, ofSecond, target, turns) ||
      !pairLoads(pair, ofFirst, ofSecond, turns))
    return std::nullopt;
  return pair;
}

//===----------------------------------------------------------------------===//
// One loop
//===----------------------------------------------------------------------===//

// A loop that runs once where the condition holds, and else not at all, with
// the body of another one.
static scf::ForOp guarded(OpBuilder &builder, scf::ForOp loop, Value condition,
                          Value variable, ValueRange inits) {
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value times = arith::SelectOp::create(builder, loc, condition, one, zero);
  auto guard = scf::ForOp::create(builder, loc, zero, times, one, inits);
  Block *body = guard.getBody();
  if (inits.empty())
    body->getTerminator()->erase();
  loop.getInductionVar().replaceAllUsesWith(variable);
  for (auto [from, to] :
       llvm::zip_equal(loop.getRegionIterArgs(), guard.getRegionIterArgs()))
    from.replaceAllUsesWith(to);
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  return guard;
}

static void join(const Pair &pair) {
  scf::ForOp first = pair.first, second = pair.second;
  while (first->getNextNode() != second)
    first->getNextNode()->moveBefore(first);

  // What the first one carries, and then what only the second one does.
  SmallVector<Value> inits(first.getInitArgs());
  SmallVector<unsigned> slots;
  for (auto [init, number] :
       llvm::zip_equal(second.getInitArgs(), pair.continued)) {
    slots.push_back(number.value_or(unsigned(inits.size())));
    if (!number)
      inits.push_back(init);
  }
  OpBuilder builder(second);
  Location loc = second.getLoc();
  auto joined =
      scf::ForOp::create(builder, loc, first.getLowerBound(),
                         second.getUpperBound(), first.getStep(), inits);
  Block *body = joined.getBody();
  if (inits.empty())
    body->getTerminator()->erase();
  Value variable = joined.getInductionVar();

  // Loads are those of the second one, before both.
  SmallVector<CopyOp> loads;
  for (auto [own, shared] : pair.loads) {
    own.getResult().replaceAllUsesWith(shared.getResult());
    own.erase();
    loads.push_back(shared);
  }
  std::optional<NeededByLoads> needed = neededBy(loads, second);
  for (Operation &op :
       llvm::make_early_inc_range(second.getBody()->without_terminator()))
    if (needed->ops.contains(&op))
      op.moveBefore(body, body->end());

  builder.setInsertionPointToEnd(body);
  using Predicate = arith::CmpIPredicate;
  Value isFirst = arith::CmpIOp::create(builder, loc, Predicate::slt, variable,
                                        first.getUpperBound());
  SmallVector<Value> values(joined.getRegionIterArgs());
  second.getInductionVar().replaceAllUsesWith(variable);
  auto before = guarded(builder, first, isFirst, variable,
                        ArrayRef(values).take_front(first.getNumResults()));
  llvm::copy(before.getResults(), values.begin());
  Value isSecond = arith::CmpIOp::create(builder, loc, Predicate::sge, variable,
                                         second.getLowerBound());
  SmallVector<Value> begins;
  for (unsigned slot : slots)
    begins.push_back(values[slot]);
  auto after = guarded(builder, second, isSecond, variable, begins);
  for (auto [slot, result] : llvm::zip_equal(slots, after.getResults()))
    values[slot] = result;
  scf::YieldOp::create(builder, loc, values);

  for (auto [slot, result] : llvm::zip_equal(slots, second.getResults()))
    result.replaceAllUsesWith(joined.getResult(slot));
  second.erase();
  first->replaceAllUsesWith(
      joined.getResults().take_front(first.getNumResults()));
  first.erase();
}

namespace {
struct AccelJoinLoopsPass
    : accel::impl::AccelJoinLoopsPassBase<AccelJoinLoopsPass> {
  void runOnOperation() override {
    FailureOr<std::optional<KernelLaunch>> launch =
        KernelLaunch::thatMayShare(getOperation());
    if (failed(launch))
      return signalPassFailure();
    if (!*launch || !(*launch)->grids)
      return;
    // A pair becomes one loop, which may go on in a third one.
    while (joinsOne(**launch))
      ;
  }

  static bool joinsOne(const KernelLaunch &launch) {
    Turns turns = launch.turns();
    std::optional<Pair> found;
    func::FuncOp kernel = launch.kernel;
    kernel.walk([&](scf::ForOp loop) {
      Operation *next = loop->getNextNode();
      while (next && !isa<scf::ForOp>(next) && isMemoryEffectFree(next))
        next = next->getNextNode();
      if (auto second = dyn_cast_or_null<scf::ForOp>(next))
        found = pairOf(loop, second, launch.target, turns);
      return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found)
      join(*found);
    return found.has_value();
  }
};
} // namespace
