/*===- QuickFacts.c - what there is to know of arguments --------------- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Quick.h"

#include <string.h>

/* A tensor as the C interface between libraries of tensors has it (DLPack,
 * version 1), which PyTorch answers a lot quicker than attributes. */
typedef struct View {
  void *data;
  int32_t device, deviceIndex;
  int32_t rank;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } type;
  int64_t *shape, *strides;
  uint64_t offset;
} View;
enum { VIEW_ON_CPU = 1 };
enum { VIEW_INTEGER, VIEW_UNSIGNED, VIEW_FLOAT, VIEW_BFLOAT = 4 };

/* Whether the type of a view is that of one of PyTorch's dtypes alone. Those
 * of less than a byte, such as uint2, are as uint8 there. */
static bool isPlainType(const View *view) {
  unsigned bits = view->type.bits;
  switch (view->type.code) {
  case VIEW_INTEGER:
  case VIEW_UNSIGNED:
  case VIEW_FLOAT:
    return view->type.lanes == 1 && (bits == 16 || bits == 32 || bits == 64);
  case VIEW_BFLOAT:
    return view->type.lanes == 1 && bits == 16;
  }
  return false;
}

/* PyTorch's dtypes live as long as the process, so their addresses tell them
 * apart. */
static bool askForType(PyObject *tensor, Fact *fact) {
  PyObject *dtype = PyObject_GetAttr(tensor, names.dtype);
  fact->type = (uint64_t)(uintptr_t)dtype;
  Py_XDECREF(dtype);
  PyErr_Clear();
  return fact->type != 0;
}

static bool askForAddress(PyObject *tensor, Fact *fact) {
  PyObject *isCpu = PyObject_GetAttr(tensor, names.is_cpu);
  Py_XDECREF(isCpu);
  PyObject *pointer =
      isCpu == Py_True
          ? PyObject_CallMethodObjArgs(tensor, names.data_ptr, NULL)
          : NULL;
  fact->bits = pointer ? PyLong_AsUnsignedLongLong(pointer) : 0;
  Py_XDECREF(pointer);
  bool isGood = pointer && !PyErr_Occurred();
  PyErr_Clear();
  return isGood;
}

static bool readTensor(PyObject *tensor, Fact *fact) {
  View view;
  fact->kind = FACT_TENSOR;
  if (!quick.exchange) {
    if (!askForAddress(tensor, fact) || !askForType(tensor, fact))
      return false;
  } else if (quick.exchange(tensor, &view) != 0) {
    PyErr_Clear();
    return false;
  } else if (view.device != VIEW_ON_CPU) {
    return false;
  } else {
    fact->bits = (uint64_t)(uintptr_t)view.data + view.offset;
    fact->type = (uint64_t)view.type.code | (uint64_t)view.type.bits << 8;
    if (!isPlainType(&view) && !askForType(tensor, fact))
      return false;
  }
  fact->class = fact->bits % 16 == 0 ? CLASS_ALIGNED : 0;
  return true;
}

static bool isTensor(PyTypeObject *type) {
  return type ==
             atomic_load_explicit(&quick.tensorType, memory_order_acquire) ||
         type ==
             atomic_load_explicit(&quick.parameterType, memory_order_acquire);
}

