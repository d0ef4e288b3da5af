//===- PlanGroups.h - roots that share a nest --------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace tilebridge::cpu {

/// Moves what follows from the results of reductions down to its uses.
void sinkScalars(mlir::func::FuncOp func);

/// Gives roots of one nest the same number.
class Grouper {
public:
  explicit Grouper(mlir::func::FuncOp func);

  /// Needs the decisions about buffers, and the roots whose loops compute other
  /// ops than when it last ran.
  void run(const llvm::DenseSet<mlir::Operation *> &changed);

private:
  /// What an op of a block is to the nests around it.
  struct Place {
    mlir::Operation *op;
    OpKind kind;
    /// A number that is computed, or read, without a region.
    bool isNumber = false, reads = false;
  };
  /// What has been found out in a run is true until something changes.
  struct Computed {
    unsigned run = 0;
    bool scans = false, gathers = false;
  };
  struct Answer {
    unsigned run = 0;
    llvm::SmallVector<mlir::Operation *> group;
    bool fits = false;
  };

  void add(mlir::Block &block);
  void visit(mlir::Block &block);
  bool isSince(mlir::Operation *op, unsigned run) const;
  const Computed &computedBy(mlir::Operation *root);
  bool isFarGather(mlir::Operation *op);
  bool reachesGroup(mlir::Value tensor);
  bool joins(mlir::Operation *op);
  bool fits(mlir::Operation *op);
  void close();

  mlir::OpBuilder builder;
  mlir::func::FuncOp func;
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<Place>> places;
  unsigned runs = 0;
  llvm::DenseMap<mlir::Operation *, unsigned> changedIn;
  llvm::DenseMap<mlir::Operation *, Computed> computedOf;
  llvm::DenseMap<mlir::Operation *, Answer> answers;
  llvm::DenseMap<mlir::Operation *, bool> farGathers;
  llvm::SmallVector<mlir::Operation *> group;
  int64_t next = 0;
  /// The attributes that ops have.
  llvm::MapVector<mlir::Operation *, int64_t> numbers;
};

/// Whether these roots have such a number, and the same.
inline bool isOneNest(mlir::Operation *a, mlir::Operation *b) {
  return a->hasAttr(nestAttr) && a->getAttr(nestAttr) == b->getAttr(nestAttr);
}

class Writes;

/// Loads that are read where they lie although stores may change what they
/// read: emission guards them.
class GuardedReads {
public:
  /// Needs the groups.
  explicit GuardedReads(mlir::func::FuncOp func);
  /// False if the load `op`, which `roots` use, cannot be one of them.
  bool add(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> roots,
           const Writes &writes);
  /// As attributes.
  void write(mlir::func::FuncOp func) const;

private:
  struct Read {
    mlir::Operation *load;
    llvm::SmallVector<mlir::Operation *, 4> stores;
  };
  bool isDoneWithEarlier(mlir::Operation *store, mlir::Operation *load) const;

  llvm::DenseMap<mlir::Attribute, mlir::Operation *> firstOfNest;
  llvm::SmallVector<Read> reads;
  size_t pairs = 0;
};

/// Tensors that loops carry and that are computed where they stand, in place.
class CarriedTensors {
public:
  /// All that may be.
  explicit CarriedTensors(mlir::func::FuncOp func);
  bool contains(mlir::Operation *op) const { return arguments.contains(op); }
  /// Forgets those that, by the plan that `func` has, share no loops, or would
  /// be copied to where the next iteration expects them. True if there are any.
  bool drop(mlir::func::FuncOp func);

private:
  /// By the op: the loop's argument whose next value it is.
  llvm::MapVector<mlir::Operation *, mlir::Value> arguments;
};

/// Tensors that are costly, but that only one nest uses: each of its steps
/// computes their elements once and keeps them in registers.
class PassingTensors {
public:
  bool contains(mlir::Operation *op) const { return passing.contains(op); }
  /// Learns whether `op`, which `roots` use, is one, by the nests that the plan
  /// has. True if that is new.
  bool update(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> roots);

private:
  /// Without a buffer some were computed in several nests after all.
  llvm::DenseSet<mlir::Operation *> passing, refused;
};

/// Which tensors use the memory of another one.
void findStorages(mlir::func::FuncOp func, const Plan &plan,
                  llvm::DenseMap<mlir::Value, mlir::Value> &storages);

/// The tensors that a root computes from, element by element.
llvm::SmallVector<mlir::Value> rootOperands(mlir::Operation *root);

/// Visits what computing `tensor` at `indices` needs, as far as it is inline;
/// `visit` says whether to go on below. `root` is looked into even if it has a
/// buffer.
void walkInline(
    mlir::Value tensor, llvm::ArrayRef<Index> indices,
    llvm::function_ref<bool(mlir::Value, llvm::ArrayRef<Index>)> visit,
    mlir::Operation *root = nullptr);

/// Index d is dimension d.
Indices identityIndices(unsigned rank);

} // namespace tilebridge::cpu
