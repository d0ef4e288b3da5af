# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over a small window that carry a block: pooling, convolutions of each channel by itself, stencils."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal


@triton.jit
def pooled_rows(
    x, y, h, w, oh, ow, S: tl.constexpr, P: tl.constexpr, R: tl.constexpr, KIND: tl.constexpr,
    BH: tl.constexpr, BW: tl.constexpr,
):  # fmt: skip
    """A block of pixels of one plane."""
    plane = tl.program_id(2)
    rows = tl.program_id(1) * BH + tl.arange(0, BH)
    cols = tl.program_id(0) * BW + tl.arange(0, BW)
    start = float("-inf") if KIND == "max" else 0.0
    acc = tl.full((BH, BW), start, tl.float32)
    for r in range(R):
        i = rows * S - P + r
        for s in range(R):
            j = cols * S - P + s
            inside = ((i >= 0) & (i < h))[:, None] & ((j >= 0) & (j < w))[None, :]
            at = x + plane * h * w + i[:, None] * w + j[None, :]
            value = tl.load(at, mask=inside, other=start).to(tl.float32)
            acc = tl.maximum(acc, value) if KIND == "max" else acc + value
    if KIND == "mean":
        acc /= R * R
    to = y + plane * oh * ow + rows[:, None] * ow + cols[None, :]
    tl.store(to, acc, mask=(rows < oh)[:, None] & (cols < ow)[None, :])


