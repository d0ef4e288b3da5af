//===- SplitRows.cpp - tilebridge-cpu-split-rows --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Weights of less than 8 bits are packed along K, and read by `(k // 8)[:,
// None] * stride + n[None, :]`: a view of a dimension more than the block,
// along which rows are one row in memory, that is reshaped. What is reshaped is
// copied first, eight times as much as is read. Where what is computed from it
// is only reduced, as in a product of a matrix with a vector, all of that gets
// the view's shape: each row is read once, and stays in registers.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/View.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/MapVector.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUSPLITROWSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Lanes of shorter rows may run along another dimension.
static constexpr int64_t fewestColumns = 16;

static RankedTensorType blockOf(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}
/// The one dimension of the result that several of the source become; nothing
/// where there are more of these, or where it is the last one.
static std::optional<int64_t> splitDimOf(tensor::CollapseShapeOp op) {
  std::optional<int64_t> dim;
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (group.size() == 1)
      continue;
    if (dim)
      return std::nullopt;
    dim = d;
  }
  if (dim && *dim + 1 == op.getResultType().getRank())
    return std::nullopt;
  return dim;
}

/// An elementwise op of one result whose operands are blocks like this, or no
/// blocks.
static bool isPlainElementwise(Operation *op) {
  if (!isElementwise(op) || op->getNumResults() != 1)
    return false;
  auto generic = dyn_cast<linalg::LinalgOp>(op);
  if (!generic)
    return llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
  return isa<linalg::GenericOp>(op) &&
         llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
           return !isa<RankedTensorType>(operand.get().getType()) ||
                  generic.getMatchingIndexingMap(&operand).isIdentity();
         });
}

namespace {

/// Gives blocks that have a dimension of rows several dimensions in its place.
class RowSplitter {
public:
  explicit RowSplitter(ArrayRef<int64_t> sizes) : sizes(sizes) {}

  /// Follows what is computed from `block` to the reductions; false where
  /// anything else uses it.
  bool findUses(Value block, int64_t dim);
  /// Nothing needs to be copied that was not.
  bool isCheap(Value block, int64_t dim);
  bool areOperandsCheap();
  void split();

private:
  int64_t more() const { return static_cast<int64_t>(sizes.size()) - 1; }
  RankedTensorType typeOf(Value block, int64_t dim) const;
  SmallVector<ReassociationIndices> groupsOf(Value block, int64_t dim) const;
  SmallVector<int64_t> moved(ArrayRef<int64_t> dims, int64_t dim) const;
  Value get(Value block, int64_t dim);
  Value create(OpBuilder &b, Value block, int64_t dim);
  Value splitElementwise(OpBuilder &b, Operation *op, int64_t dim);
  Value splitRead(OpBuilder &b, bufferization::ToTensorOp read, int64_t dim);
  void splitReduction(linalg::ReduceOp op, int64_t dim);

  ArrayRef<int64_t> sizes;
  /// What is computed from the block that is reshaped, and which dimension of
  /// each is that of its rows.
  llvm::MapVector<Value, int64_t> used;
  llvm::MapVector<Operation *, int64_t> reductions;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> done;
  llvm::DenseMap<std::pair<Value, int64_t>, bool> cheap;
};

} // namespace

bool RowSplitter::findUses(Value block, int64_t dim) {
  auto [it, isNew] = used.insert({block, dim});
  if (!isNew)
    return it->second == dim;
  return llvm::all_of(block.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto reduce = dyn_cast<linalg::ReduceOp>(user)) {
      auto [at, isFirst] = reductions.insert({user, dim});
      return reduce.isDpsInput(&use) && at->second == dim;
    }
    if (auto broadcast = dyn_cast<linalg::BroadcastOp>(user)) {
      if (!broadcast.isDpsInput(&use))
        return false;
      int64_t at = dim;
      for (int64_t d : broadcast.getDimensions())
        at += d <= at;
      return findUses(user->getResult(0), at);
    }
    return isPlainElementwise(user) && findUses(user->getResult(0), dim);
  });
}

/// A reshape that collapses to `block` what it is to be split into.
static tensor::CollapseShapeOp collapseOf(Value block, int64_t dim,
                                          ArrayRef<int64_t> sizes) {
  auto collapse = block.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse || splitDimOf(collapse) != dim ||
      collapse.getSrcType().getShape().slice(dim, sizes.size()) != sizes)
    return {};
  return collapse;
}

/// A whole block that is read from memory where it lies.
static memref::ReinterpretCastOp viewOf(Value block) {
  auto read = block.getDefiningOp<bufferization::ToTensorOp>();
  return read ? read.getBuffer().getDefiningOp<memref::ReinterpretCastOp>()
              : nullptr;
}

