# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows and elements chosen by values from memory, where results overlap what is still read."""

import pytest
import torch
import triton
import triton.language as tl
from support import dtypes, normal


@triton.jit
def rows_kernel(
    table, ids, out, count, width, table_row, out_row, M: tl.constexpr, N: tl.constexpr
):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    picked = tl.load(ids + rows, mask=rows < count, other=0)
    value = tl.load(
        table + picked[:, None] * table_row + columns[None, :],
        mask=(rows < count)[:, None] & (columns < width)[None, :],
        other=7,
    )
    tl.store(
        out + rows[:, None] * out_row + columns[None, :], value, mask=(columns < width)[None, :]
    )


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8, torch.int64))
@pytest.mark.parametrize("shift", [0, 1, -1, 5, 40], ids=lambda s: f"shift{s}")
@pytest.mark.parametrize("count", [0, 1, 13, 16])
def test_rows_over_their_own_table(count, shift, dtype, rng):
    width, entries = 37, 20
    memory = normal(rng, [60 + entries * 64], dtype)
    table = torch.as_strided(memory, [entries, width], [64, 1], 50)
    out = torch.as_strided(memory, [16, width], [64, 1], 50 + shift)
    ids = torch.randint(0, entries, [16], generator=rng)
    wanted = table[ids].clone()
    wanted[count:] = 7
    untouched = memory.clone()
    torch.as_strided(untouched, [16, width], [64, 1], 50 + shift).copy_(wanted)
    rows_kernel[(1,)](table, ids, out, count, width, 64, 64, M=16, N=64)
    assert torch.equal(memory, untouched)


@pytest.mark.parametrize("at", [0, 3, 16, 100])
def test_rows_over_the_indices(at, rng):
    table = torch.randint(0, 99, [20, 8], generator=rng, dtype=torch.int32)
    memory = torch.randint(0, 20, [300], generator=rng, dtype=torch.int32)
    wanted = memory.clone()
    torch.as_strided(wanted, [16, 8], [8, 1], at).copy_(table[memory[3:19].long()])
    rows_kernel[(1,)](table, memory[3:], memory[at:], 16, 8, 8, 8, M=16, N=8)
    assert torch.equal(memory, wanted)


def test_rows_before_the_pointer(rng):
    table = normal(rng, [40, 32])
    ids = torch.randint(-20, 20, [16], generator=rng)
    wanted = table[20 + ids].clone()
    rows_kernel[(1,)](table[20:], ids, table[10:], 16, 32, 32, 32, M=16, N=32)
    assert torch.equal(table[10:26], wanted)


