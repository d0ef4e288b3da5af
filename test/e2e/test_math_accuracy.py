# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Math functions over every exponent, in units of the last place, in blocks of any size."""

import math
import os
import pathlib

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import output
from triton.language.extra import libdevice

pytestmark = pytest.mark.compiled("the interpreter has no external functions")


@triton.jit
def map_kernel(x, out, n, BLOCK: tl.constexpr, OP: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < n)
    if OP == "log":
        value = tl.log(a)
    elif OP == "log2":
        value = tl.log2(a)
    elif OP == "log10":
        value = libdevice.log10(a)
    elif OP == "sqrt":
        value = tl.sqrt(a)
    elif OP == "exp":
        value = tl.exp(a)
    elif OP == "tanh":
        value = libdevice.tanh(a)
    elif OP == "erf":
        value = tl.erf(a)
    elif OP == "sin":
        value = tl.sin(a)
    elif OP == "cos":
        value = tl.cos(a)
    else:
        value = tl.rsqrt(a)
    tl.store(out + at, value, mask=at < n)


CPUINFO = pathlib.Path("/proc/cpuinfo")
IS_HOST = "TILEBRIDGE_TARGET" not in os.environ
HAS_TABLES = IS_HOST and CPUINFO.exists() and "avx512f" in CPUINFO.read_text()
# The largest error allowed, of AVX-512's tables, and without them: by function and bytes.
LIMITS = {
    key: limits[0 if HAS_TABLES else 1]
    for key, limits in {
        ("log", 4): (0.8, 1.5),
        ("log2", 4): (0.9, 1.5),
        ("log10", 4): (0.81, 4.0),
        ("sqrt", 4): (0.5, 0.5),
        ("sqrt", 8): (0.501, 0.501),  # of a reference of 64 bits
        ("rsqrt", 4): (1.5, 1.5),
        ("rsqrt", 8): (1.5, 1.5),
        ("tanh", 4): (0.75, 1.05),
        ("erf", 4): (1.0, 1.2),  # 0.99 with fused multiply-adds
        ("exp", 4): (1.0, 1.2),  # 0.96 with them
        ("exp", 8): (0.8, 4.0),
        ("sin", 4): (1.6, 2.0),  # 0.88 up to 40000 with fused multiply-adds; else libmvec's
        ("cos", 4): (1.6, 2.0),
    }.items()
}


def every_exponent(dtype, per_exponent):
    """Numbers of every exponent and either sign, and what is next to powers of two and of no use."""
    rng = np.random.default_rng(20261124)
    whole, mantissa = (np.uint32, 23) if dtype == np.float32 else (np.uint64, 52)
    top = (1 << (8 * np.dtype(dtype).itemsize - mantissa)) - 1  # with the sign
    exponents = np.repeat(np.arange(top + 1, dtype=whole), per_exponent)
    bits = (exponents << whole(mantissa)) | rng.integers(
        0, 1 << mantissa, len(exponents), dtype=whole
    )
    bits[::per_exponent] &= ~whole((1 << mantissa) - 1)
    bits[1::per_exponent] |= whole((1 << mantissa) - 1)
    near_one = 1 + rng.uniform(-0.3, 0.6, 2000) * 10.0 ** rng.uniform(-5, 0, 2000)
    usual = rng.uniform(-750, 720, 4000)
    special = [0.0, -0.0, 1, -1, math.inf, -math.inf, math.nan, 2, 4, 10, 1000]
    others = [near_one, usual, np.array(special)]
    return np.concatenate([bits.view(dtype), *(x.astype(dtype) for x in others)])


def reference(op, x):
    with np.errstate(all="ignore"):
        x = x.astype(np.float64 if x.dtype == np.float32 else np.longdouble)
        if op == "rsqrt":
            return 1 / np.sqrt(x)
        return (
            getattr(np, op)(x)
            if hasattr(np, op)
            else torch.special.erf(torch.from_numpy(x)).numpy()
        )


