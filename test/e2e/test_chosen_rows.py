# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that a mask chooses, which is no range: rows whose numbers are read, and rows that lie evenly.

What is left out is not read, not written, and may be nowhere: arrays end where memory does, and rows that are left out have
numbers that are none.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, dtypes, normal, small_numbers

TYPES = [
    torch.float32, torch.bfloat16, torch.float16, torch.float64,
    torch.int8, torch.int16, torch.int32, torch.int64, torch.bool,
]  # fmt: skip


@triton.jit
def numbered_kernel(
    x, numbers, out, rows, columns, x_row, out_row, m, n,
    PUT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    j = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    column = j % columns
    number = tl.load(numbers + i, mask=i < m, other=0)
    inside = (number >= 0) & (number < rows) & (i < m) & (j < n)
    if PUT:
        value = tl.load(x + i * x_row + column, mask=inside)
        tl.store(out + number * out_row + column, value, mask=inside)
    else:
        value = tl.load(x + number * x_row + column, mask=inside)
        tl.store(out + i * out_row + column, value, mask=inside)


def padded(tensor, row):
    """Rows `row` elements apart, up to the end of memory; zeros between them."""
    m, n = tensor.shape
    wide = torch.zeros(m, row, dtype=tensor.dtype)
    wide[:, :n] = tensor
    flat = at_end_of_memory(wide.flatten()[: (m - 1) * row + n])
    return flat.as_strided((m, n), (row, 1))


def numbers_of(rng, m, rows):
    """All different, and some that are no rows."""
    numbers = torch.randperm(rows + 4, generator=rng)[:m].to(torch.int64)
    numbers[numbers >= rows + 2] = -(2**40)
    numbers[numbers == rows + 1] = 2**40
    return numbers


@pytest.mark.parametrize("put", [False, True], ids=["get", "put"])
@pytest.mark.parametrize("n", [1, 7, 64, 100, 781])
@pytest.mark.parametrize("m", [1, 5, 32, 61])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
def test_numbered_rows(dtype, m, n, put, rng):
    check_numbered(dtype, m, n, put, 4, 64, rng)


@pytest.mark.parametrize("put", [False, True], ids=["get", "put"])
@pytest.mark.parametrize("block", [(1, 16), (2, 2048), (16, 128)], ids=str)
@pytest.mark.parametrize("dtype", dtypes(*TYPES))
def test_numbered_rows_of_types(dtype, block, put, rng):
    check_numbered(dtype, 23, 300, put, *block, rng)


def check_numbered(dtype, m, n, put, bm, bn, rng):
    numbers = numbers_of(rng, m, m)
    x = padded(normal(rng, (m, n), dtype), n + 3)
    out = padded(normal(rng, (m, n), dtype), n + 5)
    wanted = out.clone()
    for i, number in enumerate(numbers.tolist()):
        if 0 <= number < m:
            to, source = (number, i) if put else (i, number)
            wanted[to] = x[source]
    grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))
    numbered_kernel[grid](x, numbers, out, m, n, n + 3, n + 5, m, n, put, bm, bn)
    check_equal(out, wanted, tolerance=(0, 0))


@pytest.mark.parametrize("put", [False, True], ids=["get", "put"])
@pytest.mark.parametrize("n", [7, 64, 100])
def test_rows_change_places(n, put, rng):
    """Where they are stored is what is read: all of a block is read before."""
    m = 16
    numbers = torch.randperm(m, generator=rng)
    x = padded(normal(rng, (m, n)), n + 3)
    wanted = torch.empty(m, n)
    if put:
        wanted[numbers] = x
    else:
        wanted = x[numbers]
    numbered_kernel[(1, 1)](x, numbers, x, m, n, n + 3, n + 3, m, n, put, 16, 128)
    check_equal(x, wanted, tolerance=(0, 0))


@pytest.mark.parametrize("put", [False, True], ids=["get", "put"])
@pytest.mark.parametrize(("m", "n"), [(0, 5), (5, 0)])
def test_no_rows(m, n, put, rng):
    numbers = torch.zeros(max(m, 1), dtype=torch.int64)
    x, out = normal(rng, (8, 8)), normal(rng, (8, 8))
    wanted = out.clone()
    numbered_kernel[(1, 1)](x, numbers, out, 8, 8, 8, 8, m, n, put, 4, 16)
    check_equal(out, wanted, tolerance=(0, 0))


