//===- Probes.h - loading the kernels written by hand ----------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/tilebridge.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <string>

enum Mode {
  Count,
  Print,
  Assert,
  Chain,
  Rendezvous,
  Lock,
  ScratchMode,
  Migrate,
  Calls
};

using KernelPtr =
    std::unique_ptr<tilebridge_kernel, void (*)(tilebridge_kernel *)>;

inline std::string readProbe(const std::string &name) {
  std::ifstream file(std::string(PROBES) + "/" + name + ".so",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

inline std::string sealed(const std::string &object) {
  tilebridge_buffer buffer = {nullptr, 0};
  EXPECT_EQ(tilebridge_seal(object.data(), object.size(), &buffer),
            TILEBRIDGE_OK);
  std::string result(buffer.data, buffer.size);
  tilebridge_buffer_free(&buffer);
  return result;
}

inline KernelPtr load(const std::string &name) {
  std::string artefact = sealed(readProbe(name));
  tilebridge_kernel *kernel = nullptr;
  EXPECT_EQ(tilebridge_load_bytes(artefact.data(), artefact.size(), &kernel),
            TILEBRIDGE_OK)
      << tilebridge_last_error();
  return {kernel, tilebridge_kernel_release};
}

inline tilebridge_code
launch(const KernelPtr &kernel, int64_t x, int64_t y, int64_t z, int64_t *data,
       Mode mode, const tilebridge_launch_options *options = nullptr) {
  uint64_t slots[2] = {uint64_t(uintptr_t(data)), uint64_t(mode)};
  return tilebridge_launch(kernel.get(), x, y, z, slots, 2, options);
}
