//===- ShortRows.cpp - kernels that wait for sums of their rows -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/ShortRows.h"
#include "cpu-backend/PlainAccesses.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// Fewer programs than these are better shared among threads one by one.
static constexpr int64_t leastPrograms = 128;

/// Larger kernels have enough to do while they wait, and take long to compile.
static constexpr int64_t mostOperations = 700;

Value ShortRows::idOf(unsigned dim) {
  return kernel.getArgument(kernel.getNumArguments() -
                            linalg_ext::kProgramArguments + dim);
}

bool ShortRows::find() {
  return kernel.getBody().hasOneBlock() && isPlainAndSmall() &&
         !idOf(0).use_empty() && findFirst() && findBytes();
}

/// Blocks of more dimensions have several rows that wait side by side.
static bool isRow(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return !shaped || !shaped.hasRank() || shaped.getRank() <= 1;
}

bool ShortRows::isPlainAndSmall() {
  int64_t operations = 0;
  return !kernel
              .walk([&](Operation *op) {
                bool isFine = isPlain(op) && ++operations <= mostOperations &&
                              !isa<func::CallOp>(op) &&
                              llvm::all_of(op->getResultTypes(), isRow);
                if (op->getNumRegions() != 0)
                  isFine &= isa<func::FuncOp, scf::ForOp, scf::IfOp>(op);
                return isFine ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Follows what is computed of loops' sums to later loops.
bool ShortRows::findFirst() {
  llvm::DenseSet<Value> waited;
  bool isFound = false;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    bool waits = false;
    op.walk([&](Operation *inner) {
      waits |= llvm::any_of(inner->getOperands(), [&](Value operand) {
        return waited.contains(operand);
      });
    });
    auto loop = dyn_cast<scf::ForOp>(op);
    bool sums = loop && llvm::any_of(loop.getResultTypes(), [](Type type) {
                  return isa<FloatType>(getElementTypeOrSelf(type));
                });
    isFound |= loop && waits;
    waitsTwice |= sums && waits;
    if (sums && !first)
      first = loop;
    if (waits || sums)
      waited.insert_range(op.getResults());
  }
  return isFound;
}

/// Rows of f32 with one sum are read as fast as they are computed: two at once
/// take up to 1.1 times as long where they come from the last cache (Zen 4).
bool ShortRows::findBytes() {
  first->walk([&](vector::LoadOp load) {
    bytesOfElement += load.getVectorType().getElementTypeBitWidth() / 8;
  });
  return bytesOfElement != 0 && (bytesOfElement <= 2 || waitsTwice);
}

func::FuncOp ShortRows::makeStep(StringRef suffix, int64_t cacheBytes) {
  Block &body = kernel.getBody().front();
  ScalarSlice slice;
  for (Value bound : {first.getLowerBound(), first.getUpperBound()})
    if (failed(addToSlice(bound, body, slice)))
      return {};
  auto isId = [&](Value value) {
    return llvm::any_of(llvm::seq(3u),
                        [&](unsigned dim) { return value == idOf(dim); });
  };
  if (isId(first.getLowerBound()) || isId(first.getUpperBound()) ||
      llvm::any_of(slice, [&](Operation *op) {
        return llvm::any_of(op->getOperands(), isId);
      }))
    return {};
  OpBuilder b(kernel.getContext());
  b.setInsertionPointAfter(kernel);
  Location loc = kernel.getLoc();
  Type i64 = b.getI64Type();
  auto step =
      func::FuncOp::create(b, loc, (kernel.getName() + suffix).str(),
                           b.getFunctionType(kernel.getArgumentTypes(), i64));
  step.setPrivate();
  b.setInsertionPointToStart(step.addEntryBlock());
  IRMapping map;
  map.map(kernel.getArguments(), step.getArguments());
  for (Operation *op : slice)
    b.clone(*op, map);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, i64, value);
  };
  auto wide = [&](Value value) -> Value {
    value = map.lookup(value);
    if (value.getType().isIndex())
      return arith::IndexCastOp::create(b, loc, i64, value);
    if (value.getType() == i64)
      return value;
    return arith::ExtSIOp::create(b, loc, i64, value);
  };
  auto both = [&](Value one, Value other) -> Value {
    return arith::AndIOp::create(b, loc, one, other);
  };
  auto is = [&](arith::CmpIPredicate predicate, Value one, int64_t other) {
    return arith::CmpIOp::create(b, loc, predicate, one, number(other));
  };
  auto product = [&](Value one, Value other) -> Value {
    // No more than 2^60.
    one = arith::MinSIOp::create(b, loc, one, number(int64_t(1) << 40));
    other = arith::MinSIOp::create(b, loc, other, number(1 << 20));
    return arith::MulIOp::create(b, loc, one, other);
  };
  Value length = arith::SubIOp::create(b, loc, wide(first.getUpperBound()),
                                       wide(first.getLowerBound()));
  Value programs = number(1);
  for (unsigned dim = 0; dim < 3; ++dim)
    programs = product(programs, wide(idOf(3 + dim)));
  // As much is written as is read.
  Value bytes = product(programs, product(length, number(2 * bytesOfElement)));
  Value isShort = is(arith::CmpIPredicate::sle, length, mostElements());
  Value areMany = is(arith::CmpIPredicate::sge, programs, leastPrograms);
  Value isInCache = is(arith::CmpIPredicate::sle, bytes, cacheBytes);
  Value joins = both(both(isShort, areMany), isInCache);
  func::ReturnOp::create(
      b, loc, arith::ExtUIOp::create(b, loc, i64, joins).getResult());
  return step;
}
