//===- JoinBranchLoads.cpp - tilebridge-cpu-join-branch-loads -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// On a GPU a mask costs something in each access: kernels ask whether a block
// is whole, and load it with a mask or without one. Here a mask is a bound, and
// what a branch gives is a copy in memory. So is what an access gives that is
// a box in some programs alone; loops that read pieces of rows read boxes, too.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/AccessNote.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUJOINBRANCHLOADSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

/// The first elements of a block along each dimension, and what is outside of
/// them (null: nothing is).
struct BoxLoad {
  memref::ReinterpretCastOp block;
  SmallVector<OpFoldResult> sizes;
  Attribute pad;
};

/// One branch of what gives a block.
class JoinLoads {
public:
  explicit JoinLoads(scf::IfOp branch) : branch(branch) {}

  void run() {
    if (branch.getNumResults() == 0 || branch.getElseRegion().empty() ||
        anyInside(branch, [](Operation *op) {
          return op->getNumRegions() == 0 && mayWrite(op);
        }))
      return;
    for (OpResult result : branch.getResults())
      if (!readsPieces(result))
        join(result);
  }

private:
  static constexpr unsigned mostOps = 16;

  static std::optional<BoxLoad> match(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto load = matchLoad(value);
    if (!type || !type.hasStaticShape() || !load || load->other)
      return std::nullopt;
    BoxLoad box;
    Value memref = load->read.getBuffer();
    if (load->pad) {
      auto part = memref.getDefiningOp<memref::SubViewOp>();
      bool isFirst =
          part && part.hasUnitStride() &&
          part.getSourceType().getRank() == part.getType().getRank() &&
          llvm::all_of(part.getMixedOffsets(), isZeroInteger) &&
          llvm::all_of(load->low, isZeroInteger);
      if (!isFirst || !matchPattern(load->pad, m_Constant(&box.pad)))
        return std::nullopt;
      memref = part.getSource();
      box.sizes = part.getMixedSizes();
    } else {
      box.sizes = getAsIndexOpFoldResult(value.getContext(), type.getShape());
    }
    box.block = memref.getDefiningOp<memref::ReinterpretCastOp>();
    if (!box.block || box.block.getType().getShape() != type.getShape())
      return std::nullopt;
    return box;
  }

  /// Loops that store it, element by element, are all that uses it.
  static bool isOnlyStored(Value value, Block *block) {
    llvm::SetVector<Value> values;
    values.insert(value);
    for (size_t i = 0; i < values.size(); ++i) {
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(values[i].getType()).getShape();
      for (Operation *user : values[i].getUsers()) {
        if (user->getBlock() != block)
          return false;
        if (isa<bufferization::MaterializeInDestinationOp,
                linalg_ext::MaskedStoreOp>(user))
          continue;
        if (!isa<tensor::ExtractSliceOp>(user) && !isElementwise(user))
          return false;
        for (Value result : user->getResults()) {
          auto type = dyn_cast<RankedTensorType>(result.getType());
          if (!type || type.getRank() != static_cast<int64_t>(shape.size()))
            return false;
          values.insert(result);
        }
      }
    }
    return true;
  }

  /// Of a load that is a gather in some programs, and a box in the others,
  /// leaves the gather where nests read it in pieces.
  bool readsPieces(OpResult result) {
    unsigned number = result.getResultNumber();
    Value read = branch.elseYield().getOperand(number);
    Operation *gather = read.getDefiningOp();
    // Pieces of a constant number of elements, as `i // 2` has, are a block
    // with a dimension more; where it is known to be that, it is read as such.
    if (matchPattern(branch.getCondition(), m_One()) &&
        branch.thenYield()
            .getOperand(number)
            .getDefiningOp<tensor::CollapseShapeOp>())
      return false;
    llvm::SetVector<Operation *> ops;
    auto mayMove = [&](Value operand) { return collect(operand, ops); };
    if (!gather || gather->getBlock() != branch.elseBlock() ||
        !gather->hasAttr(linalg_ext::sameLoadAttr) || !isReadInPieces(gather) ||
        !isOnlyStored(result, branch->getBlock()) ||
        !llvm::all_of(gather->getOperands(), mayMove))
      return false;
    ops.insert(gather);
    for (Operation *op : ops)
      op->moveBefore(branch);
    result.replaceAllUsesWith(read);
    return true;
  }

