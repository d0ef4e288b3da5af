//===- PlanCosts.cpp - what computing values again costs -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/PlanBuffers.h"

using namespace tilebridge::cpu;

/// `costOf` gives what an operand costs where it is computed, and whether it is
/// a buffer.
int64_t BufferDecider::sumOfCosts(
    const Node &node,
    llvm::function_ref<std::pair<int64_t, bool>(const Node &)> costOf) const {
  int64_t sum = node.ownCost;
  // Of a piece only the first place is computed.
  if (!node.isReadInPieces)
    for (unsigned read : node.reads) {
      auto [cost, isBuffer] = costOf(nodes[read]);
      sum += isBuffer ? 1 : cost;
    }
  if (node.mask && sum > cheap)
    sum -= std::min(costOf(nodes[*node.mask]).first, cheap);
  return std::min<int64_t>(sum, 1 << 20);
}

/// In the first round nothing is in memory yet.
void BufferDecider::updateCosts(unsigned round) {
  for (Node &node : nodes) {
    State &state = node.rounds[round];
    if (!state.isCostOpen)
      continue;
    state.isCostOpen = false;
    int64_t cost = sumOfCosts(node, [&](const Node &from) {
      return std::pair(from.rounds[round].cost,
                       round > 0 && from.rounds[round - 1].isBuffer());
    });
    if (cost == state.cost)
      continue;
    state.cost = cost;
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
    node.cost = sumOfCosts(node, [](const Node &from) {
      return std::pair(from.cost, from.isBuffer());
    });
    if (node.isNever || node.isBuffer() || !node.rounds[0].isBuffer())
      continue;
    node.breaksChain = !reasonFor(node, node.cost, *last.roots).empty();
    node.rounds[1].isOpen |= node.breaksChain;
    isAny |= node.breaksChain;
  }
  return isAny;
}
