# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Chains of values that are each used twice: compiling them must not take a time exponential in their length."""

import torch
import triton
import triton.language as tl


@triton.jit
def largest(x, value, index, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    best = tl.load(x + i, i < n)
    where = tl.zeros([BLOCK], tl.int32)
    for step in tl.static_range(1, STEPS):
        other = tl.load(x + step * n + i, i < n)
        greater = (other > best) | ((other != other) & (best == best))
        best = tl.where(greater, other, best)
        where = tl.where(greater, step, where)
    tl.store(value + i, best, i < n)
    tl.store(index + i, where, i < n)


def test_maxima_of_many_blocks():
    n, steps = 777, 40
    x = torch.randn(steps, n)
    x[7, 3] = float("nan")
    value, index = torch.empty(n), torch.empty(n, dtype=torch.int32)
    largest[(triton.cdiv(n, 256),)](x, value, index, n, STEPS=steps, BLOCK=256)
    expected = x.max(0)
    torch.testing.assert_close(value, expected.values, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(index, expected.indices.int())
