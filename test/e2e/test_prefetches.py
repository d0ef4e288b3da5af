# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches so large that loops over blocks of rows ask for later blocks: the values are the same."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, output

LARGE = 17 << 20


@triton.jit
def columns_kernel(x, out, rows, columns, MAX: tl.constexpr, BR: tl.constexpr, BC: tl.constexpr):
    column = tl.program_id(1) * BC + tl.arange(0, BC)
    start = -100 if MAX else 0
    total = tl.full([BR, BC], start, out.dtype.element_ty)
    for first in range(0, rows, BR):
        row = first + tl.arange(0, BR)
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        value = tl.load(x + row[:, None] * columns + column[None, :], mask=inside, other=start)
        value = value.to(total.dtype)
        total = tl.maximum(total, value) if MAX else total + value
    result = tl.max(total, axis=0) if MAX else tl.sum(total, axis=0)
    tl.store(out + column, result, mask=column < columns)


@triton.jit
def rows_kernel(x, out, rows, columns, BR: tl.constexpr, BC: tl.constexpr):
    """The offset is what the loop carries."""
    row = tl.program_id(0) * BR + tl.arange(0, BR)
    x += tl.program_id(0).to(tl.int64) * BR * columns
    total = tl.full([BR, BC], 0, out.dtype.element_ty)
    at = 0
    for _ in range(tl.cdiv(columns, BC)):
        column = at + tl.arange(0, BC)
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        place = tl.arange(0, BR)[:, None] * columns + column[None, :]
        total += tl.load(x + place, mask=inside, other=0).to(total.dtype)
        at += BC
    tl.store(out + row, tl.sum(total, axis=1), mask=row < rows)


def numbers(rng, shape, dtype):
    """Small integers: sums are exact."""
    return torch.randint(-3, 4, shape, generator=rng).to(dtype)


@pytest.mark.parametrize("is_max", [False, True])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int32, torch.int8]
)
@pytest.mark.parametrize("columns", [256, 1003])
def test_columns(columns, dtype, is_max, rng):
    rows = LARGE // (columns * dtype.itemsize) + 3
    x = numbers(rng, [rows, columns], dtype)
    wide = (
        dtype if dtype.itemsize >= 4 else torch.float32 if dtype == torch.bfloat16 else torch.int32
    )
    out = output([columns], wide)
    columns_kernel[(1, triton.cdiv(columns, 256))](x, out, rows, columns, MAX=is_max, BR=4, BC=256)
    check_equal(out, x.to(wide).amax(dim=0) if is_max else x.to(wide).sum(dim=0).to(wide))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32])
@pytest.mark.parametrize("columns", [4096, 4099])
def test_rows(columns, dtype, rng):
    rows = LARGE // (columns * dtype.itemsize) + 3
    x = numbers(rng, [rows, columns], dtype)
    wide = torch.float32 if dtype.is_floating_point else dtype
    out = output([rows], wide)
    rows_kernel[(triton.cdiv(rows, 8),)](x, out, rows, columns, BR=8, BC=512)
    check_equal(out, x.to(wide).sum(dim=1).to(wide))


@triton.jit
def short_rows_kernel(
    x, out, rows, columns, stride, KIND: tl.constexpr, BR: tl.constexpr, BC: tl.constexpr
):
    """Rows that follow one another in memory where `stride` is `columns`."""
    row = tl.program_id(0) * BR + tl.arange(0, BR)
    start = 0 if KIND == "sum" else -100
    total = tl.full([BR], start, out.dtype.element_ty)
    for first in range(0, columns, BC):
        column = first + tl.arange(0, BC)
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        at = row[:, None].to(tl.int64) * stride + column[None, :]
        value = tl.load(x + at, mask=inside, other=start).to(total.dtype)
        if KIND == "sum":
            total += tl.sum(value, axis=1)
        elif KIND == "max":
            total = tl.maximum(total, tl.max(value, axis=1))
        else:
            total = tl.argmax(value, axis=1).to(total.dtype)
    tl.store(out + row, total, mask=row < rows)


@pytest.mark.parametrize("kind", ["sum", "max", "argmax"])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int32]
)
@pytest.mark.parametrize(
    ("columns", "padding", "block"),
    [(256, 0, 256), (256, 7, 256), (253, 0, 256), (253, 3, 64), (5000, 0, 8192), (4096, 1, 8192)],
)
@pytest.mark.parametrize("block_rows", [1, 8])
def test_short_rows(columns, padding, block, block_rows, dtype, kind, rng):
    if kind == "argmax" and block < columns:
        pytest.skip("of one piece")
    rows = LARGE // (columns * dtype.itemsize) // 8 * 8 + 7
    x = numbers(rng, [rows, columns + padding], dtype)[:, :columns]
    wide = torch.float32 if dtype.itemsize == 2 else dtype
    out = output([rows], wide)
    short_rows_kernel[(triton.cdiv(rows, block_rows),)](
        x, out, rows, columns, columns + padding, KIND=kind, BR=block_rows, BC=block
    )
    expected = {
        "sum": lambda: x.to(wide).sum(dim=1),
        "max": lambda: x.to(wide).amax(dim=1),
        "argmax": lambda: x.to(wide).argmax(dim=1),
    }[kind]()
    check_equal(out, expected.to(wide))


