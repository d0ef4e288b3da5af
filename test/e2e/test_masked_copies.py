# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads with a block as `other` whose result is stored under the same mask: what `other` holds is stored nowhere."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.bool,
]  # fmt: skip


def numbers(rng, count, dtype):
    return torch.randint(-100, 100, [count], generator=rng).to(dtype)


@triton.jit
def copy(x, y, out, first, n, B: tl.constexpr, FORM: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    if FORM == "between":
        mask = mask & (i >= first)
    a = tl.load(x + i, mask=mask, other=0)
    other = a if FORM == "itself" else tl.load(x + i + n)
    b = tl.load(y + i, mask=mask, other=other)
    if FORM == "descriptor":
        tl.make_tensor_descriptor(out, [n], [1], [B]).store([tl.program_id(0) * B], b)
    else:
        tl.store(out + i, b, mask=mask)
    if FORM == "also":
        # Here the rest of the block counts.
        tl.store(out + n + i, b)


@pytest.mark.parametrize("form", ["plain", "itself", "between", "descriptor", "also"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_copy(form, dtype, rng):
    if form == "descriptor" and dtype == torch.bool:
        dtype = torch.uint8  # A descriptor has no booleans.
    small = [] if form == "descriptor" else [(0, 16), (1, 1), (5, 8)]
    for n, block in [*small, (64, 64), (100, 64), (1000, 256)]:
        blocks = max(triton.cdiv(n, block), 1)
        size, first = blocks * block, n // 3 if form == "between" else 0
        x, y = numbers(rng, n + size, dtype), numbers(rng, n, dtype)
        out = numbers(rng, n + size, dtype)
        expected = out.clone()
        expected[first:n] = y[first:n]
        if form == "also":
            expected[n:] = x[n:]
            expected[n : 2 * n] = y
        copy[(blocks,)](x, y, out, first, n, block, form)
        check_equal(out, expected)


@triton.jit
def copy_2d(x, y, out, m, n, stride, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N)
    at = i[:, None] * stride + j[None, :]
    mask = (i[:, None] < m) & (j[None, :] < n)
    a = tl.load(x + at, mask=mask, other=0)
    tl.store(out + at, tl.load(y + at, mask=mask, other=a * 2), mask=mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64], ids=str)
@pytest.mark.parametrize(("m", "n"), [(0, 3), (1, 1), (7, 13), (32, 32), (33, 31)])
def test_copy_2d(dtype, m, n, rng):
    stride = 37
    x, y, out = (numbers(rng, max(m, 1) * stride, dtype) for _ in range(3))
    expected = out.clone()
    expected.view(-1, stride)[:m, :n] = y.view(-1, stride)[:m, :n]
    copy_2d[(triton.cdiv(max(m, 1), 16),)](x, y, out, m, n, stride, 16, 32)
    check_equal(out, expected)


def test_copy_in_place(rng):
    """Blocks of one array that overlap: each program reads what it stores elsewhere."""
    x, y = numbers(rng, 200, torch.float32), numbers(rng, 100, torch.float32)
    expected = y.clone()
    copy[(1,)](x, y, y, 0, 100, 128, "itself")
    check_equal(y, expected)
    shifted = y.clone()
    shifted[3:100] = y[:97]
    copy[(1,)](x, y, y[3:], 0, 97, 128, "itself")
    check_equal(y, shifted)
