//===- TextMutator.h - damages IR as text -----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <random>
#include <string>
#include <vector>

namespace tilebridge::fuzz {

/// One token of MLIR's text. Sizes of a shape are tokens of their own, so that
/// `128x64xf32` has two numbers and one type.
struct Token {
  enum class Kind { Number, Type, Value, Word, String, Mark, Space };
  Kind kind;
  std::string text;
};

/// The tokens of a text; joined they are the text again. Any bytes will do.
std::vector<Token> tokenize(llvm::StringRef text);
std::string join(llvm::ArrayRef<Token> tokens);

/// Damages IR in the ways in which programs go wrong: other sizes, types, ops,
/// operands, lines gone, doubled or moved. Most of what it writes still parses,
/// which damage to single bytes hardly ever does, and so reaches the verifiers
/// and the passes. Replacing a size or a type everywhere even keeps the program
/// valid as a rule.
class TextMutator {
public:
  explicit TextMutator(uint64_t seed) : random(seed) {}

  /// One to four changes.
  std::string mutate(llvm::StringRef text);
  /// Lines of `other` put into `text`.
  std::string cross(llvm::StringRef text, llvm::StringRef other);

private:
  size_t below(size_t limit);
  bool chance(unsigned outOf) { return below(outOf) == 0; }
  void changeOnce(std::string &text);
  void replaceToken(std::vector<Token> &tokens, Token::Kind kind);
  std::string replacementFor(llvm::ArrayRef<Token> tokens, const Token &token);
  std::string otherNumber(llvm::StringRef number);
  void changeLines(std::string &text);
  void changeBytes(std::string &text);

  std::mt19937_64 random;
};

} // namespace tilebridge::fuzz
