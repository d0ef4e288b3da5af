# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of short rows that follow one another in memory, which loops see as one row."""

import pytest
import torch
import triton
import triton.language as tl
from support import dtypes, normal, output


@triton.jit
def pairs_kernel(x, y, out, M: tl.constexpr, N: tl.constexpr, STRIDE: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    at = row * STRIDE + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.load(x + at) * 2 + tl.load(y + at))


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.int8, torch.int64))
@pytest.mark.parametrize(("m", "n"), [(64, 2), (16, 4), (1, 8), (128, 1), (32, 16), (2, 2)])
@pytest.mark.parametrize("gap", [0, 1])
def test_elementwise(dtype, m, n, gap, rng):
    stride, rows = n + gap, 3 * m
    if dtype.is_floating_point:
        x, y = (normal(rng, [rows, stride], dtype) for _ in range(2))
    else:
        x, y = (torch.randint(-20, 20, [rows, stride], generator=rng).to(dtype) for _ in range(2))
    out = torch.full([rows, stride], 7, dtype=dtype)
    pairs_kernel[(3,)](x, y, out, M=m, N=n, STRIDE=stride)
    wanted = out.clone()
    wanted[:, :n] = (x * 2 + y)[:, :n]
    assert torch.equal(out[:, n:], torch.full([rows, gap], 7, dtype=dtype))
    assert torch.equal(out, wanted)


@triton.jit
def split_kernel(x, turn, out, M: tl.constexpr):
    """Complex numbers times `turn`, whose parts are taken from one block."""
    at = tl.arange(0, M)
    both = tl.load(turn + at[:, None] * 2 + tl.arange(0, 2)[None, :])
    c, s = tl.split(both)
    base = tl.program_id(0) * M * 2
    re = tl.load(x + base + at * 2)
    im = tl.load(x + base + at * 2 + 1)
    tl.store(out + base + at * 2, re * c - im * s)
    tl.store(out + base + at * 2 + 1, re * s + im * c)


@pytest.mark.parametrize("m", [1, 8, 64])
@pytest.mark.parametrize("in_place", [False, True])
def test_parts_of_pairs(m, in_place, rng):
    x, turn = normal(rng, [5, m, 2], torch.float32), normal(rng, [m, 2], torch.float32)
    wanted = torch.view_as_complex(x.double()) * torch.view_as_complex(turn.double())
    out = x if in_place else output([5, m, 2], torch.float32)
    split_kernel[(5,)](x, turn, out, M=m)
    torch.testing.assert_close(out.double(), torch.view_as_real(wanted), rtol=1e-5, atol=1e-5)


@triton.jit
def cube_kernel(x, out, n, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, MASKED: tl.constexpr):
    """Rows of C in planes of B rows; with a mask, some do not exist."""
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    at = (a * B + b) * C + c
    if MASKED:
        tl.store(out + at, tl.load(x + at, mask=a * B + b < n, other=1) + 1)
    else:
        number = (a * 100 + b * 10 + c).to(tl.float32)
        tl.store(out + at, tl.load(x + at) + number)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("shape", [(4, 8, 2), (1, 16, 4), (8, 1, 2), (2, 2, 2)])
def test_three_dimensions(shape, masked, rng):
    """What the index decides is no row."""
    a, b, c = shape
    x, out = normal(rng, [a, b, c], torch.float32), output([a, b, c], torch.float32)
    n = a * b - 1
    cube_kernel[(1,)](x, out, n, A=a, B=b, C=c, MASKED=masked)
    if masked:
        wanted = x.flatten(0, 1).clone()
        wanted[n:] = 1
        wanted = wanted.view(shape) + 1
    else:
        i, j, k = torch.meshgrid(*(torch.arange(s) for s in shape), indexing="ij")
        wanted = x + (i * 100 + j * 10 + k)
    assert torch.equal(out, wanted)


@triton.jit
def shifted_kernel(x, out, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * 2 + tl.arange(0, 2)[None, :]
    tl.store(out + at, tl.load(x + at) + 1)


@pytest.mark.parametrize("shift", [-3, -2, -1, 0, 1, 2, 5])
def test_blocks_that_overlap(shift, rng):
    """All of the block is read before any of it is written."""
    memory = normal(rng, [140], torch.float32)
    x, out = memory[5:133], memory[5 + shift : 133 + shift]
    wanted = memory.clone()
    wanted[5 + shift : 133 + shift] = x + 1
    shifted_kernel[(1,)](x, out, M=64)
    assert torch.equal(memory, wanted)


@triton.jit
def transposed_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    row, col = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + col * M + row, tl.load(x + row * N + col) * 3)


@pytest.mark.parametrize(("m", "n"), [(64, 2), (2, 64), (4, 4)])
def test_another_order_is_no_row(m, n, rng):
    x, out = normal(rng, [m, n], torch.float32), output([n, m], torch.float32)
    transposed_kernel[(1,)](x, out, M=m, N=n)
    assert torch.equal(out, x.t() * 3)


@triton.jit
def constant_kernel(out, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * 4 + tl.arange(0, 4)[None, :]
    tl.store(out + at, tl.full([M, 4], 5, tl.float32))


def test_constants():
    out = output([66, 4], torch.float32)
    before = out[64:].clone()
    constant_kernel[(1,)](out, M=64)
    assert torch.equal(out[:64], torch.full([64, 4], 5.0))
    assert torch.equal(out[64:].nan_to_num(3), before.nan_to_num(3))
