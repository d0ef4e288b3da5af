# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products that a loop adds up, in each iteration of which K's mask leaves out most of the block."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def taps(
    x, places, w, y, rows, n_a, n_b, less, cols, x_row, x_k, w_t, w_k, w_c, y_r, y_c, count,
    BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    own = n_a - tl.program_id(0) * less
    acc = tl.zeros((BM, BN), SUM)
    for t in range(count):
        at = tl.load(places + t * rows + r, mask=r < rows, other=0)
        a = tl.load(
            x + at[:, None] * x_row + k[None, :] * x_k,
            mask=(r < rows)[:, None] & (k < own)[None, :],
            other=0,
        )
        b = tl.load(
            w + t * w_t + k[:, None] * w_k + c[None, :] * w_c,
            mask=(k < n_b)[:, None] & (c < cols)[None, :],
            other=0,
        )
        acc = tl.dot(a, b, acc, input_precision="ieee", out_dtype=SUM)
    tl.store(
        y + r[:, None] * y_r + c[None, :] * y_c, acc, mask=(r < rows)[:, None] & (c < cols)[None, :]
    )


def check(
    n,
    dtype=torch.float32,
    planes=False,
    transposed=False,
    rows=70,
    cols=20,
    blocks=(16, 64, 32),
    count=9,
    n_b=None,
    less=0,
):
    generator = torch.Generator().manual_seed(n + count)
    n_b = n if n_b is None else n_b
    m, depth, columns = blocks

    def numbers(*shape):
        if dtype.is_floating_point:
            return torch.randn(*shape, generator=generator).to(dtype)
        return torch.randint(-128, 128, shape, generator=generator).to(dtype)

    lines = 40
    # What is behind the ends is never looked at.
    behind = torch.nan if dtype.is_floating_point else 77
    x = torch.full((lines, depth + 8), behind, dtype=dtype)
    x[:, : min(n, depth)] = numbers(lines, min(n, depth))
    w = torch.full((count, depth + 8, cols + 3), behind, dtype=dtype)
    w[:, : min(n_b, depth), :cols] = numbers(count, min(n_b, depth), cols)
    places = torch.randint(0, lines, (count, rows), generator=generator, dtype=torch.int32)
    wide = torch.float64 if dtype.is_floating_point else torch.int64
    wanted = torch.zeros(rows, cols, dtype=wide)
    for first in range(0, rows, m):
        own = max(0, min(n - first // m * less, n_b, depth))
        for t in range(count):
            at = places[t, first : first + m].long()
            wanted[first : first + m] += x[at, :own].to(wide) @ w[t, :own, :cols].to(wide)
    if planes:
        x = x.T.contiguous().T
    if transposed:
        w = w.transpose(1, 2).contiguous().transpose(1, 2)
    kept = {torch.float64: torch.float64, torch.int8: torch.int32}.get(dtype, torch.float32)
    sums = {torch.float64: tl.float64, torch.int32: tl.int32}.get(kept, tl.float32)
    y = torch.full((rows + 1, cols + 1), 5, dtype=kept)
    if planes:
        y = y.T.contiguous().T
    taps[(triton.cdiv(rows, m), triton.cdiv(cols, columns))](
        x, places, w, y, rows, n, n_b, less, cols, *x.stride(), *w.stride(), *y.stride(), count, *blocks, sums
    )  # fmt: skip
    torch.testing.assert_close(y[:rows, :cols].to(wide), wanted, rtol=1e-5, atol=2e-4)
    assert (y[rows] == 5).all()
    assert (y[:, cols] == 5).all()


@pytest.mark.parametrize("planes", [False, True], ids=["rows", "planes"])
@pytest.mark.parametrize("n", [0, 1, 3, 7, 16, 17, 63, 64, 100])
def test_steps(n, planes):
    check(n, planes=planes)


@pytest.mark.parametrize("planes", [False, True], ids=["rows", "planes"])
@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int8], ids=str
)
@pytest.mark.parametrize("n", [1, 5, 33])
def test_types(n, dtype, planes):
    check(n, dtype, planes)
    # Where rows are multiplied after two iterations, steps of the next row stand behind their own.
    check(n, dtype, planes, rows=13, count=2)


@pytest.mark.parametrize("n", [1, 6, 40])
def test_transposed(n):
    check(n, transposed=True)
    check(n, torch.bfloat16, transposed=True, planes=True)


@pytest.mark.parametrize("cols", [1, 15, 31, 32, 33, 65])
def test_columns(cols):
    check(3, cols=cols, planes=True, blocks=(32, 64, 32))
    check(3, cols=cols, blocks=(32, 64, 64))


@pytest.mark.parametrize("count", [0, 1, 2, 5, 64, 100])
def test_iterations(count):
    """Panels are full at other iterations than whole blocks would fill them."""
    check(5, count=count, planes=True)
    check(37, count=count)


@pytest.mark.parametrize("planes", [False, True], ids=["rows", "planes"])
def test_other_ends(planes):
    """Programs that share panels of b, but not how many steps these have: that is a's, too."""
    check(9, n_b=2, less=2, planes=planes, rows=100)
    check(2, n_b=30, planes=planes, rows=100)
    check(40, n_b=3, less=7, planes=planes, rows=100, count=30)
