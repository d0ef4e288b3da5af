//===- EmitCpp.h - lowered kernels as C++ -----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <cstdint>
#include <string>

namespace tilebridge::accel {

/// What the text says of the machine that it is for.
struct CppOptions {
  std::string target;
  /// What the description calls a PE's local memory, and accel_memory is asked
  /// for; empty: "local".
  std::string localMemory;
  /// The grid of PEs; 0: any.
  uint32_t rows = 0, columns = 0;
  /// The launch that the kernel was specialized for; 0: any.
  std::array<uint32_t, 3> grid = {0, 0, 0};
};

/// Makes EmitC of a module of lowered kernels, in its place.
mlir::LogicalResult convertToEmitC(mlir::ModuleOp module,
                                   const CppOptions &options);

/// The text of a module of EmitC.
mlir::FailureOr<std::string> translateToText(mlir::ModuleOp module);

} // namespace tilebridge::accel
