/* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The limits of a machine: how fast cores multiply and add, and a copy, each by
 * all threads together.
 */

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What does arithmetic: so many operations in a step. */
struct unit {
  void (*step)(long);
  double operations;
};
static const struct unit no_unit = {NULL, 0};

/* Runs the unit often enough to take `least` seconds, seven times; the best
 * rate, in operations a second. */
static double best_rate(struct unit unit, double least) {
  long count = 1000;
  double best = 0;
  for (int trial = 0; trial < 7; ++trial) {
    for (;;) {
      double start = seconds();
      unit.step(count);
      double taken = seconds() - start;
      if (taken >= least) {
        double rate = unit.operations * (double)count / taken;
        best = rate > best ? rate : best;
        break;
      }
      count *= 2;
    }
  }
  return best;
}

typedef int launch_function(void *kernel, int64_t x, int64_t y, int64_t z,
                            const uint64_t *slots, size_t count,
                            const void *options);

/* Seconds a launch through the C interface takes, the best of seven means. */
double machine_launch_seconds(launch_function *launch, void *kernel,
                              int64_t programs, const uint64_t *slots,
                              size_t count, int repeats) {
  double best = 1e9;
  for (int trial = 0; trial < 7; ++trial) {
    double start = seconds();
    for (int i = 0; i < repeats; ++i)
      if (launch(kernel, programs, 1, 1, slots, count, NULL) != 0)
        return 0;
    double mean = (seconds() - start) / repeats;
    best = mean < best ? mean : best;
  }
  return best;
}

/* Work of all threads: of the calling one and of a team that machine_threads
 * starts. Between two pieces of work they wait a while actively, as those of
 * OpenMP do, and then sleep. */

struct work {
  void (*step)(long); /* arithmetic, or else a copy */
  char *to;
  const char *from;
  size_t size; /* bytes, or steps */
  size_t part; /* what a thread takes at once */
  int streams;
};

static struct {
  pthread_mutex_t lock;
  pthread_cond_t begun;
  int threads; /* with the calling one */
  struct work work;
  unsigned begun_count; /* atomic, as the two below */
  size_t next;          /* the first byte, or step, that nobody has taken */
  int working;
} team = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 1, {0}, 0, 0, 0};

/* A thread that loses its core holds up little. */
#define COPY_PART ((size_t)256 << 10)
#define PARTS 16 /* of the arithmetic of one thread */
#define LEAST_STEPS 128
#define ACTIVE_SECONDS 200e-6

static void copy_streaming(char *to, const char *from, size_t size) {
#if __has_builtin(__builtin_nontemporal_store)
  typedef long vector __attribute__((vector_size(64), aligned(16)));
  size_t head = -(uintptr_t)to & 63;
  head = head < size ? head : size;
  memcpy(to, from, head);
  size_t at = head;
  for (; at + 64 <= size; at += 64) {
    vector value;
    memcpy(&value, from + at, 64);
    __builtin_nontemporal_store(
        value, (vector *)__builtin_assume_aligned(to + at, 64));
  }
  memcpy(to + at, from + at, size - at);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#else
  memcpy(to, from, size);
#endif
}

static void do_parts(void) {
  const struct work *work = &team.work;
  for (;;) {
    size_t at = __atomic_fetch_add(&team.next, work->part, __ATOMIC_RELAXED);
    if (at >= work->size)
      return;
    size_t size = work->size - at < work->part ? work->size - at : work->part;
    if (work->step)
      work->step((long)size);
    else if (work->streams)
      copy_streaming(work->to + at, work->from + at, size);
    else
      memcpy(work->to + at, work->from + at, size);
  }
}

static void *help(void *begun) {
  unsigned seen = (unsigned)(uintptr_t)begun;
  for (;;) {
    double start = seconds();
    while (__atomic_load_n(&team.begun_count, __ATOMIC_ACQUIRE) == seen)
      if (seconds() - start > ACTIVE_SECONDS) {
        pthread_mutex_lock(&team.lock);
        while (__atomic_load_n(&team.begun_count, __ATOMIC_ACQUIRE) == seen)
          pthread_cond_wait(&team.begun, &team.lock);
        pthread_mutex_unlock(&team.lock);
      }
    ++seen;
    do_parts();
    __atomic_sub_fetch(&team.working, 1, __ATOMIC_RELEASE);
  }
  return NULL;
}

