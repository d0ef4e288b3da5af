//===- Plan.h - which tensors are in memory, which are recomputed -*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The plan is in the IR, as attributes, so that it can be read and tested:
//   tilebridge.plan = "inline" | "buffer"   on ops with tensor results
//   tilebridge.nest = N                     roots with one N share one nest of
//   loops
//   tilebridge.read = N                     a load that is read where it lies
//   after stores that may overlap it
//   tilebridge.guards = [N, ...]            on such stores: the loads
//   tilebridge.streamed                     on scans: computed in the loop of
//   the store of their result
//   tilebridge.deep                         on products: the loop around them
//   packs operands, and multiplies when there are enough
//   tilebridge.masked_rows                  on products: rows of the left
//   operand are zeros unless a mask chooses them (MaskedRows.h)
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilebridge::cpu {

inline constexpr llvm::StringLiteral planAttr = "tilebridge.plan";
inline constexpr llvm::StringLiteral nestAttr = "tilebridge.nest";
inline constexpr llvm::StringLiteral readAttr = "tilebridge.read";
inline constexpr llvm::StringLiteral guardsAttr = "tilebridge.guards";
inline constexpr llvm::StringLiteral deepAttr = "tilebridge.deep";

/// What an op does to the emission.
enum class OpKind {
  /// No tensor is involved.
  Scalar,
  /// A tensor that can be computed at one index.
  Inlineable,
  /// A nest of loops of its own: stores and reductions.
  NestRoot,
  /// Emitted by a function of its own: matmul, atomics, scans, ...
  OwnRoot,
  /// scf with regions.
  Control,
};
OpKind kindOf(mlir::Operation *op);

/// Whether `is` holds for `op` or one in its regions.
bool anyInside(mlir::Operation *op,
               llvm::function_ref<bool(mlir::Operation *)> is);
bool isAtomic(mlir::Operation *op);
/// A matrix product.
bool isProduct(mlir::Operation *op);
/// Programs in which it is may wait for one another, and see what others write.
bool mayWait(mlir::Operation *op);
/// Something in it programs do one after the other, or once each.
bool hasOrder(mlir::Operation *op);
/// It gives the same number for all elements, or any numbers.
bool isOneNumber(mlir::Operation *op);
/// A dimension outside of one that `value` has is added where `user` reads
/// it.
bool isRepeated(mlir::Value value, mlir::Operation *user);
/// An op that may write memory that others see.
bool mayWrite(mlir::Operation *op);
bool mayRead(mlir::Operation *op);
/// Some scalar code in it divides integers.
bool dividesIntegers(mlir::Operation *op);
/// Some scalar code in it has an exponential, a logarithm, or the like.
bool callsMathFunction(mlir::Operation *op);
/// A gather or scatter whose places are computed from indices by divisions, or
/// are sums of such numbers and of what is read: it is quicker to fill a
/// buffer, or to store one, piece by piece (RowPieces.h).
bool isCutIntoPieces(mlir::Operation *op);
/// Such a gather of a row that loops may read where it lies: places and mask
/// are computed from indices, and so is what is at least and at most read.
bool isReadInPieces(mlir::Operation *op);
/// Remembers what it found out, of ops that stay as they are.
class PlacesOfPieces {
public:
  /// Elements of `tensor` are computed from their indices, from scalars, and
  /// from what is the same for a row.
  bool isFromIndices(mlir::Value tensor);
  /// Only the first elements' places and masks need what `op` gives.
  bool isOnlyInPieces(mlir::Operation *op,
                      const llvm::SetVector<mlir::Operation *> &roots);
  /// More than one of the loops of `roots` computes all elements of what `op`
  /// gives: those over pieces of rows only compute the places of first ones.
  bool isInSeveralLoops(mlir::Operation *op,
                        const llvm::SetVector<mlir::Operation *> &roots);

private:
  bool isCut(mlir::Operation *op);

  llvm::DenseMap<mlir::Operation *, bool> fromIndices, cut;
};

/// Larger kernels are not compiled a second time.
inline constexpr int64_t mostOpsTwice = 400;
/// Of a kernel that is not too large to be compiled so many times, and without
/// products, whose operands are packed anyway.
bool mayBeCompiled(mlir::func::FuncOp func, int64_t times);
/// On a branch: hardly any launch gets to its other side, whose code is to be
/// short.
inline constexpr llvm::StringLiteral rareElseAttr = "tilebridge.rare_else";

/// A transpose or a reshape by dimensions of one element: the same memory, seen
/// in another shape.
bool isShapeOfMemory(mlir::Operation *op);

/// The decisions, read back from the attributes, and what follows from them.
class Plan {
public:
  explicit Plan(mlir::func::FuncOp func);

  bool isBuffer(mlir::Value tensor) const;
  /// The group of roots that are emitted with `op`, in order; emission is at
  /// the last one.
  llvm::ArrayRef<mlir::Operation *> groupOf(mlir::Operation *op) const;

  /// The loads that are read after the store `op`, which may overlap them.
  llvm::ArrayRef<mlir::Value> guardedBy(mlir::Operation *op) const;

  /// The value whose memory `tensor` uses; itself, if it has its own.
  mlir::Value storageOf(mlir::Value tensor) const;

private:
  llvm::DenseMap<mlir::Operation *, int64_t> nestOf;
  llvm::DenseMap<int64_t, llvm::SmallVector<mlir::Operation *>> groups;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> guards;
  llvm::DenseMap<mlir::Value, mlir::Value> storages;
};

/// The pointers among the arguments that a kernel writes and never reads, and
/// whose stores may be seen in any order before the kernel ends.
llvm::DenseSet<mlir::Value> findWriteOnly(mlir::func::FuncOp func);

/// Decides, and writes the attributes.
void decidePlan(mlir::func::FuncOp func);

/// A loop along K may gather the product's operands: nobody sees the sums in
/// between.
bool isDeepMatmul(mlir::linalg::MatmulOp op);
/// Marks these.
void findDeepMatmuls(mlir::func::FuncOp func);

} // namespace tilebridge::cpu