bool RowSplitter::isCheap(Value block, int64_t dim) {
  auto known = cheap.find({block, dim});
  if (known != cheap.end())
    return known->second;
  auto decide = [&] {
    // A row is copied in no time.
    if (blockOf(block).getRank() == 1)
      return true;
    Operation *op = block.getDefiningOp();
    if (!op)
      return false;
    if (collapseOf(block, dim, sizes) || viewOf(block) ||
        isa<tensor::SplatOp, tensor::EmptyOp>(op))
      return true;
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return isa<SplatElementsAttr>(constant.getValue());
    if (auto broadcast = dyn_cast<linalg::BroadcastOp>(op)) {
      ArrayRef<int64_t> dims = broadcast.getDimensions();
      return llvm::is_contained(dims, dim) ||
             isCheap(broadcast.getInput(),
                     dim - llvm::count_if(dims,
                                          [&](int64_t d) { return d < dim; }));
    }
    return isPlainElementwise(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return !blockOf(operand) || isCheap(operand, dim);
           });
  };
  bool result = decide();
  return cheap[{block, dim}] = result;
}

bool RowSplitter::areOperandsCheap() {
  return !reductions.empty() &&
         llvm::all_of(reductions, [&](const auto &reduction) {
           return llvm::all_of(
               cast<linalg::ReduceOp>(reduction.first).getInputs(),
               [&](Value input) { return isCheap(input, reduction.second); });
         });
}

RankedTensorType RowSplitter::typeOf(Value block, int64_t dim) const {
  RankedTensorType type = blockOf(block);
  SmallVector<int64_t> shape(type.getShape().take_front(dim));
  llvm::append_range(shape, sizes);
  llvm::append_range(shape, type.getShape().drop_front(dim + 1));
  return type.clone(shape);
}

SmallVector<ReassociationIndices> RowSplitter::groupsOf(Value block,
                                                        int64_t dim) const {
  SmallVector<ReassociationIndices> groups(blockOf(block).getRank());
  int64_t next = 0;
  for (auto [d, group] : llvm::enumerate(groups))
    for (int64_t i = 0; i <= (static_cast<int64_t>(d) == dim ? more() : 0); ++i)
      group.push_back(next++);
  return groups;
}

/// Dimensions of a block of which `dim` is split.
SmallVector<int64_t> RowSplitter::moved(ArrayRef<int64_t> dims,
                                        int64_t dim) const {
  SmallVector<int64_t> result;
  for (int64_t d : dims)
    for (int64_t i = 0; i <= (d == dim ? more() : 0); ++i)
      result.push_back(d > dim ? d + more() : d + i);
  return result;
}

Value RowSplitter::get(Value block, int64_t dim) {
  if (Value known = done.lookup({block, dim}))
    return known;
  OpBuilder b(block.getContext());
  b.setInsertionPointAfterValue(block);
  Value result = create(b, block, dim);
  return done[{block, dim}] = result;
}

