//===- Pieces.cpp - ops on buffers that are farther away ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/spill/Pieces.h"

#include "accel-backend/plan/spill/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilebridge::accel;

bool Pieces::isFar(Value value) const {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.getMemorySpace() == far;
}

Value Pieces::allocate(OpBuilder &builder, Location loc,
                       ArrayRef<int64_t> shape, Type element) {
  auto type =
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), local);
  return AllocOp::create(builder, loc, TypeRange(type), IntegerAttr(),
                         IntegerAttr())
      .getMemref();
}

void Pieces::copy(OpBuilder &builder, Location loc, Value from, Value to) {
  CopyOp::create(builder, loc, TypeRange(), from, to, Value(), uint64_t(0),
                 false, ValueRange(), Value(), Value(), CombiningKindAttr(),
                 DenseI64ArrayAttr());
}

Value Pieces::fetch(OpBuilder &builder, Location loc, Nest &nest, Value block,
                    ArrayRef<OpFoldResult> begin, ArrayRef<OpFoldResult> count,
                    ArrayRef<int64_t> shape) {
  Value part = nest.part(block, begin, count);
  Value buffer = allocate(builder, loc, shape,
                          cast<MemRefType>(block.getType()).getElementType());
  if (isFar(block))
    copy(builder, loc, part, buffer);
  else
    linalg::CopyOp::create(builder, loc, part, buffer);
  return buffer;
}

// The next smaller size that divides all of a dimension.
static int64_t smaller(int64_t all, int64_t size) {
  for (size /= 2; size > 1; --size)
    if (all % size == 0)
      break;
  return std::max<int64_t>(size, 1);
}

SmallVector<int64_t> Pieces::sizesFor(ArrayRef<int64_t> shape,
                                      uint64_t bytesOfElement) const {
  SmallVector<int64_t> sizes(shape);
  // Outer dimensions first: what is contiguous stays so.
  for (auto [dimension, size] : llvm::enumerate(sizes))
    while (size > 1 &&
           uint64_t(ShapedType::getNumElements(sizes)) * bytesOfElement >
               budget)
      size = smaller(shape[dimension], size);
  return sizes;
}

static uint64_t bytesOfElement(Type block) {
  return llvm::divideCeil(cast<ShapedType>(block).getElementTypeBitWidth(), 8);
}

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

// The iterators along which an operand can be cut; none where it is read in
// another way than position by position.
static std::optional<SmallVector<unsigned>> iteratorsOf(AffineMap map) {
  if (!map.isProjectedPermutation())
    return std::nullopt;
  SmallVector<unsigned> iterators;
  for (AffineExpr expr : map.getResults())
    iterators.push_back(cast<AffineDimExpr>(expr).getPosition());
  return iterators;
}

// Positions in a piece become those in the block.
static void shiftIndices(linalg::LinalgOp op, ArrayRef<OpFoldResult> offsets) {
  SmallVector<linalg::IndexOp> indices;
  op->walk([&](linalg::IndexOp index) { indices.push_back(index); });
  for (linalg::IndexOp index : indices) {
    OpFoldResult offset = offsets[index.getDim()];
    if (isConstantIntValue(offset, 0))
      continue;
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(index);
    Location loc = index.getLoc();
    auto sum = arith::AddIOp::create(
        builder, loc, index.getResult(),
        getValueOrCreateConstantIndexOp(builder, loc, offset));
    index->getResult(0).replaceAllUsesExcept(sum, sum);
  }
}

