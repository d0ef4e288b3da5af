# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions along columns: whole steps, single vectors, rows and columns that a mask leaves out, which count as `other`."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output

ROWS = 6  # of a block of 8


@triton.jit
def columns_kernel(
    x, out, stride, rows, columns, scale,
    HOW: tl.constexpr, OTHER: tl.constexpr, LOOP: tl.constexpr, BR: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    x += tl.program_id(1) * rows * stride
    at = tl.program_id(0) * BC + tl.arange(0, BC)
    kind: tl.constexpr = tl.float32 if x.dtype.element_ty.is_floating() else tl.int32
    total = tl.zeros([BR, BC], kind)
    if LOOP:
        for start in range(0, rows, BR):
            row = start + tl.arange(0, BR)
            inside = (row[:, None] < rows) & (at[None, :] < columns)
            total += tl.load(x + row[:, None] * stride + at[None, :], mask=inside, other=OTHER).to(
                kind
            )
        result = tl.sum(total, axis=0)
    else:
        row = tl.arange(0, BR)
        inside = (row[:, None] < rows) & (at[None, :] < columns)
        value = tl.load(x + row[:, None] * stride + at[None, :], mask=inside, other=OTHER).to(kind)
        if HOW == "max":
            result = tl.max(value, axis=0)
        elif HOW == "weighted":
            weight = tl.load(scale + row, mask=row < rows, other=2).to(kind)
            result = tl.sum(value * weight[:, None], axis=0)
        elif HOW == "shifted":
            result = tl.sum(tl.where(row[:, None] >= 2, value, 1), axis=0)
        else:
            result = tl.sum(value, axis=0)
    tl.store(out + tl.program_id(1) * columns + at, result, mask=at < columns)


def padded(x, rows, other):
    """With rows of `other` below, up to so many."""
    batch, count, columns = x.shape
    more = torch.full([batch, rows - count, columns], other, dtype=x.dtype)
    return torch.cat([x, more], 1)


def run(rng, dtype, rows, columns, how, other=0, loop=False, block=(8, 256), batch=2, gap=0):
    full = normal(rng, [batch, rows, columns + gap], dtype)
    scale = normal(rng, [max(rows, 1)], dtype)
    kind = torch.float32 if dtype.is_floating_point else torch.int32
    out = output([batch, columns], kind)
    columns_kernel[triton.cdiv(columns, block[1]), batch](
        full, out, columns + gap, rows, columns, scale,
        HOW=how, OTHER=other, LOOP=loop, BR=block[0], BC=block[1],
    )  # fmt: skip
    wide = torch.float64 if dtype.is_floating_point else torch.int64
    x = full[:, :, :columns].to(wide)
    x = padded(x, triton.cdiv(rows, block[0]) * block[0] if loop else block[0], other)
    if how == "max":
        wanted = x.amax(1)
    elif how == "weighted":
        weight = torch.cat([scale[:rows].to(wide), torch.full([block[0] - rows], 2, dtype=wide)])
        wanted = (x * weight[None, :, None]).sum(1)
    elif how == "shifted":
        wanted = x[:, 2:].sum(1) + 2
    else:
        wanted = x.sum(1)
    check_equal(
        out, wanted if dtype.is_floating_point else wanted.to(torch.int32), terms=8 * rows + 64
    )


@pytest.mark.parametrize("columns", [1, 16, 63, 64, 80, 200, 255, 256, 257, 781])
@pytest.mark.parametrize("other", [0, 3])
@pytest.mark.parametrize("how", ["sum", "max", "weighted", "shifted"])
def test_columns_of_a_block(how, other, columns, rng):
    run(rng, torch.float32, ROWS, columns, how, other, gap=columns % 7)


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize(
    "dtype", dtypes(torch.bfloat16, torch.float16, torch.int8, torch.int32), ids=str
)
@pytest.mark.parametrize("rows", [0, 1, 7, 8])
@pytest.mark.parametrize("how", ["sum", "max"])
def test_types(how, rows, dtype, rng):
    run(rng, dtype, rows, 540, how, other=-2, gap=3)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("block", [(4, 256), (2, 1024), (8, 64), (16, 512)], ids=str)
@pytest.mark.parametrize("rows", [0, 1, 5, 64, 131])
def test_columns_in_a_loop(rows, block, rng):
    run(rng, torch.float32, rows, 700, "sum", other=1, loop=True, block=block)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("gap", [0, 5, 3396])
def test_columns_from_memory(gap, rng):
    """So much that later rows are asked for; without a gap rows follow one another."""
    run(rng, torch.float32, 1001, 700, "sum", loop=True, block=(4, 256), batch=4, gap=gap)


@triton.jit
def times_vector_kernel(
    a, x, out, n, k, step_n, step_k, step_x, BN: tl.constexpr, BK: tl.constexpr
):
    """Sums along the second dimension, whichever one is contiguous; x is a block of one row."""
    row = tl.program_id(0) * BN + tl.arange(0, BN)[:, None]
    at = tl.arange(0, BK)[None, :]
    total = tl.zeros((BN, BK), tl.float32)
    for start in range(0, k, BK):
        inside = start + at < k
        some = tl.load(
            a + row * step_n + (start + at) * step_k, mask=(row < n) & inside, other=0
        ).to(tl.float32)
        total += some * tl.load(x + (start + at) * step_x, mask=inside, other=0).to(tl.float32)
    tl.store(out + row, tl.sum(total, axis=1)[:, None], mask=row < n)


@pytest.mark.parametrize("size", [(1, 1), (32, 128), (67, 300), (33, 127), (5, 0)])
@pytest.mark.parametrize("layout", ["rows", "columns", "apart"])
@pytest.mark.parametrize("step_x", [1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int8])
def test_matrix_times_vector(size, layout, step_x, dtype, rng):
    n, k = size
    if layout == "rows":
        a = normal(rng, [n, k + 3], dtype)[:, :k]
    elif layout == "columns":
        a = normal(rng, [max(k, 1), n + 5], dtype)[:k, :n].T
    else:
        a = normal(rng, [max(k, 1), n + 5, 2], dtype)[:k, :n, 1].T
    x = normal(rng, [max(k, 1) * step_x], dtype)
    out = torch.full([n + 1], -1.0)
    times_vector_kernel[(triton.cdiv(n, 32),)](a, x, out, n, k, *a.stride(), step_x, BN=32, BK=128)
    wanted = a.double() @ x[::step_x][:k].double()
    size = a.double().abs() @ x[::step_x][:k].double().abs()
    assert ((out[:n].double() - wanted).abs() <= 1e-5 * size + 1e-30).all()
    assert out[n] == -1
