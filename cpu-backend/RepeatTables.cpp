//===- RepeatTables.cpp - tilebridge-cpu-repeat-tables --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Kernels over a flat index read what belongs to a channel at `i % channels`,
// and compute with it at every index: 1 / sqrt(variance + eps) takes longer
// than all else that a batch norm of channels-last pictures does. Computed for
// the table, which is then repeated, it costs next to nothing.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/RepeatedBlocks.h"
#include "cpu-backend/emit/NestEmitter.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUREPEATTABLESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;

namespace {

/// A block that is a table over and over: a view with strides of zero along
/// outer dimensions, and then a reshape to fewer dimensions.
struct RepeatedTable {
  bufferization::ToTensorOp read;
  SmallVector<int64_t> wide;
  SmallVector<ReassociationIndices> groups;
  /// How many of the view's dimensions only repeat.
  int64_t outer = 0;

  explicit operator bool() const { return outer > 0; }
  ArrayRef<int64_t> shape() const {
    return ArrayRef<int64_t>(wide).drop_front(outer);
  }
  bool isLike(const RepeatedTable &other) const {
    return outer == other.outer && wide == other.wide && groups == other.groups;
  }
};

/// What is computed from such blocks, and how long that takes.
struct OfTables {
  RepeatedTable table;
  int64_t cost = 0;
};

} // namespace

static memref::ReinterpretCastOp viewOf(bufferization::ToTensorOp read) {
  return read.getBuffer().getDefiningOp<memref::ReinterpretCastOp>();
}

static RepeatedTable tableOf(Value block) {
  RepeatedTable found;
  auto collapse = block.getDefiningOp<tensor::CollapseShapeOp>();
  if (collapse)
    found.read = collapse.getSrc().getDefiningOp<bufferization::ToTensorOp>();
  auto view = found.read ? viewOf(found.read) : nullptr;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (!view || !view.getType().hasStaticShape() ||
      failed(view.getType().getStridesAndOffset(strides, offset)))
    return {};
  found.wide = llvm::to_vector(view.getType().getShape());
  found.groups = collapse.getReassociationIndices();
  int64_t rank = view.getType().getRank();
  while (found.outer < rank && strides[found.outer] == 0)
    ++found.outer;
  // A number is no table, and what is there once is not repeated.
  if (found.outer == rank ||
      llvm::all_of(ArrayRef<int64_t>(found.wide).take_front(found.outer),
                   [](int64_t size) { return size == 1; }))
    return {};
  return found;
}

/// Whether all inputs are tables of one shape, what is computed from such, or
/// numbers. `known` has the operations before.
static OfTables ofTables(linalg::GenericOp op,
                         const llvm::DenseMap<Operation *, OfTables> &known) {
  if (!cpu::isPlainElementwise(op))
    return {};
  constexpr int64_t mostCost = 1000;
  OfTables result;
  result.cost = cpu::costOfBody(op);
  for (Value input : op.getInputs()) {
    if (cpu::isOneNumberBlock(input))
      continue;
    auto from = known.find(input.getDefiningOp());
    RepeatedTable table =
        from == known.end() ? tableOf(input) : from->second.table;
    if (!table || (result.table && !table.isLike(result.table)))
      return {};
    result.table = table;
    if (from != known.end())
      result.cost = std::min(result.cost + from->second.cost, mostCost);
  }
  return result;
}

/// The table that `table` repeats, read where the block was.
static Value readTable(OpBuilder &b, const RepeatedTable &table) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(table.read);
  memref::ReinterpretCastOp view = viewOf(table.read);
  MemRefType type = view.getType();
  auto [strides, offset] = type.getStridesAndOffset();
  auto layout = StridedLayoutAttr::get(
      b.getContext(), offset,
      ArrayRef<int64_t>(strides).drop_front(table.outer));
  SmallVector<OpFoldResult> sizes = view.getMixedSizes(),
                            steps = view.getMixedStrides();
  Value memory = memref::ReinterpretCastOp::create(
      b, view.getLoc(),
      MemRefType::get(table.shape(), type.getElementType(), layout,
                      type.getMemorySpace()),
      view.getSource(), view.getMixedOffsets().front(),
      ArrayRef<OpFoldResult>(sizes).drop_front(table.outer),
      ArrayRef<OpFoldResult>(steps).drop_front(table.outer));
  bufferization::ToTensorOp read = table.read;
  auto result = bufferization::ToTensorOp::create(
      b, read.getLoc(),
      RankedTensorType::get(table.shape(), type.getElementType()), memory,
      read.getRestrict(), read.getWritable());
  result->setDiscardableAttrs(read->getDiscardableAttrDictionary());
  return result;
}

/// `from`, of the shape of the table.
static Value computeOnce(OpBuilder &b, Value from, ArrayRef<int64_t> shape,
                         IRMapping &known) {
  if (Value once = known.lookupOrNull(from))
    return once;
  auto type =
      RankedTensorType::get(shape, getElementTypeOrSelf(from.getType()));
  Value once = cpu::numberAs(b, from, type);
  if (auto op = from.getDefiningOp<linalg::GenericOp>()) {
    SmallVector<Value> inputs =
        llvm::map_to_vector(op.getInputs(), [&](Value input) {
          return computeOnce(b, input, shape, known);
        });
    once = cpu::computeAs(b, op, inputs, shape);
  } else if (!once) {
    once = readTable(b, tableOf(from));
  }
  known.map(from, once);
  return once;
}

/// The result of `op`, computed for the table and repeated.
static Value repeated(OpBuilder &b, linalg::GenericOp op,
                      const RepeatedTable &table) {
  Location loc = op.getLoc();
  // What is computed for another one may be in a branch.
  IRMapping here;
  Value once = computeOnce(b, op->getResult(0), table.shape(), here);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value init =
      tensor::EmptyOp::create(b, loc, table.wide, type.getElementType());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, table.outer));
  Value wide =
      linalg::BroadcastOp::create(b, loc, once, init, dims)->getResult(0);
  return tensor::CollapseShapeOp::create(b, loc, type, wide, table.groups);
}

namespace {

struct RepeatTablesPass
    : public tilebridge::cpu::impl::CpuRepeatTablesPassBase<RepeatTablesPass> {
  using Base::Base;

  void runOnOperation() override {
    // A division or a root takes as long as what it costs to repeat a table.
    constexpr int64_t leastCost = 4;
    llvm::DenseMap<Operation *, OfTables> known;
    SmallVector<linalg::GenericOp> found;
    getOperation()->walk([&](linalg::GenericOp op) {
      OfTables of = ofTables(op, known);
      if (!of.table)
        return;
      known.try_emplace(op, of);
      found.push_back(op);
    });
    auto isComputed = [&](Operation *user) { return known.contains(user); };
    for (linalg::GenericOp op : found) {
      const OfTables &of = known.find(op)->second;
      // Of a chain only the last one is repeated.
      if (of.cost < leastCost || llvm::all_of(op->getUsers(), isComputed))
        continue;
      OpBuilder b(op);
      Value block = repeated(b, op, of.table);
      op->getResult(0).replaceUsesWithIf(
          block, [&](OpOperand &use) { return !isComputed(use.getOwner()); });
    }
  }
};

} // namespace
