# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bf16 that is read as words of two elements: every number, rows of any length, and rows that begin anywhere."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal


@triton.jit
def row_kernel(x, w, y, results, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(w + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + at, (value * 2 + weight).to(tl.bfloat16), mask=inside)
    tl.store(results, tl.sum(value, axis=0))
    tl.store(results + 1, tl.max(tl.where(inside, value, -float("inf")), axis=0))


def run(x, w):
    n = x.numel()
    y, results = torch.zeros_like(x), torch.zeros(2)
    row_kernel[(1,)](x, w, y, results, n, BLOCK=triton.next_power_of_2(n))
    check_equal(y, (x.float() * 2 + w.float()).bfloat16(), tolerance=(0, 0))
    return results


def test_all_numbers(rng):
    x = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
    for first in (0, 1):
        run(x[first:], torch.randn(65536 - first, generator=rng).bfloat16())


@pytest.mark.parametrize("n", [1, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 4097])
@pytest.mark.parametrize("first", [0, 1, 7])
def test_lengths(n, first, rng):
    # Sums of small integers are exact in any order.
    x = torch.randint(-8, 9, [n + first], generator=rng).bfloat16()[first:]
    results = run(x, torch.randn(n, generator=rng).bfloat16())
    check_equal(results, torch.stack([x.float().sum(), x.float().max()]))


@triton.jit
def rounding_kernel(x, nearest, toward_zero, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32) * 1.0859375
    tl.store(nearest + at, value.to(tl.bfloat16), mask=at < n)
    cut = value.to(tl.bfloat16, fp_downcast_rounding="rtz")
    tl.store(toward_zero + at, cut, mask=at < n)


def test_roundings_of_all_numbers():
    """Ties, carries into the exponent, infinities, NaN and subnormal numbers, in either order of lanes."""
    x = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
    nearest, toward_zero = torch.zeros_like(x), torch.zeros_like(x)
    rounding_kernel[(16,)](x, nearest, toward_zero, 65536, BLOCK=4096)
    exact = x.float() * 1.0859375
    check_equal(nearest, exact.bfloat16(), tolerance=(0, 0))
    cut = (exact.view(torch.int32) >> 16).to(torch.int16).view(torch.bfloat16)
    check_equal(toward_zero, cut, tolerance=(0, 0))
