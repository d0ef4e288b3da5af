# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block pointers, which Triton has in its IR up to 3.7; hazards 5 and 15 are about them."""

import pytest
import torch
import triton
import triton.language as tl
from support import HAS_BLOCK_POINTERS, check_equal, dtypes, normal, output

pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(not HAS_BLOCK_POINTERS, reason="Triton 3.8 removed block pointers"),
    pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated"),
]


@triton.jit
def window_kernel(
    x, out, rows, cols, row_stride, col_stride, row, col,
    BM: tl.constexpr, BN: tl.constexpr, CHECK: tl.constexpr, PAD: tl.constexpr,
):  # fmt: skip
    block = tl.make_block_ptr(
        x, (rows, cols), (row_stride, col_stride), (row, col), (BM, BN), (1, 0)
    )
    tile = tl.load(block, boundary_check=CHECK, padding_option=PAD)
    tl.store(out + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], tile)


def windowed(x, row, col, shape, fill):
    """The block of x at (row, col), `fill` where it is outside."""
    i = row + torch.arange(shape[0])[:, None]
    j = col + torch.arange(shape[1])[None, :]
    inside = (i >= 0) & (i < x.shape[0]) & (j >= 0) & (j < x.shape[1])
    value = x[i.clamp(0, x.shape[0] - 1), j.clamp(0, x.shape[1] - 1)]
    return torch.where(inside, value, torch.full_like(value, fill)), inside


OFFSETS = [(0, 0), (3, 5), (-2, 0), (0, -7), (-3, -4), (10, 13), (30, 2), (-40, 0), (12, 100)]


@pytest.mark.parametrize("at", OFFSETS)
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.int32))
@pytest.mark.parametrize("pad", ["", "zero", "nan"])
@pytest.mark.parametrize("layout", ["rows", "columns", "padded"])
def test_hazard_05_boundary_check_and_padding(at, dtype, pad, layout, rng):
    if pad == "nan" and not dtype.is_floating_point:
        pytest.skip("integers have no NaN")
    rows, cols, bm, bn = 13, 17, 8, 16
    x = normal(rng, [rows, cols], dtype)
    if layout == "columns":
        x = normal(rng, [cols, rows], dtype).t()
    elif layout == "padded":
        x = normal(rng, [rows, cols + 9], dtype)[:, :cols]
    out = output([bm, bn], dtype)
    window_kernel[(1,)](x, out, rows, cols, *x.stride(), *at, BM=bm, BN=bn, CHECK=(0, 1), PAD=pad)
    wanted, _ = windowed(x, *at, (bm, bn), float("nan") if pad == "nan" else 0)
    check_equal(out, wanted)


@pytest.mark.parametrize("check", [(0,), (1,), ()])
def test_hazard_05_only_the_named_dimensions_are_checked(check, rng):
    """A dimension that is not checked is inside by the program's promise."""
    rows, cols, bm, bn = 13, 17, 8, 16
    x = normal(rng, [rows, cols])
    row = 9 if 0 in check else 2
    col = 6 if 1 in check else 1
    out = output([bm, bn], torch.float32)
    window_kernel[(1,)](
        x, out, rows, cols, cols, 1, row, col, BM=bm, BN=bn, CHECK=check, PAD="zero"
    )
    wanted, _ = windowed(x, row, col, (bm, bn), 0)
    check_equal(out, wanted)


