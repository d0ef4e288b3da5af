//===- Header.cpp - a kernel's launch function in C -------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Header.h"

#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilebridge::compiler {

namespace {

/// One argument of the kernel, as C has it.
struct Parameter {
  std::string name;
  StringRef type;  ///< as the signature has it: "*fp32"
  StringRef ctype; ///< "float *"
  StringRef field; ///< of the union in tilebridge_argument
  /// What the caller must know: the block of a descriptor, the alignment.
  std::string note;
  /// For the sizes and strides behind a descriptor, which are taken from it:
  /// "a->sizes[0]".
  std::string value;
};

} // namespace

static bool isReserved(StringRef name) {
  static const llvm::StringSet<> words = {
      // Our own parameters and variables.
      "kernel", "grid_x", "grid_y", "grid_z", "options", "arguments",
      // Words of C and C++ that are names in Python.
      "alignas", "alignof", "asm", "auto", "bool", "case", "catch", "char",
      "class", "const", "constexpr", "default", "delete", "do", "double",
      "enum", "explicit", "export", "extern", "false", "float", "friend",
      "goto", "inline", "int", "long", "mutable", "namespace", "new",
      "noexcept", "operator", "private", "protected", "public", "register",
      "restrict", "short", "signed", "sizeof", "static", "struct", "switch",
      "template", "this", "throw", "true", "try", "typedef", "typename",
      "typeid", "union", "unsigned", "using", "virtual", "void", "volatile",
      "wchar_t", "NULL"};
  return words.contains(name);
}

/// A name that C takes; Python's may hold letters that C does not have.
static std::string identifier(StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) ? c : '_';
  if (result.empty() || llvm::isDigit(result[0]))
    result = "_" + result;
  if (isReserved(result))
    result += '_';
  return result;
}

static StringRef pointerTo(StringRef element) {
  return llvm::StringSwitch<StringRef>(element)
      .Case("fp32", "float *")
      .Case("fp64", "double *")
      .Cases({"i8", "i1"}, "int8_t *")
      .Case("i16", "int16_t *")
      .Case("i32", "int32_t *")
      .Case("i64", "int64_t *")
      .Cases({"u8", "u1"}, "uint8_t *")
      .Case("u16", "uint16_t *")
      .Case("u32", "uint32_t *")
      .Case("u64", "uint64_t *")
      // C has no such types: arrays hold their bits.
      .Cases({"fp16", "bf16"}, "uint16_t *")
      .StartsWith("fp8", "uint8_t *")
      .Default("void *");
}

static void describeType(Parameter &parameter) {
  StringRef type = parameter.type;
  if (type.consume_front("*")) {
    type.consume_front("k");
    parameter.ctype = pointerTo(type);
    parameter.field = "pointer";
    if (type == "fp16" || type == "bf16" || type.starts_with("fp8"))
      parameter.note = ("the bits of " + type).str();
  } else if (type.starts_with("tensordesc")) {
    parameter.ctype = "const tilebridge_descriptor *";
    parameter.field = "descriptor";
    parameter.note =
        ("block " + type.drop_until([](char c) { return c == '<'; })).str();
  } else if (type.contains("fp") || type == "bf16") {
    parameter.ctype = type == "fp64" ? "double " : "float ";
    parameter.field = "real";
  } else {
    parameter.ctype = llvm::StringSwitch<StringRef>(type)
                          .Case("i8", "int8_t ")
                          .Case("i16", "int16_t ")
                          .Case("i32", "int32_t ")
                          .Cases({"u1", "u8"}, "uint8_t ")
                          .Case("u16", "uint16_t ")
                          .Case("u32", "uint32_t ")
                          .Case("u64", "uint64_t ")
                          .Case("i1", "int ")
                          .Default("int64_t ");
    parameter.field = "integer";
  }
}

