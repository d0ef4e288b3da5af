//===- Job.h - one kernel from TTIR to any stage -------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/StringRef.h"

#include <functional>
#include <string>

namespace tilebridge::compiler {

/// The stages that a kernel can be asked for at. All but the last are text;
/// the first two say what became of its accesses to memory, the third how to
/// launch it from C.
enum class Stage {
  Explain,
  ExplainJson,
  Header,
  Ttir,
  Bridge,
  Vector,
  Llvm,
  Asm,
  SharedObject
};

/// What to compile, how far, and what to tell about it.
struct Request {
  llvm::StringRef input;
  /// What messages call the input where it has no locations of its own.
  llvm::StringRef sourceName;
  llvm::StringRef target;
  llvm::StringRef stage;
  /// Argument of a pass, such as "tilebridge-normalize"; empty: none.
  llvm::StringRef printAfter;
  bool wantsRemarks = false;
  bool wantsTiming = false;
  /// Verify the IR after each pass, and not only after each part.
  bool verifiesEach = false;
  /// Whether a product and a sum may be rounded together.
  bool contracts = true;
};

/// What became of it. `errors` holds one diagnostic a line as
/// `file:line:column: error: ...`, notes indented below; it is empty exactly
/// where the compilation succeeded.
struct Result {
  std::string output;
  std::string errors;
  /// Warnings, and what the request asked to be told.
  std::string log;
};

/// Compiles in a context of its own: any number of threads may do so at once.
Result compile(const Request &request);

} // namespace tilebridge::compiler
