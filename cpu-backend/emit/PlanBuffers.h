//===- PlanBuffers.h - decides which tensors are in memory ------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/DirectOperands.h"
#include "cpu-backend/emit/PlanGroups.h"
#include "cpu-backend/emit/PlanLanes.h"
#include "cpu-backend/emit/PlanMasks.h"

#include "llvm/ADT/SetVector.h"

#include <deque>

namespace tilebridge::cpu {

/// What decisions also depend on, and what they change in turn: decisions are
/// made again until nothing does.
struct PlanChoices {
  explicit PlanChoices(mlir::func::FuncOp func) : carried(func) {}
  /// Loads that are copied before memory may change.
  llvm::DenseSet<mlir::Operation *> forced;
  CarriedTensors carried;
  PassingTensors passing;
};

inline constexpr int64_t loadCost = 2;

class BufferDecider {
public:
  BufferDecider(mlir::func::FuncOp func, const DirectOperands &direct);

  /// Decides, the second time and later only what depends on choices that have
  /// changed, and writes attributes. Gives the roots whose loops compute other
  /// ops than before.
  llvm::DenseSet<mlir::Operation *> run(const PlanChoices &choices);

  /// Leaves a remark for each buffer.
  void report();

  /// Whether other tensors pass on what is kept; needs the groups.
  bool update(PassingTensors &tensors) const;

  /// Loads that are inline although memory may change before they are computed,
  /// but for those that can be guarded.
  llvm::SmallVector<mlir::Operation *> findClobbered(Writes &writes,
                                                     GuardedReads &guarded);

private:
  /// A value that costs more than this is not computed twice.
  static constexpr int64_t cheap = 7;

  using Roots = llvm::SetVector<mlir::Operation *>;

  /// What a round has decided about an op.
  struct State {
    int64_t cost = 0;
    /// Without what is computed for what is broadcast.
    int64_t blockCost = 0;
    /// The ops whose loops compute it when it is inline.
    const Roots *roots = nullptr;
    /// Why it is a buffer; empty: it is none.
    llvm::StringRef why;
    bool isOpen = true, isCostOpen = true;
    bool isBuffer() const { return !why.empty(); }
  };
  /// An op that may be inline, and what does not depend on other decisions.
  struct Node {
    mlir::Operation *op;
    /// By number: those that it reads, with each operand, all others that it
    /// uses, and the one whose mask it applies.
    llvm::SmallVector<unsigned, 4> reads, uses;
    std::optional<unsigned> mask;
    /// The number is -1 for a root.
    llvm::SmallVector<std::pair<mlir::Operation *, int>, 2> users;
    int64_t ownCost = 0;
    mlir::Operation *read = nullptr;
    bool isNever = false, isAlways = false, isReadFar = false,
         isInPieces = false, isReadInPieces = false, isRepeated = false,
         liesApart = false;
    State rounds[2];
    /// What it costs by the second round's decisions.
    int64_t cost = 0;
    int64_t blockCost = 0;
    /// Blocks are computed from it again and again, and not kept: it is
    /// smaller.
    bool isKeptForBlocks = false;
    /// It is a buffer by what it costs so.
    bool breaksChain = false;
    bool isBuffer() const { return rounds[1].isBuffer() || breaksChain; }
    /// What the attributes say.
    std::optional<bool> written;
    const Roots *writtenRoots = nullptr;
    unsigned char choices = 0;
  };

  void describe(Node &node, const DirectOperands &direct);
  void openChanged(const PlanChoices &choices);
  struct Costs {
    int64_t cost, blockCost;
    bool isBuffer;
  };
  Costs sumOfCosts(const Node &node,
                   llvm::function_ref<Costs(const Node &)> costsOf) const;
  void keepWhatIsBroadcast(const Node &block);
  void updateCosts(unsigned round);
  void decide(Node &node, unsigned round);
  bool breakChains();
  llvm::StringRef reasonFor(const Node &node, int64_t cost, int64_t blockCost,
                            const Roots &roots);
  const Roots *collectRoots(const Node &node, unsigned round);
  const Roots *onlyRoot(mlir::Operation *op);

  mlir::func::FuncOp func;
  std::vector<Node> nodes;
  llvm::DenseMap<mlir::Operation *, unsigned> numberOf;
  /// Many ops have the same.
  std::deque<Roots> sets;
  llvm::DenseMap<mlir::Operation *, const Roots *> onlyRoots;
  Roots noRoots;
  PlaceMasks masks;
  ExchangedLanes lanes;
  PlacesOfPieces pieces;
};

} // namespace tilebridge::cpu
