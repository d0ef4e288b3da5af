//===- FlattenGroups.cpp - tilebridge-cpu-flatten-groups ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What is read at `i ^ 1` is a block of pairs in memory that run backwards, and
// what is read at `i // 2` one of elements that are there twice. As blocks with
// a dimension more they are copied to scratch memory before they are rows
// again. As rows of which lanes change places, or are spread, they are read
// where they lie.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/RepeatedLanes.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/Exchange.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUFLATTENGROUPSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {
/// The dimensions of a block from `first` on, where each index of `first` has a
/// group of elements.
struct Groups {
  unsigned first = 0;
  int64_t size = 1;
  /// Elements of a group: they are one element, or change places with those
  /// whose index differs in these bits.
  bool isRepeated = false;
  SmallVector<int64_t> bits;
  /// How far before the block's first element the group's first one lies.
  int64_t before = 0;

  /// Elements in memory for each index of `first`.
  int64_t inMemory() const { return isRepeated ? 1 : size; }
};

/// Part of a block in memory, or all of it.
struct Place {
  memref::ReinterpretCastOp block;
  memref::SubViewOp part;

  static std::optional<Place> of(Value memref) {
    Place place;
    place.part = memref.getDefiningOp<memref::SubViewOp>();
    if (place.part)
      memref = place.part.getSource();
    place.block = memref.getDefiningOp<memref::ReinterpretCastOp>();
    if (!place.block || !place.block.getType().hasStaticShape() ||
        (place.part &&
         (!place.part.hasUnitStride() ||
          place.part.getType().getRank() != place.block.getType().getRank())))
      return std::nullopt;
    return place;
  }

  bool isWholeAlong(unsigned d) {
    return !part || (isZeroInteger(part.getMixedOffsets()[d]) &&
                     part.getStaticSizes()[d] == block.getType().getDimSize(d));
  }
};
} // namespace

