/*===- Arguments.c - Python values to slots ---------------------------- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Native.h"

#include "runtime/SmallFloat.h"

#include <string.h>

/* Where the conversion stands: the node that comes next, and the slot. */
typedef struct Cursor {
  Plan *plan;
  Py_ssize_t node;
  uint64_t *slot;
} Cursor;

static bool wrongValue(const Cursor *at, const Node *node, PyObject *class,
                       PyObject *value, const char *what) {
  PyObject *type = (PyObject *)Py_TYPE(value);
  PyErr_Clear();
  PyErr_Format(class, "kernel '%U': argument '%U' (%S) %s; given was %R of %R",
               at->plan->kernelName, node->name, node->type, what, value, type);
  return false;
}

/* What Triton calls the elements of a tensor, by the name of the tensor's
 * dtype. */
static const char *tritonElement(const char *dtype) {
  static const char *const pairs[][2] = {{"float32", "fp32"},
                                         {"float16", "fp16"},
                                         {"bfloat16", "bf16"},
                                         {"float64", "fp64"},
                                         {"int8", "i8"},
                                         {"int16", "i16"},
                                         {"int32", "i32"},
                                         {"int64", "i64"},
                                         {"uint8", "u8"},
                                         {"uint16", "u16"},
                                         {"uint32", "u32"},
                                         {"uint64", "u64"},
                                         {"bool", "i1"},
                                         {"int1", "i1"},
                                         {"float8_e5m2", "fp8e5"},
                                         {"float8_e4m3fn", "fp8e4nv"},
                                         {"float8_e4m3fnuz", "fp8e4b8"},
                                         {"float8_e5m2fnuz", "fp8e5b16"}};
  for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i)
    if (strcmp(dtype, pairs[i][0]) == 0)
      return pairs[i][1];
  return NULL;
}

static const char *bitsOfInteger(const char *element) {
  return element[0] == 'i' || element[0] == 'u' ? element + 1 : "";
}

/* Signs do not matter to a kernel that is compiled already. */
static bool isSameElement(const char *a, const char *b) {
  return strcmp(a, b) == 0 ||
         (*bitsOfInteger(a) && strcmp(bitsOfInteger(a), bitsOfInteger(b)) == 0);
}

/* A dtype that is not known (of another library than PyTorch and NumPy) passes.
 */
static bool checkDtype(const Cursor *at, Node *node, PyObject *tensor) {
  PyObject *dtype = PyObject_GetAttr(tensor, names.dtype);
  if (!dtype) {
    PyErr_Clear();
    return true;
  }
  bool fits =
      dtype == atomic_load_explicit(&node->seenDtype, memory_order_relaxed);
  if (!fits) {
    PyObject *text = PyObject_Str(dtype);
    PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
    const char *name = bytes ? PyBytes_AsString(bytes) : "";
    const char *dot = strrchr(name, '.');
    const char *element = tritonElement(dot ? dot + 1 : name);
    fits = !element || isSameElement(element, node->element);
    Py_XDECREF(text);
    Py_XDECREF(bytes);
    PyErr_Clear();
    if (fits) {
      Py_INCREF(dtype);
      PyObject *before = atomic_exchange(&node->seenDtype, dtype);
      Py_XDECREF(before);
    } else {
      PyErr_Format(PyExc_TypeError,
                   "kernel '%U': argument '%U' (%S) was compiled for another "
                   "type than %S",
                   at->plan->kernelName, node->name, node->type, dtype);
    }
  }
  Py_DECREF(dtype);
  return fits;
}

/* Whether a device, an object with a type or a string, is another one than the CPU. */
static bool isOtherDevice(PyObject *device) {
  PyObject *type = PyObject_GetAttr(device, names.type);
  PyErr_Clear();
  PyObject *text = PyObject_Str(type ? type : device);
  PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
  bool isOther = bytes && strncmp(PyBytes_AsString(bytes), "cpu", 3) != 0;
  Py_XDECREF(type);
  Py_XDECREF(text);
  Py_XDECREF(bytes);
  PyErr_Clear();
  return isOther;
}

/* Whether an object without a device says in another way that it is a GPU's. */
static bool saysCuda(PyObject *tensor) {
  PyObject *isCuda = PyObject_GetAttr(tensor, names.is_cuda);
  Py_XDECREF(isCuda);
  PyErr_Clear();
  return isCuda == Py_True;
}

