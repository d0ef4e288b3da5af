//===- Names.cpp - types, constants and names of C++ ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/Emitter.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tilebridge::accel {

std::string cppType(Type type) {
  return llvm::TypeSwitch<Type, std::string>(type)
      .Case<IndexType>([](auto) { return "int64_t"; })
      .Case<IntegerType>([](IntegerType integer) -> std::string {
        unsigned width = integer.getWidth();
        if (width == 1)
          return "bool";
        if (width == 8 || width == 16 || width == 32 || width == 64)
          return "int" + std::to_string(width) + "_t";
        // The bits of a small float; nothing is computed with them.
        if (width == 4 || width == 6)
          return "accel::bits" + std::to_string(width);
        return "";
      })
      .Case<Float16Type>([](auto) { return "accel::f16"; })
      .Case<BFloat16Type>([](auto) { return "accel::bf16"; })
      .Case<Float32Type>([](auto) { return "float"; })
      .Case<Float64Type>([](auto) { return "double"; })
      .Case<Float8E5M2Type>([](auto) { return "accel::f8e5m2"; })
      .Case<Float8E4M3FNType>([](auto) { return "accel::f8e4m3fn"; })
      .Case<Float8E4M3B11FNUZType>([](auto) { return "accel::f8e4m3b11fnuz"; })
      .Case<Float8E4M3FNUZType>([](auto) { return "accel::f8e4m3fnuz"; })
      .Case<Float8E5M2FNUZType>([](auto) { return "accel::f8e5m2fnuz"; })
      .Case<Float8E8M0FNUType>([](auto) { return "accel::f8e8m0fnu"; })
      .Case<Float6E2M3FNType>([](auto) { return "accel::f6e2m3fn"; })
      .Case<Float6E3M2FNType>([](auto) { return "accel::f6e3m2fn"; })
      .Case<Float4E2M1FNType>([](auto) { return "accel::f4e2m1fn"; })
      .Case<TokenType>([](auto) { return "accel_token"; })
      .Default([](Type) { return ""; });
}

Type emitcType(Type type) {
  std::string text = cppType(type);
  if (text.empty())
    return nullptr;
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  if (isa<IntegerType, Float32Type, Float64Type>(type) &&
      !llvm::StringRef(text).starts_with("accel::"))
    return type;
  return emitc::OpaqueType::get(type.getContext(), text);
}

static FileLineColLoc fileLocOf(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      found = file;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

std::string placeOf(Location loc) {
  FileLineColLoc file = fileLocOf(loc);
  if (!file)
    return "<unknown>";
  return (llvm::sys::path::filename(file.getFilename().getValue()) + ":" +
          llvm::Twine(file.getLine()) + ":" + llvm::Twine(file.getColumn()))
      .str();
}

std::string quoted(llvm::StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else if (llvm::isPrint(c))
      result += c;
    else {
      unsigned code = static_cast<unsigned char>(c);
      result += "\\";
      for (unsigned shift : {6, 3, 0})
        result += char('0' + (code >> shift & 7));
    }
  }
  return result + "\"";
}

/// Words that cannot be names, of C++ and of the headers.
static bool isReserved(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"alignas", "and", "auto", "bool", "break", "case", "catch",
              "char", "class", "const"},
             true)
      .Cases({"continue", "default", "delete", "do", "double", "else", "enum",
              "explicit", "extern"},
             true)
      .Cases({"false", "float", "for", "friend", "goto", "if", "inline", "int",
              "long", "mutable"},
             true)
      .Cases({"namespace", "new", "not", "operator", "or", "private", "public",
              "register", "return"},
             true)
      .Cases({"short", "signed", "sizeof", "static", "struct", "switch",
              "template", "this", "throw"},
             true)
      .Cases({"true", "try", "typedef", "union", "unsigned", "using", "virtual",
              "void", "while", "xor"},
             true)
      .Cases({"accel", "accel_pe", "pe", "local", "main", "std", "NAN",
              "INFINITY", "NULL", "EOF"},
             true)
      .Cases({"y0", "y1", "j0", "j1", "yn", "jn", "protected", "typename",
              "concept", "requires"},
             true)
      .Default(false);
}

