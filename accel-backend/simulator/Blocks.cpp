//===- Blocks.cpp - ops of linalg on memrefs ------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Blocks.h"

#include "accel-backend/simulator/Fold.h"
#include "accel-backend/simulator/Simulator.h"

#include <cstring>

using namespace mlir;
using tilebridge::reference::Datum;
using tilebridge::reference::Lanes;
using tilebridge::reference::View;

namespace tilebridge::accel {

namespace {

/// An operand of an op of linalg as addresses: a base, and bytes for each step
/// of each loop.
struct Access {
  uint64_t address = 0;
  unsigned bytes = 0;
  uint64_t mask = 0;
  SmallVector<int64_t> steps;
};

} // namespace

FailureOr<Loops> loopsOf(linalg::LinalgOp op, Pe &pe) {
  Loops loops;
  loops.ranges.assign(op.getNumLoops(), -1);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    const View &view = pe.program->view(operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      int64_t &range = loops.ranges[dim.getPosition()];
      if (range >= 0 && range != view.sizes[i])
        return op->emitError("has operands of different sizes: ")
               << range << " and " << view.sizes[i];
      range = view.sizes[i];
    }
  }
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isParallel = kind == utils::IteratorType::parallel;
    (isParallel ? loops.parallel : loops.reduction).push_back(loop);
    (isParallel ? loops.parallelShape : loops.reductionShape)
        .push_back(loops.ranges[loop]);
  }
  return loops;
}

static FailureOr<Access> accessOf(linalg::LinalgOp op, OpOperand &operand,
                                  Pe &pe) {
  const View &view = pe.program->view(operand.get());
  Type element = cast<MemRefType>(operand.get().getType()).getElementType();
  Access access;
  access.bytes = reference::bytesOf(element);
  access.mask = reference::truncated(~uint64_t(0), reference::widthOf(element));
  access.address = view.address + uint64_t(view.offset) * access.bytes;
  access.steps.assign(op.getNumLoops(), 0);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    int64_t stride = view.strides[i] * int64_t(access.bytes);
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      access.steps[dim.getPosition()] += stride;
    else if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      access.address += uint64_t(constant.getValue() * stride);
    else
      return op->emitError("has an operand that the simulator cannot index: "
                           "its map is more than dimensions and constants");
  }
  return access;
}

