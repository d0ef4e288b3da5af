# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Long kernels: chains of values that are each used twice, which must not take a time exponential in their length,
and hundreds of loops."""

import pytest
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


@triton.jit
def in_turns(x, y, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    first = tl.load(x + i, mask)
    total = tl.zeros([BLOCK], tl.float32)
    for step in tl.static_range(STEPS):
        total = total * 0.5 + tl.load(x + step * n + i, mask)
        tl.store(y + step * n + i, total - first, mask)
        total += tl.load(x + (step + 1) * n + i, mask)
    tl.store(y + STEPS * n + i, total, mask)


@pytest.mark.parametrize("rows_apart", [None, 0, 1, 2, -1])
def test_loads_and_stores_in_turns(rows_apart):
    """What is stored is what later loads read, if it is in the same place."""
    n, steps = 300, 24
    memory = torch.randn(2 * steps + 6, n)
    begin = 2 if rows_apart is not None else 0
    to = begin + rows_apart if rows_apart is not None else steps + 2
    expected = memory.clone()
    first, total = expected[begin].clone(), torch.zeros(n)
    for step in range(steps):
        total = total * 0.5 + expected[begin + step]
        expected[to + step] = total - first
        total = total + expected[begin + step + 1]
    expected[to + steps] = total
    in_turns[(triton.cdiv(n, 128),)](memory[begin:], memory[to:], n, STEPS=steps, BLOCK=128)
    torch.testing.assert_close(memory, expected, rtol=1e-6, atol=1e-6)


@triton.jit
def rows_in_turns(x, out, n, STEPS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS], tl.float32)
    for step in tl.static_range(STEPS):
        column = step * BLOCK + tl.arange(0, BLOCK)
        place = row[:, None] * n + column[None, :]
        block = tl.load(x + place, (column < n)[None, :], other=-float("inf"))
        most = tl.max(block, 1)
        total += tl.sum(tl.exp(block - most[:, None]), 1) * most
        tl.store(out + place, block - total[:, None], (column < n)[None, :])


def test_hundreds_of_loops():
    """A function of so many is compiled in less detail (Codegen.cpp)."""
    rows, n, steps = 8, 4050, 32
    x, out = torch.randn(rows, n), torch.zeros(rows, n)
    rows_in_turns[(2,)](x, out, n, STEPS=steps, ROWS=4, BLOCK=128)
    expected, total = torch.zeros(rows, n), torch.zeros(rows, dtype=torch.float64)
    for begin in range(0, n, 128):
        block = x[:, begin : begin + 128].double()
        most = block.max(1).values
        total += (block - most[:, None]).exp().sum(1) * most
        expected[:, begin : begin + 128] = (block - total[:, None]).float()
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-3)


@triton.jit
def largest_in_turns(x, value, index, rest, n, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    block = tl.load(x + row * n + i, i < n, other=-float("inf")).to(tl.float32)
    for k in tl.static_range(K):
        most = tl.max(block, 0)
        where = tl.min(tl.where(block == most, i, BLOCK), 0)
        tl.store(value + row * K + k, most)
        tl.store(index + row * K + k, where)
        block = tl.where(i == where, -float("inf"), block)
    tl.store(rest + row * n + i, block, i < n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("n", [24, 61, 64, 257])
def test_largest_in_turns(dtype, n):
    """Each turn takes one number away from the block of the turn before, and looks at it twice."""
    rows, k = 3, 24
    x = torch.stack(
        [torch.randperm(n, generator=torch.Generator().manual_seed(row)) for row in range(rows)]
    ).to(dtype)
    value, index = torch.empty(rows, k, dtype=dtype), torch.empty(rows, k, dtype=torch.int32)
    rest = torch.empty(rows, n, dtype=dtype)
    largest_in_turns[(rows,)](x, value, index, rest, n, K=k, BLOCK=triton.next_power_of_2(n))
    # bf16 has equal numbers: the first of them is taken first.
    order = torch.argsort(x, descending=True, stable=True, dim=1)[:, :k]
    assert torch.equal(index.long(), order)
    assert torch.equal(value, x.gather(1, order))
    assert torch.equal(rest, x.scatter(1, order, -float("inf")))


@triton.jit
def many_loads(x, out, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for step in tl.static_range(STEPS):
        total += tl.load(x + i + step * n, i < n) * (step + 1)
    tl.store(out + i, total, i < n)


def test_hundreds_of_loads():
    """Thousands of instructions before the loop, which are compiled in parts."""
    n, steps = 300, 240
    x, out = torch.randn(steps, n), torch.empty(n)
    many_loads[(triton.cdiv(n, 256),)](x, out, n, STEPS=steps, BLOCK=256)
    expected = (x.double() * torch.arange(1, steps + 1)[:, None]).sum(0)
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-2)


@triton.jit
def in_a_row(x, y, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    for step in tl.static_range(STEPS):
        value = tl.load(x + step * n + i, mask, other=0)
        if step % 16 == 3:
            left = tl.sum(tl.where(mask, value, 0), 0)
            while left > 8.0:
                left *= 0.5
                value += 0.25
        tl.store(y + step * n + i, tl.exp(value), mask)


@pytest.mark.parametrize("n", [1, 97, 512])
def test_hundreds_of_loops_and_branches(n, rng):
    steps = 110
    x = torch.randn(steps, n, generator=rng) + 0.25
    y = torch.full_like(x, float("nan"))
    block = 128
    in_a_row[(triton.cdiv(n, block),)](x, y, n, STEPS=steps, BLOCK=block)
    expected = x.double()
    for row in expected[3::16]:
        for begin in range(0, n, block):
            left = row[begin : begin + block].sum().item()
            while left > 8.0:
                left *= 0.5
                row[begin : begin + block] += 0.25
    torch.testing.assert_close(y, expected.exp().float(), rtol=2e-6, atol=0)
