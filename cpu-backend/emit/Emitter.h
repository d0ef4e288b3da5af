//===- Emitter.h - from tensors to loops of vectors --------------*- C++
//-*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The services that everything that emits code shares. An emitter rebuilds one
// function: the values of the old function ("tensor" below) are looked up, what
// is returned belongs to the new one. Nothing here assumes that the
// insertion point is at the top level: callers may open loops and ask inside.
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

#include <memory>

namespace tilebridge::cpu {

/// What the emitted code may count on.
struct EmitTarget {
  /// Bits of a native vector register: 128, 256 or 512.
  int64_t vectorBits = 256;
  /// AVX512_BF16's sums of two products, and VNNI's of two and of four.
  bool hasBf16Pairs = false, hasI16Pairs = false;
  /// x86's pmaddwd: products of 16-bit integers, added up in pairs.
  bool hasI16PairSums = false;
  /// AVX512_VBMI: bytes are looked up in tables of 128.
  bool hasByteLookups = false;
  /// Two multiply-adds of native vectors a cycle, and 2 MiB of second cache.
  bool hasTwoFmas = false;
  /// AMX's products of tiles.
  bool hasBf16Tiles = false, hasI8Tiles = false;
  /// A launch whose loop reads and writes so many bytes writes around the
  /// caches; 0: never.
  int64_t streamBytes = 0;
  /// One that reads so many by one access asks for what comes later; 0: never.
  int64_t prefetchBytes = 0;
  /// What one compare-and-exchange takes.
  int64_t exchangeBytes = 8;
  /// A division that allows it may be a product with the reciprocal.
  bool usesReciprocals = true;
};

class Emitter {
public:
  virtual ~Emitter() = default;

  /// All code goes where this builder stands.
  mlir::OpBuilder &builder() { return rewriter; }
  const EmitTarget &target() const { return emitTarget; }

  /// The new function's value for a value of the old one that is no tensor.
  virtual mlir::Value mapScalar(mlir::Value value) = 0;

  /// The new function's value for a scalar result of an op that was emitted.
  virtual void setScalar(mlir::Value result, mlir::Value value) = 0;

  /// One element of `tensor`, computed with scalars here; null after an error.
  /// `indices` are new values of type index, one a dimension.
  virtual mlir::Value scalarAt(mlir::Value tensor,
                               mlir::ValueRange indices) = 0;

  /// `lanes` consecutive elements of `tensor` along `dim`, from `indices` on,
  /// as vector<lanes x T>; null after an error. All lanes must be inside the
  /// tensor.
  virtual mlir::Value vectorAt(mlir::Value tensor, mlir::ValueRange indices,
                               unsigned dim, int64_t lanes) = 0;

  /// All of `tensor` in memory: a memref of its shape, row-major and
  /// contiguous, aligned to 64 bytes, elements of i1 as i8. Only to be read.
  /// Computed here if it is not in memory.
  virtual mlir::Value bufferOf(mlir::Value tensor) = 0;

  /// Like bufferOf, but any strides (dynamic ones in the type): a load is read
  /// where it lies if nothing was written since and its box is full (selected
  /// at run time, the padded copy is made only if the box is not full). Never
  /// has i1 elements.
  virtual mlir::Value viewOf(mlir::Value tensor) = 0;

  /// The view that a load reads, where the load is unmasked and may still be
  /// read in place; null otherwise, without an error.
  virtual mlir::Value viewOfLoad(mlir::Value tensor) = 0;

  /// The memref (as bufferOf describes it) that the emission of the op must
  /// fill with `result`.
  virtual mlir::Value resultBuffer(mlir::Value result) = 0;

  /// The memref for `result` that already holds the values of `init`: to be
  /// updated in place.
  virtual mlir::Value accumulate(mlir::Value init, mlir::Value result,
                                 bool *isZero = nullptr) = 0;

  /// How many bytes behind what the load `tensor` reads the next iteration of
  /// the loop around reads instead; null where that is not known.
  virtual mlir::Value bytesToNext(mlir::Value tensor) = 0;

  /// Behind the last index along `dim` of `tensor` that somebody sees, where
  /// that is known here; null if all may be seen.
  virtual mlir::Value wantedEnd(mlir::Value tensor, unsigned dim) = 0;

  /// How many steps along K of a product there are to multiply, as its kernel
  /// takes them; null: all. `isTail`: others are not zeros in both operands.
  virtual mlir::Value stepsOf(mlir::linalg::LinalgOp product, bool &isTail) = 0;

  /// Fresh scratch memory, aligned to 64 bytes, valid until the end of the
  /// block that the builder is in. Static shape, identity layout, any element
  /// type but i1.
  virtual mlir::Value allocate(mlir::MemRefType type) = 0;

  /// Writes all elements of `tensor` to `memref` (its shape, any strides).
  virtual mlir::LogicalResult materialize(mlir::Value tensor,
                                          mlir::Value memref) = 0;

protected:
  Emitter(mlir::MLIRContext *context, EmitTarget target)
      : rewriter(context), emitTarget(target) {}

  mlir::OpBuilder rewriter;
  EmitTarget emitTarget;
};

} // namespace tilebridge::cpu
