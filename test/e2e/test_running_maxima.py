# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The largest element so far, which a loop compares with each block's: NaN counts as missing."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import normal, output


@triton.jit
def rows_kernel(
    x, first, out, n, HOW: tl.constexpr, START: tl.constexpr, R: tl.constexpr, B: tl.constexpr
):
    """Rows of n elements, R a program; all begin with START, or with `first`."""
    row = tl.program_id(0) * R + tl.arange(0, R)
    start = tl.load(first) if START is None else START
    top = tl.full([R], 0, out.dtype.element_ty) + start
    for at in range(0, n, B):
        i = at + tl.arange(0, B)
        other = -float("inf") if HOW == "max" else float("inf")
        value = tl.load(x + row[:, None] * n + i[None, :], mask=i[None, :] < n, other=other)
        top = (
            tl.maximum(top, tl.max(value, 1)) if HOW == "max" else tl.minimum(tl.min(value, 1), top)
        )
    tl.store(out + row, top)


@triton.jit
def scaled_kernel(x, out, n, scale, B: tl.constexpr):
    """Blocks of B elements, each one's maximum scaled before it is compared."""
    top = -float("inf")
    for at in range(0, n, B):
        top = tl.maximum(top, tl.max(tl.load(x + at + tl.arange(0, B)), 0) * scale)
    tl.store(out, top)


def with_nans(rng, shape, dtype, how):
    x = normal(rng, shape, dtype)
    if how == "some":
        x[torch.rand(shape, generator=rng) < 0.3] = float("nan")
    if how == "rows":
        x[::2] = float("nan")
    return x


@pytest.mark.parametrize("nans", ["none", "some", "rows"])
@pytest.mark.parametrize("start", [-float("inf"), 0.5, float("nan"), None])
@pytest.mark.parametrize(
    ("dtype", "n"),
    [
        (torch.float32, 256),
        (torch.float32, 77),
        (torch.float64, 50),
        (torch.float16, 130),
        (torch.bfloat16, 33),
    ],
)
@pytest.mark.parametrize("how", ["max", "min"])
def test_largest_so_far(how, dtype, n, start, nans, rng):
    rows, r = 24, 8
    x = with_nans(rng, [rows, n], dtype, nans)
    first = torch.tensor([float("nan") if nans == "some" else -0.25], dtype=dtype)
    out = output([rows], torch.promote_types(dtype, torch.float32))
    rows_kernel[(rows // r,)](x, first, out, n, HOW=how, START=start, R=r, B=64)
    begin = first.double().numpy() if start is None else np.array([start])
    extremum = np.fmax if how == "max" else np.fmin
    each = x.double().numpy()
    if n % 64 != 0:  # What is loaded behind the row's end is a number, too.
        each = np.pad(each, ((0, 0), (0, 1)), constant_values=-np.inf if how == "max" else np.inf)
    expected = extremum(extremum.reduce(each, axis=1), begin)
    np.testing.assert_array_equal(out.double().numpy(), expected)


@pytest.mark.parametrize("scale", [2.0, -2.0, 0.0])
@pytest.mark.parametrize("nans", ["none", "some", "rows"])
def test_scaled_blocks(nans, scale, rng):
    x = with_nans(rng, [6, 64], torch.float32, nans)
    out = output([1], torch.float32)
    scaled_kernel[(1,)](x, out, x.numel(), scale, B=64)
    each = np.fmax.reduce(x.numpy(), axis=1) * np.float32(scale)
    np.testing.assert_array_equal(out.numpy()[0], np.fmax.reduce(each, initial=-np.inf))
