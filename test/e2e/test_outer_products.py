# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Products of a column and a row that several loops use: the two are kept, not the block."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def backward(
    q, k, v, w, do, dk, dv, dh, scale, T, K: tl.constexpr, V: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr
):  # fmt: skip
    """The state of a linear attention with decay, backwards, as recurrent kernels have it."""
    head = tl.program_id(0)
    i, j = tl.arange(0, BK), tl.arange(0, BV)
    state = tl.zeros([BK, BV], tl.float32)
    for step in range(T - 1, -1, -1):
        row = head * T + step
        b_q = tl.load(q + row * K + i, i < K, 0.0).to(tl.float32) * scale
        b_k = tl.load(k + row * K + i, i < K, 0.0).to(tl.float32)
        b_w = tl.load(w + row * K + i, i < K, 0.0).to(tl.float32)
        b_v = tl.load(v + row * V + j, j < V, 0.0).to(tl.float32)
        b_do = tl.load(do + row * V + j, j < V, 0.0).to(tl.float32)
        outer = b_q[:, None] * b_do[None, :]
        b_dk = tl.sum((state + outer) * b_v[None, :], 1)
        b_dv = tl.sum((state + outer) * b_k[:, None], 0)
        tl.store(dk + row * K + i, b_dk, i < K)
        tl.store(dv + row * V + j, b_dv, j < V)
        state = state * tl.exp(b_w)[:, None] + outer
    place = head * K * V + i[:, None] * V + j[None, :]
    tl.store(dh + place, state, (i < K)[:, None] & (j < V)[None, :])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("sizes", [(32, 32, 7), (64, 32, 3), (37, 61, 5), (1, 5, 4), (16, 64, 0)])
def test_outer_product_of_several_loops(dtype, sizes):
    K, V, T = sizes
    heads = 3
    q, k = (torch.randn(heads, T, K).to(dtype) for _ in range(2))
    v, do = (torch.randn(heads, T, V).to(dtype) for _ in range(2))
    w = -torch.rand(heads, T, K).to(dtype)
    dk, dv, dh = torch.zeros(heads, T, K), torch.zeros(heads, T, V), torch.empty(heads, K, V)
    blocks = {"BK": triton.next_power_of_2(K), "BV": triton.next_power_of_2(V)}
    backward[(heads,)](q, k, v, w, do, dk, dv, dh, 0.5, T, K=K, V=V, **blocks)
    state = torch.zeros(heads, K, V, dtype=torch.float64)
    expected_dk, expected_dv = torch.zeros_like(dk).double(), torch.zeros_like(dv).double()
    for step in range(T - 1, -1, -1):
        outer = 0.5 * q[:, step, :, None].double() * do[:, step, None, :].double()
        expected_dk[:, step] = ((state + outer) * v[:, step, None, :].double()).sum(2)
        expected_dv[:, step] = ((state + outer) * k[:, step, :, None].double()).sum(1)
        state = state * w[:, step, :, None].double().exp() + outer
    for ours, expected in ((dk, expected_dk), (dv, expected_dv), (dh, state)):
        torch.testing.assert_close(ours.double(), expected, rtol=1e-5, atol=1e-4)


@triton.jit
def stored_between(x, y, out, back, n, m, BLOCK: tl.constexpr):
    """The row is overwritten by the first store that uses the product, where the arguments overlap."""
    i, j = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    a = tl.load(x + i, i < n, 0.0).to(tl.float32) * 1.5
    b = tl.load(y + j, j < m, 0.0).to(tl.float32) + 0.25
    outer = a[:, None] * b[None, :]
    place = i[:, None] * m + j[None, :]
    mask = (i < n)[:, None] & (j < m)[None, :]
    tl.store(out + place, outer, mask)
    tl.store(back + place, outer * outer - a[:, None], mask)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("apart", [0, 1, 5, 4096])
def test_outer_product_of_what_is_overwritten(dtype, apart):
    n, m = 29, 43
    memory = torch.randn(3 * 4096).to(dtype)
    y = torch.randn(m).to(dtype)
    back = torch.empty(n, m)
    x = memory[:n].clone()
    stored_between[(1,)](memory, y, memory[apart:], back, n, m, BLOCK=64)
    outer = (x.float() * 1.5)[:, None] * (y.float() + 0.25)[None, :]
    assert torch.equal(memory[apart:][: n * m].reshape(n, m), outer.to(dtype))
    torch.testing.assert_close(
        back, outer * outer - (x.float() * 1.5)[:, None], rtol=1e-5, atol=1e-6
    )
