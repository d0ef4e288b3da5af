//===- FindTarget.cpp - targets by their names ----------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/target/Target.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <set>

namespace tilebridge::accel {

/// The folder that this code was loaded from.
static std::string ownFolder() {
  static const char anchor = 0;
  Dl_info info;
  if (!dladdr(&anchor, &info) || !info.dli_fname)
    return "";
  llvm::SmallString<256> path(info.dli_fname);
  llvm::sys::fs::make_absolute(path);
  return llvm::sys::path::parent_path(path).str();
}

/// In the order in which they are searched.
static std::vector<std::string> folders() {
  std::vector<std::string> result;
  if (const char *paths = std::getenv("TILEBRIDGE_TARGET_PATH")) {
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(paths).split(parts, ':', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef part : parts)
      result.push_back(part.str());
  }
  if (std::string own = ownFolder(); !own.empty()) {
    result.push_back(own + "/../share/tilebridge/targets");
    result.push_back(own + "/targets"); // Beside the libraries of a wheel.
  }
  result.emplace_back(TILEBRIDGE_TARGETS_OF_THE_SOURCES);
  return result;
}

std::vector<std::string> installedTargets() {
  std::set<std::string> names;
  for (const std::string &folder : folders()) {
    std::error_code error;
    for (llvm::sys::fs::directory_iterator file(folder, error), end;
         file != end && !error; file.increment(error))
      if (llvm::sys::path::extension(file->path()) == ".json")
        names.insert(llvm::sys::path::stem(file->path()).str());
  }
  return {names.begin(), names.end()};
}

namespace {
/// What plug-ins brought.
struct AddedTargets {
  std::mutex mutex;
  std::map<std::string, Target> byName;
};
} // namespace

static AddedTargets &addedTargets() {
  static AddedTargets added;
  return added;
}

llvm::Expected<Target> addTarget(llvm::StringRef text,
                                 llvm::StringRef fileName) {
  llvm::Expected<Target> target = parseTarget(text, fileName);
  if (!target)
    return target.takeError();
  std::lock_guard<std::mutex> lock(addedTargets().mutex);
  addedTargets().byName[target->name] = *target;
  return target;
}

llvm::Expected<Target> findTarget(llvm::StringRef nameOrPath) {
  {
    std::lock_guard<std::mutex> lock(addedTargets().mutex);
    auto found = addedTargets().byName.find(nameOrPath.str());
    if (found != addedTargets().byName.end())
      return found->second;
  }
  if (nameOrPath.contains('/') || nameOrPath.ends_with(".json"))
    return readTargetFile(nameOrPath);
  for (const std::string &folder : folders()) {
    std::string path = folder + "/" + nameOrPath.str() + ".json";
    if (!nameOrPath.empty() && llvm::sys::fs::exists(path))
      return readTargetFile(path);
  }
  std::vector<std::string> names = installedTargets();
  std::string nearest;
  unsigned least = nameOrPath.size() / 3 + 2;
  for (const std::string &name : names) {
    unsigned distance = nameOrPath.edit_distance(name, true, least);
    if (distance < least) {
      least = distance;
      nearest = "; did you mean '" + name + "'?";
    }
  }
  return llvm::createStringError(
      llvm::errc::no_such_file_or_directory,
      "error: there is no target '%s'%s Known are: %s; a path to a .json file "
      "works too",
      nameOrPath.str().c_str(), nearest.empty() ? "." : nearest.c_str(),
      llvm::join(names, ", ").c_str());
}

} // namespace tilebridge::accel
