//===- Seal.h - the checksum at the end of an artefact -----------*- C++
//-*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilebridge::rt {

/// An artefact is a shared object followed by 48 bytes: "TBSEAL1\0", the size
/// of the shared object (64 bits, little endian) and its SHA-256. The dynamic
/// loader trusts what it maps, so a damaged file must be recognized before it
/// sees it.
constexpr size_t sealSize = 48;

std::string makeSeal(std::string_view object);

/// Splits off the seal. Returns false, with the reason, where it is absent or
/// does not match.
bool openSeal(std::string_view artefact, std::string_view &object,
              std::string &why);

} // namespace tilebridge::rt
