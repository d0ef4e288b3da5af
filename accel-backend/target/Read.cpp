//===- Read.cpp - objects of a target's file ------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Read.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace tilebridge::accel {

void Mistakes::add(TextPlace place, const llvm::Twine &message) {
  found.push_back({place, message.str()});
}

std::string Mistakes::text() const {
  std::vector<TextError> sorted = found;
  llvm::sort(sorted, [](const TextError &a, const TextError &b) {
    return std::make_pair(a.place.line, a.place.column) <
           std::make_pair(b.place.line, b.place.column);
  });
  std::string result;
  llvm::raw_string_ostream out(result);
  for (const TextError &error : sorted)
    out << file << ':' << error.place.line << ':' << error.place.column
        << ": error: " << error.message << '\n';
  if (!result.empty())
    result.pop_back();
  return result;
}

/// Where a figure is from: one of these keys beside it, or in an object around
/// it, for all in it that have none of their own.
static bool isSourceKey(llvm::StringRef key) {
  return key == "source" || key == "assumed";
}

ObjectReader::ObjectReader(const JsonNode &node, const ObjectSchema &schema,
                           Mistakes &mistakes, bool wantsSources)
    : node(node), schema(schema), mistakes(mistakes),
      wantsSources(wantsSources) {
  readKeys();
}

/// Whether the object says where its figures are from, once and in words.
bool ObjectReader::checkSource(const JsonNode &object) {
  const JsonNode::Member *source = object.find("source");
  const JsonNode::Member *assumed = object.find("assumed");
  for (const JsonNode::Member *given : {source, assumed})
    if (given && (given->value.kind != JsonNode::Kind::Text ||
                  llvm::StringRef(given->value.text).trim().empty()))
      return mistake(given->value.place,
                     "\"" + given->key + "\" is a string that says " +
                         (given == source ? "where a figure is from"
                                          : "why it is taken to be so"));
  if (source && assumed)
    return mistake(assumed->place,
                   "a figure has a source or is assumed, not both");
  return source || assumed;
}

void ObjectReader::readKeys() {
  if (checkSource(node))
    wantsSources = false;
  for (const JsonNode::Member &member : node.members) {
    if (isSourceKey(member.key))
      continue;
    if (const FieldSchema *field = schema.find(member.key)) {
      readField(*field, member);
      continue;
    }
    std::string hint = suggestKey(schema, member.key);
    mistake(member.place, "unknown key \"" + member.key + "\" of " +
                              schema.name.str() +
                              (hint.empty() ? "" : "; " + hint));
  }
  for (const FieldSchema &field : schema.fields)
    if (field.isRequired && !node.find(field.key))
      mistake(node.place,
              "the key \"" + field.key.str() + "\" of " + schema.name.str() +
                  " is missing: " + llvm::StringRef(field.text).str());
}

void ObjectReader::readField(const FieldSchema &field,
                             const JsonNode::Member &member) {
  const JsonNode *value = &member.value;
  if (field.isFigure())
    value = figure(field, *value);
  if (value && check(field, *value))
    values[field.key] = value;
}

/// The bare value of a figure.
const JsonNode *ObjectReader::figure(const FieldSchema &field,
                                     const JsonNode &value) {
  bool isWrapped = value.kind == JsonNode::Kind::Object &&
                   (field.kind != FieldKind::Rates || value.find("value"));
  if (!isWrapped) {
    if (wantsSources)
      mistake(value.place,
              "\"" + field.key.str() +
                  "\" does not say where it is from: write {\"value\": ..., "
                  "\"source\": \"...\"} or {\"value\": ..., \"assumed\": "
                  "\"why\"}");
    return &value;
  }
  for (const JsonNode::Member &member : value.members)
    if (member.key != "value" && !isSourceKey(member.key)) {
      mistake(member.place, "unknown key \"" + member.key +
                                "\" of a figure, which has \"value\" and "
                                "\"source\" or \"assumed\"");
      return nullptr;
    }
  if (!checkSource(value) && wantsSources)
    mistake(value.place, "\"" + field.key.str() +
                             "\" has neither \"source\" nor \"assumed\"");
  const JsonNode::Member *inner = value.find("value");
  if (!inner)
    mistake(value.place,
            "\"" + field.key.str() + "\" has no \"value\" in its object");
  return inner ? &inner->value : nullptr;
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

static std::string joined(llvm::ArrayRef<llvm::StringLiteral> words) {
  std::string text;
  for (llvm::StringRef word : words)
    text += (text.empty() ? "\"" : ", \"") + word.str() + "\"";
  return text;
}

/// A number as a person writes it.
static std::string formatted(double number) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (number == std::floor(number) && std::fabs(number) < 1e15)
    out << int64_t(number);
  else
    out << llvm::format("%g", number);
  return text;
}

bool ObjectReader::check(const FieldSchema &field, const JsonNode &value) {
  using Kind = JsonNode::Kind;
  auto is = [&](Kind kind, llvm::StringRef expected) {
    return value.kind == kind ||
           mistake(value.place, "\"" + field.key.str() + "\" is " +
                                    expected.str() + ", not " +
                                    value.kindName().str());
  };
  switch (field.kind) {
  case FieldKind::Text:
    return is(Kind::Text, "a string") &&
           (!value.text.empty() ||
            mistake(value.place, "\"" + field.key.str() + "\" is empty"));
  case FieldKind::Integer:
    return is(Kind::Number, "a whole number") && checkRange(field, value);
  case FieldKind::Number:
    return is(Kind::Number, "a number") && checkRange(field, value);
  case FieldKind::Flag:
    return is(Kind::Flag, "true or false");
  case FieldKind::Choice:
    return is(Kind::Text, "one of " + joined(field.choices)) &&
           checkChoice(field, value);
  case FieldKind::Texts:
  case FieldKind::Sizes:
    return is(Kind::List, "a list") && checkList(field, value);
  case FieldKind::Rates:
    return is(Kind::Object, "an object of classes of operations") &&
           checkRates(field, value);
  case FieldKind::Object:
    return is(Kind::Object, "an object");
  case FieldKind::Objects:
    return is(Kind::List, "a list of objects") && checkList(field, value);
  }
  return false;
}

