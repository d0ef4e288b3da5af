//===- Legalize.cpp - one descriptor for each copy ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A transfer that has become several keeps one token: each waits for the one
// before after it was itself started, and the last one is what the program
// waits for.
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/Descriptor.h"
#include "accel-backend/plan/KernelLaunch.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELLEGALIZEPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;

namespace {
/// The operands of accel.copy and accel.copy_start.
struct Operands {
  Value source, dest, rows, mask, pad;
  SmallVector<Value> low;
  int64_t dim = 0;
  bool scatter = false;
  CombiningKindAttr accumulate;
  DenseI64ArrayAttr multicast;
};

class Legalizer {
public:
  Legalizer(Operation *op, const Operands &operands, const DmaEngine &engine)
      : builder(op), loc(op->getLoc()), isStart(isa<CopyStartOp>(op)),
        operands(operands), engine(engine) {}

  bool isLegal() const;
  /// Writes the parts before the transfer; the token of the last one, null
  /// for a copy that waits.
  Value run();

private:
  void fillDest();
  void placeBox();
  Value copyRows(Value token);
  /// `mask`: of elements, null where all take part.
  Value copyBox(Value source, Value dest, Value mask, ArrayRef<int64_t> most,
                Value token);
  Value copyOne(Value source, Value dest, Value mask, Value token);
  Value loop(Value end, int64_t step, Value token,
             llvm::function_ref<Value(Value index, Value token)> body);
  Value sizeOf(Value memref, int64_t dimension) {
    return getValueOrCreateConstantIndexOp(
        builder, loc, memref::getMixedSize(builder, loc, memref, dimension));
  }
  Value part(Value memref, int64_t dimension, OpFoldResult offset,
             OpFoldResult size);

  OpBuilder builder;
  Location loc;
  bool isStart;
  Operands operands;
  const DmaEngine &engine;
};
} // namespace

template <typename TransferT> static Operands operandsOf(TransferT op) {
  return {op.getSource(),       op.getDest(),    op.getRows(),
          op.getMask(),         op.getPad(),     llvm::to_vector(op.getLow()),
          int64_t(op.getDim()), op.getScatter(), op.getAccumulateAttr(),
          op.getMulticastAttr()};
}

// Whether the box is as large as the block.
static bool isFullBox(const Operands &operands) {
  auto source = cast<MemRefType>(operands.source.getType());
  auto dest = cast<MemRefType>(operands.dest.getType());
  return !operands.rows && !operands.mask && source.hasStaticShape() &&
         source.getShape() == dest.getShape();
}

// Whether nothing is moved; what is indexed bounds nothing.
static bool isEmptyBox(const Operands &operands) {
  auto isEmpty = [&](Value memref, bool isIndexed) {
    ArrayRef<int64_t> shape = cast<MemRefType>(memref.getType()).getShape();
    for (auto [d, size] : llvm::enumerate(shape))
      if (size == 0 && !(isIndexed && int64_t(d) == operands.dim))
        return true;
    return false;
  };
  return isEmpty(operands.source, operands.rows && !operands.scatter) ||
         isEmpty(operands.dest, operands.rows && operands.scatter);
}

bool Legalizer::isLegal() const {
  return isOneDescriptor(operands.source, operands.dest, operands.rows,
                         operands.dim, operands.pad != nullptr, engine);
}

Value Legalizer::part(Value memref, int64_t dimension, OpFoldResult offset,
                      OpFoldResult size) {
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, memref);
  offsets[dimension] = offset;
  sizes[dimension] = size;
  return memref::SubViewOp::create(builder, loc, memref, offsets, sizes,
                                   strides);
}

Value Legalizer::loop(
    Value end, int64_t step, Value token,
    llvm::function_ref<Value(Value index, Value token)> body) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value by = arith::ConstantIndexOp::create(builder, loc, step);
  SmallVector<Value, 1> carried;
  if (token)
    carried.push_back(token);
  auto loop = scf::ForOp::create(builder, loc, zero, end, by, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(),
                    token ? loop.getRegionIterArgs().front() : Value());
  if (token) {
    builder.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(builder, loc, next);
  }
  return token ? loop.getResult(0) : Value();
}

