//===- Stream.cpp - stores that go around the caches -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An ordinary store reads its cache line first, and pushes another one out. A
// launch that reads and writes more than the last cache keeps saves both by
// non-temporal stores, which want whole lines. A smaller one leaves what it
// writes to those who read it next. Which it is is known when it runs, from the
// grid, the box of the store and the loops around it.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Growth.h"
#include "cpu-backend/emit/NestEmitter.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// How often the code here runs in a launch: programs, and iterations of the
/// loops around. Each factor is cut to a size at which products do not overflow
/// and that is large enough for the comparison.
Value NestEmitter::runsInLaunch() {
  auto toIndex = [&](Value value) -> Value {
    if (value.getType().isIndex())
      return value;
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  };
  auto times = [&](Value product, Value factor) -> Value {
    factor = arith::MinSIOp::create(b, loc, toIndex(factor), constant(1 << 20));
    product = arith::MulIOp::create(b, loc, product, factor);
    return arith::MinSIOp::create(b, loc, product, constant(1 << 30));
  };
  auto arguments = fe.oldFunc.getArguments();
  Value runs = constant(1);
  for (Value count : arguments.take_back(3))
    runs = times(runs, fe.mapScalar(count));
  if (int64_t merged = fe.programsAtOnce(); merged > 1)
    runs = arith::DivUIOp::create(b, loc, runs, constant(merged));
  for (Operation *at = b.getInsertionBlock()->getParentOp();
       at && !isa<func::FuncOp>(at); at = at->getParentOp()) {
    auto around = dyn_cast<scf::ForOp>(at);
    if (!around)
      continue;
    Value length = arith::SubIOp::create(b, loc, around.getUpperBound(),
                                         around.getLowerBound());
    if (getConstantIntValue(around.getStep()) != 1)
      length = arith::CeilDivSIOp::create(b, loc, length, around.getStep());
    runs = times(runs, length);
  }
  return runs;
}

/// Whether stores of the output can go around the caches, whatever its size.
bool NestEmitter::mayStream(const NestOutput &output) {
  return output.isStore && output.isWriteOnly && !output.mask &&
         constantOf(output.view.strides[frame.vecDim]) == 1 &&
         output.view.elementType().getIntOrFloatBitWidth() % 8 == 0;
}

/// How many vectors of `lanes` a step needs so that what it streams is pairs of
/// lines: with arithmetic between them, single lines took an Intel Xeon two to
/// three times as long. Few registers would not hold as many vectors.
int64_t NestEmitter::unrollToStream(int64_t lanes) {
  if (fe.target().streamBytes <= 0 || fe.target().vectorBits < 512 ||
      nest.isCold || !nest.reduceDims.empty())
    return 1;
  int64_t unroll = 1;
  for (const NestOutput &output : nest.outputs) {
    if (!mayStream(output))
      continue;
    int64_t size = output.view.elementType().getIntOrFloatBitWidth() / 8;
    // Short rows would be left to masked steps.
    if (nest.shape[frame.vecDim] * size >= 16 * lineBytes)
      unroll =
          std::max(unroll, llvm::divideCeilSigned(2 * lineBytes, lanes * size));
  }
  return std::min<int64_t>(unroll, 4);
}

/// All programs read the same by this view, such as the weights of a norm,
/// though perhaps in pieces.
bool NestEmitter::isAlwaysThere(const View &view) {
  auto offset = dyn_cast<Value>(view.placed().offset);
  if (!offset)
    return true;
  auto ids = fe.oldFunc.getArguments().take_back(6).drop_back(3);
  return llvm::all_of(ids, [&](Value id) {
    auto growth = growthOfProgram(b, loc, offset, fe.mapScalar(id));
    return growth && constantOf(*growth) == 0;
  });
}

