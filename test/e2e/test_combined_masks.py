# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks that are combined from comparisons, of loads, stores and selections of several vectors."""

import pytest
import torch
import triton
import triton.language as tl
from support import NAMES, output

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
DTYPES = [*FLOATS, torch.int8, torch.int16, torch.int32, torch.int64]


@triton.jit
def picked_kernel(x, y, out, n, SOME: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    a, b = tl.load(x + at, mask=inside, other=0), tl.load(y + at, mask=inside, other=0)
    takes_first = ((a > b) & (b != 3)) | ((a == b) & (at % 3 == 1))
    if SOME:
        inside = inside & ((a != 5) | (b > 2))
    tl.store(out + at, tl.where(takes_first, a, b), mask=inside)


@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("n", [1, 7, 31, 64, 97, 781, 2048])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: NAMES[d])
def test_picked(dtype, n, some, rng):
    x, y = (torch.randint(-8, 8, [n], generator=rng).to(dtype) for _ in range(2))
    if dtype.is_floating_point and n > 7:
        x[3] = y[5] = float("nan")
    out = output([n], dtype)
    out.fill_(9)
    picked_kernel[(1,)](x, y, out, n, SOME=some, BLOCK=triton.next_power_of_2(n))
    takes_first = ((x > y) & (y != 3)) | ((x == y) & (torch.arange(n) % 3 == 1))
    stored = (x != 5) | (y > 2) | torch.tensor(not some)
    wanted = torch.where(stored, torch.where(takes_first, x, y), torch.full_like(x, 9))
    assert torch.equal(out.double().nan_to_num(77), wanted.double().nan_to_num(77))


@triton.jit
def first_largest(a, i, b, j):
    """NaN is larger than everything; of equal ones the first."""
    a_nan, b_nan = a != a, b != b
    stays = (a > b) | (a_nan & (b == b)) | (((a == b) | (a_nan & b_nan)) & (i < j))
    return tl.where(stays, a, b), tl.where(stays, i, j)


@triton.jit
def argmax_kernel(x, out, n, PLACE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best = tl.full([BLOCK], -float("inf"), tl.float32)
    place = tl.full([BLOCK], 1 << 30, PLACE)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
        value, other = first_largest(best, place, value, at.to(PLACE))
        best = tl.where(at < n, value, best)
        place = tl.where(at < n, other, place)
    _, first = tl.reduce((best, place), 0, first_largest)
    tl.store(out + row, first)


@pytest.mark.parametrize("place", [tl.int32, tl.int64], ids=str)
@pytest.mark.parametrize("n", [1, 31, 781, 2048, 3001])
def test_carried_argmax(n, place, rng):
    """What a loop carries in memory is blended with what was there."""
    x = torch.randn([4, n], generator=rng)
    x[1, n // 2] = float("nan")
    x[2] = 1.5
    out = output([4], torch.int64)
    argmax_kernel[(4,)](x, out, n, PLACE=place, BLOCK=512)
    assert torch.equal(out, x.argmax(1))
