/*===- Plan.c - signatures, read once -------------------------------- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Native.h"

#include <stdio.h>
#include <string.h>

static bool unknownType(const Plan *plan, const Node *node) {
  PyErr_Format(PyExc_TypeError,
               "kernel '%U': argument '%U' has the type %R, which Tilebridge "
               "does not know",
               plan->kernelName, node->name, node->type);
  return false;
}

/* "fp16" out of "*kfp16" or "tensordesc<fp16[32, 64]>"; `end` is the character
 * behind it. */
static bool copyElement(Node *node, const char *begin, const char *end) {
  if (begin == end || (size_t)(end - begin) >= sizeof(node->element))
    return false;
  memcpy(node->element, begin, (size_t)(end - begin));
  node->element[end - begin] = 0;
  return true;
}

static bool readDescriptor(Node *node, const char *text) {
  node->kind = NODE_DESCRIPTOR;
  const char *open = strchr(text, '<'), *bracket = strchr(text, '['),
             *close = strchr(text, ']');
  if (!open || !bracket || !close || !(open < bracket && bracket < close))
    return false;
  node->count = 1;
  for (const char *c = bracket; c < close; ++c)
    node->count += *c == ',';
  return node->count <= TILEBRIDGE_MAX_RANK &&
         copyElement(node, open + 1, bracket);
}

static bool readType(Node *node, const char *text) {
  if (strcmp(text, "constexpr") == 0) {
    node->kind = NODE_SKIP;
    return true;
  }
  if (text[0] == '*') {
    node->kind = NODE_POINTER;
    const char *element = text + (text[1] == 'k' ? 2 : 1);
    return copyElement(node, element, element + strlen(element));
  }
  if (strncmp(text, "tensordesc", 10) == 0)
    return readDescriptor(node, text);
  node->kind = NODE_REAL;
  node->isBFloat = strcmp(text, "bf16") == 0;
  node->bits = node->isBFloat || strcmp(text, "fp16") == 0 ? 16
               : strcmp(text, "fp32") == 0                 ? 32
               : strcmp(text, "fp64") == 0                 ? 64
                                                           : 0;
  if (node->bits)
    return true;
  node->kind = NODE_INTEGER;
  node->isUnsigned = text[0] == 'u';
  char rest;
  return (text[0] == 'i' || text[0] == 'u') &&
         sscanf(text + 1, "%d%c", &node->bits, &rest) == 1 &&
         (node->bits == 1 || node->bits == 8 || node->bits == 16 ||
          node->bits == 32 || node->bits == 64);
}

Py_ssize_t slotsOfNode(const Node *node) {
  if (node->kind == NODE_DESCRIPTOR) /* and its sizes and strides once more, as
                                        arguments of their own */
    return 2 + 4 * node->count;
  return node->kind == NODE_SKIP || node->kind == NODE_TUPLE ? 0 : 1;
}

static Py_ssize_t countNodes(PyObject *types) {
  Py_ssize_t count = 0, size = PyTuple_Size(types);
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject *type = PyTuple_GetItem(types, i);
    count += 1 + (PyTuple_Check(type) ? countNodes(type) : 0);
  }
  return count;
}

/* Adds the node of one argument and those inside of it. Takes over the
 * reference to `name`. */
static bool readNode(Plan *plan, PyObject *name, PyObject *type) {
  if (!name)
    return false;
  Node *node = &plan->nodes[plan->nodeCount++];
  node->name = name;
  node->type = type;
  Py_INCREF(type);
  if (PyTuple_Check(type)) {
    node->kind = NODE_TUPLE;
    node->count = PyTuple_Size(type);
    for (Py_ssize_t i = 0; i < node->count; ++i)
      if (!readNode(plan, PyUnicode_FromFormat("%U[%zd]", name, i),
                    PyTuple_GetItem(type, i)))
        return false;
    return true;
  }
  PyObject *text = PyUnicode_Check(type) ? PyUnicode_AsUTF8String(type) : NULL;
  bool isKnown = text && readType(node, PyBytes_AsString(text));
  Py_XDECREF(text);
  if (!isKnown)
    return PyErr_Occurred() ? false : unknownType(plan, node);
  plan->slotCount += slotsOfNode(node);
  return true;
}

bool readPlan(Plan *plan, PyObject *kernelName, PyObject *argumentNames,
              PyObject *types) {
  Py_INCREF(kernelName);
  plan->kernelName = kernelName;
  plan->argumentCount = PyTuple_Size(types);
  if (plan->argumentCount != PyTuple_Size(argumentNames)) {
    PyErr_SetString(PyExc_ValueError, "there must be as many names as types");
    return false;
  }
  size_t size = (size_t)(countNodes(types) + 1) * sizeof(Node);
  plan->nodes = PyMem_Malloc(size);
  if (!plan->nodes) {
    PyErr_NoMemory();
    return false;
  }
  memset(plan->nodes, 0, size);
  for (Py_ssize_t i = 0; i < plan->argumentCount; ++i)
    if (!readNode(plan, PyObject_Str(PyTuple_GetItem(argumentNames, i)),
                  PyTuple_GetItem(types, i)))
      return false;
  return true;
}

void clearPlan(Plan *plan) {
  for (Py_ssize_t i = 0; i < plan->nodeCount; ++i) {
    Py_CLEAR(plan->nodes[i].name);
    Py_CLEAR(plan->nodes[i].type);
    Py_XDECREF(atomic_exchange(&plan->nodes[i].seenDtype, NULL));
  }
  PyMem_Free(plan->nodes);
  plan->nodes = NULL;
  plan->nodeCount = 0;
  Py_CLEAR(plan->kernelName);
}
