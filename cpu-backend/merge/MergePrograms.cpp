//===- MergePrograms.cpp - tilebridge-cpu-merge-programs ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Programs that each read a column of a matrix in row-major order read a line
// of memory for each element, and the next program reads the same lines again,
// if they are still in a cache: the rows of a matrix whose width is a power of
// two share few places there. As many programs as a line has elements are
// compiled as one, and its lanes are the programs. So are programs that each
// read a few columns, less than a line has.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "cpu-backend/emit/View.h"
#include "cpu-backend/merge/FewRows.h"
#include "cpu-backend/merge/MergeReport.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "cpu-backend/merge/ProgramColumns.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilebridge;

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUMERGEPROGRAMSPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace tilebridge::cpu;
/// Blocks of all programs together stay in the second cache.
static constexpr int64_t mostBlockBytes = 512 * 1024;
/// Lines of each row that programs read together, and that sums of rows do.
static constexpr int64_t severalLines = 4, linesOfSums = 16;

namespace {
/// How the accesses of merged programs lie in memory.
struct Shape {
  /// Elements that are next to those of the next program, and elements that
  /// are next to one another in a program.
  int64_t columns = 0, rows = 0;
  /// Of `columns`, those that are read, of all programs.
  int64_t readColumns = 0, readBytes = 0;
  /// Arguments that are taken to be 1 for that.
  SmallVector<BlockArgument> ones;

  void addRead(int64_t elements, MemRefType type) {
    readColumns += elements;
    readBytes += elements * elementBytes(type);
  }
};
} // namespace

/// The strides of a view of programs, without that of the programs.
static SmallVector<OpFoldResult> stridesOf(Value view) {
  while (auto part = view.getDefiningOp<memref::SubViewOp>())
    view = part.getSource();
  auto cast = view.getDefiningOp<memref::ReinterpretCastOp>();
  auto strides = cast.getConstifiedMixedStrides();
  strides.pop_back();
  return strides;
}

static Shape shapeOf(ProgramBatch &batch, int64_t width) {
  Shape shape;
  for (const BatchedAccess &access : batch.accesses()) {
    auto type = cast<MemRefType>(access.view.getType());
    // Nothing else is accessed where blocks are a few columns.
    if (width) {
      shape.columns += elementsOf(access.view);
      if (!access.isStore)
        shape.addRead(elementsOf(access.view), type);
      continue;
    }
    auto strides = stridesOf(access.view);
    bool hasRow = false;
    Value inner;
    for (auto [size, stride] :
         llvm::zip_equal(type.getShape().drop_back(), strides)) {
      if (size == 1)
        continue;
      hasRow |= getConstantIntValue(stride) == 1;
      inner = dyn_cast<Value>(stride);
    }
    int64_t elements = elementsOf(access.view);
    auto step = getConstantIntValue(access.step);
    if (hasRow) {
      shape.rows += elements;
    } else if (step == 1) {
      shape.columns += elements;
      if (!access.isStore)
        shape.addRead(elements, type);
    } else if (BlockArgument argument = scalarArgumentOf(access.step);
               argument && !access.isStore) {
      // Which of the two is 1 is known when the program runs.
      shape.columns += elements;
      shape.addRead(elements, type);
      shape.ones.push_back(argument);
    } else if (BlockArgument argument = scalarArgumentOf(inner)) {
      shape.rows += elements;
      shape.ones.push_back(argument);
    }
  }
  return shape;
}

/// Columns are what merging is for; rows stay as they are.
static bool isWorthIt(const Shape &shape) {
  return shape.columns > 0 && 2 * shape.columns >= shape.rows;
}

