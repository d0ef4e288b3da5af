# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of examples/, from TTIR to C++ for an accelerator: the simulator's results, and NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from accel_cpp_support import COMPILERS, ROOT, compare

DUMPS = ROOT / "test" / "ttir" / "examples" / "3.9.0"


def random(seed, shape, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def run(dump, name, target, grid, values, folder):
    text = (DUMPS / f"{dump}.mlir").read_text()
    return compare(text, name, target, grid, values, folder, compilers=COMPILERS[:1])[1]


@pytest.mark.parametrize("target", ["grid-1x8", "mtia-2i-like"])
def test_vector_add(target, tmp_path):
    x, y = random(1, 5000), random(2, 5000)
    results = run(
        "vector-add-f32",
        "add_kernel",
        target,
        (5,),
        [x, y, np.zeros(5000, np.float32), 5000],
        tmp_path,
    )
    np.testing.assert_array_equal(results[2], x + y)


def test_softmax(tmp_path):
    x = random(3, (37, 781)) * 4
    values = [x, np.zeros_like(x), 37, 781, 781, 781]
    results = run("softmax-f32", "row_softmax_kernel", "grid-1x8", (8,), values, tmp_path)
    e = np.exp((x - x.max(1, keepdims=True)).astype(np.float64))
    np.testing.assert_allclose(results[1], e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)


def test_matmul(tmp_path):
    a, b = random(5, (256, 64), np.float16), random(6, (64, 256), np.float16)
    values = [a, b, np.zeros((256, 256), np.float16), 256, 256, 64, 64, 256, 256]
    results = run(
        "matmul-f16-pointers", "matmul_pointers_kernel", "mtia-2i-like", (16,), values, tmp_path
    )
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(results[2], exact, rtol=2e-3, atol=2e-2)
