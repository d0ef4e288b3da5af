# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks whose memory has their elements in another order: loads, stores, tails and masks of two to four dimensions.

test_accel_transposed.py runs them on accelerators, too.
"""

import pytest
import torch
import triton
import triton.language as tl

TYPES = [torch.float32, torch.float16, torch.int8]


def random(shape, dtype, rng):
    return (torch.randn(shape, generator=rng) * 10).to(dtype)


@triton.jit
def load_kernel(x, y, m, n, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.arange(0, N)
    inside = (i[:, None] < m) & (j[None, :] < n)
    block = tl.load(x + i[:, None] + j[None, :] * m, inside, other=0)
    tl.store(y + i[:, None] * n + j[None, :], block, inside)


@triton.jit
def store_kernel(x, y, m, n, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.arange(0, N)
    inside = (i[:, None] < m) & (j[None, :] < n)
    block = tl.load(x + i[:, None] * n + j[None, :], inside, other=0)
    tl.store(y + i[:, None] + j[None, :] * m, block, inside)


@triton.jit
def masked_kernel(x, y, m, n, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.arange(0, N)
    some = (i[:, None] < m) & (j[None, :] < n) & ((i[:, None] + j[None, :]) % 3 != 0)
    block = tl.load(x + i[:, None] + j[None, :] * m, some, other=1)
    tl.store(y + i[:, None] + j[None, :] * m, block + block, some)


SHAPES = [(64, 32), (61, 27), (130, 17), (1, 32), (64, 1)]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_load(m, n, dtype, rng):
    x = random([n, m], dtype, rng)
    y = torch.full([m * n + 5], 7, dtype=dtype)
    load_kernel[(triton.cdiv(m, 64),)](x, y, m, n, 64, 32)
    assert torch.equal(y[: m * n].view(m, n), x.t())
    assert torch.all(y[m * n :] == 7)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_store(m, n, dtype, rng):
    x = random([m, n], dtype, rng)
    y = torch.full([m * n + 5], 7, dtype=dtype)
    store_kernel[(triton.cdiv(m, 64),)](x, y, m, n, 64, 32)
    assert torch.equal(y[: m * n].view(n, m), x.t())
    assert torch.all(y[m * n :] == 7)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_masks_that_are_no_box(m, n, dtype, rng):
    x = random([n, m], dtype, rng)
    y = torch.full([n, m], 7, dtype=dtype)
    masked_kernel[(triton.cdiv(m, 64),)](x, y, m, n, 64, 32)
    some = (torch.arange(m)[None, :] + torch.arange(n)[:, None]) % 3 != 0
    assert torch.equal(y, torch.where(some, x + x, torch.tensor(7, dtype=dtype)))


@triton.jit
def cube_kernel(x, y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    block = tl.load(x + a + c * A + b * (A * C))
    tl.store(y + b + a * B + c * (A * B), block)


@pytest.mark.parametrize("dtype", TYPES)
def test_three_dimensions(dtype, rng):
    x = random([8, 32, 16], dtype, rng)
    y = torch.zeros([32, 16, 8], dtype=dtype)
    cube_kernel[(1,)](x, y, 16, 8, 32)
    assert torch.equal(y, x.permute(1, 2, 0))


@triton.jit
def four_kernel(x, y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    a = tl.arange(0, A)[:, None, None, None]
    b = tl.arange(0, B)[None, :, None, None]
    c = tl.arange(0, C)[None, None, :, None]
    d = tl.arange(0, D)[None, None, None, :]
    block = tl.load(x + a + b * A + c * (A * B) + d * (A * B * C))
    tl.store(y + c + b * C + a * (B * C) + d * (A * B * C), block)


def test_four_dimensions(rng):
    x = random([4, 8, 4, 16], torch.float32, rng)
    y = torch.zeros([4, 16, 4, 8])
    four_kernel[(1,)](x, y, 16, 4, 8, 4)
    assert torch.equal(y, x.permute(0, 3, 2, 1))


@triton.jit
def product_kernel(a, b, c, K, M: tl.constexpr, N: tl.constexpr, S: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    sums = tl.zeros((M, N), tl.int32)
    for k in range(0, K, S):
        s = k + tl.arange(0, S)
        rows = tl.load(a + i[:, None] * K + s[None, :])
        columns = tl.load(b + s[:, None] + j[None, :] * K)
        sums = tl.dot(rows, columns, sums, out_dtype=tl.int32)
    tl.store(c + i[:, None] * (N * tl.num_programs(1)) + j[None, :], sums)


def test_operands_of_products(rng):
    a, b = (torch.randint(-100, 100, [64, 96], generator=rng, dtype=torch.int8) for _ in "ab")
    c = torch.zeros([64, 64], dtype=torch.int32)
    product_kernel[(2, 2)](a, b, c, 96, 32, 32, 32)
    assert torch.equal(c, a.int() @ b.int().t())


@triton.jit
def large_kernel(x, y, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    block = tl.load(x + i[:, None] + j[None, :] * M)
    highest = tl.max(block, axis=1)
    tl.store(y + i[:, None] * N + j[None, :], block - highest[:, None])


def test_blocks_that_are_larger_than_local_memory(rng):
    x = random([256, 512], torch.float32, rng)
    y = torch.zeros([512, 256])
    large_kernel[(1,)](x, y, 512, 256)
    assert torch.equal(y, x.t() - x.t().max(1, keepdim=True).values)
