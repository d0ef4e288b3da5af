//===- amx_emulator.c - AMX on CPUs without it ------------------*- C -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A library for LD_PRELOAD. AMX's instructions are illegal where the CPU has
// none: the handler of that signal decodes and executes those that kernels are
// made of. It is stricter than the hardware: shapes have to fit, and registers
// are to be configured. /proc/cpuinfo gets the flags, and the request for
// permission is granted. Once a program has executed such instructions, their
// number is printed when it ends.
//===----------------------------------------------------------------------===//

#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

struct Config {
  uint8_t palette, startRow, reserved[14];
  uint16_t rowBytes[16];
  uint8_t rows[16];
};

static __thread struct Config config;
static __thread uint8_t tiles[8][16][64];
static long executed;
static int isInstalled;
static struct sigaction next;

static void fail(const char *why, const uint8_t *code) {
  fprintf(stderr, "amx_emulator: %s: %02x %02x %02x %02x %02x %02x\n", why,
          code[0], code[1], code[2], code[3], code[4], code[5]);
  abort();
}

static float fromBf16(const uint8_t *bytes) {
  uint8_t all[4] = {0, 0, bytes[0], bytes[1]};
  float value;
  memcpy(&value, all, 4);
  return value;
}

/// Four bytes of a times four of b, or two bf16 each, added to a sum.
static void addProducts(uint8_t *sum, const uint8_t *a, const uint8_t *b,
                        int opcode, int prefix) {
  if (opcode == 0x5c) {
    float total;
    memcpy(&total, sum, 4);
    for (int i = 0; i < 4; i += 2)
      total += fromBf16(a + i) * fromBf16(b + i);
    memcpy(sum, &total, 4);
    return;
  }
  uint32_t total;
  memcpy(&total, sum, 4);
  for (int i = 0; i < 4; ++i) {
    int x = prefix >= 2 ? (int8_t)a[i] : a[i];
    int y = prefix & 1 ? (int8_t)b[i] : b[i];
    total += (uint32_t)(x * y);
  }
  memcpy(sum, &total, 4);
}

static void multiply(int to, int a, int b, int opcode, int prefix,
                     const uint8_t *code) {
  int rows = config.rows[to], columns = config.rowBytes[to] / 4,
      depth = config.rowBytes[a] / 4;
  if (config.rows[a] != rows || config.rows[b] != depth ||
      config.rowBytes[b] != config.rowBytes[to])
    fail("shapes do not fit", code);
  if (to == a || to == b || a == b)
    fail("registers are not different", code);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      for (int k = 0; k < depth; ++k)
        addProducts(tiles[to][i] + 4 * j, tiles[a][i] + 4 * k,
                    tiles[b][k] + 4 * j, opcode, prefix);
}

