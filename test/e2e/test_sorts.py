# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorts and what else is made of exchanges: elements that meet the one whose index differs in a bit."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output, small_numbers, special_values

TYPES = dtypes(
    torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
)  # fmt: skip


@triton.jit
def sort_kernel(x, out, N: tl.constexpr, DOWN: tl.constexpr):
    row = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + row, tl.sort(tl.load(x + row), descending=DOWN))


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 2, 4, 8, 32, 128])
def test_sort(n, dtype, down, rng):
    x = normal(rng, [3, n], dtype)
    out = output([3, n], dtype)
    sort_kernel[(3,)](x, out, N=n, DOWN=down)
    check_equal(out, x.sort(dim=1, descending=down).values, tolerance=(0, 0))


@pytest.mark.compiled("takes minutes in the interpreter")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [256, 512, 2048])
def test_sort_of_several_vectors(n, dtype, rng):
    """The farther halves are in other vectors."""
    x = normal(rng, [3, n], dtype)
    x[1] = x[1, 0]
    out = output([3, n], dtype)
    sort_kernel[(3,)](x, out, N=n, DOWN=False)
    check_equal(out, x.sort(dim=1).values, tolerance=(0, 0))


def exchange(x, stride, falling):
    """One step of a bitonic sort, as Triton defines it for numbers that are no order, such as NaN."""
    i = torch.arange(x.shape[-1])
    other = x[..., i ^ stride]
    swap = (x > other) != (((i & falling) != 0) ^ ((i & stride) != 0))
    return torch.where(swap, other, x)


def bitonic_sort(x):
    size = 2
    while size <= x.shape[-1]:
        # The last merge, of the whole row, rises everywhere.
        falling = size if size < x.shape[-1] else 0
        stride = size // 2
        while stride > 0:
            x = exchange(x, stride, falling)
            stride //= 2
        size *= 2
    return x


@pytest.mark.compiled("takes minutes in the interpreter")
@pytest.mark.parametrize("dtype", dtypes(torch.float16, torch.float32, torch.float64))
@pytest.mark.parametrize("n", [8, 64, 1024])
def test_sort_of_special_numbers(n, dtype, rng):
    """NaN, zeros of both signs and all else go where the comparisons of floats send them."""
    values = special_values(dtype)
    x = values[torch.randint(0, values.numel(), [3, n], generator=rng)]
    out = output([3, n], dtype)
    sort_kernel[(3,)](x, out, N=n, DOWN=False)
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    assert torch.equal(out.view(bits), bitonic_sort(x).view(bits))


@triton.jit
def sort_rows(x, out, rows, n, R: tl.constexpr, N: tl.constexpr, DOWN: tl.constexpr):
    i = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    j = tl.arange(0, N)[None, :]
    mask = (i < rows) & (j < n)
    value = tl.load(x + i * n + j, mask=mask, other=-100000 if DOWN else 100000)
    tl.store(out + i * n + j, tl.sort(value, descending=DOWN) + 1, mask=mask)


@pytest.mark.compiled("takes minutes in the interpreter")
@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("dtype", dtypes(torch.int32, torch.float16, torch.float32, torch.float64))
@pytest.mark.parametrize(
    ("rows", "n", "block"),
    [(5, 7, (2, 8)), (8, 16, (8, 16)), (1, 1, (4, 4)), (37, 61, (16, 64)), (3, 300, (1, 512))],
)
def test_sort_of_rows(rows, n, block, dtype, down, rng):
    x = small_numbers(rng, [rows, n], dtype)
    out = output([rows, n], dtype)
    sort_rows[(triton.cdiv(rows, block[0]),)](x, out, rows, n, *block, DOWN=down)
    check_equal(out, x.sort(dim=1, descending=down).values + 1, tolerance=(0, 0))


@triton.jit
def topk_kernel(x, out, n, R: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0) * R + tl.arange(0, R)
    j = tl.arange(0, N)
    value = tl.load(x + i[:, None] * n + j[None, :], mask=j[None, :] < n, other=-30000)
    tl.store(out + i[:, None] * K + tl.arange(0, K)[None, :], tl.topk(value, K))


@pytest.mark.compiled("takes minutes in the interpreter")
@pytest.mark.parametrize(
    "dtype", dtypes(torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32)
)
@pytest.mark.parametrize(
    "block", [(1, 4, 2), (2, 8, 1), (4, 64, 8), (2, 512, 32), (1, 2048, 512), (8, 128, 128)]
)
def test_topk(block, dtype, rng):
    rows, n = 2 * block[0], block[1] - block[1] // 5
    n = max(n, block[2])
    x = small_numbers(rng, [rows, n], dtype)
    out = output([rows, block[2]], dtype)
    topk_kernel[(2,)](x, out, n, *block)
    check_equal(out, x.topk(block[2], dim=1).values, tolerance=(0, 0))


