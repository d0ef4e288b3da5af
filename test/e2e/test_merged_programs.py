# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that each access a column, and run together: as many as there are, for every type, and where they may not."""

import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from support import FLOATS, INTEGERS, INTERPRETED, check_equal, normal, output, whole_range

COLUMNS = [1, 5, 16, 31, 64, 100]


def is_merged(kernel, columns):
    """Of one column the launch knows that it is contiguous."""
    if INTERPRETED or columns == 1:
        return True
    return any(d["kind"] == "merged" for d in tilebridge.explain(kernel)["decisions"])


def bits(rng, shape, dtype):
    if not dtype.is_floating_point:
        return whole_range(rng, shape, dtype)
    kind = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    return whole_range(rng, shape, kind).view(dtype)


@triton.jit
def softmax_kernel(x, o, rows, columns, B: tl.constexpr):
    row, col = tl.arange(0, B), tl.program_id(0)
    v = tl.load(x + row * columns + col, mask=row < rows, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * columns + col, e / tl.sum(e, 0), mask=row < rows)


@pytest.mark.parametrize("rows", [0, 1, 7, 64, 100])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax_of_columns(rows, columns, dtype, rng):
    x = normal(rng, [rows, columns], dtype)
    o = output([rows + 1, columns], torch.float32)
    o[rows:] = 7
    kernel = softmax_kernel[(columns,)](x, o, rows, columns, B=128)
    assert is_merged(kernel, columns)
    check_equal(o[:rows], torch.softmax(x.double(), 0), tolerance=(1e-5, 1e-6))
    assert (o[rows:] == 7).all()


@triton.jit
def copy_kernel(x, o, rows, columns, B: tl.constexpr, AXIS: tl.constexpr):
    row, col = tl.arange(0, B), tl.program_id(AXIS)
    other = tl.program_id(1 - AXIS if AXIS < 2 else 0)
    at = (other * rows + row) * columns + col
    tl.store(o + at, tl.load(x + at, mask=row < rows), mask=row < rows)


@pytest.mark.parametrize("dtype", [torch.bool, *INTEGERS, *FLOATS], ids=str)
@pytest.mark.parametrize("columns", COLUMNS)
def test_columns_of_every_type(columns, dtype, rng):
    x = bits(rng, [33, columns], dtype)
    o = torch.zeros_like(x)
    copy_kernel[(columns,)](x, o, 33, columns, B=64, AXIS=0)
    assert torch.equal(o.view(torch.uint8), x.view(torch.uint8))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("others", [1, 2, 3, 17])
@pytest.mark.parametrize("columns", COLUMNS)
def test_columns_along_each_axis(columns, others, axis, rng):
    x = normal(rng, [others, 20, columns], torch.float32)
    o = torch.zeros_like(x)
    grid = [1, 1, 1]
    grid[axis], grid[1 - axis if axis < 2 else 0] = columns, others
    assert is_merged(copy_kernel[tuple(grid)](x, o, 20, columns, B=32, AXIS=axis), columns)
    assert torch.equal(o, x)


@triton.jit
def scan_kernel(x, o, last, most, place, rows, columns, B: tl.constexpr):
    row, col = tl.arange(0, B), tl.program_id(0)
    v = tl.load(x + row * columns + col, mask=row < rows, other=0)
    tl.store(o + row * columns + col, tl.cumsum(v, 0), mask=row < rows)
    tl.store(last + col, tl.sum(v, 0))
    best = tl.where(row < rows, v, -(2**30))
    tl.store(most + col, tl.max(best, 0))
    tl.store(place + col, tl.argmax(best, 0))


