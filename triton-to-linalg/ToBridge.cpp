//===- ToBridge.cpp - what computes, as bridge IR -------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/Unsupported.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/lower/BridgeTypes.h"
#include "triton-to-linalg/lower/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_TOBRIDGEPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;

namespace {

/// What is bridge IR: no type of tt, and arithmetic of scalars only.
void setUpTarget(ConversionTarget &target, const TypeConverter &converter) {
  auto hasBridgeTypes = [&](Operation *op) { return converter.isLegal(op); };
  target.addIllegalDialect<tt::TTDialect, tt::TTGDialect>();
  target.addIllegalOp<LLVM::AssumeOp>();
  target.addLegalOp<ModuleOp>();
  target.addLegalDialect<linalg::LinalgDialect, linalg_ext::LinalgExtDialect>();
  target.addDynamicallyLegalDialect<bufferization::BufferizationDialect,
                                    func::FuncDialect, memref::MemRefDialect,
                                    scf::SCFDialect, tensor::TensorDialect,
                                    ub::UBDialect>(hasBridgeTypes);
  target.addDynamicallyLegalOp<UnrealizedConversionCastOp>(hasBridgeTypes);
  target.addDynamicallyLegalDialect<arith::ArithDialect, math::MathDialect>(
      [=](Operation *op) {
        return hasBridgeTypes(op) &&
               (isa<arith::ConstantOp>(op) ||
                llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>));
      });
}

/// Attributes that only the frontend's dialects give a meaning to.
void dropForeignAttributes(ModuleOp module) {
  module.walk([](Operation *op) {
    for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs())) {
      StringRef dialect = attr.getName().getValue().split('.').first;
      if (dialect == "tt" || dialect == "ttg" || dialect == "llvm")
        op->removeDiscardableAttr(attr.getName());
    }
  });
}

struct ToBridge : ttl::impl::ToBridgePassBase<ToBridge> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(ttl::checkSupported(module)))
      return signalPassFailure();
    ttl::makeProgramIdsArguments(module);

    ttl::BridgeTypeConverter converter;
    ConversionTarget target(getContext());
    setUpTarget(target, converter);
    RewritePatternSet patterns(&getContext());
    ttl::populateControlFlowPatterns(converter, patterns, target);
    ttl::populateDotPatterns(converter, patterns);
    ttl::populateDotScaledPatterns(converter, patterns);
    ttl::populateElementwisePatterns(converter, patterns);
    ttl::populateExternPatterns(converter, patterns);
    ttl::populateFloatCastPatterns(converter, patterns);
    ttl::populateFunctionPatterns(converter, patterns);
    ttl::populateHostPatterns(converter, patterns);
    ttl::populateLookupPatterns(converter, patterns);
    ttl::populateMapPatterns(converter, patterns);
    ttl::populatePointerPatterns(converter, patterns);
    ttl::populateReducePatterns(converter, patterns);
    ttl::populateScanPatterns(converter, patterns);
    ttl::populateShapePatterns(converter, patterns);
    ttl::populateViewPatterns(converter, patterns);
    if (failed(applyFullConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    dropForeignAttributes(module);
  }
};

} // namespace
