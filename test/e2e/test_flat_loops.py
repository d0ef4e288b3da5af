# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Persistent kernels that go over the steps of all their tiles in one loop."""

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

PROGRAMS = 3
BLOCK = 32
# Tiles that are not whole, fewer tiles than programs, no steps, no tiles.
SHAPES = [(96, 96, 64), (100, 70, 90), (33, 31, 1), (1, 5, 130), (40, 40, 0), (0, 7, 9)]


@triton.jit
def tiles_of(start, m, n, B: tl.constexpr, P: tl.constexpr):
    tiles = tl.cdiv(m, B) * tl.cdiv(n, B)
    mine = tiles // P
    if start < tiles % P:
        mine += 1
    return mine


@triton.jit
def add_product(a, b, acc, row, column, step, m, n, k, B: tl.constexpr):
    """The product of a tile's step, added up."""
    depth = step * B + tl.arange(0, B)
    x = tl.load(
        a + row[:, None] * k + depth[None, :],
        mask=(row[:, None] < m) & (depth[None, :] < k),
        other=0,
    )
    y = tl.load(
        b + depth[:, None] * n + column[None, :],
        mask=(depth[:, None] < k) & (column[None, :] < n),
        other=0,
    )
    return tl.dot(x, y, acc, input_precision="ieee")


@triton.jit
def store_tile(c, value, row, column, m, n):
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(c + row[:, None] * n + column[None, :], value.to(c.dtype.element_ty), inside)


@triton.jit
def counter_kernel(a, b, c, m, n, k, B: tl.constexpr, P: tl.constexpr, SCALE: tl.constexpr):
    """The counter is -1 before the loop; a tile's number is counted before and behind."""
    start = tl.program_id(0)
    steps = tl.cdiv(k, B)
    mine = tiles_of(start, m, n, B, P)
    tile = start - P
    stored = start - P
    rows = tl.arange(0, B)
    columns = tl.arange(0, B)
    step = -1
    acc = tl.zeros((B, B), tl.float32)
    for _ in range(0, steps * mine):
        step = tl.where(step == steps - 1, 0, step + 1)
        if step == 0:
            tile += P
            rows = tile // tl.cdiv(n, B) * B + tl.arange(0, B)
            columns = tile % tl.cdiv(n, B) * B + tl.arange(0, B)
        acc = add_product(a, b, acc, rows, columns, step, m, n, k, B)
        if step == steps - 1:
            stored += P
            row = stored // tl.cdiv(n, B) * B + tl.arange(0, B)
            column = stored % tl.cdiv(n, B) * B + tl.arange(0, B)
            store_tile(c, acc * SCALE + step, row, column, m, n)
            acc = tl.zeros((B, B), tl.float32)


@triton.jit
def behind_kernel(a, b, c, m, n, k, B: tl.constexpr, P: tl.constexpr, SCALE: tl.constexpr):
    """It counts in the end of a step, and the first step clears the sums."""
    start = tl.program_id(0)
    steps = tl.cdiv(k, B)
    mine = tiles_of(start, m, n, B, P)
    tile = start
    step = 0
    acc = tl.zeros((B, B), tl.float32)
    for _ in range(mine * steps):
        row = tile // tl.cdiv(n, B) * B + tl.arange(0, B)
        column = tile % tl.cdiv(n, B) * B + tl.arange(0, B)
        acc = tl.where(step == 0, 0.0, acc)
        acc = add_product(a, b, acc, row, column, step, m, n, k, B)
        if step == steps - 1:
            store_tile(c, acc * SCALE + step, row, column, m, n)
            tile += P
        step = tl.where(step == steps - 1, 0, step + 1)


