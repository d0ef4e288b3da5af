//===- UnitDims.cpp - dimensions of size 1 --------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/UnitDims.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

RankedTensorType tilebridge::cpu::blockType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

bool tilebridge::cpu::hasUnitDims(Value value) {
  RankedTensorType type = blockType(value);
  return type && type.hasStaticShape() &&
         (type.getRank() == 0 || llvm::is_contained(type.getShape(), 1));
}

bool tilebridge::cpu::isOneElement(Value block) {
  return llvm::all_of(blockType(block).getShape(),
                      [](int64_t size) { return size == 1; });
}

bool tilebridge::cpu::isAnyShape(Value block) {
  Operation *op = block.getDefiningOp();
  auto constant = dyn_cast_if_present<arith::ConstantOp>(op);
  return constant ? isa<SplatElementsAttr>(constant.getValue())
                  : isa_and_present<tensor::SplatOp, tensor::EmptyOp>(op);
}

/// Each element is from those at its place, and the body says so by the
/// operands' order alone.
static bool isPlainElementwise(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return isElementwise(op) && !isa<linalg::LinalgOp>(op);
  return isElementwise(op) &&
         llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
           return generic.isDpsInit(&operand)
                      ? generic.getMatchingBlockArgument(&operand).use_empty()
                      : !isa<ShapedType>(operand.get().getType()) ||
                            generic.getMatchingIndexingMap(&operand)
                                .isIdentity();
         });
}

bool tilebridge::cpu::hasOneShape(Operation *op) {
  if (auto gather = dyn_cast<linalg_ext::GatherAlongOp>(op))
    return blockType(gather.getSource()).getShape() ==
               blockType(gather.getIndices()).getShape() &&
           blockType(gather.getIndices()).getDimSize(gather.getDimension()) !=
               1;
  return isPlainElementwise(op) ||
         isa<linalg_ext::ScanOp, linalg_ext::GatherOp, linalg_ext::ScatterOp,
             linalg_ext::AtomicRMWOp, linalg_ext::AtomicCASOp,
             linalg_ext::AtomicLoadOp, linalg_ext::AtomicStoreOp>(op);
}

bool tilebridge::cpu::isYieldOfKnown(Operation *op) {
  return isa<scf::YieldOp>(op) && isa<scf::ForOp, scf::IfOp>(op->getParentOp());
}

std::optional<SmallVector<OpFoldResult>> tilebridge::cpu::sizesOf(Value view) {
  auto type = cast<MemRefType>(view.getType());
  if (type.hasStaticShape())
    return getAsIndexOpFoldResult(type.getContext(), type.getShape());
  auto part = view.getDefiningOp<memref::SubViewOp>();
  if (!part || part.getSourceType().getRank() != type.getRank())
    return std::nullopt;
  return part.getMixedSizes();
}

bool tilebridge::cpu::isOnlyBox(Operation *op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    if (auto store = matchStore(user))
      return isa<tensor::ExtractSliceOp>(op) &&
             store->tensor == op->getOperand(0) &&
             sizesOf(store->write.getDest());
    auto load = isa<tensor::PadOp, tensor::InsertSliceOp>(user)
                    ? matchLoad(user->getResult(0))
                    : std::nullopt;
    return load && load->read == op;
  });
}

bool tilebridge::cpu::changesShape(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, linalg::BroadcastOp,
            linalg::TransposeOp, tensor::ExtractOp>([](auto) { return true; })
      .Case([](linalg::ReduceOp reduce) {
        return reduce.getInputs().size() == 1 &&
               isAnyShape(reduce.getInits().front());
      })
      .Case([](linalg::BatchMatmulOp product) {
        return llvm::all_of(product->getOperands(), [](Value operand) {
          ArrayRef<int64_t> shape = blockType(operand).getShape();
          return shape[0] == 1 && !llvm::is_contained(shape.drop_front(), 1);
        });
      })
      .Case<bufferization::ToTensorOp, tensor::PadOp, tensor::InsertSliceOp>(
          [](auto op) {
            auto load = matchLoad(op.getResult());
            return load && sizesOf(load->read.getBuffer());
          })
      .Case([](tensor::ExtractSliceOp slice) { return isOnlyBox(slice); })
      .Case([](bufferization::MaterializeInDestinationOp store) {
        return sizesOf(store.getDest()).has_value();
      })
      .Default([](Operation *) { return false; });
}

UnitDims::UnitDims(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    visit(op);
  classes.compress();
  llvm::SmallBitVector isKept(classes.getNumClasses());
  for (unsigned node : keptNodes)
    isKept.set(classes[node]);
  for (auto [value, node] : nodes)
    if (isKept.test(classes[node]))
      kept.insert(value);
}

unsigned UnitDims::nodeOf(Value value) {
  auto [it, isNew] = nodes.try_emplace(value, nodes.size());
  if (isNew)
    classes.grow(nodes.size());
  return it->second;
}

/// Both keep the dimensions, or neither does.
void UnitDims::join(Value a, Value other) {
  if (!hasUnitDims(a) || isAnyShape(a) || isAnyShape(other))
    return;
  unsigned left = nodeOf(a), right = nodeOf(other);
  classes.join(left, right);
}

void UnitDims::joinAll(ValueRange values) {
  Value first;
  for (Value value : values)
    if (hasUnitDims(value) && !isAnyShape(value)) {
      first = first ? first : value;
      join(first, value);
    }
}

void UnitDims::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, result] : llvm::zip_equal(
             loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
      join(argument, init);
      join(argument, result);
    }
  } else if (isYieldOfKnown(op)) {
    for (auto [value, result] :
         llvm::zip_equal(op->getOperands(), op->getParentOp()->getResults()))
      join(value, result);
  } else if (isa<linalg_ext::ReduceOp>(op)) {
    joinAll(op->getOperands());
  } else if (hasOneShape(op)) {
    SmallVector<Value> all(op->getOperands());
    llvm::append_range(all, op->getResults());
    joinAll(all);
  } else if (changesShape(op)) {
    // What is outside of a box may be another block.
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      join(insert.getResult(), insert.getDest());
  } else if (!isa<scf::IfOp>(op)) {
    // Blocks of one element are made where others want them.
    auto keep = [&](Value value) {
      if (hasUnitDims(value) && !isAnyShape(value) &&
          (!isOneElement(value) || op->getNumRegions() != 0))
        keptNodes.push_back(nodeOf(value));
    };
    llvm::for_each(op->getOperands(), keep);
    llvm::for_each(op->getResults(), keep);
  }
}
