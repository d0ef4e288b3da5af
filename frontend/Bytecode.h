//===- Bytecode.h - bytecode, read where it can do no harm ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace tilebridge::frontend {

/// MLIR's bytecode as MLIR's generic text. MLIR's reader of bytecode trusts its
/// input, and damaged input makes it write where it must not; so it runs in a
/// child process, which may die of it. Without a result `messages` says why.
std::optional<std::string> bytecodeToText(llvm::StringRef bytecode,
                                          llvm::StringRef name,
                                          mlir::MLIRContext &context,
                                          std::string &messages);

} // namespace tilebridge::frontend
