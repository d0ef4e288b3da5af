# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of few rows with weights of N x K: both operands stay where they lie until there are many steps along K."""

import pytest
import torch
import triton
import triton.language as tl
from support import FP8, at_end_of_memory, check_equal, dtypes, normal, small_numbers


@triton.jit
def weights_kernel(
    a, b, c, order, m, n, k, stride, step,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    there = cols % n if HOW == "wrapped" else cols
    acc = tl.zeros((BM, BN), ACC)
    if HOW == "begun":
        acc += rows[:, None] + cols[None, :]
    for start in range(0, k, BK):
        first = start
        if HOW == "backwards":
            first = k - BK - start
        elif HOW == "chosen":  # Most blocks go on where the one before ended, some do not.
            first = tl.load(order + start // BK) * BK
        elif HOW == "stepped":
            first = start * step
        elif HOW == "repeated":
            first = start // (2 * BK) * BK
        depth = first + tl.arange(0, BK)
        inside = (rows[:, None] < m) & (depth[None, :] < k)
        x = tl.load(a + rows[:, None] * k + depth[None, :], mask=inside, other=0.0)
        if HOW == "computed":
            x = (x * 2).to(x.dtype)
        inside = (depth[:, None] < k) & (cols[None, :] < n)
        if HOW == "holes":  # Every third block has a mask that is not always true.
            inside = inside & ((start // BK % 3 != 1) | (cols[None, :] != 5))
        y = tl.load(b + depth[:, None] + there[None, :] * stride, mask=inside, other=0.0)
        if y.dtype != x.dtype:
            y = y.to(x.dtype)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
    tl.store(
        c + rows[:, None] * n + cols[None, :],
        acc,
        mask=(rows[:, None] < m) & (cols[None, :] < n),
    )


def run(rng, m, n, k, block, dtype, how="plain", weights=None, pad=0, step=1, more=0):
    a, b = small_numbers(rng, [m, k], dtype), small_numbers(rng, [n, k], weights or dtype)
    sums, acc = (torch.float32, tl.float32) if dtype.is_floating_point else (torch.int32, tl.int32)
    if dtype == torch.float64:
        sums, acc = torch.float64, tl.float64
    blocks = triton.cdiv(k, block[2])
    order = torch.arange(blocks)
    if how == "chosen":
        order = torch.randint(blocks, (blocks,), generator=rng)
        order[1::3] = (order[0::3] + 1)[: len(order[1::3])] % blocks
    elif how == "backwards":
        order = order.flip(0)
    elif how == "stepped":
        order = order * step
        order = order[order < blocks]
    elif how == "repeated":
        order = order // 2
    padded = torch.full((n, k + pad), 5).to(b.dtype)
    padded[:, :k] = b
    stored = at_end_of_memory(padded.contiguous().flatten()[: (n - 1) * (k + pad) + k])
    c = torch.full((m, n), 7, dtype=sums)
    grid = triton.cdiv(m, block[0]) + more, triton.cdiv(n, block[1])
    weights_kernel[grid](
        at_end_of_memory(a), stored, c, order.int(), m, n, k, k + pad, step, *block, acc, how
    )
    x, y = a.double(), b.double()
    wanted = torch.zeros(m, n, dtype=torch.float64)
    if how == "begun":
        wanted += torch.arange(m)[:, None] + torch.arange(n)
    for i, number in enumerate(order.tolist()):
        part = slice(number * block[2], (number + 1) * block[2])
        right = y[:, part].clone()
        if how == "holes" and i % 3 == 1 and n > 5:
            right[5] = 0
        wanted += x[:, part] @ right.t() * (2 if how == "computed" else 1)
    return c, wanted


HOWS = [
    "plain", "wrapped", "computed", "begun", "backwards", "chosen", "stepped", "repeated", "holes",
]  # fmt: skip
TYPES = dtypes(torch.float32, torch.bfloat16, torch.int8)


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [1, 3, 16, 37, 64])
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_blocks_of_any_order(m, how, dtype, rng):
    """What does not go on is multiplied behind what waits."""
    block = (16 if m <= 16 else 64, 32, 64)
    c, wanted = run(rng, m, 64, 64 * 13, block, dtype, how, step=2)
    check_equal(c, wanted, terms=64 * 13 * 8)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("m", [1, 2, 4, 5, 7, 11, 31, 64, 70])
@pytest.mark.parametrize("n", [8, 33, 128])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_rows_and_columns(m, n, dtype, rng):
    for k in (64, 2200, 4160):  # One block; several calls, the last one with a tail or alone.
        c, wanted = run(rng, m, n, k, (64, 32, 64), dtype, pad=3)
        check_equal(c, wanted, terms=k * 4)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("m", [1, 2, 3, 6, 16, 30])
@pytest.mark.parametrize(
    ("dtype", "weights"),
    [
        (torch.float64, torch.float64), (torch.float16, torch.float16), (FP8[0], FP8[0]), (FP8[1], FP8[1]),
        (torch.float32, torch.bfloat16), (torch.float32, torch.float16), (torch.float32, torch.int8),
        (torch.bfloat16, torch.int8), (torch.float16, torch.int8), (torch.bfloat16, FP8[0]),
        (torch.bfloat16, FP8[1]),
    ],
    ids=str,
)  # fmt: skip
def test_types(m, dtype, weights, rng):
    for k, how in ((128, "plain"), (9 * 128, "chosen"), (5 * 1024 + 40, "plain")):
        c, wanted = run(rng, m, 40, k, (32, 32, 128), dtype, how, weights=weights)
        check_equal(c, wanted, terms=k * 4)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_programs_without_rows(dtype, rng):
    """Rows share what they ask for of the next columns, if there are any."""
    c, wanted = run(rng, 5, 64, 64 * 13, (16, 32, 64), dtype, more=2)
    check_equal(c, wanted, terms=64 * 13 * 8)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 17, 48, 64, 100, 128])
@pytest.mark.parametrize("depth", [32, 64])
@pytest.mark.parametrize("weights", dtypes(torch.int8, *FP8), ids=str)
def test_rows_and_columns_of_bytes(m, depth, weights, rng):
    """AMX's tiles have columns that were widened, two steps at once; few rows are multiplied by vectors."""
    block = (16 if m <= 16 else 64 if m <= 64 else 128, 32, depth)
    for k, how in ((64, "plain"), (2200, "chosen"), (4160, "plain"), (4160, "stepped")):
        c, wanted = run(rng, m, 70, k, block, torch.bfloat16, how, weights=weights, pad=3, step=2)
        check_equal(c, wanted, terms=k * 4)


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [1, 2, 3, 20])
def test_all_bytes(m):
    x = (torch.arange(m * 512).reshape(m, 512) % 7 - 3).bfloat16()
    w = (torch.arange(64 * 512) * 37 % 256 - 128).to(torch.int8).reshape(64, 512)
    c = torch.zeros(m, 64)
    order = torch.arange(8).int()
    weights_kernel[(1, 2)](x, w, c, order, m, 64, 512, 512, 1, 32, 32, 64, tl.float32, "plain")
    assert torch.equal(c.double(), x.double() @ w.double().t())


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize(
    "block", [(16, 16, 16), (16, 64, 32), (64, 16, 256), (32, 128, 128), (16, 8, 64)], ids=str
)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_blocks(block, dtype, rng):
    c, wanted = run(rng, 29, 150, 1030, block, dtype)
    check_equal(c, wanted, terms=1030 * 4)