static bool readInteger(PyObject *value, Fact *fact) {
  int overflow;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  fact->kind = FACT_INTEGER;
  fact->bits = (uint64_t)number;
  if (overflow) {
    fact->bits = overflow > 0 ? PyLong_AsUnsignedLongLong(value) : 0;
    if (overflow < 0 || PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    fact->class = CLASS_UNSIGNED_64;
  } else {
    fact->class = number >= INT32_MIN && number <= INT32_MAX ? CLASS_FITS_32
                                                             : CLASS_FITS_64;
    fact->class |= number == 1 ? CLASS_ONE : 0;
  }
  fact->class |= fact->bits % 16 == 0 ? CLASS_ALIGNED : 0;
  return true;
}

bool readSimpleFact(PyObject *value, Fact *fact) {
  PyTypeObject *type = Py_TYPE(value);
  memset(fact, 0, sizeof(*fact));
  if (type == &PyLong_Type)
    return readInteger(value, fact);
  if (type == &PyBool_Type) {
    fact->kind = FACT_TRUTH;
    fact->bits = value == Py_True;
    return true;
  }
  if (type == &PyFloat_Type) {
    double number = PyFloat_AsDouble(value);
    fact->kind = FACT_REAL;
    memcpy(&fact->bits, &number, sizeof(number));
    return true;
  }
  fact->type = (uint64_t)(uintptr_t)value;
  fact->kind = value == Py_None          ? FACT_NONE
               : type == &PyUnicode_Type ? FACT_TEXT
                                         : FACT_DTYPE;
  return fact->kind != FACT_DTYPE || type == quick.dtypeType;
}

/* The fields of a descriptor, in the order in which Triton's class sets them,
 * each held or NULL. */
enum {
  FIELD_BASE,
  FIELD_SHAPE,
  FIELD_STRIDES,
  FIELD_BLOCK,
  FIELD_PADDING,
  FIELD_ROUNDS,
  FIELD_COUNT
};
typedef struct Fields {
  PyObject *of[FIELD_COUNT];
} Fields;

static bool readFields(PyObject *descriptor, Fields *fields) {
  PyObject *const wanted[FIELD_COUNT] = {names.base,    names.shape,
                                         names.strides, quick.names.blockShape,
                                         names.padding, quick.names.rounds};
  memset(fields, 0, sizeof(*fields));
#ifndef Py_GIL_DISABLED /* another thread may replace what is borrowed */
  /* One walk over the object's dictionary, whose names are in that order as a
   * rule: it takes a fifth of the time of as many attributes. */
  PyObject *all = PyObject_GenericGetDict(descriptor, NULL);
  PyObject *name, *value;
  Py_ssize_t at = 0, i = 0;
  while (all && i < FIELD_COUNT && PyDict_Next(all, &at, &name, &value) &&
         name == wanted[i]) {
    Py_INCREF(value);
    fields->of[i++] = value;
  }
  Py_XDECREF(all);
#endif
  bool isGood = true;
  for (Py_ssize_t i = 0; i < FIELD_COUNT && isGood; ++i)
    if (!fields->of[i])
      isGood =
          (fields->of[i] = PyObject_GetAttr(descriptor, wanted[i])) != NULL;
  return isGood;
}

static void releaseFields(Fields *fields) {
  for (Py_ssize_t i = 0; i < FIELD_COUNT; ++i)
    Py_XDECREF(fields->of[i]);
}

Py_ssize_t readIntegers(PyObject *items, int64_t *numbers, Py_ssize_t most) {
  bool isTuple = PyTuple_Check(items);
  Py_ssize_t count = isTuple ? PyTuple_Size(items) : PyList_Size(items);
  bool isGood = count >= 0;
  for (Py_ssize_t i = 0; isGood && i < count && i < most; ++i) {
#ifdef Py_GIL_DISABLED /* another thread may shorten the list */
    PyObject *item = PySequence_GetItem(items, i);
#else
    PyObject *item =
        isTuple ? PyTuple_GetItem(items, i) : PyList_GetItem(items, i);
    Py_XINCREF(item);
#endif
    int overflow = 0;
    isGood = item && Py_IS_TYPE(item, &PyLong_Type);
    if (isGood)
      numbers[i] = PyLong_AsLongLongAndOverflow(item, &overflow);
    isGood = isGood && !overflow;
    Py_XDECREF(item);
  }
  if (!isGood)
    PyErr_Clear();
  return isGood ? count : -1;
}

/* The integers of a descriptor's field; returns how many, or -1. */
static Py_ssize_t readNumbers(PyObject *items, int64_t *numbers) {
  if (!PyTuple_Check(items) && !PyList_CheckExact(items))
    return -1;
  Py_ssize_t count = readIntegers(items, numbers, TILEBRIDGE_MAX_RANK);
  return count <= TILEBRIDGE_MAX_RANK ? count : -1;
}

static bool isNan(PyObject *padding) {
  return padding != quick.names.zero && PyUnicode_Check(padding) &&
         PyUnicode_CompareWithASCIIString(padding, "nan") == 0;
}

static bool readDescriptorFields(PyObject *const *fields,
                                 DescriptorFact *descriptor, Fact *fact) {
  PyObject *base = fields[FIELD_BASE], *rounds = fields[FIELD_ROUNDS];
  if (!isTensor(Py_TYPE(base)) || !readTensor(base, fact) ||
      (rounds != Py_True && rounds != Py_False))
    return false;
  fact->kind = FACT_DESCRIPTOR;
  fact->class = 0;
  descriptor->rounds = rounds == Py_True;
  descriptor->padsWithNan = isNan(fields[FIELD_PADDING]);
  descriptor->rank = readNumbers(fields[FIELD_BLOCK], descriptor->block);
  return descriptor->rank > 0 &&
         readNumbers(fields[FIELD_SHAPE], descriptor->shape) ==
             descriptor->rank &&
         readNumbers(fields[FIELD_STRIDES], descriptor->strides) ==
             descriptor->rank;
}

static bool readDescriptor(PyObject *value, Facts *facts, Fact *fact) {
  if (facts->descriptorCount == QUICK_DESCRIPTORS)
    return false;
  Fields fields;
  bool isGood =
      readFields(value, &fields) &&
      readDescriptorFields(fields.of,
                           &facts->descriptors[facts->descriptorCount], fact);
  if (!isGood)
    PyErr_Clear();
  releaseFields(&fields);
  return isGood;
}

bool readFacts(const Call *call, Facts *facts) {
  facts->descriptorCount = 0;
  for (Py_ssize_t i = 0; i < call->count; ++i) {
    PyObject *value = call->values[i];
    PyTypeObject *type = Py_TYPE(value);
    bool isKnown;
    if (isTensor(type)) {
      isKnown = readTensor(value, &facts->of[i]);
    } else if (type == quick.descriptorType) {
      isKnown = readDescriptor(value, facts, &facts->of[i]);
      ++facts->descriptorCount;
    } else {
      isKnown = readSimpleFact(value, &facts->of[i]);
    }
    if (!isKnown)
      return false;
  }
  return true;
}

/* Whether the arguments of one kind are the same to Triton. Descriptors come in
 * the order of the arguments. */
static bool factMatches(const Entry *entry, const Facts *facts, Py_ssize_t i,
                        Py_ssize_t descriptor) {
  const Fact *now = &facts->of[i], *then = &entry->facts[i];
  if (entry->rules[i] == RULE_VALUE)
    return now->class == then->class && now->bits == then->bits &&
           (now->type == then->type ||
            (now->kind == FACT_TEXT &&
             isSameText((PyObject *)(uintptr_t)now->type,
                        (PyObject *)(uintptr_t)then->type)));
  switch ((FactKind)now->kind) {
  case FACT_TENSOR:
    return now->type == then->type &&
           ((now->class ^ then->class) & entry->rules[i]) == 0;
  case FACT_INTEGER:
    return ((now->class ^ then->class) & entry->rules[i]) == 0;
  case FACT_TRUTH:
    return now->bits == then->bits;
  case FACT_REAL:
  case FACT_NONE:
    return true;
  case FACT_DESCRIPTOR: {
    const DescriptorFact *a = &facts->descriptors[descriptor],
                         *b = &entry->descriptors[descriptor];
    return now->type == then->type && a->rank == b->rank &&
           a->padsWithNan == b->padsWithNan && a->rounds == b->rounds &&
           memcmp(a->block, b->block, (size_t)a->rank * sizeof(*a->block)) == 0;
  }
  case FACT_TEXT:
  case FACT_DTYPE:
    break;
  }
  return false;
}

bool entryMatches(const Entry *entry, const Call *call, const Facts *facts) {
  if (entry->count != call->count || entry->positional != call->positional)
    return false;
  for (Py_ssize_t i = call->positional; i < call->count; ++i)
    if (!isSameText(call->names[i],
                    PyTuple_GetItem(entry->keywords, i - call->positional)))
      return false;
  Py_ssize_t descriptor = 0;
  for (Py_ssize_t i = 0; i < call->count; ++i) {
    if (facts->of[i].kind != entry->facts[i].kind ||
        !factMatches(entry, facts, i, descriptor))
      return false;
    descriptor += facts->of[i].kind == FACT_DESCRIPTOR;
  }
  return true;
}

static bool fillSlot(Node *node, const Fact *fact, const Facts *facts,
                     uint64_t *slot) {
  bool isWhole = fact->kind == FACT_INTEGER || fact->kind == FACT_TRUTH;
  switch (node->kind) {
  case NODE_SKIP:
    return true;
  case NODE_POINTER:
    *slot = fact->kind == FACT_NONE ? 0 : fact->bits;
    return isWhole || fact->kind == FACT_TENSOR || fact->kind == FACT_NONE;
  case NODE_INTEGER:
    return isWhole &&
           integerBits(node, fact->bits, fact->class & CLASS_UNSIGNED_64, slot);
  case NODE_REAL: {
    double number;
    memcpy(&number, &fact->bits, sizeof(number));
    if (isWhole)
      number = fact->class & CLASS_UNSIGNED_64 ? (double)fact->bits
                                               : (double)(int64_t)fact->bits;
    *slot = realBits(node, number);
    return isWhole || fact->kind == FACT_REAL;
  }
  case NODE_DESCRIPTOR: {
    if (fact->kind != FACT_DESCRIPTOR)
      return false;
    const DescriptorFact *descriptor = facts->descriptors;
    for (const Fact *other = facts->of; other < fact; ++other)
      descriptor += other->kind == FACT_DESCRIPTOR;
    Py_ssize_t last = descriptor->rank - 1;
    if (descriptor->rank != node->count ||
        (descriptor->strides[last] != 1 && descriptor->shape[last] > 1))
      return false;
    descriptorSlots(node, fact->bits, descriptor->shape, descriptor->strides,
                    descriptor->padsWithNan, slot);
    return true;
  }
  case NODE_TUPLE:
    break;
  }
  return false;
}

bool fillSlots(const Entry *entry, const Facts *facts, uint64_t *slots) {
  for (Py_ssize_t i = 0; i < entry->parameterCount; ++i) {
    Node *node = &entry->plan->nodes[i];
    Py_ssize_t source = entry->sources[i];
    const Fact *fact = source < 0 ? &entry->defaults[i] : &facts->of[source];
    if (!fillSlot(node, fact, facts, slots))
      return false;
    slots += slotsOfNode(node);
  }
  return true;
}
