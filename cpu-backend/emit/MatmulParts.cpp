//===- MatmulParts.cpp - tall blocks of a product, part by part -----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A panel of b stays in the nearest cache while all rows of a block are
// multiplied with it, and so do these rows come back for each panel. Fewer rows
// at once are still there.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Matmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Each panel is multiplied with all rows of `a`, which have to come from the
/// second cache for the next one. Its sets have 8 lines, often: rows that are a
/// power of two apart, as they are in many arrays, have places there for few.
/// Rows of scratch memory are next to each other, and come in time whatever is
/// between. Blocks of 128 rows gain 1 % and take LLVM half as long again to
/// compile, as it looks for shorter sums of addresses in one more loop.
bool MatmulKernel::isTall() const {
  if (settings.target.vectorBits != 256 || mostStepsTogether() == 1 ||
      !now.rows.address || now.right.address || n <= tile.columns() ||
      m % partRows)
    return false;
  auto known = now.wanted ? getConstantIntValue(now.wanted) : std::nullopt;
  return std::min(m, known.value_or(m)) > 2 * partRows;
}

/// All panels for some rows, then for those below.
void MatmulKernel::emitParts() const {
  Value end = constant(m);
  if (now.wanted)
    end = arith::MinSIOp::create(b, end, now.wanted);
  auto loop = scf::ForOp::create(b, constant(0), end, constant(partRows));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar();
  auto rowsOf = [&](Value memref) -> Value {
    auto type = cast<MemRefType>(memref.getType());
    SmallVector<OpFoldResult> offsets = {first, b.getIndexAttr(0)},
                              sizes = {b.getIndexAttr(partRows),
                                       b.getIndexAttr(type.getDimSize(1))},
                              strides(2, b.getIndexAttr(1));
    return memref::SubViewOp::create(b, memref, offsets, sizes, strides);
  };
  MatmulKernel part(*this);
  part.m = partRows;
  part.now.acc = rowsOf(now.acc);
  part.now.rows.address = arith::AddIOp::create(
      b, now.rows.address, arith::MulIOp::create(b, first, now.rows.rowBytes));
  if (sumsGoTo)
    part.sumsGoTo = rowsOf(sumsGoTo);
  if (now.wanted)
    part.now.wanted = arith::SubIOp::create(b, now.wanted, first);
  part.emitPanels();
}
