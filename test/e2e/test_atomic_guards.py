# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that are added to a table: by vectors where no other launch has atomics, by the CPU for the scope of the system."""

import threading

import pytest
import torch
import triton
import triton.language as tl
from support import dtypes

SCOPES = ["gpu", "sys"]
BF16 = pytest.param(torch.bfloat16, marks=[pytest.mark.compiled("lacks this type")])


@triton.jit
def flat_kernel(index, x, table, n, columns, stride, SCOPE: tl.constexpr, B: tl.constexpr):
    """A flat index that is taken apart, as torch.compile writes it."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    row = tl.load(index + i // columns, inside, other=0)
    row = tl.where(row < 0, row + 5, row)
    tl.atomic_add(
        table + row * stride + i % columns,
        tl.load(x + i, inside),
        inside,
        sem="relaxed",
        scope=SCOPE,
    )


@triton.jit
def block_kernel(
    index, x, table, rows, columns, stride, SCOPE: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.arange(0, N)
    for _ in range(0, columns, N):
        inside = (i < rows)[:, None] & (j < columns)[None, :]
        row = tl.load(index + i, i < rows, other=0)
        row = tl.where(row < 0, row + 5, row)
        value = tl.load(x + i[:, None] * columns + j[None, :], inside, other=3)
        tl.atomic_add(table + row[:, None] * stride + j[None, :], value, inside, scope=SCOPE)
        j += N


def added(index, x, table):
    wanted = table.double()
    wanted[:, : x.shape[1]].index_add_(0, index % 5, x.double())
    return wanted


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("columns", [1, 7, 37, 128, 1000, 2050])
@pytest.mark.parametrize(
    "dtype",
    [BF16, *dtypes(torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)],
)
@pytest.mark.parametrize("form", ["flat", "block"])
def test_rows_of_a_table(form, dtype, columns, scope, rng):
    rows = 23
    index = torch.randint(-5, 5, [rows], generator=rng)
    # Sums that every type has: rows are hit some five times.
    x = torch.randint(-3, 4, [rows, columns], generator=rng).to(dtype)
    memory = torch.randint(-9, 9, [5 * (columns + 3) + 1], generator=rng).to(dtype)
    table = memory[1:].view(5, columns + 3)
    wanted, first = added(index, x, table), memory[0].item()
    if form == "flat":
        grid = (triton.cdiv(x.numel(), 512),)
        flat_kernel[grid](index, x, table, x.numel(), columns, columns + 3, SCOPE=scope, B=512)
    else:
        block_kernel[(6,)](index, x, table, rows, columns, columns + 3, SCOPE=scope, M=4, N=128)
    assert torch.equal(table.double(), wanted)
    assert memory[0].item() == first


@triton.jit
def chain_kernel(next_one, x, N: tl.constexpr):
    """What is added to is where the places are read from."""
    i = tl.arange(0, N)
    at = tl.load(next_one + i // 16)
    tl.atomic_add(next_one + at * 16 + i % 16, tl.load(x + i))


def test_places_in_the_memory_that_is_changed(rng):
    n = 256
    memory = torch.randint(0, 16, [n], generator=rng, dtype=torch.int32)
    x = torch.randint(0, 9, [n], generator=rng, dtype=torch.int32)
    at = memory[:16].long().repeat_interleave(16) * 16 + torch.arange(n) % 16
    wanted = memory.clone().index_add_(0, at, x)
    chain_kernel[(1,)](memory, x, N=n)
    assert torch.equal(memory, wanted)


@triton.jit
def shifted_kernel(x, N: tl.constexpr, BY: tl.constexpr):
    """Values are read from the memory that is changed."""
    i = tl.arange(0, N)
    tl.atomic_add(x + i + BY, tl.load(x + i))


@pytest.mark.parametrize("by", [0, 1, 16, 33])
@pytest.mark.parametrize("dtype", [BF16, *dtypes(torch.int32, torch.float32)])
def test_values_in_the_memory_that_is_changed(dtype, by, rng):
    n = 256
    memory = torch.randint(-9, 9, [n + by], generator=rng).to(dtype)
    wanted = memory.clone()
    wanted[by:] += memory[:n]
    shifted_kernel[(1,)](memory, N=n, BY=by)
    assert torch.equal(memory, wanted)


@triton.jit
def mixed_kernel(x, total, count, most, least, turn, out, n, B: tl.constexpr):
    """Blocks, single elements, results that are used and ones that are not, in one kernel."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + i, i < n, other=0)
    tl.atomic_add(total + tl.arange(0, B), value, i < n)
    tl.atomic_max(most, tl.max(value, 0))
    tl.atomic_min(least + tl.zeros([B], tl.int32), value)
    ticket = tl.atomic_add(count, 1)
    last = tl.atomic_xchg(turn, ticket)
    tl.store(out + ticket, last)


