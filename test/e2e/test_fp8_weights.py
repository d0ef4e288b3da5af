# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights of 8-bit floats in products of bf16 and in sums: every code comes through as it is."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory

pytestmark = pytest.mark.compiled("the interpreter has neither fp8 nor bf16")


@triton.jit
def weights_kernel(a, b, c, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, depth = tl.arange(0, BM), tl.arange(0, BK)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        x = tl.load(
            a + rows[:, None] * k + start + depth[None, :],
            mask=depth[None, :] < k - start,
            other=0.0,
        )
        inside = (depth[:, None] < k - start) & (cols[None, :] < n)
        y = tl.load(b + (start + depth[:, None]) * n + cols[None, :], mask=inside, other=0.0)
        acc = tl.dot(x, y.to(x.dtype), acc)
    tl.store(c + rows[:, None] * n + cols[None, :], acc, mask=cols[None, :] < n)


def product(a, b, block):
    (m, k), n = a.shape, b.shape[1]
    c = torch.full((m, n), 7.0)
    weights_kernel[(triton.cdiv(n, block),)](
        a, at_end_of_memory(b.view(torch.int8)).view(b.dtype), c, n, k, BM=m, BN=block, BK=32
    )
    return c


@pytest.mark.parametrize("n", [1, 16, 63, 64, 100, 256])
@pytest.mark.parametrize("block", [32, 64, 128])
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_each_code(dtype, block, n, rng):
    """A row with a single 1 chooses a row of weights; what is no number is there for the columns of its own."""
    k = 80
    codes = torch.randint(0, 256, (k, n), generator=rng).to(torch.uint8)
    codes[: min(k, 16), : min(n, 16)] = (
        torch.arange(256).view(16, 16).to(torch.uint8)[:16, : min(n, 16)]
    )
    b = codes.view(dtype)
    wide = b.float()
    finite = torch.where(wide.isfinite(), wide, torch.tensor(1.0)).to(dtype)
    for first in range(0, k, 16):
        a = torch.eye(k)[first : first + 16].to(torch.bfloat16)
        assert torch.equal(product(a, finite, block), finite.float()[first : first + 16])
    a = torch.ones(16, k).to(torch.bfloat16)
    got = product(a, b, block)[0]
    wanted = wide.double().sum(0)
    special = ~wanted.isfinite()
    assert torch.equal(got.isnan(), wanted.isnan())
    assert torch.equal(got[special & ~wanted.isnan()].double(), wanted[special & ~wanted.isnan()])
    assert got[~special].isfinite().all()


@triton.jit
def gemv_kernel(x, w, scale, out, K: tl.constexpr, N: tl.constexpr):
    rows, cols = tl.arange(0, K), tl.arange(0, N)
    a, s = tl.load(x + rows), tl.load(scale + cols)
    y = tl.load(w + rows[:, None] * N + cols[None, :]).to(s.dtype) * s[None, :]
    tl.store(out + cols, tl.sum(a[:, None].to(tl.float32) * y.to(tl.float32), 0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("weights", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
@pytest.mark.parametrize("n", [16, 32, 64, 128, 256])
def test_each_code_in_a_sum(n, weights, dtype):
    """Of the rows that are summed one has codes, as many as there are columns: others are 0."""
    k = 16
    scale = torch.full((n,), 0.5, dtype=dtype)
    for first in range(0, 256, n):
        codes = torch.zeros((k, n), dtype=torch.uint8)
        codes[first // n % k] = torch.arange(first, first + n)
        w = codes.view(weights)
        out = torch.full((n,), 7.0)
        x = torch.full((k,), 2.0, dtype=dtype)
        gemv_kernel[(1,)](x, w, scale, out, K=k, N=n)
        wanted = torch.arange(first, first + n).to(torch.uint8).view(weights).float()
        assert torch.equal(out.isnan(), wanted.isnan())
        assert torch.equal(out[~wanted.isnan()], wanted[~wanted.isnan()])
