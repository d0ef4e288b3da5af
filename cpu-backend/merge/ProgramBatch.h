//===- ProgramBatch.h - several programs as one function ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Programs whose ids along one axis follow one another, at a distance that may
// be known by the launch only, as one function: each block gets one dimension
// more, the last one, which is the program's. What is the same for all programs
// stays as it is, and an integer that grows by the same step from program to
// program is its first value and that step, so that what was a view of memory
// is one of one dimension more. Where programs have a few columns each, there
// is no new dimension: the last one goes on in the next program, as it does in
// memory.
//
// Where that a value stays, or grows so, is likely but not certain (it is cut
// to a tensor's bounds, or a quotient), it is taken to be so, and the function
// begins with the comparison for each program: it does nothing and returns
// false where one differs.
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_MERGE_PROGRAMBATCH_H
#define TILEBRIDGE_CPU_BACKEND_MERGE_PROGRAMBATCH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tilebridge::cpu {

/// Which programs are merged: `count` of them along `axis` of the grid, whose
/// ids are `divisor` apart, a scalar of the function; 1 if it is null.
struct MergedPrograms {
  unsigned axis = 0;
  mlir::Value divisor;
  int64_t count = 0;
  /// Elements of the last dimension of blocks that differ from program to
  /// program, if those of the next one follow them: all programs' are one
  /// dimension. 0: each block gets one more.
  int64_t columns = 0;
};

/// A value of a program as one of the function for all.
struct Batched {
  enum class Kind { Same, Linear, Block };
  Kind kind = Kind::Same;
  /// Of Linear, the first program's; of Block, with the dimension of programs.
  mlir::Value value;
  /// Of Linear, of the type of `value`.
  mlir::Value step;
  /// The step is the distance of the program's ids.
  bool isId = false;
  /// Neither the value nor what follows from it by a cast wraps around.
  bool isExact = false;

  static Batched same(mlir::Value value) { return {Kind::Same, value, {}}; }
  static Batched block(mlir::Value value) { return {Kind::Block, value, {}}; }
};

/// A box of memory that programs read or write, as they do together.
struct BatchedAccess {
  mlir::Value view;
  mlir::Value step;
  bool isStore = false;
};

class ProgramBatch {
public:
  ProgramBatch(mlir::func::FuncOp program, MergedPrograms merged)
      : program(program), merged(merged), b(program.getContext()) {}

  /// Makes the function behind `program`; fails, and leaves nothing, where an
  /// op cannot be batched.
  mlir::LogicalResult run();
  /// Takes an argument of the function to be 1: it is called only if it is.
  void assumeOne(mlir::BlockArgument argument) { ones.insert(argument); }
  /// Puts what was assumed at the function's begin. After this it is complete.
  mlir::LogicalResult finish();

  mlir::func::FuncOp function() { return batch; }
  mlir::ArrayRef<BatchedAccess> accesses() const { return seen; }
  /// The function asks first whether it can run.
  bool isConditional() const { return !checks.empty() || !ones.empty(); }
  /// Bytes of the largest block that is computed.
  int64_t largestBlock() const { return mostBytes; }

private:
  using Kind = Batched::Kind;

