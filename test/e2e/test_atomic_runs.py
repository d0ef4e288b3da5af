# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of lanes that are known to follow one another, changed atomically: kinds, masks, places in the memory that is changed."""

import threading

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import dtypes

KINDS = {
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "xchg": lambda old, new: new,
}


@triton.jit
def change_kernel(
    index, x, keep, table, rows, low, high, stride,
    KIND: tl.constexpr, MASK: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.arange(0, N)
    row = tl.load(index + i, i < rows, other=0)
    inside = (i < rows)[:, None] & ((j >= low) & (j < high))[None, :]
    if MASK == "read rows":
        inside = inside & (tl.load(keep + i, i < rows, other=0) != 0)[:, None]
    elif MASK == "read lanes":
        inside = inside & (tl.load(keep + j) != 0)[None, :]
    value = tl.load(x + i[:, None] * N + j[None, :], i[:, None] < rows)
    to = table + row[:, None] * stride + j[None, :]
    if KIND == "add":
        tl.atomic_add(to, value, inside, sem="relaxed")
    elif KIND == "max":
        tl.atomic_max(to, value, inside, sem="relaxed")
    elif KIND == "min":
        tl.atomic_min(to, value, inside, sem="relaxed")
    elif KIND == "and":
        tl.atomic_and(to, value, inside, sem="relaxed")
    elif KIND == "or":
        tl.atomic_or(to, value, inside, sem="relaxed")
    elif KIND == "xor":
        tl.atomic_xor(to, value, inside, sem="relaxed")
    else:
        tl.atomic_xchg(to, value, inside, sem="relaxed")


def check(kind, dtype, mask, m, n, low, high, rng, rows=7, shift=1):
    index = torch.randint(0, 5, [rows], generator=rng)
    x = torch.randint(-8, 9, [rows, n], generator=rng).to(dtype)
    keep = torch.randint(0, 2, [max(n, rows)], generator=rng)
    memory = torch.randint(-8, 9, [5 * (n + 3) + shift], generator=rng).to(dtype)
    table = memory[shift:].view(5, n + 3)
    wanted = table.numpy().copy()
    lanes = np.arange(n)
    for r in range(rows):
        inside = (lanes >= low) & (lanes < high)
        if mask == "read rows":
            inside &= keep[r].item() != 0
        elif mask == "read lanes":
            inside &= keep[:n].numpy() != 0
        row = wanted[index[r], :n]
        row[inside] = KINDS[kind](row, x[r].numpy())[inside]
    change_kernel[(triton.cdiv(rows, m),)](
        index, x, keep, table, rows, low, high, n + 3, KIND=kind, MASK=mask, M=m, N=n
    )
    np.testing.assert_array_equal(table.numpy(), wanted)


@pytest.mark.parametrize("mask", ["range", "read rows", "read lanes"])
@pytest.mark.parametrize("m", [1, 4])
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        *[("add", dtype) for dtype in (torch.float32, torch.float16, torch.float64, torch.int32, torch.int64)],
        *[(kind, torch.int32) for kind in KINDS if kind not in ("add", "xchg")],
        *[("xchg", dtype) for dtype in (torch.float32, torch.int64)],
    ],
)  # fmt: skip
def test_rows_that_are_changed(kind, dtype, m, mask, rng):
    # Programs of `xchg` have no order: one program has all rows.
    m = 8 if kind == "xchg" else m
    for n, low, high in ((64, 0, 64), (64, 3, 50), (64, 20, 20), (256, 0, 255), (16, 0, 13)):
        check(kind, dtype, mask, m, n, low, high, rng)


def test_rows_longer_than_what_a_guard_is_of(rng):
    """One guard is that of 8 KiB, wherever a row begins."""
    for shift in (0, 1, 9):
        check("add", torch.float32, "range", 1, 8192, 5, 8001, rng, shift=shift)


@triton.jit
def place_kernel(table, x, M: tl.constexpr, N: tl.constexpr):
    """Places of all rows are read before the first of them is changed."""
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    row = tl.load(table + i)
    tl.atomic_add(table + row[:, None] * N + j[None, :], tl.load(x + i[:, None] * N + j[None, :]))


def test_places_in_the_table_that_is_changed(rng):
    m, n = 8, 64
    memory = torch.randint(0, m, [4 * m, n], generator=rng, dtype=torch.int32)
    memory[0, 0] = 0
    x = torch.randint(1, 9, [m, n], generator=rng, dtype=torch.int32)
    wanted = memory.clone().index_add_(0, memory.flatten()[:m].long(), x)
    place_kernel[(1,)](memory, x, M=m, N=n)
    assert torch.equal(memory, wanted)


@pytest.mark.compiled("the interpreter's programs run one after the other")
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.int32))
def test_launches_and_threads_that_change_the_same_rows(dtype):
    """Of two Python threads at once, each launch of which has all threads: as much is added as if one after the other."""
    rows, n = 512, 1024
    index = torch.zeros([rows], dtype=torch.int64)
    index[::3] = 4
    x = torch.ones([rows, n], dtype=dtype)
    keep = torch.ones([n], dtype=torch.int64)
    table = torch.zeros([5, n + 3], dtype=dtype)

    def launches():
        for _ in range(20):
            change_kernel[(rows,)](
                index, x, keep, table, rows, 0, 1001, n + 3, KIND="add", MASK="range", M=1, N=n
            )

    launches()
    others = [threading.Thread(target=launches) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    wanted = torch.zeros([5, n + 3], dtype=dtype)
    wanted[:, :n].index_add_(0, index, x * 60)
    wanted[:, 1001:] = 0
    assert torch.equal(table, wanted)
