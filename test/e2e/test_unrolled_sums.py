# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of few iterations that add up rows, which are only stored then: all rows are read at once."""

import pytest
import torch
import triton
import triton.language as tl
from support import dtypes, normal, output


@triton.jit
def sum_kernel(
    x, ids, weights, out, tokens, hidden, FROM: tl.constexpr, K: tl.constexpr, STEP: tl.constexpr,
    HOW: tl.constexpr, BT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (t < tokens)[:, None] & (d < hidden)[None, :]
    total = tl.zeros([BT, BLOCK], tl.float32)
    place = t * K
    for k in tl.range(FROM, K, STEP):
        at = x + (t * K + k)[:, None] * hidden + d[None, :]
        if HOW == "chosen":
            row = tl.load(ids + t * K + k, mask=t < tokens, other=0)
            at = x + row[:, None] * hidden + d[None, :]
        value = tl.load(at, mask=mask, other=0.0).to(tl.float32)
        if HOW == "weighted":
            value *= tl.load(weights + place + FROM, mask=t < tokens, other=0.0)[:, None]
            place += STEP
        elif HOW == "rounded":
            value = (total.to(x.dtype.element_ty) + value.to(x.dtype.element_ty)).to(
                tl.float32
            ) - total
        elif HOW == "largest":
            value = tl.maximum(total, value) - total
        total += value
        if HOW == "stored":
            tl.store(at, total.to(x.dtype.element_ty), mask=mask)
    tl.store(out + t[:, None] * hidden + d[None, :], total.to(out.dtype.element_ty), mask=mask)


def expected(x, ids, weights, used, how):
    tokens, hidden = x.shape[0], x.shape[2]
    total = torch.zeros(tokens, hidden)
    for k in used:
        value = x[:, k].float()
        if how == "chosen":
            value = x.reshape(-1, hidden)[ids[:, k].long()].float()
        if how == "weighted":
            value = value * weights[:, k, None]
        if how == "rounded":
            total = (total.to(x.dtype) + value.to(x.dtype)).float()
        elif how == "largest":
            total = torch.maximum(total, value)
        else:
            total = total + value
        if how == "stored":
            x[:, k] = total.to(x.dtype)
    return total.to(x.dtype)


@pytest.mark.parametrize("how", ["plain", "chosen", "weighted", "rounded", "largest", "stored"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
@pytest.mark.parametrize(
    ("tokens", "hidden", "first", "count", "step", "block"),
    [
        (5, 100, 0, 8, 1, (1, 128)),
        (7, 64, 0, 2, 1, (4, 32)),
        (3, 257, 1, 16, 3, (2, 64)),
        (2, 16, 0, 17, 1, (1, 16)),
        (4, 33, 0, 1, 1, (4, 64)),
        (1, 1, 2, 2, 1, (1, 16)),
    ],
)
def test_sums(tokens, hidden, first, count, step, block, dtype, how, rng):
    x = normal(rng, [tokens, count, hidden], dtype)
    ids = torch.randint(0, tokens * count, [tokens, count], generator=rng, dtype=torch.int32)
    weights = normal(rng, [tokens, count])
    out = output([tokens, hidden], dtype)
    wanted = expected(x.clone(), ids, weights, range(first, count, step), how)
    sum_kernel[(triton.cdiv(tokens, block[0]), triton.cdiv(hidden, block[1]))](
        x, ids, weights, out, tokens, hidden, first, count, step, how, *block
    )
    tolerance = 1e-5 if dtype == torch.float32 else 1e-2
    tolerance *= how in ("weighted", "largest")
    torch.testing.assert_close(out, wanted, rtol=tolerance, atol=tolerance)


@triton.jit
def in_place_kernel(x, n, K: tl.constexpr, BLOCK: tl.constexpr):
    """The sum takes the place of one of the rows, or lies across them."""
    d = tl.arange(0, BLOCK)
    total = tl.full([BLOCK], 1.0, tl.float32)
    for k in range(K):
        total = total * 0.5 + tl.load(x + k * n + d, mask=d < n, other=0.0)
    tl.store(x + n + 3 + d, total, mask=d < n)


def test_where_rows_are(rng):
    n, count = 200, 4
    x = normal(rng, [n * count])
    wanted = x.clone()
    total = torch.ones(n)
    for k in range(count):
        total = total * 0.5 + x[k * n : (k + 1) * n]
    wanted[n + 3 : 2 * n + 3] = total
    in_place_kernel[(1,)](x, n, count, 256)
    torch.testing.assert_close(x, wanted, rtol=1e-6, atol=1e-6)
