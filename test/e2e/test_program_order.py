# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs follow one another along the axis along which blocks lie near; each runs once whatever the order is."""

import pytest
import torch
import triton
import triton.language as tl
from support import normal, output


@triton.jit
def numbers_kernel(count, out, sx, sy, sz, batch, N: tl.constexpr):
    """Adds one to a block of its own, and writes the program's number there."""
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    place = (x // batch) * batch * sx + (x % batch) * sx + y * sy + z * sz
    at = place * N + tl.arange(0, N)
    tl.store(count + at, tl.load(count + at) + 1)
    tl.store(
        out + at, (z * tl.num_programs(1) + y) * tl.num_programs(0) + x + tl.zeros([N], tl.int32)
    )


def places(grid, order):
    """The strides of the axes, in blocks, where `order` names them from the nearest on."""
    strides, far = [0, 0, 0], 1
    for axis in order:
        strides[axis] = far
        far *= grid[axis]
    return strides


ORDERS = [(0, 1, 2), (1, 0, 2), (2, 0, 1), (2, 1, 0), (1, 2, 0)]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join("xyz"[i] for i in order))
@pytest.mark.parametrize(
    "grid", [(5, 3, 2), (1, 7, 4), (4, 1, 9), (64, 33, 1), (1, 1, 6), (7, 1, 1)]
)
@pytest.mark.parametrize("n", [16, 1024])
def test_every_program_runs_once(grid, order, n):
    strides = places(grid, order)
    total = grid[0] * grid[1] * grid[2]
    count, out = torch.zeros(total * n, dtype=torch.int32), output([total * n], torch.int32)
    numbers_kernel[grid](count, out, *strides, 3, N=n)
    assert torch.equal(count, torch.ones_like(count))
    z, y, x = torch.meshgrid(*(torch.arange(k) for k in reversed(grid)), indexing="ij")
    wanted = torch.empty(total, dtype=torch.int32)
    number = (z * grid[1] + y) * grid[0] + x
    wanted[x * strides[0] + y * strides[1] + z * strides[2]] = number.int()
    assert torch.equal(out.view(total, n), wanted[:, None].expand(total, n))


@triton.jit
def last_kernel(x, out, last, sx, sy, N: tl.constexpr):
    """`last` is written by the programs of the first row and of the first column: who was there last?"""
    i, j = tl.program_id(0), tl.program_id(1)
    at = i * sx + j * sy + tl.arange(0, N)
    tl.store(out + at, tl.load(x + at) + 1)
    tl.store(
        last + tl.arange(0, 2),
        i + (j - i) * tl.arange(0, 2),
        mask=(i * j == 0) & (tl.arange(0, 2) >= 0),
    )


@pytest.mark.compiled("the order is the compiler's")
@pytest.mark.parametrize(("sx", "sy", "wanted"), [(64, 8192, [0, 4]), (8192, 64, [6, 0])])
def test_the_near_axis_counts_fastest(sx, sy, wanted, rng):
    grid = (7, 5)
    x = normal(rng, [sx * grid[0] + sy * grid[1]], torch.float32)
    out, last = torch.zeros_like(x), output([2], torch.int32)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        last_kernel[grid](x, out, last, sx, sy, N=64)
    finally:
        torch.set_num_threads(threads)
    assert last.tolist() == wanted


@triton.jit
def columns_kernel(x, y, out, m, n, sx, sy, so, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    col = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    inside = (row < m) & (col < n)
    a = tl.load(x + row * sx + col, mask=inside)
    b = tl.load(y + row * sy + col, mask=inside)
    tl.store(out + row * so + col, a + b, mask=inside)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (37, 1031), (257, 64), (130, 2050)])
@pytest.mark.parametrize(("bm", "bn"), [(1, 256), (16, 64), (64, 16)])
def test_blocks_of_a_matrix(m, n, bm, bn, rng):
    x, y = normal(rng, [m, n + 5], torch.float32), normal(rng, [m, n], torch.float32)
    out = output([m, n + 1], torch.float32)
    grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))
    columns_kernel[grid](x, y, out, m, n, n + 5, n, n + 1, BM=bm, BN=bn)
    assert torch.equal(out[:, :n], x[:, :n] + y)


