//===- OverlappedPrograms.cpp - programs in two halves --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/OverlappedPrograms.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
class Finder {
public:
  explicit Finder(func::FuncOp kernel) : kernel(kernel) {}

  std::optional<OverlappedPrograms> find() {
    if (!kernel.getBody().hasOneBlock() ||
        kernel
            .walk([](Operation *op) {
              return isPlain(op) ? WalkResult::advance()
                                 : WalkResult::interrupt();
            })
            .wasInterrupted())
      return std::nullopt;
    collect();
    size_t last = firstOfLast();
    if (last == work.size())
      return std::nullopt;
    for (size_t behind = 1; behind <= last; ++behind) {
      if (work[behind - 1]->getNumRegions() == 0)
        continue;
      split(behind, last);
      if (findNeeded())
        return areApart() && findFirst() ? std::optional(result) : std::nullopt;
    }
    return std::nullopt;
  }

private:
  void collect() {
    for (Operation &op : kernel.getBody().front().without_terminator()) {
      if (auto buffer = dyn_cast<memref::AllocOp>(op))
        buffers.push_back(buffer);
      else if (op.getNumRegions() != 0 || !isPure(&op))
        work.push_back(&op);
    }
  }

  /// The loops at the end that give nothing but what they store; one of them
  /// does to an argument.
  size_t firstOfLast() {
    size_t first = work.size();
    for (size_t i = work.size(); i-- > 0;) {
      if (work[i]->getNumRegions() == 0)
        continue;
      if (work[i]->getNumResults() != 0)
        break;
      first = i;
    }
    bool stores = false;
    for (Operation *op : ArrayRef(work).drop_front(first))
      op->walk([&](Operation *inner) {
        stores |= isPlainWrite(inner) && inner->getParentOfType<scf::ForOp>() &&
                  isa<BlockArgument>(namedMemory(accessedMemref(inner)));
      });
    return stores ? first : work.size();
  }

  void split(size_t behind, size_t last) {
    result = {};
    result.buffers = buffers;
    ArrayRef<Operation *> all = work;
    result.begin.insert_range(all.take_front(behind));
    result.middle.insert_range(all.slice(behind, last - behind));
    result.end.insert_range(all.drop_front(last));
  }

  bool findNeeded() {
    auto isBuffer = [](Value value) {
      return value.getDefiningOp<memref::AllocOp>() != nullptr;
    };
    // Roots and quotients are taken when the next program is called, before it
    // begins.
    NeededValues later(isBuffer);
    later.keep = NeededValues::Keep::First;
    auto isSecondHalf = [middle = result.middle,
                         end = result.end](Operation *op) {
      return middle.contains(op) || end.contains(op);
    };
    later.isLater = isSecondHalf;
    for (const auto *part : {&result.middle, &result.end})
      for (Operation *op : *part)
        if (!later.addOperands(op))
          return false;
    // Without such numbers there is nothing to wait for.
    if (later.kept.empty())
      return false;
    result.later = later;
    NeededValues last(isBuffer);
    last.keep = NeededValues::Keep::Last;
    last.isLater = [end = result.end](Operation *op) {
      return end.contains(op);
    };
    for (Operation *op : result.end)
      if (!last.addOperands(op))
        return false;
    result.last = last;
    return true;
  }

  /// The buffers that the operations use, by whatever name.
  SmallPtrSet<Operation *, 4> buffersOf(ArrayRef<Operation *> ops) {
    SmallPtrSet<Operation *, 4> found;
    DenseSet<Value> seen;
    SmallVector<Value> open;
    auto visit = [&](Operation *op) {
      op->walk([&](Operation *inner) {
        llvm::append_range(open, inner->getOperands());
      });
    };
    llvm::for_each(ops, visit);
    while (!open.empty()) {
      Value value = open.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || !seen.insert(value).second)
        continue;
      if (isa<memref::AllocOp>(op))
        found.insert(op);
      else
        llvm::append_range(open, op->getOperands());
    }
    return found;
  }

  /// What one half has in memory of the thread, the other one does not use:
  /// that of the next program comes between.
  bool areApart() {
    auto first = buffersOf(result.begin.getArrayRef());
    SmallVector<Operation *> second(result.middle.begin(), result.middle.end());
    llvm::append_range(second, result.end);
    return llvm::none_of(buffersOf(second),
                         [&](Operation *op) { return first.contains(op); });
  }

  /// How much the first loop reads: of its bounds, or, where it counts rows, of
  /// those of the loops inside of it.
  bool findFirst() {
    auto loop = llvm::find_if(
        result.begin, [](Operation *op) { return op->getNumRegions() != 0; });
    result.first = dyn_cast<scf::ForOp>(*loop);
    if (!result.first || !getConstantIntValue(result.first.getStep()))
      return false;
    for (Value bound :
         {result.first.getLowerBound(), result.first.getUpperBound()})
      if (!result.early.add(bound) || !result.early.kept.empty())
        return false;
    int64_t each = 1;
    if (getConstantIntValue(result.first.getStep()) == 1) {
      bool isKnown = true;
      result.first.getBody()->walk([&](scf::ForOp inner) {
        auto from = getConstantIntValue(inner.getLowerBound()),
             to = getConstantIntValue(inner.getUpperBound());
        isKnown &= from && to && inner->getParentOp() == result.first;
        each = isKnown ? std::max<int64_t>(each, *to - *from) : each;
      });
      if (!isKnown)
        return false;
    }
    DenseMap<Value, int64_t> bits;
    result.first.getBody()->walk([&](Operation *op) {
      Value memref = accessedMemref(op);
      if (!memref || isPlainWrite(op) || !op->getNumResults() ||
          !isa<VectorType>(op->getResult(0).getType()))
        return;
      int64_t &most = bits[namedMemory(memref)];
      most = std::max<int64_t>(
          most, getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth());
    });
    for (auto [memref, width] : bits) {
      result.bytes += each * llvm::divideCeil(width, 8);
      result.isNarrow &= width <= 16;
    }
    return result.bytes > 0;
  }

  func::FuncOp kernel;
  OverlappedPrograms result;
  SmallVector<Operation *> work;
  SmallVector<memref::AllocOp> buffers;
};
} // namespace

std::optional<OverlappedPrograms>
tilebridge::cpu::findOverlappedPrograms(func::FuncOp kernel) {
  return Finder(kernel).find();
}
