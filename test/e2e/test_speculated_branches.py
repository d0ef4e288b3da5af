# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches whose blocks are cheap: both are computed, and each element chooses."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, INTEGERS, SIGNED, check_equal, dtypes, normal, output


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


@triton.jit
def _rounded(x):
    """A float as one of nine codes, the sign's included; not in order."""
    sign = 8 if x < 0.0 else 0
    x = tl.abs(x)
    if x > 0.75:
        if x > 2.5:
            return 3 + sign
        return 6 + sign
    if x > 0.25:
        return 1 + sign
    if x > 0.0:
        return 4 + sign
    return sign


@triton.jit
def round_kernel(x, scale, codes, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    for i in range(min(BLOCK, n - start)):
        value = tl.load(x + start + i).to(tl.float32) * tl.load(scale)
        tl.store(codes + start + i, _rounded(value))


def rounded(x):
    a = x.abs()
    code = torch.where(a > 0, 4, 0)
    for limit, value in [(0.25, 1), (0.75, 6), (2.5, 3)]:
        code = torch.where(a > limit, value, code)
    return code + torch.where(x < 0, 8, 0)


@pytest.mark.parametrize("n", [0, 1, 7, 64, 131])
@pytest.mark.parametrize("dtype", dtypes(FLOATS))
def test_codes_of_floats(dtype, n, rng):
    x = normal(rng, [n], dtype)
    x[: n // 2 : 3] = (
        torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0])
        .repeat(n)[: len(x[: n // 2 : 3])]
        .to(dtype)
    )
    codes = output([max(n, 1)], torch.int8)
    round_kernel[(triton.cdiv(n, 64),)](x, torch.tensor([1.5]), codes, n, BLOCK=64)
    check_equal(codes[:n], rounded(x.float() * 1.5).to(torch.int8))


@triton.jit
def _number(code):
    if code == 0:
        return 0.5
    if code == 1:
        return -1.25
    if code == 2:
        return 8.0
    if code == 5:
        return 0.0
    if code == 4:
        return 3.0
    if code == 3:
        return float("inf")
    return -7.0


@triton.jit
def number_kernel(codes, numbers, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    for i in range(min(BLOCK, n - start)):
        code = tl.load(codes + start + i)
        tl.store(numbers + (start + i) * 2, _number(code & 15))
        tl.store(numbers + (start + i) * 2 + 1, _number(code))


@pytest.mark.parametrize("n", [0, 1, 7, 64, 131])
@pytest.mark.parametrize("dtype", dtypes(INTEGERS))
def test_numbers_of_codes(dtype, n, rng):
    codes = torch.randint(0 if dtype not in SIGNED else -20, 100, [n], generator=rng).to(dtype)
    numbers = output([max(n, 1), 2], torch.float32)
    number_kernel[(triton.cdiv(n, 64),)](codes, numbers, n, BLOCK=64)
    table = torch.tensor([0.5, -1.25, 8.0, float("inf"), 3.0, 0.0, -7.0])
    index = torch.stack([codes.long() & 15, codes.long()], 1)
    expected = table[torch.where((index < 0) | (index > 5), 6, index)]
    check_equal(numbers[:n], expected)


@triton.jit
def search_kernel(x, table, places, n, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """How many numbers of a sorted table are less than each element."""
    start = tl.program_id(0) * BLOCK
    for i in range(min(BLOCK, n - start)):
        value = tl.load(x + start + i)
        low = 0
        size = SIZE
        while size > 1:
            size = size // 2
            if tl.load(table + low + size - 1) < value:
                low += size
        if tl.load(table + low) < value:
            low += 1
        tl.store(places + start + i, low)


@pytest.mark.parametrize("n", [1, 64, 131])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_search_in_a_table(dtype, n, rng):
    x, table = normal(rng, [n], dtype), normal(rng, [64], dtype).sort().values
    x[0] = table[5]
    places = output([n], torch.int32)
    search_kernel[(triton.cdiv(n, 64),)](x, table, places, n, SIZE=64, BLOCK=64)
    check_equal(places, torch.searchsorted(table, x).to(torch.int32))
