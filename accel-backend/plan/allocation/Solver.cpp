//===- Solver.cpp - finds places for buffers ------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/allocation/Solver.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <random>
#include <vector>

using namespace tilebridge::accel::allocation;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
using Order = SmallVector<unsigned>;

struct Range {
  uint64_t begin, end;
};

class Placer {
public:
  explicit Placer(const Problem &problem)
      : problem(problem), beside(problem.buffers.size()) {
    ArrayRef<Buffer> buffers = problem.buffers;
    Order byBegin = llvm::to_vector(llvm::seq<unsigned>(0, buffers.size()));
    llvm::stable_sort(byBegin, [&](unsigned a, unsigned b) {
      return buffers[a].begin < buffers[b].begin;
    });
    Order needed;
    for (unsigned index : byBegin) {
      llvm::erase_if(needed, [&](unsigned other) {
        return !buffers[other].livesWith(buffers[index]);
      });
      for (unsigned other : needed) {
        beside[index].push_back(other);
        beside[other].push_back(index);
      }
      needed.push_back(index);
    }
  }

  /// Places the buffers in this order; those that do not fit lie behind the
  /// end, so that orders can be compared.
  Placement place(ArrayRef<unsigned> order) const {
    Placement result;
    result.offsets.assign(problem.buffers.size(), 0);
    std::vector<bool> isPlaced(problem.buffers.size(), false);
    for (unsigned index : order) {
      const Buffer &buffer = problem.buffers[index];
      SmallVector<Range> taken = takenRanges(index, isPlaced, result);
      std::optional<uint64_t> offset;
      if (buffer.bank) {
        uint64_t begin = *buffer.bank * problem.bankBytes();
        offset =
            smallestGap(buffer, taken, {begin, begin + problem.bankBytes()});
        if (!offset)
          result.elsewhere.push_back(index);
      }
      if (!offset)
        offset = smallestGap(buffer, taken, {0, UINT64_MAX});
      result.offsets[index] = *offset;
      result.bytes = std::max(result.bytes, *offset + buffer.bytes);
      isPlaced[index] = true;
    }
    dropWishesThatCameTrue(result);
    return result;
  }

private:
  SmallVector<Range> takenRanges(unsigned index,
                                 const std::vector<bool> &isPlaced,
                                 const Placement &sofar) const {
    SmallVector<Range> taken;
    for (unsigned other : beside[index])
      if (isPlaced[other])
        taken.push_back({sofar.offsets[other],
                         sofar.offsets[other] + problem.buffers[other].bytes});
    llvm::sort(taken, [](const Range &a, const Range &b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    return taken;
  }

  // The gap behind the last buffer counts as larger than any other one.
  static std::optional<uint64_t>
  smallestGap(const Buffer &buffer, ArrayRef<Range> taken, Range within) {
    std::optional<uint64_t> best;
    uint64_t bestBytes = UINT64_MAX;
    uint64_t begin = within.begin;
    auto consider = [&](uint64_t end) {
      uint64_t offset = llvm::divideCeil(begin, buffer.alignment);
      offset *= buffer.alignment;
      if (end < offset || end - offset < buffer.bytes)
        return;
      uint64_t bytes = end == UINT64_MAX ? UINT64_MAX - 1 : end - begin;
      if (bytes >= bestBytes)
        return;
      best = offset;
      bestBytes = bytes;
    };
    for (const Range &range : taken) {
      if (range.begin > begin)
        consider(std::min(range.begin, within.end));
      begin = std::max(begin, range.end);
    }
    if (begin <= within.end)
      consider(within.end);
    return best;
  }

  // A buffer that did not fit into its bank's gaps cannot be there by chance,
  // but one without bytes can.
  void dropWishesThatCameTrue(Placement &result) const {
    llvm::erase_if(result.elsewhere, [&](unsigned index) {
      const Buffer &buffer = problem.buffers[index];
      uint64_t begin = *buffer.bank * problem.bankBytes();
      return result.offsets[index] >= begin &&
             result.offsets[index] + buffer.bytes <=
                 begin + problem.bankBytes();
    });
  }

  const Problem &problem;
  /// For each buffer those that are needed while it is.
  SmallVector<Order, 0> beside;
};
} // namespace

// Wishes first; among those, and among the rest, by the given numbers.
template <typename KeyT>
static Order ordered(const Problem &problem, KeyT key) {
  Order order =
      llvm::to_vector(llvm::seq<unsigned>(0, unsigned(problem.buffers.size())));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    const Buffer &first = problem.buffers[a], &second = problem.buffers[b];
    if (first.bank.has_value() != second.bank.has_value())
      return first.bank.has_value();
    if (key(first) != key(second))
      return key(first) > key(second);
    return a < b;
  });
  return order;
}

static bool isBetter(const Problem &problem, const Placement &a,
                     const Placement &b) {
  bool aFits = a.bytes <= problem.capacity, bFits = b.bytes <= problem.capacity;
  if (aFits != bFits)
    return aFits;
  if (aFits && a.elsewhere.size() != b.elsewhere.size())
    return a.elsewhere.size() < b.elsewhere.size();
  return a.bytes < b.bytes;
}

std::optional<Placement>
tilebridge::accel::allocation::solve(const Problem &problem,
                                     const SolverOptions &options) {
  if (!problem.check().empty() || problem.lowerBound() > problem.capacity)
    return std::nullopt;

  Placer placer(problem);
  SmallVector<Order> orders;
  orders.push_back(ordered(problem, [](const Buffer &b) {
    return std::pair(b.bytes, uint64_t(b.end - b.begin));
  }));
  orders.push_back(ordered(problem, [](const Buffer &b) {
    return std::pair(uint64_t(b.end - b.begin), b.bytes);
  }));
  orders.push_back(ordered(problem, [](const Buffer &b) {
    return double(b.bytes) * double(b.end - b.begin);
  }));
  orders.push_back(ordered(problem, [](const Buffer &b) { return -b.begin; }));

  Order bestOrder = orders.front();
  Placement best = placer.place(bestOrder);
  auto isDone = [&] {
    return best.bytes <= problem.capacity && best.elsewhere.empty();
  };
  auto tryOrder = [&](const Order &order) {
    Placement placement = placer.place(order);
    if (!isBetter(problem, placement, best))
      return false;
    best = std::move(placement);
    bestOrder = order;
    return true;
  };
  for (const Order &order : ArrayRef(orders).drop_front())
    if (!isDone())
      tryOrder(order);

  // The buffer that ends last comes earlier, or two change places.
  std::minstd_rand random(1);
  unsigned count = problem.buffers.size();
  for (unsigned search = 0; search < options.searches && !isDone(); ++search) {
    Order order = bestOrder;
    if (search % 2 == 0) {
      unsigned *last = llvm::max_element(order, [&](unsigned a, unsigned b) {
        return best.offsets[a] + problem.buffers[a].bytes <
               best.offsets[b] + problem.buffers[b].bytes;
      });
      unsigned position = last - order.begin();
      unsigned to = position ? random() % position : 0;
      std::rotate(order.begin() + to, last, last + 1);
    }
    std::swap(order[random() % count], order[random() % count]);
    tryOrder(order);
  }

  if (best.bytes > problem.capacity || !verify(problem, best).empty())
    return std::nullopt;
  return best;
}