/* Refuses a tensor that is known not to be in this machine's memory. */
static bool checkDevice(const Cursor *at, const Node *node, PyObject *tensor) {
  PyObject *isCpu = PyObject_GetAttr(tensor, names.is_cpu);
  Py_XDECREF(isCpu);
  if (isCpu == Py_True)
    return true;
  PyErr_Clear();
  PyObject *device = PyObject_GetAttr(tensor, names.device);
  PyErr_Clear();
  /* What is not PyTorch's own class may say where it is, or not. */
  bool isElsewhere =
      isCpu == Py_False || (device ? isOtherDevice(device) : saysCuda(tensor));
  if (isElsewhere)
    PyErr_Format(PyExc_ValueError,
                 "kernel '%U': argument '%U' (%S) is a tensor on the device "
                 "%S; Tilebridge runs kernels on the CPU: move it there with "
                 ".cpu()",
                 at->plan->kernelName, node->name, node->type,
                 device ? device : names.cuda);
  Py_XDECREF(device);
  return !isElsewhere;
}

static bool tensorAddress(Cursor *at, Node *node, PyObject *tensor,
                          uint64_t *address) {
  if (!checkDevice(at, node, tensor))
    return false;
  PyObject *pointer = PyObject_CallMethodObjArgs(tensor, names.data_ptr, NULL);
  if (!pointer) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      return false; /* A tensor without memory says why. */
    return wrongValue(at, node, PyExc_TypeError, tensor,
                      "must be a tensor (an object with data_ptr()) or None");
  }
  *address = PyLong_AsUnsignedLongLong(pointer);
  if (PyErr_Occurred())
    wrongValue(at, node, PyExc_TypeError, pointer,
               "has a data_ptr() that returns no address");
  Py_DECREF(pointer);
  return !PyErr_Occurred() && checkDtype(at, node, tensor);
}

static bool convertPointer(Cursor *at, Node *node, PyObject *value) {
  if (value == Py_None) {
    *at->slot++ = 0;
    return true;
  }
  if (PyLong_Check(value)) {
    *at->slot++ = PyLong_AsUnsignedLongLongMask(value);
    return !PyErr_Occurred();
  }
  return tensorAddress(at, node, value, at->slot++);
}

bool integerBits(const Node *node, uint64_t bits, bool isUnsigned,
                 uint64_t *slot) {
  int64_t number = (int64_t)bits;
  if (node->bits == 1) {
    *slot = bits != 0; /* As a truth value. */
    return !isUnsigned;
  }
  if (node->bits == 64) {
    *slot = bits;
    return isUnsigned ? node->isUnsigned : !node->isUnsigned || number >= 0;
  }
  int64_t low = node->isUnsigned ? 0 : -(INT64_C(1) << (node->bits - 1));
  int64_t high =
      (INT64_C(1) << (node->isUnsigned ? node->bits : node->bits - 1)) - 1;
  *slot = bits & ((UINT64_C(1) << node->bits) - 1);
  return !isUnsigned && number >= low && number <= high;
}

static bool convertInteger(Cursor *at, Node *node, PyObject *value) {
  if (value == Py_True || value == Py_False) {
    *at->slot++ = value == Py_True;
    return true;
  }
  PyObject *whole = PyNumber_Index(value);
  if (!whole)
    return wrongValue(at, node, PyExc_TypeError, value, "must be an integer");
  bool isWide = node->isUnsigned && node->bits == 64;
  uint64_t bits = isWide ? PyLong_AsUnsignedLongLong(whole)
                         : (uint64_t)PyLong_AsLongLong(whole);
  Py_DECREF(whole);
  if (PyErr_Occurred() || !integerBits(node, bits, isWide, at->slot))
    return wrongValue(at, node, PyExc_ValueError, value, "must fit its type");
  ++at->slot;
  return true;
}

uint64_t realBits(const Node *node, double number) {
  uint64_t bits = 0;
  if (node->bits == 64) {
    memcpy(&bits, &number, sizeof(number));
  } else if (node->bits == 32) {
    float single = (float)number;
    memcpy(&bits, &single, sizeof(single));
  } else {
    bits = node->isBFloat ? tb_round_to_small(number, 8, 7)
                          : tb_round_to_small(number, 5, 10);
  }
  return bits;
}

static bool convertReal(Cursor *at, Node *node, PyObject *value) {
  double number = PyFloat_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred())
    return wrongValue(at, node, PyExc_TypeError, value, "must be a number");
  *at->slot++ = realBits(node, number);
  return true;
}

/* The integers of a descriptor's shape or strides. */
static bool readIntegers(Cursor *at, const Node *node, PyObject *descriptor,
                         PyObject *name, int64_t *numbers) {
  PyObject *items = PyObject_GetAttr(descriptor, name);
  /* PyTorch's sizes are a class of tuples, which would be copied one by one. */
  if (items && !PyTuple_Check(items)) {
    PyObject *sequence = items;
    items = PySequence_Tuple(sequence);
    Py_DECREF(sequence);
  }
  bool fits = items && PyTuple_Size(items) == node->count;
  for (Py_ssize_t i = 0; fits && i < node->count; ++i) {
    numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(items, i));
    fits = !PyErr_Occurred();
  }
  Py_XDECREF(items);
  if (fits)
    return true;
  /* The descriptor's own text would hold all elements of its tensor. */
  PyObject *given = PyObject_GetAttr(descriptor, name);
  PyErr_Clear();
  wrongValue(at, node, PyExc_TypeError, given ? given : descriptor,
             "must be a TensorDescriptor whose shape and strides are "
             "integers and as many as its block's");
  Py_XDECREF(given);
  return false;
}

