# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors that loops carry beside stores: sums over rows in kernels that write each row."""

import numpy as np
import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from test_guarded_reads import Memory

KEPT = "a loop carries it"


def is_computed_in_place(kernel):
    return any(KEPT in d["text"] for d in tilebridge.explain(kernel)["decisions"])


@triton.jit
def gradient_kernel(x, dy, dx, dw, db, rows, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    sums = tl.zeros([BLOCK], tl.float32)
    slopes = tl.zeros([BLOCK], tl.float32)
    for row in range(rows):
        value = tl.load(x + row * n + at, mask=inside, other=2.0)
        slope = tl.load(dy + row * n + at, mask=inside, other=1.0)
        along = tl.sum(value * slope, axis=0)
        sums += slope * value
        slopes += slope
        tl.store(dx + row * n + at, slope - along, mask=inside)
    tl.store(dw + at, sums)
    tl.store(db + at, slopes)


def model_gradient(x, dy, dx, dw, db, rows, n, block):
    sums, slopes = np.zeros(block, np.float32), np.zeros(block, np.float32)
    for row in range(rows):
        value, slope = np.full(block, 2, np.float32), np.ones(block, np.float32)
        value[:n] = x[row * n : row * n + n]
        slope[:n] = dy[row * n : row * n + n]
        sums += slope * value
        slopes += slope
        dx[row * n : row * n + n] = (slope - (value * slope).sum())[:n]
    dw[:block], db[:block] = sums, slopes


# Elements from the begin of `x` to that of `dx`: over the same row, the next ones, rows before, between rows, apart.
@pytest.mark.compiled("what overlaps is tested in compiled code")
@pytest.mark.parametrize("shift", [-120, -60, -59, -7, -1, 0, 1, 7, 59, 60, 61, 120, 1000])
@pytest.mark.parametrize("over", ["x", "dy"])
def test_rows_written_over_rows(over, shift, rng):
    rows, n, block = 3, 60, 64
    memory = Memory(rng)
    x, dy = memory.part(4096), memory.part(1024)
    dx = memory.part((4096 if over == "x" else 1024) + 4 * shift)
    dw, db = memory.part(12288), memory.part(12288 + 4 * block)
    model_gradient(x[1], dy[1], dx[1], dw[1], db[1], rows, n, block)
    kernel = gradient_kernel[(1,)](x[0], dy[0], dx[0], dw[0], db[0], rows, n, BLOCK=block)
    memory.check()
    assert is_computed_in_place(kernel)


@pytest.mark.parametrize("rows", [0, 1, 2, 7])
@pytest.mark.parametrize("n", [1, 16, 61, 64, 257])
def test_sums_over_rows(n, rows, rng):
    block = triton.next_power_of_2(n)
    x, dy = (torch.randint(-3, 4, [rows * n + 1], generator=rng).float() for _ in "xy")
    dx, dw, db = torch.full_like(x, 9), torch.full([block], 9.0), torch.full([block], 9.0)
    expected = [t.numpy().copy() for t in (dx, dw, db)]
    model_gradient(x.numpy(), dy.numpy(), *expected, rows, n, block)
    gradient_kernel[(1,)](x, dy, dx, dw, db, rows, n, BLOCK=block)
    for got, wanted in zip((dx, dw, db), expected, strict=True):
        assert np.array_equal(got.numpy(), wanted)


@triton.jit
def carry_kernel(x, y, out, rows, KIND: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    dtype = x.dtype.element_ty
    first = tl.zeros([N], dtype)
    second = tl.full([N], 1, dtype)
    for row in range(rows):
        value = tl.load(x + row * N + at)
        if KIND == "swapped":
            first, second = second + value, first - value
            tl.store(y + row * N + at, value + second)
        elif KIND == "same":
            first = first + value
            second = first
            tl.store(y + row * N + at, value - second)
        elif KIND == "old":
            # What the loop brought is read after its next value is known.
            new = first + value
            total = tl.max(new, axis=0)
            tl.store(y + row * N + at, first + total.to(dtype))
            first = new
        elif KIND == "chain":
            first = first + value
            second = tl.maximum(second, first).to(dtype)
            tl.store(y + row * N + at, second - value)
        elif KIND == "turned":
            tl.store(y + row * N + at, value + first)
            first = tl.flip(first, 0) + value
        elif KIND == "summed":
            tl.store(y + row * N + at, value)
            first = first + tl.max(first, axis=0).to(dtype) + value
        elif KIND == "branch":
            tl.store(y + row * N + at, value + first)
            if row % 2 == 1:
                first = first + value
            else:
                second = second - value
        elif KIND == "nested":
            for _ in range(2):
                tl.store(y + row * N + at, value + first)
                first = first + value
            second = second + first
        elif KIND == "read back":
            tl.store(y + row * N + at, value + first)
            first = first + tl.load(y + row * N + at)
        elif KIND == "while":
            left = row
            while left > 0:
                tl.store(y + row * N + at, value + first)
                first = first + value
                left -= 2
    tl.store(out + at, first)
    tl.store(out + N + at, second)


def model_carry(x, rows, kind, n):
    dtype = x.dtype
    first, second = torch.zeros(n, dtype=dtype), torch.ones(n, dtype=dtype)
    y = torch.zeros_like(x)
    for row in range(rows):
        value = x[row]
        if kind == "swapped":
            first, second = second + value, first - value
            y[row] = value + second
        elif kind == "same":
            first = second = first + value
            y[row] = value - second
        elif kind == "old":
            y[row] = first + (first + value).max()
            first = first + value
        elif kind == "chain":
            first = first + value
            second = torch.maximum(second, first)
            y[row] = second - value
        elif kind == "turned":
            y[row] = value + first
            first = first.flip(0) + value
        elif kind == "summed":
            y[row] = value
            first = first + first.max() + value
        elif kind == "branch":
            y[row] = value + first
            if row % 2:
                first = first + value
            else:
                second = second - value
        elif kind == "nested":
            for _ in range(2):
                y[row] = value + first
                first = first + value
            second = second + first
        elif kind == "read back":
            y[row] = value + first
            first = first + y[row]
        elif kind == "while":
            for _ in range(0, row, 2):
                y[row] = value + first
                first = first + value
    return y, torch.stack([first, second])


KINDS = [
    "swapped",
    "same",
    "old",
    "chain",
    "turned",
    "summed",
    "branch",
    "nested",
    "read back",
    "while",
]


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int8, torch.int64],
    ids=lambda d: str(d)[6:],
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "n"), [(0, 16), (1, 64), (5, 64), (4, 2), (3, 512)])
def test_kinds(rows, n, kind, dtype, rng):
    # So small that every sum is exact in each dtype.
    x = torch.randint(-1, 2, [rows, n], generator=rng).to(dtype)
    y, out = torch.zeros_like(x), torch.full([2, n], 7).to(dtype)
    expected_y, expected = model_carry(x, rows, kind, n)
    kernel = carry_kernel[(1,)](x, y, out, rows, KIND=kind, N=n)
    assert torch.equal(y, expected_y)
    assert torch.equal(out, expected)
    if kind in ("chain", "nested") and rows > 1 and dtype == torch.float32:
        assert is_computed_in_place(kernel)
