//===- AtomicGuards.cpp - atomics of launches that nobody disturbs --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A launch may be told that no other one of its process has atomic accesses
// meanwhile (TB_LAUNCH_GUARDED). Then whoever has the guard of an element may
// change it by plain accesses, and so whole vectors of lanes that follow one
// another. A thread keeps the guard of one lane for the next ones, and has one
// at a time, so that none waits for a thread that waits. All accesses of such a
// kernel take guards: one of an element that is changed by an instruction of
// its own would be lost between a thread's load and its store.
//
// What others must not disturb is said by the scope: that of the system, which
// has the threads of other programs, is left to the CPU. So are kernels with
// other accesses than read-modify-writes, which may wait for another launch.
//===----------------------------------------------------------------------===//

#include "cpu-backend/HostState.h"
#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Atomics.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/RowPieces.h"
#include "runtime/executable_abi.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using arith::CmpIPredicate;
using linalg_ext::AtomicKind;

/// Whether `tensor` is computed from indices along its last dimension, and
/// nothing that differs along it is read.
static bool countsAlongRow(Value tensor) {
  bool counts = false, reads = false;
  auto visit = [&](Value value, auto &&visit) -> void {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() == 0 || type.getShape().back() == 1)
      return;
    Operation *op = value.getDefiningOp();
    if (op && isOneNumber(op))
      return;
    if (auto broadcast = dyn_cast_if_present<linalg::BroadcastOp>(op)) {
      if (!llvm::is_contained(broadcast.getDimensions(), type.getRank() - 1))
        visit(broadcast.getInput(), visit);
      return;
    }
    if (!op || !(isElementwise(op) || isUnitReshape(op))) {
      reads = true;
      return;
    }
    counts |= anyInside(op, [&](Operation *inner) {
      auto index = dyn_cast<linalg::IndexOp>(inner);
      return index &&
             static_cast<int64_t>(index.getDim()) == type.getRank() - 1;
    });
    for (Value operand : op->getOperands())
      visit(operand, visit);
  };
  visit(tensor, visit);
  return counts && !reads;
}

bool tilebridge::cpu::followsRows(Value offsets) {
  SmallVector<Value> terms;
  addTerms(withoutExtension(offsets), terms);
  return llvm::any_of(terms, countsAlongRow);
}

StringRef tilebridge::cpu::describeAtomics(ModuleOp module) {
  bool any = false, isOwn = false, hasBlocks = false, hasRows = true;
  module.walk([&](Operation *op) {
    // While a launch is alone it waits for nobody: neither for another one, nor
    // for who prints.
    isOwn |= isa<linalg_ext::PrintOp, scf::WhileOp>(op);
    if (!isAtomic(op))
      return;
    any = true;
    auto change = dyn_cast<linalg_ext::AtomicRMWOp>(op);
    if (!change || change.getScope() == linalg_ext::MemScope::Sys) {
      isOwn = true;
      return;
    }
    auto type = dyn_cast<RankedTensorType>(change.getOffset().getType());
    if (!type)
      return;
    hasBlocks |= type.getNumElements() > 1;
    hasRows &= followsRows(change.getOffset());
  });
  if (!any)
    return "none";
  if (isOwn || !hasBlocks)
    return "own";
  return hasRows ? "guarded" : "alone";
}

bool AtomicEmitter::mayBeGuarded() const {
  auto atomics =
      op->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(atomicsAttr);
  return access.kind && atomics && atomics.getValue() != "own";
}

/// Whether the launch is. Finds the guards.
Value AtomicEmitter::findGuards() {
  auto module = op->getParentOfType<ModuleOp>();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type();
  launch = currentLaunch(b, loc, module);
  Value flags = loadField(b, loc, launch, offsetof(tb_launch_v1, flags), i32);
  Value guarded = arith::AndIOp::create(
      b, loc, flags,
      arith::ConstantIntOp::create(b, loc, i32, TB_LAUNCH_GUARDED));
  host = loadField(b, loc, launch, offsetof(tb_launch_v1, host), pointer);
  return arith::CmpIOp::create(b, loc, CmpIPredicate::ne, guarded,
                               arith::ConstantIntOp::create(b, loc, i32, 0));
}

Value AtomicEmitter::guardOf(Value address) {
  Value shift =
      arith::ConstantIntOp::create(b, loc, b.getI64Type(), TB_GUARD_SHIFT);
  return arith::AndIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, address, shift), guardMask);
}

Value AtomicEmitter::guardPointer(Value guard) {
  return LLVM::GEPOp::create(b, loc, guards.getType(), b.getI32Type(), guards,
                             ArrayRef<LLVM::GEPArg>{guard});
}

/// In the branch of a launch that is guarded.
void AtomicEmitter::findGuardMask() {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  guards = loadField(b, loc, host, offsetof(tb_host_v1, guards), pointer);
  guardMask =
      loadField(b, loc, host, offsetof(tb_host_v1, guard_mask), b.getI64Type());
}