std::string identifier(llvm::StringRef name) {
  std::string result;
  for (char c : name) {
    bool isWord = llvm::isAlnum(c);
    if (isWord || (!result.empty() && result.back() != '_'))
      result += isWord ? c : '_';
  }
  while (!result.empty() && result.back() == '_')
    result.pop_back();
  if (result.empty() || llvm::isDigit(result[0]))
    result = "x" + result;
  // v1, v2, ... are the translation's own.
  bool isVariable =
      result[0] == 'v' &&
      llvm::all_of(llvm::StringRef(result).drop_front(), llvm::isDigit);
  return isReserved(result) || isVariable ? result + "_" : result;
}

static std::string floatConstant(const APFloat &value, Type type) {
  std::string cpp = cppType(type);
  if (isa<Float32Type, Float64Type>(type)) {
    if (!value.isFinite()) {
      uint64_t bits = value.bitcastToAPInt().getZExtValue();
      return llvm::formatv("accel::bits<{0}>({1}({2:x}))", cpp,
                           cpp == "float" ? "uint32_t" : "uint64_t", bits);
    }
    std::string result;
    // As many digits as tell a number from its neighbours.
    if (cpp == "float")
      llvm::raw_string_ostream(result)
          << llvm::format("%.9g", value.convertToFloat());
    else
      llvm::raw_string_ostream(result)
          << llvm::format("%.17g", value.convertToDouble());
    if (result.find_first_of(".eE") == std::string::npos)
      result += ".0";
    return cpp == "float" ? result + "f" : result;
  }
  return llvm::formatv("{0}::of_bits({1:x})", cpp,
                       value.bitcastToAPInt().getZExtValue());
}

FailureOr<std::string> cppConstant(Attribute value) {
  auto typed = dyn_cast<TypedAttr>(value);
  if (!typed || cppType(typed.getType()).empty())
    return failure();
  Type type = typed.getType();
  if (auto number = dyn_cast<FloatAttr>(value))
    return floatConstant(number.getValue(), type);
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer)
    return failure();
  if (type.isInteger(1))
    return std::string(integer.getValue().isZero() ? "false" : "true");
  int64_t number = integer.getValue().getSExtValue();
  if (number == INT64_MIN)
    return std::string("INT64_MIN");
  if (number == INT32_MIN && type.isInteger(32))
    return std::string("INT32_MIN");
  // Functions are chosen by the types of their arguments.
  std::string text = std::to_string(number);
  return type.isInteger(32) ? text : cppType(type) + "(" + text + ")";
}

std::string Emitter::fresh(llvm::StringRef like) {
  std::string name = like.str();
  for (unsigned number = 2; !taken.insert(name).second; ++number)
    name = (like + "_" + llvm::Twine(number)).str();
  return name;
}

std::string Emitter::freshFor(Value value, llvm::StringRef otherwise) {
  std::string name;
  value.getLoc()->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner)) {
      name = named.getName().getValue().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return fresh(identifier(name.empty() ? otherwise : llvm::StringRef(name)));
}

Value Emitter::literal(Type type, llvm::StringRef text) {
  return emitc::LiteralOp::create(b, b.getUnknownLoc(), type, text);
}

void Emitter::set(Value value, llvm::StringRef text) {
  scalars[value] = literal(emitcType(value.getType()), text);
}

Value Emitter::scalar(Value value) { return scalars.lookup(value); }

std::string Emitter::word(Value value) {
  Value emitted = scalar(value);
  if (auto text = emitted.getDefiningOp<emitc::LiteralOp>())
    return text.getValue().str();
  std::string &name = names[emitted];
  if (name.empty()) {
    name = freshFor(value, "t");
    // What Text.cpp names it by.
    emitc::VerbatimOp::create(b, value.getLoc(), "//@ {} " + name,
                              ValueRange{emitted});
  }
  return name;
}

Index Emitter::index(Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.getValue().getSExtValue();
  return Index(word(value));
}

Index Emitter::index(OpFoldResult value) {
  if (auto constant = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(constant).getInt();
  return index(cast<Value>(value));
}

} // namespace tilebridge::accel
