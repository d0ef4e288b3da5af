# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Powers whose exponent the kernel says, which are products, quotients and roots, and others."""

import numpy
import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

SPECIAL = [0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), 1e-40, -1e-40]
SPECIAL += [3e38, -3e38, 1e-30, 1e20, -1e20, 1.1754944e-38, 2.0, -3.0]
EXPONENTS = [-2.0, -1.0, 0.5, 1.0, 2.0, 3.0, 4.0, 0.0, 2.5, -3.0]


@triton.jit
def pow_kernel(x, out, n, EXPONENT: tl.constexpr, IS_FLOAT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    exponent = EXPONENT
    if IS_FLOAT:
        exponent = tl.full((BLOCK,), EXPONENT, value.dtype)
    tl.store(out + at, libdevice.pow(value, exponent), mask=at < n)


def check(out, x, exponent, wide):
    with numpy.errstate(all="ignore"):
        want = numpy.power(x.numpy().astype(wide), wide(exponent))
        if exponent == 0.5:  # NumPy takes a root, which C's pow is not.
            want[x.numpy() == -numpy.inf] = numpy.inf
            want[x.numpy() == 0] = 0
        rounded = want.astype(out.numpy().dtype)
    got = out.numpy()
    same = (got == rounded) & (numpy.signbit(got) == numpy.signbit(rounded))
    same |= numpy.isnan(got) & numpy.isnan(rounded)
    with numpy.errstate(all="ignore"):
        unit = numpy.spacing(numpy.abs(rounded)).astype(wide)
        near = numpy.abs(got.astype(wide) - want) <= unit
    wrong = ~(same | near)
    assert not wrong.any(), (exponent, x.numpy()[wrong][:4], got[wrong][:4], rounded[wrong][:4])


@pytest.mark.parametrize(
    "exponent", EXPONENTS + [int(n) for n in EXPONENTS if n == int(n)], ids=repr
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_pow(exponent, dtype, rng):
    random = torch.randn(1000, generator=rng, dtype=torch.float64) * 3
    x = torch.cat([torch.tensor(SPECIAL, dtype=torch.float64), random]).to(dtype)
    out = torch.empty_like(x)
    pow_kernel[(triton.cdiv(len(x), 256),)](
        x, out, len(x), exponent, isinstance(exponent, float), 256
    )
    check(out, x, exponent, numpy.float64 if dtype == torch.float32 else numpy.longdouble)
