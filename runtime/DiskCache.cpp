//===- DiskCache.cpp - compiled kernels on disk ---------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DiskCache.h"

#include "runtime/Kernel.h"
#include "runtime/Seal.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tilebridge::rt {

static constexpr size_t mostEntryBytes = size_t(1) << 28;
static constexpr std::string_view entrySuffix = ".tbso";
static constexpr std::string_view partSuffix = ".part";

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

DiskCache DiskCache::fromEnvironment() {
  if (const char *own = std::getenv("TILEBRIDGE_CACHE_DIR"))
    return DiskCache(own);
  if (std::string base = environment("XDG_CACHE_HOME");
      !base.empty() && base[0] == '/')
    return DiskCache(base + "/tilebridge");
  std::string home = environment("HOME");
  return DiskCache(home.empty() ? "" : home + "/.cache/tilebridge");
}

static void makeFolders(const std::string &folder) {
  for (size_t at = 1; at != folder.npos;) {
    at = folder.find('/', at + 1);
    mkdir(folder.substr(0, at).c_str(), 0700);
  }
}

std::string DiskCache::path(const std::string &key) const {
  return folder + "/" + key + std::string(entrySuffix);
}

bool DiskCache::get(const std::string &key, std::string &artefact) const {
  if (folder.empty() ||
      readFile(path(key), mostEntryBytes, artefact) != TILEBRIDGE_OK)
    return false;
  std::string_view object;
  std::string why;
  if (openSeal(artefact, object, why))
    return true;
  unlink(path(key).c_str());
  artefact.clear();
  return false;
}

static bool writeFile(const std::string &path, std::string_view bytes) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return false;
  bool isWhole = true;
  while (isWhole && !bytes.empty()) {
    ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count > 0)
      bytes.remove_prefix(size_t(count));
    else
      isWhole = count < 0 && errno == EINTR;
  }
  // Some file systems report a full disk only here.
  return close(fd) == 0 && isWhole;
}

void DiskCache::put(const std::string &key, std::string_view artefact) const {
  if (folder.empty())
    return;
  makeFolders(folder);
  // In the same folder, so that the rename is atomic; named by process and
  // count, so that no two writers share it.
  static std::atomic<uint64_t> count{0};
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t number = count.fetch_add(1, std::memory_order_relaxed);
  std::string part = folder + "/" + key.substr(0, 16) + "-" +
                     std::to_string(getpid()) + "-" +
                     std::to_string(now.tv_nsec) + "-" +
                     std::to_string(number) + std::string(partSuffix);
  if (!writeFile(part, artefact) ||
      rename(part.c_str(), path(key).c_str()) != 0)
    unlink(part.c_str());
  if (number == 0)
    prune(size_t(1) << 30);
}

static bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

void DiskCache::prune(size_t mostBytes) const {
  DIR *listing = folder.empty() ? nullptr : opendir(folder.c_str());
  if (!listing)
    return;
  struct Entry {
    time_t changed;
    size_t size;
    std::string path;
  };
  std::vector<Entry> entries;
  size_t total = 0;
  while (const dirent *item = readdir(listing)) {
    std::string name = item->d_name;
    Entry entry{0, 0, folder + "/" + name};
    struct stat info;
    bool isPart = endsWith(name, partSuffix);
    if ((!isPart && !endsWith(name, entrySuffix)) ||
        lstat(entry.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    constexpr time_t hour = 3600;
    if (isPart) {
      if (info.st_mtime + hour < std::time(nullptr))
        unlink(entry.path.c_str());
      continue;
    }
    entry.changed = info.st_mtime;
    entry.size = size_t(info.st_size);
    total += entry.size;
    entries.push_back(std::move(entry));
  }
  closedir(listing);
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.changed < b.changed;
  });
  for (size_t i = 0; i < entries.size() && total > mostBytes; ++i) {
    total -= entries[i].size;
    unlink(entries[i].path.c_str());
  }
}

} // namespace tilebridge::rt
