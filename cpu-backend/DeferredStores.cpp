//===- DeferredStores.cpp - stores that the next program may do -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/DeferredStores.h"
#include "cpu-backend/PlainAccesses.h"
#include "cpu-backend/TakenValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// The buffer is in the second cache when the next program comes to it.
static constexpr int64_t maxBytes = 512 << 10;

namespace {
class Finder {
public:
  explicit Finder(func::FuncOp kernel) : kernel(kernel) {}

  std::optional<DeferredStores> find(bool longRows) {
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
      if (findAccesses() && findLoops() && findStored() && findSlice())
        return result;
    }
    result = {};
    if (longRows && findRow() && findSlice())
      return result;
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
        else if (accessedMemory(user) &&
                 baseOf(accessedMemory(user)) == result.buffer)
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
        result.edges.push_back(&op);
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
    for (Operation *loop : result.edges) {
      WalkResult walked = loop->walk([&](Operation *op) {
        Value memref = accessedMemory(op);
        if (!memref)
          return isa<memref::AllocOp>(op) ? WalkResult::interrupt()
                                          : WalkResult::advance();
        Value base = baseOf(memref);
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
    auto found = llvm::find_if(result.edges, [&](Operation *loop) {
      return isEachStep(cast<scf::ForOp>(loop), reads);
    });
    if (found == result.edges.end())
      return false;
    result.stored = cast<scf::ForOp>(*found);
    result.edges.erase(found);
    return findStep();
  }

  bool findStep() {
    int64_t fills = *getConstantIntValue(result.filled.getStep()),
            stores = *getConstantIntValue(result.stored.getStep());
    result.step = std::max(fills, stores);
    return result.step % fills == 0 && result.step % stores == 0;
  }

  /// A loop without others in it, whose index goes up by constant steps.
  static bool isSimple(scf::ForOp loop) {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    return step && *step >= 1 && loop.getInductionVar().getType().isIndex() &&
           !loop.getBody()
                ->walk([](scf::ForOp) { return WalkResult::interrupt(); })
                .wasInterrupted();
  }

  /// Nothing but what `test` takes is read or written in it.
  static bool accessesOnly(Operation *root,
                           llvm::function_ref<bool(Operation *)> test) {
    return !root->walk([&](Operation *op) {
                  return accessedMemory(op) && !test(op)
                             ? WalkResult::interrupt()
                             : WalkResult::advance();
                })
                .wasInterrupted();
  }

  /// The most that an index may be, if that is seen.
  static std::optional<int64_t> mostOf(Value value) {
    if (auto known = getConstantIntValue(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op || !isa<arith::MinSIOp, arith::MaxSIOp, arith::AndIOp>(op))
      return std::nullopt;
    auto first = mostOf(op->getOperand(0)), second = mostOf(op->getOperand(1));
    if (isa<arith::AndIOp>(op))
      return second && *second < 0 ? first : std::nullopt;
    if (first && second)
      return isa<arith::MinSIOp>(op) ? std::min(*first, *second)
                                     : std::max(*first, *second);
    return isa<arith::MinSIOp>(op) ? (first ? first : second) : std::nullopt;
  }

  /// A kernel that begins with a loop that reads a row and ends with one that
  /// stores it, and reads it again, as an RMS norm does.
  bool findRow() {
    Block &body = kernel.getBody().front();
    for (Operation &op : llvm::reverse(body.without_terminator())) {
      if (isMemoryEffectFree(&op))
        continue;
      if (!isa<scf::ForOp, scf::IfOp>(op) || op.getNumResults() != 0)
        break;
      result.edges.push_back(&op);
    }
    if (result.edges.empty())
      return false;
    std::reverse(result.edges.begin(), result.edges.end());
    result.stored = dyn_cast<scf::ForOp>(result.edges.front());
    result.edges.erase(result.edges.begin());
    for (Operation &op : body) {
      result.filled = dyn_cast<scf::ForOp>(op);
      if (result.filled ||
          (!isMemoryEffectFree(&op) && !isa<memref::AllocOp>(op)))
        break;
    }
    if (!result.stored || !isSimple(result.stored) || !result.filled ||
        result.filled == result.stored || result.filled.getNumResults() == 0 ||
        !isSimple(result.filled) ||
        !accessesOnly(result.filled,
                      [](Operation *op) { return !isPlainWrite(op); }))
      return false;
    int64_t &bytes = result.bytesOfElement;
    result.filled.walk([&](vector::LoadOp load) {
      bytes = std::max<int64_t>(
          bytes, load.getVectorType().getElementTypeBitWidth() / 8);
    });
    std::optional<int64_t> most = mostOf(result.filled.getUpperBound());
    bool isWritten = false;
    result.stored.walk([&](vector::StoreOp) { isWritten = true; });
    if (!most || *most * bytes < leastRowBytes || !isWritten || !findStep())
      return false;
    auto isKnown = [&](Operation *op) {
      return isKnownMemory(accessedMemory(op));
    };
    return accessesOnly(result.stored, isKnown) &&
           llvm::all_of(result.edges, [&](Operation *op) {
             return accessesOnly(op, isKnown);
           });
  }

  /// An argument's, an allocation's, or one of these that is chosen.
  bool isKnownMemory(Value memref) {
    Value base = baseOf(memref);
    if (auto choice = base.getDefiningOp<arith::SelectOp>())
      return isKnownMemory(choice.getTrueValue()) &&
             isKnownMemory(choice.getFalseValue());
    auto argument = dyn_cast<BlockArgument>(base);
    return argument ? argument.getOwner()->getParentOp() == kernel
                    : isa<memref::AllocOp>(base.getDefiningOp());
  }

  /// Whether the value is memory that is there for all programs.
  bool isThere(Value value) {
    if (isa<BlockArgument>(value) ||
        (result.buffer && baseOf(value) == result.buffer))
      return true;
    if (result.buffer || !isa<MemRefType>(value.getType()))
      return false;
    while (Operation *op = value.getDefiningOp()) {
      if (isa<memref::AllocOp>(op)) {
        result.copies.insert(op);
        return true;
      }
      if (!isWholeName(op))
        return false;
      value = op->getOperand(0);
    }
    return false;
  }

  bool findSlice() {
    TakenValues taken([this](Value value) { return isThere(value); });
    SmallVector<Operation *> loops = result.edges;
    loops.push_back(result.stored);
    if (!taken.add(loops))
      return false;
    result.slice = std::move(taken.slice);
    result.kept = std::move(taken.kept);
    return true;
  }

  func::FuncOp kernel;
  DeferredStores result;
  SmallVector<Operation *> reads, writes;
};
} // namespace

std::optional<DeferredStores>
tilebridge::cpu::findDeferredStores(func::FuncOp kernel, bool longRows) {
  return Finder(kernel).find(longRows);
}
