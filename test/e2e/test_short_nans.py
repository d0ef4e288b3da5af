# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NaNs of every kind stay NaNs when what was made of them is rounded to bf16, where they are tested and where not.

Rounding adds to the bits: of 0x7fffffff and 0xffffffff it would make zeros, of 0x7f800001 infinity.
"""

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

pytestmark = pytest.mark.compiled("the interpreter rounds in another way")

BITS = [0x7FFFFFFF, -1, 0x7F800001, 0x7FC00000, -0x7FFFFF, 0x7FFF8000, 0x3FC00000]


def f32(bits) -> torch.Tensor:
    return torch.tensor(bits, dtype=torch.int32).view(torch.float32)


def every_bf16() -> torch.Tensor:
    """All numbers of bf16 in no order, 17 of them twice so that the last vector is not whole."""
    order = torch.randperm(1 << 16, generator=torch.Generator().manual_seed(7))
    codes = torch.cat([order, order[:17]]) - (1 << 15)
    return codes.to(torch.int16).view(torch.bfloat16)


def check(got, wanted):
    """The same NaNs, the same numbers but for the last bit: f32 was rounded before."""
    assert torch.equal(got.isnan(), wanted.isnan())
    numbers = ~wanted.isnan()
    torch.testing.assert_close(got[numbers], wanted[numbers], rtol=2**-7, atol=1e-36)


@triton.jit
def number_kernel(x, scale, shift, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n).to(tl.float32)
    value = value * tl.load(scale) - tl.load(shift)
    tl.store(out + i, value.to(tl.bfloat16), mask=i < n)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("which", ["factor", "term"])
@pytest.mark.parametrize("block", [1024, 64])
def test_one_number_for_all(bits, which, block):
    x = every_bf16()
    nan, usual = f32([bits]), torch.tensor([1.5])
    scale, shift = (nan, usual) if which == "factor" else (usual, nan)
    out = torch.empty_like(x)
    number_kernel[(triton.cdiv(x.numel(), block),)](x, scale, shift, out, x.numel(), block)
    check(out, (x.float() * scale - shift).bfloat16())


@triton.jit
def rows_kernel(x, other, by_row, out, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < cols
    values = tl.load(x + row * cols + i, mask=inside, other=0.0).to(tl.float32)
    values = values * tl.load(other + i, mask=inside, other=0.0).to(tl.float32)
    values += tl.load(by_row + row)
    tl.store(out + row * cols + i, values.to(tl.bfloat16), mask=inside)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_operands_of_other_types(dtype):
    """A row of f32 or f16 that is read with each row, and a number for each row."""
    x = every_bf16()[: 64 * 1000].view(64, 1000)
    other = f32(BITS * 143)[:1000].to(dtype)
    if dtype == torch.float16:
        other = torch.tensor([0x7FFF, -1, 0x7C01, 0x7E00, -0x3FF, 0x3E00], dtype=torch.int16)
        other = other.repeat(167)[:1000].view(dtype)
    by_row = f32(([0x3F000000] * 8 + BITS) * 5)[:64]
    out = torch.empty_like(x)
    rows_kernel[(64,)](x, other, by_row, out, 64, 1000, 1024)
    check(out, (x.float() * other.float() + by_row[:, None]).bfloat16())


@triton.jit
def function_kernel(x, scale, out, n, NAME: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n).to(tl.float32) * tl.load(scale)
    if NAME == "exp":
        value = tl.exp(value)
    elif NAME == "exp2":
        value = tl.exp2(value)
    elif NAME == "log":
        value = tl.log(value)
    elif NAME == "log2":
        value = tl.log2(value)
    elif NAME == "erf":
        value = tl.erf(value)
    elif NAME == "sqrt":
        value = tl.sqrt(value)
    elif NAME == "rsqrt":
        value = tl.rsqrt(value)
    elif NAME == "silu":
        value = value / (1.0 + tl.exp(-value))
    elif NAME == "tanh":
        value = libdevice.tanh(value)
    elif NAME == "sin":
        value = tl.sin(value)
    tl.store(out + i, value.to(tl.bfloat16), mask=i < n)


def silu(x):
    return x / (1 + torch.exp(-x))


FUNCTIONS = {
    "exp": torch.exp,
    "exp2": torch.exp2,
    "log": torch.log,
    "log2": torch.log2,
    "erf": torch.erf,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "silu": silu,
    "tanh": torch.tanh,
    "sin": torch.sin,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("bits", [0x3F800000, 0x7FFFFFFF, -1])
def test_functions(name, bits):
    x, scale = every_bf16(), f32([bits])
    out = torch.empty_like(x)
    function_kernel[(triton.cdiv(x.numel(), 512),)](x, scale, out, x.numel(), name, 512)
    check(out, FUNCTIONS[name](x.double() * scale).bfloat16())


@triton.jit
def sign_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    least = tl.minimum(tl.abs(a), b, propagate_nan=tl.PropagateNan.ALL)
    tl.store(
        out + i,
        tl.maximum(least, 0.0, propagate_nan=tl.PropagateNan.ALL).to(tl.bfloat16),
        mask=i < n,
    )


def test_what_is_exact():
    """Magnitudes, minima and maxima of bf16 are bf16, bit by bit."""
    x, y = every_bf16(), every_bf16().flip(0)
    out = torch.empty_like(x)
    sign_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), 256)
    wanted = torch.maximum(torch.minimum(x.abs(), y), torch.zeros(()).bfloat16())
    assert torch.equal(out.isnan(), wanted.isnan())
    assert torch.equal(out[~wanted.isnan()], wanted[~wanted.isnan()])
