# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks whose places in memory grow evenly only until a row ends, wherever that is in the block."""

import numpy as np
import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from support import FLOATS, INTEGERS, at_end_of_memory, check_equal, dtypes, normal, output

OPS = [
    "row",
    "column",
    "both",
    "nested",
    "clamped",
    "compared",
    "equal",
    "padded",
    "falling",
    "quotients",
]


@triton.jit
def places(i, N, M, SX, SY, OP: tl.constexpr):
    """Where element i is read, and whether it is."""
    m = i == i
    row, column = i // N, i % N
    if OP == "row":
        p = row * SX
    elif OP == "column":
        p = column * SY
    elif OP == "both":
        p = row * SX + column * SY
    elif OP == "nested":
        p = (row % M) * SX + column * SY + i // (N * M)
    elif OP == "clamped":
        p = tl.minimum(tl.maximum(column - 3, 0), M) * SY + tl.maximum(row - 1, 1) * SX
    elif OP == "compared":
        p = row * SX + column * SY
        m = (column >= 2) & (column < M) & (row > 0) & (M * 3 >= row) & (column <= M - 1)
    elif OP == "equal":
        p = row * SX + column * SY
        m = (column != M) & ((row == 1) | (row == 3) | (M == column + 5))
    elif OP == "padded":
        inside = (column >= 3) & (column < M)
        p = tl.where(row < 1, 0, row - 1) * SX + tl.where(inside, column - 3, 0) * SY
        m = inside & (row >= 1)
    elif OP == "falling":
        p = column
        m = i * SY > M * SY * 9
    else:
        p = (i + 5) // N * SX + i // M * SY + (i % 3) * 0
    return p, m


