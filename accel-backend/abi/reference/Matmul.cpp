//===- Matmul.cpp - products of matrices ----------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

namespace accel {

/// Elements of a matrix, row by row, widened to the type of the sum.
template <class From, class To>
static std::vector<To> widened(const void *base, int64_t rows, int64_t columns,
                               const int64_t *strides, bool isUnsigned) {
  std::vector<To> result;
  result.reserve(size_t(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      From element;
      std::memcpy(&element,
                  static_cast<const char *>(base) + i * strides[0] +
                      j * strides[1],
                  sizeof(From));
      if constexpr (std::is_integral_v<From> && std::is_integral_v<To>)
        result.push_back(isUnsigned ? zext<To>(element) : sext<To>(element));
      else if constexpr (std::is_integral_v<To>)
        result.push_back(To()); // which accel_matmul has refused
      else
        result.push_back(To(element));
    }
  return result;
}

template <class To>
static std::vector<To> widen(uint32_t type, const void *base, int64_t rows,
                             int64_t columns, const int64_t *strides,
                             bool isUnsigned) {
  switch (type) {
#define ACCEL_CASE(name, From)                                                 \
  case name:                                                                   \
    return widened<From, To>(base, rows, columns, strides, isUnsigned);
    ACCEL_CASE(ACCEL_BOOL, bool)
    ACCEL_CASE(ACCEL_I8, int8_t)
    ACCEL_CASE(ACCEL_I16, int16_t)
    ACCEL_CASE(ACCEL_I32, int32_t)
    ACCEL_CASE(ACCEL_I64, int64_t)
    ACCEL_CASE(ACCEL_F16, f16)
    ACCEL_CASE(ACCEL_BF16, bf16)
    ACCEL_CASE(ACCEL_F32, float)
    ACCEL_CASE(ACCEL_F64, double)
    ACCEL_CASE(ACCEL_F8E5M2, f8e5m2)
    ACCEL_CASE(ACCEL_F8E4M3FN, f8e4m3fn)
    ACCEL_CASE(ACCEL_F8E4M3B11FNUZ, f8e4m3b11fnuz)
    ACCEL_CASE(ACCEL_F8E4M3FNUZ, f8e4m3fnuz)
    ACCEL_CASE(ACCEL_F8E5M2FNUZ, f8e5m2fnuz)
#undef ACCEL_CASE
  }
  return {};
}

template <class C> static void multiply(const accel_matmul_arguments &all) {
  std::vector<C> a =
      widen<C>(all.a_type, all.a, all.m, all.k, all.a_strides, all.is_unsigned);
  std::vector<C> b =
      widen<C>(all.b_type, all.b, all.k, all.n, all.b_strides, all.is_unsigned);
  for (int64_t i = 0; i < all.m; ++i)
    for (int64_t j = 0; j < all.n; ++j) {
      char *place = static_cast<char *>(all.c) + i * all.c_strides[0] +
                    j * all.c_strides[1];
      C sum;
      std::memcpy(&sum, place, sizeof(C));
      for (int64_t k = 0; k < all.k; ++k) {
        C x = a[size_t(i * all.k + k)], y = b[size_t(k * all.n + j)];
        if constexpr (std::is_integral_v<C>)
          sum = add(sum, mul(x, y));
        else if constexpr (std::is_floating_point_v<C>)
          sum = std::fma(x, y, sum);
        else
          sum = sum + x * y;
      }
      std::memcpy(place, &sum, sizeof(C));
    }
}

} // namespace accel

void accel_matmul(accel_pe *pe, const accel_matmul_arguments *all) {
  bool isInteger = all->c_type <= ACCEL_I64;
  if (isInteger && (all->a_type > ACCEL_I64 || all->b_type > ACCEL_I64))
    pe->machine->fail(pe, nullptr, "a matmul of floats with sums of integers");
  switch (all->c_type) {
  case ACCEL_I32:
    return accel::multiply<int32_t>(*all);
  case ACCEL_I64:
    return accel::multiply<int64_t>(*all);
  case ACCEL_F16:
    return accel::multiply<accel::f16>(*all);
  case ACCEL_BF16:
    return accel::multiply<accel::bf16>(*all);
  case ACCEL_F32:
    return accel::multiply<float>(*all);
  case ACCEL_F64:
    return accel::multiply<double>(*all);
  }
  pe->machine->fail(
      pe, nullptr, "a matmul with sums of type " + std::to_string(all->c_type));
}
