/*===- accel_reference.h - runs emitted kernels on the host -----*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* An implementation of accel_abi.h for tests: it has no time, and finds
mistakes. A transfer lands when it is waited for, never
|* before; scratchpads are filled with NaN; each PE is a thread, of which one
runs at a time, so that a launch with the same
|* seed does the same; PEs that wait for one another for ever are an error.
\*===----------------------------------------------------------------------===*/
#ifndef TILEBRIDGE_ACCEL_REFERENCE_H
#define TILEBRIDGE_ACCEL_REFERENCE_H

#include "accel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An array that a kernel may touch. */
typedef struct accel_reference_array {
  void *begin;
  uint64_t bytes;
} accel_reference_array;

typedef struct accel_reference_launch {
  size_t struct_size;     /* sizeof(accel_reference_launch) */
  uint32_t rows, columns; /* the grid of PEs; 0: the kernel's own, or 1 */
  uint32_t grid[3];       /* the launch grid */
  uint32_t argument_count;
  const accel_argument *arguments;
  /* Null: any address is good. Otherwise a transfer or an atomic access beyond
   * the arrays is an error. */
  const accel_reference_array *arrays;
  size_t array_count;
  /* 0: PEs take turns, and transfers land at their wait. Otherwise turns are
   * random, and so is when a transfer lands. */
  uint64_t seed;
  /* Takes a line that the kernel prints; null: standard output. */
  void (*print)(void *state, const char *text);
  void *print_state;
} accel_reference_launch;

/* Runs a launch. Returns 0, or 1 with what is wrong in `error` (at most
 * `error_size` bytes, zero-terminated). */
int accel_reference_run(const accel_kernel *kernel,
                        const accel_reference_launch *launch, char *error,
                        size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
