//===- CompilerKernel.cpp - kernels that the compiler's library runs ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/CompilerKernel.h"

#include "runtime/Compiler.h"
#include "runtime/Fork.h"
#include "runtime/Status.h"

namespace tilebridge::rt {

tilebridge_code
loadInCompiler(const void *ttir, size_t size,
               const tilebridge_compile_options *options,
               const std::function<bool(tilebridge_kernel &,
                                        const tb_compile_request_v1 &)> &load,
               tilebridge_kernel **result) {
  if (!result)
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
                "where to put the kernel is a null pointer");
  *result = nullptr;
  ForkDelay delay;
  Compilation compilation{};
  tb_compile_request_v1 request;
  if (tilebridge_code code =
          makeRequest(ttir, size, options, compilation, request))
    return code;
  auto kernel = std::make_unique<tilebridge_kernel>();
  kernel->compiler = loadCompiler(CompilerUse::Any);
  if (!kernel->compiler)
    return TILEBRIDGE_ERROR_UNAVAILABLE;
  if (!load(*kernel, request))
    return failCompilation(compilation);
  kernel->executable = &kernel->description;
  kernel->manifestText = compilation.output;
  std::string why;
  if (!parseManifest(kernel->manifestText, kernel->manifest, why) ||
      !checkSignature(*kernel, why))
    return fail(TILEBRIDGE_ERROR_COMPILE,
                std::string(request.source_name) + ": " + why);
  *result = kernel.release();
  return TILEBRIDGE_OK;
}

tilebridge_code checkLaunch(const tilebridge_kernel *kernel, bool isLoaded,
                            const CompilerKernelKind &kind,
                            const size_t *optionsSize, CompilerLaunch &launch) {
  auto refuse = [](const std::string &text) {
    return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT, text);
  };
  if (!kernel || !isLoaded)
    return refuse(kernel ? std::string("the kernel was not loaded by ") +
                               kind.loader
                         : "the kernel is a null pointer");
  if (optionsSize && *optionsSize < kind.optionsSize)
    return refuse("struct_size of the options is " +
                  std::to_string(*optionsSize) + "; set it to sizeof(" +
                  kind.options + ")");
  if (launch.count != kernel->types.size() ||
      (launch.count && !launch.arguments))
    return refuse("kernel '" + kernel->manifest.name + "' takes " +
                  std::to_string(kernel->types.size()) +
                  " arguments, given were " +
                  (launch.arguments ? std::to_string(launch.count) : "none"));
  launch.slots.resize(kernel->description.slot_count + 1);
  if (tilebridge_code code = writeArguments(*kernel, launch.arguments,
                                            launch.count, launch.slots.data()))
    return code;
  if (tilebridge_code code = checkGrid(*kernel, launch.grid, launch.programs))
    return code;
  constexpr int64_t most = int64_t(1) << 31;
  if (launch.programs > most)
    return refuse("kernel '" + kernel->manifest.name + "': the grid has " +
                  std::to_string(launch.programs) + " programs, too many to " +
                  kind.verb);
  return TILEBRIDGE_OK;
}

} // namespace tilebridge::rt
