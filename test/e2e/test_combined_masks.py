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
def picked_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    a, b = tl.load(x + at, mask=inside, other=0), tl.load(y + at, mask=inside, other=0)
    takes_first = ((a > b) & (b != 3)) | ((a == b) & (at % 3 == 1))
    tl.store(out + at, tl.where(takes_first, a, b), mask=inside & ((a != 5) | (b > 2)))


@pytest.mark.parametrize("n", [1, 7, 31, 64, 97, 781, 2048])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: NAMES[d])
def test_picked(dtype, n, rng):
    x, y = (torch.randint(-8, 8, [n], generator=rng).to(dtype) for _ in range(2))
    if dtype.is_floating_point and n > 7:
        x[3] = y[5] = float("nan")
    out = output([n], dtype)
    out.fill_(9)
    picked_kernel[(1,)](x, y, out, n, BLOCK=triton.next_power_of_2(n))
    takes_first = ((x > y) & (y != 3)) | ((x == y) & (torch.arange(n) % 3 == 1))
    stored = (x != 5) | (y > 2)
    wanted = torch.where(stored, torch.where(takes_first, x, y), torch.full_like(x, 9))
    assert torch.equal(out.double().nan_to_num(77), wanted.double().nan_to_num(77))
