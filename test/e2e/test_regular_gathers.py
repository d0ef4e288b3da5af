# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gathers whose places are computed: often all lanes are at one place, or neighbours, and then they are loads."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16,
    torch.int8, torch.int16, torch.int32, torch.int64, torch.bool,
]  # fmt: skip
names = {"ids": lambda d: str(d).removeprefix("torch.")}


@triton.jit
def places_kernel(
    x, out, repeats, period, first, n,
    KIND: tl.constexpr, MASK: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if WIDE:
        at = at.to(tl.int64)
    if KIND == "repeated":
        place = at // repeats
    elif KIND == "wrapped":
        place = at % period
    elif KIND == "both":
        place = (at // repeats) % period
    elif KIND == "clamped":
        place = tl.minimum(tl.maximum(at - first, 0), period - 1)
    elif KIND == "mirrored":
        place = tl.abs(at - first)
    mask = at < n
    if MASK == "begin":
        mask = mask & (at >= first)
    elif MASK == "holes":
        mask = mask & (at % 5 != 0)
    if MASK == "none":
        value = tl.load(x + place)
    else:
        value = tl.load(x + place, mask=mask, other=1)
    tl.store(out + at, value)


def place_of(kind, at, repeats, period, first):
    return {
        "repeated": lambda: at // repeats,
        "wrapped": lambda: at % period,
        "both": lambda: at // repeats % period,
        "clamped": lambda: (at - first).clamp(0, period - 1),
        "mirrored": lambda: (at - first).abs(),
    }[kind]()


@pytest.mark.parametrize("mask", ["none", "end", "begin", "holes"])
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("both", dtype) for dtype in DTYPES]
    + [(k, torch.float32) for k in ("repeated", "wrapped", "clamped", "mirrored")]
    + [(k, torch.bfloat16) for k in ("repeated", "clamped")],
    **names,
)
@pytest.mark.parametrize(
    ("repeats", "period", "first", "block"), [(1, 3, 5, 16), (37, 24, 11, 128), (64, 200, 70, 64)]
)
@pytest.mark.parametrize("wide", [False, True])
def test_places(repeats, period, first, block, kind, mask, wide, dtype, rng):
    programs = 3
    at = torch.arange(programs * block)
    place = place_of(kind, at, repeats, period, first)
    n = len(at) - (block // 3 if mask != "none" else 0)
    used = at < n
    if mask == "begin":
        used &= at >= first
    elif mask == "holes":
        used &= at % 5 != 0
    # The memory ends with the last element that is used.
    x = torch.randint(-100, 100, [int(place[used].max()) + 1], generator=rng).to(dtype)
    out = torch.zeros(len(at)).to(dtype)
    places_kernel[(programs,)](
        at_end_of_memory(x), out, repeats, period, first, n,
        KIND=kind, MASK=mask, WIDE=wide, BLOCK=block,
    )  # fmt: skip
    expected = torch.ones(len(at)).to(dtype)
    expected[used] = x[place[used]]
    assert torch.equal(out, expected)


@triton.jit
def select_kernel(x, index, out, columns, total, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(index + at // columns, mask=at < total, other=0)
    value = tl.load(x + row * columns + at % columns, mask=at < total, other=0)
    tl.store(out + at, value, mask=at < total)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], **names)
@pytest.mark.parametrize("columns", [1, 3, 16, 61, 256])
def test_rows_by_an_index(columns, dtype, rng):
    x = torch.randint(-100, 100, [9, columns], generator=rng).to(dtype)
    index = torch.randint(0, 9, [20], generator=rng)
    out = torch.zeros(20, columns).to(dtype)
    select_kernel[(triton.cdiv(20 * columns, 128),)](x, index, out, columns, out.numel(), BLOCK=128)
    assert torch.equal(out, x[index])
