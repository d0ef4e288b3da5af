//===- Kinds.cpp - what the emission makes of an op --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/StreamScans.h"
#include "cpu-backend/emit/TableLanes.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "cpu-backend/emit/RepeatedLanes.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

static bool isTensor(Type type) { return isa<TensorType>(type); }

bool tilebridge::cpu::isAtomic(Operation *op) {
  return isa<linalg_ext::AtomicRMWOp, linalg_ext::AtomicCASOp,
             linalg_ext::AtomicLoadOp, linalg_ext::AtomicStoreOp>(op);
}

bool tilebridge::cpu::isProduct(Operation *op) {
  return isa<linalg::ContractionOpInterface>(op) && !isa<linalg::GenericOp>(op);
}

bool tilebridge::cpu::mayWait(Operation *op) {
  return isAtomic(op) || isa<func::CallOp, scf::WhileOp>(op);
}

bool tilebridge::cpu::hasOrder(Operation *op) {
  return anyInside(op, [](Operation *inner) {
    return mayWait(inner) ||
           isa<linalg_ext::PrintOp, linalg_ext::AssertOp, linalg_ext::ClockOp>(
               inner);
  });
}

bool tilebridge::cpu::isOneNumber(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa<tensor::SplatOp, tensor::EmptyOp>(op);
}

OpKind tilebridge::cpu::kindOf(Operation *op) {
  if (isa<scf::SCFDialect>(op->getDialect()))
    return OpKind::Control;
  // Also where all operands are scalars.
  if (isAtomic(op) || isa<linalg_ext::PrintOp, linalg_ext::AssertOp>(op))
    return OpKind::OwnRoot;
  if (llvm::none_of(op->getOperandTypes(), isTensor) &&
      llvm::none_of(op->getResultTypes(), isTensor))
    return OpKind::Scalar;
  if (isa<bufferization::MaterializeInDestinationOp, linalg_ext::MaskedStoreOp,
          linalg::ReduceOp, linalg_ext::ReduceOp>(op))
    return OpKind::NestRoot;
  if (isa<linalg_ext::GatherOp, linalg_ext::GatherRowsOp,
          linalg_ext::MaskedLoadOp>(op))
    return OpKind::Inlineable;
  if (isa<linalg_ext::GatherAlongOp>(op) || isStreamedScan(op))
    return OpKind::Inlineable;
  if (isa<linalg_ext::LinalgExtDialect>(op->getDialect()) ||
      isa<tensor::ExtractOp>(op))
    return OpKind::OwnRoot;
  if (isa<linalg::BroadcastOp, linalg::TransposeOp>(op))
    return OpKind::Inlineable;
  // What gives nothing is not computed where it is used.
  if ((isa<linalg::LinalgOp>(op) && !isElementwise(op)) ||
      op->getNumResults() == 0)
    return OpKind::OwnRoot;
  return OpKind::Inlineable;
}

bool tilebridge::cpu::isShapeOfMemory(Operation *op) {
  return isa<linalg::TransposeOp>(op) || isUnitReshape(op);
}

