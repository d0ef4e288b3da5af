//===- DecisionRemark.h - the remarks of the CPU's cost model -----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the passes of the CPU backend decide leaves remarks of this category in
// the context's remark engine, if it has one (MLIR's own, mlir/IR/Remarks.h).
// `tilebridge explain` lists them (compiler/Explain.cpp).
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Remarks.h"

#include <string>

/// The category, and the keys that every remark has; further ones are facts,
/// for programs: what the text says, as attributes.
namespace tilebridge::cpu::decision_remark {
inline constexpr llvm::StringLiteral category = "tilebridge-cpu";
inline constexpr llvm::StringLiteral kind = "Kind"; // "product"
inline constexpr llvm::StringLiteral text = "Text"; // a sentence
} // namespace tilebridge::cpu::decision_remark

namespace tilebridge::cpu {

/// One decision, while it is put into words. Without anybody who listens it
/// costs one comparison: ask `isWanted` before collecting what is costly.
class Decision {
public:
  /// `kind`: product, kept, loops, stores, transposed, guarded, merged,
  /// ordered, tiles or versioned.
  Decision(mlir::Location loc, llvm::StringRef kind) : loc(loc), kind(kind) {}

  static bool isWanted(mlir::MLIRContext *context) {
    return context->getRemarkEngine() != nullptr;
  }

  Decision &fact(llvm::StringRef key, mlir::Attribute value) {
    facts.push_back({key, value});
    return *this;
  }
  Decision &fact(llvm::StringRef key, int64_t value);
  Decision &fact(llvm::StringRef key, llvm::ArrayRef<int64_t> values);
  Decision &fact(llvm::StringRef key, llvm::StringRef value);

  void report(const llvm::Twine &text) const;

private:
  mlir::Location loc;
  llvm::StringRef kind;
  llvm::SmallVector<std::pair<llvm::StringRef, mlir::Attribute>> facts;
};

/// "64x32xf32"
std::string shapeText(llvm::ArrayRef<int64_t> shape, mlir::Type element = {});

} // namespace tilebridge::cpu
