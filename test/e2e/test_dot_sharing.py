# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that multiply the same right operand one after another, and those that do not."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output, small_numbers


@triton.jit
def grid_kernel(
    a, b, c, m, n, k, ends,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    if HOW == "rows_last":
        row, col = tl.program_id(1), tl.program_id(0)
    else:
        row, col = tl.program_id(0), tl.program_id(1)
    rows = row * BM + tl.arange(0, BM)
    cols = col * BN + tl.arange(0, BN)
    last = k
    if HOW == "ends":  # Programs of one column go on to different places.
        last = tl.load(ends + row)
    if HOW == "wrapped":
        cols = cols % n
    acc = tl.zeros((BM, BN), ACC)
    for start in range(0, last, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(
            a + rows[:, None] * k + depth[None, :],
            mask=(rows[:, None] < m) & (depth[None, :] < last),
            other=0,
        )
        if HOW == "wrapped":
            y = tl.load(b + depth[:, None] * n + cols[None, :], mask=depth[:, None] < last, other=0)
        else:
            y = tl.load(
                b + depth[:, None] * n + cols[None, :],
                mask=(depth[:, None] < last) & (cols[None, :] < n),
                other=0,
            )
        if HOW == "by_row":  # Another right operand for each row of programs.
            y = (y * (row % 3)).to(y.dtype)
        elif HOW == "computed":
            y = (y * 2 + 1).to(y.dtype)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(c + rows[:, None] * n + cols[None, :], acc, mask=inside)


HOWS = ["plain", "rows_last", "ends", "wrapped", "by_row", "computed"]


def product(a, b, how, block, ends):
    if how == "computed":
        # Rows of zeros beyond the end are ones, and meet zeros of a.
        b = b * 2 + 1
    wide = [t.double() for t in (a, b)]
    if how not in ("by_row", "ends"):
        return wide[0] @ wide[1]
    rows = []
    for i, part in enumerate(wide[0].split(block[0])):
        if how == "by_row":
            rows.append(part @ wide[1] * (i % 3))
        else:
            rows.append(part[:, : ends[i]] @ wide[1][: ends[i]])
    return torch.cat(rows)


def run(rng, shape, block, dtype, how):
    m, n, k = shape
    a, b = small_numbers(rng, [m, k], dtype), small_numbers(rng, [k, n], dtype)
    grid = [triton.cdiv(m, block[0]), triton.cdiv(n, block[1])]
    ends = torch.randint(1, k + 1, [grid[0]], generator=rng, dtype=torch.int32)
    c = output([m, n], torch.float32 if dtype.is_floating_point else torch.int32)
    grid_kernel[tuple(grid[::-1] if how == "rows_last" else grid)](
        a, b, c, m, n, k, ends, *block, ACC=tl.float32 if dtype.is_floating_point else tl.int32, HOW=how,
    )  # fmt: skip
    return c, product(a, b, how, block, ends)


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8), ids=str)
def test_programs_of_a_column(dtype, how, rng):
    c, wanted = run(rng, (150, 70, 330), (16, 32, 32), dtype, how)
    check_equal(c, wanted, terms=330 * 4)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("block", [(16, 64, 16), (64, 16, 256), (32, 256, 64)], ids=str)
def test_blocks(block, rng):
    c, wanted = run(rng, (200, 300, 500), block, torch.float32, "plain")
    check_equal(c, wanted, terms=500 * 4)


@pytest.mark.compiled("is slow")
def test_only_the_beginning_of_a_long_operand_is_kept(rng):
    c, wanted = run(rng, (64, 256, 6000), (16, 256, 32), torch.float32, "plain")
    check_equal(c, wanted, terms=6000 * 4)


@pytest.mark.compiled("is slow")
def test_launches_see_what_has_changed_between_them(rng):
    a, b = normal(rng, [64, 128], torch.float32), normal(rng, [128, 32], torch.float32)
    c = output([64, 32], torch.float32)
    for _ in range(3):
        grid_kernel[(4, 1)](a, b, c, 64, 32, 128, None, 16, 32, 32, ACC=tl.float32, HOW="plain")
        check_equal(c, a.double() @ b.double(), terms=128 * 4)
        b.add_(1)


@triton.jit
def written_kernel(x, w, k, BM: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    """Each program writes its own right operand, then multiplies."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, N)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        value = depth[:, None] + cols[None, :] + tl.program_id(0)
        tl.store(w + depth[:, None] * N + cols[None, :], value.to(tl.float32))
    acc = tl.zeros((BM, N), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        ones = tl.full((BM, BK), 1.0, tl.float32)
        acc = tl.dot(ones, tl.load(w + depth[:, None] * N + cols[None, :]), acc)
    tl.store(x + rows[:, None] * N + cols[None, :], acc)


@pytest.mark.compiled("is slow")
def test_what_a_program_wrote_before_is_read():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        x, w = output([64, 16], torch.float32), output([64, 16], torch.float32)
        written_kernel[(4,)](x, w, 64, BM=16, N=16, BK=16)
    finally:
        torch.set_num_threads(threads)
    sums = torch.arange(64).sum() + 64 * torch.arange(16)
    wanted = torch.cat([(sums + 64 * i).expand(16, 16) for i in range(4)])
    check_equal(x, wanted.double())


@triton.jit
def tiles_kernel(a, b, c, n, k, tiles, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One program computes several tiles."""
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        rows = tile // (n // BN) * BM + tl.arange(0, BM)
        cols = tile % (n // BN) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            depth = start + tl.arange(0, BK)
            x = tl.load(a + rows[:, None] * k + depth[None, :])
            acc = tl.dot(x, tl.load(b + depth[:, None] * n + cols[None, :]), acc)
        tl.store(c + rows[:, None] * n + cols[None, :], acc)


@pytest.mark.compiled("is slow")
def test_persistent_programs(rng):
    a, b = normal(rng, [64, 96], torch.float32), normal(rng, [96, 64], torch.float32)
    c = output([64, 64], torch.float32)
    tiles_kernel[(3,)](a, b, c, 64, 96, 8, BM=16, BN=32, BK=32)
    check_equal(c, a.double() @ b.double(), terms=96 * 4)
