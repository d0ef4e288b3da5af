//===- Unsupported.cpp - what cannot be compiled, and how that is said ----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/Unsupported.h"

#include "frontend/TTOps.h"
#include "triton-to-linalg/lower/Patterns.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;

InFlightDiagnostic ttl::emitUnsupported(Operation *op, const Twine &why,
                                        const Twine &hint) {
  return op->emitError() << "'" << op->getName()
                         << "' is not supported: " << why << "; " << hint;
}

/// Dialects that the conversion has patterns for, or that the bridge has.
static bool isKnownDialect(Operation *op) {
  static constexpr StringRef known[] = {
      "arith", "bufferization", "builtin", "func",   "linalg", "linalg_ext",
      "math",  "memref",        "scf",     "tensor", "tt",     "ub"};
  return llvm::is_contained(known, op->getName().getDialectNamespace());
}

static LogicalResult checkFunction(tt::FuncOp op) {
  if (op.isExternal())
    return ttl::emitUnsupported(
        op, "the function has no body",
        "a kernel and what it calls must be in one module");
  if (op.isPublic() && op.getNumResults() != 0)
    return ttl::emitUnsupported(
        op, "a kernel returns values, and nobody receives them",
        "store what it computes through a pointer");
  return success();
}

static LogicalResult checkExtern(tt::ExternElementwiseOp op) {
  if (ttl::isKnownExtern(op.getSymbol(), op.getType(), op->getOperandTypes()))
    return success();
  return ttl::emitUnsupported(
      op,
      "no meaning is known for the external function '" + op.getSymbol() +
          "' with operands of these types",
      "use a function of tl.math or of tl.extra.libdevice");
}

static LogicalResult checkScaledProduct(tt::DotScaledOp op) {
  using tt::ScaleDotElemType;
  bool leftInPairs =
      op.getAElemType() == ScaleDotElemType::E2M1 && op.getLhsKPack();
  bool rightInPairs =
      op.getBElemType() == ScaleDotElemType::E2M1 && op.getRhsKPack();
  if (!leftInPairs && !rightInPairs)
    return success();
  RankedTensorType a = op.getA().getType();
  int64_t depth = a.getShape().back() * (leftInPairs ? 2 : 1);
  for (Value scale : {op.getAScale(), op.getBScale()}) {
    if (!scale)
      continue;
    int64_t groups = cast<RankedTensorType>(scale.getType()).getShape().back();
    if (depth / groups % 2 != 0)
      return ttl::emitUnsupported(
          op,
          "the two elements of a byte have different scales, one for " +
              Twine(depth / groups) + " elements of K",
          "give each scale an even number of elements");
  }
  return success();
}

static bool hasPointers(Type type) {
  return isa<tt::PointerType>(getElementTypeOrSelf(type));
}

/// The code of one element computes, and does nothing else.
static LogicalResult checkMap(tt::MapElementwiseOp op) {
  if (llvm::any_of(op->getOperandTypes(), hasPointers) ||
      llvm::any_of(op->getResultTypes(), hasPointers))
    return ttl::emitUnsupported(op, "its elements are pointers",
                                "pass offsets, and add the pointer outside");
  WalkResult walk = op.walk([&](Operation *inner) {
    if (inner == op || inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(inner))
      return WalkResult::advance();
    ttl::emitUnsupported(inner,
                         "it is in the function that is mapped over elements, "
                         "and does more than compute",
                         "do it on the block, outside of tl.map_elementwise");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

/// Whether this op can be lowered; if not the reason was reported.
static LogicalResult checkOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case(checkFunction)
      .Case(checkExtern)
      .Case(checkMap)
      .Case(checkScaledProduct)
      .Case([](tt::ElementwiseInlineAsmOp op) {
        return ttl::emitUnsupported(
            op, "no assembly may be left here",
            "run tilebridge-translate-assembly before this pass");
      })
      .Case<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp>([](Operation *op) {
        return ttl::emitUnsupported(
            op, "control flow must be structured (scf) here",
            "run the passes of the frontend before this one");
      })
      .Case<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp,
            tt::AtomicLoadOp, tt::AtomicStoreOp, tt::AtomicPollOp,
            tt::DescriptorLoadOp, tt::DescriptorStoreOp, tt::DescriptorReduceOp,
            tt::DescriptorGatherOp, tt::DescriptorScatterOp>([](Operation *op) {
        return ttl::emitUnsupported(
            op, "no access to memory may be left here",
            "run tilebridge-lower-accesses before this pass");
      })
      .Case<LLVM::AssumeOp, tt::BarrierOp>([](auto) { return success(); })
      .Default([](Operation *op) -> LogicalResult {
        if (isKnownDialect(op))
          return success();
        return ttl::emitUnsupported(
            op, "its dialect is not one of Triton's portable IR",
            "compile the kernel without features of one kind of GPU");
      });
}

LogicalResult ttl::checkSupported(ModuleOp module) {
  WalkResult walk = module.walk<WalkOrder::PreOrder>([](Operation *op) {
    return failed(checkOp(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
