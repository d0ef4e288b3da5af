# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices made of shifts, bits and selections of constants, and masks that are inverted."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, normal, output

INDICES = {
    "shift": lambda i, j: i >> 1,
    "rows": lambda i, j: (i >> 4) * 20 + (i & 15),
    "long_rows": lambda i, j: (i >> 7) + (i & 127) * 2,
    "two_shifts": lambda i, j: ((i >> 2) >> 3) * 40 + ((i >> 2) & 7),
    "halves": lambda i, j: torch.where(j >= 32, j - 32, j),
    "pairs": lambda i, j: torch.where(j % 2 == 0, j + 1, j - 1),
    "bits": lambda i, j: j ^ 3,
    "rotated": lambda i, j: (j + 16) & 63,
    "uneven": lambda i, j: torch.where(j < 20, j, 2 * j - 20),
    "changing": lambda i, j: torch.where((j >= 16) & (j < 32), j - 16, j),
    "short": lambda i, j: (j & 1) * 50 + (j >> 1),
}


@triton.jit
def index_of(i, j, FORM: tl.constexpr):
    if FORM == "shift":
        return i >> 1
    elif FORM == "rows":
        return (i >> 4) * 20 + (i & 15)
    elif FORM == "long_rows":
        return (i >> 7) + (i & 127) * 2
    elif FORM == "two_shifts":
        return ((i >> 2) >> 3) * 40 + ((i >> 2) & 7)
    elif FORM == "halves":
        return tl.where((j >= 32) & (j < 64), j - 32, j)
    elif FORM == "pairs":
        return tl.where(j % 2 == 0, j + 1, j - 1)
    elif FORM == "bits":
        return j ^ 3
    elif FORM == "rotated":
        return (j + 16) & 63
    elif FORM == "uneven":
        return tl.where(j < 20, j, 2 * j - 20)
    elif FORM == "changing":
        return tl.where((j >= 16) & (j < 32), j - 16, j)
    else:
        return (j & 1) * 50 + (j >> 1)


@triton.jit
def index_kernel(
    x, out, shift, start, n, middle, FORM: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.program_id(0) * BLOCK + start + tl.arange(0, BLOCK)
    to = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.arange(0, BLOCK)
    if WIDE:
        i, j = i.to(tl.int64), j.to(tl.int64)
    at = x + middle + shift * tl.program_id(0) + index_of(i, j, FORM)
    tl.store(out + to, tl.load(at, mask=to < n, other=-1.0), mask=to < 256)


@pytest.mark.parametrize("form", INDICES)
@pytest.mark.parametrize("start", [0, 64, 3, -64, -5, -256])
@pytest.mark.parametrize("wide", [False, True])
def test_index(form, start, wide, rng):
    """Begins below zero, at multiples and between them; the mask ends anywhere."""
    for n in (256, 200, 1):
        program, j = torch.arange(256) // 64, torch.arange(256) % 64
        middle = 400
        at = middle + 5 * program + INDICES[form](torch.arange(256) + start, j)
        x = normal(rng, [1200])
        x = at_end_of_memory(x[: int(at[:n].max()) + 1])
        out = output([256], torch.float32)
        index_kernel[(4,)](x, out, 5, start, n, middle, form, wide, BLOCK=64)
        mask = torch.arange(256) < n
        check_equal(out, torch.where(mask, x[at * mask], -1.0))


MASKS = {
    "not": lambda i, a, b: ~(i < a),
    "neither": lambda i, a, b: ~((i < a) | (i >= b)),
    "not_both": lambda i, a, b: ~((i < a) & (i >= b)),
    "twice": lambda i, a, b: ~~(i < a),
    "not_equal": lambda i, a, b: ~(i != a),
    "equal": lambda i, a, b: ~(i == a),
    "no_neither": lambda i, a, b: ~(~((i < a) | (i >= b)) | (i == b)),
    "condition": lambda i, a, b: ~((i < a) | torch.tensor(a > b)),
}


@triton.jit
def mask_kernel(x, out, a, b, FORM: tl.constexpr, BLOCK: tl.constexpr, COLS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.arange(0, COLS)
    if FORM == "not":
        mask = ~(i < a)
    elif FORM == "neither":
        mask = ~((i < a) | (i >= b))
    elif FORM == "not_both":
        mask = ~((i < a) & (i >= b))
    elif FORM == "twice":
        mask = ~~(i < a)
    elif FORM == "not_equal":
        mask = ~(i != a)
    elif FORM == "equal":
        mask = ~(i == a)
    elif FORM == "no_neither":
        mask = ~(~((i < a) | (i >= b)) | (i == b))
    else:
        mask = ~((i < a) | (a > b))
    at = i[:, None] * COLS + c[None, :]
    tl.store(out + at, tl.load(x + at, mask=mask[:, None], other=-1.0))
    tl.store(out + 64 * COLS + at, tl.load(x + at), mask=~(~mask[:, None] & (c[None, :] >= 0)))


@pytest.mark.parametrize("form", MASKS)
@pytest.mark.parametrize("cols", [1, 8])
def test_mask(form, cols, rng):
    for a, b in ((0, 64), (5, 40), (40, 5), (64, 0), (16, 16), (-3, 100)):
        x = normal(rng, [64, cols])
        out = output([128, cols], torch.float32).fill_(7)
        mask_kernel[(4,)](x, out, a, b, form, BLOCK=16, COLS=cols)
        mask = MASKS[form](torch.arange(64), a, b)[:, None]
        check_equal(out[:64], torch.where(mask, x, -1.0))
        check_equal(out[64:], torch.where(mask, x, 7.0))
