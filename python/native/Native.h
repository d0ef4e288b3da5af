/*===- Native.h - the parts of the extension module ------------*- C -* -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* tilebridge._launcher: the runtime's C interface for Python, and what a launch
needs to be quick. It is written
|* against Python's stable ABI: one binary serves all versions from 3.10 on. A free-threaded
interpreter has no stable ABI (up to 3.14): there is a binary for that version alone, in which
nothing may count on the interpreter's lock.
\*===----------------------------------------------------------------------===*/
#ifndef TILEBRIDGE_PYTHON_NATIVE_H
#define TILEBRIDGE_PYTHON_NATIVE_H

#ifndef TILEBRIDGE_FREE_THREADED
#define Py_LIMITED_API 0x030a0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "runtime/tilebridge.h"

#include <stdatomic.h>
#include <stdbool.h>

/* The runtime library, opened by initialize(). */
typedef struct Runtime {
  __typeof__(&tilebridge_last_error) last_error;
  __typeof__(&tilebridge_describe_threads) describe_threads;
  __typeof__(&tilebridge_compiler_id) compiler_id;
  __typeof__(&tilebridge_compile) compile;
  __typeof__(&tilebridge_buffer_free) buffer_free;
  __typeof__(&tilebridge_load_bytes) load_bytes;
  __typeof__(&tilebridge_kernel_release) kernel_release;
  __typeof__(&tilebridge_kernel_name) kernel_name;
  __typeof__(&tilebridge_kernel_manifest) kernel_manifest;
  __typeof__(&tilebridge_kernel_slot_count) kernel_slot_count;
  __typeof__(&tilebridge_launch) launch;
  __typeof__(&tilebridge_report_faults) report_faults;
} Runtime;
extern Runtime runtime;

/* Turns a code other than TILEBRIDGE_OK into the exception of tilebridge.errors
 * for it; returns NULL. */
PyObject *raiseCode(tilebridge_code code);

/* Names that are looked up in every launch, made once. */
typedef struct Names {
  PyObject *base, *calls, *cuda, *data_ptr, *device, *dtype, *is_cpu, *is_cuda,
      *padding, *shape, *strides, *type, *write;
} Names;
extern Names names;

/* A kernel that is loaded: what Triton calls `function`. */
typedef struct Kernel {
  PyObject_HEAD tilebridge_kernel *kernel;
} Kernel;
extern PyTypeObject *kernelType;
PyObject *makeKernelType(void);
PyObject *loadKernel(PyObject *module, PyObject *bytes);

/* One step of a signature, which is a tree (tuples nest) kept in preorder. */
typedef enum NodeKind {
  NODE_SKIP,
  NODE_POINTER,
  NODE_INTEGER,
  NODE_REAL,
  NODE_DESCRIPTOR,
  NODE_TUPLE
} NodeKind;
typedef struct Node {
  NodeKind kind;
  int bits;
  bool isUnsigned;
  bool isBFloat;
  Py_ssize_t count;            /* of a tuple: children; of a descriptor: rank */
  char element[16];            /* of a pointer or descriptor: "fp16" */
  PyObject *name;              /* "x", "pair[1]" */
  PyObject *type;              /* as Triton writes it */
  PyObject *_Atomic seenDtype; /* the last dtype found to fit, so that the next
                                  check is one comparison; may be NULL. It is
                                  held, and replaced by threads at once. */
} Node;

typedef struct Plan {
  PyObject *kernelName;
  Node *nodes;
  Py_ssize_t nodeCount;
  Py_ssize_t argumentCount; /* at the top level */
  Py_ssize_t slotCount;
} Plan;

/* Reads names and (nested) types. Returns false with an exception set; the plan
 * can be cleared either way. */
bool readPlan(Plan *plan, PyObject *kernelName, PyObject *argumentNames,
              PyObject *types);
void clearPlan(Plan *plan);
Py_ssize_t slotsOfNode(const Node *node);

/* Converts the arguments from index `first` of the tuple on. Returns false with
 * an exception set. */
bool convertArguments(Plan *plan, PyObject *arguments, Py_ssize_t first,
                      uint64_t *slots);

/* The slots of one argument, where its value is known. An integer is given with
 * whether it is one that no int64_t holds, or of a 64-bit type without sign;
 * false if it does not fit. */
bool integerBits(const Node *node, uint64_t bits, bool isUnsigned,
                 uint64_t *slot);
uint64_t realBits(const Node *node, double number);
void descriptorSlots(const Node *node, uint64_t address, const int64_t *shape,
                     const int64_t *strides, bool padsWithNan, uint64_t *slot);

extern PyTypeObject *launcherType;
PyObject *makeLauncherType(void);
/* Of an object of that type. */
Plan *planOf(PyObject *launcher);
/* Launches without hooks; false with an exception set. */
bool launchKernel(PyObject *launcher, Kernel *kernel, const int64_t *grid,
                  const uint64_t *slots);
PyObject *compileKernel(PyObject *module, PyObject *arguments,
                        PyObject *keywords);

#endif
