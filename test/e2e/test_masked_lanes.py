# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masked accesses of every type, where a CPU has instructions for them and where not.

Without AVX-512 there are none for 8 and 16 bits, with SSE none at all: lanes are copied through the
stack, or as the words that they fill. Nothing outside the mask may be touched: arrays end where the
memory does.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, dtypes, normal

TYPES = dtypes(
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.float16,
    torch.bfloat16,
    torch.int32,
    torch.float32,
    torch.int64,
    torch.float64,
)


def some(rng, n, dtype) -> torch.Tensor:
    if dtype.is_floating_point:
        return normal(rng, (n,), dtype)
    return torch.randint(-100 if dtype.is_signed else 0, 100, (n,), generator=rng, dtype=dtype)


def same(got, wanted):
    assert torch.equal(got, wanted), (got, wanted)


@triton.jit
def first_kernel(x, y, out, n, m, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=3)
    b = tl.load(y + i, mask=i < m, other=5)
    tl.store(out + i, tl.where(a > b, a, b + b), mask=i < n)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("block", [8, 16, 64, 256])
def test_first_lanes(rng, dtype, block):
    """Every number of lanes that a step may have, and rows of more than one step."""
    for n in [*range(0, min(block, 64) + 1), block - 1, block + 7, 3 * block - 5]:
        m = max(n - 3, 0) if n % 2 else n + 5
        x, y = some(rng, n, dtype), some(rng, m, dtype)
        out = at_end_of_memory(torch.full((n,), 77, dtype=dtype)) if n else torch.empty(0)
        if n:
            x = at_end_of_memory(x)
        if m:
            y = at_end_of_memory(y)
        first_kernel[(triton.cdiv(n, block),)](x, y, out, n, m, block)
        whole = torch.full((n,), 5, dtype=dtype)
        whole[:m] = y[:n]
        same(out, torch.where(x > whole, x, whole + whole))


@triton.jit
def chosen_kernel(x, chosen, out, low, high, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i >= low) & (i < high)
    is_on = tl.load(chosen + i, mask=inside, other=0) != 0
    a = tl.load(x + i, mask=inside & is_on, other=9)
    tl.store(out + i, a + a, mask=inside & (a != 0))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.97, 1.0])
def test_chosen_lanes(rng, dtype, share):
    """Masks that are read, and of ranges that begin behind the first lane."""
    for n, low, block in [(257, 0, 256), (300, 37, 64), (64, 63, 64), (95, 1, 16)]:
        x = at_end_of_memory(some(rng, n, dtype))
        chosen = at_end_of_memory((torch.rand(n, generator=rng) < share).to(torch.int8))
        out = at_end_of_memory(torch.full((n,), 77, dtype=dtype))
        chosen_kernel[(triton.cdiv(n, block),)](x, chosen, out, low, n, block)
        a = torch.where(chosen != 0, x, torch.tensor(9, dtype=dtype))
        stored = (torch.arange(n) >= low) & (a != 0)
        same(out, torch.where(stored, a + a, torch.tensor(77, dtype=dtype)))


@triton.jit
def scattered_kernel(x, place, chosen, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    to = tl.load(place + i, mask=i < n, other=0)
    is_on = (i < n) & (tl.load(chosen + i, mask=i < n, other=0) != 0)
    a = tl.load(x + i, mask=is_on, other=9)
    tl.store(out + to, a + a, mask=is_on)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_scattered_lanes(rng, dtype, share):
    for n, block in [(130, 64), (255, 256), (7, 8)]:
        x = at_end_of_memory(some(rng, n, dtype))
        place = torch.randperm(n, generator=rng).to(torch.int32)
        chosen = (torch.rand(n, generator=rng) < share).to(torch.int8)
        out = at_end_of_memory(torch.full((n,), 77, dtype=dtype))
        scattered_kernel[(triton.cdiv(n, block),)](x, place, chosen, out, n, block)
        wanted = torch.full((n,), 77, dtype=dtype)
        wanted[place[chosen != 0].long()] = (x + x)[chosen != 0]
        same(out, wanted)