func::FuncOp tilebridge::cpu::makeMergedStep(func::FuncOp func, Value divisor,
                                             ArrayRef<BlockArgument> ones,
                                             StringRef suffix) {
  OpBuilder b(func.getContext());
  b.setInsertionPointAfter(func);
  Location loc = func.getLoc();
  Type i64 = b.getI64Type();
  auto step =
      func::FuncOp::create(b, loc, (func.getName() + suffix + "_step").str(),
                           b.getFunctionType(func.getArgumentTypes(), i64));
  step.setPrivate();
  b.setInsertionPointToStart(step.addEntryBlock());
  IRMapping map;
  map.map(func.getArguments(), step.getArguments());
  ScalarSlice slice;
  if (divisor && failed(addToSlice(divisor, func.getBody().front(), slice)))
    return step.erase(), func::FuncOp();
  for (Operation *op : slice)
    b.clone(*op, map);
  Value value = divisor ? map.lookup(divisor)
                        : arith::ConstantIntOp::create(b, loc, i64, 1);
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, loc, i64, value);
  else if (value.getType() != i64)
    value = arith::ExtSIOp::create(b, loc, i64, value);
  Value none = arith::ConstantIntOp::create(b, loc, i64, 0);
  for (BlockArgument argument : ones) {
    Value one =
        arith::ConstantOp::create(b, loc, b.getOneAttr(argument.getType()));
    Value isOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        map.lookup(argument), one);
    value = arith::SelectOp::create(b, loc, isOne, value, none);
  }
  func::ReturnOp::create(b, loc, value);
  return step;
}

/// How large blocks may be of merged programs that take several lines of each
/// row, where as many are left; 0: they take one. Rows of a matrix that is
/// larger than the caches lie on pages of their own, and one line of each is
/// read as slowly as several; so are long columns, whose matrices are large,
/// those that a loop goes down, and blocks that are only moved. The blocks of
/// short columns are better off in the first cache, and where a division may
/// end rows anywhere, lines are asked for in vain.
static int64_t mostBytesOfLines(func::FuncOp func, bool isInBlocks,
                                bool isDivided) {
  constexpr int64_t longColumn = 1024, mostInLoop = 64 * 1024,
                    mostOfSums = 256 * 1024;
  if (isInBlocks)
    return anyInside(func, llvm::IsaPred<linalg::LinalgOp>) ? 0
                                                            : mostBlockBytes;
  bool isLong = anyInside(func, [](Operation *op) {
    auto load = dyn_cast<bufferization::ToTensorOp>(op);
    return load && elementsOf(load.getBuffer()) >= longColumn;
  });
  if (isLong)
    return mostBlockBytes;
  if (isDivided || !readsRowsInLoop(func))
    return 0;
  return isSumOfRows(func) ? mostOfSums : mostInLoop;
}

namespace {
enum class Merging { Done, TooLarge, NotPossible };
} // namespace

/// Makes the function that runs `count` programs, if that is worth it, and,
/// with `isCertain`, if that does not depend on the launch's strides.
static Merging mergeSome(func::FuncOp func, unsigned axis, Value divisor,
                         bool isCertain, int64_t largeRead, int64_t count,
                         ProgramColumns columns, int64_t mostBytes,
                         StringRef suffix) {
  int64_t width = columns.width, bytes = columns.bytes;
  ProgramBatch batch(func, {axis, divisor, count, width});
  if (failed(batch.run()))
    return Merging::NotPossible;
  func::FuncOp result = batch.function();
  Shape shape = shapeOf(batch, width);
  bool isLarge = batch.largestBlock() > mostBytes;
  if (isLarge || !isWorthIt(shape) || (isCertain && !shape.ones.empty())) {
    result.erase();
    return isLarge ? Merging::TooLarge : Merging::NotPossible;
  }
  result.setName((func.getName() + suffix).str());
  // As arguments of the kernel.
  SmallVector<BlockArgument> ones;
  for (BlockArgument argument : shape.ones) {
    batch.assumeOne(argument);
    ones.push_back(func.getArgument(argument.getArgNumber()));
  }
  if (failed(batch.finish()))
    return Merging::NotPossible;
  OpBuilder b(func.getContext());
  result->setAttr(mergedCountAttr, b.getI64IntegerAttr(count));
  result->setAttr(mergedAxisAttr, b.getI64IntegerAttr(axis));
  // Few groups that read so fast are worth as much as many.
  constexpr int64_t leastGroups = 4;
  if (count * std::max<int64_t>(width, 1) * bytes > severalLines * lineBytes)
    result->setAttr(mergedGroupsAttr, b.getI64IntegerAttr(leastGroups));
  if (divisor || !ones.empty()) {
    func::FuncOp step = makeMergedStep(func, divisor, ones, suffix);
    if (!step)
      return result.erase(), Merging::NotPossible;
    result->setAttr(mergedStepAttr, FlatSymbolRefAttr::get(step.getNameAttr()));
    // What is read goes on in the same rows of memory then: what is written to
    // other ones is not waited for.
    if (divisor && axis == 0 && 2 * shape.readColumns > shape.columns &&
        largeRead > 0)
      result->setAttr(mergedApartAttr,
                      b.getI64IntegerAttr(llvm::divideCeil(largeRead * count,
                                                           shape.readBytes)));
  }
  reportMerged(
      func, axis, count,
      Twine("that many are left: what they access lies side by side") +
          (batch.isConditional()
               ? ", which is compared when the kernel runs; others run alone"
               : "; others run alone"),
      divisor != nullptr);
  return Merging::Done;
}

