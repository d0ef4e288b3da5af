/*===- executable_abi.h - what a compiled kernel exports --------*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* The one header that the compiler and the runtime share. A compiled kernel is
|* a shared object with one exported symbol, `tilebridge_executable`, of type
|* tb_executable_v1. It needs nothing but the C library, libm and libmvec.
\*===----------------------------------------------------------------------===*/
#ifndef TILEBRIDGE_RUNTIME_EXECUTABLE_ABI_H
#define TILEBRIDGE_RUNTIME_EXECUTABLE_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TB_EXECUTABLE_ABI_VERSION 4u
#define TB_EXECUTABLE_SYMBOL "tilebridge_executable"

/* Services the kernel calls back for. Thread safe; may be called by any thread of a launch. */
typedef struct tb_host_v1 {
  /* Writes one line of a kernel's print; `text` ends in a newline. */
  void (*print)(void *state, const char *text);
  /* Reports a failed assertion ("file:line:col: message"); the launch ends with TILEBRIDGE_ERROR_KERNEL_ASSERT, and the
   * kernel's call of tb_run_fn then, with programs left that are not run. */
  void (*fail)(void *state, const char *text);
  void *state;
  /* Only where the launch has TB_LAUNCH_GUARDED. An element at address a may be changed while guards[a >> TB_GUARD_SHIFT & guard_mask],
   * which is 0 where nobody has it, was exchanged for 1; take_guard waits until it could be. No thread has two. */
  uint32_t *guards;
  uint64_t guard_mask;
  void (*take_guard)(uint32_t *guard);
} tb_host_v1;

#define TB_GUARD_SHIFT 13u

/* One launch. `slots` are the kernel's arguments, 64 bits each, in the order of the bridge function:
 *   pointer     1 slot: the address
 *   scalar      1 slot: its bits in the low bytes (i1 is 0 or 1)
 *   descriptor  2 + 2 * rank slots: address, sizes (elements), strides (elements), then 1 where padding is NaN */
typedef struct tb_launch_v1 {
  const uint64_t *slots;
  uint32_t grid[3];
  uint32_t flags; /* TB_LAUNCH_... */
  const tb_host_v1 *host;
} tb_launch_v1;

/* No atomic access of any other launch of this process runs meanwhile: atomic ones are sequences of plain ones, by one thread at a
 * time. Only for kernels whose manifest allows it. */
#define TB_LAUNCH_GUARDED 1u

/* Runs the programs [begin, end) of the grid, in the kernel's order, which is the same for all of a launch. `scratch` has scratch_bytes, aligned to 64, of this thread alone. The
 * first TB_SCRATCH_ZEROED_BYTES of it (all, if it has less) are zero when a thread's first programs of a launch begin; what a
 * call leaves in it the thread's next call of that launch finds there. */
#define TB_SCRATCH_ZEROED_BYTES 256
typedef void (*tb_run_fn)(const tb_launch_v1 *launch, int64_t begin,
                          int64_t end, void *scratch);

/* How many programs in a row the kernel runs together where it can: calls of tb_run_fn for as many, or a multiple, share the work
 * best. A call for a range that begins or ends among those runs all of them, or none. */
typedef int64_t (*tb_at_once_fn)(const tb_launch_v1 *launch);

/* How many programs tb_run_fn counts in a launch, where a kernel makes others of those of the grid: its ranges are of these. At
 * least 0. */
typedef int64_t (*tb_programs_fn)(const tb_launch_v1 *launch);

typedef struct tb_executable_v1 {
  uint32_t abi_version; /* TB_EXECUTABLE_ABI_VERSION */
  uint32_t slot_count;
  uint64_t scratch_bytes;
  tb_run_fn run;
  /* JSON: {"name": "add", "signature": ["*fp32", "i32"], "target": "znver4", "features": "+avx2,...", "compiler": "tilebridge 0.1.0"},
   * and "atomics": "none"; "guarded", if launches may have TB_LAUNCH_GUARDED; "alone", if they may while one thread runs all
   * programs; anything else, or no such key: there are some, and they may not. */
  const char *manifest;
  tb_at_once_fn at_once;   /* null: 1, whatever the launch */
  tb_programs_fn programs; /* null: the grid's */
} tb_executable_v1;

#ifdef __cplusplus
static_assert(sizeof(tb_launch_v1) == 32, "layout is part of the ABI");
static_assert(sizeof(tb_executable_v1) == 48, "layout is part of the ABI");
}
#endif
#endif
