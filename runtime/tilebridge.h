/*===- tilebridge.h - load, compile and launch kernels ----------*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* The public C interface of libtilebridge_runtime.so.
|*
|*   tilebridge_kernel *kernel;
|*   if (tilebridge_load_file("add.so", &kernel) != TILEBRIDGE_OK)
|*     die(tilebridge_last_error());
|*   tilebridge_argument args[] = {
|*       {"*fp32", {.pointer = x}}, {"*fp32", {.pointer = y}}, {"i32", {.integer = n}}};
|*   if (tilebridge_launch_typed(kernel, (n + 1023) / 1024, 1, 1, args, 3, NULL) != TILEBRIDGE_OK)
|*     die(tilebridge_last_error());
|*   tilebridge_kernel_release(kernel);
|*
|* Threads: every function may be called from any thread at any time; a kernel may be launched by several threads at once.
|* A launch is synchronous: when it returns, the kernel's writes are visible to the caller.
|*
|* Errors: no function throws, aborts or exits on bad input: it returns a code, and tilebridge_last_error() has the sentence
|* that explains it. Where a call fails, what it was to give is set to NULL (a kernel) or to empty (a buffer).
|*
|* Ownership: what a caller passes (texts, options, arguments, arrays) is the caller's and is read during the call only. A
|* kernel is released by tilebridge_kernel_release, a buffer by tilebridge_buffer_free; both take NULL. Texts are UTF-8, and
|* the texts that functions return are the library's.
|*
|* Callbacks are called during the call that has them, on its thread unless stated otherwise. What they are given is valid
|* until they return. They may call any function of this file and must not throw or jump out.
|*
|* Versions: structs of options begin with their size, flags that the library does not know are refused, and functions are
|* only added: a program goes on working with each later library of the same minor version (0.1.x).
\*===----------------------------------------------------------------------===*/
#ifndef TILEBRIDGE_RUNTIME_TILEBRIDGE_H
#define TILEBRIDGE_RUNTIME_TILEBRIDGE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TILEBRIDGE_API __attribute__((visibility("default")))
#else
#define TILEBRIDGE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when functions or struct fields are added; nothing that exists changes its meaning. */
#define TILEBRIDGE_API_VERSION 2u

typedef enum tilebridge_code {
  TILEBRIDGE_OK = 0,
  /* The caller's mistake: null pointer, wrong count or type, impossible grid. */
  TILEBRIDGE_ERROR_INVALID_ARGUMENT = 1,
  /* Not a compiled kernel, damaged, or made for another machine or version. */
  TILEBRIDGE_ERROR_BAD_ARTEFACT = 2,
  /* A file could not be read or written. */
  TILEBRIDGE_ERROR_IO = 3,
  /* The kernel is malformed or uses what is not supported; or there is no such target, stage or pass. */
  TILEBRIDGE_ERROR_COMPILE = 4,
  /* An assertion in the kernel failed during the launch. */
  TILEBRIDGE_ERROR_KERNEL_ASSERT = 5,
  TILEBRIDGE_ERROR_OUT_OF_MEMORY = 6,
  /* A part that is needed, such as the compiler library, is not installed. */
  TILEBRIDGE_ERROR_UNAVAILABLE = 7,
  /* tilebridge_evaluate: a program touched memory that is in no array, or does what the evaluator does not know. */
  TILEBRIDGE_ERROR_EVALUATION = 8
} tilebridge_code;

/* TILEBRIDGE_API_VERSION of the library that is loaded. */
TILEBRIDGE_API uint32_t tilebridge_api_version(void);
/* "tilebridge 0.1.0". */
TILEBRIDGE_API const char *tilebridge_version(void);
/* Explains the last failure on this thread; "" if there was none. Valid until the thread's next failure. */
TILEBRIDGE_API const char *tilebridge_last_error(void);
/* "OpenMP with 8 threads (/usr/lib/.../libgomp.so.1)" or "serial": what the next launch of this thread runs on. Valid
 * until this thread asks again. */
TILEBRIDGE_API const char *tilebridge_describe_threads(void);

/*===-- Kernels ------------------------------------------------------------===*/

typedef struct tilebridge_kernel tilebridge_kernel;

/* Loads a compiled kernel. The file or bytes are copied: they may change or go away afterwards. */
TILEBRIDGE_API tilebridge_code tilebridge_load_file(const char *path,
                                                    tilebridge_kernel **kernel);
TILEBRIDGE_API tilebridge_code tilebridge_load_bytes(
    const void *data, size_t size, tilebridge_kernel **kernel);

