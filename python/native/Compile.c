/*===- Compile.c - compiling without holding the interpreter ----------- -===*\
|*
|* Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*
\*===----------------------------------------------------------------------===*/
#include "Native.h"

#include <stdlib.h>
#include <string.h>

/* What the compiler tells while the interpreter's lock is released. */
typedef struct Log {
  char *text;
  size_t size, capacity;
} Log;

static void appendLog(void *state, const char *text, size_t size) {
  Log *log = state;
  if (size > log->capacity - log->size) {
    size_t capacity = 2 * (log->size + size);
    char *grown = realloc(log->text, capacity);
    if (!grown)
      return; /* It is only a log. */
    log->text = grown;
    log->capacity = capacity;
  }
  memcpy(log->text + log->size, text, size);
  log->size += size;
}

PyObject *compileKernel(PyObject *module, PyObject *arguments,
                        PyObject *keywords) {
  (void)module;
  static char *keywordNames[] = {
      "ttir", "target", "stage", "source_name", "print_after", "flags", NULL};
  Log log = {NULL, 0, 0};
  tilebridge_compile_options options = {
      .struct_size = sizeof(options), .log = appendLog, .log_state = &log};
  const char *ttir;
  Py_ssize_t size;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "s#|zzzzI:compile",
                                   keywordNames, &ttir, &size, &options.target,
                                   &options.stage, &options.source_name,
                                   &options.print_after, &options.flags))
    return NULL;
  tilebridge_buffer output = {NULL, 0};
  tilebridge_code code;
  Py_BEGIN_ALLOW_THREADS;
  code = runtime.compile(ttir, (size_t)size, &options, &output);
  Py_END_ALLOW_THREADS;
  PyObject *result = NULL;
  if (code == TILEBRIDGE_OK) {
    PyObject *text = PyUnicode_DecodeUTF8(log.text ? log.text : "",
                                          (Py_ssize_t)log.size, "replace");
    if (text)
      result = Py_BuildValue("y#N", output.data, (Py_ssize_t)output.size, text);
  } else {
    raiseCode(code);
  }
  runtime.buffer_free(&output);
  free(log.text);
  return result;
}