@triton.jit
def exchange_bits(x, dim: tl.constexpr):
    return x ^ tl.xor_sum(x, dim, keep_dims=True)


@triton.jit
def bit_of(bit: tl.constexpr, LOG: tl.constexpr):
    return tl.reshape(tl.arange(0, 2), [1] * (LOG - bit - 1) + [2] + [1] * bit)


@triton.jit
def sort_with_ids(x, ids, out, order, LOG: tl.constexpr, BITS: tl.constexpr):
    N: tl.constexpr = 1 << LOG
    row = tl.program_id(0) * N + tl.arange(0, N)
    keys = tl.reshape(tl.load(x + row), [2] * LOG)
    values = tl.reshape(tl.load(ids + row), [2] * LOG)
    for stage in tl.static_range(1, LOG + 1):
        for step in tl.static_range(stage):
            right = bit_of(stage - 1 - step, LOG)
            bits = exchange_bits(keys.to(BITS, bitcast=True), LOG - stage + step)
            other = bits.to(keys.dtype, bitcast=True)
            ids_there = exchange_bits(values, LOG - stage + step)
            if stage < LOG:
                right = right ^ bit_of(stage, LOG)
            swap = (keys > other) != right.to(tl.int1)
            # What is equal stays.
            swap = swap & (keys != other)
            keys = tl.where(swap, other, keys)
            values = tl.where(swap, ids_there, values)
    tl.store(out + row, tl.reshape(keys, [N]))
    tl.store(order + row, tl.reshape(values, [N]))


