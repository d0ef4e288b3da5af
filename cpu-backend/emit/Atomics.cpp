//===- Atomics.cpp - atomic accesses of linalg_ext ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One access an element, in row-major order. Operands are computed before the
// first access, for they may have been loaded from the memory that is changed.

#include "cpu-backend/emit/Atomics.h"

#include "cpu-backend/emit/Roots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using linalg_ext::AtomicKind;
using linalg_ext::MemSem;

static AtomicAccess describe(Operation *op) {
  return llvm::TypeSwitch<Operation *, AtomicAccess>(op)
      .Case([](linalg_ext::AtomicRMWOp op) {
        return AtomicAccess{op.getBase(),  op.getOffset(), {},
                            op.getValue(), op.getMask(),   op.getResult(),
                            op.getSem(),   op.getKind()};
      })
      .Case([](linalg_ext::AtomicCASOp op) {
        return AtomicAccess{
            op.getBase(), op.getOffset(), op.getCompare(), op.getValue(),
            {},           op.getResult(), op.getSem(),     {}};
      })
      .Case([](linalg_ext::AtomicLoadOp op) {
        return AtomicAccess{op.getBase(), op.getOffset(), {},          {},
                            op.getMask(), op.getResult(), op.getSem(), {},
                            true};
      })
      .Case([](linalg_ext::AtomicStoreOp op) {
        return AtomicAccess{
            op.getBase(), op.getOffset(), {}, op.getValue(), op.getMask(),
            {},           op.getSem(),    {}};
      });
}