/* Lets the team have so many threads at least, with the calling one. Returns
 * how many it has. */
int machine_threads(int count) {
  while (team.threads < count) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, help,
                       (void *)(uintptr_t)team.begun_count) != 0)
      break;
    pthread_detach(thread);
    ++team.threads;
  }
  return team.threads;
}

/* Returns when all is done. One at a time. */
static void do_on_team(struct work work) {
  team.work = work;
  team.next = 0;
  team.working = team.threads - 1;
  pthread_mutex_lock(&team.lock);
  __atomic_add_fetch(&team.begun_count, 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&team.begun);
  pthread_mutex_unlock(&team.lock);
  do_parts();
  while (__atomic_load_n(&team.working, __ATOMIC_ACQUIRE) != 0)
    ;
}

/* Copies by the C library's memcpy, or past the caches. */
void machine_copy(char *to, const char *from, size_t size, int streams) {
  struct work work = {NULL, to, from, size, COPY_PART, streams};
  do_on_team(work);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define KEEP(v) __asm__ volatile("" : "+v"(v))

/* Twelve sums hide the latency of two units. */
#define TWELVE(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)
#define START(i) SUM s##i = ZERO;
#define ADD(i) s##i = PRODUCTS(s##i);
#define END(i) KEEP(s##i);

/* `name` adds PRODUCTS to twelve sums `count` times. */
#define STEP(name, features, factor, one)                                      \
  __attribute__((target(features))) static void name(long count) {             \
    factor x = one, y = one;                                                   \
    KEEP(x);                                                                   \
    KEEP(y);                                                                   \
    TWELVE(START)                                                              \
    for (long j = 0; j < count; ++j) {                                         \
      TWELVE(ADD)                                                              \
      TWELVE(END)                                                              \
    }                                                                          \
  }

#define SUM __m256
#define ZERO _mm256_setzero_ps()
#define PRODUCTS(s) _mm256_fmadd_ps(x, y, s)
STEP(step_avx2, "avx2,fma", __m256, _mm256_set1_ps(1.0f))
#undef SUM
#undef ZERO
#undef PRODUCTS

#define SUM __m512
#define ZERO _mm512_setzero_ps()
#define PRODUCTS(s) _mm512_fmadd_ps(x, y, s)
STEP(step_avx512, "avx512f", __m512, _mm512_set1_ps(1.0f))
#undef PRODUCTS

#define PRODUCTS(s) _mm512_dpbf16_ps(s, (__m512bh)x, (__m512bh)y)
STEP(step_bf16, "avx512f,avx512bf16", __m512i, _mm512_set1_epi16(0x3f80))
#undef SUM
#undef ZERO
#undef PRODUCTS

#define SUM __m512i
#define ZERO _mm512_setzero_si512()
#define PRODUCTS(s) _mm512_dpbusd_epi32(s, x, y)
STEP(step_i8, "avx512f,avx512vnni", __m512i, _mm512_set1_epi8(1))
#undef SUM
#undef ZERO
#undef PRODUCTS

/* AMX: a tile product is 16 x 16 sums of 32 (bf16) or 64 (int8) products. Linux
 * gives the tiles on request. */
#include <sys/syscall.h>
#include <unistd.h>

static int has_amx(unsigned bit) {
  unsigned a, b, c, d;
  __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
  return (d >> bit & 1) && syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}

struct tile_configuration {
  uint8_t palette, start, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};

__attribute__((target("amx-tile"))) static void configure_tiles(void) {
  struct tile_configuration all;
  memset(&all, 0, sizeof all);
  all.palette = 1;
  for (int i = 0; i < 8; ++i) {
    all.row_bytes[i] = 64;
    all.rows[i] = 16;
  }
  _tile_loadconfig(&all);
}

/* Four tiles of sums, two of each factor. */
#define TILE_STEP(name, features, product)                                     \
  __attribute__((target(features))) static void name(long count) {             \
    configure_tiles();                                                         \
    _tile_zero(0);                                                             \
    _tile_zero(1);                                                             \
    _tile_zero(2);                                                             \
    _tile_zero(3);                                                             \
    _tile_zero(4);                                                             \
    _tile_zero(5);                                                             \
    _tile_zero(6);                                                             \
    _tile_zero(7);                                                             \
    for (long j = 0; j < count; ++j) {                                         \
      product(0, 4, 6);                                                        \
      product(1, 4, 7);                                                        \
      product(2, 5, 6);                                                        \
      product(3, 5, 7);                                                        \
    }                                                                          \
    _tile_release();                                                           \
  }
TILE_STEP(step_amx_bf16, "amx-tile,amx-bf16", _tile_dpbf16ps)
TILE_STEP(step_amx_i8, "amx-tile,amx-int8", _tile_dpbssd)

static struct unit f32_unit(void) {
  if (__builtin_cpu_supports("avx512f"))
    return (struct unit){step_avx512, 12 * 16 * 2};
  if (__builtin_cpu_supports("fma"))
    return (struct unit){step_avx2, 12 * 8 * 2};
  return no_unit;
}

static struct unit bf16_unit(void) {
  if (has_amx(22))
    return (struct unit){step_amx_bf16, 4 * 16 * 16 * 32 * 2};
  /* Intel's CPUs with AVX512_FP16 do one vdpbf16ps in two cycles, and four
     multiply-adds of f32. */
  if (__builtin_cpu_supports("avx512bf16"))
    return __builtin_cpu_supports("avx512fp16")
               ? f32_unit()
               : (struct unit){step_bf16, 12 * 32 * 2};
  return no_unit;
}

static struct unit i8_unit(void) {
  if (has_amx(25))
    return (struct unit){step_amx_i8, 4 * 16 * 16 * 64 * 2};
  if (__builtin_cpu_supports("avx512vnni"))
    return (struct unit){step_i8, 12 * 64 * 2};
  return no_unit;
}

#else

typedef float vector __attribute__((vector_size(16)));

static void step_vector(long count) {
  vector s[16], x = {1, 1, 1, 1}, y = {1, 1, 1, 1};
  memset(s, 0, sizeof s);
  for (long j = 0; j < count; ++j) {
    for (int i = 0; i < 16; ++i)
      s[i] += x * y;
    for (int i = 0; i < 16; ++i)
      __asm__ volatile("" : "+w"(s[i]));
  }
}

static struct unit f32_unit(void) {
  return (struct unit){step_vector, 16 * 4 * 2};
}
static struct unit bf16_unit(void) { return no_unit; }
static struct unit i8_unit(void) { return no_unit; }
#endif

static struct unit unit_of(const char *type) {
  return !strcmp(type, "f32")    ? f32_unit()
         : !strcmp(type, "bf16") ? bf16_unit()
         : !strcmp(type, "i8")   ? i8_unit()
                                 : no_unit;
}

/* Operations a second of the calling thread on numbers of a type, "f32", "bf16"
 * or "i8". 0 where the processor has no instructions for it. */
double machine_rate(const char *type, double least) {
  struct unit unit = unit_of(type);
  return unit.step ? best_rate(unit, least) : 0;
}

/* Does so many operations or a few more, on all threads. Returns how many, or 0
 * where the processor has no instructions for the type. */
double machine_operate(const char *type, double operations) {
  struct unit unit = unit_of(type);
  if (!unit.step)
    return 0;
  double steps = operations / unit.operations;
  size_t count = (size_t)steps + ((double)(size_t)steps < steps);
  size_t part = count / ((size_t)team.threads * PARTS) + 1;
  part = part < LEAST_STEPS ? LEAST_STEPS : part;
  struct work work = {unit.step, NULL, NULL, count, part, 0};
  do_on_team(work);
  return (double)count * unit.operations;
}
