# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches whose blocks are cheap: both are computed, and each element chooses."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, INTEGERS, check_equal, dtypes, normal, output


@triton.jit
def _combine(mean, m2, weight, other_mean, other_m2, other_weight):
    delta = other_mean - mean
    both = weight + other_weight
    share = tl.where(both == 0.0, 0.0, other_weight / both)
    return mean + delta * share, m2 + other_m2 + delta * delta * weight * share, both


@triton.jit
def welford_kernel(x, means, variances, n, R: tl.constexpr, BLOCK: tl.constexpr):
    """Welford's variance of R rows, the first block apart from the others."""
    row = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    mean = tl.zeros([R, BLOCK], tl.float32)
    m2 = tl.zeros([R, BLOCK], tl.float32)
    weight = tl.zeros([R, BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)[None, :]
        inside = (at < n) & (row >= 0)
        value = tl.load(x + row * n + at, mask=inside, other=0.0).to(tl.float32)
        if start == 0:
            next_mean = value
            next_m2 = tl.zeros([R, BLOCK], tl.float32)
            next_weight = tl.full([R, BLOCK], 1.0, tl.float32)
        else:
            delta = value - mean
            next_weight = weight + 1.0
            next_mean = mean + delta / next_weight
            next_m2 = m2 + delta * (value - next_mean)
        mean = tl.where(inside, next_mean, mean)
        m2 = tl.where(inside, next_m2, m2)
        weight = tl.where(inside, next_weight, weight)
    mean, m2, weight = tl.reduce((mean, m2, weight), 1, _combine)
    at = tl.program_id(0) * R + tl.arange(0, R)
    tl.store(means + at, mean)
    tl.store(variances + at, m2 / n)


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("n", [1, 7, 64, 65, 200, 1031])
@pytest.mark.parametrize("dtype", dtypes(FLOATS))
def test_variance_of_rows(dtype, n, rows, rng):
    x = normal(rng, [8, n], dtype) + 3
    means, variances = output([8], torch.float32), output([8], torch.float32)
    welford_kernel[(8 // rows,)](x, means, variances, n, R=rows, BLOCK=64)
    exact = x.double()
    check_equal(means, exact.mean(1).float(), tolerance=(1e-5, 1e-5))
    check_equal(variances, exact.var(1, correction=0).float(), tolerance=(1e-4, 1e-5))


@triton.jit
def chosen_kernel(x, y, out, n, flags, rounds, BLOCK: tl.constexpr):
    """Each round adds, subtracts, divides, or leaves the block as it is."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < n, other=1)
    b = tl.load(y + at, mask=at < n, other=0)
    for i in range(rounds):
        flag = tl.load(flags + i)
        if flag > 0:
            if flag == 1:
                a = a + b
            else:
                a = a - b
        elif flag == -1:
            # Only where this is chosen there are no zeros.
            a = (a / b).to(a.dtype)
    tl.store(out + at, a, mask=at < n)


@pytest.mark.parametrize("flags", [[], [0], [1, 1, 2], [2, 0, 1, -1], [-1, -1, 1]], ids=str)
@pytest.mark.parametrize("n", [1, 97, 128])
@pytest.mark.parametrize("dtype", dtypes([torch.float32, torch.float64]))
def test_what_is_not_chosen_leaves_no_trace(dtype, n, flags, rng):
    x, y = normal(rng, [n], dtype), normal(rng, [n], dtype)
    if -1 not in flags:
        y[::3] = 0
        y[1::7] = float("nan")
    out, wanted = output([n], dtype), x.clone()
    for flag in flags:
        wanted = {0: wanted, 1: wanted + y, 2: wanted - y, -1: wanted / y}[flag]
    steps = torch.tensor([*flags, 0], dtype=torch.int32)
    chosen_kernel[(2,)](x, y, out, n, steps, len(flags), BLOCK=64)
    check_equal(out, wanted, tolerance=(1e-6, 1e-6))


@triton.jit
def chosen_division_kernel(x, y, out, n, divides, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < n, other=1)
    b = tl.load(y + at, mask=at < n, other=1)
    if divides:
        a = a // b
    else:
        a = a + b
    tl.store(out + at, a, mask=at < n)


@pytest.mark.parametrize("divides", [False, True])
@pytest.mark.parametrize("dtype", dtypes(INTEGERS))
def test_divisions_by_zero_that_are_not_chosen(dtype, divides, rng):
    n = 100
    x = torch.randint(0, 100, [n], generator=rng).to(dtype)
    y = torch.randint(1 if divides else 0, 9, [n], generator=rng).to(dtype)
    out = output([n], dtype)
    chosen_division_kernel[(2,)](x, y, out, n, int(divides), BLOCK=64)
    wanted = x.long() // y.long() if divides else x.long() + y.long()
    check_equal(out, wanted.to(dtype))
