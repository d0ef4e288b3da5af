//===- Schema.h - the keys of a target's file -------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the reader accepts, as a table: the reader, the JSON schema and the page
// of documentation are made from it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tilebridge::accel {

struct ObjectSchema;

enum class FieldKind {
  Text,    // a string
  Integer, // a whole number in [low, high]
  Number,  // a number in [low, high]
  Flag,    // true or false
  Choice,  // one of `choices`
  Texts,   // a list of strings
  Sizes,   // a list of whole numbers from 1
  Rates,   // {"class of operations": {"type": operations a cycle}}
  Object,  // an object of `object`
  Objects  // a list of these
};

struct FieldSchema {
  llvm::StringLiteral key;
  FieldKind kind;
  bool isRequired;
  llvm::StringLiteral text; // what it says, a sentence without its dot
  double low = 0, high = 0;
  llvm::ArrayRef<llvm::StringLiteral> choices = {};
  const ObjectSchema *object = nullptr;
  llvm::StringLiteral otherwise = ""; // where it is not given

  /// Of the machine, so that it has a source, or is assumed.
  bool isFigure() const;
};

struct ObjectSchema {
  llvm::StringLiteral name; // "a memory"
  llvm::ArrayRef<FieldSchema> fields;

  const FieldSchema *find(llvm::StringRef key) const;
};

const ObjectSchema &targetSchema();

/// Element types that rates are given for, and "any".
llvm::ArrayRef<llvm::StringLiteral> rateTypes();
llvm::ArrayRef<llvm::StringLiteral> rateOperations();

/// The table as a schema of json-schema.org.
std::string jsonSchema();
/// And as a page of documentation.
std::string schemaPage();

/// What a reader can be told that wrote a key which is not there: the nearest
/// one, or the right unit; empty where none is near.
std::string suggestKey(const ObjectSchema &schema, llvm::StringRef key);

} // namespace tilebridge::accel
