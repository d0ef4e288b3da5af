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
