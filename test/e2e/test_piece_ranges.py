# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures with margins, and rows put beside each other, whose elements are numbered by one index: masks are ranges of a row."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, SIGNED, dtypes


@triton.jit
def pad_kernel(
    x, out, h, w, top, left, ph_given, pw_given, n,
    PH: tl.constexpr, PW: tl.constexpr, FORM: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ph = ph_given if PH == 0 else PH
    pw = pw_given if PW == 0 else PW
    row = i // pw % ph - top
    column = i % pw - left
    if FORM == "usual":
        inside = (row >= 0) & (row < h) & (column >= 0) & (column < w)
    elif FORM == "swapped":
        inside = (h > row) & (0 <= row) & (w - 1 >= column) & (-1 < column)
    elif FORM == "unsigned":
        inside = (row.to(tl.uint32) < h.to(tl.uint32)) & (column.to(tl.uint32) < w.to(tl.uint32))
    elif FORM == "long":
        inside = (
            (row.to(tl.int64) >= 0)
            & (row < h.to(tl.int64))
            & (column.to(tl.int64) > -1)
            & (column <= w.to(tl.int64) - 1)
        )
    else:
        # Columns from the other side on shrink, and a range of the flat index is one more.
        inside = (row >= 0) & (row < h) & (column >= 0) & (w - 1 - column >= 0) & (i >= 11)
    value = tl.load(x + i // (pw * ph) * h * w + row * w + column, inside & (i < n), other=7)
    tl.store(out + i, value, i < n)


def check_pad(dtype, planes, h, w, margins, form="usual", given=False, block=512, rng=None):
    top, bottom, left, right = margins
    ph, pw = h + top + bottom, w + left + right
    x = torch.randint(-50, 50, [planes, h, w], generator=rng).to(dtype)
    n = planes * ph * pw
    out = torch.full([n + 3], 99, dtype=dtype)
    pad_kernel[(triton.cdiv(n, block) + 1,)](
        x, out, h, w, top, left, ph, pw, n,
        PH=0 if given else ph, PW=0 if given else pw, FORM=form, BLOCK=block,
    )  # fmt: skip
    wanted = np.full([planes, ph, pw], 7.0)
    r, c = np.arange(ph) - top, np.arange(pw) - left
    rows, columns = (r >= 0) & (r < h), (c >= 0) & (c < w)
    wanted[:, rows[:, None] & columns] = (
        x.float().numpy()[:, r[rows]][:, :, c[columns]].reshape(planes, -1)
    )
    if form == "more":
        wanted.reshape(-1)[:11] = 7
    np.testing.assert_array_equal(out[:n].float().numpy(), wanted.reshape(-1))
    assert (out[n:] == 99).all()


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("form", ["usual", "swapped", "unsigned", "long", "more"])
def test_margins(form, given, rng):
    for w, margins in ((56, (1, 1, 1, 1)), (30, (2, 0, 3, 45)), (7, (1, 1, 1, 1))):
        check_pad(torch.float32, 2, 9, w, margins, form, given, rng=rng)


@pytest.mark.parametrize("dtype", dtypes(FLOATS, SIGNED))
def test_types(dtype, rng):
    for w in (20, 150):
        check_pad(dtype, 2, 7, w, (1, 2, 3, 4), rng=rng)


@pytest.mark.parametrize(
    "margins",
    [(0, 0, 0, 0), (-1, 2, -3, -4), (2, -1, -5, 6), (0, 0, 3, -3), (0, 0, -40, 60), (1, 1, 70, 0)],
)
def test_what_is_cut_off(margins, rng):
    for h, w in ((3, 61), (1, 64)):
        check_pad(torch.float32, 3, h, w, margins, rng=rng)
        check_pad(torch.bfloat16, 1, h, w, margins, given=True, block=1024, rng=rng)


@triton.jit
def beside_kernel(x, y, bias, out, n, A: tl.constexpr, B: tl.constexpr, BLOCK: tl.constexpr):
    """Rows of two arrays beside each other; what is of neither is read elsewhere."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = i % (A + B + 1)
    row = i // (A + B + 1)
    other = tl.load(bias + i, i < n)
    first = tl.load(x + row * A + column, (column < A) & (i < n), other=other)
    second = tl.load(
        y + row * B + column - A, (column >= A) & (column < A + B) & (i < n), other=other
    )
    tl.store(out + i, tl.where(column < A, first, second), i < n)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.int64, torch.int8))
@pytest.mark.parametrize(("a", "b"), [(56, 56), (100, 3), (3, 29), (1, 200)])
def test_rows_beside_each_other(a, b, dtype, rng):
    rows = 37
    x, y, bias = (
        torch.randint(-50, 50, [rows, k], generator=rng).to(dtype) for k in (a, b, a + b + 1)
    )
    out = torch.full([rows, a + b + 1], 99, dtype=dtype)
    n = out.numel()
    beside_kernel[(triton.cdiv(n, 256),)](x, y, bias, out, n, A=a, B=b, BLOCK=256)
    assert torch.equal(out, torch.cat([x, y, bias[:, -1:]], 1))


@triton.jit
def repeated_kernel(x, out, w, n, PW: tl.constexpr, BLOCK: tl.constexpr):
    """What is read is one element for a row, and for none of its margin."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = i % PW - 3
    value = tl.load(x + i // PW, (column >= 0) & (column < w) & (i < n), other=-1)
    tl.store(out + i, value, i < n)


@pytest.mark.parametrize("w", [0, 1, 50, 90])
def test_one_element_a_row(w, rng):
    rows, pw = 40, 97
    x = torch.randn([rows], generator=rng)
    out = torch.zeros([rows, pw])
    repeated_kernel[(triton.cdiv(rows * pw, 512),)](x, out, w, rows * pw, PW=pw, BLOCK=512)
    wanted = torch.full([rows, pw], -1.0)
    wanted[:, 3 : 3 + w] = x[:, None]
    assert torch.equal(out, wanted)


@triton.jit
def kept_kernel(
    x,
    bias,
    out,
    top,
    left,
    n,
    H,
    PH: tl.constexpr,
    W: tl.constexpr,
    PW: tl.constexpr,
    FACTORS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """A margin of the pixels at the edge: what is kept within a row grows by 1, or not at all."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = i % PW - left
    if FACTORS:
        # As torch.compile writes it.
        column = 0 * (0 >= column) + column * (column > 0)
        column = (W - 1) * (W - 1 <= column) + column * (column < W - 1)
    else:
        column = tl.minimum(tl.maximum(column, 0), W - 1)
    row = tl.minimum(tl.maximum(i // PW % PH - top, 0), H - 1)
    value = tl.load(x + column + W * row + W * H * (i // (PW * PH)), i < n)
    more = tl.load(bias + tl.where(i % PW < 5, i % PW, 5), i < n)
    tl.store(out + i, value + more, i < n)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8))
@pytest.mark.parametrize(
    ("w", "left", "right"), [(56, 1, 1), (7, 2, 3), (150, 0, 40), (30, -3, -2)]
)
@pytest.mark.parametrize("factors", [False, True])
def test_pixels_at_the_edge(factors, w, left, right, dtype, rng):
    planes, h, top, bottom = 3, 6, 2, 1
    ph, pw = h + top + bottom, w + left + right
    x = torch.randint(-50, 50, [planes, h, w], generator=rng).to(dtype)
    bias = torch.randint(-9, 9, [6], generator=rng).to(dtype)
    out = torch.full([planes * ph * pw + 3], 99, dtype=dtype)
    n = planes * ph * pw
    kept_kernel[(triton.cdiv(n, 512) + 1,)](
        x, bias, out, top, left, n, h, PH=ph, W=w, PW=pw, FACTORS=factors, BLOCK=512
    )
    rows = (torch.arange(ph) - top).clamp(0, h - 1)
    columns = (torch.arange(pw) - left).clamp(0, w - 1)
    wanted = x[:, rows][:, :, columns] + bias[torch.arange(pw).clamp(max=5)]
    assert torch.equal(out[:n].view(planes, ph, pw), wanted)
    assert (out[n:] == 99).all()


@triton.jit(do_not_specialize=["t0", "t1", "d0", "d1", "n0", "n1", "p0", "p1"])
def strided_pad_kernel(
    x, out, n, value, t0, t1, d0, d1, n0, n1, p0, p1, NESTED: tl.constexpr, BLOCK: tl.constexpr
):
    """Distances of the output's rows and columns are arguments, of which the latter usually is 1."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if NESTED:
        row, column = i // t0 - p0, i % t0 // t1 - p1
    else:
        row, column = i // t0 - p0, i // t1 % (t0 // t1) - p1
    inside = (row >= 0) & (row < n0) & (column >= 0) & (column < n1)
    read = tl.load(x + row * d0 + column * d1, (i < n) & inside, other=value)
    tl.store(out + i, read + 1, i < n)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8))
@pytest.mark.parametrize("distance", [1, 2, 3])
@pytest.mark.parametrize(
    ("h", "w", "margin"), [(9, 100, 3), (5, 64, 0), (40, 7, 1), (3, 500, 30), (30, 1, 0)]
)
def test_divisors_that_are_one(h, w, margin, distance, dtype, nested, rng):
    """Out elements at `distance` have one number, and so do those between them."""
    ph, pw = h + 2 * margin, w + 2 * margin
    for columns, step in ((w, 1), (2 * w, 2)):
        x = torch.randint(-50, 50, [h, columns], generator=rng).to(dtype)
        out = torch.full([ph * pw * distance + 3], 99, dtype=dtype)
        n = ph * pw * distance
        strided_pad_kernel[(triton.cdiv(n, 512),)](
            x, out, n, 7, pw * distance, distance, columns, step, h, w, margin, margin,
            NESTED=nested, BLOCK=512,
        )  # fmt: skip
        wanted = torch.full([ph, pw], 7, dtype=dtype)
        wanted[margin : margin + h, margin : margin + w] = x[:, ::step]
        wanted = (wanted + 1)[:, :, None].expand(ph, pw, distance)
        assert torch.equal(out[:n].view(ph, pw, distance), wanted)
        assert (out[n:] == 99).all()


def test_one_row_a_divisor(rng):
    """All distances are 1: each element is a row."""
    x = torch.randn([300], generator=rng)
    out = torch.zeros([300])
    strided_pad_kernel[(3,)](x, out, 300, 7, 1, 1, 1, 1, 300, 1, 0, 0, NESTED=True, BLOCK=128)
    assert torch.equal(out, x + 1)
