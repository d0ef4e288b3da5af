//===- Linalg.cpp - ops of linalg, all in one way ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An op of linalg is its indexing maps and its body. The points of its parallel
// loops are lanes, and the points of its reduction loops are run one after the
// other in order: a matmul adds its products from k = 0 on.

#include "reference/Program.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tilebridge::reference {

namespace {
class LinalgEvaluator {
public:
  LinalgEvaluator(Program &program, linalg::LinalgOp op)
      : program(program), op(op), ranges(op.getStaticLoopRanges()) {}

  LogicalResult run();

private:
  /// The parallel loops' points give lanes; `reduction` is the point of the
  /// others.
  SmallVector<int64_t> loopPoint(ArrayRef<int64_t> parallel,
                                 ArrayRef<int64_t> reduction) const;
  /// Which element of the operand each lane uses.
  std::vector<int64_t> elementsOf(OpOperand &operand,
                                  ArrayRef<int64_t> reduction);
  /// Runs a body for one lane after the other.
  LogicalResult runEachLane(Block &body, ArrayRef<Datum> arguments,
                            SmallVectorImpl<Datum> &yielded);
  Datum gathered(Type element, const Lanes &lanes,
                 const std::vector<int64_t> &elements) const;

  Program &program;
  linalg::LinalgOp op;
  SmallVector<int64_t> ranges;
  SmallVector<unsigned> parallelLoops, reductionLoops;
  SmallVector<int64_t> parallelShape, reductionShape;
};
} // namespace

SmallVector<int64_t>
LinalgEvaluator::loopPoint(ArrayRef<int64_t> parallel,
                           ArrayRef<int64_t> reduction) const {
  SmallVector<int64_t> point(ranges.size());
  for (auto [loop, at] : llvm::zip(parallelLoops, parallel))
    point[loop] = at;
  for (auto [loop, at] : llvm::zip(reductionLoops, reduction))
    point[loop] = at;
  return point;
}

std::vector<int64_t> LinalgEvaluator::elementsOf(OpOperand &operand,
                                                 ArrayRef<int64_t> reduction) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  ArrayRef<int64_t> shape = program.get(operand.get()).shape();
  std::vector<int64_t> elements;
  elements.reserve(countOf(parallelShape));
  forEachPosition(parallelShape, [&](ArrayRef<int64_t> position) {
    SmallVector<int64_t> at;
    if (map.getNumResults() > 0)
      at = map.compose(loopPoint(position, reduction));
    elements.push_back(linearIndex(at, shape));
  });
  return elements;
}

Datum LinalgEvaluator::gathered(Type element, const Lanes &lanes,
                                const std::vector<int64_t> &elements) const {
  Lanes result(elements.size());
  for (auto [to, from] : llvm::zip(result, elements))
    to = lanes[from];
  return Datum(element, parallelShape, std::move(result));
}

/// Lanes may take different branches then.
static bool hasControlFlow(Block &body) {
  return llvm::any_of(body,
                      [](Operation &op) { return op.getNumRegions() != 0; });
}

LogicalResult LinalgEvaluator::runEachLane(Block &body,
                                           ArrayRef<Datum> arguments,
                                           SmallVectorImpl<Datum> &yielded) {
  SmallVector<Lanes> results(body.back().getNumOperands());
  LogicalResult result = success();
  size_t lane = 0;
  forEachPosition(parallelShape, [&](ArrayRef<int64_t> position) {
    if (failed(result))
      return;
    SmallVector<Datum> own, values;
    for (const Datum &argument : arguments) {
      const Lanes &lanes = argument.lanes();
      own.push_back(Datum(argument.elementType(), {},
                          {lanes[lanes.size() == 1 ? 0 : lane]}));
    }
    program.bodyLoops->fix(parallelLoops, position);
    result = program.run(body, own, values);
    for (auto [all, value] : llvm::zip(results, values))
      all.push_back(value.lanes().front());
    ++lane;
  });
  yielded.clear();
  for (auto [value, lanes] : llvm::zip(body.back().getOperands(), results))
    yielded.push_back(Datum(value.getType(), parallelShape, std::move(lanes)));
  return result;
}

