//===- Buffers.cpp - tensors in scratch memory -------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Buffers are `memref.alloc` here; tilebridge-cpu-place-scratch gives them
// their places in the one block of scratch memory.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/PlanGroups.h"
#include "cpu-backend/emit/StridedLanes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

bool FunctionEmitter::isBool(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType().isInteger(1);
}

MemRefType FunctionEmitter::bufferType(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Type element = isBool(tensor) ? rewriter.getI8Type() : type.getElementType();
  if (element.isIndex())
    element = rewriter.getI64Type();
  return MemRefType::get(type.getShape(), element);
}

Value FunctionEmitter::allocate(MemRefType type) {
  return memref::AllocOp::create(rewriter, oldFunc.getLoc(), type,
                                 rewriter.getI64IntegerAttr(64));
}

Value FunctionEmitter::newBuffer(Value tensor) {
  return allocate(bufferType(tensor));
}

void FunctionEmitter::setBuffer(Value tensor, Value memref) {
  auto storage = std::make_shared<Storage>();
  storage->memref = memref;
  storage->view = std::make_unique<View>(
      makeView(rewriter, tensor.getLoc(), memref,
               cast<RankedTensorType>(tensor.getType()).getShape()));
  storage->view->isBool = isBool(tensor);
  buffers[tensor] = storage;
}

/// The memory that the plan gives to `tensor`: shared with values that it takes
/// the place of.
Value FunctionEmitter::bufferFor(Value tensor) {
  Value &memref = memory[plan.storageOf(tensor)];
  if (!memref)
    memref = newBuffer(tensor);
  return memref;
}

Value FunctionEmitter::bufferOf(Value tensor) {
  if (auto it = buffers.find(tensor); it != buffers.end())
    return it->second->memref;
  Value memref = newBuffer(tensor);
  if (failed(materialize(tensor, memref)))
    return {};
  return memref;
}

Value FunctionEmitter::viewOfLoad(Value tensor) {
  auto it = loads.find(tensor);
  auto load = matchLoad(tensor);
  if (it == loads.end() || buffers.count(tensor) || !load)
    return {};
  for (unsigned d = 0; d < it->second->shape.size(); ++d)
    if (!it->second->isFull(d))
      return {};
  Value memref = mapScalar(load->read.getBuffer());
  return cast<MemRefType>(memref.getType()).hasStaticShape() ? memref : Value();
}

/// `view` as a memref of its shape whose type has the given strides.
Value FunctionEmitter::memrefOf(const View &view, ArrayRef<int64_t> strides,
                                Location loc) {
  auto layout = StridedLayoutAttr::get(rewriter.getContext(),
                                       ShapedType::kDynamic, strides);
  auto type = MemRefType::get(view.shape, view.elementType(), layout);
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), view.shape);
  SmallVector<OpFoldResult> mixed;
  for (auto [known, stride] : llvm::zip_equal(strides, view.strides))
    mixed.push_back(ShapedType::isDynamic(known)
                        ? OpFoldResult(toValue(rewriter, loc, stride))
                        : OpFoldResult(rewriter.getIndexAttr(known)));
  return memref::ReinterpretCastOp::create(rewriter, loc, type, view.base,
                                           toValue(rewriter, loc, view.offset),
                                           sizes, mixed);
}

/// Fresh memory for what `view` shows: in its shape, full, and contiguous where
/// the view is, so that vectors of a nest over both stay vectors.
/// Elements from one to the next where that is a constant and small, so that
/// what is either the view or its scratch has it, too.
static int64_t shortStride(const View &view) {
  int64_t least = StridedLanes::farthestNarrow + 1;
  for (unsigned d = 0; d < view.shape.size(); ++d)
    if (view.shape[d] != 1)
      if (auto stride = constantOf(view.strides[d]); stride.value_or(0) > 0)
        least = std::min(least, *stride);
  return least <= StridedLanes::farthestNarrow ? least : 1;
}

View FunctionEmitter::scratchLike(const View &view, Location loc,
                                  bool hasRoom) {
  unsigned rank = view.shape.size();
  int64_t elements = 1;
  for (int64_t size : view.shape)
    elements *= size;
  // Before and behind, for blocks that fill this one's gaps.
  int64_t step = shortStride(view), room = hasRoom ? step - 1 : 0;
  elements = elements * step + 2 * room;
  Value memref = allocate(MemRefType::get({elements}, view.elementType()));
  View scratch = makeView(rewriter, loc, memref, {elements});
  scratch.offset = rewriter.getIndexAttr(room);
  scratch.shape = view.shape;
  scratch.isBool = view.isBool;
  scratch.strides.assign(rank, rewriter.getIndexAttr(1));
  scratch.lo.assign(rank, rewriter.getIndexAttr(0));
  scratch.hi = getAsIndexOpFoldResult(rewriter.getContext(), view.shape);
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    auto innermost = [&](unsigned d) {
      return view.shape[d] != 1 && constantOf(view.strides[d]) == step;
    };
    return !innermost(a) && innermost(b);
  });
  int64_t stride = step;
  for (unsigned d : llvm::reverse(order)) {
    scratch.strides[d] = rewriter.getIndexAttr(stride);
    stride *= view.shape[d];
  }
  return scratch;
}

