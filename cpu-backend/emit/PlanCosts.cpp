//===- PlanCosts.cpp - what computing values again costs -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PlanBuffers.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// `costsOf` gives what an operand costs where it is computed, and whether it
/// is a buffer.
BufferDecider::Costs BufferDecider::sumOfCosts(
    const Node &node, llvm::function_ref<Costs(const Node &)> costsOf) const {
  int64_t sum = node.ownCost, blockSum = node.ownCost;
  // Of a piece only the first place is computed.
  if (!node.isReadInPieces)
    for (unsigned read : node.reads) {
      Costs costs = costsOf(nodes[read]);
      sum += costs.isBuffer ? 1 : costs.cost;
      blockSum += costs.isBuffer ? 1 : costs.blockCost;
    }
  if (isa<linalg::BroadcastOp>(node.op))
    blockSum = 1;
  if (node.mask && sum > cheap)
    sum -= std::min(costsOf(nodes[*node.mask]).cost, cheap);
  constexpr int64_t most = 1 << 20;
  return {std::min(sum, most), std::min(blockSum, most), false};
}

/// In the first round nothing is in memory yet.
void BufferDecider::updateCosts(unsigned round) {
  for (Node &node : nodes) {
    State &state = node.rounds[round];
    if (!state.isCostOpen)
      continue;
    state.isCostOpen = false;
    Costs costs = sumOfCosts(node, [&](const Node &from) {
      const State &of = from.rounds[round];
      return Costs{of.cost, of.blockCost,
                   round > 0 && from.rounds[round - 1].isBuffer()};
    });
    if (costs.cost == state.cost && costs.blockCost == state.blockCost)
      continue;
    state.cost = costs.cost;
    state.blockCost = costs.blockCost;
    state.isOpen = true;
    for (auto [user, number] : node.users)
      if (number >= 0)
        nodes[number].rounds[round].isCostOpen = true;
  }
}

/// Of values each of which is computed from the one before, and used, none is
/// costly in the second round, as all were buffers in the first. Computed again
/// from the first one on, the last are: some in between are buffers.
bool BufferDecider::breakChains() {
  bool isAny = false;
  for (Node &node : nodes) {
    const State &last = node.rounds[1];
    Costs costs = sumOfCosts(node, [](const Node &from) {
      return Costs{from.cost, from.blockCost, from.isBuffer()};
    });
    node.cost = costs.cost;
    node.blockCost = costs.blockCost;
    if (node.isNever || node.isBuffer() || !node.rounds[0].isBuffer())
      continue;
    node.breaksChain =
        !reasonFor(node, node.cost, node.blockCost, *last.roots).empty();
    node.rounds[1].isOpen |= node.breaksChain;
    isAny |= node.breaksChain;
  }
  return isAny;
}

/// What `block` is made of, element by element, is kept where it is broadcast,
/// if it costs more than to load it.
void BufferDecider::keepWhatIsBroadcast(const Node &block) {
  SmallVector<const Node *> left = {&block};
  // In a sort each block is used twice: ways to the first one are many.
  llvm::SmallDenseSet<unsigned> seen;
  while (!left.empty())
    for (unsigned read : left.pop_back_val()->reads) {
      const Node &operand = nodes[read];
      if (operand.isBuffer() || !seen.insert(read).second)
        continue;
      if (!isa<linalg::BroadcastOp>(operand.op)) {
        left.push_back(&operand);
        continue;
      }
      for (unsigned source : operand.reads) {
        Node &row = nodes[source];
        if (row.isKeptForBlocks || row.rounds[0].cost <= loadCost)
          continue;
        row.isKeptForBlocks = true;
        for (State &state : row.rounds)
          state.isOpen = true;
      }
    }
}
