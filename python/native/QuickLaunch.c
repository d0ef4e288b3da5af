/*===- QuickLaunch.c - stands in for methods of Triton's JITFunction --- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Quick.h"

/* Launches that were done here, for tests. Threads may lose one of another. */
static atomic_size_t launchCount;

PyObject *countQuickLaunches(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyLong_FromSize_t(atomic_load(&launchCount));
}

/* A launch by Triton's own `run`. */
static PyObject *launchSlowly(const Call *call) {
  PyObject *arguments = PyTuple_New(call->positional + 1);
  PyObject *keywords = PyDict_New();
  bool isGood = arguments && keywords &&
                PyDict_SetItem(keywords, quick.names.grid, call->grid) == 0 &&
                PyDict_SetItem(keywords, quick.names.warmup, Py_False) == 0;
  if (isGood) {
    Py_INCREF(call->function);
    PyTuple_SetItem(arguments, 0, call->function);
  }
  for (Py_ssize_t i = 0; isGood && i < call->positional; ++i) {
    Py_INCREF(call->values[i]);
    PyTuple_SetItem(arguments, i + 1, call->values[i]);
  }
  for (Py_ssize_t i = call->positional; isGood && i < call->count; ++i)
    isGood = PyDict_SetItem(keywords, call->names[i], call->values[i]) == 0;
  PyObject *kernel =
      isGood ? PyObject_Call(quick.tritonRun, arguments, keywords) : NULL;
  Py_XDECREF(arguments);
  Py_XDECREF(keywords);
  return kernel;
}

/* Triton's launch, which is recorded for later ones. */
static PyObject *launchAndRecord(const Call *call, const Facts *facts,
                                 PyObject *functionNames, Table *table) {
  Entry *entry = facts ? newEntry(call, facts) : NULL;
  PyErr_Clear();
  PyObject *kernel = launchSlowly(call);
  if (kernel) {
    PyObject *description =
        entry ? PyObject_CallFunction(quick.describe, "OnOO", call->function,
                                      call->positional, entry->keywords, kernel)
              : NULL;
    bool isComplete = description && completeEntry(entry, description);
    PyErr_Clear();
    Py_XDECREF(description);
    if (!addEntry(functionNames, table, isComplete ? entry : NULL))
      PyErr_Clear();
  }
  Py_XDECREF(entry);
  return kernel;
}

/* The numbers of a grid that holds nothing but integers. */
static bool readPlainGrid(PyObject *grid, int64_t *numbers) {
  if (!PyTuple_CheckExact(grid) && !PyList_CheckExact(grid))
    return false;
  for (int i = 0; i < 3; ++i)
    numbers[i] = 1;
  return readIntegers(grid, numbers, 3) > 0;
}

static PyObject *valueOf(const Entry *entry, const Call *call, Py_ssize_t i) {
  Py_ssize_t source = entry->sources[i];
  return source < 0 ? PyTuple_GetItem(entry->defaultValues, i)
                    : call->values[source];
}

static PyObject *bind(const Entry *entry, const Call *call) {
  PyObject *bound = PyDict_New();
  for (Py_ssize_t i = 0; bound && i < entry->parameterCount; ++i)
    if (PyDict_SetItem(bound, PyTuple_GetItem(entry->parameterNames, i),
                       valueOf(entry, call, i)) != 0)
      Py_CLEAR(bound);
  return bound;
}

/* The function that makes a grid may write to what it is given: Triton launches
 * with that. */
static bool isStillBound(const Entry *entry, const Call *call,
                         PyObject *bound) {
  Py_ssize_t at = 0, i = 0;
  PyObject *value;
  bool isSame = PyDict_Size(bound) == entry->parameterCount;
  while (isSame && PyDict_Next(bound, &at, NULL, &value))
    isSame = value == valueOf(entry, call, i++);
  return isSame;
}

/* Launches with a function as the grid, which is called once. */
static PyObject *launchWithFunction(const Entry *entry, const Call *call,
                                    PyObject *kernel, Kernel *loaded,
                                    const uint64_t *slots) {
  PyObject *bound = bind(entry, call);
  PyObject *grid =
      bound ? PyObject_CallFunctionObjArgs(call->grid, bound, NULL) : NULL;
  int64_t numbers[3];
  PyObject *result = NULL;
  if (grid && readPlainGrid(grid, numbers) && hooksAreIdle() &&
      isStillBound(entry, call, bound)) {
    if (launchKernel(entry->launcher, loaded, numbers, slots))
      Py_INCREF(result = kernel);
  } else if (grid) {
    result =
        PyObject_CallFunctionObjArgs(quick.finish, kernel, grid, bound, NULL);
  }
  Py_XDECREF(grid);
  Py_XDECREF(bound);
  return result;
}

