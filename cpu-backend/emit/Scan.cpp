//===- Scan.cpp - linalg_ext.scan -----------------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Along any dimension but the last one, rows of vectors are combined with the
// row before. Along the last one a vector is scanned, then what was combined up
// to the vector before is put in front. The same of rows that are shorter than
// a vector, in either direction: a vector has several, those of one line or of
// several lines. A region that cannot run on vectors runs element by element.
// (A scan whose result is only stored is no root of its own: StreamScans.cpp.)

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/Roots.h"
#include "cpu-backend/emit/ScanVectors.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

class ScanEmitter {
public:
  ScanEmitter(Emitter &emitter, linalg_ext::ScanOp op)
      : emitter(emitter), b(emitter.builder()), op(op), loc(op.getLoc()),
        region(op.getCombiner().front()), vectors(emitter, op) {
    auto type = cast<RankedTensorType>(op.getInputs().front().getType());
    shape.assign(type.getShape().begin(), type.getShape().end());
    dim = op.getDimension();
    unsigned widest = 8;
    for (Value input : op.getInputs()) {
      elements.push_back(
          cast<RankedTensorType>(input.getType()).getElementType());
      widest = std::max(widest, elements.back().getIntOrFloatBitWidth());
    }
    native = std::max<int64_t>(1, emitter.target().vectorBits /
                                      std::max(widest, 32u));
  }

  LogicalResult emit() {
    if (waitsForRows())
      native = std::min(native, shape.back());
    for (Value input : op.getInputs()) {
      sources.push_back(emitter.bufferOf(input));
      if (!sources.back())
        return failure();
    }
    for (Value result : op.getResults())
      targets.push_back(emitter.resultBuffer(result));

    int64_t last = shape.back(), apart = 1;
    for (int64_t size : ArrayRef(shape).drop_front(dim + 1))
      apart *= size;
    if (!canRunOnVectors(region) || native == 1)
      return scanElements();
    int64_t line = apart * shape[dim];
    if (llvm::isPowerOf2_64(line) && 2 * apart <= native)
      return scanLanes(apart, line);
    return apart > 1 && last > 1 ? scanRows() : scanElements();
  }

private:
  /// The operands are a few rows that are copied to scratch memory one by one:
  /// a load of several would wait until these have left the CPU.
  bool waitsForRows() {
    constexpr int64_t mostRows = 16;
    int64_t rows = 1;
    for (int64_t size : ArrayRef(shape).drop_back())
      rows *= size;
    return rows <= mostRows && llvm::any_of(op.getInputs(), [&](Value input) {
             Value read = emitter.viewOfLoad(input);
             auto type = read ? cast<MemRefType>(read.getType()) : MemRefType();
             return !type || !type.areTrailingDimsContiguous(type.getRank());
           });
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  /// Position i of the scan, counted from its end where it is reversed.
  Value position(Value i) {
    if (!op.getReverse())
      return i;
    return arith::SubIOp::create(b, loc, constant(shape[dim] - 1), i);
  }

  SmallVector<Value> load(ArrayRef<Value> buffers, Position at, int64_t lanes) {
    SmallVector<Value> values;
    for (auto [buffer, element] : llvm::zip(buffers, elements))
      values.push_back(loadElements(b, loc, buffer, at, element, lanes));
    return values;
  }

  void store(ValueRange values, Position at) {
    for (auto [value, buffer] : llvm::zip(values, targets))
      storeElements(b, loc, value, buffer, at);
  }

  /// Loops over all dimensions but that of the scan (and the last one, where
  /// `rows`); `body` gets an index for each, null there.
  void outerLoops(bool rows,
                  llvm::function_ref<void(SmallVector<Value>)> body) {
    SmallVector<int64_t> counts;
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d < shape.size(); ++d)
      if (d != static_cast<unsigned>(dim) && !(rows && d + 1 == shape.size())) {
        dims.push_back(d);
        counts.push_back(shape[d]);
      }
    (void)forEachElement(emitter, loc, counts, [&](Position indices) {
      SmallVector<Value> at(shape.size());
      for (auto [d, index] : llvm::zip(dims, indices))
        at[d] = index;
      body(at);
      return success();
    });
  }

  LogicalResult scanElements() {
    outerLoops(/*rows=*/false, [&](SmallVector<Value> at) {
      at[dim] = position(constant(0));
      SmallVector<Value> first = load(sources, at, 0);
      store(first, at);
      auto loop = scf::ForOp::create(b, loc, constant(1), constant(shape[dim]),
                                     constant(1), first);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      at[dim] = position(loop.getInductionVar());
      SmallVector<Value> sums =
          vectors.combine(llvm::to_vector_of<Value>(loop.getRegionIterArgs()),
                          load(sources, at, 0), 0);
      store(sums, at);
      scf::YieldOp::create(b, loc, sums);
    });
    return success();
  }

