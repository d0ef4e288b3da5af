//===- TTProgramOps.cpp - the grid, messages and order --------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "frontend/TTProgramOps.cpp.inc"

using namespace mlir;
using namespace tilebridge::tt;

void TTDialect::registerProgramOps() {
  addOperations<
#define GET_OP_LIST
#include "frontend/TTProgramOps.cpp.inc"
      >();
}

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() >= getArgs().size())
    return success();
  return emitOpError() << "(PR1) isSigned has " << getIsSigned().size()
                       << " entries for " << getArgs().size() << " values";
}
