//===- Transfer.h - one copy under way --------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/simulator/Region.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <vector>

namespace tilebridge::accel {

/// A side of a transfer.
struct Side {
  mlir::Value memref;
  reference::View view;
  unsigned memory = 0;
  int buffer = 0; // 0: the chip's memory
};

struct Transfer {
  mlir::Operation *op = nullptr;
  size_t pe = 0, engine = 0;
  size_t number = 0;
  unsigned elementBytes = 1;
  Side from, to;
  /// What the pad value goes to: all of the destination.
  reference::View whole;
  std::optional<uint64_t> pad;
  std::vector<int64_t> rows;
  bool hasRows = false, isScatter = false;
  int64_t dim = 0;
  std::vector<uint64_t> mask; // by element or row; empty: all
  bool hasMask = false;
  std::optional<CombiningKind> accumulate;
  std::vector<int64_t> multicast; // coordinates
  std::optional<size_t> group;    // of a multicast
  bool isLeader = true;           // whether its read is counted

  bool isReady = false, isComplete = false, hasLanded = false, isWaited = false;
  double issued = 0, completeAt = 0;
  bool hasWaiter = false;

  /// What the engine moves, with the rest of units that it touches.
  uint64_t chargedRead = 0, chargedWrite = 0;

  uint64_t bytes() const;
};

/// How long an op on blocks works, by unit.
struct Work {
  struct Part {
    unsigned unit;
    double cycles, operations;
  };
  llvm::SmallVector<Part, 2> parts;
  double cycles = 0; // with start-up
};

} // namespace tilebridge::accel
