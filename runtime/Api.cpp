//===- Api.cpp - the calls that load and describe kernels ------------- -===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Kernel.h"
#include "runtime/OpenMP.h"
#include "runtime/Seal.h"
#include "runtime/Status.h"

#include <cstdlib>
#include <cstring>

using namespace tilebridge::rt;

// Larger than any kernel; protects against reading a disk image into memory.
static constexpr size_t mostArtefactBytes = size_t(1) << 30;

uint32_t tilebridge_api_version() { return TILEBRIDGE_API_VERSION; }

const char *tilebridge_version() { return "tilebridge " TILEBRIDGE_VERSION; }

const char *tilebridge_describe_threads() {
  static thread_local std::string text;
  const OpenMP &library = openMP();
  unsigned threads = library.threadsForLaunch();
  text = threads > 1 ? "OpenMP with " + std::to_string(threads) + " threads (" +
                           library.path + ")"
                     : "serial";
  return text.c_str();
}

static tilebridge_code nullArgument(const char *what) {
  return fail(TILEBRIDGE_ERROR_INVALID_ARGUMENT,
              std::string(what) + " is a null pointer");
}

tilebridge_code tilebridge_load_file(const char *path,
                                     tilebridge_kernel **kernel) {
  if (!path || !kernel)
    return nullArgument(path ? "where to put the kernel" : "the path");
  *kernel = nullptr;
  std::string contents;
  if (tilebridge_code code = readFile(path, mostArtefactBytes, contents))
    return code;
  return loadKernel(contents, path, *kernel);
}

tilebridge_code tilebridge_load_bytes(const void *data, size_t size,
                                      tilebridge_kernel **kernel) {
  if (!data || !kernel)
    return nullArgument(data ? "where to put the kernel" : "the artefact");
  *kernel = nullptr;
  return loadKernel({static_cast<const char *>(data), size},
                    "the artefact in memory", *kernel);
}

void tilebridge_kernel_retain(tilebridge_kernel *kernel) {
  if (kernel)
    kernel->references.fetch_add(1, std::memory_order_relaxed);
}

void tilebridge_kernel_release(tilebridge_kernel *kernel) {
  if (kernel && kernel->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete kernel;
}

const char *tilebridge_kernel_name(const tilebridge_kernel *kernel) {
  return kernel ? kernel->manifest.name.c_str() : "";
}

const char *tilebridge_kernel_manifest(const tilebridge_kernel *kernel) {
  return kernel ? kernel->manifestText.c_str() : "";
}

size_t tilebridge_kernel_argument_count(const tilebridge_kernel *kernel) {
  return kernel ? kernel->types.size() : 0;
}

const char *tilebridge_kernel_argument_type(const tilebridge_kernel *kernel,
                                            size_t index) {
  return kernel && index < kernel->types.size()
             ? kernel->manifest.signature[index].c_str()
             : nullptr;
}

size_t tilebridge_kernel_slot_count(const tilebridge_kernel *kernel) {
  return kernel ? kernel->executable->slot_count : 0;
}

tilebridge_code tilebridge_seal(const void *data, size_t size,
                                tilebridge_buffer *out) {
  if (!data || !out)
    return nullArgument(data ? "where to put the artefact"
                             : "the shared object");
  std::string seal = makeSeal({static_cast<const char *>(data), size});
  *out = {static_cast<char *>(std::malloc(size + seal.size() + 1)),
          size + seal.size()};
  if (!out->data)
    return fail(TILEBRIDGE_ERROR_OUT_OF_MEMORY,
                "no memory for an artefact of " + std::to_string(size) +
                    " bytes");
  std::memcpy(out->data, data, size);
  std::memcpy(out->data + size, seal.data(), seal.size() + 1);
  return TILEBRIDGE_OK;
}

void tilebridge_buffer_free(tilebridge_buffer *buffer) {
  if (!buffer)
    return;
  std::free(buffer->data);
  *buffer = {nullptr, 0};
}
