//===- RepeatedLanes.cpp - elements next to themselves ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Weights of AWQ are eight columns a word, and each word is there eight times
// (`tl.interleave(w, w)`, three times) before it is shifted. Lanes take few
// words, which one permutation spreads; written down before, they would be
// eight times as much to store and to load.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/RepeatedLanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::cpu;

std::optional<RepeatedLanes> RepeatedLanes::match(Operation *op) {
  auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op);
  auto repeated = collapse
                      ? collapse.getSrc().getDefiningOp<linalg::BroadcastOp>()
                      : nullptr;
  if (!repeated)
    return std::nullopt;
  RankedTensorType wide = collapse.getSrcType();
  int64_t last = wide.getRank() - 1;
  auto groups = collapse.getReassociationIndices();
  bool isIt = repeated.getDimensions() == ArrayRef<int64_t>(last) &&
              groups.back().size() == 2 &&
              llvm::isPowerOf2_64(wide.getDimSize(last)) &&
              llvm::all_of(ArrayRef(groups).drop_back(),
                           [](const auto &group) { return group.size() == 1; });
  if (!isIt)
    return std::nullopt;
  return RepeatedLanes{repeated.getInput(), wide.getDimSize(last)};
}

Value RepeatedLanes::evaluate(Emitter &emitter, ArrayRef<Index> indices,
                              int64_t lanes, Location loc) const {
  OpBuilder &b = emitter.builder();
  SmallVector<Value> at;
  for (const Index &index : indices)
    at.push_back(toValue(b, loc, index.begin(b)));
  at.back() = arith::DivUIOp::create(
      b, loc, at.back(), arith::ConstantIndexOp::create(b, loc, times));
  if (lanes <= times)
    return emitter.scalarAt(source, at);
  Value some = emitter.vectorAt(source, at, at.size() - 1, lanes / times);
  if (!some)
    return {};
  auto order = llvm::map_to_vector(llvm::seq<int64_t>(0, lanes),
                                   [&](int64_t lane) { return lane / times; });
  return vector::ShuffleOp::create(b, loc, some, some, order);
}
