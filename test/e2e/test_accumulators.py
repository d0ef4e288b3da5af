# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks that a loop accumulates into, and that are reduced when it has ended."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def accumulate_kernel(x, out, n, HOW: tl.constexpr, B: tl.constexpr, START: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.full([B], START, x.dtype.element_ty)
    for start in range(0, n, B):
        at = start + i
        value = tl.load(x + at, mask=at < n, other=START)
        if HOW == "sum":
            acc += value
        elif HOW == "max":
            acc = tl.maximum(acc, value)
        elif HOW == "min":
            acc = tl.minimum(value, acc)
        elif HOW == "product":
            acc *= value
        else:
            acc = value ^ acc
    if HOW == "sum":
        total = tl.sum(acc, axis=0)
    elif HOW == "max":
        total = tl.max(acc, axis=0)
    elif HOW == "min":
        total = tl.min(acc, axis=0)
    elif HOW == "product":
        total = tl.reduce(acc, 0, product)
    else:
        total = tl.xor_sum(acc, axis=0)
    tl.store(out, total)


@pytest.mark.parametrize("n", [0, 1, 127, 128, 1000, 5000])
@pytest.mark.parametrize("block", [32, 128, 1024])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float64, torch.int32))
@pytest.mark.parametrize("how", ["sum", "max", "min", "xor", "product"])
def test_blocks_become_one_value(how, dtype, block, n, rng):
    if how == "xor" and dtype.is_floating_point:
        pytest.skip("no xor of floats")
    x = normal(rng, [n], dtype) if n else torch.empty(0, dtype=dtype)
    if how == "product":  # Neither overflows nor underflows.
        x = (1 + x.double() / 64).to(dtype) if dtype.is_floating_point else x % 4 * 2 + 1
    start = {"sum": 0, "max": -3, "min": 5, "xor": 0, "product": 1}[how]
    out = output([1], dtype)
    accumulate_kernel[(1,)](x, out, n, HOW=how, B=block, START=start)
    values = torch.cat([x, torch.tensor([start], dtype=dtype)])
    if how == "sum":
        wanted = values.double().sum() if dtype.is_floating_point else values.sum().to(dtype)
    elif how == "xor":
        wanted = torch.tensor(0, dtype=dtype)
        for value in x:
            wanted = wanted ^ value
    elif how == "product":
        wanted = values.double().prod() if dtype.is_floating_point else values.prod(dtype=dtype)
    else:
        wanted = values.max() if how == "max" else values.min()
    if how == "product" and dtype.is_floating_point:
        eps = torch.finfo(dtype).eps * (n + 2)
        check_equal(out, wanted.reshape(1), tolerance=(eps, 0))
    elif how == "sum" and dtype == torch.float32:
        check_equal(out, wanted.reshape(1), terms=n + 1)
    elif how == "sum" and dtype == torch.float64:
        check_equal(out, wanted.reshape(1), tolerance=(1e-12, 1e-10))
    else:
        assert torch.equal(out, wanted.reshape(1).to(dtype))


@triton.jit
def rows_kernel(
    x, sums, tops, n, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, KEEP: tl.constexpr
):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    total = tl.zeros([M, N], tl.float32)
    top = tl.full([M, N], -float("inf"), tl.float32)
    scaled = tl.zeros([M, N], tl.float32)
    for start in range(0, n):
        value = tl.load(x + start * M * N + i * N + j)
        total += value
        top = tl.maximum(top, value)
        scaled = scaled * 0.5 + value
    result = tl.sum(total, axis=AXIS) + tl.sum(scaled, axis=AXIS)
    k = tl.arange(0, KEEP)
    tl.store(sums + k, result)
    tl.store(tops + k, tl.max(top, axis=AXIS))


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("shape", [(64, 16), (8, 128), (128, 1), (1, 64), (4, 4)])
@pytest.mark.parametrize("axis", [0, 1])
def test_rows_and_columns(axis, shape, n, rng):
    x = normal(rng, [n, *shape])
    keep = shape[1 - axis]
    sums, tops = output([keep], torch.float32), output([keep], torch.float32)
    rows_kernel[(1,)](x, sums, tops, n, AXIS=axis, M=shape[0], N=shape[1], KEEP=keep)
    wide = x.double()
    scaled = torch.zeros(shape, dtype=torch.float64)
    for block in wide:
        scaled = scaled * 0.5 + block
    check_equal(sums, wide.sum(0).sum(axis) + scaled.sum(axis), terms=n * 128 + 128)
    top = torch.full(shape, -float("inf"))
    for block in x:
        top = torch.maximum(top, block)
    assert torch.equal(tops, top.amax(axis))


