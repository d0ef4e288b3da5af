//===- MatmulLoop.cpp - products that a loop adds up ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A loop along K that adds one product of small blocks in each iteration would
// load and store the accumulator as often. Instead its iterations only pack
// their operands, behind those of the iterations before; when there are enough
// steps along K, and in the last iteration, the micro-kernel takes all of them
// at once. The operands are read when the program reads them, whatever they
// are: masked, gathered or computed. They are packed where they come to be: in
// the branches of an `scf.if`, if that is what gives them.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/DirectOperands.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/ShareOperands.h"
#include "cpu-backend/emit/Wanted.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// The loops that pack the tensor compute it.
static bool isDirect(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  return op && op->hasAttr(directAttr);
}

/// Nothing of it is read where it lies.
static bool isGathered(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    unsigned i = cast<OpResult>(tensor).getResultNumber();
    return isGathered(branch.thenYield()->getOperand(i)) ||
           isGathered(branch.elseYield()->getOperand(i));
  }
  return isa_and_nonnull<linalg_ext::GatherRowsOp, linalg_ext::GatherOp,
                         linalg_ext::MaskedLoadOp>(op);
}

static bool writesMemory(scf::ForOp loop) {
  return anyInside(loop, [](Operation *op) {
    return op->getNumRegions() == 0 && mayWrite(op);
  });
}

/// Behind the last index along `dim` that somebody sees of the sums of `op`;
/// null if that may be any, or is not known before the loop.
FailureOr<Value> FunctionEmitter::wantedBefore(linalg::MatmulOp op,
                                               unsigned dim, scf::ForOp loop) {
  auto range = dim == 0 ? findWantedRows(op) : findWantedColumns(op);
  if (range)
    range = knownBefore(*range, loop);
  if (!range)
    return Value();
  const WantedPart *only = range->only();
  if (only && only->mask && !endsOfMasks.count(only->mask)) {
    Value end = behindLastTrue(only->mask, op.getLoc());
    if (!end)
      return failure();
    endsOfMasks[only->mask] = end;
  }
  auto interval = intervalOf(*range, op.getLoc());
  return interval ? toValue(rewriter, op.getLoc(), interval->second) : Value();
}

