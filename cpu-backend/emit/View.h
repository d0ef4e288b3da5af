//===- View.h - where elements lie, and at which index -----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include <memory>
#include <optional>

namespace tilebridge::cpu {

/// The index of one dimension while a tensor is evaluated: lane l is at `base +
/// l * step`.
struct Index {
  /// A new value of type index; null in walks that only look.
  mlir::Value base;
  /// 0: all lanes are at the same index.
  int64_t step = 0;
  /// The loop of the nest that `base` belongs to (0: outside).
  unsigned level = 0;
  /// The dimension of the nest that this index equals, or -1.
  int dim = -1;
  /// It takes the place of a loop inside of the lanes' loop: whether it is in a
  /// box is not known there.
  bool isInner = false;
  /// Where not -1: in groups of `group` elements, lanes along this dimension of
  /// the nest are at one index (`isSpread`: `base` counts groups), or take the
  /// elements of their group in another order.
  int groupDim = -1;
  int64_t group = 1;
  bool isSpread = false;

  bool operator==(const Index &o) const {
    return base == o.base && step == o.step && dim == o.dim &&
           groupDim == o.groupDim && isSpread == o.isSpread;
  }
  /// The index of the first lane.
  mlir::OpFoldResult begin(mlir::OpBuilder &builder) const {
    if (base)
      return base;
    return builder.getIndexAttr(0);
  }
};
using Indices = llvm::SmallVector<Index, 4>;

/// Each of `rank` dimensions at its own index, for walks that only look.
Indices ownIndices(size_t rank);

/// What the CPU moves between memory and caches.
inline constexpr int64_t lineBytes = 64;

/// A mask that is true in each of `lanes` lanes.
mlir::Value allLanes(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t lanes);

/// The constant 0, 1, 2 and so on, of integers or indices.
mlir::Value numbersFrom0(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::VectorType type);

/// The place `offset` elements behind `from`, an index.
mlir::Value advanced(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value from, mlir::Value offset);

/// A structured load of the old function, taken apart.
struct StructuredLoad {
  mlir::bufferization::ToTensorOp read;
  /// The tensor's element i is the memref's element i - low.
  llvm::SmallVector<mlir::OpFoldResult> low;
  /// What is outside the box: a scalar, or a tensor of the same shape, or (both
  /// null) nothing is.
  mlir::Value pad, other;
};
/// `tensor` as a structured load; nothing if it is none.
std::optional<StructuredLoad> matchLoad(mlir::Value tensor);

/// `block` is read from memory where its elements along a dimension lie beside
/// each other.
bool isContiguousAlong(mlir::Value block, unsigned dim);

/// A structured store of the old function, taken apart.
struct StructuredStore {
  mlir::bufferization::MaterializeInDestinationOp write;
  /// The whole tensor; only its box [low, low + size of the memref) is written.
  mlir::Value tensor;
  llvm::SmallVector<mlir::OpFoldResult> low;
};
std::optional<StructuredStore> matchStore(mlir::Operation *op);

/// Tells a view from all others, also from one that was at its address before:
/// what is remembered of a view is remembered by this. A copy is another view.
class Identity {
public:
  Identity() = default;
  Identity(const Identity &) : Identity() {}
  Identity &operator=(const Identity &) {
    number = next();
    return *this;
  }
  uint64_t get() const { return number; }

private:
  static uint64_t next();
  uint64_t number = next();
};

/// Elements in memory, by an affine function of the index, inside a box.
struct View {
  Identity identity;
  /// One-dimensional, contiguous, from the allocation's start.
  mlir::Value base;
  /// The element of `base` that index 0 of every dimension has (need not
  /// exist).
  mlir::OpFoldResult offset;
  llvm::SmallVector<mlir::OpFoldResult> strides;
  /// The tensor's shape, and the part of it that exists: [lo, hi).
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<mlir::OpFoldResult> lo, hi;
  /// Elements are i1 in the tensor and i8 in memory.
  bool isBool = false;
  /// Values outside the box (of the old function).
  mlir::Value pad, other;
  /// Where rowDim is not -1: index i of that dimension is the element rows[i]
  /// of memory, and exists only if rowMask[i] (null: always); tensors of the
  /// old function.
  mlir::Value rows, rowMask;
  int rowDim = -1;
  /// Where a copy may have taken the place of what a load reads, or scratch
  /// memory that of what a store writes: the view without it.
  std::shared_ptr<const View> original;