@triton.jit
def gather_kernel(
    x, out, n, N, M, SX, SY, FIRST, SIZE,
    OP: tl.constexpr, B: tl.constexpr, NC: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    lane = tl.program_id(0) * B + tl.arange(0, B)
    i = FIRST + lane
    if WIDE:
        i = FIRST + lane.to(tl.int64)
    if NC:
        p, m = places(i, NC, M, SX, SY, OP)
    else:
        p, m = places(i, N, M, SX, SY, OP)
    m = m & (i < n) & (p >= 0) & (p < SIZE)
    tl.store(out + lane, tl.load(x + p, mask=m, other=3))


def quotient(a, b):
    """Rounded to zero, as kernels do."""
    b = np.where(b == 0, 1, b)
    q = np.abs(a.astype(np.int64)) // np.abs(b)
    return (q * np.sign(a) * np.sign(b)).astype(a.dtype)


def expected(x, blocks, n, N, M, SX, SY, FIRST, OP, B, WIDE):
    kind = np.int64 if WIDE else np.int32
    with np.errstate(over="ignore"):
        i = (np.arange(blocks * B, dtype=np.int64) + FIRST).astype(kind)
        n, N, M, SX, SY = (np.array(value, dtype=kind) for value in (n, N, M, SX, SY))
        row = quotient(i, N)
        column = i - row * N
        m = np.ones(i.shape, bool)
        if OP == "row":
            p = row * SX
        elif OP == "column":
            p = column * SY
        elif OP == "both":
            p = row * SX + column * SY
        elif OP == "nested":
            p = (row - quotient(row, M) * M) * SX + column * SY + quotient(i, N * M)
        elif OP == "clamped":
            p = np.minimum(np.maximum(column - 3, 0), M) * SY + np.maximum(row - 1, 1) * SX
        elif OP == "compared":
            p = row * SX + column * SY
            m = (column >= 2) & (column < M) & (row > 0) & (M * 3 >= row)
        elif OP == "equal":
            p = row * SX + column * SY
            m = (column != M) & ((row == 1) | (row == 3) | (column + 5 == M))
        elif OP == "padded":
            inside = (column >= 3) & (column < M)
            p = np.where(row < 1, 0, row - 1) * SX + np.where(inside, column - 3, 0) * SY
            m = inside & (row >= 1)
        elif OP == "falling":
            p = column
            m = i * SY > M * SY * 9
        else:
            p = quotient(i + 5, N) * SX + quotient(i, M) * SY
    m = m & (i < n) & (p >= 0) & (p < len(x))
    found = x[torch.from_numpy(np.where(m, p, 0).astype(np.int64))]
    return torch.where(torch.from_numpy(m), found, torch.tensor(3, dtype=x.dtype))


def check(x, n, N, M, SX, SY, FIRST=0, OP="both", B=512, const=False, wide=False, blocks=3):
    out = output([blocks * B], x.dtype)
    kernel = gather_kernel[(blocks,)](
        x, out, n, N, M, SX, SY, FIRST, len(x), OP=OP, B=B, NC=N if const else 0, WIDE=wide
    )
    check_equal(out, expected(x, blocks, n, N, M, SX, SY, FIRST, OP, B, wide))
    return kernel


@pytest.mark.parametrize("const", [False, True])
@pytest.mark.parametrize("N", [1, 2, 7, 16, 31, 50, 64, 100, 197, 1000, 5000])
@pytest.mark.parametrize("op", OPS)
def test_places(op, N, const, rng):
    x = normal(rng, [6000])
    for M, SX, SY in [(11, N, 1), (40, 1, 7), (5, -7, 1), (25, N, -3), (1, 2, 0)]:
        wide = M in (5, 25)
        check(x, 1450, N, M, SX, SY, FIRST=37 if wide else 0, OP=op, const=const, wide=wide)


@pytest.mark.parametrize("dtype", dtypes(FLOATS, INTEGERS, torch.bool))
def test_types(dtype, rng):
    x = normal(rng, [4000], dtype)
    for N in (20, 50, 130, 600):
        check(x, 1530, N, 45, N, 1, OP="nested")
    check(x, 1530, 50, 45, 50, 1, OP="padded", const=True)


@pytest.mark.parametrize("block", [8, 16, 32, 64, 128, 2048])
def test_blocks(block, rng):
    x = normal(rng, [9000])
    for N in (3, 24, 90, 700):
        check(x, 10**6, N, 60, N, 1, B=block)
        check(x, 10**6, N, 60, 1, 0, B=block, const=True)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("first", [-700, -1, 2**31 - 900, 2**31 - 1536, -(2**31), -(2**31) + 5])
def test_where_indices_run_over(first, wide, rng):
    """Below zero quotients are rounded to zero; an index may leave its integer type."""
    x = normal(rng, [3000])
    for N in (50, 200, 2**20 + 1, 2**30):
        for op in ("column", "both", "quotients", "compared"):
            check(x, 2**31 - 1, N, 100, 1, 1, FIRST=first, OP=op, wide=wide)


@pytest.mark.parametrize("N", [-50, -1, 0])
def test_unusual_divisors(N, rng):
    x = normal(rng, [3000])
    if N:
        check(x, 1500, N, 40, 3, 1)
        check(x, 1500, 60, N, 3, 1, OP="nested")
    # Nothing is said of what a division by zero gives, but that nothing breaks.
    out = output([512], torch.float32)
    gather_kernel[(1,)](x, out, 512, 0, 0, 1, 1, 0, 3000, OP="nested", B=512, NC=0, WIDE=False)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8, torch.float64))
def test_nothing_is_read_beyond_memory(dtype, rng):
    for N in (33, 50, 64, 300):
        rows = 1000 // N
        x = at_end_of_memory(normal(rng, [rows * N], dtype))
        check(x, rows * N, N, 11, N, 1)
        check(x, rows * N, N, 11, N, 1, const=True)
        check(x, rows * N, N, rows, 1, rows, OP="nested")


@triton.jit
def scatter_kernel(
    x, out, n, N, M, SX, SY, FIRST, SIZE,
    OP: tl.constexpr, B: tl.constexpr, NC: tl.constexpr, ADD: tl.constexpr,
):  # fmt: skip
    lane = tl.arange(0, B)
    i = FIRST + lane
    if NC:
        p, m = places(i, NC, M, SX, SY, OP)
    else:
        p, m = places(i, N, M, SX, SY, OP)
    m = m & (i < n) & (p >= 0) & (p < SIZE)
    value = tl.load(x + lane)
    if ADD:
        value = value + 1
    tl.store(out + p, value, mask=m)


