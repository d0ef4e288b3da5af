//===- Atomics.cpp - atomic accesses of linalg_ext ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One access an element, in row-major order. Operands are computed before the
// first access, for they may have been loaded from the memory that is changed.

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/Roots.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using linalg_ext::AtomicKind;
using linalg_ext::MemSem;

namespace {

/// The operands of any of the four ops.
struct Access {
  Value base, offset, compare, value, mask, result;
  MemSem order;
  std::optional<AtomicKind> kind; ///< only for atomic_rmw
  bool isLoad = false;
};

Access describe(Operation *op) {
  return llvm::TypeSwitch<Operation *, Access>(op)
      .Case([](linalg_ext::AtomicRMWOp op) {
        return Access{op.getBase(), op.getOffset(), {},          op.getValue(),
                      op.getMask(), op.getResult(), op.getSem(), op.getKind()};
      })
      .Case([](linalg_ext::AtomicCASOp op) {
        return Access{
            op.getBase(), op.getOffset(), op.getCompare(), op.getValue(),
            {},           op.getResult(), op.getSem(),     {}};
      })
      .Case([](linalg_ext::AtomicLoadOp op) {
        return Access{op.getBase(),   op.getOffset(), {}, {},  op.getMask(),
                      op.getResult(), op.getSem(),    {}, true};
      })
      .Case([](linalg_ext::AtomicStoreOp op) {
        return Access{
            op.getBase(), op.getOffset(), {}, op.getValue(), op.getMask(),
            {},           op.getSem(),    {}};
      });
}

LLVM::AtomicOrdering orderOf(MemSem order) {
  switch (order) {
  case MemSem::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case MemSem::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case MemSem::Release:
    return LLVM::AtomicOrdering::release;
  case MemSem::AcquireRelease:
    return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("all orders are listed");
}

/// What is left of an order for an access that only reads, or only writes.
LLVM::AtomicOrdering readOrder(MemSem order) {
  bool acquires = order == MemSem::Acquire || order == MemSem::AcquireRelease;
  return acquires ? LLVM::AtomicOrdering::acquire
                  : LLVM::AtomicOrdering::monotonic;
}
LLVM::AtomicOrdering writeOrder(MemSem order) {
  bool releases = order == MemSem::Release || order == MemSem::AcquireRelease;
  return releases ? LLVM::AtomicOrdering::release
                  : LLVM::AtomicOrdering::monotonic;
}

LLVM::AtomicBinOp binOpOf(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::And:
    return LLVM::AtomicBinOp::_and;
  case AtomicKind::Or:
    return LLVM::AtomicBinOp::_or;
  case AtomicKind::Xor:
    return LLVM::AtomicBinOp::_xor;
  case AtomicKind::Add:
    return LLVM::AtomicBinOp::add;
  case AtomicKind::FAdd:
    return LLVM::AtomicBinOp::fadd;
  case AtomicKind::Max:
    return LLVM::AtomicBinOp::max;
  case AtomicKind::Min:
    return LLVM::AtomicBinOp::min;
  case AtomicKind::UMax:
    return LLVM::AtomicBinOp::umax;
  case AtomicKind::UMin:
    return LLVM::AtomicBinOp::umin;
  case AtomicKind::Xchg:
    return LLVM::AtomicBinOp::xchg;
  case AtomicKind::Inc:
    return LLVM::AtomicBinOp::uinc_wrap;
  case AtomicKind::Dec:
    return LLVM::AtomicBinOp::udec_wrap;
  }
  llvm_unreachable("all kinds are listed");
}

class AtomicEmitter {
public:
  AtomicEmitter(Emitter &emitter, Operation *op)
      : emitter(emitter), b(emitter.builder()), op(op), loc(op->getLoc()),
        access(describe(op)) {
    element = cast<MemRefType>(access.base.getType()).getElementType();
    bits = b.getIntegerType(element.getIntOrFloatBitWidth());
  }

  LogicalResult emit() {
    if (!llvm::is_contained({8, 16, 32, 64}, element.getIntOrFloatBitWidth()))
      return op->emitError("an atomic access of ")
             << element << " is not possible: expected 1, 2, 4 or 8 bytes";
    findAddress();
    auto shaped = dyn_cast<RankedTensorType>(access.offset.getType());
    if (!shaped)
      return emitScalar();

    SmallVector<Value *> operands = {&access.offset, &access.compare,
                                     &access.value, &access.mask};
    for (Value *operand : operands)
      if (*operand && !(*operand = emitter.bufferOf(*operand)))
        return failure();
    Value target =
        access.result ? emitter.resultBuffer(access.result) : Value();
    return forEachElement(emitter, loc, shaped.getShape(), [&](Position at) {
      auto load = [&](Value buffer, Type type) {
        return buffer ? loadElements(b, loc, buffer, at, type) : Value();
      };
      Value offset = load(access.offset, shaped.getElementType());
      Value old = emitMasked(offset, load(access.compare, element),
                             load(access.value, element),
                             load(access.mask, b.getI1Type()));
      if (target)
        memref::StoreOp::create(b, loc, old, target, at);
      return success();
    });
  }

private:
  LogicalResult emitScalar() {
    auto map = [&](Value value) {
      return value ? emitter.mapScalar(value) : Value();
    };
    Value old = emitMasked(map(access.offset), map(access.compare),
                           map(access.value), map(access.mask));
    if (access.result)
      emitter.setScalar(access.result, old);
    return success();
  }

