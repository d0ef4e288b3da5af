//===- MatmulDirect.cpp - products with what is computed ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A right operand that is computed element by element, such as weights that
// are unpacked and scaled, is computed where it is packed. A few rows of `a`,
// as tokens that are decoded are, take each vector of it once: to pack it would
// take longer than to multiply it at once.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/FunctionEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Two steps are multiplied at once, by an instruction for pairs of bf16.
static bool takesPairs(ImplicitLocOpBuilder &b, const DeepMatmul &product) {
  return product.kernel(b).multipliesPairs() && product.depth % 2 == 0;
}

/// Rows that take a vector of b at once; fewer ones take the last one again.
/// Of bf16 that is converted element by element, more than one row are worth
/// packing it.
static int64_t rowsAtOnce(ImplicitLocOpBuilder &b, const DeepMatmul &product) {
  bool isWide = product.kernel(b).packedBytes() == 4;
  int64_t most = isWide || takesPairs(b, product) ? 4 : 1;
  auto type = cast<RankedTensorType>(product.op->getResult(0).getType());
  return std::min(most, type.getDimSize(0));
}

/// Before the loop: whether few rows are multiplied with b as it is computed
/// (null: never).
Value tilebridge::cpu::findDirectRow(ImplicitLocOpBuilder &b,
                                     const DeepMatmul &product) {
  constexpr int64_t mostSteps = 256;
  linalg::MatmulOp op = product.op;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t lanes = product.form.settings.target.vectorBits / 32;
  auto isFloat = [&](Value operand) {
    return isa<FloatType>(getElementTypeOrSelf(operand.getType()));
  };
  // Sums of a longer block would be one chain.
  bool canBe = product.wanted && !product.masked && !product.isByColumns &&
               type.getElementType().isF32() && type.getDimSize(0) > 1 &&
               type.getDimSize(1) % lanes == 0 && product.depth <= mostSteps &&
               llvm::all_of(op.getInputs(), isFloat);
  if (!canBe)
    return {};
  auto isWanted = [&](arith::CmpIPredicate predicate, int64_t rows) -> Value {
    return arith::CmpIOp::create(b, predicate, product.wanted,
                                 arith::ConstantIndexOp::create(b, rows));
  };
  int64_t most = rowsAtOnce(b, product);
  Value isFew = isWanted(arith::CmpIPredicate::eq, 1);
  if (most > 1)
    isFew = arith::AndIOp::create(b, isWanted(arith::CmpIPredicate::sge, 1),
                                  isWanted(arith::CmpIPredicate::sle, most));
  if (!product.shared)
    return isFew;
  // The program before may have packed what this one needs, too.
  Value isOther = arith::XOrIOp::create(b, product.shared->isSame,
                                        arith::ConstantIntOp::create(b, 1, 1));
  return arith::AndIOp::create(b, isFew, isOther);
}

/// An element of a, as f32, by its address; or a pair of bf16, as a word.
static Value leftElement(ImplicitLocOpBuilder &b, Value address, int64_t bytes,
                         bool isPair) {
  Value number = arith::IndexCastOp::create(b, b.getI64Type(), address),
        pointer = LLVM::IntToPtrOp::create(
            b, LLVM::LLVMPointerType::get(b.getContext()), number);
  Type i32 = b.getI32Type();
  if (isPair)
    return LLVM::LoadOp::create(b, i32, pointer, bytes);
  if (bytes == 4)
    return LLVM::LoadOp::create(b, b.getF32Type(), pointer, bytes);
  Value half = LLVM::LoadOp::create(b, b.getI16Type(), pointer, bytes),
        word = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i32, half),
                                     arith::ConstantIntOp::create(b, i32, 16));
  return arith::BitcastOp::create(b, b.getF32Type(), word);
}

