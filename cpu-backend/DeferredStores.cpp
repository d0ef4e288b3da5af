//===- DeferredStores.cpp - stores that the next program may do -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/DeferredStores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// The buffer is in the second cache when the next program comes to it.
static constexpr int64_t maxBytes = 512 << 10;

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
      result.buffer = buffer;
      if (findAccesses() && findLoops() && findStored() && findNeeded())
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
        else if (accessedMemref(user) &&
                 namedMemory(accessedMemref(user)) == result.buffer)
          (isPlainWrite(user) ? writes : reads).push_back(user);
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
        Value memref = accessedMemref(op);
        if (!memref)
          return isa<memref::AllocOp>(op) ? WalkResult::interrupt()
                                          : WalkResult::advance();
        Value base = namedMemory(memref);
        bool isArgument =
            isa<BlockArgument>(base) &&
            cast<BlockArgument>(base).getOwner()->getParentOp() == kernel;
        if (isPlainWrite(op)) {
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

  bool findNeeded() {
    SmallVector<scf::ForOp> loops = result.edges;
    loops.push_back(result.stored);
    result.needed = NeededValues([buffer = Value(result.buffer)](Value value) {
      return namedMemory(value) == buffer;
    });
    return llvm::all_of(loops, [&](scf::ForOp loop) {
      return result.needed.addOperands(loop);
    });
  }

  func::FuncOp kernel;
  DeferredStores result;
  SmallVector<Operation *> reads, writes;
};
} // namespace

std::optional<DeferredStores>
tilebridge::cpu::findDeferredStores(func::FuncOp kernel) {
  return Finder(kernel).find();
}
