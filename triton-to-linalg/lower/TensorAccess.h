//===- TensorAccess.h - accesses through tensors of pointers -------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/lower/Box.h"
#include "triton-to-linalg/lower/SplitBlock.h"

namespace tilebridge::ttl {

/// An access through a tensor of pointers: chooses its form in the bridge IR,
/// from the structured one down, and says why in a remark when it is not that
/// one. What loads and stores write differs; a derived class writes it.
class TensorAccess {
public:
  TensorAccess(mlir::Operation *op, mlir::Value pointers, mlir::Value mask,
               mlir::RankedTensorType valueType, const IntegerFacts &facts);
  virtual ~TensorAccess() = default;

  /// Writes the access before the operation; gives what was loaded, with
  /// memory's elements, or null for a store.
  mlir::Value lower();

protected:
  /// The four forms. Each gives the loaded tensor or null. The first three have
  /// the dimensions of `blocks`.
  virtual mlir::Value structured(mlir::Value view, const Box &box) = 0;
  virtual mlir::Value masked(mlir::Value view, mlir::Value mask) = 0;
  virtual mlir::Value rows(mlir::Value view, mlir::Value rows, unsigned dim,
                           mlir::Value rowMask) = 0;
  virtual mlir::Value elements(mlir::Value base, mlir::Value offsets,
                               mlir::Value mask) = 0;
  virtual bool isLoad() const = 0;
  /// What a load gives where nothing is read; null for a store.
  virtual mlir::Value nothing() = 0;

  mlir::Operation *op;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Value pointers, maskValue;
  mlir::RankedTensorType type; // with memory's elements
  SplitBlock blocks;

private:
  mlir::Value lowerLinear(ExprBuilder &exprs);
  mlir::Value lowerUneven(ExprBuilder &exprs, const Reason &reason);
  /// Rows of `offset` at its lanes along `dim`.
  mlir::Value lowerUneven(const TensorForm &offset, unsigned dim,
                          ExprBuilder &exprs);
  mlir::Value lowerParts(const TensorForm &offset, unsigned dim,
                         llvm::function_ref<mlir::Value()> starts,
                         ExprBuilder &exprs);
  bool hasRows(const TensorForm &straight, const Expr *condition);
  bool shortenRuns(TensorForm &straight);
  mlir::Value lowerRuns(unsigned dim, ExprBuilder &exprs);
  /// Rows of `offset` at `starts`, one for each index of `dim`.
  mlir::Value lowerRows(const TensorForm &offset, const MaskForm &mask,
                        unsigned dim, llvm::function_ref<mlir::Value()> starts,
                        ExprBuilder &exprs);
  mlir::Value shiftedBase();
  mlir::Value lowerElements();
  mlir::Value lowerAddresses();
  static bool canUseRows(const TensorForm &offset, const MaskForm &mask,
                         unsigned dim);
  /// What the mask leaves of all dimensions but `dim` begins with the block and
  /// ends at bounds.
  static bool restIsBox(const MaskForm &mask, unsigned dim);
  std::optional<unsigned> maskedRows() const;
  /// The form of a linear access in reports.
  llvm::StringRef linearForm();
  /// How rows at any places are called in reports.
  llvm::StringRef rowsForm() const;
  /// The reason why a mask of a linear access is no box; empty: it is one.
  Reason maskReason();
  /// Tells what the access became; without a reason it is what was hoped for.
  /// What is made after it has that in its location.
  void report(llvm::StringRef form, const Reason &reason = {});

  ExprPool pool;
  AccessAnalysis analysis;
  PointerForm pointer;
  MaskForm mask;
  /// The offset where it is linear, with what `blocks` splits as a linear case.
  TensorForm linear;
  /// The dimension that is split into rows at any places.
  std::optional<unsigned> runs;
  /// The one dimension whose indices lie at any places, where the others are
  /// linear, in parts or as a whole.
  std::optional<unsigned> rowDim;
  /// That is only where the block does not wrap around at a modulo. The access
  /// then has two forms, told in one report.
  bool hasFallback = false;
};

/// The offsets in elements of a tensor of pointers from its base, added up as
/// the program does, in 64 bits.
mlir::Value offsetTensor(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value pointers);

/// Base and element offsets for accesses element by element: from the common
/// base, or from address 0.
struct ElementAddress {
  mlir::Value base, offsets;
};
ElementAddress elementAddress(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value pointers, mlir::Value base,
                              mlir::Type element);

} // namespace tilebridge::ttl
