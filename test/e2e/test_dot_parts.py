# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of tall blocks, whose rows are multiplied in parts: rows that end in any part, steps that are no multiple of what is
taken at once, operands in place, packed or transposed, and sums that are scaled, stored in place, or begin with what was there."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal

TYPES = (torch.float32, torch.float64, torch.bfloat16)
ROWS = (1, 5, 63, 64, 65, 129, 192, 256, 300)


@triton.jit
def kernel(
    a, b, out, m, n, k, a_row, a_col, b_row, b_col,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    places = rows[:, None] * n + cols[None, :]
    acc = tl.zeros((BM, BN), ACC)
    if HOW == "added":
        acc = tl.load(out + places, mask=inside, other=0).to(ACC)
    for start in range(0, k, BK):
        at = start + tl.arange(0, BK)
        x = tl.load(
            a + rows[:, None] * a_row + at[None, :] * a_col,
            mask=(rows[:, None] < m) & (at[None, :] < k),
            other=0,
        )
        y = tl.load(
            b + at[:, None] * b_row + cols[None, :] * b_col,
            mask=(at[:, None] < k) & (cols[None, :] < n),
            other=0,
        )
        if HOW == "scaled":
            acc = acc * 0.5 + tl.dot(x, y, out_dtype=ACC)
        else:
            acc = tl.dot(x, y, acc, out_dtype=ACC)
    tl.store(out + places, acc, mask=inside)


def product(a, b, out, block, how):
    """In f64; and what the sums have as their type."""
    wanted = out.double() if how == "added" else torch.zeros(out.shape, dtype=torch.float64)
    for start in range(0, a.shape[1], block[2]):
        if how == "scaled":
            wanted *= 0.5
        wanted += a[:, start : start + block[2]].double() @ b[start : start + block[2]].double()
    return wanted


def check(rng, m, n, k, dtype, block, how="plain", swaps_a=False, swaps_b=False):
    wide, acc = (
        (torch.float64, tl.float64) if dtype == torch.float64 else (torch.float32, tl.float32)
    )
    a = normal(rng, (k, m), dtype).T if swaps_a else normal(rng, (m, k), dtype)
    b = normal(rng, (n, k), dtype).T if swaps_b else normal(rng, (k, n), dtype)
    out = normal(rng, (m + 1, n), wide)
    guard = out[m:].clone()
    wanted = product(a, b, out[:m], block, how)
    bm, bn, bk = block
    kernel[(triton.cdiv(m, bm), triton.cdiv(n, bn))](
        a, b, out, m, n, k, *a.stride(), *b.stride(), BM=bm, BN=bn, BK=bk, ACC=acc, HOW=how
    )  # fmt: skip
    check_equal(out[:m], wanted, wide, terms=4 * k, context=f"{m}x{n}x{k} {block} {how}")
    assert torch.equal(out[m:], guard)


@pytest.mark.parametrize("how", ["plain", "added", "scaled"])
@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("m", ROWS)
def test_rows(rng, m, dtype, how):
    check(rng, m, 72, 100, dtype, (256, 64, 32), how)


@pytest.mark.parametrize("k", [1, 2, 3, 15, 33, 62, 259])
@pytest.mark.parametrize("dtype", dtypes(*TYPES))
def test_steps(rng, k, dtype):
    check(rng, 200, 64, k, dtype, (256, 32, 16))


@pytest.mark.parametrize("how", ["plain", "scaled"])
@pytest.mark.parametrize("swaps", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("m", [70, 256])
def test_transposed(rng, m, dtype, swaps, how):
    check(rng, m, 65, 48, dtype, (256, 64, 16), how, *swaps)


@pytest.mark.parametrize("m", [64, 128, 200])
def test_infinite_rows(rng, m):
    """What is in one row is seen in that row alone."""
    a, b = normal(rng, (m, 64)), normal(rng, (64, 64))
    a[m // 2, 3], a[m - 1, 63] = float("inf"), float("nan")
    out = torch.zeros(m, 64)
    kernel[(triton.cdiv(m, 256), 1)](
        a, b, out, m, 64, 64, *a.stride(), *b.stride(), BM=256, BN=64, BK=32, ACC=tl.float32, HOW="plain"
    )  # fmt: skip
    wanted = a.double() @ b.double()
    assert torch.equal(out.isfinite(), wanted.isfinite())
    rows = wanted.isfinite().all(1)
    check_equal(out[rows], wanted[rows], torch.float32, terms=256)
