//===- BlockKernel.h - text of kernels on whole blocks *- C++ -*- ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tilebridge::cpu::test {

/// The type of a pointer, and of a block, to elements of a type.
std::string pointer(const std::string &type);
std::string tensor(const std::vector<int64_t> &shape, const std::string &type);

/// A kernel `@k`: "%name: type" pointers, then a body, in which `%c0` is zero.
std::string
kernel(const std::vector<std::pair<std::string, std::string>> &pointers,
       const std::string &body);

/// Loads all of pointer `from` as block `name`, in row-major order.
std::string load(const std::string &name, const std::string &from,
                 const std::vector<int64_t> &shape, const std::string &type);

/// Stores block `value` to pointer `to`, in row-major order.
std::string storeTo(const std::string &value, const std::string &to,
                    const std::vector<int64_t> &shape, const std::string &type);

} // namespace tilebridge::cpu::test
