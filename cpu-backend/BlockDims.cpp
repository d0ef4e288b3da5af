//===- BlockDims.cpp - dimensions of blocks that are one ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/BlockDims.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static RankedTensorType blockType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

BlockDims::BlockDims(func::FuncOp func) {
  func.walk([&](Operation *op) { visit(op); });
  // Arguments that no op above speaks of.
  func.walk([&](Block *block) {
    bool isKnown = isa<scf::ForOp>(block->getParentOp());
    for (BlockArgument argument : block->getArguments())
      if (!isKnown && blockType(argument))
        fixAll(argument);
  });
  joined.compress();
  classes.resize(joined.getNumClasses());
  for (auto [id, fact] : llvm::enumerate(facts)) {
    Class &all = classes[joined[id]];
    all.size = fact.size;
    all.isFixed |= fact.isFixed;
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
  auto it = ids.find({block, dim});
  return it == ids.end() ? nullptr : &classes[joined[it->second]];
}

unsigned BlockDims::node(Value block, unsigned dim) {
  auto [it, isNew] = ids.try_emplace({block, dim}, facts.size());
  if (isNew) {
    values.insert(block);
    Facts &fact = facts.emplace_back();
    fact.size = blockType(block).getDimSize(dim);
    fact.isFixed = ShapedType::isDynamic(fact.size);
    joined.grow(facts.size());
  }
  return it->second;
}

void BlockDims::join(Value a, unsigned dimA, Value b, unsigned dimB) {
  unsigned left = node(a, dimA), right = node(b, dimB);
  joined.join(left, right);
}

void BlockDims::joinAll(Value a, Value b) {
  for (unsigned d = 0, rank = blockType(a).getRank(); d < rank; ++d)
    join(a, d, b, d);
}

void BlockDims::fixAll(Value block) {
  for (unsigned d = 0, rank = blockType(block).getRank(); d < rank; ++d)
    fix(block, d);
}

void BlockDims::reach(Value block, unsigned dim, std::optional<int64_t> end) {
  Facts &fact = facts[node(block, dim)];
  fact.isFixed |= !end;
  fact.end = std::max(fact.end, end.value_or(0));
}

void BlockDims::visit(Operation *op) {
  if (visitKnown(op))
    return;
  for (Value operand : op->getOperands())
    if (blockType(operand))
      fixAll(operand);
  for (Value result : op->getResults())
    if (blockType(result))
      fixAll(result);
}

/// False where nothing is known of the op's blocks.
bool BlockDims::visitKnown(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (isa<tensor::EmptyOp, tensor::SplatOp>(op))
    return true;
  if (visitAccess(op) || visitReshape(op) || visitControlFlow(op))
    return true;
  if (isa<linalg::LinalgOp>(op))
    return visitLinalg(op);
  if (!isElementwise(op))
    return false;
  for (Value operand : op->getOperands())
    if (blockType(operand))
      joinAll(operand, op->getResult(0));
  return true;
}

bool BlockDims::visitAccess(Operation *op) {
  if (isa<tensor::PadOp, tensor::InsertSliceOp>(op)) {
    Value block = op->getResult(0);
    std::optional<StructuredLoad> load = matchLoad(block);
    if (!load)
      return false;
    if (load->other)
      joinAll(load->other, block);
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
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    for (auto [d, low, size, stride] :
         llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(),
                         slice.getMixedStrides())) {
      std::optional<int64_t> begin = constantOf(low), length = constantOf(size);
      reach(slice.getSource(), d,
            begin && length && constantOf(stride) == 1
                ? std::optional<int64_t>(*begin + *length)
                : std::nullopt);
    }
    fixAll(slice.getResult());
    return true;
  }
  auto visitRows = [&](Value block, Value view, Value rows, Value mask,
                       unsigned dim) {
    auto type = cast<MemRefType>(view.getType());
    for (unsigned d = 0, rank = type.getRank(); d < rank; ++d)
      if (d != dim)
        reach(block, d,
              type.isDynamicDim(d) ? std::nullopt
                                   : std::optional(type.getDimSize(d)));
    join(block, dim, rows, 0);
    if (mask)
      join(block, dim, mask, 0);
  };
  if (auto gather = dyn_cast<linalg_ext::GatherRowsOp>(op)) {
    visitRows(gather.getResult(), gather.getView(), gather.getRows(),
              gather.getRowmask(), gather.getDim());
    return true;
  }
  if (auto scatter = dyn_cast<linalg_ext::ScatterRowsOp>(op)) {
    visitRows(scatter.getValue(), scatter.getView(), scatter.getRows(),
              scatter.getRowmask(), scatter.getDim());
    // Rows that are masked off may be anywhere.
    fix(scatter.getValue(), scatter.getDim());
    return true;
  }
  if (!isa<linalg_ext::GatherOp, linalg_ext::MaskedLoadOp,
           linalg_ext::ScatterOp, linalg_ext::MaskedStoreOp>(op))
    return false;
  // Element by element.
  Value block = op->getNumResults() == 1 ? op->getResult(0) : op->getOperand(0);
  for (Value operand : op->getOperands())
    if (blockType(operand))
      joinAll(operand, block);
  if (op->getNumResults() == 1)
    return true;
  Value mask = isa<linalg_ext::ScatterOp>(op)
                   ? cast<linalg_ext::ScatterOp>(op).getMask()
                   : cast<linalg_ext::MaskedStoreOp>(op).getMask();
  if (!mask)
    fixAll(block);
  else
    for (unsigned d = 0, rank = blockType(mask).getRank(); d < rank; ++d)
      facts[node(mask, d)].storeMasks.push_back({mask, d});
  return true;
}

