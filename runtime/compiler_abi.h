/*===- compiler_abi.h - between the runtime and the compiler ----*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* libtilebridge_compiler.so exports one symbol, `tilebridge_compiler`, of type tb_compiler_v3, and so does
|* libtilebridge_compiler_cpu.so, which has LLVM and MLIR inside. The runtime loads one of them when the first kernel is
|* compiled, so that launching alone never maps LLVM.
\*===----------------------------------------------------------------------===*/
#ifndef TILEBRIDGE_RUNTIME_COMPILER_ABI_H
#define TILEBRIDGE_RUNTIME_COMPILER_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TB_COMPILER_ABI_VERSION 3u
#define TB_COMPILER_SYMBOL "tilebridge_compiler"

enum {
  TB_COMPILE_REMARKS = 2,
  TB_COMPILE_TIMING = 4,
  TB_COMPILE_NO_CONTRACTION = 8
};

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

/* A kernel for the reference evaluator. */
typedef struct tb_reference_kernel tb_reference_kernel;

/* An array that the programs may touch. */
typedef struct tb_memory_v1 {
  void *begin;
  uint64_t size; /* bytes */
} tb_memory_v1;

enum { TB_EVALUATE_ONE_PROGRAM = 1, TB_EVALUATE_RANDOM_ORDER = 2 };

/* What the functions give: TB_EVALUATE_FAILED and _ASSERT with one call of `error`. */
enum { TB_EVALUATE_OK = 0, TB_EVALUATE_FAILED = 1, TB_EVALUATE_ASSERT = 2 };

typedef struct tb_evaluate_request_v1 {
  const uint64_t *slots; /* as tb_launch_v1 has them */
  uint32_t grid[3];
  uint32_t program[3];
  uint32_t flags;
  uint32_t memory_count;
  const tb_memory_v1 *memory; /* null: accesses are not checked */
  uint64_t seed;
  const char *probe_folder; /* null: no probes */
  const char *probe_op;     /* null: all */
  const void *watch;        /* null: nothing */
  void (*error)(void *state, const char *text, size_t size);
  void (*print)(void *state,
                const char *text); /* a line of the kernel's print */
  void (*note)(void *state, const char *text); /* a store to what is watched */
  void *state;
} tb_evaluate_request_v1;

/* A kernel for an accelerator's simulator. */
typedef struct tb_accel_kernel tb_accel_kernel;

enum {
  TB_SIMULATE_RANDOM_LANDING = 1,
  TB_SIMULATE_TRACE = 2,
  TB_SIMULATE_LOWERED = 4,
  TB_SIMULATE_COMPILE_ONLY = 8,
  TB_SIMULATE_CPP = 16,
  TB_SIMULATE_PLUGIN = 32,
  TB_SIMULATE_ESTIMATE = 64,
  TB_SIMULATE_AUTOTILE = 128,
  TB_SIMULATE_EXHAUSTIVE = 256
};

typedef struct tb_simulate_request_v1 {
  const uint64_t *slots; /* as tb_launch_v1 has them */
  uint32_t grid[3];
  uint32_t flags;
  uint64_t seed;
  const tb_memory_v1 *memory; /* null: accesses are not checked */
  uint32_t memory_count;
  uint32_t reserved;
  void (*error)(void *state, const char *text, size_t size);
  void (*print)(void *state, const char *text);
  /* "remarks" of the lowering if TB_COMPILE_REMARKS was given to accel_load, "report" (JSON), and where asked for "trace" (JSON), "lowered" (MLIR), "cpp" (C++), "estimate" (JSON), "autotile" (JSON) and the
   * plug-in's. */
  void (*output)(void *state, const char *what, const char *data, size_t size);
  void *state;
} tb_simulate_request_v1;

typedef struct tb_compiler_v3 {
  uint32_t abi_version; /* TB_COMPILER_ABI_VERSION */
  uint32_t reserved;
  /* 0: `output` was called. 1: `error` was called at least once. Thread safe. */
  int (*compile)(const tb_compile_request_v1 *request);
  /* TTIR or bridge IR for `evaluate`; `output` gets the manifest. Null: `error` was called. */
  tb_reference_kernel *(*reference_load)(const tb_compile_request_v1 *request,
                                         uint32_t *slot_count);
  int (*reference_evaluate)(tb_reference_kernel *kernel,
                            const tb_evaluate_request_v1 *request);
  void (*reference_free)(tb_reference_kernel *kernel);
  /* TTIR, bridge IR or lowered IR for `accel_simulate`, by the request's target; as reference_load. */
  tb_accel_kernel *(*accel_load)(const tb_compile_request_v1 *request,
                                 uint32_t *slot_count);
  /* One of TB_EVALUATE_...; compiles for what is known of the launch first, unless it has done so before. */
  int (*accel_simulate)(tb_accel_kernel *kernel,
                        const tb_simulate_request_v1 *request);
  void (*accel_free)(tb_accel_kernel *kernel);
} tb_compiler_v3;

#ifdef __cplusplus
}
#endif
#endif
