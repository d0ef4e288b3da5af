# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of a few rows with narrow blocks, whose programs run together where all of their columns are there."""

import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, dtypes, output, small_numbers


@triton.jit
def few_rows_kernel(
    a, w, bias, c, m, n, k, sa, sw,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GRID: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    if GRID == "columns":
        row, column = tl.program_id(1), tl.program_id(0)
    elif GRID == "rows":
        row, column = tl.program_id(0), tl.program_id(1)
    else:  # One number for both.
        blocks = tl.cdiv(n, BN)
        row, column = tl.program_id(0) // blocks, tl.program_id(0) % blocks
    rows = row * BM + tl.arange(0, BM)
    cols = column * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), ACC)
    for start in range(0, k, BK):
        inside = depth < k - start
        x = tl.load(
            a + rows[:, None] * sa + start + depth[None, :],
            (rows[:, None] < m) & inside[None, :],
            0.0,
        )
        y = tl.load(
            w + (start + depth)[:, None] * sw + cols[None, :],
            inside[:, None] & (cols[None, :] < n),
            0.0,
        )
        acc = tl.dot(x, y, acc, out_dtype=ACC)
    acc += tl.load(bias + cols, cols < n, 0.0)[None, :]
    tl.store(c + rows[:, None] * n + cols[None, :], acc, (rows[:, None] < m) & (cols[None, :] < n))


def run(rng, m, n, k, block, dtype, grid):
    a, w = small_numbers(rng, [m, k + 3], dtype), small_numbers(rng, [k, n + 5], dtype)
    kind = torch.float32 if dtype.is_floating_point else torch.int32
    acc = tl.float32 if dtype.is_floating_point else tl.int32
    if dtype == torch.float64:
        kind, acc = torch.float64, tl.float64
    bias, c = small_numbers(rng, [n], kind), output([m, n], kind)
    rows, columns = triton.cdiv(m, block[0]), triton.cdiv(n, block[1])
    shape = {"columns": (columns, rows), "rows": (rows, columns), "one": (rows * columns,)}[grid]
    # What lies behind a row is not there behind the last one.
    x, y = at_end_of_memory(a.flatten()[:-3]), at_end_of_memory(w.flatten()[:-5]) if k else w
    kernel = few_rows_kernel[shape](
        x, y, at_end_of_memory(bias), c, m, n, k, k + 3, n + 5, *block, GRID=grid, ACC=acc
    )
    check_equal(c, a[:, :k].double() @ w[:, :n].double() + bias.double(), terms=4 * k)
    return kernel


# Not merged: too few programs, more rows. Merged: all programs, all but the last ones, which are no group, and all but
# a group of which one has columns that are not there.
@pytest.mark.compiled("merges nothing")
@pytest.mark.parametrize("m", [1, 3, 4, 5, 17, 40])
@pytest.mark.parametrize("n", [31, 2048, 2200, 2300])
@pytest.mark.parametrize("grid", ["columns", "rows", "one"])
def test_few_rows(m, n, grid, rng):
    run(rng, m, n, 50, (16, 64, 16), torch.float32, grid)


@pytest.mark.compiled("merges nothing")
@pytest.mark.parametrize("m", [1, 2, 4, 9])
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float16, torch.bfloat16, torch.float64, torch.int8), ids=str
)
def test_types(m, dtype, rng):
    run(rng, m, 1040, 70, (16, 16, 32), dtype, "columns")


# On machines of few cores 1024 columns at once, or 512, where there are as many for each; then those that are left.
@pytest.mark.compiled("merges nothing")
@pytest.mark.parametrize("m", [1, 4, 5])
@pytest.mark.parametrize("n", [2048, 4095, 4160, 4500])
@pytest.mark.parametrize("grid", ["columns", "rows", "one"])
def test_few_cores(m, n, grid, rng):
    run(rng, m, n, 70, (16, 32, 64), torch.float32, grid)


@pytest.mark.compiled("merges nothing")
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("block", [(16, 32, 64), (16, 256, 32), (2, 64, 16)], ids=str)
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float16, torch.bfloat16, torch.float64, torch.int8), ids=str
)
def test_types_with_few_cores(m, block, dtype, rng):
    run(rng, m, 4133, 100, block, dtype, "columns")


@pytest.mark.compiled("merges nothing")
@pytest.mark.parametrize("k", [0, 1, 64, 129])
def test_depths(k, rng):
    run(rng, 2, 2048, k, (16, 64, 64), torch.float32, "rows")


# Blocks of no more rows than that have no mask to ask.
@pytest.mark.compiled("merges nothing")
@pytest.mark.parametrize("m", [2, 3])
def test_low_blocks(m, rng):
    run(rng, m, 2300, 50, (2, 64, 16), torch.float32, "columns")


@pytest.mark.compiled("merges nothing")
@pytest.mark.parametrize("grid", ["columns", "rows", "one"])
def test_it_is_said(grid, rng):
    decisions = tilebridge.explain(run(rng, 2, 2048, 64, (16, 64, 64), torch.float32, grid))[
        "decisions"
    ]
    merged = sorted(each["programs"] for each in decisions if each["kind"] == "merged")
    # As many cores as have more to read fast, if this machine has so few.
    assert merged in ([4], [4, 8], [4, 16])


# A block of 32 rows is not meant for few.
@pytest.mark.compiled("merges nothing")
def test_high_blocks(rng):
    decisions = tilebridge.explain(run(rng, 2, 2048, 64, (32, 64, 64), torch.float32, "rows"))[
        "decisions"
    ]
    assert not [each for each in decisions if each["kind"] == "merged"]