bool Pieces::rewriteLinalg(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!op.hasPureBufferSemantics() ||
      llvm::any_of(ranges, ShapedType::isDynamic))
    return false;
  SmallVector<bool> isKept(ranges.size(), false);
  SmallVector<SmallVector<unsigned>> iterators;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    std::optional<SmallVector<unsigned>> own = iteratorsOf(map);
    for (unsigned d = 0; !own && d < ranges.size(); ++d)
      isKept[d] = isKept[d] || map.isFunctionOfDim(d);
    if (!own && isFar(operand.get()))
      return false;
    iterators.push_back(own.value_or(SmallVector<unsigned>()));
  }

  SmallVector<int64_t> sizes(ranges);
  auto bytesOf = [&](unsigned number) {
    uint64_t bytes = bytesOfElement(op->getOperand(number).getType());
    for (unsigned iterator : iterators[number])
      bytes *= uint64_t(sizes[iterator]);
    return bytes;
  };
  SmallVector<unsigned> farOperands;
  for (OpOperand &operand : op->getOpOperands())
    if (isFar(operand.get()))
      farOperands.push_back(operand.getOperandNumber());
  bool isProduct = linalg::isaContractionOpInterface(op);
  auto total = [&] {
    uint64_t sum = 0;
    for (unsigned number : farOperands)
      sum += bytesOf(number);
    return sum;
  };
  while (total() > budget) {
    unsigned largest =
        *llvm::max_element(farOperands, [&](unsigned a, unsigned b) {
          return bytesOf(a) < bytesOf(b);
        });
    // Rows stay whole, but for products, which want squares.
    std::optional<unsigned> best;
    for (unsigned d : iterators[largest])
      if (!isKept[d] && sizes[d] > 1 &&
          (!best || (isProduct && sizes[d] > sizes[*best])))
        best = d;
    if (!best)
      break;
    sizes[*best] = smaller(ranges[*best], sizes[*best]);
  }

  // What is summed up is inside, so that sums stay where they are.
  SmallVector<PieceLoop> loops;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (bool isParallel : {true, false})
    for (unsigned d = 0; d < ranges.size(); ++d)
      if (sizes[d] < ranges[d] &&
          (kinds[d] == utils::IteratorType::parallel) == isParallel)
        loops.push_back({int64_t(d), sizes[d]});

  OpBuilder builder(op);
  Location loc = op.getLoc();
  Nest nest(builder, loc);
  SmallVector<OpFoldResult> offsets(ranges.size(), builder.getIndexAttr(0));
  SmallVector<Value> operands(op->getNumOperands());
  // Each operand is cut where the last of its loops begins.
  auto place = [&](unsigned depth) {
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (!type) {
        operands[number] = operand.get();
        continue;
      }
      unsigned last = 0;
      for (auto [at, loop] : llvm::enumerate(loops))
        if (llvm::is_contained(iterators[number], unsigned(loop.dimension)))
          last = at + 1;
      if (last != depth)
        continue;
      SmallVector<OpFoldResult> low, count;
      SmallVector<int64_t> shape;
      for (unsigned iterator : iterators[number]) {
        low.push_back(offsets[iterator]);
        count.push_back(builder.getIndexAttr(sizes[iterator]));
        shape.push_back(sizes[iterator]);
      }
      bool isWhole = last == 0;
      Value part =
          isWhole ? operand.get() : nest.part(operand.get(), low, count);
      if (!isFar(operand.get())) {
        operands[number] = part;
        continue;
      }
      Value buffer = allocate(builder, loc, shape, type.getElementType());
      bool isOut = op.isDpsInit(&operand);
      if (!isOut || op.payloadUsesValueFromOperand(&operand))
        copy(builder, loc, part, buffer);
      if (isOut)
        nest.atEnd([this, loc, buffer, part](OpBuilder &at) {
          copy(at, loc, buffer, part);
        });
      operands[number] = buffer;
    }
  };
  place(0);
  for (auto [at, loop] : llvm::enumerate(loops)) {
    offsets[loop.dimension] = nest.open(ranges[loop.dimension], loop.size);
    place(at + 1);
  }
  auto inner = cast<linalg::LinalgOp>(
      mlir::clone(builder, op.getOperation(), TypeRange(), operands));
  shiftIndices(inner, offsets);
  nest.close();
  op.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Everything else
//===----------------------------------------------------------------------===//

