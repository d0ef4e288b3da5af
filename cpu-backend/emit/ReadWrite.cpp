//===- ReadWrite.cpp - reads and writes under the masks of a box ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/FunctionEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

static int laneDimOf(ArrayRef<Index> indices) {
  for (auto [d, index] : llvm::enumerate(indices))
    if (index.step != 0)
      return d;
  return -1;
}

/// From the bytes of booleans in memory to i1.
static Value fromMemory(OpBuilder &builder, Location loc, const View &view,
                        Value value) {
  if (!view.isBool)
    return value;
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                               zero);
}

Value FunctionEmitter::read(const View &view, ArrayRef<Index> indices,
                            Location loc) {
  int laneDim = laneDimOf(indices);
  if (llvm::count_if(indices,
                     [](const Index &index) { return index.step != 0; }) > 1) {
    emitError(loc,
              "lanes along two dimensions of one access are not supported");
    return {};
  }
  Value outside;
  auto outsideValue = [&]() -> Value {
    if (!outside && view.other)
      outside = evaluate(view.other, indices);
    else if (!outside)
      outside =
          view.pad ? mapScalar(view.pad) : zeroOf(view.elementType(), loc);
    return outside;
  };
  if (laneDim < 0) {
    Value inside = inBox(view, indices, 0, loc);
    if (inside && !outsideValue())
      return {};
    Value at = address(view, indices, -1, loc);
    auto load = [&]() -> Value {
      return fromMemory(rewriter, loc, view, loadElement(view.base, at, loc));
    };
    if (!inside)
      return load();
    auto branch =
        scf::IfOp::create(rewriter, loc, outside.getType(), inside, true);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(rewriter, loc, load());
    rewriter.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, outside);
    return branch.getResult(0);
  }
  const Index &index = indices[laneDim];
  bool interior =
      frame->interior && index.dim == frame->vecDim && index.step == 1;
  if (!interior) {
    LaneMask on = laneMask(view, indices, laneDim, loc);
    if (on.lanes && !outsideValue())
      return {};
    Value others = on.lanes ? toLanes(outside, frame->lanes) : Value();
    return fromMemory(rewriter, loc, view,
                      loadLanes(view, indices, laneDim, on, others, loc));
  }
  prefetchNextRow(view, indices, laneDim, loc);
  prefetchLaterBlock(view, indices, laneDim, loc);
  // Only loops inside of the lanes' loop can still leave the box.
  Value inside = inBox(view, indices, frame->vecLevel + 1, loc);
  if (!inside)
    return fromMemory(rewriter, loc, view,
                      loadLanes(view, indices, laneDim, {}, {}, loc));
  if (!outsideValue())
    return {};
  outside = toLanes(outside, frame->lanes);
  // What the branch needs is remembered before it opens.
  address(view, indices, constantOf(view.strides[laneDim]) == 1 ? laneDim : -1,
          loc);
  auto branch =
      scf::IfOp::create(rewriter, loc, outside.getType(), inside, true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(branch.thenBlock());
  Value loaded =
      toLanes(loadLanes(view, indices, laneDim, {}, {}, loc), frame->lanes);
  scf::YieldOp::create(rewriter, loc, fromMemory(rewriter, loc, view, loaded));
  rewriter.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(rewriter, loc, outside);
  return branch.getResult(0);
}

LogicalResult FunctionEmitter::write(const View &view, ArrayRef<Index> indices,
                                     Value value, Location loc, Value mask) {
  int laneDim = laneDimOf(indices);
  if (laneDim >= 0)
    value = toLanes(value, frame->lanes);
  if (view.isBool) {
    Type type = view.elementType();
    if (auto vectorType = dyn_cast<VectorType>(value.getType()))
      type = vectorType.clone(type);
    value = arith::ExtUIOp::create(rewriter, loc, type, value);
  }
  if (mask && laneDim >= 0) {
    // A view with a mask of its own has no box. What stores of vectors with all
    // lanes off win where there is no memory, others would lose.
    Value isSame = isa<VectorType>(mask.getType()) ? Value() : mask;
    storeLanes(view, indices, laneDim, {toLanes(mask, frame->lanes), isSame},
               value, loc);
    return success();
  }
  if (laneDim >= 0) {
    const Index &index = indices[laneDim];
    bool interior =
        frame->interior && index.dim == frame->vecDim && index.step == 1;
    if (!interior) {
      storeLanes(view, indices, laneDim, laneMask(view, indices, laneDim, loc),
                 value, loc);
      return success();
    }
  }
  Value inside =
      inBox(view, indices, laneDim >= 0 ? frame->vecLevel + 1 : 0, loc);
  if (mask)
    inside =
        inside ? arith::AndIOp::create(rewriter, loc, inside, mask).getResult()
               : mask;
  bool contiguous = laneDim >= 0 && constantOf(view.strides[laneDim]) == 1;
  Value at = address(view, indices, contiguous ? laneDim : -1, loc);
  auto store = [&] {
    if (laneDim >= 0)
      return storeLanes(view, indices, laneDim, {}, value, loc);
    storeElement(view.base, at, value, loc);
  };
  if (!inside) {
    store();
    return success();
  }
  auto branch =
      scf::IfOp::create(rewriter, loc, inside, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
  store();
  return success();
}
