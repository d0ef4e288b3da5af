//===- DropUnitDims.cpp - tilebridge-cpu-drop-unit-dims -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Kernels that are written for blocks of rows are often launched with one row a
// block, and what generates kernels gives each dimension a block, be it of one
// element. A sum of each row is a block of one number then, which is in memory
// where a number would be in a register: between iterations, and between a loop
// and those who use what it gave. A row under a mask is a loop around one row.
// Without the dimension both are what they are in a kernel for one row.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/ReducedBlocks.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUDROPUNITDIMSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Where the dimensions `dims` of a block of `shape` are among those of other
/// sizes than 1.
static SmallVector<int64_t> renumbered(ArrayRef<int64_t> dims,
                                       ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result;
  for (int64_t d : dims)
    if (shape[d] != 1)
      result.push_back(llvm::count_if(shape.take_front(d),
                                      [](int64_t size) { return size != 1; }));
  return result;
}

static void renumberAlong(Operation *op, ArrayRef<int64_t> shape) {
  if (auto along = op->getAttrOfType<IntegerAttr>("dimension"))
    op->setAttr("dimension", OpBuilder(op).getI64IntegerAttr(
                                 renumbered(along.getInt(), shape).front()));
}

/// The index of a loop of one iteration is 0.
static void replaceByZero(linalg::IndexOp index) {
  OpBuilder b(index);
  Value zero = arith::ConstantIndexOp::create(b, index.getLoc(), 0);
  index.getResult().replaceAllUsesWith(zero);
  index.erase();
}

/// Loops over a block of `shape`, without those of one iteration.
static void dropLoops(linalg::GenericOp op, ArrayRef<int64_t> shape) {
  Builder b(op.getContext());
  unsigned loops =
      llvm::count_if(shape, [](int64_t size) { return size != 1; });
  SmallVector<AffineMap> maps;
  for (Value operand : op->getOperands())
    maps.push_back(blockType(operand)
                       ? b.getMultiDimIdentityMap(loops)
                       : AffineMap::get(loops, 0, b.getContext()));
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  op.setIteratorTypesAttr(
      b.getArrayAttr(op.getIteratorTypes().getValue().take_front(loops)));
  op.walk([&](linalg::IndexOp index) {
    SmallVector<int64_t> dim = renumbered(index.getDim(), shape);
    if (dim.empty())
      replaceByZero(index);
    else
      index.setDim(dim.front());
  });
}

namespace {

class UnitDimsDropper {
public:
  UnitDimsDropper(MLIRContext *context, ArrayRef<Operation *> ops)
      : ops(ops), b(context), dims(ops), blocks(b, dims) {}

