//===- main.cpp - runs the emitted kernel on the host -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The emitted C++ with the reference implementation of its interface: the
// product of two matrices, checked.

#include "accel_kernel.h"
#include "accel_reference.h"

#include <cmath>
#include <cstdio>
#include <vector>

extern "C" const accel_kernel accel_kernel_matmul;

int main() {
  const int n = 64;
  std::vector<accel::f16> a(n * n), b(n * n);
  std::vector<float> c(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = accel::f16((i * 7 % 13 - 6) / 8.0);
    b[i] = accel::f16((i * 5 % 11 - 5) / 8.0);
  }
  accel_argument arguments[3];
  arguments[0].pointer = a.data();
  arguments[1].pointer = b.data();
  arguments[2].pointer = c.data();
  accel_reference_array arrays[] = {{a.data(), a.size() * sizeof(a[0])},
                                    {b.data(), b.size() * sizeof(b[0])},
                                    {c.data(), c.size() * sizeof(c[0])}};
  accel_reference_launch launch = {};
  launch.struct_size = sizeof(launch);
  launch.grid[0] = launch.grid[1] = 2;
  launch.grid[2] = 1;
  launch.argument_count = 3;
  launch.arguments = arguments;
  launch.arrays = arrays;
  launch.array_count = 3;
  char error[1000];
  if (accel_reference_run(&accel_kernel_matmul, &launch, error,
                          sizeof(error)) != 0) {
    std::fprintf(stderr, "%s\n", error);
    return 1;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k)
        sum += float(a[i * n + k]) * float(b[k * n + j]);
      if (std::fabs(sum - c[i * n + j]) > 1e-3f) {
        std::fprintf(stderr, "c[%d, %d] is %g, not %g\n", i, j,
                     double(c[i * n + j]), double(sum));
        return 1;
      }
    }
  std::puts("the product is right");
  return 0;
}
