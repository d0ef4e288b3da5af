# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of one block that lie between those of another one, beside it or over it, read and written by the same loops."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal


@triton.jit
def two_blocks_kernel(x, y, stride, first, second, left, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Both blocks are read before either is written; what both write is the second's."""
    row = tl.arange(0, ROWS)[:, None]
    at = row * stride + tl.arange(0, COLUMNS)[None, :]
    inside = row < left
    a = tl.load(x + first + at, mask=inside)
    b = tl.load(x + second + at, mask=inside)
    tl.store(y + first + at, a - b, mask=inside)
    tl.store(y + second + at, a + b, mask=inside)


# Where the second block begins, and how far the rows are apart: between the rows, at either end of what is free,
# over the first block's by one column or all but one, rows behind it, and rows that are longer than their stride.
PLACES = [
    (64, 32, 96), (64, 31, 96), (64, 33, 96), (64, 32, 95), (64, 65, 96), (64, 63, 96),
    (32, 64, 96), (0, 32, 64), (32, 0, 64), (0, 31, 64), (0, 33, 64), (0, 1, 64), (0, 96, 64),
    (0, 64, 64), (0, 128, 64), (0, 32, 31), (0, 16, 0), (600, 632, -64), (600, 631, -64),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
@pytest.mark.parametrize("left", [8, 5])
@pytest.mark.parametrize(("first", "second", "stride"), PLACES)
@pytest.mark.parametrize("in_place", [True, False])
def test_blocks_in_one_array(first, second, stride, left, in_place, dtype, rng):
    rows, columns = 8, 32
    x = normal(rng, [1000], dtype)
    y = x if in_place else normal(rng, [1000], dtype)
    # A row, and rows that repeat one address, are written in no particular order.
    if stride < columns and stride > -columns:
        rows = left = 1
    i = (torch.arange(rows) * stride)[:left, None] + torch.arange(columns)[None, :]
    wanted = y.clone()
    a, b = x[first + i], x[second + i]
    wanted[first + i] = a - b
    wanted[second + i] = a + b
    two_blocks_kernel[(1,)](x, y, stride, first, second, left, ROWS=rows, COLUMNS=columns)
    check_equal(y, wanted)
