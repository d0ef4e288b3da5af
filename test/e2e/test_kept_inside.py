# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows and columns that are kept inside of a matrix: `tl.where(i < n, i, 0)`."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, normal, output


@triton.jit
def product_kernel(
    a, b, c, m, n, k, stride_am, stride_bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WIDE: tl.constexpr
):  # fmt: skip
    tiles = tl.cdiv(n, BN)
    row = tl.program_id(0) // tiles * BM + tl.arange(0, BM)
    column = tl.program_id(0) % tiles * BN + tl.arange(0, BN)
    if WIDE:
        row, column = row.to(tl.int64), column.to(tl.int64)
    i = tl.where(row < m, row, 0)
    j = tl.where(column < n, column, 0)
    i = tl.max_contiguous(tl.multiple_of(i, BM), BM)
    j = tl.max_contiguous(tl.multiple_of(j, BN), BN)
    sums = tl.zeros([BM, BN], tl.float32)
    for block in range(tl.cdiv(k, BK)):
        at = block * BK + tl.arange(0, BK)
        known = tl.arange(0, BK) < k - block * BK
        left = tl.load(a + i[:, None] * stride_am + at[None, :], mask=known[None, :], other=0.0)
        right = tl.load(b + at[:, None] * stride_bk + j[None, :], mask=known[:, None], other=0.0)
        sums = tl.dot(left, right, sums, input_precision="ieee")
    tl.store(c + i[:, None] * n + j[None, :], sums, mask=(row < m)[:, None] & (column < n)[None, :])


@pytest.mark.parametrize(
    ("m", "n", "k"), [(32, 64, 32), (1, 7, 50), (40, 64, 64), (64, 100, 33), (33, 1, 1)]
)
@pytest.mark.parametrize(("bm", "bn", "bk"), [(16, 64, 32), (32, 32, 16), (64, 16, 64)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("wide", [False, True])
def test_product(m, n, k, bm, bn, bk, dtype, wide, rng):
    """Blocks that are inside, cut, and longer than the matrix; what follows on its rows is NaN."""
    a, b = (torch.full([r, c + 5], float("nan"), dtype=dtype) for r, c in ((m, k), (k, n)))
    a[:, :k], b[:, :n] = normal(rng, [m, k], dtype), normal(rng, [k, n], dtype)
    c = output([m, n], torch.float32)
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
    product_kernel[grid](a, b, c, m, n, k, k + 5, n + 5, BM=bm, BN=bn, BK=bk, WIDE=wide)
    wanted = a[:, :k].double() @ b[:, :n].double()
    torch.testing.assert_close(c.double(), wanted, rtol=1e-4, atol=1e-4)


@triton.jit
def bounds_kernel(x, out, first, last, KIND: tl.constexpr, BLOCK: tl.constexpr, COLS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KIND == 0:
        j = tl.where(i < last, i, last - 1)
    elif KIND == 1:
        j = tl.where(i >= first, i, first)
    elif KIND == 2:
        j = tl.where((i >= first) & (i < last), i, first)
    elif KIND == 3:
        j = tl.where(i < last, i + first, 0)
    elif KIND == 4:
        j = tl.where(i < last, 2 * i, 1)
    elif KIND == 5:
        j = tl.where(i < last, first, i)
    elif KIND == 6:
        j = tl.where(i == first, i, 0)
    else:
        j = tl.where(first < last, i, 0)
    cols = tl.arange(0, COLS)
    tl.store(
        out + i[:, None] * COLS + cols[None, :], tl.load(x + j[:, None] * COLS + cols[None, :])
    )


@pytest.mark.parametrize("kind", range(8))
@pytest.mark.parametrize(("first", "last"), [(0, 64), (1, 33), (16, 32), (40, 64), (3, 1), (0, 1)])
@pytest.mark.parametrize("cols", [1, 8, 32])
def test_bounds(kind, first, last, cols, rng):
    i = torch.arange(64)
    j = [
        torch.where(i < last, i, last - 1),
        torch.where(i >= first, i, first),
        torch.where((i >= first) & (i < last), i, first),
        torch.where(i < last, i + first, 0),
        torch.where(i < last, 2 * i, 1),
        torch.where(i < last, first, i),
        torch.where(i == first, i, 0),
        i if first < last else i * 0,
    ][kind]
    x = at_end_of_memory(normal(rng, [int(j.max()) + 1, cols]))
    out = output([64, cols], torch.float32)
    bounds_kernel[(4,)](x, out, first, last, kind, BLOCK=16, COLS=cols)
    check_equal(out, x[j])


@pytest.mark.compiled("only the compiler knows what it did")
def test_product_is_structured(rng):
    import tilebridge

    a, b, c = normal(rng, [32, 32]), normal(rng, [32, 32]), torch.empty(32, 32)
    kernel = product_kernel[(4,)](a, b, c, 32, 32, 32, 32, 32, BM=16, BN=16, BK=16, WIDE=False)
    assert [a["form"] for a in tilebridge.explain(kernel)["accesses"]] == ["subview"] * 3