/// A view of `tensor` through transposes and the like, or nothing.
std::optional<View> FunctionEmitter::viewThroughShapes(Value tensor) {
  // A memref must not run backwards.
  if (tensor.getDefiningOp() && isReversal(tensor.getDefiningOp()) &&
      !buffers.count(tensor))
    return std::nullopt;
  if (const View *view = viewIfInMemory(tensor))
    return *view;
  Operation *op = tensor.getDefiningOp();
  if (!op || !isShapeOfMemory(op))
    return std::nullopt;
  auto source = viewThroughShapes(op->getOperand(0));
  if (!source)
    return std::nullopt;
  auto type = cast<RankedTensorType>(tensor.getType());
  auto from = operandIndices(op->getOpOperand(0),
                             identityIndices(type.getRank()), nullptr);
  View view = *source;
  view.shape = llvm::to_vector(type.getShape());
  view.strides.assign(type.getRank(), rewriter.getIndexAttr(0));
  view.lo.assign(type.getRank(), rewriter.getIndexAttr(0));
  view.hi = getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
  for (auto [d, index] : llvm::enumerate(*from)) {
    if (index.dim < 0) {
      // A dimension of one element; if that may be missing, the box is not one
      // of the new shape.
      if (!source->isFull(d))
        return std::nullopt;
      continue;
    }
    view.strides[index.dim] = source->strides[d];
    view.lo[index.dim] = source->lo[d];
    view.hi[index.dim] = source->hi[d];
  }
  return view;
}

/// Whether all of the block is there; null where that is always so.
Value FunctionEmitter::boxIsWhole(const View &view, Location loc) {
  Value result;
  for (unsigned d = 0; d < view.shape.size(); ++d) {
    if (view.isFull(d))
      continue;
    Value size =
        toValue(rewriter, loc, subIndex(rewriter, loc, view.hi[d], view.lo[d]));
    Value whole = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::sge, size,
        arith::ConstantIndexOp::create(rewriter, loc, view.shape[d]));
    result =
        result ? arith::AndIOp::create(rewriter, loc, result, whole).getResult()
               : whole;
  }
  return result;
}

/// `value`, of a float or an integer, as something that LLVM knows nothing of,
/// and so computes vectors of only here, where hardly any block comes to. It
/// would do so before all loops, and these vectors take registers from the
/// loops that multiply.
static Value onlyHere(OpBuilder &b, Location loc, Value value) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type word = b.getIntegerType(bits), full = b.getIntegerType(64);
  if (type != word)
    value = arith::BitcastOp::create(b, loc, word, value);
  if (bits < 64)
    value = arith::ExtUIOp::create(b, loc, full, value);
  auto hidden = LLVM::InlineAsmOp::create(
      b, loc, full, ValueRange{value}, /*asm_string=*/"",
      /*constraints=*/"=r,0", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  value = hidden.getRes();
  if (bits < 64)
    value = arith::TruncIOp::create(b, loc, word, value);
  return type == word
             ? value
             : arith::BitcastOp::create(b, loc, type, value).getResult();
}

/// `ends`: behind what is wanted of a copy along each dimension (null, or none:
/// all of it is).
Value FunctionEmitter::viewOf(Value tensor, ArrayRef<Value> ends) {
  if (Value view = viewOfLoad(tensor))
    return view;
  if (buffers.count(tensor) || isBool(tensor))
    return bufferOf(tensor);
  std::optional<View> view = viewThroughShapes(tensor);
  if (!view)
    return bufferOf(tensor);
  Location loc = tensor.getLoc();
  // Read in place where all of it exists; else from a copy that has the values
  // outside, too.
  Value isFull = boxIsWhole(*view, loc);
  SmallVector<int64_t> strides;
  for (OpFoldResult stride : view->strides)
    strides.push_back(constantOf(stride).value_or(ShapedType::kDynamic));
  if (!isFull)
    return memrefOf(*view, strides, loc);
  View padded = scratchLike(*view, loc);
  // What both have in common is known to whom it is for.
  for (auto [stride, other] : llvm::zip_equal(strides, padded.strides))
    if (stride != constantOf(other))
      stride = ShapedType::kDynamic;
  Value inPlace = memrefOf(*view, strides, loc);
  auto branch = scf::IfOp::create(rewriter, loc, TypeRange(), isFull, true);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(branch.elseBlock()->getTerminator());
    // That of a descriptor is zero or NaN.
    Value pad = view->pad ? map.lookupOrNull(view->pad) : Value();
    bool isKnown = !pad || matchPattern(pad, m_Constant());
    if (!isKnown)
      map.map(view->pad, onlyHere(rewriter, loc, pad));
    if (failed(materialize(tensor, padded, /*isCold=*/true, ends)))
      return {};
    if (!isKnown)
      map.map(view->pad, pad);
  }
  return arith::SelectOp::create(rewriter, loc, isFull, inPlace,
                                 memrefOf(padded, strides, loc));
}

