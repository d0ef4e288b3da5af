//===- Explain.h - what became of a kernel's accesses ---------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace tilebridge::compiler {

/// A place in the kernel's source, and the calls that led there.
struct AccessPlace {
  std::string file;
  unsigned line = 0, column = 0;
  std::vector<AccessPlace> callers;
};

/// One access as its remark tells it (triton-to-linalg/AccessRemark.h).
struct AccessEntry {
  size_t number = 0; // in the order of the remarks
  AccessPlace place, cause;
  std::string function, operation, form, fallback, element, base, offset;
  std::vector<int64_t> shape;
  std::vector<std::string> strides, mask;
  std::string reason, causeOp;
};

/// Listens to the remarks of a context about accesses, and lists them.
class AccessLog {
public:
  explicit AccessLog(mlir::MLIRContext &context);

  /// Lines for a person, ordered by place.
  std::string text(mlir::ModuleOp module) const;
  /// An object with the kernel's name and the array `accesses`.
  std::string json(mlir::ModuleOp module) const;

private:
  std::vector<AccessEntry> sorted() const;

  // The engine, which the context owns, writes into it.
  std::shared_ptr<std::vector<AccessEntry>> entries;
};

} // namespace tilebridge::compiler
