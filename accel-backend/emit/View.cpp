//===- View.cpp - memory as the text of C++ sees it -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/View.h"

#include "llvm/ADT/STLExtras.h"

using namespace tilebridge::accel;

namespace tilebridge::accel {

std::string Index::str() const {
  if (!number)
    return text;
  return *number == INT64_MIN ? "INT64_MIN" : std::to_string(*number);
}

std::string Index::factor() const {
  std::string all = str();
  bool isOne = llvm::all_of(
      all, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  return isOne ? all : "(" + all + ")";
}

Index operator+(const Index &x, const Index &y) {
  int64_t sum;
  if (x.number && y.number &&
      !__builtin_add_overflow(*x.number, *y.number, &sum))
    return sum;
  if (x.is(0))
    return y;
  if (y.is(0))
    return x;
  if (y.number && *y.number < 0 && *y.number != INT64_MIN)
    return Index(x.str() + " - " + std::to_string(-*y.number));
  return Index(x.str() + " + " + y.str());
}

Index operator-(const Index &x, const Index &y) {
  int64_t difference;
  if (x.number && y.number &&
      !__builtin_sub_overflow(*x.number, *y.number, &difference))
    return difference;
  return y.is(0) ? x : Index(x.str() + " - " + y.factor());
}

Index operator*(const Index &x, const Index &y) {
  int64_t product;
  if (x.number && y.number &&
      !__builtin_mul_overflow(*x.number, *y.number, &product))
    return product;
  if (x.is(0) || y.is(0))
    return 0;
  if (x.is(1))
    return y;
  if (y.is(1))
    return x;
  return Index(x.factor() + " * " + y.factor());
}

Index View::at(llvm::ArrayRef<Index> position) const {
  Index result = offset;
  for (auto [one, stride] : llvm::zip_equal(position, strides))
    result = result + one * stride;
  return result;
}

std::string View::address() const {
  return offset.is(0) ? pointer : pointer + " + " + offset.str();
}

std::string braced(llvm::ArrayRef<Index> values) {
  std::string text = "{";
  for (const Index &value : values)
    text += (text.size() > 1 ? ", " : "") + value.str();
  return text + "}";
}

} // namespace tilebridge::accel
