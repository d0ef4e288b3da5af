# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Powers of two of whole numbers are exact: tl.exp2 of integers, and of what was rounded to one."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import output


@triton.jit
def of_integers(x, out, n, T: tl.constexpr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    i = tl.load(x + at, at < n, other=0)
    tl.store(out + at, tl.exp2(i.to(T)), at < n)


@triton.jit
def of_floats(x, out, n, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    a = tl.load(x + at, at < n, other=0.0)
    tl.store(out + at, tl.exp2(tl.floor(a)), at < n)


@triton.jit
def one_by_one(x, out, n, T: tl.constexpr):
    for i in range(n):
        tl.store(out + i, tl.exp2((tl.load(x + i) - 3).to(T)))


@triton.jit
def of_a_loop(out, T: tl.constexpr):
    total = 0
    for i in range(6, -1, -1):
        total = total * 3 + tl.exp2(i.to(T)).to(tl.int32)
    tl.store(out, total)


def powers(n, dtype):
    """2^n of f64 numbers, which may be no numbers, rounded once."""
    n = np.asarray(n, dtype=np.float64)
    limited = np.clip(np.nan_to_num(n, nan=0, posinf=5000, neginf=-5000), -5000, 5000)
    with np.errstate(over="ignore", under="ignore"):
        exact = np.where(np.isnan(n), n, np.ldexp(1.0, limited.astype(np.int32)))
    return torch.from_numpy(np.atleast_1d(exact)).to(dtype)


def check(got, expected):
    # As bits, but for NaN's.
    bits = torch.int32 if got.dtype == torch.float32 else torch.int64
    assert torch.equal(got.isnan(), expected.isnan())
    assert torch.equal(
        got.nan_to_num(7.0, torch.inf, -torch.inf).view(bits),
        expected.nan_to_num(7.0, torch.inf, -torch.inf).view(bits),
    )


FLOATS = [(torch.float32, tl.float32), (torch.float64, tl.float64)]
INTEGERS = [
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
]


def integers(dtype):
    limits = torch.iinfo(dtype)
    around = [*range(-160, 140), *range(-1085, -1015), *range(1015, 1030)]
    far = [
        limits.min,
        limits.min + 1,
        limits.max - 1,
        limits.max,
        2**24 + 1,
        2**31,
        2**32,
        2**32 + 1,
        2**40 + 5,
        -(2**33) - 3,
        32768,
        65535,
    ]
    return [i for i in around + far if limits.min <= i <= limits.max]


@pytest.mark.parametrize("N", [1, 8, 64])
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize(("result", "name"), FLOATS, ids=["f32", "f64"])
def test_integers(result, name, dtype, N):
    numbers = integers(dtype)
    x = torch.from_numpy(np.array(numbers, dtype=str(dtype).removeprefix("torch.")))
    out = output([len(numbers)], result)
    of_integers[(triton.cdiv(len(numbers), N),)](x, out, len(numbers), name, N)
    check(out, powers([float(i) for i in numbers], result))


# The first blocks have only results that are normal numbers, others some of each.
@pytest.mark.parametrize("N", [1, 2, 4, 8, 32, 64])
@pytest.mark.parametrize("result", [torch.float32, torch.float64], ids=["f32", "f64"])
def test_rounded(result, N):
    special = [
        torch.nan,
        torch.inf,
        -torch.inf,
        -0.0,
        1e30,
        -1e30,
        2.0**31,
        -(2.0**31),
        2.0**63,
        129.0,
        1e-40,
    ]
    near = torch.arange(-1100, 1100, dtype=torch.float64) + 0.75
    x = torch.cat(
        [
            torch.linspace(-120, 120, 129, dtype=torch.float64),
            near,
            torch.tensor(special, dtype=torch.float64),
        ]
    ).to(result)
    out = output([len(x)], result)
    of_floats[(triton.cdiv(len(x), N),)](x, out, len(x), N)
    check(out, powers(x.floor(), result))


@pytest.mark.parametrize(("result", "name"), FLOATS, ids=["f32", "f64"])
def test_one_by_one(result, name):
    numbers = integers(torch.int32)[:-4]
    x = torch.tensor(numbers, dtype=torch.int32)
    out = output([len(numbers)], result)
    one_by_one[(1,)](x, out, len(numbers), name)
    wrapped = (x.numpy() - np.int32(3)).astype(np.float64)
    check(out, powers(wrapped, result))


@pytest.mark.parametrize("name", [tl.float32, tl.float64], ids=["f32", "f64"])
def test_index_of_a_loop(name):
    out = output([1], torch.int32)
    of_a_loop[(1,)](out, name)
    expected = 0
    for i in range(6, -1, -1):
        expected = expected * 3 + 2**i
    assert out.item() == expected