  void run() {
    for (Operation *op : ops)
      visit(op);
    blocks.eraseReplaced(ops);
  }

private:
  void visit(Operation *op) {
    b.setInsertionPoint(op);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument, result] :
           llvm::zip_equal(loop.getInitArgsMutable(), loop.getRegionIterArgs(),
                           loop.getResults()))
        if (dims.isDropped(argument)) {
          init.set(blocks.without(init.get()));
          blocks.retype(argument);
          blocks.retype(result);
        }
    } else if (isa<scf::IfOp>(op)) {
      for (Value result : op->getResults())
        if (dims.isDropped(result))
          blocks.retype(result);
    } else if (isYieldOfKnown(op)) {
      for (auto [operand, type] : llvm::zip_equal(
               op->getOpOperands(), op->getParentOp()->getResultTypes()))
        if (operand.get().getType() != type)
          operand.set(blocks.without(operand.get()));
    } else if (drop(op)) {
      return;
    }
    // Others see what they have seen.
    for (OpOperand &operand : op->getOpOperands())
      if (Value block = blocks.with(op->getLoc(), operand.get()))
        operand.set(block);
  }

  bool drop(Operation *op) {
    if (auto store = matchStore(op))
      return dims.isDropped(store->tensor) && dropInStore(*store);
    auto isLess = [&](Value value) {
      return dims.isDropped(value) &&
             (blockType(value).getRank() != 0 || blocks.isReplaced(value));
    };
    if (llvm::none_of(op->getOperands(), isLess) &&
        llvm::none_of(op->getResults(), isLess))
      return false;
    if (hasOneShape(op))
      return dropAll(op);
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>([&](auto op) {
          Value less = blocks.without(op.getSrc());
          if (blockType(less))
            less = blocks.reshape(less, withoutUnits(op.getResultType()));
          return blocks.give(op.getResult(), less);
        })
        .Case<tensor::ExtractOp, linalg::BroadcastOp, linalg::TransposeOp,
              linalg::ReduceOp, linalg::BatchMatmulOp>(
            [&](auto op) { return changesShape(op) && dropIn(op); })
        .Case([&](linalg_ext::ReduceOp reduce) { return dropIn(reduce); })
        .Case<bufferization::ToTensorOp, tensor::PadOp, tensor::InsertSliceOp>(
            [&](auto op) {
              return isOnlyBox(op) || (dims.isDropped(op.getResult()) &&
                                       dropInLoad(op.getResult()));
            })
        .Case([](tensor::ExtractSliceOp op) {
          return isOnlyBox(op) && !isOneElement(op.getSource());
        })
        .Default([](Operation *) { return false; });
  }

  /// A copy without the dimensions.
  Operation *copy(Operation *op) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(blocks.without(operand));
    Operation *made = b.clone(*op);
    made->setOperands(operands);
    for (Value result : made->getResults())
      if (RankedTensorType type = blockType(result))
        result.setType(withoutUnits(type));
    return made;
  }

  /// Gives what a copy gives; a block of rank 0 as a number.
  bool giveAll(Operation *op, Operation *made) {
    blocks.setReplaced(op);
    b.setInsertionPointAfter(made);
    for (auto [result, less] :
         llvm::zip_equal(op->getResults(), made->getResults())) {
      RankedTensorType type = blockType(less);
      blocks.give(result, type && type.getRank() == 0 ? blocks.elementOf(less)
                                                      : Value(less));
    }
    return true;
  }

  /// What a scan or reduction along one element gives.
  bool giveInputs(Operation *op) {
    for (auto [input, result] :
         llvm::zip_equal(op->getOperands(), op->getResults()))
      blocks.give(result, blocks.without(input));
    return true;
  }

  bool dropAll(Operation *op) {
    ValueRange values =
        op->getNumResults() ? ValueRange(op->getResults()) : op->getOperands();
    Value block = *llvm::find_if(values, [](Value v) { return blockType(v); });
    ArrayRef<int64_t> shape = blockType(block).getShape();
    auto scan = dyn_cast<linalg_ext::ScanOp>(op);
    if (scan && shape[scan.getDimension()] == 1)
      return giveInputs(op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    bool isNumber = isOneElement(block);
    if (isNumber && generic)
      return compute(generic);
    if (isNumber && !isElementwise(op))
      return false;
    Operation *made = copy(op);
    if (isNumber)
      made->getResult(0).setType(blockType(block).getElementType());
    renumberAlong(made, shape);
    if (generic)
      dropLoops(cast<linalg::GenericOp>(made), shape);
    return giveAll(op, made);
  }

  /// The one element that the body computes.
  bool compute(linalg::GenericOp op) {
    IRMapping map;
    for (OpOperand *input : op.getDpsInputOperands())
      map.map(op.getMatchingBlockArgument(input), blocks.without(input->get()));
    Block *body = op.getBody();
    for (Operation &inner : body->without_terminator()) {
      if (isa<linalg::IndexOp>(inner)) {
        map.map(inner.getResult(0),
                arith::ConstantIndexOp::create(b, inner.getLoc(), 0));
        continue;
      }
      Operation *made = b.clone(inner, map);
      made->walk(replaceByZero);
      // LLVM would estimate it.
      made->walk([](arith::DivFOp divide) {
        divide.setFastmath(divide.getFastmath() & ~arith::FastMathFlags::arcp);
      });
    }
    for (auto [result, value] : llvm::zip_equal(
             op->getResults(), body->getTerminator()->getOperands()))
      blocks.give(result, map.lookupOrDefault(value));
    return true;
  }

  bool dropIn(tensor::ExtractOp op) {
    Value less = blocks.without(op.getTensor());
    if (blockType(less)) {
      SmallVector<Value> indices(op.getIndices());
      less = tensor::ExtractOp::create(
          b, op.getLoc(), less,
          withoutUnits<Value>(indices, blockType(op.getTensor()).getShape()));
    }
    return blocks.give(op.getResult(), less);
  }

  bool dropIn(linalg::BroadcastOp op) {
    Value result = op->getResult(0), less = blocks.without(op.getInput());
    RankedTensorType type = withoutUnits(blockType(result));
    SmallVector<int64_t> added =
        renumbered(op.getDimensions(), blockType(result).getShape());
    if (!blockType(less) && !added.empty())
      less = tensor::SplatOp::create(b, op.getLoc(), type, less);
    else if (!added.empty())
      less = linalg::BroadcastOp::create(b, op.getLoc(), less,
                                         blocks.empty(op.getLoc(), type), added)
                 ->getResult(0);
    return blocks.give(result, less);
  }

  bool dropIn(linalg::TransposeOp op) {
    Value result = op->getResult(0), less = blocks.without(op.getInput());
    SmallVector<int64_t> order =
        renumbered(op.getPermutation(), blockType(op.getInput()).getShape());
    if (!llvm::is_sorted(order))
      less =
          linalg::TransposeOp::create(
              b, op.getLoc(), less,
              blocks.empty(op.getLoc(), withoutUnits(blockType(result))), order)
              ->getResult(0);
    return blocks.give(result, less);
  }

  bool dropIn(linalg::ReduceOp op) {
    Value input = op.getInputs().front(), init = op.getInits().front();
    SmallVector<int64_t> along =
        renumbered(op.getDimensions(), blockType(input).getShape());
    // An initial value changes nothing.
    if (along.empty())
      return blocks.give(op->getResult(0), blocks.without(input));
    Value less = blocks.without(input),
          start = blocks.inShape(init, withoutUnits(blockType(init)));
    auto made = cast<linalg::ReduceOp>(b.clone(*op));
    made->setOperands({less, start});
    made.setDimensions(along);
    made->getResult(0).setType(start.getType());
    return giveAll(op, made);
  }

  bool dropIn(linalg_ext::ReduceOp op) {
    ArrayRef<int64_t> shape = blockType(op->getOperand(0)).getShape();
    if (shape[op.getDimension()] == 1)
      return giveInputs(op);
    Operation *made = copy(op);
    renumberAlong(made, shape);
    return giveAll(op, made);
  }

  bool dropIn(linalg::BatchMatmulOp op) {
    Value left = blocks.without(op.getInputs()[0]),
          right = blocks.without(op.getInputs()[1]),
          sums = blocks.without(op.getOutputs()[0]);
    auto made = linalg::MatmulOp::create(b, op.getLoc(), sums.getType(),
                                         ValueRange{left, right}, sums);
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    return giveAll(op, made);
  }

  bool dropInLoad(Value block) {
    std::optional<StructuredLoad> load = matchLoad(block);
    auto sizes = load ? sizesOf(load->read.getBuffer()) : std::nullopt;
    if (!load || !sizes || isOneElement(block))
      return false;
    Location loc = block.getLoc();
    ArrayRef<int64_t> shape = blockType(block).getShape();
    b.setInsertionPoint(load->read);
    BlockPart part =
        partWithoutUnits(b, loc, load->read.getBuffer(), *sizes, shape);
    auto read = bufferization::ToTensorOp::create(b, loc, part.type, part.view,
                                                  load->read.getRestrict(),
                                                  load->read.getWritable());
    read->setDiscardableAttrs(load->read->getDiscardableAttrDictionary());
    if (load->low.empty())
      return blocks.give(block, read);
    b.setInsertionPointAfterValue(block);
    auto low = withoutUnits<OpFoldResult>(load->low, shape);
    RankedTensorType type = withoutUnits(blockType(block));
    if (load->other)
      return blocks.give(
          block, tensor::InsertSliceOp::create(
                     b, loc, read, blocks.without(load->other), low, part.sizes,
                     SmallVector<OpFoldResult>(low.size(), b.getIndexAttr(1))));
    SmallVector<OpFoldResult> high;
    for (auto [size, begin, length] :
         llvm::zip_equal(type.getShape(), low, part.sizes))
      high.push_back(subIndex(
          b, loc, subIndex(b, loc, b.getIndexAttr(size), begin), length));
    return blocks.give(
        block, tensor::PadOp::create(b, loc, type, read, low, high, load->pad));
  }

  bool dropInStore(StructuredStore store) {
    auto sizes = sizesOf(store.write.getDest());
    if (!sizes || isOneElement(store.tensor))
      return false;
    Location loc = store.write->getLoc();
    ArrayRef<int64_t> shape = blockType(store.tensor).getShape();
    BlockPart part =
        partWithoutUnits(b, loc, store.write.getDest(), *sizes, shape);
    Value value = blocks.without(store.tensor);
    if (!store.low.empty()) {
      SmallVector<OpFoldResult> ones(part.sizes.size(), b.getIndexAttr(1));
      value = tensor::ExtractSliceOp::create(
          b, loc, part.type, value,
          withoutUnits<OpFoldResult>(store.low, shape), part.sizes, ones);
    }
    auto made = bufferization::MaterializeInDestinationOp::create(
        b, loc, TypeRange(), value, part.view, store.write.getRestrict(),
        store.write.getWritable());
    made->setDiscardableAttrs(store.write->getDiscardableAttrDictionary());
    blocks.setReplaced(store.write);
    return true;
  }

  ArrayRef<Operation *> ops;
  OpBuilder b;
  UnitDims dims;
  ReducedBlocks blocks;
};

struct DropUnitDimsPass
    : public tilebridge::cpu::impl::CpuDropUnitDimsPassBase<DropUnitDimsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    bool hasAny = false;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      ops.push_back(op);
      for (Value result : op->getResults())
        hasAny |= hasUnitDims(result) && blockType(result).getRank() != 0;
      return isa<func::FuncOp>(op) || isa<scf::SCFDialect>(op->getDialect())
                 ? WalkResult::advance()
                 : WalkResult::skip();
    });
    if (hasAny)
      UnitDimsDropper(&getContext(), ops).run();
  }
};

} // namespace
