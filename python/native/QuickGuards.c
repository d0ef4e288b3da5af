/*===- QuickGuards.c - what else decides how Triton launches ----------- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Quick.h"

#include <stdlib.h>
#include <string.h>

/* The value of a setting, held, and the text that the environment has for it.
 * Triton's libraries read the environment as it is here. */
static PyObject *currentSetting(const Setting *setting, const char **text) {
  *text = NULL;
  PyObject *group = lookUp(quick.knobs, setting->group), *value = NULL;
  if (group && !setting->variable) {
    value = PyObject_GetAttr(group, setting->name);
    PyErr_Clear();
  } else if (group) {
    PyObject *own = PyObject_GenericGetDict(group, NULL);
    value = own ? lookUp(own, setting->name) : NULL;
    Py_XDECREF(own);
    PyErr_Clear();
    *text = getenv(PyBytes_AsString(setting->variable));
  }
  Py_XDECREF(group);
  return value;
}

void noteSettings(Settings *settings) {
  for (Py_ssize_t i = 0; i < quick.settingCount; ++i) {
    const char *text;
    settings->values[i] = currentSetting(&quick.settings[i], &text);
    settings->texts[i] = text ? strdup(text) : NULL;
  }
}

void clearSettings(Settings *settings) {
  for (Py_ssize_t i = 0; i < quick.settingCount; ++i) {
    Py_CLEAR(settings->values[i]);
    free(settings->texts[i]);
    settings->texts[i] = NULL;
  }
}

bool settingsHold(const Settings *settings) {
  bool hold = true;
  for (Py_ssize_t i = 0; hold && i < quick.settingCount; ++i) {
    const char *text, *before = settings->texts[i];
    PyObject *value = currentSetting(&quick.settings[i], &text);
    hold = value == settings->values[i] &&
           (text ? before && strcmp(text, before) == 0 : !before);
    Py_XDECREF(value);
  }
  return hold;
}

static bool isIdle(PyObject *runtime, PyObject *name) {
  PyObject *hook = PyObject_GetAttr(runtime, name);
  bool idle = hook == Py_None;
  if (hook && Py_IS_TYPE(hook, quick.chainType)) {
    PyObject *calls = PyObject_GetAttr(hook, names.calls);
    idle = calls && PyList_CheckExact(calls) && PyList_Size(calls) == 0;
    Py_XDECREF(calls);
  }
  Py_XDECREF(hook);
  PyErr_Clear();
  return idle;
}

bool hooksAreIdle(void) {
  PyObject *runtime = lookUp(quick.knobs, quick.names.runtime);
  bool idle = runtime && isIdle(runtime, quick.names.enterHook) &&
              isIdle(runtime, quick.names.exitHook) &&
              isIdle(runtime, quick.names.addStages);
  Py_XDECREF(runtime);
  return idle;
}

bool isOrdinary(PyObject *functionNames) {
  PyObject *driver = lookUp(quick.driverState, quick.names.active);
  bool isOurs = driver && Py_IS_TYPE(driver, quick.driverType);
  Py_XDECREF(driver);
  if (!isOurs)
    return false;
  PyObject *hooks = lookUp(functionNames, quick.names.preRunHooks);
  bool isFree = hooks && PyList_CheckExact(hooks) && PyList_Size(hooks) == 0;
  Py_XDECREF(hooks);
  return isFree && hooksAreIdle();
}

/* A global that the kernel uses is the object it was; of a constexpr its value
 * counts, too. */
static bool globalHolds(PyObject *global) {
  PyObject *value =
      lookUp(PyTuple_GetItem(global, 0), PyTuple_GetItem(global, 1));
  bool holds = value == PyTuple_GetItem(global, 2);
  PyObject *inner = PyTuple_GetItem(global, 3);
  if (holds && inner != Py_None) {
    PyObject *now = PyObject_GetAttr(value, quick.names.value);
    holds = now == inner;
    Py_XDECREF(now);
    PyErr_Clear();
  }
  Py_XDECREF(value);
  return holds;
}

bool functionIsUnchanged(const Entry *entry, PyObject *functionNames) {
  PyObject *debug = lookUp(functionNames, quick.names.debug);
  PyObject *globals = lookUp(functionNames, quick.names.globals);
  bool isSame = debug == entry->debug && globals && entry->globals &&
                globals == entry->usedGlobals &&
                PyDict_Size(globals) == entry->globalCount;
  Py_XDECREF(debug);
  Py_XDECREF(globals);
  Py_ssize_t count = isSame ? PyTuple_Size(entry->globals) : 0;
  for (Py_ssize_t i = 0; isSame && i < count; ++i)
    isSame = globalHolds(PyTuple_GetItem(entry->globals, i));
  return isSame;
}

PyObject *kernelOf(const Entry *entry, PyObject *functionNames) {
  PyObject *devices = lookUp(functionNames, quick.names.deviceCaches);
  PyObject *caches = devices && PyDict_Check(devices)
                         ? lookUp(devices, quick.names.cpu)
                         : NULL;
  PyObject *kernels =
      caches && PyTuple_CheckExact(caches) && PyTuple_Size(caches)
          ? PyTuple_GetItem(caches, 0)
          : NULL;
  PyObject *kernel = kernels && PyDict_CheckExact(kernels)
                         ? lookUp(kernels, entry->key)
                         : NULL;
  Py_XDECREF(devices);
  Py_XDECREF(caches);
  if (kernel) {
    PyObject *launcher = Py_IS_TYPE(kernel, quick.compiledType)
                             ? PyObject_GetAttr(kernel, quick.names.launcher)
                             : NULL;
    if (launcher != entry->launcher)
      Py_CLEAR(kernel);
    Py_XDECREF(launcher);
    PyErr_Clear();
  }
  return kernel;
}
