/*===- Module.c - the extension module and the runtime it loads ------- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Quick.h"

#include <dlfcn.h>

Runtime runtime;
Names names;
PyTypeObject *kernelType, *launcherType;

/* Exception classes by code, from tilebridge.errors. */
static PyObject *errorClasses;

PyObject *raiseCode(tilebridge_code code) {
  PyObject *key = PyLong_FromLong((long)code);
  PyObject *class = key ? PyDict_GetItemWithError(errorClasses, key) : NULL;
  Py_XDECREF(key);
  if (!PyErr_Occurred()) {
    PyObject *text = PyUnicode_DecodeUTF8(
        runtime.last_error(), (Py_ssize_t)strlen(runtime.last_error()),
        "replace");
    if (text)
      PyErr_SetObject(class ? class : PyExc_RuntimeError, text);
    Py_XDECREF(text);
  }
  return NULL;
}

static bool findSymbol(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  if (!symbol)
    PyErr_Format(
        PyExc_ImportError,
        "the runtime library has no %s: it is of another version of Tilebridge",
        name);
  *(void **)function = symbol;
  return symbol != NULL;
}

static bool findSymbols(void *library) {
  return findSymbol(library, "tilebridge_last_error", &runtime.last_error) &&
         findSymbol(library, "tilebridge_describe_threads",
                    &runtime.describe_threads) &&
         findSymbol(library, "tilebridge_compiler_id", &runtime.compiler_id) &&
         findSymbol(library, "tilebridge_compile", &runtime.compile) &&
         findSymbol(library, "tilebridge_buffer_free", &runtime.buffer_free) &&
         findSymbol(library, "tilebridge_load_bytes", &runtime.load_bytes) &&
         findSymbol(library, "tilebridge_kernel_release",
                    &runtime.kernel_release) &&
         findSymbol(library, "tilebridge_kernel_name", &runtime.kernel_name) &&
         findSymbol(library, "tilebridge_kernel_manifest",
                    &runtime.kernel_manifest) &&
         findSymbol(library, "tilebridge_kernel_slot_count",
                    &runtime.kernel_slot_count) &&
         findSymbol(library, "tilebridge_launch", &runtime.launch) &&
         findSymbol(library, "tilebridge_report_faults",
                    &runtime.report_faults);
}

static PyObject *initialize(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *path;
  PyObject *classes;
  if (!PyArg_ParseTuple(arguments, "sO!:initialize", &path, &PyDict_Type,
                        &classes))
    return NULL;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    PyErr_Format(PyExc_ImportError, "the runtime library cannot be loaded: %s",
                 dlerror());
    return NULL;
  }
  __typeof__(&tilebridge_api_version) version;
  if (!findSymbol(library, "tilebridge_api_version", &version) ||
      !findSymbols(library))
    return NULL;
  if (version() < TILEBRIDGE_API_VERSION) {
    PyErr_Format(PyExc_ImportError,
                 "%s has version %u of the interface, needed is %u", path,
                 version(), TILEBRIDGE_API_VERSION);
    return NULL;
  }
  Py_INCREF(classes);
  Py_XDECREF(errorClasses);
  errorClasses = classes;
  const char *wish = getenv("TILEBRIDGE_REPORT_FAULTS");
  if (!wish || strcmp(wish, "0") != 0)
    runtime.report_faults();
  Py_RETURN_NONE;
}

static PyObject *compilerId(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyUnicode_FromString(runtime.compiler_id());
}

static PyObject *describeThreads(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return PyUnicode_FromString(runtime.describe_threads());
}

static PyMethodDef methods[] = {
    {"initialize", initialize, METH_VARARGS,
     "initialize(path, errors): opens the runtime library; errors maps codes "
     "to exception classes. Comes first."},
    {"compile", (PyCFunction)(void (*)(void))compileKernel,
     METH_VARARGS | METH_KEYWORDS,
     "compile(ttir, target='cpu', stage='so', source_name=None, "
     "print_after=None, flags=0) -> (bytes, log text)"},
    {"load", loadKernel, METH_O, "load(artefact: bytes) -> Kernel"},
    {"compiler_id", compilerId, METH_NOARGS,
     "Names the compiler, its LLVM and this CPU."},
    {"describe_threads", describeThreads, METH_NOARGS,
     "What the next launch of this thread runs on."},
    {"set_up_quick_launches", setUpQuickLaunches, METH_VARARGS,
     "Returns methods for Triton's classes; see quick.py."},
    {"learn_tensors", learnTensors, METH_VARARGS,
     "learn_tensors(Tensor, Parameter, exchange): PyTorch's, once it is "
     "there."},
    {"quick_launches", countQuickLaunches, METH_NOARGS,
     "How many launches were done without Triton's JIT."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_launcher",
    "The runtime's C interface, and the quick way to launch.",
    -1,
    methods,
    NULL,
    NULL,
    NULL,
    NULL};

static bool makeNames(void) {
  struct {
    PyObject **name;
    const char *text;
  } all[] = {{&names.base, "base"},         {&names.calls, "calls"},
             {&names.data_ptr, "data_ptr"}, {&names.device, "device"},
             {&names.dtype, "dtype"},       {&names.is_cpu, "is_cpu"},
             {&names.type, "type"},         {&names.padding, "padding"},
             {&names.shape, "shape"},       {&names.strides, "strides"},
             {&names.write, "write"},       {&names.cuda, "cuda"},
             {&names.is_cuda, "is_cuda"}};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i)
    if (!(*all[i].name = PyUnicode_InternFromString(all[i].text)))
      return false;
  return true;
}

static bool addType(PyObject *module, const char *name, PyObject *type) {
  return type && PyModule_AddObjectRef(module, name, type) == 0;
}

PyMODINIT_FUNC PyInit__launcher(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module || !makeNames())
    goto failed;
#ifdef Py_GIL_DISABLED
  PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
  kernelType = (PyTypeObject *)makeKernelType();
  launcherType = (PyTypeObject *)makeLauncherType();
  if (!addType(module, "Kernel", (PyObject *)kernelType) ||
      !addType(module, "Launcher", (PyObject *)launcherType))
    goto failed;
  return module;
failed:
  Py_XDECREF(module);
  return NULL;
}
