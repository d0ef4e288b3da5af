# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments that share memory, and grids of any size: each program's accesses happen in the order of the program."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, i < n) * 2, i < n)


@pytest.mark.parametrize("n", [1, 63, 1000])
def test_in_place(n, rng):
    x = torch.randn(n, generator=rng)
    wanted = x * 2
    double_kernel[(triton.cdiv(n, 64),)](x, x, n, 64)
    assert torch.equal(x, wanted)


@triton.jit
def running_kernel(x, y, steps, B: tl.constexpr):
    r = tl.arange(0, B)
    for i in range(steps):
        tl.store(y + i * B + r, tl.load(x + i * B + r) + 1)


@pytest.mark.parametrize("distance", [0, 1, 16, 31, 32, 33, 64, 100])
@pytest.mark.parametrize("backward", [False, True])
def test_loads_see_the_stores_of_iterations_before(distance, backward, rng):
    steps, block = 7, 32
    storage = torch.randn(steps * block + distance, generator=rng)
    wanted = storage.clone()
    source, target = (distance, 0) if backward else (0, distance)
    for i in range(steps):
        loaded = wanted[source + i * block :][:block].clone()
        wanted[target + i * block :][:block] = loaded + 1
    running_kernel[(1,)](storage[source:], storage[target:], steps, block)
    assert torch.equal(storage, wanted)


@triton.jit
def gather_in_loop_kernel(x, rows, y, steps, N: tl.constexpr):
    r = tl.arange(0, 4)
    c = tl.arange(0, N)
    for i in range(steps):
        row = tl.load(rows + i * 4 + r)
        block = tl.load(x + row[:, None] * N + c[None, :])
        tl.store(y + (i * 4 + r)[:, None] * N + c[None, :], block * 2)


def test_rows_that_earlier_iterations_wrote(rng):
    steps, n = 5, 16
    x = torch.randn([steps * 4, n], generator=rng)
    rows = torch.randint(0, steps * 4, [steps * 4], generator=rng)
    wanted = x.clone()
    for i in range(steps):
        wanted[i * 4 : i * 4 + 4] = wanted[rows[i * 4 : i * 4 + 4]] * 2
    gather_in_loop_kernel[(1,)](x, rows, x, steps, n)
    assert torch.equal(x, wanted)


@triton.jit
def scatter_twice_kernel(x, rows, y, N: tl.constexpr):
    r = tl.arange(0, 8)
    c = tl.arange(0, N)
    row = tl.load(rows + r)
    block = tl.load(x + r[:, None] * N + c[None, :])
    tl.store(y + row[:, None] * N + c[None, :], block)
    tl.store(y + row[:, None] * N + c[None, :], -block)


def test_of_stores_to_the_same_rows_the_last_one_stays(rng):
    x = torch.randn([8, 16], generator=rng)
    rows = torch.randperm(8, generator=rng)
    y = torch.zeros(8, 16)
    scatter_twice_kernel[(1,)](x, rows, y, 16)
    wanted = torch.empty_like(y)
    wanted[rows] = -x
    assert torch.equal(y, wanted)


@triton.jit
def around_kernel(x, other, y, n, steps, B: tl.constexpr):
    r = tl.arange(0, B)
    around = tl.load(other + r)
    for i in range(steps):
        at = i * B + r
        tl.store(y + at, tl.load(x + at, mask=at < n, other=around + i))


@pytest.mark.parametrize("n", [0, 1, 40, 96, 127, 128])
def test_what_is_around_a_load_of_a_loop(n, rng):
    steps, block = 4, 32
    x, other = torch.randn(steps * block, generator=rng), torch.randn(block, generator=rng)
    y = torch.zeros(steps * block)
    around_kernel[(1,)](x, other, y, n, steps, block)
    wanted = (other[None, :] + torch.arange(steps)[:, None]).reshape(-1)
    wanted[:n] = x[:n]
    assert torch.equal(y, wanted)


@triton.jit
def number_kernel(y, nx, ny):
    x, row, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.store(y + (z * ny + row) * nx + x, (z * ny + row) * nx + x + 1)


@pytest.mark.parametrize("grid", [(1,), (3,), (0,), (5, 0), (2, 3, 4), (1, 1, 9)])
def test_few_programs_and_none(grid):
    x, y, z = (*grid, 1, 1)[:3]
    out = torch.zeros(max(x * y * z, 1), dtype=torch.int32)
    number_kernel[grid](out, x, y)
    assert torch.equal(out[: x * y * z], torch.arange(1, x * y * z + 1, dtype=torch.int32))


@pytest.mark.slow
def test_more_programs_than_16_bits():
    count = (1 << 16) + 5
    out = torch.zeros(count, dtype=torch.int32)
    number_kernel[(count,)](out, count, 1)
    assert torch.equal(out, torch.arange(1, count + 1, dtype=torch.int32))


def test_tensors_without_elements():
    empty = torch.empty(0)
    double_kernel[(1,)](empty, empty, 0, 64)
    double_kernel[(0,)](empty, empty, 0, 64)
