//===- DeepMatmul.h - a product that a loop adds up ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Matmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilebridge::cpu {

class FunctionEmitter;

/// On a product of the old function, while its loop is emitted: the transposed
/// one is computed (MatmulSwapped.cpp).
inline constexpr llvm::StringLiteral swappedAttr = "tilebridge.swapped";

/// Panels of `b` that are kept for the next program. What is packed between two
/// products has a slot; what comes after the last slot, and all of it where
/// nothing is to be kept, goes to one more, in turn.
/// The words: flags and keys.
struct SharedPanels : KeptSlots {
  /// Whether the program before has kept what this one needs, and whether this
  /// one keeps it.
  mlir::Value isThere = {}, isKept = {};
  /// Whether the program before had the same keys.
  mlir::Value isSame = {};
  /// In an iteration: whether `b` is to be packed; the panels that are read
  /// after those of its slot, or the same ones where that is not known.
  mlir::Value packs = {}, nextPanels = {};
};

/// A block of an array that the sums are stored to behind the loop: its rows,
/// which are contiguous, and its bytes, from `begin` to `end`; whether all of
/// it is there; a word of memory that says whether the last steps have stored
/// them (0: they have not); and where the program says so.
struct StoredSums {
  mlir::Value memref, begin, end, mayBe, isDone;
  mlir::Location loc;
};

/// One such product, while its loop is emitted.
struct DeepMatmul {
  mlir::linalg::MatmulOp op;
  MatmulForm form;
  /// Steps along K of one iteration, and of the packed operands.
  int64_t depth, capacity;
  mlir::Value lhs, rhs;
  /// Where `lhs` lies: rows that wait are longer than others.
  mlir::Value lhsMemory;
  /// Where the micro-kernel finds `a` (not null if that may be where it was
  /// loaded from): its address, the distance of its rows in bytes, and whether
  /// it has not been packed; then how many steps before those lie elsewhere
  /// (`stepsBefore`), and the address and the distance of rows of these.
  mlir::Value place;
  static constexpr int64_t stepsBefore = 3;
  /// The same of `b`, where few rows of `a` may be multiplied with long rows of
  /// it, or with columns that are contiguous (null: it is always packed); how
  /// many steps have been multiplied; and what an iteration does, which changes
  /// to `modeBehindJump` where b does not go on.
  mlir::Value rightPlace, modeBehindJump;
  bool hasColumns = false;
  /// The packed `a` has columns of neighbouring elements, not rows
  /// (MatmulGathered.cpp).
  bool isByColumns = false;
  /// The transposed product is computed: panels of `a` in `lhs`, rows of the
  /// transposed `b` in `rhs` (MatmulSwapped.cpp); and its sums.
  bool isSwapped = false;
  mlir::Value swappedSums;
  /// Where tiles find gathered rows of `a` (null: they are packed): address and
  /// distance, in bytes, for each 16 rows and iteration.
  mlir::Value rowTiles;
  /// In an iteration: whether what it reads may stay where it lies, and whether
  /// it waits until there are `depthAlone` steps.
  mlir::Value isAlone, waits;
  int64_t depthAlone = 0;
  /// Steps that lie where they are behind each other; whether those that this
  /// iteration has read are packed, or lie elsewhere.
  mlir::Value waiting, isPacked, hasJumped;
  /// Steps of iterations before that are not multiplied; whether this is the
  /// last iteration.
  mlir::Value filled, isLast;
  /// An iteration's steps follow those that the one before had, and not its
  /// whole block; then how many it has (null: a block's).
  bool isClose = false;
  mlir::Value ownSteps;
  /// The sums begin at zero, which nobody writes before the loop; and the steps
  /// along K of all iterations before (null: nobody asks).
  bool beginsAtZero = false;
  mlir::Value total;
  /// Behind the last row, and the last column, of the sums that somebody sees
  /// (null: all are seen).
  mlir::Value wanted, columnsEnd;
  /// Not null: other rows of a than these are zeros.
  std::optional<MaskedRows> masked;
  /// Whether few rows of a are multiplied with b while that is computed (null:
  /// never), and whether they have been placed before the branch that computes
  /// b.
  mlir::Value isDirectRow;
  bool isLeftPlaced = false;
  /// Where programs share `b`.
  std::optional<SharedPanels> shared;
  /// Where they share tiles of `a`, which are multiplied with columns.
  std::optional<KeptRows> keptRows;
  /// Where the last steps may store the sums.
  std::optional<StoredSums> stored;
  /// For the next iteration.
  mlir::Value next;

  /// Whether what `place` says is where `a` was loaded from.
  mlir::Value isInPlace(mlir::ImplicitLocOpBuilder &b) const {
    return mlir::arith::CmpIOp::create(
        b, mlir::arith::CmpIPredicate::eq, fieldOfPlace(b, 2),
        mlir::arith::ConstantIndexOp::create(b, 1));
  }

