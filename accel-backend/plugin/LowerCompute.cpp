//===- LowerCompute.cpp - computations as calls of a plug-in's functions --===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plugin/Plugin.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilebridge::accel {

/// A buffer of any sizes and strides: a function is declared once for all.
static MemRefType anyShape(MemRefType type) {
  SmallVector<int64_t> dynamic(type.getRank(), ShapedType::kDynamic);
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, dynamic);
  return MemRefType::get(dynamic, type.getElementType(), layout,
                         type.getMemorySpace());
}

/// The function that the plug-in has for an op; empty: none.
static std::string
functionFor(linalg::LinalgOp op,
            const char *(*ask)(const tilebridge_accel_compute *)) {
  SmallVector<std::string> types;
  SmallVector<tilebridge_accel_operand> operands;
  SmallVector<SmallVector<int64_t>> sizes;
  for (Value operand : op->getOperands()) {
    auto memref = dyn_cast<MemRefType>(operand.getType());
    std::string text;
    llvm::raw_string_ostream(text)
        << (memref ? memref.getElementType() : operand.getType());
    types.push_back(text);
    sizes.emplace_back();
    if (memref)
      for (int64_t size : memref.getShape())
        sizes.back().push_back(ShapedType::isDynamic(size) ? -1 : size);
  }
  for (auto [type, shape] : llvm::zip_equal(types, sizes))
    operands.push_back({type.c_str(), uint32_t(shape.size()), shape.data()});
  std::string name = op->getName().getStringRef().str();
  tilebridge_accel_compute description = {
      name.c_str(), uint32_t(op.getNumDpsInputs()),
      uint32_t(op.getNumDpsInits()), operands.data()};
  const char *function = ask(&description);
  return function ? function : "";
}

LogicalResult Plugin::lowerCompute(ModuleOp module) const {
  if (!info->lower_compute)
    return success();
  WalkResult result = module.walk([&](linalg::LinalgOp op) {
    if (!op.hasPureBufferSemantics())
      return WalkResult::advance();
    std::string name = functionFor(op, info->lower_compute);
    if (name.empty())
      return WalkResult::advance();
    OpBuilder b(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (auto memref = dyn_cast<MemRefType>(operand.getType());
          memref && memref != anyShape(memref))
        operand =
            memref::CastOp::create(b, op.getLoc(), anyShape(memref), operand);
      operands.push_back(operand);
    }
    auto type = b.getFunctionType(ValueRange(operands).getTypes(), {});
    auto known = module.lookupSymbol<func::FuncOp>(name);
    if (known && known.getFunctionType() != type) {
      op.emitError("the plug-in '")
          << info->name << "' computes '" << op->getName() << "' by '" << name
          << "', which has operands of other types elsewhere: "
          << known.getFunctionType() << " and " << type;
      return WalkResult::interrupt();
    }
    if (!known) {
      OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
      func::FuncOp::create(atStart, op.getLoc(), name, type).setPrivate();
    }
    func::CallOp::create(b, op.getLoc(), name, TypeRange(), operands);
    op->erase();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

} // namespace tilebridge::accel