@triton.jit
def far_rows_kernel(table, ids, out, row, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    picked = tl.load(ids + rows).to(tl.int64)
    value = tl.load(table + picked[:, None] * row + columns[None, :])
    tl.store(out + rows[:, None] * N + columns[None, :], value)


@pytest.mark.slow
def test_rows_more_than_four_gigabytes_apart(rng):
    row = 1 << 20
    try:
        table = torch.empty([5000, row], dtype=torch.int8)
    except RuntimeError:
        pytest.skip("no address space for a table of 5 GB")
    ids = torch.tensor([0, 4999, 2048, 4096])
    table[ids, :32] = torch.randint(-99, 99, [4, 32], generator=rng, dtype=torch.int8)
    wanted = table[ids, :32].clone()
    out = torch.zeros([4, 32], dtype=torch.int8)
    far_rows_kernel[(1,)](table, ids, out, row, M=4, N=32)
    assert torch.equal(out, wanted)
    # Over the last of its own rows, which a range of 32 bits would miss.
    far_rows_kernel[(1,)](table, ids, table[4999], row, M=4, N=32)
    assert torch.equal(table[4999, :128].view(4, 32), wanted)


@triton.jit
def turned_rows_kernel(table, ids, scale, out, known, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    picked = tl.load(ids + rows)
    value = tl.load(
        table + picked[:, None] * N + columns[None, :], mask=(picked < known)[:, None], other=-1.0
    )
    other = tl.load(table + (picked // 2)[:, None] * N + columns[None, :])
    value = (value + other) * tl.load(scale + rows)[:, None]
    tl.store(out + columns[None, :] * M + rows[:, None], value)


@pytest.mark.parametrize("offset", [None, 0, 100])
def test_columns_from_two_rows_each(offset, rng):
    table, scale = normal(rng, [24, 16]), normal(rng, [32])
    ids = torch.randint(0, 24, [32], generator=rng)
    first = torch.where((ids < 18)[:, None], table[ids], -1.0)
    wanted = ((first + table[ids // 2]) * scale[:, None]).t().clone()
    memory = torch.cat([table.flatten(), torch.zeros(512)])
    out = torch.zeros(512) if offset is None else memory[offset:]
    turned_rows_kernel[(1,)](memory, ids, scale, out, 18, M=32, N=16)
    assert torch.equal(out[:512].view(16, 32), wanted)


@triton.jit
def masked_by_memory_kernel(flags, x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    flag = tl.load(flags + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + i, mask=flag != 0, other=-5))


@pytest.mark.parametrize("n", [0, 1, 50, 127, 128])
def test_masks_from_memory_have_bounds(n, rng):
    flags = torch.ones(128, dtype=torch.int32)
    x = torch.randint(0, 99, [128], generator=rng, dtype=torch.int32)
    out = torch.zeros_like(x)
    masked_by_memory_kernel[(1,)](flags, x, out, n, B=128)
    assert torch.equal(out, torch.where(torch.arange(128) < n, x, -5))


@pytest.mark.parametrize("shift", [0, 1, 16, 127, 128])
def test_results_over_the_mask(shift, rng):
    memory = torch.randint(0, 2, [300], generator=rng, dtype=torch.int32)
    x = torch.randint(0, 2, [128], generator=rng, dtype=torch.int32)
    wanted = torch.where(memory[:128] != 0, x, -5)
    masked_by_memory_kernel[(1,)](memory, x, memory[shift:], 128, B=128)
    assert torch.equal(memory[shift : shift + 128], wanted)


@triton.jit
def elements_kernel(x, at, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    index = tl.load(at + i, mask=i < n, other=3)
    tl.store(out + i, tl.load(x + index))


@pytest.mark.parametrize("shift", [None, 0, 1, 64])
@pytest.mark.parametrize("n", [1, 50, 128])
def test_offsets_from_memory_have_bounds(n, shift, rng):
    at = torch.randint(0, 100, [128], generator=rng, dtype=torch.int32)
    at[n:] = 1 << 30
    x = torch.randint(0, 100, [300], generator=rng, dtype=torch.int32)
    wanted = x[torch.where(torch.arange(128) < n, at, 3).long()].clone()
    out = torch.zeros(128, dtype=torch.int32) if shift is None else x[shift:]
    elements_kernel[(1,)](x, at, out, n, B=128)
    assert torch.equal(out[:128], wanted)


@triton.jit
def two_stores_kernel(x, y, z, n, N: tl.constexpr):
    """What the first store overwrites decides where the second one writes."""
    at = tl.arange(0, N)
    value = tl.load(x + at, mask=at < n, other=float("nan"))
    other = tl.load(y + at)
    tl.store(x + 3 + at, -value - 1)
    tl.store(z + at, other, mask=~(value < 0.5))


@pytest.mark.parametrize("n", [0, 1, 50, 61, 64])
def test_masks_are_older_than_all_stores(n, rng):
    x, y, z = torch.rand(67, generator=rng), torch.rand(64, generator=rng), torch.zeros(64)
    x[n:] = -1.0
    value = torch.cat([x[:n], torch.full([64 - n], torch.nan)])
    wanted = torch.where(value < 0.5, z, y)
    two_stores_kernel[(1,)](x, y, z, n, N=64)
    assert torch.equal(z, wanted)
    assert torch.equal(x[3:].nan_to_num(7.0), (-value - 1).nan_to_num(7.0))


@triton.jit
def chosen_kernel(x, y, ids, out, sums, n, stride, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at * stride, mask=at < n, other=tl.load(y + at))
    tl.store(out + at, tl.gather(value, tl.load(ids + at), 0))
    tl.store(sums + at, tl.cumsum(value, 0))


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.int8, torch.int64))
@pytest.mark.parametrize("stride", [0, 1, 3])
@pytest.mark.parametrize("n", [0, 1, 13, 64])
def test_elements_of_two_arrays(n, stride, dtype, rng):
    """What is picked from was loaded with others behind an end: both are picked."""
    size = 64
    x = torch.randint(-3, 4, [size * 3], generator=rng).to(dtype)
    y = torch.randint(-3, 4, [size], generator=rng).to(dtype)
    ids = torch.randint(0, size, [size], generator=rng)
    out, sums = torch.empty_like(y), torch.empty_like(y)
    chosen_kernel[(1,)](x, y, ids, out, sums, n, stride, N=size)
    value = torch.where(torch.arange(size) < n, x[torch.arange(size) * stride], y)
    assert torch.equal(out, value[ids])
    assert torch.equal(sums, value.cumsum(0).to(dtype))
