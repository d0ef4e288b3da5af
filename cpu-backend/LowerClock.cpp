//===- LowerClock.cpp - the time, from the C library ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPULOWERCLOCKPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

struct LowerClockPass
    : public tilebridge::cpu::impl::CpuLowerClockPassBase<LowerClockPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg_ext::ClockOp> ops;
    getOperation().walk([&](linalg_ext::ClockOp op) { ops.push_back(op); });
    for (linalg_ext::ClockOp op : ops)
      lower(op);
  }

private:
  LLVM::LLVMFuncOp declare(Type pointer) {
    constexpr llvm::StringLiteral name = "clock_gettime";
    if (auto function = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(name))
      return function;
    OpBuilder b(getOperation().getBodyRegion());
    Type i32 = b.getI32Type();
    return LLVM::LLVMFuncOp::create(
        b, getOperation().getLoc(), name,
        LLVM::LLVMFunctionType::get(i32, {i32, pointer}));
  }

  void lower(linalg_ext::ClockOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto time = LLVM::LLVMArrayType::get(i64, 2);
    auto constant = [&](Type type, int64_t value) -> Value {
      return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
    };
    // One slot a function, also where the time is read in a loop.
    Value slot;
    {
      OpBuilder::InsertionGuard guard(b);
      auto function = op->getParentOfType<func::FuncOp>();
      b.setInsertionPointToStart(&function.getBody().front());
      slot = LLVM::AllocaOp::create(b, pointer, time, constant(i32, 1));
    }
    constexpr int64_t monotonic = 1;
    LLVM::CallOp::create(b, declare(pointer),
                         ValueRange{constant(i32, monotonic), slot});
    Value seconds = LLVM::LoadOp::create(b, i64, slot);
    Value rest =
        LLVM::GEPOp::create(b, pointer, i64, slot, ArrayRef<LLVM::GEPArg>{1});
    Value nanoseconds = LLVM::LoadOp::create(b, i64, rest);
    Value scaled = LLVM::MulOp::create(b, seconds, constant(i64, 1000000000));
    op.replaceAllUsesWith(
        LLVM::AddOp::create(b, scaled, nanoseconds).getResult());
    op.erase();
  }
};

} // namespace