def check_scatter(x, n, N, M, SX, SY, FIRST=0, OP="both", B=512, const=False, add=False):
    out = torch.full([6000], 7, dtype=x.dtype)
    scatter_kernel[(1,)](
        x, out, n, N, M, SX, SY, FIRST, len(out), OP=OP, B=B, NC=N if const else 0, ADD=add
    )
    # Reads -1 where nothing is stored, and else the number of the element.
    where = expected(torch.arange(len(out)), 1, n, N, M, SX, SY, FIRST, OP, B, False)
    everywhere = expected(torch.full([6000], 9), 1, n, N, M, SX, SY, FIRST, OP, B, False)
    wanted = torch.full([6000], 7, dtype=x.dtype)
    stored = x + 1 if add else x
    lanes = torch.nonzero(everywhere == 9).flatten()
    for lane in lanes.tolist():
        wanted[where[lane]] = stored[lane]  # of equal places the last one wins
    if const:
        # A block that is a box of two dimensions is stored in any order.
        often = torch.bincount(where[lanes], minlength=len(out)) > 1
        out[often] = wanted[often]
    assert torch.equal(out, wanted)


@pytest.mark.parametrize("const", [False, True])
@pytest.mark.parametrize("N", [1, 2, 16, 31, 50, 100, 197, 1000])
@pytest.mark.parametrize("op", OPS)
def test_stores(op, N, const, rng):
    x = normal(rng, [512])
    for M, SX, SY in [(11, N, 1), (40, 1, 7), (25, N, -3), (1, 2, 0)]:
        check_scatter(x, 490, N, M, SX, SY, OP=op, const=const, add=M == 40)
        check_scatter(x, 600, N, M, SX, SY, FIRST=37, OP=op, const=const)


@pytest.mark.parametrize("dtype", dtypes(FLOATS, INTEGERS, torch.bool))
def test_stores_of_types(dtype, rng):
    x = normal(rng, [512], dtype)
    for N in (20, 50, 130):
        check_scatter(x, 500, N, 45, N, 1, OP="nested")
        check_scatter(x, 500, N, 45, N, 2)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8))
