//===- Bufferization.cpp - the dialect's ops as loops over buffers --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// BufferizableOpInterface. The ops take tensors only, so there is no op on
// buffers to become: each is its own meaning, element by element in row-major
// order, into a new buffer. Written for exactness, as a backend's last resort;
// no operand is overwritten.
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/Interfaces.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace tilebridge::linalg_ext;

namespace {

/// The op's operands and results as buffers, and code for their elements.
class Loops {
public:
  Loops(RewriterBase &b, Operation *op) : b(b), op(op), loc(op->getLoc()) {}

  LogicalResult prepare(const BufferizationOptions &options,
                        BufferizationState &state) {
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      FailureOr<Value> buffer = getBuffer(b, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers[operand] = *buffer;
    }
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        return op->emitOpError("has a scalar result and needs no buffers");
      FailureOr<Value> memory = options.createAlloc(
          b, loc, MemRefType::get(type.getShape(), type.getElementType()), {});
      if (failed(memory))
        return failure();
      results.push_back(*memory);
    }
    return success();
  }

  /// A loop a dimension.
  void over(ArrayRef<int64_t> shape, function_ref<void(ValueRange)> body) {
    SmallVector<Value> lower(shape.size(), index(0)),
        step(shape.size(), index(1)), upper;
    for (int64_t size : shape)
      upper.push_back(index(size));
    scf::buildLoopNest(b, loc, lower, upper, step,
                       [&](OpBuilder &, Location, ValueRange at) { body(at); });
  }
  void when(Value condition, function_ref<void()> body) {
    if (!condition)
      return body();
    auto branch = scf::IfOp::create(b, loc, condition, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }
  Value choose(Value condition, function_ref<Value()> yes,
               function_ref<Value()> no) {
    if (!condition)
      return yes();
    auto branch = scf::IfOp::create(
        b, loc, condition,
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, yes()); },
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, no()); });
    return branch.getResult(0);
  }

  /// An element of an operand; a scalar is itself, and null stays.
  Value element(Value operand, ValueRange at) {
    Value buffer = operand ? buffers.lookup(operand) : Value();
    return buffer ? memref::LoadOp::create(b, loc, buffer, at).getResult()
                  : operand;
  }
  Value other(Value operand, ValueRange at, Type type) {
    if (operand)
      return element(operand, at);
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }
  Value load(Value memory, ValueRange at) {
    return memref::LoadOp::create(b, loc, memory, at);
  }
  void store(Value value, Value memory, ValueRange at) {
    memref::StoreOp::create(b, loc, value, memory, at);
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value toIndex(Value integer, bool isSigned = true) {
    Type type = b.getIndexType();
    return isSigned
               ? arith::IndexCastOp::create(b, loc, type, integer).getResult()
               : arith::IndexCastUIOp::create(b, loc, type, integer)
                     .getResult();
  }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  }
  Value both(Value x, Value y) {
    if (!x || !y)
      return x ? x : y;
    return arith::AndIOp::create(b, loc, x, y);
  }

  /// The yields of a combiner for these arguments.
  SmallVector<Value> combine(Region &region, ArrayRef<Value> arguments) {
    IRMapping map;
    Block &body = region.front();
    map.map(body.getArguments(), arguments);
    for (Operation &inner : body.without_terminator())
      b.clone(inner, map);
    return llvm::map_to_vector(
        body.getTerminator()->getOperands(),
        [&](Value value) { return map.lookupOrDefault(value); });
  }

  RewriterBase &b;
  Operation *op;
  Location loc;
  SmallVector<Value> results;

private:
  llvm::DenseMap<Value, Value> buffers;
};

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

void emit(GatherOp op, Loops &l) {
  Type type = cast<MemRefType>(op.getBase().getType()).getElementType();
  l.over(shapeOf(op.getResult()), [&](ValueRange at) {
    Value offset = l.toIndex(l.element(op.getOffsets(), at));
    Value value = l.choose(
        l.element(op.getMask(), at),
        [&] { return l.load(op.getBase(), offset); },
        [&] { return l.other(op.getOther(), at, type); });
    l.store(value, l.results[0], at);
  });
}

void emit(ScatterOp op, Loops &l) {
  l.over(shapeOf(op.getValue()), [&](ValueRange at) {
    l.when(l.element(op.getMask(), at), [&] {
      l.store(l.element(op.getValue(), at), op.getBase(),
              l.toIndex(l.element(op.getOffsets(), at)));
    });
  });
}