  /// Both branches compute the same number.
  bool isSame(Value left, Value right, unsigned depth = mostOps) {
    if (left == right)
      return true;
    Operation *op = left.getDefiningOp(), *other = right.getDefiningOp();
    return op && other && depth > 0 && op->getNumRegions() == 0 && isPure(op) &&
           OperationEquivalence::isEquivalentTo(
               op, other,
               [&](Value x, Value y) {
                 return success(isSame(x, y, depth - 1));
               },
               nullptr, OperationEquivalence::IgnoreLocations);
  }

  bool isSame(ArrayRef<OpFoldResult> left, ArrayRef<OpFoldResult> right) {
    return llvm::all_of(llvm::zip_equal(left, right), [&](auto pair) {
      auto [x, y] = pair;
      if (isa<Attribute>(x) || isa<Attribute>(y))
        return x == y;
      return isSame(cast<Value>(x), cast<Value>(y));
    });
  }

  /// Finds what `value` is computed from inside of the branch; false if some of
  /// it may not be computed before.
  bool collect(Value value, llvm::SetVector<Operation *> &ops) {
    Operation *op = value.getDefiningOp();
    if (!branch->isAncestor(value.getParentRegion()->getParentOp()) ||
        ops.contains(op))
      return true;
    if (!op || !isPure(op))
      return false;
    auto result = op->walk([&](Operation *inner) {
      bool mayMove = llvm::all_of(inner->getOperands(), [&](Value operand) {
        return op->isAncestor(operand.getParentBlock()->getParentOp()) ||
               collect(operand, ops);
      });
      return mayMove ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return false;
    ops.insert(op);
    return true;
  }

  void join(OpResult result) {
    unsigned number = result.getResultNumber();
    auto yes = match(branch.thenYield().getOperand(number)),
         no = match(branch.elseYield().getOperand(number));
    if (!yes || !no || (yes->pad && no->pad && yes->pad != no->pad) ||
        yes->block.getSource() != no->block.getSource() ||
        !isSame(yes->block.getMixedOffsets(), no->block.getMixedOffsets()) ||
        !isSame(yes->block.getMixedStrides(), no->block.getMixedStrides()))
      return;
    llvm::SetVector<Operation *> ops;
    bool mayMove = collect(yes->block, ops);
    for (ArrayRef<OpFoldResult> sizes : {yes->sizes, no->sizes})
      for (OpFoldResult size : sizes)
        if (auto value = dyn_cast<Value>(size))
          mayMove &= collect(value, ops);
    if (!mayMove)
      return;
    for (Operation *op : ops)
      op->moveBefore(branch);
    result.replaceAllUsesWith(load(*yes, *no, result));
  }

  /// The load of both, before the branch.
  Value load(BoxLoad yes, const BoxLoad &no, OpResult result) {
    OpBuilder b(branch);
    Location loc = yes.block.getLoc();
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> sizes, high,
        zeros(type.getRank(), b.getIndexAttr(0)),
        ones(type.getRank(), b.getIndexAttr(1));
    for (auto [size, other, length] :
         llvm::zip_equal(yes.sizes, no.sizes, type.getShape())) {
      if (isEqualConstantIntOrValue(size, other)) {
        sizes.push_back(size);
      } else {
        Value chosen = arith::SelectOp::create(
            b, loc, branch.getCondition(),
            getValueOrCreateConstantIndexOp(b, loc, size),
            getValueOrCreateConstantIndexOp(b, loc, other));
        sizes.push_back(chosen);
      }
      if (auto known = getConstantIntValue(sizes.back())) {
        sizes.back() = b.getIndexAttr(*known);
        high.push_back(b.getIndexAttr(length - *known));
        continue;
      }
      Value all = arith::ConstantIndexOp::create(b, loc, length),
            left =
                arith::SubIOp::create(b, loc, all, cast<Value>(sizes.back()));
      high.push_back(left);
    }
    Value memref =
        memref::SubViewOp::create(b, loc, yes.block, zeros, sizes, ones);
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    Value box =
        bufferization::ToTensorOp::create(b, loc, type.clone(shape), memref);
    auto pad = cast<TypedAttr>(yes.pad  ? yes.pad
                               : no.pad ? no.pad
                                        : b.getZeroAttr(type.getElementType()));
    Value outside = arith::ConstantOp::create(b, loc, pad);
    return tensor::PadOp::create(b, loc, type, box, zeros, high, outside);
  }

  scf::IfOp branch;
};

struct JoinBranchLoadsPass
    : public tilebridge::cpu::impl::CpuJoinBranchLoadsPassBase<
          JoinBranchLoadsPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk<WalkOrder::PostOrder>(
        [](scf::IfOp branch) { JoinLoads(branch).run(); });
  }
};

} // namespace
