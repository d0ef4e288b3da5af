//===- Read.h - objects of a target's file ----------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "accel-backend/target/Json.h"
#include "accel-backend/target/Schema.h"
#include "accel-backend/target/Target.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

#include <memory>
#include <vector>

namespace tilebridge::accel {

/// Collects mistakes as lines with their places.
class Mistakes {
public:
  explicit Mistakes(llvm::StringRef file) : file(file) {}
  void add(TextPlace place, const llvm::Twine &message);
  bool empty() const { return found.empty(); }
  /// One a line, in the order of the file.
  std::string text() const;

private:
  std::string file;
  std::vector<TextError> found;
};

/// An object of the file beside the table of its keys. Its constructor reports
/// what does not fit the table; the getters then give what there is.
class ObjectReader {
public:
  ObjectReader(const JsonNode &node, const ObjectSchema &schema,
               Mistakes &mistakes, bool wantsSources);

  /// Null where the key is not given or does not fit.
  const JsonNode *find(llvm::StringRef key) const;
  /// Whether the key is there, be its value what it may.
  bool isGiven(llvm::StringRef key) const { return node.find(key); }
  double number(llvm::StringRef key, double otherwise = 0) const;
  bool flag(llvm::StringRef key) const;
  std::string text(llvm::StringRef key) const;
  std::vector<std::string> texts(llvm::StringRef key) const;
  std::vector<ObjectReader> objects(llvm::StringRef key) const;

  /// The value's place, or the object's where there is none.
  TextPlace placeOf(llvm::StringRef key) const;
  TextPlace place() const { return node.place; }

private:
  void readKeys();
  void readField(const FieldSchema &field, const JsonNode::Member &member);
  const JsonNode *figure(const FieldSchema &field, const JsonNode &value);
  bool checkSource(const JsonNode &object);
  bool check(const FieldSchema &field, const JsonNode &value);
  bool checkRange(const FieldSchema &field, const JsonNode &value);
  bool checkChoice(const FieldSchema &field, const JsonNode &value);
  bool checkList(const FieldSchema &field, const JsonNode &value);
  bool checkRates(const FieldSchema &field, const JsonNode &value);
  bool mistake(TextPlace place, const llvm::Twine &message) const {
    mistakes.add(place, message);
    return false;
  }

  const JsonNode &node;
  const ObjectSchema &schema;
  Mistakes &mistakes;
  bool wantsSources;
  llvm::StringMap<const JsonNode *> values;
};

/// What no table says: names that must exist, figures that contradict one
/// another. `root` is the object that the target was read from.
void checkTarget(const Target &target, const ObjectReader &root,
                 Mistakes &mistakes);

} // namespace tilebridge::accel