@triton.jit
def put_kernel(x, out, rows, cols, row, col, BM: tl.constexpr, BN: tl.constexpr):
    tile = tl.load(x + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
    block = tl.make_block_ptr(out, (rows, cols), (cols + 3, 1), (row, col), (BM, BN), (1, 0))
    tl.store(block, tile, boundary_check=(0, 1))


@pytest.mark.parametrize("at", OFFSETS)
def test_hazard_05_stores_outside_write_nothing(at, rng):
    rows, cols, bm, bn = 13, 17, 8, 16
    x = normal(rng, [bm, bn])
    whole = normal(rng, [rows + 40, cols + 3])
    wanted = whole.clone()
    for i in range(bm):
        for j in range(bn):
            r, c = at[0] + i, at[1] + j
            if 0 <= r < rows and 0 <= c < cols:
                wanted[20 + r, c] = x[i, j]
    put_kernel[(1,)](x, whole[20:], rows, cols, *at, BM=bm, BN=bn)
    check_equal(whole, wanted)


@triton.jit
def nested_advance_kernel(x, out, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    """Sums tiles; the inner walk starts anew in each row of tiles."""
    outer = tl.make_block_ptr(x, (rows, cols), (cols, 1), (0, 0), (BM, BN), (1, 0))
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, rows, BM):
        inner = outer
        for j in range(0, cols, BN):
            scale = (i // BM) * 10 + (j // BN) + 1
            total += tl.load(inner, boundary_check=(0, 1), padding_option="zero") * scale
            inner = tl.advance(inner, (0, BN))
        outer = tl.advance(outer, (BM, 0))
    tl.store(out + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], total)


@triton.jit
def threaded_advance_kernel(x, out, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    """The inner walk goes on where it ended: it is taken back after each row of tiles."""
    block = tl.make_block_ptr(x, (rows, cols), (cols, 1), (0, 0), (BM, BN), (1, 0))
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, rows, BM):
        for j in range(0, cols, BN):
            scale = (i // BM) * 10 + (j // BN) + 1
            total += tl.load(block, boundary_check=(0, 1), padding_option="zero") * scale
            block = tl.advance(block, (0, BN))
        back = tl.cdiv(cols, BN) * BN
        block = tl.advance(tl.advance(block, (0, -back)), (BM, 0))
    tl.store(out + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], total)


@pytest.mark.parametrize("kernel", [nested_advance_kernel, threaded_advance_kernel])
@pytest.mark.parametrize("shape", [(16, 32), (13, 17), (1, 40), (40, 1)])
def test_hazard_15_advance_in_nested_loops(kernel, shape, rng):
    rows, cols = shape
    bm, bn = 8, 16
    x = normal(rng, [rows, cols])
    out = output([bm, bn], torch.float32)
    kernel[(1,)](x, out, rows, cols, BM=bm, BN=bn)
    wanted = torch.zeros(bm, bn, dtype=torch.float64)
    for i in range(0, rows, bm):
        for j in range(0, cols, bn):
            scale = (i // bm) * 10 + (j // bn) + 1
            wanted += windowed(x.double(), i, j, (bm, bn), 0)[0] * scale
    check_equal(out, wanted, tolerance=(1e-4, 1e-4))


@triton.jit
def chosen_block_kernel(x, y, out, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    """A block pointer as the result of an if, advanced afterwards."""
    if tl.program_id(0) % 2 == 0:
        block = tl.make_block_ptr(x, (rows, cols), (cols, 1), (1, 2), (BM, BN), (1, 0))
    else:
        block = tl.make_block_ptr(y, (rows, cols), (1, rows), (2, 1), (BM, BN), (0, 1))
    block = tl.advance(block, (1, tl.program_id(0)))
    tile = tl.load(block, boundary_check=(0, 1), padding_option="zero")
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.store(out + tl.program_id(0) * BM * BN + at, tile)


def test_block_pointer_from_a_branch(rng):
    rows, cols, bm, bn, programs = 9, 21, 8, 16, 6
    x, y = normal(rng, [rows, cols]), normal(rng, [cols, rows])
    out = output([programs, bm, bn], torch.float32)
    chosen_block_kernel[(programs,)](x, y, out, rows, cols, BM=bm, BN=bn)
    for p in range(programs):
        source, row, col = (x, 2, 2 + p) if p % 2 == 0 else (y.t(), 3, 1 + p)
        check_equal(out[p], windowed(source, row, col, (bm, bn), 0)[0])


@triton.jit
def one_dimension_kernel(x, out, n, N: tl.constexpr):
    source = tl.make_block_ptr(x, (n,), (1,), (tl.program_id(0) * N,), (N,), (0,))
    target = tl.make_block_ptr(out, (n,), (1,), (tl.program_id(0) * N,), (N,), (0,))
    tl.store(target, tl.load(source, boundary_check=(0,)) * 2, boundary_check=(0,))


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100])
def test_block_pointer_of_one_dimension(n, rng):
    x = normal(rng, [n])
    out = output([n], torch.float32)
    one_dimension_kernel[(triton.cdiv(n, 32),)](x, out, n, N=32)
    check_equal(out, x.double() * 2)


@triton.jit
def three_dimensions_kernel(x, out, a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    block = tl.make_block_ptr(x, (a, b, c), (b * c, c, 1), (1, -1, 2), (A, B, C), (2, 1, 0))
    tile = tl.load(block, boundary_check=(0, 1, 2), padding_option="zero")
    i = tl.arange(0, A)[:, None, None]
    j = tl.arange(0, B)[None, :, None]
    k = tl.arange(0, C)[None, None, :]
    tl.store(out + (i * B + j) * C + k, tile)


def test_block_pointer_of_three_dimensions(rng):
    x = normal(rng, [3, 5, 7])
    out = output([4, 4, 8], torch.float32)
    three_dimensions_kernel[(1,)](x, out, 3, 5, 7, A=4, B=4, C=8)
    wanted = torch.zeros(4, 4, 8)
    for i in range(4):
        for j in range(4):
            for k in range(8):
                if 1 + i < 3 and 0 <= j - 1 < 5 and 2 + k < 7:
                    wanted[i, j, k] = x[1 + i, j - 1, 2 + k]
    check_equal(out, wanted)
