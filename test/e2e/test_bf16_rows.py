# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of bf16: the largest and the smallest number of any, and what is rounded to zeros and to numbers near them."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

NAN, INF = float("nan"), float("inf")
NANS = {"+nan": 0x7F81, "-nan": -127, "quiet": 0x7FC0, "all bits": -1}


def bits(codes) -> torch.Tensor:
    return torch.tensor(codes, dtype=torch.int16).view(torch.bfloat16)


@triton.jit
def extremes_kernel(x, largest, smallest, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    high = tl.load(x + row * stride + i, mask=i < n, other=-float("inf")).to(tl.float32)
    tl.store(largest + row, tl.max(high, 0))
    low = tl.load(x + row * stride + i, mask=i < n, other=float("inf")).to(tl.float32)
    tl.store(smallest + row, tl.min(low, 0))


@triton.jit
def loop_kernel(x, largest, smallest, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    high = tl.full([BLOCK], -float("inf"), tl.float32)
    low = tl.full([BLOCK], float("inf"), tl.float32)
    for at in range(0, n, BLOCK):
        inside = at + i < n
        value = tl.load(x + row * stride + at + i, mask=inside, other=-float("inf")).to(tl.float32)
        high = tl.maximum(high, value)
        value = tl.load(x + row * stride + at + i, mask=inside, other=float("inf")).to(tl.float32)
        low = tl.minimum(low, value)
    tl.store(largest + row, tl.max(high, 0))
    tl.store(smallest + row, tl.min(low, 0))


def check_extremes(x, kernel, block):
    rows, n = x.shape
    largest, smallest = torch.empty(rows), torch.empty(rows)
    kernel[(rows,)](x, largest, smallest, n, x.stride(0), BLOCK=block)
    wide, is_nan = x.float(), x.isnan()
    high = wide.masked_fill(is_nan, -INF).amax(1)
    low = wide.masked_fill(is_nan, INF).amin(1)
    # Lanes that are off have infinities.
    if kernel is extremes_kernel and n == block:
        high[is_nan.all(1)], low[is_nan.all(1)] = NAN, NAN
    np.testing.assert_array_equal(largest.numpy(), high.numpy())
    np.testing.assert_array_equal(smallest.numpy(), low.numpy())


KERNELS = pytest.mark.parametrize("kernel", [extremes_kernel, loop_kernel])


@KERNELS
@pytest.mark.parametrize("n", [1, 31, 64, 127, 256, 781, 1024])
@pytest.mark.compiled("its maxima are NaN where there is one")
def test_extremes_of_signs(kernel, n, rng):
    """Only positive, only negative, all of these, zeros of both signs, numbers below the normal ones."""
    size = torch.randn([6, n + 3], generator=rng).abs() + 2**-10
    sign = torch.randn([n + 3], generator=rng).sign()
    rows = size * torch.stack([torch.ones(n + 3), -torch.ones(n + 3), sign, sign, sign, sign])
    rows[3] *= 0
    rows[4] *= 2**-130
    rows[5] = torch.where(sign < 0, -0.0, size[5])
    x = rows.bfloat16()[:, :n]
    check_extremes(x, kernel, 1024 if kernel is extremes_kernel else 128)


@KERNELS
@pytest.mark.parametrize("which", NANS)
@pytest.mark.parametrize("share", [0.01, 0.5, 1.0])
@pytest.mark.compiled("its maxima are NaN where there is one")
def test_extremes_beside_nans(kernel, which, share, rng):
    """All kinds of NaN are missing, beside infinities, zeros and numbers of either sign, and of both."""
    n, rows = 777, 10
    x = torch.randn([rows, n], generator=rng).bfloat16()
    x[1] = x[1].abs()
    x[2] = -x[2].abs()
    x[3] = -0.0
    x[4] = 0.0
    x[5] = INF
    x[6] = -INF
    x[7, ::2], x[7, 1::2] = INF, -INF
    x[8] = bits([-32767])[0]  # The number below zero that is nearest to it.
    x[9] = -x[9].abs()
    x[9, 5] = -INF
    nans = torch.rand([rows, n], generator=rng) < share
    x = torch.where(nans, bits([NANS[which]]), x)
    check_extremes(x, kernel, 1024 if kernel is extremes_kernel else 256)


@KERNELS
@pytest.mark.compiled("its maxima are NaN where there is one")
def test_extremes_of_every_number(kernel, rng):
    """Each number of bf16 among ones that are not larger, or not smaller."""
    codes = torch.arange(1 << 16, dtype=torch.int32) - (1 << 15)
    numbers = codes.to(torch.int16).view(torch.bfloat16)
    order = torch.randperm(1 << 16, generator=rng)
    x = numbers[order].reshape(256, 256)
    sorted_rows = numbers[numbers.float().nan_to_num(nan=0.0).argsort()].reshape(256, 256)
    check_extremes(x, kernel, 256)
    check_extremes(sorted_rows, kernel, 256)


@triton.jit
def scale_kernel(x, scale, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n).to(tl.float32) * scale
    tl.store(out + i, value.to(tl.bfloat16), mask=i < n)


@pytest.mark.parametrize("scale", [2.0**-7, 2.0**-3 * 1.4, 0.0, 2.0**-149])
@pytest.mark.parametrize("zeros", [0.0, 0.01, 0.9])
@pytest.mark.compiled("the interpreter rounds in another way")
def test_rounding_near_zero(scale, zeros, rng):
    """Bit by bit: zeros of both signs, and results below the normal numbers, among others and alone."""
    codes = (torch.randperm(1 << 16, generator=rng) - (1 << 15)).to(torch.int16)
    x = codes.view(torch.bfloat16)
    near = bits(list(range(-32768, -32768 + 600)) + list(range(600))).repeat(3)
    normal = torch.randn(4099, generator=rng).bfloat16()
    x = torch.cat([x[~x.isnan()], near, normal])
    x = torch.where(torch.rand(x.numel(), generator=rng) < zeros, torch.zeros_like(x), x)
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 1024),)](x, scale, out, x.numel(), BLOCK=1024)
    wanted = (x.float() * torch.tensor(scale, dtype=torch.float32)).bfloat16()
    numbers = ~wanted.isnan()
    assert torch.equal(out.isnan(), wanted.isnan())
    assert torch.equal(out[numbers].view(torch.int16), wanted[numbers].view(torch.int16))


