/*===- QuickSetUp.c - what Quick*.c need of Triton and PyTorch --------- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Quick.h"

Quick quick;

static bool makeNames(void) {
  struct {
    PyObject **name;
    const char *text;
  } all[] = {{&quick.names.launches, "_tilebridge_launches"},
             {&quick.names.active, "_active"},
             {&quick.names.addStages, "add_stages_inspection_hook"},
             {&quick.names.blockShape, "block_shape"},
             {&quick.names.body, "fn"},
             {&quick.names.cpu, "cpu"},
             {&quick.names.debug, "debug"},
             {&quick.names.deviceCaches, "device_caches"},
             {&quick.names.enterHook, "launch_enter_hook"},
             {&quick.names.exitHook, "launch_exit_hook"},
             {&quick.names.function, "function"},
             {&quick.names.globals, "used_global_vals"},
             {&quick.names.grid, "grid"},
             {&quick.names.launcher, "_run"},
             {&quick.names.preRunHooks, "pre_run_hooks"},
             {&quick.names.rounds, "round_f32_to_tf32"},
             {&quick.names.run, "run"},
             {&quick.names.runtime, "runtime"},
             {&quick.names.value, "value"},
             {&quick.names.warmup, "warmup"},
             {&quick.names.zero, "zero"}};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i)
    if (!(*all[i].name = PyUnicode_InternFromString(all[i].text)))
      return false;
  return true;
}

static bool readSettings(PyObject *settings) {
  quick.settingCount = PyTuple_Size(settings);
  bool isGood = quick.settingCount <= QUICK_SETTINGS;
  for (Py_ssize_t i = 0; isGood && i < quick.settingCount; ++i) {
    Setting *setting = &quick.settings[i];
    isGood =
        PyArg_ParseTuple(PyTuple_GetItem(settings, i), "UUO", &setting->group,
                         &setting->name, &setting->variable);
    if (isGood && setting->variable == Py_None)
      setting->variable = NULL;
    Py_XINCREF(setting->group);
    Py_XINCREF(setting->name);
    Py_XINCREF(setting->variable);
  }
  return isGood;
}

/* Makes the methods that quick.py puts into the classes. */
static PyObject *makeMethods(void) {
  static PyMethodDef run = {"run", (PyCFunction)(void (*)(void))quickRun,
                            METH_FASTCALL | METH_KEYWORDS,
                            "run(*arguments, grid, warmup, **options)"};
  static PyMethodDef item = {"__getitem__", quickItem, METH_O,
                             "function[grid](*arguments) launches."};
  static PyMethodDef constant = {
      "__call__", (PyCFunction)(void (*)(void))quickConstant,
      METH_FASTCALL | METH_KEYWORDS, "Calls the function."};
  quick.ownRun = PyDescr_NewMethod(quick.functionType, &run);
  PyObject *ownItem = PyDescr_NewMethod(quick.functionType, &item);
  PyObject *ownCall = PyDescr_NewMethod(quick.constantType, &constant);
  PyObject *methods = quick.ownRun && ownItem && ownCall
                          ? PyTuple_Pack(3, quick.ownRun, ownItem, ownCall)
                          : NULL;
  Py_XDECREF(ownItem);
  Py_XDECREF(ownCall);
  return methods;
}

PyObject *setUpQuickLaunches(PyObject *module, PyObject *arguments) {
  (void)module;
  PyObject *settings;
  if (!PyArg_ParseTuple(
          arguments, "O!O!O!O!O!O!O!OOOO!O!OOO!:set_up_quick_launches",
          &PyType_Type, &quick.functionType, &PyType_Type, &quick.compiledType,
          &PyType_Type, &quick.descriptorType, &PyType_Type, &quick.dtypeType,
          &PyType_Type, &quick.driverType, &PyType_Type, &quick.chainType,
          &PyType_Type, &quick.constantType, &quick.tritonRun,
          &quick.tritonItem, &quick.tritonConstant, &PyDict_Type, &quick.knobs,
          &PyDict_Type, &quick.driverState, &quick.describe, &quick.finish,
          &PyTuple_Type, &settings) ||
      !makeNames() || !makeEntryTypes() || !readSettings(settings))
    return NULL;
  /* They stay for good, as the methods do. */
  Py_INCREF(arguments);
  return makeMethods();
}

/* The start of what PyTorch offers to other libraries: the function is the
 * fourth. */
typedef struct Exchange {
  uint32_t major, minor;
  void *previous;
  void *managed[3];
  int (*view)(void *tensor, void *view);
} Exchange;

PyObject *learnTensors(PyObject *module, PyObject *arguments) {
  (void)module;
  PyTypeObject *tensor, *parameter;
  PyObject *capsule;
  if (!PyArg_ParseTuple(arguments, "O!O!O:learn_tensors", &PyType_Type, &tensor,
                        &PyType_Type, &parameter, &capsule))
    return NULL;
  if (PyCapsule_IsValid(capsule, "dlpack_exchange_api")) {
    const Exchange *exchange =
        PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    if (exchange->major == 1)
      quick.exchange = exchange->view;
  }
  Py_INCREF(arguments);
  atomic_store(&quick.parameterType, parameter);
  atomic_store(&quick.tensorType, tensor);
  Py_RETURN_NONE;
}