Value FunctionEmitter::resultBuffer(Value result) {
  Value memref = bufferFor(result);
  setBuffer(result, memref);
  return memref;
}

/// Zero everywhere, and in no memory.
bool FunctionEmitter::isInlineZero(Value tensor) const {
  if (buffers.count(tensor))
    return false;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    tensor = fill.getInputs()[0];
  else if (auto splat = tensor.getDefiningOp<tensor::SplatOp>())
    tensor = splat.getInput();
  return matchPattern(tensor, m_PosZeroFloat()) ||
         matchPattern(tensor, m_Zero());
}

Value FunctionEmitter::accumulate(Value init, Value result, bool *isZero) {
  Value memref = bufferFor(result);
  if (isZero && isInlineZero(init)) {
    *isZero = true;
    setBuffer(result, memref);
    return memref;
  }
  auto it = buffers.find(init);
  if (it == buffers.end() || it->second->memref != memref)
    if (failed(materialize(init, memref)))
      return {};
  setBuffer(result, memref);
  return memref;
}

/// The bits of floats that LLVM has no constants of, and of booleans, which are
/// bytes in memory.
static DenseElementsAttr asStored(DenseElementsAttr elements, bool isBool) {
  Type type = elements.getElementType();
  Type byte = IntegerType::get(elements.getContext(), 8);
  if (isBool)
    return cast<DenseElementsAttr>(elements.mapValues(
        byte, [](const llvm::APInt &value) { return value.zext(8); }));
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8)
    return cast<DenseElementsAttr>(
        elements.mapValues(byte, [](const llvm::APFloat &value) {
          return value.bitcastToAPInt();
        }));
  return elements;
}

/// A constant that is not one value everywhere: a small one is written by
/// vector stores, a large one is copied from the constants of the executable,
/// as its buffer may be updated in place.
LogicalResult FunctionEmitter::emitConstant(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return op.emitError(
        "a constant of this form is not supported by the CPU backend: its "
        "elements are not in the program; write them out, as dense<...>");
  Location loc = op.getLoc();
  Value memref = bufferFor(op.getResult());
  setBuffer(op.getResult(), memref);
  const View &view = *buffers[op.getResult()]->view;
  elements = asStored(elements, view.isBool);
  Type element = elements.getElementType();
  auto store = [&](Value value, Value offset) {
    auto type = cast<VectorType>(value.getType());
    if (element != view.elementType())
      value = arith::BitcastOp::create(rewriter, loc,
                                       type.clone(view.elementType()), value);
    vector::StoreOp::create(rewriter, loc, value, view.base, offset);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  int64_t count = elements.getNumElements();
  constexpr int64_t few = 1024;
  if (count <= few) {
    auto attrs = llvm::to_vector(elements.getValues<Attribute>());
    for (int64_t at = 0; at < count; at += 64) {
      ArrayRef<Attribute> chunk =
          ArrayRef(attrs).slice(at, std::min<int64_t>(64, count - at));
      auto type =
          VectorType::get({static_cast<int64_t>(chunk.size())}, element);
      store(arith::ConstantOp::create(rewriter, loc,
                                      DenseElementsAttr::get(type, chunk)),
            constant(at));
    }
    return success();
  }

  auto module = oldFunc->getParentOfType<ModuleOp>();
  auto type = MemRefType::get({count}, element);
  // Its name is made unique where it is put into the module.
  OpBuilder detached(module.getContext());
  auto global = memref::GlobalOp::create(
      detached, loc, "tilebridge_constant", detached.getStringAttr("private"),
      type, elements.reshape(RankedTensorType::get({count}, element)),
      /*constant=*/true, detached.getI64IntegerAttr(64));
  SymbolTable(module).insert(global);
  Value source =
      memref::GetGlobalOp::create(rewriter, loc, type, global.getSymName());
  int64_t lanes = std::min<int64_t>(64, count & -count);
  auto loop = scf::ForOp::create(rewriter, loc, constant(0), constant(count),
                                 constant(lanes));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  store(vector::LoadOp::create(rewriter, loc, VectorType::get(lanes, element),
                               source, at),
        at);
  return success();
}
