//===- StepBlocks.h - several iterations of a loop as blocks ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef TILEBRIDGE_CPU_BACKEND_EMIT_STEPBLOCKS_H
#define TILEBRIDGE_CPU_BACKEND_EMIT_STEPBLOCKS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <optional>

namespace tilebridge::cpu {

/// What some iterations of a loop compute, as blocks with a dimension for them:
/// operands of a product, whose rows are those of the sums and whose columns
/// are iterations, or the other way round. Elements of iterations that there
/// are none of are zero.
class StepBlocks {
public:
  /// The dimensions of the sums, which have one or two; that of sums of one
  /// dimension is columns.
  enum Side { Rows = 0, Columns = 1 };

  /// `isSwapped`: the first dimension of the sums is that of columns.
  StepBlocks(mlir::OpBuilder &b, mlir::scf::ForOp loop,
             mlir::RankedTensorType sums, int64_t steps,
             bool isSwapped = false);

  /// Along which dimensions of the sums `value`, a block of their shape or a
  /// number, has elements that differ: a bit for each side. Nothing where that
  /// is not known.
  std::optional<unsigned> variesAlong(mlir::Value value);

  /// Makes a loop over blocks that carries `acc`, and sets the builder into it.
  mlir::scf::ForOp begin(mlir::Value acc);
  /// The block of an operand that varies along no dimension but `side`: rows x
  /// steps, or steps x columns. Null where there is none.
  mlir::Value of(mlir::Value value, Side side);
  /// Removes the loop.
  void undo();

private:
  /// Iterations of a block that read something.
  struct StepRange {
    mlir::OpFoldResult from, until;
    /// Those that the block has are.
    bool isAll = true;
  };
  using Axes = llvm::SmallVector<int, 2>;

  std::optional<unsigned> variesAlong(mlir::Value value,
                                      llvm::ArrayRef<int> axes);
  /// Those of the block that a broadcast or a reshape has as its operand.
  static std::optional<Axes> axesOfOperand(mlir::Operation *op,
                                           llvm::ArrayRef<int> axes);
  Axes ownAxes() const;

  // One shape for all blocks of a side.
  int64_t sizeOf(Side side) const;
  mlir::RankedTensorType typeOf(Side side, mlir::Type element) const;
  static unsigned dimOfSteps(Side side) { return side == Rows ? 1 : 0; }

  mlir::Value blockOf(mlir::Value value, llvm::ArrayRef<int> axes, Side side);
  mlir::Value blockOfGeneric(mlir::linalg::GenericOp op,
                             llvm::ArrayRef<int> axes, Side side);
  mlir::Value blockOfFixed(mlir::Value value, Side side);
  mlir::Value blockOfLine(mlir::Value line, Side side);

  // StepLoads.cpp
  mlir::Value blockOfLoad(mlir::Value value, llvm::ArrayRef<int> axes,
                          Side side);
  mlir::Value readBox(mlir::Location loc, mlir::Value memref,
                      mlir::OpFoldResult offset,
                      std::array<mlir::OpFoldResult, 2> strides,
                      mlir::OpFoldResult begin, mlir::OpFoldResult inside,
                      mlir::OpFoldResult low, const StepRange &range,
                      mlir::Value pad, std::optional<Side> side,
                      mlir::Type element);
  mlir::Value withoutRest(mlir::Value block, unsigned dim);
  bool isZeroInRest(mlir::Value value);

  // StepRanges.cpp
  mlir::OpFoldResult firstNotLess(mlir::Value number, mlir::OpFoldResult bound);
  bool addBound(mlir::Value number, mlir::OpFoldResult bound, bool isLower,
                StepRange &range);
  bool addCondition(mlir::Value condition, StepRange &range);
  mlir::OpFoldResult insideOfSteps(mlir::OpFoldResult size, StepRange &range);
  mlir::Value rowOfArray(mlir::OpFoldResult begin, mlir::OpFoldResult inside,
                         StepRange &range);

  // StepScalars.cpp
  /// The number of each iteration, as a block of one dimension.
  mlir::Value lineOf(mlir::Value scalar);
  mlir::Value makeLineOf(mlir::Value scalar);
  mlir::Value lineOfLoad(mlir::Value scalar);
  mlir::Value
  makeLine(mlir::Location loc, mlir::Type type, mlir::ValueRange inputs,
           llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>
               body);
  bool isFixed(mlir::Value value);
  /// What an integer grows by from iteration to iteration, as an index.
  std::optional<mlir::OpFoldResult> growthOf(mlir::Value value);
  std::optional<mlir::OpFoldResult> growthOf(mlir::OpFoldResult value);
  /// The value in the block's first iteration; null where it is not computed
  /// from numbers alone.
  mlir::Value first(mlir::Value value);
  mlir::OpFoldResult first(mlir::OpFoldResult value);
  mlir::Value carriedStep(mlir::BlockArgument argument);

  mlir::OpBuilder &b;
  mlir::scf::ForOp loop, blocks;
  mlir::RankedTensorType sums;
  int64_t steps;
  bool isSwapped, hasRest = true;
  /// In the new loop: how many iterations the block has.
  mlir::OpFoldResult count;
  mlir::IRMapping map;
  llvm::DenseMap<mlir::Value, mlir::Value> lines;
  mlir::Operation *before = nullptr;
};

} // namespace tilebridge::cpu

#endif // TILEBRIDGE_CPU_BACKEND_EMIT_STEPBLOCKS_H