/// What Triton's front end calls an argument, or nothing.
static StringRef nameOf(Location loc) {
  auto name = dyn_cast<NameLoc>(loc);
  return name ? name.getName().getValue() : StringRef();
}

static SmallVector<Parameter> parametersOf(func::FuncOp kernel) {
  SmallVector<Parameter> parameters;
  llvm::StringSet<> used;
  unsigned argument = 0;
  auto types = kernel->getAttrOfType<ArrayAttr>(linalg_ext::kSignatureAttr);
  std::string descriptor; // whose sizes and strides come next
  unsigned rank = 0, part = 0;
  for (auto type : types.getAsRange<StringAttr>()) {
    Parameter parameter;
    parameter.type = type.getValue();
    describeType(parameter);
    StringRef name;
    if (argument < kernel.getNumArguments()) {
      name = nameOf(kernel.getArgument(argument).getLoc());
      if (auto multiple = kernel.getArgAttrOfType<IntegerAttr>(
              argument, linalg_ext::kDivisibilityAttr)) {
        parameter.note += parameter.note.empty() ? "" : ", ";
        parameter.note += "a multiple of " + std::to_string(multiple.getInt()) +
                          (parameter.field == "pointer" ? " bytes" : "");
      }
    }
    parameter.name = identifier(
        name.empty() ? "arg" + std::to_string(parameters.size()) : name.str());
    while (!used.insert(parameter.name).second)
      parameter.name += '_';
    bool isDescriptor = parameter.field == "descriptor";
    if (isDescriptor) {
      descriptor = parameter.name;
      rank = parameter.type.count(',') + 1;
      part = 0;
    } else if (part < 2 * rank) {
      parameter.value = descriptor + (part < rank ? "->sizes[" : "->strides[") +
                        std::to_string(part % rank) + "]";
      ++part;
    }
    // The bridge IR has a descriptor as a view and its padding.
    argument += isDescriptor ? 2 : 1;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::string headerOf(func::FuncOp kernel) {
  SmallVector<Parameter> parameters = parametersOf(kernel);
  std::string name = identifier(kernel.getName()), text;
  std::string guard = "TILEBRIDGE_KERNEL_" + StringRef(name).upper() + "_H";
  llvm::raw_string_ostream out(text);
  out << "/* How to launch the kernel '" << name
      << "'. Written by `tilebridge compile`; the kernel is the shared object\n"
         " * that was compiled from the same source: tilebridge_load_file "
         "loads it. */\n"
      << "#ifndef " << guard << "\n#define " << guard << "\n\n"
      << "#include <tilebridge/tilebridge.h>\n\n"
         "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
         "/* Runs grid_x * grid_y * grid_z programs; types are checked against "
         "the kernel's. `options` may be NULL.\n";
  for (const Parameter &parameter : parameters)
    if (parameter.value.empty() && !parameter.note.empty())
      out << " *   " << parameter.name << ": " << parameter.note << '\n';
  out << " */\nstatic inline tilebridge_code " << name
      << "_launch(\n    tilebridge_kernel *kernel, int64_t grid_x, int64_t "
         "grid_y, int64_t grid_z,\n";
  for (const Parameter &parameter : parameters)
    if (parameter.value.empty())
      out << "    " << parameter.ctype << parameter.name << ",\n";
  out << "    const tilebridge_launch_options *options) {\n"
      << "  tilebridge_argument arguments["
      << std::max<size_t>(1, parameters.size()) << "];\n";
  for (auto [i, parameter] : llvm::enumerate(parameters))
    out << "  arguments[" << i << "].type = \"" << parameter.type
        << "\";\n  arguments[" << i << "].value." << parameter.field << " = "
        << (parameter.value.empty() ? parameter.name : parameter.value)
        << ";\n";
  out << "  return tilebridge_launch_typed(kernel, grid_x, grid_y, grid_z, "
         "arguments, "
      << parameters.size()
      << ",\n                                 options);\n}\n\n"
         "#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

} // namespace tilebridge::compiler
