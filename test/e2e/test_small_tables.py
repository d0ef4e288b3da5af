# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements of a block at computed indices: from short rows, which are permuted in registers, and from others."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, FP8, SIGNED, UNSIGNED, dtypes, normal, output

ALL = dtypes(FLOATS, SIGNED, UNSIGNED, FP8, [torch.bool])
INDICES = dtypes([torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64])


def bits(x):
    """Also NaN is what it was."""
    return x.contiguous().view(torch.uint8)


def values(rng, shape, dtype):
    return (
        normal(rng, shape, torch.float32).to(dtype) if dtype in FP8 else normal(rng, shape, dtype)
    )


def numbers(rng, size, shape, dtype):
    """Indices below `size`, as far as the type has them."""
    most = min(size, torch.iinfo(dtype).max + 1)
    return torch.randint(0, most, shape, generator=rng).to(dtype)


def unsigned(index):
    """As the program reads them."""
    width = torch.iinfo(index.dtype).bits
    return index.long() if width == 64 else index.long() & ((1 << width) - 1)


@triton.jit
def row_kernel(table, index, out, n, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(table + tl.arange(0, SIZE))
    at = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i, tl.gather(row, at, 0), mask=i < n)


def check_row(rng, dtype, index_dtype, size, block, n):
    table = values(rng, [size], dtype)
    index = numbers(rng, size, [n], index_dtype)
    out = output([n], dtype)
    row_kernel[(triton.cdiv(n, block),)](table, index, out, n, SIZE=size, BLOCK=block)
    assert torch.equal(
        bits(out),
        bits(table)[: size * table.element_size()].reshape(size, -1)[unsigned(index)].flatten(),
    )


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
def test_rows(dtype, size, rng):
    check_row(rng, dtype, torch.int32, size, 128, 300)


@pytest.mark.parametrize("dtype", dtypes([torch.float32, torch.uint8, torch.float16, torch.int64]))
@pytest.mark.parametrize("index_dtype", INDICES)
@pytest.mark.parametrize("size", [16, 256])
def test_types_of_indices(dtype, index_dtype, size, rng):
    check_row(rng, dtype, index_dtype, size, 64, 200)


@pytest.mark.parametrize(
    "dtype", dtypes([torch.float32, torch.int8, torch.bfloat16, torch.float64])
)
@pytest.mark.parametrize(
    ("block", "n"), [(1, 3), (2, 7), (4, 4), (16, 1), (32, 37), (512, 257), (2048, 4001), (64, 0)]
)
@pytest.mark.parametrize("size", [16, 64])
def test_blocks(dtype, block, n, size, rng):
    check_row(rng, dtype, torch.int32, size, block, n)


@pytest.mark.compiled("the interpreter rejects such indices")
@pytest.mark.parametrize(
    "dtype", dtypes([torch.float32, torch.uint8, torch.int16, torch.float64, torch.bool])
)
@pytest.mark.parametrize("index_dtype", INDICES)
@pytest.mark.parametrize("size", [1, 8, 16, 64, 512])
def test_indices_out_of_range(dtype, index_dtype, size, rng):
    """They are unsigned numbers, and the last element is what those behind the end are."""
    table = values(rng, [size], dtype)
    info = torch.iinfo(index_dtype)
    index = torch.cat(
        [
            torch.tensor(
                [0, info.max, info.min, size - 1 & info.max, size & info.max, size + 7 & info.max]
            ).to(index_dtype),
            normal(rng, [94], index_dtype),
        ]
    )
    if index_dtype.is_signed:
        index[10] = -1
        index[11] = -size if size <= info.max else -1
    out = output([100], dtype)
    row_kernel[(2,)](table, index, out, 100, SIZE=size, BLOCK=64)
    at = unsigned(index)
    at = torch.where((at < 0) | (at >= size), size - 1, at)
    assert torch.equal(bits(out), bits(table[at]))