static LLVM::AtomicOrdering orderOf(MemSem order) {
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
static LLVM::AtomicOrdering readOrder(MemSem order) {
  bool acquires = order == MemSem::Acquire || order == MemSem::AcquireRelease;
  return acquires ? LLVM::AtomicOrdering::acquire
                  : LLVM::AtomicOrdering::monotonic;
}
static LLVM::AtomicOrdering writeOrder(MemSem order) {
  bool releases = order == MemSem::Release || order == MemSem::AcquireRelease;
  return releases ? LLVM::AtomicOrdering::release
                  : LLVM::AtomicOrdering::monotonic;
}

static LLVM::AtomicBinOp binOpOf(AtomicKind kind) {
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

AtomicEmitter::AtomicEmitter(FunctionEmitter &emitter, Operation *op)
    : emitter(emitter), b(emitter.builder()), op(op), loc(op->getLoc()),
      access(describe(op)) {
  element = cast<MemRefType>(access.base.getType()).getElementType();
  bits = b.getIntegerType(element.getIntOrFloatBitWidth());
  shaped = dyn_cast<RankedTensorType>(access.offset.getType());
}

LogicalResult AtomicEmitter::emit() {
  if (!llvm::is_contained({8, 16, 32, 64}, element.getIntOrFloatBitWidth()))
    return op->emitError("an atomic access of ")
           << element << " is not possible: expected 1, 2, 4 or 8 bytes";
  findAddress();
  if (!shaped)
    return emitScalar();
  if (access.result && !access.result.use_empty())
    target = emitter.resultBuffer(access.result);
  if (findReadsOfRows())
    return emitGuardedRows();
  if (failed(putIntoMemory()))
    return failure();
  if (!mayBeGuarded())
    return emitBlock();
  auto branch =
      scf::IfOp::create(b, loc, findGuards(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitGuarded()))
    return failure();
  b.setInsertionPointToStart(branch.elseBlock());
  return emitBlock();
}

/// All operands, element by element.
LogicalResult AtomicEmitter::putIntoMemory() {
  for (Value *operand :
       {&access.offset, &access.compare, &access.value, &access.mask})
    if (*operand && isa<RankedTensorType>(operand->getType()) &&
        !(*operand = emitter.bufferOf(*operand)))
      return failure();
  return success();
}

/// Where places and the mask are computed row by row in a guarded launch.
LogicalResult AtomicEmitter::emitGuardedRows() {
  if (!(access.value = emitter.bufferOf(access.value)))
    return failure();
  SmallVector<Value> kept;
  for (Value tensor : readsOfRows) {
    if (emitter.buffers.count(tensor))
      continue;
    Value memory = emitter.bufferOf(tensor);
    if (!memory)
      return failure();
    emitter.setBuffer(tensor, memory);
    kept.push_back(tensor);
  }
  auto branch =
      scf::IfOp::create(b, loc, findGuards(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  AtomicAccess tensors = access;
  auto inMemory = [&] {
    access = tensors;
    return putIntoMemory();
  };
  auto byLanes = [&] {
    return failure(failed(inMemory()) || failed(emitGuarded()));
  };
  FailureOr<bool> isDone = isInPieces ? emitPieces(byLanes) : emitRuns();
  if (failed(isDone))
    return failure();
  if (!*isDone) {
    while (&branch.thenBlock()->front() != branch.thenBlock()->getTerminator())
      branch.thenBlock()->getTerminator()->getPrevNode()->erase();
    b.setInsertionPointToStart(branch.thenBlock());
    if (failed(byLanes()))
      return failure();
  }
  b.setInsertionPointToStart(branch.elseBlock());
  if (failed(inMemory()) || failed(emitBlock()))
    return failure();
  for (Value tensor : kept)
    emitter.buffers.erase(tensor);
  return success();
}

LogicalResult AtomicEmitter::emitBlock() {
  if (int64_t lanes = lanesTogether(); lanes > 1)
    return emitLanes(lanes);
  return forEachElement(emitter, loc, shaped.getShape(), [&](Position at) {
    emitAt(at);
    return success();
  });
}

LogicalResult AtomicEmitter::emitScalar() {
  auto map = [&](Value value) {
    return value ? emitter.mapScalar(value) : Value();
  };
  Value old = emitMasked(map(access.offset), map(access.compare),
                         map(access.value), map(access.mask));
  if (access.result)
    emitter.setScalar(access.result, old);
  return success();
}

Value AtomicEmitter::load(Value buffer, Position at, Type type, int64_t lanes) {
  return buffer ? loadElements(b, loc, buffer, at, type, lanes) : Value();
}

void AtomicEmitter::emitAt(Position at) {
  Value old = emitMasked(load(access.offset, at, shaped.getElementType()),
                         load(access.compare, at, element),
                         load(access.value, at, element),
                         load(access.mask, at, b.getI1Type()));
  if (target)
    memref::StoreOp::create(b, loc, old, target, at);
}

void AtomicEmitter::findAddress() {
  Value base = emitter.mapScalar(access.base);
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, base);
  Value pointer = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, base);
  Value size = arith::ConstantIndexOp::create(
      b, loc, element.getIntOrFloatBitWidth() / 8);
  Value first = arith::MulIOp::create(b, loc, metadata.getOffset(), size);
  start = arith::IndexCastOp::create(
      b, loc, b.getI64Type(), arith::AddIOp::create(b, loc, pointer, first));
}

Value AtomicEmitter::emitMasked(Value offset, Value compare, Value value,
                                Value mask) {
  if (!mask)
    return emitOne(offset, compare, value);
  bool hasResult = access.result != nullptr;
  auto branch = hasResult
                    ? scf::IfOp::create(b, loc, TypeRange{element}, mask,
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

Value AtomicEmitter::toBits(Value value) {
  return value.getType() == bits
             ? value
             : arith::BitcastOp::create(b, loc, bits, value).getResult();
}
Value AtomicEmitter::fromBits(Value value) {
  return value.getType() == element
             ? value
             : arith::BitcastOp::create(b, loc, element, value).getResult();
}

Value AtomicEmitter::addressOf(Value offset) {
  if (offset.getType() != b.getI64Type())
    offset = arith::ExtSIOp::create(b, loc, b.getI64Type(), offset);
  Value size = arith::ConstantIntOp::create(
      b, loc, b.getI64Type(), element.getIntOrFloatBitWidth() / 8);
  return arith::AddIOp::create(b, loc, start,
                               arith::MulIOp::create(b, loc, offset, size));
}

Value AtomicEmitter::pointerTo(Value address) {
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
}

Value AtomicEmitter::emitOne(Value offset, Value compare, Value value) {
  if (shaped || !mayBeGuarded())
    return emitInstruction(offset, compare, value);
  auto branch =
      scf::IfOp::create(b, loc, TypeRange{element}, findGuards(), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, changeGuarded(offset, value));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, emitInstruction(offset, compare, value));
  return branch.getResult(0);
}

Value AtomicEmitter::emitInstruction(Value offset, Value compare, Value value) {
  Value pointer = pointerTo(addressOf(offset));
  if (access.isLoad)
    return fromBits(loadBits(pointer, bits));
  if (!access.result) {
    LLVM::StoreOp::create(b, loc, toBits(value), pointer,
                          element.getIntOrFloatBitWidth() / 8,
                          /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false, writeOrder(access.order));
    return {};
  }
  if (compare)
    return fromBits(exchange(pointer, toBits(compare), toBits(value)).first);
  bool native = element.isF32() || element.isF64();
  // LLVM would call functions for the conversions that not every C library
  // has.
  if (access.kind == AtomicKind::FAdd && !native)
    return fromBits(change(pointer, loadBits(pointer, bits), [&](Value guess) {
      return toBits(arith::AddFOp::create(b, loc, fromBits(guess), value));
    }));
  if (access.kind == AtomicKind::FAdd)
    return LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::fadd, pointer,
                                     value, orderOf(access.order));
  return fromBits(LLVM::AtomicRMWOp::create(b, loc, binOpOf(*access.kind),
                                            pointer, toBits(value),
                                            orderOf(access.order)));
}

/// An exchange has its own order; what it is compared with needs none.
Value AtomicEmitter::loadBits(Value pointer, Type type) {
  return LLVM::LoadOp::create(
      b, loc, type, pointer, type.getIntOrFloatBitWidth() / 8,
      /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
      /*isInvariantGroup=*/false,
      access.isLoad ? readOrder(access.order)
                    : LLVM::AtomicOrdering::monotonic);
}

std::pair<Value, Value> AtomicEmitter::exchange(Value pointer, Value compare,
                                                Value value) {
  auto swap = LLVM::AtomicCmpXchgOp::create(b, loc, pointer, compare, value,
                                            orderOf(access.order),
                                            readOrder(access.order));
  return {LLVM::ExtractValueOp::create(b, loc, swap, 0),
          LLVM::ExtractValueOp::create(b, loc, swap, 1)};
}

Value AtomicEmitter::change(Value pointer, Value first,
                            llvm::function_ref<Value(Value)> changed) {
  Type type = first.getType();
  auto loop = scf::WhileOp::create(b, loc, TypeRange{type}, ValueRange{first});
  OpBuilder::InsertionGuard guard(b);
  Value guess = b.createBlock(&loop.getBefore(), {}, type, loc)->getArgument(0);
  auto [found, done] = exchange(pointer, guess, changed(guess));
  Value again = arith::XOrIOp::create(
      b, loc, done, arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1));
  scf::ConditionOp::create(b, loc, again, found);
  Value next = b.createBlock(&loop.getAfter(), {}, type, loc)->getArgument(0);
  scf::YieldOp::create(b, loc, next);
  return loop.getResult(0);
}

LogicalResult tilebridge::cpu::emitAtomic(FunctionEmitter &emitter,
                                          Operation *op) {
  return AtomicEmitter(emitter, op).emit();
}
