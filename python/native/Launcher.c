/*===- Launcher.c - the object that Triton calls ----------------------- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Native.h"

#include <string.h>

typedef struct Launcher {
  PyObject_HEAD Plan plan;
  uint32_t flags;
} Launcher;

/* Triton calls a launcher with these and then the kernel's arguments. */
enum {
  GRID_X,
  GRID_Y,
  GRID_Z,
  STREAM,
  FUNCTION,
  PACKED_METADATA,
  LAUNCH_METADATA,
  ENTER_HOOK,
  EXIT_HOOK,
  FIRST
};

/* sys.stdout, held for the caller (PySys_GetObject only lends it, and another
 * thread may replace it); NULL if there is none. */
static PyObject *standardOutput(void) {
  PyObject *sys = PyImport_ImportModule("sys");
  PyObject *out = sys ? PyObject_GetAttrString(sys, "stdout") : NULL;
  Py_XDECREF(sys);
  PyErr_Clear();
  if (out == Py_None)
    Py_CLEAR(out);
  return out;
}

/* Prints through Python's sys.stdout, in order with what Python prints itself,
 * wherever that goes. Any thread of the launch may call it. */
static void printLine(void *state, const char *text) {
  PyGILState_STATE lock = PyGILState_Ensure();
  atomic_store((atomic_bool *)state, true);
  PyObject *out = standardOutput();
  if (out) {
    PyObject *line =
        PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *done =
        line ? PyObject_CallMethodObjArgs(out, names.write, line, NULL) : NULL;
    if (!done)
      PyErr_WriteUnraisable(out);
    Py_XDECREF(done);
    Py_XDECREF(line);
    Py_DECREF(out);
  }
  PyGILState_Release(lock);
}

/* What was printed is there even if the process ends in the next launch. */
static void flushOutput(void) {
  PyObject *out = standardOutput();
  if (!out)
    return;
  PyObject *done = PyObject_CallMethod(out, "flush", NULL);
  if (!done)
    PyErr_WriteUnraisable(out);
  Py_XDECREF(done);
  Py_DECREF(out);
}

static bool readGrid(const Plan *plan, PyObject *arguments, int64_t *grid) {
  for (int i = 0; i < 3; ++i) {
    PyObject *value = PyTuple_GetItem(arguments, GRID_X + i);
    PyObject *whole = PyNumber_Index(value);
    if (!whole) {
      PyErr_Clear();
      PyErr_Format(PyExc_TypeError,
                   "kernel '%U': the grid's dimension %c must be an integer; "
                   "given was %R",
                   plan->kernelName, "xyz"[i], value);
      return false;
    }
    int overflow = 0;
    grid[i] = PyLong_AsLongLongAndOverflow(whole, &overflow);
    Py_DECREF(whole);
    if (overflow)
      grid[i] = overflow > 0 ? INT64_MAX : INT64_MIN;
  }
  return true;
}

/* Triton's hooks are None, a callable, or a chain of callables that mostly is
 * empty. */
static bool callHook(PyObject *hook, PyObject *launchMetadata) {
  if (hook == Py_None)
    return true;
  PyObject *calls = PyObject_GetAttr(hook, names.calls);
  if (!calls)
    PyErr_Clear();
  bool isEmpty = calls && PyList_Check(calls) && PyList_Size(calls) == 0;
  Py_XDECREF(calls);
  if (isEmpty)
    return true;
  PyObject *result = PyObject_CallFunctionObjArgs(hook, launchMetadata, NULL);
  Py_XDECREF(result);
  return result != NULL;
}

Plan *planOf(PyObject *launcher) { return &((Launcher *)launcher)->plan; }

bool launchKernel(PyObject *launcher, Kernel *kernel, const int64_t *grid,
                  const uint64_t *slots) {
  const Launcher *self = (const Launcher *)launcher;
  atomic_bool hasPrinted = false;
  tilebridge_launch_options options = {.struct_size = sizeof(options),
                                       .flags = self->flags,
                                       .print = printLine,
                                       .print_state = &hasPrinted};
  tilebridge_code code;
  Py_BEGIN_ALLOW_THREADS;
  code = runtime.launch(kernel->kernel, grid[0], grid[1], grid[2], slots,
                        (size_t)self->plan.slotCount, &options);
  Py_END_ALLOW_THREADS;
  if (atomic_load(&hasPrinted))
    flushOutput();
  if (code != TILEBRIDGE_OK)
    raiseCode(code);
  return code == TILEBRIDGE_OK;
}

