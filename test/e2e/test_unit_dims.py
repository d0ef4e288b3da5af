# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks with dimensions of one element are rows and numbers: what they give, and what their masks leave alone."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, check_equal, dtypes, normal, output
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def select_kernel(x, index, y, rows, n, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row = tl.load(index + i, mask=i < rows)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (i[:, None] < rows) & (at[None, :] < n)
    block = tl.load(x + row[:, None] * stride + at[None, :], mask=mask)
    tl.store(y + i[:, None] * stride + at[None, :], block, mask=mask)


# Programs behind the last row neither read its number nor write.
@pytest.mark.parametrize(
    "dtype", dtypes(FLOATS, [torch.int8, torch.int32, torch.int64, torch.bool])
)
@pytest.mark.parametrize(("n", "block"), [(1, 1), (7, 16), (100, 64), (257, 128), (512, 512)])
def test_chosen_rows(dtype, n, block, rng):
    x = normal(rng, (9, n), dtype)
    index = torch.tensor([8, 0, 3, 3, 7])
    y = output((7, n), dtype)
    before = y.clone()
    select_kernel[(7, triton.cdiv(n, block))](x, index, y, 5, n, n, ROWS=1, BLOCK=block)
    assert torch.equal(y[:5], x[index])
    assert torch.equal(y[5:].view(torch.uint8), before[5:].view(torch.uint8))


@triton.jit
def softmax_kernel(x, y, rows, n, BLOCK: tl.constexpr, COLUMNS: tl.constexpr):
    """Rows along the last dimension, or along the first one."""
    row = tl.program_id(0) + tl.arange(0, 1)
    if COLUMNS:
        at = tl.arange(0, BLOCK)[:, None]
        row = row[None, :]
    else:
        at = tl.arange(0, BLOCK)[None, :]
        row = row[:, None]
    mask = (row < rows) & (at < n)
    block = tl.load(x + row * n + at, mask=mask, other=-float("inf")).to(tl.float32)
    AXIS: tl.constexpr = 0 if COLUMNS else 1
    # Of a row that is not there nothing is stored.
    block = tl.exp(block - tl.max(block, AXIS, keep_dims=True))
    block = block / tl.sum(block, AXIS, keep_dims=True)
    tl.store(y + row * n + at, block, mask=mask)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("dtype", dtypes(FLOATS))
@pytest.mark.parametrize(("n", "block"), [(1, 1), (13, 16), (64, 64), (300, 512)])
def test_softmax(columns, dtype, n, block, rng):
    x, y = normal(rng, (5, n), dtype), output((6, n), dtype)
    before = y.clone()
    softmax_kernel[(6,)](x, y, 5, n, BLOCK=block, COLUMNS=columns)
    check_equal(y[:5], torch.softmax(x.double(), 1).to(dtype), terms=n)
    assert torch.equal(y[5:].view(torch.uint8), before[5:].view(torch.uint8))


@triton.jit
def norm_kernel(x, y, mean, scale, rows, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) + tl.arange(0, 1)
    inside = row < rows
    sums = tl.zeros([1, BLOCK], tl.float32)
    squares = tl.zeros([1], tl.float32)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        mask = inside[:, None] & (at < n)[None, :]
        block = tl.load(x + row[:, None] * n + at[None, :], mask=mask, other=0.0).to(tl.float32)
        sums += block
        squares += tl.sum(block * block, axis=1)
    middle = tl.sum(sums, axis=1) / n
    by = 1 / tl.sqrt(squares / n - middle * middle + 1e-3)
    # Stored before the row is read again.
    tl.store(mean + row, middle, mask=inside)
    tl.store(scale + row, by, mask=inside)
    for begin in range(0, n, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        mask = inside[:, None] & (at < n)[None, :]
        block = tl.load(x + row[:, None] * n + at[None, :], mask=mask, other=0.0).to(tl.float32)
        tl.store(y + row[:, None] * n + at[None, :], (block - middle[:, None]) * by[:, None], mask)


@pytest.mark.parametrize("dtype", dtypes([torch.float16, torch.bfloat16, torch.float32]))
@pytest.mark.parametrize(("n", "block"), [(1, 16), (33, 16), (128, 64), (1000, 256)])
def test_norm(dtype, n, block, rng):
    x, y = normal(rng, (4, n), dtype), output((4, n), dtype)
    mean, scale = output((6,), torch.float32), output((6,), torch.float32)
    behind = mean[4:].clone(), scale[4:].clone()
    norm_kernel[(6,)](x, y, mean, scale, 4, n, BLOCK=block)
    wide = x.double()
    middle = wide.mean(1)
    by = 1 / (wide.square().mean(1) - middle.square() + 1e-3).sqrt()
    check_equal(mean[:4], middle.float(), terms=n)
    check_equal(scale[:4], by.float(), terms=n, tolerance=(1e-4, 1e-4))
    check_equal(y, ((wide - middle[:, None]) * by[:, None]).to(dtype), tolerance=(1e-2, 1e-2))
    assert torch.equal(mean[4:].view(torch.int32), behind[0].view(torch.int32))
    assert torch.equal(scale[4:].view(torch.int32), behind[1].view(torch.int32))


@triton.jit
def entropy_kernel(x, label, y, n, stop, BLOCK: tl.constexpr):
    """A maximum and a sum that loops and branches carry, as blocks of one element and of 1 x 1."""
    row = tl.program_id(0) + tl.arange(0, 1)
    most = tl.full([1, 1], -float("inf"), tl.float32)
    total = tl.zeros([1, 1], tl.float32)
    begin = 0
    while begin < n:
        at = begin + tl.arange(0, BLOCK)
        block = tl.load(x + row[:, None] * n + at[None, :], (at < n)[None, :], other=-float("inf"))
        more = tl.maximum(most, tl.max(block, 1, keep_dims=True))
        total = total * tl.exp(most - more) + tl.sum(tl.exp(block - more), 1, keep_dims=True)
        most = more
        begin += BLOCK
    result = tl.reshape(most + tl.log(total), [1]) - tl.load(x + row * n + tl.load(label + row))
    if tl.program_id(0) >= stop:
        result = -result
    tl.store(y + row, result)


@pytest.mark.parametrize(("n", "block"), [(1, 2), (10, 16), (100, 32), (257, 64)])
def test_carried_numbers(n, block, rng):
    x, y = normal(rng, (5, n)), output((5,), torch.float32)
    label = torch.randint(0, n, (5,), generator=rng)
    entropy_kernel[(5,)](x, label, y, n, 3, BLOCK=block)
    wanted = torch.nn.functional.cross_entropy(x.double(), label, reduction="none")
    wanted[3:] *= -1
    check_equal(y, wanted.float(), terms=n, tolerance=(1e-5, 1e-5))


@triton.jit
def product_kernel(a, b, y, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    batch = tl.program_id(0) + tl.arange(0, 1)[:, None, None]
    m, n = tl.arange(0, M)[None, :, None], tl.arange(0, N)[None, None, :]
    sums = tl.zeros([1, M, N], tl.float32)
    for begin in range(0, depth, K):
        k = begin + tl.arange(0, K)
        left = tl.load(
            a + batch * M * depth + m * depth + k[None, None, :], k[None, None, :] < depth, 0.0
        )
        right = tl.load(
            b + batch * depth * N + k[None, :, None] * N + n, k[None, :, None] < depth, 0.0
        )
        sums = tl.dot(left, right, sums)
    sums = sums * 2 + tl.program_id(0)
    tl.store(y + batch * M * N + m * N + n, sums)
    tl.store(y + tl.num_programs(0) * M * N + batch * N + n, tl.sum(sums, axis=1, keep_dims=True))


@pytest.mark.parametrize("dtype", dtypes([torch.float16, torch.bfloat16, torch.float32]))
@pytest.mark.parametrize(("m", "n", "depth"), [(16, 16, 16), (32, 16, 100), (16, 64, 33)])
def test_batch_of_one_product(dtype, m, n, depth, rng):
    a, b = normal(rng, (3, m, depth), dtype), normal(rng, (3, depth, n), dtype)
    y = output((3 * m * n + 3 * n,), torch.float32)
    product_kernel[(3,)](a, b, y, depth, M=m, N=n, K=16)
    wanted = a.double() @ b.double() * 2 + torch.arange(3)[:, None, None]
    tolerance = 1e-4 if dtype == torch.float32 else 1e-3
    check_equal(
        y[: 3 * m * n].view(3, m, n), wanted.float(), terms=depth, tolerance=(tolerance, tolerance)
    )
    sums = wanted.sum(1).float()
    check_equal(
        y[3 * m * n :].view(3, n), sums, terms=depth * m, tolerance=(10 * tolerance, m * tolerance)
    )


@triton.jit
def larger(a, i, b, j):
    take = (a > b) | ((a == b) & (i < j))
    return tl.where(take, a, b), tl.where(take, i, j)


@triton.jit
def along_kernel(x, y, where, N: tl.constexpr):
    """Reductions and scans along dimensions of one element and of others."""
    row = tl.program_id(0) + tl.arange(0, 1)
    at = tl.arange(0, N)
    block = tl.load(x + row[:, None, None] * N + at[None, :, None])
    tl.store(y + row * N * 4 + at, tl.sum(tl.sum(block, 2), 0))
    tl.store(y + row * N * 4 + N + at, tl.reshape(tl.cumsum(tl.cumsum(block, 1), 0), [N]))
    back = tl.cumsum(tl.reshape(block, [1, N]), 1, reverse=True)
    tl.store(y + row[:, None] * N * 4 + 2 * N + at[None, :], back)
    best, place = tl.reduce((tl.reshape(block, [N, 1]), at[:, None]), 0, larger)
    alone, nowhere = tl.reduce((tl.reshape(block, [N, 1]), at[:, None]), 1, larger)
    tl.store(where + row * 2, place)
    tl.store(where + row * 2 + 1, tl.sum(nowhere, 0) + tl.zeros([1], tl.int32))
    tl.store(y + row[None, :] * N * 4 + 3 * N + at[:, None], alone[:, None] - best[None, :])


@pytest.mark.parametrize("dtype", dtypes([torch.float32, torch.int32, torch.float64]))
@pytest.mark.parametrize("n", [1, 2, 16, 128])
def test_along_each_dimension(dtype, n, rng):
    x = torch.randint(-9, 9, (3, n), generator=rng).to(dtype)
    y, where = output((3, 4, n), dtype), output((3, 2), torch.int32)
    along_kernel[(3,)](x, y, where, N=n)
    assert torch.equal(y[:, 0], x)
    assert torch.equal(y[:, 1], x.cumsum(1).to(dtype))
    assert torch.equal(y[:, 2], x.flip(1).cumsum(1).flip(1).to(dtype))
    best = x.max(1, keepdim=True).values
    assert torch.equal(y[:, 3], x - best)
    assert torch.equal(where[:, 0].long(), (x == best).int().argmax(1))
    assert torch.equal(where[:, 1], torch.full((3,), n * (n - 1) // 2, dtype=torch.int32))


@triton.jit
def atomic_kernel(x, index, sums, count, old, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) + tl.arange(0, 1)
    at = tl.arange(0, BLOCK)
    into = tl.load(index + row)
    mask = (into >= 0)[:, None] & (at < n)[None, :]
    block = tl.load(x + row[:, None] * n + at[None, :], mask=mask)
    tl.atomic_add(sums + into[:, None] * n + at[None, :], block, mask=mask)
    tl.store(old + row, tl.atomic_add(count + into, 1, mask=into >= 0), mask=into >= 0)


@pytest.mark.parametrize("dtype", dtypes([torch.float32, torch.float16, torch.int32]))
@pytest.mark.parametrize(("n", "block"), [(1, 1), (5, 8), (100, 128)])
def test_atomics(dtype, n, block, rng):
    x = torch.randint(-9, 9, (6, n), generator=rng).to(dtype)
    index = torch.tensor([1, 0, 1, -1, 1, 0])
    sums, count = torch.zeros(2, n, dtype=dtype), torch.zeros(2, dtype=torch.int32)
    old = torch.full((6,), -7, dtype=torch.int32)
    atomic_kernel[(6,)](x, index, sums, count, old, n, BLOCK=block)
    assert torch.equal(sums[0], (x[1] + x[5]))
    assert torch.equal(sums[1], (x[0] + x[2] + x[4]))
    assert count.tolist() == [2, 3]
    assert old[3] == -7
    assert sorted(old[[1, 5]].tolist()) == [0, 1]
    assert sorted(old[[0, 2, 4]].tolist()) == [0, 1, 2]


@triton.jit
def described_kernel(x, y, first, BLOCK: tl.constexpr):
    """Rows and columns outside of the tensor are zero, and are not written."""
    row = first + tl.program_id(0)
    block = x.load([row, tl.program_id(1) * BLOCK - 3])
    y.store([row, tl.program_id(1) * BLOCK - 3], block + 1)


@pytest.mark.parametrize("dtype", dtypes([torch.float16, torch.float32, torch.int8]))
@pytest.mark.parametrize("first", [-2, 0])
def test_descriptors(dtype, first, rng):
    x = normal(rng, (5, 48), dtype)
    y = torch.zeros_like(x)
    block = [1, 16]
    described_kernel[(8, 4)](
        TensorDescriptor.from_tensor(x, block),
        TensorDescriptor.from_tensor(y, block),
        first,
        BLOCK=16,
    )
    assert torch.equal(y, x + 1)


@triton.jit
def divide_kernel(a, b, y, rows):
    row = tl.program_id(0) + tl.arange(0, 1)
    inside = row < rows
    quotient = tl.load(a + row, mask=inside) // tl.load(b + row, mask=inside, other=0)
    tl.store(y + row[:, None], quotient[:, None], mask=inside[:, None])


# Where a mask is off there is a division by zero, which nobody sees.
@pytest.mark.parametrize("dtype", dtypes([torch.int32, torch.int64, torch.int8]))
def test_masked_division(dtype, rng):
    a = torch.randint(-99, 99, (4,), generator=rng).to(dtype)
    b = torch.randint(1, 9, (4,), generator=rng).to(dtype)
    y = output((6,), dtype)
    behind = y[4:].clone()
    divide_kernel[(6,)](a, b, y, 4)
    assert torch.equal(y[:4], torch.div(a, b, rounding_mode="trunc"))
    assert torch.equal(y[4:].view(torch.uint8), behind.view(torch.uint8))


@triton.jit
def order_kernel(x, y, n, N: tl.constexpr):
    """Elements that change places in a row, and two rows beside each other."""
    row = tl.program_id(0) + tl.arange(0, 1)
    at = tl.arange(0, N)
    block = tl.load(x + row[:, None] * N + at[None, :])
    tl.store(y + row[:, None] * 5 * N + at[None, :], tl.flip(block, 1))
    tl.store(y + row[:, None] * 5 * N + N + at[None, :], tl.sort(block, 1))
    place = (at[None, :] * 3 + row[:, None]) % N
    tl.store(y + row[:, None] * 5 * N + 2 * N + at[None, :], tl.gather(block, place, 1))
    both = tl.join(block, -block)
    twice = tl.reshape(tl.permute(both, [0, 2, 1]), [1, 2 * N])
    tl.store(y + row[:, None] * 5 * N + 3 * N + tl.arange(0, 2 * N)[None, :], twice)


@pytest.mark.parametrize("dtype", dtypes([torch.float32, torch.int32, torch.float16]))
@pytest.mark.parametrize("n", [2, 16, 64])
def test_places_in_a_row(dtype, n, rng):
    x = torch.randint(-99, 99, (3, n), generator=rng).to(dtype)
    y = output((3, 5, n), dtype)
    order_kernel[(3,)](x, y, n, N=n)
    assert torch.equal(y[:, 0], x.flip(1))
    assert torch.equal(y[:, 1], x.sort(1).values)
    place = (torch.arange(n)[None, :] * 3 + torch.arange(3)[:, None]) % n
    assert torch.equal(y[:, 2], x.gather(1, place))
    assert torch.equal(y[:, 3], x)
    assert torch.equal(y[:, 4], -x)


@triton.jit
def repeat_kernel(x, scale, y, n, BLOCK: tl.constexpr):
    """A row and a number that are repeated along other dimensions, and what is written over what is read."""
    row = tl.program_id(0) + tl.arange(0, 1)
    at = tl.arange(0, BLOCK)
    block = tl.load(x + row[:, None] * n + at[None, :], mask=at[None, :] < n, other=0)
    by = tl.load(scale + row)
    rows = tl.broadcast_to(block * by[:, None], [4, BLOCK]) + tl.arange(0, 4)[:, None]
    to = y + row[None, :] * 4 * n + tl.arange(0, 4)[:, None] * n + at[None, :]
    tl.store(to, rows, mask=at[None, :] < n)
    tl.store(x + row[:, None] * n + at[None, :], -block, mask=at[None, :] < n)


@pytest.mark.parametrize("dtype", dtypes([torch.float32, torch.int64, torch.bfloat16]))
@pytest.mark.parametrize(("n", "block"), [(1, 1), (11, 16), (96, 128)])
def test_repeated(dtype, n, block, rng):
    x, scale = torch.randint(-9, 9, (3, n), generator=rng).to(dtype), torch.arange(3).to(dtype)
    before, y = x.clone(), output((3, 4, n), dtype)
    repeat_kernel[(3,)](x, scale, y, n, BLOCK=block)
    assert torch.equal(x, -before)
    wanted = (before * scale[:, None])[:, None] + torch.arange(4).to(dtype)[:, None]
    assert torch.equal(y, wanted)
