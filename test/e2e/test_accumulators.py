# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks that a loop accumulates into, and that are reduced when it has ended."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output


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
        else:
            acc = value ^ acc
    if HOW == "sum":
        total = tl.sum(acc, axis=0)
    elif HOW == "max":
        total = tl.max(acc, axis=0)
    elif HOW == "min":
        total = tl.min(acc, axis=0)
    else:
        total = tl.xor_sum(acc, axis=0)
    tl.store(out, total)


@pytest.mark.parametrize("n", [0, 1, 127, 128, 1000, 5000])
@pytest.mark.parametrize("block", [32, 128, 1024])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float64, torch.int32))
@pytest.mark.parametrize("how", ["sum", "max", "min", "xor"])
def test_blocks_become_one_value(how, dtype, block, n, rng):
    if how == "xor" and dtype.is_floating_point:
        pytest.skip("no xor of floats")
    x = normal(rng, [n], dtype) if n else torch.empty(0, dtype=dtype)
    start = {"sum": 0, "max": -3, "min": 5, "xor": 0}[how]
    out = output([1], dtype)
    accumulate_kernel[(1,)](x, out, n, HOW=how, B=block, START=start)
    values = torch.cat([x, torch.tensor([start], dtype=dtype)])
    if how == "sum":
        wanted = values.double().sum() if dtype.is_floating_point else values.sum().to(dtype)
    elif how == "xor":
        wanted = torch.tensor(0, dtype=dtype)
        for value in x:
            wanted = wanted ^ value
    else:
        wanted = values.max() if how == "max" else values.min()
    if how == "sum" and dtype == torch.float32:
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
