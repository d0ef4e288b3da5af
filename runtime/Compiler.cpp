//===- Compiler.cpp - the compiler library, once it is needed ---------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Compiler.h"

#include "runtime/Status.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <unistd.h>

namespace tilebridge::rt {

// The same compiler twice: this one with the shared libraries of LLVM and MLIR,
// which plug-ins of targets use, too,
static constexpr const char *compilerFile = "libtilebridge_compiler.so";
// and this one with both inside, which is loaded in a quarter of the time. It is
// optional.
static constexpr const char *cpuCompilerFile = "libtilebridge_compiler_cpu.so";

static std::string compilerFolder() {
  if (const char *folder = std::getenv("TILEBRIDGE_LIB_DIR"); folder && *folder)
    return std::string(folder) + "/";
  Dl_info info;
  if (dladdr(reinterpret_cast<const void *>(&tilebridge_compile), &info) &&
      info.dli_fname) {
    std::string own = info.dli_fname;
    return own.substr(0, own.rfind('/') + 1);
  }
  return "";
}

std::string compilerPath(CompilerUse use) {
  std::string folder = compilerFolder();
  if (use == CompilerUse::Cpu)
    if (std::string path = folder + cpuCompilerFile;
        access(path.c_str(), R_OK) == 0)
      return path;
  return folder + compilerFile;
}

CompilerUse compilerUse(std::string_view target) {
  std::string_view cpu = "cpu";
  return target.substr(0, cpu.size()) == cpu ? CompilerUse::Cpu
                                             : CompilerUse::Any;
}

static const tb_compiler_v3 *tryLoad(CompilerUse use, std::string &why) {
  static std::mutex mutex;
  static const tb_compiler_v3 *compilers[2] = {};
  std::lock_guard<std::mutex> lock(mutex);
  const tb_compiler_v3 *&compiler = compilers[use == CompilerUse::Cpu];
  if (compiler)
    return compiler;
  // RTLD_LOCAL: Triton has an LLVM of its own in this process, and neither may
  // see the other's symbols. RTLD_LAZY: a compilation calls few of the functions
  // of LLVM and MLIR, and to look all of them up takes a quarter of the time that
  // a small kernel does.
  std::string path = compilerPath(use);
  void *library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char *text = dlerror();
    why = text ? text : path;
    return nullptr;
  }
  const auto *found =
      static_cast<const tb_compiler_v3 *>(dlsym(library, TB_COMPILER_SYMBOL));
  if (!found || found->abi_version != TB_COMPILER_ABI_VERSION ||
      !found->compile) {
    why = path + ": it does not belong to this version of the runtime";
    dlclose(library);
    return nullptr;
  }
  return compiler = found;
}

const tb_compiler_v3 *loadCompiler(CompilerUse use) {
  std::string why;
  const tb_compiler_v3 *compiler = tryLoad(use, why);
  if (!compiler)
    fail(TILEBRIDGE_ERROR_UNAVAILABLE,
         "the compiler cannot be loaded: " + why +
             "; it is looked for beside libtilebridge_runtime.so, or in "
             "$TILEBRIDGE_LIB_DIR where that is set");
  return compiler;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

static void takeOutput(void *state, const char *data, size_t size) {
  static_cast<Compilation *>(state)->output.assign(data, size);
}

static void takeError(void *state, const char *text, size_t size) {
  std::string &errors = static_cast<Compilation *>(state)->errors;
  if (!errors.empty() && errors.back() != '\n')
    errors += '\n';
  errors.append(text, size);
}

static void takeLog(void *state, const char *text, size_t size) {
  const tilebridge_compile_options *options =
      static_cast<Compilation *>(state)->options;
  if (options->log)
    options->log(options->log_state, text, size);
}

tilebridge_code makeRequest(const void *ttir, size_t size,
                            const tilebridge_compile_options *options,
                            Compilation &compilation,
                            tb_compile_request_v1 &request) {
  if (!ttir)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "the TTIR is a null pointer");
  if (options && options->struct_size < sizeof(tilebridge_compile_options))
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "struct_size of the compile options is " +
                    std::to_string(options->struct_size) +
                    "; set it to sizeof(tilebridge_compile_options)");
  constexpr uint32_t known =
      TILEBRIDGE_COMPILE_NO_CACHE | TILEBRIDGE_COMPILE_REMARKS |
      TILEBRIDGE_COMPILE_TIMING | TILEBRIDGE_COMPILE_NO_CONTRACTION;
  if (options)
    if (tilebridge_code code =
            checkFlags(options->flags, known, "tilebridge_compile_options"))
      return code;
  static const tilebridge_compile_options defaults = {};
  compilation.options = options ? options : &defaults;
  const tilebridge_compile_options &given = *compilation.options;
  request = {};
  request.input = static_cast<const char *>(ttir);
  request.input_size = size;
  request.source_name = given.source_name ? given.source_name : "<ttir>";
  request.target = given.target ? given.target : "cpu";
  request.stage = given.stage ? given.stage : "so";
  request.print_after = given.print_after;
  request.flags = given.flags;
  request.output = takeOutput;
  request.error = takeError;
  request.log = takeLog;
  request.state = &compilation;
  return TILEBRIDGE_OK;
}

tilebridge_code failCompilation(const Compilation &compilation) {
  return fail(TILEBRIDGE_ERROR_COMPILE,
              compilation.errors.empty()
                  ? "the compiler failed without a message"
                  : compilation.errors);
}

} // namespace tilebridge::rt