void descriptorSlots(const Node *node, uint64_t address, const int64_t *shape,
                     const int64_t *strides, bool padsWithNan, uint64_t *slot) {
  Py_ssize_t rank = node->count;
  slot[0] = address;
  for (Py_ssize_t i = 0; i < rank; ++i) {
    slot[1 + i] = (uint64_t)shape[i];
    slot[1 + rank + i] = (uint64_t)strides[i];
    /* Triton's kernels have them as i32 and i64 arguments of their own. */
    slot[2 + 2 * rank + i] = (uint32_t)shape[i];
    slot[2 + 3 * rank + i] = (uint64_t)strides[i];
  }
  slot[1 + 2 * rank] = padsWithNan;
}

static bool convertDescriptor(Cursor *at, Node *node, PyObject *value) {
  PyObject *base = PyObject_GetAttr(value, names.base);
  if (!base)
    return wrongValue(at, node, PyExc_TypeError, value,
                      "must be a TensorDescriptor");
  uint64_t *slot = at->slot;
  bool isGood = tensorAddress(at, node, base, slot);
  Py_DECREF(base);
  int64_t shape[TILEBRIDGE_MAX_RANK], strides[TILEBRIDGE_MAX_RANK];
  if (!isGood || !readIntegers(at, node, value, names.shape, shape) ||
      !readIntegers(at, node, value, names.strides, strides))
    return false;
  /* Triton's own class sees to it, but others may stand in for it. */
  if (node->count > 0 && strides[node->count - 1] != 1 &&
      shape[node->count - 1] > 1)
    return wrongValue(at, node, PyExc_ValueError, value,
                      "must be a TensorDescriptor whose last stride is 1");
  PyObject *padding = PyObject_GetAttr(value, names.padding);
  bool padsWithNan = padding && PyUnicode_Check(padding) &&
                     PyUnicode_CompareWithASCIIString(padding, "nan") == 0;
  Py_XDECREF(padding);
  PyErr_Clear();
  descriptorSlots(node, *slot, shape, strides, padsWithNan, slot);
  at->slot += slotsOfNode(node);
  return true;
}

static bool convert(Cursor *at, PyObject *value);

static bool convertTuple(Cursor *at, Node *node, PyObject *value) {
  if (!PyTuple_Check(value) || PyTuple_Size(value) != node->count)
    return wrongValue(at, node, PyExc_TypeError, value,
                      "must be a tuple of as many elements");
  for (Py_ssize_t i = 0; i < node->count; ++i)
    if (!convert(at, PyTuple_GetItem(value, i)))
      return false;
  return true;
}

/* A compile-time constant may be a tuple in the call and one string in the
 * signature: it is a leaf either way. */
static bool convert(Cursor *at, PyObject *value) {
  Node *node = &at->plan->nodes[at->node++];
  switch (node->kind) {
  case NODE_SKIP:
    return true;
  case NODE_POINTER:
    return convertPointer(at, node, value);
  case NODE_INTEGER:
    return convertInteger(at, node, value);
  case NODE_REAL:
    return convertReal(at, node, value);
  case NODE_DESCRIPTOR:
    return convertDescriptor(at, node, value);
  case NODE_TUPLE:
    return convertTuple(at, node, value);
  }
  return false;
}

static bool wrongCount(const Plan *plan, Py_ssize_t given) {
  PyObject *list = PyUnicode_FromString("");
  Py_ssize_t node = 0;
  for (Py_ssize_t i = 0; list && i < plan->argumentCount; ++i) {
    PyObject *longer = PyUnicode_FromFormat("%U%s%U", list, i ? ", " : "",
                                            plan->nodes[node].name);
    Py_DECREF(list);
    list = longer;
    for (Py_ssize_t left = 1; left > 0; --left, ++node)
      if (plan->nodes[node].kind == NODE_TUPLE)
        left += plan->nodes[node].count;
  }
  if (list)
    PyErr_Format(PyExc_TypeError,
                 "kernel '%U' takes %zd arguments (%S), given were %zd",
                 plan->kernelName, plan->argumentCount, list, given);
  Py_XDECREF(list);
  return false;
}

bool convertArguments(Plan *plan, PyObject *arguments, Py_ssize_t first,
                      uint64_t *slots) {
  Py_ssize_t given = PyTuple_Size(arguments) - first;
  if (given != plan->argumentCount)
    return wrongCount(plan, given);
  Cursor at = {plan, 0, slots};
  for (Py_ssize_t i = 0; i < given; ++i)
    if (!convert(&at, PyTuple_GetItem(arguments, first + i)))
      return false;
  return true;
}
