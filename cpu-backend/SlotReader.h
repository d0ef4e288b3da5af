//===- SlotReader.h - arguments from the slots of a launch ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tilebridge::cpu {

/// Reads the arguments of the kernel from the slots of a launch, in order.
class SlotReader {
public:
  SlotReader(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value slots)
      : b(builder), loc(loc), slots(slots) {}

  unsigned count() const { return next; }

  /// The next value of this type, or null if no slot can hold the type.
  mlir::Value read(mlir::Type type) {
    if (auto memref = llvm::dyn_cast<mlir::MemRefType>(type))
      return readMemref(memref);
    if (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64)
      return readScalar(type);
    if (llvm::isa<mlir::IndexType>(type))
      return mlir::arith::IndexCastOp::create(b, loc, type,
                                              readScalar(b.getI64Type()));
    return {};
  }

private:
  mlir::Value load(mlir::Type type) {
    mlir::Value address = mlir::LLVM::GEPOp::create(
        b, loc, slots.getType(), b.getI64Type(), slots,
        mlir::ArrayRef<mlir::LLVM::GEPArg>{static_cast<int32_t>(next++)});
    return mlir::LLVM::LoadOp::create(b, loc, type, address, 8);
  }

  /// The low bytes of a slot. Loading 64 bits and truncating is right on either
  /// byte order.
  mlir::Value readScalar(mlir::Type type) {
    mlir::Value bits = load(b.getI64Type());
    unsigned width = type.getIntOrFloatBitWidth();
    if (width < 64)
      bits =
          mlir::arith::TruncIOp::create(b, loc, b.getIntegerType(width), bits);
    return llvm::isa<mlir::FloatType>(type)
               ? mlir::arith::BitcastOp::create(b, loc, type, bits).getResult()
               : bits;
  }

  /// A descriptor as the conversion of memrefs to LLVM lays it out. One slot
  /// for a pointer: offset 0, stride 1, and as its size the largest there is,
  /// for the bounds of a pointer are not known. For the rest sizes and strides
  /// follow.
  mlir::Value readMemref(mlir::MemRefType type) {
    auto pointer = mlir::LLVM::LLVMPointerType::get(b.getContext());
    auto i64 = b.getI64Type();
    int64_t rank = type.getRank();
    auto extents = mlir::LLVM::LLVMArrayType::get(i64, rank);
    auto structType = mlir::LLVM::LLVMStructType::getLiteral(
        b.getContext(), {pointer, pointer, i64, extents, extents});
    bool isPointer = rank == 1 && type.getStridesAndOffset().first ==
                                      mlir::SmallVector<int64_t>{1};

    mlir::Value descriptor = mlir::LLVM::UndefOp::create(b, loc, structType);
    auto set = [&](mlir::Value value, mlir::ArrayRef<int64_t> position) {
      descriptor = mlir::LLVM::InsertValueOp::create(b, loc, descriptor, value,
                                                     position);
    };
    auto constant = [&](int64_t value) {
      return mlir::LLVM::ConstantOp::create(b, loc, i64,
                                            b.getI64IntegerAttr(value));
    };
    mlir::Value address = load(pointer);
    set(address, 0);
    set(address, 1);
    set(constant(0), 2);
    if (isPointer) {
      set(constant(std::numeric_limits<int64_t>::max()), {3, 0});
      set(constant(1), {4, 0});
    } else {
      for (int64_t field : {3, 4})
        for (int64_t dim = 0; dim < rank; ++dim)
          set(load(i64), {field, dim});
    }
    return mlir::UnrealizedConversionCastOp::create(b, loc, type, descriptor)
        .getResult(0);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value slots;
  unsigned next = 0;
};

} // namespace tilebridge::cpu
