# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Negations and magnitudes change one bit, of all numbers, infinities and NaN.

Triton 3.7 negates as `0 - x`, so that zeros stay positive.
"""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def signs_kernel(x, negated, magnitude, both, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(negated + at, -value, mask=at < n)
    tl.store(magnitude + at, tl.abs(value), mask=at < n)
    tl.store(both + at, -tl.abs(value) * 2.0, mask=at < n)


@pytest.mark.compiled("bf16 arithmetic is wrong in the interpreter")
@pytest.mark.parametrize("count", [1 << 16, 37])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
def test_all_halves(dtype, count):
    bits = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16)[:count]
    x = bits.view(dtype)
    negated, magnitude, both = (torch.zeros(count, dtype=dtype) for _ in range(3))
    signs_kernel[(triton.cdiv(count, 256),)](x, negated, magnitude, both, count, BLOCK=256)
    number = ~x.isnan() & (x != 0)
    assert torch.equal(negated.view(torch.int16)[number], (bits ^ -0x8000)[number])
    assert torch.equal(magnitude.view(torch.int16)[number], (bits & 0x7FFF)[number])
    assert (negated[x == 0] == 0).all()
    assert negated.isnan().equal(x.isnan())
    assert magnitude.isnan().equal(x.isnan())
    expected = (-x.abs().float() * 2).to(dtype)
    assert torch.equal(both.view(torch.int16)[number], expected.view(torch.int16)[number])
