//===- Matmul.cpp - matrix products ---------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Operands that the micro-kernel could not read with fixed strides and in the
// type that it multiplies are packed first; that is where narrow types are
// widened.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"
#include "cpu-backend/emit/Roots.h"
#include "cpu-backend/emit/Wanted.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Zeros in the rows of short sums that others compute with and nobody sees:
/// what is left in memory may be subnormal, which some CPUs add up slowly.
static void clearShortRows(ImplicitLocOpBuilder &b, Value acc, Value wanted) {
  auto type = cast<MemRefType>(acc.getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1),
          step = rowsAtEnd(rows, columns);
  if (step == 1)
    return;
  Value last = offsetBy(b, wanted, step - 1),
        end = arith::AndIOp::create(b, last,
                                    arith::ConstantIndexOp::create(b, -step)),
        one = arith::ConstantIndexOp::create(b, 1);
  Value zero = arith::ConstantOp::create(
      b, b.getZeroAttr(VectorType::get(columns, type.getElementType())));
  auto loop = scf::ForOp::create(b, wanted, end, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  vector::StoreOp::create(
      b, zero, acc,
      ValueRange{loop.getInductionVar(), arith::ConstantIndexOp::create(b, 0)});
}

/// The same of columns that are not multiplied, where sums that begin at zero
/// are not written before.
static void clearColumns(ImplicitLocOpBuilder &b, Value acc, Value wanted,
                         Value end) {
  auto type = cast<MemRefType>(acc.getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1), lanes = 8;
  while (columns % lanes)
    lanes /= 2;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  // From the first whole vector on: what is before it is multiplied. Loops that
  // end with what is wanted take no more than that together (MaskTails.cpp).
  constexpr int64_t most = 64;
  auto upTo = [&](int64_t step) -> Value {
    return arith::AndIOp::create(b, offsetBy(b, end, step - 1), index(-step));
  };
  Value first = upTo(lanes),
        last = arith::MinSIOp::create(b, upTo(most), index(columns));
  Value zero = arith::ConstantOp::create(
      b, b.getZeroAttr(VectorType::get(lanes, type.getElementType())));
  OpBuilder::InsertionGuard guard(b);
  auto above =
      scf::ForOp::create(b, index(0), wanted ? wanted : index(rows), index(1));
  b.setInsertionPointToStart(above.getBody());
  auto along = scf::ForOp::create(b, first, last, index(lanes));
  b.setInsertionPointToStart(along.getBody());
  vector::StoreOp::create(
      b, zero, acc,
      ValueRange{above.getInductionVar(), along.getInductionVar()});
}

RowsInMemory tilebridge::cpu::rowsOf(ImplicitLocOpBuilder &b, Value memref,
                                     unsigned along) {
  int64_t bytes =
      cast<MemRefType>(memref.getType()).getElementTypeBitWidth() / 8;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  Value distance =
      arith::MulIOp::create(b, metadata.getStrides()[along],
                            arith::ConstantIndexOp::create(b, bytes));
  return {addressOf(b, memref, bytes), distance};
}

Value tilebridge::cpu::sliceOf(ImplicitLocOpBuilder &b, Value memref,
                               Value index) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape()),
      strides(type.getRank(), b.getIndexAttr(1));
  offsets[0] = index;
  sizes[0] = b.getIndexAttr(1);
  auto reduced = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, cast<MemRefType>(reduced), memref,
                                   offsets, sizes, strides);
}

/// Packs no more of an operand's steps than `depth`, by parts of these.
static void packInParts(ImplicitLocOpBuilder &b, Value src, Value packed,
                        unsigned steps, unsigned packedSteps, int64_t group,
                        Value depth,
                        llvm::function_ref<void(Value, Value)> pack) {
  auto type = cast<MemRefType>(src.getType());
  int64_t part = type.getElementTypeBitWidth() < 16 ? 64 : 32;
  if (!depth || type.getDimSize(steps) % part || type.getDimSize(steps) == part)
    return pack(src, packed);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto loop = scf::ForOp::create(b, index(0), depth, index(part));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto partOf = [&](Value memref, unsigned dim, Value at, int64_t size) {
    auto from = cast<MemRefType>(memref.getType());
    SmallVector<OpFoldResult> offsets(from.getRank(), b.getIndexAttr(0)),
        sizes = getAsIndexOpFoldResult(b.getContext(), from.getShape()),
        strides(from.getRank(), b.getIndexAttr(1));
    offsets[dim] = at;
    sizes[dim] = b.getIndexAttr(size);
    return memref::SubViewOp::create(b, memref, offsets, sizes, strides)
        .getResult();
  };
  Value at = loop.getInductionVar(),
        to = group == 1
                 ? at
                 : arith::DivUIOp::create(b, at, index(group)).getResult();
  pack(partOf(src, steps, at, part),
       partOf(packed, packedSteps, to, part / group));
}

