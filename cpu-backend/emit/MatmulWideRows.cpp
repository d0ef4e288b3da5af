//===- MatmulWideRows.cpp - few rows with long rows or columns of b -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A product of few rows takes as long as memory takes to give b. What memory
// gives fastest is long pieces of few rows at once, read in their order: the
// CPU's prefetchers follow those, and have more lines under way than a core can
// ask for itself. So where a block of b has long rows, and few of them, each
// iteration multiplies with them where they lie. Columns that are contiguous
// (MatmulColumns.cpp) go on in the next iteration, and wait for it: both
// operands stay where they are until there are enough steps. Whether few rows
// are wanted is known before the loop only; b is packed where it is not in
// memory as it should be, or where the program before had the same, so that the
// next ones find its panels.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/View.h"
#include "cpu-backend/emit/Wanted.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge::cpu;

static Value index(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

static Value times(ImplicitLocOpBuilder &b, Value value, int64_t factor) {
  return arith::MulIOp::create(b, value, index(b, factor));
}

static Value inverse(ImplicitLocOpBuilder &b, Value condition) {
  return arith::XOrIOp::create(b, condition,
                               arith::ConstantIntOp::create(b, 1, 1));
}

Value tilebridge::cpu::addressOf(ImplicitLocOpBuilder &b, Value memref,
                                 int64_t bytes) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  return arith::AddIOp::create(
      b, memref::ExtractAlignedPointerAsIndexOp::create(b, memref),
      times(b, metadata.getOffset(), bytes));
}

RowsInMemory DeepMatmul::leftRows(ImplicitLocOpBuilder &b) const {
  if (place)
    return {fieldOfPlace(b, 0), fieldOfPlace(b, 1)};
  return rowsOf(b, lhs);
}

/// `tensor` is a load whose elements along dimension `d` are contiguous.
static bool isLoadedAlong(Value tensor, unsigned d) {
  Operation *op = tensor.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(op))
    return isLoadedAlong(transpose.getInput(), transpose.getPermutation()[d]);
  // What is packed unless the program before has done it.
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op))
    return isLoadedAlong(branch.thenYield()->getOperand(0), d);
  return matchLoad(tensor) && isContiguousAlong(tensor, d);
}

/// How many rows may be multiplied with columns of b that lie where they are
/// (0: none).
int64_t FunctionEmitter::rowsWithColumns(const DeepMatmul &product,
                                         scf::ForOp loop) {
  linalg::MatmulOp op = product.op;
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  MatmulKernel kernel = product.kernel(b);
  if (!isLoadedAlong(op.getInputs()[1], product.form.swapsRhs ? 1 : 0))
    return 0;
  auto left = op.getInputs()[0];
  Type leftElement = getElementTypeOrSelf(left.getType());
  bool isInPlace = kernel.readsRowsOf(leftElement) &&
                   isLoadedAlong(left, product.form.swapsLhs ? 0 : 1);
  int64_t most = kernel.rowsWithColumns(/*waits=*/true, isInPlace);
  auto rows = cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(0);
  std::optional<WantedRange> wanted = findWantedRows(op);
  bool isKnown = wanted && knownBefore(*wanted, loop);
  return isKnown || rows <= most ? most : 0;
}

/// Words of `rightPlace`: where what waits lies, where what this iteration
/// reads (0: it is packed), the distances of their rows, the steps that have
/// been multiplied, and what iterations do.
enum Field : int64_t {
  Address,
  RowBytes,
  OwnAddress,
  OwnRowBytes,
  Begin,
  ModeNow,
  numFields
};
/// They pack, wait for the next one if that goes on, or multiply.
enum Mode : int64_t { Packs, Waits, Multiplies };

static Value fieldOf(ImplicitLocOpBuilder &b, const DeepMatmul &product,
                     Field field) {
  return DeepMatmul::fieldOf(b, product.rightPlace, field);
}

static void putField(ImplicitLocOpBuilder &b, const DeepMatmul &product,
                     Field field, Value value) {
  memref::StoreOp::create(b,
                          arith::IndexCastOp::create(b, b.getI64Type(), value),
                          product.rightPlace, index(b, field));
}

static Value isEqual(ImplicitLocOpBuilder &b, Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
}

