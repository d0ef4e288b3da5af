# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks that a loop sets for its next iteration, as GEMV and GEMM kernels do to hide their latency."""

import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from support import INTERPRETED, dtypes, output

CARRIED = "a mask that a loop or a branch carries"
DTYPES = dtypes(torch.float32, torch.bfloat16, torch.int8)


def says_carried(kernel):
    return any(a.get("reason") == CARRIED for a in tilebridge.explain(kernel)["accesses"])


def numbers(shape, dtype, rng):
    """Their products and sums are exact in f32."""
    return torch.randint(-4, 5, shape, generator=rng).to(dtype)


@triton.jit
def gemv_kernel(a, b, c, n, k, steps, FORM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    at_n = tl.program_id(0) * BN + tl.arange(0, BN)
    at_k = tl.arange(0, BK)
    lanes = tl.arange(0, BK)
    inside_n = at_n[None, :] < n
    pa, pb = a + at_k, b + at_k[:, None] + at_n[None, :] * k
    inside_a = at_k < k
    inside_b = (at_k[:, None] < k) & inside_n
    sums = tl.zeros([BK, BN], tl.float32)
    if FORM == "step":
        for start in range(0, k, BK):
            x = tl.load(pa + start, mask=inside_a, other=0).to(tl.float32)
            y = tl.load(pb + start, mask=inside_b, other=0).to(tl.float32)
            sums += x[:, None] * y
            inside_a = (start + BK + lanes) < k
            inside_b = (start + BK + lanes[:, None] < k) & inside_n
    else:
        for i in range(steps):
            x = tl.load(pa, mask=inside_a, other=0).to(tl.float32)
            y = tl.load(pb, mask=inside_b, other=0).to(tl.float32)
            sums += x[:, None] * y
            if FORM == "number":
                pa += BK
                pb += BK
                inside_a = lanes + (i + 1) * BK < k
                inside_b = (lanes[:, None] + (i + 1) * BK < k) & inside_n
            elif FORM == "pointers":
                pa = a + (lanes + (i + 1) * BK)
                pb = b + (lanes[:, None] + (i + 1) * BK) + at_n[None, :] * k
                inside_a = lanes < k - (i + 1) * BK
                inside_b = (lanes[:, None] < k - (i + 1) * BK) & inside_n
            elif FORM == "offsets":
                pa += BK
                pb += BK
                at_k += BK
                inside_a = at_k < k
                inside_b = (at_k[:, None] < k) & inside_n
    tl.store(c + at_n, tl.sum(sums, 0), mask=at_n < n)


@pytest.mark.parametrize("form", ["step", "number", "offsets", "pointers"])
@pytest.mark.parametrize("k", [0, 1, 63, 64, 97, 257, 512])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gemv(dtype, k, form, rng):
    n, bk, bn = 37, 64, 8
    a, b = numbers([k + 1], dtype, rng), numbers([n * k + 1], dtype, rng)
    c = output([n], torch.float32)
    steps = triton.cdiv(k, bk)
    kernel = gemv_kernel[(triton.cdiv(n, bn),)](a, b, c, n, k, steps, FORM=form, BK=bk, BN=bn)
    wanted = b[: n * k].view(n, k).float() @ a[:k].float()
    assert torch.equal(c, wanted)
    assert INTERPRETED or not says_carried(kernel)


@triton.jit
def gemm_kernel(a, b, c, m, n, k, steps, FORM: tl.constexpr, BLOCK: tl.constexpr):
    at_m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at_n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at_k = tl.arange(0, BLOCK)
    lanes = tl.arange(0, BLOCK)
    inside_m, inside_n = at_m[:, None] < m, at_n[None, :] < n
    pa = a + at_m[:, None] * k + at_k[None, :]
    pb = b + at_k[:, None] * n + at_n[None, :]
    inside_a = inside_m & (at_k[None, :] < k)
    inside_b = (at_k[:, None] < k) & inside_n
    acc = tl.zeros([BLOCK, BLOCK], c.dtype.element_ty)
    for i in range(steps):
        x = tl.load(pa, mask=inside_a, other=0)
        y = tl.load(pb, mask=inside_b, other=0)
        acc = tl.dot(x, y, acc, out_dtype=acc.dtype)
        pa += BLOCK
        pb += BLOCK * n
        if FORM == "offsets":
            at_k += BLOCK
            inside_a = inside_m & (at_k[None, :] < k)
            inside_b = (at_k[:, None] < k) & inside_n
        else:
            inside_a = inside_m & (lanes[None, :] + (i + 1) * BLOCK < k)
            inside_b = (lanes[:, None] + (i + 1) * BLOCK < k) & inside_n
    at = c + at_m[:, None] * n + at_n[None, :]
    tl.store(at, acc, mask=inside_m & inside_n)


@pytest.mark.parametrize("form", ["number", "offsets"])
@pytest.mark.parametrize("k", [0, 1, 31, 32, 67, 128])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gemm(dtype, k, form, rng):
    m, n, block = 41, 53, 32
    a, b = numbers([m * k + 1], dtype, rng), numbers([k * n + 1], dtype, rng)
    c = output([m, n], torch.int32 if dtype == torch.int8 else torch.float32)
    grid = (triton.cdiv(m, block), triton.cdiv(n, block))
    steps = triton.cdiv(k, block)
    kernel = gemm_kernel[grid](a, b, c, m, n, k, steps, FORM=form, BLOCK=block)
    wanted = a[: m * k].view(m, k).float() @ b[: k * n].view(k, n).float()
    assert torch.equal(c.float(), wanted)
    assert INTERPRETED or not says_carried(kernel)


@triton.jit
def behind_kernel(x, out, n, steps, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    """The mask and a number that are read after the loop, and a mask that begins as another one."""
    at = tl.arange(0, BLOCK)
    inside, first, number = at < n, at < n - SHIFT, 0
    sums = tl.zeros([BLOCK], tl.float32)
    for i in range(steps):
        sums += tl.load(x + at, mask=inside, other=0) * (number + 1)
        sums += tl.load(x + at, mask=first, other=0)
        at += BLOCK
        inside = at < n
        first = at < n
        number = (i + 1) * 3
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.where(inside, sums, sums + 1000) + number)


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("steps", [0, 1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 17, 61, 64, 101, 128])
def test_behind_the_loop(n, steps, shift, rng):
    block = 32
    x, out = numbers([256], torch.float32, rng), output([block], torch.float32)
    behind_kernel[(1,)](x, out, n, steps, SHIFT=shift, BLOCK=block)
    wanted = torch.zeros(block)
    for i in range(steps):
        at = torch.arange(block) + i * block
        value = x[at]
        wanted += torch.where(at < n, value, 0) * (3 * i + 1)
        wanted += torch.where(at < (n if i else n - shift), value, 0)
    inside = torch.arange(block) + steps * block < n
    wanted = torch.where(inside, wanted, wanted + 1000) + 3 * steps
    assert torch.equal(out, wanted)
