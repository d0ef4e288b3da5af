//===- DeferredStores.cpp - stores that the next program may do -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/DeferredStores.h"
#include "cpu-backend/emit/ShareOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Kept numbers are few, or another program costs more than it saves.
static constexpr unsigned maxKept = 8;

/// The buffer is in the second cache when the next program comes to it.
static constexpr int64_t maxBytes = 512 << 10;

/// The buffer or argument that a memref is another name for.
static Value baseOf(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::ReinterpretCastOp, memref::CastOp, memref::SubViewOp>(op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

/// The memref that the operation reads or writes; null if it does neither.
static Value accessed(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return load.getMemRef();
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return store.getMemRef();
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return load.getBase();
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return store.getBase();
  if (auto load = dyn_cast<vector::MaskedLoadOp>(op))
    return load.getBase();
  if (auto store = dyn_cast<vector::MaskedStoreOp>(op))
    return store.getBase();
  if (auto gather = dyn_cast<vector::GatherOp>(op))
    return gather.getBase();
  return {};
}

static bool isWrite(Operation *op) {
  return isa<memref::StoreOp, vector::StoreOp, vector::MaskedStoreOp>(op);
}

/// Calls a function that only computes, such as the one for the programs'
/// order.
static bool isPureCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  return callee && !callee.isExternal() &&
         !callee
              .walk([](Operation *op) {
                return isa<func::FuncOp, func::ReturnOp>(op) ||
                               isMemoryEffectFree(op)
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Only what is read and written by plain accesses can be done later: no
/// atomics, nothing that waits or prints.
static bool isPlain(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return isPureCall(call);
  return isa<func::FuncOp, func::ReturnOp, scf::ForOp, scf::IfOp, scf::YieldOp,
             memref::PrefetchOp>(op) ||
         (isa<memref::AllocOp>(op) && !op->hasAttr(keptAttr) &&
          !op->hasAttr(zeroedAttr)) ||
         accessed(op) || isMemoryEffectFree(op);
}

/// A name for the buffer as it is, whose indices are the buffer's.
static bool isWholeName(Operation *op) {
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
    return op->getNumOperands() == 1 &&
           cast.getStaticOffsets() == ArrayRef<int64_t>{0} &&
           cast.getStaticStrides() == ArrayRef<int64_t>{1};
  return isa<memref::CastOp>(op);
}

namespace {
class Finder {
public:
  explicit Finder(func::FuncOp kernel) : kernel(kernel) {}

  std::optional<DeferredStores> find() {
    if (!kernel.getBody().hasOneBlock() ||
        kernel
            .walk([](Operation *op) {
              return isPlain(op) ? WalkResult::advance()
                                 : WalkResult::interrupt();
            })
            .wasInterrupted())
      return std::nullopt;
    for (auto buffer : kernel.getBody().front().getOps<memref::AllocOp>()) {
      result = {};
      origins.clear();
      result.buffer = buffer;
      if (findAccesses() && findLoops() && findStored() && findSlice())
        return result;
    }
    return std::nullopt;
  }

private:
  Operation *atTop(Operation *op) {
    return kernel.getBody().front().findAncestorOpInBlock(*op);
  }

  /// All accesses of the buffer; false if it has other users.
  bool findAccesses() {
    reads.clear();
    writes.clear();
    MemRefType type = result.buffer.getType();
    if (type.getRank() != 1 || !type.hasStaticShape() ||
        type.getNumElements() * type.getElementTypeBitWidth() / 8 > maxBytes)
      return false;
    SmallVector<Value> names = {result.buffer};
    while (!names.empty())
      for (Operation *user : names.pop_back_val().getUsers()) {
        if (isWholeName(user))
          names.push_back(user->getResult(0));
        else if (accessed(user) && baseOf(accessed(user)) == result.buffer)
          (isWrite(user) ? writes : reads).push_back(user);
        else
          return false;
      }
    return !reads.empty() && !writes.empty();
  }

  /// The loops behind which there is nothing, and the one that fills the
  /// buffer, before which nobody has used it.
  bool findLoops() {
    auto isBefore = [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    };
    Operation *first = nullptr, *last = nullptr;
    for (Operation *write : writes) {
      Operation *top = atTop(write);
      if (!first || isBefore(top, first))
        first = top;
      if (!last || isBefore(last, top))
        last = top;
    }
    llvm::SetVector<Operation *> storing;
    for (Operation *read : reads) {
      Operation *top = atTop(read);
      if (!isBefore(last, top))
        return false;
      auto loop = dyn_cast<scf::ForOp>(top);
      if (loop && loop.getNumResults() == 0)
        storing.insert(top);
    }
    if (storing.empty())
      return false;
    Operation *begin = *llvm::min_element(storing, isBefore);
    for (Operation &op : llvm::make_range(begin->getIterator(),
                                          kernel.getBody().front().end())) {
      if (storing.contains(&op))
        result.edges.push_back(cast<scf::ForOp>(op));
      else if (!isMemoryEffectFree(&op) && !isa<func::ReturnOp>(op))
        return false;
    }
    result.filled = dyn_cast<scf::ForOp>(first);
    return result.filled && isEachStep(result.filled, writes);
  }

  /// The loop's accesses of the buffer, of which there are some, are those of
  /// the elements from its index on, one step of it.
  static bool isEachStep(scf::ForOp loop, ArrayRef<Operation *> accesses) {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!step || *step < 1 || !loop.getInductionVar().getType().isIndex())
      return false;
    bool isFound = false;
    for (Operation *op : accesses) {
      if (!loop->isAncestor(op))
        continue;
      VectorType type;
      ValueRange indices;
      if (auto load = dyn_cast<vector::LoadOp>(op)) {
        type = load.getVectorType();
        indices = load.getIndices();
      } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
        type = store.getVectorType();
        indices = store.getIndices();
      }
      if (!type || op->getBlock() != loop.getBody() || type.getRank() != 1 ||
          type.getNumElements() > *step ||
          indices.front() != loop.getInductionVar())
        return false;
      isFound = true;
    }
    return isFound;
  }

  /// The loop that does most of the stores, all to one array: their order does
  /// not matter.
  bool findStored() {
    Value target;
    for (scf::ForOp loop : result.edges) {
      WalkResult walked = loop.walk([&](Operation *op) {
        Value memref = accessed(op);
        if (!memref)
          return isa<memref::AllocOp>(op) ? WalkResult::interrupt()
                                          : WalkResult::advance();
        Value base = baseOf(memref);
        bool isArgument =
            isa<BlockArgument>(base) &&
            cast<BlockArgument>(base).getOwner()->getParentOp() == kernel;
        if (isWrite(op)) {
          if (!isArgument || (target && target != base))
            return WalkResult::interrupt();
          target = base;
        }
        return isArgument || base == result.buffer ? WalkResult::advance()
                                                   : WalkResult::interrupt();
      });
      if (walked.wasInterrupted())
        return false;
    }
    if (!target)
      return false;
    auto found = llvm::find_if(
        result.edges, [&](scf::ForOp loop) { return isEachStep(loop, reads); });
    if (found == result.edges.end())
      return false;
    result.stored = *found;
    result.edges.erase(found);
    int64_t fills = *getConstantIntValue(result.filled.getStep()),
            stores = *getConstantIntValue(result.stored.getStep());
    result.step = std::max(fills, stores);
    return result.step % fills == 0 && result.step % stores == 0;
  }

  /// Whether operations that do nothing else compute it from arguments alone,
  /// or also from numbers that others give, such as one that is loaded.
  enum class From { Arguments, Numbers, Others };

  From originOf(Value value) {
    if (isa<BlockArgument>(value) || baseOf(value) == result.buffer)
      return From::Arguments;
    if (auto found = origins.find(value); found != origins.end())
      return found->second;
    Operation *op = value.getDefiningOp();
    From from = From::Arguments;
    if (op->getNumRegions() != 0 || !isPure(op)) {
      from = isNumber(value) ? From::Numbers : From::Others;
    } else {
      for (Value operand : op->getOperands())
        from = std::max(from, originOf(operand));
      // A quotient by what was not computed would be an error.
      if (from == From::Numbers &&
          isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
              op))
        from = From::Others;
    }
    return origins[value] = from;
  }

  static bool isNumber(Value value) {
    return value.getType().isIntOrIndexOrFloat();
  }

  /// What can be computed again is; of others the number is kept that they end
  /// in, such as the sum of a loop's lanes.
  bool addToSlice(Value value) {
    if (isa<BlockArgument>(value) || baseOf(value) == result.buffer)
      return true;
    Operation *op = value.getDefiningOp();
    if (result.slice.contains(op) || result.kept.contains(value))
      return true;
    bool isComputed = op->getNumRegions() == 0 && isPure(op);
    if (isNumber(value) && (!isComputed || originOf(value) == From::Others)) {
      result.kept.insert(value);
      return result.kept.size() <= maxKept;
    }
    if (!isComputed)
      return false;
    for (Value operand : op->getOperands())
      if (!addToSlice(operand))
        return false;
    result.slice.insert(op);
    return true;
  }

  bool findSlice() {
    SmallVector<scf::ForOp> loops = result.edges;
    loops.push_back(result.stored);
    for (scf::ForOp loop : loops) {
      WalkResult walked = loop->walk([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (!loop->isAncestor(operand.getParentBlock()->getParentOp()) &&
              !addToSlice(operand))
            return WalkResult::interrupt();
        return WalkResult::advance();
      });
      if (walked.wasInterrupted())
        return false;
    }
    return true;
  }

  func::FuncOp kernel;
  DeferredStores result;
  SmallVector<Operation *> reads, writes;
  DenseMap<Value, From> origins;
};
} // namespace

std::optional<DeferredStores>
tilebridge::cpu::findDeferredStores(func::FuncOp kernel) {
  return Finder(kernel).find();
}
