//===- SchemaText.cpp - the keys, for readers and editors -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Schema.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace tilebridge::accel {

//===----------------------------------------------------------------------===//
// JSON schema
//===----------------------------------------------------------------------===//

static llvm::json::Value schemaOf(const ObjectSchema &object);

static llvm::json::Array namesOf(llvm::ArrayRef<llvm::StringLiteral> names) {
  llvm::json::Array array;
  for (llvm::StringRef name : names)
    array.push_back(name);
  return array;
}

static llvm::json::Object limitsOf(const FieldSchema &field,
                                   llvm::StringRef type) {
  llvm::json::Object value{{"type", type}};
  bool isAboveZero = field.low > 0 && field.low < 1;
  value[isAboveZero ? "exclusiveMinimum" : "minimum"] =
      isAboveZero ? 0 : field.low;
  value["maximum"] = field.high;
  return value;
}

static llvm::json::Object ratesSchema() {
  llvm::json::Object types, classes;
  for (llvm::StringRef type : rateTypes())
    types[type] =
        llvm::json::Object{{"type", "number"}, {"exclusiveMinimum", 0}};
  for (llvm::StringRef name : rateOperations())
    classes[name] =
        llvm::json::Object{{"type", "object"},
                           {"minProperties", 1},
                           {"additionalProperties", false},
                           {"properties", llvm::json::Object(types)}};
  return llvm::json::Object{{"type", "object"},
                            {"minProperties", 1},
                            {"additionalProperties", false},
                            {"properties", std::move(classes)}};
}

static llvm::json::Object valueSchema(const FieldSchema &field) {
  switch (field.kind) {
  case FieldKind::Text:
    return llvm::json::Object{{"type", "string"}, {"minLength", 1}};
  case FieldKind::Integer:
    return limitsOf(field, "integer");
  case FieldKind::Number:
    return limitsOf(field, "number");
  case FieldKind::Flag:
    return llvm::json::Object{{"type", "boolean"}};
  case FieldKind::Choice:
    return llvm::json::Object{{"enum", namesOf(field.choices)}};
  case FieldKind::Texts:
    return llvm::json::Object{
        {"type", "array"},
        {"minItems", 1},
        {"items", llvm::json::Object{{"type", "string"}}}};
  case FieldKind::Sizes:
    return llvm::json::Object{{"type", "array"},
                              {"minItems", 1},
                              {"items", limitsOf(field, "integer")}};
  case FieldKind::Rates:
    return ratesSchema();
  case FieldKind::Object:
    return *schemaOf(*field.object).getAsObject();
  case FieldKind::Objects:
    return llvm::json::Object{
        {"type", "array"}, {"minItems", 1}, {"items", schemaOf(*field.object)}};
  }
  return llvm::json::Object();
}

/// A value by itself, or in an object that says where it is from.
static llvm::json::Object fieldSchema(const FieldSchema &field) {
  llvm::json::Object value = valueSchema(field);
  if (!field.isFigure()) {
    value["description"] = llvm::StringRef(field.text);
    return value;
  }
  llvm::json::Object text{{"type", "string"}, {"minLength", 1}};
  llvm::json::Object wrapped{
      {"type", "object"},
      {"required", llvm::json::Array{"value"}},
      {"additionalProperties", false},
      {"properties",
       llvm::json::Object{{"value", llvm::json::Object(value)},
                          {"source", llvm::json::Object(text)},
                          {"assumed", llvm::json::Object(text)}}}};
  return llvm::json::Object{
      {"description", llvm::StringRef(field.text)},
      {"anyOf", llvm::json::Array{std::move(value), std::move(wrapped)}}};
}

