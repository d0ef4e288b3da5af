# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products whose right operand is narrower, and was only widened: weights of 8 bits, or of 16 for f32."""

import pytest
import torch
import triton
import triton.language as tl
from support import normal, output

NARROW = [
    (torch.int8, torch.bfloat16),
    (torch.int8, torch.float32),
    (torch.int8, torch.float16),
    (torch.uint8, torch.bfloat16),
    (torch.float8_e4m3fn, torch.bfloat16),
    (torch.float8_e4m3fn, torch.float32),
    (torch.float8_e5m2, torch.bfloat16),
    (torch.bfloat16, torch.float32),
    (torch.float16, torch.float32),
]


@triton.jit
def product_kernel(
    x, w, out, m, n, k, stride_k, stride_n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SCALED: tl.constexpr
):  # fmt: skip
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros([BM, BN], tl.float32)
    for first in range(0, k, BK):
        at = first + tl.arange(0, BK)
        left = tl.load(
            x + i[:, None] * k + at[None, :], mask=(i < m)[:, None] & (at < k)[None, :], other=0.0
        )
        place = w + at[:, None] * stride_k + j[None, :] * stride_n
        right = tl.load(place, mask=(at < k)[:, None] & (j < n)[None, :], other=0.0)
        if SCALED:
            # The sums are no loop's: each product stands alone.
            sums += tl.dot(left, right.to(left.dtype), input_precision="ieee") * 0.5
        else:
            sums = tl.dot(left, right.to(left.dtype), sums, input_precision="ieee")
    tl.store(out + i[:, None] * n + j[None, :], sums, mask=(i < m)[:, None] & (j < n)[None, :])


def weights(dtype, n, k, rng):
    if dtype == torch.uint8:
        return torch.randint(0, 256, [n, k], generator=rng).to(dtype)
    if dtype == torch.int8:
        w = torch.randint(-128, 128, [n, k], generator=rng)
        w.flatten()[: w.numel() // 4 : 3] = -128
        return w.to(dtype)
    return normal(rng, [n, k], torch.float32).to(dtype)


@pytest.mark.parametrize(("narrow", "wide"), NARROW, ids=str)
@pytest.mark.parametrize("rows", [1, 2, 7, 40])
@pytest.mark.parametrize("by_columns", [True, False])
@pytest.mark.parametrize("scaled", [True, False])
def test_weights(narrow, wide, rows, by_columns, scaled, rng):
    """Both layouts, ends along K and N, and K that ends with a block."""
    for n, k, bn, bk in (
        (64, 128, 64, 64),
        (50, 100, 32, 64),
        (33, 32, 16, 32),
        (128, 320, 64, 128),
    ):
        x, w = normal(rng, [rows, k], wide), weights(narrow, n, k, rng)
        memory = w if by_columns else w.T.contiguous()
        strides = (1, k) if by_columns else (n, 1)
        out = output([rows, n], torch.float32)
        bm = 16 if rows <= 16 else 32
        grid = (triton.cdiv(rows, bm), triton.cdiv(n, bn))
        product_kernel[grid](
            x, memory, out, rows, n, k, *strides, BM=bm, BN=bn, BK=bk, SCALED=scaled
        )
        wanted = x.double() @ w.double().T * (0.5 if scaled else 1)
        scale = (x.double().abs() @ w.double().abs().T).max().item()
        torch.testing.assert_close(out.double(), wanted, rtol=0, atol=2e-6 * scale)


@pytest.mark.parametrize("narrow", [torch.float8_e4m3fn, torch.float8_e5m2, torch.int8], ids=str)
@pytest.mark.parametrize("rows", [1, 2, 3, 16])
@pytest.mark.parametrize("by_columns", [True, False])
def test_all_codes(narrow, rows, by_columns, rng):
    """Each of the 256 numbers, alone in its column: infinities and NaNs are themselves."""
    k, n = 64, 256
    codes = torch.zeros(n, k, dtype=torch.uint8)
    codes[:, 5] = torch.arange(256)
    w = codes.view(narrow)
    x = torch.ones(rows, k, dtype=torch.bfloat16)
    memory = w if by_columns else w.view(torch.uint8).T.contiguous().view(narrow)
    out = output([rows, n], torch.float32)
    strides = (1, k) if by_columns else (n, 1)
    product_kernel[(1, n // 64)](
        x, memory, out, rows, n, k, *strides, BM=16, BN=64, BK=64, SCALED=False
    )
    wanted = w[:, 5].float().expand(rows, n)
    torch.testing.assert_close(out, wanted, rtol=0, atol=0, equal_nan=True)


@triton.jit
def same_kernel(x, w, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, KIND: tl.constexpr):
    i, j, at = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(x + i[:, None] * K + at[None, :])
    narrow = tl.load(w + at[:, None] + j[None, :] * K)
    if KIND == "again":
        tl.store(w + at[:, None] + j[None, :] * K, narrow + 1)
    right = narrow.to(tl.float32)
    if KIND == "seen":
        tl.store(out + M * N + at[:, None] * N + j[None, :], right)
    if KIND == "turned":
        sums = tl.dot(tl.trans(right), tl.trans(left), input_precision="ieee")
        tl.store(out + j[:, None] * M + i[None, :], sums)
    else:
        tl.store(out + i[:, None] * N + j[None, :], tl.dot(left, right, input_precision="ieee"))


@pytest.mark.parametrize("kind", ["again", "seen", "turned"])
@pytest.mark.parametrize("narrow", [torch.int8, torch.bfloat16], ids=str)
def test_other_uses(kind, narrow, rng):
    """What was read is overwritten before the product; it is seen besides; it is the left operand."""
    m, n, k = 16, 32, 64
    x, w = normal(rng, [m, k], torch.float32), weights(narrow, n, k, rng)
    if kind == "again":
        w = (w.float() / 2).to(narrow)
    out, memory = torch.zeros(m * n + k * n), w.clone()
    same_kernel[(1,)](x, memory, out, m, n, k, kind)
    wanted = x.double() @ w.double().T
    got = out[: m * n].reshape(n, m).T if kind == "turned" else out[: m * n].reshape(m, n)
    torch.testing.assert_close(got.double(), wanted, rtol=1e-5, atol=1e-3)
    if kind == "seen":
        torch.testing.assert_close(out[m * n :].reshape(k, n), w.float().T)
    if kind == "again":
        assert torch.equal(memory, w + 1)
