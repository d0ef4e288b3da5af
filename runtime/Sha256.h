//===- Sha256.h - the hash of artefacts and cache keys -----------*- C++
//-*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilebridge::rt {

/// SHA-256 as FIPS 180-4 defines it.
class Sha256 {
public:
  using Digest = std::array<uint8_t, 32>;

  void update(const void *data, size_t size);
  /// Hashes the length too, so that ("ab", "c") and ("a", "bc") differ.
  void updateField(std::string_view field);
  Digest finish();

  static Digest hash(const void *data, size_t size);
  static std::string hex(const Digest &digest);

private:
  void block(const uint8_t *data);

  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t pending[64];
  uint64_t total = 0;
};

} // namespace tilebridge::rt
