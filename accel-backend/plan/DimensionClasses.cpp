//===- DimensionClasses.cpp - which dimensions are cut together -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/DimensionClasses.h"

#include "accel-backend/dialect/AccelOps.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

llvm::StringRef tilebridge::accel::nameOf(DimensionKind kind) {
  switch (kind) {
  case DimensionKind::Parallel:
    return "parallel";
  case DimensionKind::Contracted:
    return "contracted";
  case DimensionKind::Reduced:
    return "reduced";
  case DimensionKind::Scanned:
    return "scanned";
  case DimensionKind::Fixed:
    return "fixed";
  }
  llvm_unreachable("all kinds are named");
}

//===----------------------------------------------------------------------===//
// Nodes and ties
//===----------------------------------------------------------------------===//

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

unsigned DimensionClasses::node(Value tensor, int64_t dimension) {
  auto [it, isNew] = numbers.try_emplace({tensor, dimension}, nodes.size());
  if (isNew) {
    int64_t size =
        cast<RankedTensorType>(tensor.getType()).getDimSize(dimension);
    nodes.push_back({ShapedType::isDynamic(size) ? 1 : size});
    ties.insert(it->second);
  }
  return it->second;
}

void DimensionClasses::tie(Value a, int64_t aDim, Value b, int64_t bDim) {
  ties.unionSets(node(a, aDim), node(b, bDim));
}

void DimensionClasses::tieAll(Value a, Value b) {
  if (rankOf(a) != rankOf(b))
    return;
  for (int64_t dimension = 0; dimension < rankOf(a); ++dimension)
    tie(a, dimension, b, dimension);
}

void DimensionClasses::tieAll(ValueRange a, ValueRange b) {
  for (auto [first, second] : llvm::zip(a, b))
    tieAll(first, second);
}

void DimensionClasses::mark(Value tensor, int64_t dimension, DimensionKind kind,
                            Operation *because) {
  Node &marked = nodes[node(tensor, dimension)];
  if (marked.kind >= kind)
    return;
  marked.kind = kind;
  marked.because = because;
}

void DimensionClasses::fix(Value tensor, Operation *because) {
  for (int64_t dimension = 0; dimension < rankOf(tensor); ++dimension)
    mark(tensor, dimension, DimensionKind::Fixed, because);
}

void DimensionClasses::fixAll(Operation *op) {
  for (Value operand : op->getOperands())
    fix(operand, op);
  for (Value result : op->getResults())
    fix(result, op);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

bool DimensionClasses::visitControlFlow(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](scf::ForOp loop) {
        tieAll(loop.getResults(), loop.getInitArgs());
        tieAll(loop.getResults(), loop.getRegionIterArgs());
        tieAll(loop.getResults(), loop.getYieldedValues());
        return true;
      })
      .Case([&](scf::IfOp branch) {
        if (branch.getNumResults()) {
          tieAll(branch.getResults(), branch.thenYield().getOperands());
          tieAll(branch.getResults(), branch.elseYield().getOperands());
        }
        return true;
      })
      .Case([&](scf::IndexSwitchOp branch) {
        for (Region *region : branch.getRegions())
          tieAll(branch.getResults(),
                 region->front().getTerminator()->getOperands());
        return true;
      })
      .Case([&](scf::WhileOp loop) {
        tieAll(loop.getInits(), loop.getBeforeArguments());
        tieAll(loop.getInits(), loop.getYieldOp().getOperands());
        ValueRange passed = loop.getConditionOp().getArgs();
        tieAll(loop.getResults(), passed);
        tieAll(loop.getAfterArguments(), passed);
        return true;
      })
      .Case([&](ComputeOp compute) {
        SmallVector<Value> operands = llvm::to_vector(compute.getInputs());
        llvm::append_range(operands, compute.getOuts());
        tieAll(operands, compute.getBody().getArguments());
        tieAll(compute.getOuts(), compute.getResults());
        tieAll(compute.getOuts(),
               compute.getBody().front().getTerminator()->getOperands());
        return true;
      })
      .Case<YieldOp, scf::YieldOp, scf::ConditionOp, linalg::YieldOp,
            tensor::YieldOp, linalg_ext::YieldOp>(
          [](Operation *) { return true; })
      .Default(false);
}

// An operation of linalg says by its maps which iterator runs over which
// dimension: all dimensions of one iterator are tied.
bool DimensionClasses::visitLinalg(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return false;
  bool contracts = isa<linalg::ContractionOpInterface>(op);
  SmallVector<std::pair<Value, int64_t>> first(linalgOp.getNumLoops());
  auto iterators = linalgOp.getIteratorTypesArray();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    for (auto [dimension, expr] : llvm::enumerate(map.getResults())) {
      auto iterator = dyn_cast<AffineDimExpr>(expr);
      if (!iterator) {
        mark(operand.get(), dimension, DimensionKind::Fixed, op);
        continue;
      }
      auto &[value, valueDim] = first[iterator.getPosition()];
      if (value)
        tie(value, valueDim, operand.get(), dimension);
      else
        std::tie(value, valueDim) =
            std::pair(operand.get(), int64_t(dimension));
      if (iterators[iterator.getPosition()] == utils::IteratorType::reduction)
        mark(operand.get(), dimension,
             contracts ? DimensionKind::Contracted : DimensionKind::Reduced,
             op);
    }
  }
  for (auto [init, result] :
       llvm::zip(linalgOp.getDpsInits(), op->getResults()))
    tieAll(init, result);
  return true;
}

