//===- Plugin.cpp - loading and calling a target's own code ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plugin/Plugin.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"

#include <dlfcn.h>

namespace tilebridge::accel {

static llvm::Error errorOf(llvm::Twine text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// What keeps a plug-in from being used; empty: nothing.
static std::string problemOf(const tilebridge_accel_plugin_info *info) {
  if (!info)
    return "its 'tilebridge_accel_plugin' gives null";
  if (info->version != TILEBRIDGE_ACCEL_PLUGIN_VERSION)
    return ("it was built for version " + llvm::Twine(info->version) +
            " of accel_plugin.h, this compiler has version " +
            llvm::Twine(TILEBRIDGE_ACCEL_PLUGIN_VERSION))
        .str();
  if (!info->name || !*info->name)
    return "it has no name";
  bool usesMlir = info->add_passes || info->emit;
  if (usesMlir && !info->llvm_version)
    return "it has passes or an output, and does not say which LLVM it was "
           "built with (llvm_version)";
  if (info->llvm_version &&
      llvm::StringRef(info->llvm_version) != LLVM_VERSION_STRING)
    return std::string("it was built with LLVM ") + info->llvm_version +
           ", this compiler with LLVM " LLVM_VERSION_STRING;
  if (!info->emit != !info->output_name)
    return "an output has a name (output_name) and a function (emit), it has "
           "one of the two";
  return "";
}

llvm::Expected<Plugin> Plugin::load(llvm::StringRef path) {
  std::string file = path.str();
  if (!llvm::sys::fs::exists(file))
    return errorOf(path + ": there is no such file to load as a plug-in");
  // Without a slash the loader would look elsewhere.
  if (path.find('/') == path.npos)
    file = "./" + file;
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return errorOf(path + ": cannot be loaded as a plug-in: " + dlerror());
  auto query = reinterpret_cast<tilebridge_accel_plugin_fn>(
      dlsym(library, TILEBRIDGE_ACCEL_PLUGIN_SYMBOL));
  if (!query)
    return errorOf(path + ": is no plug-in for a target: it does not export "
                          "'" TILEBRIDGE_ACCEL_PLUGIN_SYMBOL "'");
  const tilebridge_accel_plugin_info *info = query();
  std::string problem = problemOf(info);
  if (!problem.empty())
    return errorOf(path + ": is no plug-in that can be used: " + problem);
  return Plugin(info, path);
}

llvm::Error Plugin::failed(llvm::StringRef where, llvm::StringRef text) const {
  return errorOf(path + ": the plug-in '" + name() + "' failed " + where +
                 ": " + (text.empty() ? "it does not say why" : text));
}

llvm::Error Plugin::checkServes(llvm::StringRef target) const {
  if (!info->targets)
    return llvm::Error::success();
  std::string known;
  for (const char *const *one = info->targets; *one; ++one) {
    if (target == *one)
      return llvm::Error::success();
    known += (known.empty() ? "" : ", ") + std::string(*one);
  }
  return errorOf(path + ": the plug-in '" + name() + "' serves " +
                 (known.empty() ? "no target" : known) + ", not '" + target +
                 "'");
}

llvm::Error Plugin::addPasses(llvm::StringRef point,
                              mlir::OpPassManager &manager) const {
  if (!info->add_passes)
    return llvm::Error::success();
  char error[1024] = "";
  if (info->add_passes(point.str().c_str(), &manager, error, sizeof(error)) ==
      0)
    return llvm::Error::success();
  error[sizeof(error) - 1] = 0;
  return failed(("to add passes at '" + point + "'").str(), error);
}

llvm::StringRef Plugin::outputName() const {
  return info->output_name ? info->output_name : "";
}

llvm::Expected<std::string> Plugin::emit(mlir::ModuleOp module) const {
  if (!info->emit)
    return errorOf(path + ": the plug-in '" + name() + "' has no output");
  std::string text;
  char error[1024] = "";
  auto write = [](void *state, const char *data, size_t size) {
    static_cast<std::string *>(state)->append(data, size);
  };
  if (info->emit(module.getOperation(), write, &text, error, sizeof(error)) ==
      0)
    return text;
  error[sizeof(error) - 1] = 0;
  return failed(("to emit '" + outputName() + "'").str(), error);
}

} // namespace tilebridge::accel
