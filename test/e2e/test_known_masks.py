# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selections whose masks are those of loads, nearly those, or others."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def where_kernel(x, out, start, n, m, length, BLOCK: tl.constexpr):
    """`start` is added in i32 and may be negative; the load begins there."""
    for begin in range(0, length, BLOCK):
        i = start + begin + tl.arange(0, BLOCK)
        inside = i < n
        value = tl.load(x + i, mask=inside & (i >= 0), other=5.0)
        same = tl.where(inside, value + 1.0, -1.0)
        turned = tl.where(n > i, value * 2.0, -2.0)
        other = tl.where(i < m, value * 3.0, -3.0)
        later = tl.where(i + 1 < n, value * 4.0, -4.0)
        back = tl.where(i <= n, value * 5.0, -5.0)
        j = begin + tl.arange(0, BLOCK)
        tl.store(out + j, same + turned + other + later + back, mask=j < length)


def expected(x, start, n, m, length):
    i = start + torch.arange(length)
    inside = i < n
    exists = inside & (i >= 0)
    value = torch.where(exists, x[i.clamp(0, len(x) - 1)], 5.0)
    return (
        torch.where(inside, value + 1, -1.0)
        + torch.where(inside, value * 2, -2.0)
        + torch.where(i < m, value * 3, -3.0)
        + torch.where(i + 1 < n, value * 4, -4.0)
        + torch.where(i <= n, value * 5, -5.0)
    )


@pytest.mark.parametrize("block", [1, 2, 16, 64, 256, 1024])
@pytest.mark.parametrize("start", [0, -7, 5, 64, 900])
def test_where(block, start):
    x = torch.randn(1024, generator=torch.Generator().manual_seed(block + start))
    for n, m in ((0, 3), (1, 1), (63, 64), (64, 63), (781, 500), (1024, 2000), (1000, 0)):
        out = torch.zeros(1100)
        where_kernel[(1,)](x, out, start, n, m, 1100, BLOCK=block)
        torch.testing.assert_close(out, expected(x, start, n, m, 1100), rtol=0, atol=0)


@triton.jit
def rows_kernel(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.arange(0, BN)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    value = tl.load(x + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    value = tl.where(column[None, :] < columns, value, -float("inf"))
    value = tl.where(row[:, None] < rows, value, 1.0)
    top = tl.max(value, axis=1)
    square = tl.where(inside, (value - top[:, None]) * (value - top[:, None]), 0.0)
    tl.store(out + row, tl.sum(square, axis=1), mask=row < rows)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 64), (7, 63), (9, 100), (3, 128)])
def test_rows(rows, columns):
    x = torch.randn(rows, columns, generator=torch.Generator().manual_seed(columns))
    out = torch.full([rows + 1], 7.0)
    rows_kernel[(triton.cdiv(rows, 4),)](x, out, rows, columns, BM=4, BN=128)
    wanted = (x - x.amax(dim=1, keepdim=True)).square().sum(dim=1)
    torch.testing.assert_close(out[:rows], wanted)
    assert out[rows] == 7.0


@triton.jit
def overflow_kernel(x, out, start, n, BLOCK: tl.constexpr):
    """start + i leaves i32 for some lanes, which the mask then is true for; the load has no such lanes."""
    i = start + tl.arange(0, BLOCK)
    j = tl.arange(0, BLOCK)
    value = tl.load(x + j, mask=j < 40, other=0.0)
    tl.store(out + j, tl.where(i < n, value + 1.0, -1.0))


def test_overflow():
    x = torch.randn(64)
    out = torch.zeros(64)
    start, n = 2**31 - 20, 2**31 - 4
    overflow_kernel[(1,)](x, out, start, n, BLOCK=64)
    i = (start + torch.arange(64)).to(torch.int32)
    value = torch.where(torch.arange(64) < 40, x, 0.0)
    torch.testing.assert_close(out, torch.where(i < n, value + 1, -1.0), rtol=0, atol=0)


