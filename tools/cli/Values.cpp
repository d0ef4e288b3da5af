//===- Values.cpp - kernel arguments on the command line ----------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/cli/Values.h"

#include "tools/cli/Error.h"
#include "tools/cli/Fill.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace tilebridge::cli {

static bool isDescriptor(const std::string &type) {
  return type.rfind("tensordesc", 0) == 0;
}

std::string elementOf(const std::string &type) {
  if (isDescriptor(type)) {
    size_t open = type.find('<');
    return type.substr(open + 1, type.find('[') - open - 1);
  }
  return type.substr(type[1] == 'k' ? 2 : 1);
}

static size_t rankOf(const std::string &type) {
  size_t rank = 1;
  for (char c : type)
    rank += c == ',';
  return rank;
}

std::string describeType(const std::string &type) {
  if (type[0] == '*')
    return type + ": an array of " + elementOf(type);
  if (isDescriptor(type))
    return type + ": an array of " + elementOf(type) + " of rank " +
           std::to_string(rankOf(type));
  return type + ": a number";
}

/// How many arguments behind a descriptor are its sizes (i32) and strides
/// (i64), as Triton adds them.
static size_t impliedBy(const tilebridge_kernel *kernel, size_t descriptor) {
  size_t rank = rankOf(tilebridge_kernel_argument_type(kernel, descriptor));
  for (size_t i = 0; i < 2 * rank; ++i) {
    const char *type =
        tilebridge_kernel_argument_type(kernel, descriptor + 1 + i);
    if (!type || type != std::string(i < rank ? "i32" : "i64"))
      return 0;
  }
  return 2 * rank;
}

static std::string listArguments(const tilebridge_kernel *kernel) {
  std::string text;
  size_t count = tilebridge_kernel_argument_count(kernel), number = 0;
  for (size_t i = 0; i < count; ++i) {
    std::string type = tilebridge_kernel_argument_type(kernel, i);
    text += "\n  " + std::to_string(number++) + "  " + describeType(type);
    if (isDescriptor(type))
      i += impliedBy(kernel, i);
  }
  return text;
}

Values::Values(const tilebridge_kernel *kernel,
               const std::vector<ArgumentText> &texts) {
  size_t count = tilebridge_kernel_argument_count(kernel);
  for (size_t i = 0; i < count; ++i) {
    if (entries.size() == texts.size())
      usageError("the kernel '" + std::string(tilebridge_kernel_name(kernel)) +
                 "' takes more arguments than the " +
                 std::to_string(texts.size()) + " given; it takes" +
                 listArguments(kernel));
    std::string type = tilebridge_kernel_argument_type(kernel, i);
    add(type, texts[entries.size()]);
    if (!isDescriptor(type))
      continue;
    size_t implied = impliedBy(kernel, i), rank = implied / 2;
    for (size_t j = 0; j < implied; ++j) {
      tilebridge_argument argument = {j < rank ? "i32" : "i64", {}};
      argument.value.integer = j < rank ? descriptors.back().sizes[j]
                                        : descriptors.back().strides[j - rank];
      list.push_back(argument);
    }
    i += implied;
  }
  if (entries.size() < texts.size())
    usageError(std::to_string(texts.size()) +
               " arguments were given; the kernel '" +
               std::string(tilebridge_kernel_name(kernel)) + "' takes only" +
               listArguments(kernel));
}

void Values::fail(const std::string &type, const std::string &why) const {
  usageError("argument " + std::to_string(entries.size()) + " (" + type +
             "): " + why);
}

void Values::add(const std::string &type, const ArgumentText &text) {
  size_t before = arrays.size();
  given = &text;
  list.push_back(parse(type, text.value));
  const Array *array = nullptr;
  if (text.value[0] == '@')
    array = entries[std::stoul(text.value.substr(1))].array;
  else if (arrays.size() > before)
    array = &arrays.back();
  if (!text.outputFile.empty() && !array)
    fail(type, "only an array can be written to " + text.outputFile);
  entries.push_back({&text, array});
}

