# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks that are read along one dimension and written along another."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, FP8, INTEGERS, NAMES, normal, output


@triton.jit
def transpose_kernel(
    x, out, rows, columns, x_stride, out_stride, BM: tl.constexpr, BN: tl.constexpr
):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    block = tl.load(x + r[:, None] * x_stride + c[None, :], mask=inside)
    there = (c[:, None] < columns) & (r[None, :] < rows)
    tl.store(out + c[:, None] * out_stride + r[None, :], tl.trans(block), mask=there)


def bits(tensor):
    return tensor.reshape(-1).view(torch.uint8)


@pytest.mark.parametrize("dtype", [torch.bool, *INTEGERS, *FLOATS, *FP8], ids=lambda d: NAMES[d])
@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (77, 131), (1, 50), (33, 1)])
def test_all_types(dtype, rows, columns, rng):
    raw = torch.randint(
        0, 2 if dtype == torch.bool else 256, [rows, columns * dtype.itemsize], generator=rng
    )
    x = raw.to(torch.uint8).view(dtype)
    out = torch.zeros([columns, rows * dtype.itemsize], dtype=torch.uint8).view(dtype)
    grid = (triton.cdiv(rows, 32), triton.cdiv(columns, 32))
    transpose_kernel[grid](x, out, rows, columns, columns, rows, BM=32, BN=32)
    assert torch.equal(bits(out), bits(x.t()))


@pytest.mark.parametrize("bm", [2, 4, 16, 64])
@pytest.mark.parametrize("bn", [1, 8, 16, 128])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int8], ids=lambda d: NAMES[d])
def test_all_block_sizes(bm, bn, dtype, rng):
    rows, columns = 150, 141
    x = (normal(rng, [rows, columns + 5]) * 50).to(dtype)[:, 2 : columns + 2]
    around = torch.full([columns, rows + 4], 7, dtype=dtype)
    grid = (triton.cdiv(rows, bm), triton.cdiv(columns, bn))
    transpose_kernel[grid](x, around, rows, columns, columns + 5, rows + 4, BM=bm, BN=bn)
    assert torch.equal(around[:, :rows], x.t())
    assert (around[:, rows:] == 7).all()


@triton.jit
def descriptor_kernel(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BM, BN])
    target = tl.make_tensor_descriptor(out, [columns, rows], [rows, 1], [BN, BM])
    r, c = tl.program_id(0) * BM - 3, tl.program_id(1) * BN - 2
    target.store([c, r], tl.trans(source.load([r, c])))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=lambda d: NAMES[d])
def test_descriptors_that_begin_outside(dtype, rng):
    rows, columns = 88, 120
    x = normal(rng, [rows, columns]).to(dtype)
    out = output([columns, rows], dtype)
    descriptor_kernel[(3, 5)](x, out, rows, columns, BM=32, BN=32)
    assert torch.equal(out, x.t())


