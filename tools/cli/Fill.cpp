//===- Fill.cpp - arrays that are made up --------------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/cli/Fill.h"

#include "tools/cli/Error.h"

#include <cstdlib>
#include <random>

namespace tilebridge::cli {

static bool parseShape(const std::string &text, std::vector<int64_t> &shape) {
  if (text.empty())
    return true; // one element, rank 0
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string number = text.substr(begin, end - begin);
    if (number.empty() || number.size() > 15 ||
        number.find_first_not_of("0123456789") != number.npos)
      return false;
    shape.push_back(std::stoll(number));
    begin = end + 1;
  }
  return true;
}

/// Floats are normal with deviation 1; integers from -8 to 8, or 0 to 8; the
/// same for the same seed everywhere.
static void fillRandomly(Array &array, uint64_t seed) {
  std::mt19937_64 generator(seed);
  const Dtype &dtype = *array.dtype;
  for (size_t i = 0; i < array.count(); ++i) {
    double value = 0;
    if (dtype.kind == Dtype::Float) {
      // The sum of twelve uniform numbers; the standard's own distributions
      // differ between libraries.
      for (int j = 0; j < 12; ++j)
        value += double(generator() >> 11) * 0x1p-53;
      value -= 6;
    } else if (dtype.kind == Dtype::Bool) {
      value = double(generator() & 1);
    } else {
      value = double(int64_t(generator() % 17)) - 8;
      if (dtype.kind != Dtype::Signed && value < 0)
        value = -value;
    }
    dtype.store(value, array.data() + i * dtype.size);
  }
}

static void fill(Array &array, const std::string &how,
                 const std::string &text) {
  const Dtype &dtype = *array.dtype;
  if (how.rfind("random", 0) == 0) {
    char *end = nullptr;
    uint64_t seed =
        how.size() > 7 ? std::strtoull(how.c_str() + 7, &end, 10) : 0;
    if (how != "random" && (how[6] != ':' || how.size() == 7 || *end))
      usageError("'" + text + "': random:SEED wants a number");
    return fillRandomly(array, seed);
  }
  char *end = nullptr;
  double value = std::strtod(how.c_str(), &end);
  bool isRange = how == "range";
  if (!isRange && (how.empty() || *end))
    usageError(
        "'" + text +
        "': an array is filled with a number, range, random or random:SEED");
  for (size_t i = 0; i < array.count(); ++i)
    dtype.store(isRange ? double(i) : value, array.data() + i * dtype.size);
}

bool parseArrayText(const std::string &text, Array &array) {
  size_t open = text.find('['), close = text.find(']');
  if (open == text.npos || close == text.npos || close < open)
    return false;
  array.dtype = findDtype(text.substr(0, open));
  if (!array.dtype || (close + 1 < text.size() && text[close + 1] != '='))
    return false;
  if (!parseShape(text.substr(open + 1, close - open - 1), array.shape))
    usageError("'" + text +
               "': a shape is a list of numbers, such as f32[64,64]");
  array.allocate();
  if (close + 1 < text.size())
    fill(array, text.substr(close + 2), text);
  return true;
}

} // namespace tilebridge::cli
