//===- Host.cpp - print, assert, and what one thread does not need --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/lower/Patterns.h"
#include "triton-to-linalg/lower/PointerMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

namespace {

/// On a module: how many threads a program has on a GPU, in warps.
constexpr StringLiteral kWarpsAttr = "ttg.num-warps";

/// As on a GPU a value of the whole program is printed once by each of its
/// threads. Where a launch asks for warps, Triton's backend says how many on
/// the module; a warp is one thread here.
int64_t threadsOf(Operation *op) {
  auto count =
      op->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(kWarpsAttr);
  return count ? std::clamp<int64_t>(count.getInt(), 1, 1024) : 1;
}

/// One op for each value: what it prints depends on its kind.
struct PrintLowering : OpConversionPattern<tt::PrintOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::PrintOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ValueRange ids = programIdsOf(op);
    auto print = [&](ValueRange values, ArrayRef<bool> isSigned,
                     const std::string &prefix, bool hex) {
      bool isBlock =
          !values.empty() && isa<RankedTensorType>(values[0].getType());
      OpBuilder::InsertionGuard guard(rewriter);
      int64_t times = isBlock ? 1 : threadsOf(op);
      if (times > 1) {
        auto bound = [&](int64_t number) {
          return arith::ConstantIndexOp::create(rewriter, loc, number);
        };
        auto loop =
            scf::ForOp::create(rewriter, loc, bound(0), bound(times), bound(1));
        rewriter.setInsertionPointToStart(loop.getBody());
      }
      linalg_ext::PrintOp::create(rewriter, loc, prefix, ids[0], ids[1], ids[2],
                                  values, isSigned, hex);
    };
    std::string prefix = op.getPrefix().str();
    if (op.getArgs().empty())
      print({}, {}, prefix, false);
    for (auto [i, source, value] :
         llvm::enumerate(op.getArgs(), adaptor.getArgs())) {
      Value converted = value;
      if (isa<MemRefType>(value.getType()))
        converted = addressOf(rewriter, loc, value);
      bool isPointer =
          isa<tt::PointerType>(getElementTypeOrSelf(source.getType()));
      std::string number =
          op.getArgs().size() > 1 ? "(operand " + std::to_string(i) + ") " : "";
      print(converted, op.getIsSigned()[i] != 0, prefix + number,
            op.getHex() || isPointer);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct AssertLowering : OpConversionPattern<tt::AssertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::AssertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<linalg_ext::AssertOp>(
        op, adaptor.getCondition(), op.getMessage());
    return success();
  }
};

/// A program is one thread of a launch that runs alone: there is nobody to wait
/// for, and an assumption has served the analyses that ran before.
template <typename SourceOp> struct Drop : OpConversionPattern<SourceOp> {
  using OpConversionPattern<SourceOp>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SourceOp op, typename SourceOp::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void ttl::populateHostPatterns(Converter converter,
                               RewritePatternSet &patterns) {
  patterns.add<PrintLowering, AssertLowering, Drop<tt::GridDependencyWaitOp>,
               Drop<tt::GridDependencyLaunchDependentsOp>, Drop<tt::BarrierOp>,
               Drop<LLVM::AssumeOp>>(converter, patterns.getContext());
}
