/*===- Quick.h - launches without Triton's JIT ------------------*- C -*-===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
|* `kernel[grid](...)` finds the compiled kernel of a call by what Triton
specializes on, which costs Triton several microseconds of Python. Here a
launch that Triton has done once is remembered as an `Entry`, and done without
Triton when a later one is alike in all that Triton looks at. Whatever is
unusual goes Triton's way, before anything is done that others could see.

  QuickFacts.c   what there is to know of an argument, asked for once: it is
                 compared with entries, and becomes the kernel's slots
  QuickEntry.c   entries, and the table of those of a function
  QuickGuards.c  what besides the arguments decides how Triton launches
  QuickLaunch.c  the methods that stand in for those of Triton's JITFunction
  QuickSetUp.c   Triton's and PyTorch's objects

What knows Triton's classes is quick.py; it runs when a launch is recorded.
\*===----------------------------------------------------------------------===*/
#ifndef TILEBRIDGE_PYTHON_QUICK_H
#define TILEBRIDGE_PYTHON_QUICK_H

#include "Native.h"

enum {
  QUICK_ARGUMENTS = 64,
  QUICK_DESCRIPTORS = 8,
  QUICK_SLOTS = 256,
  QUICK_SETTINGS = 8,
  QUICK_ENTRIES = 16,
  /* A function whose launches were recorded or refused so often in a row, with
   * none that was found again, is left to Triton. */
  QUICK_PATIENCE = 64
};

/* Looks a key up that cannot fail to compare; the result is held. */
static inline PyObject *lookUp(PyObject *dictionary, PyObject *key) {
  PyObject *value;
#ifdef Py_GIL_DISABLED
  if (PyDict_GetItemRef(dictionary, key, &value) < 0)
    PyErr_Clear();
#else
  value = PyDict_GetItemWithError(dictionary, key);
  Py_XINCREF(value);
#endif
  return value;
}

/* Whether two strings are equal; mostly they are one. */
static inline bool isSameText(PyObject *a, PyObject *b) {
  return a == b || PyUnicode_Compare(a, b) == 0;
}

/* An attribute of Triton's knobs that decides which kernel is taken. Where it
 * is read from the environment each time, `variable` names it there. */
typedef struct Setting {
  PyObject *group, *name, *variable;
} Setting;

typedef struct QuickNames {
  PyObject *launches, *active, *addStages, *blockShape, *body, *cpu, *debug,
      *deviceCaches, *enterHook, *exitHook, *function, *globals, *grid,
      *launcher, *preRunHooks, *rounds, *run, *runtime, *value, *warmup, *zero;
} QuickNames;

/* Triton's and PyTorch's objects, set once by quick.py. */
typedef struct Quick {
  QuickNames names;
  PyTypeObject *functionType, *compiledType, *descriptorType, *dtypeType,
      *driverType, *chainType, *constantType;
  PyObject *tritonRun, *tritonItem, *tritonConstant; /* what ours stand for */
  PyObject *ownRun;
  PyObject *knobs;       /* the module's names */
  PyObject *driverState; /* the names of triton.runtime.driver */
  PyObject *describe, *finish;
  Setting settings[QUICK_SETTINGS];
  Py_ssize_t settingCount;
  /* PyTorch may be imported later than Triton; the classes are set last. */
  PyTypeObject *_Atomic tensorType;
  PyTypeObject *_Atomic parameterType;
  int (*exchange)(void *tensor, void *view); /* may be NULL */
} Quick;
extern Quick quick;

typedef enum FactKind {
  FACT_TENSOR,
  FACT_INTEGER,
  FACT_TRUTH,
  FACT_REAL,
  FACT_NONE,
  FACT_TEXT,
  FACT_DTYPE, /* of triton.language */
  FACT_DESCRIPTOR
} FactKind;

/* What Triton makes of integers and addresses. */
enum {
  CLASS_FITS_32 = 0,
  CLASS_FITS_64 = 1,
  CLASS_UNSIGNED_64 = 2,
  CLASS_RANGE = 3,
  CLASS_ONE = 4,
  CLASS_ALIGNED = 8
};

typedef struct Fact {
  unsigned char kind;
  unsigned char class;
  uint64_t bits; /* the number, the address, or the descriptor's index */
  uint64_t type; /* of the elements; of texts and dtypes the object */
} Fact;

typedef struct DescriptorFact {
  Py_ssize_t rank;
  bool padsWithNan, rounds;
  int64_t shape[TILEBRIDGE_MAX_RANK], strides[TILEBRIDGE_MAX_RANK],
      block[TILEBRIDGE_MAX_RANK];
} DescriptorFact;