/// The products of the loop, with memory for their operands; the first values
/// of what the loop is to carry for them are added to `inits`.
FailureOr<SmallVector<DeepMatmul *>>
FunctionEmitter::openDeepMatmuls(scf::ForOp loop,
                                 SmallVectorImpl<Value> &inits) {
  SmallVector<DeepMatmul *> result;
  // What stays where it lies is read later than the program reads it.
  bool staysSame = !writesMemory(loop);
  for (auto op : loop.getBody()->getOps<linalg::MatmulOp>()) {
    if (!op->hasAttr(deepAttr))
      continue;
    auto form = MatmulForm::of(cast<linalg::LinalgOp>(*op), emitTarget);
    if (failed(form))
      return failure();
    auto product = std::make_shared<DeepMatmul>();
    product->op = op;
    product->form = *form;
    product->form.settings.isInLoop = true;
    if (op->hasAttr(maskedRowsAttr) && !(product->masked = maskedRowsOf(op)))
      return failure();
    auto lhsType = cast<RankedTensorType>(op.getInputs()[0].getType());
    product->depth = lhsType.getDimSize(form->swapsLhs ? 0 : 1);
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    MatmulKernel kernel = product->kernel(b);
    bool shares = canShare(op);
    bool isDirectRhs = isDirect(packedValue(op)),
         mayWait = !isDirectRhs && staysSame;
    product->isSwapped = op->hasAttr(swappedAttr);
    product->isByColumns = !product->masked && !product->isSwapped &&
                           hasGatheredColumns(*product, kernel);
    bool hasRowTiles = !product->masked && staysSame && !form->swapsLhs &&
                       readsRowTiles(*product);
    mayWait &= !product->masked && !product->isByColumns &&
               !product->isSwapped && !hasRowTiles;
    int64_t cached = product->isSwapped
                         ? product->swappedKernel(b).cachedDepth()
                         : kernel.cachedDepth();
    product->capacity = cached / product->depth * product->depth;
    int64_t most = mayWait ? rowsWithColumns(*product, loop) : 0;
    product->hasColumns = most > 0;
    // Where a block has few rows, b is often multiplied where it lies, however
    // long its rows are.
    constexpr int64_t fewRows = 16;
    bool hasWideRows = mayWait && !most && !form->swapsRhs &&
                       lhsType.getDimSize(form->swapsLhs ? 1 : 0) <= fewRows &&
                       kernel.rowsWithWideRows() > 0;
    bool isAlways =
        shares || isDirectRhs || most > 0 || hasWideRows || product->isSwapped;
    if (isAlways)
      product->capacity = std::max(product->capacity, product->depth);
    if (!isAlways && product->capacity < 2 * product->depth)
      continue;
    product->isClose = !isDirectRhs && !product->masked && !hasRowTiles &&
                       !most && !hasWideRows && isGathered(op.getInputs()[0]) &&
                       findPartialSteps(*form, op);
    product->depthAlone =
        product->hasColumns ? kernel.depthWithColumns() : product->depth;
    product->lhs = product->lhsMemory = allocate(product->typeOfLhs(b));
    for (unsigned dim = product->masked ? 1 : 0; dim < 2; ++dim) {
      FailureOr<Value> end = wantedBefore(op, dim, loop);
      if (failed(end))
        return failure();
      (dim == 0 ? product->wanted : product->columnsEnd) = *end;
    }
    if (shares && failed(openSharing(*product)))
      return failure();
    if (!product->shared)
      product->rhs = allocate(product->typeOfRhs(b));
    if (product->isSwapped)
      product->swappedSums = allocate(product->typeOfSwappedSums());
    if (isDirectRhs && !product->isSwapped && !hasRowTiles &&
        bufferFor(op.getDpsInits()[0]) == bufferFor(op->getResult(0)))
      product->isDirectRow = findDirectRow(b, *product);
    if (product->isDirectRow && product->shared)
      product->shared->isKept = arith::AndIOp::create(
          b, product->shared->isKept,
          arith::XOrIOp::create(b, product->isDirectRow,
                                arith::ConstantIntOp::create(b, 1, 1)));
    bool mayStay = staysSame && !product->masked && !product->isSwapped;
    if (hasRowTiles)
      product->rowTiles = allocate(product->typeOfRowTiles(b));
    else if (kernel.readsRowsOf(lhsType.getElementType()) && mayStay &&
             !product->isByColumns && !product->isClose)
      product->place = allocate(product->typeOfPlace(b));
    Type rhsElement = getElementTypeOrSelf(op.getInputs()[1].getType());
    if (mayWait && !most && product->wanted && !product->form.swapsRhs &&
        !product->isClose)
      most = kernel.rowsWithWideRows();
    if (most)
      openWideRows(*product, most);
    if (mayStay)
      openStores(*product, loop);
    kernel.report(lhsType.getElementType(), rhsElement, product->leftText(),
                  product->rightPlace ? "where it lies for few rows, or packed"
                                      : "packed",
                  product->capacity);
    inits.push_back(arith::ConstantIndexOp::create(b, 0));
    result.push_back(product.get());
    deepMatmuls[op] = product;
    for (auto [i, operand] : llvm::enumerate(op.getInputs()))
      if (isPackedInBranches(operand, op)) {
        packedInBranches[operand] = {product.get(), i == 0};
        if (shares && i == 1)
          packInner(operand, product.get());
      }
  }
  // Panels of all products come first: there are few words.
  for (DeepMatmul *product : result)
    if (product->hasColumns)
      openKeptRows(*product);
  return result;
}

/// `operand` is what a branch of the same block chooses, for `op` alone.
bool FunctionEmitter::isPackedInBranches(Value operand, Operation *op) {
  Operation *branch = operand.getDefiningOp();
  return branch && isa<scf::IfOp, scf::IndexSwitchOp>(branch) &&
         branch->getBlock() == op->getBlock() && operand.hasOneUse() &&
         !isBool(operand);
}