/// Adds the product of the first `count` rows of a, of which there may be
/// fewer, with b, of which `fetch` gives up to `together` elements of a row, to
/// their sums.
static void multiplyRows(ImplicitLocOpBuilder &b, const DeepMatmul &product,
                         Value acc, int64_t count, int64_t together,
                         Fetch fetch) {
  constexpr int64_t mostVectors = 4;
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  MatmulKernel kernel = product.kernel(b);
  int64_t lanes = product.form.settings.target.vectorBits / 32,
          bytes = kernel.packedBytes(),
          n = cast<MemRefType>(acc.getType()).getDimSize(1),
          chain = std::min<int64_t>(
              product.depth,
              product.form.settings.wantsShortChains ? 32 : product.depth),
          mostSums = product.form.settings.target.vectorBits == 512 ? 16 : 8,
          vectors = std::min(mostVectors, mostSums / count);
  // What is looked up at once is multiplied at once.
  vectors = std::max(vectors, std::min(mostVectors, together / lanes));
  int64_t width = std::min(n, vectors * lanes);
  while (n % width)
    width /= 2;
  int64_t some = width % together ? lanes : std::max(together, lanes);
  const bool pairs = takesPairs(b, product);
  RowsInMemory rows = product.leftRows(b);
  SmallVector<Value> firsts = {arith::AddIOp::create(
      b, rows.address, arith::MulIOp::create(b, product.filled, index(bytes)))};
  for (int64_t row = 1; row < count; ++row) {
    Value there =
        arith::MinSIOp::create(b, index(row), offsetBy(b, product.wanted, -1));
    firsts.push_back(arith::AddIOp::create(
        b, firsts.front(), arith::MulIOp::create(b, there, rows.rowBytes)));
  }
  auto type = VectorType::get(lanes, b.getF32Type());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type)), isFirst;
  if (product.beginsAtZero)
    isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, product.total,
                                    index(0));
  auto emitColumns = [&](Value begin, Value column) {
    auto steps = scf::ForOp::create(
        b, begin, offsetBy(b, begin, chain), index(pairs ? 2 : 1),
        SmallVector<Value>(count * width / lanes, zero));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(steps.getBody());
      Value step = steps.getInductionVar(),
            passed = arith::MulIOp::create(b, step, index(bytes));
      auto left = llvm::map_to_vector(firsts, [&](Value first) -> Value {
        Value at = arith::AddIOp::create(b, first, passed),
              one = leftElement(b, at, bytes, pairs),
              all = vector::BroadcastOp::create(
                  b, VectorType::get(lanes, one.getType()), one);
        if (!pairs)
          return all;
        auto halves = VectorType::get(2 * lanes, b.getI16Type());
        return vector::BitCastOp::create(b, halves, all);
      });
      auto contract = arith::FastMathFlags::contract;
      SmallVector<Value> sums(steps.getRegionIterArgs());
      for (int64_t from = 0; from < width; from += some) {
        Value at = offsetBy(b, column, from), right = fetch(b, step, at, some);
        SmallVector<Value> factors;
        if (pairs) {
          Value below = fetch(b, offsetBy(b, step, 1), at, some);
          factors = interleaveRows(
              b, {kernel.asRight(right), kernel.asRight(below)}, lanes);
        } else {
          right = widenTo(b, right, b.getF32Type(), false);
          factors = interleaveRows(b, right, lanes);
        }
        for (auto [part, factor] : llvm::enumerate(factors))
          for (int64_t row = 0; row < count; ++row) {
            Value &sum = sums[(row * width + from) / lanes + part];
            sum =
                pairs
                    ? kernel.addProducts(sum, left[row], factor)
                    : arith::AddFOp::create(
                          b,
                          arith::MulFOp::create(b, left[row], factor, contract),
                          sum, contract);
          }
      }
      scf::YieldOp::create(b, sums);
    }
    Value isNew = isFirst;
    if (isFirst && chain < product.depth)
      isNew = arith::AndIOp::create(
          b, isFirst,
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, begin, index(0)));
    for (auto [i, sum] : llvm::enumerate(steps.getResults())) {
      int64_t at = static_cast<int64_t>(i) * lanes;
      SmallVector<Value> place = {index(at / width),
                                  offsetBy(b, column, at % width)};
      Value before = vector::LoadOp::create(b, type, acc, place);
      if (isNew)
        before = arith::SelectOp::create(b, isNew, zero, before);
      vector::StoreOp::create(b, arith::AddFOp::create(b, before, sum), acc,
                              place);
    }
  };
  emitLoop(b, product.depth, chain, [&](Value begin) {
    emitLoop(b, n, width, [&](Value column) { emitColumns(begin, column); });
  });
}