/// The place in a view of rows, and whether it exists.
template <typename OpTy>
std::pair<SmallVector<Value>, Value> placeOf(OpTy op, Loops &l, ValueRange at) {
  SmallVector<Value> place(at.begin(), at.end());
  unsigned dim = op.getDim();
  place[dim] = l.toIndex(l.element(op.getRows(), at[dim]));
  Value exists = l.element(op.getRowmask(), at[dim]);
  auto type = cast<MemRefType>(op.getView().getType());
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != dim)
      exists = l.both(exists, l.less(at[d], memref::DimOp::create(
                                                l.b, l.loc, op.getView(), d)));
  return {place, exists};
}

void emit(GatherRowsOp op, Loops &l) {
  Type type = cast<MemRefType>(op.getView().getType()).getElementType();
  l.over(shapeOf(op.getResult()), [&](ValueRange at) {
    auto [place, exists] = placeOf(op, l, at);
    Value value = l.choose(
        exists, [&, &place = place] { return l.load(op.getView(), place); },
        [&] { return l.other(op.getOther(), at, type); });
    l.store(value, l.results[0], at);
  });
}

void emit(ScatterRowsOp op, Loops &l) {
  l.over(shapeOf(op.getValue()), [&](ValueRange at) {
    auto [place, exists] = placeOf(op, l, at);
    l.when(exists, [&, &place = place] {
      l.store(l.element(op.getValue(), at), op.getView(), place);
    });
  });
}

void emit(MaskedLoadOp op, Loops &l) {
  Type type = cast<MemRefType>(op.getView().getType()).getElementType();
  l.over(shapeOf(op.getMask()), [&](ValueRange at) {
    Value value = l.choose(
        l.element(op.getMask(), at), [&] { return l.load(op.getView(), at); },
        [&] { return l.other(op.getOther(), at, type); });
    l.store(value, l.results[0], at);
  });
}

void emit(MaskedStoreOp op, Loops &l) {
  l.over(shapeOf(op.getMask()), [&](ValueRange at) {
    l.when(l.element(op.getMask(), at),
           [&] { l.store(l.element(op.getValue(), at), op.getView(), at); });
  });
}

/// Atomics on blocks are the same on scalars, lane by lane.
template <typename OpTy> void emitAtomic(OpTy op, Loops &l) {
  l.over(shapeOf(op.getOffset()), [&](ValueRange at) {
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) {
          return l.element(operand, at);
        });
    Value &offset = operands[isa<AtomicStoreOp>(op) ? 2 : 1];
    if (!offset.getType().isInteger(64))
      offset = arith::ExtSIOp::create(l.b, l.loc, l.b.getI64Type(), offset);
    SmallVector<Type> types =
        llvm::map_to_vector(op->getResultTypes(), [](Type type) {
          return getElementTypeOrSelf(type);
        });
    Operation *scalar = clone(l.b, op, types, operands);
    if (!l.results.empty())
      l.store(scalar->getResult(0), l.results[0], at);
  });
}

void emit(AtomicRMWOp op, Loops &l) { emitAtomic(op, l); }
void emit(AtomicCASOp op, Loops &l) { emitAtomic(op, l); }
void emit(AtomicLoadOp op, Loops &l) { emitAtomic(op, l); }
void emit(AtomicStoreOp op, Loops &l) { emitAtomic(op, l); }

void emit(GatherAlongOp op, Loops &l) {
  int64_t dim = op.getDimension();
  Value last = l.index(shapeOf(op.getSource())[dim] - 1);
  l.over(shapeOf(op.getIndices()), [&](ValueRange at) {
    SmallVector<Value> place(at.begin(), at.end());
    Value chosen = l.toIndex(l.element(op.getIndices(), at), false);
    place[dim] = arith::MinUIOp::create(l.b, l.loc, chosen, last);
    l.store(l.element(op.getSource(), place), l.results[0], at);
  });
}