@pytest.mark.parametrize("columns", COLUMNS)
def test_scans_and_scalars_of_columns(columns, rng):
    x = torch.randint(-1000, 1000, [50, columns], generator=rng, dtype=torch.int32)
    o, last = torch.zeros_like(x), torch.zeros(columns, dtype=torch.int32)
    most, place = torch.zeros_like(last), torch.zeros_like(last)
    kernel = scan_kernel[(columns,)](x, o, last, most, place, 50, columns, B=64)
    assert is_merged(kernel, columns)
    assert torch.equal(o, x.cumsum(0).int())
    assert torch.equal(last, x.sum(0).int())
    assert torch.equal(most, x.amax(0))
    assert torch.equal(x.gather(0, place[None].long())[0], most)


@triton.jit
def loop_kernel(x, scale, bias, o, rows, columns, keep, B: tl.constexpr):
    """Scalars that differ, and are the same; a loop that carries an offset, sums and a block."""
    col = tl.program_id(0)
    factor = tl.load(scale + col) * tl.load(bias)
    total = tl.zeros([B], tl.float32)
    count = 0.0
    at = col
    for start in range(0, rows, B):
        row = start + tl.arange(0, B)
        v = tl.load(x + at + tl.arange(0, B) * columns, mask=row < rows, other=0.0)
        total += v * factor + tl.where(row < rows, col, 0)
        count += tl.sum(tl.where(v > 0, 1.0, 0.0), 0)
        at += B * columns
    if keep > 0:
        total = total * 2
    tl.store(o + col, tl.sum(total, 0) + count)


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("rows", [0, 1, 16, 50])
@pytest.mark.parametrize("columns", COLUMNS)
def test_loops_over_columns(columns, rows, keep, rng):
    x = normal(rng, [rows, columns], torch.float32)
    scale, bias = normal(rng, [columns], torch.float32), normal(rng, [1], torch.float32)
    o = torch.zeros(columns)
    assert is_merged(loop_kernel[(columns,)](x, scale, bias, o, rows, columns, keep, B=16), columns)
    wide = x.double() * (scale.double() * bias.double()) + torch.arange(columns)
    expected = wide.sum(0) * (1 + keep) + (x > 0).sum(0)
    check_equal(o, expected, tolerance=(1e-5, 1e-3))


@triton.jit
def bounded_kernel(x, o, rows, columns, B: tl.constexpr):
    """Programs beyond the matrix do nothing, by a branch."""
    row, col = tl.arange(0, B), tl.program_id(0)
    if col < columns:
        v = tl.load(x + row * columns + col, mask=row < rows)
        tl.store(o + row * columns + col, v + 1, mask=row < rows)


@triton.jit
def masked_kernel(x, o, rows, columns, B: tl.constexpr):
    row, col = tl.arange(0, B), tl.program_id(0)
    inside = (row < rows) & (col < columns)
    v = tl.load(x + row * columns + col, mask=inside)
    tl.store(o + row * columns + col, v + 1, mask=inside)


@pytest.mark.parametrize("kernel", [bounded_kernel, masked_kernel], ids=["branch", "mask"])
@pytest.mark.parametrize("columns", COLUMNS)
def test_grids_beyond_the_columns(columns, kernel, rng):
    x = normal(rng, [20, columns], torch.float32)
    o = torch.full((21, columns), 7.0)
    assert is_merged(kernel[(columns + 37,)](x, o, 20, columns, B=32), columns)
    assert torch.equal(o[:20], x + 1)
    assert (o[20:] == 7).all()