@triton.jit
def pooled_flat(
    x, y, h, w, oh, ow, n, S: tl.constexpr, P: tl.constexpr, R: tl.constexpr, KIND: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Pixels of all planes by one number."""
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    plane, row, col = p // (oh * ow), p // ow % oh, p % ow
    start = float("-inf") if KIND == "max" else 0.0
    acc = tl.full((BLOCK,), start, tl.float32)
    for r in range(R):
        for s in range(R):
            i, j = row * S - P + r, col * S - P + s
            inside = (p < n) & (i >= 0) & (i < h) & (j >= 0) & (j < w)
            value = tl.load(x + plane * h * w + i * w + j, mask=inside, other=start).to(tl.float32)
            acc = tl.maximum(acc, value) if KIND == "max" else acc + value
    if KIND == "mean":
        acc /= R * R
    tl.store(y + p, acc, mask=p < n)


def pool(x, size, stride, pad, kind):
    if kind == "max":
        return torch.nn.functional.max_pool2d(x.double(), size, stride, pad)
    return torch.nn.functional.avg_pool2d(x.double(), size, stride, pad)


# Planes, height, width, size of the window, stride, padding.
WINDOWS = {
    "three": (3, 17, 37, 3, 1, 1),
    "strided": (2, 17, 70, 3, 2, 1),
    "tiles": (3, 16, 34, 2, 2, 0),
    "valid": (1, 9, 67, 5, 1, 0),
    "seven": (2, 15, 23, 7, 3, 3),
    "one_pixel": (1, 3, 3, 3, 1, 0),
}


@pytest.mark.parametrize("window", [*WINDOWS, "bf16"])
@pytest.mark.parametrize("kind", ["max", "mean"])
def test_pooling(kind, window, rng):
    dtype, window = (torch.bfloat16, "strided") if window == "bf16" else (torch.float32, window)
    planes, h, w, size, stride, pad = WINDOWS[window]
    x = torch.randn(planes, h, w, generator=rng).to(dtype)
    if kind == "max":
        x[0, 1, 2] = torch.nan
        x[-1, -1] = -torch.inf
        x[-1, 0, 0] = torch.inf
    x = at_end_of_memory(x)
    wanted = pool(x, size, stride, pad, kind)
    if kind == "max":
        # Triton's maximum gives the other number where one is NaN.
        wanted = pool(
            torch.nan_to_num(x, -torch.inf, torch.inf, -torch.inf), size, stride, pad, kind
        )
    oh, ow = wanted.shape[1:]
    for form in ("rows", "flat"):
        y = torch.full(wanted.shape, 7.0, dtype=dtype)
        if form == "rows":
            grid = (triton.cdiv(ow, 32), triton.cdiv(oh, 4), planes)
            pooled_rows[grid](x, y, h, w, oh, ow, stride, pad, size, kind, 4, 32)
        else:
            grid = (triton.cdiv(y.numel(), 256),)
            pooled_flat[grid](x, y, h, w, oh, ow, y.numel(), stride, pad, size, kind, 256)
        check_equal(y, wanted, dtype, terms=size * size)


@triton.jit
def pooled_with_places(x, y, places, n, c, R: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.program_id(0)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    place = tl.full((BLOCK,), -1, tl.int32)
    for r in range(R):
        value = tl.load(x + (row + r) * c + at, mask=at < c, other=0.0)
        is_better = value > best
        best = tl.where(is_better, value, best)
        place = tl.where(is_better, r, place)
    tl.store(y + row * c + at, best, mask=at < c)
    tl.store(places + row * c + at, place, mask=at < c)


@pytest.mark.parametrize("c", [1, 16, 61, 300])
def test_places_of_maxima(c, rng):
    """Two blocks are carried; of equal elements the first one counts."""
    rows, size = 5, 4
    x = torch.randint(-2, 3, (rows + size - 1, c), generator=rng).float()
    x[2, ::3] = torch.nan
    x[:, c // 2] = -torch.inf
    y, places = torch.full((rows, c), 7.0), torch.full((rows, c), 7, dtype=torch.int32)
    pooled_with_places[(rows, triton.cdiv(c, 256))](x, y, places, rows, c, size, 256)
    best, place = np.full((rows, c), -np.inf), np.full((rows, c), -1)
    for r in range(size):
        value = x[r : r + rows].numpy()
        better = value > best
        best, place = np.where(better, value, best), np.where(better, r, place)
    assert np.array_equal(y.numpy(), best)
    assert np.array_equal(places.numpy(), place)


@triton.jit
def depthwise(x, weights, y, tokens, c, R: tl.constexpr, BT: tl.constexpr, BC: tl.constexpr):
    """Each channel's last R tokens."""
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    at = tl.program_id(1) * BC + tl.arange(0, BC)
    acc = tl.zeros((BT, BC), tl.float32)
    for r in range(R):
        from_token = t - (R - 1) + r
        weight = tl.load(weights + at * R + r, mask=at < c, other=0.0).to(tl.float32)
        mask = ((from_token >= 0) & (from_token < tokens))[:, None] & (at < c)[None, :]
        value = tl.load(x + from_token[:, None] * c + at[None, :], mask=mask, other=0.0)
        acc += weight[None, :] * value.to(tl.float32)
    tl.store(y + t[:, None] * c + at[None, :], acc, mask=(t < tokens)[:, None] & (at < c)[None, :])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("size", [(37, 100), (3, 64), (1, 5)])
def test_channels_by_themselves(size, dtype, rng):
    tokens, c = size
    x = torch.randn(tokens, c, generator=rng).to(dtype)
    weights = torch.randn(c, 4, generator=rng).to(dtype)
    y = torch.full_like(x, 7)
    depthwise[(triton.cdiv(tokens, 16), triton.cdiv(c, 64))](x, weights, y, tokens, c, 4, 16, 64)
    padded = torch.nn.functional.pad(x.double().T[None], (3, 0))
    wanted = torch.nn.functional.conv1d(padded, weights.double()[:, None], groups=c)[0].T
    check_equal(y, wanted, dtype, terms=4)


@triton.jit
def steps_of(x, y, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    older = tl.load(x + at, mask=at < n, other=0)
    newer = older + 1
    for i in range(2, STEPS, 3):
        sum = older + newer * i
        older = newer
        newer = sum
    tl.store(y + at, newer - older, mask=at < n)


@pytest.mark.parametrize("steps", [0, 2, 3, 11, 200, 2000])
def test_blocks_that_change_places(steps, rng):
    n = 101
    x = torch.randint(-9, 9, (n,), generator=rng, dtype=torch.int32)
    y = torch.zeros_like(x)
    steps_of[(2,)](x, y, n, steps, 64)
    older, newer = x.clone(), x + 1
    for i in range(2, steps, 3):
        older, newer = newer, older + newer * i
    assert torch.equal(y, newer - older)