/* A launch: the values are those given by position, then those by keyword. */
typedef struct Call {
  PyObject *function, *grid;
  PyObject *const *values;
  PyObject *names[QUICK_ARGUMENTS];
  Py_ssize_t positional, count;
} Call;

typedef struct Facts {
  Fact of[QUICK_ARGUMENTS];
  DescriptorFact descriptors[QUICK_DESCRIPTORS];
  Py_ssize_t descriptorCount;
} Facts;

/* False where an argument is of a kind that is left to Triton; no exception is
 * set either way. */
bool readFacts(const Call *call, Facts *facts);
bool readSimpleFact(PyObject *value, Fact *fact);
/* How many items a tuple or list has, of which up to `most` are read; -1 where
 * one of these is no int of 64 bits. */
Py_ssize_t readIntegers(PyObject *items, int64_t *numbers, Py_ssize_t most);

/* What the settings were. */
typedef struct Settings {
  PyObject *values[QUICK_SETTINGS]; /* NULL: none in the object itself */
  char *texts[QUICK_SETTINGS];
} Settings;
void noteSettings(Settings *settings);
void clearSettings(Settings *settings);
bool settingsHold(const Settings *settings);

/* Whether nothing is hooked into launches, and this is Triton's driver. */
bool isOrdinary(PyObject *functionNames);
bool hooksAreIdle(void);

/* How an argument is compared: these bits of its class, or its value. */
enum { RULE_VALUE = 255 };

typedef struct Entry {
  PyObject_HEAD Py_ssize_t positional, count;
  Fact facts[QUICK_ARGUMENTS];
  unsigned char rules[QUICK_ARGUMENTS];
  DescriptorFact *descriptors;
  PyObject *keywords; /* a tuple of names */
  PyObject *held;     /* a tuple of what facts point to */
  /* By parameter of the kernel: the argument, or the default. */
  Py_ssize_t parameterCount;
  Py_ssize_t sources[QUICK_ARGUMENTS]; /* -1: the default */
  Fact defaults[QUICK_ARGUMENTS];
  PyObject *parameterNames, *defaultValues;
  PyObject *key; /* in Triton's cache of kernels */
  PyObject *launcher;
  Plan *plan;
  Settings settings;
  PyObject *debug;
  PyObject *usedGlobals; /* Triton's dictionary, and its size */
  Py_ssize_t globalCount;
  PyObject *globals; /* (names, name, object, its value or None) of each */
} Entry;

/* The entries of a function. Their number and order do not change: a launch
 * that is recorded makes a new table. */
typedef struct Table {
  PyObject_HEAD Py_ssize_t count;
  Entry *entries[QUICK_ENTRIES];
  atomic_int fruitless;
  atomic_int latest;
} Table;
extern PyTypeObject *tableType;
bool makeEntryTypes(void);

/* A new entry that is not complete; NULL with an exception set. */
Entry *newEntry(const Call *call, const Facts *facts);
/* Completes it with what describe() of quick.py returned; false if it cannot be
 * used, maybe with an exception set. */
bool completeEntry(Entry *entry, PyObject *description);
bool entryMatches(const Entry *entry, const Call *call, const Facts *facts);
Entry *findEntry(Table *table, const Call *call, const Facts *facts);
/* Puts a table with one more entry in the place of this one, which may be NULL,
 * as the entry may be; false with an exception set. */
bool addEntry(PyObject *functionNames, Table *table, Entry *entry);

/* Whether globals and `debug` of the function are what they were. */
bool functionIsUnchanged(const Entry *entry, PyObject *functionNames);
/* The kernel that Triton would find, held; NULL if it is another one than the
 * entry's. */
PyObject *kernelOf(const Entry *entry, PyObject *functionNames);
bool fillSlots(const Entry *entry, const Facts *facts, uint64_t *slots);

/* The methods. */
PyObject *quickRun(PyObject *self, PyObject *const *values, Py_ssize_t count,
                   PyObject *keywordNames);
PyObject *quickItem(PyObject *self, PyObject *grid);
PyObject *quickConstant(PyObject *self, PyObject *const *values,
                        Py_ssize_t count, PyObject *keywordNames);

/* For the module: set_up_quick_launches(), learn_tensors(), quick_launches(). */
PyObject *setUpQuickLaunches(PyObject *module, PyObject *arguments);
PyObject *learnTensors(PyObject *module, PyObject *arguments);
PyObject *countQuickLaunches(PyObject *module, PyObject *unused);

#endif
