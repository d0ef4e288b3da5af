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


@triton.jit
def flat_kernel(
    ids, x, table, count, low, high, stride, w_given,
    W: tl.constexpr, KIND: tl.constexpr, READ: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Rows and columns of a flat index, as torch.compile numbers the elements of an embedding's gradient."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = w_given if W == 0 else W
    inside = (i >= low) & (i < high)
    if READ == "each":
        row = tl.load(ids + i, i < count, other=0)
    elif READ == "twice":
        row = tl.load(ids + tl.load(ids + i // w, i < count, other=0), i < count, other=0)
    elif READ == "parts":
        row = tl.load(ids + i // 40, i < count, other=0)
    else:
        row = tl.load(ids + i // w, i < count, other=0)
    row = tl.where(row < 0, row + 5, row)
    if READ == "kept":
        inside = inside & (row != 2)
    value = tl.load(x + i, i < count)
    to = table + row * stride + i % w
    if KIND == "add":
        tl.atomic_add(to, value, inside, sem="relaxed")
    else:
        tl.atomic_max(to, value, inside, sem="relaxed")


def check_flat(kind, dtype, read, w, rows, cut, block, rng, given=False, integer=torch.int64):
    count = rows * w
    ids = torch.randint(-5, 5, [max(count, 5)], generator=rng).to(integer)
    if read == "twice":
        ids = ids.abs() % 5
    x = torch.randint(-8, 9, [count], generator=rng).to(dtype)
    table = torch.randint(-8, 9, [5 * (w + 3)], generator=rng).to(dtype).view(5, w + 3)
    wanted = table.numpy().copy()
    low, high = cut, count - cut
    flat, number = x.numpy(), ids.numpy()
    for i in range(low, high):
        row = number[{"each": i, "parts": i // 40}.get(read, i // w)]
        row = number[row] if read == "twice" else row + 5 * (row < 0)
        if read == "kept" and row == 2:
            continue
        wanted[row, i % w] = KINDS[kind](wanted[row, i % w], flat[i])
    flat_kernel[(triton.cdiv(max(count, 1), block),)](
        ids, x, table, count, low, high, w + 3, w,
        W=0 if given else w, KIND=kind, READ=read, BLOCK=block,
    )  # fmt: skip
    np.testing.assert_array_equal(table.numpy(), wanted)


@pytest.mark.parametrize("read", ["row", "kept", "twice", "each", "parts"])
@pytest.mark.parametrize(
    ("w", "given"),
    [(1, False), (13, False), (64, False), (100, False), (256, False), (1, True), (100, True)],
)
def test_rows_of_a_flat_index(w, given, read, rng):
    for rows, cut in ((1, 0), (9, 3), (0, 0)):
        check_flat("add", torch.float32, read, w, rows, cut, 256, rng, given)


@pytest.mark.parametrize(
    ("kind", "dtype", "integer"),
    [
        ("add", torch.float16, torch.int32),
        ("add", torch.float64, torch.int64),
        ("add", torch.int64, torch.int16),
        ("add", torch.bfloat16, torch.int8),
        ("max", torch.int32, torch.int32),
    ],
)
def test_rows_of_a_flat_index_by_type(kind, dtype, integer, rng):
    for w, block in ((100, 1024), (128, 512), (31, 128), (1000, 1024)):
        if dtype == torch.bfloat16:
            check_numbers_of_bf16(w, block, rng)
        else:
            check_flat(kind, dtype, "row", w, 7, 5, block, rng, integer=integer)


def check_numbers_of_bf16(w, block, rng):
    """NumPy has no bf16: small integers are exact in both."""
    rows = 7
    ids = torch.randint(0, 5, [rows], generator=rng).to(torch.int8)
    x = torch.randint(-8, 9, [rows * w], generator=rng).bfloat16()
    table = torch.zeros([5, w + 3], dtype=torch.bfloat16)
    wanted = table.float()
    wanted[:, :w].index_add_(0, ids.long(), x.view(rows, w).float())
    flat_kernel[(triton.cdiv(rows * w, block),)](
        ids, x, table, rows * w, 0, rows * w, w + 3, w, W=w, KIND="add", READ="row", BLOCK=block
    )
    assert torch.equal(table.float(), wanted)


@triton.jit
def flat_place_kernel(table, x, N: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.load(table + i // N)
    tl.atomic_add(table + row * N + i % N, tl.load(x + i), sem="relaxed")


@pytest.mark.parametrize("n", [50, 64, 100])
def test_flat_places_in_the_table_that_is_changed(n, rng):
    """Places of all pieces are read before the first of them is changed."""
    block = 1024
    m = triton.cdiv(block, n)
    memory = torch.randint(0, m, [2 * m, n], generator=rng, dtype=torch.int32)
    memory[0, 0] = 0
    x = torch.randint(1, 9, [block], generator=rng, dtype=torch.int32)
    wanted = memory.clone().flatten()
    i = torch.arange(block)
    wanted.index_add_(0, memory.flatten()[i // n].long() * n + i % n, x)
    flat_place_kernel[(1,)](memory, x, N=n, BLOCK=block)
    assert torch.equal(memory.flatten(), wanted)