static bool merge(func::FuncOp func, unsigned axis, Value divisor,
                  bool isCertain, int64_t largeRead, ProgramColumns columns) {
  constexpr int64_t leastBytes = lineBytes / 2;
  const int64_t width = std::max<int64_t>(columns.width, 1),
                bytes = width * columns.bytes,
                // Of blocks that have a line each, two.
      line = std::max<int64_t>(lineBytes / bytes, 2);
  auto some = [&](int64_t count, int64_t mostBytes, StringRef suffix) {
    return mergeSome(func, axis, divisor, isCertain, largeRead, count, columns,
                     mostBytes, suffix);
  };
  int64_t count = line;
  Merging one = Merging::TooLarge;
  for (; count > 1 && count * bytes >= leastBytes; count /= 2) {
    one = some(count, mostBlockBytes, ".merged");
    if (one != Merging::TooLarge)
      break;
  }
  bool isDivided = llvm::any_of(llvm::seq(3u),
                                [&](unsigned a) { return divisorOf(func, a); });
  int64_t most = one == Merging::Done && count == line
                     ? mostBytesOfLines(func, divisor != nullptr, isDivided)
                     : 0;
  bool isSum = !divisor && !isDivided && isSumOfRows(func);
  int64_t lines = isSum ? linesOfSums : severalLines;
  for (int64_t more = lines * lineBytes / bytes; most && more > line; more /= 2)
    if (some(more, most, ".merged_lines") != Merging::TooLarge)
      break;
  return one == Merging::Done;
}

/// Bytes of the smallest element that is read or written.
static int64_t smallestBytes(func::FuncOp func) {
  int64_t least = 0;
  func.walk([&](bufferization::ToTensorOp load) {
    int64_t bytes = elementBytes(load.getBuffer().getType());
    least = least == 0 ? bytes : std::min(least, bytes);
  });
  return least;
}

static bool merge(func::FuncOp func, int64_t largeRead) {
  if (!mayBeCompiled(func, 2))
    return false;
  for (unsigned axis = 0; axis < 3; ++axis)
    for (auto find : {findColumns, findNarrowBlocks})
      if (auto columns = find(func, axis))
        if (merge(func, axis, {}, /*isCertain=*/false, largeRead, *columns))
          return true;
  for (unsigned axis = 0; axis < 3; ++axis) {
    Value divisor = divisorOf(func, axis);
    ProgramColumns columns{0, divisor ? smallestBytes(func) : 0};
    if (columns.bytes == 0)
      continue;
    // Where the remainder is a column, as in a sum along the dimension before
    // the last, programs that follow one another lie near, but at a row's end.
    // Where that is up to the launch's strides, the quotient may as well be it:
    // of blocks that are numbered by one id, those of one column are near.
    if (merge(func, axis, {}, /*isCertain=*/true, largeRead, columns) ||
        merge(func, axis, divisor, /*isCertain=*/false, largeRead, columns))
      return true;
  }
  return false;
}

namespace {

struct MergeProgramsPass
    : public tilebridge::cpu::impl::CpuMergeProgramsPassBase<
          MergeProgramsPass> {
  using Base::Base;

  void runOnOperation() override {
    // What tilebridge-cpu-merge-rows has merged along one axis is not along
    // another.
    bool hasMerged = false;
    if (cores < 1) {
      getOperation().emitError("expected the option 'cores' to be at least 1, "
                               "but it is ")
          << int64_t(cores);
      return signalPassFailure();
    }
    if (llvm::any_of(
            getOperation().getOps<func::FuncOp>(),
            [](func::FuncOp func) { return func->hasAttr(mergedCountAttr); }))
      return;
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      hasMerged |= merge(func, largeRead) || mergeFewRows(func, cores);
    if (!hasMerged)
      return;
    OpPassManager cleanup(ModuleOp::getOperationName());
    addFoldStrides(cleanup);
    if (failed(runPipeline(cleanup, getOperation())))
      signalPassFailure();
  }
};

} // namespace