// A dimension that keeps its size among ones is the same dimension; where
// several become one, or the reverse, positions are rearranged.
template <typename ReshapeT>
static void visitReshape(ReshapeT op, Value narrow, Value wide,
                         function_ref<void(int64_t, int64_t)> same,
                         function_ref<void(Value, int64_t)> rearranged) {
  auto wideType = cast<RankedTensorType>(wide.getType());
  for (auto [group, dimensions] :
       llvm::enumerate(op.getReassociationIndices())) {
    SmallVector<int64_t> larger = llvm::filter_to_vector(
        dimensions, [&](int64_t d) { return wideType.getDimSize(d) != 1; });
    if (larger.size() == 1) {
      same(group, larger.front());
    } else if (larger.size() > 1) {
      rearranged(narrow, group);
      for (int64_t dimension : larger)
        rearranged(wide, dimension);
    }
  }
}

bool DimensionClasses::visitShape(Operation *op) {
  auto rearranged = [&](Value value, int64_t dimension) {
    mark(value, dimension, DimensionKind::Fixed, op);
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](tensor::ExpandShapeOp reshape) {
        Value narrow = reshape.getSrc(), wide = reshape.getResult();
        visitReshape(
            reshape, narrow, wide,
            [&](int64_t n, int64_t w) { tie(narrow, n, wide, w); }, rearranged);
        return true;
      })
      .Case([&](tensor::CollapseShapeOp reshape) {
        Value narrow = reshape.getResult(), wide = reshape.getSrc();
        visitReshape(
            reshape, narrow, wide,
            [&](int64_t n, int64_t w) { tie(narrow, n, wide, w); }, rearranged);
        return true;
      })
      .Case([&](tensor::PadOp pad) {
        tieAll(pad.getSource(), pad.getResult());
        return true;
      })
      // A part with a size of its own is what a mask leaves (the bridge IR);
      // a smaller one of static size is half of a block, or one of two joined.
      .Case([&](tensor::ExtractSliceOp slice) {
        auto source = cast<RankedTensorType>(slice.getSource().getType());
        if (slice.getResultType().getRank() != source.getRank()) {
          fixAll(op);
          return true;
        }
        for (int64_t dimension = 0; dimension < source.getRank(); ++dimension) {
          tie(slice.getSource(), dimension, slice.getResult(), dimension);
          int64_t size = slice.getResultType().getDimSize(dimension);
          if (!ShapedType::isDynamic(size) &&
              size != source.getDimSize(dimension))
            rearranged(slice.getSource(), dimension);
        }
        return true;
      })
      .Case([&](tensor::InsertSliceOp slice) {
        auto source = cast<RankedTensorType>(slice.getSource().getType());
        auto dest = slice.getDestType();
        tieAll(slice.getDest(), slice.getResult());
        if (source.getRank() != dest.getRank()) {
          fixAll(op);
          return true;
        }
        for (int64_t dimension = 0; dimension < source.getRank(); ++dimension) {
          tie(slice.getSource(), dimension, slice.getDest(), dimension);
          int64_t size = source.getDimSize(dimension);
          if (!ShapedType::isDynamic(size) &&
              size != dest.getDimSize(dimension))
            rearranged(slice.getDest(), dimension);
        }
        return true;
      })
      .Case([&](tensor::CastOp cast) {
        tieAll(cast.getSource(), cast.getDest());
        return true;
      })
      .Case<tensor::EmptyOp, tensor::SplatOp>([&](Operation *) {
        for (int64_t d = 0; d < rankOf(op->getResult(0)); ++d)
          node(op->getResult(0), d);
        return true;
      })
      .Case([&](arith::ConstantOp constant) {
        auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
        if (values && !values.isSplat())
          fixAll(op);
        return true;
      })
      .Default(false);
}

void DimensionClasses::visit(Operation *op) {
  if (visitControlFlow(op) || visitLinalg(op) || visitShape(op) ||
      visitCompute(op) || visitAccess(op))
    return;
  // What is not known, and what takes a block as a whole: a print, an element
  // at an index, an atomic access, whose order matters, a call.
  fixAll(op);
}

DimensionClasses::DimensionClasses(func::FuncOp func) {
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != func)
      visit(op);
    // Dimensions of one element, which reshapes are not asked about.
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        for (int64_t d = 0; d < type.getRank(); ++d)
          node(result, d);
    // A body of scalars has no dimensions.
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });

  // Numbers in the order of the program: nodes were made in it.
  llvm::DenseMap<unsigned, unsigned> classOfLeader;
  std::vector<unsigned> classOfNode(nodes.size());
  for (unsigned number = 0; number < nodes.size(); ++number) {
    unsigned leader = ties.getLeaderValue(number);
    auto [it, isNew] = classOfLeader.try_emplace(leader, all.size());
    if (isNew)
      all.emplace_back();
    Class &entry = all[it->second];
    entry.size = std::max(entry.size, nodes[number].size);
    if (nodes[number].kind > entry.kind) {
      entry.kind = nodes[number].kind;
      entry.because = nodes[number].because;
    }
    classOfNode[number] = it->second;
  }
  for (auto &[key, number] : numbers)
    classOf[key] = classOfNode[number];
}

unsigned DimensionClasses::of(Value tensor, int64_t dimension) const {
  auto it = classOf.find({tensor, dimension});
  assert(it != classOf.end() && "a dimension of a tensor of this function");
  return it->second;
}

SmallVector<unsigned> DimensionClasses::of(Value tensor) const {
  SmallVector<unsigned> result;
  for (int64_t dimension = 0; dimension < rankOf(tensor); ++dimension)
    result.push_back(of(tensor, dimension));
  return result;
}
