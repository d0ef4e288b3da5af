//===- Compiler.h - the compiler library, once it is needed -*- C++ -*- ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/compiler_abi.h"
#include "runtime/tilebridge.h"

#include <string>
#include <string_view>

namespace tilebridge::rt {

/// What the compiler is wanted for. There are two libraries with the same
/// interface: for `Cpu` the one that is loaded faster, if it is there, which
/// cannot take plug-ins of targets.
enum class CompilerUse { Any, Cpu };

/// By what a request's target is: "cpu", "cpu:NAME" or another.
CompilerUse compilerUse(std::string_view target);

/// The library that compiles: in $TILEBRIDGE_LIB_DIR, else beside this one.
std::string compilerPath(CompilerUse use);

/// Loads the compiler once; a failure is tried again by the next call, which
/// may find it installed. Null with the reason set as the last error.
const tb_compiler_v3 *loadCompiler(CompilerUse use);

/// What goes in and comes out of one request.
struct Compilation {
  const tilebridge_compile_options *options;
  std::string output;
  std::string errors;
};

/// Checks what a caller gave; the request then answers into `compilation`,
/// which has the options.
tilebridge_code makeRequest(const void *ttir, size_t size,
                            const tilebridge_compile_options *options,
                            Compilation &compilation,
                            tb_compile_request_v1 &request);

/// The last error from a request that failed.
tilebridge_code failCompilation(const Compilation &compilation);

} // namespace tilebridge::rt
