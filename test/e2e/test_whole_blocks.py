# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of rows as short as a vector: those inside of their tensors, and those that are not, in
one launch."""

import pytest
import torch
import triton
import triton.language as tl

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int32, torch.int8]
SHAPES = [(16, 16), (64, 48), (33, 47), (1, 16), (16, 1), (0, 5), (5, 0), (127, 97)]


def random(rows, columns, dtype, rng):
    values = torch.randint(-9, 10, (rows, columns), generator=rng)
    return values.to(dtype)


@triton.jit
def sum_rows_kernel(x, out, rows, columns, B: tl.constexpr, FIRST: tl.constexpr):
    row = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32) if FIRST else tl.zeros((B, B), tl.float32)
    for start in range(0, columns, B):
        column = start + tl.arange(0, B)
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        value = tl.load(x + row[:, None] * columns + column[None, :], mask=inside, other=0)
        if FIRST:
            total += tl.sum(value.to(tl.float32), 1)
        else:
            total += value.to(tl.float32)
    tl.store(out + row, total if FIRST else tl.sum(total, 1), mask=row < rows)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("block", [4, 16, 32])
@pytest.mark.parametrize("first", [True, False], ids=["tile by tile", "at the end"])
def test_sums_of_tiles(dtype, block, first, rng):
    for rows, columns in SHAPES:
        x = random(rows, columns, dtype, rng)
        out = torch.full([rows + 3], 7.0)
        sum_rows_kernel[(triton.cdiv(rows, block) or 1,)](x, out, rows, columns, block, first)
        torch.testing.assert_close(out[:rows], x.double().sum(1).float())
        assert torch.all(out[rows:] == 7.0), "rows behind the last one"


@triton.jit
def scale_rows_kernel(x, y, out, rows, columns, stride, B: tl.constexpr, C: tl.constexpr):
    row = tl.program_id(0) * B + tl.arange(0, B)
    column = tl.arange(0, C)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    value = tl.load(x + row[:, None] * stride + column[None, :], mask=inside, other=-1)
    largest = tl.max(value, 1)
    weight = tl.load(y + column, mask=column < columns, other=0)
    result = largest[:, None] * weight[None, :] + value
    tl.store(out + row[:, None] * columns + column[None, :], result, mask=inside)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("pad", [0, 5])
def test_rows_of_one_step(dtype, pad, rng):
    for rows, columns in ((64, 16), (61, 16), (7, 13), (48, 32), (3, 1)):
        x = random(rows, columns + pad, dtype, rng)[:, :columns]
        y = random(1, columns, dtype, rng)[0]
        out = torch.full([rows * columns + 3], 7, dtype=dtype)
        block = triton.next_power_of_2(columns)
        scale_rows_kernel[(triton.cdiv(rows, 16),)](
            x, y, out, rows, columns, columns + pad, 16, block
        )
        wide = x.double()
        largest = wide.amax(1, keepdim=True)
        if block > columns:
            largest = largest.clamp(min=-1)
        expected = (largest * y.double() + wide).to(dtype)
        assert torch.equal(out[: rows * columns].view(rows, columns), expected)
        assert torch.all(out[rows * columns :] == 7)


@triton.jit
def signs_kernel(x, out, n, B: tl.constexpr):
    row = tl.arange(0, B)
    inside = (row[:, None] < n) & (row[None, :] < n)
    value = tl.load(x + row[:, None] * n + row[None, :], mask=inside, other=0.0)
    tl.store(out + row, tl.sum(value, 1), mask=row < n)


@pytest.mark.parametrize("n", [8, 16])
def test_sign_of_zero(n):
    """Zeros that a mask gives are positive, those of memory stay what they are."""
    out = torch.ones(n)
    signs_kernel[(1,)](torch.full((n, n), -0.0), out, n, 16)
    assert torch.all(out == 0)
    assert torch.all(torch.signbit(out) == (n == 16))


@triton.jit
def swap_kernel(x, n, B: tl.constexpr):
    row = tl.arange(0, B)
    inside = (row[:, None] < n) & (row[None, :] < n)
    at = x + row[:, None] * n + row[None, :]
    back = x + (n - 1 - row[:, None]) * n + row[None, :]
    tl.store(at, tl.load(back, mask=inside), mask=inside)


@pytest.mark.parametrize("n", [15, 16])
def test_in_place(n, rng):
    x = torch.randn(n, n, generator=rng)
    expected = x.flip(0)
    swap_kernel[(1,)](x, n, 16)
    assert torch.equal(x, expected)
