//===- OpenMP.cpp - the OpenMP library of this process --------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/OpenMP.h"

#include "runtime/Fork.h"

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace tilebridge::rt {

namespace {

template <typename T>
void findSymbol(void *library, const char *name, T &function) {
  function = reinterpret_cast<T>(dlsym(library, name));
}

/// GOMP_parallel is libgomp's entry of a parallel region, part of its stable
/// ABI; LLVM's and Intel's libraries have it too.
bool bind(void *library, const char *path, OpenMP &result) {
  if (!library)
    return false;
  findSymbol(library, "GOMP_parallel", result.parallel);
  findSymbol(library, "omp_get_max_threads", result.maxThreads);
  findSymbol(library, "omp_get_thread_num", result.threadNumber);
  findSymbol(library, "omp_get_num_threads", result.teamSize);
  findSymbol(library, "omp_in_parallel", result.inParallel);
  if (result.parallel && result.maxThreads && result.threadNumber &&
      result.teamSize && result.inParallel) {
    result.path = path;
    return true;
  }
  result = OpenMP();
  dlclose(library);
  return false;
}

/// The path of the OpenMP library in the process; PyTorch's own where there are
/// several.
int noteLibrary(dl_phdr_info *info, size_t, void *data) {
  auto &found = *static_cast<std::string *>(data);
  std::string_view path = info->dlpi_name ? info->dlpi_name : "";
  std::string_view name = path.substr(path.rfind('/') + 1);
  bool isOpenMP = false;
  for (std::string_view prefix : {"libgomp", "libomp", "libiomp5"})
    isOpenMP |= name.substr(0, prefix.size()) == prefix;
  if (isOpenMP && (found.empty() || path.find("torch") != path.npos))
    found = path;
  return 0;
}

OpenMP findOpenMP() {
  OpenMP result;
  std::string loaded;
  dl_iterate_phdr(noteLibrary, &loaded);
  bool isFound =
      !loaded.empty() && bind(dlopen(loaded.c_str(), RTLD_LAZY | RTLD_NOLOAD),
                              loaded.c_str(), result);
  for (const char *name :
       {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"})
    isFound =
        isFound || bind(dlopen(name, RTLD_LAZY | RTLD_LOCAL), name, result);
  result.survivesFork =
      isFound && result.path.find("libgomp") == std::string::npos;
  return result;
}

} // namespace

const OpenMP &openMP() {
  static std::atomic<const OpenMP *> known{nullptr};
  if (const OpenMP *library = known.load(std::memory_order_acquire))
    return *library;
  // A forked child must not find the first call begun.
  ForkDelay delay;
  static const OpenMP library = findOpenMP();
  known.store(&library, std::memory_order_release);
  return library;
}

unsigned OpenMP::threadsForLaunch() const {
  // The threads of GNU's library do not survive fork(), and a child that waits
  // for them waits forever.
  if (!parallel || inParallel() || (!survivesFork && isForkedChild()))
    return 1;
  int threads = maxThreads();
  return threads > 1 ? unsigned(threads) : 1;
}

} // namespace tilebridge::rt