/// Which groups the dimensions from `first` on are; nothing if they are none
/// that lanes can be put in order in.
static std::optional<Groups> findGroups(Place &place, unsigned first) {
  constexpr int64_t mostBytes = 2 * lineBytes;
  MemRefType type = place.block.getType();
  SmallVector<int64_t> strides;
  int64_t offset;
  Type element = type.getElementType();
  if (!element.isIntOrFloat() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  Groups groups;
  groups.first = first;
  bool isRepeated = true;
  int64_t exchanged = 1;
  for (unsigned d = type.getRank() - 1; d > first; --d) {
    int64_t size = type.getDimSize(d);
    if (!llvm::isPowerOf2_64(size) || !place.isWholeAlong(d))
      return std::nullopt;
    isRepeated &= strides[d] == 0;
    if (strides[d] == -groups.size) {
      groups.before += (size - 1) * groups.size;
      for (int64_t bit = 1; bit < size; bit *= 2)
        groups.bits.push_back(bit * groups.size);
      exchanged = groups.size * size;
    } else if (strides[d] != groups.size && !isRepeated) {
      return std::nullopt;
    }
    groups.size *= size;
  }
  groups.isRepeated = isRepeated && groups.size > 1;
  if (strides[first] != groups.inMemory())
    return std::nullopt;
  // Halves of more are whole lines, which are rows.
  bool isNear = !groups.bits.empty() &&
                exchanged * element.getIntOrFloatBitWidth() <= 8 * mostBytes;
  return groups.isRepeated || isNear ? std::optional(groups) : std::nullopt;
}

namespace {
class Flattener {
public:
  Flattener(Operation *op, const Groups &groups)
      : b(op), loc(op->getLoc()), groups(groups) {}

  /// Of sizes or offsets of the block, those of the row.
  SmallVector<OpFoldResult> flat(ArrayRef<OpFoldResult> all) {
    SmallVector<OpFoldResult> row(all.take_front(groups.first));
    row.push_back(
        mulIndex(b, loc, all[groups.first], b.getIndexAttr(groups.inMemory())));
    return row;
  }

  Value flat(Place place) {
    memref::ReinterpretCastOp block = place.block;
    MemRefType type = block.getType();
    auto [strides, offset] = type.getStridesAndOffset();
    SmallVector<int64_t> shape(type.getShape().take_front(groups.first));
    shape.push_back(type.getDimSize(groups.first) * groups.inMemory());
    strides.resize(groups.first);
    strides.push_back(1);
    SmallVector<OpFoldResult> steps = llvm::to_vector(block.getMixedStrides());
    steps.resize(groups.first);
    steps.push_back(b.getIndexAttr(1));
    OpFoldResult begin = addIndex(b, loc, block.getMixedOffsets().front(),
                                  b.getIndexAttr(-groups.before));
    if (!ShapedType::isDynamic(offset))
      offset -= groups.before;
    Value row = memref::ReinterpretCastOp::create(
        b, loc,
        MemRefType::get(shape, type.getElementType(),
                        StridedLayoutAttr::get(b.getContext(), offset, strides),
                        type.getMemorySpace()),
        block.getSource(), begin, flat(block.getMixedSizes()), steps);
    if (!place.part)
      return row;
    return memref::SubViewOp::create(
        b, loc, row, flat(place.part.getMixedOffsets()),
        flat(place.part.getMixedSizes()),
        SmallVector<OpFoldResult>(shape.size(), b.getIndexAttr(1)));
  }

  Value exchanged(Value row) {
    int64_t dim = groups.first;
    for (int64_t bit : groups.bits) {
      row = linalg_ext::exchangedAlong(b, loc, row, dim, bit);
      row.getDefiningOp()->setAttr(nearAttr, b.getUnitAttr());
    }
    return row;
  }

  /// Each element of the row so many times.
  Value repeated(Value row) {
    auto type = cast<RankedTensorType>(row.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(groups.size);
    Value init = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    auto wide = linalg::BroadcastOp::create(b, loc, row, init,
                                            ArrayRef<int64_t>{type.getRank()});
    SmallVector<ReassociationIndices> dims;
    for (int64_t d = 0; d < type.getRank(); ++d)
      dims.push_back({d});
    dims.back().push_back(type.getRank());
    auto all =
        tensor::CollapseShapeOp::create(b, loc, wide->getResult(0), dims);
    all->setAttr(nearAttr, b.getUnitAttr());
    return all;
  }

  OpBuilder b;
  Location loc;
  const Groups &groups;
};
} // namespace

/// The dimension from which on all become the last one, if others stay.
static std::optional<unsigned>
firstOfGroups(ArrayRef<ReassociationIndices> dims) {
  if (dims.empty() || dims.back().size() < 2 ||
      !llvm::all_of(dims.drop_back(),
                    [](const auto &group) { return group.size() == 1; }))
    return std::nullopt;
  return dims.back().front();
}

/// What is computed from `block` is an operand of a product, or of another op
/// with loops of its own. These pack what is in memory: packed weights that are
/// spread where they are multiplied took three times as long.
static bool hasOwnLoops(Value block) {
  llvm::SetVector<Value> blocks;
  blocks.insert(block);
  for (size_t i = 0; i < blocks.size(); ++i)
    for (Operation *user : blocks[i].getUsers()) {
      if (kindOf(user) == OpKind::OwnRoot)
        return true;
      if (kindOf(user) == OpKind::Inlineable)
        blocks.insert_range(user->getResults());
    }
  return false;
}

static void flattenLoad(tensor::CollapseShapeOp op) {
  auto first = firstOfGroups(op.getReassociationIndices());
  auto load = matchLoad(op.getSrc());
  if (!first || !load || load->other || !op.getType().hasStaticShape() ||
      hasOwnLoops(op))
    return;
  auto place = Place::of(load->read.getBuffer());
  auto groups = place ? findGroups(*place, *first) : std::nullopt;
  if (!groups)
    return;
  Flattener flattener(op, *groups);
  OpBuilder &b = flattener.b;
  b.setInsertionPoint(load->read);
  Value memory = flattener.flat(*place);
  auto type = cast<MemRefType>(memory.getType());
  auto read = bufferization::ToTensorOp::create(
      b, flattener.loc,
      RankedTensorType::get(type.getShape(), type.getElementType()), memory,
      load->read.getRestrict(), load->read.getWritable());
  read->setDiscardableAttrs(load->read->getDiscardableAttrDictionary());
  Value row = read;
  if (auto pad = op.getSrc().getDefiningOp<tensor::PadOp>()) {
    b.setInsertionPoint(pad);
    auto low = flattener.flat(pad.getMixedLowPad()),
         high = flattener.flat(pad.getMixedHighPad());
    Value outside = load->pad;
    // A constant may be in the region.
    if (pad->isAncestor(outside.getParentBlock()->getParentOp()))
      outside = b.clone(*outside.getDefiningOp())->getResult(0);
    SmallVector<int64_t> shape(pad.getResultType().getShape());
    shape.resize(*first + 1);
    shape.back() *= groups->inMemory();
    auto padded = tensor::PadOp::create(
        b, flattener.loc, RankedTensorType::get(shape, type.getElementType()),
        row, low, high, outside, pad.getNofold());
    padded->setDiscardableAttrs(pad->getDiscardableAttrDictionary());
    row = padded;
  }
  b.setInsertionPoint(op);
  row = groups->isRepeated ? flattener.repeated(row) : flattener.exchanged(row);
  op.replaceAllUsesWith(row);
  Operation *block = op.getSrc().getDefiningOp();
  op->erase();
  Operation *wide = load->read;
  if (block != wide && block->use_empty())
    block->erase();
  if (wide->use_empty())
    wide->erase();
}

/// Gathered rows are in scratch memory, and their elements are spread from
/// there.
static void spreadRows(tensor::CollapseShapeOp op) {
  auto repeated = RepeatedLanes::match(op);
  if (repeated && repeated->source.getDefiningOp<linalg_ext::GatherRowsOp>() &&
      !hasOwnLoops(op))
    op->setAttr(nearAttr, UnitAttr::get(op.getContext()));
}

/// A store to a block whose groups run backwards.
static void flattenStore(bufferization::MaterializeInDestinationOp op) {
  auto store = matchStore(op);
  auto expand =
      store ? store->tensor.getDefiningOp<tensor::ExpandShapeOp>() : nullptr;
  auto first =
      expand ? firstOfGroups(expand.getReassociationIndices()) : std::nullopt;
  auto place = first ? Place::of(op.getDest()) : std::nullopt;
  auto groups = place ? findGroups(*place, *first) : std::nullopt;
  if (!groups || groups->isRepeated)
    return;
  Flattener flattener(op, *groups);
  OpBuilder &b = flattener.b;
  Value memory = flattener.flat(*place),
        row = flattener.exchanged(expand.getSrc());
  if (!store->low.empty()) {
    auto slice = op.getSource().getDefiningOp<tensor::ExtractSliceOp>();
    auto low = flattener.flat(slice.getMixedOffsets()),
         sizes = flattener.flat(slice.getMixedSizes());
    row = tensor::ExtractSliceOp::create(
        b, flattener.loc, row, low, sizes,
        SmallVector<OpFoldResult>(low.size(), b.getIndexAttr(1)));
  }
  auto flat = bufferization::MaterializeInDestinationOp::create(
      b, flattener.loc, Type(), row, memory, op.getRestrict(),
      op.getWritable());
  flat->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->erase();
}

namespace {

struct FlattenGroupsPass
    : public tilebridge::cpu::impl::CpuFlattenGroupsPassBase<
          FlattenGroupsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
        spreadRows(collapse);
        flattenLoad(collapse);
      } else if (auto write =
                     dyn_cast<bufferization::MaterializeInDestinationOp>(op))
        flattenStore(write);
    }
  }
};

} // namespace
