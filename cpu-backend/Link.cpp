//===- Link.cpp - an object in memory to a shared object in memory --------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// lld reads and writes files. A file of memory (memfd) for what it reads and a
// pipe for what it writes, both named through /proc, keep the disk out of it:
// nothing to clean up, and no full or read-only folder to fail on. (The output
// cannot be a memfd: lld would make a new file beside it.)

#include "cpu-backend/Link.h"

#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace {

llvm::Error error(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// An anonymous file that other code can open by name while this lives.
class MemoryFile {
public:
  explicit MemoryFile(const char *name) : fd(memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (fd >= 0)
      close(fd);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  bool valid() const { return fd >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

  bool write(llvm::StringRef bytes) {
    while (!bytes.empty()) {
      ssize_t n = ::write(fd, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return false;
      bytes = bytes.drop_front(n);
    }
    return true;
  }

private:
  int fd;
};

/// A pipe that other code can open by name for writing, and a thread that
/// collects what is written.
class Collector {
public:
  Collector() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      ends[0] = ends[1] = -1;
    else
      reader = std::thread([this] { readAll(); });
  }
  ~Collector() { finish(); }
  Collector(const Collector &) = delete;
  Collector &operator=(const Collector &) = delete;

  bool valid() const { return ends[0] >= 0; }
  std::string path() const {
    return "/proc/self/fd/" + std::to_string(ends[1]);
  }

  /// What was written. All writers but this object must have closed the pipe.
  std::string finish() {
    if (valid()) {
      close(ends[1]); // The reader sees the end.
      reader.join();
      close(ends[0]);
      ends[0] = ends[1] = -1;
    }
    return std::move(bytes);
  }

private:
  void readAll() {
    char chunk[1 << 16];
    for (;;) {
      ssize_t n = ::read(ends[0], chunk, sizeof chunk);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return;
      bytes.append(chunk, n);
    }
  }

  int ends[2];
  std::thread reader;
  std::string bytes;
};

/// Where the dynamic linker finds a library, or nothing. What is linked is what
/// will be loaded.
std::string findLibrary(const char *soname) {
  void *handle = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
  if (!handle)
    return {};
  link_map *map = nullptr;
  std::string path;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name)
    path = map->l_name;
  // The handle stays open: these libraries belong to the C library, and closing
  // would buy nothing.
  return path;
}

} // namespace

/// Runs lld on these files. What it writes is the result.
static llvm::Expected<std::string> link(llvm::ArrayRef<std::string> inputs,
                                        const char *soname) {
  Collector output;
  if (!output.valid())
    return error("cannot hold a compiled kernel in memory: " +
                 llvm::sys::StrError());
  std::string outputPath = output.path();
  llvm::SmallVector<const char *> args = {"ld.lld",
                                          "-shared",
                                          "--threads=1",
                                          "--no-mmap-output-file",
                                          "--hash-style=gnu",
                                          "--build-id=none",
                                          "-znow",
                                          "-o",
                                          outputPath.c_str()};
  if (soname)
    args.append({"-soname", soname});
  else
    args.push_back("--as-needed");
  for (const std::string &input : inputs)
    if (!input.empty())
      args.push_back(input.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  bool linked = lld::elf::link(args, stream, stream, /*exitEarly=*/false,
                               /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  if (!linked)
    return error("linking a kernel failed: " + messages);
  std::string bytes = output.finish();
  if (bytes.empty())
    return error("linking a kernel gave nothing: " + messages);
  return bytes;
}

/// A library of another architecture without code: who is linked with it asks
/// for the real one of that name when it is loaded.
static llvm::Expected<std::string> nameLibrary(const std::string &object,
                                               const char *soname) {
  return link({object}, soname);
}

llvm::Expected<std::string>
tilebridge::cpu::linkSharedObject(llvm::StringRef object, bool isForeign) {
  // lld keeps its state in globals.
  static std::timed_mutex mutex;
  std::unique_lock<std::timed_mutex> lock(mutex, std::defer_lock);
  // A crash that the process survived may have left it locked.
  if (!lock.try_lock_for(std::chrono::minutes(5)))
    return error("the linker is still at work on a kernel that was begun five "
                 "minutes ago: it has crashed; start the process again");
  static const std::string libm = findLibrary("libm.so.6"),
                           libmvec = findLibrary("libmvec.so.1");

  MemoryFile input("kernel.o");
  if (!input.valid() || !input.write(object))
    return error("cannot hold a compiled kernel in memory: " +
                 llvm::sys::StrError());
  if (!isForeign)
    return link({input.path(), libmvec, libm}, /*soname=*/nullptr);
  // The object itself stands in for the library's code: its symbols are
  // defined by the kernel before anybody looks here.
  llvm::Expected<std::string> stub = nameLibrary(input.path(), "libm.so.6");
  if (!stub)
    return stub.takeError();
  MemoryFile library("libm.so.6");
  if (!library.valid() || !library.write(*stub))
    return error("cannot hold a library's name in memory: " +
                 llvm::sys::StrError());
  return link({input.path(), "--no-as-needed", library.path()},
              /*soname=*/nullptr);
}
