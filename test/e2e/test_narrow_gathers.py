# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gathers of elements below 32 bits, which may be read by the words that they lie in."""

import pytest
import torch
import triton
import triton.language as tl
from support import NAMES, at_end_of_memory

DTYPES = [torch.int8, torch.uint8, torch.int16, torch.float16, torch.bfloat16]
NARROW = {"argvalues": DTYPES, "ids": lambda d: NAMES.get(d, str(d))}


@triton.jit
def take_kernel(x, index, chosen, out, n, other, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    mask = inside & (tl.load(chosen + at, mask=inside, other=0) != 0)
    place = tl.load(index + at, mask=inside, other=0)
    if WIDE:
        place = place.to(tl.int64)
    tl.store(out + at, tl.load(x + place, mask=mask, other=other), mask=inside)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("n", "block"), [(1, 16), (3, 4), (61, 64), (64, 64), (1000, 256)])
@pytest.mark.parametrize("dtype", **NARROW)
def test_masked_gathers(dtype, n, block, wide, rng):
    # Words begin before the array, and end behind it: in memory that ends there.
    for first in range(4):
        count = 257 + first
        data = torch.randint(0, 100, [count], generator=rng, dtype=torch.uint8)
        data = data.to(torch.float32).to(dtype)
        x = at_end_of_memory(data)[first:]
        index = torch.randint(0, 257, [n], generator=rng, dtype=torch.int32)
        index[0], index[-1] = 256, 0 if n > 1 else 256
        chosen = torch.randint(0, 2, [n], generator=rng, dtype=torch.int32)
        chosen[0] = 1
        # What is masked off is not read, wherever it would be.
        far = index.clone()
        far[chosen == 0] = 1 << 28
        out = torch.zeros(n).to(dtype)
        grid = (triton.cdiv(n, block),)
        take_kernel[grid](x, far, chosen, out, n, 3, WIDE=wide, BLOCK=block)
        expected = torch.where(chosen != 0, data[first:].float()[index.long()], 3.0)
        assert torch.equal(out.float(), expected)


@triton.jit(do_not_specialize=["stride"])
def column_kernel(x, out, n, low, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = (at >= low) & (at < n) & (at % 5 != 2)
    tl.store(out + at, tl.load(x + at * stride, mask=mask, other=7), mask=at < BLOCK)


@pytest.mark.parametrize("stride", [17, -9])
@pytest.mark.parametrize("dtype", **NARROW)
def test_strides_either_way(dtype, stride, rng):
    for n, low, block in [(64, 0, 64), (100, 3, 128), (5, 5, 16)]:
        data = torch.randint(0, 100, [(n - 1) * abs(stride) + 1], generator=rng, dtype=torch.uint8)
        data = data.float().to(dtype)
        memory = at_end_of_memory(data)
        begin = 0 if stride > 0 else (n - 1) * -stride
        out = torch.zeros(block).to(dtype)
        column_kernel[(1,)](memory[begin:], out, n, low, stride, BLOCK=block)
        at = torch.arange(block)
        mask = (at >= low) & (at < n) & (at % 5 != 2)
        place = (begin + at * stride).clamp(0, len(data) - 1)
        assert torch.equal(out.float(), torch.where(mask, data.float()[place], 7.0))