/// Whether other threads run the launch as well: one alone has one guard, which
/// nobody takes from it.
Value AtomicEmitter::isShared() {
  return arith::CmpIOp::create(
      b, loc, CmpIPredicate::ne, guardMask,
      arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0));
}

void AtomicEmitter::takeGuard(Value guard) {
  Type i32 = b.getI32Type();
  auto needed = scf::IfOp::create(b, loc, isShared(), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard outside(b);
  b.setInsertionPointToStart(needed.thenBlock());
  Value pointer = guardPointer(guard);
  Value before =
      LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::xchg, pointer,
                                arith::ConstantIntOp::create(b, loc, i32, 1),
                                LLVM::AtomicOrdering::acquire);
  Value isTaken =
      arith::CmpIOp::create(b, loc, CmpIPredicate::ne, before,
                            arith::ConstantIntOp::create(b, loc, i32, 0));
  auto branch = scf::IfOp::create(b, loc, isTaken, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard inside(b);
  b.setInsertionPointToStart(branch.thenBlock());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer.getType()});
  Value wait = loadField(b, loc, host, offsetof(tb_host_v1, take_guard),
                         pointer.getType());
  LLVM::CallOp::create(b, loc, type, ValueRange{wait, pointer});
}

void AtomicEmitter::giveGuard(Value guard) {
  LLVM::StoreOp::create(
      b, loc, arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0),
      guardPointer(guard), /*alignment=*/4, /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
      LLVM::AtomicOrdering::release);
}

/// The guard of `address`, which the thread has from here on.
Value AtomicEmitter::changeGuard(Value held, Value guard) {
  Value differs = arith::CmpIOp::create(b, loc, CmpIPredicate::ne, held, guard);
  auto branch = scf::IfOp::create(b, loc, differs, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard inside(b);
  b.setInsertionPointToStart(branch.thenBlock());
  giveGuard(held);
  takeGuard(guard);
  return guard;
}

/// Both as wide: what is in memory, `old`, gets to be.
Value AtomicEmitter::combineAny(Value old, Value value) {
  auto is = [&](CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  if (access.kind != AtomicKind::Inc && access.kind != AtomicKind::Dec)
    return combine(old, value);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element)),
        one = arith::ConstantIntOp::create(b, loc, element, 1);
  if (access.kind == AtomicKind::Inc)
    return arith::SelectOp::create(b, loc, is(CmpIPredicate::uge, old, value),
                                   zero,
                                   arith::AddIOp::create(b, loc, old, one));
  Value begins = arith::OrIOp::create(b, loc, is(CmpIPredicate::eq, old, zero),
                                      is(CmpIPredicate::ugt, old, value));
  return arith::SelectOp::create(b, loc, begins, value,
                                 arith::SubIOp::create(b, loc, old, one));
}

/// By whoever has the guard: what was there.
Value AtomicEmitter::changePlainly(Value address, Value value) {
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  Value pointer = pointerTo(address);
  Value old = LLVM::LoadOp::create(b, loc, value.getType(), pointer, bytes);
  LLVM::StoreOp::create(b, loc, combineAny(old, value), pointer, bytes);
  return old;
}

/// One element, by who has the guard `held`; which one there is behind.
Value AtomicEmitter::changeAt(Position at, Value held) {
  auto change = [&] {
    Value address = addressOf(load(access.offset, at, shaped.getElementType()));
    Value now = changeGuard(held, guardOf(address));
    Value old = changePlainly(address, load(access.value, at, element));
    if (target)
      memref::StoreOp::create(b, loc, old, target, at);
    return now;
  };
  if (!access.mask)
    return change();
  auto branch = scf::IfOp::create(b, loc, TypeRange{held.getType()},
                                  load(access.mask, at, b.getI1Type()), true);
  OpBuilder::InsertionGuard inside(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, change());
  b.setInsertionPointToStart(branch.elseBlock());
  if (target)
    memref::StoreOp::create(
        b, loc,
        fromBits(arith::ConstantOp::create(b, loc, b.getZeroAttr(bits))),
        target, at);
  scf::YieldOp::create(b, loc, held);
  return branch.getResult(0);
}