@triton.jit
def bits_kernel(
    x, out, columns, a_end, b_begin, WAY: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    """Masks of all that Triton has for two bools."""
    i, j = tl.arange(0, BM)[:, None], tl.arange(0, BN)[None, :]
    a, b = i < a_end, j >= b_begin
    if WAY == "*":
        mask = a * b
    elif WAY == "+":
        mask = a + b
    elif WAY == "-":
        mask = a - b
    elif WAY == "minimum":
        mask = tl.minimum(a, b)
    elif WAY == "maximum":
        mask = tl.maximum(a, b)
    elif WAY == "and":
        mask = tl.where(a, b, False)
    else:
        mask = tl.where(a, True, b)
    inside = j < columns
    value = tl.load(x + i * columns + j, mask=mask * inside, other=-1.0)
    tl.store(out + i * columns + j, value * 2, mask=inside)


BITS = {
    "*": torch.logical_and,
    "+": torch.logical_xor,
    "-": torch.logical_xor,
    "minimum": torch.logical_and,
    "maximum": torch.logical_or,
    "and": torch.logical_and,
    "or": torch.logical_or,
}


@pytest.mark.parametrize("way", BITS)
@pytest.mark.parametrize(("a_end", "b_begin"), [(0, 0), (5, 7), (8, 64), (3, 41)])
def test_bits(way, a_end, b_begin):
    x = torch.randn(8, 41, generator=torch.Generator().manual_seed(a_end))
    out = torch.full_like(x, 7.0)
    bits_kernel[(1,)](x, out, 41, a_end, b_begin, WAY=way, BM=8, BN=64)
    mask = BITS[way](torch.arange(8)[:, None] < a_end, torch.arange(41)[None, :] >= b_begin)
    torch.testing.assert_close(out, torch.where(mask, x, -1.0) * 2, rtol=0, atol=0)


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def scans_kernel(x, out, n, BLOCK: tl.constexpr, WAY: tl.constexpr):
    """Of scans and exchanges of a range others are below n than of the range itself."""
    i = tl.arange(0, BLOCK)
    inside = i < n
    value = tl.load(x + i, mask=inside, other=0.0)
    if WAY == "sums":
        at = tl.cumsum(i, 0)
    elif WAY == "more":
        at = tl.cumsum(i, 0) + 3
    elif WAY == "i64":
        at = tl.cumsum(i.to(tl.int64), 0)
    elif WAY == "backwards":
        at = tl.cumsum(i, 0, reverse=True)
    elif WAY == "maxima":
        at = tl.associative_scan(i ^ 4, 0, larger)
    elif WAY == "exchanged":
        at = tl.gather(i, i ^ 8, 0)
    else:
        at = tl.reshape(tl.flip(tl.reshape(i, [BLOCK // 2, 2]), 1), [BLOCK])
    tl.store(out + i, tl.where(at < n, value, -7.0), mask=inside)


SCANS = {
    "sums": lambda i: i.cumsum(0),
    "more": lambda i: i.cumsum(0) + 3,
    "i64": lambda i: i.cumsum(0),
    "backwards": lambda i: i.flip(0).cumsum(0).flip(0),
    "maxima": lambda i: (i ^ 4).cummax(0).values,
    "exchanged": lambda i: i ^ 8,
    "pairs": lambda i: i ^ 1,
}


@pytest.mark.parametrize("way", SCANS)
@pytest.mark.parametrize("block", [32, 128, 1024])
def test_scans(way, block):
    x = torch.randn(block, generator=torch.Generator().manual_seed(block))
    at = SCANS[way](torch.arange(block))
    for n in (0, 1, 5, 31, 77, 100, block - 1, block):
        out = torch.full_like(x, 7.0)
        scans_kernel[(1,)](x, out, n, BLOCK=block, WAY=way)
        wanted = torch.where(at < n, x, -7.0)
        wanted[n:] = 7.0
        torch.testing.assert_close(out, wanted, rtol=0, atol=0)
