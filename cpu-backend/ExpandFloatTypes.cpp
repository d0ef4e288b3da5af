//===- ExpandFloatTypes.cpp - no arithmetic in floats below f32 -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/ShortNans.h"
#include "cpu-backend/SmallFloat.h"
#include "cpu-backend/SmallIntegers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUEXPANDFLOATTYPESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

static bool isSmall(Type type) {
  return SmallFloatFormat::of(getElementTypeOrSelf(type)).has_value();
}
/// Integers take the place of these types: of 8 bits because LLVM has none, of
/// bf16 because LLVM moves single ones through f32 and back, by instructions
/// that lose denormals, or by calls of functions that do not exist.
static bool isBits(Type type) {
  auto format = SmallFloatFormat::of(getElementTypeOrSelf(type));
  return (format && format->bits <= 8) || getElementTypeOrSelf(type).isBF16();
}
static bool isOnlyExtended(Type type) {
  auto format = SmallFloatFormat::of(getElementTypeOrSelf(type));
  return format && format->isOnlyExtended();
}

static Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<VectorType>(type))
    return shaped.clone(element);
  return element;
}

/// Operations that compute, as opposed to those that only move values, which
/// any type may have.
static bool computes(Operation *op) {
  if (isa<arith::SelectOp, arith::BitcastOp, arith::ConstantOp, ub::PoisonOp>(
          op))
    return false;
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return true;
  return isa<vector::ReductionOp, vector::FMAOp, vector::MultiDimReductionOp,
             vector::ScanOp, vector::ContractionOp, vector::OuterProductOp>(op);
}

/// f64 to f32 toward zero: hardware would need another rounding mode.
static bool cutsToF32(arith::TruncFOp op) {
  return op.getRoundingmode() == arith::RoundingMode::toward_zero &&
         getElementTypeOrSelf(op.getIn().getType()).isF64() &&
         getElementTypeOrSelf(op.getType()).isF32();
}

/// The result is one of the operands, of the same type, but for its sign.
static bool choosesNumber(Operation *op) {
  return isa<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::NegFOp, math::AbsFOp, math::CopySignOp>(
      op);
}