@triton.jit
def remainder_kernel(a, b, c, m, n, k, B: tl.constexpr, P: tl.constexpr, SCALE: tl.constexpr):
    """A step's number is a remainder, its tile's a quotient."""
    start = tl.program_id(0)
    steps = tl.cdiv(k, B)
    mine = tiles_of(start, m, n, B, P)
    acc = tl.zeros((B, B), tl.float32)
    for i in range(steps * mine):
        step = i % steps
        tile = start + i // steps * P
        row = tile // tl.cdiv(n, B) * B + tl.arange(0, B)
        column = tile % tl.cdiv(n, B) * B + tl.arange(0, B)
        if step == 0:
            acc = tl.zeros((B, B), tl.float32)
        acc = add_product(a, b, acc, row, column, step, m, n, k, B)
        if step == steps - 1:
            store_tile(c, acc * SCALE + step, row, column, m, n)


@triton.jit
def descriptor_kernel(a, b, c, m, n, k, B: tl.constexpr, P: tl.constexpr, SCALE: tl.constexpr):
    start = tl.program_id(0)
    steps = tl.cdiv(k, B)
    mine = tiles_of(start, m, n, B, P)
    tile = start - P
    row = 0
    column = 0
    step = -1
    acc = tl.zeros((B, B), tl.float32)
    for _ in range(0, steps * mine):
        step = tl.where(step == steps - 1, 0, step + 1)
        if step == 0:
            tile += P
            row = tile // tl.cdiv(n, B) * B
            column = tile % tl.cdiv(n, B) * B
        x = a.load([row, step * B])
        y = b.load([step * B, column])
        acc = tl.dot(x, y, acc, input_precision="ieee")
        if step == steps - 1:
            c.store([row, column], (acc * SCALE + step).to(c.dtype))
            acc = tl.zeros((B, B), tl.float32)


def tensors(m, n, k, dtype, rng):
    a, b = (torch.randint(-3, 4, shape, generator=rng).to(dtype) for shape in ((m, k), (k, n)))
    return a, b, torch.full((m, n), 77, dtype=dtype)


def expected(a, b, c, scale):
    """The last step's number is added; without steps nothing is stored."""
    steps = -(-a.shape[1] // BLOCK)
    return (a.double() @ b.double() * scale + steps - 1).to(c.dtype) if steps else c.clone()


@pytest.mark.parametrize("kernel", [counter_kernel, behind_kernel, remainder_kernel])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_pointers(kernel, dtype, rng):
    for m, n, k in SHAPES:
        a, b, c = tensors(m, n, k, dtype, rng)
        want = expected(a, b, c, 0.5)
        kernel[(PROGRAMS,)](a, b, c, m, n, k, BLOCK, PROGRAMS, 0.5)
        torch.testing.assert_close(c, want, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_descriptors(dtype, rng):
    for m, n, k in [(96, 96, 64), (100, 72, 88), (8, 16, 136)]:
        a, b, c = tensors(m, n, k, dtype, rng)
        want = expected(a, b, c, 2.0)
        described = [
            TensorDescriptor(t, [*t.shape], [max(t.shape[1], 8), 1], [BLOCK, BLOCK])
            for t in (a, b, c)
        ]
        descriptor_kernel[(PROGRAMS,)](*described, m, n, k, BLOCK, PROGRAMS, 2.0)
        torch.testing.assert_close(c, want, rtol=0, atol=0)


@triton.jit
def running_kernel(x, out, sums, steps, tiles):
    """Steps that look at what the tile before left, and tiles that write what the next one reads:
    this stays one loop."""
    before = 0.0
    total = 0.0
    step = -1
    for i in range(steps * tiles):
        step = tl.where(step == steps - 1, 0, step + 1)
        total += tl.load(x + i) + before
        if step == steps - 1:
            before = total
            tl.store(sums, total)
        tl.store(out + i, total + tl.load(sums))


def test_what_tiles_leave(rng):
    for steps, tiles in [(4, 5), (1, 7), (7, 1), (0, 3), (3, 0)]:
        x = torch.randint(-3, 4, (steps * tiles,), generator=rng).float()
        out, sums = torch.zeros_like(x), torch.zeros(1)
        running_kernel[(1,)](x, out, sums, steps, tiles)
        before = total = stored = 0.0
        want = []
        for i, value in enumerate(x.tolist()):
            total += value + before
            if i % steps == steps - 1:
                before = stored = total
            want.append(total + stored)
        assert out.tolist() == want
