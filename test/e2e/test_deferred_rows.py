# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long rows that are read twice, and that the thread's next program stores while it reads its own the first time.

Where all rows are 32 MiB or more: others are stored first.
"""

import pytest
import torch
import triton
import triton.language as tl

EPSILON = 1e-5
MANY = 1701  # Of 5000 f32 these are 32 MiB.


@triton.jit
def norm_kernel(x, weight, y, scales, columns, x_stride, y_stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * x_stride + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / columns + eps)
    tl.store(scales + row, scale)
    w = tl.load(weight + at, mask=inside).to(tl.float32)
    tl.store(y + row * y_stride + at, (value * scale * w).to(y.dtype.element_ty), mask=inside)


@triton.jit
def scale_rows_kernel(x, weight, y, scales, columns, eps, BLOCK: tl.constexpr):
    """Stores the number of a row at a distance of rows."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / columns + eps)
    tl.store(scales + row * columns, scale)
    w = tl.load(weight + at, mask=inside)
    tl.store(y + row * columns + at, value * scale * w, mask=inside)


@triton.jit
def tiles_kernel(x, y, rows, columns, x_stride, y_stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * x_stride + at, mask=inside, other=-float("inf")).to(tl.float32)
        top = tl.max(value, axis=0)
        tl.store(y + row * y_stride + at, (value - top).to(y.dtype.element_ty), mask=inside)


@triton.jit
def planes_kernel(x, y, columns, x_plane, x_row, y_plane, y_row, BLOCK: tl.constexpr):
    """Programs along two axes, and nothing but the row is stored."""
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x += tl.program_id(1) * x_plane + tl.program_id(0) * x_row
    y += tl.program_id(1) * y_plane + tl.program_id(0) * y_row
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=0) / columns
    tl.store(y + at, value - mean, mask=inside)


def norm(x, weight):
    wide = x.double()
    scale = (wide.square().mean(1, keepdim=True) + EPSILON).rsqrt()
    return wide * scale * weight.double(), scale[:, 0]


def check_norm(x, weight, y, scales, block, wanted=None):
    rows, columns = x.shape
    wanted, scale = wanted or norm(x, weight)
    norm_kernel[(rows,)](
        x, weight, y, scales, columns, x.stride(0), y.stride(0), EPSILON, BLOCK=block
    )
    tolerance = {torch.float32: 2e-5, torch.bfloat16: 2**-7, torch.float16: 2**-10}[y.dtype]
    torch.testing.assert_close(y.double(), wanted, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(scales[:rows].double(), scale, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [(r, c) for r in (1, 2, 37) for c in (1, 17, 64, 1000, 5003, 8192)]
    + [(MANY, 5003), (1100, 8192), (2100, 4097), (1, 8191)],
)
def test_rows(rows, columns, rng):
    x = torch.randn([rows, columns], generator=rng)
    weight = torch.randn([columns], generator=rng)
    check_norm(x, weight, torch.empty_like(x), torch.empty(rows), 8192)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("rows", "padding", "first"), [(29, 0, 0), (29, 1, 3), (29, 7, 0), (29, 64, 3), (1060, 7, 3)]
)
def test_types_and_places(dtype, rows, padding, first, rng):
    """Rows that begin anywhere, and as far apart as they like."""
    columns = 8000 * 4 // dtype.itemsize
    x = torch.randn([rows, first + columns + padding], generator=rng).to(dtype)
    x = x[:, first : first + columns]
    weight = torch.randn([columns], generator=rng).to(dtype)
    y = torch.full([rows, columns + 2 * padding + 1], 7.0, dtype=dtype)
    check_norm(x, weight, y[:, 1 : 1 + columns], torch.empty(rows), 32768 // dtype.itemsize)
    assert (y[:, 0] == 7).all()
    assert (y[:, 1 + columns :] == 7).all()


@pytest.mark.parametrize("rows", [1, 2, MANY])
@pytest.mark.parametrize("shift", [-40, 0, 1, 5000])
def test_rows_over_one_another(rows, shift, rng):
    """In place, and rows that overlap those of the same program: copied before, or stored behind all of it."""
    columns, room = 5001, 5100
    memory = torch.randn([rows, columns + 2 * room], generator=rng)
    x = memory[:, room : room + columns]
    y = memory[:, room + shift : room + shift + columns]
    weight = torch.randn([columns], generator=rng)
    kept = memory.clone()
    wanted = norm(x, weight)
    check_norm(x, weight, y, torch.empty(rows), 8192, wanted)
    kept[:, room + shift : room + shift + columns] = y
    assert torch.equal(memory, kept)


@pytest.mark.parametrize("rows", [1, 2, MANY])
@pytest.mark.parametrize("place", [0, 70, 4999])
def test_numbers_within_the_row(rows, place, rng):
    """What is stored first, one number a row, overlaps the row that is read again."""
    columns = 5001
    x = torch.randn([rows, columns], generator=rng)
    weight = torch.randn([columns], generator=rng)
    wanted, scale = norm(x, weight)
    y = torch.empty_like(x)
    scale_rows_kernel[(rows,)](x, weight, y, x[:, place:], columns, EPSILON, BLOCK=8192)
    torch.testing.assert_close(y.double(), wanted, rtol=2e-5, atol=2e-5)
    torch.testing.assert_close(x[:, place].double(), scale, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("programs", [1, 3, 64])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(41, 100), (41, 8192), (MANY, 5000)])
def test_tiles(programs, in_place, rows, columns, rng):
    x = torch.randn([rows, columns + 8], generator=rng)[:, :columns]
    wanted = x - x.amax(1, keepdim=True)
    y = x if in_place else torch.empty([rows, columns])
    tiles_kernel[(programs,)](x, y, rows, columns, x.stride(0), y.stride(0), BLOCK=8192)
    assert torch.equal(y, wanted)


@pytest.mark.parametrize(("planes", "rows"), [(1, 7), (5, 1), (5, 250)])
@pytest.mark.parametrize("columns", [7001, 8192])
def test_planes(planes, rows, columns, rng):
    x = torch.randn([rows, planes, columns], generator=rng).transpose(0, 1)
    y = torch.empty([planes, rows, columns])
    planes_kernel[(rows, planes)](
        x, y, columns, x.stride(0), x.stride(1), y.stride(0), y.stride(1), BLOCK=8192
    )
    wanted = x.double() - x.double().mean(2, keepdim=True)
    torch.testing.assert_close(y.double(), wanted, rtol=1e-5, atol=1e-5)


def test_launches_in_turn(rng):
    """Nothing of one launch is left to another one, of other rows."""
    for rows, columns in [(1100, 8192), (1, 5000), (MANY, 5000), (2, 8192), (1, 1)]:
        x = torch.randn([rows, columns], generator=rng)
        weight = torch.randn([columns], generator=rng)
        check_norm(x, weight, torch.empty_like(x), torch.empty(rows), 8192)
