//===- Explain.h - what a kernel became, and why ---------------*- C++ -*-===//
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

/// One decision of a backend as its remark tells it
/// (cpu-backend/DecisionRemark.h).
struct DecisionEntry {
  AccessPlace place;
  std::string kind, text;
  std::vector<std::pair<std::string, mlir::Attribute>> facts;
};

/// Listens to the remarks of a context about accesses and decisions, and lists
/// them.
class ExplainLog {
public:
  explicit ExplainLog(mlir::MLIRContext &context);

  /// Lines for a person, ordered by place. Decisions are those for `target`;
  /// without one there are none.
  std::string text(llvm::StringRef kernel, llvm::StringRef target) const;
  /// An object with the kernel's name, `accesses` and `decisions`.
  std::string json(llvm::StringRef kernel, llvm::StringRef target) const;

private:
  struct Entries {
    std::vector<AccessEntry> accesses;
    std::vector<DecisionEntry> decisions;
  };
  class Streamer;

  std::vector<AccessEntry> sortedAccesses() const;
  std::vector<DecisionEntry> sortedDecisions() const;
  std::string decisionsText(llvm::StringRef target) const;

  // The engine, which the context owns, writes into it.
  std::shared_ptr<Entries> entries;
};

/// The name of the kernel in a module.
std::string kernelOf(mlir::ModuleOp module);

} // namespace tilebridge::compiler
