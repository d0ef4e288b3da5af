//===- FewRows.cpp - programs that multiply few rows ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A product of a few rows, as tokens that are decoded are, takes as long as it
// takes to read its weights. A program that reads 256 bytes of each row of
// these goes to another page for each, and so does the next program, to the
// same ones. Blocks beside each other are multiplied as one that is wide enough
// to read pages as fast as memory gives them.
//===----------------------------------------------------------------------===//

#include "cpu-backend/merge/FewRows.h"
#include "cpu-backend/merge/MergeReport.h"

#include "cpu-backend/PersistentTiles.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/ScalarSlice.h"
#include "cpu-backend/emit/View.h"
#include "cpu-backend/emit/Wanted.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using linalg_ext::kProgramArguments;

/// Rows that are multiplied where the right operand lies, and of a block that
/// is chosen for so few: larger ones are not compiled twice.
static constexpr int64_t mostRows = 4, mostRowsOfBlock = 16;
/// So many groups are left for threads to share.
static int64_t leastGroups(int64_t cores) {
  return std::min<int64_t>(8, 2 * cores);
}
/// A kernel of more operations is not compiled twice.
static constexpr int64_t mostOps = mostOpsTwice / 2;

namespace {
struct NarrowProducts {
  /// Columns of a block of all products' right operands.
  int64_t columns = 0, bytes = 0;
  /// Rows that are stored, of each product that does not store all: how many,
  /// and where they begin.
  SmallVector<WantedPart> rows;
};
} // namespace

/// Bytes of a row from which on longer ones are not read faster by many cores:
/// f32, 1 x 4096 x 4096 on a Zen 4, takes 3.7 ms with blocks of 64 columns, 3.2
/// with 128, 2.6 with 256 and 2.1 to 2.8 with more. What is converted to f32
/// does not come as fast as memory gives it: bf16 takes 3.7 with 32 columns,
/// 1.8 with 64, and no less with more.
static int64_t wantedBytes(int64_t elementBytes, bool hasFewCores) {
  return elementBytes >= 4 ? 1024 : hasFewCores ? 512 : 128;
}

/// Columns of the blocks for launches that have such ones for each of a few
/// cores, which have to read faster, as there are few of them. The same on a
/// Zen 3, one thread: f32 takes 9.1 ms with 64 columns, 8.1 with 512, 6.6 with
/// 1024 and 4.5 to 6 with more; bf16 7.0, 3.2, 2.8 and 2.4. With more than 1024
/// there are too few for 2048 columns and two cores.
static int64_t wideColumns(int64_t cores) {
  return cores <= 4 ? 1024 : cores <= 8 ? 512 : 0;
}

/// The products of a kernel, if all are of few rows with narrow blocks that a
/// loop reads.
static std::optional<NarrowProducts> findProducts(func::FuncOp func) {
  NarrowProducts found;
  auto see = [&](Operation *op) {
    auto product = dyn_cast<linalg::MatmulOp>(op);
    if (!product || !isa<scf::ForOp>(op->getParentOp()))
      return false;
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    auto load = matchLoad(product.getInputs()[1]);
    auto view = load ? dyn_cast<MemRefType>(load->read.getBuffer().getType())
                     : MemRefType();
    AffineMap straight =
        AffineMap::getMultiDimMapWithTargets(3, {2, 1}, op->getContext());
    if (!view || view.getRank() != 2 || !hasUnitStride(view, 1) ||
        product.getIndexingMapsArray()[1] != straight)
      return false;
    int64_t columns = type.getDimSize(1),
            bytes = llvm::divideCeil(view.getElementTypeBitWidth(), 8);
    if (type.getDimSize(0) > mostRowsOfBlock ||
        (found.columns && (found.columns != columns || found.bytes != bytes)))
      return false;
    found.columns = columns;
    found.bytes = bytes;
    if (type.getDimSize(0) <= mostRows)
      return true;
    std::optional<WantedRange> wanted = findWantedRows(op);
    const WantedPart *rows = wanted ? wanted->only() : nullptr;
    if (!rows || rows->mask)
      return false;
    found.rows.push_back(*rows);
    return true;
  };
  int64_t ops = 0;
  bool isOther = anyInside(func, [&](Operation *op) {
    return ++ops > mostOps || (isProduct(op) && !see(op));
  });
  if (isOther || found.columns == 0)
    return std::nullopt;
  return found;
}

