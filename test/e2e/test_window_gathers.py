# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lanes that read nearly the same elements, as a picture that is scaled or mirrored does: one load, put in order."""

import pytest
import torch
import triton
import triton.language as tl
from support import NAMES, at_end_of_memory, output

DTYPES = [
    torch.float32, torch.int32, torch.float16, torch.bfloat16, torch.int16, torch.float64,
    torch.int64, torch.int8,
]  # fmt: skip


@triton.jit
def scale_kernel(x, out, n, size, scale, MASK: tl.constexpr, BLOCK: tl.constexpr):
    """Nearest neighbours; with a mask, not those of every seventh element."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.minimum(((at.to(tl.float32) + 0.5) * scale).to(tl.int32), size - 1)
    if MASK:
        # Where nothing is read the place may be anywhere.
        on = at % 7 != 3
        value = tl.load(x + tl.where(on, place, 1 << 28), mask=(at < n) & on, other=9)
    else:
        value = tl.load(x + place, mask=at < n, other=9)
    tl.store(out + at, value, mask=at < n)


def numbers(rng, size, dtype):
    return torch.randint(-100, 100, [size], generator=rng, dtype=torch.int32).to(dtype)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [0.5, 0.25, 0.4, 1.5, 2.0, 7.0])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: NAMES[d])
def test_scaled(dtype, scale, masked, rng):
    # Both ends of what is read lie at a page's end, and rows run over pages.
    for size in (1, 3, 16, 67, 4099):
        data = numbers(rng, size, dtype)
        n = max(int(size / scale), 1)
        at = torch.arange(n)
        place = ((at.float() + 0.5) * scale).int().clamp(max=size - 1)
        expected = data[place.long()]
        if masked:
            expected[at % 7 == 3] = 9
        for block in (16, 128):
            out = output([n], dtype)
            grid = (triton.cdiv(n, block),)
            scale_kernel[grid](
                at_end_of_memory(data), out, n, size, scale, MASK=masked, BLOCK=block
            )
            assert torch.equal(out, expected)


@triton.jit
def mirror_kernel(x, out, rows, columns, padding, BLOCK: tl.constexpr):
    """Rows with `padding` elements more at both ends, which are those next to them, mirrored."""
    wide = columns + 2 * padding
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = at % wide - padding
    column = tl.where(column < 0, -column, column)
    column = tl.where(column >= columns, 2 * columns - 2 - column, column)
    inside = at < rows * wide
    tl.store(out + at, tl.load(x + at // wide * columns + column, mask=inside), mask=inside)


@pytest.mark.parametrize("shape", [(3, 40, 9), (1, 17, 16), (50, 5, 4), (7, 257, 33)])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: NAMES[d])
def test_mirrored(dtype, shape, rng):
    rows, columns, padding = shape
    data = numbers(rng, rows * columns, dtype)
    wide = columns + 2 * padding
    column = (torch.arange(wide) - padding).abs()
    column = torch.where(column >= columns, 2 * columns - 2 - column, column)
    for block in (32, 256):
        out = output([rows * wide], dtype)
        grid = (triton.cdiv(rows * wide, block),)
        mirror_kernel[grid](at_end_of_memory(data), out, rows, columns, padding, BLOCK=block)
        assert torch.equal(out.view(rows, wide), data.view(rows, columns)[:, column])


@triton.jit
def constant_division_kernel(x, out, n, DIVISOR: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0)
    tl.store(out + at, value // DIVISOR * 1000 + value % DIVISOR, mask=at < n)


@pytest.mark.parametrize("divisor", [1, 2, 8, 2048, 3, 7, 1000])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=lambda d: NAMES[d])
def test_divisions_by_constants(dtype, divisor, rng):
    """Also by powers of two, and of negative numbers: towards zero."""
    n = 259
    bits = dtype.itemsize * 8 - 12
    x = torch.randint(-(1 << bits), 1 << bits, [n], generator=rng, dtype=dtype)
    x[:6] = torch.tensor([0, 1, -1, divisor, -divisor, 1 - divisor])
    out = output([n], dtype)
    constant_division_kernel[(2,)](x, out, n, DIVISOR=divisor, BLOCK=256)
    quotient = torch.div(x, divisor, rounding_mode="trunc")
    assert torch.equal(out, quotient * 1000 + torch.fmod(x, divisor))


@triton.jit
def table_kernel(
    x, table, out, columns, stride, pieces, R: tl.constexpr, C: tl.constexpr, MASK: tl.constexpr
):
    """Rows that a table names, of which each element is read `pieces` times, as zeros of weights are, eight a word."""
    row, column = tl.arange(0, R), tl.program_id(0) * C + tl.arange(0, C)
    start = tl.load(table + row) * stride
    places = start[:, None] + (column // pieces)[None, :]
    inside = (column < columns)[None, :]
    if MASK:
        inside = inside & ((row[:, None] + column[None, :]) % 5 != 2)
    value = tl.load(x + places, mask=inside, other=7)
    tl.store(
        out + row[:, None] * columns + column[None, :], value, mask=(column < columns)[None, :]
    )


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("columns", "pieces"), [(64, 8), (100, 3), (67, 1), (5, 8), (33, 50)])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: NAMES[d])
def test_rows_of_a_table(dtype, columns, pieces, masked, rng):
    width, rows = -(-columns // pieces), 7
    for same in (False, True):
        data = numbers(rng, rows * width, dtype)
        table = torch.randint(0, rows, [16], generator=rng, dtype=torch.int32)
        if same:
            table[:] = rows - 1
        out = output([16, columns], dtype)
        table_kernel[(triton.cdiv(columns, 32),)](
            at_end_of_memory(data), table, out, columns, width, pieces, R=16, C=32, MASK=masked
        )
        wanted = data.view(rows, width)[table.long()].repeat_interleave(pieces, 1)[:, :columns]
        if masked:
            off = (torch.arange(16)[:, None] + torch.arange(columns)[None, :]) % 5 == 2
            wanted = wanted.masked_fill(off, 7)
        assert torch.equal(out, wanted)
