# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of examples/, from TTIR to C++ for an accelerator: the simulator's results, and NumPy's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

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


EXAMPLES = (
    "129_1 or (softmax and f16 and 13x97) or 3x65 or (matmul and 37x41x53) or (kernel_desc and 33x80x144)"
    " or (layer and 7x301) or (layer and 64x64) or (dropout and 777_0) or (attention and 3x33x16)"
    " or (attention and f16 and desc) or (scan and 15x5) or (cross and 9x63) or (embedding and f16)"
    " or (embedding and i8) or (histogram and 1000) or (grouped and f16 and 5) or (grouped and f32 and 3)"
)


def test_examples(tmp_path):
    """Each family of examples/, with whatever launches it makes, as C++ with the simulator's bits."""
    results = tmp_path / "results"
    child = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "accel_comparison"),
            *("-p", "no:cacheprovider", "test_examples.py", "-k", EXAMPLES),
        ],
        env=os.environ
        | {
            "TILEBRIDGE_TARGET": "accel:grid-1x8",
            "TILEBRIDGE_ACCEL_CPP": "1",
            "TILEBRIDGE_ACCEL_RESULTS": str(results),
        },
        cwd=Path(__file__).resolve().parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stdout[-4000:]
    assert json.loads(results.read_text())["as_cpp"] >= 20
