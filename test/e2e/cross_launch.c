/*===- cross_launch.c - one launch of a kernel on another architecture ------===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* cross_launch KERNEL.so LAUNCH: for cross_comparison.py, under an emulator,
|* and cross_replay.py, on another machine.
|* LAUNCH has numbers of 64 bits: the grid, a count of slots and the slots, a
|* count of arrays and for each its address and size; then the arrays, which
|* are written back behind the launch.
\*===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "runtime/executable_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 256 };

static void print(void *state, const char *text) {
  (void)state;
  fputs(text, stdout);
}

static void fail(void *state, const char *text) {
  (void)state;
  fputs(text, stderr);
  exit(3);
}

static uint64_t number(FILE *file) {
  uint64_t value;
  if (fread(&value, sizeof value, 1, file) != 1)
    exit(2);
  return value;
}

/* At the same place in its page, with nothing behind its last page. */
static char *map(uint64_t address, uint64_t size) {
  uint64_t begin = address % PAGE;
  uint64_t whole = (begin + size + PAGE - 1) / PAGE * PAGE;
  char *pages = mmap(NULL, whole + PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + whole, PAGE, PROT_NONE))
    exit(2);
  return pages + begin;
}

/* Linux gives registers of AMX only to who asks. */
static void askForTiles(void) {
#ifdef __x86_64__
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
  syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA);
#endif
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  askForTiles();
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const tb_executable_v1 *kernel = dlsym(library, TB_EXECUTABLE_SYMBOL);
  FILE *file = fopen(argv[2], "r+b");
  if (!kernel || kernel->abi_version != TB_EXECUTABLE_ABI_VERSION || !file)
    return 2;

  uint64_t slots[MOST], addresses[MOST], sizes[MOST];
  char *arrays[MOST];
  tb_launch_v1 launch = {.slots = slots};
  int64_t programs = 1;
  for (int d = 0; d < 3; ++d) {
    launch.grid[d] = (uint32_t)number(file);
    programs *= launch.grid[d];
  }
  uint64_t count = number(file);
  if (count > MOST || count != kernel->slot_count)
    return 2;
  for (uint64_t i = 0; i < count; ++i)
    slots[i] = number(file);
  uint64_t memories = number(file);
  if (memories > MOST)
    return 2;
  for (uint64_t i = 0; i < memories; ++i) {
    addresses[i] = number(file);
    sizes[i] = number(file);
    arrays[i] = map(addresses[i], sizes[i]);
  }
  /* A slot with an address of an array is taken for that. */
  for (uint64_t i = 0; i < count; ++i)
    for (uint64_t m = 0; m < memories; ++m)
      if (sizes[m] && slots[i] >= addresses[m] &&
          slots[i] <= addresses[m] + sizes[m]) {
        slots[i] = (uint64_t)(uintptr_t)arrays[m] + (slots[i] - addresses[m]);
        break;
      }
  if (kernel->programs)
    programs = kernel->programs(&launch);
  long data = ftell(file);
  for (uint64_t m = 0; m < memories; ++m)
    if (fread(arrays[m], 1, sizes[m], file) != sizes[m])
      return 2;

  tb_host_v1 host = {print, fail, NULL};
  launch.host = &host;
  char *scratch = map(0, kernel->scratch_bytes + 64);
  kernel->run(&launch, 0, programs, scratch);

  fseek(file, data, SEEK_SET);
  for (uint64_t m = 0; m < memories; ++m)
    if (fwrite(arrays[m], 1, sizes[m], file) != sizes[m])
      return 2;
  return fclose(file) ? 2 : 0;
}