namespace {

struct ExpandFloatTypesPass
    : public tilebridge::cpu::impl::CpuExpandFloatTypesPassBase<
          ExpandFloatTypesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp>(op) || computes(op) ||
          isa<arith::ConstantOp>(op))
        if (llvm::any_of(op->getOperandTypes(), isSmall) ||
            llvm::any_of(op->getResultTypes(), isSmall))
          ops.push_back(op);
      if (auto truncate = dyn_cast<arith::TruncFOp>(op);
          truncate && cutsToF32(truncate))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(expand(op)))
        return signalPassFailure();
    // What is left only moves values.
    AttrTypeReplacer replacer;
    replacer.addReplacement([](BFloat16Type type) -> std::optional<Type> {
      return IntegerType::get(type.getContext(), 16);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    // Products of bf16 are the exception: the instruction's operands are bf16.
    getOperation()->walk([](LLVM::CallIntrinsicOp call) {
      if (call.getIntrin() == "llvm.x86.avx512bf16.cvtne2ps2bf16.512") {
        OpBuilder b(call->getNextNode());
        Value result = call->getResult(0);
        auto bits = cast<VectorType>(result.getType());
        auto cast = LLVM::BitcastOp::create(b, call.getLoc(), bits, result);
        result.setType(bits.clone(b.getBF16Type()));
        result.replaceAllUsesExcept(cast, cast);
      }
      if (call.getIntrin() != "llvm.x86.avx512bf16.dpbf16ps.512")
        return;
      OpBuilder b(call);
      for (OpOperand &operand : call->getOpOperands().drop_front()) {
        auto type = cast<VectorType>(operand.get().getType());
        operand.set(LLVM::BitcastOp::create(
            b, call.getLoc(), type.clone(b.getBF16Type()), operand.get()));
      }
    });
  }

private:
  LogicalResult expand(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    SmallFloatConverter convert(
        b, {f16c, lookups, bf16Rounding, byteLookups, wordShuffles});
    if (!isa<arith::ConstantOp>(op) &&
        llvm::any_of(op->getResultTypes(), isOnlyExtended))
      return op->emitError("nothing can be rounded to ")
             << op->getResultTypes().front()
             << ": expected that elements and scales of block-scaled matrices "
                "are only extended";
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return expandConstant(constant, b);
    if (auto extend = dyn_cast<arith::ExtFOp>(op)) {
      bool isComputedWith = llvm::all_of(op->getUsers(), [](Operation *user) {
        return isa<arith::ExtFOp>(user) || computes(user);
      });
      if (getElementTypeOrSelf(extend.getType()).isBF16() && !isComputedWith)
        if (Value found = convert.lookUpBf16(extend.getIn())) {
          replace(op, found);
          return success();
        }
      Value wide = extended(convert, extend.getIn(), op);
      Value narrow = fromF32(b, convert, wide, extend.getType());
      // A power of two may be more than f16 holds.
      if (narrow != wide && isSmall(narrow.getType()) &&
          !isa<Float8E8M0FNUType>(getElementTypeOrSelf(extend.getIn())))
        exact[narrow] = wide;
      replace(op, narrow);
      return success();
    }
    if (auto truncate = dyn_cast<arith::TruncFOp>(op);
        truncate && cutsToF32(truncate)) {
      cutToF32(truncate, b);
      return success();
    }
    if (auto truncate = dyn_cast<arith::TruncFOp>(op))
      return expandTruncate(truncate, b, convert);
    if (op->getNumRegions() != 0)
      return op->emitError("an operation with a region cannot compute in ")
             << op->getResultTypes();
    expandCompute(op, b, convert);
    return success();
  }

  /// f32 of a small float: that of what it was itself extended from, if that is
  /// known, but not from before a loop, where it takes more registers.
  Value extended(SmallFloatConverter &convert, Value x, Operation *by) {
    Value wide = exact.lookup(x);
    bool isHere = wide && wide.getParentBlock() == by->getBlock();
    return isHere ? wide : convert.extend(x);
  }

  /// f32 of a narrower float to a type that holds all of those: no bf16 needs
  /// to be rounded.
  Value fromF32(ImplicitLocOpBuilder &b, SmallFloatConverter &convert,
                Value wide, Type type) {
    Type element = getElementTypeOrSelf(type);
    if (element.isF32())
      return wide;
    if (isSmall(type))
      return convert.truncate(wide, element, /*towardZero=*/element.isBF16());
    return arith::ExtFOp::create(b, type, wide);
  }

  /// To the nearest, and one step back where that has become larger. Bits of
  /// floats of one sign are in the order of their magnitudes.
  void cutToF32(arith::TruncFOp op, ImplicitLocOpBuilder &b) {
    Value x = op.getIn();
    Type bitsType = withElement(op.getType(), b.getI32Type());
    Value near = arith::TruncFOp::create(b, op.getType(), x);
    Value wide = arith::ExtFOp::create(b, x.getType(), near);
    Value isLarger = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                           math::AbsFOp::create(b, wide),
                                           math::AbsFOp::create(b, x));
    Value bits = arith::BitcastOp::create(b, bitsType, near);
    Value step = arith::ExtUIOp::create(b, bitsType, isLarger);
    bits = arith::SubIOp::create(b, bits, step);
    replace(op, arith::BitcastOp::create(b, op.getType(), bits));
  }

  LogicalResult expandTruncate(arith::TruncFOp op, ImplicitLocOpBuilder &b,
                               SmallFloatConverter &convert) {
    bool towardZero = false;
    if (auto mode = op.getRoundingmode()) {
      if (*mode == arith::RoundingMode::toward_zero)
        towardZero = true;
      else if (*mode != arith::RoundingMode::to_nearest_even)
        return op.emitError("rounding mode '")
               << arith::stringifyRoundingMode(*mode)
               << "' is not supported: expected to_nearest_even or toward_zero";
    }
    Value x = op.getIn();
    Type source = getElementTypeOrSelf(x.getType()),
         target = getElementTypeOrSelf(op.getType());
    if (isSmall(source))
      x = extended(convert, x, op);
    else if (source.isF64())
      x = convert.truncateF64ToOdd(x);
    else if (!source.isF32())
      return op.emitError("a truncation of ")
             << source << " is not supported: expected f64 or a narrower float";
    replace(op, convert.truncate(x, target, towardZero,
                                 op->hasAttr(shortNansAttr)));
    return success();
  }

  /// LLVM has no type for these constants: the bits, then a cast.
  LogicalResult expandConstant(arith::ConstantOp op, ImplicitLocOpBuilder &b) {
    if (!isBits(op.getType()))
      return success();
    Type code = b.getIntegerType(
        getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth());
    TypedAttr bits;
    if (auto value = dyn_cast<FloatAttr>(op.getValue()))
      bits = b.getIntegerAttr(code, value.getValue().bitcastToAPInt());
    else if (auto values = dyn_cast<DenseFPElementsAttr>(op.getValue()))
      bits = cast<DenseElementsAttr>(
          values.mapValues(code, [](const llvm::APFloat &value) {
            return value.bitcastToAPInt();
          }));
    else
      return op.emitError("a constant of ")
             << op.getType() << " is expected to be a number or dense numbers";
    Value constant = arith::ConstantOp::create(b, bits);
    replace(op, arith::BitcastOp::create(b, op.getType(), constant));
    return success();
  }

  /// Operands to f32, the same operation, the results rounded back.
  void expandCompute(Operation *op, ImplicitLocOpBuilder &b,
                     SmallFloatConverter &convert) {
    Type f32 = b.getF32Type();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isSmall(operand.getType())
                             ? extended(convert, operand, op)
                             : operand);
    Operation *wide = b.clone(*op);
    wide->setOperands(operands);
    // What has nothing behind its upper half need not be rounded, nor an
    // integer that is small.
    Type narrow = getElementTypeOrSelf(op->getResult(0).getType());
    bool isChoice = choosesNumber(op),
         isInteger =
             (narrow.isF16() || narrow.isBF16()) && convertsSmallIntegers(op),
         isExact = (isChoice || isInteger) && narrow.isBF16();
    SmallVector<Value> results;
    for (OpResult result : wide->getResults()) {
      if (!isSmall(result.getType())) {
        results.push_back(result);
        continue;
      }
      Type element = getElementTypeOrSelf(result.getType());
      result.setType(withElement(result.getType(), f32));
      b.setInsertionPointAfter(wide);
      results.push_back(
          convert.truncate(result, element, /*towardZero=*/isExact));
      if (isChoice || isInteger)
        exact[results.back()] = result;
    }
    op->replaceAllUsesWith(results);
    op->erase();
  }

  void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  /// What numbers that were extended to f16 or bf16, or chosen among such, are
  /// as f32.
  DenseMap<Value, Value> exact;
};

} // namespace
