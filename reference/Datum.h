//===- Datum.h - what a value is while a program runs -*- C++ -*- ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tilebridge::reference {

/// The bits of elements, one word each, in row-major order. Bits above an
/// element's width are zero; an index has 64.
using Lanes = std::vector<uint64_t>;

/// Memory that a program reaches through a memref.
struct View {
  /// In bytes: the aligned pointer, which the offset is counted from.
  uint64_t address = 0;
  /// In elements.
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 4> sizes, strides;
  /// Which of the launch's arrays the pointer came from; kAnyArray where it was
  /// made of a number, kNoArray where it was null or pointed elsewhere.
  int array = kAnyArray;

  static constexpr int kAnyArray = -1, kNoArray = -2;

  /// Offset of the element at a position, the view's own included.
  int64_t offsetOf(llvm::ArrayRef<int64_t> position) const;
};

/// What an SSA value stands for: a number, a block of them, or a view.
/// Copies share the elements, which never change.
class Datum {
public:
  Datum() = default;
  Datum(mlir::Type element, llvm::ArrayRef<int64_t> shape, Lanes lanes)
      : element(element), sizes(shape),
        data(std::make_shared<const Lanes>(std::move(lanes))) {}
  Datum(mlir::Type element, View view)
      : element(element),
        memory(std::make_shared<const View>(std::move(view))) {}

  bool isView() const { return memory != nullptr; }
  mlir::Type elementType() const { return element; }
  /// Of a block; empty for a number.
  llvm::ArrayRef<int64_t> shape() const { return sizes; }
  const Lanes &lanes() const { return *data; }
  const View &view() const { return *memory; }
  /// The same elements in another shape.
  Datum reshaped(llvm::ArrayRef<int64_t> shape) const;

private:
  mlir::Type element;
  llvm::SmallVector<int64_t, 4> sizes;
  std::shared_ptr<const Lanes> data;
  std::shared_ptr<const View> memory;
};

/// Bits of an element; 64 for an index.
unsigned widthOf(mlir::Type element);
/// Bytes of an element in memory.
unsigned bytesOf(mlir::Type element);

/// The low `width` bits.
inline uint64_t truncated(uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

/// The low `width` bits as a signed number.
inline int64_t signedValue(uint64_t bits, unsigned width) {
  if (width >= 64)
    return int64_t(bits);
  if (width == 0)
    return 0;
  return int64_t(bits << (64 - width)) >> (64 - width);
}

/// How many elements a shape has.
int64_t countOf(llvm::ArrayRef<int64_t> shape);

/// Calls `body` with every position of a shape, in row-major order.
void forEachPosition(
    llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<void(llvm::ArrayRef<int64_t> position)> body);

/// The number of a position in row-major order.
int64_t linearIndex(llvm::ArrayRef<int64_t> position,
                    llvm::ArrayRef<int64_t> shape);

} // namespace tilebridge::reference
