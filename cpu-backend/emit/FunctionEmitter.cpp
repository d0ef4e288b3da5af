//===- FunctionEmitter.cpp - the walk over a function ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/OrderPrograms.h"
#include "cpu-backend/emit/MaskedRows.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "cpu-backend/emit/Roots.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

FunctionEmitter::FunctionEmitter(func::FuncOp oldFunc, EmitTarget target,
                                 Plan &plan)
    : Emitter(oldFunc.getContext(), target), oldFunc(oldFunc), plan(plan) {
  if (target.streamBytes > 0)
    writeOnly = findWriteOnly(oldFunc);
}

int64_t FunctionEmitter::programsAtOnce() const {
  auto count = oldFunc->getAttrOfType<IntegerAttr>(mergedCountAttr);
  return count ? count.getInt() : 1;
}

func::FuncOp FunctionEmitter::run() {
  rewriter.setInsertionPoint(oldFunc);
  auto newFunc = func::FuncOp::create(
      rewriter, oldFunc.getLoc(), oldFunc.getName(), oldFunc.getFunctionType());
  newFunc->setAttrs(oldFunc->getAttrs());
  Block *entry = newFunc.addEntryBlock();
  map.map(oldFunc.getArguments(), entry->getArguments());
  rewriter.setInsertionPointToStart(entry);
  if (!oldFunc.getBody().hasOneBlock()) {
    oldFunc.emitError(
        "has several blocks; the CPU backend expects structured control flow");
    newFunc.erase();
    return {};
  }
  if (failed(emitBlock(oldFunc.getBody().front()))) {
    newFunc.erase();
    return {};
  }
  return newFunc;
}

LogicalResult FunctionEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(&op)))
      return failure();
  if (!isa<func::ReturnOp>(block.getTerminator()))
    return success();
  Operation *ret = block.getTerminator();
  for (Type type : ret->getOperandTypes())
    if (isa<TensorType>(type))
      return ret->emitError(
          "returns a tensor; functions that do must be inlined before");
  rewriter.clone(*ret, map);
  return success();
}

Value FunctionEmitter::mapScalar(Value value) {
  if (Value mapped = map.lookupOrNull(value))
    return mapped;
  Operation *op = value.getDefiningOp();
  // Constants inside of the regions that are taken apart.
  if (op && op->hasTrait<OpTrait::ConstantLike>() &&
      !isa<TensorType>(value.getType()))
    return rewriter.clone(*op)->getResult(0);
  emitError(value.getLoc(),
            "this value is not available where the CPU backend needs it");
  return {};
}

LogicalResult FunctionEmitter::emitOp(Operation *op) {
  switch (kindOf(op)) {
  case OpKind::Control:
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return emitFor(loop);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return emitWhile(loop);
    if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
      return emitBranches(op);
    return op->emitError("is not supported by the CPU backend");
  case OpKind::Scalar:
    for (Value operand : op->getOperands())
      if (!map.contains(operand) && !mapScalar(operand))
        return failure();
    if (!plan.guardedBy(op).empty())
      return emitScalarStore(op);
    rewriter.clone(*op, map);
    return success();
  case OpKind::OwnRoot:
    return emitRoot(op);
  case OpKind::NestRoot:
    break;
  case OpKind::Inlineable:
    if (isa<bufferization::ToTensorOp, tensor::PadOp, tensor::InsertSliceOp>(
            op) &&
        !plan.isBuffer(op->getResult(0)))
      return rememberLoad(op->getResult(0)), success();
    if (isIrregularLoad(op))
      rememberIrregular(op);
    if (isReversal(op))
      rememberReversal(op);
    if (!plan.isBuffer(op->getResult(0)))
      return success();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) &&
        !op->hasAttr(nearAttr))
      return emitReshape(op);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return emitConstant(constant);
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op);
        insert && !matchLoad(insert))
      return emitInsertSlice(insert);
    for (Value result : op->getResults())
      rememberLoad(result);
    break;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  skipIfStored(op);
  ArrayRef<Operation *> group = plan.groupOf(op);
  if (group.empty())
    return emitGroup({op});
  return op == group.back() ? emitGroup(group) : success();
}

/// The address of a load is computed where the load stands.
void FunctionEmitter::rememberLoad(Value tensor) {
  auto load = matchLoad(tensor);
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!load || !type || !type.hasStaticShape())
    return;
  auto view = std::make_unique<View>(
      makeView(rewriter, tensor.getLoc(), mapScalar(load->read.getBuffer()),
               type.getShape(), mapAll(load->low)));
  view->pad = load->pad;
  view->other = load->other;
  NestEmitter::askForTableBlock(*this, *view, tensor.getLoc());
  loads[tensor] = std::move(view);
  readCopies.erase(tensor);
}

