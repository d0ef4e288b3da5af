//===- mynpu_mma.cpp - the instruction of the example's machine ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// On the machine this is an instruction; on the host it is the reference's
// product.

#include "accel_kernel.h"

extern "C" void mynpu_mma_f16_f32(accel_pe *pe, accel::f16 *a, int64_t m,
                                  int64_t k, int64_t a_row, int64_t a_column,
                                  accel::f16 *b, int64_t, int64_t n,
                                  int64_t b_row, int64_t b_column, float *c,
                                  int64_t, int64_t, int64_t c_row,
                                  int64_t c_column);

void mynpu_mma_f16_f32(accel_pe *pe, accel::f16 *a, int64_t m, int64_t k,
                       int64_t a_row, int64_t a_column, accel::f16 *b, int64_t,
                       int64_t n, int64_t b_row, int64_t b_column, float *c,
                       int64_t, int64_t, int64_t c_row, int64_t c_column) {
  accel::matmul(pe, {m, n, k}, a, {a_row, a_column}, b, {b_row, b_column}, c,
                {c_row, c_column});
}