/* Launches what an entry says. False: nothing was done, it is left to Triton.
 * Else `result` is the kernel, or NULL with an exception set. */
static bool launchEntry(const Entry *entry, const Call *call,
                        const Facts *facts, PyObject *functionNames,
                        PyObject **result) {
  int64_t grid[3];
  uint64_t slots[QUICK_SLOTS];
  bool isPlain = readPlainGrid(call->grid, grid);
  if (!isPlain && !PyCallable_Check(call->grid))
    return false;
  if (!settingsHold(&entry->settings) ||
      !functionIsUnchanged(entry, functionNames) ||
      !fillSlots(entry, facts, slots))
    return false;
  PyObject *kernel = kernelOf(entry, functionNames);
  if (!kernel)
    return false;
  PyObject *loaded = PyObject_GetAttr(kernel, quick.names.function);
  PyErr_Clear();
  bool isOurs = loaded && Py_IS_TYPE(loaded, kernelType);
  if (isOurs) {
    size_t count = atomic_load_explicit(&launchCount, memory_order_relaxed);
    atomic_store_explicit(&launchCount, count + 1, memory_order_relaxed);
    *result = NULL;
    if (!isPlain)
      *result =
          launchWithFunction(entry, call, kernel, (Kernel *)loaded, slots);
    else if (launchKernel(entry->launcher, (Kernel *)loaded, grid, slots))
      Py_INCREF(*result = kernel);
  }
  Py_XDECREF(loaded);
  Py_DECREF(kernel);
  return isOurs;
}

static PyObject *launchFound(const Call *call, PyObject *functionNames,
                             Table *table) {
  if ((table && atomic_load_explicit(&table->fruitless, memory_order_relaxed) >=
                    QUICK_PATIENCE) ||
      !isOrdinary(functionNames))
    return launchSlowly(call);
  Facts facts;
  if (!readFacts(call, &facts))
    return launchAndRecord(call, NULL, functionNames, table);
  Entry *entry = findEntry(table, call, &facts);
  PyObject *result;
  if (!entry || !launchEntry(entry, call, &facts, functionNames, &result))
    return launchAndRecord(call, &facts, functionNames, table);
  if (atomic_load_explicit(&table->fruitless, memory_order_relaxed))
    atomic_store_explicit(&table->fruitless, 0, memory_order_relaxed);
  return result;
}

static PyObject *launch(const Call *call) {
  PyObject *functionNames = PyObject_GenericGetDict(call->function, NULL);
  if (!functionNames)
    return NULL;
  PyObject *table = lookUp(functionNames, quick.names.launches);
  if (table && !Py_IS_TYPE(table, tableType))
    Py_CLEAR(table);
  PyObject *result = launchFound(call, functionNames, (Table *)table);
  Py_XDECREF(table);
  Py_DECREF(functionNames);
  return result;
}

/* Calls anything with values and names as an interpreter gives them. */
static PyObject *forward(PyObject *callable, PyObject *self,
                         PyObject *const *values, Py_ssize_t count,
                         PyObject *keywordNames) {
  Py_ssize_t shift = self ? 1 : 0;
  PyObject *arguments = PyTuple_New(count + shift);
  PyObject *keywords = keywordNames ? PyDict_New() : NULL;
  bool isGood = arguments && (keywords || !keywordNames);
  for (Py_ssize_t i = 0; isGood && i < count + shift; ++i) {
    PyObject *value = i < shift ? self : values[i - shift];
    Py_INCREF(value);
    PyTuple_SetItem(arguments, i, value);
  }
  Py_ssize_t named = keywordNames ? PyTuple_Size(keywordNames) : 0;
  for (Py_ssize_t i = 0; isGood && i < named; ++i)
    isGood = PyDict_SetItem(keywords, PyTuple_GetItem(keywordNames, i),
                            values[count + i]) == 0;
  PyObject *result =
      isGood ? PyObject_Call(callable, arguments, keywords) : NULL;
  Py_XDECREF(arguments);
  Py_XDECREF(keywords);
  return result;
}

/* A @triton.constexpr_function called with integers, as grids do with
 * triton.cdiv: Triton's way looks for constexprs among them, in Python, and
 * then calls the function as here. */