  mlir::Value fieldOfPlace(mlir::ImplicitLocOpBuilder &b, int64_t field) const {
    return fieldOf(b, place, field);
  }
  static mlir::Value fieldOf(mlir::ImplicitLocOpBuilder &b, mlir::Value place,
                             int64_t field) {
    mlir::Value at = mlir::arith::ConstantIndexOp::create(b, field);
    return mlir::arith::IndexCastOp::create(
        b, b.getIndexType(), mlir::memref::LoadOp::create(b, place, at));
  }

  /// Where `a` is multiplied from, for the report.
  llvm::StringRef leftText() const;
  mlir::MemRefType typeOfRowTiles(mlir::ImplicitLocOpBuilder &b) const {
    auto acc = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
    return mlir::MemRefType::get({acc.getDimSize(0) / 16, capacity / depth, 2},
                                 b.getI64Type());
  }
  /// Memory for rows of `a`, for panels of `b`, and for the sums of the
  /// transposed product.
  mlir::MemRefType typeOfLhs(mlir::ImplicitLocOpBuilder &b) const;
  mlir::MemRefType typeOfRhs(mlir::ImplicitLocOpBuilder &b) const;
  mlir::MemRefType typeOfSwappedSums() const {
    auto acc = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
    return mlir::MemRefType::get({acc.getDimSize(1), acc.getDimSize(0)},
                                 acc.getElementType());
  }
  /// At the start of an iteration.
  void enter(mlir::ImplicitLocOpBuilder &b);
  /// From so many steps on there may be no room for the next block.
  int64_t fullFrom() const { return isClose ? capacity - depth + 1 : capacity; }
  /// `pack` for those of the block's parts along K that this iteration has:
  /// where each begins, and how many steps it has.
  void forSteps(mlir::ImplicitLocOpBuilder &b,
                llvm::function_ref<void(mlir::Value, int64_t)> pack) const;
  /// The same parts of `view`, whose steps are along `dim`, with the place of
  /// each among what is packed.
  void packSteps(mlir::ImplicitLocOpBuilder &b, mlir::Value view, unsigned dim,
                 llvm::function_ref<void(mlir::Value, mlir::Value)> pack) const;
  mlir::OpFoldResult ownEnd(mlir::Builder &b) const {
    return ownSteps ? mlir::OpFoldResult(ownSteps)
                    : mlir::OpFoldResult(b.getIndexAttr(depth));
  }
  /// Behind what is packed of a view of `a` or of `b` along its dimensions.
  llvm::SmallVector<mlir::Value> endsOfCopy(mlir::ImplicitLocOpBuilder &b,
                                            bool isLhs) const;
  /// Whether the micro-kernel runs when there are so many steps.
  mlir::Value isDue(mlir::ImplicitLocOpBuilder &b, mlir::Value end);
  /// How many rows somebody sees.
  mlir::Value wantedRows(mlir::ImplicitLocOpBuilder &b) const {
    auto acc = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
    return wanted ? wanted
                  : mlir::arith::ConstantIndexOp::create(b, acc.getDimSize(0))
                        .getResult();
  }

  /// Where b is read where it lies, so many rows are asked for before they are
  /// read: an iteration's, or as many as have 64 KiB, but at least 16. 1 x 4096
  /// x 4096 of f32 on a Zen 3, in strips of 4 KiB: 15 GB/s 64 rows ahead, 19 to
  /// 21 with 8 to 32.
  int64_t rowsAhead() const;

  /// The rows of a that this iteration has read or packed.
  RowsInMemory leftRows(mlir::ImplicitLocOpBuilder &b) const;

  /// Where the micro-kernel finds a, if `place` says it. Tiles ask for the rows
  /// of the next call, if that will read them where they lie.
  RowsInMemory rowsInPlace(mlir::ImplicitLocOpBuilder &b) const {
    if (!place)
      return {};
    RowsInMemory rows = {fieldOfPlace(b, 0), fieldOfPlace(b, 1)};
    if (!kernel(b).readsTiles())
      return rows;
    namespace arith = mlir::arith;
    auto index = [&](int64_t value) -> mlir::Value {
      return arith::ConstantIndexOp::create(b, value);
    };
    rows.partBytes = capacity * kernel(b).packedBytes();
    mlir::Value ahead = arith::SelectOp::create(
        b, isInPlace(b), index(rows.partBytes), index(0));
    rows.aheadBytes = arith::SelectOp::create(b, isLast, index(0), ahead);
    return rows;
  }

  /// Where the sums go that `steps` are added to last in this iteration, of the
  /// given rows of a (none: they are packed), if they are the last ones of the
  /// iteration: a memref of dynamic strides. Only where `stored` is.
  mlir::Value memoryOfSums(mlir::ImplicitLocOpBuilder &b, mlir::Value acc,
                           const RowsInMemory &rows, mlir::Value steps,
                           mlir::Value isNow) const;
  /// Steps before a jump of `a` stay where they lie, and are multiplied apart.
  bool staysBeforeJump(mlir::ImplicitLocOpBuilder &b) const {
    return place && typeOfPlace(b).getDimSize(0) > stepsBefore;
  }
  mlir::MemRefType typeOfPlace(mlir::ImplicitLocOpBuilder &b) const {
    int64_t words = kernel(b).readsTiles() ? stepsBefore : 2 * stepsBefore;
    return mlir::MemRefType::get({words}, b.getI64Type());
  }