bool tilebridge::cpu::anyInside(Operation *op,
                                llvm::function_ref<bool(Operation *)> is) {
  return op
      ->walk([&](Operation *inner) {
        return is(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool tilebridge::cpu::mayBeCompiled(func::FuncOp func, int64_t times) {
  if (!func->hasAttr("tilebridge.kernel") || !func.getBody().hasOneBlock())
    return false;
  int64_t ops = 0;
  return !anyInside(func, [&](Operation *op) {
    return isProduct(op) || ++ops * (times - 1) > mostOpsTwice;
  });
}

bool tilebridge::cpu::mayWrite(Operation *op) {
  if (isa<bufferization::MaterializeInDestinationOp>(op))
    return true;
  if (isa<linalg_ext::PrintOp, linalg_ext::AssertOp>(op))
    return false;
  if (isa<bufferization::ToTensorOp, linalg::LinalgOp>(op))
    return false;
  // All that is inside is walked once, however deep: what is nested has no say
  // of its own.
  auto isNested = [](Operation *op) {
    return op->getNumRegions() != 0 && isa<scf::SCFDialect>(op->getDialect());
  };
  if (isNested(op))
    return op
        ->walk<WalkOrder::PreOrder>([&](Operation *inner) {
          if (isa<linalg::LinalgOp>(inner))
            return WalkResult::skip();
          return !isNested(inner) && mayWrite(inner) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
        })
        .wasInterrupted();
  if (isMemoryEffectFree(op))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return !effects || effects.hasEffect<MemoryEffects::Write>();
}

bool tilebridge::cpu::mayRead(Operation *op) {
  if (isa<bufferization::ToTensorOp>(op))
    return true;
  if (isMemoryEffectFree(op) || isa<linalg::LinalgOp>(op))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return !effects || effects.hasEffect<MemoryEffects::Read>();
}

static bool isSmallFloat(Type type) {
  auto floatType = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return floatType && floatType.getWidth() <= 8;
}

/// Functions of a handful of instructions are none.
static bool isMathFunction(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) &&
         !isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp,
              math::FloorOp, math::CeilOp, math::SqrtOp, math::RsqrtOp>(op);
}

bool tilebridge::cpu::callsMathFunction(Operation *op) {
  return anyInside(op, isMathFunction);
}

int64_t tilebridge::cpu::costOfBody(Operation *op) {
  auto costOf = [](Operation *inner) -> int64_t {
    if (isa<arith::ConstantOp, linalg::IndexOp, linalg::YieldOp>(inner))
      return 0;
    if (isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(inner))
      return 4;
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
            arith::RemFOp>(inner))
      return 20;
    if (isMathFunction(inner) || !inner->hasTrait<OpTrait::Elementwise>())
      return 15;
    if (llvm::any_of(inner->getOperandTypes(), isSmallFloat) ||
        llvm::any_of(inner->getResultTypes(), isSmallFloat))
      return 12;
    return 1;
  };
  if (op->getNumRegions() == 0)
    return costOf(op);
  int64_t cost = 0;
  for (Operation &inner : op->getRegion(0).front())
    cost += costOf(&inner);
  return cost;
}

int64_t tilebridge::cpu::costOfPick(Operation *op) {
  constexpr int64_t shortRow = 256, gather = 20;
  auto pick = cast<linalg_ext::GatherAlongOp>(op);
  auto dim = static_cast<int64_t>(pick.getDimension());
  RankedTensorType source = pick.getSource().getType();
  int64_t size = source.getDimSize(dim);
  return dim + 1 == source.getRank() && size <= shortRow
             ? costOfTable(size, source.getElementTypeBitWidth())
             : gather;
}

/// Operations of at most this cost give it from indices and scalars.
static bool isCheapFromIndices(Value value, int64_t &cost) {
  if (!isa<RankedTensorType>(value.getType()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isOneNumber(op))
    return true;
  return isElementwise(op) && (cost -= costOfBody(op)) >= 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isCheapFromIndices(operand, cost);
         });
}

bool tilebridge::cpu::isComputedReshape(Operation *op) {
  int64_t cost = 8;
  return isUnitReshape(op) ||
         (op->hasAttr(nearAttr) && RepeatedLanes::match(op)) ||
         (isa<tensor::ExpandShapeOp>(op) &&
          isCheapFromIndices(op->getOperand(0), cost));
}

bool tilebridge::cpu::dividesIntegers(Operation *op) {
  return anyInside(op,
                   llvm::IsaPred<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
                                 arith::RemUIOp, arith::FloorDivSIOp>);
}

bool tilebridge::cpu::isRepeated(Value value, Operation *user) {
  auto type = cast<RankedTensorType>(value.getType());
  if (llvm::all_of(type.getShape(), [](int64_t size) { return size == 1; }))
    return false;
  auto broadcast = dyn_cast<linalg::BroadcastOp>(user);
  if (broadcast) {
    auto wide = cast<RankedTensorType>(broadcast.getInit().getType());
    int64_t inner = -1;
    for (int64_t d = 0; d < wide.getRank(); ++d)
      if (!llvm::is_contained(broadcast.getDimensions(), d) &&
          wide.getDimSize(d) != 1)
        inner = d;
    return llvm::any_of(broadcast.getDimensions(), [&](int64_t d) {
      return d < inner && wide.getDimSize(d) != 1;
    });
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
  if (!linalgOp || !isElementwise(user))
    return false;
  for (OpOperand &operand : user->getOpOperands()) {
    if (operand.get() != value)
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    for (unsigned d = 0; d + 1 < map.getNumDims(); ++d)
      if (!map.isFunctionOfDim(d) && map.isFunctionOfDim(map.getNumDims() - 1))
        return true;
  }
  return false;
}
