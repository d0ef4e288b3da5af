//===- ShareOperands.h - packed operands of several programs ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Plan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tilebridge::cpu {

/// On the `scf.if` that gives the right operand of a deep product: it need not
/// run where the program before has packed the same.
inline constexpr llvm::StringLiteral sharedAttr = "tilebridge.shared";

/// On buffers: what is in them stays for the next program, of the first one
/// from the beginning.
inline constexpr llvm::StringLiteral keptAttr = "tilebridge.kept",
                                     zeroedAttr = "tilebridge.zeroed";

/// What is kept of a product between programs: words of 64 bits, the first with
/// flags, then the keys.
inline constexpr unsigned wordsOfSharing = 8, maxSharingKeys = 7;

/// The numbers that decide, besides the arguments of the launch, what the right
/// operand of the product is in each iteration, and the numbers `besides`;
/// nothing if that is not known.
std::optional<llvm::SmallVector<mlir::Value>>
findSharingKeys(mlir::linalg::MatmulOp op,
                llvm::ArrayRef<mlir::Value> besides = {});

} // namespace tilebridge::cpu
