//===- Trial.h - what becomes of a kernel by some decisions ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/Buffers.h"
#include "accel-backend/search/Model.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilebridge::accel {

/// A module lowered until buffers could be placed.
struct Trial {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp kernel;
  /// The buffers in local memory, and whether they fit there.
  llvm::SmallVector<Lifetime> lifetimes;
  allocation::Problem problem;
  std::string memory;
  bool fits = false;
};

/// Runs the stages from `from` on, but for the placement itself, on a copy of
/// the module of a kernel. None where one of them fails, for whatever reason;
/// it says nothing then.
std::optional<Trial> tryOut(mlir::func::FuncOp kernel, const Target &target,
                            llvm::StringRef from);

} // namespace tilebridge::accel
