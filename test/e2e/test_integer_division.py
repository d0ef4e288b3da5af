# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quotients and remainders of 32 bits are exact: vectors get them from reciprocals of doubles."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

LEAST, MOST = -(2**31), 2**31 - 1
SPECIAL = [LEAST, LEAST + 1, -65537, -7, -2, -1, 1, 2, 3, 46341, 65536, 2**30, MOST - 1, MOST]


@triton.jit
def divide_kernel(x, y, quotient, remainder, N: tl.constexpr, UNSIGNED: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, N)
    a = tl.load(x + at)
    b = tl.load(y + row)
    if UNSIGNED:
        a = a.to(tl.uint32, bitcast=True)
        b = b.to(tl.uint32, bitcast=True)
    tl.store(quotient + row * N + at, a // b)
    tl.store(remainder + row * N + at, a % b)


@triton.jit
def divide_each_kernel(x, y, quotient, remainder, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    b = tl.load(y + at)
    tl.store(quotient + at, a // b)
    tl.store(remainder + at, a % b)


def wanted(x, y):
    """Towards zero, as C; the one quotient that overflows wraps."""
    quotient = np.abs(x) // np.abs(y) * np.sign(x) * np.sign(y)
    return quotient.astype(np.int32), (x - quotient * y).astype(np.int32)


def dividends(rng, divisors):
    """Numbers of every size, and the multiples of the divisors with their neighbours."""
    count = torch.randint(LEAST, MOST, [1024], generator=rng)
    sizes = count >> torch.randint(0, 31, [1024], generator=rng)
    near = [k * d + e for d in divisors for k in (1, 2, 3, MOST // abs(d)) for e in (-1, 0, 1)]
    near = [n for n in near if LEAST <= n <= MOST]
    return torch.cat([torch.tensor(near + SPECIAL), sizes, count])[:2048].to(torch.int32)


@pytest.mark.parametrize("unsigned", [False, True])
def test_one_divisor_for_a_row(rng, unsigned):
    x, y = dividends(rng, SPECIAL), torch.tensor(SPECIAL, dtype=torch.int32)
    x = torch.cat([x, x])[:2048].contiguous()
    assert len(x) == 2048
    quotient, remainder = (torch.zeros(len(y), 2048, dtype=torch.int32) for _ in range(2))
    divide_kernel[(len(y),)](x, y, quotient, remainder, N=2048, UNSIGNED=unsigned)
    a, b = x.numpy()[None, :], y.numpy()[:, None]
    if unsigned:
        a, b = a.view(np.uint32), b.view(np.uint32)
    expected = wanted(a.astype(np.int64), b.astype(np.int64))
    np.testing.assert_array_equal(quotient.numpy(), expected[0])
    np.testing.assert_array_equal(remainder.numpy(), expected[1])


def test_a_divisor_for_each(rng):
    x = torch.randint(LEAST, MOST, [4096], generator=rng).to(torch.int32)
    y = torch.randint(LEAST, MOST, [4096], generator=rng)
    y = (y >> torch.randint(0, 31, [4096], generator=rng)).to(torch.int32)
    y[y == 0] = -1
    x[0], y[0] = LEAST, -1
    quotient, remainder = torch.zeros_like(x), torch.zeros_like(x)
    divide_each_kernel[(1,)](x, y, quotient, remainder, N=4096)
    expected = wanted(x.numpy().astype(np.int64), y.numpy().astype(np.int64))
    np.testing.assert_array_equal(quotient.numpy(), expected[0])
    np.testing.assert_array_equal(remainder.numpy(), expected[1])


def test_zero_ends_nothing():
    x = torch.arange(1, 65, dtype=torch.int32)
    y = torch.zeros(64, dtype=torch.int32)
    quotient, remainder = torch.zeros_like(x), torch.zeros_like(x)
    divide_each_kernel[(1,)](x, y, quotient, remainder, N=64)
