//===- LowerAddresses.cpp - memrefs from integers -------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <limits>

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPULOWERADDRESSESPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

struct LowerAddressesPass
    : public tilebridge::cpu::impl::CpuLowerAddressesPassBase<
          LowerAddressesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg_ext::ViewAddressOp> ops;
    getOperation().walk(
        [&](linalg_ext::ViewAddressOp op) { ops.push_back(op); });
    for (linalg_ext::ViewAddressOp op : ops)
      lower(op);
  }

private:
  void lower(linalg_ext::ViewAddressOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    Type i64 = b.getI64Type(), extents = LLVM::LLVMArrayType::get(i64, 1);
    auto type = LLVM::LLVMStructType::getLiteral(
        b.getContext(), {pointer, pointer, i64, extents, extents});
    Value descriptor = LLVM::UndefOp::create(b, loc, type);
    auto set = [&](Value value, ArrayRef<int64_t> position) {
      descriptor =
          LLVM::InsertValueOp::create(b, loc, descriptor, value, position);
    };
    auto constant = [&](int64_t value) {
      return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
    };
    Value address = LLVM::IntToPtrOp::create(b, loc, pointer, op.getAddress());
    set(address, 0);
    set(address, 1);
    set(constant(0), 2);
    set(constant(std::numeric_limits<int64_t>::max()), {3, 0});
    set(constant(1), {4, 0});
    auto cast = UnrealizedConversionCastOp::create(
        b, loc, op.getResult().getType(), descriptor);
    op.getResult().replaceAllUsesWith(cast.getResult(0));
    op.erase();
  }
};

} // namespace