/// Register number n of an instruction, in a signal's context.
static int64_t registerOf(const greg_t *registers, int n) {
  static const int places[16] = {
      REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return registers[places[n]];
}

static void execute(greg_t *registers) {
  uint8_t *code = (uint8_t *)registers[REG_RIP], *at = code + 5;
  // A VEX prefix of three bytes, map 2.
  int modrm = code[4], mod = modrm >> 6, opcode = code[3], prefix = code[2] & 3;
  int extraX = code[1] & 0x40 ? 0 : 8, extraB = code[1] & 0x20 ? 0 : 8;
  int tile = modrm >> 3 & 7, rm = modrm & 7, third = ~(code[2] >> 3) & 7;
  uint8_t *base = 0;
  int64_t stride = 0;
  if (mod != 3) {
    int64_t start = 0;
    int32_t distance = 0;
    int isFar = mod == 2;
    if (rm == 4) {
      int sib = *at++, index = (sib >> 3 & 7) | extraX;
      if ((sib & 7) == 5 && mod == 0)
        isFar = 1;
      else
        start = registerOf(registers, (sib & 7) | extraB);
      if (index != 4)
        stride = registerOf(registers, index) * (1 << (sib >> 6));
    } else if (rm == 5 && mod == 0) {
      isFar = 1;
      start = (int64_t)(at + 4);
    } else {
      start = registerOf(registers, rm | extraB);
    }
    if (isFar) {
      memcpy(&distance, at, 4);
      at += 4;
    } else if (mod == 1) {
      distance = (int8_t)*at++;
    }
    base = (uint8_t *)(start + distance);
  }
  ++executed;
  int isConfig = opcode == 0x49 && prefix == 0;
  if (!isConfig && config.palette != 1)
    fail("registers are not configured", code);
  if (isConfig && mod != 3) {
    memcpy(&config, base, sizeof config);
    memset(tiles, 0, sizeof tiles);
  } else if (isConfig) {
    memset(&config, 0, sizeof config);
  } else if (opcode == 0x4b && mod != 3 && (prefix == 3 || prefix == 2)) {
    if (config.rows[tile] == 0 || config.rows[tile] > 16 ||
        config.rowBytes[tile] > 64)
      fail("the register has no shape", code);
    if (prefix == 3)
      memset(tiles[tile], 0, sizeof tiles[tile]);
    for (int i = 0; i < config.rows[tile]; ++i) {
      uint8_t *row = base + i * stride;
      if (prefix == 3)
        memcpy(tiles[tile][i], row, config.rowBytes[tile]);
      else
        memcpy(row, tiles[tile][i], config.rowBytes[tile]);
    }
  } else if (opcode == 0x49 && mod == 3 && prefix == 3) {
    if (rm != 0 || config.rows[tile] == 0)
      fail("the register has no shape", code);
    memset(tiles[tile], 0, sizeof tiles[tile]);
  } else if (mod == 3 && (opcode == 0x5e || (opcode == 0x5c && prefix == 2))) {
    multiply(tile, rm, third, opcode, prefix, code);
  } else {
    fail("unknown instruction", code);
  }
  registers[REG_RIP] = (greg_t)at;
}

static void onIllegal(int number, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  uint8_t *code = (uint8_t *)registers[REG_RIP];
  if (code[0] == 0xc4 && (code[1] & 0x1f) == 2)
    execute(registers);
  else if (next.sa_flags & SA_SIGINFO)
    next.sa_sigaction(number, info, context);
  else
    fail("illegal instruction", code);
}

/// Handlers that others install come after this one.
int sigaction(int number, const struct sigaction *action,
              struct sigaction *old) {
  static int (*real)(int, const struct sigaction *, struct sigaction *);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "sigaction");
  if (number != SIGILL || !isInstalled)
    return real(number, action, old);
  if (old)
    *old = next;
  if (action)
    next = *action;
  return 0;
}

long syscall(long number, ...) {
  static long (*real)(long, ...);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i)
    a[i] = va_arg(list, long);
  va_end(list);
  const long requestPermission = 0x1023;
  if (number != SYS_arch_prctl || a[0] != requestPermission)
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (!isInstalled) {
    struct sigaction action = {0};
    action.sa_sigaction = onIllegal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGILL, &action, &next);
    isInstalled = 1;
  }
  return 0;
}

FILE *fopen(const char *path, const char *mode) {
  static FILE *(*real)(const char *, const char *);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "fopen");
  FILE *file = real(path, mode);
  if (!file || strcmp(path, "/proc/cpuinfo") != 0)
    return file;
  FILE *changed = tmpfile();
  char *line = 0;
  size_t capacity = 0;
  ssize_t length;
  while (changed && (length = getline(&line, &capacity, file)) > 0) {
    if (strncmp(line, "flags", 5) == 0 && line[length - 1] == '\n')
      line[length - 1] = 0;
    fputs(line, changed);
    if (strncmp(line, "flags", 5) == 0)
      fputs(" amx_tile amx_bf16 amx_int8\n", changed);
  }
  free(line);
  fclose(file);
  if (changed)
    rewind(changed);
  return changed;
}

__attribute__((destructor)) static void report(void) {
  if (executed)
    fprintf(stderr, "amx_emulator: %ld instructions\n", executed);
}