@triton.jit
def softmax_kernel(x, out, rows, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * x_stride + at, mask=inside, other=-float("inf")).to(tl.float32)
        weight = tl.exp(value - tl.max(value, axis=0))
        weight = weight / tl.sum(weight, axis=0)
        tl.store(out + row * out_stride + at, weight.to(out.dtype.element_ty), mask=inside)


@pytest.mark.parametrize("columns", [64, 100, 781, 1024])
@pytest.mark.parametrize("in_place", [False, True])
def test_softmax_of_any_row(columns, in_place, rng):
    """Weights of zero and below the normal numbers, masked ones, infinities and NaNs, each behind a usual row."""
    rows = 24
    x = torch.randn([rows, columns + 5], generator=rng).bfloat16()
    x[2] -= 1000
    x[4, ::3] = -INF
    x[6] = -INF
    x[8] = torch.linspace(-104, 0, columns + 5).bfloat16()
    x[10] = -90
    x[10, columns // 2] = 0
    x[12, columns - 1] = INF
    x[14, columns // 3] = NAN
    x[16] = NAN
    x[18] = bits([-1])[0]
    x[20, 0] = 3e38
    x[22] = -3e38
    x = x[:, :columns]
    wide = x.double()
    # Other elements than NaN have a maximum, and NaN is in the sum.
    top = torch.from_numpy(np.fmax.reduce(wide.numpy(), 1))[:, None]
    weight = (wide - top).exp()
    wanted = weight / weight.sum(1, keepdim=True)
    out = x if in_place else torch.empty_strided([rows, columns], [columns + 9, 1], dtype=x.dtype)
    softmax_kernel[(7,)](x, out, rows, columns, x.stride(0), out.stride(0), BLOCK=1024)
    assert torch.equal(out.isnan(), wanted.isnan())
    # The step of bf16 below its normal numbers is 2^-133; weights of f32 end at 2^-149.
    torch.testing.assert_close(
        out.double().nan_to_num(), wanted.nan_to_num(), rtol=2**-7, atol=2.0**-133
    )


@triton.jit
def rounded_kernel(x, y, out, n, ADDS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x + i, mask=i < n).to(tl.float32)
    right = tl.load(y + i, mask=i < n).to(tl.float32)
    tl.store(out + i, (left + right if ADDS else left * right).to(out.dtype.element_ty), mask=i < n)


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("n", [1, 17, 37, 1024, 131072 + 5])
def test_rounding_of_any_number(n, adds, rng):
    """Products of any numbers, infinities, NaNs and numbers below the normal ones, and many that are halfway between two."""

    def between(low, high):
        return bits(torch.randint(low, high, [n], generator=rng, dtype=torch.int16).tolist())

    anything = between(-32768, 32767), between(-32768, 32767)
    near_one = between(0x3F00, 0x4080), between(0x3F00, 0x4080)
    for x, y in (anything, near_one, (anything[0], near_one[0])):
        out = torch.empty(n, dtype=torch.bfloat16)
        rounded_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, ADDS=adds, BLOCK=1024)
        wide = x.float() + y.float() if adds else x.float() * y.float()
        wanted = wide.bfloat16()
        assert torch.equal(out.isnan(), wanted.isnan())
        number = ~wanted.isnan()
        assert torch.equal(out.view(torch.int16)[number], wanted.view(torch.int16)[number])