/// The branch that packs gives what an inner one chooses: that packs.
void FunctionEmitter::packInner(Value operand, DeepMatmul *product) {
  auto branch = operand.getDefiningOp<scf::IfOp>();
  Operation *yield = branch.thenBlock()->getTerminator();
  if (isPackedInBranches(yield->getOperand(0), yield))
    packedInBranches[yield->getOperand(0)] = {product, false};
}

/// At the start of the new loop's body.
void FunctionEmitter::enterDeepMatmuls(ArrayRef<DeepMatmul *> products,
                                       scf::ForOp loop) {
  if (products.empty())
    return;
  Location loc = loop.getLoc();
  // As numbers without a sign, the distance is right whatever the bounds are.
  Value left = arith::SubIOp::create(rewriter, loc, loop.getUpperBound(),
                                     loop.getInductionVar());
  Value isLast = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ule,
                                       left, loop.getStep());
  for (auto [product, filled] : llvm::zip_equal(
           products, loop.getRegionIterArgs().take_back(products.size()))) {
    product->filled = filled;
    product->isLast = isLast;
    if (product->shared || product->beginsAtZero)
      product->total = filled;
    ImplicitLocOpBuilder b(loc, rewriter);
    product->enter(b);
    if (product->shared)
      enterSharing(*product);
    product->ownSteps = {};
    if (!product->isClose)
      continue;
    product->ownSteps = arith::ConstantIndexOp::create(b, product->depth);
    if (Value end = product->form.endOfSteps(
            b, product->op, [&](Value value) { return recomputed(b, value); }))
      product->ownSteps =
          product->kernelOfSteps(b).wholeSteps(end, product->depth);
  }
}

/// Packs `tensor`, an operand of the product.
LogicalResult FunctionEmitter::packDeep(const DeepMatmul &product, bool isLhs,
                                        Value tensor) {
  // The branch for what is packed already.
  if (tensor.getDefiningOp<tensor::EmptyOp>())
    return success();
  if (!isLhs && isDirect(tensor))
    return packDirect(product, tensor);
  if (isLhs && product.masked)
    return packMaskedRows(product);
  if (product.isSwapped)
    return packSwapped(product, isLhs, tensor);
  if (isLhs && product.isByColumns)
    return packByColumns(product, tensor);
  if (isLhs)
    if (auto isDone = packGatheredRows(product, tensor);
        failed(isDone) || *isDone)
      return LogicalResult(isDone);
  if (isLhs && product.wanted && !product.form.swapsLhs) {
    bool hasFailed = false;
    if (placeWanted(product, tensor, hasFailed))
      return failure(hasFailed);
  }
  ImplicitLocOpBuilder b(product.op->getLoc(), rewriter);
  // What is not a load lies in memory that the next iteration overwrites.
  bool isLoad = viewOfLoad(tensor) != nullptr;
  Value view = viewOf(tensor, product.endsOfCopy(b, isLhs));
  if (!view)
    return failure();
  b.setInsertionPoint(rewriter.getInsertionBlock(),
                      rewriter.getInsertionPoint());
  MatmulKernel kernel = product.kernel(b);
  Value isWhole;
  if (isLoad)
    isWhole = arith::ConstantIntOp::create(b, 1, 1);
  else if (auto choice = view.getDefiningOp<arith::SelectOp>())
    isWhole = choice.getCondition();
  if (isLhs ? product.form.swapsLhs : product.form.swapsRhs)
    view = swapDims(b, view);
  auto packLhs = [&] {
    auto type = cast<MemRefType>(view.getType());
    if (!product.wanted || type.getStridesAndOffset().first[1] != 1)
      return kernel.packLhs(view, product.lhs, product.filled);
    Value depth = arith::ConstantIndexOp::create(b, product.depth);
    kernel.packRows(rowsOf(b, view), type.getElementType(), product.lhs,
                    product.filled, depth, product.depth, product.wanted);
  };
  if (isLhs && product.place)
    placeRows(b, product, view, isWhole, packLhs);
  else if (!isLhs && product.rightPlace)
    placeWideRows(b, product, view, isWhole, mayStay(b, product, tensor));
  else if (isLhs && !product.ownSteps)
    packLhs();
  else
    product.packSteps(b, view, isLhs ? 1 : 0, [&](Value part, Value at) {
      isLhs ? kernel.packLhs(part, product.lhs, at)
            : kernel.packRhs(part, product.rhs, at);
    });
  return success();
}

