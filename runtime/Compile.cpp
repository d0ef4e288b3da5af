//===- Compile.cpp - the calls that compile kernels ------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DiskCache.h"
#include "runtime/Elf.h"
#include "runtime/HostCpu.h"
#include "runtime/Kernel.h"
#include "runtime/Seal.h"
#include "runtime/Sha256.h"
#include "runtime/Status.h"
#include "runtime/compiler_abi.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>

namespace tilebridge::rt {

namespace {

constexpr const char *compilerFile = "libtilebridge_compiler.so";

/// $TILEBRIDGE_LIB_DIR, else where this library itself is.
std::string compilerPath() {
  if (const char *folder = std::getenv("TILEBRIDGE_LIB_DIR"); folder && *folder)
    return std::string(folder) + "/" + compilerFile;
  Dl_info info;
  if (dladdr(reinterpret_cast<const void *>(&tilebridge_compile), &info) &&
      info.dli_fname) {
    std::string own = info.dli_fname;
    return own.substr(0, own.rfind('/') + 1) + compilerFile;
  }
  return compilerFile;
}

/// Loads the compiler once; a failure is tried again by the next call, which
/// may find it installed.
const tb_compiler_v1 *loadCompiler(std::string &why) {
  static std::mutex mutex;
  static const tb_compiler_v1 *compiler = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (compiler)
    return compiler;
  // RTLD_LOCAL: Triton has an LLVM of its own in this process, and neither may
  // see the other's symbols.
  std::string path = compilerPath();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *text = dlerror();
    why = text ? text : path;
    return nullptr;
  }
  const auto *found =
      static_cast<const tb_compiler_v1 *>(dlsym(library, TB_COMPILER_SYMBOL));
  if (!found || found->abi_version != TB_COMPILER_ABI_VERSION ||
      !found->compile) {
    why = path + ": it does not belong to this version of the runtime";
    dlclose(library);
    return nullptr;
  }
  return compiler = found;
}

std::string makeCompilerId() {
  std::string id = std::string(tilebridge_version()) + "\n" +
                   libraryIdentity(compilerPath()) + "\n" + hostCpuIdentity();
  return std::string(tilebridge_version()) + " " +
         Sha256::hex(Sha256::hash(id.data(), id.size())).substr(0, 32);
}

const std::string &compilerId() {
  static const std::string id = makeCompilerId();
  return id;
}

/// What goes in and comes out of one compilation.
struct Compilation {
  const tilebridge_compile_options *options;
  std::string output;
  std::string errors;
};

void takeOutput(void *state, const char *data, size_t size) {
  static_cast<Compilation *>(state)->output.assign(data, size);
}

void takeError(void *state, const char *text, size_t size) {
  std::string &errors = static_cast<Compilation *>(state)->errors;
  if (!errors.empty() && errors.back() != '\n')
    errors += '\n';
  errors.append(text, size);
}

void takeLog(void *state, const char *text, size_t size) {
  const tilebridge_compile_options *options =
      static_cast<Compilation *>(state)->options;
  if (options->log)
    options->log(options->log_state, text, size);
}

tilebridge_code compile(std::string_view ttir,
                        const tilebridge_compile_options &options,
                        std::string &output) {
  std::string target = options.target ? options.target : "cpu";
  std::string stage = options.stage ? options.stage : "so";
  uint32_t telling = TILEBRIDGE_COMPILE_REMARKS | TILEBRIDGE_COMPILE_TIMING;
  bool isCached = stage == "so" && !options.print_after &&
                  !(options.flags & (telling | TILEBRIDGE_COMPILE_NO_CACHE));
  DiskCache cache = DiskCache::fromEnvironment();
  std::string key;
  if (isCached) {
    Sha256 hasher;
    for (std::string_view field :
         {std::string_view(compilerId()), std::string_view(target), ttir})
      hasher.updateField(field);
    key = Sha256::hex(hasher.finish());
    if (cache.get(key, output))
      return TILEBRIDGE_OK;
  }
  std::string why;
  const tb_compiler_v1 *compiler = loadCompiler(why);
  if (!compiler)
    return fail(TILEBRIDGE_ERROR_UNAVAILABLE,
                "the compiler cannot be loaded: " + why);
  Compilation compilation{&options, {}, {}};
  tb_compile_request_v1 request = {};
  request.input = ttir.data();
  request.input_size = ttir.size();
  request.source_name = options.source_name ? options.source_name : "<ttir>";
  request.target = target.c_str();
  request.stage = stage.c_str();
  request.print_after = options.print_after;
  request.flags = options.flags;
  request.output = takeOutput;
  request.error = takeError;
  request.log = takeLog;
  request.state = &compilation;
  if (compiler->compile(&request) != 0)
    return fail(TILEBRIDGE_ERROR_COMPILE,
                compilation.errors.empty()
                    ? "the compiler failed without a message"
                    : compilation.errors);
  output = std::move(compilation.output);
  if (stage == "so")
    output += makeSeal(output);
  if (isCached)
    cache.put(key, output);
  return TILEBRIDGE_OK;
}

tilebridge_code checkAndCompile(const void *ttir, size_t size,
                                const tilebridge_compile_options *options,
                                std::string &output) {
  if (!ttir)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "the TTIR is a null pointer");
  if (options && options->struct_size < sizeof(tilebridge_compile_options))
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "struct_size of the compile options is " +
                    std::to_string(options->struct_size) +
                    "; set it to sizeof(tilebridge_compile_options)");
  static const tilebridge_compile_options defaults = {};
  return compile({static_cast<const char *>(ttir), size},
                 options ? *options : defaults, output);
}

} // namespace

} // namespace tilebridge::rt

using namespace tilebridge::rt;

const char *tilebridge_compiler_id() { return compilerId().c_str(); }

tilebridge_code tilebridge_compile(const void *ttir, size_t size,
                                   const tilebridge_compile_options *options,
                                   tilebridge_buffer *out) {
  if (!out)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "where to put the result is a null pointer");
  *out = {nullptr, 0};
  std::string output;
  if (tilebridge_code code = checkAndCompile(ttir, size, options, output))
    return code;
  out->data = static_cast<char *>(std::malloc(output.size() + 1));
  if (!out->data)
    return fail(TILEBRIDGE_ERROR_OUT_OF_MEMORY,
                "no memory for " + std::to_string(output.size()) +
                    " bytes of output");
  std::memcpy(out->data, output.c_str(), output.size() + 1);
  out->size = output.size();
  return TILEBRIDGE_OK;
}

tilebridge_code tilebridge_load_ttir(const void *ttir, size_t size,
                                     const tilebridge_compile_options *options,
                                     tilebridge_kernel **kernel) {
  if (!kernel)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "where to put the kernel is a null pointer");
  *kernel = nullptr;
  if (options && options->stage && std::strcmp(options->stage, "so") != 0)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                std::string("only the stage 'so' can be loaded, not '") +
                    options->stage + "'");
  std::string output;
  if (tilebridge_code code = checkAndCompile(ttir, size, options, output))
    return code;
  const char *name =
      options && options->source_name ? options->source_name : "<ttir>";
  return loadKernel(output, name, *kernel);
}
