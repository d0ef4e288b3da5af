//===- Kernel.cpp - a kernel that is loaded -------------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Kernel.h"

#include "runtime/DynamicLibrary.h"
#include "runtime/Elf.h"
#include "runtime/Fork.h"
#include "runtime/HostCpu.h"
#include "runtime/Seal.h"
#include "runtime/Status.h"

#include <cerrno>
#include <dlfcn.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

tilebridge_kernel::~tilebridge_kernel() {
  using namespace tilebridge::rt;
  if (reference)
    compiler->reference_free(reference);
  if (accel)
    compiler->accel_free(accel);
  code.reset();
  if (library) {
    ForkDelay delay;
    dlclose(library);
  }
}

namespace tilebridge::rt {

/// Takes the executable out of the loaded library. Nothing of the kernel has
/// run yet.
static bool readExecutable(tilebridge_kernel &kernel, std::string &why) {
  const auto *executable = static_cast<const tb_executable_v1 *>(
      dlsym(kernel.library, TB_EXECUTABLE_SYMBOL));
  if (!executable) {
    why = "it does not export " TB_EXECUTABLE_SYMBOL;
    return false;
  }
  if (executable->abi_version != TB_EXECUTABLE_ABI_VERSION) {
    why = "it was compiled for version " +
          std::to_string(executable->abi_version) +
          " of the interface to kernels, and this runtime has version " +
          std::to_string(TB_EXECUTABLE_ABI_VERSION) + ": compile it again";
    return false;
  }
  if (!executable->run || !executable->manifest) {
    why = "it has no code or no manifest";
    return false;
  }
  kernel.executable = executable;
  kernel.manifestText = executable->manifest;
  if (!parseManifest(kernel.manifestText, kernel.manifest, why))
    return false;
  kernel.atomics = atomicsOf(kernel.manifest);
  return true;
}

bool checkSignature(tilebridge_kernel &kernel, std::string &why) {
  size_t slots = 0;
  for (const std::string &text : kernel.manifest.signature) {
    ArgumentType type;
    if (!parseArgumentType(text, type)) {
      why = "its signature has the type '" + text +
            "', which this runtime does not know";
      return false;
    }
    slots += type.slotCount();
    kernel.types.push_back(std::move(type));
  }
  if (slots != kernel.executable->slot_count) {
    why = "its signature takes " + std::to_string(slots) + " slots, its code " +
          std::to_string(kernel.executable->slot_count);
    return false;
  }
  std::string missing = missingCpuFeature(kernel.manifest.features);
  if (!missing.empty()) {
    why = "it was compiled for a CPU with " + missing + " (target " +
          kernel.manifest.target +
          "), which this machine does not have: compile it again with "
          "--target=cpu";
    return false;
  }
  if (!enableCpuFeatures(kernel.manifest.features)) {
    why = "the system does not let this process use the registers of AMX: "
          "compile it again with --target=cpu,-amx-tile,-amx-bf16,-amx-int8";
    return false;
  }
  return true;
}

tilebridge_code loadKernel(std::string_view artefact, const std::string &origin,
                           tilebridge_kernel *&result) {
  auto reject = [&](const std::string &why) {
    return fail(TILEBRIDGE_ERROR_BAD_ARTEFACT,
                origin + ": cannot be loaded: " + why);
  };
  std::string why;
  std::string_view object;
  if (!openSeal(artefact, object, why) || !checkSharedObject(object, why))
    return reject(why);
  auto kernel = std::make_unique<tilebridge_kernel>();
  {
    ForkDelay delay;
    kernel->library = loadLibraryFromMemory(object, why);
  }
  if (!kernel->library || !readExecutable(*kernel, why) ||
      !checkSignature(*kernel, why))
    return reject(why);
  kernel->code = std::make_unique<CodeRange>(kernel->executable, object,
                                             kernel->manifest.name);
  result = kernel.release();
  return TILEBRIDGE_OK;
}

tilebridge_code readFile(const std::string &path, size_t limit,
                         std::string &contents) {
  auto cannot = [&](const std::string &why) {
    return fail(TILEBRIDGE_ERROR_IO, path + ": cannot be read: " + why);
  };
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return cannot(describeErrno(errno));
  struct stat info;
  std::string why;
  if (fstat(fd, &info) != 0)
    why = describeErrno(errno);
  else if (!S_ISREG(info.st_mode))
    why = "it is not a regular file";
  else if (uint64_t(info.st_size) > limit)
    why = "it is larger than " + std::to_string(limit >> 20) + " MiB";
  contents.clear();
  char buffer[1 << 16];
  while (why.empty()) {
    ssize_t count = read(fd, buffer, sizeof(buffer));
    if (count == 0)
      break;
    if (count > 0 && contents.size() + size_t(count) <= limit)
      contents.append(buffer, size_t(count));
    else if (count > 0)
      why = "it grows while it is read";
    else if (errno != EINTR)
      why = describeErrno(errno);
  }
  close(fd);
  return why.empty() ? TILEBRIDGE_OK : cannot(why);
}

std::string describeArgument(const tilebridge_kernel &kernel, size_t index) {
  return "kernel '" + kernel.manifest.name + "': argument " +
         std::to_string(index) + " (" + kernel.manifest.signature[index] + ")";
}

} // namespace tilebridge::rt
