//===- Json.h - JSON that knows its lines -----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tilebridge::accel {

/// A place in a text, counted from 1.
struct TextPlace {
  unsigned line = 1, column = 1;
};

/// A value of JSON with the place where it begins.
struct JsonNode {
  enum class Kind { Null, Flag, Number, Text, List, Object };
  struct Member;

  Kind kind = Kind::Null;
  TextPlace place;
  bool flag = false;
  double number = 0;
  std::string text;
  std::vector<JsonNode> elements;
  std::vector<Member> members; // in the text's order, keys are distinct

  const Member *find(llvm::StringRef key) const;
  /// "a number", "a list", ...
  llvm::StringRef kindName() const;
};

struct JsonNode::Member {
  std::string key;
  TextPlace place;
  JsonNode value;
};

/// What is wrong with a text, and where.
struct TextError {
  TextPlace place;
  std::string message;
};

/// Reads one value and nothing after it. Returns false with one error in
/// `error`; a key that stands twice in an object is one.
bool parseJson(llvm::StringRef text, JsonNode &result, TextError &error);

} // namespace tilebridge::accel
