/*===- compiler_abi.h - between the runtime and the compiler ----*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* libtilebridge_compiler.so exports one symbol, `tilebridge_compiler`, of type tb_compiler_v1. The runtime loads it
|* when the first kernel is compiled, so that launching alone never maps LLVM.
\*===----------------------------------------------------------------------===*/
#ifndef TILEBRIDGE_RUNTIME_COMPILER_ABI_H
#define TILEBRIDGE_RUNTIME_COMPILER_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TB_COMPILER_ABI_VERSION 1u
#define TB_COMPILER_SYMBOL "tilebridge_compiler"

enum { TB_COMPILE_REMARKS = 2, TB_COMPILE_TIMING = 4 };

/* Strings are zero-terminated and never null, except where a comment says so. */
typedef struct tb_compile_request_v1 {
  const char *input;
  size_t input_size;
  const char *source_name;
  const char *target;
  const char *stage;
  const char *print_after; /* null: print nothing */
  uint32_t flags;
  uint32_t reserved;
  /* Where results go; called on the calling thread before the function returns. Memory stays with the compiler. */
  /* `output`: once, on success. `error`: one diagnostic, notes included. `log`: warnings, remarks, timing, printed IR. */
  void (*output)(void *state, const char *data, size_t size);
  void (*error)(void *state, const char *text, size_t size);
  void (*log)(void *state, const char *text, size_t size);
  void *state;
} tb_compile_request_v1;

typedef struct tb_compiler_v1 {
  uint32_t abi_version; /* TB_COMPILER_ABI_VERSION */
  uint32_t reserved;
  /* 0: `output` was called. 1: `error` was called at least once. Thread safe. */
  int (*compile)(const tb_compile_request_v1 *request);
} tb_compiler_v1;

#ifdef __cplusplus
}
#endif
#endif
