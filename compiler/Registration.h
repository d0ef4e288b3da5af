//===- Registration.h - dialects and passes, by name ----------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"

namespace tilebridge::compiler {

/// Every dialect and extension that any step of a compilation uses; the same
/// object in each call.
const mlir::DialectRegistry &dialectRegistry();

/// Whether a pass of Tilebridge's or MLIR's has this argument.
bool isPass(llvm::StringRef argument);

} // namespace tilebridge::compiler