@triton.jit
def differing_kernel(x, o, columns, B: tl.constexpr):
    """Programs of even columns do something else than those of odd ones."""
    row, col = tl.arange(0, B), tl.program_id(0)
    v = tl.load(x + row * columns + col)
    if col % 2 == 0:
        v = -v
    tl.store(o + row * columns + col, v * (col // 3))


@pytest.mark.parametrize("columns", COLUMNS)
def test_branches_that_differ(columns, rng):
    x = normal(rng, [32, columns], torch.float32)
    o = torch.zeros_like(x)
    differing_kernel[(columns,)](x, o, columns, B=32)
    at = torch.arange(columns)
    assert torch.equal(o, torch.where(at % 2 == 0, -x, x) * (at // 3))


def tiles_kernel(x, o, rows, columns, sx0, sx1, so0, so1, B: tl.constexpr, FIRST: tl.constexpr):
    """A row of blocks after another, as one id numbers them; strides that nobody knows before."""
    tiles = tl.cdiv(columns, B)
    if FIRST:
        row, tile = tl.program_id(0) // tiles, tl.program_id(0) % tiles
    else:
        row, tile = tl.program_id(0) % rows, tl.program_id(0) // rows
    col = tile * B + tl.arange(0, B)
    v = tl.load(x + row * sx0 + col * sx1, mask=col < columns)
    tl.store(o + row * so0 + col * so1, v, mask=col < columns)


STRIDES = ["sx0", "sx1", "so0", "so1"]
TILES = {
    "known": triton.jit(tiles_kernel),
    "any": triton.jit(tiles_kernel, do_not_specialize=STRIDES),
}


@pytest.mark.parametrize("strides", TILES)
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("shape", [(1, 1), (40, 3), (33, 64), (64, 33), (5, 200), (100, 129)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], ids=str)
def test_tiles_of_one_row(shape, transposed, is_first, strides, dtype, rng):
    rows, columns = shape

    def matrix(make, is_transposed):
        return make([columns, rows]).t() if is_transposed else make([rows, columns])

    x = matrix(lambda s: bits(rng, s, dtype), transposed[0])
    o = matrix(lambda s: torch.zeros(s, dtype=dtype), transposed[1])
    grid = (rows * triton.cdiv(columns, 32),)
    TILES[strides][grid](x, o, rows, columns, *x.stride(), *o.stride(), B=32, FIRST=is_first)
    assert torch.equal(o.contiguous().view(torch.uint8), x.contiguous().view(torch.uint8))


@triton.jit
def shifted_kernel(x, o, rows, columns, B: tl.constexpr):
    row, col = tl.arange(0, B), tl.program_id(0)
    v = tl.load(x + row * columns + col, mask=row < rows)
    w = tl.load(x + (rows - 1 - row) * columns + col, mask=row < rows)
    tl.store(o + row * columns + col, v + w, mask=row < rows)


@pytest.mark.parametrize("columns", COLUMNS)
def test_in_place(columns, rng):
    """Each program reads all of its column before it writes it."""
    x = normal(rng, [30, columns], torch.float32)
    expected = x + x.flip(0)
    shifted_kernel[(columns,)](x, x, 30, columns, B=32)
    assert torch.equal(x, expected)


@triton.jit
def wrapping_kernel(x, o, first, columns, B: tl.constexpr):
    """The column's number is a sum of 32 bits that may wrap around, and one of 8 bits that does."""
    row = tl.arange(0, B)
    col = (tl.program_id(0) + first) & 127
    narrow = (tl.program_id(0) + 250).to(tl.uint8).to(tl.int32)
    v = tl.load(x + row * columns + tl.program_id(0))
    tl.store(o + row * columns + tl.program_id(0), v + col + narrow)


@pytest.mark.parametrize("first", [0, 100, 2**31 - 20])
def test_sums_that_wrap_around(first, rng):
    columns = 70
    x = torch.randint(-1000, 1000, [32, columns], generator=rng, dtype=torch.int32)
    o = torch.zeros_like(x)
    wrapping_kernel[(columns,)](x, o, first, columns, B=32)
    at = torch.arange(columns)
    expected = x + ((at + first) & 127) + ((at + 250) & 255)
    assert torch.equal(o, expected.int())


@triton.jit
def places_kernel(x, index, o, columns, first, B: tl.constexpr):
    """The first column is found by 32 bits: the address wraps from one program to the next."""
    row, col = tl.arange(0, B), tl.program_id(0)
    at = (col + first).to(tl.int16).to(tl.int32)
    start = tl.load(index + at)
    v = tl.load(x + row * columns + col)
    tl.store(o + row * columns + col, v * start)


@pytest.mark.parametrize("first", [0, *(32767 - k for k in (2, 5, 9, 14, 20, 35, 40))])
def test_places_that_wrap_around(first, rng):
    columns = 60
    x = normal(rng, [32, columns], torch.float32)
    index = normal(rng, [65536], torch.float32)
    o = torch.zeros_like(x)
    places_kernel[(columns,)](x, index[32768:], o, columns, first, B=32)
    at = (torch.arange(columns) + first).to(torch.int16).long() + 32768
    assert torch.equal(o, x * index[at])


@triton.jit
def single_kernel(x, y, o, n):
    at = tl.program_id(0)
    if at < n:
        tl.store(o + at, tl.load(x + at) * tl.load(y) + at)


@pytest.mark.parametrize("n", COLUMNS)
def test_single_elements(n, rng):
    x, y = normal(rng, [n], torch.float32), normal(rng, [1], torch.float32)
    o = torch.full((n + 1,), 7.0)
    single_kernel[(n + 20,)](x, y, o, n)
    check_equal(o[:n], x.double() * y.double() + torch.arange(n), tolerance=(1e-6, 1e-6))
    assert o[n] == 7


@triton.jit
def descriptor_kernel(x, o, rows, columns, B: tl.constexpr):
    x_desc = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [B, 4])
    o_desc = tl.make_tensor_descriptor(o, [rows, columns], [columns, 1], [B, 4])
    col = tl.program_id(0)
    o_desc.store([0, col * 4], x_desc.load([0, col * 4]) * 2)


@pytest.mark.parametrize("columns", [4, 12, 64, 100])
def test_descriptors_of_columns(columns, rng):
    x = normal(rng, [30, columns], torch.float32)
    o = torch.zeros_like(x)
    descriptor_kernel[(triton.cdiv(columns, 4),)](x, o, 30, columns, B=32)
    assert torch.equal(o, x * 2)


@triton.jit
def counter_kernel(x, o, count, columns, B: tl.constexpr):
    row, col = tl.arange(0, B), tl.program_id(0)
    tl.atomic_add(count, 1)
    tl.store(o + row * columns + col, tl.load(x + row * columns + col))


def test_atomics_run_alone(rng):
    x = normal(rng, [32, 50], torch.float32)
    o, count = torch.zeros_like(x), torch.zeros(1, dtype=torch.int32)
    kernel = counter_kernel[(50,)](x, o, count, 50, B=32)
    assert INTERPRETED or not is_merged(kernel, 50)
    assert torch.equal(o, x)
    assert count.item() == 50


@triton.jit
def sums_kernel(x, o, rows, columns, B: tl.constexpr):
    row, col = tl.arange(0, B), tl.program_id(1)
    outer = (tl.program_id(2) * rows + row) * tl.num_programs(0) + tl.program_id(0)
    at = outer * columns + col
    v = tl.load(x + at, mask=row < rows, other=0.0)
    tl.store(o + at, tl.cumsum(v, 0), mask=row < rows)


@pytest.mark.parametrize("inner", [1, 3])
@pytest.mark.parametrize("columns", [5, 16, 37, 100])
def test_every_launch_gives_the_same_bits(columns, inner, rng):
    """Which programs run together, and so the order of sums, depends on the grid, not on threads and ranges."""
    x = normal(rng, [5, 1000, inner, columns], torch.float32)
    found = []
    threads = torch.get_num_threads()
    try:
        for count in [1, 2, 2, 2, 2, 1]:
            torch.set_num_threads(count)
            o = torch.zeros_like(x)
            sums_kernel[(inner, columns, 5)](x, o, 1000, columns, B=1024)
            found.append(o)
    finally:
        torch.set_num_threads(threads)
    check_equal(found[0], x.double().cumsum(1), tolerance=(1e-4, 1e-4))
    for o in found[1:]:
        assert torch.equal(o, found[0])
