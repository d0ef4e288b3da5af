/*===- QuickEntry.c - launches that are remembered --------------------- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Quick.h"

#include <string.h>

PyTypeObject *tableType;
static PyTypeObject *entryType;

static PyObject *allocate(PyTypeObject *type) {
  return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

static void release(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

Entry *newEntry(const Call *call, const Facts *facts) {
  Entry *entry = (Entry *)allocate(entryType);
  if (!entry)
    return NULL;
  entry->positional = call->positional;
  entry->count = call->count;
  memcpy(entry->facts, facts->of, (size_t)call->count * sizeof(Fact));
  size_t size = (size_t)facts->descriptorCount * sizeof(DescriptorFact);
  entry->keywords = PyTuple_New(call->count - call->positional);
  entry->held = PyTuple_New(call->count);
  entry->descriptors = PyMem_Malloc(size + 1);
  if (!entry->keywords || !entry->held || !entry->descriptors) {
    Py_DECREF(entry);
    return (Entry *)PyErr_NoMemory();
  }
  memcpy(entry->descriptors, facts->descriptors, size);
  for (Py_ssize_t i = 0; i < call->count; ++i) {
    bool isObject =
        facts->of[i].kind == FACT_TEXT || facts->of[i].kind == FACT_DTYPE;
    PyObject *object = isObject ? call->values[i] : Py_None;
    Py_INCREF(object);
    PyTuple_SetItem(entry->held, i, object);
  }
  for (Py_ssize_t i = call->positional; i < call->count; ++i) {
    Py_INCREF(call->names[i]);
    PyTuple_SetItem(entry->keywords, i - call->positional, call->names[i]);
  }
  noteSettings(&entry->settings);
  return entry;
}

/* By which rule each argument is compared. */
static bool readRules(Entry *entry, PyObject *rules) {
  if (PyTuple_Size(rules) != entry->count)
    return false;
  for (Py_ssize_t i = 0; i < entry->count; ++i) {
    entry->rules[i] = (unsigned char)PyLong_AsLong(PyTuple_GetItem(rules, i));
    FactKind kind = (FactKind)entry->facts[i].kind;
    bool isValue = entry->rules[i] == RULE_VALUE;
    if (isValue ? kind == FACT_TENSOR || kind == FACT_DESCRIPTOR
                : kind == FACT_TEXT || kind == FACT_DTYPE)
      return false;
  }
  return true;
}

/* What each parameter of the kernel gets. */
static bool readParameters(Entry *entry, PyObject *sources,
                           PyObject *defaults) {
  entry->parameterCount = PyTuple_Size(sources);
  if (entry->parameterCount > QUICK_ARGUMENTS ||
      PyTuple_Size(defaults) != entry->parameterCount ||
      entry->plan->nodeCount != entry->parameterCount ||
      entry->plan->argumentCount != entry->parameterCount ||
      entry->plan->slotCount > QUICK_SLOTS)
    return false;
  for (Py_ssize_t i = 0; i < entry->parameterCount; ++i) {
    entry->sources[i] = PyLong_AsSsize_t(PyTuple_GetItem(sources, i));
    if (entry->sources[i] >= entry->count ||
        (entry->sources[i] < 0 &&
         !readSimpleFact(PyTuple_GetItem(defaults, i), &entry->defaults[i])))
      return false;
  }
  return true;
}

bool completeEntry(Entry *entry, PyObject *description) {
  PyObject *rules, *sources;
  if (!PyTuple_Check(description) || /* None: it is left to Triton */
      !PyArg_ParseTuple(
          description, "O!O!O!O!O!OOOO!", &PyTuple_Type, &rules, &PyTuple_Type,
          &sources, &PyTuple_Type, &entry->parameterNames, &PyTuple_Type,
          &entry->defaultValues, &PyUnicode_Type, &entry->key, &entry->launcher,
          &entry->debug, &entry->usedGlobals, &PyTuple_Type, &entry->globals)) {
    entry->parameterNames = entry->defaultValues = entry->key = NULL;
    entry->launcher = entry->debug = entry->usedGlobals = entry->globals = NULL;
    return false;
  }
  Py_INCREF(entry->parameterNames);
  Py_INCREF(entry->defaultValues);
  Py_INCREF(entry->key);
  Py_INCREF(entry->launcher);
  Py_INCREF(entry->debug);
  Py_INCREF(entry->usedGlobals);
  Py_INCREF(entry->globals);
  if (!Py_IS_TYPE(entry->launcher, launcherType) ||
      !PyDict_Check(entry->usedGlobals))
    return false;
  entry->globalCount = PyDict_Size(entry->usedGlobals);
  entry->plan = planOf(entry->launcher);
  return readRules(entry, rules) &&
         readParameters(entry, sources, entry->defaultValues) &&
         settingsHold(&entry->settings);
}