@triton.jit
def block_kernel(
    x,
    index,
    out,
    M: tl.constexpr,
    N: tl.constexpr,
    P: tl.constexpr,
    Q: tl.constexpr,
    AXIS: tl.constexpr,
):
    block = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    at = tl.arange(0, P)[:, None] * Q + tl.arange(0, Q)[None, :]
    tl.store(out + at, tl.gather(block, tl.load(index + at), AXIS))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("axis", [0, 1])
def test_types_of_blocks(dtype, axis, rng):
    check_block(rng, dtype, axis, 32, 16)


@pytest.mark.parametrize(
    "dtype", dtypes([torch.float32, torch.uint8, torch.float16, torch.float64, torch.bool])
)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("size", [1, 2, 8, 64, 256])
@pytest.mark.parametrize("length", [1, 4, 32, 128])
def test_blocks_of_rows(dtype, axis, size, length, rng):
    check_block(rng, dtype, axis, size, length)


def check_block(rng, dtype, axis, size, length, others=8):
    shape = (others, size) if axis == 1 else (size, others)
    taken = (others, length) if axis == 1 else (length, others)
    x = values(rng, shape, dtype)
    index = numbers(rng, size, taken, torch.int32)
    out = output(taken, dtype)
    block_kernel[(1,)](x, index, out, M=shape[0], N=shape[1], P=taken[0], Q=taken[1], AXIS=axis)
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    assert torch.equal(out.view(integers), x.view(integers).gather(axis, index.long()))


@triton.jit
def sum_kernel(codes, table, scale, out, n, BLOCK: tl.constexpr):
    """Products with weights of 4 bits, two in a byte."""
    row = tl.load(table + tl.arange(0, 16))
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        byte = tl.load(codes + i, mask=i < n, other=0)
        low = tl.gather(row, (byte & 0xF).to(tl.int32), 0)
        high = tl.gather(row, (byte >> 4).to(tl.int32), 0)
        total += tl.where(i < n, (low - high) * tl.load(scale + i, mask=i < n, other=0.0), 0.0)
    tl.store(out, tl.sum(total, 0))


@pytest.mark.parametrize("n", [0, 1, 63, 64, 1000])
def test_sums(n, rng):
    codes = torch.randint(0, 256, (n,), generator=rng, dtype=torch.uint8)
    table, scale = normal(rng, [16]), normal(rng, [n])
    out = output([1], torch.float32)
    sum_kernel[(1,)](codes, table, scale, out, n, BLOCK=64)
    wide = table.double()
    wanted = ((wide[(codes & 15).long()] - wide[(codes >> 4).long()]) * scale.double()).sum()
    torch.testing.assert_close(out[0].double(), wanted, atol=1e-3, rtol=1e-4)


@triton.jit
def jumps_kernel(next_of, out, steps, SIZE: tl.constexpr):
    """What a loop carries is the source and the indices."""
    at = tl.load(next_of + tl.arange(0, SIZE))
    for _ in range(steps):
        at = tl.gather(at, at, 0)
    tl.store(out + tl.arange(0, SIZE), at)


@pytest.mark.parametrize("size", [4, 16, 64, 512])
@pytest.mark.parametrize("dtype", dtypes([torch.int16, torch.int32, torch.int64]))
def test_jumps(size, dtype, rng):
    parent = torch.randint(0, size, (size,), generator=rng).to(dtype)
    out = output([size], dtype)
    jumps_kernel[(1,)](parent, out, 5, SIZE=size)
    wanted = parent.long()
    for _ in range(5):
        wanted = wanted[wanted]
    assert torch.equal(out.long(), wanted)


@triton.jit
def swap_kernel(x, index, out, steps, SIZE: tl.constexpr):
    """A carried row that is picked from, and stored in each iteration as well."""
    i = tl.arange(0, SIZE)
    row = tl.load(x + i)
    order = tl.load(index + i)
    for step in range(steps):
        row = tl.gather(row, order, 0) + 1
        tl.store(out + step * SIZE + i, row)