bool ObjectReader::checkRange(const FieldSchema &field, const JsonNode &value) {
  std::string key = "\"" + field.key.str() + "\"";
  bool isWhole = field.kind != FieldKind::Number;
  if (isWhole && value.number != std::floor(value.number))
    return mistake(value.place,
                   key + " is a whole number, not " + formatted(value.number));
  if (value.number < field.low || value.number > field.high) {
    if (field.low > 0 && field.low < 1 && value.number <= 0)
      return mistake(value.place,
                     key + " is above 0, not " + formatted(value.number));
    return mistake(value.place, key + " is from " + formatted(field.low) +
                                    " to " + formatted(field.high) + ", not " +
                                    formatted(value.number));
  }
  if (llvm::StringRef(field.key) == "alignment_bytes" &&
      !llvm::isPowerOf2_64(uint64_t(value.number)))
    return mistake(value.place,
                   key + " is a power of two, not " + formatted(value.number));
  return true;
}

bool ObjectReader::checkChoice(const FieldSchema &field,
                               const JsonNode &value) {
  return llvm::is_contained(field.choices, llvm::StringRef(value.text)) ||
         mistake(value.place, "\"" + field.key.str() + "\" is one of " +
                                  joined(field.choices) + ", not \"" +
                                  value.text + "\"");
}

bool ObjectReader::checkList(const FieldSchema &field, const JsonNode &value) {
  std::string key = "\"" + field.key.str() + "\"";
  if (value.elements.empty())
    return mistake(value.place, key + " is empty");
  for (const JsonNode &element : value.elements) {
    if (field.kind == FieldKind::Sizes) {
      if (element.kind != JsonNode::Kind::Number)
        return mistake(element.place, key + " has whole numbers, not " +
                                          element.kindName().str());
      if (!checkRange(field, element))
        return false;
      continue;
    }
    auto expected = field.kind == FieldKind::Texts ? JsonNode::Kind::Text
                                                   : JsonNode::Kind::Object;
    if (element.kind != expected)
      return mistake(
          element.place,
          key + " has " +
              (field.kind == FieldKind::Texts ? "strings" : "objects") +
              ", not " + element.kindName().str());
  }
  return true;
}

bool ObjectReader::checkRates(const FieldSchema &field, const JsonNode &value) {
  auto known = [&](const JsonNode::Member &member, llvm::StringRef what,
                   llvm::ArrayRef<llvm::StringLiteral> names) {
    return llvm::is_contained(names, llvm::StringRef(member.key)) ||
           mistake(member.place, "\"" + member.key + "\" is no " + what.str() +
                                     "; there are " + joined(names));
  };
  if (value.members.empty())
    return mistake(value.place, "\"" + field.key.str() + "\" is empty");
  for (const JsonNode::Member &operation : value.members) {
    if (!known(operation, "class of operations", rateOperations()))
      return false;
    if (operation.value.kind != JsonNode::Kind::Object ||
        operation.value.members.empty())
      return mistake(operation.value.place,
                     "\"" + operation.key +
                         "\" has an object such as {\"f16\": 2048}");
    for (const JsonNode::Member &type : operation.value.members) {
      if (!known(type, "element type that rates are given for", rateTypes()))
        return false;
      if (type.value.kind != JsonNode::Kind::Number || type.value.number <= 0)
        return mistake(type.value.place, "the operations a cycle of \"" +
                                             type.key +
                                             "\" are a number above 0");
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Getters
//===----------------------------------------------------------------------===//

const JsonNode *ObjectReader::find(llvm::StringRef key) const {
  return values.lookup(key);
}

double ObjectReader::number(llvm::StringRef key, double otherwise) const {
  const JsonNode *value = find(key);
  return value ? value->number : otherwise;
}

bool ObjectReader::flag(llvm::StringRef key) const {
  const JsonNode *value = find(key);
  return value && value->flag;
}

std::string ObjectReader::text(llvm::StringRef key) const {
  const JsonNode *value = find(key);
  return value ? value->text : std::string();
}

std::vector<std::string> ObjectReader::texts(llvm::StringRef key) const {
  std::vector<std::string> result;
  if (const JsonNode *value = find(key))
    for (const JsonNode &element : value->elements)
      result.push_back(element.text);
  return result;
}

std::vector<ObjectReader> ObjectReader::objects(llvm::StringRef key) const {
  std::vector<ObjectReader> result;
  const JsonNode *value = find(key);
  if (!value)
    return result;
  const ObjectSchema &inner = *schema.find(key)->object;
  if (value->kind == JsonNode::Kind::Object)
    result.emplace_back(*value, inner, mistakes, wantsSources);
  for (const JsonNode &element : value->elements)
    result.emplace_back(element, inner, mistakes, wantsSources);
  return result;
}

TextPlace ObjectReader::placeOf(llvm::StringRef key) const {
  const JsonNode *value = find(key);
  return value ? value->place : node.place;
}

} // namespace tilebridge::accel
