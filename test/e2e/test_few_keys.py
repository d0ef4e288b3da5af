# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention over keys that end before their block, by a mask of the scores: what is behind the last key is not
computed, and nothing depends on it.

Each kernel first runs on full blocks of NaN, so that what a later run does not compute holds those.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal

NAN = float("nan")
INF = float("inf")
DTYPES = dtypes(torch.float32, torch.float16, torch.bfloat16)


@triton.jit
def attend(
    q, k, v, keep, table, out, lse, m, n, scale,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, FORM: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q_block = tl.load(q + rows[:, None] * D + d[None, :], mask=rows[:, None] < m, other=0.0)
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, n, BN):
        keys = start + tl.arange(0, BN)
        inside = keys < n
        if FORM == "descriptors":
            k_desc = tl.make_tensor_descriptor(k, [n, D], [D, 1], [BN, D])
            k_block = k_desc.load([start, 0]).T
        elif FORM == "pages":
            at = tl.load(table + keys, mask=inside, other=0)
            k_block = tl.load(k + at[None, :] * D + d[:, None], mask=inside[None, :], other=0.0)
        else:
            k_block = tl.load(k + keys[None, :] * D + d[:, None], mask=inside[None, :], other=0.0)
        scores = tl.dot(q_block, k_block, input_precision="ieee").to(tl.float32) * scale
        if FORM == "causal":
            scores = tl.where(
                inside[None, :] & (rows[:, None] >= keys[None, :]), scores, -float("inf")
            )
        elif FORM == "kept":
            kept = tl.load(keep + keys, mask=inside, other=0) > 0
            scores = tl.where((inside & kept)[None, :], scores, -float("inf"))
        elif FORM == "added":
            scores += tl.where(inside[None, :], 0.0, -float("inf"))
        elif FORM == "finite":
            scores = tl.where(inside[None, :], scores, -1e30)
        else:
            scores = tl.where(inside[None, :], scores, -float("inf"))
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - new_top[:, None])
        if FORM == "ones":
            # Weights behind the last key are no zeros.
            weights = tl.where(inside[None, :], weights, 1.0)
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(weights, 1)
        if FORM == "descriptors":
            v_desc = tl.make_tensor_descriptor(v, [n, D], [D, 1], [BN, D])
            v_block = v_desc.load([start, 0])
        elif FORM == "pages":
            v_block = tl.load(v + at[:, None] * D + d[None, :], mask=inside[:, None], other=0.0)
        elif FORM == "whole":
            # Values behind the last key are there.
            v_block = tl.load(v + keys[:, None] * D + d[None, :])
        else:
            v_block = tl.load(v + keys[:, None] * D + d[None, :], mask=inside[:, None], other=0.0)
        acc = tl.dot(
            weights.to(v_block.dtype),
            v_block,
            (acc * shrink[:, None]).to(tl.float32),
            input_precision="ieee",
        ).to(tl.float32)
        top = new_top
    tl.store(out + rows[:, None] * D + d[None, :], acc / total[:, None], mask=rows[:, None] < m)
    tl.store(lse + rows, top + tl.log2(total), mask=rows < m)


def run(form, q, k, v, n, keep, table, block):
    m, d = q.shape
    out, lse = torch.empty(m, d), torch.empty(m)
    scale = 1.25 / d**0.5
    attend[(triton.cdiv(m, block[0]),)](
        q, k, v, keep, table, out, lse, m, n, scale, d, block[0], block[1], form
    )
    return out, lse, scale


def expected(form, q, k, v, n, keep, table, scale, block):
    q, k, v = q.double(), k.double(), v.double()
    if form == "pages":
        k, v = k[table[:n]], v[table[:n]]
    padded = triton.cdiv(n, block[1]) * block[1]
    scores = q @ k[:n].T * scale
    if form == "causal":
        scores = scores.masked_fill(torch.arange(n) > torch.arange(len(q))[:, None], -INF)
    if form == "kept":
        scores = scores.masked_fill(keep[:n] == 0, -INF)
    weights = torch.exp2(scores - scores.max(1, keepdim=True).values)
    total = weights.sum(1, keepdim=True)
    lse = scores.max(1).values + torch.log2(total[:, 0])
    if form == "ones":
        # With one block nothing is scaled down later.
        assert padded == block[1]
        lse = scores.max(1).values + torch.log2(total[:, 0] + padded - n)
        total = total + (padded - n)
    return (weights @ v[:n]) / total, lse


def data(rng, dtype, m, n, d, rows):
    q, k = normal(rng, [m, d], dtype), normal(rng, [rows, d], dtype)
    v = normal(rng, [rows, d], dtype)
    keep = torch.randint(0, 2, [rows], generator=rng, dtype=torch.int32)
    keep[0] = 1
    table = torch.randperm(rows, generator=rng).to(torch.int64)
    return q, k, v, keep, table


def leave_nans(form, dtype, d, block):
    """Scratch memory keeps NaN of a run on full blocks."""
    m, n = block
    nans = torch.full([max(m, n), d], NAN, dtype=dtype)
    keep, table = torch.ones(n, dtype=torch.int32), torch.arange(n)
    run(form, nans[:m], nans[:n], nans[:n], n, keep, table, block)


FORMS = ["plain", "causal", "kept", "added", "finite", "descriptors", "pages", "whole", "ones"]


@pytest.mark.parametrize("n", [1, 2, 17, 31, 32, 50, 77, 127, 128])
@pytest.mark.parametrize("m", [1, 33])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_keys_of_one_block(form, dtype, m, n, rng):
    check(form, dtype, m, n, 64, (32, 128), rng)


