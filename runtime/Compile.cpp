//===- Compile.cpp - the calls that compile kernels ------------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Compiler.h"
#include "runtime/DiskCache.h"
#include "runtime/Elf.h"
#include "runtime/FaultReport.h"
#include "runtime/Fork.h"
#include "runtime/HostCpu.h"
#include "runtime/Kernel.h"
#include "runtime/Seal.h"
#include "runtime/Sha256.h"
#include "runtime/Status.h"

#include <cstdlib>
#include <cstring>

namespace tilebridge::rt {

namespace {

std::string makeCompilerId() {
  std::string id = std::string(tilebridge_version()) + "\n" +
                   libraryIdentity(compilerPath(CompilerUse::Any)) + "\n" +
                   libraryIdentity(compilerPath(CompilerUse::Cpu)) + "\n" +
                   hostCpuIdentity();
  return std::string(tilebridge_version()) + " " +
         Sha256::hex(Sha256::hash(id.data(), id.size())).substr(0, 32);
}

const std::string &compilerId() {
  static const std::string id = makeCompilerId();
  return id;
}

tilebridge_code compile(const void *ttir, size_t size,
                        const tilebridge_compile_options *given,
                        std::string &output) {
  ForkDelay delay;
  Compilation compilation{};
  tb_compile_request_v1 request;
  if (tilebridge_code code =
          makeRequest(ttir, size, given, compilation, request))
    return code;
  const tilebridge_compile_options &options = *compilation.options;
  std::string stage = request.stage;
  uint32_t telling = TILEBRIDGE_COMPILE_REMARKS | TILEBRIDGE_COMPILE_TIMING;
  bool isCached = stage == "so" && !options.print_after &&
                  !(options.flags & (telling | TILEBRIDGE_COMPILE_NO_CACHE));
  DiskCache cache = DiskCache::fromEnvironment();
  std::string key;
  if (isCached) {
    Sha256 hasher;
    // What changes the code.
    std::string flags =
        std::to_string(options.flags & TILEBRIDGE_COMPILE_NO_CONTRACTION);
    for (std::string_view field :
         {std::string_view(compilerId()), std::string_view(request.target),
          std::string_view(flags), std::string_view(request.input, size)})
      hasher.updateField(field);
    key = Sha256::hex(hasher.finish());
    if (cache.get(key, output))
      return TILEBRIDGE_OK;
  }
  const tb_compiler_v3 *compiler = loadCompiler(compilerUse(request.target));
  if (!compiler)
    return TILEBRIDGE_ERROR_UNAVAILABLE;
  struct Work {
    const tb_compiler_v3 *compiler;
    const tb_compile_request_v1 *request;
    int result;
  } work = {compiler, &request, 0};
  int signal = 0;
  bool hasEnded = runGuarded(
      [](void *data) {
        auto &work = *static_cast<Work *>(data);
        work.result = work.compiler->compile(work.request);
      },
      &work, signal);
  if (!hasEnded && signal == 0)
    return fail(TILEBRIDGE_ERROR_OUT_OF_MEMORY,
                std::string(request.source_name) +
                    ": error: there is no memory to compile it");
  if (!hasEnded)
    return fail(TILEBRIDGE_ERROR_COMPILE,
                std::string(request.source_name) +
                    ": error: the compiler crashed (" + nameOfSignal(signal) +
                    "), which is a bug of Tilebridge: please report the TTIR. "
                    "Save your work; this process may be damaged");
  if (work.result != 0)
    return failCompilation(compilation);
  output = std::move(compilation.output);
  if (stage == "so")
    output += makeSeal(output);
  if (isCached)
    cache.put(key, output);
  return TILEBRIDGE_OK;
}

} // namespace

} // namespace tilebridge::rt

using namespace tilebridge::rt;

const char *tilebridge_compiler_id() {
  ForkDelay delay;
  return compilerId().c_str();
}

tilebridge_code tilebridge_compile(const void *ttir, size_t size,
                                   const tilebridge_compile_options *options,
                                   tilebridge_buffer *out) {
  if (!out)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "where to put the result is a null pointer");
  *out = {nullptr, 0};
  std::string output;
  if (tilebridge_code code = compile(ttir, size, options, output))
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
  if (tilebridge_code code = compile(ttir, size, options, output))
    return code;
  const char *name =
      options && options->source_name ? options->source_name : "<ttir>";
  return loadKernel(output, name, *kernel);
}
