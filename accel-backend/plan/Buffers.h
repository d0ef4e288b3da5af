//===- Buffers.h - buffers as a problem of allocation ---------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/plan/Lifetimes.h"
#include "accel-backend/plan/allocation/Problem.h"
#include "accel-backend/target/Target.h"

namespace tilebridge::accel {

/// Buffers of one memory, of which each PE has its own part.
allocation::Problem problemOf(llvm::ArrayRef<Lifetime> lifetimes,
                              const Memory &memory, const Target &target);

/// The one error for buffers that do not fit: which, where in the kernel, how
/// many bytes. `advice` says what would fit, where that is known.
void reportOverflow(mlir::func::FuncOp kernel,
                    llvm::ArrayRef<Lifetime> lifetimes,
                    const allocation::Problem &problem, llvm::StringRef memory,
                    llvm::StringRef advice);

} // namespace tilebridge::accel
