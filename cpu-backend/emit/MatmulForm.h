//===- MatmulForm.h - what a matrix product is made of ----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Emitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <array>
#include <optional>

namespace tilebridge::cpu {

/// What a product needs besides its operands.
struct MatmulSettings {
  EmitTarget target;
  /// Integers narrower than the accumulator are zero-extended, not
  /// sign-extended.
  bool isUnsigned = false;
  /// Operands narrower than the sums are added up in short chains.
  bool wantsShortChains = false;
  /// A loop does nothing but add such products up.
  bool isInLoop = false;
};

/// Where a block ends along K, by values of the old function: at `n`, or, if
/// `length` is not 0, behind the last of so many indices i that the mask
/// `start + i < n` is true for (`start`: null for 0).
struct StepEnd {
  mlir::Value n, start = {};
  int64_t length = 0;
  bool operator==(const StepEnd &other) const {
    return n == other.n && start == other.start && length == other.length;
  }
};

/// For each operand of a product: from the last of these on all is zero.
using StepEnds = std::array<llvm::SmallVector<StepEnd>, 2>;

/// A product of the old function, taken apart.
struct MatmulForm {
  bool isBatch = false;
  /// The operand is the transpose of a matrix of M x K, or K x N.
  bool swapsLhs = false, swapsRhs = false;
  MatmulSettings settings;

  /// Reports an error if `op` is none that has loops.
  static mlir::FailureOr<MatmulForm> of(mlir::linalg::LinalgOp op,
                                        const EmitTarget &target);

  /// How many of the steps of `op` there are to multiply: those from there on
  /// are zero in both operands (MatmulKernel::wholeSteps makes of it what a
  /// kernel takes). Null: all. `known` gives the new function's value of an
  /// index of the old one, or null.
  mlir::Value
  endOfSteps(mlir::ImplicitLocOpBuilder &b, mlir::linalg::LinalgOp op,
             llvm::function_ref<mlir::Value(mlir::Value)> known) const;
  /// By which values that is said; nothing if it is not.
  std::optional<StepEnds> endsOfSteps(mlir::linalg::LinalgOp op) const;
};

/// The registers that one call of the micro-kernel holds: rows x (vectors of
/// `lanes` elements).
struct MatmulTile {
  int64_t rows, vectors, lanes;
  int64_t columns() const { return vectors * lanes; }

  /// The tile for a block of m x n, in registers of so many elements.
  /// `isLarge`: few loads count for more than few rows that are left.
  static MatmulTile choose(int64_t m, int64_t n, int64_t nativeLanes,
                           int64_t vectorBits, bool isLarge = false);
};

/// How products are added up.
enum class MatmulUnit {
  /// One product a lane and step.
  MultiplyAdd,
  /// AVX512_BF16's vdpbf16ps: two products of bf16.
  Bf16Pairs,
  /// VNNI's vpdpwssd: two products of 16-bit integers.
  I16Pairs,
  /// pmaddwd and an addition, the same without VNNI.
  I16PairSums,
  /// VNNI's vpdpbusd: four products of bytes, those of b without a sign.
  I8Quads,
  /// AMX's tdpbf16ps and tdpbssd: products of 16 x 64 bytes with 64 bytes x 16.
  Bf16Tiles,
  I8Tiles,
};

/// A matrix whose rows are contiguous, by its address and the distance of its
/// rows in bytes; while a row is read, what lies `aheadBytes` behind is asked
/// for (null or 0: nothing is). All are of type index. `partBytes`: how much of
/// each row a call of the micro-kernel reads, where that matters.
struct RowsInMemory {
  mlir::Value address, rowBytes, aheadBytes = {};
  int64_t partBytes = 0;
};

/// Rows of a product that are multiplied, because not all of the left operand's
/// are zeros: `count` of them, from `first` on, before `end`, as tiles take
/// them.
struct MaskedRows {
  mlir::Value first, count, end;
};

/// Columns that are multiplied next, as addresses, and how many steps along K
/// of them each row of `a` asks for (null: nothing is asked for).
struct LaterColumns {
  llvm::SmallVector<mlir::Value> columns;
  mlir::Value stepsOfRow;
};

/// What a tile asks for of a panel that is read later: its first line, and how
/// many lines with each turn, of so many steps.
struct PanelShare {
  mlir::Value first;
  int64_t lines = 0, turnSteps = 1;
};

/// Packed operands that a thread's next program finds: `slots` of them, and one
/// more for what is not kept.
struct KeptSlots {
  int64_t slots = 0;
  /// Of all slots.
  mlir::Value memory;
  /// Words that say what is there, and where they begin.
  mlir::Value state;
  int64_t firstWord = 0;
};

/// Tiles of rows of `a`, where it reads the same rows. The words: which rows
/// these are, and for each slot how many steps it has.
struct KeptRows : KeptSlots {
  /// Which of the loop's products this one is, and whether its rows lie in an
  /// array, where no program writes.
  mlir::Value number = {}, isStable = {};
};

} // namespace tilebridge::cpu
