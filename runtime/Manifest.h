//===- Manifest.h - what an artefact says about itself ---------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilebridge::rt {

struct Manifest {
  std::string name;
  std::vector<std::string> signature;
  std::string target;
  std::string features;
  /// See executable_abi.h; empty where it is not said.
  std::string atomics;
};

/// Reads the JSON of an artefact. Keys it does not know are skipped. Returns
/// false and the reason if the text is not an object with at least a name and a
/// signature.
bool parseManifest(std::string_view text, Manifest &manifest, std::string &why);

} // namespace tilebridge::rt
