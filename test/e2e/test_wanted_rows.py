# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of which some rows are stored: others are not computed, and nothing that is stored depends on them.

Each kernel first runs on full blocks of NaN or of numbers that are no places, so that what a later run does not compute
holds those.
"""

import pytest
import torch
import triton
import triton.language as tl
from shared_heads import check_shared_heads
from support import at_end_of_memory, check_equal, normal

ROWS = 8


@triton.jit
def softmax_kernel(
    x, o, sums, top, m, n,
    R: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * R + tl.arange(0, R)
    cols = tl.arange(0, B)
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    at = rows[:, None] * n + cols[None, :]
    v = tl.load(x + at, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 1)[:, None])
    s = tl.sum(e, 1)
    tl.store(o + at, e / s[:, None], mask=mask)
    tl.store(sums + rows, s, mask=rows < m)
    tl.store(top + rows, tl.argmax(v, 1), mask=rows < m)


@pytest.mark.parametrize("m", [0, 1, 2, 7, 8, 9, 13])
@pytest.mark.parametrize("n", [1, 30, 64, 781])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_softmax_of_some_rows(m, n, dtype, rng):
    block = triton.next_power_of_2(n)

    def run(x):
        count = x.shape[0]
        o, sums = torch.full((ROWS * 2, n), 7.0), torch.full((ROWS * 2,), 7.0)
        top = torch.full((ROWS * 2,), 7)
        grid = (max(triton.cdiv(count, ROWS), 1),)
        softmax_kernel[grid](x, o, sums, top, count, n, R=ROWS, B=block)
        return o, sums, top

    run(torch.full((ROWS, n), float("nan"), dtype=dtype))
    x = normal(rng, [m, n], dtype)
    o, sums, top = run(x)
    wide = x.double()
    check_equal(o[:m], torch.softmax(wide, 1), tolerance=(1e-5, 1e-6))
    if m:
        least = wide - wide.amax(1, keepdim=True)
        check_equal(sums[:m], least.exp().sum(1), tolerance=(1e-5, 1e-6))
        assert torch.equal(wide.gather(1, top[:m, None])[:, 0], wide.amax(1))
    for tensor in (o, sums, top):
        assert (tensor[m:] == 7).all()


@triton.jit
def carried_kernel(x, o, m, n, R: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * R + tl.arange(0, R)
    high = tl.full((R, B), -float("inf"), tl.float32)
    total = tl.zeros((R, B), tl.float32)
    for start in range(0, n, B):
        cols = start + tl.arange(0, B)
        mask = (rows[:, None] < m) & (cols[None, :] < n)
        v = tl.load(x + rows[:, None] * n + cols[None, :], mask=mask, other=-float("inf"))
        new = tl.maximum(v, high)
        total = tl.where(new == -float("inf"), total, total * tl.exp(high - new) + tl.exp(v - new))
        high = new
    highest = tl.max(high, 1)
    sums = tl.sum(total * tl.exp(high - highest[:, None]), 1)
    for start in range(0, n, B):
        cols = start + tl.arange(0, B)
        mask = (rows[:, None] < m) & (cols[None, :] < n)
        at = rows[:, None] * n + cols[None, :]
        v = tl.load(x + at, mask=mask, other=-float("inf"))
        tl.store(o + at, v - highest[:, None] - tl.log(sums[:, None]), mask=mask)


@pytest.mark.parametrize("m", [1, 3, 8, 11])
@pytest.mark.parametrize("n", [17, 64, 300])
def test_log_softmax_that_is_carried(m, n, rng):
    o = torch.empty(ROWS, n)
    carried_kernel[(1,)](torch.full((ROWS, n), float("nan")), o, ROWS, n, R=ROWS, B=64)
    x = normal(rng, [m, n], torch.float32)
    o = torch.full((2 * ROWS, n), 7.0)
    carried_kernel[(triton.cdiv(m, ROWS),)](x, o, m, n, R=ROWS, B=64)
    check_equal(o[:m], torch.log_softmax(x.double(), 1), tolerance=(1e-5, 1e-5))
    assert (o[m:] == 7).all()


@triton.jit
def heads_kernel(
    q, k, v, o, length, scale,
    GROUP: tl.constexpr, H: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    key_head = tl.program_id(0)
    heads = key_head * GROUP + tl.arange(0, H)
    is_head = heads < (key_head + 1) * GROUP
    d = tl.arange(0, D)
    queries = tl.load(q + heads[:, None] * D + d[None, :], mask=is_head[:, None], other=0.0)
    high = tl.full((H,), -float("inf"), tl.float32)
    sums = tl.zeros((H,), tl.float32)
    acc = tl.zeros((H, D), tl.float32)
    for start in range(0, length, N):
        n = start + tl.arange(0, N)
        there = n < length
        keys = tl.load(
            k + (key_head * length + n[None, :]) * D + d[:, None], mask=there[None, :], other=0.0
        )
        values = tl.load(
            v + (key_head * length + n[:, None]) * D + d[None, :], mask=there[:, None], other=0.0
        )
        qk = tl.where(
            is_head[:, None] & there[None, :], tl.dot(queries, keys) * scale, -float("inf")
        )
        new = tl.maximum(high, tl.max(qk, 1))
        p = tl.exp(qk - new[:, None])
        ratio = tl.exp(high - new)
        acc = acc * ratio[:, None] + tl.dot(p.to(values.dtype), values)
        sums = sums * ratio + tl.sum(p, 1)
        high = new
    tl.store(o + heads[:, None] * D + d[None, :], acc / sums[:, None], mask=is_head[:, None])


@pytest.mark.parametrize("group", [1, 3, 4, 16])
@pytest.mark.parametrize("length", [1, 45, 128])
@pytest.mark.parametrize("block", [16, 64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_heads_that_share_a_key(group, length, block, dtype, rng):
    check_shared_heads(heads_kernel, group, group, length, dtype, rng, H=block, N=32, D=32)


@triton.jit
def places_kernel(places, table, o, q, m, n, R: tl.constexpr, B: tl.constexpr):
    rows, cols = tl.arange(0, R), tl.arange(0, B)
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    at = rows[:, None] * n + cols[None, :]
    p = tl.load(places + at, mask=mask, other=0)
    # A prefix sum is in memory as a whole.
    p = tl.cumsum(p, 1)
    first = tl.sum(tl.where(cols[None, :] == 0, p, 0), 1)
    v = tl.load(table + p, mask=mask, other=0)
    # Rows behind the last one read the first element.
    w = tl.load(table + first)
    tl.store(o + at, v * 2 + w[:, None], mask=mask)
    tl.store(q + rows, w, mask=rows < m)


@pytest.mark.parametrize("m", [1, 3, 8])
@pytest.mark.parametrize("n", [3, 64])
def test_places_of_other_rows_are_not_read(m, n, rng):
    def run(table, places):
        o = torch.full((ROWS, n), 7, dtype=torch.int32)
        q = torch.full((ROWS,), 7, dtype=torch.int32)
        places_kernel[(1,)](places, table, o, q, len(places), n, R=ROWS, B=64)
        wanted = torch.full((ROWS, n), 7, dtype=torch.int32)
        sums = places.cumsum(1)
        assert torch.equal(q[: len(places)], table[sums[:, 0]])
        assert (q[len(places) :] == 7).all()
        wanted[: len(places)] = table[sums] * 2 + table[sums[:, :1]]
        assert torch.equal(o, wanted)

    def numbers(low, high, shape):
        return torch.randint(low, high, shape, generator=rng)

    # The places that this leaves behind are far behind the second table.
    large = numbers(0, 50, [1 << 22]).int()
    far = numbers(0, 20, [ROWS, n])
    far[:, 0] += 1 << 21
    run(large, far)
    table = at_end_of_memory(numbers(0, 50, [n * 20]).int())
    run(table, numbers(0, 20, [m, n]))


@triton.jit
def growing_kernel(x, o, n, steps, R: tl.constexpr, B: tl.constexpr):
    rows, cols = tl.arange(0, R), tl.arange(0, B)
    acc = tl.zeros((R, B), tl.float32)
    for step in range(0, steps):
        at = (step * R + rows[:, None]) * B + cols[None, :]
        acc = tl.exp(acc * 0.5) + tl.load(x + at)
        acc = acc / tl.sum(acc, 1)[:, None]
        # Another number of rows each time, of what all iterations before have computed.
        tl.store(o + at, acc, mask=(rows[:, None] < step + 1) & (cols[None, :] < n))


@pytest.mark.parametrize("n", [5, 64])
def test_rows_of_another_iteration(n, rng):
    steps, block = ROWS, 64
    x = normal(rng, [steps, ROWS, block], torch.float32).abs()
    o = torch.full((steps, ROWS, block), 7.0)
    growing_kernel[(1,)](x, o, n, steps, R=ROWS, B=block)
    acc = torch.zeros(ROWS, block, dtype=torch.float64)
    for step in range(steps):
        acc = (acc * 0.5).exp() + x[step].double()
        acc = acc / acc.sum(1, keepdim=True)
        check_equal(o[step, : step + 1, :n], acc[: step + 1, :n], tolerance=(1e-5, 1e-6))
        assert (o[step, step + 1 :] == 7).all()
        assert (o[step, :, n:] == 7).all()


@triton.jit
def parts_kernel(
    x, o, p, low, high, other, R: tl.constexpr, B: tl.constexpr, COLUMNS: tl.constexpr
):
    rows, cols = tl.arange(0, R), tl.arange(0, B)
    at = (cols[None, :] * R + rows[:, None]) if COLUMNS else (rows[:, None] * B + cols[None, :])
    v = tl.load(x + at)
    e = tl.exp(v - tl.max(v, 1)[:, None])
    total = tl.sum(e, 1)
    inside = (rows >= low) & (rows < high)
    tl.store(o + at, e / total[:, None], mask=inside[:, None])
    # Where a second store takes other rows, those of both count.
    tl.store(p + rows, total, mask=rows < other)


@pytest.mark.parametrize(
    ("low", "high", "other"), [(0, 3, 3), (2, 5, 5), (9, 11, 3), (2, 5, 16), (13, 2, 3), (0, 16, 0)]
)
@pytest.mark.parametrize("columns", [False, True])
def test_parts_of_blocks(low, high, other, columns, rng):
    block, rows = 64, 2 * ROWS
    shape = [block, rows] if columns else [rows, block]

    def run(x, low, high, other):
        o, p = torch.full_like(x, 7.0), torch.full((rows,), 7.0)
        parts_kernel[(1,)](x, o, p, low, high, other, R=rows, B=block, COLUMNS=columns)
        return (o.t() if columns else o), p

    run(torch.full(shape, float("nan")), 0, rows, rows)
    x = normal(rng, shape, torch.float32)
    o, p = run(x, low, high, other)
    wide = (x.t() if columns else x).double()
    inside = torch.zeros(rows, dtype=torch.bool)
    inside[low:high] = True
    check_equal(o[inside], torch.softmax(wide, 1)[inside], tolerance=(1e-5, 1e-6))
    sums = (wide - wide.amax(1, keepdim=True)).exp().sum(1)
    check_equal(p[:other], sums[:other], tolerance=(1e-5, 1e-6))
    assert (o[~inside] == 7).all()
    assert (p[other:] == 7).all()


@triton.jit
def batch_kernel(
    a, b, c, m, count,
    B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    batch, rows = tl.arange(0, B)[:, None, None], tl.arange(0, M)[None, :, None]
    cols, depth = tl.arange(0, N)[None, None, :], tl.arange(0, K)
    x = tl.load(a + (batch * M + rows) * K + depth[None, None, :], mask=rows < m, other=0.0)
    depth = depth[None, :, None]
    y = tl.load(b + ((batch * N + cols) * K + depth if COLUMNS else (batch * K + depth) * N + cols))
    acc = tl.zeros((B, M, N), tl.float32)
    for _ in range(count):
        acc = acc * 0.5 + tl.dot(x, y)
    acc -= tl.sum(acc, 2)[:, :, None]
    tl.store(c + (batch * M + rows) * N + cols, acc, mask=rows < m)


@pytest.mark.parametrize("m", [0, 1, 3, 5, 16])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_rows_of_batches(m, columns, dtype, rng):
    def run(a, m):
        c = torch.full((4, 16, 64), 7.0)
        batch_kernel[(1,)](a, memory, c, m, 3, B=4, M=16, N=64, K=32, COLUMNS=columns)
        return c

    b = normal(rng, [4, 32, 64], dtype)
    memory = (b.mT if columns else b).contiguous()
    run(torch.full((4, 16, 32), float("nan"), dtype=dtype), 16)
    a = normal(rng, [4, 16, 32], dtype)
    c = run(a, m)
    wanted = 1.75 * (a.double() @ b.double())
    wanted -= wanted.sum(2, keepdim=True)
    check_equal(c[:, :m], wanted[:, :m], tolerance=(1e-4, 1e-2))
    assert (c[:, m:] == 7).all()