/// Dimensions of size 1 come and go, others are what they were.
bool BlockDims::visitReshape(Operation *op) {
  auto visit = [&](Value wide, Value narrow,
                   ArrayRef<ReassociationIndices> groups) {
    for (auto [d, group] : llvm::enumerate(groups)) {
      SmallVector<int64_t> larger = llvm::filter_to_vector(
          group, [&](int64_t i) { return blockType(wide).getDimSize(i) != 1; });
      for (int64_t i : group)
        if (!llvm::is_contained(larger, i))
          fix(wide, i);
      if (larger.size() == 1) {
        join(wide, larger[0], narrow, d);
        continue;
      }
      fix(narrow, d);
      for (int64_t i : larger)
        fix(wide, i);
    }
    if (groups.empty())
      fixAll(wide);
  };
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    visit(expand.getResult(), expand.getSrc(),
          expand.getReassociationIndices());
  else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    visit(collapse.getSrc(), collapse.getResult(),
          collapse.getReassociationIndices());
  else
    return false;
  return true;
}

bool BlockDims::visitLinalg(Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  if (!linalgOp.hasPureTensorSemantics())
    return false;
  bool isProduct = linalg::isaContractionOpInterface(linalgOp);
  // Where each loop's index is one of a block.
  SmallVector<SmallVector<std::pair<OpOperand *, unsigned>>> places(
      linalgOp.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!blockType(operand.get()))
      continue;
    for (auto [d, expr] : llvm::enumerate(
             linalgOp.getMatchingIndexingMap(&operand).getResults())) {
      if (auto loop = dyn_cast<AffineDimExpr>(expr))
        places[loop.getPosition()].push_back({&operand, unsigned(d)});
      else
        fix(operand.get(), d);
    }
    if (linalgOp.isDpsInit(&operand))
      joinAll(operand.get(), linalgOp.getTiedOpResult(&operand));
  }
  unsigned bits = 64;
  if (isProduct)
    for (Value input : linalgOp.getDpsInputs())
      bits = std::min(bits, blockType(input).getElementTypeBitWidth());
  for (auto [users, kind] :
       llvm::zip_equal(places, linalgOp.getIteratorTypesArray())) {
    if (users.empty())
      continue;
    auto [first, dim] = users.front();
    for (auto [operand, d] : llvm::drop_begin(users))
      join(first->get(), dim, operand->get(), d);
    Facts &fact = facts[node(first->get(), dim)];
    if (isProduct)
      fact.productBits = bits;
    if (kind == utils::IteratorType::parallel)
      continue;
    if (isProduct || isa<linalg::ReduceOp>(op))
      llvm::append_range(fact.summed, users);
    else
      fact.isFixed = true;
  }
  return true;
}

bool BlockDims::visitControlFlow(Operation *op) {
  auto joinBlocks = [&](ValueRange a, ValueRange b) {
    for (auto [left, right] : llvm::zip_equal(a, b))
      if (blockType(left))
        joinAll(left, right);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    joinBlocks(loop.getInitArgs(), loop.getRegionIterArgs());
    joinBlocks(loop.getInitArgs(), loop.getResults());
    return true;
  }
  // Their yields join them.
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return true;
  if (isa<scf::YieldOp>(op) &&
      isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp>(op->getParentOp())) {
    joinBlocks(op->getOperands(), op->getParentOp()->getResults());
    return true;
  }
  return false;
}