def ulps(got, wanted, dtype):
    """How far results are from those of a wider type; infinite where specials differ."""
    with np.errstate(all="ignore"):
        nearest = wanted.astype(dtype)
        same = (got == nearest) & (np.signbit(got) == np.signbit(nearest))
        same |= np.isnan(got) & np.isnan(nearest)
        comparable = np.isfinite(got) & np.isfinite(nearest)
        off = np.abs(got.astype(wanted.dtype) - wanted) / np.spacing(np.abs(nearest))
    return np.where(comparable & (nearest != 0), off.astype(float), np.where(same, 0.0, math.inf))


def run(op, x, block):
    out = output([len(x)], torch.from_numpy(x).dtype)
    map_kernel[(triton.cdiv(len(x), block),)](torch.from_numpy(x), out, len(x), BLOCK=block, OP=op)
    return out.numpy()


@pytest.mark.parametrize(("op", "size"), LIMITS)
def test_every_exponent(op, size):
    dtype = np.float32 if size == 4 else np.float64
    x = every_exponent(dtype, 40 if size == 4 else 8)
    off = ulps(run(op, x, 1024), reference(op, x), dtype)
    worst = off.argmax()
    assert off[worst] <= LIMITS[op, size], f"{off[worst]} at {x[worst]!r}"


@pytest.mark.parametrize("n", [1, 7, 16, 1000, 10007])
@pytest.mark.parametrize(("op", "size"), LIMITS)
def test_every_length_gives_the_same(op, size, n):
    dtype = np.float32 if size == 4 else np.float64
    x = np.random.default_rng(n).uniform(0.01, 8, n).astype(dtype)
    for block in (64, 1024):
        assert ulps(run(op, x, block), reference(op, x), dtype).max() <= LIMITS[op, size]


def test_tanh_ends_at_one():
    x = np.repeat(np.array([9.02, 20, 1e30, math.inf], np.float32), 16)
    for sign in (1, -1):
        np.testing.assert_array_equal(run("tanh", sign * x, 64), np.full(64, sign, np.float32))


@triton.jit
def quotient_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < n)
    b = tl.load(y + at, mask=at < n, other=1)
    tl.store(out + at, a / b, mask=at < n)


@pytest.mark.parametrize("block", [8, 1024])
def test_quotients_of_f16(block):
    """Every f16 as dividend and as divisor, rounded once."""
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    others = np.random.default_rng(7).permutation(every)
    for a, b in ((np.ones_like(every), every), (every, others)):
        out = output([len(a)], torch.float16)
        grid = (triton.cdiv(len(a), block),)
        quotient_kernel[grid](torch.from_numpy(a), torch.from_numpy(b), out, len(a), BLOCK=block)
        with np.errstate(all="ignore"):
            wanted = (a.astype(np.float64) / b.astype(np.float64)).astype(np.float16)
        np.testing.assert_array_equal(out.numpy(), wanted)
        number = ~np.isnan(wanted)
        assert (np.signbit(out.numpy()) == np.signbit(wanted))[number].all()


@triton.jit
def turns_kernel(x, sines, cosines, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < n)
    tl.store(sines + at, tl.sin(a), mask=at < n)
    tl.store(cosines + at, tl.cos(a), mask=at < n)


@pytest.mark.parametrize("block", [4, 16, 64, 1024])
@pytest.mark.parametrize("large", [False, True])
def test_sine_and_cosine_of_one_number(large, block, rng):
    """Both share their steps; one large number among others sends its neighbours to libm, too."""
    n = 20011
    x = (torch.randn(n, generator=rng) * torch.logspace(-8, 4.5, n)).clamp(-40000, 40000)
    x[:2] = torch.tensor([0.0, -0.0])
    if large:
        x[2:4] = torch.tensor([float("inf"), float("nan")])
        x[5::97] = 1e9 * torch.randn(len(x[5::97]), generator=rng)
    # Vectors of 4 lanes are libmvec's everywhere, others without fused multiply-adds.
    limit = 0.9 if IS_HOST and block >= 64 and not large else 2
    sines, cosines = output([n], torch.float32), output([n], torch.float32)
    turns_kernel[(triton.cdiv(n, block),)](x, sines, cosines, n, BLOCK=block)
    for got, op in ((sines, "sin"), (cosines, "cos")):
        off = ulps(got.numpy(), reference(op, x.numpy()), np.float32)
        assert off.max() <= limit, f"{off.max()} at {x[off.argmax()]}"
