# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of which masks let some rows through, into sums over rows or into stores in branches: others are not
computed, and nothing depends on them.

Each kernel first runs on full blocks of NaN, so that what a later run does not compute holds those.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal

NAN = float("nan")
DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@triton.jit
def logits_kernel(
    x, w, keep, lse, mean, m, n, k, cap,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FORM: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    # Rows behind the last one are others again, as in a loss over a vocabulary.
    at = rows % m
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        d = start + tl.arange(0, BK)
        a = tl.load(x + at[:, None] * k + d[None, :], mask=d[None, :] < k, other=0.0)
        b = tl.load(
            w + cols[None, :] * k + d[:, None],
            mask=(d[:, None] < k) & (cols[None, :] < n),
            other=0.0,
        )
        acc = tl.dot(a, b, acc, input_precision="ieee")
    acc = tl.where(cols[None, :] < n, acc, -float("inf"))
    if FORM == "capped":
        acc = cap * (1 - 2 / (tl.exp(2 * acc / cap) + 1))
    mask = rows < m
    if FORM == "kept":
        mask = mask & (tl.load(keep + rows, mask=rows < m, other=0) > 0)
    if FORM == "columns":
        shown = tl.where(mask[:, None] & (cols[None, :] % 3 != 1), acc, 0.0)
    else:
        shown = tl.where(mask[:, None], acc, 0.0)
    tl.store(mean + tl.program_id(0) * n + cols, tl.sum(shown, 0), mask=cols < n)
    high = tl.max(acc, 1)
    sums = tl.log(tl.sum(tl.exp(acc - high[:, None]), 1)) + high
    tl.store(lse + rows, sums, mask=rows < m)


@pytest.mark.parametrize("form", ["plain", "capped", "kept", "columns"])
@pytest.mark.parametrize("m", [1, 2, 5, 16, 31, 33, 64, 71])
@pytest.mark.parametrize("k", [16, 70, 256])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_over_rows_of_a_mask(form, m, k, dtype, rng):
    block, n, cap = 32, 61, 5.0
    w = normal(rng, [n, k], dtype) / k**0.5

    def run(x, keep):
        count = x.shape[0]
        programs = triton.cdiv(count, block)
        lse, mean = torch.full((programs * block,), 7.0), torch.full((programs, n), 7.0)
        logits_kernel[(programs,)](
            x, w, keep, lse, mean, count, n, k, cap, BM=block, BN=64, BK=32, FORM=form
        )
        return lse, mean

    run(torch.full((block, k), NAN, dtype=dtype), torch.ones(block, dtype=torch.int32))
    x = normal(rng, [m, k], dtype)
    keep = torch.randint(0, 2, (m,), dtype=torch.int32, generator=rng)
    lse, mean = run(x, keep)
    logits = x.double() @ w.double().T
    if form == "capped":
        logits = cap * torch.tanh(logits / cap)
    check_equal(lse[:m], logits.logsumexp(1), tolerance=(1e-4, 1e-4))
    assert (lse[m:] == 7).all()
    shown = logits * keep[:, None] if form == "kept" else logits
    if form == "columns":
        shown = shown * (torch.arange(n) % 3 != 1)
    parts = torch.stack([part.sum(0) for part in shown.split(block)])
    check_equal(mean, parts, tolerance=(1e-3, 1e-4))


@triton.jit
def attention_kernel(
    q, k, v, o, tops, tokens, length, group, scale,
    T: tl.constexpr, G: tl.constexpr, N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    first, head = tl.program_id(0) * T, tl.program_id(1)
    row = tl.arange(0, T * G)
    token, member = first + row // G, row % G
    is_token, is_member = token < tokens, member < group
    d = tl.arange(0, D)
    heads = tl.num_programs(1) * group
    at = (token[:, None] * heads + head * group + member[:, None]) * D + d[None, :]
    # A kernel that only asks for masks where there is something to leave out.
    masks_rows = (first + T > tokens) or (group != G)
    mask = is_token[:, None] & is_member[:, None]
    if masks_rows:
        queries = tl.load(q + at, mask=mask & (d[None, :] < D), other=0.0)
    else:
        queries = tl.load(q + at)
    high = tl.full((T * G,), -float("inf"), tl.float32)
    sums = tl.zeros((T * G,), tl.float32)
    acc = tl.zeros((T * G, D), tl.float32)
    for start in range(0, length, N):
        n = start + tl.arange(0, N)
        there = n < length
        keys = tl.load(
            k + (head * length + n[None, :]) * D + d[:, None], mask=there[None, :], other=0.0
        )
        values = tl.load(
            v + (head * length + n[:, None]) * D + d[None, :], mask=there[:, None], other=0.0
        )
        qk = scale * tl.dot(queries, keys, input_precision="ieee")
        shown = mask & there[None, :]
        if masks_rows or start + N > length:
            qk = tl.where(shown, qk, -float("inf"))
        new = tl.maximum(high, tl.max(qk, 1))
        p = tl.where(shown, tl.exp(qk - new[:, None]), 0.0)
        alpha = tl.exp(high - new)
        sums = sums * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(values.dtype), values, input_precision="ieee")
        high = new
    acc = acc / sums[:, None]
    if masks_rows:
        tl.store(o + at, acc, mask=mask & (d[None, :] < D))
    else:
        tl.store(o + at, acc)
    places = tops + token * heads + head * group + member
    if first + T > tokens:
        tl.store(places, high + tl.log(sums), mask=is_token & is_member)
    else:
        tl.store(places, high + tl.log(sums), mask=is_member)


@pytest.mark.parametrize("tokens", [1, 2, 7, 8, 9])
@pytest.mark.parametrize(
    ("group", "padded", "chunk"), [(1, 1, 32), (3, 4, 8), (4, 4, 8), (8, 8, 4), (5, 16, 1)]
)
@pytest.mark.parametrize("length", [1, 33, 64])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_stores_of_rows_in_branches(tokens, group, padded, chunk, length, dtype, rng):
    depth, heads = 32, 2

    def run(q, k, v):
        count = q.shape[0]
        programs = triton.cdiv(count, chunk)
        o = torch.full((programs * chunk + 1, heads * group, depth), 7.0)
        tops = torch.full((programs * chunk + 1, heads * group), 7.0)
        attention_kernel[(programs, heads)](
            q,
            k,
            v,
            o,
            tops,
            count,
            k.shape[1],
            group,
            depth**-0.5,
            T=chunk,
            G=padded,
            N=32,
            D=depth,
        )
        return o, tops

    full = chunk if group == padded else tokens
    run(
        *(
            torch.full(s, NAN, dtype=dtype)
            for s in ([full, heads * group, depth], [heads, 64, depth], [heads, 64, depth])
        )
    )
    q = normal(rng, [tokens, heads * group, depth], dtype)
    k, v = (normal(rng, [heads, length, depth], dtype) for _ in range(2))
    o, tops = run(q, k, v)
    wide = q.double().view(tokens, heads, group, depth).transpose(0, 1)
    scores = torch.einsum("htgd,hnd->htgn", wide, k.double()) * depth**-0.5
    expected = torch.einsum("htgn,hnd->htgd", scores.softmax(-1), v.double())
    error = 1e-5 if dtype == torch.float32 else 2e-2 if dtype == torch.bfloat16 else 3e-3
    check_equal(
        o[:tokens], expected.transpose(0, 1).reshape(tokens, -1, depth), tolerance=(error, error)
    )
    check_equal(
        tops[:tokens],
        scores.logsumexp(-1).transpose(0, 1).reshape(tokens, -1),
        tolerance=(1e-4, 1e-4),
    )
    assert (o[tokens:] == 7).all()
    assert (tops[tokens:] == 7).all()


@triton.jit
def chosen_kernel(
    x, y, keep, o, p, m, both,
    R: tl.constexpr, K: tl.constexpr, N: tl.constexpr, FORM: tl.constexpr,
):  # fmt: skip
    rows, cols, d = tl.arange(0, R), tl.arange(0, N), tl.arange(0, K)
    outside: tl.constexpr = 0.0 if FORM == "otherwise" else float("nan")
    a = tl.load(x + rows[:, None] * K + d[None, :], mask=rows[:, None] < m, other=outside)
    b = tl.load(y + d[:, None] * N + cols[None, :])
    mask = tl.load(keep + rows) != 0
    c = tl.dot(a, b, input_precision="ieee")
    if FORM == "condition":
        # The product itself says what is taken.
        shown = tl.where(mask[:, None] & (c > 0), 1.0, 0.0)
    elif FORM == "otherwise":
        shown = tl.where(mask[:, None], 0.0, c)
    elif FORM == "twice":
        shown = tl.where(mask[:, None], c, 0.0) + tl.where((rows < m)[:, None], c * 2, 0.0)
    else:
        shown = tl.where(mask[:, None], c, 0.0)
    tl.store(p + cols, tl.sum(shown, 0))
    if both > 0:
        tl.store(o + rows[:, None] * N + cols[None, :], c * 2, mask=(rows < both)[:, None])


@pytest.mark.parametrize("form", ["value", "condition", "otherwise", "twice"])
@pytest.mark.parametrize("both", [0, 3, 16])
@pytest.mark.parametrize("m", [1, 4, 15, 16])
def test_products_that_are_chosen_and_stored(form, both, m, rng):
    n, k = 32, 16

    def run(x, keep, both):
        o, p = torch.full((17, n), 7.0), torch.empty(n)
        chosen_kernel[(1,)](x, y, keep, o, p, x.shape[0], both, R=16, K=k, N=n, FORM=form)
        return o, p

    y = normal(rng, [k, n], torch.float32)
    run(torch.full((16, k), NAN), torch.ones(16, dtype=torch.int32), 16)
    x = normal(rng, [m, k], torch.float32)
    keep = torch.zeros(16, dtype=torch.int32)
    keep[:m] = torch.randint(0, 2, (m,), dtype=torch.int32, generator=rng)
    o, p = run(x, keep, min(both, m))
    c = x.double() @ y.double()
    mask = keep[:m, None].bool()
    shown = {
        "value": torch.where(mask, c, 0.0),
        "condition": (mask & (c > 0)).double(),
        "otherwise": torch.where(mask, 0.0, c),
        "twice": torch.where(mask, c, 0.0) + 2 * c,
    }[form]
    check_equal(p, shown.sum(0), tolerance=(1e-5, 1e-5))
    check_equal(o[: min(both, m)], 2 * c[: min(both, m)], tolerance=(1e-5, 1e-5))
    assert (o[min(both, m) :] == 7).all()


@triton.jit
def either_kernel(x, y, o, p, m, some, R: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    rows, cols, d = tl.arange(0, R), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(x + rows[:, None] * K + d[None, :])
    b = tl.load(y + d[:, None] * N + cols[None, :])
    c = tl.dot(a, b, input_precision="ieee")
    at = rows[:, None] * N + cols[None, :]
    c = c - tl.max(c, 1)[:, None]
    if some & 1:
        tl.store(o + at, c, mask=(rows < m)[:, None])
    else:
        tl.store(o + at, c)
    if some & 2:
        tl.store(p + at, c, mask=(rows < m // 2)[:, None] & (cols[None, :] != 3))
        if some & 4:
            tl.store(p + at + R * N, c)


@pytest.mark.parametrize("m", [0, 1, 5, 16, 31])
@pytest.mark.parametrize("some", range(8))
@pytest.mark.parametrize("rows", [16, 32])
def test_branches_that_store_any_rows(m, some, rows, rng):
    k, n = 64, 32

    def run(x, m, some):
        o, p = torch.full((rows, n), 7.0), torch.full((2 * rows, n), 7.0)
        either_kernel[(1,)](x, y, o, p, m, some, R=rows, K=k, N=n)
        return o, p

    y = normal(rng, [k, n], torch.float32)
    run(torch.full((rows, k), NAN), rows, 0)
    x = normal(rng, [rows, k], torch.float32)
    o, p = run(x, m, some)
    c = x.double() @ y.double()
    c = c - c.amax(1, keepdim=True)
    row = torch.arange(rows)[:, None]
    check_equal(o, torch.where(row < m, c, 7.0) if some & 1 else c, tolerance=(1e-5, 1e-4))
    shown = (row < m // 2) & (torch.arange(n) != 3)
    check_equal(
        p[:rows],
        torch.where(shown, c, 7.0) if some & 2 else torch.full_like(c, 7.0),
        tolerance=(1e-5, 1e-4),
    )
    check_equal(p[rows:], c if some & 6 == 6 else torch.full_like(c, 7.0), tolerance=(1e-5, 1e-4))