/* Kernels are reference counted; loading gives the caller one reference. A kernel that is being launched must be held.
 * The last release unloads the code. */
TILEBRIDGE_API void tilebridge_kernel_retain(tilebridge_kernel *kernel);
TILEBRIDGE_API void tilebridge_kernel_release(tilebridge_kernel *kernel);

/* The strings live as long as the kernel. */
TILEBRIDGE_API const char *
tilebridge_kernel_name(const tilebridge_kernel *kernel);
/* JSON: name, signature, target, features, compiler. */
TILEBRIDGE_API const char *
tilebridge_kernel_manifest(const tilebridge_kernel *kernel);
TILEBRIDGE_API size_t
tilebridge_kernel_argument_count(const tilebridge_kernel *kernel);
/* As Triton writes it: "*fp32", "i32", "fp16", "tensordesc<fp16[32, 64]>". NULL where there is no such argument. */
TILEBRIDGE_API const char *
tilebridge_kernel_argument_type(const tilebridge_kernel *kernel, size_t index);
/* How many 64-bit slots tilebridge_launch wants. */
TILEBRIDGE_API size_t
tilebridge_kernel_slot_count(const tilebridge_kernel *kernel);

/* From now on a kernel that ends the process (SIGSEGV, SIGBUS, SIGILL, SIGFPE) is named on standard error, with the line
 * of its source, before whatever else handles the signal; a crash of the compiler is an error of tilebridge_compile; and an
 * interrupt (SIGINT) says where the kernel is that its thread waits for, and a second one from the terminal ends the process. For
 * programs; a library leaves it to them. */
TILEBRIDGE_API void tilebridge_report_faults(void);

/*===-- Launching ----------------------------------------------------------===*/

/* Programs that wait for one another, all of them running at once: each gets a thread of its own. */
#define TILEBRIDGE_LAUNCH_COOPERATIVE 1u

typedef struct tilebridge_launch_options {
  size_t struct_size; /* sizeof(tilebridge_launch_options) */
  uint32_t flags;     /* TILEBRIDGE_LAUNCH_... */
  /* At most so many threads; 0: as many as OpenMP would use on this thread (OMP_NUM_THREADS, omp_set_num_threads). */
  uint32_t max_threads;
  /* Receives what the kernel prints, line by line, from any thread of the launch. NULL: standard output. */
  void (*print)(void *state, const char *text);
  void *print_state;
} tilebridge_launch_options;

/* Runs grid_x * grid_y * grid_z programs. A dimension of 0 makes the launch a no-op; a negative one or one above
 * 2^31 - 1 is an error. `slots` are the arguments as bits, see tb_launch_v1 in executable_abi.h. `options` may be NULL.
 * Nothing is allocated in a launch once each thread has run the kernel that needs the most scratch memory. */
TILEBRIDGE_API tilebridge_code
tilebridge_launch(tilebridge_kernel *kernel, int64_t grid_x, int64_t grid_y,
                  int64_t grid_z, const uint64_t *slots, size_t slot_count,
                  const tilebridge_launch_options *options);

#define TILEBRIDGE_MAX_RANK 8

typedef struct tilebridge_descriptor {
  void *pointer;
  uint32_t rank;
  uint32_t pad_with_nan; /* 1: elements outside read as NaN; 0: as zero */
  int64_t sizes[TILEBRIDGE_MAX_RANK];   /* elements */
  int64_t strides[TILEBRIDGE_MAX_RANK]; /* elements */
} tilebridge_descriptor;

typedef struct tilebridge_argument {
  /* The type of the value, checked against the kernel's: "*fp32", "i32", "u8", "fp16", "tensordesc<fp16[32, 64]>". */
  const char *type;
  union {
    /* "*...": an address that the kernel's code can reach, a multiple of the element's size and of what the kernel was
     * told of it (tt.divisibility, which the stage "header" names). It is not looked at unless a program accesses it. */
    void *pointer;
    int64_t
        integer; /* "i1".."i64", "u1".."u64": must fit the type; u64 as its bits */
    double real; /* "fp16", "bf16", "fp32", "fp64": rounded to the type */
    const tilebridge_descriptor *descriptor;
  } value;
} tilebridge_argument;

/* The same with arguments that carry their types: count and types are checked, values converted. Sizes and strides of
 * a descriptor are arguments of their own in Triton's kernels: they are passed here as well. */
TILEBRIDGE_API tilebridge_code tilebridge_launch_typed(
    tilebridge_kernel *kernel, int64_t grid_x, int64_t grid_y, int64_t grid_z,
    const tilebridge_argument *arguments, size_t count,
    const tilebridge_launch_options *options);