// Ops that do the same to each element of blocks of one shape.
bool Pieces::rewriteElements(Operation *op) {
  if (!isa<AtomicOp, ReduceLineOp>(op))
    return false;
  auto isBlock = [&](OpOperand &operand) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    return type && type.getMemorySpace();
  };
  ArrayRef<int64_t> shape;
  uint64_t bytes = 0;
  for (OpOperand &operand : op->getOpOperands())
    if (isBlock(operand)) {
      shape = cast<MemRefType>(operand.get().getType()).getShape();
      if (isFar(operand.get()))
        bytes += bytesOfElement(operand.get().getType());
    }
  if (ShapedType::isDynamicShape(shape))
    return false;
  SmallVector<int64_t> sizes = sizesFor(shape, bytes);
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Nest nest(builder, loc);
  SmallVector<OpFoldResult> low(shape.size(), builder.getIndexAttr(0)), count;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    if (size < shape[d])
      low[d] = nest.open(shape[d], size);
    count.push_back(builder.getIndexAttr(size));
  }
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isBlock(operand))
      continue;
    Value part = nest.part(operand.get(), low, count);
    if (!isFar(operand.get())) {
      mapping.map(operand.get(), part);
      continue;
    }
    if (mapping.contains(operand.get()))
      continue;
    auto type = cast<MemRefType>(operand.get().getType());
    Value buffer = allocate(builder, loc, sizes, type.getElementType());
    auto atomic = dyn_cast<AtomicOp>(op);
    bool isOut = !atomic || operand.get() == atomic.getOld();
    if (!atomic || !isOut)
      copy(builder, loc, part, buffer);
    if (isOut)
      nest.atEnd([this, loc, buffer, part](OpBuilder &at) {
        copy(at, loc, buffer, part);
      });
    mapping.map(operand.get(), buffer);
  }
  builder.clone(*op, mapping);
  nest.close();
  op->erase();
  return true;
}

// One element, through a buffer of one element.
void Pieces::rewriteScalar(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  bool isLoad = isa<memref::LoadOp>(op);
  Value memref = isLoad ? cast<memref::LoadOp>(op).getMemref()
                        : cast<memref::StoreOp>(op).getMemref();
  auto indices = isLoad ? cast<memref::LoadOp>(op).getIndices()
                        : cast<memref::StoreOp>(op).getIndices();
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> ones(type.getRank(), 1);
  Value buffer = allocate(builder, loc, ones, type.getElementType());
  SmallVector<OpFoldResult> low = getAsOpFoldResult(indices);
  SmallVector<OpFoldResult> count(type.getRank(), builder.getIndexAttr(1));
  Nest nest(builder, loc);
  Value part = type.getRank() ? nest.part(memref, low, count) : memref;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> first(type.getRank(), zero);
  if (isLoad) {
    copy(builder, loc, part, buffer);
    op->getResult(0).replaceAllUsesWith(
        memref::LoadOp::create(builder, loc, buffer, first));
  } else {
    memref::StoreOp::create(builder, loc, cast<memref::StoreOp>(op).getValue(),
                            buffer, first);
    copy(builder, loc, buffer, part);
  }
  op->erase();
}

void Pieces::rewriteWhole(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  llvm::SmallMapVector<Value, Value, 4> buffers;
  SmallVector<std::pair<Value, Value>> written;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isFar(value))
      continue;
    bool isRead = true, isWritten = false;
    if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
      isWritten = style.isDpsInit(&operand);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      isRead = !isWritten || linalgOp.payloadUsesValueFromOperand(&operand);
    // What is in an out that the body does not use is undefined.
    if (auto compute = dyn_cast<ComputeOp>(op))
      isRead = !isWritten || !compute.getBody()
                                  .getArgument(operand.getOperandNumber())
                                  .use_empty();
    if (auto reduce = dyn_cast<ReduceLineOp>(op))
      isWritten = true;
    auto type = cast<MemRefType>(value.getType());
    Value &buffer = buffers[value];
    bool isNew = !buffer;
    if (isNew)
      buffer = allocate(builder, loc, type.getShape(), type.getElementType());
    if (isRead && isNew)
      copy(builder, loc, value, buffer);
    if (isWritten)
      written.push_back({buffer, value});
    operand.set(buffer);
  }
  builder.setInsertionPointAfter(op);
  for (auto [buffer, value] : written)
    copy(builder, loc, buffer, value);
}

void Pieces::rewrite(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    if (rewriteLinalg(linalgOp))
      return;
  if (auto transfer = dyn_cast<CopyOp>(op))
    if (rewriteLoad(transfer) || rewriteStore(transfer))
      return;
  if (isa<memref::LoadOp, memref::StoreOp>(op))
    return rewriteScalar(op);
  if (auto compute = dyn_cast<ComputeOp>(op))
    if (rewriteScan(compute) || rewriteHistogram(compute))
      return;
  if (!rewriteElements(op))
    rewriteWhole(op);
}