@pytest.mark.parametrize("kind", ["sum", "max"])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int32, torch.int8]
)
@pytest.mark.parametrize(
    ("columns", "distance", "block", "block_rows"),
    [(4096, 520, 512, 8), (4099, 601, 512, 2), (1003, 1100, 256, 16), (700, 300, 256, 4)],
)
def test_pieces_of_rows_apart(columns, distance, block, block_rows, dtype, kind, rng):
    """Several rows are reduced at once. They overlap, so that few bytes do for a large launch; the
    last block has fewer rows."""
    rows = LARGE // (columns * dtype.itemsize) // block_rows * block_rows + block_rows // 2
    x = numbers(rng, [rows * distance + columns], dtype).as_strided([rows, columns], [distance, 1])
    wide = dtype if dtype.itemsize >= 4 else torch.int32 if dtype == torch.int8 else torch.float32
    out = output([rows], wide)
    short_rows_kernel[(triton.cdiv(rows, block_rows),)](
        x, out, rows, columns, distance, KIND=kind, BR=block_rows, BC=block
    )
    check_equal(out, x.to(wide).sum(dim=1).to(wide) if kind == "sum" else x.amax(dim=1).to(wide))


@triton.jit
def two_passes_kernel(x, out, rows, columns, stride, BC: tl.constexpr):
    """Each program goes over several rows, and over each row twice."""
    at = tl.arange(0, BC)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row.to(tl.int64) * stride + at, mask=at < columns, other=-100)
        value = value.to(tl.float32)
        top = tl.max(value, axis=0)
        total = tl.sum(tl.where(at < columns, value - top, 0), axis=0)
        tl.store(out + row, total)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("columns", "padding", "programs"),
    [(1024, 0, 100000), (1024, 0, 7), (1021, 3, 100000), (2048, 0, 100000), (2047, 9, 64)],
)
def test_rows_of_a_page(columns, padding, programs, dtype, rng):
    rows = LARGE // (columns * dtype.itemsize) + 3
    x = numbers(rng, [rows, columns + padding], dtype)[:, :columns]
    out = output([rows], torch.float32)
    grid = (min(rows, programs),)
    two_passes_kernel[grid](
        x, out, rows, columns, columns + padding, BC=triton.next_power_of_2(columns)
    )
    wide = x.float()
    check_equal(out, (wide - wide.amax(dim=1, keepdim=True)).sum(dim=1))


@triton.jit
def tile_kernel(x, out, rows, columns, TURN: tl.constexpr, BR: tl.constexpr, BC: tl.constexpr):
    row = tl.program_id(0) * BR + tl.arange(0, BR)
    column = tl.program_id(1) * BC + tl.arange(0, BC)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    value = tl.load(x + row[:, None] * columns + column[None, :], mask=inside)
    if TURN:
        at = column[:, None] * rows + row[None, :]
        tl.store(out + at, value.T, mask=(column[:, None] < columns) & (row[None, :] < rows))
    else:
        tl.store(out + row[:, None] * columns + column[None, :], value, mask=inside)


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int8])
def test_tiles(dtype, is_turned, rng):
    columns = 1003
    rows = LARGE // (columns * dtype.itemsize) + 3
    x = numbers(rng, [rows, columns], dtype)
    out = output([columns, rows] if is_turned else [rows, columns], dtype)
    grid = (triton.cdiv(rows, 32), triton.cdiv(columns, 64))
    tile_kernel[grid](x, out, rows, columns, TURN=is_turned, BR=32, BC=64)
    assert torch.equal(out, x.T.contiguous() if is_turned else x)


@triton.jit
def twice_kernel(x, out, rows, columns, BLOCK: tl.constexpr):
    """Goes over each row twice: in one block, or in several."""
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        total = tl.full([BLOCK], 0, tl.int32)
        for start in range(0, columns, BLOCK):
            at = start + tl.arange(0, BLOCK)
            value = tl.load(x + row * columns + at, mask=at < columns, other=0)
            total += value.to(tl.int32)
        whole = tl.sum(total, axis=0)
        for start in range(0, columns, BLOCK):
            at = start + tl.arange(0, BLOCK)
            value = tl.load(x + row * columns + at, mask=at < columns, other=0)
            tl.store(out + row * columns + at, value.to(tl.int32) - whole, mask=at < columns)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.int8])
@pytest.mark.parametrize("programs", [1, 3, 100000])
@pytest.mark.parametrize(
    ("columns", "block"), [(4099, 8192), (4099, 1024), (8192, 8192), (781, 1024)]
)
def test_twice(columns, block, programs, dtype, rng):
    rows = LARGE // (columns * dtype.itemsize) + 3
    x = numbers(rng, [rows, columns], dtype)
    out = output([rows, columns], torch.int32)
    twice_kernel[(min(programs, rows),)](x, out, rows, columns, BLOCK=block)
    check_equal(out, x.to(torch.int32) - x.to(torch.int32).sum(dim=1, keepdim=True).to(torch.int32))


@triton.jit
def backwards_kernel(x, out, columns, BLOCK: tl.constexpr):
    """Programs are numbered along the rows, which are read from their ends."""
    blocks = tl.cdiv(columns, BLOCK)
    row = tl.program_id(0) // blocks
    at = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + columns - 1 - at, mask=at < columns)
    tl.store(out + row * columns + at, value, mask=at < columns)


@triton.jit
def all_backwards_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + n - 1 - at, mask=at < n), mask=at < n)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int32, torch.int8]
)
@pytest.mark.parametrize("columns", [256, 1003, 5000])
def test_backwards(columns, dtype, rng):
    rows = LARGE // (columns * dtype.itemsize) + 3
    x = numbers(rng, [rows, columns], dtype)
    out = output([rows, columns], dtype)
    backwards_kernel[(rows * triton.cdiv(columns, 256),)](x, out, columns, BLOCK=256)
    assert torch.equal(out, x.flip(1))
    all_backwards_kernel[(triton.cdiv(x.numel(), 512),)](x, out, x.numel(), BLOCK=512)
    assert torch.equal(out, x.flip(0, 1))