  /// What the program reads or writes, even if a copy has taken its place.
  const View &placed() const { return original ? *original : *this; }
  mlir::Type elementType() const {
    return llvm::cast<mlir::MemRefType>(base.getType()).getElementType();
  }
  /// No index of dimension `d` is outside.
  bool isFull(unsigned d) const;
  /// No index at all is outside.
  bool isWhole() const;
};

/// What a base was made from.
mlir::Value sourceOf(const View &view);

/// The argument of the function that `memref` points into; null if that is not
/// known.
mlir::BlockArgument argumentOf(mlir::Value memref);

/// Elements along dimension `d` are known to lie beside each other.
bool hasUnitStride(mlir::MemRefType view, unsigned d);

/// `value` as an index constant's value, if it is one.
std::optional<int64_t> constantOf(mlir::OpFoldResult value);
mlir::Value toValue(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::OpFoldResult value);
/// An index, or an integer of up to 64 bits, as i64.
mlir::Value toI64(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value, bool isSigned = true);
/// Index arithmetic that folds constants.
mlir::OpFoldResult addIndex(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::OpFoldResult a, mlir::OpFoldResult b);
mlir::OpFoldResult subIndex(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::OpFoldResult a, mlir::OpFoldResult b);
mlir::OpFoldResult mulIndex(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::OpFoldResult a, mlir::OpFoldResult b);

/// The view of a tensor of `shape` whose element i is element i - low of
/// `memref` (a new value; `low` empty: zero).
View makeView(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memref,
              llvm::ArrayRef<int64_t> shape,
              llvm::ArrayRef<mlir::OpFoldResult> low = {});

/// The elements of `view` in the opposite order along dimension `d`.
View reversedView(mlir::OpBuilder &builder, mlir::Location loc, View view,
                  unsigned d);

/// The indices at which operand `operand` of `op` is read when result `op` is
/// computed at `indices`: for elementwise ops, broadcasts, transposes,
/// reversals, unit-dimension reshapes, slices, and the masks and offsets of
/// loads. Arithmetic is only emitted when `builder` is not null. Nothing if
/// `op` is none of these.
std::optional<Indices> operandIndices(mlir::OpOperand &operand,
                                      llvm::ArrayRef<Index> indices,
                                      mlir::OpBuilder *builder);

/// A reshape that only adds or drops dimensions of size 1.
bool isUnitReshape(mlir::Operation *op);
/// A reshape whose elements are computed where they are used: one of dimensions
/// of size 1, or of what few operations give from indices, such as the mask of
/// a block that has two dimensions in memory.
bool isComputedReshape(mlir::Operation *op);
/// An elementwise generic of one result, whose init's elements are not read.
bool readsOnlyInputs(mlir::Operation *op);
/// The scalar operation that an elementwise op is made of, or the op itself if
/// that works on tensors; null if it is made of several.
mlir::Operation *onlyOperation(mlir::Operation *op);
/// The operand's block in the opposite order along one dimension.
bool isReversal(mlir::Operation *op);

/// Elements of a block at indices that are computed, not one of these forms.
bool isPick(mlir::Operation *op);
/// Such an op takes elements of `value`.
bool isPickedFrom(mlir::Value value);

/// A block of one dimension of which element i is the operand's element
/// `i ^ stride`, and the lanes of the loops that compute it, which begin at
/// multiples of them (tilebridge-cpu-flatten-cubes).
struct Exchange {
  int64_t stride, lanes;
  /// Of a block of any rank: the last dimension. Any lanes will do that are
  /// whole groups of 2 * stride, and so will scalars
  /// (tilebridge-cpu-flatten-groups).
  bool isFree = false;
  /// The element is in another lane of the same vector, and not in another
  /// vector.
  bool isNear() const { return stride < lanes; }
};
std::optional<Exchange> matchExchange(mlir::Operation *op);
/// On these: the lanes.
inline constexpr llvm::StringLiteral lanesAttr = "tilebridge.lanes";
/// On those that are free.
inline constexpr llvm::StringLiteral nearAttr = "tilebridge.near";
/// An operand whose elements are needed to compute those of the result.
bool isRead(mlir::OpOperand &operand);
/// An op that computes each element of its result from one element of each
/// operand by scalar code: the elementwise forms of linalg, and arith and math
/// on tensors.
bool isElementwise(mlir::Operation *op);

/// How many elements a view has along a dimension; null if that is not known.
mlir::OpFoldResult sizeAlong(mlir::Value view, unsigned dim);

} // namespace tilebridge::cpu
