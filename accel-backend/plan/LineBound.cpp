//===- LineBound.cpp - the most often that a line runs a loop -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/LineBound.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Merge.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

// More cases would take longer to tell apart than they save.
static constexpr size_t mostCases = 16;

std::optional<LineBound> LineBound::of(scf::ForOp loop, Value upperBound,
                                       const Sharing &lines,
                                       const Target &target, Turns &turns) {
  const InstanceValues::Row *lower = turns.valuesOf(loop.getLowerBound());
  const InstanceValues::Row *upper = turns.valuesOf(upperBound);
  const InstanceValues::Row *stride = turns.valuesOf(loop.getStep());
  auto kernel = loop->getParentOfType<func::FuncOp>();
  if (!lower || !upper || !stride || mergeLoopOf(kernel))
    return std::nullopt;
  LineBound result(loop);
  kernel.walk([&](ProgramOp program) { result.program = program; });
  const InstanceValues::Row *steps =
      result.program ? turns.valuesOf(result.program.getStep()) : nullptr;
  if (!steps)
    return std::nullopt;
  result.steps = *steps;
  if (!lines.alongRows || !lines.alongColumns)
    result.across = lines.alongRows ? 0 : 1;

  size_t columns = target.grid.columns, pes = target.grid.count();
  size_t rows = pes / columns;
  auto placeOf = [&](size_t turn) -> size_t {
    if (!result.across)
      return 0;
    return *result.across ? turn % columns : turn / columns % rows;
  };
  if (result.across)
    result.countOfPlaces = *result.across ? columns : rows;
  result.bounds = *upper;
  for (size_t first = 0; first < upper->size(); first += pes) {
    std::map<size_t, int64_t> greatest;
    for (size_t turn = first; turn < first + pes; ++turn) {
      auto [it, isNew] = greatest.try_emplace(placeOf(turn), (*upper)[turn]);
      it->second = std::max(it->second, (*upper)[turn]);
    }
    for (size_t turn = first; turn < first + pes; ++turn)
      result.bounds[turn] = greatest[placeOf(turn)];
  }

  // As often as the loop is run, of each PE.
  std::vector<double> own(pes), together(pes);
  auto count = [&](size_t turn, int64_t bound) {
    double distance = double(bound) - double((*lower)[turn]);
    return std::max(0.0, distance / double((*stride)[turn]));
  };
  for (size_t turn = 0; turn < upper->size(); ++turn) {
    if ((*stride)[turn] <= 0)
      return std::nullopt;
    result.places.push_back(int64_t(placeOf(turn)));
    own[turn % pes] += count(turn, (*upper)[turn]);
    together[turn % pes] += count(turn, result.bounds[turn]);
  }
  result.free =
      *llvm::max_element(together) <= mostWaiting * *llvm::max_element(own);
  return result;
}

// A chain of cases, in the order of the keys; null where the bound does not
// follow from the key, or there are too many.
Value LineBound::choose(OpBuilder &builder, Value key, ArrayRef<int64_t> keys) {
  std::map<int64_t, int64_t> table;
  for (auto [each, bound] : llvm::zip_equal(keys, bounds))
    if (table.try_emplace(each, bound).first->second != bound)
      return {};
  // The greatest key of each run of equal bounds.
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (auto [each, bound] : table) {
    if (runs.empty() || runs.back().second != bound)
      runs.push_back({each, bound});
    runs.back().first = each;
  }
  if (runs.size() > mostCases || (runs.size() > 1 && !key))
    return {};
  Location loc = loop.getLoc();
  Type type = loop.getUpperBound().getType();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, number));
  };
  Value result = constant(runs.back().second);
  for (auto [last, bound] : llvm::drop_begin(llvm::reverse(runs))) {
    Value most = arith::ConstantIndexOp::create(builder, loc, last);
    Value isCase = arith::CmpIOp::create(builder, loc,
                                         arith::CmpIPredicate::sle, key, most);
    result =
        arith::SelectOp::create(builder, loc, isCase, constant(bound), result);
  }
  return result;
}

Value LineBound::build(OpBuilder &builder) {
  Location loc = loop.getLoc();
  if (Value same = choose(builder, {}, InstanceValues::Row(bounds.size(), 0)))
    return same;
  Operation *around = program->getBlock()->findAncestorOpInBlock(*loop);
  if (!around || !program->isBeforeInBlock(around))
    return {};
  Value place;
  if (across)
    place = PeIdOp::create(builder, loc, builder.getIndexType(), *across);
  if (place)
    if (Value byPlace = choose(builder, place, places))
      return byPlace;
  Value step = program.getStep();
  if (!step.getType().isIndex())
    return {};
  if (Value byStep = choose(builder, step, steps))
    return byStep;
  if (!place)
    return {};
  Value width = arith::ConstantIndexOp::create(builder, loc, countOfPlaces);
  Value key = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, step, width), place);
  InstanceValues::Row keys;
  for (auto [each, other] : llvm::zip_equal(steps, places))
    keys.push_back(each * countOfPlaces + other);
  return choose(builder, key, keys);
}

bool tilebridge::accel::waitsForOthers(func::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        bool waits =
            isa<AtomicOp, linalg_ext::AtomicRMWOp, linalg_ext::AtomicCASOp,
                linalg_ext::AtomicLoadOp>(op) &&
            op->getNumResults() && !op->use_empty();
        return waits ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