Value RowSplitter::create(OpBuilder &b, Value block, int64_t dim) {
  Location loc = block.getLoc();
  RankedTensorType type = typeOf(block, dim);
  Operation *op = block.getDefiningOp();
  if (op && isPlainElementwise(op))
    return splitElementwise(b, op, dim);
  if (auto collapse = collapseOf(block, dim, sizes))
    return collapse.getSrc();
  if (viewOf(block))
    return splitRead(b, cast<bufferization::ToTensorOp>(op), dim);
  if (isa_and_nonnull<tensor::EmptyOp>(op))
    return tensor::EmptyOp::create(b, loc, type.getShape(),
                                   type.getElementType());
  if (auto splat = block.getDefiningOp<tensor::SplatOp>())
    return tensor::SplatOp::create(b, loc, type, splat.getInput());
  if (auto constant = block.getDefiningOp<arith::ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(b, loc, splat.resizeSplat(type));
  if (auto broadcast = block.getDefiningOp<linalg::BroadcastOp>()) {
    ArrayRef<int64_t> dims = broadcast.getDimensions();
    Value input = broadcast.getInput();
    if (!llvm::is_contained(dims, dim))
      input =
          get(input,
              dim - llvm::count_if(dims, [&](int64_t d) { return d < dim; }));
    Value init =
        tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    return linalg::BroadcastOp::create(b, loc, input, init, moved(dims, dim))
        ->getResult(0);
  }
  return tensor::ExpandShapeOp::create(b, loc, type, block,
                                       groupsOf(block, dim));
}

Value RowSplitter::splitElementwise(OpBuilder &b, Operation *op, int64_t dim) {
  IRMapping map;
  for (Value operand : op->getOperands())
    if (blockOf(operand))
      map.map(operand, get(operand, dim));
  b.setInsertionPointAfter(op);
  Operation *copy = b.clone(*op, map);
  copy->getResult(0).setType(typeOf(op->getResult(0), dim));
  auto generic = dyn_cast<linalg::GenericOp>(copy);
  if (!generic)
    return copy->getResult(0);
  unsigned loops = generic.getNumLoops() + more();
  SmallVector<AffineMap> maps;
  for (Value operand : copy->getOperands())
    maps.push_back(blockOf(operand) ? b.getMultiDimIdentityMap(loops)
                                    : AffineMap::get(loops, 0, b.getContext()));
  generic.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  SmallVector<Attribute> kinds(loops, generic.getIteratorTypes()[0]);
  generic.setIteratorTypesAttr(b.getArrayAttr(kinds));
  generic.walk([&](linalg::IndexOp index) {
    auto at = static_cast<int64_t>(index.getDim());
    if (at > dim)
      index.setDim(at + more());
    if (at != dim)
      return;
    OpBuilder inside(index);
    Location loc = index.getLoc();
    Value all;
    for (auto [i, size] : llvm::enumerate(sizes)) {
      Value part = linalg::IndexOp::create(inside, loc, dim + i);
      if (all) {
        all = arith::MulIOp::create(
            inside, loc, all,
            arith::ConstantIndexOp::create(inside, loc, size));
        part = arith::AddIOp::create(inside, loc, all, part);
      }
      all = part;
    }
    index.getResult().replaceAllUsesWith(all);
    index.erase();
  });
  return copy->getResult(0);
}

Value RowSplitter::splitRead(OpBuilder &b, bufferization::ToTensorOp read,
                             int64_t dim) {
  memref::ReinterpretCastOp view = viewOf(read);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(read);
  RankedTensorType type = typeOf(read, dim);
  SmallVector<OpFoldResult> strides = view.getMixedStrides(), shape;
  for (int64_t size : type.getShape())
    shape.push_back(b.getIndexAttr(size));
  for (int64_t i = more(); i > 0; --i)
    strides.insert(
        strides.begin() + dim,
        mulIndex(b, read.getLoc(), strides[dim], b.getIndexAttr(sizes[i])));
  Value memory = memref::ReinterpretCastOp::create(
      b, view.getLoc(), view.getSource(), view.getMixedOffsets().front(), shape,
      strides);
  auto result = bufferization::ToTensorOp::create(
      b, read.getLoc(), type, memory, read.getRestrict(), read.getWritable());
  result->setDiscardableAttrs(read->getDiscardableAttrDictionary());
  return result;
}

void RowSplitter::splitReduction(linalg::ReduceOp op, int64_t dim) {
  OpBuilder b(op);
  IRMapping map;
  for (Value input : op.getInputs())
    map.map(input, get(input, dim));
  bool isReduced = llvm::is_contained(op.getDimensions(), dim);
  // The dimension of the results that stays.
  int64_t left = dim - llvm::count_if(op.getDimensions(),
                                      [&](int64_t d) { return d < dim; });
  if (!isReduced)
    for (Value init : op.getInits())
      map.map(init, get(init, left));
  b.setInsertionPoint(op);
  auto copy = cast<linalg::ReduceOp>(b.clone(*op, map));
  copy.setDimensions(moved(op.getDimensions(), dim));
  b.setInsertionPointAfter(copy);
  for (auto [from, to] :
       llvm::zip_equal(op->getResults(), copy->getResults())) {
    Value result = to;
    if (!isReduced) {
      to.setType(typeOf(from, left));
      result = tensor::CollapseShapeOp::create(b, op.getLoc(), from.getType(),
                                               to, groupsOf(from, left));
    }
    from.replaceAllUsesWith(result);
  }
  op.erase();
}

void RowSplitter::split() {
  for (auto [op, dim] : reductions)
    splitReduction(cast<linalg::ReduceOp>(op), dim);
}

namespace {
struct SplitRowsPass
    : public tilebridge::cpu::impl::CpuSplitRowsPassBase<SplitRowsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<tensor::CollapseShapeOp> reshapes;
    getOperation().walk(
        [&](tensor::CollapseShapeOp op) { reshapes.push_back(op); });
    bool isAny = false;
    for (tensor::CollapseShapeOp op : reshapes) {
      std::optional<int64_t> dim = splitDimOf(op);
      RankedTensorType wide = op.getSrcType();
      if (!dim || !matchLoad(op.getSrc()) || !wide.hasStaticShape() ||
          wide.getShape().back() < fewestColumns)
        continue;
      size_t parts = wide.getRank() - op.getResultType().getRank() + 1;
      RowSplitter splitter(wide.getShape().slice(*dim, parts));
      if (!splitter.findUses(op, *dim) || !splitter.areOperandsCheap())
        continue;
      splitter.split();
      isAny = true;
    }
    if (isAny)
      eraseUnused();
  }

private:
  /// What is left would be copied to be reshaped, for nobody.
  void eraseUnused() {
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](Operation *op) { ops.push_back(op); });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
  }
};

} // namespace
