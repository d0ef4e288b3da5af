# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products whose operands lie in any order, partly outside of their box."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output


@triton.jit
def masked_dot_kernel(
    a, b, out, m, n, k, a_row, a_column, b_row, b_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OTHER: tl.constexpr, FLIP: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K)
        x = tl.load(
            a + rows[:, None] * a_row + depth[None, :] * a_column,
            mask=(rows[:, None] < m) & (depth[None, :] < k),
            other=OTHER,
        )
        if FLIP:
            y = tl.load(
                b + columns[:, None] * b_column + depth[None, :] * b_row,
                mask=(columns[:, None] < n) & (depth[None, :] < k),
                other=0,
            ).T
        else:
            y = tl.load(
                b + depth[:, None] * b_row + columns[None, :] * b_column,
                mask=(depth[:, None] < k) & (columns[None, :] < n),
                other=0,
            )
        total += tl.dot(x, y)
    # Rows and columns that are not there show what masked elements were.
    tl.store(
        out + rows[:, None] * tl.num_programs(1) * N + columns[None, :],
        total,
    )


def laid_out(rng, rows, columns, dtype, order):
    if order == "rows":
        return normal(rng, [rows, columns], dtype)
    if order == "columns":
        return normal(rng, [columns, rows], dtype).t()
    return normal(rng, [rows, 3 * columns], dtype)[:, ::3]


@pytest.mark.parametrize("flip", [False, True], ids=["straight", "flipped"])
@pytest.mark.parametrize("order", ["rows", "columns", "apart"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.bfloat16))
def test_operands_in_any_order_at_edges(order, dtype, flip, rng):
    m, n, k = 45, 71, 83
    blocks = 32, 64, 32
    a, b = laid_out(rng, m, k, dtype, order), laid_out(rng, k, n, dtype, order)
    grid = triton.cdiv(m, blocks[0]), triton.cdiv(n, blocks[1])
    whole = grid[0] * blocks[0], grid[1] * blocks[1]
    out = output(whole, torch.float32)
    masked_dot_kernel[grid](
        a, b, out, m, n, k, *a.stride(), *b.stride(),
        M=blocks[0], N=blocks[1], K=blocks[2], OTHER=0.5, FLIP=flip,
    )  # fmt: skip
    padded = torch.full([whole[0], k], 0.5, dtype=torch.float64)
    padded[:m] = a.double()
    right = torch.zeros([k, whole[1]], dtype=torch.float64)
    right[:, :n] = b.double()
    check_equal(out, padded @ right, terms=100 * k)


@triton.jit
def pairs_kernel(
    a, b, c, out, a_row, a_column, b_row, b_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a + i[:, None] * a_row + k[None, :] * a_column)
    y = tl.load(b + k[:, None] * b_row + j[None, :] * b_column)
    z = tl.load(c + i[:, None] * N + j[None, :])
    tl.store(out + i[:, None] * N + j[None, :], tl.dot(x, y, z, out_dtype=ACC))


@pytest.mark.compiled("NumPy wants no less than 16")
@pytest.mark.parametrize("order", ["rows", "columns", "apart"])
@pytest.mark.parametrize(
    "shape", [(16, 16, 2), (1, 64, 32), (32, 32, 64), (4, 128, 16), (64, 8, 16)]
)
@pytest.mark.parametrize("dtype", dtypes(torch.bfloat16, torch.int8))
def test_pairs_of_products(dtype, shape, order, rng):
    m, n, k = shape
    a, b = laid_out(rng, m, k, dtype, order), laid_out(rng, k, n, dtype, order)
    if not dtype.is_floating_point:
        # The largest sums of pairs that there are.
        info = torch.iinfo(dtype)
        a[0, :], b[:, 0] = info.min or info.max, info.min or info.max
    acc, sums = (tl.float32, torch.float32) if dtype.is_floating_point else (tl.int32, torch.int32)
    c = torch.randint(-9, 9, [m, n], generator=rng).to(sums)
    out = output([m, n], sums)
    pairs_kernel[(1,)](a, b, c, out, *a.stride(), *b.stride(), M=m, N=n, K=k, ACC=acc)
    wanted = a.double() @ b.double() + c.double()
    if dtype.is_floating_point:
        check_equal(out, wanted, terms=100 * k)
    else:
        assert torch.equal(out, wanted.to(sums))


def test_pairs_keep_nan_and_infinity(rng):
    a, b = normal(rng, [16, 16], torch.bfloat16), normal(rng, [16, 16], torch.bfloat16)
    a[2, 3], a[5, 0], b[7, 7] = float("inf"), float("nan"), 0.0
    c = torch.zeros(16, 16)
    out = output([16, 16], torch.float32)
    pairs_kernel[(1,)](a, b, c, out, 16, 1, 16, 1, M=16, N=16, K=16, ACC=tl.float32)
    check_equal(out, a.double() @ b.double(), terms=1000)