@pytest.mark.parametrize("size", [8, 64, 256])
def test_carried_rows(size, rng):
    x = normal(rng, [size])
    order = torch.randperm(size, generator=rng).int()
    out = output((4, size), torch.float32)
    swap_kernel[(1,)](x, order, out, 4, SIZE=size)
    for row in out:
        x = x[order.long()] + 1
        assert torch.equal(row, x)


@triton.jit
def computed_kernel(x, out, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Tables that are no load, one number, and indices that are computed."""
    i = tl.arange(0, BLOCK)
    squares = tl.arange(0, SIZE) * tl.arange(0, SIZE)
    tl.store(out + i, tl.gather(squares, i * 7 % SIZE, 0))
    tl.store(out + BLOCK + i, tl.gather(tl.full([SIZE], 5, tl.int32), i % SIZE, 0))
    row = tl.load(x + tl.arange(0, SIZE))
    inner = tl.gather(row, tl.arange(0, SIZE) // 2, 0)
    tl.store(out + 2 * BLOCK + i, tl.gather(inner, (BLOCK - 1 - i) % SIZE, 0))
    tl.store(out + 3 * BLOCK + i, tl.gather(row, tl.full([BLOCK], 3, tl.int32), 0))


@pytest.mark.parametrize(("size", "block"), [(4, 8), (16, 64), (64, 16), (256, 1024)])
def test_computed(size, block, rng):
    x = normal(rng, [size], torch.int32)
    out = output((4, block), torch.int32)
    computed_kernel[(1,)](x, out, SIZE=size, BLOCK=block)
    i = torch.arange(block)
    assert torch.equal(out[0].long(), (i * 7 % size) ** 2)
    assert torch.equal(out[1].long(), torch.full([block], 5))
    assert torch.equal(out[2], x[(block - 1 - i) % size // 2])
    assert torch.equal(out[3], x[3].expand(block))


@triton.jit
def operand_kernel(a, b, index, out, sums, k, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    """What a product reads is picked from as well."""
    i, j, n = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    product = tl.zeros([M, N], tl.float32)
    picked = tl.zeros([K, N], tl.float32)
    at = tl.load(index + j[:, None] * N + n[None, :])
    for start in range(0, k, K):
        left = tl.load(a + i[:, None] * k + start + j[None, :])
        right = tl.load(b + (start + j[:, None]) * N + n[None, :]) * 2 + 1
        product += tl.dot(left, right)
        picked += tl.gather(right, at, 1)
    tl.store(out + i[:, None] * N + n[None, :], product)
    tl.store(sums + j[:, None] * N + n[None, :], picked)


def test_operand_of_a_product(rng):
    a, b = normal(rng, [16, 64]), normal(rng, [64, 32])
    index = torch.randint(0, 32, (16, 32), generator=rng, dtype=torch.int32)
    out, sums = output([16, 32], torch.float32), output([16, 32], torch.float32)
    operand_kernel[(1,)](a, b, index, out, sums, 64, M=16, K=16, N=32)
    right = b.double() * 2 + 1
    torch.testing.assert_close(out.double(), a.double() @ right, rtol=1e-4, atol=1e-4)
    wanted = sum(part.gather(1, index.long()) for part in right.split(16))
    torch.testing.assert_close(sums.double(), wanted, rtol=1e-5, atol=1e-5)


@triton.jit
def shared_kernel(x, out, rows, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """The output is what the table was read from."""
    row = tl.load(x + tl.arange(0, SIZE))
    i = tl.arange(0, BLOCK)
    for r in range(rows):
        tl.store(out + r * BLOCK + i, tl.gather(row, (i + r) % SIZE, 0))


def test_table_that_is_overwritten(rng):
    x = normal(rng, [16])
    memory = torch.zeros(4, 64)
    memory[0, :16] = x
    shared_kernel[(1,)](memory, memory, 4, SIZE=16, BLOCK=64)
    for r in range(4):
        assert torch.equal(memory[r], x[(torch.arange(64) + r) % 16])