@pytest.mark.compiled("takes minutes in the interpreter")
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("ids_type", [torch.int16, torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("log", [2, 5, 9])
def test_keys_with_what_belongs_to_them(log, ids_type, dtype, rng):
    n = 1 << log
    x = normal(rng, [3, n], dtype)
    ids = torch.stack([torch.randperm(n, generator=rng) for _ in range(3)]).to(ids_type)
    out, order = output([3, n], dtype), output([3, n], ids_type)
    bits = {2: tl.int16, 4: tl.int32, 8: tl.int64}[x.element_size()]
    sort_with_ids[(3,)](x, ids, out, order, log, bits)
    check_equal(out, x.sort(dim=1).values, tolerance=(0, 0))
    places = ids.long().argsort(1).gather(1, order.long())
    check_equal(x.gather(1, places), out, tolerance=(0, 0))
    check_equal(order.sort(1).values.long(), torch.arange(n).expand(3, n))


@triton.jit
def halves(x, i: tl.constexpr, LOG: tl.constexpr):
    """Of each pair the left one, and the right one, as sums in which the other is nothing."""
    A: tl.constexpr = x.numel >> (i + 1)
    S: tl.constexpr = 1 << i
    right = tl.arange(0, 2)[None, :, None].to(x.dtype)
    pairs = tl.reshape(x, [A, 2, S])
    a = tl.broadcast_to(tl.sum(pairs * (1 - right), 1)[:, None, :], [A, 2, S])
    b = tl.broadcast_to(tl.sum(pairs * right, 1)[:, None, :], [A, 2, S])
    return tl.reshape(a, x.shape).to(x.dtype), tl.reshape(b, x.shape).to(x.dtype)


@triton.jit
def sorted_by_sums(keys, i, LOG: tl.constexpr):
    values = i
    for stage in tl.static_range(1, LOG + 1):
        down = ((i >> stage) & 1) != 0
        if stage == LOG:
            down = i < 0
        for step in tl.static_range(stage):
            left, right = halves(keys, stage - 1 - step, LOG)
            left_id, right_id = halves(values, stage - 1 - step, LOG)
            swap = (left > right) != down
            is_right = ((i >> (stage - 1 - step)) & 1) != 0
            keys = tl.where(swap != is_right, right, left)
            values = tl.where(swap != is_right, right_id, left_id)
    return keys, values


@triton.jit
def sort_by_sums(x, out, order, LOG: tl.constexpr):
    N: tl.constexpr = 1 << LOG
    i = tl.arange(0, N)
    row = tl.program_id(0) * N + i
    keys, values = sorted_by_sums(tl.load(x + row), i, LOG)
    tl.store(out + row, keys)
    tl.store(order + row, values)


@pytest.mark.compiled("takes minutes in the interpreter")
@pytest.mark.parametrize(
    "dtype", dtypes(torch.int8, torch.int32, torch.float16, torch.float32, torch.float64)
)
@pytest.mark.parametrize("log", [3, 6, 9])
def test_sort_by_sums(log, dtype, rng):
    n = 1 << log
    x = small_numbers(rng, [3, n], dtype)
    out, order = output([3, n], dtype), output([3, n], torch.int32)
    sort_by_sums[(3,)](x, out, order, log)
    check_equal(out, x.sort(dim=1).values, tolerance=(0, 0))
    check_equal(x.gather(1, order.long()), out, tolerance=(0, 0))


@triton.jit
def rising_numbers(x, out, least, LOG: tl.constexpr):
    N: tl.constexpr = 1 << LOG
    i = tl.arange(0, N)
    _keys, values = sorted_by_sums(tl.load(x + i), i, LOG)
    numbers = tl.where(values < least, N + i, values)
    rank = tl.sum(tl.where(numbers[None, :] < numbers[:, None], 1, 0), axis=1)
    rising = tl.sum(tl.where(rank[None, :] == i[:, None], numbers[None, :], 0), axis=1)
    tl.store(out + i, tl.where(rising >= N, -1, rising))


@pytest.mark.compiled("takes minutes in the interpreter")
@pytest.mark.parametrize("log", [3, 5, 6])
def test_all_pairs_of_what_was_sorted(log, rng):
    """Each step of the sort uses the one before twice, and rows and columns of a block its last one."""
    n = 1 << log
    x = torch.randn([n], generator=rng)
    out = output([n], torch.int32)
    rising_numbers[(1,)](x, out, 3, log)
    order = x.argsort()
    rising = torch.where(order < 3, n, order).sort().values
    check_equal(out, torch.where(rising == n, -1, rising).int())


@triton.jit
def hadamard(x, out, LOG: tl.constexpr):
    N: tl.constexpr = 1 << LOG
    i = tl.program_id(0) * N + tl.arange(0, N)
    value = tl.load(x + i)
    for bit in tl.static_range(LOG):
        pairs = tl.reshape(value, [N >> (bit + 1), 2, 1 << bit])
        total = tl.sum(pairs, 1)[:, None, :]
        right = tl.arange(0, 2)[None, :, None]
        value = tl.reshape(total - 2 * right * pairs, [N])
    tl.store(out + i, value)


@pytest.mark.compiled("takes minutes in the interpreter")
@pytest.mark.parametrize("dtype", dtypes(torch.int32, torch.int64, torch.float32))
@pytest.mark.parametrize("log", [2, 3, 7, 10])
def test_walsh_hadamard(log, dtype, rng):
    x = torch.randint(-50, 50, [2, 1 << log], generator=rng).to(dtype)
    out = output([2, 1 << log], dtype)
    hadamard[(2,)](x, out, log)
    matrix = torch.ones([1, 1])
    for _ in range(log):
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    check_equal(out, (x.double() @ matrix.double()).to(dtype), tolerance=(0, 0))


@triton.jit
def maximum_everywhere(x, out, LOG: tl.constexpr):
    N: tl.constexpr = 1 << LOG
    i = tl.program_id(0) * N + tl.arange(0, N)
    value = tl.load(x + i)
    for bit in tl.static_range(LOG):
        pairs = tl.reshape(value, [N >> (bit + 1), 2, 1 << bit])
        both = tl.broadcast_to(tl.max(pairs, 1)[:, None, :], pairs.shape)
        value = tl.reshape(both, [N])
    tl.store(out + i, value)


@pytest.mark.compiled("takes minutes in the interpreter")
@pytest.mark.parametrize(
    "dtype", dtypes(torch.int8, torch.uint8, torch.int64, torch.bfloat16, torch.float32)
)
@pytest.mark.parametrize("log", [3, 8, 10])
def test_maximum_everywhere(log, dtype, rng):
    x = normal(rng, [2, 1 << log], dtype)
    out = output([2, 1 << log], dtype)
    maximum_everywhere[(2,)](x, out, log)
    check_equal(out, x.amax(1, keepdim=True).expand(x.shape), tolerance=(0, 0))


@triton.jit
def running_best(x, out, blocks, N: tl.constexpr):
    i = tl.arange(0, N)
    best = tl.full([N], float("-inf"), tl.float32)
    for block in range(blocks):
        value = tl.sort(tl.load(x + block * N + i))
        if block % 2 == 1:
            value = tl.sort(value + 1)
        # The larger half of both: one rises, the other falls.
        best = tl.sort(tl.maximum(best, value), descending=True)
    tl.store(out + i, best)


@pytest.mark.compiled("takes minutes in the interpreter")
@pytest.mark.parametrize("n", [16, 1024])
@pytest.mark.parametrize("blocks", [0, 1, 2, 5])
def test_sorts_in_loops_and_branches(blocks, n, rng):
    x = torch.randn([max(blocks, 1), n], generator=rng)
    out = output([n], torch.float32)
    running_best[(1,)](x, out, blocks, N=n)
    best = torch.full([n], -torch.inf)
    for block in range(blocks):
        both = torch.cat([best, x[block] + block % 2])
        best = both.sort(descending=True).values[:n]
    check_equal(out, best, tolerance=(0, 0))
