//===- Scalar.cpp - the address of a scalar access --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/lower/Scalar.h"

#include "frontend/TTOps.h"
#include "triton-to-linalg/lower/Memory.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

ScalarAddress ttl::scalarAddress(OpBuilder &builder, Location loc,
                                 Value pointer, Type element) {
  Value index;
  while (auto add = pointer.getDefiningOp<tt::AddPtrOp>()) {
    Value offset = builder.createOrFold<arith::IndexCastOp>(
        loc, builder.getIndexType(), add.getOffset());
    index = index ? builder.createOrFold<arith::AddIOp>(loc, offset, index)
                  : offset;
    pointer = add.getPtr();
  }
  if (!index)
    index = arith::ConstantIndexOp::create(builder, loc, 0);
  return {memrefOf(builder, loc, pointer, element), index};
}