/// Calls `lane(address)` for all points of the parallel loops in order.
template <typename F>
static void forEachLane(const Loops &loops, const Access &access,
                        uint64_t address, F lane) {
  Region region;
  region.address = address;
  SmallVector<int64_t> at(loops.parallel.size(), 0);
  if (reference::countOf(loops.parallelShape) == 0)
    return;
  size_t rank = at.size();
  int64_t inner = rank ? loops.parallelShape.back() : 1;
  int64_t innerStep = rank ? access.steps[loops.parallel.back()] : 0;
  while (true) {
    uint64_t row = address;
    for (size_t i = 0; i + 1 < rank; ++i)
      row += uint64_t(at[i] * access.steps[loops.parallel[i]]);
    for (int64_t i = 0; i < inner; ++i, row += uint64_t(innerStep))
      lane(row);
    if (rank < 2)
      return;
    size_t dim = rank - 1;
    while (dim > 0 && ++at[dim - 1] == loops.parallelShape[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}

namespace {

class BlockEvaluator {
public:
  BlockEvaluator(Pe &pe, linalg::LinalgOp op, const Loops &loops)
      : pe(pe), op(op), loops(loops), body(*op.getBlock()) {}

  LogicalResult run();

private:
  LogicalResult runAt(ArrayRef<int64_t> reduction);
  LogicalResult fold(FoldFunction combine);
  LogicalResult runLanes(ArrayRef<Datum> arguments,
                         SmallVector<Datum> &yielded);
  uint64_t start(const Access &access, ArrayRef<int64_t> reduction) const {
    uint64_t address = access.address;
    for (auto [loop, position] : llvm::zip(loops.reduction, reduction))
      address += uint64_t(position * access.steps[loop]);
    return address;
  }

  Pe &pe;
  linalg::LinalgOp op;
  const Loops &loops;
  Block &body;
  SmallVector<std::optional<Access>> accesses; // by operand
};

} // namespace

/// How a body that is one op on its two arguments combines their bits; null for
/// others.
static FoldFunction foldOf(Block &body) {
  if (body.getOperations().size() != 2 || body.getNumArguments() != 2)
    return nullptr;
  Operation &op = body.front();
  bool isPair = op.getNumOperands() == 2 && op.getNumResults() == 1 &&
                body.back().getOperand(0) == op.getResult(0) &&
                llvm::all_of(body.getArguments(), [&](BlockArgument argument) {
                  return llvm::is_contained(op.getOperands(), argument);
                });
  return isPair ? foldOf(op) : nullptr;
}

LogicalResult BlockEvaluator::fold(FoldFunction combine) {
  const Access &from = *accesses[0], &to = *accesses[1];
  reference::forEachPosition(
      loops.reductionShape, [&](ArrayRef<int64_t> reduction) {
        std::vector<uint64_t> places;
        forEachLane(loops, to, start(to, reduction),
                    [&](uint64_t address) { places.push_back(address); });
        size_t lane = 0;
        forEachLane(loops, from, start(from, reduction), [&](uint64_t address) {
          uint64_t x = 0, y = 0;
          auto *place = reinterpret_cast<void *>(places[lane++]);
          std::memcpy(&x, reinterpret_cast<void *>(address), from.bytes);
          std::memcpy(&y, place, to.bytes);
          uint64_t result = combine(x, y);
          std::memcpy(place, &result, to.bytes);
        });
      });
  return success();
}

LogicalResult BlockEvaluator::run() {
  for (OpOperand &operand : op->getOpOperands()) {
    accesses.emplace_back();
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    FailureOr<Access> access = accessOf(op, operand, pe);
    if (failed(access))
      return failure();
    accesses.back() = std::move(*access);
  }
  FoldFunction combine = loops.reduction.empty() ? nullptr : foldOf(body);
  if (combine && accesses[0] && accesses[1])
    return fold(combine);
  LogicalResult result = success();
  reference::forEachPosition(
      loops.reductionShape, [&](ArrayRef<int64_t> reduction) {
        pe.program->bodyLoops.emplace(loops.ranges);
        pe.program->bodyLoops->fix(loops.reduction, reduction);
        if (succeeded(result))
          result = runAt(reduction);
      });
  pe.program->bodyLoops.reset();
  return result;
}

LogicalResult BlockEvaluator::runAt(ArrayRef<int64_t> reduction) {
  SmallVector<Datum> arguments, yielded;
  size_t count = size_t(reference::countOf(loops.parallelShape));
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    Type element = getElementTypeOrSelf(operand.get().getType());
    if (!accesses[number]) {
      arguments.push_back(pe.program->get(operand.get()));
      continue;
    }
    const Access &access = *accesses[number];
    Lanes lanes;
    // What the body does not look at may be undefined.
    if (body.getArgument(number).use_empty()) {
      lanes.assign(1, 0);
    } else {
      lanes.reserve(count);
      forEachLane(loops, access, start(access, reduction),
                  [&](uint64_t address) {
                    uint64_t bits = 0;
                    auto *from = reinterpret_cast<const void *>(address);
                    switch (access.bytes) {
                    case 1:
                      std::memcpy(&bits, from, 1);
                      break;
                    case 2:
                      std::memcpy(&bits, from, 2);
                      break;
                    case 4:
                      std::memcpy(&bits, from, 4);
                      break;
                    default:
                      std::memcpy(&bits, from, access.bytes);
                    }
                    lanes.push_back(bits & access.mask);
                  });
    }
    arguments.push_back(Datum(element, loops.parallelShape, std::move(lanes)));
  }
  bool hasBranches = llvm::any_of(
      body, [](Operation &inner) { return inner.getNumRegions() != 0; });
  if (failed(hasBranches ? runLanes(arguments, yielded)
                         : pe.program->run(body, arguments, yielded)))
    return failure();
  for (auto [i, value] : llvm::enumerate(yielded)) {
    const Access &access = *accesses[op.getNumDpsInputs() + i];
    const Lanes &lanes = value.lanes();
    size_t lane = 0, step = lanes.size() == 1 ? 0 : 1;
    forEachLane(loops, access, start(access, reduction), [&](uint64_t address) {
      std::memcpy(reinterpret_cast<void *>(address), &lanes[lane],
                  access.bytes);
      lane += step;
    });
  }
  return success();
}

/// Lanes may take different branches.
LogicalResult BlockEvaluator::runLanes(ArrayRef<Datum> arguments,
                                       SmallVector<Datum> &yielded) {
  SmallVector<Lanes> results(body.back().getNumOperands());
  LogicalResult result = success();
  size_t lane = 0;
  reference::forEachPosition(
      loops.parallelShape, [&](ArrayRef<int64_t> position) {
        if (failed(result))
          return;
        SmallVector<Datum> own, values;
        for (const Datum &argument : arguments) {
          const Lanes &lanes = argument.lanes();
          own.push_back(Datum(argument.elementType(), {},
                              {lanes[lanes.size() == 1 ? 0 : lane]}));
        }
        pe.program->bodyLoops->fix(loops.parallel, position);
        result = pe.program->run(body, own, values);
        for (auto [all, value] : llvm::zip(results, values))
          all.push_back(value.lanes().front());
        ++lane;
      });
  for (auto [value, lanes] : llvm::zip(body.back().getOperands(), results))
    yielded.push_back(
        Datum(value.getType(), loops.parallelShape, std::move(lanes)));
  return result;
}

LogicalResult evaluateBlocks(linalg::LinalgOp op, Pe &pe, const Loops &loops) {
  return BlockEvaluator(pe, op, loops).run();
}

} // namespace tilebridge::accel
