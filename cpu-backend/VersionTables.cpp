//===- VersionTables.cpp - tilebridge-cpu-version-tables ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A table that is read at `i % n` with the mask `i < end` is asked for each
// element: rows of the table are no dimension of the mask. All programs but the
// last one have whole blocks, and read the table as if there were no mask.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/UniformTensors.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUVERSIONTABLESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;

/// The number that all elements of a block of integers are; null if there is
/// none.
static Value numberOf(OpBuilder &b, Value block) {
  if (auto splat = block.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  DenseElementsAttr elements;
  if (!matchPattern(block, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return arith::ConstantOp::create(
      b, block.getLoc(), cast<TypedAttr>(elements.getSplatValue<Attribute>()));
}

/// An element's value is its index along the only dimension.
static bool isIndex(Value block) {
  auto op = block.getDefiningOp<linalg::GenericOp>();
  if (!op || op->getNumResults() != 1 || op.getNumLoops() != 1)
    return false;
  Value element = op.getBody()->getTerminator()->getOperand(0);
  if (auto cast = element.getDefiningOp<arith::IndexCastOp>())
    element = cast.getIn();
  return element.getDefiningOp<linalg::IndexOp>() != nullptr;
}

/// What says that all elements of a mask `start + i < end` are true, also of
/// sums that do not fit their type; null for other masks.
static Value isWhole(OpBuilder &b, Value mask) {
  auto type = cast<RankedTensorType>(mask.getType());
  auto compare = mask.getDefiningOp<linalg::GenericOp>();
  auto less = compare
                  ? dyn_cast_or_null<arith::CmpIOp>(cpu::onlyOperation(compare))
                  : nullptr;
  if (!less || type.getRank() != 1)
    return {};
  Value left = cpu::blockOf(compare, less.getLhs()),
        right = cpu::blockOf(compare, less.getRhs());
  auto predicate = less.getPredicate();
  if (predicate == arith::CmpIPredicate::sgt) {
    std::swap(left, right);
    predicate = arith::CmpIPredicate::slt;
  }
  auto sum = left ? left.getDefiningOp<linalg::GenericOp>() : nullptr;
  if (predicate != arith::CmpIPredicate::slt || !right || !sum ||
      !isa_and_present<arith::AddIOp>(cpu::onlyOperation(sum)))
    return {};
  Operation *add = cpu::onlyOperation(sum);
  for (unsigned i : {0, 1}) {
    Value from = cpu::blockOf(sum, add->getOperand(i)),
          index = cpu::blockOf(sum, add->getOperand(1 - i));
    if (!from || !index || !isIndex(index))
      continue;
    Value start = numberOf(b, from), end = numberOf(b, right);
    if (!start || !end || start.getType().getIntOrFloatBitWidth() > 32)
      return {};
    Location loc = mask.getLoc();
    auto wide = [&](Value number) -> Value {
      return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
    };
    Value size = arith::ConstantIndexOp::create(b, loc, type.getDimSize(0));
    Value last = arith::AddIOp::create(b, loc, wide(start), size);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, last,
                                 wide(end));
  }
  return {};
}

/// A table over and over: its view has a stride of zero along the outer
/// dimension.
static memref::ReinterpretCastOp tableIn(Value memory) {
  auto view = memory.getDefiningOp<memref::ReinterpretCastOp>();
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  return view && view.getType().hasStaticShape() &&
                 succeeded(
                     view.getType().getStridesAndOffset(strides, offset)) &&
                 strides.size() > 1 && strides.front() == 0 &&
                 strides.back() != 0
             ? view
             : nullptr;
}

/// What the mask of a table is before it gets the view's dimensions; null for
/// other loads.
static Value maskOfTable(linalg_ext::MaskedLoadOp load) {
  auto expand = load.getMask().getDefiningOp<tensor::ExpandShapeOp>();
  return expand && tableIn(load.getView()) ? expand.getSrc() : Value();
}

namespace {

/// A table, the first so many rows of which are read.
struct TableRows {
  bufferization::ToTensorOp read;
  memref::ReinterpretCastOp view;
  Value rows;
};

} // namespace

static TableRows rowsOfTable(tensor::PadOp pad) {
  auto read = pad.getSource().getDefiningOp<bufferization::ToTensorOp>();
  auto part =
      read ? read.getBuffer().getDefiningOp<memref::SubViewOp>() : nullptr;
  auto view = part ? tableIn(part.getSource()) : nullptr;
  if (!view || read->getBlock() != pad->getBlock() ||
      part.getMixedSizes().size() != view.getMixedSizes().size() ||
      pad.getResultType().getShape() != view.getType().getShape() ||
      !llvm::all_of(part.getMixedOffsets(), isZeroInteger) ||
      !llvm::all_of(pad.getMixedLowPad(), isZeroInteger) ||
      !llvm::all_of(part.getMixedStrides(), isOneInteger))
    return {};
  auto sizes = part.getStaticSizes();
  if (!ShapedType::isDynamic(sizes.front()) ||
      sizes.drop_front() != view.getType().getShape().drop_front())
    return {};
  return {read, view, part.getDynamicSize(0)};
}

static Value readView(Operation *place, Value view, RankedTensorType type) {
  OpBuilder b(place);
  auto read = bufferization::ToTensorOp::create(
      b, place->getLoc(), type, view, /*restrict=*/false, /*writable=*/false);
  read->setDiscardableAttrs(place->getDiscardableAttrDictionary());
  return read.getResult();
}

/// Reads views as a whole where the mask of the load is `whole`.
static void readWhole(Block &block, Value whole) {
  SmallVector<linalg_ext::MaskedLoadOp> loads;
  block.walk([&](linalg_ext::MaskedLoadOp load) { loads.push_back(load); });
  for (linalg_ext::MaskedLoadOp load : loads) {
    auto expand = load.getMask().getDefiningOp<tensor::ExpandShapeOp>();
    if (load.getMask() != whole && (!expand || expand.getSrc() != whole))
      continue;
    load.replaceAllUsesWith(
        readView(load, load.getView(),
                 cast<RankedTensorType>(load.getResult().getType())));
    load.erase();
  }
}

/// Reads all rows of tables of which `rows` are read.
static void readAllRows(Block &block, Value rows, int64_t all) {
  for (auto pad : llvm::make_early_inc_range(block.getOps<tensor::PadOp>())) {
    TableRows table = rowsOfTable(pad);
    if (!table.read || table.rows != rows ||
        table.view.getType().getDimSize(0) != all)
      continue;
    pad.replaceAllUsesWith(
        readView(table.read, table.view, pad.getResultType()));
    pad.erase();
  }
}

/// All that follows `first` in its block twice: where `isAll`, as `change`
/// leaves it, and as it is. `prepare` says what stands for values from before.
static bool version(Operation *first,
                    llvm::function_ref<Value(OpBuilder &)> isAll,
                    llvm::function_ref<void(OpBuilder &, IRMapping &)> prepare,
                    llvm::function_ref<void(Block &, IRMapping &)> change) {
  constexpr int64_t mostOps = 200;
  Block *block = first->getBlock();
  Operation *end = block->getTerminator();
  int64_t ops = 0;
  for (Operation &op :
       llvm::make_range(Block::iterator(first), end->getIterator()))
    op.walk([&](Operation *) { ++ops; });
  if (end->getNumOperands() != 0 || ops > mostOps)
    return false;
  OpBuilder b(first);
  Value condition = isAll(b);
  if (!condition)
    return false;
  auto branch = scf::IfOp::create(b, first->getLoc(), condition,
                                  /*withElseRegion=*/true);
  Block *others = branch.elseBlock();
  others->getOperations().splice(others->getTerminator()->getIterator(),
                                 block->getOperations(), Block::iterator(first),
                                 end->getIterator());
  OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
  IRMapping copies;
  prepare(then, copies);
  for (Operation &op : others->without_terminator())
    then.clone(op, copies);
  change(*branch.thenBlock(), copies);
  return true;
}

static bool versionMasked(linalg_ext::MaskedLoadOp load) {
  Value mask = maskOfTable(load);
  if (!mask)
    return false;
  Block *block = load->getBlock();
  return version(
      load, [&](OpBuilder &b) { return isWhole(b, mask); },
      [&](OpBuilder &b, IRMapping &copies) {
        auto type = cast<ShapedType>(mask.getType());
        copies.map(mask,
                   arith::ConstantOp::create(
                       b, mask.getLoc(), DenseElementsAttr::get(type, true)));
        // A mask's other shapes may be those of before.
        for (Operation *user : llvm::to_vector(mask.getUsers()))
          if (isa<tensor::ExpandShapeOp>(user) && user->getBlock() == block)
            b.clone(*user, copies);
      },
      [&](Block &whole, IRMapping &copies) {
        readWhole(whole, copies.lookup(mask));
      });
}

static bool versionRows(tensor::PadOp pad) {
  TableRows table = rowsOfTable(pad);
  if (!table.read)
    return false;
  int64_t all = table.view.getType().getDimSize(0);
  return version(
      table.read,
      [&](OpBuilder &b) -> Value {
        Location loc = pad.getLoc();
        return arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::eq, table.rows,
            arith::ConstantIndexOp::create(b, loc, all));
      },
      [](OpBuilder &, IRMapping &) {},
      [&](Block &whole, IRMapping &copies) {
        readAllRows(whole, table.rows, all);
      });
}

namespace {

struct VersionTablesPass
    : public tilebridge::cpu::impl::CpuVersionTablesPassBase<
          VersionTablesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> reads;
    getOperation()->walk([&](Operation *op) {
      if (isa<linalg_ext::MaskedLoadOp, tensor::PadOp>(op))
        reads.push_back(op);
    });
    // What is in a branch of this pass is not looked at again.
    llvm::SmallDenseSet<Block *> versioned;
    for (Operation *op : reads) {
      Block *block = op->getBlock();
      if (versioned.contains(block))
        continue;
      auto load = dyn_cast<linalg_ext::MaskedLoadOp>(op);
      if (load ? versionMasked(load) : versionRows(cast<tensor::PadOp>(op)))
        versioned.insert(op->getBlock());
    }
  }
};

} // namespace
