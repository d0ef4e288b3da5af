/*===- add.c - a kernel from C: compile, ask, launch, handle errors --------===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|* usage: add add.ttir
|* docs/c-api.md goes through this program.
\*===----------------------------------------------------------------------===*/

#include <tilebridge/tilebridge.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* The block of the kernel: how many elements one program adds. */
enum { BLOCK = 1024 };

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *data = NULL;
  long length;
  if (!file)
    return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 &&
      fseek(file, 0, SEEK_SET) == 0 && (data = malloc((size_t)length + 1))) {
    *size = fread(data, 1, (size_t)length, file);
  }
  fclose(file);
  return data;
}

static tilebridge_code add(tilebridge_kernel *kernel, const float *x,
                           const float *y, float *out, int32_t n) {
  tilebridge_argument arguments[] = {{"*fp32", {.pointer = (void *)x}},
                                     {"*fp32", {.pointer = (void *)y}},
                                     {"*fp32", {.pointer = out}},
                                     {"i32", {.integer = n}}};
  int64_t programs = ((int64_t)n + BLOCK - 1) / BLOCK;
  return tilebridge_launch_typed(kernel, programs, 1, 1, arguments, 4, NULL);
}

/* What one thread does: arrays of its own, the kernel of all. */
struct job {
  tilebridge_kernel *kernel;
  int32_t n;
  int is_right;
};

static void *run_job(void *state) {
  struct job *job = state;
  size_t bytes = (size_t)job->n * sizeof(float);
  float *x = malloc(bytes), *y = malloc(bytes), *out = malloc(bytes);
  int32_t i;
  if (x && y && out) {
    for (i = 0; i < job->n; ++i) {
      x[i] = (float)i;
      y[i] = 0.5f;
    }
    /* The message belongs to this thread, like errno. */
    if (add(job->kernel, x, y, out, job->n) != TILEBRIDGE_OK) {
      fprintf(stderr, "launch: %s\n", tilebridge_last_error());
    } else {
      for (i = 0; i < job->n && out[i] == (float)i + 0.5f; ++i) {
      }
      job->is_right = i == job->n;
    }
  }
  free(x);
  free(y);
  free(out);
  return NULL;
}

static int launch_from_two_threads(tilebridge_kernel *kernel) {
  struct job jobs[2] = {{NULL, 100000, 0}, {NULL, 12345, 0}};
  pthread_t threads[2];
  int i, started = 0;
  for (i = 0; i < 2; ++i) {
    jobs[i].kernel = kernel;
    if (pthread_create(&threads[i], NULL, run_job, &jobs[i]) != 0)
      break;
    ++started;
  }
  for (i = 0; i < started; ++i)
    pthread_join(threads[i], NULL);
  for (i = 0; i < started; ++i)
    printf("thread %d: %d sums, %s\n", i, (int)jobs[i].n,
           jobs[i].is_right ? "all right" : "WRONG");
  return started == 2 && jobs[0].is_right && jobs[1].is_right;
}

/* Nothing below ends the program: a mistake is a code and a sentence. */
static int show_errors(tilebridge_kernel *kernel) {
  tilebridge_argument wrong[] = {{"*fp64", {.pointer = NULL}}};
  tilebridge_kernel *none = NULL;
  tilebridge_code few =
      tilebridge_launch_typed(kernel, 1, 1, 1, wrong, 1, NULL);
  printf("too few arguments: code %d: %s\n", (int)few, tilebridge_last_error());
  tilebridge_code bad = tilebridge_load_ttir("tt.nonsense", 11, NULL, &none);
  printf("not a kernel: code %d: %s\n", (int)bad, tilebridge_last_error());
  return few == TILEBRIDGE_ERROR_INVALID_ARGUMENT &&
         bad == TILEBRIDGE_ERROR_COMPILE;
}

int main(int argc, char **argv) {
  tilebridge_compile_options options = {.struct_size = sizeof options};
  tilebridge_kernel *kernel = NULL;
  size_t size = 0, i;
  char *ttir = argc == 2 ? read_file(argv[1], &size) : NULL;
  int is_right;
  if (!ttir) {
    fprintf(stderr, "usage: add add.ttir\n");
    return 2;
  }

  options.source_name = argv[1];
  if (tilebridge_load_ttir(ttir, size, &options, &kernel) != TILEBRIDGE_OK) {
    fprintf(stderr, "compile: %s\n", tilebridge_last_error());
    free(ttir);
    return 1;
  }
  free(ttir);

  printf("%s, %s\n", tilebridge_version(), tilebridge_kernel_name(kernel));
  for (i = 0; i < tilebridge_kernel_argument_count(kernel); ++i)
    printf("argument %d: %s\n", (int)i,
           tilebridge_kernel_argument_type(kernel, i));
  is_right = launch_from_two_threads(kernel);
  is_right = show_errors(kernel) && is_right;
  tilebridge_kernel_release(kernel);
  return is_right ? 0 : 1;
}