void tilebridge::cpu::emitMatmulLoops(
    ImplicitLocOpBuilder &b, Value lhs, Value rhs, Value acc,
    const MatmulSettings &settings, Allocate allocate, bool isFirst,
    Value wanted, Value ahead, Value columnsEnd, Value depthEnd, bool isTail) {
  auto type = cast<MemRefType>(acc.getType());
  auto layout = type.getStridesAndOffset().first;
  if (type.getDimSize(1) == 1 && type.getDimSize(0) > 1 && layout[0] == 1) {
    // One column: its transpose is one row, along which there can be vectors.
    Value left = swapDims(b, rhs);
    rhs = swapDims(b, lhs);
    lhs = left;
    acc = swapDims(b, acc);
    wanted = columnsEnd = {};
    type = cast<MemRefType>(acc.getType());
  }
  auto lhsType = cast<MemRefType>(lhs.getType()),
       rhsType = cast<MemRefType>(rhs.getType());
  int64_t k = lhsType.getDimSize(1);
  MatmulKernel kernel(b, lhsType.getElementType(), rhsType.getElementType(),
                      type, k, settings);
  kernel.limitColumns(columnsEnd);
  Value first, all = arith::ConstantIndexOp::create(b, k),
               depth = depthEnd ? kernel.wholeSteps(depthEnd, k) : all,
               partDepth = isTail ? depth : Value();
  bool packsLhs = !kernel.readsLhs(lhsType),
       packsRhs = !kernel.readsRhs(rhsType);
  SmallVector<int64_t> right = rhsType.getStridesAndOffset().first;
  bool isByColumns = right[1] != 1 && right[0] == 1;
  int64_t few = !wanted || !packsRhs || (isTail && isByColumns) ||
                        (right[1] != 1 && !isByColumns)
                    ? 0
                : isByColumns ? kernel.rowsWithColumns()
                              : kernel.rowsWithRows();
  auto state = [](bool packs) { return packs ? "packed" : "where it lies"; };
  kernel.report(
      lhsType.getElementType(), rhsType.getElementType(), state(packsLhs),
      few ? "where it lies for few rows, or packed" : state(packsRhs));
  if (packsLhs) {
    // Single elements are read in any order.
    SmallVector<int64_t> strides = lhsType.getStridesAndOffset().first;
    bool byColumns =
        kernel.readsElements() && strides[0] == 1 && strides[1] != 1;
    Value packed = allocate(kernel.packedLhs(k, byColumns));
    if (byColumns)
      kernel.packLhs(swapDims(b, lhs), packed);
    else
      packInParts(b, lhs, packed, 1, 1, 1, partDepth,
                  [&](Value src, Value dst) { kernel.packLhs(src, dst); });
    lhs = byColumns ? swapDims(b, packed) : packed;
  }
  if (isFirst)
    first = arith::ConstantIntOp::create(b, 1, 1);
  OpBuilder::InsertionGuard guard(b);
  lhsType = cast<MemRefType>(lhs.getType());
  if (few && lhsType.getStridesAndOffset().first[1] == 1) {
    Value isFew = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, wanted,
                                        arith::ConstantIndexOp::create(b, few));
    auto branch = scf::IfOp::create(b, isFew, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    RowsInMemory rows = rowsOf(b, lhs), others = rowsOf(b, rhs, isByColumns);
    others.aheadBytes = ahead;
    if (isByColumns)
      kernel.multiplyColumns(acc, rows, others, all, wanted, first, allocate);
    else
      kernel.multiply({}, {}, acc, depth, allocate, rows, wanted, first,
                      others);
    b.setInsertionPointToStart(branch.elseBlock());
  }
  if (packsRhs) {
    Value packed = allocate(kernel.packedRhs(k));
    packInParts(b, rhs, packed, 0, 1,
                k / cast<MemRefType>(packed.getType()).getDimSize(1), partDepth,
                [&](Value src, Value dst) { kernel.packRhs(src, dst); });
    rhs = packed;
  }
  kernel.multiply(lhs, rhs, acc, depth, allocate, {}, wanted, first);
}

namespace {

/// Where the dimensions of a product stand in an operand: in order, or with the
/// last two exchanged.
enum class Order { Straight, Swapped, Other };

Order orderOf(AffineMap map, ArrayRef<unsigned> straight) {
  if (map.getNumResults() != straight.size() || !map.isProjectedPermutation())
    return Order::Other;
  SmallVector<unsigned> positions;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    positions.push_back(map.getDimPosition(i));
  if (ArrayRef<unsigned>(positions) == straight)
    return Order::Straight;
  std::swap(positions[positions.size() - 1], positions[positions.size() - 2]);
  return ArrayRef<unsigned>(positions) == straight ? Order::Swapped
                                                   : Order::Other;
}

} // namespace