/// So many lanes that are on, one after the other, by a thread that nobody
/// disturbs.
void AtomicEmitter::changeAlone(Position at, int64_t lanes) {
  constexpr int64_t mostAtOnce = 8;
  int64_t atOnce = std::min(lanes, mostAtOnce);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto loop = scf::ForOp::create(
      b, loc, at.back(),
      arith::AddIOp::create(b, loc, at.back(), number(lanes)), number(atOnce));
  OpBuilder::InsertionGuard inside(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> lane(at);
  for (int64_t i = 0; i < atOnce; ++i) {
    lane.back() =
        arith::AddIOp::create(b, loc, loop.getInductionVar(), number(i));
    Value address =
        addressOf(load(access.offset, lane, shaped.getElementType()));
    Value old = changePlainly(address, load(access.value, lane, element));
    if (target)
      memref::StoreOp::create(b, loc, old, target, lane);
  }
}

/// The same for so many lanes, at once where they follow one another, all are
/// on, and one guard is that of all.
Value AtomicEmitter::changeLanes(Position at, int64_t lanes, Value held) {
  Type i64 = b.getI64Type();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value first = addressOf(load(access.offset, at, shaped.getElementType()));
  Value last = arith::AddIOp::create(
      b, loc, first,
      arith::ConstantIntOp::create(b, loc, i64, (lanes - 1) * bytes));
  Value guard = guardOf(first);
  Value together = arith::AndIOp::create(
      b, loc, followOneAnother(at, lanes),
      arith::CmpIOp::create(b, loc, CmpIPredicate::eq, guard, guardOf(last)));
  Value areOn;
  if (access.mask) {
    areOn = vector::ReductionOp::create(
        b, loc, vector::CombiningKind::AND,
        load(access.mask, at, b.getI1Type(), lanes));
    together = arith::AndIOp::create(b, loc, together, areOn);
  }
  auto branch =
      scf::IfOp::create(b, loc, TypeRange{held.getType()}, together, true);
  OpBuilder::InsertionGuard inside(b);
  b.setInsertionPointToStart(branch.thenBlock());
  changeGuard(held, guard);
  Value old = changePlainly(first, load(access.value, at, element, lanes));
  if (target)
    storeElements(b, loc, old, target, at);
  scf::YieldOp::create(b, loc, guard);

  b.setInsertionPointToStart(branch.elseBlock());
  // A thread alone has one guard, and need not ask whether it is another one.
  Value isAlone =
      arith::CmpIOp::create(b, loc, CmpIPredicate::eq, guardMask,
                            arith::ConstantIntOp::create(b, loc, i64, 0));
  if (areOn)
    isAlone = arith::AndIOp::create(b, loc, isAlone, areOn);
  auto alone =
      scf::IfOp::create(b, loc, TypeRange{held.getType()}, isAlone, true);
  scf::YieldOp::create(b, loc, alone.getResults());
  b.setInsertionPointToStart(alone.thenBlock());
  changeAlone(at, lanes);
  scf::YieldOp::create(b, loc, held);
  b.setInsertionPointToStart(alone.elseBlock());
  SmallVector<Value> one(at);
  Value end = arith::AddIOp::create(
      b, loc, at.back(), arith::ConstantIndexOp::create(b, loc, lanes));
  auto each = scf::ForOp::create(b, loc, at.back(), end,
                                 arith::ConstantIndexOp::create(b, loc, 1),
                                 ValueRange{held});
  scf::YieldOp::create(b, loc, each.getResults());
  b.setInsertionPointToStart(each.getBody());
  one.back() = each.getInductionVar();
  scf::YieldOp::create(b, loc, changeAt(one, each.getRegionIterArg(0)));
  return branch.getResult(0);
}

/// All lanes of the last dimension.
void AtomicEmitter::changeRow(Position row) {
  int64_t size = shaped.getShape().back();
  int64_t lanes = 1;
  if (areVectors())
    lanes = lanesAlong(size, emitter.target().vectorBits /
                                 element.getIntOrFloatBitWidth());
  SmallVector<Value> at(row);
  at.push_back(arith::ConstantIndexOp::create(b, loc, 0));
  Value held =
      guardOf(addressOf(load(access.offset, at, shaped.getElementType())));
  takeGuard(held);
  auto loop = scf::ForOp::create(
      b, loc, at.back(), arith::ConstantIndexOp::create(b, loc, size),
      arith::ConstantIndexOp::create(b, loc, lanes), ValueRange{held});
  {
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(loop.getBody());
    at.back() = loop.getInductionVar();
    held = loop.getRegionIterArg(0);
    if (lanes > 1)
      prefetchLater(at);
    held = lanes > 1 ? changeLanes(at, lanes, held) : changeAt(at, held);
    scf::YieldOp::create(b, loc, held);
  }
  giveGuard(loop.getResult(0));
}

/// In a launch that is guarded.
LogicalResult AtomicEmitter::emitGuarded() {
  findGuardMask();
  // Of an empty row not even the first guard is there.
  if (llvm::is_contained(shaped.getShape(), 0))
    return success();
  if (shaped.getRank() == 0) {
    Value guard =
        guardOf(addressOf(load(access.offset, {}, shaped.getElementType())));
    takeGuard(guard);
    giveGuard(changeAt({}, guard));
    return success();
  }
  return forEachElement(
      emitter, loc, shaped.getShape().drop_back(), [&](Position row) {
        OpBuilder::InsertionGuard outside(b);
        if (Value any = isAnyOfRow(row))
          b.setInsertionPointToStart(scf::IfOp::create(b, loc, any,
                                                       /*withElseRegion=*/false)
                                         .thenBlock());
        changeRow(row);
        return success();
      });
}

/// A single element: what was there.
Value AtomicEmitter::changeGuarded(Value offset, Value value) {
  findGuardMask();
  Value address = addressOf(offset), guard = guardOf(address);
  takeGuard(guard);
  Value old = changePlainly(address, value);
  giveGuard(guard);
  return old;
}
