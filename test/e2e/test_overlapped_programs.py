# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms of short rows: the thread's next program begins before the last one stores its row."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output

FLOATS = dtypes(torch.float32, torch.bfloat16, torch.float16)


@pytest.fixture(autouse=True, params=[1, 2])
def threads(request):
    """Few programs would be shared out one by one."""
    count = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(count)


def guarded(rows, columns, stride, shift, dtype):
    """Rows `stride` apart, and all around them."""
    around = torch.full([rows * stride + shift], 7, dtype=dtype)
    return around[shift:].view(rows, stride)[:, :columns], around


@triton.jit
def rms_norm_kernel(
    x, weight, out, rstd, columns, x_stride, out_stride, rstd_stride, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * x_stride + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / columns + 1e-5)
    tl.store(rstd + row * rstd_stride, scale.to(rstd.dtype.element_ty))
    w = tl.load(weight + at, mask=inside).to(tl.float32)
    result = (value * scale * w).to(out.dtype.element_ty)
    tl.store(out + row * out_stride + at, result, mask=inside)


def rms_norm(x, weight):
    wide = x.double()
    scale = torch.rsqrt((wide * wide).mean(1, keepdim=True) + 1e-5)
    return wide * scale * weight.double(), scale[:, 0]


SIZES = [
    (1, 1, 1),
    (2, 31, 32),
    (5, 64, 64),
    (37, 129, 256),
    (70, 781, 1024),
    (9, 1024, 1024),
    (64, 1024, 1024),
    (3, 1025, 2048),
    (4, 5003, 8192),
]


@pytest.mark.parametrize(("rows", "columns", "block"), SIZES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_rms_norm(dtype, rows, columns, block, rng):
    weight = normal(rng, [columns], dtype)
    for shift, padding in ((0, 0), (5, 3), (16, 16)):
        x, _ = guarded(rows, columns, columns + 2 * padding, shift, dtype)
        x.copy_(normal(rng, [rows, columns], dtype))
        out, around = guarded(rows, columns, columns + padding, shift, dtype)
        rstd = output([rows], torch.float32)
        rms_norm_kernel[(rows,)](
            x, weight, out, rstd, columns, x.stride(0), out.stride(0), 1, BLOCK=block
        )
        expected, scale = rms_norm(x, weight)
        check_equal(out, expected, dtype, terms=4)
        check_equal(rstd, scale, torch.float32, terms=4)
        out.fill_(7)
        assert (around == 7).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_in_place(dtype, rng):
    x, weight = normal(rng, [41, 500], dtype), normal(rng, [500], dtype)
    expected, _ = rms_norm(x, weight)
    rms_norm_kernel[(41,)](x, weight, x, output([41], torch.float32), 500, 500, 500, 1, BLOCK=512)
    check_equal(x, expected, dtype, terms=4)


@pytest.mark.parametrize("shift", [8, 13, -8])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_row_over_itself(dtype, shift, rng):
    """Each program's output overlaps its own row, elsewhere."""
    memory, weight = normal(rng, [30, 600], dtype), normal(rng, [500], dtype)
    x, out = memory[:, 20:520], memory[:, 20 + shift : 520 + shift]
    expected, _ = rms_norm(x, weight)
    rms_norm_kernel[(30,)](x, weight, out, output([30], torch.float32), 500, 600, 600, 1, BLOCK=512)
    check_equal(out, expected, dtype, terms=4)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_number_over_the_row(dtype, rng):
    """The number that is stored between the halves lies in the row that is read again behind it."""
    x, weight = normal(rng, [30, 512], dtype), normal(rng, [512], dtype)
    expected, scale = rms_norm(x, weight)
    out = output([30, 512], dtype)
    rms_norm_kernel[(30,)](x, weight, out, x[:, 3:], 512, 512, 512, 512, BLOCK=512)
    check_equal(out, expected, dtype, terms=4)
    check_equal(x[:, 3], scale, dtype, terms=4)


@triton.jit
def layer_norm_kernel(x, y, weight, bias, mean, rstd, stride, columns, heads, BLOCK: tl.constexpr):
    """Blocks of a row, in three passes; rows by three ids."""
    row = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * heads + tl.program_id(0)
    x += row * stride
    y += row * stride
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        total += tl.load(x + start + at, mask=start + at < columns, other=0.0).to(tl.float32)
    center = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        value = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
        distance = tl.where(inside, value - center, 0.0)
        squares += distance * distance
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + 1e-5)
    tl.store(mean + row, center)
    tl.store(rstd + row, scale)
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        value = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(weight + start + at, mask=inside).to(tl.float32)
        b = tl.load(bias + start + at, mask=inside).to(tl.float32)
        result = (value - center) * scale * w + b
        tl.store(y + start + at, result.to(y.dtype.element_ty), mask=inside)


