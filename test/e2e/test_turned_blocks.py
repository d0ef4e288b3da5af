# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with a transposed matrix, and other sums along the last dimension of blocks whose first one is contiguous."""

import pytest
import torch
import triton
import triton.language as tl

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int32]


@triton.jit
def product_kernel(w, x, y, m, k, sm, sk, BM: tl.constexpr, BK: tl.constexpr, FORM: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    dtype = tl.int32 if w.dtype.element_ty == tl.int32 else tl.float32
    if w.dtype.element_ty == tl.float64:
        dtype = tl.float64
    if FORM == "block":
        acc = tl.zeros([BM, BK], dtype)
        for s in range(0, k, BK):
            q = s + tl.arange(0, BK)
            inside = (i < m)[:, None] & (q < k)[None, :]
            a = tl.load(w + i[:, None] * sm + q[None, :] * sk, mask=inside, other=0).to(dtype)
            acc += a * tl.load(x + q, mask=q < k, other=0).to(dtype)[None, :]
        total = tl.sum(acc, 1)
    elif FORM == "pointers":
        q = tl.arange(0, BK)
        pointers = w + i[:, None] * sm + q[None, :] * sk
        vector = x + q
        acc = tl.zeros([BM, BK], dtype)
        for s in range(0, k, BK):
            inside = (i < m)[:, None] & (q + s < k)[None, :]
            acc += tl.load(pointers, mask=inside, other=0).to(dtype) * tl.load(
                vector, mask=q + s < k, other=0
            ).to(dtype)
            pointers += BK * sk
            vector += BK
        total = tl.sum(acc, 1)
    else:
        total = tl.zeros([BM], dtype)
        for s in range(0, k, BK):
            q = s + tl.arange(0, BK)
            inside = (i < m)[:, None] & (q < k)[None, :]
            a = tl.load(w + i[:, None] * sm + q[None, :] * sk, mask=inside, other=0).to(dtype)
            total += tl.sum(a * tl.load(x + q, mask=q < k, other=0).to(dtype)[None, :], 1)
    tl.store(y + i, total, mask=i < m)


def operands(m, k, dtype, layout, rng):
    x = torch.randint(-4, 5, [k], generator=rng).to(dtype)
    columns = m + 5 if layout == "padded" else m
    stored = torch.randint(-4, 5, [k, columns], generator=rng).to(dtype)
    w = stored.t()[:m] if layout != "rows" else stored[:, :m].t().contiguous()
    return w, x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["block", "pointers", "sums"])
@pytest.mark.parametrize("layout", ["turned", "padded", "rows"])
def test_product(dtype, form, layout, rng):
    """Whole groups of programs, programs that are left, and rows that are not there."""
    for m, k, bm, bk in ((1024, 70, 16, 32), (555, 33, 32, 16), (7, 64, 16, 64), (2112, 1, 16, 16)):
        w, x = operands(m, k, dtype, layout, rng)
        y = torch.full([m + 8], 9, dtype=torch.float32 if dtype.is_floating_point else dtype)
        y = y.double() if dtype == torch.float64 else y
        grid = (triton.cdiv(m, bm),)
        product_kernel[grid](w, x, y, m, k, w.stride(0), w.stride(1), bm, bk, form)
        assert torch.equal(y[:m].double(), w.double() @ x.double()), (m, k)
        assert (y[m:] == 9).all()


@triton.jit
def places_kernel(w, y, m, k, sk, BM: tl.constexpr, BK: tl.constexpr):
    """What is summed depends on rows and columns, and on a number of the program."""
    pid = tl.program_id(1)
    i, q = pid * BM + tl.arange(0, BM), tl.arange(0, BK)
    total = tl.zeros([BM], tl.float32)
    for s in range(0, k, BK):
        inside = (i < m)[:, None] & (q + s < k)[None, :]
        a = tl.load(w + i[:, None] + (q + s)[None, :] * sk, mask=inside, other=0)
        kept = tl.where(i[:, None] % 3 <= (q + s)[None, :] % 5, a, pid * 1.0)
        total += tl.sum(tl.where(inside, kept, 0), 1)
    tl.store(y + i, total, mask=i < m)


@pytest.mark.parametrize(("m", "k"), [(1024, 40), (333, 7), (16, 16)])
def test_places(m, k, rng):
    w = torch.randint(-4, 5, [k, m], generator=rng).float()
    y = torch.zeros([m])
    places_kernel[(1, triton.cdiv(m, 16))](w, y, m, k, m, 16, 16)
    i, q = torch.arange(m)[:, None], torch.arange(k)[None, :]
    assert torch.equal(y, torch.where(i % 3 <= q % 5, w.t(), (i // 16).float()).sum(1))


@triton.jit
def extreme_kernel(w, y, m, k, BM: tl.constexpr, BK: tl.constexpr):
    i, q = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BK)
    most = tl.full([BM], float("-inf"), tl.float32)
    for s in range(0, k, BK):
        inside = (i < m)[:, None] & (q + s < k)[None, :]
        a = tl.load(w + i[:, None] + (q + s)[None, :] * m, mask=inside, other=float("-inf"))
        most = tl.maximum(most, tl.max(a, 1))
    tl.store(y + i, most, mask=i < m)


def test_extremes(rng):
    m, k = 1000, 37
    w = torch.randn([k, m], generator=rng)
    y = torch.zeros([m])
    extreme_kernel[(triton.cdiv(m, 16),)](w, y, m, k, 16, 16)
    assert torch.equal(y, w.max(0).values)