@triton.jit
def even_kernel(x, chosen, out, m, n, row, column, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    take = tl.load(chosen + i, mask=i < m, other=0) > 0
    mask = take[:, None] & (j < n)[None, :]
    at = i[:, None] * row + j[None, :] * column
    value = tl.load(x + at, mask=mask, other=-1)
    tl.store(out + at, value + value, mask=mask)


@pytest.mark.parametrize("transposed", [False, True], ids=["rows", "transposed"])
@pytest.mark.parametrize("n", [1, 7, 8, 30, 64])
@pytest.mark.parametrize("m", [1, 8, 13])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8, torch.int64))
def test_even_rows(dtype, m, n, transposed, rng):
    chosen = torch.randint(0, 2, (m,), generator=rng).to(torch.int32)
    x = small_numbers(rng, (m, n), dtype)
    out = small_numbers(rng, (m, n), dtype)
    wanted = torch.where(chosen[:, None] > 0, x + x, out)
    if transposed:
        x, out = (padded(t.T.contiguous(), m + 3).T for t in (x, out))
    else:
        x, out = (padded(t, n + 3) for t in (x, out))
    even_kernel[(triton.cdiv(m, 8),)](x, chosen, out, m, n, *x.stride(), 8, 64)
    check_equal(out, wanted, tolerance=(0, 0))
    # In place, what one row gives is nothing that another one reads.
    even_kernel[(triton.cdiv(m, 8),)](out, chosen, out, m, n, *x.stride(), 8, 64)
    wanted = torch.where(chosen[:, None] > 0, wanted + wanted, wanted)
    check_equal(out, wanted, tolerance=(0, 0))


@triton.jit
def planes_kernel(x, chosen, out, planes, m, n, P: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    p, i, j = tl.arange(0, P), tl.arange(0, M), tl.arange(0, N)
    at = p[:, None, None] * (m * n) + i[None, :, None] * n + j[None, None, :]
    take = tl.load(chosen + i, mask=i < m, other=0) > 0
    ends = (p < planes)[:, None, None] & (j < n)[None, None, :]
    mask = take[None, :, None] & ends
    value = tl.load(x + at, mask=mask, other=3)
    tl.store(out + at, -value, mask=mask)


@pytest.mark.parametrize("n", [5, 16, 31])
@pytest.mark.parametrize("planes", [1, 3, 4])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.int16))
def test_rows_of_planes(dtype, planes, n, rng):
    m = 7
    chosen = torch.randint(0, 2, (m,), generator=rng).to(torch.int32)
    x = at_end_of_memory(small_numbers(rng, (planes, m, n), dtype))
    out = at_end_of_memory(small_numbers(rng, (planes, m, n), dtype))
    wanted = torch.where(chosen[None, :, None] > 0, -x, out)
    planes_kernel[(1,)](x, chosen, out, planes, m, n, 4, 8, 32)
    check_equal(out, wanted, tolerance=(0, 0))


@triton.jit
def sums_kernel(x, chosen, across, down, m, n, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    take = tl.load(chosen + i, mask=i < m, other=0) > 0
    mask = take[:, None] & (j < n)[None, :]
    value = tl.load(x + i[:, None] * n + j[None, :], mask=mask, other=0)
    tl.store(across + i, tl.sum(value, 1), mask=i < m)
    tl.store(down + j, tl.max(value, 0), mask=j < n)


@pytest.mark.parametrize("n", [1, 9, 64])
@pytest.mark.parametrize("m", [3, 16])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.int32))
def test_sums_of_chosen_rows(dtype, m, n, rng):
    chosen = torch.randint(0, 2, (m,), generator=rng).to(torch.int32)
    x = at_end_of_memory(small_numbers(rng, (m, n), dtype))
    across, down = torch.empty(m, dtype=dtype), torch.empty(n, dtype=dtype)
    sums_kernel[(1,)](x, chosen, across, down, m, n, 16, 64)
    kept = torch.where(chosen[:, None] > 0, x, torch.zeros_like(x))
    check_equal(across, kept.sum(1, dtype=dtype), terms=n)
    # Rows that the block has and the array has not are zero, as those that are left out.
    most = kept.amax(0)
    check_equal(
        down, torch.maximum(most, torch.zeros_like(most)) if m < 16 else most, tolerance=(0, 0)
    )


@triton.jit
def product_kernel(a, chosen, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    take = tl.load(chosen + i, mask=i < m, other=0) > 0
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        depth = start + d
        inside = take[:, None] & (depth < k)[None, :]
        x = tl.load(a + i[:, None] * k + depth[None, :], mask=inside, other=0.0)
        other = (depth < k)[:, None] & (j < n)[None, :]
        y = tl.load(b + depth[:, None] * n + j[None, :], mask=other, other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    mask = take[:, None] & (j < n)[None, :]
    tl.store(c + i[:, None] * n + j[None, :], acc.to(c.dtype.element_ty), mask=mask)


@pytest.mark.parametrize("k", [1, 32, 77])
@pytest.mark.parametrize(("m", "n"), [(1, 5), (16, 32), (13, 31)])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
def test_product_of_chosen_rows(dtype, m, n, k, rng):
    chosen = torch.randint(0, 2, (m,), generator=rng).to(torch.int32)
    a = at_end_of_memory(normal(rng, (m, k), dtype))
    b = at_end_of_memory(normal(rng, (k, n), dtype))
    c = at_end_of_memory(normal(rng, (m, n), dtype))
    wanted = torch.where(chosen[:, None] > 0, a.double() @ b.double(), c.double())
    product_kernel[(1,)](a, chosen, b, c, m, n, k, 16, 32, 32)
    check_equal(c, wanted, dtype, terms=k)