/*===-- Compiling ----------------------------------------------------------===*/

/* Neither look the kernel up on disk nor store it there. */
#define TILEBRIDGE_COMPILE_NO_CACHE 1u
/* Tell `log` what was lowered on a slow path, and why. */
#define TILEBRIDGE_COMPILE_REMARKS 2u
/* Tell `log` where the time went. */
#define TILEBRIDGE_COMPILE_TIMING 4u
/* Round each product and each sum: none is fused to a multiply-add. */
#define TILEBRIDGE_COMPILE_NO_CONTRACTION 8u

typedef struct tilebridge_compile_options {
  size_t struct_size; /* sizeof(tilebridge_compile_options) */
  uint32_t flags;     /* TILEBRIDGE_COMPILE_... */
  /* Named in errors where the TTIR itself has no location; NULL: "<ttir>". */
  const char *source_name;
  /* "cpu" (this machine; the default), "cpu:znver4", "cpu:x86-64-v3", ... */
  const char *target;
  /* What to return: "so" (the default), "ttir", "bridge", "vector", "llvm", "asm"; a function in C that launches the
   * kernel ("header"); or what became of each access to memory, as text ("explain") or JSON ("explain-json"):
   * docs/explain.md. */
  const char *stage;
  /* Name of a pass, "normalize", "cpu-plan", "canonicalize", ...; its output goes to `log`. */
  const char *print_after;
  /* Receives warnings, remarks, timing and printed IR. NULL: dropped. */
  void (*log)(void *state, const char *text, size_t size);
  void *log_state;
} tilebridge_compile_options;

typedef struct tilebridge_buffer {
  char *data; /* followed by a zero byte that `size` does not count */
  size_t size;
} tilebridge_buffer;

/* Compiles TTIR (text in pretty or generic form, or MLIR bytecode), or bridge IR as text (docs/bridge-ir.md). The compiler
 * library is loaded on the first call.
 * Finished artefacts are kept on disk, in $TILEBRIDGE_CACHE_DIR (empty: nowhere), else $XDG_CACHE_HOME/tilebridge, else
 * ~/.cache/tilebridge; the cache is best effort and never the reason for an error. `options` may be NULL.
 * On TILEBRIDGE_ERROR_COMPILE the message holds all diagnostics, "file:line:column: error: ..." */
TILEBRIDGE_API tilebridge_code tilebridge_compile(
    const void *ttir, size_t size, const tilebridge_compile_options *options,
    tilebridge_buffer *out);
TILEBRIDGE_API void tilebridge_buffer_free(tilebridge_buffer *buffer);

/* tilebridge_compile and tilebridge_load_bytes in one. */
TILEBRIDGE_API tilebridge_code tilebridge_load_ttir(
    const void *ttir, size_t size, const tilebridge_compile_options *options,
    tilebridge_kernel **kernel);

/*===-- Evaluating ---------------------------------------------------------===*/

/* Loads TTIR, or bridge IR as text, for the reference evaluator: it describes itself as a compiled kernel does, but is
 * run by tilebridge_evaluate alone. Of the options, `source_name` and `log` count. */
TILEBRIDGE_API tilebridge_code tilebridge_load_reference(
    const void *ttir, size_t size, const tilebridge_compile_options *options,
    tilebridge_kernel **kernel);

/* Run `program` alone. */
#define TILEBRIDGE_EVALUATE_ONE_PROGRAM 1u
/* Run the programs in an order that `seed` says, and not in that of their numbers. */
#define TILEBRIDGE_EVALUATE_RANDOM_ORDER 2u

typedef struct tilebridge_memory {
  void *begin;
  uint64_t size; /* bytes */
} tilebridge_memory;

typedef struct tilebridge_evaluate_options {
  size_t struct_size; /* sizeof(tilebridge_evaluate_options) */
  uint32_t flags;     /* TILEBRIDGE_EVALUATE_... */
  uint32_t program[3];
  uint64_t seed;
  /* The arrays that programs may touch; messages count them from 0. A pointer reaches the one that it points into. NULL:
   * accesses are not checked. */
  const tilebridge_memory *memory;
  size_t memory_count;
  /* A folder that receives every value of every program as a .npy file, and index.csv, which lists them. NULL: none. */
  const char *probe_folder;
  /* Only values of operations of this name, such as "arith.addf". NULL: all. */
  const char *probe_op;
  /* `note` hears of every store to this byte, and who does it. NULL: nothing. */
  const void *watch;
  void (*note)(void *state, const char *text);
  void *note_state;
  /* As in tilebridge_launch_options. */
  void (*print)(void *state, const char *text);
  void *print_state;
} tilebridge_evaluate_options;

