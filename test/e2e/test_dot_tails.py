# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products whose K and N end anywhere in their blocks: steps and vectors behind the ends are not
multiplied, whatever stands there in memory."""

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8]
BLOCKS = [(32, 64, 64), (128, 128, 64), (64, 256, 32)]
# K below, at and above a block's; N with one vector, two, three and all of a panel left.
SIZES = [
    (33, 1, 1),
    (64, 17, 15),
    (100, 80, 100),
    (70, 97, 63),
    (65, 129, 65),
    (130, 161, 129),
    (5, 192, 191),
    (96, 250, 0),
]


@triton.jit
def dot_kernel(
    a, b, c, m, n, k, row_of_a, row_of_b,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    WRAPS: tl.constexpr, TURNED: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), ACC)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        row = rows % m if WRAPS else rows
        column = columns % n if WRAPS else columns
        left = depth[None, :] < k
        right = depth[:, None] < k
        if not WRAPS:
            left &= rows[:, None] < m
            right &= columns[None, :] < n
        x = tl.load(a + row[:, None] * row_of_a + depth[None, :], mask=left, other=0)
        if TURNED:
            y = tl.load(b + column[None, :] * row_of_b + depth[:, None], mask=right, other=0)
        else:
            y = tl.load(b + depth[:, None] * row_of_b + column[None, :], mask=right, other=0)
        acc = tl.dot(x, y, acc, input_precision="ieee", out_dtype=ACC)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], acc.to(c.dtype.element_ty), mask=inside)


@triton.jit
def descriptor_kernel(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(a.load([row, start]), b.load([start, column]), acc, input_precision="ieee")
    c.store([row, column], acc.to(c.dtype))


@triton.jit
def padded_kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Behind K, `a` is ones, and `b` what stands there: nothing is left out."""
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + depth[None, :], depth[None, :] < k, other=1.0)
        y = tl.load(b + depth[:, None] * n + columns[None, :])
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(c + rows[:, None] * n + columns[None, :], acc)


def small(shape, dtype, rng):
    return torch.randint(-3, 4, shape, generator=rng).to(dtype)


def inside_of_noise(values):
    """A view of the values, whose rows end among what would spoil every sum."""
    noise = 100 if values.dtype == torch.int8 else float("nan")
    rows, columns = values.shape
    memory = torch.full((rows + 1, columns + 5), noise, dtype=values.dtype)
    memory[:rows, :columns] = values
    return memory[:rows, :columns]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("blocks", BLOCKS, ids=str)
@pytest.mark.parametrize("form", ["masks", "wraps", "turned"])
def test_pointers(dtype, blocks, form, rng):
    bm, bn, bk = blocks
    acc = {torch.int8: tl.int32, torch.float64: tl.float64}.get(dtype, tl.float32)
    out = {torch.int8: torch.int32, torch.float64: dtype}.get(dtype, torch.float32)
    for m, n, k in SIZES:
        a, b = small((m, k), dtype, rng), small((k, n), dtype, rng)
        want = (a.double() @ b.double()).to(out)
        a, b = inside_of_noise(a), inside_of_noise(b.T if form == "turned" else b)
        c = torch.full((m, n), 77, dtype=out)
        grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))
        dot_kernel[grid](
            a, b, c, m, n, k, a.stride(0), b.stride(0), bm, bn, bk,
            WRAPS=form == "wraps", TURNED=form == "turned", ACC=acc,
        )  # fmt: skip
        torch.testing.assert_close(c, want, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("blocks", BLOCKS, ids=str)
def test_descriptors(dtype, blocks, rng):
    bm, bn, bk = blocks
    for m, n, k in [(33, 8, 8), (100, 80, 104), (65, 136, 72), (130, 168, 136)]:
        a, b = small((m, k), dtype, rng), small((k, n), dtype, rng)
        c = torch.full((m, n), 77, dtype=dtype)
        want = (a.double() @ b.double()).to(dtype)
        grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))
        described = [
            TensorDescriptor.from_tensor(tensor, block)
            for tensor, block in ((a, [bm, bk]), (b, [bk, bn]), (c, [bm, bn]))
        ]
        descriptor_kernel[grid](*described, k, bm, bn, bk)
        torch.testing.assert_close(c, want, rtol=0, atol=0)


def test_other_values_count(rng):
    k = 40
    a, b = small((64, k), torch.float32, rng), small((64, 64), torch.float32, rng)
    c = torch.empty(64, 64)
    padded_kernel[(1,)](a, b, c, 64, 64, k, 64, 64, 32)
    want = a @ b[:k] + b[k:].sum(0)
    torch.testing.assert_close(c, want, rtol=0, atol=0)


@triton.jit
def growing_kernel(
    a, b, c, k, row_of_a, row_of_b, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    """The products of the first 0, 1 and so on up to k - 1 steps."""
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), ACC)
    for end in range(0, k):
        x = tl.load(a + rows[:, None] * row_of_a + depth[None, :], depth[None, :] < end, other=0)
        y = tl.load(b + depth[:, None] * row_of_b + columns[None, :], depth[:, None] < end, other=0)
        acc = tl.dot(x, y, acc, input_precision="ieee", out_dtype=ACC)
    tl.store(c + rows[:, None] * N + columns[None, :], acc)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(16, 1, 32), (1, 16, 32), (16, 2, 32), (16, 16, 16)], ids=str)
def test_ends_within_a_step(shape, dtype, rng):
    # A product with one column is that of its transpose, which may take other steps at once.
    m, n, depth = shape
    wide = torch.int32 if dtype == torch.int8 else torch.float32
    wide = torch.float64 if dtype == torch.float64 else wide
    acc = {torch.int32: tl.int32, torch.float32: tl.float32, torch.float64: tl.float64}[wide]
    a = torch.randint(-4, 5, (m, depth), generator=rng).to(dtype)
    b = torch.randint(-4, 5, (depth, n), generator=rng).to(dtype)
    for k in (1, 2, 3, 4, 7, depth + 1):
        c = torch.full((m, n), -1, dtype=wide)
        growing_kernel[(1,)](a, b, c, k, depth, n, M=m, N=n, K=depth, ACC=acc)
        wanted = sum(a[:, :end].double() @ b[:end].double() for end in range(k))
        assert (c.double() == wanted).all()