LogicalResult LinalgEvaluator::run() {
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool isParallel = kind == utils::IteratorType::parallel;
    (isParallel ? parallelLoops : reductionLoops).push_back(loop);
    (isParallel ? parallelShape : reductionShape).push_back(ranges[loop]);
  }
  SmallVector<Lanes> outputs;
  for (mlir::Value init : op.getDpsInits())
    outputs.push_back(program.lanes(init));

  Block &body = op->getRegion(0).front();
  LogicalResult result = success();
  forEachPosition(reductionShape, [&](ArrayRef<int64_t> reduction) {
    if (failed(result))
      return;
    SmallVector<Datum> arguments, yielded;
    SmallVector<std::vector<int64_t>> targets;
    for (OpOperand &operand : op->getOpOperands()) {
      Type element = getElementTypeOrSelf(operand.get().getType());
      // A scalar operand, such as that of linalg.fill, is one for all lanes.
      if (!isa<RankedTensorType>(operand.get().getType())) {
        arguments.push_back(program.get(operand.get()));
        continue;
      }
      auto elements = elementsOf(operand, reduction);
      if (op.isDpsInit(&operand)) {
        arguments.push_back(
            gathered(element, outputs[targets.size()], elements));
        targets.push_back(std::move(elements));
      } else {
        arguments.push_back(
            gathered(element, program.lanes(operand.get()), elements));
      }
    }
    program.bodyLoops.emplace(ranges);
    program.bodyLoops->fix(reductionLoops, reduction);
    result = hasControlFlow(body) ? runEachLane(body, arguments, yielded)
                                  : program.run(body, arguments, yielded);
    program.bodyLoops.reset();
    if (failed(result))
      return;
    for (auto [output, target, value] : llvm::zip(outputs, targets, yielded))
      for (size_t lane = 0; lane < target.size(); ++lane)
        output[target[lane]] =
            value.lanes()[value.lanes().size() == 1 ? 0 : lane];
  });
  if (failed(result))
    return failure();
  for (auto [value, lanes] : llvm::zip(op->getResults(), outputs))
    program.set(value, std::move(lanes));
  return success();
}

static LogicalResult evaluateLinalg(Program &program, Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  if (!linalgOp.hasPureTensorSemantics() ||
      llvm::is_contained(linalgOp.getStaticLoopRanges(), ShapedType::kDynamic))
    return op->emitError("the reference evaluator wants ops of linalg on "
                         "blocks with static shapes");
  return LinalgEvaluator(program, linalgOp).run();
}

/// Where a body is run once for all lanes, their positions are an operand like
/// any other.
static LogicalResult evaluateIndex(Program &program, Operation *op) {
  auto index = cast<linalg::IndexOp>(op);
  const BodyLoops &loops = *program.bodyLoops;
  if (std::optional<int64_t> at = loops.at[index.getDim()]) {
    program.setInteger(index.getResult(), *at);
    return success();
  }
  SmallVector<int64_t> shape;
  size_t own = 0;
  for (auto [loop, range, at] : llvm::enumerate(loops.ranges, loops.at)) {
    if (loop == index.getDim())
      own = shape.size();
    if (!at)
      shape.push_back(range);
  }
  Lanes lanes;
  forEachPosition(shape, [&](ArrayRef<int64_t> position) {
    lanes.push_back(uint64_t(position[own]));
  });
  program.set(index.getResult(),
              Datum(index.getType(), shape, std::move(lanes)));
  return success();
}

void addLinalgHandlers(HandlerTable &table) {
  table.add<linalg::GenericOp>(evaluateLinalg);
  table.add<linalg::FillOp>(evaluateLinalg);
  table.add<linalg::BroadcastOp>(evaluateLinalg);
  table.add<linalg::TransposeOp>(evaluateLinalg);
  table.add<linalg::ReduceOp>(evaluateLinalg);
  table.add<linalg::MatmulOp>(evaluateLinalg);
  table.add<linalg::BatchMatmulOp>(evaluateLinalg);
  table.add<linalg::IndexOp>(evaluateIndex);
}

} // namespace tilebridge::reference