static llvm::json::Value schemaOf(const ObjectSchema &object) {
  llvm::json::Object properties;
  llvm::json::Array required;
  for (const FieldSchema &field : object.fields) {
    properties[field.key] = fieldSchema(field);
    if (field.isRequired)
      required.push_back(llvm::StringRef(field.key));
  }
  for (llvm::StringRef key : {"source", "assumed"})
    properties[key] = llvm::json::Object{
        {"type", "string"},
        {"minLength", 1},
        {"description", key == "source"
                            ? "Where the figures of this object are from"
                            : "Why the figures of this object are taken to "
                              "be so"}};
  return llvm::json::Object{{"type", "object"},
                            {"additionalProperties", false},
                            {"required", std::move(required)},
                            {"properties", std::move(properties)}};
}

std::string jsonSchema() {
  llvm::json::Object root = *schemaOf(targetSchema()).getAsObject();
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  root["title"] = "A target of Tilebridge's accelerator backend";
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root)));
  return text;
}

//===----------------------------------------------------------------------===//
// Documentation
//===----------------------------------------------------------------------===//

static std::string number(double value) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (value == std::floor(value))
    out << int64_t(value);
  else
    out << llvm::format("%g", value);
  return text;
}

static std::string kindOf(const FieldSchema &field) {
  std::string limits =
      field.low > 0 && field.low < 1
          ? " above 0"
          : " from " + number(field.low) +
                (field.high >= 1e15 ? "" : " to " + number(field.high));
  std::string names;
  for (llvm::StringRef choice : field.choices)
    names += (names.empty() ? "`" : ", `") + choice.str() + "`";
  switch (field.kind) {
  case FieldKind::Text:
    return "string";
  case FieldKind::Integer:
    return "whole number" + limits;
  case FieldKind::Number:
    return "number" + limits;
  case FieldKind::Flag:
    return "true or false";
  case FieldKind::Choice:
    return names;
  case FieldKind::Texts:
    return "list of strings";
  case FieldKind::Sizes:
    return "list of whole numbers";
  case FieldKind::Rates:
    return "object of objects";
  case FieldKind::Object:
    return "object";
  case FieldKind::Objects:
    return "list of objects";
  }
  return "";
}

static void writePage(const ObjectSchema &object, llvm::raw_ostream &out) {
  out << "\n## Keys of " << llvm::StringRef(object.name)
      << "\n| key | value | where it is not given | |\n|---|---|---|---|\n";
  for (const FieldSchema &field : object.fields)
    out << "| `" << llvm::StringRef(field.key) << "` | " << kindOf(field)
        << " | "
        << (field.isRequired ? "required"
                             : llvm::StringRef(field.otherwise).str())
        << " | " << llvm::StringRef(field.text) << " |\n";
  for (const FieldSchema &field : object.fields)
    if (field.object)
      writePage(*field.object, out);
}

static void writeNames(llvm::ArrayRef<llvm::StringLiteral> names,
                       llvm::raw_ostream &out) {
  llvm::StringRef between = "";
  for (llvm::StringRef name : names) {
    out << between << "`" << name << "`";
    between = ", ";
  }
}

std::string schemaPage() {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "# Target descriptions\n\n"
         "A target is a JSON file. Units are in the names of keys; a cycle is "
         "one of `clock_GHz`. Each figure is a plain value, or\n"
         "`{\"value\": 8, \"source\": \"where it is from\"}`, or "
         "`{\"value\": 8, \"assumed\": \"why it is taken to be so\"}`. "
         "`source` or `assumed` in an object\nholds for all figures in it "
         "that have none of their own. `tilebridge-target check --sources "
         "FILE` fails where one has neither.\n";
  writePage(targetSchema(), out);
  out << "\n## Rates\nClasses of operations: ";
  writeNames(rateOperations(), out);
  out << ".\nElement types: ";
  writeNames(rateTypes(), out);
  out << "; `f8` is each float of 8 bits, `i8` also a boolean.\n"
         "What a unit does not name it does at its rate of `any`, or not at "
         "all; among units the fastest one is taken.\n"
         "Each target has a unit with `\"any\": {\"any\": ...}`.\n";
  return text;
}

} // namespace tilebridge::accel
