//===- DynamicLibrary.cpp - dlopen for bytes ------------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DynamicLibrary.h"

#include "runtime/Status.h"

#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilebridge::rt {

static bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes.remove_prefix(size_t(count));
  }
  return true;
}

static void *openPath(const std::string &path, std::string &why) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *text = dlerror();
    why = text ? text : "dlopen failed";
  }
  return library;
}

/// The name of a memory file, another one for each that lives. The dynamic
/// loader returns a library that it has already where the name is the same,
/// before it looks at the file; and numbers of descriptors are used again. So
/// the number of the inode, which a mapped library keeps, is woven into the
/// path, in which "/." stands for 1 and "/" alone for 0. A count of our own
/// would be the same in a second copy of this runtime in the process.
static std::string uniquePath(int fd) {
  struct stat about;
  if (fstat(fd, &about) != 0)
    return {};
  std::string path = "/proc/self/fd";
  for (uint64_t rest = about.st_ino; rest; rest >>= 1)
    path += rest & 1 ? "/." : "/";
  return path + "/" + std::to_string(fd);
}

static void *loadThroughMemory(std::string_view object, std::string &why) {
  int fd = memfd_create("tilebridge-kernel", MFD_CLOEXEC);
  if (fd < 0) {
    why = describeErrno(errno);
    return nullptr;
  }
  void *library = nullptr;
  std::string path = writeAll(fd, object) ? uniquePath(fd) : "";
  if (!path.empty())
    library = openPath(path, why);
  else
    why = describeErrno(errno);
  close(fd);
  return library;
}

static void *loadThroughFile(std::string_view object, std::string &why) {
  const char *folder = std::getenv("TMPDIR");
  std::string path =
      std::string(folder && *folder ? folder : "/tmp") + "/tilebridge-XXXXXX";
  int fd = mkstemp(path.data());
  if (fd < 0) {
    why = path + ": " + describeErrno(errno);
    return nullptr;
  }
  void *library = nullptr;
  if (writeAll(fd, object))
    library = openPath(path, why);
  else
    why = path + ": " + describeErrno(errno);
  close(fd);
  unlink(path.c_str());
  return library;
}

void *loadLibraryFromMemory(std::string_view object, std::string &why) {
  if (void *library = loadThroughMemory(object, why))
    return library;
  // Where /proc is not mounted or memory files may not be executed, a file does
  // it.
  std::string second;
  void *library = loadThroughFile(object, second);
  if (!library && second != why)
    why += "; " + second;
  return library;
}

} // namespace tilebridge::rt
