//===- Ptx.h - PTX text taken apart -----------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Straight-line PTX as kernels have it in inline assembly: instructions,
// declarations of registers, braces and comments. No labels, no branches.
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tilebridge::ttl::ptx {

struct Operand {
  enum Kind {
    Register, ///< a declared one, `$0`, or a special one such as `%smid`
    Integer,
    Float, ///< `number` has the bits of an f64
    Group  ///< {a, b}: parts of one register, the lowest first; or p|q
  };
  Kind kind = Register;
  std::string name;
  uint64_t number = 0;
  std::vector<Operand> parts;
};

struct Instruction {
  /// As it was written, for messages.
  std::string text;
  /// The predicate before it, if there is one.
  std::string guard;
  bool isGuardNegated = false;
  /// `add`, and what follows it: `rn`, `f32`.
  std::string opcode;
  llvm::SmallVector<std::string, 4> modifiers;
  std::vector<Operand> operands;

  bool has(llvm::StringRef modifier) const {
    return llvm::is_contained(modifiers, modifier);
  }
};

struct Program {
  std::vector<Instruction> instructions;
  /// Bits of the registers that the text declares; 1 for predicates.
  llvm::StringMap<unsigned> registers;
};

/// The error says which part of the text is not understood.
llvm::Expected<Program> parse(llvm::StringRef text);

} // namespace tilebridge::ttl::ptx
