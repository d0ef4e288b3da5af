//===- View.h - memory as the text of C++ sees it ---------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tilebridge::accel {

/// An integer of addresses: a number, or an expression of C++.
class Index {
public:
  Index(int64_t number = 0) : number(number) {}
  explicit Index(std::string text) : text(std::move(text)) {}

  std::optional<int64_t> constant() const { return number; }
  bool is(int64_t value) const { return number == value; }
  std::string str() const;
  friend Index operator+(const Index &x, const Index &y);
  friend Index operator-(const Index &x, const Index &y);
  friend Index operator*(const Index &x, const Index &y);

private:
  /// The text as an operand of `*` or behind `-`.
  std::string factor() const;
  std::optional<int64_t> number;
  std::string text;
};

/// A memref or a block of a computation: elements at
/// pointer[offset + sum of position times stride].
struct View {
  std::string pointer;
  std::string element; // the type in C++
  Index offset;
  llvm::SmallVector<Index> sizes, strides;

  /// The element at a position.
  Index at(llvm::ArrayRef<Index> position) const;
  /// The first element's address.
  std::string address() const;
};

/// "{a, b}" and "{a, b}" without what is not there.
std::string braced(llvm::ArrayRef<Index> values);

} // namespace tilebridge::accel
