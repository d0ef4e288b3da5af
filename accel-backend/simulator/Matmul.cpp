//===- Matmul.cpp - products of blocks, natively --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/simulator/Simulator.h"

#include "reference/Float.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using tilebridge::reference::View;

namespace tilebridge::accel {

//===----------------------------------------------------------------------===//
// Rows of products
//===----------------------------------------------------------------------===//
// c[j] += a * b[j]. Products of floats of at most 12 bits are exact in f32, so
// that for them a fused step rounds as two do; f32 and f64 are fused, as
// cpu-backend fuses them.

template <typename T>
static void addRowPlain(T *c, T a, const T *b, int64_t count) {
  for (int64_t j = 0; j < count; ++j) {
    if constexpr (std::is_floating_point_v<T>)
      c[j] = std::fma(a, b[j], c[j]);
    else
      c[j] = T(uint32_t(c[j]) + uint32_t(a) * uint32_t(b[j]));
  }
}

#ifdef __x86_64__
template <typename T>
__attribute__((target("avx2,fma"))) static void
addRowVector(T *c, T a, const T *b, int64_t count) {
#pragma clang loop vectorize(enable) interleave(enable)
  for (int64_t j = 0; j < count; ++j) {
    if constexpr (std::is_same_v<T, float>)
      c[j] = __builtin_fmaf(a, b[j], c[j]);
    else if constexpr (std::is_same_v<T, double>)
      c[j] = __builtin_fma(a, b[j], c[j]);
    else
      c[j] = T(uint32_t(c[j]) + uint32_t(a) * uint32_t(b[j]));
  }
}
#endif

template <typename T>
static void addProduct(std::vector<T> &c, const std::vector<T> &a,
                       const std::vector<T> &b, int64_t m, int64_t n,
                       int64_t k) {
  auto *addRow = addRowPlain<T>;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    addRow = addRowVector<T>;
#endif
  // A strip of columns at a time, so that its rows of b stay in the cache.
  constexpr int64_t strip = 256;
  for (int64_t from = 0; from < n; from += strip)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p)
        addRow(&c[i * n + from], a[i * k + p], &b[p * n + from],
               std::min(strip, n - from));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static const std::vector<float> &halfTable(FloatType type) {
  static std::vector<float> table;
  if (table.empty())
    for (uint64_t bits = 0; bits < 65536; ++bits)
      table.push_back(float(reference::toDouble(bits, type)));
  return table;
}

/// Reads a block of rank 2 as the accumulator's type.
template <typename T>
static std::vector<T> readAs(const View &view, Type element, int64_t rows,
                             int64_t columns, int64_t rowStride,
                             int64_t columnStride, int64_t offset) {
  unsigned bytes = reference::bytesOf(element);
  std::vector<T> result(size_t(rows * columns));
  auto real = dyn_cast<FloatType>(element);
  const std::vector<float> *halves =
      element.isF16() ? &halfTable(real) : nullptr;
  std::vector<T> small;
  if (bytes == 1)
    for (uint64_t bits = 0; bits < 256; ++bits)
      small.push_back(real ? T(reference::toDouble(bits, real))
                           : T(int8_t(uint8_t(bits))));
  auto *base = reinterpret_cast<const char *>(view.address);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      int64_t at = offset + i * rowStride + j * columnStride;
      uint64_t bits = 0;
      std::memcpy(&bits, base + at * int64_t(bytes), bytes);
      T &to = result[size_t(i * columns + j)];
      if (bytes == 1)
        to = small[bits];
      else if (halves)
        to = T((*halves)[bits]);
      else if (real)
        to = T(reference::toDouble(bits, real));
      else
        to = T(reference::signedValue(bits, reference::widthOf(element)));
    }
  return result;
}

namespace {
/// One matrix of a batch.
struct Matrix {
  const View &view;
  Type element;

  template <typename T> std::vector<T> read(int64_t batch) const {
    size_t d = view.sizes.size() - 2;
    return readAs<T>(view, element, view.sizes[d], view.sizes[d + 1],
                     view.strides[d], view.strides[d + 1], start(batch));
  }
  int64_t start(int64_t batch) const {
    return view.offset + (view.sizes.size() == 3 ? batch * view.strides[0] : 0);
  }
};
} // namespace

template <typename T>
static void multiplyAs(const Matrix &a, const Matrix &b, const Matrix &c) {
  size_t d = c.view.sizes.size() - 2;
  int64_t m = c.view.sizes[d], n = c.view.sizes[d + 1];
  int64_t k = a.view.sizes[d + 1];
  int64_t batches = d ? c.view.sizes[0] : 1;
  for (int64_t batch = 0; batch < batches; ++batch) {
    std::vector<T> sum = c.read<T>(batch);
    addProduct(sum, a.read<T>(batch), b.read<T>(batch), m, n, k);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        int64_t at =
            c.start(batch) + i * c.view.strides[d] + j * c.view.strides[d + 1];
        std::memcpy(reinterpret_cast<char *>(c.view.address) +
                        at * int64_t(sizeof(T)),
                    &sum[size_t(i * n + j)], sizeof(T));
      }
  }
}

/// Gives false where the op is none of these products, and does nothing then.
bool Simulator::multiply(Pe &pe, Operation *op) {
  if (auto matmul = dyn_cast<linalg::MatmulOp>(op)) {
    if (matmul.hasUserDefinedMaps() ||
        matmul.getCast() != linalg::TypeFn::cast_signed)
      return false;
  } else if (auto matmul = dyn_cast<linalg::BatchMatmulOp>(op)) {
    if (matmul.hasUserDefinedMaps() ||
        matmul.getCast() != linalg::TypeFn::cast_signed)
      return false;
  } else {
    return false;
  }
  auto matrix = [&](unsigned number) {
    Value memref = op->getOperand(number);
    return Matrix{pe.program->view(memref),
                  cast<MemRefType>(memref.getType()).getElementType()};
  };
  Matrix a = matrix(0), b = matrix(1), c = matrix(2);
  auto both = [&](auto is) { return is(a.element) && is(b.element); };
  auto isNarrowFloat = [](Type type) {
    return type.isF32() || type.isF16() || type.isBF16() ||
           (isa<FloatType>(type) && reference::widthOf(type) == 8);
  };
  auto isFloat = [](Type type) { return type.isF64() || type.isF32(); };
  auto isInteger = [](Type type) {
    return type.isInteger(8) || type.isInteger(16) || type.isInteger(32);
  };
  if (c.element.isF32() && both(isNarrowFloat))
    multiplyAs<float>(a, b, c);
  else if (c.element.isF64() && both(isFloat))
    multiplyAs<double>(a, b, c);
  else if (c.element.isInteger(32) && both(isInteger))
    multiplyAs<int32_t>(a, b, c);
  else
    return false;
  return true;
}

} // namespace tilebridge::accel
