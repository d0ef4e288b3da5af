//===- MatmulReport.cpp - what became of a product, in words --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/DeepMatmul.h"

using namespace mlir;
using namespace tilebridge::cpu;

static StringRef nameOf(MatmulUnit unit, bool isFloat) {
  switch (unit) {
  case MatmulUnit::MultiplyAdd:
    return isFloat ? "fused multiply-adds" : "multiplications and additions";
  case MatmulUnit::Bf16Pairs:
    return "AVX512_BF16 (vdpbf16ps)";
  case MatmulUnit::I16Pairs:
    return "VNNI (vpdpwssd)";
  case MatmulUnit::I16PairSums:
    return "pmaddwd";
  case MatmulUnit::I8Quads:
    return "VNNI (vpdpbusd)";
  case MatmulUnit::Bf16Tiles:
    return "AMX (tdpbf16ps)";
  case MatmulUnit::I8Tiles:
    return "AMX (tdpbssd)";
  }
  llvm_unreachable("all units have a name");
}

StringRef DeepMatmul::leftText() const {
  if (place)
    return "where it lies if its rows go on";
  if (rowTiles)
    return "where it lies if rows of a tile are evenly apart";
  if (isByColumns)
    return "packed by columns";
  if (isSwapped)
    return "packed as the right operand of the transposed product";
  return masked ? "packed, from the first to the last row of a mask" : "packed";
}

void MatmulKernel::report(Type lhsElement, Type rhsElement, StringRef lhs,
                          StringRef rhs, int64_t gathered) const {
  if (!Decision::isWanted(b.getContext()))
    return;
  StringRef unitName = nameOf(unit, isa<FloatType>(sumElement));
  std::string text;
  llvm::raw_string_ostream out(text);
  out << shapeText({m, n, unitDepth}) << " of " << lhsElement;
  if (rhsElement != lhsElement)
    out << " and " << rhsElement;
  out << ": ";
  if (usesTiles())
    out << tile.rows / 16 << "x" << tile.vectors << " tiles of registers";
  else
    out << tile.rows << " rows x " << tile.vectors << " vectors of "
        << tile.lanes << " sums in registers";
  out << ", by " << unitName << "; a " << lhs << ", b " << rhs;
  if (gathered)
    out << "; multiplied after " << gathered << " steps along K are packed";
  Decision(b.getLoc(), "product")
      .fact("block", {m, n, unitDepth})
      .fact("rows", tile.rows)
      .fact("vectors", tile.vectors)
      .fact("lanes", tile.lanes)
      .fact("instructions", unitName)
      .fact("a", lhs)
      .fact("b", rhs)
      .fact("gathered", gathered)
      .report(text);
}
