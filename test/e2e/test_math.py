# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Math functions, over plain, extreme and special values."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, output, special_values


@triton.jit
def unary_kernel(x, out, N: tl.constexpr, OP: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    a = tl.load(x + at)
    if OP == "exp":
        value = tl.exp(a)
    elif OP == "exp2":
        value = tl.exp2(a)
    elif OP == "log":
        value = tl.log(a)
    elif OP == "log2":
        value = tl.log2(a)
    elif OP == "sin":
        value = tl.sin(a)
    elif OP == "cos":
        value = tl.cos(a)
    elif OP == "sqrt":
        value = tl.sqrt(a)
    elif OP == "sqrt_rn":
        value = tl.sqrt_rn(a)
    elif OP == "rsqrt":
        value = tl.rsqrt(a)
    elif OP == "erf":
        value = tl.erf(a)
    elif OP == "floor":
        value = tl.floor(a)
    elif OP == "ceil":
        value = tl.ceil(a)
    else:
        value = tl.sigmoid(a)
    tl.store(out + at, value)


REFERENCES = {
    "exp": torch.exp,
    "exp2": torch.exp2,
    "log": torch.log,
    "log2": torch.log2,
    "sin": torch.sin,
    "cos": torch.cos,
    "sqrt": torch.sqrt,
    "sqrt_rn": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "erf": torch.erf,
    "floor": torch.floor,
    "ceil": torch.ceil,
    "sigmoid": torch.sigmoid,
}


def arguments(rng, op, dtype):
    plain = torch.randn([400], generator=rng, dtype=torch.float64) * 3
    if op in ("exp", "exp2", "sigmoid"):
        plain = torch.cat([plain, torch.linspace(-90, 90, 200, dtype=torch.float64)])
    elif op in ("log", "log2", "sqrt", "sqrt_rn", "rsqrt"):
        powers = torch.rand([200], generator=rng, dtype=torch.float64) * 70 - 35
        plain = torch.cat([plain, powers.exp2()])
    elif op in ("sin", "cos"):
        wide = torch.randn([200], generator=rng, dtype=torch.float64) * 1000
        plain = torch.cat([plain, wide])
    else:
        plain = torch.cat([plain, torch.randn([200], generator=rng, dtype=torch.float64) * 1e4])
    special = special_values(dtype)
    if op in ("sin", "cos"):
        # An argument far beyond the reduction's range is allowed to be inaccurate.
        special = special[(special.double().abs() < 1e4) | ~special.isfinite()]
    x = torch.cat([plain.to(dtype), special])
    return torch.cat([x, torch.ones(-len(x) % 64, dtype=dtype)])


@pytest.mark.parametrize("op", REFERENCES)
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float64))
def test_math(op, dtype, rng):
    if op == "sqrt_rn" and dtype == torch.float64:
        pytest.skip("tl.sqrt_rn takes f32 only")
    x = arguments(rng, op, dtype)
    out = output([len(x)], dtype)
    unary_kernel[(len(x) // 64,)](x, out, N=64, OP=op)
    wanted = REFERENCES[op](x.double())
    limit = torch.finfo(dtype)
    wanted = wanted.to(dtype).double()  # an overflow of the type is an infinity
    relative = 1e-12 if dtype == torch.float64 else 2e-6
    if op in ("floor", "ceil"):
        relative = 0.0
    # Subnormal results and arguments may be flushed to zero.
    keep = (x.double().abs() >= limit.tiny) | (x == 0) | x.isnan()
    keep &= (wanted.abs() >= limit.tiny) | (wanted == 0) | wanted.isnan()
    absolute = 2e-7 if op in ("sin", "cos") and dtype == torch.float32 else limit.tiny
    if dtype == torch.float64 and op in ("sin", "cos"):
        absolute = 1e-13
    check_equal(out[keep], wanted[keep], tolerance=(relative, absolute), context=op)


@pytest.mark.parametrize("op", ["sqrt", "sqrt_rn", "floor", "ceil"])
def test_exact_functions(op, rng):
    """A square root is correctly rounded, floor and ceil keep the sign of zero."""
    x = torch.cat([torch.rand([448], generator=rng) * 1e4, special_values(torch.float32)])
    x = torch.cat([x, torch.full([-len(x) % 64], -0.3)])
    out = output([len(x)], torch.float32)
    unary_kernel[(len(x) // 64,)](x, out, N=64, OP=op)
    wanted = REFERENCES[op](x.double()).float()  # f64 has more than twice the bits: rounded once
    normal = (x.abs() >= torch.finfo(torch.float32).tiny) | (x == 0) | x.isnan()
    same = (out == wanted) | (out.isnan() & wanted.isnan())
    if op == "sqrt":
        same |= (out - wanted).abs() <= wanted * 2.0**-23
    assert (same | ~normal).all()
    if op != "sqrt":
        zero = (wanted == 0) & normal
        assert torch.equal(out[zero].signbit(), wanted[zero].signbit())


@triton.jit
def several_kernel(x, y, z, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b, c = tl.load(x + at), tl.load(y + at), tl.load(z + at)
    tl.store(out + at, tl.fma(a, b, c))
    tl.store(out + N + at, tl.fdiv(a, b))
    tl.store(out + 2 * N + at, tl.div_rn(a, b))
    tl.store(out + 3 * N + at, tl.clamp(a, -0.5, 0.5))
    tl.store(out + 4 * N + at, tl.math.abs(a) + tl.math.floor(b))


def test_functions_of_several_arguments(rng):
    n = 256
    x, y, z = (torch.randn([n], generator=rng) for _ in range(3))
    out = output([5, n], torch.float32)
    several_kernel[(1,)](x, y, z, out, N=n)
    a, b, c = x.double(), y.double(), z.double()
    check_equal(out[0], a * b + c, tolerance=(2e-6, 2e-7))
    check_equal(out[1], a / b, tolerance=(1e-6, 0))
    assert torch.equal(out[2], x / y)
    assert torch.equal(out[3], x.clamp(-0.5, 0.5))
    assert torch.equal(out[4], x.abs() + y.floor())


@triton.jit
def softmax_kernel(x, out, N: tl.constexpr):
    row = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + row, tl.softmax(tl.load(x + row).to(tl.float32)).to(out.dtype.element_ty))


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.bfloat16))
def test_softmax_of_the_library(dtype, rng):
    x = (torch.randn([4, 64], generator=rng) * 5).to(dtype)
    out = output([4, 64], dtype)
    softmax_kernel[(4,)](x, out, N=64)
    check_equal(out, torch.softmax(x.double(), 1))


@triton.jit
def scalar_kernel(x, out):
    """The same functions on scalars, not tensors."""
    a = tl.load(x + tl.program_id(0))
    value = tl.exp(a) + tl.log(tl.abs(a) + 1) + tl.sqrt(tl.abs(a)) + tl.floor(a) + tl.erf(a)
    tl.store(out + tl.program_id(0), value * tl.sin(a) + tl.cos(a) + tl.rsqrt(a * a + 1))


def test_math_on_scalars(rng):
    x = torch.randn([16], generator=rng)
    out = output([16], torch.float32)
    scalar_kernel[(16,)](x, out)
    a = x.double()
    value = a.exp() + (a.abs() + 1).log() + a.abs().sqrt() + a.floor() + torch.erf(a)
    check_equal(out, value * a.sin() + a.cos() + (a * a + 1).rsqrt())
