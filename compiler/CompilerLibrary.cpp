//===- CompilerLibrary.cpp - libtilebridge_compiler.so --------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Job.h"
#include "runtime/compiler_abi.h"

using namespace tilebridge::compiler;

static int compileRequest(const tb_compile_request_v1 *abi) {
  Request request;
  request.input = llvm::StringRef(abi->input, abi->input_size);
  request.sourceName = abi->source_name;
  request.target = abi->target;
  request.stage = abi->stage;
  request.printAfter = abi->print_after ? abi->print_after : "";
  request.wantsRemarks = (abi->flags & TB_COMPILE_REMARKS) != 0;
  request.wantsTiming = (abi->flags & TB_COMPILE_TIMING) != 0;
  Result result = compile(request);
  if (!result.log.empty())
    abi->log(abi->state, result.log.data(), result.log.size());
  if (!result.errors.empty()) {
    abi->error(abi->state, result.errors.data(), result.errors.size());
    return 1;
  }
  abi->output(abi->state, result.output.data(), result.output.size());
  return 0;
}

// What the runtime looks for; see runtime/compiler_abi.h.
extern "C" __attribute__((visibility("default")))
const tb_compiler_v1 tilebridge_compiler = {TB_COMPILER_ABI_VERSION, 0,
                                            compileRequest};
