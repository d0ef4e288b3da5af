//===- Values.h - kernel arguments on the command line -----------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/cli/Npy.h"
#include "tools/cli/Options.h"

#include "runtime/tilebridge.h"

#include <deque>
#include <string>
#include <vector>

namespace tilebridge::cli {

/// The arguments of one run. Arrays stay where they are while the kernel works
/// on them.
class Values {
public:
  /// Matches the texts with the kernel's arguments. Sizes and strides that
  /// follow a descriptor are taken from it.
  Values(const tilebridge_kernel *kernel,
         const std::vector<ArgumentText> &texts);

  const std::vector<tilebridge_argument> &arguments() const { return list; }

  /// The arrays as the evaluator wants them, one a text; empty for numbers.
  std::vector<tilebridge_memory> memory() const;

  /// The array of a text, or null.
  const Array *arrayOf(size_t text) const { return entries[text].array; }

  /// Writes the arrays of --out; prints all arrays if `show`.
  void finish(bool show) const;

private:
  struct Entry {
    const ArgumentText *text;
    const Array *array; // null for scalars
  };

  void add(const std::string &type, const ArgumentText &text);
  tilebridge_argument parse(const std::string &type, const std::string &text);
  const Array *parseArray(const std::string &type, const std::string &text);
  const Array *parseNewArray(const std::string &text);
  tilebridge_argument parseDescriptor(const std::string &type,
                                      std::string text);
  [[noreturn]] void fail(const std::string &type, const std::string &why) const;

  const ArgumentText *given = nullptr; // the one that is being read
  std::vector<tilebridge_argument> list;
  std::deque<std::string> types; // what the arguments' types point to
  std::deque<Array> arrays;
  std::deque<tilebridge_descriptor> descriptors;
  std::vector<Entry> entries; // as written, one a text
};

/// "fp32" out of "*fp32", "*kfp32" or "tensordesc<fp32[4]>".
std::string elementOf(const std::string &type);

/// What the user has to write for the argument of this type, for messages.
std::string describeType(const std::string &type);

} // namespace tilebridge::cli
