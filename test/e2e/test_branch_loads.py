# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks that a branch loads with a mask and the other one without: one load, whose box the condition chooses."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, normal

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int8]


@triton.jit
def read(place, is_part, mask, other):
    if is_part:
        x = tl.load(place, mask=mask, other=other)
    else:
        x = tl.load(place)
    return x


@triton.jit
def scale_kernel(x, o, m, n, stride, R: tl.constexpr, B: tl.constexpr, WHOLE_FIRST: tl.constexpr):
    rows = tl.program_id(0) * R + tl.arange(0, R)
    cols = tl.program_id(1) * B + tl.arange(0, B)
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    at = rows[:, None] * stride + cols[None, :]
    is_whole = ((tl.program_id(0) + 1) * R <= m) & ((tl.program_id(1) + 1) * B <= n)
    if WHOLE_FIRST:
        if is_whole:
            v = tl.load(x + at)
        else:
            v = tl.load(x + at, mask=mask, other=3)
    else:
        v = read(x + at, not is_whole, mask, 3)
    # What is outside counts, too.
    sums = tl.sum(v.to(tl.float32), 1)
    tl.store(o + rows * tl.num_programs(1) + tl.program_id(1), sums, mask=rows < m)


@pytest.mark.parametrize("whole_first", [False, True])
@pytest.mark.parametrize(("m", "n"), [(8, 64), (9, 64), (16, 65), (3, 200), (1, 1)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_of_blocks(whole_first, m, n, dtype, rng):
    rows, block = 8, 64
    x = normal(rng, [m, n], torch.float32).mul(9).to(dtype)
    grid = (triton.cdiv(m, rows), triton.cdiv(n, block))
    o = torch.full((m, grid[1]), 7.0)
    # Nothing behind the array is read.
    scale_kernel[grid](at_end_of_memory(x), o, m, n, n, R=rows, B=block, WHOLE_FIRST=whole_first)
    padded = torch.full((m, grid[1] * block), 3.0, dtype=torch.float64)
    padded[:, :n] = x.double()
    check_equal(o, padded.view(m, grid[1], block).sum(2), tolerance=(1e-5, 1e-3))


@triton.jit
def product_kernel(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rows, cols = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        d = start + tl.arange(0, BK)
        is_end = start + BK > k
        left = read(
            a + rows[:, None] * k + d[None, :],
            is_end or (tl.program_id(0) + 1) * BM > m,
            (rows[:, None] < m) & (d[None, :] < k),
            0.0,
        )
        right = read(
            b + cols[None, :] * k + d[:, None],
            is_end or (tl.program_id(1) + 1) * BN > n,
            (cols[None, :] < n) & (d[:, None] < k),
            0.0,
        )
        acc = tl.dot(left, right, acc, input_precision="ieee")
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(c + rows[:, None] * n + cols[None, :], acc, mask=mask)


@pytest.mark.parametrize("m", [1, 16, 33])
@pytest.mark.parametrize("n", [32, 40])
@pytest.mark.parametrize("k", [16, 32, 77])
@pytest.mark.parametrize("dtype", DTYPES[:3], ids=str)
def test_product(m, n, k, dtype, rng):
    a, b = normal(rng, [m, k], dtype), normal(rng, [n, k], dtype)
    c = torch.full((m, n), 7.0)
    grid = (triton.cdiv(m, 16), triton.cdiv(n, 32))
    product_kernel[grid](at_end_of_memory(a), at_end_of_memory(b), c, m, n, k, BM=16, BN=32, BK=32)
    check_equal(c, a.double() @ b.double().T, tolerance=(1e-4, 1e-4))


@triton.jit
def turns_kernel(x, o, n, steps, is_part, B: tl.constexpr):
    cols = tl.arange(0, B)
    for step in range(steps):
        if step % 2 == 0:
            # A branch that writes first reads what it has written.
            tl.store(x + cols, cols + step, mask=cols < n)
            v = tl.load(x + cols, mask=cols < n, other=-1)
        else:
            v = tl.load(x + cols, mask=cols < n, other=-1)
        tl.store(x + cols, v + 1, mask=cols < n)
        w = read(x + cols, is_part != 0, cols < n, -2)
        tl.store(o + step * B + cols, v * 1000 + w)


@pytest.mark.parametrize("n", [1, 31, 64])
def test_stores_between_loads(n):
    steps = 4
    x = torch.zeros(64, dtype=torch.int32)
    o = torch.empty(steps, 64, dtype=torch.int32)
    turns_kernel[(1,)](x, o, n, steps, int(n != 64), B=64)
    value, cols = torch.zeros(64, dtype=torch.int32), torch.arange(64, dtype=torch.int32)
    for step in range(steps):
        if step % 2 == 0:
            value = cols + step
        shown = torch.where(cols < n, value, -1) * 1000
        value = value + 1
        assert torch.equal(o[step], shown + torch.where(cols < n, value, -2))
