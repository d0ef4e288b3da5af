# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of a block, some of which are not there, with a row that is: sums and maxima whose loops end where both do."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, dtypes, normal, output


@triton.jit
def rows_by_row_kernel(
    w,
    x,
    out,
    m,
    n,
    n_x,
    stride_m,
    stride_n,
    OP: tl.constexpr,
    OTHER: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.full((BM,), float("-inf") if OP == "max" else 0.0, tl.float32)
    for start in range(0, n, BN):
        at = start + tl.arange(0, BN)
        inside = (rows[:, None] < m) & (at[None, :] < n)
        a = tl.load(w + rows[:, None] * stride_m + at[None, :] * stride_n, mask=inside, other=OTHER)
        b = tl.load(x + at, mask=at < n_x, other=OTHER).to(tl.float32)[None, :]
        if OP == "product":
            acc += tl.sum(a.to(tl.float32) * b, 1)
        elif OP == "sum":
            acc += tl.sum(a.to(tl.float32) + b, 1)
        else:
            acc = tl.maximum(acc, tl.max(a.to(tl.float32) * b, 1))
    tl.store(out + rows, acc, mask=rows < m)


def run(w, x, n, op, other, block):
    m, n_x = w.shape[0], x.shape[0]
    out = output([m], torch.float32)
    placed = [at_end_of_memory(t) if t.is_contiguous() and t.numel() else t for t in (w, x)]
    rows_by_row_kernel[(triton.cdiv(m, block[0]),)](
        *placed, out, m, n, n_x, *w.stride(), op, other, *block
    )
    # What the kernel computes, block by block.
    ends = triton.cdiv(n, block[1]) * block[1]
    a = torch.full([m, ends], float(other), dtype=torch.float64)
    b = torch.full([ends], float(other), dtype=torch.float64)
    a[:, :n], b[: min(n_x, ends)] = w.double(), x[:ends].double()
    if op == "max":
        return out, (a * b).amax(1)
    return out, (a + b if op == "sum" else a * b).sum(1)


BLOCKS = [(1, 256), (4, 64), (16, 128), (2, 16), (8, 1024)]


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("transposed", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("op", ["product", "sum", "max"])
@pytest.mark.parametrize("other", [0, 2])
@pytest.mark.parametrize("n", [1, 61, 260])
def test_ends(block, transposed, op, other, n, rng):
    w = normal(rng, [n, 7] if transposed else [7, n])
    got, wanted = run(w.t() if transposed else w, normal(rng, [n]), n, op, other, block)
    check_equal(got, wanted, terms=2000)


# A row that ends before the others, or behind them.
@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("op", ["product", "sum", "max"])
@pytest.mark.parametrize("more", [-17, 40])
def test_other_ends(block, op, more, rng):
    got, wanted = run(normal(rng, [5, 100]), normal(rng, [100 + more]), 100, op, 0, block)
    check_equal(got, wanted, terms=2000)


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float16, torch.bfloat16, torch.int8, torch.int32), ids=str
)
def test_types(block, dtype, rng):
    w = (normal(rng, [9, 131]) * 9).to(dtype)
    got, wanted = run(w, normal(rng, [131]), 131, "product", 0, block)
    check_equal(got, wanted, dtype=torch.float32, tolerance=(1e-4, 1e-2))


# What is no number in rows that are there, or in the row, reaches each sum that takes it, and no other.
@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("value", [float("inf"), float("nan")])
@pytest.mark.parametrize("at", [0, 63, 130])
def test_no_numbers(block, value, at, rng):
    w, x = normal(rng, [6, 131]), normal(rng, [131])
    w[2, at] = value
    got, wanted = run(w, x, 131, "product", 0, block)
    check_equal(got, wanted, terms=2000)
    w[2, at], x[at] = 0.0, value
    got, wanted = run(w, x, 131, "product", 0, block)
    check_equal(got, wanted, terms=2000)


def test_no_rows(rng):
    for m, n in ((0, 10), (3, 0)):
        got, wanted = run(normal(rng, [m, n]), normal(rng, [n]), n, "product", 0, (4, 64))
        check_equal(got, wanted)