  /// That of the transposed product.
  MatmulKernel swappedKernel(mlir::ImplicitLocOpBuilder &b) const {
    auto element = [&](unsigned i) {
      return mlir::getElementTypeOrSelf(op->getOperand(i).getType());
    };
    MatmulKernel result(b, element(1), element(0), typeOfSwappedSums(), depth,
                        form.settings);
    result.limitColumns(wanted);
    return result;
  }

  /// Whose steps an iteration has.
  MatmulKernel kernelOfSteps(mlir::ImplicitLocOpBuilder &b) const {
    return isSwapped ? swappedKernel(b) : kernel(b);
  }
  /// `total` of the next iteration, if this one has so many steps.
  mlir::Value totalBehind(mlir::ImplicitLocOpBuilder &b, mlir::Value steps,
                          mlir::Value isMultiplied) const;

  MatmulKernel kernel(mlir::ImplicitLocOpBuilder &b) const {
    auto element = [&](unsigned i) {
      return mlir::getElementTypeOrSelf(op->getOperand(i).getType());
    };
    auto acc = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
    MatmulKernel result(
        b, element(0), element(1),
        mlir::MemRefType::get(acc.getShape(), acc.getElementType()), depth,
        form.settings);
    result.limitColumns(columnsEnd);
    if (masked)
      result.keepLhs(element(0));
    return result;
  }
};

/// The index along `dim` from which on all elements of a block, as loads with
/// masks or descriptors give it, are zero: a value of the old function; null if
/// that is not known, or none are.
mlir::Value zeroFrom(mlir::Value block, unsigned dim);

/// Where the steps of a loop's product end, if other iterations than the last
/// one may have fewer steps than the block: in a loop over a filter's taps each
/// one that has the last channels.
std::optional<StepEnds> findPartialSteps(const MatmulForm &form,
                                         mlir::linalg::LinalgOp op);

/// Before the loop, once the product is open: see there.
mlir::Value findDirectRow(mlir::ImplicitLocOpBuilder &b,
                          const DeepMatmul &product);

/// Leaves `view`, a of this iteration, where it is if it goes on where that of
/// the iteration before ended; calls `pack`, which packs it, if not, and packs
/// what has not been packed before. `isWhole`: it is there, and stays (null: it
/// does not).
void placeRows(mlir::ImplicitLocOpBuilder &b, const DeepMatmul &product,
               mlir::Value view, mlir::Value isWhole,
               llvm::function_ref<void()> pack);

/// Some branch of the program gives `tensor` as gathered rows of one element
/// each, which may follow one another.
bool givesGatheredColumns(mlir::Value tensor);

/// `a` is such rows, and packed by columns.
bool hasGatheredColumns(const DeepMatmul &product, const MatmulKernel &kernel);

/// Packs rows of single elements of 16 bits, as panels of the right operand of
/// the transposed product: those that `view` gathers, or, where `elementMask`
/// is not null, ones that follow one another; elements are `pad` (null: 0)
/// where the mask is off.
mlir::LogicalResult packGatheredPairs(FunctionEmitter &fe,
                                      const DeepMatmul &product,
                                      const View &view, mlir::Value pad,
                                      mlir::Value elementMask);

/// Multiplies what is packed of the transposed product, the sums of which come
/// to `acc` in the last iteration.
void multiplySwapped(mlir::ImplicitLocOpBuilder &b, const DeepMatmul &product,
                     mlir::Value acc, mlir::Value steps, mlir::Value isFirst,
                     Allocate allocate);

/// Multiplies `steps` of `rows` (without an address: of what is packed), and
/// what `place` says of those before, with the panels of b.
void multiplyPanels(mlir::ImplicitLocOpBuilder &b, const DeepMatmul &product,
                    mlir::Value acc, RowsInMemory rows, mlir::Value steps,
                    mlir::Value isFirst, Allocate allocate);

/// The same of rows that a mask chooses.
void multiplyMaskedPanels(mlir::ImplicitLocOpBuilder &b,
                          const DeepMatmul &product, mlir::Value acc,
                          mlir::Value steps, Allocate allocate);

/// Packs `view`, b of this iteration, or says where it lies. `isWhole`: it is
/// there, and stays (null: it does not), where `mayStay` is true (null: it is).
void placeWideRows(mlir::ImplicitLocOpBuilder &b, const DeepMatmul &product,
                   mlir::Value view, mlir::Value isWhole, mlir::Value mayStay);

/// Multiplies with the rows or columns of b where they lie, and with panels if
/// this iteration has packed some. `filled`: steps up to the end of this
/// iteration.
void multiplyWideRows(mlir::ImplicitLocOpBuilder &b, const DeepMatmul &product,
                      mlir::Value acc, mlir::Value filled, Allocate allocate);

} // namespace tilebridge::cpu
