# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures that become larger or smaller, whose pixels are numbered by one index: `i % w // 2`, also by way of floats."""

import pytest
import torch
import triton
import triton.language as tl
from support import dtypes, normal, output


@triton.jit
def scaled(x, LOG2: tl.constexpr, WAY: tl.constexpr):
    if WAY == "//":
        return x // (1 << LOG2)
    if WAY == ">>":
        return x >> LOG2
    if WAY == "f32":
        return (x.to(tl.float32) * (1.0 / (1 << LOG2))).to(tl.int32)
    if WAY == "f64":
        return (x.to(tl.float64) / (1 << LOG2)).to(tl.int64)
    if WAY == "f16":
        return (x.to(tl.float16) * (1.0 / (1 << LOG2))).to(tl.int32)


@triton.jit
def larger_kernel(
    x, out, n, h, W: tl.constexpr, LOG2: tl.constexpr, WAY: tl.constexpr, B: tl.constexpr
):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    column = tl.minimum(scaled(i % W, LOG2, WAY), (W - 1) >> LOG2)
    row = scaled((i // W) % h, LOG2, "//")
    plane = i // (W * h)
    wide = ((W - 1) >> LOG2) + 1
    high = ((h - 1) >> LOG2) + 1
    v = tl.load(x + column + wide * (row + high * plane), inside)
    tl.store(out + i, v, inside)


def larger(x, h, w, log2):
    return x.repeat_interleave(1 << log2, 1).repeat_interleave(1 << log2, 2)[:, :h, :w].contiguous()


def check(x, h, w, log2, way, block):
    planes = x.shape[0]
    wanted = larger(x, h, w, log2)
    n = wanted.numel()
    out = output([n + 3], x.dtype)
    before = out.clone()
    larger_kernel[(max(1, triton.cdiv(n, block)),)](x, out, n, h, W=w, LOG2=log2, WAY=way, B=block)
    assert torch.equal(out[:n].view(planes, h, w), wanted)
    torch.testing.assert_close(out[n:], before[n:], equal_nan=True, rtol=0, atol=0)


def picture(rng, planes, h, w, log2, dtype):
    shape = [planes, -(-h >> log2), -(-w >> log2)]
    if dtype.is_floating_point:
        return normal(rng, shape, dtype)
    return torch.randint(-100, 100, shape, generator=rng).to(dtype)


@pytest.mark.parametrize("way", ["//", ">>", "f32", "f64", "f16"])
@pytest.mark.parametrize("log2", [1, 2, 3])
@pytest.mark.parametrize("w", [112, 64, 20, 7, 1])
def test_ways(way, log2, w, rng):
    check(picture(rng, 3, 12, w, log2, torch.float32), 12, w, log2, way, 256)


@pytest.mark.parametrize(
    "dtype",
    dtypes(torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int8, torch.int64),
)
@pytest.mark.parametrize(
    ("h", "w"), [(4, 2), (6, 14), (5, 56), (3, 90), (2, 128), (1, 1000), (3, 97), (7, 129)]
)
@pytest.mark.parametrize("block", [64, 1024])
def test_sizes(dtype, h, w, block, rng):
    check(picture(rng, 5, h, w, 1, dtype), h, w, 1, "f32", block)


@pytest.mark.parametrize("log2", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("w", [96, 160, 200])
def test_factors(log2, w, rng):
    check(picture(rng, 4, 9, w, log2, torch.float32), 9, w, log2, "//", 512)


def test_nothing(rng):
    check(torch.empty([0, 2, 10]), 4, 20, 1, "f32", 256)


@triton.jit
def started_kernel(x, out, start, n, W: tl.constexpr, LOG2: tl.constexpr, B: tl.constexpr):
    """The block begins anywhere, and reads from anywhere on."""
    at = tl.arange(0, B)
    i = start + tl.program_id(0) * B + at
    v = tl.load(x + (i % W) // (1 << LOG2), at + tl.program_id(0) * B < n, other=-7)
    tl.store(out + tl.program_id(0) * B + at, v)


@pytest.mark.parametrize("start", [0, 1, 2, 3, 31, 100, 2**31 - 1500])
@pytest.mark.parametrize("n", [0, 1, 255, 900, 1024])
@pytest.mark.parametrize(("w", "log2"), [(64, 1), (100, 2), (37, 1), (512, 3)])
def test_begins(start, n, w, log2, rng):
    x, out = normal(rng, [w], torch.float32), output([1024], torch.float32)
    started_kernel[(4,)](x, out, start, n, W=w, LOG2=log2, B=256)
    i = torch.arange(1024) + start
    wanted = torch.where(torch.arange(1024) < n, x[i % w // (1 << log2)], -7)
    assert torch.equal(out, wanted)


@triton.jit
def negative_kernel(x, out, start, B: tl.constexpr):
    """Remainders below zero: quotients are rounded towards zero, on either way."""
    at = tl.arange(0, B)
    r = (start + at) % 100
    y = (r.to(tl.float32) * 0.25).to(tl.int32)
    tl.store(out + at, tl.load(x + y + 25))


@pytest.mark.parametrize("start", [-1000, -300, -130, -2, 2**31 - 70])
def test_below_zero(start, rng):
    x, out = normal(rng, [50], torch.float32), output([256], torch.float32)
    negative_kernel[(1,)](x, out, start, B=256)
    i = (torch.arange(256) + start).to(torch.int32)
    wanted = x[(torch.fmod(i, 100).double() * 0.25).trunc().long() + 25]
    assert torch.equal(out, wanted)


@triton.jit
def last_channels_kernel(
    x, out, n, C: tl.constexpr, H: tl.constexpr, W: tl.constexpr, WAY: tl.constexpr, B: tl.constexpr
):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    c = i % C
    column = scaled((i // C) % W, 1, WAY)
    row = scaled((i // (C * W)) % H, 1, WAY)
    picture = i // (C * W * H)
    v = tl.load(x + c + C * (column + W // 2 * (row + H // 2 * picture)), inside)
    tl.store(out + i, v, inside)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
@pytest.mark.parametrize("c", [1, 3, 16, 48, 64, 100])
@pytest.mark.parametrize("way", ["//", "f32"])
def test_last_channels(dtype, c, way, rng):
    x = normal(rng, [3, 4, 6, c], dtype)
    wanted = x.repeat_interleave(2, 1).repeat_interleave(2, 2)
    out = output(list(wanted.shape), dtype)
    last_channels_kernel[(triton.cdiv(out.numel(), 512),)](
        x, out, out.numel(), C=c, H=8, W=12, WAY=way, B=512
    )
    assert torch.equal(out, wanted)


@triton.jit
def smaller_kernel(x, out, n, W: tl.constexpr, S: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    column = ((i % W).to(tl.float32) * (S * 1.0)).to(tl.int32)
    tl.store(out + i, tl.load(x + column + (i // W) * (W * S), i < n), i < n)


@pytest.mark.parametrize("s", [1, 2, 4])
@pytest.mark.parametrize("w", [30, 64])
def test_smaller(s, w, rng):
    x, out = normal(rng, [11, w * s], torch.float32), output([11, w], torch.float32)
    smaller_kernel[(triton.cdiv(11 * w, 128),)](x, out, 11 * w, W=w, S=s, B=128)
    assert torch.equal(out, x[:, ::s])


@triton.jit
def overlapping_kernel(x, out, W: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + (at % W) // 2 + (at // W) * (W // 2))
    tl.store(out + at, v)


@pytest.mark.parametrize("shift", [-300, -17, -1, 0, 1, 5, 64, 255])
def test_overlap(shift, rng):
    """All of the block is read before any of it is written."""
    memory = normal(rng, [1400], torch.float32)
    x, out = memory[400:656], memory[400 + shift : 400 + shift + 512]
    wanted = memory.clone()
    wanted[400 + shift : 400 + shift + 512] = x.view(8, 32).repeat_interleave(2, 1).flatten()
    overlapping_kernel[(1,)](x, out, W=64, B=512)
    assert torch.equal(memory, wanted)


@triton.jit
def numbers_kernel(
    out, begin, MORE: tl.constexpr, BY: tl.constexpr, DIVIDES: tl.constexpr, W: tl.constexpr,
    TYPE: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    i = tl.arange(0, B)
    x = ((i + begin) % W).to(TYPE) + MORE
    x = x / BY if DIVIDES else x * BY
    tl.store(out + i, x.to(tl.int32))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("divides", [False, True])
@pytest.mark.parametrize("more", [0.0, 0.5, -0.5])
@pytest.mark.parametrize("by", [0.5, 1 / 3, 2.0, 0.64])
def test_numbers(more, by, divides, dtype, rng):
    """Of each integer as a float, moved and scaled, what is above zero and what is below."""
    w, block = 100, 256
    out = torch.zeros([block], dtype=torch.int32)
    for begin in (0, -200):
        numbers_kernel[(1,)](
            out, begin, MORE=more, BY=by, DIVIDES=divides, W=w, B=block,
            TYPE=tl.float32 if dtype == torch.float32 else tl.float64,
        )  # fmt: skip
        x = torch.fmod(torch.arange(begin, begin + block), w).to(dtype) + torch.tensor(
            more, dtype=dtype
        )
        by_as_float = torch.tensor(by, dtype=dtype)
        wanted = x / by_as_float if divides else x * by_as_float
        assert torch.equal(out, wanted.to(torch.int32))


@triton.jit
def centre_kernel(x, out, n, W: tl.constexpr, RATIO: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    column = (((i % W).to(tl.float32) + 0.5) * (1.0 / RATIO)).to(tl.int32)
    row = (((i // W % W).to(tl.float32) + 0.5) * (1.0 / RATIO)).to(tl.int32)
    v = tl.load(x + column + W // RATIO * (row + W // RATIO * (i // (W * W))), i < n)
    tl.store(out + i, v, i < n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
@pytest.mark.parametrize(("w", "ratio"), [(64, 2), (14, 2), (96, 3), (128, 4), (200, 8), (30, 1)])
def test_nearest_centres(w, ratio, dtype, rng):
    small = w // ratio
    x = picture(rng, 3, small, small, 0, dtype)
    wanted = (
        larger(x, w, w, 0)
        if ratio == 1
        else x.repeat_interleave(ratio, 1).repeat_interleave(ratio, 2)
    )
    out = torch.empty_like(wanted)
    n = out.numel()
    centre_kernel[(triton.cdiv(n, 512),)](x, out, n, W=w, RATIO=ratio, B=512)
    assert torch.equal(out, wanted)
