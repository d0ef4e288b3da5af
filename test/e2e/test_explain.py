# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is told about a kernel's accesses: in Python, and when a program is compiled."""

import os
import subprocess
import sys

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal, output

pytestmark = pytest.mark.compiled("only the compiler knows what it did")


@triton.jit
def chosen_rows_kernel(x, idx, out, n, stride, BLOCK: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.arange(0, COLS)
    chosen = tl.load(idx + rows, mask=rows < n)
    values = tl.load(x + chosen[:, None] * stride + cols[None, :])
    tl.store(out + rows[:, None] * stride + cols[None, :], values, mask=rows[:, None] < n)


def launch(rng):
    n, cols = 70, 32
    x, out = normal(rng, [n, cols]), output([n, cols], torch.float32)
    idx = torch.randint(0, n, [n], generator=rng, dtype=torch.int32)
    kernel = chosen_rows_kernel[(3,)](x, idx, out, n, cols, BLOCK=32, COLS=cols)
    check_equal(out, x[idx.long()])
    return kernel


def test_explain_of_a_kernel(rng):
    import tilebridge

    kernel = launch(rng)
    told = tilebridge.explain(kernel)
    assert told["kernel"] == "chosen_rows_kernel"
    first, second, third = told["accesses"]
    assert [a["operation"] for a in told["accesses"]] == ["load", "load", "store"]
    assert [a["form"] for a in told["accesses"]] == ["subview", "row gather", "subview"]
    assert first["file"].endswith("test_explain.py")
    assert first["line"] + 1 == second["line"] == third["line"] - 1
    assert (first["shape"], first["element"], first["strides"]) == ([32], "i32", ["1"])
    assert (second["base"], second["strides"]) == ("x", ["?", "1"])
    assert second["cause"]["line"] == first["line"]
    assert "loaded from memory" in second["reason"]
    assert "reason" not in third
    assert len(third["mask"]) == 1
    assert tilebridge.explain(kernel.asm["ttir"]) == told
    assert told["target"] == "cpu"
    (loops,) = [entry for entry in told["decisions"] if entry["kind"] == "loops"]
    assert loops["line"] == third["line"]
    assert loops["shape"] == [32, 32]
    assert loops["stores"] == 1


def test_environment_variable_prints_the_report(tmp_path):
    program = (
        "import torch, triton, triton.language as tl\n"
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "import test_explain\n"
        "test_explain.launch(torch.Generator().manual_seed(1))\n"
    )
    environment = {**os.environ, "TILEBRIDGE_EXPLAIN": "1", "TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert "kernel chosen_rows_kernel: 3 accesses: 2 subview, 1 row gather\n" in done.stderr
    assert "why: the offset is not linear" in done.stderr
    assert "decisions for cpu:\n" in done.stderr