/// What the nest moves between memory and caches for each element of an output:
/// its stores, and what it reads once an element, or other nests have read for
/// it. Rows and columns that are broadcast, and what all programs read, count
/// for little.
int64_t NestEmitter::bytesByElement() {
  int64_t elements = ShapedType::getNumElements(nest.shape), bytes = 0;
  auto count = [&](Type type) {
    bytes += llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  };
  llvm::DenseSet<Value> counted;
  SmallVector<Value> kept;
  auto visit = [&](Value value, ArrayRef<Index>) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getNumElements() < elements || !counted.insert(value).second)
      return true;
    auto load = fe.loads.find(value);
    bool isKept = fe.buffers.count(value);
    if (isKept && load == fe.loads.end())
      kept.push_back(value);
    // What is copied, also to be transposed, comes from memory, too.
    bool isView = load != fe.loads.end() &&
                  (isKept || fe.staged.count(value) ||
                   fe.viewIfInMemory(value) == load->second.get());
    Operation *op = value.getDefiningOp();
    if (isView ? !isAlwaysThere(*load->second)
               : fe.irregular.count(value) ||
                     isa_and_nonnull<linalg_ext::GatherOp,
                                     linalg_ext::MaskedLoadOp>(op))
      count(type.getElementType());
    return true;
  };
  for (const NestOutput &output : nest.outputs) {
    if (output.source || !output.isStore)
      continue;
    count(output.view.elementType());
    fe.walkCone(output.tensor, indices, nullptr, visit);
  }
  // What a buffer was computed from came from memory, too.
  llvm::DenseSet<Value> seen;
  while (!kept.empty()) {
    Value value = kept.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    for (Value input : op->getOperands()) {
      auto type = dyn_cast<RankedTensorType>(input.getType());
      if (!type || !type.hasStaticShape() || !seen.insert(input).second)
        continue;
      visit(input, {});
      if (!fe.loads.count(input))
        kept.push_back(input);
    }
  }
  return bytes;
}

/// The outputs that may be large enough, each with the condition for it: values
/// at the outermost level.
SmallVector<std::pair<NestOutput *, Value>> NestEmitter::findLarge() {
  SmallVector<std::pair<NestOutput *, Value>> result;
  int64_t threshold = fe.target().streamBytes;
  if (threshold <= 0 || nest.isCold || !nest.reduceDims.empty() ||
      frame.vecDim < 0)
    return result;
  Value runs;
  int64_t moved = 0;
  for (NestOutput &output : nest.outputs) {
    int64_t bits = output.view.elementType().getIntOrFloatBitWidth();
    if (!mayStream(output) || frame.lanes * bits / 8 < 16)
      continue;
    if (!runs) {
      runs = runsInLaunch();
      moved = bytesByElement();
    }
    OpFoldResult elements = b.getIndexAttr(moved);
    for (auto [lo, hi] : llvm::zip_equal(output.view.lo, output.view.hi))
      elements = mulIndex(b, loc, elements, subIndex(b, loc, hi, lo));
    Value bytes =
        arith::MulIOp::create(b, loc, runs, toValue(b, loc, elements));
    Value isLarge = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                          bytes, constant(threshold));
    if (nest.redirected) {
      Value isDirect = arith::XOrIOp::create(
          b, loc, nest.redirected, arith::ConstantIntOp::create(b, loc, 1, 1));
      isLarge = arith::AndIOp::create(b, loc, isLarge, isDirect);
    }
    result.push_back({&output, isLarge});
  }
  return result;
}

/// Which outputs go around the caches.
void NestEmitter::findStreams() {
  if (!squares || squares->streams)
    large = findLarge();
  for (auto &[output, isLarge] : large) {
    int64_t bits = output->view.elementType().getIntOrFloatBitWidth();
    if (squares)
      isLarge =
          arith::AndIOp::create(b, loc, isLarge, columnsAreLines(output->view));
    // The masked steps at both ends are worth it for several lines.
    if (nest.shape[frame.vecDim] * bits / 8 < 16 * lineBytes)
      mayShift = false;
  }
  // What is masked comes last there.
  mayShift &= scans.empty();
  reportStreams();
  if (large.empty())
    return;
  // Lanes that begin anywhere may reach beyond a tensor's end: offsets and
  // masks there are no values to gather by.
  Indices at = indices;
  auto visit = [&](Value value, ArrayRef<Index> place) {
    if (fe.viewIfInMemory(value))
      return true;
    Operation *op = value.getDefiningOp();
    // Rows end where their memory does.
    if (isPick(op) &&
        place[cast<linalg_ext::GatherAlongOp>(op).getDimension()].dim !=
            frame.vecDim)
      mayShift = false;
    auto rows = dyn_cast_or_null<linalg_ext::GatherRowsOp>(op);
    if (rows ? place[rows.getDim()].dim == frame.vecDim
             : isa_and_nonnull<linalg_ext::GatherOp, linalg_ext::MaskedLoadOp>(
                   op))
      mayShift = false;
    return true;
  };
  for (const NestOutput &output : nest.outputs) {
    if (output.source || !output.isStore || output.mask)
      mayShift = false;
    else
      fe.walkCone(output.tensor, at, nullptr, visit);
  }
}