/* Runs the programs one after the other, each operation of the bridge IR by itself. It is slow, and written to be
 * right: what compiled kernels compute is compared with it. */
TILEBRIDGE_API tilebridge_code
tilebridge_evaluate(tilebridge_kernel *kernel, int64_t grid_x, int64_t grid_y,
                    int64_t grid_z, const tilebridge_argument *arguments,
                    size_t count, const tilebridge_evaluate_options *options);

/*===-- Simulating accelerators --------------------------------------------===*/

/* Loads TTIR for the simulator of a DMA accelerator; bridge IR and lowered IR as text work too. The options' target says
 * which: "accel:NAME" or "accel:FILE.json" (docs/accel-target.md); ",depth=N" behind it for at most N buffers of a load,
 * ",multicast=off" for loads by each PE alone, ",merge=2x2x1" for so many neighbouring programs as one, and last
 * ",plugin=FILE" for a plug-in (docs/accelerators.md). What is known of a launch is compiled in, so that the kernel is
 * lowered at its first launch; it is kept for launches of the same grid and integers. With TILEBRIDGE_COMPILE_REMARKS the `log` of the options gets the remarks about accesses, and `output` of each launch
 * that lowers those of the lowering, as "remarks". */
TILEBRIDGE_API tilebridge_code tilebridge_load_accel(
    const void *ttir, size_t size, const tilebridge_compile_options *options,
    tilebridge_kernel **kernel);

/* Transfers land at random times, by `seed`, and not as late as they may. */
#define TILEBRIDGE_SIMULATE_RANDOM_LANDING 1u
/* `output` gets a "trace" in Chrome's format, which Perfetto reads. */
#define TILEBRIDGE_SIMULATE_TRACE 2u
/* `output` gets the IR that runs as "lowered". */
#define TILEBRIDGE_SIMULATE_LOWERED 4u
/* Nothing runs. */
#define TILEBRIDGE_SIMULATE_COMPILE_ONLY 8u
/* `output` gets C++ that calls the interface of accel_abi.h as "cpp" (docs/accelerators.md). */
#define TILEBRIDGE_SIMULATE_CPP 16u
/* `output` gets the output of the plug-in, by the name that it has there. */
#define TILEBRIDGE_SIMULATE_PLUGIN 32u
/* `output` gets what the model expects as "estimate": JSON with expected_cycles, expected_microseconds, bytes, buffers. */
#define TILEBRIDGE_SIMULATE_ESTIMATE 64u
/* The sizes of blocks, the number of buffers, multicast and the mapping of the grid are searched (docs/accelerators.md);
 * `output` gets what was found as "autotile", JSON. */
#define TILEBRIDGE_SIMULATE_AUTOTILE 128u
/* With that: each decision that there is is simulated. */
#define TILEBRIDGE_SIMULATE_EXHAUSTIVE 256u

typedef struct tilebridge_simulate_options {
  size_t struct_size; /* sizeof(tilebridge_simulate_options) */
  uint32_t flags;     /* TILEBRIDGE_SIMULATE_... */
  uint64_t seed;
  /* The arrays that programs may touch, as in tilebridge_evaluate_options. Which pointers overlap is taken from them. */
  const tilebridge_memory *memory;
  size_t memory_count;
  /* Receives the "report", JSON with cycles and bytes (docs/accel-simulator.md), and what the flags ask for. */
  void (*output)(void *state, const char *what, const char *data, size_t size);
  void *output_state;
  /* As in tilebridge_launch_options. */
  void (*print)(void *state, const char *text);
  void *print_state;
} tilebridge_simulate_options;

/* Runs the programs on the simulated machine: it changes the arrays as the machine would, checks what compiled code must not
 * do (races, reads of what was never written, descriptors that no engine has), and counts the time. */
TILEBRIDGE_API tilebridge_code
tilebridge_simulate(tilebridge_kernel *kernel, int64_t grid_x, int64_t grid_y,
                    int64_t grid_z, const tilebridge_argument *arguments,
                    size_t count, const tilebridge_simulate_options *options);

/*===-- This machine -------------------------------------------------------===*/

/* Names the compiler that would be used, its LLVM and this machine's CPU: two equal strings mean equal code. */
TILEBRIDGE_API const char *tilebridge_compiler_id(void);

/* An artefact ends in a checksum, without which it is not loaded. This appends one to a shared object that was linked
 * by other means. */
TILEBRIDGE_API tilebridge_code tilebridge_seal(const void *data, size_t size,
                                               tilebridge_buffer *out);

#ifdef __cplusplus
}
#endif
#endif
