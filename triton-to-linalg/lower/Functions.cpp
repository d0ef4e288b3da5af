//===- Functions.cpp - functions, calls and the launch grid ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/lower/BridgeTypes.h"
#include "triton-to-linalg/lower/Patterns.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

/// A public function is a kernel: what launches it needs to know its arguments.
static void addKernelAttributes(tt::FuncOp function) {
  MLIRContext *context = function.getContext();
  SmallVector<Attribute> signature;
  for (Type type : function.getArgumentTypes())
    signature.push_back(StringAttr::get(context, signatureOf(type)));
  function->setAttr(linalg_ext::kKernelAttr, UnitAttr::get(context));
  function->setAttr(linalg_ext::kSignatureAttr,
                    ArrayAttr::get(context, signature));
}

ValueRange ttl::programIdsOf(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return ValueRange(function.getArguments())
      .take_back(linalg_ext::kProgramArguments)
      .take_front(3);
}

void ttl::makeProgramIdsArguments(ModuleOp module) {
  Type i32 = IntegerType::get(module.getContext(), 32);
  for (auto function : module.getOps<tt::FuncOp>()) {
    if (function.isPublic())
      addKernelAttributes(function);
    unsigned count = function.getNumArguments();
    for (unsigned i = 0; i < linalg_ext::kProgramArguments; ++i)
      (void)function.insertArgument(count + i, i32, {}, function.getLoc());
  }
  module.walk([](Operation *op) {
    auto function = op->getParentOfType<tt::FuncOp>();
    if (!function)
      return;
    ValueRange grid = ValueRange(function.getArguments())
                          .take_back(linalg_ext::kProgramArguments);
    if (auto call = dyn_cast<tt::CallOp>(op))
      call.getArgOperandsMutable().append(grid);
    if (auto id = dyn_cast<tt::GetProgramIdOp>(op))
      id.replaceAllUsesWith(grid[static_cast<unsigned>(id.getAxis())]);
    else if (auto number = dyn_cast<tt::GetNumProgramsOp>(op))
      number.replaceAllUsesWith(
          grid[3 + static_cast<unsigned>(number.getAxis())]);
    else
      return;
    op->erase();
  });
}

namespace {

struct FuncLowering : OpConversionPattern<tt::FuncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::FuncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion arguments(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(
            typeConverter->convertSignatureArgs(type.getInputs(), arguments)) ||
        failed(typeConverter->convertTypes(type.getResults(), results)))
      return rewriter.notifyMatchFailure(op, "type has no bridge type");
    auto function = func::FuncOp::create(
        rewriter, op.getLoc(), op.getSymName(),
        rewriter.getFunctionType(arguments.getConvertedTypes(), results));
    function.setVisibility(op.getVisibility());
    for (StringRef name : {linalg_ext::kKernelAttr, linalg_ext::kSignatureAttr})
      if (Attribute attr = op->getAttr(name))
        function->setAttr(name, attr);
    // What is known of a pointer is known of the address its memref begins
    // with.
    for (unsigned i = 0; i < type.getNumInputs(); ++i)
      if (Attribute attr = op.getArgAttr(i, "tt.divisibility"))
        function.setArgAttr(arguments.getInputMapping(i)->inputNo,
                            linalg_ext::kDivisibilityAttr, attr);
    rewriter.inlineRegionBefore(op.getBody(), function.getBody(),
                                function.end());
    if (failed(rewriter.convertRegionTypes(&function.getBody(), *typeConverter,
                                           &arguments)))
      return rewriter.notifyMatchFailure(op, "block has no bridge types");
    rewriter.eraseOp(op);
    return success();
  }
};

/// The values of all operands, one after the other.
SmallVector<Value> flatten(ArrayRef<ValueRange> operands) {
  SmallVector<Value> values;
  for (ValueRange range : operands)
    llvm::append_range(values, range);
  return values;
}

struct CallLowering : OpConversionPattern<tt::CallOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::CallOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<BridgeTypesOf> results =
        BridgeTypesOf::get(*typeConverter, op.getResultTypes());
    if (failed(results))
      return rewriter.notifyMatchFailure(op, "type has no bridge type");
    auto call =
        func::CallOp::create(rewriter, op.getLoc(), op.getCallee(),
                             results->types, flatten(adaptor.getOperands()));
    rewriter.replaceOpWithMultiple(op, results->group(call.getResults()));
    return success();
  }
};

struct ReturnLowering : OpConversionPattern<tt::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::ReturnOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op,
                                                flatten(adaptor.getOperands()));
    return success();
  }
};

} // namespace

void ttl::populateFunctionPatterns(Converter converter,
                                   RewritePatternSet &patterns) {
  patterns.add<FuncLowering, CallLowering, ReturnLowering>(
      converter, patterns.getContext());
}
