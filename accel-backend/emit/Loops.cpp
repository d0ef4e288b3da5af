//===- Loops.cpp - linalg on local memory as loops ------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/Emitter.h"

#include "mlir/IR/AffineExprVisitor.h"

using namespace mlir;

namespace tilebridge::accel {

SmallVector<Index> Emitter::openLoops(ArrayRef<Index> sizes) {
  SmallVector<Index> variables;
  static const char *const letters[] = {"i", "j", "k", "l", "m", "n"};
  for (auto [number, size] : llvm::enumerate(sizes)) {
    std::string like =
        number < 6 ? letters[number] : "i" + std::to_string(number);
    // A loop that is over leaves its variable to another loop, and to nothing
    // else: by its name it would seem to be used.
    std::string name = finished.erase(like) ? like : fresh(like);
    open("for (int64_t " + name + " = 0; " + name + " < " + size.str() +
         "; ++" + name + ")");
    variables.push_back(Index(name));
  }
  return variables;
}

void Emitter::closeLoops(ArrayRef<Index> variables, unsigned others) {
  for (size_t i = 0; i < variables.size() + others; ++i)
    close();
  for (const Index &variable : variables)
    finished.insert(variable.str());
}

/// An expression of an indexing map.
static Index evaluated(AffineExpr expr, ArrayRef<Index> dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto pair = cast<AffineBinaryOpExpr>(expr);
  Index x = evaluated(pair.getLHS(), dims), y = evaluated(pair.getRHS(), dims);
  if (expr.getKind() == AffineExprKind::Add)
    return x + y;
  if (expr.getKind() == AffineExprKind::Mul)
    return x * y;
  llvm::StringRef function =
      expr.getKind() == AffineExprKind::FloorDiv  ? "accel::floordivs"
      : expr.getKind() == AffineExprKind::CeilDiv ? "accel::ceildivs"
                                                  : "accel::rems";
  return Index(
      (function + "(int64_t(" + x.str() + "), int64_t(" + y.str() + "))")
          .str());
}

static Index elementAt(const View &view, AffineMap map, ArrayRef<Index> dims) {
  SmallVector<Index> position;
  for (AffineExpr expr : map.getResults())
    position.push_back(evaluated(expr, dims));
  return view.at(position);
}

FailureOr<SmallVector<Value>> Emitter::emitBody(Block &body,
                                                ValueRange arguments) {
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    set(argument, value);
  if (failed(emitBlock(body)))
    return failure();
  SmallVector<Value> results;
  for (Value operand : body.getTerminator()->getOperands())
    results.push_back(scalar(operand));
  return results;
}

/// Sizes of the loops, from those of the operands.
static FailureOr<SmallVector<Index>>
loopSizes(linalg::LinalgOp op, llvm::function_ref<const View &(Value)> view) {
  SmallVector<std::optional<Index>> found(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [d, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (auto &size = found[dim.getPosition()]; !size || !size->constant())
          size = view(operand.get()).sizes[d];
  }
  SmallVector<Index> sizes;
  for (auto &size : found) {
    if (!size)
      return failure();
    sizes.push_back(*size);
  }
  return sizes;
}

LogicalResult Emitter::emitLinalg(linalg::LinalgOp op, ArrayRef<View> outs) {
  comment(op, op->getName().stripDialect());
  if (emitMatmul(op, outs[0]))
    return success();
  FailureOr<SmallVector<Index>> sizes =
      loopSizes(op, [&](Value value) -> const View & { return view(value); });
  if (failed(sizes))
    return op.emitError("the size of one of its loops is that of no operand; "
                        "it cannot be emitted as C++");
  SmallVector<Index> before = std::move(loopVariables);
  loopVariables = openLoops(*sizes);
  Location loc = op.getLoc();
  SmallVector<Value> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    auto shaped = dyn_cast<ShapedType>(operand.get().getType());
    if (!shaped) {
      arguments.push_back(scalar(operand.get()));
    } else if (argument.use_empty()) {
      arguments.push_back(nullptr);
    } else {
      bool isInit = op.isDpsInit(&operand);
      const View &from =
          isInit ? outs[operand.getOperandNumber() - op.getNumDpsInputs()]
                 : view(operand.get());
      arguments.push_back(load(
          loc, from,
          elementAt(from, op.getMatchingIndexingMap(&operand), loopVariables),
          shaped.getElementType()));
    }
  }
  FailureOr<SmallVector<Value>> results = emitBody(*op.getBlock(), arguments);
  if (failed(results))
    return failure();
  for (auto [number, result] : llvm::enumerate(*results)) {
    OpOperand *init = op.getDpsInitOperand(number);
    const View &to = outs[number];
    store(loc, result, to,
          elementAt(to, op.getMatchingIndexingMap(init), loopVariables));
  }
  closeLoops(loopVariables);
  loopVariables = std::move(before);
  return success();
}

/// What type_of knows and accel_matmul adds up in.
static bool isSum(Type type) {
  return type.isF32() || type.isF64() || type.isF16() || type.isBF16() ||
         type.isInteger(32) || type.isInteger(64);
}

bool Emitter::emitMatmul(linalg::LinalgOp op, const View &sums) {
  bool isBatch = isa<linalg::BatchMatmulOp>(op);
  if (!isBatch && !isa<linalg::MatmulOp>(op))
    return false;
  std::array<Value, 3> values = {op->getOperand(0), op->getOperand(1),
                                 op->getOperand(2)};
  Type sum = getElementTypeOrSelf(values[2].getType());
  for (Value value : {values[0], values[1]}) {
    Type type = getElementTypeOrSelf(value.getType());
    if (isa<FloatType>(type) != isa<FloatType>(sum) ||
        type.getIntOrFloatBitWidth() > sum.getIntOrFloatBitWidth())
      return false;
  }
  // Dimensions of the loops are m, n and k, behind that of the batch.
  unsigned first = isBatch ? 1 : 0;
  std::array<std::array<unsigned, 2>, 3> wanted = {
      {{first, first + 2}, {first + 2, first + 1}, {first, first + 1}}};
  std::array<std::array<Index, 2>, 3> strides;
  for (unsigned i = 0; i < 3; ++i) {
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(i));
    for (unsigned j = 0; j < 2; ++j) {
      auto position = map.getResultPosition(
          getAffineDimExpr(wanted[i][j], op.getContext()));
      if (!position)
        return false;
      strides[i][j] = (i == 2 ? sums : view(values[i])).strides[*position];
    }
    if (isBatch && !map.getResult(0).isFunctionOfDim(0))
      return false;
  }
  if (!isSum(sum))
    return false;
  auto sizes =
      loopSizes(op, [&](Value value) -> const View & { return view(value); });
  if (failed(sizes))
    return false;
  std::array<View, 3> operands = {view(values[0]), view(values[1]), sums};
  SmallVector<Index> batch =
      openLoops(ArrayRef<Index>(*sizes).take_front(first));
  std::string text;
  for (unsigned i = 0; i < 3; ++i) {
    if (isBatch)
      operands[i].offset =
          operands[i].offset + batch[0] * operands[i].strides[0];
    text += ", " + operands[i].address() + ", " + braced(strides[i]);
  }
  auto cast = op->getAttrOfType<linalg::TypeFnAttr>("cast");
  if (cast && cast.getValue() == linalg::TypeFn::cast_unsigned)
    text += ", /*is_unsigned=*/true";
  line("accel::matmul(pe, " +
       braced(ArrayRef<Index>(*sizes).drop_front(first)) + text + ");");
  closeLoops(batch);
  return true;
}

} // namespace tilebridge::accel
