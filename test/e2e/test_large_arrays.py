# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of more than 2^31 elements, or 2^32 bytes, of which only a few pages are there: places have 64 bits all the way."""

import mmap

import pytest
import torch
import triton
import triton.language as tl
from support import dtypes, normal, output

DTYPES = dtypes([torch.int8, torch.bfloat16, torch.float32, torch.float64])
MAP_NORESERVE = 0x4000  # of Linux; Python names it from 3.13 on
MORE = 5003  # elements behind the last power of two


def vast(dtype):
    """Zeros: 2^31 elements, or 2^32 bytes, and some more."""
    size = 2 ** (31 if dtype.itemsize == 1 else 32) + MORE * dtype.itemsize
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    return torch.frombuffer(mmap.mmap(-1, size, flags=flags), dtype=torch.int8).view(dtype)


def filled(rng, dtype, windows):
    """The same with values in [begin, end) of each window."""
    array = vast(dtype)
    for begin, end in windows:
        array[begin:end] = values(rng, end - begin, dtype)
    return array


def values(rng, count, dtype):
    if dtype == torch.int8:
        return torch.randint(-100, 100, (count,), generator=rng, dtype=dtype)
    return normal(rng, [count], dtype)


def last_power(dtype):
    return vast(dtype).numel() - MORE


@triton.jit
def copy_kernel(x, out, first, n, BLOCK: tl.constexpr):
    i = (first + tl.program_id(0)).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("block", [1024, 4096])
def test_copy(dtype, block, rng):
    power = last_power(dtype)
    x, out = filled(rng, dtype, [(power - block, power + MORE)]), vast(dtype)
    first = power // block - 1
    count = triton.cdiv(x.numel(), block) - first
    copy_kernel[(count,)](x, out, first, x.numel(), BLOCK=block)
    assert torch.equal(out[power - block :], x[power - block :])


@triton.jit
def row_kernel(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * stride + i, mask=i < columns, other=0).to(tl.float32)
    tl.store(out + row * BLOCK + i, value + tl.sum(value, 0), mask=i < columns)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows(dtype, rng):
    rows, columns, block = 9, 200, 256
    stride = last_power(dtype) // (rows - 1) + 3
    windows = [(r * stride, r * stride + columns) for r in range(rows)]
    x, out = filled(rng, dtype, windows), torch.zeros(rows, block)
    row_kernel[(rows,)](x, out, stride, columns, BLOCK=block)
    wanted = torch.stack([x[a:b].double() for a, b in windows])
    wanted = wanted + wanted.sum(1, keepdim=True)
    torch.testing.assert_close(out[:, :columns].double(), wanted, rtol=1e-5, atol=1e-4)


@triton.jit
def gather_kernel(x, places, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(places + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + place, mask=i < n), mask=i < n)


