# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quotients and remainders of blocks of integers, which are computed by floats: each has to be exact."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import INTEGERS, INTERPRETED


@triton.jit
def divide_kernel(x, y, q, r, UNIFORM: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0)
    at = row * N + tl.arange(0, N)
    value = tl.load(x + at)
    by = tl.load(y + row) if UNIFORM else tl.load(y + at)
    tl.store(q + at, value // by)
    tl.store(r + at, value % by)


def divided(x, y, uniform):
    q, r = np.zeros_like(x), np.zeros_like(x)
    tensors = [torch.from_numpy(a) for a in (x, y, q, r)]
    divide_kernel[(len(x),)](*tensors, UNIFORM=uniform, N=x.shape[1])
    return q, r


def expected(x, y):
    """As C has it: towards zero; the remainder has the dividend's sign."""
    if x.dtype.kind == "u":
        return x // y, x % y
    with np.errstate(all="ignore"):
        q = np.abs(x.astype(object)) // np.abs(y.astype(object))
    q = np.where((x < 0) != (y < 0), -q, q)
    r = x.astype(object) - q * y.astype(object)
    return q.astype(x.dtype), r.astype(x.dtype)


def check(x, y, uniform):
    wide = np.broadcast_to(y[:, None], x.shape) if uniform else y
    with np.errstate(all="ignore"):
        wanted = expected(x, wide)
    for got, want in zip(divided(x, y, uniform), wanted, strict=True):
        bad = got != want
        assert not bad.any(), (x[bad][:5], wide[bad][:5], got[bad][:5], want[bad][:5])


def divisors(rng, dtype, count):
    """Of every size, and the ends; neither zero nor -1, whose quotient may not exist."""
    info = torch.iinfo(dtype)
    kind = np.dtype(str(dtype).removeprefix("torch."))
    ends = [1, 2, 3, 7, 10, info.max, info.max - 1, info.max // 2, info.max // 2 + 1]
    if info.min < 0:
        ends += [-2, -3, -7, info.min, info.min + 1, info.min // 2, info.min // 2 - 1]
    some = rng.integers(info.min, info.max, count, dtype=kind, endpoint=True)
    some = some >> rng.integers(0, info.bits, count).astype(kind)
    both = np.concatenate([np.array(ends, dtype=kind), some])
    return both[(both != 0) & (both != (0 if info.min == 0 else -1))]


def dividends(rng, by, count):
    """Around multiples of `by`, where quotients change, and ends."""
    info = np.iinfo(by.dtype)
    lowest, highest = info.min // int(by), info.max // int(by)
    lowest, highest = min(lowest, highest), max(lowest, highest)
    times = [int(t) for t in rng.integers(0, 1 << 62, count)]
    times = [lowest + t % (highest - lowest + 1) for t in times]
    near = [t * int(by) + d for t in [lowest, highest, 0, 1, -1, *times] for d in (-1, 0, 1)]
    near += [info.min, info.min + 1, info.max, info.max - 1]
    return np.array([x for x in near if info.min <= x <= info.max][:count], dtype=by.dtype)


pytestmark = pytest.mark.skipif(INTERPRETED, reason="the interpreter divides by NumPy")
names = {"ids": lambda d: str(d).removeprefix("torch.")}


@pytest.mark.parametrize("uniform", [True, False], ids=["uniform", "apart"])
@pytest.mark.parametrize("dtype", INTEGERS, **names)
def test_quotients_change_where_they_should(dtype, uniform):
    rng = np.random.default_rng(3)
    y = divisors(rng, dtype, 100)
    n = 512
    x = np.stack([np.resize(dividends(rng, by, n), n) for by in y])
    check(x, y if uniform else np.repeat(y[:, None], n, 1), uniform)


@pytest.mark.parametrize("uniform", [True, False], ids=["uniform", "apart"])
@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.uint16], **names)
def test_all_dividends(dtype, uniform):
    info = torch.iinfo(dtype)
    rng = np.random.default_rng(5)
    y = divisors(rng, dtype, 16 if info.bits == 16 else 300)
    kind = np.dtype(str(dtype).removeprefix("torch."))
    everything = np.arange(info.min, info.max + 1).astype(kind)
    x = np.repeat(everything[None], len(y), 0)
    check(x, y if uniform else np.repeat(y[:, None], x.shape[1], 1), uniform)


@pytest.mark.parametrize("uniform", [True, False], ids=["uniform", "apart"])
@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_small_numbers_of_64_bits(kind, uniform):
    """Below 2^50 they are divided as floats: around multiples of each divisor, and up to the end."""
    rng = np.random.default_rng(9)
    limit = 1 << 50
    some = [int(limit - 1) >> int(s) for s in rng.integers(0, 50, 60)]
    y = [1, 2, 3, 5, 7, 10, limit - 1, limit // 2, limit // 2 + 1, (1 << 25) - 1, (1 << 25) + 1]
    y += [max(int(rng.integers(0, n + 1)), 1) for n in some]
    if kind == np.int64:
        y += [-n for n in y if n > 1] + [-limit]
    x = []
    for by in y:
        times = [
            0,
            1,
            limit // abs(by),
            *(int(t) for t in rng.integers(0, limit // abs(by) + 1, 160)),
        ]
        near = [t * abs(by) + d for t in times for d in (-1, 0, 1)]
        near = [n for n in [*near, limit - 1, limit - 2] if 0 <= n < limit]
        if kind == np.int64:
            near += [-n for n in near] + [-limit]
        x.append(np.resize(np.array(near, dtype=kind), 1024))
    y = np.array(y, dtype=kind)
    x = np.stack(x)
    check(x, y if uniform else np.repeat(y[:, None], x.shape[1], 1), uniform)


@pytest.mark.parametrize("n", [1, 2, 4, 8, 64])
@pytest.mark.parametrize("uniform", [True, False], ids=["uniform", "apart"])
@pytest.mark.parametrize("dtype", INTEGERS, **names)
def test_what_has_no_quotient_only_spoils_its_lane(dtype, uniform, n):
    info = torch.iinfo(dtype)
    kind = np.dtype(str(dtype).removeprefix("torch."))
    rng = np.random.default_rng(7)
    y = np.array([0, info.max, 3, info.max if info.min == 0 else -1], dtype=kind)
    x = rng.integers(info.min, info.max, [4, n], dtype=kind, endpoint=True)
    x[:, 0] = info.min
    by = y if uniform else np.repeat(y[:, None], n, 1)
    if not uniform:
        by[2, 0] = 0
    q, r = divided(x, by, uniform)
    wide = np.repeat(y[:, None], n, 1) if uniform else by
    fine = (wide != 0) & ~((x == info.min) & (wide == y[3]) & (info.min < 0))
    wanted_q, wanted_r = expected(np.where(fine, x, 0), np.where(fine, wide, 1))
    assert np.array_equal(q[fine], wanted_q[fine])
    assert np.array_equal(r[fine], wanted_r[fine])
    wraps = ~fine & (wide != 0)
    assert (q[wraps] == info.min).all()
    assert (r[wraps] == 0).all()


@triton.jit
def places_kernel(x, out, width, height, total, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = at // width % height, at % width
    value = tl.load(x + column * height + row, mask=at < total, other=0)
    tl.store(out + at, value, mask=at < total)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 5), (16, 16), (7, 64), (61, 13)])
def test_places_of_a_transpose(height, width):
    x = torch.arange(height * width, dtype=torch.int32).reshape(width, height)
    out = torch.zeros(height, width, dtype=torch.int32)
    total = height * width
    places_kernel[(triton.cdiv(total, 64),)](x, out, width, height, total, BLOCK=64)
    assert torch.equal(out, x.t())
