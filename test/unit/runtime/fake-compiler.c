/*===- fake-compiler.c - stands for libtilebridge_compiler.so ----*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* "Compiles" text that is the path of a shared object to what is in that file,
fails on "error", and says each time
|* what it does.
\*===----------------------------------------------------------------------===*/
#include "runtime/compiler_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Uses up the stack; the result is looked at so that it is no loop. */
static int recurse(volatile int *depth) {
  volatile int frame[256];
  frame[0] = *depth + 1;
  return frame[0] < 0 ? 0 : recurse(frame) + frame[0];
}

static void crash(const char *how) {
  if (strncmp(how, "abort", 5) == 0)
    abort();
  if (strncmp(how, "deep", 4) == 0) {
    volatile int depth = 0;
    exit(recurse(&depth));
  }
  *(volatile int *)8 = 1;
}

static int compile(const tb_compile_request_v1 *request) {
  static const char text[] = "compiling\n";
  static const char message[] = "k.py:3:4: error: no";
  request->log(request->state, text, sizeof(text) - 1);
  if (request->input_size > 6 && strncmp(request->input, "crash:", 6) == 0)
    crash(request->input + 6);
  char *path = strndup(request->input, request->input_size);
  FILE *file = fopen(path, "rb");
  free(path);
  if (!file) {
    request->error(request->state, message, sizeof(message) - 1);
    return 1;
  }
  static _Thread_local char bytes[1 << 20];
  size_t size = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  request->output(request->state, bytes, size);
  return 0;
}

__attribute__((visibility("default")))
const tb_compiler_v3 tilebridge_compiler = {
    TB_COMPILER_ABI_VERSION, 0, compile, NULL, NULL, NULL, NULL, NULL, NULL};
