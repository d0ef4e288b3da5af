# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of one element at computed places, such as pixels: most follow one another, columns lie apart."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

TYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int8,
    torch.int16,
    torch.int64,
]
NAMES = [str(t).removeprefix("torch.") for t in TYPES]


@triton.jit
def product_kernel(
    x, w, out, places, limit, k, x_col,
    M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr, HAS_MASK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    at = tl.load(places + rows)
    acc = tl.zeros((M, N), ACC)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        mask = inner[None, :] < k
        if HAS_MASK:
            mask = mask & (at >= 0)[:, None] & (at < limit)[:, None]
        a = tl.load(x + at[:, None] + inner[None, :] * x_col, mask=mask, other=0)
        b = tl.load(w + inner[:, None] * N + cols[None, :], mask=inner[:, None] < k, other=0)
        acc = tl.dot(a, b, acc, out_dtype=ACC, input_precision="ieee")
    tl.store(out + rows[:, None] * N + cols[None, :], acc)


@triton.jit
def copy_kernel(
    x, out, places, limit, n, x_col, other, M: tl.constexpr, N: tl.constexpr, HAS_MASK: tl.constexpr
):  # fmt: skip
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    at = tl.load(places + rows)
    mask = (cols < n)[None, :]
    if HAS_MASK:
        mask = mask & (at >= 0)[:, None] & (at < limit)[:, None]
    block = tl.load(x + at[:, None] + cols[None, :] * x_col, mask=mask, other=other)
    tl.store(out + rows[:, None] * N + cols[None, :], block)


def values(generator, shape, dtype):
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(-100, 100, shape, generator=generator).to(dtype)


def some_places(kind, m, size):
    """Rows that follow one another, or do not; what is outside of [0, size) is masked off."""
    run = np.arange(m) + 3
    if kind == "broken":
        run[m // 2 + 1 :] += 5  # Inside of a vector.
    elif kind == "images":
        run[m // 2 :] += 40  # Between two.
    elif kind == "edges":
        run -= 10
    elif kind == "ends":
        run += size - m // 2
    elif kind == "holes":
        run[::7] = -(1 << 40)  # What is masked off may be anything.
    elif kind == "far":
        run[:] = 1 << 50
        run[m // 2] = 4
    elif kind == "none":
        run[:] = -(1 << 60)
    elif kind == "equal":
        run[:] = 6
    elif kind == "back":
        run = run[::-1].copy()
    elif kind == "steps":
        run = 2 * run
    return torch.from_numpy(run.astype(np.int64))


INSIDE = ["run", "broken", "images", "equal", "back", "steps"]
MASKED = [*INSIDE, "edges", "ends", "holes", "far", "none"]
CASES = [(kind, False) for kind in INSIDE] + [(kind, True) for kind in MASKED]


def gathered(x, places, size, other):
    inside = (places >= 0) & (places < size)
    rows = x[:, torch.where(inside, places, 0)].T.clone()
    rows[~inside] = other
    return rows


@pytest.mark.parametrize(("kind", "masked"), CASES)
@pytest.mark.parametrize("dtype", [*TYPES[:3], torch.int8], ids=[*NAMES[:3], "int8"])
@pytest.mark.parametrize(
    ("m", "n", "k", "block"), [(64, 32, 64, 32), (32, 16, 37, 32), (16, 16, 16, 16)]
)
def test_product(m, n, k, block, dtype, kind, masked):
    generator = torch.Generator().manual_seed(3)
    size = 200
    x, w = values(generator, (k, size), dtype), values(generator, (k, n), dtype)
    places = some_places(kind, m, size)
    acc = torch.float32 if dtype.is_floating_point else torch.int32
    out = torch.empty(m, n, dtype=acc)
    ACC = tl.float32 if dtype.is_floating_point else tl.int32
    product_kernel[(1,)](x, w, out, places, size, k, x.stride(0), m, n, block, masked, ACC)
    expected = gathered(x, places, size, 0).double() @ w.double()
    np.testing.assert_allclose(out.double(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("kind", "masked"), CASES)
@pytest.mark.parametrize("dtype", TYPES, ids=NAMES)
@pytest.mark.parametrize(("n", "backwards"), [(32, False), (23, False), (1, False), (32, True)])
def test_copy(n, backwards, dtype, kind, masked):
    generator = torch.Generator().manual_seed(4)
    m, size, block = 32, 150, 32
    x = values(generator, (block, size), dtype)
    places = some_places(kind, m, size)
    out = torch.zeros(m, block, dtype=dtype)
    first, column = (x[-1:], -size) if backwards else (x, size)
    copy_kernel[(1,)](first, out, places, size, n, column, 7, m, block, masked)
    expected = gathered(x.flip(0) if backwards else x, places, size, 7)
    expected[:, n:] = 7
    assert torch.equal(out, expected)


@triton.jit
def shift_kernel(x, out, places, x_col, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    at = tl.load(places + rows)
    block = tl.load(x + at[:, None] + cols[None, :] * x_col)
    tl.store(out + rows[:, None] * N + cols[None, :], block)


@pytest.mark.parametrize("kind", ["run", "broken"])
@pytest.mark.parametrize("shift", [-5, 0, 5, 40])
def test_stores_over_what_is_read(shift, kind):
    m, n = 32, 32
    memory = torch.arange(60 * n + 200, dtype=torch.float32)
    x, out = memory[60:], torch.as_strided(memory, (m, n), (n, 1), 60 + shift)
    places = some_places(kind, m, 60)
    expected = memory.clone()
    picked = x[places[:, None] + torch.arange(n)[None, :] * 50].clone()
    torch.as_strided(expected, (m, n), (n, 1), 60 + shift).copy_(picked)
    shift_kernel[(1,)](x, out, places, 50, m, n)
    assert torch.equal(memory, expected)
