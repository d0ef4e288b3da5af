# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Means and variances found in one pass, with a count for each lane, and loops whose masks are known."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output


@triton.jit
def combine(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    count = count_a + count_b
    share = tl.where(count == 0, 0.0, count_b / count)
    delta = mean_b - mean_a
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def one_pass(
    x, out, begin, n, R: tl.constexpr, B: tl.constexpr, N: tl.constexpr, HOW: tl.constexpr
):
    """HOW: the end is a constant, an argument, there is no mask, or lanes count the even elements only."""
    row = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    i = tl.arange(0, B)[None, :]
    mean = tl.zeros([R, B], tl.float32)
    m2 = tl.zeros([R, B], tl.float32)
    count = tl.zeros([R, B], tl.float32)
    end = N if HOW == "constant" else n
    for start in range(0 if HOW == "constant" else begin, end, B):
        at = start + i
        mask = at < end
        if HOW == "whole":
            mask = at >= 0
        elif HOW == "even":
            mask = mask & (at % 2 == 0)
        value = tl.load(x + row * n + at, mask=mask, other=0.0).to(tl.float32)
        if start == 0:
            new_mean, new_m2, new_count = value, tl.zeros_like(m2), tl.full([R, B], 1.0, tl.float32)
        else:
            delta = value - mean
            new_count = count + 1
            new_mean = mean + delta / new_count
            new_m2 = m2 + delta * (value - new_mean)
        mean = tl.where(mask, new_mean, mean)
        m2 = tl.where(mask, new_m2, m2)
        count = tl.where(mask, new_count, count)
    mean, m2, count = tl.reduce((mean, m2, count), 1, combine)
    rows = tl.program_id(0) * R + tl.arange(0, R)
    tl.store(out + rows * 3, mean)
    tl.store(out + rows * 3 + 1, m2)
    tl.store(out + rows * 3 + 2, count)


@pytest.mark.parametrize("how", ["constant", "argument", "whole", "even"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
@pytest.mark.parametrize(
    ("n", "block"),
    [
        (1024, (1, 256)),
        (1000, (1, 256)),
        (64, (4, 64)),
        (7, (2, 16)),
        (4096, (2, 1024)),
        (1, (1, 4)),
    ],
)
def test_means_and_variances(n, block, dtype, how, rng):
    if how == "whole" and n % block[1]:
        pytest.skip("reads beyond the row")
    x = normal(rng, [8, n], dtype) + 2
    out = output([8, 3], torch.float32)
    one_pass[(8 // block[0],)](x, out, 0, n, *block, N=n, HOW=how)
    seen = x[:, ::2].double() if how == "even" else x.double()
    mean = seen.mean(1)
    check_equal(out[:, 0], mean, tolerance=(1e-5, 1e-5))
    check_equal(out[:, 1], ((seen - mean[:, None]) ** 2).sum(1), tolerance=(1e-3, 1e-4))
    check_equal(out[:, 2], torch.full([8], seen.shape[1]), tolerance=(0, 0))


def test_no_iteration(rng):
    x = normal(rng, [2, 16])
    out = output([2, 3], torch.float32)
    one_pass[(2,)](x, out, 16, 16, 1, 8, N=16, HOW="argument")
    assert torch.equal(out, torch.zeros(2, 3))


@triton.jit
def count_where(
    out,
    LOW: tl.constexpr,
    HIGH: tl.constexpr,
    STEP: tl.constexpr,
    B: tl.constexpr,
    END: tl.constexpr,
):
    i = tl.arange(0, B)
    inside = tl.zeros([B], tl.int32)
    above = tl.zeros([B], tl.int32)
    for start in range(LOW, HIGH, STEP):
        inside += tl.where(start + i < END, 1, 0)
        above += tl.where(start + i >= LOW, 1, 0)
    tl.store(out + i, inside)
    tl.store(out + B + i, above)


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [(0, 64, 16), (0, 63, 16), (0, 65, 16), (0, 64, 24), (16, 64, 16), (-32, 64, 32), (0, 16, 16), (5, 5, 3), (0, 100, 7),
     (2**31 - 96, 2**31 - 18, 16)],
)  # fmt: skip
@pytest.mark.parametrize("end", [0, -1, 1])
def test_masks_of_loops(low, high, step, end, rng):
    out = output([32], torch.int32)
    count_where[(1,)](out, low, high, step, 16, high + end)
    i = torch.arange(16, dtype=torch.int32)
    inside, above = torch.zeros(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    for start in range(low, high, step):
        at = torch.tensor(start, dtype=torch.int32) + i
        inside += at < high + end
        above += at >= low
    check_equal(out, torch.cat([inside, above]), tolerance=(0, 0))


@triton.jit
def reduced_at_once(x, out, n, stride, R: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0) * R + tl.arange(0, R)
    i = tl.arange(0, B)
    mask = (i < n)[None, :]
    value = tl.load(x + row[:, None] * stride + i[None, :], mask=mask, other=0.0).to(tl.float32)
    count = tl.broadcast_to(mask.to(tl.float32), [R, B])
    mean, m2, count = tl.reduce((value, tl.zeros_like(value), count), 1, combine)
    tl.store(out + row * 3, mean)
    tl.store(out + row * 3 + 1, m2)
    tl.store(out + row * 3 + 2, count)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
@pytest.mark.parametrize(
    ("n", "rows", "block"),
    [(1024, 1, 1024), (781, 1, 1024), (128, 2, 256), (127, 1, 256), (64, 4, 64), (1, 1, 512), (0, 2, 128), (9, 8, 16)],
)  # fmt: skip
def test_rows_reduced_at_once(n, rows, block, dtype, rng):
    # As long as no lane is masked, all have seen as many elements.
    x = normal(rng, [8, n + 3], dtype) + 2
    out = output([8, 3], torch.float32)
    reduced_at_once[(8 // rows,)](x, out, n, n + 3, rows, block)
    seen = x[:, :n].double()
    mean = seen.sum(1) / max(n, 1)
    check_equal(out[:, 0], mean, tolerance=(1e-5, 1e-5))
    check_equal(out[:, 1], ((seen - mean[:, None]) ** 2).sum(1), tolerance=(1e-3, 1e-4))
    check_equal(out[:, 2], torch.full([8], n), tolerance=(0, 0))


def test_rows_with_nan_and_infinity(rng):
    x = normal(rng, [4, 600])
    x[0, 500], x[1, 3], x[2, 599] = float("nan"), float("inf"), -float("inf")
    out = output([4, 3], torch.float32)
    reduced_at_once[(4,)](x, out, 600, 600, 1, 1024)
    assert not torch.isfinite(out[:3, :2]).any()
    assert out[0, 0].isnan()
    assert torch.isfinite(out[3]).all()
    assert (out[:, 2] == 600).all()


@triton.jit
def counted(
    x, out, begin, n, rows, other, R: tl.constexpr, B: tl.constexpr, STEP: tl.constexpr,
    HOW: tl.constexpr, END: tl.constexpr,
):  # fmt: skip
    """How many elements each lane of a block has seen, and their mean so far, where masks end with the loop."""
    row = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    i = tl.arange(0, B)[None, :]
    mean = tl.zeros([R, B], tl.float32)
    count = tl.zeros([R, B], tl.float32)
    seen = tl.zeros([R, B], tl.int32)
    if HOW == "row of program":
        inside = tl.program_id(0) < rows
    else:
        inside = row < rows
    end = END if HOW == "constant" else n
    for start in range(begin, end, STEP):
        at = start + i
        if HOW == "other end":
            mask = (at < other) & inside
        elif HOW == "behind":
            mask = (at + 3 < end) & inside
        elif HOW == "from":
            mask = (at >= other) & (at < end) & inside
        else:
            mask = (at < end) & inside
        value = tl.load(x + row * n + at, mask=mask & (at < n), other=0.0).to(tl.float32)
        mean = tl.where(mask, mean + (value - mean) / (count + 1), mean)
        count = tl.where(mask, count + 1, count)
        seen = tl.where(mask, seen + start % 5, seen - 1)
    tl.store(out + (row * 3) * B + i, mean)
    tl.store(out + (row * 3 + 1) * B + i, count)
    tl.store(out + (row * 3 + 2) * B + i, seen.to(tl.float32))


@pytest.mark.parametrize(
    "how", ["argument", "constant", "row of program", "other end", "behind", "from"]
)
@pytest.mark.parametrize(
    ("begin", "n", "step"),
    [(0, 64, 16), (0, 70, 16), (3, 70, 16), (0, 5, 16), (0, 0, 16), (9, 7, 16), (0, 70, 24), (0, 70, 7), (2, 200, 17)],
)  # fmt: skip
@pytest.mark.parametrize("rows", [1, 3, 4])
def test_counts_that_end_with_a_row(begin, n, step, rows, how, rng):
    x = normal(rng, [4, n + 64])[:, :n].contiguous() + 1
    other, lanes = n // 2, 16
    for size in (1, 2):
        out = output([4, 3, lanes], torch.float32)
        counted[(4 // size,)](x, out, begin, n, rows, other, size, lanes, step, how, n)
        limit = rows * size if how == "row of program" else rows
        mean = torch.zeros(4, lanes, dtype=torch.float64)
        count, seen = torch.zeros(4, lanes), torch.zeros(4, lanes)
        row = torch.arange(4)[:, None] < limit
        for start in range(begin, n, step):
            at = start + torch.arange(lanes)
            mask = {"other end": at < other, "behind": at + 3 < n, "from": (at >= other) & (at < n)}
            mask = mask.get(how, at < n) & row
            value = torch.zeros(4, lanes, dtype=torch.float64)
            value[:, at < n] = x[:, at[at < n]].double()
            mean = torch.where(mask, mean + (value - mean) / (count + 1), mean)
            count = torch.where(mask, count + 1, count)
            seen = torch.where(mask, seen + start % 5, seen - 1)
        check_equal(out[:, 0], mean, tolerance=(1e-5, 1e-5))
        check_equal(out[:, 1], count, tolerance=(0, 0))
        check_equal(out[:, 2], seen, tolerance=(0, 0))
