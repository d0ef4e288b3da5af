# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of descriptors whose shape changes on the way, or that begin left of the tensor."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def _unit_dimensions(X, Y, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(X, [1, 1, m, n], [m * n, m * n, n, 1], [1, 1, M, N])
    tile = source.load([0, 0, 0, 0]).reshape(M, N)
    offsets = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(Y + offsets, tile + 1)


@triton.jit
def _permuted(X, Y, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    source = tl.make_tensor_descriptor(X, [A, B, C], [B * C, C, 1], [A, B, C])
    target = tl.make_tensor_descriptor(Y, [A * B * C], [1], [A * B * C])
    target.store([0], source.load([0, 0, 0]).permute((2, 0, 1)).reshape(A * B * C))


@triton.jit
def _rows(X, Rows, Y, Z, column, R: tl.constexpr, N: tl.constexpr):
    rows = tl.load(Rows + tl.arange(0, R))
    source = tl.make_tensor_descriptor(X, [R, N], [N, 1], [1, N])
    target = tl.make_tensor_descriptor(Z, [R, N], [N, 1], [1, N])
    tile = source.gather(rows, column)
    tl.store(Y + tl.arange(0, R)[:, None] * N + tl.arange(0, N)[None, :], tile)
    target.scatter(tile, rows, column)


def test_unit_dimensions_of_a_part_that_is_no_full_block():
    x = torch.arange(5 * 12, dtype=torch.int32).reshape(5, 12)
    y = torch.empty(8, 16, dtype=torch.int32)
    _unit_dimensions[(1,)](x, y, 5, 12, 8, 16)
    expected = torch.ones(8, 16, dtype=torch.int32)
    expected[:5, :12] += x
    assert torch.equal(y, expected)


def test_permutation_of_a_block_of_known_place():
    x = torch.arange(4 * 8 * 16, dtype=torch.int32).reshape(4, 8, 16)
    y = torch.empty(x.numel(), dtype=torch.int32)
    _permuted[(1,)](x, y, 4, 8, 16)
    assert torch.equal(y, x.permute(2, 0, 1).reshape(-1))


@pytest.mark.parametrize("column", [-40, -32, -5, 0, 7, 31, 32])
def test_rows_from_a_column_that_only_the_launch_knows(column):
    count, size = 8, 32
    x = torch.arange(1, count * size + 1, dtype=torch.int32).reshape(count, size)
    rows = torch.randperm(count, dtype=torch.int32)
    y, z = torch.empty_like(x), torch.zeros_like(x)
    _rows[(1,)](x, rows, y, z, column, count, size)
    read, written = torch.zeros_like(x), torch.zeros_like(x)
    low, high = max(column, 0), min(column + size, size)
    if low < high:
        read[:, low - column : high - column] = x[rows.long(), low:high]
        written[:, low:high] = x[:, low:high]
    assert torch.equal(y, read)
    assert torch.equal(z, written)
