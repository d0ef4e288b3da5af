# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between every two float types in every rounding, by search in a table of all numbers."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import NAMES, output

pytestmark = pytest.mark.compiled("it has other roundings, and not all types")

TYPES = {
    torch.float8_e5m2: tl.float8e5,
    torch.float8_e4m3fn: tl.float8e4nv,
    torch.float8_e5m2fnuz: tl.float8e5b16,
    torch.float8_e4m3fnuz: tl.float8e4b8,
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
    torch.float64: tl.float64,
}
NARROW = list(TYPES)[:6]
FNUZ = list(TYPES)[2:4]


def name(dtype):
    return NAMES.get(dtype, str(dtype).removeprefix("torch."))


@triton.jit
def convert_kernel(x, out, N: tl.constexpr, ROUNDING: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty, fp_downcast_rounding=ROUNDING))


def codes(dtype):
    """All numbers of a type of 8 or 16 bits, by their codes, in f64."""
    bits = torch.finfo(dtype).bits
    integers = torch.arange(1 << bits).to(torch.uint8 if bits == 8 else torch.uint16)
    return integers.view(dtype)


def samples(source, target, rng):
    if torch.finfo(source).bits <= 16:
        return codes(source)
    table = codes(target).double()
    numbers = table[table.isfinite()]
    numbers = numbers[numbers.abs().argsort()]
    middles = (numbers[:-1] + numbers[1:]) / 2
    values = torch.cat([numbers, middles])
    beside = [torch.nextafter(values.to(source), torch.tensor(e, dtype=source))
              for e in (-float("inf"), float("inf"))]  # fmt: skip
    special = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-30, 1e30, -3e38]
    all_values = torch.cat([values.to(source), *beside, torch.tensor(special, dtype=source)])
    return all_values[torch.randperm(len(all_values), generator=rng)]


def wanted(x, target, toward_zero):
    """The nearest number with an even code, or the next one toward zero; 8 bits saturate."""
    values = x.double().numpy()
    table = codes(target).double()
    magnitudes = np.unique(table[table.isfinite()].abs().numpy())
    magnitude = np.abs(values)
    below = np.clip(np.searchsorted(magnitudes, magnitude, side="right") - 1, 0, None)
    above = np.minimum(below + 1, len(magnitudes) - 1)
    down, up = magnitude - magnitudes[below], magnitudes[above] - magnitude
    chosen = np.where((down < up) | ((down == up) & (below % 2 == 0)), below, above)
    if toward_zero:
        chosen = below
    result = magnitudes[np.where(np.isfinite(magnitude), chosen, len(magnitudes) - 1)]
    if torch.finfo(target).bits == 16:
        last = magnitudes[-1] - magnitudes[-2]
        is_over = np.isinf(magnitude)
        if not toward_zero:
            is_over |= magnitude >= magnitudes[-1] + last / 2
        result = np.where(is_over, np.inf, result)
    result = np.copysign(result, values)
    return np.where(np.isnan(values), np.nan, result)


def convert(x, target, rounding):
    n = 1024
    count = triton.cdiv(x.numel(), n)
    padded = torch.zeros([count * n], dtype=torch.float64).to(x.dtype)
    padded[: x.numel()] = x
    out = output([count * n], torch.float32).to(target)
    convert_kernel[(count,)](padded, out, N=n, ROUNDING=rounding)
    return out[: x.numel()]


PAIRS = [
    pytest.param(a, b, id=f"{name(a)}-{name(b)}")
    for a in TYPES
    for b in NARROW
    if torch.finfo(a).bits > torch.finfo(b).bits
]


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_to_a_narrower_type(source, target, rounding, rng):
    x = samples(source, target, rng)
    got = convert(x, target, rounding).double().numpy()
    expected = wanted(x, target, rounding == "rtz")
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    if target not in FNUZ:
        same &= (np.signbit(got) == np.signbit(expected)) | np.isnan(got)
    bad = np.flatnonzero(~same)
    assert bad.size == 0, (x[bad[0]].item(), got[bad[0]], expected[bad[0]], bad.size)


WIDER = [
    pytest.param(a, b, id=f"{name(a)}-{name(b)}")
    for a in NARROW
    for b in TYPES
    if torch.finfo(a).bits < torch.finfo(b).bits
]


@pytest.mark.parametrize(("source", "target"), WIDER)
def test_to_a_wider_type(source, target):
    x = codes(source)
    got = convert(x, target, None).double()
    # f16 has no infinity of 2^16, the largest numbers of e5m2 with another bias have.
    expected = x.double().to(target).double()
    assert torch.equal(got.nan_to_num(nan=7e9), expected.nan_to_num(nan=7e9))
    assert torch.equal(got.isnan(), expected.isnan())
