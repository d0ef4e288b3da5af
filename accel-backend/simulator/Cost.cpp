//===- Cost.cpp - how long units work on an op ----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Cost.h"

#include "accel-backend/dialect/AccelOps.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilebridge::accel {

StringRef rateTypeOf(Type type) {
  type = getElementTypeOrSelf(type);
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    return type.isF64()    ? "f64"
           : type.isF32()  ? "f32"
           : type.isBF16() ? "bf16"
           : width == 16   ? "f16"
                           : "f8";
  return width > 32 ? "i64" : width > 16 ? "i32" : width > 8 ? "i16" : "i8";
}

namespace {

class Estimate {
public:
  explicit Estimate(const Target &target) : target(target) {}

  void addOp(Operation *op);
  void addLinalg(linalg::LinalgOp op, ArrayRef<int64_t> loops);
  Work work() const {
    Work result = parts;
    for (const Work::Part &part : result.parts)
      result.cycles += part.cycles + target.units[part.unit].startupCycles;
    return result;
  }

private:
  /// Operations of one class on so many elements.
  void add(StringRef operations, Type type, int64_t count);
  void addProduct(Type type, int64_t batch, int64_t m, int64_t n, int64_t k);
  void addBody(Block &body, int64_t count, bool isReduction);
  Work::Part &partOf(const ComputeUnit &unit);

  const Target &target;
  Work parts;
};

} // namespace

Work::Part &Estimate::partOf(const ComputeUnit &unit) {
  auto number = unsigned(&unit - target.units.data());
  for (Work::Part &part : parts.parts)
    if (part.unit == number)
      return part;
  parts.parts.push_back({number, 0, 0});
  return parts.parts.back();
}

void Estimate::add(StringRef operations, Type type, int64_t count) {
  StringRef name = rateTypeOf(type);
  const ComputeUnit &unit = target.unitFor(operations, name);
  int64_t lanes = unit.tile.size() == 1 ? unit.tile[0] : 1;
  Work::Part &part = partOf(unit);
  part.operations += double(count);
  part.cycles += double(llvm::divideCeil(uint64_t(count), uint64_t(lanes)) *
                        uint64_t(lanes)) /
                 unit.rate(operations, name);
}

void Estimate::addProduct(Type type, int64_t batch, int64_t m, int64_t n,
                          int64_t k) {
  StringRef name = rateTypeOf(type);
  const ComputeUnit &unit = target.unitFor(operations::matmul, name);
  Work::Part &part = partOf(unit);
  part.operations += 2.0 * double(batch) * double(m) * double(n) * double(k);
  auto rounded = [](int64_t size, int64_t tile) {
    return double(llvm::divideCeil(uint64_t(size), uint64_t(tile)) *
                  uint64_t(tile));
  };
  ArrayRef<int64_t> tile = unit.tile;
  double points =
      tile.size() == 3
          ? rounded(m, tile[0]) * rounded(n, tile[1]) * rounded(k, tile[2])
      : tile.size() == 1 ? double(m) * rounded(n, tile[0]) * double(k)
                         : double(m) * double(n) * double(k);
  part.cycles +=
      2.0 * double(batch) * points / unit.rate(operations::matmul, name);
}

/// Nothing for what only names a value.
static StringRef classOf(Operation &op) {
  if (isa<arith::ConstantOp, linalg::IndexOp>(op) ||
      op.hasTrait<OpTrait::IsTerminator>())
    return "";
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
          arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
          arith::FloorDivSIOp, math::SqrtOp, math::RsqrtOp>(op))
    return operations::division;
  if (isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp>(op))
    return operations::elementwise;
  StringRef dialect = op.getName().getDialectNamespace();
  return dialect == "math" || dialect == "linalg_ext" ? operations::math
                                                      : operations::elementwise;
}

void Estimate::addBody(Block &body, int64_t count, bool isReduction) {
  bool isMove = true;
  body.walk([&](Operation *op) {
    StringRef operations = classOf(*op);
    if (operations.empty() || op->getNumResults() == 0)
      return;
    isMove = false;
    if (isReduction && operations == operations::elementwise)
      operations = operations::reduction;
    Type type = op->getNumOperands() ? op->getOperand(0).getType()
                                     : op->getResult(0).getType();
    if (getElementTypeOrSelf(type).isIntOrIndexOrFloat())
      add(operations, type, count * (isa<math::FmaOp>(op) ? 2 : 1));
  });
  if (isMove && body.back().getNumOperands())
    add(operations::move, body.back().getOperand(0).getType(), count);
}

void Estimate::addLinalg(linalg::LinalgOp op, ArrayRef<int64_t> loops) {
  if (isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op) && loops.size() >= 3) {
    bool isBatch = loops.size() == 4;
    ArrayRef<int64_t> inner = loops.take_back(3);
    addProduct(op->getOperand(0).getType(), isBatch ? loops[0] : 1, inner[0],
               inner[1], inner[2]);
    return;
  }
  int64_t count = 1;
  for (int64_t range : loops)
    count *= range;
  addBody(*op.getBlock(), count, op.getNumReductionLoops() > 0);
}

static int64_t elementsOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasStaticShape() ? shaped.getNumElements() : 1;
}

/// An op in the body of accel.compute.
void Estimate::addOp(Operation *op) {
  if (auto one = dyn_cast<linalg::LinalgOp>(op)) {
    addLinalg(one, one.getStaticLoopRanges());
    return;
  }
  int64_t most = 1;
  for (Type type : op->getOperandTypes())
    most = std::max(most, elementsOf(type));
  for (Type type : op->getResultTypes())
    most = std::max(most, elementsOf(type));
  if (isa<linalg_ext::ReduceOp, linalg_ext::ScanOp>(op)) {
    addBody(op->getRegion(0).front(), most, /*isReduction=*/true);
    return;
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::EmptyOp,
          tensor::CastOp, tensor::DimOp, arith::ConstantOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return;
  for (mlir::Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        addOp(&inner);
  if (op->getNumRegions() == 0 && op->getNumResults() > 0)
    add(most > 1 ? operations::move : operations::scalar,
        getElementTypeOrSelf(op->getResult(0).getType()), most);
}

Work workOf(Operation *op, const Target &target, ArrayRef<int64_t> loops) {
  Estimate estimate(target);
  if (auto one = dyn_cast<linalg::LinalgOp>(op))
    estimate.addLinalg(one, loops);
  else
    for (Operation &inner : op->getRegion(0).front())
      estimate.addOp(&inner);
  return estimate.work();
}

} // namespace tilebridge::accel
