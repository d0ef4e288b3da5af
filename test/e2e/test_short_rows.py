# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that are shorter than their block: weights of a softmax and normed rows, whose loops end behind the row."""

import math

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output


@triton.jit
def softmax_kernel(x, y, out, sums, n, BY_ROW: tl.constexpr, ALL: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    row = tl.program_id(0)
    value = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    top = tl.max(value, 0) if BY_ROW else tl.load(y + i)
    weight = tl.exp(value - top)
    total = tl.sum(weight, 0)
    tl.store(sums + row, total)
    inside = i < N if ALL else i < n
    tl.store(out + row * N + i, weight / total, mask=inside)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("n", [0, 1, 7, 32, 63, 64, 65, 100, 256, 448, 511, 512])
def test_weights_of_rows_shorter_than_their_block(n, by_row, whole, rng):
    """The loops over a row end behind it, where exp(-inf - top) is 0 or NaN for all lanes."""
    block = 512
    x = normal(rng, [6, n], torch.float32)
    x[1] = -math.inf
    x[2, n // 2 :] = math.inf
    x[3, : n // 3] = math.nan
    x[4] = math.nan
    y = normal(rng, [block], torch.float32)
    y[block - 2] = -math.inf  # Of the lanes that are masked one gives NaN.
    out, sums = output([6, block], torch.float32), output([6], torch.float32)
    softmax_kernel[(6,)](x, y, out, sums, n, BY_ROW=by_row, ALL=whole, N=block)
    a = torch.full([6, block], -math.inf).double()
    a[:, :n] = x.double()
    top = torch.where(a.isnan(), -math.inf, a).amax(1, keepdim=True)
    if n == block:
        top[4] = math.nan
    weight = (a - (top if by_row else y.double())).exp()
    total = weight.sum(1, keepdim=True)
    check_equal(sums, total[:, 0], tolerance=(1e-5, 1e-5))
    stored = block if whole else n
    check_equal(out[:, :stored], (weight / total)[:, :stored], tolerance=(1e-5, 1e-5))


@triton.jit
def row_block_kernel(
    x, out, mean, rows, n, stride, WEIGHTS: tl.constexpr, BM: tl.constexpr, N: tl.constexpr
):
    row = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    i = tl.arange(0, N)[None, :]
    inside = (row < rows) & (i < n)
    at = row * stride + i
    if WEIGHTS:
        value = tl.load(x + at, mask=inside, other=-float("inf")).to(tl.float32)
        weight = tl.exp(value - tl.max(value, 1)[:, None])
        result = weight / tl.sum(weight, 1)[:, None]
    else:
        value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        center = tl.load(mean + row, mask=row < rows, other=0.0)
        distance = tl.where(i < n, value - center, 0.0)
        result = distance * tl.rsqrt(tl.sum(distance * distance, 1)[:, None] / n + 1e-5)
    tl.store(out + at, result.to(out.dtype.element_ty), mask=inside)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.bfloat16))
@pytest.mark.parametrize(("rows", "n", "pad"), [(1, 1, 0), (5, 33, 3), (4, 64, 0), (7, 100, 28)])
def test_blocks_of_rows_shorter_than_their_block(rows, n, pad, dtype, in_place, weights, rng):
    """Several rows a program, the last ones masked, with padding behind each, and written where they are read."""
    whole = normal(rng, [rows, n + pad], dtype)
    x = whole[:, :n]
    mean = normal(rng, [rows], torch.float32)
    wide = x.double()
    if weights:
        wanted = wide.softmax(1)
    else:
        distance = wide - mean.double()[:, None]
        wanted = distance * ((distance * distance).mean(1, keepdim=True) + 1e-5).rsqrt()
    out = whole if in_place else torch.full_like(whole, 7.0)
    behind = out[:, n:].clone()
    row_block_kernel[(triton.cdiv(rows, 4),)](
        whole, out, mean, rows, n, n + pad, WEIGHTS=weights, BM=4, N=128
    )
    check_equal(out[:, :n], wanted.to(dtype), dtype=dtype)
    assert torch.equal(out[:, n:], behind)


@triton.jit
def described_kernel(x, out, tops, rows, n, OTHER: tl.constexpr, BM: tl.constexpr, N: tl.constexpr):
    """Rows behind the last one, and columns behind a row's end, are zeros until `where`."""
    row = tl.program_id(0) * BM
    x_desc = tl.make_tensor_descriptor(x, [rows, n], [n, 1], [BM, N])
    out_desc = tl.make_tensor_descriptor(out, [rows, n], [n, 1], [BM, N])
    value = x_desc.load([row, 0])
    value = tl.where(tl.arange(0, N)[None, :] < n, value, OTHER)
    top = tl.max(value, 1)
    weight = tl.exp(value - top[:, None])
    # All rows are seen here, those that are not there, too.
    tl.store(tops + row + tl.arange(0, BM), top)
    out_desc.store([row, 0], weight / tl.sum(weight, 1)[:, None])


@pytest.mark.parametrize("block", [1, 4, 16])
@pytest.mark.parametrize("rows", [1, 5, 16])
@pytest.mark.parametrize("n", [4, 60, 64, 100, 128, 132, 252, 256])
def test_rows_of_descriptors_shorter_than_their_block(n, rows, block, rng):
    x = normal(rng, [rows, n], torch.float32) - 3  # Zeros behind the end would be the maxima.
    if rows > 3:
        x[1] = -math.inf
        x[2, n // 2 :] = math.inf
        x[3, : n // 3] = math.nan
    programs = triton.cdiv(rows, block)
    out, tops = output([rows, n], torch.float32), output([programs * block], torch.float32)
    described_kernel[(programs,)](x, out, tops, rows, n, OTHER=-math.inf, BM=block, N=256)
    a = x.double()
    top = torch.where(a.isnan(), -math.inf, a).amax(1, keepdim=True)
    weight = (a - top).exp()
    check_equal(tops[:rows], top[:, 0])
    # Of a row that is not there, only what the mask leaves is a zero.
    assert (tops[rows:] == 0).all()
    check_equal(out, weight / weight.sum(1, keepdim=True), tolerance=(1e-5, 1e-5))
