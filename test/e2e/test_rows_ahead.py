# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows whose maximum is looked for while the row of the thread's program before is computed, and the one before stored."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal, output


@pytest.fixture(autouse=True, params=[1, 2])
def threads(request):
    """Few programs would be shared out one by one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(threads)


@triton.jit
def range_kernel(x, out, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    """Two numbers of the row, and one that depends on what it becomes."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * x_stride + at, mask=inside, other=-float("inf"))
    top = tl.max(value, axis=0)
    low = tl.min(tl.where(inside, value, float("inf")), axis=0)
    weight = tl.exp((value - top) / (1 + top - low))
    tl.store(out + row * out_stride + at, weight / tl.sum(weight, axis=0), mask=inside)


def ranged(x):
    top, low = x.max(1, keepdim=True).values, x.min(1, keepdim=True).values
    return torch.softmax((x - top) / (1 + top - low), 1)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 41])
@pytest.mark.parametrize(
    ("columns", "block"),
    [(1, 16), (63, 64), (64, 64), (509, 512), (781, 1024), (1024, 1024), (5003, 8192)],
)
def test_rows(rows, columns, block, rng):
    for shift, padding in ((0, 0), (5, 3)):
        x = normal(rng, [rows, columns + padding])
        around = torch.full([rows * (columns + padding) + shift], 7.0)
        out = around[shift:].view(rows, columns + padding)[:, :columns]
        strides = x.stride(0), out.stride(0)
        range_kernel[(rows,)](x, out, columns, *strides, BLOCK=block)
        check_equal(out, ranged(x[:, :columns].double()), torch.float32)
        out.fill_(7)
        assert (around == 7).all()


def test_in_place(rng):
    x = normal(rng, [300, 500])
    expected = ranged(x.double())
    range_kernel[(300,)](x, x, 500, 500, 500, BLOCK=512)
    check_equal(x, expected, torch.float32)


def test_what_is_no_number(rng):
    """It stays in its row."""
    x = normal(rng, [11, 700])
    x[1, 7] = float("nan")
    x[3] = float("nan")
    x[5, 699] = float("inf")
    x[8] = -float("inf")
    out = output([11, 700], torch.float32)
    range_kernel[(11,)](x, out, 700, 700, 700, BLOCK=1024)
    usual = torch.tensor([0, 2, 4, 6, 7, 9, 10])
    check_equal(out[usual], ranged(x[usual].double()), torch.float32)
    # tl.max and tl.min ignore NaN.
    assert out[[1, 3, 5, 8]].isnan().all(1).tolist() == [True, True, True, True]


@triton.jit
def scores_kernel(x, scale, out, sums, columns, BLOCK: tl.constexpr):
    """Programs are along two axes, have another output, and the last one has its own number."""
    head, row = tl.program_id(0), tl.program_id(1)
    heads, rows = tl.num_programs(0), tl.num_programs(1)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    place = (head * rows + row) * columns + at
    value = tl.load(x + place, mask=inside, other=-float("inf"))
    weight = tl.exp(value - tl.max(value, axis=0))
    total = tl.sum(weight, axis=0)
    tl.store(sums + head * rows + row, total)
    last = tl.where((head == heads - 1) & (row == rows - 1), 2.0, 1.0)
    tl.store(out + place, last * tl.load(scale + row) * weight / total, mask=inside)


@pytest.mark.parametrize(("heads", "rows"), [(1, 1), (1, 9), (5, 7), (64, 3)])
@pytest.mark.parametrize("columns", [200, 1024])
def test_two_axes(heads, rows, columns, rng):
    x, scale = normal(rng, [heads, rows, columns]), normal(rng, [rows])
    out, sums = output(x.shape, torch.float32), output([heads, rows], torch.float32)
    scores_kernel[(heads, rows)](x, scale, out, sums, columns, BLOCK=1024)
    scores = x.double()
    expected = torch.softmax(scores, 2) * scale[:, None].double()
    expected[-1, -1] *= 2
    check_equal(out, expected, torch.float32, terms=4)
    total = torch.exp(scores - scores.max(2, keepdim=True).values).sum(2)
    check_equal(sums, total, torch.float32, terms=columns)


@triton.jit
def tiles_kernel(x, out, rows, columns, apart, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
        weight = tl.exp(value - tl.max(value, axis=0))
        weight = 5 * weight / tl.sum(weight, axis=0)
        tl.store(out + (row + apart) * columns + at, weight, mask=inside)


@pytest.mark.parametrize("columns", [64, 1000])
def test_tiles(columns, rng):
    """In place and apart; each row from the one before, which must be there."""
    for programs in (1, 3, 64):
        x, out = normal(rng, [41, columns]), output([41, columns], torch.float32)
        expected = 5 * torch.softmax(x.double(), 1)
        tiles_kernel[(programs,)](x, out, 41, columns, 0, BLOCK=1024)
        check_equal(out, expected, torch.float32, terms=4)
        tiles_kernel[(programs,)](x, x, 41, columns, 0, BLOCK=1024)
        check_equal(x, expected, torch.float32, terms=4)
    x = normal(rng, [9, columns])
    expected = x.double()
    for row in range(8):
        expected[row + 1] = 5 * torch.softmax(expected[row], 0)
    tiles_kernel[(1,)](x, x, 8, columns, 1, BLOCK=1024)
    check_equal(x, expected, torch.float32, terms=16)


@pytest.mark.compiled("millions of interpreted elements take a minute")
@pytest.mark.parametrize(("rows", "columns"), [(4099, 1024), (4099, 1021), (6500, 1024)])
def test_many(rows, columns, rng):
    """What does not fit into a cache is read by a loop of its own; the last ones are stored around the caches."""
    x, out = normal(rng, [rows, columns]), output([rows, columns], torch.float32)
    range_kernel[(rows,)](x, out, columns, columns, columns, BLOCK=1024)
    assert torch.allclose(out, ranged(x), rtol=1e-5, atol=1e-9)
