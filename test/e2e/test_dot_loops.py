# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops along K that add up products: their packed operands, ends, masks and what they may overwrite."""

import pytest
import torch
import triton
import triton.language as tl
from support import FP8, check_equal, dtypes, normal, output


@triton.jit
def loop_kernel(
    a, b, c, out, k, a_row, a_col, b_row, b_col, first, last,
    M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    inner = tl.arange(0, BK)
    if HOW == "zero":
        acc = tl.zeros((M, N), ACC)
    else:
        acc = tl.load(c + rows[:, None] * N + cols[None, :]).to(ACC)
    for start in range(first, last, BK):
        at = start + inner
        seen = at < k
        if HOW == "checkered":
            x = tl.load(
                a + rows[:, None] * a_row + at[None, :] * a_col,
                mask=seen[None, :] & ((rows[:, None] + at[None, :]) % 2 == 0),
                other=0.0,
            )
        else:
            x = tl.load(a + rows[:, None] * a_row + at[None, :] * a_col, seen[None, :], other=0.0)
        y = tl.load(b + at[:, None] * b_row + cols[None, :] * b_col, seen[:, None], other=0.0)
        if HOW == "two":
            acc = tl.dot(x, y, acc, out_dtype=ACC)
            acc = tl.dot(x, y, acc, out_dtype=ACC)
        elif HOW == "seen":
            acc = tl.dot(x, y, acc, out_dtype=ACC)
            tl.store(out + rows[:, None] * N + cols[None, :], acc)
        else:
            acc = tl.dot(x, y, acc, out_dtype=ACC)
    tl.store(out + rows[:, None] * N + cols[None, :], acc)


def numbers(rng, shape, dtype):
    if not dtype.is_floating_point:
        return torch.randint(-128, 128, shape, generator=rng).to(dtype)
    return normal(rng, shape, dtype)


def laid_out(matrix, order):
    """The same numbers, in other places."""
    if order == "columns":
        return matrix.t().contiguous().t()
    if order == "apart":
        wide = torch.zeros(matrix.shape[0], 2 * matrix.shape[1], dtype=matrix.dtype)
        wide[:, ::2] = matrix
        return wide[:, ::2]
    return matrix


def run_loop(rng, dtype, m=32, n=64, bk=16, k=1000, how="plain", orders=("rows", "rows"), **bounds):
    a, b = numbers(rng, [m, k], dtype), numbers(rng, [k, n], dtype)
    sums = torch.float32 if dtype.is_floating_point else torch.int32
    c = torch.randint(-9, 9, [m, n], generator=rng).to(sums)
    if how == "zero":
        c.zero_()
    out = output([m, n], sums)
    x, y = laid_out(a, orders[0]), laid_out(b, orders[1])
    first, last = bounds.get("first", 0), bounds.get("last", k)
    acc = tl.float32 if dtype.is_floating_point else tl.int32
    loop_kernel[(1,)](
        x, y, c, out, k, *x.stride(), *y.stride(), first, last, M=m, N=n, BK=bk, ACC=acc, HOW=how
    )
    a, b = a.double()[:, first:], b.double()[first:]
    if how == "checkered":
        a = a * ((torch.arange(m)[:, None] + torch.arange(first, k)[None, :]) % 2 == 0)
    wanted = c.double() + (a @ b) * (2 if how == "two" else 1) if last > first else c.double()
    check_equal(
        out, wanted.to(torch.int64).to(sums) if sums == torch.int32 else wanted, terms=4 * k
    )


TYPES = (torch.float32, torch.bfloat16, torch.float16, torch.int8)


@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("k", [1, 16, 17, 127, 257, 1009])
def test_ends_along_k(k, dtype, rng):
    run_loop(rng, dtype, k=k)


@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("orders", [("columns", "rows"), ("rows", "columns"), ("apart", "apart")])
def test_orders(orders, dtype, rng):
    run_loop(rng, dtype, k=203, bk=32, orders=orders)


@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("shape", [(1, 16), (16, 8), (48, 48), (64, 128), (128, 32), (2, 256)])
def test_blocks(shape, dtype, rng):
    m, n = (triton.next_power_of_2(s) for s in shape)
    run_loop(rng, dtype, m=m, n=n, k=151)


@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("how", ["checkered", "two", "seen"])
def test_other_loops(how, dtype, rng):
    run_loop(rng, dtype, k=330, how=how)


@pytest.mark.parametrize("bounds", [(0, 0), (5, 0), (7, 30), (-(2**31) + 7, -(2**31) + 7)])
def test_bounds(bounds, rng):
    first, last = bounds
    run_loop(rng, torch.float32, k=30, first=first, last=last)


@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("bounds", [(0, 0), (5, -3), (1000, 1009), (200, 1009), (0, 1009)])
@pytest.mark.parametrize("shape", [(32, 64, 16), (1, 16, 16), (16, 128, 16), (32, 64, 32)])
def test_sums_that_begin_at_zero(shape, bounds, dtype, rng):
    """What is in scratch memory counts neither without an iteration nor with several products."""
    (m, n, bk), (first, last) = shape, bounds
    run_loop(rng, dtype, m=m, n=n, bk=bk, k=1009)  # leaves its sums there
    run_loop(rng, dtype, m=m, n=n, bk=bk, k=1009, how="zero", first=first, last=last)


@pytest.mark.compiled("has no such types")
@pytest.mark.parametrize("dtype", FP8, ids=str)
def test_fp8(dtype, rng):
    run_loop(rng, dtype, k=300, bk=32)


@triton.jit(do_not_specialize=["k"])
def long_loop_kernel(a, b, out, k, N: tl.constexpr, BK: tl.constexpr):
    """Backwards along K, counted in 64 bits."""
    cols = tl.arange(0, N)
    inner = tl.arange(0, BK)
    acc = tl.zeros((N, N), tl.float32)
    steps = tl.cdiv(k, BK).to(tl.int64)
    for step in range(steps):
        at = k - 1 - (step * BK + inner)
        x = tl.load(a + cols[:, None] * k + at[None, :], mask=at[None, :] >= 0, other=0.0)
        y = tl.load(b + at[:, None] * N + cols[None, :], mask=at[:, None] >= 0, other=0.0)
        acc += tl.dot(x, y)
    tl.store(out + cols[:, None] * N + cols[None, :], acc)


@pytest.mark.parametrize("k", [1, 40, 333])
def test_backwards_in_64_bits(k, rng):
    a, b = normal(rng, [32, k], torch.float32), normal(rng, [k, 32], torch.float32)
    out = output([32, 32], torch.float32)
    long_loop_kernel[(1,)](a, b, out, k, N=32, BK=16)
    check_equal(out, a.double() @ b.double(), terms=k)


@triton.jit
def hopping_kernel(a, b, out, k, hop, N: tl.constexpr, BK: tl.constexpr):
    """Reads the left operand from places that do not always follow one another."""
    cols = tl.arange(0, N)
    inner = tl.arange(0, BK)
    acc = tl.zeros((N, N), tl.float32)
    for start in range(0, k, BK):
        at = start // hop * hop + inner
        x = tl.load(a + cols[:, None] * k + at[None, :])
        y = tl.load(b + (start + inner)[:, None] * N + cols[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(out + cols[:, None] * N + cols[None, :], acc)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
@pytest.mark.parametrize("hop", [16, 32, 48, 1 << 20])
def test_places_that_do_not_follow(hop, dtype, rng):
    n, bk, k = 32, 16, 16 * 37
    a, b = normal(rng, [n, k], dtype), normal(rng, [k, n], dtype)
    out = output([n, n], torch.float32)
    at = torch.arange(k)
    hopping_kernel[(1,)](a, b, out, k, hop, N=n, BK=bk)
    wanted = a[:, at // bk * bk // hop * hop + at % bk].double() @ b.double()
    check_equal(out, wanted, terms=4 * k)


@triton.jit
def overwriting_kernel(a, b, k, N: tl.constexpr, BK: tl.constexpr):
    """Each step reads what the one before has written into its operand."""
    cols = tl.arange(0, N)
    inner = tl.arange(0, BK)
    acc = tl.zeros((N, N), tl.float32)
    for start in range(0, k, BK):
        x_at = a + cols[:, None] * BK + inner[None, :]
        x = tl.load(x_at)
        y = tl.load(b + (start + inner)[:, None] * N + cols[None, :])
        acc = tl.dot(x, y, acc)
        tl.store(x_at, x * 0.5 + 1)
    tl.store(b + cols[:, None] * N + cols[None, :], acc)


def test_what_is_packed_may_be_overwritten(rng):
    n, bk, k = 16, 16, 320
    a, b = normal(rng, [n, bk], torch.float32), normal(rng, [k, n], torch.float32)
    x, wanted = a.double(), torch.zeros(n, n, dtype=torch.float64)
    for start in range(0, k, bk):
        wanted += x @ b[start : start + bk].double()
        x = x * 0.5 + 1
    overwriting_kernel[(1,)](a, b, k, N=n, BK=bk)
    check_equal(b[:n], wanted, terms=4 * k)
    check_equal(a, x)


@pytest.mark.compiled("has another order of sums")
@pytest.mark.parametrize("bk", [32, 64])
def test_sums_of_many_products_are_close(bk, rng):
    """One chain of 8192 steps is wrong by 4e-6 here."""
    k = 8192
    a, b = torch.rand(32, k, generator=rng), torch.rand(k, 32, generator=rng)
    c, out = torch.zeros(32, 32), output([32, 32], torch.float32)
    loop_kernel[(1,)](
        a, b, c, out, k, *a.stride(), *b.stride(), 0, k,
        M=32, N=32, BK=bk, ACC=tl.float32, HOW="plain",
    )  # fmt: skip
    wanted = a.double() @ b.double()
    assert ((out.double() - wanted).abs() / wanted).max() < 1e-6
