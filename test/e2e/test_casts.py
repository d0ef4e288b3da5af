# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between all types: integers wrap, floats round to nearest even, bits stay bits."""

import os

import pytest
import torch
import triton
import triton.language as tl
from support import (
    FLOATS,
    FP8,
    INTEGERS,
    NAMES,
    TL,
    check_equal,
    normal,
    output,
    special_values,
    whole_range,
)

NUMBERS = [*INTEGERS, *FLOATS]
BF16 = torch.bfloat16


@triton.jit
def cast_kernel(x, out, N: tl.constexpr, TYPE: tl.constexpr, BITS: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at).to(TYPE, bitcast=BITS))


def cast(x, dtype, bits=False):
    n = x.numel()
    whole = triton.next_power_of_2(n)
    source = torch.zeros(whole, dtype=x.dtype)
    source[:n] = x
    out = output([whole], dtype)
    cast_kernel[(1,)](source, out, N=whole, TYPE=TL[dtype], BITS=bits)
    return out[:n]


def pairs(sources, targets):
    for a in sources:
        for b in targets:
            if a != b:
                marks = []
                if BF16 in (a, b) or a in FP8 or b in FP8:
                    marks = [pytest.mark.compiled("bf16 and fp8 conversions differ there")]
                yield pytest.param(a, b, id=f"{NAMES[a]}-{NAMES[b]}", marks=marks)


@pytest.mark.parametrize(("source", "target"), [*pairs(INTEGERS, INTEGERS)])
def test_integer_to_integer(source, target, rng):
    x = whole_range(rng, [64], source)
    got = cast(x, target)
    bits = torch.iinfo(target).bits
    low = 0 if not target.is_signed else -(1 << (bits - 1))
    wanted = [((v - low) % (1 << bits)) + low for v in x.tolist()]
    assert got.tolist() == wanted


@pytest.mark.parametrize(("source", "target"), [*pairs(INTEGERS, FLOATS)])
def test_integer_to_float(source, target, rng):
    x = whole_range(rng, [64], source)
    x[:4] = torch.tensor([0, 1, 2, 100], dtype=torch.uint8).to(source)
    got = cast(x, target)
    # From Python's exact integers: a detour over f64 would round twice.
    wanted = []
    for value in x.tolist():
        if target == torch.float64:
            wanted.append(float(value))
        else:
            exact = float(value)
            if abs(value) > 1 << 53:  # keep what rounding to f64 would lose as a sticky bit
                shift = value.bit_length() - 54
                exact = (
                    float(((value >> shift) | 1) << shift) if value & ((1 << shift) - 1) else exact
                )
            wanted.append(float(torch.tensor(exact, dtype=torch.float64).to(target)))
    check_equal(
        got,
        torch.tensor(wanted, dtype=torch.float64),
        tolerance=(1e-7 if target != BF16 else 0.01, 0),
    )


@triton.jit
def codes_kernel(x, y, out, N: tl.constexpr, MASK: tl.constexpr):
    at = tl.arange(0, N)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, (a.to(tl.int32) & MASK).to(tl.bfloat16))
    tl.store(out + N + at, ((a.to(tl.int32) & MASK) - (b.to(tl.int32) & MASK)).to(tl.bfloat16))
    tl.store(out + 2 * N + at, a.to(tl.bfloat16))


@pytest.mark.compiled("bf16 conversions differ there")
@pytest.mark.parametrize("mask", [15, 255, 511, 0xFFFF])
@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32], ids=str
)
def test_integers_to_bf16_are_rounded_once(dtype, mask, rng):
    """Few bits are exact, and are not rounded: all others still are, to nearest even."""
    x, y = (whole_range(rng, [256], dtype) for _ in range(2))
    small = torch.arange(256).to(torch.uint8).view(torch.int8)
    x = small.to(dtype) if dtype.itemsize == 1 else x
    out = torch.zeros(768, dtype=torch.bfloat16)
    codes_kernel[(1,)](x, y, out, N=256, MASK=mask)
    a, b = x.long(), y.long()
    wanted = torch.cat([a & mask, (a & mask) - (b & mask), a]).double().to(torch.bfloat16)
    assert torch.equal(out, wanted)


@pytest.mark.parametrize(("source", "target"), [*pairs(FLOATS, INTEGERS)])
def test_float_to_integer_truncates(source, target, rng):
    info = torch.iinfo(target)
    x = (torch.rand([64], generator=rng) * 250 - 125).to(source)
    if not target.is_signed:
        x = x.abs()
    x = x.clamp(max=float(min(info.max, 120)))
    got = cast(x, target)
    check_equal(got, x.double().trunc())


@pytest.mark.parametrize(("source", "target"), [*pairs(FLOATS, FLOATS)])
def test_float_to_float(source, target, rng):
    x = torch.cat([special_values(source), normal(rng, [200], source)])
    x = torch.cat([x, (torch.rand([40], generator=rng) * 140000 - 70000).to(source)])
    got = cast(x, target)
    wanted = x.to(target)
    same = (got == wanted) | (got.isnan() & wanted.isnan())
    # Subnormals may be flushed by the hardware's own conversion instructions.
    tiny = wanted.double().abs() < torch.finfo(target).tiny
    assert (same | tiny).all(), list(zip(x[~same], got[~same], wanted[~same], strict=True))[:5]


