//===- Header.h - a kernel's launch function in C --------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace tilebridge::compiler {

/// A header in C99 that is also C++, with a function that launches this kernel:
/// its parameters have the types and, where the IR knows them, the names of the
/// kernel's arguments. It needs runtime/tilebridge.h and nothing else.
std::string headerOf(mlir::func::FuncOp kernel);

} // namespace tilebridge::compiler