  // ProgramBatch.cpp: functions and control flow.
  mlir::LogicalResult visit(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitFor(mlir::scf::ForOp loop);
  mlir::LogicalResult visitIf(mlir::scf::IfOp branch);
  bool usesOnlySame(mlir::Operation *op);
  Batched lookup(mlir::Value old) const { return values.lookup(old); }
  void set(mlir::Value old, Batched batched);
  /// The value that is to be the same for all; null if it is not.
  mlir::Value demandSame(mlir::Value old);
  mlir::OpFoldResult demandSame(mlir::OpFoldResult old);
  mlir::FailureOr<mlir::SmallVector<mlir::OpFoldResult>>
  demandSame(mlir::ArrayRef<mlir::OpFoldResult> old);
  /// Whether the value may be taken to be `wanted` in all programs.
  bool demand(mlir::OpFoldResult old, int64_t wanted);
  /// Sizes of what all programs access; those of offsets are checked only.
  mlir::FailureOr<mlir::SmallVector<mlir::OpFoldResult>>
  sizesOfAll(mlir::ArrayRef<mlir::OpFoldResult> old);
  mlir::FailureOr<mlir::SmallVector<mlir::OpFoldResult>>
  offsetsOfAll(mlir::ArrayRef<mlir::OpFoldResult> old);
  /// What is of so many dimensions has no new one for the programs.
  bool isWidened(int64_t rank) const { return merged.columns && rank > 0; }
  bool isTopLevel(mlir::Operation *op) {
    return op && op->getParentOp() == program;
  }

  // BatchScalars.cpp
  mlir::LogicalResult visitScalar(mlir::Operation *op);
  std::optional<Batched> linear(mlir::Operation *op);
  std::optional<Batched> castLinear(mlir::Operation *op);
  std::optional<Batched> guessLinear(mlir::Operation *op);
  mlir::Value castStep(mlir::Value step, mlir::Type type);
  /// One block with an element a program; of i64 where the scalar is an index.
  mlir::Value asVector(mlir::Value old);
  mlir::Value vectorOf(mlir::Operation *op);

  // BatchBlocks.cpp
  mlir::LogicalResult visitBlocks(mlir::Operation *op);
  mlir::LogicalResult visitGeneric(mlir::Operation *op);
  mlir::LogicalResult visitShape(mlir::Operation *op);
  mlir::LogicalResult visitSlice(mlir::Operation *op);
  mlir::LogicalResult visitProduct(mlir::linalg::MatmulOp op);
  mlir::Value asBlock(mlir::Value old);
  mlir::Value broadcast(mlir::Value value, mlir::RankedTensorType type,
                        bool isVector, bool isWide);
  bool keepsLast(mlir::Operation *op);
  mlir::RankedTensorType withPrograms(mlir::Type type) const;
  mlir::Operation *rebuild(mlir::Operation *op, mlir::ValueRange operands,
                           mlir::ArrayRef<mlir::NamedAttribute> changed = {});

  // BatchMemory.cpp
  mlir::LogicalResult visitMemory(mlir::Operation *op);
  mlir::LogicalResult visitView(mlir::Operation *op);
  mlir::Value lineOf(mlir::Value memref, mlir::Value old);

  mlir::func::FuncOp program;
  MergedPrograms merged;
  mlir::func::FuncOp batch;
  mlir::OpBuilder b;
  mlir::DenseMap<mlir::Value, Batched> values;
  /// Those that are the same, for cloning.
  mlir::IRMapping same;
  struct Check {
    mlir::Value old, step;
    /// What it is to be.
    std::optional<int64_t> known = {};
  };
  mlir::SmallVector<Check> checks;
  mlir::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> castSteps;
  mlir::SmallVector<BatchedAccess> seen;
  llvm::SetVector<mlir::BlockArgument> ones;
  int64_t mostBytes = 0;
};

/// Elements of the block that is read from or written to `view`, with those
/// outside of its box.
int64_t elementsOf(mlir::Value view);

/// The attributes of the function that `tilebridge-cpu-merge-programs` makes:
/// how many programs it runs, and along which axis of the grid.
inline constexpr llvm::StringLiteral mergedCountAttr =
    "tilebridge.merged_programs";
inline constexpr llvm::StringLiteral mergedAxisAttr = "tilebridge.merged_axis";
/// Names the function that returns the distance of their ids, or 0 where the
/// launch's arguments are not those that it is for.
inline constexpr llvm::StringLiteral mergedStepAttr = "tilebridge.merged_step";
/// Groups whose ids are a multiple of that distance apart follow one another,
/// before those beside them, where the grid has a multiple of it along x, and
/// as many programs as this integer says: what they read comes from memory.
inline constexpr llvm::StringLiteral mergedApartAttr =
    "tilebridge.merged_apart";
/// How many times as many programs the grid must have, if that is not the usual
/// number.
inline constexpr llvm::StringLiteral mergedGroupsAttr =
    "tilebridge.merged_groups";

/// Makes a function of the kernel's arguments that returns how far apart the
/// ids of merged programs are; 0 if not all of `ones` are 1.
mlir::func::FuncOp makeMergedStep(mlir::func::FuncOp func, mlir::Value divisor,
                                  mlir::ArrayRef<mlir::BlockArgument> ones,
                                  mlir::StringRef suffix);

/// What the ids of programs are divided by, if that is no constant: those in
/// one column of the programs that they are numbered as are so far apart.
mlir::Value divisorOf(mlir::func::FuncOp func, unsigned axis);

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_MERGE_PROGRAMBATCH_H