/// Nearly all blocks are in an array as a whole: the loops that pack those have
/// no masks, nor branches in each row.
LogicalResult FunctionEmitter::packDirect(const DeepMatmul &product,
                                          Value tensor) {
  ImplicitLocOpBuilder b(product.op->getLoc(), rewriter);
  prefetchNextOperand(tensor, b.getLoc());
  bool hasFailed = false;
  auto fetch = [&](ImplicitLocOpBuilder &at, Value row, Value column,
                   int64_t lanes) -> Value {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(at.getInsertionBlock(), at.getInsertionPoint());
    Value value = vectorAt(tensor, {row, column}, 1, lanes);
    if (value)
      return value;
    hasFailed = true;
    Type element = getElementTypeOrSelf(tensor.getType());
    return ub::PoisonOp::create(at, VectorType::get(lanes, element));
  };
  bool isOfBytes = false;
  Indices any(cast<RankedTensorType>(tensor.getType()).getRank());
  walkCone(tensor, any, nullptr, [&](Value value, ArrayRef<Index>) {
    Type type = getElementTypeOrSelf(value.getType());
    isOfBytes |= isa<Float8E4M3FNType, Float8E5M2Type>(type);
    return true;
  });
  auto type = cast<RankedTensorType>(tensor.getType());
  // What is looked up comes in so many lanes.
  int64_t together =
      isOfBytes && type.getElementType().isBF16() && target().hasByteLookups
          ? 64
          : 1;
  auto packAll = [&] {
    product.kernel(b).packComputedRhs(type, fetch, isOfBytes, product.rhs,
                                      product.filled);
  };
  auto pack = [&] {
    if (!product.isDirectRow)
      return packAll();
    Value acc = bufferFor(product.op->getResult(0));
    auto multiply = [&](int64_t rows) {
      multiplyRows(b, product, acc, rows, together, fetch);
    };
    auto multiplyFew = [&] {
      auto known = constantOf(OpFoldResult(product.wanted));
      int64_t most = rowsAtOnce(b, product);
      if (known || most == 1)
        return multiply(known ? std::clamp<int64_t>(*known, 1, most) : most);
      auto isUpTo = [&](int64_t rows) -> Value {
        return arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                     product.wanted,
                                     arith::ConstantIndexOp::create(b, rows));
      };
      auto multiplySome = [&] {
        if (most <= 2)
          return multiply(most);
        emitChoice(b, isUpTo(2), [&] { multiply(2); }, [&] { multiply(most); });
      };
      emitChoice(b, isUpTo(1), [&] { multiply(1); }, multiplySome);
    };
    emitChoice(b, product.isDirectRow, multiplyFew, packAll);
  };
  llvm::SmallSetVector<View *, 4> parts;
  Value areWhole = viewsAreWhole(tensor, b, parts);
  if (!areWhole || isRare) {
    pack();
    return failure(hasFailed);
  }
  auto branch = scf::IfOp::create(b, areWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  pack();
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<std::pair<SmallVector<OpFoldResult>, SmallVector<OpFoldResult>>>
      boxes;
  for (View *view : parts) {
    boxes.push_back({view->lo, view->hi});
    view->lo.assign(view->lo.size(), b.getIndexAttr(0));
    view->hi = getAsIndexOpFoldResult(b.getContext(), view->shape);
  }
  pack();
  for (auto [view, box] : llvm::zip_equal(parts, boxes))
    std::tie(view->lo, view->hi) = box;
  return failure(hasFailed);
}

/// Whether all blocks that `tensor` is computed from, `parts` of which may lie
/// outside of their arrays in part, lie inside; null if none may, or one always
/// does.
Value FunctionEmitter::viewsAreWhole(Value tensor, ImplicitLocOpBuilder &b,
                                     llvm::SmallSetVector<View *, 4> &parts) {
  Indices any(cast<RankedTensorType>(tensor.getType()).getRank());
  bool canBe = true;
  walkCone(tensor, any, nullptr, [&](Value value, ArrayRef<Index>) {
    auto it = loads.find(value);
    if (it == loads.end() || it->second->isWhole() || it->second->rowDim >= 0 ||
        viewIfInMemory(value) != it->second.get())
      return true;
    View &view = *it->second;
    parts.insert(&view);
    for (auto [low, high, size] : llvm::zip_equal(view.lo, view.hi, view.shape))
      canBe &= constantOf(low).value_or(0) <= 0 &&
               constantOf(high).value_or(size) >= size;
    return true;
  });
  Value all;
  auto require = [&](arith::CmpIPredicate predicate, OpFoldResult bound,
                     int64_t limit) {
    if (constantOf(bound))
      return;
    Value holds =
        arith::CmpIOp::create(b, predicate, toValue(b, b.getLoc(), bound),
                              arith::ConstantIndexOp::create(b, limit));
    all = all ? arith::AndIOp::create(b, all, holds).getResult() : holds;
  };
  if (!canBe)
    return {};
  for (View *view : parts)
    for (auto [low, high, size] :
         llvm::zip_equal(view->lo, view->hi, view->shape)) {
      require(arith::CmpIPredicate::sle, low, 0);
      require(arith::CmpIPredicate::sge, high, size);
    }
  return all;
}
