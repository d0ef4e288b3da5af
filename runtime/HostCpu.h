//===- HostCpu.h - the CPU that this process runs on -----------*- C++ -* -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>

namespace tilebridge::rt {

/// Everything about the CPU that decides which code a compiler generates for
/// it, as text for a cache key.
const std::string &hostCpuIdentity();

/// Returns the first of LLVM's feature names in `features`
/// ("+avx2,-avx512f,...") that this CPU does not have, or "" where it has all.
/// Features that no generated code depends on are not looked at.
std::string missingCpuFeature(const std::string &features);

/// Asks the system for what code with such features needs before it runs: the
/// registers of AMX. False if that is refused.
bool enableCpuFeatures(const std::string &features);

} // namespace tilebridge::rt