@triton.jit
def whole_kernel(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, cols = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + depth[None, :])
        y = tl.load(b + depth[:, None] + cols[None, :] * k)
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * (BN * tl.num_programs(0)) + cols[None, :], acc)


@pytest.mark.parametrize("m", [16, 64])
@pytest.mark.parametrize("k", [0, 64, 6 * 64, 64 * 64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_blocks_without_masks(m, k, dtype, rng):
    """All rows are seen, and that is known when the kernel is compiled."""
    a, b = normal(rng, [m, k], dtype), normal(rng, [96, k], dtype)
    c = torch.full((m, 96), 7.0)
    whole_kernel[(3,)](a, b, c, k, m, 32, 64)
    check_equal(c, a.double() @ b.double().t(), terms=max(k, 1) * 4)


@triton.jit
def shared_kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # Programs of the same columns follow one another: the first multiplies with these where they lie, others pack.
    programs = tl.cdiv(m, BM)
    rows = tl.program_id(0) % programs * BM + tl.arange(0, BM)
    cols = tl.program_id(0) // programs * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + depth[None, :], mask=rows[:, None] < m, other=0.0)
        y = tl.load(b + depth[:, None] + cols[None, :] * k, mask=cols[None, :] < n, other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(
        c + rows[:, None] * n + cols[None, :], acc, mask=(rows[:, None] < m) & (cols[None, :] < n)
    )


@pytest.mark.parametrize("m", [16, 17, 33, 100])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_programs_that_share_columns(m, dtype, rng):
    k, n = 64 * 20, 100
    a, b = normal(rng, [m, k], dtype), normal(rng, [n, k], dtype)
    c = torch.full((m, n), 7.0)
    shared_kernel[(triton.cdiv(m, 16) * triton.cdiv(n, 32),)](a, b, c, m, n, k, 16, 32, 64)
    check_equal(c, a.double() @ b.double().t(), terms=k * 4)


@triton.jit
def shared_rows_kernel(
    a, b, c, bounds, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ORDER: tl.constexpr
):  # fmt: skip
    # Programs of the same rows follow one another, or take turns; or have fewer rows and steps than the one before.
    blocks = tl.cdiv(n, BN)
    programs = tl.cdiv(m, BM)
    row, col = tl.program_id(0) // blocks, tl.program_id(0) % blocks
    if ORDER == "turns":
        row, col = tl.program_id(0) % programs, tl.program_id(0) // programs
    begin, end, last = 0, k, m
    if ORDER == "bounds":
        begin, end = tl.load(bounds + col * 3), tl.load(bounds + col * 3 + 1)
        last = tl.load(bounds + col * 3 + 2)
    rows = row * BM + tl.arange(0, BM)
    cols = col * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32)
    for start in range(begin, end, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(
            a + rows[:, None] * k + depth[None, :],
            mask=(rows[:, None] < last) & (depth[None, :] < end),
            other=0.0,
        )
        y = tl.load(
            b + depth[:, None] + cols[None, :] * k,
            mask=(cols[None, :] < n) & (depth[:, None] < end),
            other=0.0,
        )
        acc = tl.dot(x, y.to(x.dtype), acc, out_dtype=acc.dtype)
    tl.store(
        c + rows[:, None] * n + cols[None, :],
        acc,
        mask=(rows[:, None] < last) & (cols[None, :] < n),
    )


def bounds_of(rng, blocks, m, k, order):
    """The first step of each block of columns, the end, and the end of its rows."""
    bounds = torch.tensor([[0, k, m]] * blocks)
    if order == "bounds":
        bounds[:, 1] = torch.randint(k // 64, (blocks,), generator=rng) * 64
        bounds[1::3, 1] = k
        bounds[4::5, 0] = bounds[4::5, 1] // 2
        bounds[::2, 2] = torch.randint(1, m + 1, (len(bounds[::2]),), generator=rng)
    return bounds


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("m", [5, 16, 48, 64, 100, 128, 300])
@pytest.mark.parametrize("k", [64 * 20, 4160, 25000])
@pytest.mark.parametrize("order", ["rows", "turns", "bounds"])
@pytest.mark.parametrize(
    ("dtype", "weights"),
    [(torch.bfloat16, torch.bfloat16), (torch.int8, torch.int8), (torch.bfloat16, torch.int8)],
    ids=str,
)
def test_programs_that_share_rows(m, k, order, dtype, weights, rng):
    """What the program before has packed is multiplied again only if all of it is the same."""
    block, n = (64 if m <= 64 else 128, 32, 64), 400
    a, b = small_numbers(rng, [m, k], dtype), small_numbers(rng, [n, k], weights)
    blocks = triton.cdiv(n, block[1])
    bounds = bounds_of(rng, blocks, m, k, order)
    c = torch.full((m, n), 7, dtype=torch.int32 if dtype == torch.int8 else torch.float32)
    stored, others = at_end_of_memory(a), at_end_of_memory(b)
    for launch in range(2):  # The rows of the second one are others, at the same place.
        shared_rows_kernel[(triton.cdiv(m, block[0]) * blocks,)](
            stored, others, c, bounds.int(), m, n, k, *block, order
        )
        wanted = torch.full((m, n), 7.0, dtype=torch.float64)
        for i, (begin, end, last) in enumerate(bounds.tolist()):
            part = slice(i * block[1], (i + 1) * block[1])
            product = a[:, begin:end].double() @ b[part, begin:end].double().t()
            wanted[:last, part] = product[:last]
        check_equal(c, wanted, terms=k * 4)
        if launch == 0:
            a = -a if dtype != torch.int8 else a // 2
            stored.copy_(a)
