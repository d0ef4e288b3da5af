//===- LowerDirected.cpp - arithmetic with another rounding ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include "llvm/ADT/StringSwitch.h"

#include <cfenv>

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPULOWERDIRECTEDPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// The C library's number of a rounding; kernels run on the machine's own kind.
static int fenvNumber(arith::RoundingMode mode) {
  switch (mode) {
  case arith::RoundingMode::downward:
    return FE_DOWNWARD;
  case arith::RoundingMode::upward:
    return FE_UPWARD;
  case arith::RoundingMode::toward_zero:
    return FE_TOWARDZERO;
  default:
    return FE_TONEAREST;
  }
}

/// "8xf32" or "f32".
static std::string nameOf(Type type) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  if (auto vector = dyn_cast<VectorType>(type))
    stream << vector.getNumElements() << 'x';
  stream << getElementTypeOrSelf(type);
  return name;
}

namespace {

/// Writes the functions that one kind of op, on operands of one kind, needs.
class FunctionWriter {
public:
  FunctionWriter(ModuleOp module, Location loc)
      : module(module), b(loc, module.getContext()) {
    b.setInsertionPointToStart(module.getBody());
  }

  /// Sets the rounding, calls the operation, and sets the rounding back.
  LLVM::LLVMFuncOp makeRounded(const std::string &name,
                               linalg_ext::DirectedOp op, Type result,
                               TypeRange operands) {
    LLVM::LLVMFuncOp operation =
        makeOperation(name + "_operation", op.getFunction(), result, operands);
    LLVM::LLVMFuncOp setRounding = declareSetRounding();
    LLVM::LLVMFuncOp function = begin(name, result, operands);
    auto set = [&](int mode) {
      Value number = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(mode));
      LLVM::CallOp::create(b, setRounding, number);
    };
    set(fenvNumber(op.getRounding()));
    Value value =
        LLVM::CallOp::create(b, operation, function.getArguments()).getResult();
    set(FE_TONEAREST);
    // Where the CPU has no instruction for unsigned numbers, LLVM's steps make
    // -0 of 0 when they round downward. LLVM believes that they do not: only in
    // another function it does not see that this takes the sign of such away.
    if (op.getFunction() == "uitofp")
      value = LLVM::FAbsOp::create(b, value);
    LLVM::ReturnOp::create(b, value);
    return function;
  }

private:
  LLVM::LLVMFuncOp makeOperation(const std::string &name, StringRef operation,
                                 Type result, TypeRange operands) {
    LLVM::LLVMFuncOp function = begin(name, result, operands);
    ValueRange in = function.getArguments();
    auto make = [&]() -> Value {
      if (operation == "add")
        return LLVM::FAddOp::create(b, in[0], in[1]);
      if (operation == "sub")
        return LLVM::FSubOp::create(b, in[0], in[1]);
      if (operation == "mul")
        return LLVM::FMulOp::create(b, in[0], in[1]);
      if (operation == "div")
        return LLVM::FDivOp::create(b, in[0], in[1]);
      if (operation == "sqrt")
        return LLVM::SqrtOp::create(b, in[0]);
      if (operation == "fma")
        return LLVM::FMAOp::create(b, in[0], in[1], in[2]);
      if (operation == "truncf")
        return LLVM::FPTruncOp::create(b, result, in[0]);
      if (operation == "sitofp")
        return LLVM::SIToFPOp::create(b, result, in[0]);
      return LLVM::UIToFPOp::create(b, result, in[0]);
    };
    LLVM::ReturnOp::create(b, make());
    return function;
  }

  LLVM::LLVMFuncOp begin(const std::string &name, Type result,
                         TypeRange operands) {
    b.setInsertionPointToStart(module.getBody());
    auto function = LLVM::LLVMFuncOp::create(
        b, name, LLVM::LLVMFunctionType::get(result, llvm::to_vector(operands)),
        LLVM::Linkage::Internal);
    function.setNoInline(true);
    function.setOptimizeNone(true);
    b.setInsertionPointToStart(function.addEntryBlock(b));
    return function;
  }

  LLVM::LLVMFuncOp declareSetRounding() {
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>("fesetround"))
      return known;
    b.setInsertionPointToStart(module.getBody());
    Type i32 = b.getI32Type();
    return LLVM::LLVMFuncOp::create(b, "fesetround",
                                    LLVM::LLVMFunctionType::get(i32, {i32}));
  }

  ModuleOp module;
  ImplicitLocOpBuilder b;
};

struct LowerDirectedPass
    : public tilebridge::cpu::impl::CpuLowerDirectedPassBase<
          LowerDirectedPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg_ext::DirectedOp> ops;
    getOperation().walk([&](linalg_ext::DirectedOp op) { ops.push_back(op); });
    for (linalg_ext::DirectedOp op : ops)
      lower(op);
  }

private:
  void lower(linalg_ext::DirectedOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto flat = [](Type type) -> Type {
      auto vector = dyn_cast<VectorType>(type);
      return vector ? VectorType::get(vector.getNumElements(),
                                      vector.getElementType())
                    : type;
    };
    auto reshape = [&](Value value, Type type) -> Value {
      if (value.getType() == type)
        return value;
      return vector::ShapeCastOp::create(b, type, value);
    };
    Type result = flat(op.getType());
    SmallVector<Value> operands;
    SmallVector<Type> types;
    std::string name =
        ("tilebridge_" + op.getFunction() + "_" +
         arith::stringifyRoundingMode(op.getRounding()) + "_" + nameOf(result))
            .str();
    for (Value operand : op.getOperands()) {
      types.push_back(flat(operand.getType()));
      operands.push_back(reshape(operand, types.back()));
    }
    name += "_" + nameOf(types.back());
    auto function = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!function)
      function = FunctionWriter(getOperation(), getOperation().getLoc())
                     .makeRounded(name, op, result, types);
    Value value = LLVM::CallOp::create(b, function, operands).getResult();
    op.getResult().replaceAllUsesWith(reshape(value, op.getType()));
    op.erase();
  }
};

} // namespace
