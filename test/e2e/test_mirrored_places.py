# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places that are magnitudes of what is computed from a flat index, as those of a picture that is mirrored at its edges."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, SIGNED, dtypes


@triton.jit
def reflect_kernel(
    x, out, n, h, w, top, left, ph_given, pw_given,
    H: tl.constexpr, W: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """As torch.compile writes it."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if WIDE:
        i = i.to(tl.int64)
    height, width = h if H == 0 else H, w if W == 0 else W
    ph, pw = ph_given if PH == 0 else PH, pw_given if PW == 0 else PW
    column, row, plane = i % pw, i // pw % ph, i // (pw * ph)
    column = (-1) * tl.abs((1 - width) + tl.abs(column - left))
    row = (-1) * width * tl.abs((1 - height) + tl.abs(row - top))
    place = (height * width - 1) + column + row + width * height * plane
    tl.store(out + i, tl.load(x + place, i < n), i < n)


def check_reflect(rng, planes, h, w, margins, dtype=torch.float32, given=False, wide=False):
    top, bottom, left, right = margins
    ph, pw, block = h + top + bottom, w + left + right, 512
    x = torch.randint(-100, 100, [planes, h, w], generator=rng).to(dtype)
    n = planes * ph * pw
    out = torch.full([n + 3], 99, dtype=dtype)
    sizes = (0, 0, 0, 0) if given else (h, w, ph, pw)
    reflect_kernel[(triton.cdiv(n, block) + 1,)](
        x, out, n, h, w, top, left, ph, pw, *sizes, WIDE=wide, BLOCK=block
    )
    rows, columns = (
        size - 1 - abs(size - 1 - abs(np.arange(size + before + after) - before))
        for size, before, after in ((h, top, bottom), (w, left, right))
    )
    wanted = x.float().numpy()[:, rows][:, :, columns]
    np.testing.assert_array_equal(out[:n].float().numpy(), wanted.reshape(-1))
    assert (out[n:] == 99).all()


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("w", "left", "right"),
    [
        (56, 3, 3),
        (61, 0, 1),
        (128, 8, 8),
        (30, 29, 29),
        (5, 1, 4),
        (1, 0, 0),
        (150, 0, 0),
        (40, -3, -5),
        (40, 20, -7),
    ],
)
def test_reflected_pictures(w, left, right, wide, given, rng):
    check_reflect(rng, 3, 7, w, (2, 1, left, right), given=given, wide=wide)
    check_reflect(rng, 1, 1, w, (0, 0, left, right), given=given, wide=wide)


@pytest.mark.parametrize("dtype", dtypes(FLOATS, SIGNED))
def test_types(dtype, rng):
    for w, margin in ((60, 2), (200, 33), (6, 3)):
        check_reflect(rng, 2, 6, w, (1, 5, margin, margin), dtype)


@triton.jit
def magnitude_kernel(
    x, out, n, N, c, factor, F: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr
):
    """Of what grows by `factor`: zero may be passed between two elements."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if WIDE:
        i = i.to(tl.int64)
    by = factor if F == 0 else F
    place = tl.abs(i % N * by - c) + i // N
    value = tl.load(x + place, i < n)
    tl.store(out + i, value + 1, i < n)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("factor", [1, 2, 3, -1, -2])
@pytest.mark.parametrize(
    ("N", "c"), [(100, 50), (100, 0), (37, 18), (64, 80), (64, -9), (5, 2), (200, 31)]
)
def test_growth(N, c, factor, given, wide, rng):
    n, rows = N * 21, 21
    i = np.arange(n)
    places = abs(i % N * factor - c) + i // N
    x = torch.randn(places.max() + 1 + rows, generator=rng)
    out = torch.zeros(n)
    magnitude_kernel[(triton.cdiv(n, 256),)](
        x, out, n, N, c, factor, F=0 if given else factor, WIDE=wide, BLOCK=256
    )
    np.testing.assert_array_equal(out.numpy(), x.numpy()[places] + 1)


@triton.jit
def least_kernel(x, out, n, N: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    far = i % N + (-2147483647 - 1)
    tl.store(out + i, tl.load(x + (2147483647 - tl.abs(far)), i < n), i < n)


def test_least_number(rng):
    """The least integer is its own magnitude; what is computed from it runs over once more."""
    N = 50
    x = torch.randn(N + 1, generator=rng)
    out = torch.zeros(N * 20)
    least_kernel[(4,)](x[1:], out, out.numel(), N=N, BLOCK=256)
    assert torch.equal(out.view(20, N), x[:N].expand(20, N))


def test_in_place(rng):
    """What is read is written, too, by one program."""
    n, N = 512, 64
    x = torch.randn(600, generator=rng)
    wanted = x.numpy().copy()
    i = np.arange(n)
    wanted[:n] = wanted[abs(i % N - 20) + i // N] + 1
    magnitude_kernel[(1,)](x, x, n, N, 20, 1, F=1, WIDE=False, BLOCK=512)
    np.testing.assert_array_equal(x.numpy(), wanted)


@triton.jit
def blocks_kernel(
    x, out, rows, n, W: tl.constexpr, P: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    """Rows of a block that has two dimensions."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    i = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    column, line = i % (W + 2 * P), i // (W + 2 * P)
    place = (W - 1) - tl.abs((W - 1) - tl.abs(column - P)) + W * line
    inside = (r < rows) & (i < n)
    tl.store(out + r * n + i, tl.load(x + place + r * W * 9, inside) * 2, inside)


@pytest.mark.parametrize(("W", "P"), [(100, 9), (50, 1), (20, 19), (400, 40)])
def test_blocks_of_rows(W, P, rng):
    x = torch.randn([5, 9, W], generator=rng)
    n = 9 * (W + 2 * P)
    out = torch.zeros([5, n])
    blocks_kernel[(2, triton.cdiv(n, 256))](x, out, 5, n, W=W, P=P, BM=4, BN=256)
    assert torch.equal(out.view(5, 9, -1), torch.nn.functional.pad(x, (P, P), mode="reflect") * 2)
