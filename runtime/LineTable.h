//===- LineTable.h - from addresses to lines of source --------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilebridge::rt {

/// The section .debug_line of a kernel (DWARF 4, as our compiler writes it).
class LineTable {
public:
  struct Place {
    std::string_view folder, file; ///< the folder may be empty
    uint64_t line = 0, column = 0;
  };

  LineTable() = default;
  explicit LineTable(std::string section) : section(std::move(section)) {}

  /// Where the code at this address comes from; the address counts from where
  /// the shared object begins. Allocates nothing and takes no lock: a handler
  /// of signals calls it. A damaged section finds nothing.
  bool find(uint64_t address, Place &place) const;

private:
  std::string section;
};

} // namespace tilebridge::rt