  /// The address of element 0, as an integer.
  void findAddress() {
    Value base = emitter.mapScalar(access.base);
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, base);
    Value pointer =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, base);
    Value size = arith::ConstantIndexOp::create(
        b, loc, element.getIntOrFloatBitWidth() / 8);
    Value start = arith::MulIOp::create(b, loc, metadata.getOffset(), size);
    address = arith::IndexCastOp::create(
        b, loc, b.getI64Type(), arith::AddIOp::create(b, loc, pointer, start));
  }

  Value emitMasked(Value offset, Value compare, Value value, Value mask) {
    if (!mask)
      return emitOne(offset, compare, value);
    bool hasResult = access.result != nullptr;
    auto branch =
        hasResult ? scf::IfOp::create(b, loc, TypeRange{element}, mask,
                                      /*withElseRegion=*/true)
                  : scf::IfOp::create(b, loc, mask, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value old = emitOne(offset, compare, value);
    if (!hasResult)
      return {};
    scf::YieldOp::create(b, loc, old);
    b.setInsertionPointToStart(branch.elseBlock());
    // The bits of zero, whatever the type.
    Value zero = arith::ConstantOp::create(b, loc, b.getIntegerAttr(bits, 0));
    scf::YieldOp::create(b, loc, fromBits(zero));
    return branch.getResult(0);
  }

  Value toBits(Value value) {
    return value.getType() == bits
               ? value
               : arith::BitcastOp::create(b, loc, bits, value).getResult();
  }
  Value fromBits(Value value) {
    return value.getType() == element
               ? value
               : arith::BitcastOp::create(b, loc, element, value).getResult();
  }

  Value pointerAt(Value offset) {
    if (offset.getType() != b.getI64Type())
      offset = arith::ExtSIOp::create(b, loc, b.getI64Type(), offset);
    Value size = arith::ConstantIntOp::create(
        b, loc, b.getI64Type(), element.getIntOrFloatBitWidth() / 8);
    Value at = arith::AddIOp::create(
        b, loc, address, arith::MulIOp::create(b, loc, offset, size));
    return LLVM::IntToPtrOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext()), at);
  }

  Value emitOne(Value offset, Value compare, Value value) {
    Value pointer = pointerAt(offset);
    unsigned alignment = element.getIntOrFloatBitWidth() / 8;
    if (access.isLoad)
      return fromBits(LLVM::LoadOp::create(
          b, loc, bits, pointer, alignment, /*isVolatile=*/false,
          /*isNonTemporal=*/false, /*isInvariant=*/false,
          /*isInvariantGroup=*/false, readOrder(access.order)));
    if (!access.result) {
      LLVM::StoreOp::create(b, loc, toBits(value), pointer, alignment,
                            /*isVolatile=*/false, /*isNonTemporal=*/false,
                            /*isInvariantGroup=*/false,
                            writeOrder(access.order));
      return {};
    }
    if (compare)
      return fromBits(exchange(pointer, toBits(compare), toBits(value)).first);
    bool native = element.isF32() || element.isF64();
    if (access.kind == AtomicKind::FAdd && !native)
      return addNarrowFloat(pointer, value);
    if (access.kind == AtomicKind::FAdd)
      return LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::fadd, pointer,
                                       value, orderOf(access.order));
    return fromBits(LLVM::AtomicRMWOp::create(b, loc, binOpOf(*access.kind),
                                              pointer, toBits(value),
                                              orderOf(access.order)));
  }

  /// The value found, and whether it was replaced.
  std::pair<Value, Value> exchange(Value pointer, Value compare, Value value) {
    auto swap = LLVM::AtomicCmpXchgOp::create(b, loc, pointer, compare, value,
                                              orderOf(access.order),
                                              readOrder(access.order));
    return {LLVM::ExtractValueOp::create(b, loc, swap, 0),
            LLVM::ExtractValueOp::create(b, loc, swap, 1)};
  }

  /// LLVM would call functions for the conversions that not every C library
  /// has.
  Value addNarrowFloat(Value pointer, Value value) {
    Value first = LLVM::LoadOp::create(
        b, loc, bits, pointer, element.getIntOrFloatBitWidth() / 8,
        /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic);
    auto loop =
        scf::WhileOp::create(b, loc, TypeRange{bits}, ValueRange{first});
    OpBuilder::InsertionGuard guard(b);
    Value guess =
        b.createBlock(&loop.getBefore(), {}, bits, loc)->getArgument(0);
    Value sum = arith::AddFOp::create(b, loc, fromBits(guess), value);
    auto [found, done] = exchange(pointer, guess, toBits(sum));
    Value again = arith::XOrIOp::create(
        b, loc, done, arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1));
    scf::ConditionOp::create(b, loc, again, found);
    Value next = b.createBlock(&loop.getAfter(), {}, bits, loc)->getArgument(0);
    scf::YieldOp::create(b, loc, next);
    b.setInsertionPointAfter(loop);
    return fromBits(loop.getResult(0));
  }

  Emitter &emitter;
  OpBuilder &b;
  Operation *op;
  Location loc;
  Access access;
  Type element, bits;
  Value address;
};

} // namespace

LogicalResult tilebridge::cpu::emitAtomic(Emitter &emitter, Operation *op) {
  return AtomicEmitter(emitter, op).emit();
}
