# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise kernels over a flat index that read rows, columns and channels by `i % n` and `i // n`."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, SIGNED, at_end_of_memory, check_equal, dtypes, normal, output


@triton.jit
def affine_kernel(
    x, scale, bias, channel, out, sums, total, N, C,
    B: tl.constexpr, NC: tl.constexpr, CC: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < total
    if NC:
        N = NC
        C = CC
    value = tl.load(x + i, inside) * tl.load(scale + i // N, inside)
    value += tl.load(bias + i % N, inside)
    tl.store(out + i, value, inside)
    tl.store(sums + i, value + tl.load(channel + i // N % C, inside), inside)


def check_affine(rng, rows, N, C, dtype, B=1024, const=False, in_place=False, end=True):
    place = at_end_of_memory if end else torch.clone
    x, scale = place(normal(rng, [rows, N], dtype)), place(normal(rng, [rows], dtype))
    bias, channel = place(normal(rng, [N], dtype)), place(normal(rng, [C], dtype))
    out = x if in_place else output([rows, N], dtype)
    sums = output([rows, N], dtype)
    narrow = dtype.is_floating_point and dtype != torch.float64
    wide = torch.float64 if narrow else dtype
    # Each operation is rounded by itself.
    value = (x.to(wide) * scale.to(wide)[:, None]).to(dtype).to(wide)
    value = (value + bias.to(wide)).to(dtype)
    numbers = torch.arange(rows) % C
    wanted = (value.to(wide) + channel.to(wide)[numbers][:, None]).to(dtype)
    grid = (triton.cdiv(rows * N, B),)
    affine_kernel[grid](
        x, scale, bias, channel, out, sums, rows * N, N, C,
        B=B, NC=N if const else 0, CC=C if const else 0,
    )  # fmt: skip
    check_equal(out, value, terms=2)
    check_equal(sums, wanted, terms=3)


@pytest.mark.parametrize("const", [False, True])
@pytest.mark.parametrize("N", [1, 2, 3, 10, 16, 17, 33, 64, 97, 300, 1024, 3000])
def test_rows(N, const, rng):
    for rows in (5000 // N + 1, 3, 1):
        check_affine(rng, rows, N, 3, torch.float32, const=const)
    check_affine(rng, 4000 // N + 1, N, 3, torch.float32, const=const, in_place=True)
    if not const:
        check_affine(rng, 900 // N + 2, N, 7, torch.float32, B=128, end=False)


@pytest.mark.parametrize("dtype", dtypes(FLOATS, SIGNED, torch.uint8))
def test_types(dtype, rng):
    for N in (5, 20, 49, 70, 197, 781):
        check_affine(rng, 3000 // N, N, 4, dtype, const=N % 2 == 0)


@triton.jit
def choosing_kernel(a, b, out, total, N, K, B: tl.constexpr):
    """Columns up to K come from one tensor, others from another one, as `torch.cat` has them."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    row, column = i // N, i % N
    first = tl.load(a + row * K + column, (i < total) & (column < K), other=2)
    second = tl.load(b + row * (N - K) + column - K, (i < total) & (column >= K), other=3)
    tl.store(out + i, tl.where(column < K, first, second), i < total)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8))
@pytest.mark.parametrize("N", [2, 30, 100, 333, 2000])
def test_masks_of_columns(N, dtype, rng):
    for K in {1, N // 2, N // 3 + 1, N - 1}:
        rows = 3500 // N + 1
        a = at_end_of_memory(normal(rng, [rows, K], dtype))
        b = at_end_of_memory(normal(rng, [rows, N - K], dtype))
        out = output([rows, N], dtype)
        choosing_kernel[(triton.cdiv(rows * N, 1024),)](a, b, out, rows * N, N, K, B=1024)
        assert torch.equal(out, torch.cat([a, b], 1))


@triton.jit
def in_memory_kernel(x, bias, out, total, N, STRIDE, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + i, i < total) + tl.load(bias + i % N * STRIDE, i < total)
    tl.store(out + i, value, i < total)


@pytest.mark.parametrize("N", [3, 20, 100, 700])
@pytest.mark.parametrize("stride", [1, 2, 0, -1])
def test_what_is_read_is_written(N, stride, rng):
    """All of a block is read before any of it is written, wherever the arrays are."""
    for begin in (0, 1, 40, 990, 1000, 1900):
        memory = normal(rng, [4500])
        x = normal(rng, [1000])
        at = 1500 + torch.arange(1000) % N * stride
        out = 1500 - N + begin
        wanted = memory.clone()
        wanted[out : out + 1000] = x + memory[at]
        in_memory_kernel[(1,)](x, memory[1500:], memory[out:], 1000, N, stride, B=1024)
        check_equal(memory, wanted, terms=1)


def test_no_elements(rng):
    x, out = normal(rng, [8]), torch.full([8], 5.0)
    in_memory_kernel[(1,)](x, x, out, 0, 3, 1, B=1024)
    assert torch.equal(out, torch.full([8], 5.0))
