# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of long columns: four lines of them run together, then one line, then single ones; of large grids."""

import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from support import check_equal, normal, output

# Of f32: alone; one line; three; four; four and three and some; twice four and one.
COLUMNS = [7, 16, 63, 64, 117, 144]
# Of f32 there are 64 groups of 64 columns, or nearly as many.
BATCHES = 70


def programs_together(kernel):
    decisions = tilebridge.explain(kernel)["decisions"]
    return sorted(int(d["programs"]) for d in decisions if d["kind"] == "merged")


@triton.jit
def softmax_kernel(x, o, rows, columns, B: tl.constexpr):
    row, col = tl.arange(0, B), tl.program_id(0)
    at = (tl.program_id(1) * rows + row) * columns + col
    v = tl.load(x + at, mask=row < rows, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + at, (e / tl.sum(e, 0)).to(o.dtype.element_ty), mask=row < rows)


@pytest.mark.parametrize("batches", [1, BATCHES])
@pytest.mark.parametrize("rows", [1, 20])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.compiled("thousands of programs")
def test_softmax(rows, columns, batches, dtype, rng):
    x, o = normal(rng, [batches, rows, columns], dtype), output([batches + 1, rows, columns], dtype)
    o[batches:] = 7
    kernel = softmax_kernel[(columns, batches)](x, o, rows, columns, B=1024)
    line = 64 // dtype.itemsize
    assert programs_together(kernel) == [line, 4 * line]
    tolerance = (1e-5, 1e-6) if dtype == torch.float32 else (1e-3, 1e-3)
    check_equal(o[:batches], torch.softmax(x.double(), 1), tolerance=tolerance)
    assert (o[batches:] == 7).all()


@triton.jit
def axis_kernel(x, o, rows, columns, B: tl.constexpr, AXIS: tl.constexpr):
    row, col = tl.arange(0, B), tl.program_id(AXIS)
    other = tl.program_id(1 - AXIS if AXIS < 2 else 0)
    at = (other * rows + row) * columns + col
    tl.store(o + at, tl.cumsum(tl.load(x + at, mask=row < rows, other=0), 0), mask=row < rows)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("others", [1, BATCHES])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.compiled("thousands of programs")
def test_each_axis(columns, others, axis, rng):
    x = torch.randint(-9, 9, [others, 20, columns], generator=rng).to(torch.int32)
    o = output([others, 20, columns], torch.int32)
    grid = [1, 1, 1]
    grid[axis], grid[1 - axis if axis < 2 else 0] = columns, others
    axis_kernel[tuple(grid)](x, o, 20, columns, B=1024, AXIS=axis)
    assert torch.equal(o, x.cumsum(1).int())


@triton.jit
def some_kernel(x, o, limit, rows, columns, B: tl.constexpr):
    """Columns from `limit` on do nothing: of a group they may be some."""
    row, col = tl.arange(0, B), tl.program_id(1)
    at = (tl.program_id(0) * rows + row) * columns + col
    if col < limit:
        v = tl.load(x + at, mask=row < rows)
        tl.store(o + at, v + tl.load(x + col), mask=row < rows)


@pytest.mark.parametrize("limit", [0, 1, 16, 40, 64, 70, 127, 128])
@pytest.mark.compiled("thousands of programs")
def test_groups_that_differ(limit, rng):
    """Four lines are taken apart into one and another, and the one that differs into programs."""
    x = normal(rng, [BATCHES, 20, 128], torch.float32)
    o = torch.full_like(x, 7)
    some_kernel[(BATCHES, 128)](x, o, limit, 20, 128, B=1024)
    wanted = torch.full_like(x, 7)
    wanted[..., :limit] = x[..., :limit] + x[0, 0, :limit]
    assert torch.equal(o, wanted)


@pytest.mark.parametrize("columns", [64, 117, 200])
@pytest.mark.compiled("thousands of programs")
def test_threads_change_nothing(columns, rng):
    x = normal(rng, [BATCHES, 20, columns], torch.float32)
    found, threads = [], torch.get_num_threads()
    try:
        for count in [1, 2, 2, 2]:
            torch.set_num_threads(count)
            o = torch.zeros_like(x)
            softmax_kernel[(columns, BATCHES)](x, o, 20, columns, B=1024)
            found.append(o)
    finally:
        torch.set_num_threads(threads)
    for o in found[1:]:
        assert torch.equal(o, found[0])


@triton.jit
def copy_kernel(x, o, rows, columns, x0, x1, BLOCK: tl.constexpr):
    """One row of blocks of `o` after another. `x0` and `x1` are its strides in `x`: columns if `x0` is 1."""
    tiles = tl.cdiv(columns, BLOCK)
    row = tl.program_id(0) // tiles
    col = tl.program_id(0) % tiles * BLOCK + tl.arange(0, BLOCK)
    inside = (col < columns) & (row < rows)
    batch = tl.program_id(1) * rows * columns
    v = tl.load(x + batch + row * x0 + col * x1, mask=inside)
    tl.store(o + batch + row * columns + col, v, mask=inside)


# What is read is 16 MiB and more, so that groups of one column of blocks follow one another, if `more` leaves the number of
# programs a multiple of the blocks in a row; or less.
@pytest.mark.parametrize(
    ("rows", "columns"), [(14000, 300), (9001, 513), (16384, 256), (100, 300), (70, 40)]
)
@pytest.mark.parametrize(("batches", "more"), [(1, 0), (2, 0), (1, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int16], ids=str)
@pytest.mark.compiled("thousands of programs")
def test_copy_of_large_columns(rows, columns, batches, more, dtype, rng):
    x = torch.randint(-9999, 9999, [batches, columns, rows], generator=rng).to(dtype)
    o = torch.full([batches + 1, rows, columns], 12345, dtype=dtype)
    grid = (rows * triton.cdiv(columns, 256) + more, batches)
    copy_kernel[grid](x, o, rows, columns, 1, rows, BLOCK=256)
    assert torch.equal(o[:batches], x.transpose(1, 2))
    assert (o[batches:] == 12345).all()