  LogicalResult scanRows() {
    int64_t last = shape.back(), whole = last / native * native;
    outerLoops(/*rows=*/true, [&](SmallVector<Value> at) {
      auto columns = [&](Value column, int64_t lanes) {
        at.back() = column;
        at[dim] = position(constant(0));
        SmallVector<Value> first = load(sources, at, lanes);
        store(first, at);
        auto loop = scf::ForOp::create(
            b, loc, constant(1), constant(shape[dim]), constant(1), first);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        at[dim] = position(loop.getInductionVar());
        SmallVector<Value> sums =
            vectors.combine(llvm::to_vector_of<Value>(loop.getRegionIterArgs()),
                            load(sources, at, lanes), lanes);
        store(sums, at);
        scf::YieldOp::create(b, loc, sums);
      };
      if (whole > 0) {
        auto loop = scf::ForOp::create(b, loc, constant(0), constant(whole),
                                       constant(native));
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        columns(loop.getInductionVar(), native);
      }
      if (whole < last)
        columns(constant(whole), last - whole);
    });
    return success();
  }

  /// All elements, one after the other.
  Value flat(Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    if (type.getRank() == 1)
      return buffer;
    auto to = MemRefType::get({type.getNumElements()}, type.getElementType());
    return memref::ReinterpretCastOp::create(
        b, loc, to, buffer, /*offset=*/0, to.getShape(), ArrayRef<int64_t>{1});
  }

  /// The next vector of a line, where each result is one of two operands: what
  /// the line's next vector goes on with. Of numbers in any order hardly any is
  /// chosen, of a rising row's all are: both are as if combined one by one.
  SmallVector<Value> choose(SmallVector<Value> before, Value at, int64_t lanes,
                            int64_t apart) {
    SmallVector<Value> values = load(sources, at, lanes);
    SmallVector<Type> types = llvm::to_vector(TypeRange(ValueRange(values)));
    auto either = [&](Value isFirst, auto first, auto second) {
      auto branch = scf::IfOp::create(b, loc, types, isFirst, true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, loc, first());
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, loc, second());
      return llvm::to_vector_of<Value>(branch.getResults());
    };
    auto stored = [&](SmallVector<Value> results) {
      store(results, at);
      return vectors.lastLanes(results, lanes, apart);
    };
    SmallVector<Value> after = vectors.combine(before, values, lanes);
    return either(
        vectors.areAll(after, before, /*isBefore=*/true),
        [&] {
          store(before, at);
          return before;
        },
        [&] {
          SmallVector<Value> pairs = vectors.combine(
              vectors.neighbours(before, values, lanes, apart), values, lanes);
          return either(
              vectors.areAll(pairs, values, /*isBefore=*/false),
              [&] { return stored(values); },
              [&] {
                return stored(vectors.combine(
                    before, vectors.scan(pairs, lanes, apart, lanes, 2 * apart),
                    lanes));
              });
        });
  }

  /// Lines of `line` elements, neighbours of which are `apart`.
  LogicalResult scanLanes(int64_t apart, int64_t line) {
    int64_t total = 1;
    for (int64_t size : shape)
      total *= size;
    // Several lines a vector, or several vectors a line.
    int64_t lanes = line;
    while (lanes < native && total % (2 * lanes) == 0)
      lanes *= 2;
    lanes = std::min(lanes, native);
    for (Value &source : sources)
      source = flat(source);
    for (Value &target : targets)
      target = flat(target);
    auto scanned = [&](Value at) {
      return vectors.scan(load(sources, at, lanes), lanes, apart, line);
    };
    int64_t step = std::max(line, lanes);
    auto lines = scf::ForOp::create(b, loc, constant(0), constant(total),
                                    constant(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(lines.getBody());
    Value begin = lines.getInductionVar();
    auto place = [&](Value i) -> Value {
      if (op.getReverse())
        i = arith::SubIOp::create(b, loc, constant(step - lanes), i);
      return arith::AddIOp::create(b, loc, begin, i);
    };
    Value at = place(constant(0));
    SmallVector<Value> first = scanned(at);
    store(first, at);
    if (step == lanes)
      return success();
    auto loop = scf::ForOp::create(b, loc, constant(lanes), constant(step),
                                   constant(lanes),
                                   vectors.lastLanes(first, lanes, apart));
    b.setInsertionPointToStart(loop.getBody());
    at = place(loop.getInductionVar());
    auto before = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
    if (isChoice(op)) {
      scf::YieldOp::create(b, loc, choose(before, at, lanes, apart));
      return success();
    }
    SmallVector<Value> within = scanned(at);
    store(vectors.combine(before, within, lanes), at);
    scf::YieldOp::create(
        b, loc,
        vectors.combine(before, vectors.lastLanes(within, lanes, apart),
                        lanes));
    return success();
  }

  Emitter &emitter;
  OpBuilder &b;
  linalg_ext::ScanOp op;
  Location loc;
  Block &region;
  ScanVectors vectors;
  SmallVector<int64_t> shape;
  int64_t dim = 0, native = 1;
  SmallVector<Type> elements;
  SmallVector<Value> sources, targets;
};

} // namespace

LogicalResult tilebridge::cpu::emitScan(Emitter &emitter, Operation *op) {
  return ScanEmitter(emitter, cast<linalg_ext::ScanOp>(op)).emit();
}