/// Before the loop: where long rows of b, or its columns, may stay where they
/// are, for up to `most` rows.
void FunctionEmitter::openWideRows(DeepMatmul &product, int64_t most) {
  ImplicitLocOpBuilder b(product.op.getLoc(), rewriter);
  product.rightPlace = allocate(MemRefType::get({numFields}, b.getI64Type()));
  auto isUpTo = [&](int64_t rows) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                 product.wantedRows(b), index(b, rows));
  };
  auto choose = [&](Value condition, Mode mode) -> Value {
    return arith::SelectOp::create(b, condition, index(b, mode),
                                   index(b, Packs));
  };
  Value isAlone = isUpTo(most);
  if (product.shared) {
    SharedPanels &shared = *product.shared;
    isAlone = arith::AndIOp::create(b, isAlone, inverse(b, shared.isSame));
    shared.isKept =
        arith::AndIOp::create(b, shared.isKept, inverse(b, isAlone));
  }
  putField(b, product, Begin, index(b, 0));
  putField(b, product, ModeNow,
           choose(isAlone, product.hasColumns ? Waits : Multiplies));
  product.modeBehindJump =
      product.hasColumns
          ? choose(isUpTo(product.kernel(b).rowsWithColumns()), Multiplies)
          : index(b, Multiplies);
}

/// Distances of packed rows for `steps`. Rows at a distance of a power of two
/// would compete for their places in the cache.
static int64_t distanceOfRows(const MatmulKernel &kernel, int64_t steps) {
  return steps + 64 / kernel.packedBytes();
}

MemRefType DeepMatmul::typeOfLhs(ImplicitLocOpBuilder &b) const {
  MatmulKernel made = kernel(b);
  if (isByColumns || isSwapped)
    return isSwapped ? swappedKernel(b).packedRhs(capacity)
                     : made.packedLhs(capacity, /*byColumns=*/true);
  int64_t steps = hasColumns ? std::max(capacity, depthAlone) : capacity;
  return made.packedLhs(distanceOfRows(made, steps));
}

void DeepMatmul::enter(ImplicitLocOpBuilder &b) {
  if (!rightPlace) {
    if (total)
      filled = arith::RemUIOp::create(b, total, index(b, capacity));
    return;
  }
  Value mode = ::fieldOf(b, *this, ModeNow);
  isAlone = inverse(b, isEqual(b, mode, index(b, Packs)));
  waits = isEqual(b, mode, index(b, Waits));
  if (hasColumns) {
    MatmulKernel made = kernel(b);
    MemRefType rows = made.packedLhs(capacity);
    Value distance = arith::SelectOp::create(
        b, isAlone, index(b, distanceOfRows(made, depthAlone)),
        index(b, distanceOfRows(made, capacity)));
    auto layout =
        StridedLayoutAttr::get(b.getContext(), 0, {ShapedType::kDynamic, 1});
    lhs = memref::ReinterpretCastOp::create(
        b, MemRefType::get(rows.getShape(), rows.getElementType(), layout),
        lhsMemory, b.getIndexAttr(0),
        getAsIndexOpFoldResult(b.getContext(), rows.getShape()),
        ArrayRef<OpFoldResult>{distance, b.getIndexAttr(1)});
  }
  if (total)
    filled = arith::SubIOp::create(b, total, ::fieldOf(b, *this, Begin));
}

Value DeepMatmul::isDue(ImplicitLocOpBuilder &b, Value end) {
  auto isReached = [&](int64_t steps) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::uge, end,
                                 index(b, steps));
  };
  auto both = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(b, x, y);
  };
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, condition, x, y);
  };
  Value result = arith::OrIOp::create(b, isReached(fullFrom()), isLast);
  if (!rightPlace)
    return result;
  auto get = [&](Field field) { return ::fieldOf(b, *this, field); };
  auto put = [&](Field field, Value value) {
    putField(b, *this, field, value);
  };
  // What this iteration has read goes on behind what waits, or waits itself.
  Type element = getElementTypeOrSelf(op->getOperand(1).getType());
  Value own = get(OwnAddress), rowBytes = get(OwnRowBytes),
        isFirst = isEqual(b, filled, index(b, 0)),
        address = choose(isFirst, own, get(Address)),
        oldBytes = choose(isFirst, rowBytes, get(RowBytes)),
        passed = times(b, filled, element.getIntOrFloatBitWidth() / 8),
        isNext = isEqual(b, own, arith::AddIOp::create(b, address, passed));
  put(Address, address);
  put(RowBytes, oldBytes);
  isPacked = isEqual(b, own, index(b, 0));
  Value goesOn =
      both(inverse(b, isPacked), both(isNext, isEqual(b, rowBytes, oldBytes)));
  waiting = choose(goesOn, end, filled);
  hasJumped = inverse(b, arith::OrIOp::create(b, isPacked, goesOn));
  put(ModeNow,
      choose(both(isAlone, inverse(b, goesOn)), modeBehindJump, get(ModeNow)));
  Value isEnough = arith::OrIOp::create(b, isReached(depthAlone), isLast),
        mayWait = both(waits, both(goesOn, inverse(b, isEnough)));
  return choose(isAlone, inverse(b, mayWait), result);
}