/// A function that returns 1, how far apart the ids of merged programs are, or
/// 0 if there are more rows, or fewer programs than `least` along the axis.
static func::FuncOp makeStep(func::FuncOp func, unsigned axis,
                             const NarrowProducts &products, int64_t least) {
  OpBuilder b(func.getContext());
  b.setInsertionPointAfter(func);
  Location loc = func.getLoc();
  Type i64 = b.getI64Type();
  ScalarSlice slice;
  for (const WantedPart &rows : products.rows)
    for (OpFoldResult part : {rows.low, rows.size})
      if (auto value = dyn_cast<Value>(part);
          value && failed(addToSlice(value, func.getBody().front(), slice)))
        return {};
  auto step =
      func::FuncOp::create(b, loc, (func.getName() + ".merged_step").str(),
                           b.getFunctionType(func.getArgumentTypes(), i64));
  step.setPrivate();
  b.setInsertionPointToStart(step.addEntryBlock());
  IRMapping map;
  map.map(func.getArguments(), step.getArguments());
  for (Operation *op : slice)
    b.clone(*op, map);
  Value count = step.getArguments().take_back(kProgramArguments)[3 + axis],
        holds = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::uge, count,
            arith::ConstantIntOp::create(b, loc, count.getType(), least));
  auto mapped = [&](OpFoldResult part) {
    auto value = dyn_cast<Value>(part);
    return toValue(b, loc,
                   value ? OpFoldResult(map.lookupOrDefault(value)) : part);
  };
  for (const WantedPart &rows : products.rows) {
    Value end = arith::AddIOp::create(b, loc, mapped(rows.low),
                                      mapped(rows.size)),
          areFew = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::sle, end,
              arith::ConstantIndexOp::create(b, loc, mostRows));
    holds = arith::AndIOp::create(b, loc, holds, areFew);
  }
  Value result = arith::ExtUIOp::create(b, loc, i64, holds);
  func::ReturnOp::create(b, loc, result);
  return step;
}

/// The function that runs `count` programs along the axis; null if they cannot
/// be merged.
static func::FuncOp mergeColumns(func::FuncOp func, unsigned axis,
                                 int64_t columns, int64_t count,
                                 StringRef suffix) {
  ProgramBatch batch(func, {axis, Value(), count, columns});
  if (failed(batch.run()))
    return {};
  batch.function().setName((func.getName() + suffix).str());
  if (failed(batch.finish()))
    return {};
  func::FuncOp merged = batch.function();
  OpBuilder b(func.getContext());
  merged->setAttr(mergedCountAttr, b.getI64IntegerAttr(count));
  merged->setAttr(mergedAxisAttr, b.getI64IntegerAttr(axis));
  merged->setAttr(mergedRowsAttr, b.getI64IntegerAttr(mostRows));
  return merged;
}

bool tilebridge::cpu::mergeFewRows(func::FuncOp func, int64_t cores) {
  if (!func->hasAttr("tilebridge.kernel") || !func.getBody().hasOneBlock() ||
      func->hasAttr(tilesAttr))
    return false;
  auto products = findProducts(func);
  if (!products || !llvm::isPowerOf2_64(products->columns))
    return false;
  int64_t columns = products->columns, bytes = products->bytes,
          more = wideColumns(cores) / columns,
          count = wantedBytes(bytes, more > 0) / (columns * bytes),
          groups = leastGroups(cores);
  if (count < 2) {
    count = more;
    groups = cores;
  }
  if (count < 2)
    return false;
  ValueRange ids = func.getArguments().take_back(kProgramArguments);
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (ids[axis].use_empty())
      continue;
    func::FuncOp merged = mergeColumns(func, axis, columns, count, ".merged");
    if (!merged)
      continue;
    func::FuncOp step = makeStep(func, axis, *products, count * groups);
    if (!step)
      return merged.erase(), false;
    auto stepAttr = FlatSymbolRefAttr::get(step.getNameAttr());
    merged->setAttr(mergedStepAttr, stepAttr);
    reportMerged(
        func, axis, count,
        "at most " + Twine(mostRows) +
            " rows are stored and all columns are there: their blocks of the "
            "right operand lie side by side");
    if (more <= count)
      return true;
    func::FuncOp wide = mergeColumns(func, axis, columns, more, ".merged_wide");
    if (wide) {
      OpBuilder b(func.getContext());
      wide->setAttr(mergedStepAttr, stepAttr);
      wide->setAttr(mergedGroupsAttr, b.getI64IntegerAttr(cores));
      reportMerged(func, axis, more,
                   "there are that many for each of " + Twine(cores) +
                       " cores, too: they read as much of a row as is read as "
                       "fast as memory gives it");
    }
    return true;
  }
  return false;
}
