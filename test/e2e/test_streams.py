# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Outputs that are too large for the caches: stores around them, which want whole lines."""

import pytest
import torch
import triton
import triton.language as tl
from support import NAMES, output

# A launch that reads so much, and writes as much, writes around the caches, whatever the machine.
LARGE = 65 << 20


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def guarded(n, shift, dtype):
    """A tensor of n elements, `shift` elements behind an aligned address, and all around it."""
    around = torch.full([n + shift + 64], 7, dtype=dtype)
    return around[shift : shift + n], around


def check_guards(around, shift, n):
    assert (around[:shift] == 7).all()
    assert (around[shift + n :] == 7).all()


@pytest.mark.parametrize("shift", [0, 1, 13])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.int8, torch.bfloat16, torch.float64], ids=lambda d: NAMES[d]
)
def test_any_alignment(dtype, shift, rng):
    n = LARGE // dtype.itemsize + 37
    x = torch.randint(-50, 50, [n], generator=rng, dtype=torch.int8).to(dtype)
    out, around = guarded(n, shift, dtype)
    add_kernel[(triton.cdiv(n, 1024),)](x, x, out, n, BLOCK=1024)
    assert torch.equal(out, x + x)
    check_guards(around, shift, n)


@pytest.mark.parametrize("block", [16, 64, 128])
def test_small_blocks(block, rng):
    n = LARGE // 4 + 5
    x = torch.randn(n, generator=rng)
    out, around = guarded(n, 3, torch.float32)
    add_kernel[(triton.cdiv(n, block),)](x, x, out, n, BLOCK=block)
    assert torch.equal(out, x + x)
    check_guards(around, 3, n)


@pytest.mark.compiled("in the interpreter a program sees what others wrote")
def test_in_place(rng):
    n = LARGE // 4 + 5
    x = torch.randn(n, generator=rng)
    expected = x + x
    add_kernel[(triton.cdiv(n, 512),)](x, x, x, n, BLOCK=512)
    assert torch.equal(x, expected)


def test_overlapping_arrays(rng):
    # One program, so that what it reads is what was there before.
    n = 1 << 18
    memory = torch.randn(n + 5, generator=rng)
    x, out = memory[:n], memory[5:]
    expected = x + x
    add_kernel[(1,)](x, x, out, n, BLOCK=n)
    assert torch.equal(out, expected)


@triton.jit
def rows_kernel(x, out, mean, columns, x_stride, out_stride, low, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = (at >= low) & (at < columns)
    value = tl.load(x + row * x_stride + at, mask=inside, other=0.0)
    average = tl.sum(value, axis=0) / (columns - low)
    tl.store(mean + row, average)
    tl.store(out + row * out_stride + at, value - average, mask=inside)


@pytest.mark.parametrize("columns", [1, 5, 63, 781, 1000, 1024])
@pytest.mark.parametrize("low", [0, 3])
def test_rows(columns, low, rng):
    if columns <= low:
        pytest.skip("nothing is left of the rows")
    rows = LARGE // 4 // columns + 1 if columns > 500 else 20000
    x = torch.randn(rows, columns, generator=rng)
    around = output([rows, columns + 3], torch.float32)
    mean = output([rows], torch.float32)
    block = triton.next_power_of_2(columns)
    rows_kernel[(rows,)](x, around, mean, columns, columns, columns + 3, low, BLOCK=block)
    kept = x[:, low:]
    torch.testing.assert_close(mean, kept.mean(dim=1), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(around[:, low:columns], kept - mean[:, None])
    assert around[:, :low].isnan().all()
    assert around[:, columns:].isnan().all()


@triton.jit
def shift_kernel(x, out, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns)
    tl.store(out + row * stride + at, value + at, mask=at < columns)


@pytest.mark.parametrize("gap", [0, 1, 5])
@pytest.mark.parametrize("columns", [193, 781, 991, 1025])
@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.int8, torch.float64], ids=lambda d: NAMES[d]
)
def test_rows_that_end_anywhere(dtype, columns, gap, rng):
    """Lines that rows share, and those that only what is between rows is in."""
    rows = LARGE // dtype.itemsize // columns + 1
    x = torch.randint(-50, 50, [rows, columns], generator=rng, dtype=torch.int8).to(dtype)
    shift = 3
    around = torch.full([shift + rows * (columns + gap) + 64], 7, dtype=dtype)
    out = around[shift:][: rows * (columns + gap)].view(rows, columns + gap)
    shift_kernel[(rows,)](x, out, columns, columns + gap, BLOCK=triton.next_power_of_2(columns))
    at = torch.arange(columns)
    expected = x.to(torch.int32) + at if dtype == torch.int8 else x.double() + at
    assert torch.equal(out[:, :columns], expected.to(dtype))
    assert (out[:, columns:] == 7).all()
    assert (around[:shift] == 7).all()
    assert (around[-64:] == 7).all()