Value Legalizer::copyOne(Value source, Value dest, Value mask, Value token) {
  if (!isStart) {
    CopyOp::create(builder, loc, TypeRange(), source, dest, Value(),
                   uint64_t(0), false, ValueRange(), Value(), mask,
                   operands.accumulate, operands.multicast);
    return nullptr;
  }
  // Parts that may be to the same elements stay in their order.
  bool isOrdered = operands.scatter;
  if (isOrdered)
    WaitOp::create(builder, loc, token);
  auto start = CopyStartOp::create(
      builder, loc, TokenType::get(builder.getContext()), source, dest, Value(),
      uint64_t(0), false, ValueRange(), Value(), mask, operands.accumulate,
      operands.multicast);
  if (!isOrdered)
    WaitOp::create(builder, loc, token);
  return start.getToken();
}

Value Legalizer::copyBox(Value source, Value dest, Value mask,
                         ArrayRef<int64_t> most, Value token) {
  auto type = cast<MemRefType>(source.getType());
  std::optional<Piece> piece =
      nextPiece(boxOf(type, cast<MemRefType>(dest.getType()), most), engine);
  if (!piece)
    return copyOne(source, dest, mask, token);
  int64_t d = piece->dimension, size = piece->size;
  SmallVector<int64_t> smaller(most);
  smaller[d] = size;
  Value end = sizeOf(source, d);
  int64_t all = type.getDimSize(d);
  bool divides = size == 1 || (!ShapedType::isDynamic(all) && all % size == 0);
  return loop(end, size, token, [&](Value index, Value last) {
    OpFoldResult count = builder.getIndexAttr(size);
    if (!divides) {
      Value rest = arith::SubIOp::create(builder, loc, end, index);
      Value full = arith::ConstantIndexOp::create(builder, loc, size);
      count = arith::MinSIOp::create(builder, loc, rest, full).getResult();
    }
    return copyBox(part(source, d, index, count), part(dest, d, index, count),
                   mask ? part(mask, d, index, count) : Value(), smaller, last);
  });
}

// One row after the other, where its mask is true.
Value Legalizer::copyRows(Value token) {
  int64_t d = operands.dim;
  Value end = sizeOf(operands.rows, 0);
  auto copyRow = [&](Value number, Value last) {
    Value row =
        memref::LoadOp::create(builder, loc, operands.rows, ValueRange{number});
    if (!row.getType().isIndex())
      row =
          arith::IndexCastOp::create(builder, loc, builder.getIndexType(), row);
    OpFoldResult size = builder.getIndexAttr(1);
    Value source =
        part(operands.source, d, operands.scatter ? number : row, size);
    Value dest = part(operands.dest, d, operands.scatter ? row : number, size);
    return copyBox(source, dest, Value(), mostOf(source, dest), last);
  };
  return loop(end, 1, token, [&](Value number, Value last) -> Value {
    if (!operands.mask)
      return copyRow(number, last);
    Value takesPart =
        memref::LoadOp::create(builder, loc, operands.mask, ValueRange{number});
    SmallVector<Type, 1> types;
    if (last)
      types.push_back(last.getType());
    auto branch = scf::IfOp::create(builder, loc, types, takesPart,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/last != nullptr);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value next = copyRow(number, last);
    builder.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(builder, loc, last ? ValueRange(next) : ValueRange());
    if (!last)
      return nullptr;
    builder.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(builder, loc, last);
    return branch.getResult(0);
  });
}

// Padding by hand: all of the destination, unless the box is as large.
void Legalizer::fillDest() {
  if (!operands.pad)
    return;
  auto source = cast<MemRefType>(operands.source.getType());
  auto dest = cast<MemRefType>(operands.dest.getType());
  if (isFullBox(operands))
    return;
  auto fill = [&] {
    linalg::FillOp::create(builder, loc, operands.pad, operands.dest);
  };
  if (operands.rows || operands.mask)
    return fill();
  Value isSmaller;
  for (int64_t d = 0; d < dest.getRank(); ++d) {
    if (source.getDimSize(d) == dest.getDimSize(d) && !source.isDynamicDim(d))
      continue;
    Value less = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       sizeOf(operands.source, d),
                                       sizeOf(operands.dest, d));
    isSmaller = isSmaller
                    ? Value(arith::OrIOp::create(builder, loc, isSmaller, less))
                    : less;
  }
  auto branch = scf::IfOp::create(builder, loc, isSmaller,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  fill();
}