/// Whether the next iteration reads what lies behind the columns of `tensor`,
/// for as many rows as are worth less than a copy if it does not; null if that
/// is not known, or there are few.
Value FunctionEmitter::mayStay(ImplicitLocOpBuilder &b,
                               const DeepMatmul &product, Value tensor) {
  while (auto transpose = tensor.getDefiningOp<linalg::TransposeOp>())
    tensor = transpose.getInput();
  auto it = loads.find(tensor);
  scf::ForOp around = loopAround(b);
  if (!product.hasColumns || it == loads.end() || !around)
    return {};
  std::optional<OpFoldResult> growth =
      growthOf(*it->second, around, b.getLoc());
  if (!growth || constantOf(*growth) == product.depth)
    return {};
  return arith::OrIOp::create(
      b, isEqual(b, toValue(b, b.getLoc(), *growth), index(b, product.depth)),
      isEqual(b, product.modeBehindJump, index(b, Multiplies)));
}

void tilebridge::cpu::placeWideRows(ImplicitLocOpBuilder &b,
                                    const DeepMatmul &product, Value view,
                                    Value isWhole, Value mayStay) {
  MatmulKernel kernel = product.kernel(b);
  OpBuilder::InsertionGuard guard(b);
  auto type = cast<MemRefType>(view.getType());
  unsigned along = product.hasColumns ? 0 : 1;
  if (isWhole && type.getStridesAndOffset().first[along] == 1) {
    RowsInMemory rows = rowsOf(b, view, 1 - along);
    Value fits = arith::AndIOp::create(b, product.isAlone, isWhole);
    if (mayStay)
      fits = arith::AndIOp::create(b, fits, mayStay);
    auto branch = scf::IfOp::create(b, fits, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    putField(b, product, OwnAddress, rows.address);
    putField(b, product, OwnRowBytes, rows.rowBytes);
    b.setInsertionPointToStart(branch.elseBlock());
  }
  putField(b, product, OwnAddress, index(b, 0));
  // What is multiplied alone has the panels for itself.
  Value at =
      arith::SelectOp::create(b, product.isAlone, index(b, 0), product.filled);
  kernel.packRhs(view, product.rhs, at);
}

/// Few rows of b at once are followed best, and at distances of a power of two
/// have places in caches with sets of 8 lines, which CPUs other than those with
/// two 512-bit multiply-adds have; many of a want their sums to stay in
/// registers.
static void multiplyRowsOfB(ImplicitLocOpBuilder &b, const DeepMatmul &product,
                            Value acc, Value depth, RowsInMemory left,
                            RowsInMemory right, Value isFirst,
                            Allocate allocate) {
  constexpr int64_t fewRows = 4;
  int64_t rowsAtOnce = product.form.settings.target.hasTwoFmas ? 16 : 8;
  MatmulKernel kernel = product.kernel(b);
  if (product.depth % rowsAtOnce || product.depth == rowsAtOnce)
    return kernel.multiply({}, {}, acc, depth, allocate, left, product.wanted,
                           isFirst, right);
  Value isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                      product.wanted, index(b, fewRows));
  Value steps = arith::SelectOp::create(b, isFew, index(b, rowsAtOnce), depth);
  auto parts = scf::ForOp::create(b, index(b, 0), depth, steps);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(parts.getBody());
  Value at = parts.getInductionVar();
  left.address = arith::AddIOp::create(b, left.address,
                                       times(b, at, kernel.packedBytes()));
  right.address = arith::AddIOp::create(
      b, right.address, arith::MulIOp::create(b, at, right.rowBytes));
  if (isFirst)
    isFirst = arith::AndIOp::create(
        b, isFirst,
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, at, index(b, 0)));
  kernel.multiply({}, {}, acc, steps, allocate, left, product.wanted, isFirst,
                  right);
}

