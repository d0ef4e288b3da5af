# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of which as many rows are stored as the kernel's constants say: the others need not be computed.

Each kernel first runs on a full block of NaN, so that what a later run does not compute holds those.
"""

import pytest
import torch
import triton
import triton.language as tl
from shared_heads import check_shared_heads
from support import at_end_of_memory, check_equal, dtypes, small_numbers


@triton.jit
def rows_kernel(
    a, b, c, sums, places, n, k,
    M: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    rows = tl.arange(0, BM)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), ACC)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        inside = (rows[:, None] < M) & (depth[None, :] < k)
        x = tl.load(a + rows[:, None] * k + depth[None, :], mask=inside, other=0.0)
        if HOW == "computed":
            x = (x * 2).to(x.dtype)
        inside = (depth[:, None] < k) & (cols[None, :] < n)
        if HOW == "transposed":
            y = tl.load(b + depth[:, None] + cols[None, :] * k, mask=inside, other=0.0)
        else:
            y = tl.load(b + depth[:, None] * n + cols[None, :], mask=inside, other=0.0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
    stored = rows < M
    if HOW == "upper":
        stored = stored & (rows >= BM // 4)
    inside = stored[:, None] & (cols[None, :] < n)
    if HOW == "two":  # Of two numbers the higher one counts.
        tl.store(sums + rows * n + tl.program_id(0), tl.sum(acc, 1), mask=rows < M // 2)
    if HOW == "scattered":
        to = tl.load(places + rows, mask=rows < M, other=0)
        tl.store(c + to[:, None] * n + cols[None, :], acc, mask=inside)
    else:
        tl.store(c + rows[:, None] * n + cols[None, :], acc, mask=inside)


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [0, 1, 3, 4, 9, 16, 40])
@pytest.mark.parametrize("how", ["plain", "computed", "transposed", "upper", "two", "scattered"])
@pytest.mark.parametrize("block", [(16, 32, 32), (64, 16, 64)], ids=str)
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8), ids=str)
def test_known_rows(m, how, block, dtype, rng):
    rows, n, k = block[0], 40, 100
    m = min(m, rows)
    sums, acc = (torch.float32, tl.float32) if dtype.is_floating_point else (torch.int32, tl.int32)
    places = torch.randperm(rows, generator=rng).int()

    def run(a, b, m):
        c = torch.full((rows, n), 7, dtype=sums)
        total = torch.full((rows, n), 7, dtype=sums)
        right = b.t().contiguous() if how == "transposed" else b
        rows_kernel[(triton.cdiv(n, block[1]),)](
            a, at_end_of_memory(right), c, total, places, n, k, m, *block, ACC=acc, HOW=how
        )
        return c, total

    b = small_numbers(rng, [k, n], dtype)
    if dtype.is_floating_point:
        run(torch.full((rows, k), float("nan"), dtype=dtype), b, rows)
    a = small_numbers(rng, [max(m, 1), k], dtype)
    c, total = run(at_end_of_memory(a), b, m)
    wanted = a.double() @ b.double() * (2 if how == "computed" else 1)
    first = rows // 4 if how == "upper" else 0
    at = places.long() if how == "scattered" else torch.arange(rows)
    check_equal(c[at[first:m]], wanted[first:m], terms=400)
    assert (c[at[:first]] == 7).all()
    assert (c[at[max(m, first) :]] == 7).all()
    if how == "two" and m >= 2:
        check_equal(total[: m // 2, 0], wanted[: m // 2, : block[1]].sum(1), terms=400 * 20)


@triton.jit
def heads_kernel(
    q, k, v, o, length, scale,
    GROUP: tl.constexpr, H: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    heads, d = tl.arange(0, H), tl.arange(0, D)
    key_head = tl.program_id(0)
    at = (key_head * GROUP + heads[:, None]) * D + d[None, :]
    queries = tl.load(q + at, mask=heads[:, None] < GROUP, other=0.0)
    high = tl.full((H,), -float("inf"), tl.float32)
    sums = tl.zeros((H,), tl.float32)
    acc = tl.zeros((H, D), tl.float32)
    for start in range(0, length, N):
        n = start + tl.arange(0, N)
        there = n < length
        first = key_head * length
        keys = tl.load(k + (first + n[None, :]) * D + d[:, None], mask=there[None, :], other=0.0)
        values = tl.load(v + (first + n[:, None]) * D + d[None, :], mask=there[:, None], other=0.0)
        qk = tl.where(there[None, :], tl.dot(queries, keys) * scale, -float("inf"))
        new = tl.maximum(high, tl.max(qk, 1))
        p = tl.exp(qk - new[:, None])
        ratio = tl.exp(high - new)
        acc = tl.dot(p.to(values.dtype), values, acc * ratio[:, None])
        sums = sums * ratio + tl.sum(p, 1)
        high = new
    tl.store(o + at, acc / sums[:, None], mask=heads[:, None] < GROUP)


@pytest.mark.parametrize("group", [1, 3, 4, 16])
@pytest.mark.parametrize("length", [1, 45, 128])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_known_heads(group, length, dtype, rng):
    check_shared_heads(heads_kernel, group, 16, length, dtype, rng, H=16, N=32, D=32)