static int visitEntry(PyObject *object, visitproc visit, void *arg) {
  Entry *entry = (Entry *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(entry->keywords);
  Py_VISIT(entry->held);
  Py_VISIT(entry->parameterNames);
  Py_VISIT(entry->defaultValues);
  Py_VISIT(entry->launcher);
  Py_VISIT(entry->debug);
  Py_VISIT(entry->usedGlobals);
  Py_VISIT(entry->globals);
  for (Py_ssize_t i = 0; i < quick.settingCount; ++i)
    Py_VISIT(entry->settings.values[i]);
  return 0;
}

/* What may be part of a cycle: through the globals to the function. */
static int clearEntry(PyObject *object) {
  Entry *entry = (Entry *)object;
  Py_CLEAR(entry->usedGlobals);
  Py_CLEAR(entry->globals);
  Py_CLEAR(entry->defaultValues);
  return 0;
}

static void deallocateEntry(PyObject *object) {
  Entry *entry = (Entry *)object;
  PyObject_GC_UnTrack(object);
  clearEntry(object);
  Py_CLEAR(entry->keywords);
  Py_CLEAR(entry->held);
  Py_CLEAR(entry->parameterNames);
  Py_CLEAR(entry->key);
  Py_CLEAR(entry->launcher);
  Py_CLEAR(entry->debug);
  clearSettings(&entry->settings);
  PyMem_Free(entry->descriptors);
  release(object);
}

static int visitTable(PyObject *object, visitproc visit, void *arg) {
  Table *table = (Table *)object;
  Py_VISIT(Py_TYPE(object));
  for (Py_ssize_t i = 0; i < table->count; ++i)
    Py_VISIT(table->entries[i]);
  return 0;
}

static int clearTable(PyObject *object) {
  Table *table = (Table *)object;
  while (table->count) {
    PyObject *last = (PyObject *)table->entries[--table->count];
    Py_DECREF(last);
  }
  return 0;
}

static void deallocateTable(PyObject *object) {
  PyObject_GC_UnTrack(object);
  clearTable(object);
  release(object);
}

Entry *findEntry(Table *table, const Call *call, const Facts *facts) {
  if (!table)
    return NULL;
  int latest = atomic_load_explicit(&table->latest, memory_order_relaxed);
  if (latest < table->count &&
      entryMatches(table->entries[latest], call, facts))
    return table->entries[latest];
  for (Py_ssize_t i = 0; i < table->count; ++i)
    if (i != latest && entryMatches(table->entries[i], call, facts)) {
      atomic_store_explicit(&table->latest, (int)i, memory_order_relaxed);
      return table->entries[i];
    }
  return NULL;
}

/* Whether a launch that matches one matches the other. */
static bool isSameEntry(const Entry *a, const Entry *b) {
  Call call = {.values = NULL, .positional = b->positional, .count = b->count};
  Facts facts;
  Py_ssize_t descriptors = 0;
  for (Py_ssize_t i = 0; i < b->count; ++i) {
    facts.of[i] = b->facts[i];
    if (i >= b->positional)
      call.names[i] = PyTuple_GetItem(b->keywords, i - b->positional);
    if (facts.of[i].kind == FACT_DESCRIPTOR) {
      facts.descriptors[descriptors] = b->descriptors[descriptors];
      ++descriptors;
    }
  }
  return entryMatches(a, &call, &facts);
}

bool addEntry(PyObject *functionNames, Table *table, Entry *entry) {
  Table *longer = (Table *)allocate(tableType);
  if (!longer)
    return false;
  int fruitless =
      table ? atomic_load_explicit(&table->fruitless, memory_order_relaxed) : 0;
  atomic_init(&longer->fruitless, fruitless + 1);
  bool isLeft = fruitless + 1 >= QUICK_PATIENCE;
  /* The newest is first; what is alike is of a kernel that is gone. */
  if (entry && !isLeft) {
    Py_INCREF(entry);
    longer->entries[longer->count++] = entry;
  }
  for (Py_ssize_t i = 0; table && !isLeft && i < table->count; ++i)
    if (longer->count < QUICK_ENTRIES &&
        !(entry && isSameEntry(table->entries[i], entry))) {
      Py_INCREF(table->entries[i]);
      longer->entries[longer->count++] = table->entries[i];
    }
  bool isDone = PyDict_SetItem(functionNames, quick.names.launches,
                               (PyObject *)longer) == 0;
  Py_DECREF(longer);
  return isDone;
}

/* Copies of a function start without: it becomes None there. */
static PyObject *reduce(PyObject *self, PyObject *unused) {
  (void)self;
  (void)unused;
  return Py_BuildValue("O()", (PyObject *)Py_TYPE(Py_None));
}

bool makeEntryTypes(void) {
  static PyType_Slot entrySlots[] = {
      {Py_tp_traverse, (void *)visitEntry},
      {Py_tp_clear, (void *)clearEntry},
      {Py_tp_dealloc, (void *)deallocateEntry},
      {Py_tp_doc, (void *)"A launch that was done once."},
      {0, NULL}};
  static PyMethodDef methods[] = {
      {"__reduce__", reduce, METH_NOARGS, "Copied as None."},
      {NULL, NULL, 0, NULL}};
  static PyType_Slot tableSlots[] = {
      {Py_tp_traverse, (void *)visitTable},
      {Py_tp_clear, (void *)clearTable},
      {Py_tp_dealloc, (void *)deallocateTable},
      {Py_tp_methods, methods},
      {Py_tp_doc, (void *)"The launches of a kernel that were done once."},
      {0, NULL}};
  unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                   Py_TPFLAGS_DISALLOW_INSTANTIATION;
  static PyType_Spec specs[] = {
      {"tilebridge._launcher.LaunchEntry", sizeof(Entry), 0, 0, entrySlots},
      {"tilebridge._launcher.LaunchTable", sizeof(Table), 0, 0, tableSlots}};
  specs[0].flags = specs[1].flags = flags;
  entryType = (PyTypeObject *)PyType_FromSpec(&specs[0]);
  tableType = (PyTypeObject *)PyType_FromSpec(&specs[1]);
  return entryType && tableType;
}
