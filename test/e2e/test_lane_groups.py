# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Neighbours that read one element, `i // 2`, or each other's, `i ^ 1`: copied as whole vectors."""

import pytest
import torch
import triton
import triton.language as tl

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int16, torch.uint8]


def random(shape, dtype, rng):
    return torch.randint(0, 100, shape, generator=rng).to(dtype)


@triton.jit
def repeat_kernel(
    x,
    out,
    rows,
    columns,
    count,
    BM: tl.constexpr,
    BN: tl.constexpr,
    R: tl.constexpr,
    BY: tl.constexpr,
):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    if BY == "element":
        inside = (row[:, None] < rows) & (column[None, :] < columns)
    else:
        inside = (row[:, None] < rows) & ((column // R)[None, :] < count)
    value = tl.load(x + row[:, None] * count + (column // R)[None, :], mask=inside, other=7)
    at = out + row[:, None] * columns + column[None, :]
    tl.store(at, value, mask=(row[:, None] < rows) & (column[None, :] < columns))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("repeats", [2, 4, 8, 16])
@pytest.mark.parametrize("by", ["element", "group"])
def test_repeated(dtype, repeats, by, rng):
    for rows, count, block in (
        (8, 64, (8, 64)),
        (5, 37, (4, 32)),
        (1, 1, (1, 64)),
        (33, 24, (16, 128)),
    ):
        columns = count * repeats
        x = random([rows, count], dtype, rng)
        out = torch.zeros([rows, columns], dtype=dtype)
        grid = (triton.cdiv(rows, block[0]), triton.cdiv(columns, block[1]))
        repeat_kernel[grid](x, out, rows, columns, count, *block, repeats, by)
        assert torch.equal(out, x.repeat_interleave(repeats, 1)), (rows, count, block)


@triton.jit
def behind_the_mask_kernel(x, out, count, B: tl.constexpr, R: tl.constexpr):
    column = tl.arange(0, B)
    value = tl.load(x + column // R, mask=column // R < count, other=7)
    tl.store(out + column, value)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [0, 1, 5, 15, 16, 40])
def test_values_behind_the_mask(dtype, count, rng):
    x = random([16], dtype, rng)
    out = torch.zeros([64], dtype=dtype)
    behind_the_mask_kernel[(1,)](x, out, count, 64, 4)
    expected = x.repeat_interleave(4)
    expected[4 * count :] = 7
    assert torch.equal(out, expected)


@triton.jit
def exchange_kernel(
    x, out, rows, columns, first, BM: tl.constexpr, BN: tl.constexpr, HOW: tl.constexpr
):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.arange(0, BN)
    if HOW == "remainder":
        other = column + ((column + 1) % 2) * 2 - 1
    elif HOW == "xor":
        other = column ^ 1
    else:
        other = column + ((column + first) % 2) * 2 - 1
    inside = (row[:, None] < rows) & (other[None, :] < columns)
    value = tl.load(x + row[:, None] * columns + other[None, :], mask=inside, other=7)
    there = (row[:, None] < rows) & (column[None, :] < columns)
    tl.store(out + row[:, None] * columns + column[None, :], value, mask=there)


def exchanged(x):
    order = torch.arange(x.shape[1]) ^ 1
    result = torch.full_like(x, 7)
    there = order < x.shape[1]
    result[:, there] = x[:, order[there]]
    return result


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("how", ["remainder", "xor", "from an argument"])
def test_exchanged(dtype, how, rng):
    """With an odd number of columns the last one's neighbour is left out."""
    for rows, columns in ((8, 64), (5, 48), (3, 64), (16, 2), (7, 37), (1, 1), (4, 62)):
        x = random([rows, columns], dtype, rng)
        out = torch.zeros_like(x)
        exchange_kernel[(triton.cdiv(rows, 4),)](x, out, rows, columns, 1, 4, 64, how)
        assert torch.equal(out, exchanged(x)), (rows, columns)


@triton.jit
def rotary_kernel(x, cos, sin, out, rows, columns, half, BM: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    k = tl.arange(0, BK)
    other = k + ((k + 1) % 2) * 2 - 1
    pair = k // 2
    there = row[:, None] < rows
    angle = row[:, None] * half + pair[None, :]
    c = tl.load(cos + angle, mask=there & (pair[None, :] < half), other=1.0).to(tl.float32)
    s = tl.load(sin + angle, mask=there & (pair[None, :] < half), other=0.0).to(tl.float32)
    at = row[:, None] * columns
    a = tl.load(x + at + k[None, :], mask=there & (k[None, :] < columns), other=0.0)
    b = tl.load(x + at + other[None, :], mask=there & (other[None, :] < columns), other=0.0)
    a, b = a.to(tl.float32) * c, b.to(tl.float32) * s
    result = tl.where(k[None, :] % 2 == 0, a - b, a + b)
    tl.store(out + at + k[None, :], result, mask=there & (k[None, :] < columns))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (13, 48), (7, 6)])
def test_rotary_of_pairs(dtype, rows, columns, rng):
    x = torch.randn([rows, columns], generator=rng).to(dtype)
    angles = torch.rand([rows, columns // 2], generator=rng) * 6
    cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)
    out = torch.zeros_like(x)
    rotary_kernel[(triton.cdiv(rows, 8),)](x, cos, sin, out, rows, columns, columns // 2, 8, 64)
    even, odd = x[:, 0::2].double(), x[:, 1::2].double()
    c, s = cos.double(), sin.double()
    expected = torch.stack([even * c - odd * s, even * s + odd * c], -1).flatten(1)
    torch.testing.assert_close(out, expected.to(dtype))


@triton.jit
def loop_kernel(x, out, n, B: tl.constexpr, OFFSET: tl.constexpr):
    for start in range(0, n, B):
        i = start + OFFSET + tl.arange(0, B)
        value = tl.load(x + (i % 2) * 3 + i, mask=i < n, other=0)
        tl.store(out + i, value, mask=i < n)


@pytest.mark.parametrize("offset", [0, 1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 64, 97])
def test_remainders_by_two(offset, n, rng):
    x = random([n + 8], torch.int32, rng)
    out = torch.zeros([n + 8], dtype=torch.int32)
    loop_kernel[(1,)](x, out, n, 32, offset)
    i = torch.arange(offset, max(n, offset))
    expected = torch.zeros_like(out)
    expected[i] = x[i % 2 * 3 + i]
    assert torch.equal(out, expected)


@triton.jit
def one_bit_kernel(
    x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr, BIT: tl.constexpr, MASKS: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    other = column ^ BIT
    inside = row[:, None] < rows
    if MASKS:
        inside &= (other < columns)[None, :]
    value = tl.load(x + row[:, None] * columns + other[None, :], mask=inside, other=7)
    stored = (row[:, None] < rows) & (column[None, :] < columns)
    tl.store(out + row[:, None] * columns + column[None, :], value, mask=stored)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bit", [1, 2, 4, 8, 16, 32, 64, 128, 3])
def test_one_bit_exchanged(dtype, bit, rng):
    for rows, columns, block in ((8, 256, (8, 256)), (5, 512, (4, 256)), (3, 200, (2, 256))):
        masks = columns % block[1] != 0
        x = random([rows, columns], dtype, rng)
        out = torch.zeros([rows, columns], dtype=dtype)
        grid = (triton.cdiv(rows, block[0]), triton.cdiv(columns, block[1]))
        one_bit_kernel[grid](x, out, rows, columns, *block, bit, masks)
        other = torch.arange(columns) ^ bit
        want = torch.where(other < columns, x[:, other.clamp(max=columns - 1)], 7).to(dtype)
        assert torch.equal(out, want), (rows, columns, block)


@triton.jit
def not_aligned_kernel(x, out, first, B: tl.constexpr, BIT: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + at, tl.load(x + ((first + at) ^ BIT)))
    tl.store(out + B + at, tl.load(x + ((at - B) ^ BIT) + B))


@pytest.mark.parametrize("bit", [1, 16, 32])
def test_one_bit_exchanged_from_anywhere(bit, rng):
    x = random([256], torch.float32, rng)
    for first in (0, 1, 16, 48, 64):
        out = torch.zeros(128)
        not_aligned_kernel[(1,)](x, out, first, 64, bit)
        want = [x[(first + torch.arange(64)) ^ bit], x[((torch.arange(64) - 64) ^ bit) + 64]]
        assert torch.equal(out, torch.cat(want)), first