FailureOr<MatmulForm> MatmulForm::of(linalg::LinalgOp op,
                                     const EmitTarget &target) {
  MatmulForm form;
  form.isBatch = isa<linalg::BatchMatmulOp>(op);
  if (!form.isBatch && !isa<linalg::MatmulOp>(op))
    return op.emitError("is no matrix product that a CPU has loops for: "
                        "expected linalg.matmul or linalg.batch_matmul");
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned first = form.isBatch ? 1 : 0, rows = first, columns = first + 1,
           depth = first + 2;
  auto dims = [&](unsigned x, unsigned y) {
    return form.isBatch ? SmallVector<unsigned>{0, x, y}
                        : SmallVector<unsigned>{x, y};
  };
  Order lhsOrder = orderOf(maps[0], dims(rows, depth)),
        rhsOrder = orderOf(maps[1], dims(depth, columns));
  if (lhsOrder == Order::Other || rhsOrder == Order::Other ||
      orderOf(maps[2], dims(rows, columns)) != Order::Straight)
    return op.emitError("the operands of a matrix product may be transposed, "
                        "but not broadcast: expected an operand for "
                        "each element");
  form.swapsLhs = lhsOrder == Order::Swapped;
  form.swapsRhs = rhsOrder == Order::Swapped;
  form.settings.target = target;
  form.settings.wantsShortChains = op->hasAttr(linalg_ext::kShortSumsAttr);
  op->getRegion(0).walk(
      [&](arith::ExtUIOp) { form.settings.isUnsigned = true; });
  return form;
}

LogicalResult tilebridge::cpu::emitMatmul(Emitter &emitter,
                                          linalg::LinalgOp op) {
  FailureOr<MatmulForm> form = MatmulForm::of(op, emitter.target());
  if (failed(form))
    return failure();
  // What is not wanted of the operands need not be there.
  unsigned rows = form->isBatch ? 1 : 0;
  Value wanted = emitter.wantedEnd(op->getResult(0), rows),
        columnsEnd = emitter.wantedEnd(op->getResult(0), rows + 1);
  bool isTail = false;
  Value depthEnd = emitter.stepsOf(op, isTail);
  Value lhs = emitter.viewOf(op.getDpsInputs()[0]),
        rhs = emitter.viewOf(op.getDpsInputs()[1]);
  if (!lhs || !rhs)
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), emitter.builder());
  auto sums = cast<RankedTensorType>(op->getResult(0).getType());
  auto lhsType = cast<MemRefType>(lhs.getType());
  MatmulKernel kernel(
      b, lhsType.getElementType(), getElementTypeOrSelf(rhs.getType()),
      MemRefType::get(sums.getShape().take_back(2), sums.getElementType()),
      lhsType.getShape().take_back(2)[form->swapsLhs ? 0 : 1], form->settings);
  bool isZero = false;
  Value acc = emitter.accumulate(op.getDpsInits()[0], op->getResult(0),
                                 kernel.mayBeginAtZero() ? &isZero : nullptr);
  if (!acc)
    return failure();
  Value ahead = wanted ? emitter.bytesToNext(op.getDpsInputs()[1]) : Value();
  auto allocate = allocateAt(emitter, b);
  auto emitOne = [&](Value left, Value right, Value sum) {
    if (form->swapsLhs)
      left = swapDims(b, left);
    if (form->swapsRhs)
      right = swapDims(b, right);
    emitMatmulLoops(b, left, right, sum, form->settings, allocate, isZero,
                    wanted, ahead, columnsEnd, depthEnd, isTail);
    if (wanted)
      clearShortRows(b, sum, wanted);
    if (isZero && columnsEnd)
      clearColumns(b, sum, wanted, columnsEnd);
  };
  if (!form->isBatch) {
    emitOne(lhs, rhs, acc);
    return success();
  }
  emitLoop(b, cast<MemRefType>(acc.getType()).getDimSize(0), 1,
           [&](Value batch) {
             emitOne(sliceOf(b, lhs, batch), sliceOf(b, rhs, batch),
                     sliceOf(b, acc, batch));
           });
  return success();
}

std::function<Value(MemRefType)>
tilebridge::cpu::allocateAt(Emitter &emitter, ImplicitLocOpBuilder &b) {
  return [&emitter, &b](MemRefType type) {
    OpBuilder::InsertionGuard guard(emitter.builder());
    emitter.builder().setInsertionPoint(b.getInsertionBlock(),
                                        b.getInsertionPoint());
    return emitter.allocate(type);
  };
}
