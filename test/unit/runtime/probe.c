/*===- probe.c - a kernel written by hand ------------------------*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* Stands for what the compiler makes, so that the runtime is tested alone.
`mode` says what each program does to `data`.
\*===----------------------------------------------------------------------===*/
#include "runtime/executable_abi.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef PROBE_ABI
#define PROBE_ABI TB_EXECUTABLE_ABI_VERSION
#endif
#ifndef PROBE_SLOTS
#define PROBE_SLOTS 2
#endif
#ifndef PROBE_SCRATCH
#define PROBE_SCRATCH 8192
#endif
#ifndef PROBE_MANIFEST
#define PROBE_MANIFEST                                                         \
  "{\"name\": \"probe\", \"signature\": [\"*i64\", \"i32\"], \"target\": "     \
  "\"any\", \"features\": \"\", "                                              \
  "\"compiler\": {\"by\": [\"hand\", 1, null]}}"
#endif

enum { COUNT, PRINT, ASSERT, CHAIN, RENDEZVOUS, LOCK, SCRATCH, MIGRATE, CALLS };

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* A program whose data are in the cache of the thread that ran it last: another
 * thread takes four times as long. data[total] counts these. */
static void runWhereDataAre(int64_t *data, int64_t id, int64_t total) {
  static _Thread_local char thread;
  int64_t self = (int64_t)(intptr_t)&thread, end = now() + 200;
  if (data[id] != self) {
    __atomic_add_fetch(&data[total], 1, __ATOMIC_RELAXED);
    end += 600;
  }
  data[id] = self;
  while (now() < end)
    ;
}

/* False: what is left is not run, an assertion has failed. */
static bool runOne(const tb_launch_v1 *launch, int64_t id,
                   unsigned char *scratch) {
  int64_t *data = (int64_t *)(uintptr_t)launch->slots[0];
  int64_t total = (int64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  char text[64];
  switch ((int)launch->slots[1]) {
  case COUNT:
    __atomic_add_fetch(&data[id], 1, __ATOMIC_RELAXED);
    break;
  case PRINT:
    snprintf(text, sizeof(text), "program %lld\n", (long long)id);
    launch->host->print(launch->host->state, text);
    break;
  case ASSERT:
    __atomic_add_fetch(&data[0], 1, __ATOMIC_RELAXED);
    if (id == 3)
      launch->host->fail(launch->host->state, "kernel.py:7:3: three is wrong");
    return id != 3;
  case CHAIN: /* waits for the program before */
    while (id && !__atomic_load_n(&data[id - 1], __ATOMIC_ACQUIRE))
      ;
    __atomic_store_n(&data[id], 1, __ATOMIC_RELEASE);
    break;
  case RENDEZVOUS: /* waits for all */
    __atomic_add_fetch(&data[0], 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&data[0], __ATOMIC_ACQUIRE) < total)
      ;
    break;
  case LOCK:
    while (__atomic_exchange_n(&data[0], 1, __ATOMIC_ACQUIRE))
      ;
    ++data[1];
    __atomic_store_n(&data[0], 0, __ATOMIC_RELEASE);
    break;
  case SCRATCH: /* finds what it wrote, aligned, whoever else is running */
    memset(scratch, (int)id, PROBE_SCRATCH);
    for (unsigned long long i = 0; i < PROBE_SCRATCH; ++i)
      if (scratch[i] != (unsigned char)id || (uintptr_t)scratch % 64)
        __atomic_add_fetch(&data[0], 1, __ATOMIC_RELAXED);
    break;
  case MIGRATE:
    runWhereDataAre(data, id, total);
    break;
  default:
    break;
  }
  return true;
}

static void run(const tb_launch_v1 *launch, int64_t begin, int64_t end,
                void *scratch) {
  if ((int)launch->slots[1] == CALLS)
    __atomic_add_fetch((int64_t *)(uintptr_t)launch->slots[0], 1,
                       __ATOMIC_RELAXED);
  for (int64_t id = begin; id < end && runOne(launch, id, scratch); ++id)
    ;
}

__attribute__((visibility("default")))
const tb_executable_v1 tilebridge_executable = {
    PROBE_ABI, PROBE_SLOTS, PROBE_SCRATCH, run, PROBE_MANIFEST, 0};
