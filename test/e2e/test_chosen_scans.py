# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans that only choose among their operands, such as cummax with indices: any order, rising and falling numbers, ties, NaN."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import SIGNED, check_equal, dtypes


@triton.jit
def last_maximum(a, a_index, b, b_index):
    """As Inductor writes it: NaN is largest, and the last of equal ones counts."""
    mask = a > b
    equal = a == b
    if a.dtype.is_floating():
        a_isnan = a != a
        b_isnan = b != b
        mask |= a_isnan.to(tl.int32) > b_isnan.to(tl.int32)
        equal |= a_isnan and b_isnan
    mask |= equal & (a_index > b_index)
    return tl.where(mask, a, b), tl.where(mask, a_index, b_index)


@triton.jit
def first_minimum(a, a_index, b, b_index):
    """The other way around, and the value is no choice by a condition (Triton 3.7 takes minima of bf16 in f32)."""
    return tl.minimum(a, b).to(a.dtype), tl.where(b < a, b_index, a_index)


@triton.jit
def last_other(a, a_index, b, b_index):
    """Not commutative, and by a condition for each result, one of them the other way around."""
    return tl.where(b == 0, a, b), tl.where(b != 0, b_index, a_index)


@triton.jit
def scan_kernel(
    x, out, out_index, rows, columns, stride, first, M: tl.constexpr, N: tl.constexpr,
    AXIS: tl.constexpr, OP: tl.constexpr, REVERSE: tl.constexpr, INDEX: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    column = tl.arange(0, N)[None, :]
    inside = (row < rows) & (column < columns)
    at = row * stride + column
    value = tl.load(x + at, mask=inside, other=first)
    along = tl.arange(0, M)[:, None] if AXIS == 0 else column
    if INDEX == "i64":
        along = along.to(tl.int64)
    elif INDEX == "u32":
        along = (along - 3).to(tl.uint32).to(tl.int64)
    index = tl.broadcast_to(along, M, N)
    if OP == "max":
        value, index = tl.associative_scan((value, index), AXIS, last_maximum, reverse=REVERSE)
    elif OP == "min":
        value, index = tl.associative_scan((value, index), AXIS, first_minimum, reverse=REVERSE)
    else:
        value, index = tl.associative_scan((value, index), AXIS, last_other, reverse=REVERSE)
    tl.store(out + at, value, mask=inside)
    tl.store(out_index + at, index, mask=inside)


def takes_next(op, a, a_index, b, b_index):
    if op == "min":
        return b < a
    if op == "other":
        return b != 0
    larger = (a > b) | (np.isnan(a) & ~np.isnan(b))
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    return ~(larger | (equal & (a_index > b_index)))


def scanned(x, op, axis, reverse, index, block):
    """One after the other, in blocks of rows."""
    m, n = block
    rows, columns = x.shape
    padded = np.zeros([triton.cdiv(rows, m) * m, n])
    padded[:rows, :columns] = x.double().numpy()
    values = np.moveaxis(padded.reshape(-1, m, n).copy(), axis + 1, 0)
    numbers = np.arange(block[axis], dtype=np.int64)
    if index == "u32":
        numbers = (numbers - 3) % 2**32
    places = np.broadcast_to(numbers[:, None, None], values.shape).copy()
    order = range(block[axis])[::-1] if reverse else range(block[axis])
    for before, at in zip(order, list(order)[1:], strict=False):
        takes = takes_next(op, values[before], places[before], values[at], places[at])
        values[at] = np.where(takes, values[at], values[before])
        places[at] = np.where(takes, places[at], places[before])

    def whole(blocks):
        return np.moveaxis(blocks, 0, axis + 1).reshape(-1, n)[:rows, :columns].copy()

    return whole(values), whole(places)


def numbers_of(kind, rows, columns, dtype, op, rng):
    """Small whole numbers, of which every type has all, and many are equal."""
    x = torch.randint(-100, 101, [rows, columns], generator=rng)
    if kind == "rising":
        x = x.sort(dim=1)[0].sort(dim=0)[0]
    elif kind == "falling":
        x = x.sort(dim=1, descending=True)[0]
    elif kind == "mixed":
        x = (x + torch.arange(columns) // 2).clamp(-127, 127)
    elif kind == "waves":
        # All of a vector rises, but not from what is before it.
        at = torch.arange(columns)
        x = (at // 16 * 4 + at % 16).expand(rows, columns).clone()
    elif kind == "same":
        x = torch.full_like(x, 7)
    if op == "other":
        x = torch.where(torch.rand(x.shape, generator=rng) < 0.9, 0, x)
    x = x.to(dtype)
    if dtype.is_floating_point and op == "max":
        x[torch.rand(x.shape, generator=rng) < 0.01] = float("nan")
        x[torch.rand(x.shape, generator=rng) < 0.01] = float("inf")
    return x


def check(x, op, axis, reverse, index, block, first=0):
    rows, columns = x.shape
    memory = torch.zeros([rows, columns + 3], dtype=x.dtype)
    memory[:, :columns] = x
    out, places = (
        torch.full([rows, columns + 3], 55, dtype=x.dtype),
        torch.full([rows, columns + 3], 66, dtype=torch.int32 if index == "i32" else torch.int64),
    )
    scan_kernel[(triton.cdiv(rows, block[0]),)](
        memory, out, places, rows, columns, columns + 3, first, *block,
        AXIS=axis, OP=op, REVERSE=reverse, INDEX=index,
    )  # fmt: skip
    wanted, wanted_places = scanned(x, op, axis, reverse, index, block)
    got = out[:, :columns].double().numpy()
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(places[:, :columns].numpy(), wanted_places)
    check_equal(out[:, columns:], torch.full([rows, 3], 55, dtype=x.dtype))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("op", ["max", "min", "other"])
@pytest.mark.parametrize("kind", ["any", "rising", "falling", "mixed", "waves", "same"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, SIGNED))
def test_choices_along_rows(dtype, kind, op, reverse, rng):
    x = numbers_of(kind, 3, 257, dtype, op, rng)
    check(x, op, 1, reverse, "i32", (1, 512))


@pytest.mark.parametrize("index", ["i32", "i64", "u32"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("block", [(1, 1), (1, 16), (4, 64), (128, 2), (64, 1), (8, 32), (2, 128)])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.int64))
@pytest.mark.parametrize("op", ["max", "other"])
def test_choices_in_blocks(op, dtype, block, axis, index, rng):
    m, n = block
    for rows, columns in ((m, n), (2 * m + 1, max(1, n - 3))):
        for reverse in (False, True):
            x = numbers_of("mixed", rows, columns, dtype, op, rng)
            check(x, op, axis, reverse, index, block)


@triton.jit
def wide_index_kernel(x, out, N: tl.constexpr):
    """The index is computed with: its i64 are needed as they are."""
    i = tl.arange(0, N)
    index = tl.associative_scan((tl.load(x + i), i.to(tl.int64)), 0, farther)[1]
    tl.store(out + i, index)


@triton.jit
def farther(a, a_index, b, b_index):
    mask = a + a_index * 3000000000 > b + b_index * 3000000000
    return tl.where(mask, a, b), tl.where(mask, a_index, b_index)


def test_an_index_that_is_computed_with_stays_wide(rng):
    x = torch.randint(0, 10, [64], generator=rng)
    out = torch.empty([64], dtype=torch.int64)
    wide_index_kernel[(1,)](x, out, N=64)
    check_equal(out, torch.arange(64))
