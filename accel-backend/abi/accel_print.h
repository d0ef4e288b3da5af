//===- accel_print.h - what kernels print ------------------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Lines as Triton's device_print writes them; a kernel that prints includes it.
#pragma once

#include "accel_kernel.h"

#include <cstdio>
#include <string>

namespace accel {

struct program_ids {
  int32_t x, y, z;
};

/// " idx ( 3, 12)", padded to the width of the largest index.
inline std::string position(list sizes, list at) {
  std::string text = " idx (";
  const int64_t *size = sizes.begin();
  for (int64_t one : at) {
    std::string number = std::to_string(one);
    size_t width = std::to_string(*size++ - 1).size();
    text += (text.size() > 6 ? ", " : "") +
            std::string(width - number.size(), ' ') + number;
  }
  return text + ")";
}

inline void print(accel_pe *pe, program_ids ids, const std::string &text) {
  std::string line = "pid (" + std::to_string(ids.x) + ", " +
                     std::to_string(ids.y) + ", " + std::to_string(ids.z) +
                     ")" + text + "\n";
  accel_print(pe, line.c_str());
}

template <class T>
void print(accel_pe *pe, program_ids ids, const std::string &before, T value,
           bool is_signed, bool is_hex) {
  char number[400];
  if constexpr (!std::is_integral_v<T>)
    std::snprintf(number, sizeof(number), is_hex ? "%a" : "%f", double(value));
  else if (is_hex)
    std::snprintf(number, sizeof(number), "0x%0*llx",
                  int((width_of<T> + 3) / 4),
                  static_cast<unsigned long long>(unsigned_of(value)));
  else if (is_signed && !std::is_same_v<T, bool>)
    std::snprintf(number, sizeof(number), "%lld",
                  static_cast<long long>(value));
  else
    std::snprintf(number, sizeof(number), "%llu",
                  static_cast<unsigned long long>(unsigned_of(value)));
  print(pe, ids, before + number);
}
template <class T>
void print(accel_pe *pe, program_ids ids, const std::string &at,
           const char *prefix, T value, bool is_signed, bool is_hex) {
  print(pe, ids, at + prefix, value, is_signed, is_hex);
}

} // namespace accel