@triton.jit
def descriptor_kernel(x, out, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    out.store([i, j], x.load([i, j]) * 2)


@pytest.mark.parametrize(("m", "n"), [(5, 8), (33, 1032)])
def test_blocks_of_descriptors(m, n, rng):
    from triton.tools.tensor_descriptor import TensorDescriptor

    x, out = normal(rng, [m, n], torch.float32), output([m, n], torch.float32)
    block = [4, 64]
    descriptors = [TensorDescriptor(t, [m, n], [n, 1], block) for t in (x, out)]
    descriptor_kernel[(triton.cdiv(m, 4), triton.cdiv(n, 64))](*descriptors, BM=4, BN=64)
    assert torch.equal(out, x * 2)


@triton.jit
def product_kernel(
    a, b, out, count, n, k, apart, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HOW: tl.constexpr,
    PLAIN: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Multiplies with a block that is computed, or read (`PLAIN`; from columns that are contiguous: `COLUMNS`), by
    what its program's number says."""
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    number = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    if HOW == "columns" or HOW == "wrapped":
        tiles = tl.cdiv(apart, BN)
        row, col = x // tiles + y, x % tiles
    elif HOW == "apart":
        row, col = x // apart, x % apart
    elif HOW == "y":
        row, col = y + z, x
    elif HOW == "z":
        row, col = z, x + 2 * y
    else:
        row, col = x % apart, x // apart
    i = tl.arange(0, BM)
    j = col * BN + tl.arange(0, BN)
    if HOW == "wrapped":
        j = j % n
    sums = tl.zeros([BM, BN], tl.float32)
    for first in range(0, k, BK):
        at = first + tl.arange(0, BK)
        left = tl.load(a + row * BM * k + i[:, None] * k + at[None, :])
        if COLUMNS:
            right = tl.load(b + at[:, None] + j[None, :] * k)
        else:
            right = tl.load(b + at[:, None] * n + j[None, :])
        if not PLAIN:
            right = ((right >> 1) & 7).to(tl.float32) * 2 - (right & 3)
        sums = tl.dot(left, right, sums, input_precision="ieee")
    tl.store(out + number * BM * BN + i[:, None] * BN + tl.arange(0, BN)[None, :], sums)
    tl.store(count + number, tl.load(count + number) + 1)


@pytest.mark.parametrize("right", ["computed", "rows", "columns"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("how", "grid", "apart"),
    [
        ("columns", (12, 1, 1), 250),
        ("columns", (4, 3, 2), 250),
        ("columns", (3, 1, 1), 250),
        ("columns", (64, 1, 1), 250),
        ("columns", (68, 1, 1), 250),
        ("columns", (148, 1, 2), 250),
        ("columns", (32, 5, 2), 250),
        ("wrapped", (12, 1, 1), 250),
        ("wrapped", (4, 3, 2), 250),
        ("apart", (12, 1, 1), 4),
        ("apart", (12, 1, 1), 5),
        ("apart", (12, 2, 1), 12),
        ("apart", (60, 2, 1), 6),
        ("apart", (7, 1, 1), 1),
        ("apart", (7, 1, 1), 100),
        ("y", (4, 5, 1), 0),
        ("y", (4, 1, 3), 0),
        ("y", (3, 2, 2), 0),
        ("z", (2, 2, 3), 0),
        ("rows", (12, 1, 1), 3),
    ],
)
def test_products_of_the_same_block(how, grid, apart, threads, right, rng):
    """Each program runs once, with its own block, whether or not programs that share one follow one another."""
    n, k, bm, bn, bk = 64 * 12, 96, 16, 64, 32
    total = grid[0] * grid[1] * grid[2]
    a = normal(rng, [40 * bm, k], torch.float32)
    b = torch.randint(-9, 9, [k, n], generator=rng, dtype=torch.int8)
    wide = ((b >> 1) & 7).double() * 2 - (b & 3).double()
    if right != "computed":
        b = wide.float() if right == "rows" else wide.float().t().contiguous()
    out, count = output([total, bm, bn], torch.float32), torch.zeros(total, dtype=torch.int32)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        product_kernel[grid](
            a,
            b,
            out,
            count,
            n,
            k,
            apart,
            BM=bm,
            BN=bn,
            BK=bk,
            HOW=how,
            PLAIN=right != "computed",
            COLUMNS=right == "columns",
        )
    finally:
        torch.set_num_threads(before)
    assert torch.equal(count, torch.ones_like(count))
    for number in range(total):
        x, y, z = number % grid[0], number // grid[0] % grid[1], number // grid[0] // grid[1]
        row, col = {
            "columns": (x // 4 + y, x % 4),
            "wrapped": (x // 4 + y, x % 4),
            "apart": (x // max(apart, 1), x % max(apart, 1)),
            "y": (y + z, x),
            "z": (z, x + 2 * y),
            "rows": (x % max(apart, 1), x // max(apart, 1)),
        }[how]
        columns = torch.arange(col * bn, col * bn + bn)
        wanted = a[row * bm : row * bm + bm].double() @ wide[:, columns]
        torch.testing.assert_close(out[number].double(), wanted, rtol=1e-4, atol=1e-3)
