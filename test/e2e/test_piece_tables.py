# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise kernels that read short rows over and over, at `i % n` with an `n` that only the launch knows."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, SIGNED, at_end_of_memory, dtypes, normal, output


def numbers(rng, shape, dtype):
    if dtype.is_floating_point:
        return normal(rng, shape, dtype)
    return torch.randint(-60, 60, shape, generator=rng).to(dtype)


@triton.jit
def repeat_kernel(x, table, out, start, total, n, B: tl.constexpr, OTHER: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    inside = at < total
    if OTHER:
        row = tl.load(table + (start + at) % n, inside, other=3)
        tl.store(out + at, tl.load(x + at, inside, other=2) + row, at < total + 5)
    else:
        tl.store(
            out + at, tl.load(x + at, inside) + tl.load(table + (start + at) % n, inside), inside
        )


def check(rng, n, total, dtype, start=0, block=1024, other=False):
    x, table = numbers(rng, [total], dtype), at_end_of_memory(numbers(rng, [n], dtype))
    if total:
        x = at_end_of_memory(x)
    out = output([total + 5], dtype)
    wanted = out.clone()
    repeat_kernel[(max(1, triton.cdiv(total + 5, block)),)](
        x, table, out, start, total, n, B=block, OTHER=other
    )
    places = (torch.arange(total) + start) % n
    wanted[:total] = x + table[places]
    if other:
        wanted[total:] = 5
    torch.testing.assert_close(out, wanted, equal_nan=True, rtol=0, atol=0)


SIZES = [1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 79, 80, 81, 160, 161, 300, 1024, 5000]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("other", [False, True])
def test_sizes(n, other, rng):
    for total in (0, 1, 2, n, 997, 3071):
        check(rng, n, total, torch.float32, other=other)
    check(rng, n, 1000, torch.float32, block=64, other=other)
    check(rng, n, 1000, torch.float32, block=128, other=other)


@pytest.mark.parametrize("dtype", dtypes(FLOATS, SIGNED, torch.uint8))
@pytest.mark.parametrize("n", [3, 17, 40, 130, 320])
def test_types(dtype, n, rng):
    check(rng, n, 2500, dtype)
    check(rng, n, 2500, dtype, start=n - 1, block=256)


@pytest.mark.parametrize("start", [1, 16, 12345, 2**31 - 3000, 2**33 + 7])
@pytest.mark.parametrize("n", [3, 10, 60])
def test_starts(start, n, rng):
    check(rng, n, 2048, torch.float32, start=start)


@triton.jit
def signed_kernel(table, out, start, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(table + (start + at) % n))


@pytest.mark.parametrize("start", [-3000, -700, -1, 2**31 - 1500, 2**31 - 1])
@pytest.mark.parametrize("n", [7, 64, -7])
def test_below_zero(start, n, rng):
    """Remainders have the sign of the index, which may run over in 32 bits."""
    memory, out = normal(rng, [2 * abs(n) - 1], torch.float32), output([2048], torch.float32)
    table = memory[abs(n) - 1 :]
    signed_kernel[(2,)](table, out, start, n, B=1024)
    i = (torch.arange(2048) + start).to(torch.int32)
    assert torch.equal(out, memory[torch.fmod(i.long(), n) + abs(n) - 1])


@triton.jit
def two_kernel(x, scale, bias, out, total, n, m, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < total
    s = tl.load(scale + i % n, inside) + tl.load(bias + i % n, inside)
    tl.store(out + i, tl.load(x + i, inside) * s - tl.load(bias + i % m, inside), inside)


@pytest.mark.parametrize(("n", "m"), [(7, 7), (7, 30), (30, 7), (64, 500), (10, 1)])
def test_several(n, m, rng):
    total = 3000
    x = normal(rng, [total], torch.float32)
    scale, bias = (normal(rng, [max(n, m)], torch.float32) for _ in range(2))
    out, i = output([total], torch.float32), torch.arange(total)
    two_kernel[(3,)](x, scale, bias, out, total, n, m, B=1024)
    wanted = x.double() * (scale[i % n] + bias[i % n]).double() - bias[i % m].double()
    torch.testing.assert_close(out.double(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shift", [-1030, -40, -3, 0, 1, 17, 900])
def test_overlap(shift, rng):
    """The table is read before any of it is written."""
    memory = normal(rng, [4000], torch.float32)
    table, out = memory[1500:1510], memory[1500 + shift : 1500 + shift + 1024]
    wanted = memory.clone()
    wanted[1500 + shift : 1500 + shift + 1024] = table[torch.arange(1024) % 10]
    signed_kernel[(1,)](table, out, 0, 10, B=1024)
    assert torch.equal(memory, wanted)


@triton.jit
def between_kernel(x, table, out, low, high, n, B: tl.constexpr):
    i = tl.arange(0, B)
    inside = (i >= low) & (i < high)
    tl.store(out + i, tl.load(x + i, inside) + tl.load(table + i % n, inside), inside)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1024), (1, 1000), (37, 90), (500, 501), (3, 3), (900, 100)]
)
@pytest.mark.parametrize("n", [7, 48])
def test_between(low, high, n, rng):
    """Of the table only what the lanes that are on read is there."""
    x, out = normal(rng, [1024], torch.float32), output([1024], torch.float32)
    memory = at_end_of_memory(normal(rng, [n], torch.float32))
    wanted, i = out.clone(), torch.arange(low, max(low, high))
    wanted[i] = x[i] + memory[i % n]
    between_kernel[(1,)](x, memory, out, low, high, n, B=1024)
    torch.testing.assert_close(out, wanted, equal_nan=True, rtol=0, atol=0)


def test_few_of_a_row(rng):
    """A mask ends before the row does: what is behind it is not there."""
    x = normal(rng, [40], torch.float32)
    table, out = at_end_of_memory(normal(rng, [40], torch.float32)), output([40], torch.float32)
    repeat_kernel[(1,)](x, table, out, 0, 40, 60, B=1024, OTHER=False)
    assert torch.equal(out, x + table)
