/*===- accel_plugin.h - what a plug-in for a target exports -----*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* A shared library that the compiler loads for a target (`tilebridge compile
--load-target=libmy.so`). It exports one
|* function, tilebridge_accel_plugin, whose result says what it brings: the
description of a target, passes at named points,
|* functions for computations, and an output of its own. Each of them may be
left out (null).
|*
|* Passes and outputs work with MLIR's classes. Such a plug-in is built with the
headers of the very LLVM that this compiler
|* uses, and linked to its libMLIR and libLLVM (the shared ones), not to a copy.
Ops of the dialect `accel` are reached by
|* their names (`op->getName().getStringRef() == "accel.copy"`) and attributes.
A plug-in without them needs nothing but this file.
\*===----------------------------------------------------------------------===*/
#ifndef TILEBRIDGE_ACCEL_PLUGIN_H
#define TILEBRIDGE_ACCEL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A plug-in of another version is not loaded. */
#define TILEBRIDGE_ACCEL_PLUGIN_VERSION 1u
#define TILEBRIDGE_ACCEL_PLUGIN_SYMBOL "tilebridge_accel_plugin"

/* An operand of a computation: a buffer in the PE's memory. */
typedef struct tilebridge_accel_operand {
  const char *type; /* "f16", "bf16", "i32", ... */
  uint32_t rank;
  const int64_t *sizes; /* negative: known at run time only */
} tilebridge_accel_operand;

/* An op of linalg on buffers: inputs, then outputs. */
typedef struct tilebridge_accel_compute {
  const char *op; /* "linalg.matmul" */
  uint32_t input_count, output_count;
  const tilebridge_accel_operand *operands;
} tilebridge_accel_compute;

/* Takes a part of an output. */
typedef void (*tilebridge_accel_write)(void *state, const char *data,
                                       size_t size);

typedef struct tilebridge_accel_plugin_info {
  uint32_t version;         /* TILEBRIDGE_ACCEL_PLUGIN_VERSION */
  uint32_t reserved;        /* 0 */
  const char *name;         /* for messages; never null */
  const char *llvm_version; /* LLVM_VERSION_STRING of its headers; null: it has
                               no hook that takes MLIR */
  /* The description of a target of its own, as a JSON file has it; null: it
   * serves others. */
  const char *target_json;
  /* Names of the targets that it serves, the last one null; null: all. */
  const char *const *targets;

  /* Adds passes over a module at a point: "bridge" (the bridge IR), before each
   * stage of `tilebridge-accel-pipeline` the stage's name, "lowered" (after all
   * of them), and "emit" (lowered, before C++ is made; the simulator does not
   * see it). `pass_manager` is an mlir::OpPassManager * for builtin.module. Not
   * 0: failed, and `error` says why. */
  int (*add_passes)(const char *point, void *pass_manager, char *error,
                    size_t error_size);

  /* The C function that computes what the op does, or null: loops are emitted.
   * It is called as void NAME(accel_pe *pe, T *first, int64_t sizes..., int64_t
   * strides..., the next operand ...) with strides in elements, and scalars
   * between the buffers as they stand. */
  const char *(*lower_compute)(const tilebridge_accel_compute *op);

  /* An output beside the compiler's own: `--emit=NAME`. `module` is the
   * mlir::Operation * of the lowered module, after the passes of "emit" and
   * lower_compute. Not 0: failed, and `error` says why. */
  const char *output_name;
  int (*emit)(void *module, tilebridge_accel_write write, void *state,
              char *error, size_t error_size);
} tilebridge_accel_plugin_info;

/* const tilebridge_accel_plugin_info *tilebridge_accel_plugin(void); */
typedef const tilebridge_accel_plugin_info *(*tilebridge_accel_plugin_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