@pytest.mark.parametrize("programs", [1, 40, 3000])
def test_all_accesses_of_a_kernel(programs, rng):
    n = programs * 32 - 3
    x = torch.randint(-99, 99, [n], generator=rng, dtype=torch.int32)
    total, out = torch.zeros(32, dtype=torch.int32), torch.full([programs], -7, dtype=torch.int32)
    count, most, least, turn = (torch.full([1], v, dtype=torch.int32) for v in (0, -100, 100, -1))
    mixed_kernel[(programs,)](x, total, count, most, least, turn, out, n, B=32)
    assert torch.equal(total, torch.nn.functional.pad(x, [0, 3]).view(-1, 32).sum(0).int())
    assert (count.item(), most.item(), least.item()) == (
        programs,
        x.max().item(),
        min(x.min().item(), 0),
    )
    # Each program found what another one left: all tickets but the last, and what was there first.
    assert sorted(out.tolist() + turn.tolist()) == list(range(-1, programs))


@triton.jit
def count_kernel(x, bins, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(bins + tl.load(x + i, i < n, other=0), 1, i < n)


@pytest.mark.parametrize("n", [1, 1000, 300_001])
def test_counts(n, rng):
    x, bins = torch.randint(0, 50, [n], generator=rng), torch.zeros(50, dtype=torch.int32)
    count_kernel[(triton.cdiv(n, 256),)](x, bins, n, B=256)
    assert torch.equal(bins.long(), torch.bincount(x, minlength=50))


@triton.jit
def wrapped_kernel(target, old, limit, N: tl.constexpr):
    i = tl.arange(0, N)
    was = tl.atomic_add(target + i // 4, limit, i % 3 != 1)
    tl.store(old + i, was)


def test_results_of_lanes_that_are_off():
    n = 64
    target, old = torch.arange(16, dtype=torch.int32), torch.full([n], 9, dtype=torch.int32)
    wanted, was = target.clone(), torch.zeros(n, dtype=torch.int32)
    for i in range(n):
        if i % 3 != 1:
            was[i] = wanted[i // 4]
            wanted[i // 4] += 5
    wrapped_kernel[(1,)](target, old, 5, N=n)
    assert torch.equal(target, wanted)
    assert torch.equal(old, was)


@triton.jit
def contended_kernel(table, times, N: tl.constexpr):
    i = tl.arange(0, N)
    for k in range(times):
        tl.atomic_add(table + (tl.program_id(0) + k) % 2 * 1021 + i, 1.0)


@pytest.mark.compiled("the interpreter runs one program after the other")
def test_threads_that_change_the_same_rows():
    # Rows that begin between vectors, and reach over the ends of what one guard is for.
    programs, times, n = 64, 300, 4096
    threads = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        for _ in range(20):
            table = torch.zeros(1021 + n)
            contended_kernel[(programs,)](table, times, N=n)
            wanted = torch.zeros(1021 + n)
            wanted[:n] += programs * times // 2
            wanted[1021:] += programs * times // 2
            assert torch.equal(table, wanted)
    finally:
        torch.set_num_threads(threads)


@triton.jit
def own_kernel(table):
    tl.atomic_add(table + tl.program_id(0), 1.0)


@pytest.mark.compiled("the interpreter runs one program after the other")
def test_launches_that_change_the_same_rows():
    # By plain accesses, by the CPU's, and by whichever the launch beside it leaves.
    programs, times, n, launches = 8, 20, 4096, 200
    table, x = torch.zeros(1021 + n), torch.arange(n, dtype=torch.int32)

    def launch_all():
        for _ in range(launches):
            contended_kernel[(programs,)](table, times, N=n)
            own_kernel[(n,)](table)
            count_kernel[(n // 256,)](x, table, n, B=256)

    threads = [threading.Thread(target=launch_all) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = torch.zeros(1021 + n)
    wanted[:n] += programs * times // 2 + 2
    wanted[1021:] += programs * times // 2
    assert torch.equal(table, len(threads) * launches * wanted)