@triton.jit
def columns_kernel(x, out, R: tl.constexpr, C: tl.constexpr):
    c = tl.arange(0, C)
    value = tl.load(x + tl.arange(0, R)[:, None] * C + c[None, :])
    tl.store(out + c, tl.sum(value, axis=0))


@pytest.mark.parametrize("dtype", dtypes(torch.float16, torch.bfloat16))
def test_narrow_sums_do_not_stand_still(dtype):
    """In bf16 256 + 1 is 256, in f16 2048 + 1 is 2048."""
    x = torch.ones([4096, 16], dtype=dtype)
    out = output([16], dtype)
    columns_kernel[(1,)](x, out, R=4096, C=16)
    assert (out == 4096).all()


@triton.jit
def larger(a, b):
    """As torch.compile writes it: NaN stays."""
    takes = a > b
    if a.dtype.is_floating():
        takes |= a != a
    return tl.where(takes, a, b)


@triton.jit
def smaller(a, b):
    takes = a < b
    if a.dtype.is_floating():
        takes |= a != a
    return tl.where(takes, a, b)


@triton.jit
def kept_kernel(
    x,
    sums,
    products,
    tops,
    lows,
    rows,
    columns,
    START: tl.constexpr,
    R: tl.constexpr,
    C: tl.constexpr,
):
    """Reductions of columns as torch.compile writes them: a mask keeps what was there before."""
    column = tl.program_id(0) * C + tl.arange(0, C)[:, None]
    total = tl.full([C, R], 0, tl.float32)
    product_ = tl.full([C, R], 1, tl.float32)
    top = tl.full([C, R], -START, x.dtype.element_ty)
    low = tl.full([C, R], START, x.dtype.element_ty)
    for first in range(0, rows, R):
        row = first + tl.arange(0, R)[None, :]
        mask = (row < rows) & (column < columns)
        value = tl.load(x + row * columns + column, mask=mask, other=0)
        total = tl.where(mask, total + value.to(tl.float32), total)
        product_ = tl.where(mask, product_ * (1 + value.to(tl.float32) / 64), product_)
        top = tl.where(mask, larger(top, value), top)
        low = tl.where(mask, smaller(low, value), low)
    inside = column < columns
    tl.store(sums + column, tl.sum(total, 1)[:, None], inside)
    tl.store(products + column, tl.reduce(product_, 1, product)[:, None], inside)
    tl.store(tops + column, tl.reduce(top, 1, larger)[:, None], inside)
    tl.store(lows + column, tl.reduce(low, 1, smaller)[:, None], inside)