static PyObject *call(PyObject *object, PyObject *arguments,
                      PyObject *keywords) {
  Launcher *self = (Launcher *)object;
  if (PyTuple_Size(arguments) < FIRST || keywords) {
    PyErr_SetString(PyExc_TypeError,
                    "a launcher takes the grid, stream, function, two "
                    "metadata, two hooks and then "
                    "the kernel's arguments, all by position");
    return NULL;
  }
  PyObject *function = PyTuple_GetItem(arguments, FUNCTION);
  if (!Py_IS_TYPE(function, kernelType)) {
    PyErr_Format(PyExc_TypeError,
                 "the function must be a kernel that Tilebridge loaded, not %R",
                 function);
    return NULL;
  }
  int64_t grid[3];
  enum { USUAL = 256 };
  uint64_t local[USUAL], *slots = local;
  if (self->plan.slotCount > USUAL &&
      !(slots = PyMem_Malloc((size_t)self->plan.slotCount * sizeof(*slots))))
    return PyErr_NoMemory();
  PyObject *metadata = PyTuple_GetItem(arguments, LAUNCH_METADATA);
  bool isDone = readGrid(&self->plan, arguments, grid) &&
                convertArguments(&self->plan, arguments, FIRST, slots) &&
                callHook(PyTuple_GetItem(arguments, ENTER_HOOK), metadata) &&
                launchKernel(object, (Kernel *)function, grid, slots) &&
                callHook(PyTuple_GetItem(arguments, EXIT_HOOK), metadata);
  if (slots != local)
    PyMem_Free(slots);
  if (!isDone)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *construct(PyTypeObject *type, PyObject *arguments,
                           PyObject *keywords) {
  static char *keywordNames[] = {"name", "argument_names", "types",
                                 "cooperative", NULL};
  PyObject *name, *argumentNames, *types;
  int isCooperative = 0;
  if (!PyArg_ParseTupleAndKeywords(
          arguments, keywords, "UO!O!|p:Launcher", keywordNames, &name,
          &PyTuple_Type, &argumentNames, &PyTuple_Type, &types, &isCooperative))
    return NULL;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Launcher *self = (Launcher *)allocate(type, 0);
  if (!self)
    return NULL;
  self->flags = isCooperative ? TILEBRIDGE_LAUNCH_COOPERATIVE : 0;
  if (!readPlan(&self->plan, name, argumentNames, types)) {
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject *)self;
}

static void deallocate(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  clearPlan(&((Launcher *)object)->plan);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

static PyObject *getSlotCount(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromSsize_t(((Launcher *)self)->plan.slotCount);
}

/* For tests: the bits that a kernel would get. */
static PyObject *slotsOf(PyObject *object, PyObject *arguments) {
  Launcher *self = (Launcher *)object;
  PyObject *bytes = PyBytes_FromStringAndSize(
      NULL, self->plan.slotCount * (Py_ssize_t)sizeof(uint64_t));
  if (!bytes || !convertArguments(&self->plan, arguments, 0,
                                  (uint64_t *)(void *)PyBytes_AsString(bytes)))
    Py_CLEAR(bytes);
  return bytes;
}

static PyGetSetDef properties[] = {
    {"slot_count", getSlotCount, NULL, "How many 64-bit slots it fills.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {{"slots", slotsOf, METH_VARARGS,
                                 "slots(*arguments) -> bytes: their slots."},
                                {NULL, NULL, 0, NULL}};

PyObject *makeLauncherType(void) {
  static PyType_Slot slots[] = {
      {Py_tp_new, (void *)construct},
      {Py_tp_call, (void *)call},
      {Py_tp_dealloc, (void *)deallocate},
      {Py_tp_getset, properties},
      {Py_tp_methods, methods},
      {Py_tp_doc,
       (void *)"Launcher(name, argument_names, types, cooperative=False): "
               "converts arguments of these types "
               "(as Triton writes them; tuples nest) and launches."},
      {0, NULL}};
  static PyType_Spec spec = {"tilebridge._launcher.Launcher", sizeof(Launcher),
                             0, Py_TPFLAGS_DEFAULT, slots};
  return PyType_FromSpec(&spec);
}
