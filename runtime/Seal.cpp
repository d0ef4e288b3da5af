//===- Seal.cpp - the checksum at the end of an artefact ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Seal.h"

#include "runtime/Sha256.h"

#include <cstring>

namespace tilebridge::rt {

static constexpr char sealMagic[8] = {'T', 'B', 'S', 'E', 'A', 'L', '1', 0};

std::string makeSeal(std::string_view object) {
  std::string seal(sealMagic, sizeof(sealMagic));
  for (int i = 0; i < 8; ++i)
    seal += char(uint64_t(object.size()) >> (8 * i));
  Sha256::Digest digest = Sha256::hash(object.data(), object.size());
  seal.append(reinterpret_cast<const char *>(digest.data()), digest.size());
  return seal;
}

bool openSeal(std::string_view artefact, std::string_view &object,
              std::string &why) {
  if (artefact.size() < 4 || std::memcmp(artefact.data(), "\177ELF", 4) != 0) {
    why = "it is not a shared object";
    return false;
  }
  if (artefact.size() < sealSize ||
      std::memcmp(artefact.data() + artefact.size() - sealSize, sealMagic,
                  sizeof(sealMagic)) != 0) {
    why = "it has no checksum at its end: it is truncated, or was not written "
          "by `tilebridge compile` (a shared object "
          "linked by other means is sealed with `tilebridge seal`)";
    return false;
  }
  object = artefact.substr(0, artefact.size() - sealSize);
  if (makeSeal(object) != artefact.substr(object.size())) {
    why = "its checksum does not match its contents: the file is damaged";
    return false;
  }
  return true;
}

} // namespace tilebridge::rt