/// A load in the opposite order is another view of the same memory.
void FunctionEmitter::rememberReversal(Operation *op) {
  auto gather = cast<linalg_ext::GatherAlongOp>(op);
  auto load = loads.find(gather.getSource());
  // What is outside of a box may be another block, which is not reversed.
  if (load == loads.end() || plan.isBuffer(gather.getSource()) ||
      buffers.count(gather.getSource()) || load->second->other ||
      load->second->rows)
    return;
  auto view = std::make_unique<View>(reversedView(
      rewriter, gather.getLoc(), *load->second, gather.getDimension()));
  loads[gather.getResult()] = std::move(view);
}

SmallVector<OpFoldResult>
FunctionEmitter::mapAll(ArrayRef<OpFoldResult> values) {
  SmallVector<OpFoldResult> result;
  for (OpFoldResult value : values)
    result.push_back(isa<Attribute>(value)
                         ? value
                         : OpFoldResult(mapScalar(cast<Value>(value))));
  return result;
}

LogicalResult FunctionEmitter::emitRoot(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Value> indices;
    for (Value index : extract.getIndices())
      indices.push_back(mapScalar(index));
    Value value = scalarAt(extract.getTensor(), indices);
    if (value)
      map.map(extract.getResult(), value);
    return success(value != nullptr);
  }
  onlyStreams = false;
  if (isa<linalg_ext::ScatterOp>(op))
    return emitScatter(op);
  if (isa<linalg_ext::ScatterRowsOp>(op))
    return emitScatterRows(op);
  if (isAtomic(op))
    return emitAtomic(*this, op);
  if (isa<linalg_ext::ScanOp>(op))
    return emitScan(*this, op);
  if (isa<linalg_ext::HistogramOp>(op))
    return emitHistogram(*this, op);
  if (isa<linalg_ext::PrintOp>(op))
    return emitPrint(*this, op);
  if (isa<linalg_ext::AssertOp>(op))
    return emitAssert(*this, op);
  if (auto it = deepMatmuls.find(op); it != deepMatmuls.end())
    return emitDeepMatmul(*it->second);
  if (op->hasAttr(maskedRowsAttr))
    return emitMaskedMatmul(cast<linalg::MatmulOp>(op));
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return emitMatmul(*this, linalgOp);
  return op->emitError("is not supported by the CPU backend");
}

LogicalResult FunctionEmitter::addOutputs(Operation *op, Nest &nest) {
  if (auto store = matchStore(op)) {
    NestOutput output;
    output.tensor = store->tensor;
    output.isStore = true;
    output.storeLoc = op->getLoc();
    output.isWriteOnly = isWriteOnly(store->write.getDest());
    auto type = cast<RankedTensorType>(store->tensor.getType());
    if (!type.hasStaticShape())
      return op->emitError("stores a tensor whose shape is not static");
    output.view =
        makeView(rewriter, op->getLoc(), mapScalar(store->write.getDest()),
                 type.getShape(), mapAll(store->low));
    nest.outputs.push_back(std::move(output));
    return success();
  }
  if (auto store = dyn_cast<linalg_ext::MaskedStoreOp>(op)) {
    NestOutput output;
    output.tensor = store.getValue();
    output.mask = store.getMask();
    output.isStore = true;
    output.storeLoc = op->getLoc();
    output.view =
        makeView(rewriter, op->getLoc(), mapScalar(store.getView()),
                 cast<RankedTensorType>(store.getValue().getType()).getShape());
    nest.outputs.push_back(std::move(output));
    return success();
  }
  if (kindOf(op) == OpKind::NestRoot) {
    NestOutput output;
    output.reduce = op;
    nest.reduceDims = reduceDimensions(op);
    nest.outputs.push_back(std::move(output));
    for (Value result : op->getResults())
      if (cast<RankedTensorType>(result.getType()).getRank() != 0)
        setBuffer(result, bufferFor(result));
    return success();
  }
  for (Value result : op->getResults()) {
    if (auto product = maskedProductOf(result);
        product && !maskedRowsOf(product))
      return failure();
    NestOutput output;
    output.tensor = result;
    output.buffer = bufferFor(result);
    output.view = makeView(rewriter, op->getLoc(), output.buffer,
                           cast<RankedTensorType>(result.getType()).getShape());
    output.view.isBool = isBool(result);
    nest.outputs.push_back(std::move(output));
  }
  return success();
}