@triton.jit
def scatter_kernel(x, places, out, n, ATOMIC: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(places + i, mask=i < n, other=0)
    value = tl.load(x + i, mask=i < n)
    if ATOMIC:
        tl.atomic_add(out + place, value, mask=i < n)
    else:
        tl.store(out + place, value, mask=i < n)


def some_places(rng, dtype):
    power = last_power(dtype)
    near = torch.randint(power - 2000, power + MORE, (300,), generator=rng)
    return torch.cat([near, torch.tensor([0, 1, power - 1, power, power + MORE - 1])]).unique()


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather(dtype, rng):
    places = some_places(rng, dtype)
    power, n = last_power(dtype), len(places)
    x = filled(rng, dtype, [(0, 4), (power - 2000, power + MORE)])
    out = output([n], dtype)
    gather_kernel[(triton.cdiv(n, 64),)](x, places, out, n, BLOCK=64)
    assert torch.equal(out, x[places])


def check_scatter(dtype, atomic, rng):
    places = some_places(rng, dtype)
    n, out = len(places), vast(dtype)
    x = values(rng, n, dtype)
    scatter_kernel[(triton.cdiv(n, 64),)](x, places, out, n, ATOMIC=atomic, BLOCK=64)
    assert torch.equal(out[places], x)
    power = last_power(dtype)
    assert (out[power - 2000 :] != 0).sum() == (x[places >= power - 2000] != 0).sum()


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter(dtype, rng):
    check_scatter(dtype, False, rng)


# Triton adds no bytes atomically.
@pytest.mark.parametrize("dtype", dtypes([torch.bfloat16, torch.float32, torch.float64]))
def test_atomics(dtype, rng):
    check_scatter(dtype, True, rng)


@triton.jit
def gather_rows_kernel(x, rows, out, stride, columns, M: tl.constexpr, BLOCK: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    i = tl.arange(0, BLOCK)
    row = tl.load(rows + m)
    mask = i[None, :] < columns
    value = tl.load(x + row[:, None] * stride + i[None, :], mask=mask, other=0)
    tl.store(out + m[:, None] * columns + i[None, :], value, mask=mask)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gathered_rows(dtype, rng):
    stride, columns, power = 1000, 900, last_power(dtype)
    last = (power + MORE) // stride - 1
    rows = torch.cat([torch.tensor([0, last]), torch.randint(last - 5, last, (14,), generator=rng)])
    x = filled(rng, dtype, [(0, columns), ((last - 5) * stride, power + MORE)])
    out = output([16, columns], dtype)
    gather_rows_kernel[(2,)](x, rows, out, stride, columns, M=8, BLOCK=1024)
    assert torch.equal(out, torch.stack([x[r * stride : r * stride + columns] for r in rows]))


@triton.jit
def descriptor_kernel(x, out, rows, columns, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns.to(tl.int64), 1], [4, BLOCK])
    target = tl.make_tensor_descriptor(out, [4, BLOCK], [BLOCK, 1], [4, BLOCK])
    target.store([0, 0], source.load([rows - 3, columns - BLOCK + 16]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_descriptor(dtype, rng):
    columns, block = 65536, 64
    rows = last_power(dtype) // columns
    x = filled(rng, dtype, [((rows - 3) * columns, rows * columns)])
    out = output([4, block], dtype)
    descriptor_kernel[(1,)](x, out, rows, columns, BLOCK=block)
    wanted = torch.zeros(4, block, dtype=dtype)
    wanted[:3, : block - 16] = x[: rows * columns].view(rows, columns)[-3:, 16 - block :]
    assert torch.equal(out, wanted)


@triton.jit
def dot_kernel(a, b, c, depth, a_stride, b_stride, N: tl.constexpr, BK: tl.constexpr):
    n = tl.arange(0, N)
    sums = tl.zeros((N, N), tl.float32)
    for first in range(0, depth, BK):
        k = first + tl.arange(0, BK)
        left = tl.load(a + n[:, None].to(tl.int64) * a_stride + k[None, :])
        right = tl.load(b + k[:, None].to(tl.int64) * b_stride + n[None, :])
        sums += tl.dot(left, right)
    tl.store(c + n[:, None] * N + n[None, :], sums)


@pytest.mark.parametrize("dtype", dtypes([torch.bfloat16, torch.float32]))
def test_dot(dtype, rng):
    n, depth = 32, 128
    power = last_power(dtype)
    strides = power // (n - 1) + 16, power // (depth - 1) + 16
    a = filled(rng, dtype, [(r * strides[0], r * strides[0] + depth) for r in range(n)])
    b = filled(rng, dtype, [(r * strides[1], r * strides[1] + n) for r in range(depth)])
    c = output([n, n], torch.float32)
    dot_kernel[(1,)](a, b, c, depth, *strides, N=n, BK=32)
    left = torch.stack([a[r * strides[0] :][:depth] for r in range(n)]).double()
    right = torch.stack([b[r * strides[1] :][:n] for r in range(depth)]).double()
    torch.testing.assert_close(c.double(), left @ right, rtol=1e-5, atol=1e-4)


@triton.jit
def modulo_kernel(x, out, first, n, columns, BLOCK: tl.constexpr):
    i = (first + tl.program_id(0)).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i % columns, mask=i < n) + tl.load(x + i // columns, mask=i < n)
    tl.store(out + i, value, mask=i < n)


@pytest.mark.parametrize("columns", [777, 100003])
@pytest.mark.parametrize("dtype", DTYPES)
def test_flat_index(dtype, columns, rng):
    block, power = 1024, last_power(dtype)
    quotient = power // columns
    windows = [(0, columns), (quotient - 10, quotient + 10)]
    x, out = filled(rng, dtype, windows), vast(dtype)
    first = power // block - 1
    modulo_kernel[(triton.cdiv(x.numel(), block) - first,)](
        x, out, first, x.numel(), columns, BLOCK=block
    )
    i = torch.arange(power - block, x.numel())
    assert torch.equal(out[power - block :], x[i % columns] + x[i // columns])
