//===- Shrink.h - blocks that are smaller along one class -----------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/DimensionClasses.h"

#include "mlir/IR/Region.h"

namespace tilebridge::accel {

/// A part of a class: positions from `offset` on, `size` of them. The size
/// divides that of the class.
struct Part {
  unsigned number;
  int64_t size;
  mlir::Value offset;
};

/// Makes all blocks in the region as small along the class as the part is:
/// their types, what is loaded and stored for them, and the positions that are
/// computed with. The class is parallel or contracted.
void shrink(mlir::Region &region, const DimensionClasses &classes,
            const Part &part);
/// The same for some operations, in their order, without bodies of blocks.
void shrinkMembers(llvm::ArrayRef<mlir::Operation *> members,
                   const DimensionClasses &classes, const Part &part);

} // namespace tilebridge::accel
