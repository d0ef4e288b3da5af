//===- DimensionClasses.cpp - which dimensions are cut together -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/DimensionClasses.h"

#include "accel-backend/dialect/AccelOps.h"
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

void DimensionClasses::mark(Value tensor, unsigned dim, DimensionKind kind,
                            Operation *because) {
  unsigned at = number(tensor, dim);
  if (at >= marks.size())
    marks.resize(at + 1);
  Mark &marked = marks[at];
  if (marked.kind >= kind)
    return;
  marked = {kind, because};
}

bool DimensionClasses::visitOwn(Operation *op) {
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    SmallVector<Value> operands = llvm::to_vector(compute.getInputs());
    llvm::append_range(operands, compute.getOuts());
    tieAll(operands, compute.getBody().getArguments());
    tieAll(compute.getOuts(), compute.getResults());
    tieAll(compute.getOuts(),
           compute.getBody().front().getTerminator()->getOperands());
    return true;
  }
  return isa<YieldOp>(op) || visitPart(op) || visitCompute(op) ||
         visitAccess(op);
}

void DimensionClasses::visitIterators(linalg::LinalgOp op,
                                      ArrayRef<SmallVector<Place>> places) {
  DimensionKind kind = isa<linalg::ContractionOpInterface>(*op)
                           ? DimensionKind::Contracted
                           : DimensionKind::Reduced;
  for (auto [along, iterator] :
       llvm::zip_equal(places, op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      for (auto [operand, dim] : along)
        mark(operand->get(), dim, kind, op);
}

bool DimensionClasses::visitPart(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
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
            fix(slice.getSource(), dimension, op);
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
            fix(slice.getDest(), dimension, op);
        }
        return true;
      })
      .Case([&](tensor::CastOp cast) {
        tieAll(cast.getSource(), cast.getDest());
        return true;
      })
      .Default(false);
}

DimensionClasses::DimensionClasses(func::FuncOp func) {
  visitAll(func);
  close();
  all.resize(classCount());
  marks.resize(dimensions().size());
  for (auto [number, dimension] : llvm::enumerate(dimensions())) {
    auto [tensor, dim] = dimension;
    int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
    Class &entry = all[classOf(number)];
    if (!ShapedType::isDynamic(size))
      entry.size = std::max(entry.size, size);
    if (marks[number].kind > entry.kind) {
      entry.kind = marks[number].kind;
      entry.because = marks[number].because;
    }
  }
}

unsigned DimensionClasses::of(Value tensor, int64_t dimension) const {
  std::optional<unsigned> number = classOf(tensor, dimension);
  assert(number && "a dimension of a tensor of this function");
  return *number;
}

SmallVector<unsigned> DimensionClasses::of(Value tensor) const {
  SmallVector<unsigned> result;
  for (int64_t dimension = 0; dimension < linalg_ext::rankOf(tensor);
       ++dimension)
    result.push_back(of(tensor, dimension));
  return result;
}
