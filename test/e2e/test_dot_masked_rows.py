# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of which another mask chooses the rows in each turn of a loop: rows of other experts are zeros."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, dtypes, output, small_numbers


@triton.jit
def experts_kernel(
    x, w, y, experts, order, rows, n, k, e,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
    START: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    there = row < rows
    mine = tl.load(experts + row, mask=there, other=e)
    from_row = tl.load(order + row, mask=there, other=0)
    if HOW == "in_order":
        from_row = row
    acc = tl.full((BM, BN), START, ACC)
    for expert in range(tl.min(mine), tl.minimum(tl.max(mine), e - 1) + 1):
        is_mine = mine == expert
        base = w + expert * k * n
        if HOW == "twice":
            is_mine = is_mine & (from_row % 3 != 1)
        for start in range(0, k, BK):
            depth = start + tl.arange(0, BK)
            place = x + from_row[:, None] * k + depth[None, :]
            if HOW == "upright":  # Rows of x are its columns in memory.
                place = x + from_row[:, None] + depth[None, :] * rows
            if HOW == "upright_in_order":
                place = x + row[:, None] + depth[None, :] * rows
            inside = (depth[:, None] < k) & (col[None, :] < n)
            if HOW == "chosen":
                left = tl.load(place, mask=there[:, None] & (depth[None, :] < k), other=0)
                left = tl.where(is_mine[:, None], left, 0).to(left.dtype)
            else:
                left = tl.load(place, mask=is_mine[:, None] & (depth[None, :] < k), other=0)
            if HOW == "widened":
                left = left.to(ACC)
            if HOW == "columns":
                right = tl.load(base + depth[:, None] + col[None, :] * k, mask=inside, other=0)
            else:
                right = tl.load(base + depth[:, None] * n + col[None, :], mask=inside, other=0)
            if HOW == "widened":
                right = right.to(ACC)
            acc = tl.dot(left, right, acc, out_dtype=ACC)
            if HOW == "twice":
                left = tl.load(
                    place, mask=(mine == expert)[:, None] & (depth[None, :] < k), other=0
                )
                acc = tl.dot(left, right, acc, out_dtype=ACC)
    inside = there[:, None] & (col[None, :] < n)
    tl.store(y + row[:, None] * n + col[None, :], acc, mask=inside)


@triton.jit
def shallow_kernel(
    x, w, y, experts, order, rows, n, k, e,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
    START: tl.constexpr,
):  # fmt: skip
    """All of K in one block: the mask is another one for each product."""
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    there = row < rows
    mine = tl.load(experts + row, mask=there, other=e)
    from_row = tl.load(order + row, mask=there, other=0)
    acc = tl.full((BM, BN), START, ACC)
    for expert in range(tl.min(mine), tl.minimum(tl.max(mine), e - 1) + 1):
        place = x + from_row[:, None] * k + depth[None, :]
        left = tl.load(place, mask=(mine == expert)[:, None] & (depth[None, :] < k), other=0)
        inside = (depth[:, None] < k) & (col[None, :] < n)
        if HOW == "columns":
            place = w + expert * k * n + depth[:, None] + col[None, :] * k
        else:
            place = w + expert * k * n + depth[:, None] * n + col[None, :]
        acc = tl.dot(left, tl.load(place, mask=inside, other=0), acc, out_dtype=ACC)
    inside = there[:, None] & (col[None, :] < n)
    tl.store(y + row[:, None] * n + col[None, :], acc, mask=inside)


def reference(x, w, experts, order, block_rows, how, start):
    """Block by block, zeros times what is not finite and all."""
    rows, (count, _, n) = len(experts), w.shape
    y = torch.full((rows, n), start, dtype=torch.float64)
    from_row = torch.arange(rows) if how.endswith("in_order") else order
    for first in range(0, rows, block_rows):
        mine = experts[first : first + block_rows]
        part = torch.arange(first, first + len(mine))
        # What is behind the last row belongs to no expert, and is in no block's first one.
        last = count - 1 if len(mine) < block_rows else min(int(mine.max()), count - 1)
        for expert in range(int(mine.min()), last + 1):
            for turn in range(2 if how == "twice" else 1):
                mask = mine == expert
                if how == "twice" and turn == 0:
                    mask = mask & (order[part] % 3 != 1)
                left = torch.where(mask[:, None], x[from_row[part]].double(), 0.0)
                y[part] += (left[:, :, None] * w[expert].double()).sum(1)
    return y


def choose_experts(rng, rows, count, how):
    experts = torch.randint(0, count, (rows,), generator=rng)
    if how == "one":
        experts[:] = count // 2
    elif how == "few":  # Most have no rows.
        experts = torch.where(experts < count // 2, 0, count - 1)
    elif how == "single":  # One row among others.
        experts[:] = 0
        experts[rows // 2] = count - 1
    elif how == "none":  # Numbers behind the last one, of rows that nobody has.
        experts = torch.where(experts == 1, count, experts)
    return experts if how == "unsorted" else experts.sort().values


def run(
    rng, rows, n, k, count, block, dtype,
    chosen="sorted", how="gathered", kernel=experts_kernel, start=0.0, change=None, short=False,
):  # fmt: skip
    x, w = small_numbers(rng, [rows, k], dtype), small_numbers(rng, [count, k, n], dtype)
    if change:
        change(x, w)
    experts = choose_experts(rng, rows, count, chosen)
    order = torch.randperm(rows, generator=rng)
    kind, acc = (torch.float32, tl.float32) if dtype.is_floating_point else (torch.int32, tl.int32)
    if dtype == torch.float64:
        kind, acc = torch.float64, tl.float64
    if short:
        kind, acc = torch.float16, tl.float16
    y = output([rows, n], kind)
    right = w.mT.contiguous() if how == "columns" else w
    left = x.t().contiguous() if how.startswith("upright") else x
    kernel[triton.cdiv(rows, block[0]), triton.cdiv(n, block[1])](
        at_end_of_memory(left), at_end_of_memory(right), y, at_end_of_memory(experts),
        at_end_of_memory(order), rows, n, k, count, *block, ACC=acc, HOW=how, START=start,
    )  # fmt: skip
    return y, reference(x, w, experts, order, block[0], how, start)


CHOSEN = ["sorted", "unsorted", "one", "few", "single", "none"]
TYPES = dtypes(torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.float64)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("rows", [1, 31, 64, 150])
@pytest.mark.parametrize("dtype", TYPES)
def test_experts(dtype, rows, chosen, rng):
    y, wanted = run(rng, rows, 50, 100, 5, (64, 32, 32), dtype, chosen)
    check_equal(y, wanted, terms=400)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize(
    "how",
    ["in_order", "chosen", "columns", "widened", "twice", "upright", "upright_in_order"],
)
@pytest.mark.parametrize("chosen", ["sorted", "unsorted", "single"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
def test_other_operands(dtype, chosen, how, rng):
    y, wanted = run(rng, 150, 48, 96, 4, (64, 32, 32), dtype, chosen, how)
    check_equal(y, wanted, terms=800)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("how", ["gathered", "columns"])
@pytest.mark.parametrize("k", [1, 20, 32])
@pytest.mark.parametrize("chosen", ["sorted", "unsorted", "few", "single"])
@pytest.mark.parametrize("dtype", TYPES)
def test_one_block_of_steps(dtype, chosen, k, how, rng):
    y, wanted = run(rng, 150, 48, k, 5, (64, 32, 32), dtype, chosen, how, shallow_kernel)
    check_equal(y, wanted, terms=200)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize(
    "block", [(16, 16, 16), (32, 64, 16), (128, 128, 32), (32, 32, 64)], ids=str
)
@pytest.mark.parametrize("chosen", ["sorted", "single"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8))
def test_other_blocks(dtype, chosen, block, rng):
    y, wanted = run(rng, 203, 130, 70, 7, block, dtype, chosen)
    check_equal(y, wanted, terms=400)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("chosen", ["sorted", "few"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
def test_more_steps_than_are_packed(dtype, chosen, rng):
    y, wanted = run(rng, 70, 32, 2100, 3, (32, 32, 64), dtype, chosen)
    check_equal(y, wanted, terms=8400)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("number", [float("inf"), -float("inf"), float("nan")])
@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("kernel", [experts_kernel, shallow_kernel], ids=["deep", "shallow"])
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float32, torch.float16, torch.bfloat16, torch.float64)
)
def test_weights_that_are_not_finite(dtype, kernel, chosen, number, rng):
    """Zeros times these are NaN, in the rows of other experts as well."""

    def change(x, w):
        w[2, k // 2, 7] = number
        w[2, 0, 40] = number
        w[1, k - 1, 0] = number

    k = 70 if kernel is experts_kernel else 30
    y, wanted = run(rng, 150, 50, k, 5, (64, 32, 32), dtype, chosen, kernel=kernel, change=change)
    check_equal(y, wanted, terms=400)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("number", [float("inf"), float("nan")])
@pytest.mark.parametrize("chosen", ["sorted", "unsorted"])
def test_rows_that_are_not_finite(chosen, number, rng):
    """They are no others' matter."""

    def change(x, w):
        x[::5, 3] = number
        x[1::7, 60] = -number

    y, wanted = run(rng, 150, 50, 70, 5, (64, 32, 32), torch.float32, chosen, change=change)
    assert wanted.isfinite().any()
    assert not wanted.isfinite().all()
    check_equal(y, wanted, terms=400)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("start", [0.0, 1.5, -0.0])
def test_sums_that_begin_elsewhere(start, rng):
    y, wanted = run(rng, 150, 50, 70, 5, (64, 32, 32), torch.float32, start=start)
    check_equal(y, wanted, terms=400)
    zeros, _ = run(
        rng, 150, 50, 70, 5, (64, 32, 32), torch.float32, start=start, change=lambda x, w: x.zero_()
    )
    if start == 0.0:
        assert (zeros.view(torch.int32) == 0).all()


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("kernel", [experts_kernel, shallow_kernel], ids=["deep", "shallow"])
@pytest.mark.parametrize("is_finite", [True, False])
def test_sums_of_f16(is_finite, kernel, rng):
    def change(x, w):
        w[2, 3, 7] = 1 if is_finite else float("inf")

    k = 70 if kernel is experts_kernel else 30
    y, wanted = run(
        rng, 150, 50, k, 5, (64, 32, 32), torch.float16, kernel=kernel, change=change, short=True
    )
    check_equal(y, wanted, tolerance=(2e-3, 0.05))  # Sums are rounded after each product.