@triton.jit
def mixed_kernel(x, y, out, sums, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    r, c = tl.arange(0, BM), tl.arange(0, BN)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    a = tl.load(x + r[:, None] * columns + c[None, :], mask=inside, other=1.5)
    b = tl.load(y + c[None, :] * rows + r[:, None], mask=inside, other=-2.0)
    tl.store(out + r[:, None] * columns + c[None, :], a * b + a, mask=inside)
    tl.store(sums + c, tl.sum(a * b, axis=0), mask=c < columns)


@pytest.mark.parametrize(("rows", "columns"), [(32, 64), (31, 50), (17, 3)])
def test_two_orders_in_one_nest(rows, columns, rng):
    x, y = normal(rng, [rows, columns]), normal(rng, [columns, rows])
    out, sums = output([rows, columns], torch.float32), output([columns], torch.float32)
    mixed_kernel[(1,)](x, y, out, sums, rows, columns, BM=32, BN=64)
    torch.testing.assert_close(out, x * y.t() + x)
    # Elements outside of both blocks count, too.
    expected = (x * y.t()).sum(dim=0) + (32 - rows) * (1.5 * -2.0)
    torch.testing.assert_close(sums, expected, rtol=1e-4, atol=1e-4)


@triton.jit
def symmetric_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    place = at[:, None] * n + at[None, :]
    inside = (at[:, None] < n) & (at[None, :] < n)
    value = tl.load(x + place, mask=inside, other=0.0)
    tl.store(out + place, value + tl.trans(value), mask=inside)


@pytest.mark.parametrize("in_place", [False, True])
def test_a_block_and_its_transpose(in_place, rng):
    x = normal(rng, [45, 45])
    expected = x + x.t()
    out = x if in_place else output([45, 45], torch.float32)
    symmetric_kernel[(1,)](x, out, 45, BLOCK=64)
    assert torch.equal(out, expected)


@triton.jit
def permute_kernel(x, out, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    b, m, n = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N)
    at = b[:, None, None] * (M * N) + m[None, :, None] * N + n[None, None, :]
    block = tl.permute(tl.load(x + at), (2, 0, 1))
    there = n[:, None, None] * (B * M) + b[None, :, None] * M + m[None, None, :]
    tl.store(out + there, block)


def test_three_dimensions(rng):
    x = normal(rng, [4, 16, 32])
    out = output([32, 4, 16], torch.float32)
    permute_kernel[(1,)](x, out, B=4, M=16, N=32)
    assert torch.equal(out, x.permute(2, 0, 1))


@triton.jit
def in_place_kernel(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    place = at[:, None] * n + at[None, :]
    tl.store(x + place, tl.trans(tl.load(x + place)))


def test_in_place(rng):
    x = normal(rng, [64, 64])
    expected = x.t().clone()
    in_place_kernel[(1,)](x, 64, BLOCK=64)
    assert torch.equal(x, expected)


@triton.jit
def empty_kernel(x, out, n, first, STRIDE: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, N)[None, :, None], tl.arange(0, N)[None, None, :]
    one = tl.arange(0, 1)[:, None, None] + first
    block = tl.load(x + i + j * STRIDE, mask=one < n, other=1)
    tl.store(out + i * N + j + one * 0, block)


@pytest.mark.parametrize(("n", "first"), [(1, 0), (0, 0), (1, 1), (-3, 0)])
def test_box_of_one_that_is_empty(n, first, rng):
    x, out = normal(rng, [16, 16]), torch.zeros([16, 16])
    empty_kernel[(1,)](x, out, n, first, STRIDE=16, N=16)
    assert torch.equal(out, x.t() if first < n else torch.ones(16, 16))


@triton.jit
def scaled_kernel(x, bias, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    block = tl.load(x + r[:, None] * columns + c[None, :], mask=inside)
    added = tl.load(bias + c, mask=c < columns)
    there = (c[:, None] < columns) & (r[None, :] < rows)
    tl.store(out + c[:, None] * rows + r[None, :], block.T * 2 + added[:, None], mask=there)


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.float64, torch.int32, torch.bfloat16, torch.int8],
    ids=lambda d: NAMES[d],
)
@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (61, 67), (32, 7), (130, 16)])
def test_computed_from_columns(dtype, rows, columns, rng):
    x = (normal(rng, [rows, columns]) * 9).to(dtype)
    bias = (normal(rng, [columns]) * 9).to(dtype)
    around = torch.full([columns + 1, rows], 7, dtype=dtype)
    scaled_kernel[(triton.cdiv(rows, 32), triton.cdiv(columns, 64))](
        x, bias, around, rows, columns, BM=32, BN=64
    )
    assert torch.equal(around[:columns], x.t() * 2 + bias[:, None])
    assert (around[columns] == 7).all()


@triton.jit
def both_kernel(x, y, z, out, first, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)[None, :]
    c = tl.program_id(1) * BN + tl.arange(0, BN)[:, None]
    inside = (r < rows) & (c < columns)
    a = tl.load(x + r * columns + c, mask=inside, other=3)
    b = tl.load(y + r * columns + c, mask=inside, other=5)
    d = tl.load(z + c * rows + r, mask=inside, other=1)
    tl.store(first + c * (tl.num_programs(0) * BM) + r, a + b)
    tl.store(out + c * rows + r, a * d - b, mask=inside)


@pytest.mark.parametrize(
    "dtypes",
    [
        (torch.float32, torch.float32, torch.float32),
        (torch.float32, torch.bfloat16, torch.float32),
        (torch.int32, torch.int32, torch.int8),
        (torch.float64, torch.float32, torch.float64),
    ],
    ids=lambda types: "-".join(NAMES[d] for d in types),
)
@pytest.mark.parametrize(("rows", "columns"), [(32, 64), (45, 33), (31, 65)])
def test_two_columns_and_two_boxes(dtypes, rows, columns, rng):
    """Where one store sees what the other one leaves out, the pads are read, too."""
    x, y, z = ((normal(rng, [rows, columns]) * 4).round().to(d) for d in dtypes)
    z = z.t().contiguous()
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 32))
    first = torch.zeros([grid[1] * 32, grid[0] * 16], dtype=x.dtype)
    out = torch.zeros([columns + 1, rows], dtype=x.dtype)
    both_kernel[grid](x, y, z, out, first, rows, columns, BM=16, BN=32)
    assert torch.equal(out[:columns], x.t() * z - y.t())
    assert (out[columns] == 0).all()
    whole = torch.full_like(first, 8)
    whole[:columns, :rows] = (x + y).t()
    assert torch.equal(first, whole)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=lambda d: NAMES[d])
@pytest.mark.parametrize("rows", [4096, 4099])
def test_around_the_caches(dtype, rows):
    """So much that stores do not go through the caches, whose lines rows begin with, or not."""
    columns = 48 * 2**20 // (rows * dtype.itemsize) + 5
    x = torch.arange(rows * columns, dtype=torch.int32).view(dtype)
    x = x[: rows * columns].view(rows, columns)
    out = torch.zeros([columns, rows], dtype=dtype)
    transpose_kernel[(triton.cdiv(rows, 64), triton.cdiv(columns, 32))](
        x, out, rows, columns, columns, rows, BM=64, BN=32
    )
    assert torch.equal(bits(out), bits(x.t()))
