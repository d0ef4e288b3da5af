# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products that are added up one step along K in each iteration, several of which are taken at once."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal


@triton.jit
def row_kernel(a, b, c, n, first, k, FIRST: tl.constexpr, STEP: tl.constexpr, B: tl.constexpr):
    """A row of the product: numbers of `a` by rows of `b`."""
    m = tl.program_id(0)
    j = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros([B], tl.float32)
    for s in range(FIRST if FIRST >= 0 else first, k, STEP):
        acc += tl.load(a + m * k + s).to(tl.float32) * tl.load(
            b + s * n + j, mask=j < n, other=0
        ).to(tl.float32)
    tl.store(c + m * n + j, acc, mask=j < n)


@pytest.mark.parametrize("steps", [(0, 1), (0, 3), (2, 1), (-1, 1)])
@pytest.mark.parametrize("k", [0, 1, 3, 4, 5, 8, 67])
@pytest.mark.parametrize("n", [1, 64, 77])
def test_rows(n, k, steps, rng):
    first, step = steps
    a, b = normal(rng, [3, k]), normal(rng, [k, n])
    c = torch.full([3, n], 7.0)
    # Where the loop begins is a number of the launch for -1.
    row_kernel[(3, triton.cdiv(n, 64))](a, b, c, n, 1, k, FIRST=first, STEP=step, B=64)
    part = slice(first if first >= 0 else 1, None, step)
    check_equal(c, (a.double()[:, part] @ b.double()[part]).float(), terms=k + 1)


@pytest.mark.parametrize("dtype", dtypes(torch.float16, torch.bfloat16))
def test_narrow_types(dtype, rng):
    a, b, c = normal(rng, [2, 30], dtype), normal(rng, [30, 100], dtype), torch.empty(2, 100)
    row_kernel[(2, 2)](a, b, c, 100, 0, 30, FIRST=0, STEP=1, B=64)
    check_equal(c, (a.double() @ b.double()).float(), terms=30)


@triton.jit
def tile_kernel(a, b, c, m, n, k, DTYPE: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """A tile of the product: columns of `a` by rows of `b`."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    acc = tl.zeros([M, N], DTYPE)
    other = tl.zeros([M], DTYPE)
    for s in range(k):
        x = tl.load(a + i * k + s, mask=i < m, other=0)
        y = tl.load(b + s * n + j, mask=j < n, other=0)
        acc += x[:, None] * y[None, :]
        other = other * 0.5 + x
    tl.store(
        c + i[:, None] * n + j[None, :],
        acc + other[:, None],
        mask=(i < m)[:, None] & (j < n)[None, :],
    )


@pytest.mark.parametrize("k", [0, 2, 4, 39])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float64))
def test_tiles(dtype, k, rng):
    m, n = 21, 50
    a, b = normal(rng, [m, k], dtype), normal(rng, [k, n], dtype)
    c = torch.empty(m, n, dtype=dtype)
    kind = tl.float64 if dtype == torch.float64 else tl.float32
    tile_kernel[(2, 2)](a, b, c, m, n, k, DTYPE=kind, M=16, N=32)
    other = torch.zeros(m, dtype=torch.float64)
    for s in range(k):
        other = other * 0.5 + a[:, s].double()
    check_equal(c, (a.double() @ b.double() + other[:, None]).to(dtype), terms=k + 2)


def test_special_values():
    a = torch.ones(1, 9)
    b = torch.ones(9, 64)
    a[0, 4], b[5, 3], b[8, 4], b[1, 5] = 0.0, float("inf"), float("nan"), float("-inf")
    b[4, 6] = float("inf")
    c = torch.empty(1, 64)
    row_kernel[(1, 1)](a, b, c, 64, 0, 9, FIRST=0, STEP=1, B=64)
    assert torch.equal(torch.isnan(c[0]).nonzero().flatten(), torch.tensor([4, 6]))
    assert (c[0, 3], c[0, 5], c[0, 0]) == (float("inf"), float("-inf"), 8)


@triton.jit
def ends_kernel(a, b, c, first, end, FIRST: tl.constexpr):
    j = tl.arange(0, 64)
    acc = tl.full([64], 2.0, tl.float32)
    for s in range(FIRST, end):
        acc = acc * tl.load(a + s) + tl.load(b + s * 64 + j)
    tl.store(c + j, acc)


@pytest.mark.parametrize("first", [0, 1, 5])
@pytest.mark.parametrize("end", [-(2**31), -5, -1, 0, 1, 2, 3, 4, 6, 9, 13])
def test_ends(first, end, rng):
    a, b, c = normal(rng, [16]), normal(rng, [16, 64]), torch.empty(64)
    ends_kernel[(1,)](a, b, c, first, end, FIRST=first)
    wanted = torch.full([64], 2.0, dtype=torch.float64)
    for s in range(first, end):
        wanted = wanted * a[s].double() + b[s].double()
    check_equal(c, wanted.float(), terms=16)
