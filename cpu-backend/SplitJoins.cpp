//===- SplitJoins.cpp - tilebridge-cpu-split-joins ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// `tl.join` and `tl.interleave` make a block of several, whose elements take
// turns. As a tensor it is in memory before it is stored. Each of its parts
// stored by itself, to every second element, is computed where it is stored,
// and stores of one nest that fill one another's gaps are stores of whole
// vectors (emit/JoinStores.cpp).
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUSPLITJOINSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

/// More parts are stored lane by lane, each by itself.
static constexpr int64_t mostParts = 4;

namespace {
/// A block whose last dimension counts the parts, or, where it `isFlat`, has
/// the elements of all of them in turn.
struct Parts {
  SmallVector<Value> values;
  bool isFlat = false;

  explicit operator bool() const { return !values.empty(); }
  bool isLike(const Parts &other) const {
    return values.size() == other.values.size() && isFlat == other.isFlat;
  }
};
} // namespace

/// One insertion a part, each with all indices but the last dimension's.
static Parts partsOfInsertions(Value block) {
  auto type = dyn_cast<RankedTensorType>(block.getType());
  if (!type || !type.hasStaticShape() || type.getRank() < 2)
    return {};
  int64_t count = type.getShape().back();
  if (count < 2 || count > mostParts)
    return {};
  Parts parts;
  parts.values.resize(count);
  int64_t missing = count;
  while (missing) {
    auto insert = block.getDefiningOp<tensor::InsertSliceOp>();
    if (!insert || !insert.hasUnitStride() ||
        insert.getSourceType().getShape() != type.getShape().drop_back() ||
        llvm::is_contained(insert.getStaticSizes(), ShapedType::kDynamic) ||
        insert.getStaticSizes().drop_back() != type.getShape().drop_back())
      return {};
    ArrayRef<int64_t> offsets = insert.getStaticOffsets();
    if (llvm::any_of(offsets.drop_back(), [](int64_t at) { return at != 0; }) ||
        ShapedType::isDynamic(offsets.back()))
      return {};
    // What was inserted last is what is there.
    Value &part = parts.values[offsets.back()];
    if (!part) {
      part = insert.getSource();
      --missing;
    }
    block = insert.getDest();
  }
  return parts;
}

static Parts partsOf(Value block, OpBuilder &b);

/// The same numbers for each part.
static Parts partsOfConstant(Value block, const Parts &like, OpBuilder &b) {
  DenseElementsAttr numbers;
  if (!matchPattern(block, m_Constant(&numbers)) || !numbers.isSplat())
    return {};
  auto type = cast<RankedTensorType>(like.values.front().getType())
                  .clone(numbers.getElementType());
  Value part = arith::ConstantOp::create(
      b, block.getLoc(),
      DenseElementsAttr::get(type, numbers.getSplatValue<Attribute>()));
  return {SmallVector<Value>(like.values.size(), part), like.isFlat};
}

/// What is computed element by element from such blocks and from constants.
static Parts partsOfElementwise(linalg::GenericOp op, OpBuilder &b) {
  if (!readsOnlyInputs(op) || !op->hasOneUse() ||
      !tilebridge::linalg_ext::keepsOrder(op) ||
      !op.getBody()->getOps<linalg::IndexOp>().empty())
    return {};
  SmallVector<Parts> inputs;
  Parts like;
  for (Value input : op.getInputs()) {
    inputs.push_back(partsOf(input, b));
    if (!inputs.back())
      continue;
    if (like && !like.isLike(inputs.back()))
      return {};
    like = inputs.back();
  }
  if (!like)
    return {};
  for (auto [input, parts] : llvm::zip_equal(op.getInputs(), inputs))
    if (!parts && !(parts = partsOfConstant(input, like, b)))
      return {};
  Parts result;
  result.isFlat = like.isFlat;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  for (auto [i, part] : llvm::enumerate(like.values)) {
    auto type = cast<RankedTensorType>(part.getType());
    auto operands = llvm::map_to_vector(
        inputs, [i = i](const Parts &parts) { return parts.values[i]; });
    Value init =
        tensor::EmptyOp::create(b, op.getLoc(), type.getShape(), element);
    SmallVector<AffineMap> maps(operands.size() + 1,
                                b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    auto computed = linalg::GenericOp::create(
        b, op.getLoc(), type.clone(element), operands, init, maps, iterators);
    IRMapping map;
    op.getRegion().cloneInto(&computed.getRegion(), map);
    result.values.push_back(computed->getResult(0));
  }
  return result;
}

static Parts partsOf(Value block, OpBuilder &b) {
  Operation *op = block.getDefiningOp();
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op)) {
    auto groups = collapse.getReassociationIndices();
    if (groups.back().size() != 2 ||
        llvm::any_of(ArrayRef(groups).drop_back(),
                     [](const auto &group) { return group.size() != 1; }))
      return {};
    Parts parts = partsOf(collapse.getSrc(), b);
    if (!parts || parts.isFlat)
      return {};
    parts.isFlat = true;
    return parts;
  }
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op))
    return partsOfElementwise(generic, b);
  return partsOfInsertions(block);
}