@pytest.mark.parametrize("grid", [(1, 1, 1), (7, 1, 1), (3, 5, 2), (1, 1, 9)])
@pytest.mark.parametrize(
    ("columns", "block"), [(1, 16), (97, 64), (256, 256), (1000, 1024), (1024, 512)]
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_layer_norm(dtype, columns, block, grid, rng):
    rows = grid[0] * grid[1] * grid[2]
    x, w, b = (normal(rng, s, dtype) for s in ([rows, columns], [columns], [columns]))
    x = x + 3
    y = output([rows, columns], dtype)
    mean, rstd = output([rows], torch.float32), output([rows], torch.float32)
    layer_norm_kernel[grid](x, y, w, b, mean, rstd, columns, columns, grid[0], BLOCK=block)
    wide = x.double()
    center = wide.mean(1, keepdim=True)
    scale = torch.rsqrt(((wide - center) ** 2).mean(1, keepdim=True) + 1e-5)
    check_equal(mean, center[:, 0], torch.float32, terms=16)
    check_equal(rstd, scale[:, 0], torch.float32, terms=64)
    check_equal(y, (wide - center) * scale * w.double() + b.double(), dtype, terms=64)


def test_no_columns(rng):
    """Neither half has anything to do but to store numbers."""
    x, w = normal(rng, [4, 8]), normal(rng, [8])
    y, mean, rstd = torch.full([4, 8], 7.0), torch.full([4], 7.0), torch.full([4], 7.0)
    layer_norm_kernel[(4, 1, 1)](x, y, w, w, mean, rstd, 8, 0, 4, BLOCK=8)
    assert (y == 7).all()
    assert mean.isnan().all()


@pytest.mark.compiled("a hundred MB of interpreted elements take a minute")
@pytest.mark.parametrize(("rows", "columns"), [(16384, 1024), (20000, 781)])
def test_around_the_caches(rows, columns, rng):
    x, weight = normal(rng, [rows, columns], torch.bfloat16), normal(rng, [columns], torch.bfloat16)
    out, around = guarded(rows, columns, columns + 1, 3, torch.bfloat16)
    rstd = output([rows], torch.float32)
    rms_norm_kernel[(rows,)](x, weight, out, rstd, columns, columns, columns + 1, 1, BLOCK=1024)
    expected, scale = rms_norm(x, weight)
    assert torch.allclose(out.double(), expected, rtol=2**-8, atol=1e-6)
    assert torch.allclose(rstd.double(), scale, rtol=1e-5)
    out.fill_(7)
    assert (around == 7).all()


def test_what_is_no_number(rng):
    """A row's NaN stays in the row, and so do what overflows and what is 0."""
    x, weight = normal(rng, [12, 300], torch.bfloat16), normal(rng, [300], torch.bfloat16)
    x[1, 7] = float("nan")
    x[3] = 0
    x[4, 299] = float("inf")
    x[6] *= 1e38
    out, rstd = output([12, 300], torch.bfloat16), output([12], torch.float32)
    rms_norm_kernel[(12,)](x, weight, out, rstd, 300, 300, 300, 1, BLOCK=512)
    expected, _ = rms_norm(x, weight)
    finite = [row for row in range(12) if row not in (1, 4, 6)]
    check_equal(out[finite], expected[finite], torch.bfloat16, terms=4)
    assert out[1].isnan().all()
    assert (out[4, :299] == 0).all()
    assert out[4, 299].isnan()
    assert (out[6] == 0).all()


@triton.jit
def growing_kernel(x, out, step, stride, BLOCK: tl.constexpr):
    """Short rows begin ahead of time, and long ones, which follow in the same launch, do not."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < row * step
    value = tl.load(x + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    total = tl.sum(value, axis=0)
    again = tl.load(x + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * stride + at, (again + total).to(out.dtype.element_ty), mask=inside)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_of_all_lengths(dtype, rng):
    x = normal(rng, [18, 2048], dtype)
    out = torch.full([18, 2048], 7, dtype=dtype)
    growing_kernel[(18,)](x, out, 120, 2048, BLOCK=2048)
    inside = torch.arange(2048)[None] < 120 * torch.arange(18)[:, None]
    wide = torch.where(inside, x.double(), 0)
    expected = torch.where(inside, wide + wide.sum(1, keepdim=True), 7)
    check_equal(out, expected, dtype, terms=64)


@triton.jit
def chain_kernel(x, out, rows, columns, apart, BLOCK: tl.constexpr):
    """Each row is computed from what the turn before has stored."""
    at = tl.arange(0, BLOCK)
    inside = at < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        scale = tl.rsqrt(tl.sum(value * value, axis=0) / columns + 1e-5)
        result = (value + 1) * scale
        tl.store(out + (row + apart) * columns + at, result.to(out.dtype.element_ty), mask=inside)


@pytest.mark.parametrize("columns", [64, 200, 1024])
def test_tiles_in_order(columns, rng):
    x = normal(rng, [9, columns])
    expected = x.double()
    for row in range(8):
        scale = torch.rsqrt((expected[row] ** 2).mean() + 1e-5)
        expected[row + 1] = (expected[row] + 1) * scale
    chain_kernel[(1,)](x, x, 8, columns, 1, BLOCK=triton.next_power_of_2(columns))
    check_equal(x, expected, torch.float32, terms=64)


@pytest.mark.parametrize("programs", [1, 3, 64])
def test_tiles_in_no_order(programs, rng):
    x = normal(rng, [41, 300], torch.bfloat16)
    out = output([41, 300], torch.bfloat16)
    chain_kernel[(programs,)](x, out, 41, 300, 0, BLOCK=512)
    wide = x.double()
    scale = torch.rsqrt((wide**2).mean(1, keepdim=True) + 1e-5)
    check_equal(out, (wide + 1) * scale, torch.bfloat16, terms=4)
