# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks at a constant distance before the pointer: as in `x + i - 1`, without a program's id in the sum."""

import pytest
import torch
import triton
import triton.language as tl
from support import normal, output


@triton.jit
def before_kernel(x, out, BLOCK: tl.constexpr, STEP: tl.constexpr, BACK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i - BACK, tl.load(x + STEP * i - BACK))


@triton.jit
def before_masked_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i - 1, mask=(i > 0) & (i < n), other=7), mask=i < n)


@triton.jit
def before_rows_kernel(x, out, stride, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    sums = tl.zeros((M, N), tl.float32)
    for a in range(-1, 2):
        for b in tl.static_range(-1, 2):
            sums += tl.load(x + i * N + j + a * N + b).to(tl.float32)
    sums += tl.load(x - 5 + i * stride + j).to(tl.float32)
    tl.store(out + i * N + j, sums)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int8, torch.int64])
@pytest.mark.parametrize("back", [1, 2, 17])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_constant_offsets_before_the_pointer(dtype, back, step, rng):
    x = torch.randint(-100, 100, (200,), generator=rng).to(dtype)
    out = torch.zeros(100, dtype=dtype)
    before_kernel[(1,)](x[back:], out[50 + back :], BLOCK=32, STEP=step, BACK=back)
    wanted = torch.zeros_like(out)
    wanted[50:82] = x[: 32 * step : step]
    assert torch.equal(out, wanted)


@pytest.mark.parametrize("n", [0, 1, 2, 31, 32])
def test_a_mask_begins_behind_a_constant_offset(n, rng):
    x = normal(rng, [32], torch.float32)
    out = torch.zeros(40)
    before_masked_kernel[(1,)](x, out, n, BLOCK=32)
    wanted = torch.zeros_like(out)
    wanted[:n] = torch.cat([torch.full((1,), 7.0), x])[:n]
    assert torch.equal(out, wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_before_the_pointer(dtype, rng):
    m, n = 8, 16
    x = normal(rng, [1000], dtype)
    out = output([m, n], torch.float32)
    before_rows_kernel[(1,)](x[100:], out, 20, M=m, N=n)
    i, j = torch.arange(m)[:, None], torch.arange(n)[None]
    wide = x.double()
    near = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    wanted = sum(wide[100 + i * n + j + a * n + b] for a, b in near)
    wanted = wanted + wide[95 + i * 20 + j]
    torch.testing.assert_close(out.double(), wanted, rtol=1e-5, atol=1e-5)