def test_nothing_is_written_beyond_memory(dtype, rng):
    x = normal(rng, [512], dtype)
    for N in (33, 50, 100):
        out = at_end_of_memory(torch.zeros(N * (512 // N), dtype=dtype))
        scatter_kernel[(1,)](
            x, out, len(out), N, 1, N, 1, 0, len(out), OP="both", B=512, NC=0, ADD=False
        )
        assert torch.equal(out, x[: len(out)])


@triton.jit
def sum_kernel(x, out, n, N, C, B: tl.constexpr):
    c = tl.program_id(0)
    total = tl.zeros((B,), tl.float32)
    for begin in range(0, n, B):
        r = begin + tl.arange(0, B)
        total += tl.load(x + r // N * (C * N) + c * N + r % N, mask=r < n, other=0)
    tl.store(out + c, tl.sum(total))


@triton.jit
def sum_tile_kernel(
    x, out, n, C, N: tl.constexpr, CC: tl.constexpr, A: tl.constexpr, B: tl.constexpr
):
    if CC:
        C = CC
    c = tl.program_id(0) * A + tl.arange(0, A)[:, None]
    total = tl.zeros((A, B), tl.float32)
    for begin in range(0, n, B):
        r = begin + tl.arange(0, B)[None, :]
        inside = (r < n) & (c < C)
        total += tl.load(x + r // N * (C * N) + c * N + r % N, mask=inside, other=0)
    tl.store(out + c, tl.sum(total, axis=1)[:, None], mask=c < C)


@pytest.mark.parametrize("N", [1, 12, 49, 196, 784])
def test_sums_over_channels_in_tiles(N, rng):
    for C in (3, 8):
        x = at_end_of_memory(normal(rng, [7 * C * N])).view(7, C, N)
        for const in (0, C):
            out = output([C], torch.float32)
            sum_tile_kernel[(triton.cdiv(C, 4),)](x, out, 7 * N, C, N=N, CC=const, A=4, B=256)
            check_equal(out, x.double().sum((0, 2)), terms=7 * N)


@pytest.mark.parametrize("N", [1, 5, 49, 196, 784])
def test_sums_over_channels(N, rng):
    x, out = normal(rng, [7, 3, N]), output([3], torch.float32)
    sum_kernel[(3,)](x, out, 7 * N, N, 3, B=256)
    check_equal(out, x.double().sum((0, 2)), terms=7 * N)


@triton.jit
def overlapping_kernel(x, out, N, M, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (i % M) * N + i // M
    tl.store(out + i, tl.load(x + p, mask=i < N * M), mask=i < N * M)


@pytest.mark.parametrize(("N", "M"), [(10, 100), (100, 10), (40, 25), (3, 300)])
@pytest.mark.parametrize("shift", [0, 1, 17, -1, -64])
def test_what_is_read_is_written(N, M, shift, rng):
    """All of a block is read before any of it is written."""
    memory = normal(rng, [1200])
    wanted = memory.clone()
    wanted[100 + shift : 100 + shift + N * M] = memory[100 : 100 + N * M].view(M, N).T.reshape(-1)
    overlapping_kernel[(1,)](memory[100:], memory[100 + shift :], N, M, B=1024)
    check_equal(memory, wanted)


@triton.jit
def tile_kernel(x, y, out, N, M, A: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * A + tl.arange(0, A)[:, None]
    j = tl.arange(0, B)[None, :] + i * 3
    other = tl.load(y + tl.arange(0, B))[None, :] + tl.zeros((A, B), tl.float32)
    p = (i % M) * N + j // N + j % N
    first = tl.load(x + p, mask=j < 9 * N, other=1)
    second = tl.load(x + p + 1, mask=(j < 9 * N) & (j % N > 4), other=other)
    tl.store(out + i * B + tl.arange(0, B)[None, :], first + second * 2)


@pytest.mark.parametrize("N", [5, 60, 91, 400])
def test_tiles(N, rng):
    x, y, out = normal(rng, [5000]), normal(rng, [256]), output([12, 256], torch.float32)
    tile_kernel[(3,)](x, y, out, N, 7, A=4, B=256)
    i = torch.arange(12)[:, None]
    j = torch.arange(256)[None, :] + i * 3
    p = (i % 7) * N + j // N + j % N
    first = torch.where(j < 9 * N, x[p], 1.0)
    second = torch.where((j < 9 * N) & (j % N > 4), x[p + 1], y[None, :])
    check_equal(out, first + second * 2)


@triton.jit
def loop_kernel(x, out, n, N, S, B: tl.constexpr):
    total = tl.zeros((B,), tl.float32)
    for begin in range(0, n, B):
        i = begin + tl.arange(0, B)
        total += tl.load(x + i // N + i % N * S, mask=i < n, other=0)
    tl.store(out + tl.arange(0, B), total)


@pytest.mark.parametrize("N", [1, 9, 70, 333])
def test_loops(N, rng):
    x, out = normal(rng, [4000]), output([256], torch.float32)
    for n, S in [(0, 1), (255, 1), (1500, 1), (1111, 2), (700, 0)]:
        loop_kernel[(1,)](x, out, n, N, S, B=256)
        i = torch.arange(2048)
        found = torch.where(i < n, x[(i // N + i % N * S).clamp(max=3999)], 0.0)
        check_equal(out, found.double().view(-1, 256).sum(0), terms=8)


@pytest.mark.compiled("the interpreter compiles nothing")
def test_it_is_told(rng):
    x = normal(rng, [3000])
    for const in (False, True):
        kernel = check(x, 1500, 100, 1, 100, 1, const=const)
        kinds = [decision["kind"] for decision in tilebridge.explain(kernel)["decisions"]]
        assert "pieces" in kinds, kinds