LogicalResult FunctionEmitter::emitDeepMatmul(DeepMatmul &product) {
  linalg::MatmulOp op = product.op;
  for (auto [i, operand] : llvm::enumerate(op.getInputs()))
    if (!packedInBranches.count(operand) && !(i == 0 && product.isLeftPlaced) &&
        failed(packDeep(product, i == 0, operand)))
      return failure();
  Value acc = accumulate(op.getDpsInits()[0], op->getResult(0));
  if (!acc)
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value own = product.ownSteps ? product.ownSteps : index(product.depth),
        filled = arith::AddIOp::create(b, product.filled, own);
  Value isDue = product.isDue(b, filled);
  if (product.total)
    product.next = product.totalBehind(b, own, isDue);
  else
    product.next = arith::SelectOp::create(b, isDue, index(0), filled);
  // A single row has been multiplied.
  if (product.isDirectRow)
    isDue = arith::AndIOp::create(
        b, isDue,
        arith::XOrIOp::create(b, product.isDirectRow,
                              arith::ConstantIntOp::create(b, 1, 1)));
  auto branch = scf::IfOp::create(b, isDue, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  if (product.rightPlace) {
    multiplyWideRows(b, product, acc, filled, allocateAt(*this, b));
    return success();
  }
  RowsInMemory rows = product.rowsInPlace(b);
  Value isFirst, steps = filled;
  auto known = [&](Value value) { return recomputed(b, value); };
  if (!product.ownSteps)
    if (Value end = product.form.endOfSteps(b, op, known))
      steps = arith::AddIOp::create(
          b, product.filled,
          product.kernelOfSteps(b).wholeSteps(end, product.depth));
  if (product.masked) {
    multiplyMaskedPanels(b, product, acc, steps, allocateAt(*this, b));
    return success();
  }
  if (product.beginsAtZero)
    isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, product.total,
                                    index(product.capacity));
  if (product.isSwapped)
    multiplySwapped(b, product, acc, steps, isFirst, allocateAt(*this, b));
  else
    multiplyPanels(b, product, acc, rows, steps, isFirst, allocateAt(*this, b));
  return success();
}

/// Behind the loop.
void FunctionEmitter::closeDeepMatmuls(ArrayRef<DeepMatmul *> products) {
  for (DeepMatmul *product : products)
    if (product->shared)
      closeSharing(*product);
}

/// What a branch of `op` asks instead of its condition, if anything (else
/// null). A row of a that is multiplied there is placed before.
FailureOr<Value> FunctionEmitter::conditionOfPacking(Operation *op) {
  if (!op->hasAttr(sharedAttr))
    return Value();
  auto it = packedInBranches.find(op->getResult(0));
  if (it == packedInBranches.end())
    return Value();
  DeepMatmul &product = *it->second.first;
  Value left = product.op.getInputs()[0];
  if (product.isDirectRow && !packedInBranches.count(left)) {
    if (failed(packDeep(product, /*isLhs=*/true, left)))
      return failure();
    product.isLeftPlaced = true;
  }
  return product.shared ? product.shared->packs : Value();
}

/// At the end of a branch: what it chooses for products is packed.
LogicalResult FunctionEmitter::packInBranch(ValueRange from, ValueRange to) {
  for (auto [value, result] : llvm::zip_equal(from, to))
    if (auto it = packedInBranches.find(result);
        it != packedInBranches.end() && !packedInBranches.count(value))
      if (failed(packDeep(*it->second.first, it->second.second, value)))
        return failure();
  return success();
}