/// How many of the first `size` elements in turn are part `at`'s.
static OpFoldResult sizeOfPart(OpBuilder &b, Location loc, OpFoldResult size,
                               int64_t at, int64_t count) {
  AffineExpr all = b.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(
      b, loc, (all + (count - 1 - at)).floorDiv(count), {size});
}

/// Stores the parts one after the other.
static bool split(bufferization::MaterializeInDestinationOp write) {
  auto memref = dyn_cast<MemRefType>(write.getDest().getType());
  auto store = memref ? matchStore(write) : std::nullopt;
  if (!store || !llvm::all_of(store->low, [](OpFoldResult low) {
        return constantOf(low) == 0;
      }))
    return false;
  OpBuilder b(write);
  Location loc = write.getLoc();
  Parts parts = partsOf(store->tensor, b);
  if (!parts)
    return false;
  int64_t count = parts.values.size(), rank = memref.getRank();
  auto slice = write.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  SmallVector<OpFoldResult> sizes =
      slice && slice.getSource() == store->tensor
          ? slice.getMixedSizes()
          : memref::getMixedSizes(b, loc, write.getDest());
  if (!parts.isFlat && constantOf(sizes.back()) != count)
    return false;
  for (auto [at, part] : llvm::enumerate(parts.values)) {
    auto block = cast<RankedTensorType>(part.getType());
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
        steps(rank, b.getIndexAttr(1)), taken = sizes;
    offsets.back() = b.getIndexAttr(at);
    if (parts.isFlat) {
      steps.back() = b.getIndexAttr(count);
      taken.back() = sizeOfPart(b, loc, sizes.back(), at, count);
    } else {
      taken.back() = b.getIndexAttr(1);
    }
    // The last dimension of one element stays: which of several such a
    // subview drops its type does not say.
    Value dest = memref::SubViewOp::create(b, loc, write.getDest(), offsets,
                                           taken, steps);
    if (!parts.isFlat) {
      auto groups =
          llvm::map_to_vector(llvm::seq<int64_t>(0, rank - 1), [](int64_t d) {
            return ReassociationIndices{d};
          });
      groups.back().push_back(rank - 1);
      SmallVector<int64_t> shape(block.getShape());
      shape.push_back(1);
      block = block.clone(shape);
      part = tensor::ExpandShapeOp::create(b, loc, block, part, groups);
    }
    SmallVector<OpFoldResult> zeros(rank, b.getIndexAttr(0)),
        ones(rank, b.getIndexAttr(1));
    if (cast<MemRefType>(dest.getType()).getShape() != block.getShape())
      part = tensor::ExtractSliceOp::create(b, loc, part, zeros, taken, ones);
    auto written = bufferization::MaterializeInDestinationOp::create(
        b, loc, Type(), part, dest, write.getRestrict(), write.getWritable());
    written->setDiscardableAttrs(write->getDiscardableAttrDictionary());
  }
  write.erase();
  return true;
}

/// A block that takes turns with itself, as words do whose eight numbers are
/// unpacked along the row: one that is repeated, and so are several steps.
static void repeat(tensor::CollapseShapeOp op) {
  OpBuilder b(op);
  Parts parts = partsOfInsertions(op.getSrc());
  auto groups = op.getReassociationIndices();
  int64_t rank = op.getResultType().getRank();
  if (!parts || !llvm::all_equal(parts.values) ||
      op.getSrcType().getRank() != rank + 1 || groups.back().size() != 2)
    return;
  Value block = parts.values.front();
  int64_t count = parts.values.size();
  auto before = block.getDefiningOp<tensor::CollapseShapeOp>();
  auto repeated =
      before ? before.getSrc().getDefiningOp<linalg::BroadcastOp>() : nullptr;
  if (repeated && repeated.getDimensions() == ArrayRef<int64_t>(rank) &&
      before.getReassociationIndices() == groups) {
    block = repeated.getInput();
    count *= before.getSrcType().getShape().back();
  }
  auto type = cast<RankedTensorType>(block.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(count);
  Value empty =
      tensor::EmptyOp::create(b, op.getLoc(), shape, type.getElementType());
  Value all = linalg::BroadcastOp::create(b, op.getLoc(), block, empty,
                                          ArrayRef<int64_t>(rank))
                  ->getResult(0);
  op.getSrcMutable().assign(all);
}

namespace {
struct SplitJoinsPass
    : public tilebridge::cpu::impl::CpuSplitJoinsPassBase<SplitJoinsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<bufferization::MaterializeInDestinationOp> writes;
    getOperation().walk([&](bufferization::MaterializeInDestinationOp write) {
      writes.push_back(write);
    });
    // Parts may be made of parts.
    for (size_t i = 0; i < writes.size(); ++i) {
      Operation *before = writes[i]->getPrevNode();
      Block *block = writes[i]->getBlock();
      Operation *after = writes[i]->getNextNode();
      if (!split(writes[i]))
        continue;
      auto begin = before ? std::next(before->getIterator()) : block->begin();
      for (Operation &op : llvm::make_range(begin, after->getIterator()))
        if (auto write =
                dyn_cast<bufferization::MaterializeInDestinationOp>(op))
          writes.push_back(write);
    }
    getOperation().walk([](tensor::CollapseShapeOp op) { repeat(op); });
  }
};
} // namespace