@pytest.mark.parametrize("n", [65, 129, 197])
@pytest.mark.parametrize("form", [form for form in FORMS if form != "ones"])
@pytest.mark.parametrize("d", [16, 128])
@pytest.mark.parametrize("block", [(16, 64), (64, 64)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_keys_of_several_blocks(form, dtype, n, d, block, rng):
    check(form, dtype, 21, n, d, block, rng)


def check(form, dtype, m, n, d, block, rng):
    leave_nans(form, dtype, d, block)
    padded = triton.cdiv(n, block[1]) * block[1]
    q, k, v, keep, table = data(rng, dtype, m, n, d, padded)
    table[:n] = torch.randperm(n, generator=rng)
    if form != "whole":
        k[n:], v[n:] = NAN, NAN
    out, lse, scale = run(form, q, k, v, n, keep, table, block)
    want, want_lse = expected(form, q, k, v, n, keep, table, scale, block)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-2 if dtype == torch.float16 else 4e-2
    torch.testing.assert_close(out.double(), want, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(lse.double(), want_lse, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("n", [1, 17, 33, 50, 95, 127])
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_that_are_there_behind_the_last_key(dtype, n, rng):
    """Zero times NaN or an infinity is NaN."""
    block, d = (32, 128), 64
    q, k, v, keep, table = data(rng, dtype, 9, n, d, 128)
    v[-1, 3], v[n, 5] = NAN, INF
    out, _, _ = run("whole", q, k, v, n, keep, table, block)
    isnan = torch.zeros(9, d, dtype=torch.bool)
    isnan[:, 3] = isnan[:, 5] = True
    check_equal(out.isnan(), isnan)


@pytest.mark.parametrize("number", [NAN, INF, -INF])
@pytest.mark.parametrize("n", [1, 17, 33, 50, 127])
@pytest.mark.parametrize("form", ["plain", "descriptors", "finite"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_numbers_in_a_row(form, dtype, n, number, rng):
    """A row whose scores are NaN is NaN, others are not."""
    block, d = (32, 128), 64
    leave_nans(form, dtype, d, block)
    q, k, v, keep, table = data(rng, dtype, 9, n, d, 128)
    q[4] = 0
    q[4, 7] = number
    out, _, _ = run(form, q, k, v, n, keep, table, block)
    isnan = torch.zeros(9, dtype=torch.bool)
    scores = q[4].double() @ k[:n].double().T
    if form == "finite":
        # Numbers behind the mask are larger than minus infinity.
        scores = torch.nn.functional.pad(scores, (0, 128 - n), value=-1e30)
    # One score of minus infinity among others makes no NaN.
    weights = torch.exp2(scores - scores.max())
    isnan[4] = (weights / weights.sum()).isnan().all()
    check_equal(out.isnan().all(1), isnan)
    check_equal(out.isnan().any(1), isnan)


@triton.jit
def behind(
    x, w, v, out, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, FILL: tl.constexpr
):
    rows, keys, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    a = tl.load(x + rows[:, None] * D + d[None, :])
    b = tl.load(w + keys[None, :] * D + d[:, None], mask=keys[None, :] < n, other=0.0)
    c = tl.where(keys[None, :] < n, tl.dot(a, b, input_precision="ieee"), FILL)
    e = tl.load(v + keys[:, None] * D + d[None, :], mask=keys[:, None] < n, other=0.0)
    tl.store(out + rows[:, None] * D + d[None, :], tl.dot(c, e, input_precision="ieee"))


@pytest.mark.parametrize("n", [0, 1, 17, 32, 63, 127, 128])
@pytest.mark.parametrize("fill", [0.0, 2.5, INF, NAN])
def test_what_is_selected_behind_a_mask(fill, n, rng):
    """Zeros times infinities and NaN are NaN, also where there are no keys at all."""
    x, w, v = (normal(rng, [rows, 16]) for rows in (32, 128, 128))
    out = torch.empty(32, 16)
    nans = torch.full([128, 16], NAN)
    behind[(1,)](nans, nans, nans, out, 128, 32, 128, 16, fill)
    behind[(1,)](x, w, v, out, n, 32, 128, 16, fill)
    if n < 128 and not abs(fill) < INF:
        assert out.isnan().all()
    else:
        want = x.double() @ w[:n].double().T @ v[:n].double()
        torch.testing.assert_close(out.double(), want, rtol=1e-4, atol=1e-3)


@triton.jit
def beside_a_store(x, out, product, n, stride, B: tl.constexpr):
    i, j = tl.arange(0, B), tl.arange(0, 16)
    a = tl.load(x + i, mask=i != n, other=0)
    b = tl.reshape(a, [2, 2, 2, 2, 2, 2, 2])
    c = b ^ tl.expand_dims(tl.xor_sum(b, 0), 0)
    less = a < tl.reshape(tl.where(b > c, c, b), [B])
    tl.store(out + i * stride, less.to(tl.int32))
    zeros = tl.zeros([16, 16], tl.float32)
    tl.store(product + j[:, None] * 16 + j[None, :], tl.dot(zeros, zeros))


@pytest.mark.parametrize("stride", [1, 2])
def test_a_reduction_beside_a_store(stride, rng):
    """A kernel with a product, and a sum in the nest of a store: the store has no block of its own that ends."""
    x = torch.randint(-1000, 1000, [128], generator=rng)
    out, product = torch.zeros(256, dtype=torch.int32), torch.ones(16, 16)
    beside_a_store[(1,)](x, out, product, 70, stride, 128)
    a = x.clone()
    a[70] = 0
    b = a.view(2, 64)
    c = b ^ (b[0] ^ b[1])
    expected = torch.zeros(256, dtype=torch.int32)
    expected[: 128 * stride : stride] = (a < torch.minimum(b, c).view(-1)).to(torch.int32)
    check_equal(out, expected)
    check_equal(product, torch.zeros(16, 16))