LogicalResult FunctionEmitter::emitGroup(ArrayRef<Operation *> ops) {
  Nest nest{ops.back()->getLoc(), {}, {}, {}};
  SmallVector<GuardedStore, 0> guarded;
  for (Operation *op : ops) {
    auto inPieces = emitGatherBuffer(op);
    if (failed(inPieces))
      return failure();
    if (*inPieces)
      continue;
    if (failed(addOutputs(op, nest)))
      return failure();
    if (!plan.guardedBy(op).empty())
      guarded.push_back({op, nest.outputs.back().view});
  }
  if (nest.outputs.empty())
    return success();
  if (failed(guardReads(guarded)))
    return failure();
  const NestOutput &first = nest.outputs.front();
  Value domain =
      first.reduce ? reduceInputs(first.reduce).front() : first.tensor;
  nest.shape =
      llvm::to_vector(cast<RankedTensorType>(domain.getType()).getShape());
  if (failed(emitGuarded(nest)))
    return failure();
  for (const NestOutput &output : nest.outputs)
    if (output.buffer)
      setBuffer(output.tensor, output.buffer);
  return success();
}

LogicalResult FunctionEmitter::materialize(Value tensor, Value memref) {
  View view = makeView(rewriter, tensor.getLoc(), memref,
                       cast<RankedTensorType>(tensor.getType()).getShape());
  view.isBool = isBool(tensor);
  return materialize(tensor, std::move(view), /*isCold=*/false);
}

LogicalResult FunctionEmitter::materialize(Value tensor, View view, bool isCold,
                                           ArrayRef<Value> ends) {
  Nest nest{tensor.getLoc(), view.shape, {}, {}, isCold};
  nest.ends.assign(ends.begin(), ends.end());
  Operation *op = tensor.getDefiningOp();
  if (op && isa<tensor::EmptyOp, ub::PoisonOp>(op))
    return success();
  NestOutput output;
  output.tensor = tensor;
  output.view = std::move(view);
  nest.outputs.push_back(std::move(output));
  return emitNest(nest);
}

/// The part that is not replaced is in place already where the buffers are one.
LogicalResult FunctionEmitter::emitInsertSlice(tensor::InsertSliceOp op) {
  if (llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticStrides(), ShapedType::isDynamic) ||
      !op.getSourceType().hasStaticShape())
    return op.emitError("a slice of dynamic place or size that is not a load "
                        "is not supported by "
                        "the CPU backend");
  Value buffer = accumulate(op.getDest(), op.getResult());
  if (!buffer)
    return failure();
  Nest nest{
      op.getLoc(), llvm::to_vector(op.getSourceType().getShape()), {}, {}};
  View whole = makeView(rewriter, op.getLoc(), buffer, op.getType().getShape());
  NestOutput output;
  output.tensor = op.getSource();
  output.view = whole;
  output.view.isBool = isBool(op.getResult());
  output.view.shape = nest.shape;
  output.view.strides.clear();
  output.view.lo.assign(nest.shape.size(), rewriter.getIndexAttr(0));
  output.view.hi.clear();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (unsigned d = 0; d < whole.strides.size(); ++d) {
    OpFoldResult stride = whole.strides[d];
    output.view.offset =
        addIndex(rewriter, op.getLoc(), output.view.offset,
                 mulIndex(rewriter, op.getLoc(), stride,
                          rewriter.getIndexAttr(op.getStaticOffset(d))));
    if (!dropped.test(d))
      output.view.strides.push_back(
          mulIndex(rewriter, op.getLoc(), stride,
                   rewriter.getIndexAttr(op.getStaticStride(d))));
  }
  for (int64_t size : nest.shape)
    output.view.hi.push_back(rewriter.getIndexAttr(size));
  nest.outputs.push_back(std::move(output));
  return emitNest(nest);
}

LogicalResult FunctionEmitter::emitReshape(Operation *op) {
  // The buffer is contiguous and row-major: the same elements in the same
  // order.
  Value source = bufferOf(op->getOperand(0));
  if (!source)
    return failure();
  MemRefType type = bufferType(op->getResult(0));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(op->getContext(), type.getShape());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  Value view = memref::ReinterpretCastOp::create(
      rewriter, op->getLoc(), type, source, rewriter.getIndexAttr(0), sizes,
      getAsIndexOpFoldResult(op->getContext(), strides));
  setBuffer(op->getResult(0), view);
  return success();
}