@triton.jit
def blocks_kernel(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BM, BN])
    target = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [BM, BN])
    at = [tl.program_id(0) * BM - 1, tl.program_id(1) * BN - 8]
    target.store(at, source.load(at) * 2.0)


def test_descriptors_that_begin_outside(rng):
    rows, columns, bm, bn = 5357, 3332, 8, 128
    x = torch.randn(rows, columns, generator=rng)
    out = output([rows, columns], torch.float32)
    grid = (triton.cdiv(rows + 1, bm), triton.cdiv(columns + 8, bn))
    blocks_kernel[grid](x, out, rows, columns, BM=bm, BN=bn)
    assert torch.equal(out, x * 2)


@triton.jit
def persistent_kernel(x, out, rows, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * columns + at, mask=at < columns)
        tl.store(out + row * columns + at, value + 1.0, mask=at < columns)
        tl.store(out + row * columns + at + columns // 2, value, mask=at < columns // 2)


def test_later_stores_win(rng):
    rows, columns = 16999, 1001
    x = torch.randn(rows, columns, generator=rng)
    out = output([rows, columns], torch.float32)
    persistent_kernel[(3,)](x, out, rows, columns, BLOCK=1024)
    expected = x + 1
    expected[:, 500:1000] = x[:, :500]
    assert torch.equal(out, expected)


@triton.jit
def shifted_rows_kernel(x, table, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    index = tl.load(x + at, mask=inside, other=0)
    tl.store(out + at, tl.load(table + index, mask=inside), mask=inside)


@pytest.mark.parametrize("shift", [0, 5])
def test_gathered_values(shift, rng):
    n = LARGE // 4 + 11
    table = torch.randn(1000, generator=rng)
    index = torch.randint(0, 1000, [n], generator=rng, dtype=torch.int32)
    out, around = guarded(n, shift, torch.float32)
    shifted_rows_kernel[(triton.cdiv(n, 1024),)](index, table, out, n, BLOCK=1024)
    assert torch.equal(out, table[index])
    check_guards(around, shift, n)


@triton.jit
def joined_kernel(a, b, out, columns_a, columns_b, total_a, total_b, BLOCK: tl.constexpr):
    """Rows of one array behind those of another: which one a program reads is its number along y."""
    if tl.program_id(1) == 0:
        x, columns, first, total = a, columns_a, 0, total_a
    else:
        x, columns, first, total = b, columns_b, columns_a, total_b
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = at // columns * (columns_a + columns_b) + first + at % columns
    tl.store(out + place, tl.load(x + at, mask=at < total), mask=at < total)


@pytest.mark.parametrize("columns", [(4096, 4096), (1003, 500), (1024, 64)])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.int8], ids=lambda d: NAMES[d]
)
def test_joined_rows(dtype, columns, rng):
    rows = LARGE // (sum(columns) * dtype.itemsize) + 1
    a, b = (
        torch.randint(-50, 50, [rows, n], generator=rng, dtype=torch.int8).to(dtype)
        for n in columns
    )
    out, around = guarded(rows * sum(columns), 5, dtype)
    blocks = triton.cdiv(max(a.numel(), b.numel()), 1024)
    joined_kernel[(blocks, 2)](a, b, out, *columns, a.numel(), b.numel(), BLOCK=1024)
    assert torch.equal(out.view(rows, -1), torch.cat([a, b], 1))
    check_guards(around, 5, out.numel())