PyObject *quickConstant(PyObject *self, PyObject *const *values,
                        Py_ssize_t count, PyObject *keywordNames) {
  bool isPlain = !keywordNames && Py_IS_TYPE(self, quick.constantType);
  for (Py_ssize_t i = 0; isPlain && i < count; ++i)
    isPlain = Py_IS_TYPE(values[i], &PyLong_Type);
  if (!isPlain)
    return forward(quick.tritonConstant, self, values, count, keywordNames);
  PyObject *function = PyObject_GetAttr(self, quick.names.body);
  PyObject *result =
      function ? forward(function, NULL, values, count, NULL) : NULL;
  Py_XDECREF(function);
  return result;
}

/* `function.run(*values, grid=grid, warmup=False, **options)`. Where these two
 * names are others than the interpreter's own copies, Triton finds them. */
PyObject *quickRun(PyObject *self, PyObject *const *values, Py_ssize_t count,
                   PyObject *keywordNames) {
  Py_ssize_t named = keywordNames ? PyTuple_Size(keywordNames) : 0;
  Call call = {.function = self, .positional = count, .count = count};
  PyObject *own[QUICK_ARGUMENTS], *warmup = NULL;
  if (!Py_IS_TYPE(self, quick.functionType) || count + named > QUICK_ARGUMENTS)
    return forward(quick.tritonRun, self, values, count, keywordNames);
  for (Py_ssize_t i = 0; i < count; ++i)
    own[i] = values[i];
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject *name = PyTuple_GetItem(keywordNames, i);
    PyObject *value = values[count + i];
    if (name == quick.names.grid) {
      call.grid = value;
    } else if (name == quick.names.warmup) {
      warmup = value;
    } else {
      call.names[call.count] = name;
      own[call.count++] = value;
    }
  }
  call.values = own;
  if (!call.grid || warmup != Py_False)
    return forward(quick.tritonRun, self, values, count, keywordNames);
  return launch(&call);
}

/* Whether `run` is ours yet, for the class and for the function. */
static bool isRunOurs(PyObject *function) {
  PyObject *ofClass =
      PyObject_GetAttr((PyObject *)quick.functionType, quick.names.run);
  bool isOurs = ofClass == quick.ownRun;
  Py_XDECREF(ofClass);
  PyObject *own = isOurs ? PyObject_GenericGetDict(function, NULL) : NULL;
  PyObject *other = own ? lookUp(own, quick.names.run) : NULL;
  PyErr_Clear();
  isOurs = own && !other;
  Py_XDECREF(own);
  Py_XDECREF(other);
  return isOurs;
}

/* What `function[grid]` is: called with the arguments. `self` is the pair. */
static PyObject *callBound(PyObject *self, PyObject *const *values,
                           Py_ssize_t count, PyObject *keywordNames) {
  Call call = {.function = PyTuple_GetItem(self, 0),
               .grid = PyTuple_GetItem(self, 1),
               .values = values,
               .positional = count,
               .count = count};
  Py_ssize_t named = keywordNames ? PyTuple_Size(keywordNames) : 0;
  bool isUsual = count + named <= QUICK_ARGUMENTS && isRunOurs(call.function);
  for (Py_ssize_t i = 0; isUsual && i < named; ++i) {
    PyObject *name = PyTuple_GetItem(keywordNames, i);
    call.names[call.count++] = name;
    isUsual = name != quick.names.grid && name != quick.names.warmup;
  }
  if (isUsual)
    return launch(&call);
  PyObject *bound = PyObject_CallFunctionObjArgs(
      quick.tritonItem, call.function, call.grid, NULL);
  PyObject *result =
      bound ? forward(bound, NULL, values, count, keywordNames) : NULL;
  Py_XDECREF(bound);
  return result;
}

/* `function[grid]` */
PyObject *quickItem(PyObject *self, PyObject *grid) {
  static PyMethodDef bound = {"launch", (PyCFunction)(void (*)(void))callBound,
                              METH_FASTCALL | METH_KEYWORDS,
                              "Launches the kernel on the grid."};
  if (!Py_IS_TYPE(self, quick.functionType))
    return PyObject_CallFunctionObjArgs(quick.tritonItem, self, grid, NULL);
  PyObject *pair = PyTuple_Pack(2, self, grid);
  PyObject *result = pair ? PyCFunction_NewEx(&bound, pair, NULL) : NULL;
  Py_XDECREF(pair);
  return result;
}