@pytest.mark.parametrize("nans", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 37, 300])
@pytest.mark.parametrize("columns", [5, 64, 130])
@pytest.mark.parametrize("block", [(64, 16), (4, 64), (2, 32), (16, 8), (64, 2), (128, 1)])
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.int16)
)
def test_a_mask_keeps_what_was_there(dtype, block, columns, rows, nans, rng):
    if nans and not dtype.is_floating_point:
        pytest.skip("integers have no NaN")
    x = normal(rng, [rows, columns], dtype) if rows else torch.empty([0, columns], dtype=dtype)
    if not dtype.is_floating_point:  # The product does not overflow.
        x %= 5
    if nans and rows:
        x[rows // 2, columns // 2] = float("nan")
        x[0, 1] = float("nan")
        x[rows - 1, 2] = float("inf")
    start = float("inf") if dtype.is_floating_point else torch.iinfo(dtype).max
    sums, products = output([columns], torch.float32), output([columns], torch.float32)
    tops, lows = output([columns], dtype), output([columns], dtype)
    kept_kernel[(triton.cdiv(columns, block[1]),)](
        x, sums, products, tops, lows, rows, columns, START=start, R=block[0], C=block[1]
    )
    wide = x.double()
    check_equal(sums, wide.sum(0), terms=rows + 1)
    scale = torch.finfo(torch.float32).eps * (2 * rows + 4)
    check_equal(products, (1 + wide / 64).prod(0), tolerance=(scale, 0))
    edge = torch.full([1, columns], start, dtype=dtype)
    assert torch.equal(tops.isnan(), x.isnan().any(0))
    assert torch.equal(lows.isnan(), x.isnan().any(0))
    top, low = torch.cat([-edge, x]).amax(0), torch.cat([edge, x]).amin(0)
    assert torch.equal(tops[~tops.isnan()], top[~top.isnan()])
    assert torch.equal(lows[~lows.isnan()], low[~low.isnan()])


@triton.jit
def extrema_kernel(x, tops, lows, columns, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    value = tl.load(x + row * columns + at, mask=at < columns, other=float("-inf"))
    tl.store(tops + row, tl.reduce(value, 0, larger))
    value = tl.load(x + row * columns + at, mask=at < columns, other=float("inf"))
    tl.store(lows + row, tl.reduce(value, 0, smaller))


@pytest.mark.parametrize("columns", [1, 17, 64, 1000, 4096])
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float32, torch.float64, torch.bfloat16, torch.float16)
)
def test_nan_stays_wherever_it_is(dtype, columns, rng):
    places = sorted({0, 1 % columns, columns // 3, columns // 2, columns - 1})
    x = normal(rng, [len(places) + 1, columns], dtype)
    for row, place in enumerate(places):
        x[row, place] = float("nan")
    tops, lows = output([len(x)], dtype), output([len(x)], dtype)
    extrema_kernel[(len(x),)](x, tops, lows, columns, B=triton.next_power_of_2(columns))
    assert tops[:-1].isnan().all()
    assert lows[:-1].isnan().all()
    assert torch.equal(tops[-1], x[-1].max())
    assert torch.equal(lows[-1], x[-1].min())


@triton.jit
def running_kernel(x, tops, lows, columns, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    value = tl.load(x + row * columns + at, mask=at < columns, other=0)
    tl.store(tops + row * columns + at, tl.associative_scan(value, 0, larger), mask=at < columns)
    tl.store(lows + row * columns + at, tl.associative_scan(value, 0, smaller), mask=at < columns)


@pytest.mark.parametrize("columns", [1, 17, 1000])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int32, torch.uint8))
def test_running_extrema(dtype, columns, rng):
    x = normal(rng, [5, columns], dtype)
    if dtype.is_floating_point:
        x[1, columns // 2] = float("nan")
        x[2, 0] = float("nan")
    tops, lows = output([5, columns], dtype), output([5, columns], dtype)
    running_kernel[(5,)](x, tops, lows, columns, B=triton.next_power_of_2(columns))
    wide = x.double()
    assert torch.equal(tops.isnan(), x.isnan().cumsum(1) > 0)
    assert torch.equal(lows.isnan(), x.isnan().cumsum(1) > 0)
    top, low = wide.cummax(1).values, wide.cummin(1).values
    assert torch.equal(tops[~tops.isnan()].double(), top[~tops.isnan()])
    assert torch.equal(lows[~lows.isnan()].double(), low[~lows.isnan()])