@pytest.mark.parametrize(("source", "target"), [*pairs(FLOATS, FP8)])
def test_float_to_fp8_rounds_to_nearest(source, target, rng):
    limit = torch.finfo(target).max
    x = (torch.randn([500], generator=rng) * 10).clamp(-limit, limit).to(source)
    x[:6] = torch.tensor([0.0, 1.0, -1.0, 0.5, 1.0625, 1.1875]).to(source)
    got = cast(x, target).double()
    wanted = x.float().to(target).double()
    assert torch.equal(got, wanted), list(zip(x[got != wanted], got[got != wanted], strict=True))[
        :5
    ]


@pytest.mark.parametrize(("source", "target"), [*pairs(FP8, FLOATS)])
def test_fp8_to_float_is_exact(source, target):
    x = torch.arange(256, dtype=torch.uint8).view(source)
    got = cast(x, target)
    wanted = x.to(target)
    same = (got == wanted) | (got.isnan() & wanted.isnan())
    assert same.all(), list(
        zip(x.view(torch.uint8)[~same], got[~same], wanted[~same], strict=True)
    )[:5]


@triton.jit
def rounding_kernel(x, out, N: tl.constexpr, TYPE: tl.constexpr, MODE: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at).to(TYPE, fp_downcast_rounding=MODE))


@pytest.mark.compiled("rounds to nearest in the interpreter")
@pytest.mark.parametrize("target", [torch.float16, torch.bfloat16])
def test_rounding_toward_zero(target, rng):
    n = 256
    x = torch.randn([n], generator=rng)
    for mode in ("rtz", "rtne"):
        out = output([n], target)
        rounding_kernel[(1,)](x, out, N=n, TYPE=TL[target], MODE=mode)
        nearest = x.to(target)
        if mode == "rtne":
            check_equal(out, nearest, tolerance=(0, 0))
        else:
            assert (out.double().abs() <= x.double().abs()).all()
            step = torch.finfo(target).eps
            assert ((out.double() - x.double()).abs() <= x.double().abs() * step).all()


@pytest.mark.compiled("bf16 conversions differ there")
@pytest.mark.parametrize("special", ["none", "few", "all"])
@pytest.mark.parametrize("n", [16, 32, 64, 1024, 8192])
def test_bf16_of_any_bits(n, special, rng):
    """Of a whole vector the host's instruction may do, unless one number is NaN or subnormal."""
    bits = torch.randint(-(2**31), 2**31, [n], generator=rng)
    exponent = (bits >> 23) & 255
    bits = torch.where((exponent == 0) | (exponent == 255), bits ^ (64 << 23), bits)
    zeros_and_infinities = torch.tensor([0, -(2**31), 0x7F800000, -0x800000])
    ties = torch.tensor([0x3F808000, 0x3F818000, 0x7F7FFFFF, -0x800001, 0x00800000, 0x0080FFFF])
    plain = torch.cat([zeros_and_infinities, ties])
    bits[: plain.numel()] = plain
    unusual = torch.tensor([1, -(2**31) + 0x8000, 0x007FFFFF, 0x7F800001, 0x7FC12345, -1, 0x18000])
    if special == "few":
        places = torch.arange(plain.numel(), n, max(n // 8, 1))[: unusual.numel()]
        bits[places] = unusual[: places.numel()]
    elif special == "all":
        bits = unusual.repeat(n)[:n]
    x = bits.to(torch.int32).view(torch.float32)
    whole = x.view(torch.int32).to(torch.int64) & 0xFFFFFFFF
    wanted = (whole + 0x7FFF + ((whole >> 16) & 1)) >> 16
    wanted = torch.where(x.isnan(), 0x7FC0, wanted)
    out = cast(x, BF16)
    got = out.view(torch.int16).to(torch.int64) & 0xFFFF
    if os.environ.get("TILEBRIDGE_TARGET", "").startswith("accel:"):
        # Which NaN it is, is each target's own.
        got = torch.where(out.isnan() & x.isnan(), wanted, got)
    assert torch.equal(got, wanted)


BITCASTS = [
    (torch.float32, torch.int32),
    (torch.int32, torch.float32),
    (torch.float16, torch.int16),
    (torch.int16, torch.float16),
    (torch.int16, torch.bfloat16),
    (torch.bfloat16, torch.int16),
    (torch.float64, torch.int64),
    (torch.int64, torch.float64),
    (torch.uint8, torch.int8),
    (torch.int8, torch.float8_e5m2),
    (torch.float8_e4m3fn, torch.uint8),
]


@pytest.mark.parametrize(("source", "target"), BITCASTS, ids=lambda d: NAMES[d])
def test_bitcast(source, target, rng):
    width = source.itemsize
    raw = torch.randint(0, 256, [64 * width], generator=rng, dtype=torch.uint8)
    got = cast(raw.view(source), target, bits=True)
    assert torch.equal(got.view(torch.uint8), raw)


@triton.jit
def bool_kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at)
    flag = value.to(tl.int1)
    tl.store(out + at, flag.to(tl.int32))
    tl.store(out + N + at, flag.to(tl.float32).to(tl.int32))
    tl.store(out + 2 * N + at, (value != 0).to(tl.int8).to(tl.int32))


@pytest.mark.parametrize(
    "dtype", [torch.int32, torch.int64, torch.uint8, torch.float32], ids=lambda d: NAMES[d]
)
def test_cast_to_boolean(dtype, rng):
    n = 32
    x = torch.randint(-2, 3, [n], generator=rng).abs().to(dtype) * 2
    out = output([3, n], torch.int32)
    bool_kernel[(1,)](x, out, N=n)
    wanted = (x != 0).int()
    check_equal(out, torch.stack([wanted, wanted, wanted]))