/// Rows of an array that were left there for columns, of which others than the
/// wanted ones may not exist, packed for tiles of all rows.
static RowsInMemory rowsForTiles(ImplicitLocOpBuilder &b,
                                 const DeepMatmul &product, RowsInMemory rows) {
  Value areWanted =
      arith::AndIOp::create(b, product.isAlone, product.isInPlace(b));
  auto branch =
      scf::IfOp::create(b, TypeRange{b.getIndexType(), b.getIndexType()},
                        areWanted, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  product.kernel(b).packRows(
      rows, getElementTypeOrSelf(product.op->getOperand(0).getType()),
      product.lhs, index(b, 0), index(b, product.depth), product.depth,
      product.wanted);
  RowsInMemory packed = rowsOf(b, product.lhs);
  scf::YieldOp::create(b, ValueRange{packed.address, packed.rowBytes});
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, ValueRange{rows.address, rows.rowBytes});
  return {branch.getResult(0), branch.getResult(1)};
}

void tilebridge::cpu::multiplyWideRows(ImplicitLocOpBuilder &b,
                                       const DeepMatmul &product, Value acc,
                                       Value filled, Allocate allocate) {
  MatmulKernel kernel = product.kernel(b);
  auto choose = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, condition, x, y);
  };
  auto isZero = [&](Value value) { return isEqual(b, value, index(b, 0)); };
  auto leftFrom = [&](Value step) {
    RowsInMemory rows = product.leftRows(b);
    rows.address = arith::AddIOp::create(b, rows.address,
                                         times(b, step, kernel.packedBytes()));
    return rows;
  };
  Value depth = index(b, product.depth), zero = index(b, 0), one = index(b, 1),
        begin = fieldOf(b, product, Begin);
  // What is alone: what waits, and what this iteration has read elsewhere.
  {
    Value first = choose(isZero(product.waiting), one, zero),
          last = choose(product.hasJumped, index(b, 2), one),
          end = choose(product.isAlone, last, zero);
    auto parts = scf::ForOp::create(b, first, end, one);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(parts.getBody());
    Value isWaiting = isZero(parts.getInductionVar()),
          steps = choose(isWaiting, product.waiting, depth),
          from = choose(isWaiting, zero, product.filled), isFirst;
    RowsInMemory left = leftFrom(from), right;
    right.address = choose(isWaiting, fieldOf(b, product, Address),
                           fieldOf(b, product, OwnAddress));
    right.rowBytes = choose(isWaiting, fieldOf(b, product, RowBytes),
                            fieldOf(b, product, OwnRowBytes));
    if (product.beginsAtZero)
      isFirst = isZero(arith::AddIOp::create(b, begin, from));
    if (product.hasColumns) {
      std::optional<KeptRows> kept = product.keptRows;
      if (kept) {
        kept->number =
            arith::DivUIOp::create(b, arith::AddIOp::create(b, begin, from),
                                   index(b, product.depthAlone));
        kept->isStable = product.isInPlace(b);
      }
      kernel.multiplyColumns(acc, left, right, steps, product.wantedRows(b),
                             isFirst, allocate, kept ? &*kept : nullptr);
    } else {
      // While these are read, memory has time to give the next ones.
      Value ahead = choose(product.isLast, zero, index(b, product.rowsAhead()));
      right.aheadBytes = arith::MulIOp::create(b, ahead, right.rowBytes);
      multiplyRowsOfB(b, product, acc, steps, left, right, isFirst, allocate);
    }
  }
  Value usesPanels =
      arith::OrIOp::create(b, inverse(b, product.isAlone), product.isPacked);
  auto branch = scf::IfOp::create(b, usesPanels, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value from = choose(product.isAlone, product.filled, zero), isFirst;
    if (product.beginsAtZero)
      isFirst = isZero(arith::AddIOp::create(b, begin, from));
    RowsInMemory left = leftFrom(from), whole = product.rowsInPlace(b);
    if (product.hasColumns && product.place && kernel.readsTiles())
      left = rowsForTiles(b, product, left);
    left.aheadBytes = whole.aheadBytes;
    left.partBytes = whole.partBytes;
    Value steps = choose(product.isAlone, depth, filled);
    multiplyPanels(b, product, acc, left, steps, isFirst, allocate);
  }
  if (product.total)
    putField(b, product, Begin, arith::AddIOp::create(b, product.total, depth));
}
