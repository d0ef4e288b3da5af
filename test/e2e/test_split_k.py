# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products whose parts along K are programs of their own, which add their sums to the output by atomics: rows that no
mask lets through are not computed.

Each kernel first runs on full blocks of NaN, so that what a later run does not compute holds those.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import normal

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@triton.jit
def dense_kernel(
    a, b, c, old, M, N, K, sbk, sbn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    rows, cols = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    depth = tl.program_id(1) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), c.dtype.element_ty)
    for start in range(0, K, BK * SPLIT):
        x = tl.load(a + rows[:, None] * K + start + depth[None, :],
                    mask=(rows[:, None] < M) & (depth[None, :] < K - start), other=0.0)  # fmt: skip
        y = tl.load(b + (start + depth[:, None]) * sbk + cols[None, :] * sbn,
                    mask=(depth[:, None] < K - start) & (cols[None, :] < N), other=0.0)  # fmt: skip
        acc += tl.dot(x, y.to(x.dtype), out_dtype=acc.dtype, input_precision="ieee")
    at = rows[:, None] * N + cols[None, :]
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    was = tl.atomic_add(c + at, acc, mask=mask)
    if KEEP:
        tl.store(old + at, was, mask=cols[None, :] < N)


def product(a, b, split, keep=False, rows=16, block=32):
    (m, k), n = a.shape, b.shape[1]
    sums = torch.int32 if a.dtype == torch.int8 else torch.float32
    c = torch.full((rows, n), 7).to(sums)
    old = torch.full((rows, n), -1).to(sums)
    grid = (triton.cdiv(n, block), split)
    dense_kernel[grid](a, b, c, old, m, n, k, *b.stride(), rows, block, 32, split, keep)
    assert (c[m:] == 7).all()
    return c[:m] - 7, old


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("split", [1, 3])
@pytest.mark.parametrize("m", [1, 5, 16])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_few_rows(dtype, m, split, columns, rng):
    for n, k in ((64, 192), (33, 70)):
        b = normal(rng, [n, k], dtype).T if columns else normal(rng, [k, n], dtype)
        nan = torch.full((16, k), float("nan"), dtype=dtype)
        assert product(nan, b, split)[0].isnan().all()
        a = normal(rng, [m, k], dtype)
        got, _ = product(a, b, split)
        torch.testing.assert_close(
            got.double(), a.double() @ b.double(), rtol=1e-4, atol=1e-4 * k**0.5
        )


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("m", [1, 3, 16])
def test_bytes(m, columns, rng):
    for n, k in ((64, 192), (33, 70)):
        shape = [n, k] if columns else [k, n]
        b = torch.randint(-128, 128, shape, generator=rng, dtype=torch.int8)
        b = b.T if columns else b
        a = torch.randint(-128, 128, [m, k], generator=rng, dtype=torch.int8)
        for split in (1, 2):
            got, _ = product(a, b, split)
            assert torch.equal(got.long(), a.long() @ b.long())


@pytest.mark.parametrize("m", [1, 16])
def test_what_was_there(m, rng):
    """Where the mask is false that is 0."""
    a, b = normal(rng, [m, 64]), normal(rng, [64, 48])
    got, old = product(a, b, 1, keep=True)
    assert (old[:m] == 7).all()
    assert (old[m:] == 0).all()
    torch.testing.assert_close(got.double(), a.double() @ b.double(), rtol=1e-4, atol=1e-4)


@triton.jit
def rows_kernel(x, keep, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Rows by a mask with holes, in blocks of more lanes than are asked at once."""
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    at = rows[:, None] * COLUMNS + cols[None, :]
    mask = (tl.load(keep + rows) > 0)[:, None] & (cols[None, :] < n)
    tl.atomic_max(out + at, tl.load(x + at), mask=mask)


@pytest.mark.parametrize("columns", [4, 16, 64, 256, 2048])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.float32], ids=str)
def test_rows_with_holes(dtype, columns, rng):
    rows = 16
    x = torch.randint(-99, 99, [rows, columns], generator=rng).to(dtype)
    for n in (columns, columns - 1, 1):
        keep = torch.randint(0, 2, [rows], generator=rng, dtype=torch.int32)
        before = torch.randint(-99, 99, [rows, columns], generator=rng).to(dtype)
        out = before.clone()
        rows_kernel[(1,)](x, keep, out, n, rows, columns)
        mask = (keep > 0)[:, None] & (torch.arange(columns) < n)
        assert torch.equal(out, torch.where(mask, torch.maximum(x, before), before))
