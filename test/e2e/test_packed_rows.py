# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights packed along K, as rows that several rows of a block have in common: sums over them, with each operation rounded."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory

pytestmark = pytest.mark.compiled("the interpreter has no bf16")


@triton.jit
def vector_kernel(
    a,
    b,
    s,
    z,
    c,
    first,
    N,
    K,
    EACH: tl.constexpr,
    BITS: tl.constexpr,
    BK: tl.constexpr,
    BN: tl.constexpr,
    MASK: tl.constexpr,
):
    """A part of K a program, which may begin below zero."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = first + tl.program_id(1) * BK + tl.arange(0, BK)
    scale, zero = tl.load(s + n, mask=n < N), tl.load(z + n, mask=n < N)
    if MASK:
        x = tl.load(a + k, mask=(k >= 0) & (k < K), other=0.0)
        w = tl.load(
            b + (k[:, None] // EACH) * N + n[None, :],
            mask=(k[:, None] >= 0) & (k[:, None] < K) & (n[None, :] < N),
            other=0,
        )
    else:
        x, w = tl.load(a + k), tl.load(b + (k[:, None] // EACH) * N + n[None, :])
    code = (w >> ((k % EACH) * BITS).to(w.dtype)[:, None]) & ((1 << BITS) - 1)
    value = (code.to(scale.dtype) - zero[None, :]) * scale[None, :]
    sums = tl.sum(x[:, None].to(tl.float32) * value.to(tl.float32), 0)
    tl.atomic_add(c + n, sums, mask=n < N)


@triton.jit
def loop_kernel(
    a, b, s, z, c, N, K, EACH: tl.constexpr, BITS: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr
):
    """All of K, with a block of sums that is summed behind the loop, and one that is not."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    scale, zero = tl.load(s + n), tl.load(z + n)
    wide = tl.zeros((BK, BN), tl.float32)
    sums = tl.zeros((BN,), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        w = tl.load(b + (k[:, None] // EACH) * N + n[None, :])
        code = (w >> ((k % EACH) * BITS).to(w.dtype)[:, None]) & ((1 << BITS) - 1)
        value = ((code.to(scale.dtype) - zero[None, :]) * scale[None, :]).to(tl.float32)
        x = tl.load(a + k).to(tl.float32)
        wide += x[:, None] * value
        sums += tl.sum(x[:, None] * value, 0)
    tl.store(c + n, tl.sum(wide, 0))
    tl.store(c + N + n, sums)


@triton.jit
def rows_kernel(
    b, y, most, N, K, EACH: tl.constexpr, BITS: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Packed along the dimension that stays; a maximum with its place, and a block that is stored as well."""
    n, k = tl.arange(0, BN), tl.arange(0, BK)
    w = tl.load(b + (n[:, None] // EACH) * K + k[None, :])
    code = (w >> ((n % EACH) * BITS).to(w.dtype)[:, None]) & ((1 << BITS) - 1)
    tl.store(y + n, tl.sum(code.to(tl.int32), 1))
    tl.store(most + n, tl.argmax(code.to(tl.int32), 1))


def packed(k, n, bits, words, rng):
    each = words.itemsize * 8 // bits
    codes = torch.randint(0, 1 << bits, (k, n), generator=rng)
    whole = torch.zeros(k // each, n, dtype=torch.int64)
    for i in range(each):
        whole |= codes[i::each] << (bits * i)
    if words == torch.int32:
        whole = torch.where(whole >= 1 << 31, whole - (1 << 32), whole)
    return codes, whole.to(words), each


def weights(codes, dtype, rng):
    """Each operation is rounded to `dtype`; zeros are no integers."""
    n = codes.shape[1]
    scale = (torch.rand(n, generator=rng) * 0.1 + 0.01).to(dtype)
    zero = (torch.rand(n, generator=rng) * 9).to(dtype)
    return scale, zero, ((codes.to(dtype) - zero) * scale).float()


FORMS = [(4, torch.int32), (2, torch.int32), (8, torch.int32), (4, torch.uint8), (2, torch.uint8)]
DTYPES = [torch.float16, torch.bfloat16, torch.float32]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("bits", "words"), FORMS, ids=str)
@pytest.mark.parametrize("block", [(16, 16), (32, 64), (64, 256), (16, 32)], ids=str)
def test_parts_of_k(bits, words, block, dtype, rng):
    k, (bk, bn) = 64, block
    n = 2 * bn
    codes, b, each = packed(k, n, bits, words, rng)
    scale, zero, wanted = weights(codes, dtype, rng)

    def run(a, *, mask=0, first=0):
        c = torch.zeros(n)
        grid = (triton.cdiv(n, bn), triton.cdiv(k - first, bk))
        vector_kernel[grid](
            a, at_end_of_memory(b), scale, zero, c, first, n, k, each, bits, bk, bn, mask
        )
        return c

    # A single 1 chooses a row of weights.
    for row in (0, 7, 8, 31, k - 1):
        a = torch.zeros(k, dtype=dtype)
        a[row] = 1
        for mask in (0, 1):
            assert torch.equal(run(a, mask=mask), wanted[row])
        # Blocks begin elsewhere than words do, and below zero.
        for first in (-5, -each):
            assert torch.equal(run(a, mask=1, first=first), wanted[row])
    a = torch.randn(k, generator=rng).to(dtype)
    exact = a.double() @ wanted.double()
    for mask in (0, 1):
        # Without fused multiply-adds, a sum that cancels is off by as much.
        torch.testing.assert_close(run(a, mask=mask).double(), exact, rtol=1e-5, atol=3e-5)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [1, 15, 33, 100])
@pytest.mark.parametrize("k", [8, 24, 72])
def test_edges(k, n, dtype, rng):
    codes, b, each = packed(k, n, 4, torch.int32, rng)
    scale, zero, wanted = weights(codes, dtype, rng)
    a = torch.randn(k, generator=rng).to(dtype)
    c = torch.zeros(n)
    vector_kernel[triton.cdiv(n, 32), triton.cdiv(k, 32)](
        at_end_of_memory(a), at_end_of_memory(b), scale, zero, c, 0, n, k, each, 4, 32, 32, 1
    )
    torch.testing.assert_close(c.double(), a.double() @ wanted.double(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("bits", "words"), FORMS, ids=str)
def test_loops(bits, words, dtype, rng):
    k, n = 128, 96
    codes, b, each = packed(k, n, bits, words, rng)
    scale, zero, wanted = weights(codes, dtype, rng)
    a = torch.randn(k, generator=rng).to(dtype)
    c = torch.zeros(2, n)
    loop_kernel[(3,)](a, at_end_of_memory(b), scale, zero, c, n, k, each, bits, 32, 32)
    exact = a.double() @ wanted.double()
    for sums in c:
        torch.testing.assert_close(sums.double(), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("bits", "words"), FORMS, ids=str)
def test_rows_that_stay(bits, words, rng):
    codes, b, each = packed(32, 64, bits, words, rng)
    y, most = torch.zeros(32, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    rows_kernel[(1,)](at_end_of_memory(b), y, most, 32, 64, each, bits, 32, 64)
    assert torch.equal(y, codes.sum(1).int())
    assert torch.equal(most, codes.argmax(1).int())
