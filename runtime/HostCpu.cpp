//===- HostCpu.cpp - the CPU that this process runs on -------------------
//-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/HostCpu.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unordered_set>

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tilebridge::rt {

namespace {

struct HostCpu {
  std::string identity;
  std::unordered_set<std::string>
      features; // as `normalize` spells them; empty: unknown

  HostCpu();
};

/// LLVM says "sse4.1", "amx-int8", "avx512vnni"; the kernel "sse4_1",
/// "amx_int8", "avx512_vnni".
std::string normalize(std::string_view name) {
  std::string result;
  for (char c : name)
    if (c != '_' && c != '-' && c != '.')
      result += c;
  return result;
}

HostCpu::HostCpu() {
  FILE *file = std::fopen("/proc/cpuinfo", "re");
  if (!file)
    return;
  char *line = nullptr;
  size_t capacity = 0;
  // The first processor stands for all: processors follow one another,
  // separated by empty lines.
  while (getline(&line, &capacity, file) > 1) {
    std::string_view text(line);
    size_t colon = text.find(':');
    if (colon == text.npos)
      continue;
    std::string_view key =
        text.substr(0, text.find_last_not_of(" \t", colon - 1) + 1);
    bool isFlags = key == "flags" || key == "Features";
    if (isFlags || key == "vendor_id" || key == "cpu family" ||
        key == "model" || key == "stepping" || key == "model name" ||
        key == "CPU implementer" || key == "CPU part" || key == "CPU variant")
      identity.append(text);
    if (!isFlags)
      continue;
    std::string_view rest = text.substr(colon + 1);
    while (!rest.empty()) {
      size_t begin = rest.find_first_not_of(" \t\n");
      if (begin == rest.npos)
        break;
      size_t end = rest.find_first_of(" \t\n", begin);
      features.insert(normalize(rest.substr(begin, end - begin)));
      rest.remove_prefix(end == rest.npos ? rest.size() : end);
    }
  }
  std::free(line);
  std::fclose(file);
}

const HostCpu &hostCpu() {
  static const HostCpu host;
  return host;
}

/// What the kernel calls a feature of LLVM's where the names differ by more
/// than punctuation.
std::string kernelName(std::string_view llvmName) {
  if (llvmName == "bmi")
    return "bmi1";
  if (llvmName == "lzcnt")
    return "abm";
  return normalize(llvmName);
}

/// What an old kernel may not list although the CPU has it is left out.
bool decidesCode(std::string_view name) {
  static constexpr std::string_view names[] = {
      "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "fma", "f16c", "bmi", "bmi2",
      "lzcnt", "popcnt", "movbe",
      // AMD's: other CPUs with AVX-512 have none of these.
      "sse4a", "xop", "fma4", "tbm"};
  for (std::string_view each : names)
    if (name == each)
      return true;
  return name.substr(0, 6) == "avx512" || name.substr(0, 4) == "amx-";
}

} // namespace

const std::string &hostCpuIdentity() { return hostCpu().identity; }

std::string missingCpuFeature(const std::string &features) {
#if defined(__x86_64__)
  const auto &available = hostCpu().features;
  if (available.empty())
    return "";
  std::string_view rest = features;
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    std::string_view feature = rest.substr(0, comma);
    rest.remove_prefix(comma == rest.npos ? rest.size() : comma + 1);
    if (feature.size() < 2 || feature[0] != '+' ||
        !decidesCode(feature.substr(1)))
      continue;
    if (!available.count(kernelName(feature.substr(1))))
      return std::string(feature.substr(1));
  }
#else
  (void)features;
#endif
  return "";
}

bool enableCpuFeatures(const std::string &features) {
#if defined(__linux__) && defined(__x86_64__)
  if (("," + features + ",").find(",+amx-tile,") == std::string::npos)
    return true;
  // For the whole process, and for good: threads that come later have them, too.
  constexpr long requestPermission = 0x1023, tileData = 18;
  static const bool granted =
      syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
  return granted;
#else
  (void)features;
  return true;
#endif
}

} // namespace tilebridge::rt