void emit(HistogramOp op, Loops &l) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(l.b, l.loc, type.getElementType(),
                                        value);
  };
  l.over(type.getShape(),
         [&](ValueRange at) { l.store(constant(0), l.results[0], at); });
  l.over(shapeOf(op.getInput()), [&](ValueRange at) {
    Value bin = l.toIndex(l.element(op.getInput(), at), false);
    Value isBin = arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::ult,
                                        bin, l.index(type.getDimSize(0)));
    l.when(l.both(l.element(op.getMask(), at), isBin), [&] {
      Value count = l.load(l.results[0], bin);
      l.store(arith::AddIOp::create(l.b, l.loc, count, constant(1)),
              l.results[0], bin);
    });
  });
}

/// The elements of all operands at one place.
SmallVector<Value> elementsOf(ValueRange inputs, Loops &l, ValueRange at) {
  return llvm::map_to_vector(inputs,
                             [&](Value input) { return l.element(input, at); });
}

/// Reduce and scan: for each line along `dim` the first element, then one by
/// one what is combined with it. `resultAt` is the place in the results.
void emitLines(Operation *op, ValueRange inputs, Region &combiner, int64_t dim,
               bool isReversed, Loops &l,
               function_ref<SmallVector<Value>(ArrayRef<Value>)> resultAt) {
  SmallVector<int64_t> lines(shapeOf(inputs.front()));
  int64_t count = lines[dim];
  lines[dim] = 1;
  if (count == 0)
    return;
  auto place = [&](ValueRange line, Value number) {
    SmallVector<Value> at(line.begin(), line.end());
    at[dim] = isReversed ? arith::SubIOp::create(l.b, l.loc, l.index(count - 1),
                                                 number)
                               .getResult()
                         : number;
    return at;
  };
  l.over(lines, [&](ValueRange line) {
    SmallVector<Value> first = place(line, l.index(0));
    SmallVector<Value> values = elementsOf(inputs, l, first);
    for (auto [value, result] : llvm::zip_equal(values, l.results))
      l.store(value, result, resultAt(first));
    l.over(count - 1, [&](ValueRange number) {
      SmallVector<Value> before = place(line, number[0]);
      Value next = arith::AddIOp::create(l.b, l.loc, number[0], l.index(1));
      SmallVector<Value> at = place(line, next), arguments;
      for (Value result : l.results)
        arguments.push_back(l.load(result, resultAt(before)));
      arguments.append(elementsOf(inputs, l, at));
      for (auto [value, result] :
           llvm::zip_equal(l.combine(combiner, arguments), l.results))
        l.store(value, result, resultAt(at));
    });
  });
}

void emit(ScanOp op, Loops &l) {
  emitLines(op, op.getInputs(), op.getCombiner(), op.getDimension(),
            op.getReverse(), l,
            [](ArrayRef<Value> at) { return SmallVector<Value>(at); });
}

void emit(ReduceOp op, Loops &l) {
  int64_t dim = op.getDimension();
  emitLines(op, op.getInputs(), op.getCombiner(), dim, false, l,
            [dim](ArrayRef<Value> at) {
              SmallVector<Value> result(at);
              result.erase(result.begin() + dim);
              return result;
            });
}

/// A new buffer for each result; operands are read, and nothing aliases.
template <typename OpTy>
struct Model : BufferizableOpInterface::ExternalModel<Model<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  FailureOr<BufferLikeType> getBufferType(Operation *, Value value,
                                          const BufferizationOptions &,
                                          const BufferizationState &,
                                          SmallVector<Value> &) const {
    auto type = cast<RankedTensorType>(value.getType());
    return cast<BufferLikeType>(
        MemRefType::get(type.getShape(), type.getElementType()));
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    Loops loops(rewriter, op);
    if (failed(loops.prepare(options, state)))
      return failure();
    emit(cast<OpTy>(op), loops);
    replaceOpWithBufferizedValues(rewriter, op, loops.results);
    return success();
  }
};

template <typename... Ops> void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>>(*context), ...);
}

} // namespace

void tilebridge::linalg_ext::registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LinalgExtDialect *) {
    context
        ->loadDialect<arith::ArithDialect, bufferization::BufferizationDialect,
                      memref::MemRefDialect, scf::SCFDialect>();
    attach<GatherOp, ScatterOp, GatherRowsOp, ScatterRowsOp, MaskedLoadOp,
           MaskedStoreOp, AtomicRMWOp, AtomicCASOp, AtomicLoadOp, AtomicStoreOp,
           GatherAlongOp, HistogramOp, ScanOp, ReduceOp>(context);
  });
}
