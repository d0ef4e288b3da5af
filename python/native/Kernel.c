/*===- Kernel.c - kernels as Python objects ---------------------------- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Native.h"

PyObject *loadKernel(PyObject *module, PyObject *bytes) {
  (void)module;
  char *data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) < 0)
    return NULL;
  tilebridge_kernel *kernel = NULL;
  tilebridge_code code;
  Py_BEGIN_ALLOW_THREADS;
  code = runtime.load_bytes(data, (size_t)size, &kernel);
  Py_END_ALLOW_THREADS;
  if (code != TILEBRIDGE_OK)
    return raiseCode(code);
  Kernel *self = PyObject_New(Kernel, kernelType);
  if (self)
    self->kernel = kernel;
  else
    runtime.kernel_release(kernel);
  return (PyObject *)self;
}

static void deallocate(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  runtime.kernel_release(((Kernel *)object)->kernel);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyObject *getName(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(runtime.kernel_name(((Kernel *)self)->kernel));
}

static PyObject *getManifest(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(
      runtime.kernel_manifest(((Kernel *)self)->kernel));
}

static PyObject *getSlotCount(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromSize_t(runtime.kernel_slot_count(((Kernel *)self)->kernel));
}

static PyObject *represent(PyObject *self) {
  return PyUnicode_FromFormat("<tilebridge kernel '%s'>",
                              runtime.kernel_name(((Kernel *)self)->kernel));
}

static PyGetSetDef properties[] = {
    {"name", getName, NULL, "The kernel's name.", NULL},
    {"manifest", getManifest, NULL, "JSON: name, signature, target, ...", NULL},
    {"slot_count", getSlotCount, NULL, "How many 64-bit slots a launch takes.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyObject *makeKernelType(void) {
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, (void *)deallocate},
      {Py_tp_getset, properties},
      {Py_tp_repr, (void *)represent},
      {Py_tp_doc, (void *)"A compiled kernel that is loaded. Made by load()."},
      {0, NULL}};
  static PyType_Spec spec = {
      "tilebridge._launcher.Kernel", sizeof(Kernel), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return PyType_FromSpec(&spec);
}
