# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks whose rows are one row, such as scales and zeros of weights in groups."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, normal, output


@triton.jit
def groups_kernel(
    weights, scales, zeros, out, columns, scale_row, scale_column, zero_row, zero_column,
    K: tl.constexpr, GROUP: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr, IN_PAIRS: tl.constexpr
):  # fmt: skip
    """Each block of weights has its scales and zeros read as a block of its shape."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    shown = n < columns
    inside = n % columns
    offsets = tl.arange(0, BK)
    for block in range(K // BK):
        k = block * BK + offsets
        group = (offsets[:, None] + BK * block) // GROUP
        places = k[:, None] * columns + n[None, :]
        value = tl.load(weights + places, mask=shown[None, :], other=0.0)
        scale = tl.load(scales + group * scale_row + inside[None, :] * scale_column)
        if IN_PAIRS:
            pair = tl.load(zeros + group * zero_row + (inside[None, :] // 2) * zero_column)
            zero = (pair >> ((inside[None, :] % 2) * 4)) & 15
        else:
            zero = tl.load(zeros + group * zero_row + inside[None, :] * zero_column)
        tl.store(out + places, (value - zero.to(tl.float32)) * scale, mask=shown[None, :])


def launch(rng, k, columns, group, bk, bn, in_pairs, is_turned):
    weights, out = normal(rng, [k, columns]), output([k, columns], torch.float32)
    groups = k // group
    scales = normal(rng, [groups, columns])
    zeros = torch.randint(0, 256, [groups, -(-columns // 2)], generator=rng, dtype=torch.uint8)
    if not in_pairs:
        zeros = torch.randint(0, 16, [groups, columns], generator=rng, dtype=torch.uint8)
    wide = zeros.repeat_interleave(2, 1)[:, :columns] if in_pairs else zeros
    if in_pairs:
        wide = (wide >> (torch.arange(columns) % 2 * 4).to(torch.uint8)) & 15
    wanted = weights - wide.repeat_interleave(group, 0).float()
    wanted = wanted * scales.repeat_interleave(group, 0)
    if is_turned:  # One column after the other.
        scales, zeros = scales.t().contiguous().t(), zeros.t().contiguous().t()
    groups_kernel[(triton.cdiv(columns, bn),)](
        weights, scales, zeros, out, columns, *scales.stride(), *zeros.stride(),
        K=k, GROUP=group, BK=bk, BN=bn, IN_PAIRS=in_pairs
    )  # fmt: skip
    check_equal(out, wanted)


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("in_pairs", [False, True])
@pytest.mark.parametrize(("group", "bk"), [(64, 16), (32, 32), (16, 32), (8, 32)])
@pytest.mark.parametrize(("columns", "bn"), [(64, 64), (100, 32), (33, 16), (7, 64)])
def test_groups(columns, bn, group, bk, in_pairs, is_turned, rng):
    """Groups that are longer than a block, as long, and shorter."""
    launch(rng, 128, columns, group, bk, bn, in_pairs, is_turned)


@triton.jit
def columns_kernel(x, y, out, stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS)[:, None], tl.arange(0, COLS)[None, :]
    places = rows * COLS + cols
    once = tl.load(x + cols * stride + rows * 0)
    tl.store(out + places, once + tl.load(y + places))


@pytest.mark.parametrize("stride", [1, 2, 3, 7, 16])
@pytest.mark.parametrize(("rows", "cols"), [(1, 16), (4, 1), (8, 32), (32, 64)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_end_of_memory(stride, rows, cols, dtype, rng):
    """Nothing behind the last element of the row is read."""
    x = at_end_of_memory(normal(rng, [(cols - 1) * stride + 1]).mul(5).to(dtype))
    y, out = normal(rng, [rows, cols]).mul(5).to(dtype), output([rows, cols], dtype)
    columns_kernel[(1,)](x, y, out, stride, ROWS=rows, COLS=cols)
    check_equal(out, x[::stride] + y)


@triton.jit
def part_kernel(
    x,
    y,
    out,
    stride,
    rows,
    cols,
    R: tl.constexpr,
    C: tl.constexpr,
    OTHER: tl.constexpr,
    ALL: tl.constexpr,
):
    row, col = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    inside = (col < cols) if ALL else (row < rows) & (col < cols)
    once = tl.load(x + col * stride + row * 0, mask=inside, other=OTHER)
    tl.store(out + row * C + col, once + tl.load(y + row * C + col))


@pytest.mark.parametrize("stride", [1, 3, 16])
@pytest.mark.parametrize(("rows", "cols"), [(16, 0), (16, 1), (16, 29), (16, 32), (5, 29), (0, 32)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.int64])
def test_part_of_the_columns(stride, rows, cols, dtype, rng):
    """Columns behind the array's end are `other` in all rows; so are rows that a mask leaves out."""
    x = at_end_of_memory(normal(rng, [(max(cols, 1) - 1) * stride + 1]).mul(5).to(dtype))
    y, out = normal(rng, [16, 32]).mul(5).to(dtype), output([16, 32], dtype)
    part_kernel[(1,)](x, y, out, stride, rows, cols, R=16, C=32, OTHER=3, ALL=rows == 16)
    once = torch.full([16, 32], 3, dtype=dtype)
    once[:rows, :cols] = x[::stride][:cols]
    check_equal(out, once + y)


@triton.jit
def changed_kernel(x, out, stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS)[:, None], tl.arange(0, COLS)[None, :]
    before = tl.load(x + cols * stride + rows * 0)
    tl.store(x + tl.arange(0, COLS) * stride, tl.full([COLS], -1.0, tl.float32))
    after = tl.load(x + cols * stride + rows * 0)
    tl.store(out + rows * COLS + cols, before * 2.0 + after)


@pytest.mark.parametrize("stride", [2, 5])
def test_changed_in_between(stride, rng):
    x, out = normal(rng, [64 * stride]), output([8, 64], torch.float32)
    wanted = (x[::stride] * 2 - 1).expand(8, 64)
    changed_kernel[(1,)](x, out, stride, ROWS=8, COLS=64)
    check_equal(out, wanted)


@pytest.mark.compiled("only the compiler knows what it did")
def test_rows_are_read_once(rng):
    import tilebridge

    x, y = normal(rng, [64 * 3]), normal(rng, [32, 64])
    kernel = columns_kernel[(1,)](x, y, output([32, 64], torch.float32), 3, ROWS=32, COLS=64)
    told = tilebridge.explain(kernel)
    reasons = [entry.get("reason", "") for entry in told["decisions"]]
    assert reasons.count("its elements lie apart, and each is used several times") >= 1
