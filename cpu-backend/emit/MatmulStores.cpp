//===- MatmulStores.cpp - sums of a product that go where they are stored -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a loop adds up stays in scratch memory until the loop has ended. If all
// that happens to it then is that it is stored, the last steps along K write
// it to the array: copying a block of 128 x 128 floats takes as long as 10
// steps of it, and 40 where its lines come from the last cache. They do so when
// the block is in the array as a whole and nothing of it is still read; this is
// asked when the kernel runs.
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/DeepMatmul.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/Guard.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Emitting `op` where it stands neither reads nor writes memory.
static bool isQuiet(Operation &op, const Plan &plan) {
  switch (kindOf(&op)) {
  case OpKind::Scalar:
    return isPure(&op);
  case OpKind::Inlineable:
    return llvm::none_of(op.getResults(), [&](Value result) {
      return isa<RankedTensorType>(result.getType()) && plan.isBuffer(result);
    });
  case OpKind::NestRoot:
  case OpKind::OwnRoot:
  case OpKind::Control:
    return false;
  }
  llvm_unreachable("all kinds of operations are named");
}

/// The store of the sums of `op`, a product of `loop`, where it is all that
/// happens to them, and happens next.
static std::optional<StructuredStore>
findStoreOfSums(linalg::MatmulOp op, scf::ForOp loop, const Plan &plan) {
  Value sums = op->getResult(0);
  if (!sums.hasOneUse() || !isa<scf::YieldOp>(*sums.getUsers().begin()))
    return std::nullopt;
  OpResult result = loop->getResult(sums.use_begin()->getOperandNumber());
  auto quiet = [&](Operation *from, Operation *to) {
    for (Operation *at = from->getNextNode(); at != to; at = at->getNextNode())
      if (!isQuiet(*at, plan))
        return false;
    return true;
  };
  // Other tensors would be copied from iteration to iteration.
  if (!result.hasOneUse() || !quiet(op, loop.getBody()->getTerminator()) ||
      llvm::any_of(loop->getResults(), [&](Value other) {
        return other != result && isa<RankedTensorType>(other.getType());
      }))
    return std::nullopt;
  Operation *user = *result.getUsers().begin();
  if (isa<tensor::ExtractSliceOp>(user) && user->hasOneUse())
    user = *user->getUsers().begin();
  auto store = matchStore(user);
  if (!store || store->tensor != result || user->getBlock() != loop->getBlock())
    return std::nullopt;
  if (!quiet(loop, user) || plan.groupOf(user).size() > 1 ||
      !plan.guardedBy(user).empty())
    return std::nullopt;
  return store;
}

/// The new function's value for `value`, before the place where the old one has
/// it: operations without side effects are emitted here as well. Null where
/// there are others.
static Value emitEarly(OpBuilder &b, Value value, const IRMapping &map,
                       IRMapping &early, function_ref<bool(Value)> isHere) {
  if (Value known = early.lookupOrNull(value))
    return known;
  if (Value mapped = map.lookupOrNull(value))
    return isHere(mapped) ? mapped : Value();
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !isPure(op) ||
      kindOf(op) != OpKind::Scalar)
    return {};
  for (Value operand : op->getOperands()) {
    Value here = emitEarly(b, operand, map, early, isHere);
    if (!here)
      return {};
    early.map(operand, here);
  }
  b.clone(*op, early);
  return early.lookup(value);
}

