//===- BlockDims.cpp - what is asked of the sizes of blocks ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/BlockDims.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using tilebridge::linalg_ext::rankOf;

BlockDims::BlockDims(func::FuncOp func) {
  visitAll(func);
  // Arguments that no op has spoken of: of the function, and of bodies.
  func.walk([&](Block *block) {
    bool isKnown = isa<scf::ForOp>(block->getParentOp());
    for (BlockArgument argument : block->getArguments())
      if (!isKnown)
        fixAll(argument, block->getParentOp());
  });
  close();
  classes.resize(classCount());
  facts.resize(dimensions().size());
  for (auto [number, dimension] : llvm::enumerate(dimensions())) {
    auto [block, dim] = dimension;
    values.insert(block);
    Class &all = classes[DimensionEquivalence::classOf(number)];
    const Facts &fact = facts[number];
    all.size = cast<RankedTensorType>(block.getType()).getDimSize(dim);
    all.isFixed |= fact.isFixed || ShapedType::isDynamic(all.size);
    all.end = std::max(all.end, fact.end);
    if (fact.productBits)
      all.productBits = all.productBits
                            ? std::min(all.productBits, fact.productBits)
                            : fact.productBits;
    llvm::append_range(all.summed, fact.summed);
    llvm::append_range(all.storeMasks, fact.storeMasks);
  }
}

const BlockDims::Class *BlockDims::classOf(Value block, unsigned dim) const {
  std::optional<unsigned> number = DimensionEquivalence::classOf(block, dim);
  return number ? &classes[*number] : nullptr;
}

BlockDims::Facts &BlockDims::factsOf(Value block, unsigned dim) {
  unsigned at = number(block, dim);
  if (at >= facts.size())
    facts.resize(at + 1);
  return facts[at];
}

void BlockDims::reach(Value block, unsigned dim, std::optional<int64_t> end) {
  Facts &fact = factsOf(block, dim);
  fact.isFixed |= !end;
  fact.end = std::max(fact.end, end.value_or(0));
}

bool BlockDims::visitOwn(Operation *op) {
  // What a loop with a condition carries keeps its size: no kernel has asked
  // for another one.
  if (isa<scf::WhileOp>(op))
    fixAll(op);
  if (visitPart(op) || visitRows(op) || visitElements(op))
    return true;
  // The bridge IR has none on tensors, but passes before this one make some.
  if (isa<linalg::LinalgOp, arith::ConstantOp>(op) || !isElementwise(op))
    return false;
  for (Value operand : op->getOperands())
    tieAll(operand, op->getResult(0));
  return true;
}

/// Boxes that are read and written.
bool BlockDims::visitPart(Operation *op) {
  if (isa<tensor::PadOp, tensor::InsertSliceOp>(op)) {
    Value block = op->getResult(0);
    std::optional<StructuredLoad> load = matchLoad(block);
    if (!load)
      return false;
    if (load->other)
      tieAll(load->other, block);
    auto read = cast<RankedTensorType>(load->read.getType());
    for (auto [d, low] : llvm::enumerate(load->low)) {
      std::optional<int64_t> begin = constantOf(low);
      reach(block, d,
            begin && *begin >= 0 && !read.isDynamicDim(d)
                ? std::optional<int64_t>(*begin + read.getDimSize(d))
                : std::nullopt);
    }
    return true;
  }
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice)
    return false;
  for (auto [d, low, size, stride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(),
                       slice.getMixedStrides())) {
    std::optional<int64_t> begin = constantOf(low), length = constantOf(size);
    reach(slice.getSource(), d,
          begin && length && constantOf(stride) == 1
              ? std::optional<int64_t>(*begin + *length)
              : std::nullopt);
  }
  fixAll(slice.getResult(), op);
  return true;
}

bool BlockDims::visitRows(Operation *op) {
  auto visit = [&](Value block, Value view, Value rows, Value mask,
                   unsigned dim) {
    auto type = cast<MemRefType>(view.getType());
    for (unsigned d = 0, rank = type.getRank(); d < rank; ++d)
      if (d != dim)
        reach(block, d,
              type.isDynamicDim(d) ? std::nullopt
                                   : std::optional(type.getDimSize(d)));
    tie(block, dim, rows, 0);
    if (mask)
      tie(block, dim, mask, 0);
  };
  if (auto gather = dyn_cast<linalg_ext::GatherRowsOp>(op)) {
    visit(gather.getResult(), gather.getView(), gather.getRows(),
          gather.getRowmask(), gather.getDim());
    return true;
  }
  if (auto scatter = dyn_cast<linalg_ext::ScatterRowsOp>(op)) {
    visit(scatter.getValue(), scatter.getView(), scatter.getRows(),
          scatter.getRowmask(), scatter.getDim());
    // Rows that are masked off may be anywhere.
    fix(scatter.getValue(), scatter.getDim(), op);
    return true;
  }
  return false;
}

/// Accesses element by element.
bool BlockDims::visitElements(Operation *op) {
  if (!isa<linalg_ext::GatherOp, linalg_ext::MaskedLoadOp,
           linalg_ext::ScatterOp, linalg_ext::MaskedStoreOp>(op))
    return false;
  bool isRead = op->getNumResults() == 1;
  Value block = isRead ? op->getResult(0) : op->getOperand(0);
  for (Value operand : op->getOperands())
    tieAll(operand, block);
  if (isRead)
    return true;
  Value mask = isa<linalg_ext::ScatterOp>(op)
                   ? cast<linalg_ext::ScatterOp>(op).getMask()
                   : cast<linalg_ext::MaskedStoreOp>(op).getMask();
  if (!mask)
    fixAll(block, op);
  else
    for (unsigned d = 0, rank = rankOf(mask); d < rank; ++d)
      factsOf(mask, d).storeMasks.push_back({mask, d});
  return true;
}

void BlockDims::visitIterators(linalg::LinalgOp op,
                               ArrayRef<SmallVector<Place>> places) {
  bool isProduct = linalg::isaContractionOpInterface(op);
  unsigned bits = 64;
  if (isProduct)
    for (Value input : op.getDpsInputs())
      bits = std::min(
          bits,
          cast<RankedTensorType>(input.getType()).getElementTypeBitWidth());
  for (auto [along, kind] :
       llvm::zip_equal(places, op.getIteratorTypesArray())) {
    if (along.empty())
      continue;
    auto [first, dim] = along.front();
    Facts &fact = factsOf(first->get(), dim);
    if (isProduct)
      fact.productBits = bits;
    if (kind == utils::IteratorType::parallel)
      continue;
    if (isProduct || isa<linalg::ReduceOp>(op))
      llvm::append_range(fact.summed, along);
    else
      fact.isFixed = true;
  }
}
