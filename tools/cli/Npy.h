//===- Npy.h - NumPy's files --------------------------------------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "tools/cli/Dtype.h"

#include <memory>
#include <string>
#include <vector>

namespace tilebridge::cli {

/// An array in memory that is aligned as kernels like it (64 bytes).
struct Array {
  const Dtype *dtype = nullptr;
  std::vector<int64_t> shape;
  bool isFortranOrder = false;

  /// Allocates memory, all zero. Throws where the size is not one.
  void allocate();

  size_t count() const;
  size_t bytes() const { return count() * dtype->size; }
  uint8_t *data() const { return memory.get(); }
  /// In elements, one a dimension.
  std::vector<int64_t> strides() const;
  /// "fp32[3,4]".
  std::string describe() const;

private:
  std::shared_ptr<uint8_t> memory;
};

/// Reads versions 1 to 3 of the format. `name` is what errors call the file.
Array parseNpy(const std::string &bytes, const std::string &name);
std::string formatNpy(const Array &array);

} // namespace tilebridge::cli