/// Before the loop.
void FunctionEmitter::openStores(DeepMatmul &product, scf::ForOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), rewriter);
  if (!product.kernel(b).maySumsGoElsewhere())
    return;
  auto store = findStoreOfSums(product.op, loop, plan);
  if (!store)
    return;
  IRMapping early;
  auto emit = [&](Value value) {
    return emitEarly(rewriter, value, map, early,
                     [&](Value mapped) { return isHere(mapped); });
  };
  Value memref = emit(store->write.getDest());
  SmallVector<OpFoldResult> low;
  for (OpFoldResult number : store->low) {
    if (auto value = dyn_cast<Value>(number))
      number = emit(value);
    if (!number)
      return;
    low.push_back(number);
  }
  auto type = cast<RankedTensorType>(store->tensor.getType());
  if (!memref || cast<MemRefType>(memref.getType()).getElementType() !=
                     type.getElementType())
    return;
  View view = makeView(rewriter, b.getLoc(), memref, type.getShape(), low);
  Value mayBe = boxIsWhole(view, b.getLoc());
  auto require = [&](Value condition) {
    mayBe = mayBe ? arith::AndIOp::create(b, mayBe, condition).getResult()
                  : condition;
  };
  if (auto step = constantOf(view.strides[1]); !step)
    require(arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                  toValue(b, b.getLoc(), view.strides[1]),
                                  arith::ConstantIndexOp::create(b, 1)));
  else if (*step != 1)
    return;
  if (!mayBe)
    mayBe = arith::ConstantIntOp::create(b, 1, 1);
  ByteRange range = GuardBuilder(rewriter, b.getLoc()).rangeOf(view);
  product.stored =
      StoredSums{memrefOf(view, {ShapedType::kDynamic, 1}, b.getLoc()),
                 range.begin,
                 range.end,
                 mayBe,
                 allocate(MemRefType::get({1}, b.getI64Type())),
                 store->write.getLoc()};
  memref::StoreOp::create(b, arith::ConstantIntOp::create(b, 0, 64),
                          product.stored->isDone,
                          ValueRange{arith::ConstantIndexOp::create(b, 0)});
  storedWithSums[store->write] = product.stored->isDone;
  Decision(product.op.getLoc(), "product")
      .report("the last steps store the sums where they are wanted, if all of "
              "the block is in the array and nothing of it is still read");
}

Value DeepMatmul::memoryOfSums(ImplicitLocOpBuilder &b, Value acc,
                               const RowsInMemory &rows, Value steps,
                               Value isNow) const {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  isNow = arith::AndIOp::create(
      b, isNow, arith::AndIOp::create(b, isLast, stored->mayBe));
  // Rows of a that lie in memory are read while others are stored.
  if (rows.address) {
    int64_t count =
        cast<MemRefType>(stored->memref.getType()).getDimSize(0) - 1;
    Value toLast = arith::MulIOp::create(b, rows.rowBytes, index(count)),
          rowEnd = arith::AddIOp::create(
              b, rows.address,
              arith::MulIOp::create(b, steps, index(kernel(b).packedBytes()))),
          begin = arith::AddIOp::create(
              b, rows.address, arith::MinSIOp::create(b, toLast, index(0))),
          end = arith::AddIOp::create(
              b, rowEnd, arith::MaxSIOp::create(b, toLast, index(0)));
    auto isBefore = [&](Value end, Value begin) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::ule, end, begin);
    };
    isNow = arith::AndIOp::create(
        b, isNow,
        arith::OrIOp::create(b, isBefore(stored->end, begin),
                             isBefore(end, stored->begin)));
  }
  memref::StoreOp::create(b, arith::ExtUIOp::create(b, b.getI64Type(), isNow),
                          stored->isDone, ValueRange{index(0)});
  auto type = cast<MemRefType>(stored->memref.getType());
  return arith::SelectOp::create(b, isNow, stored->memref,
                                 memref::CastOp::create(b, type, acc));
}

/// Where `op` is a store that the last steps of a product may have done: goes
/// to the branch for what they have not.
void FunctionEmitter::skipIfStored(Operation *op) {
  auto it = storedWithSums.find(op);
  if (it == storedWithSums.end())
    return;
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  Value isDone = memref::LoadOp::create(
      b, it->second, ValueRange{arith::ConstantIndexOp::create(b, 0)});
  Value isLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, isDone,
                                       arith::ConstantIntOp::create(b, 0, 64));
  auto branch = scf::IfOp::create(b, isLeft, /*withElseRegion=*/false);
  rewriter.setInsertionPointToStart(branch.thenBlock());
}