tilebridge_argument Values::parse(const std::string &type,
                                  const std::string &text) {
  if (text.empty())
    fail(type, "is empty");
  if (isDescriptor(type))
    return parseDescriptor(type, text);
  types.push_back(type);
  tilebridge_argument argument = {types.back().c_str(), {}};
  if (type[0] == '*') {
    const Array *array = text == "null" ? nullptr : parseArray(type, text);
    argument.value.pointer = array ? array->data() : nullptr;
    return argument;
  }
  // "i32:7" says the type once more, which is checked.
  std::string number = text;
  if (size_t colon = text.find(':'); colon != text.npos) {
    const Dtype *given = findDtype(text.substr(0, colon)),
                *wanted = findDtype(type);
    if (!given || !wanted || !isCompatible(*given, *wanted))
      fail(type, "'" + text + "' is of another type");
    number = text.substr(colon + 1);
  }
  if (number == "true" || number == "false")
    number = number == "true" ? "1" : "0";
  char *end = nullptr;
  errno = 0;
  if (type[0] == 'f' || type[0] == 'b')
    argument.value.real = std::strtod(number.c_str(), &end);
  else if (number[0] == '-')
    argument.value.integer = std::strtoll(number.c_str(), &end, 0);
  else
    argument.value.integer = int64_t(std::strtoull(number.c_str(), &end, 0));
  if (end == number.c_str() || *end ||
      (errno == ERANGE && type[0] != 'f' && type[0] != 'b'))
    fail(type, "'" + text + "' is not a number of this type");
  return argument;
}

const Array *Values::parseNewArray(const std::string &text) {
  Array array;
  if (!parseArrayText(text, array))
    return nullptr;
  arrays.push_back(std::move(array));
  return &arrays.back();
}

const Array *Values::parseArray(const std::string &type,
                                const std::string &text) {
  const Array *array = nullptr;
  if (text[0] == '@') {
    char *end = nullptr;
    size_t number = std::strtoul(text.c_str() + 1, &end, 10);
    if (text.size() == 1 || *end || number >= entries.size() ||
        !entries[number].array)
      fail(type, "'" + text + "' names no array among the arguments before it");
    array = entries[number].array;
  } else if (!(array = parseNewArray(text))) {
    bool isOutput = !given->outputFile.empty() && given->outputFile == text;
    if (isOutput && !isFile(text))
      fail(type, text +
                     " does not exist yet: say what it holds, such as --out " +
                     text + "=" + elementOf(type) + "[1024]");
    arrays.push_back(parseNpy(readInput(text), text));
    array = &arrays.back();
  }
  const Dtype *wanted = findDtype(elementOf(type));
  if (wanted && !isCompatible(*array->dtype, *wanted))
    fail(type, text + " has elements of " + array->dtype->name);
  return array;
}

tilebridge_argument Values::parseDescriptor(const std::string &type,
                                            std::string text) {
  tilebridge_descriptor descriptor = {};
  static const std::string padding = ",pad=nan";
  if (text.size() > padding.size() &&
      text.compare(text.size() - padding.size(), padding.size(), padding) ==
          0) {
    descriptor.pad_with_nan = 1;
    text.resize(text.size() - padding.size());
  }
  const Array *array = parseArray(type, text);
  if (array->shape.size() != rankOf(type))
    fail(type, text + " has rank " + std::to_string(array->shape.size()));
  std::vector<int64_t> strides = array->strides();
  if (strides.back() != 1)
    fail(type, text + " is in Fortran order; the last dimension of a "
                      "descriptor must be contiguous");
  descriptor.pointer = array->data();
  descriptor.rank = uint32_t(strides.size());
  for (size_t i = 0; i < strides.size(); ++i) {
    descriptor.sizes[i] = array->shape[i];
    descriptor.strides[i] = strides[i];
  }
  descriptors.push_back(descriptor);
  types.push_back(type);
  tilebridge_argument argument = {types.back().c_str(), {}};
  argument.value.descriptor = &descriptors.back();
  return argument;
}

static void printArray(size_t number, const Array &array) {
  std::printf("argument %zu: %s", number, array.describe().c_str());
  constexpr size_t most = 16;
  for (size_t i = 0; i < array.count() && i < most; ++i)
    std::printf(
        "%s %s", i ? "," : ":",
        array.dtype->format(array.data() + i * array.dtype->size).c_str());
  std::printf(array.count() > most ? ", ...\n" : "\n");
}

std::vector<tilebridge_memory> Values::memory() const {
  std::vector<tilebridge_memory> list;
  for (const Entry &entry : entries)
    list.push_back(entry.array ? tilebridge_memory{entry.array->data(),
                                                   entry.array->bytes()}
                               : tilebridge_memory{nullptr, 0});
  return list;
}

void Values::finish(bool show) const {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].array)
      continue;
    if (show)
      printArray(i, *entries[i].array);
    if (!entries[i].text->outputFile.empty())
      writeOutput(entries[i].text->outputFile, formatNpy(*entries[i].array));
  }
}

} // namespace tilebridge::cli