// The box of the destination that the source's elements go to.
void Legalizer::placeBox() {
  if (isFullBox(operands))
    return;
  SmallVector<OpFoldResult> offsets;
  int64_t rank = cast<MemRefType>(operands.dest.getType()).getRank();
  for (int64_t d = 0; d < rank; ++d)
    offsets.push_back(operands.low.empty()
                          ? OpFoldResult(builder.getIndexAttr(0))
                          : getAsOpFoldResult(operands.low[d]));
  SmallVector<OpFoldResult> sizes =
      memref::getMixedSizes(builder, loc, operands.source);
  SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
  // Rows that are gathered are as many as there are indices.
  if (operands.rows && !operands.scatter)
    sizes[operands.dim] = memref::getMixedSize(builder, loc, operands.rows, 0);
  if (operands.rows && operands.scatter)
    sizes[operands.dim] =
        memref::getMixedSize(builder, loc, operands.dest, operands.dim);
  operands.dest = memref::SubViewOp::create(builder, loc, operands.dest,
                                            offsets, sizes, strides);
}

Value Legalizer::run() {
  SmallVector<int64_t> most = mostOf(operands.source, operands.dest);
  bool isEmpty = isEmptyBox(operands);
  fillDest();
  if (!isEmpty)
    placeBox();
  Value token;
  if (isStart)
    token =
        CompletedOp::create(builder, loc, TokenType::get(builder.getContext()));
  if (isEmpty)
    return token;
  if (operands.rows)
    return copyRows(token);
  return copyBox(operands.source, operands.dest, operands.mask, most, token);
}

namespace {
struct AccelLegalizePass
    : accel::impl::AccelLegalizePassBase<AccelLegalizePass> {
  void runOnOperation() override {
    FailureOr<std::optional<KernelLaunch>> launch =
        KernelLaunch::of(getOperation());
    if (failed(launch))
      return signalPassFailure();
    if (!*launch)
      return;
    func::FuncOp kernel = (*launch)->kernel;
    SmallVector<Operation *> transfers;
    kernel.walk([&](Operation *op) {
      if (isa<CopyOp, CopyStartOp>(op))
        transfers.push_back(op);
    });
    for (Operation *op : transfers)
      if (failed(legalize(op, (*launch)->target)))
        return signalPassFailure();
    kernel->setAttr("accel.legalized", UnitAttr::get(&getContext()));
  }

  // A cast only hides what is known of sizes and strides.
  static void lookThroughCasts(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      while (auto cast = operand.get().getDefiningOp<memref::CastOp>()) {
        auto type = dyn_cast<MemRefType>(cast.getSource().getType());
        if (!type || !memref::CastOp::canFoldIntoConsumerOp(cast))
          break;
        operand.set(cast.getSource());
      }
  }

  static LogicalResult legalize(Operation *op, const Target &target) {
    if (!isa<MemRefType>(op->getOperand(0).getType()) ||
        !isa<MemRefType>(op->getOperand(1).getType()))
      return success();
    lookThroughCasts(op);
    Operands operands = isa<CopyOp>(op) ? operandsOf(cast<CopyOp>(op))
                                        : operandsOf(cast<CopyStartOp>(op));
    // A box that is as large as the block leaves nothing to be padded.
    if (operands.pad && isFullBox(operands)) {
      operands.pad = nullptr;
      if (auto copy = dyn_cast<CopyOp>(op))
        copy.getPadMutable().clear();
      else
        cast<CopyStartOp>(op).getPadMutable().clear();
    }
    StringRef from = nameOfMemory(operands.source, target);
    StringRef to = nameOfMemory(operands.dest, target);
    const DmaEngine *engine = target.findEngine(from, to);
    if (!engine)
      return op->emitError("no engine of target '")
             << target.name << "' copies from '" << from << "' to '" << to
             << "'";
    if (operands.accumulate &&
        !canAccumulate(*engine, operands.accumulate.getValue()))
      return op->emitError("the engine '")
             << engine->name << "' of target '" << target.name
             << "' does not accumulate '"
             << stringifyCombiningKind(operands.accumulate.getValue())
             << "'; an atomic access does";
    Legalizer legalizer(op, operands, *engine);
    if (legalizer.isLegal())
      return success();
    Value token = legalizer.run();
    if (isa<CopyStartOp>(op))
      op->getResult(0).replaceAllUsesWith(token);
    op->erase();
    return success();
  }
};
} // namespace
