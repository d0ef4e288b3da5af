# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that a table chooses, of columns that are quotients or remainders of what is contiguous."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, dtypes, normal, output


@triton.jit
def rows_kernel(
    x, table, out, rows, n, before, stride, out_stride,
    DIVISOR: tl.constexpr, FORM: tl.constexpr, MASKS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    row = tl.load(table + at, mask=at < rows, other=0)
    shifted = columns - before
    if FORM == "quotient":
        word = shifted // DIVISOR
    elif FORM == "remainder":
        word = shifted % DIVISOR
    elif FORM == "bits":
        word = shifted ^ DIVISOR
    else:
        word = shifted // (2 * DIVISOR) * DIVISOR + shifted % DIVISOR
    inside = (at[:, None] < rows) & (columns[None, :] < n)
    places = x + row[:, None] * stride + word[None, :]
    stored = inside
    if MASKS == "both":
        value = tl.load(places, mask=inside, other=3)
    elif MASKS == "rows":
        value = tl.load(places, mask=at[:, None] < rows, other=5)
        stored = columns[None, :] < n
    else:
        value = tl.load(places)
    tl.store(out + at[:, None] * out_stride + columns[None, :], value, mask=stored)


def words(n, before, divisor, form):
    i = torch.arange(n) - before
    if form == "quotient":
        return torch.div(i, divisor, rounding_mode="trunc")
    if form == "remainder":
        return torch.fmod(i, divisor)
    if form == "bits":
        return i ^ divisor
    return torch.div(i, 2 * divisor, rounding_mode="trunc") * divisor + torch.fmod(i, divisor)


def run_rows(rng, dtype, rows, n, divisor, form, masks="both", before=0, block=(16, 64), padded=3):
    word = words(n, before, divisor, form)
    low, high = word.min().item(), word.max().item() + 1
    x = normal(rng, [40, high - low + padded], dtype)
    table = torch.randint(
        0, 40, [triton.cdiv(rows, block[0]) * block[0]], generator=rng, dtype=torch.int32
    )
    # With a mask of rows alone all rows of the last block are stored.
    out = output([table.numel() if masks == "rows" else rows, n], dtype)
    memory = at_end_of_memory(x)
    # Columns below zero are before the first element of a row.
    rows_kernel[triton.cdiv(rows, block[0]), triton.cdiv(n, block[1])](
        memory.flatten()[-low:] if low < 0 else memory,
        table, out, rows, n, before, x.stride(0), n, divisor, form, masks, *block,
    )  # fmt: skip
    wanted = x[table.long()][:, word - min(low, 0)]
    wanted[rows:] = 5
    check_equal(out, wanted[: out.shape[0]])


FORMS = [("quotient", 8), ("quotient", 2), ("remainder", 8), ("bits", 4), ("halves", 4)]


@pytest.mark.parametrize(("form", "divisor"), FORMS)
@pytest.mark.parametrize(
    "dtype",
    dtypes(torch.int32, torch.float32, torch.float16, torch.int8, torch.int64, torch.float64),
)
def test_types(form, divisor, dtype, rng):
    run_rows(rng, dtype, 50, 192, divisor, form)


# A multiple of 16 is known to be one; others end within a word.
@pytest.mark.parametrize(
    ("form", "divisor", "n"),
    # Of one column "bits" would read behind the row.
    [(*form, n) for form in FORMS for n in (16, 80, 64, 100, 1) if (form[0], n) != ("bits", 1)],
)
@pytest.mark.parametrize("rows", [0, 1, 17])
def test_ends(form, divisor, n, rows, rng):
    run_rows(rng, torch.int32, rows, n, divisor, form)


@pytest.mark.parametrize(("form", "divisor"), FORMS)
@pytest.mark.parametrize("masks", ["rows", "none"])
def test_masks(form, divisor, masks, rng):
    run_rows(rng, torch.float32, 48 if masks == "none" else 37, 128, divisor, form, masks)


# The first programs begin below zero, where quotients are towards zero.
@pytest.mark.parametrize("divisor", [8, 2])
@pytest.mark.parametrize("before", [64, 16, 5])
@pytest.mark.parametrize("form", ["quotient", "remainder"])
def test_below_zero(divisor, before, form, rng):
    run_rows(rng, torch.int32, 20, 192, divisor, form, before=before)


@pytest.mark.parametrize("block", [(1, 64), (2, 16), (64, 32), (4, 256), (32, 8)])
@pytest.mark.parametrize(("form", "divisor"), [("quotient", 8), ("quotient", 4), ("remainder", 16)])
def test_blocks(block, form, divisor, rng):
    run_rows(rng, torch.int32, 70, 256, divisor, form, block=block)


@triton.jit
def ordered_kernel(
    a, packed, out, scales, zeros, groups, m, n, k, BITS: tl.constexpr, TRANSPOSED: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Weights whose groups a table orders, as those of GPTQ with `desc_act`."""
    IN_WORD: tl.constexpr = 32 // BITS
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    if TRANSPOSED:
        depth = tl.program_id(1) * BK + tl.arange(0, BK)
        columns = tl.arange(0, BN)
        steps, acc = tl.cdiv(n, BN), tl.zeros((BM, BK), tl.float32)
    else:
        depth = tl.arange(0, BK)
        columns = tl.program_id(1) * BN + tl.arange(0, BN)
        steps, acc = tl.cdiv(k, BK), tl.zeros((BM, BN), tl.float32)
    for _ in range(steps):
        group = tl.load(groups + depth)
        scale = tl.load(scales + group[:, None] * n + columns[None, :])
        zero = tl.load(zeros + group[:, None] * (n // IN_WORD) + columns[None, :] // IN_WORD)
        zero = ((zero >> (columns % IN_WORD * BITS)[None, :]) & (2**BITS - 1)) + 1
        code = tl.load(packed + (depth[:, None] // IN_WORD) * n + columns[None, :])
        code = (code >> (depth % IN_WORD * BITS)[:, None]) & (2**BITS - 1)
        weight = (code - zero) * scale
        if TRANSPOSED:
            x = tl.load(a + rows[:, None] * n + columns[None, :], mask=rows[:, None] < m, other=0.0)
            acc = tl.dot(x, tl.trans(weight).to(x.dtype), acc)
            columns += BN
        else:
            x = tl.load(a + rows[:, None] * k + depth[None, :], mask=rows[:, None] < m, other=0.0)
            acc = tl.dot(x, weight.to(x.dtype), acc)
            depth += BK
    if TRANSPOSED:
        tl.store(out + rows[:, None] * k + depth[None, :], acc, mask=rows[:, None] < m)
    else:
        tl.store(out + rows[:, None] * n + columns[None, :], acc, mask=rows[:, None] < m)


def words_of(codes, bits, dim):
    """Neighbours along a dimension in a word of 32 bits."""
    parts = codes.long().unflatten(dim, (-1, 32 // bits)).unbind(dim + 1)
    word = sum(part << bits * i for i, part in enumerate(parts))
    return torch.where(word >= 2**31, word - 2**32, word).to(torch.int32)


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [1, 3, 16, 40])
@pytest.mark.parametrize("transposed", [False, True], ids=["plain", "transposed"])
@pytest.mark.parametrize("bits", [4, 8, 2])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.bfloat16), ids=str)
def test_ordered_groups(m, transposed, bits, dtype, rng):
    k, n, block = 128, 192, (16, 64, 32)
    codes = torch.randint(0, 2**bits, [k, n], generator=rng)
    zeros = torch.randint(0, 2**bits, [4, n], generator=rng)
    scales = (normal(rng, [4, n]).abs() + 0.1).to(dtype)
    groups = torch.randint(0, 4, [k], generator=rng, dtype=torch.int32)
    weight = ((codes - zeros[groups] - 1) * scales.float()[groups]).to(dtype).double()
    a = normal(rng, [m, n if transposed else k], dtype)
    out = output([m, k if transposed else n], torch.float32)
    ordered_kernel[triton.cdiv(m, 16), (k // 32 if transposed else n // 64)](
        at_end_of_memory(a), at_end_of_memory(words_of(codes, bits, 0)), out, at_end_of_memory(scales),
        at_end_of_memory(words_of(zeros, bits, 1)), at_end_of_memory(groups), m, n, k, bits, transposed, *block,
    )  # fmt: skip
    wanted = a.double() @ (weight.t() if transposed else weight)
    check_equal(out, wanted, dtype=torch.float32, tolerance=(1e-3, 1e-2 * 2**bits))
