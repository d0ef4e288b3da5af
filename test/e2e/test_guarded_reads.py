# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks that are used again after stores that may write where they were loaded: all arguments are parts of one memory."""

import numpy as np
import pytest
import tilebridge
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.compiled("what overlaps is tested in compiled code")


@triton.jit
def row_kernel(x, r, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside, other=1.0).to(tl.float32)
    total = tl.sum(value, axis=0)
    tl.store(r, total.to(r.dtype.element_ty))
    tl.store(y + at, (value * 2 + total).to(y.dtype.element_ty), mask=inside)


@triton.jit
def two_kernel(x, mean, rstd, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside, other=0.0)
    total = tl.sum(value, axis=0)
    tl.store(mean, total)
    tl.store(rstd, total + tl.max(value, axis=0))
    tl.store(y + at, value - total, mask=inside)


@triton.jit
def blocks_kernel(x, z, y, n, m, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=3.0)
    total = tl.sum(value, axis=0)
    where = at % 3 == 1 if MASKED else at < m
    tl.store(z + at, total - at.to(tl.float32), mask=where)
    highest = tl.max(value * total, axis=0)
    tl.store(y + at, value + highest, mask=at < n)


@triton.jit
def tile_kernel(x, r, y, stride, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.arange(0, BM)[:, None]
    j = tl.arange(0, BN)[None, :]
    inside = (i < rows) & (j < columns)
    value = tl.load(x + i * stride + j, mask=inside, other=5.0)
    sums = tl.sum(value, axis=1)
    tl.store(r + tl.arange(0, BM), sums, mask=tl.arange(0, BM) < rows)
    tl.store(y + i * BN + j, value + sums[:, None])


@triton.jit
def rows_kernel(x, r, y, n, rows, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in range(rows):
        value = tl.load(x + row * n + at, mask=at < n, other=0.0)
        total = tl.sum(value, axis=0)
        tl.store(r + row, total)
        tl.store(y + row * n + at, value + total, mask=at < n)


class Memory:
    """The same bytes for a kernel and for NumPy."""

    def __init__(self, rng, elements=4096):
        self.torch = torch.randint(-3, 4, [elements], generator=rng).float()
        self.numpy = self.torch.numpy().copy()

    def part(self, at, dtype=torch.float32):
        """What begins `at` bytes behind the begin: a tensor, and an array."""
        kind = np.dtype(str(dtype).removeprefix("torch."))
        tensor = self.torch.view(torch.uint8)[at:]
        array = self.numpy.view(np.uint8)[at:]
        size = len(array) // dtype.itemsize * dtype.itemsize
        return tensor[:size].view(dtype), array[:size].view(kind)

    def check(self):
        got, expected = self.torch.numpy().view(np.uint8), self.numpy.view(np.uint8)
        assert np.array_equal(got, expected), np.flatnonzero(got != expected)[:20]


def check_guarded(kernel):
    told = tilebridge.explain(kernel)["decisions"]
    texts = [decision["text"] for decision in told if decision["kind"] == "guarded"]
    assert any("used again" in text for text in texts), told
    assert not any("may change" in d["text"] for d in told if d["kind"] == "kept"), told


def model_row(x, r, y, n, block):
    value = np.ones(block, np.float32)
    value[:n] = x[:n]
    total = value.sum(dtype=np.float32)
    r[0] = total.astype(r.dtype)
    y[:n] = (value[:n] * 2 + total).astype(y.dtype)


# Bytes from the row's begin to what is stored: outside, at both ends, and in the middle.
PLACES = [-4, -1, 0, 1, 2, 4, 64, 400, 796, 799, 800, 1020, 1024]


NUMBERS = [torch.float32, torch.int32, torch.float16, torch.int8]


@pytest.mark.parametrize(
    ("dtype", "place"),
    [(d, place) for d in NUMBERS for place in PLACES if place % d.itemsize == 0],
    ids=lambda x: str(x).removeprefix("torch."),
)
@pytest.mark.parametrize(("n", "block"), [(200, 256), (256, 256), (1, 128)])
def test_number_in_the_row(n, block, dtype, place, rng):
    memory = Memory(rng)
    x, r, y = memory.part(4096), memory.part(4096 + place, dtype), memory.part(8192)
    model_row(x[1], r[1], y[1], n, block)
    kernel = row_kernel[(1,)](x[0], r[0], y[0], n, BLOCK=block)
    memory.check()
    check_guarded(kernel)


@pytest.mark.parametrize("place", [0, 40, 2000])
@pytest.mark.parametrize("shift", [-800, -68, -4, 0, 4, 64, 400])
def test_result_over_the_row(shift, place, rng):
    memory = Memory(rng)
    x, r, y = memory.part(4096), memory.part(4096 + place), memory.part(4096 + shift)
    model_row(x[1], r[1], y[1], 200, 256)
    row_kernel[(1,)](x[0], r[0], y[0], 200, BLOCK=256)
    memory.check()


@pytest.mark.parametrize("dtype", [torch.float16, torch.int8], ids=lambda d: str(d)[6:])
def test_rows_of_small_elements(dtype, rng):
    memory = Memory(rng)
    x, y = memory.part(4096, dtype), memory.part(8192)
    x[0][:256] = torch.randint(-3, 4, [256], generator=rng)
    x[1][:256] = x[0][:256].numpy()
    r = memory.part(4096 + 128)
    model_row(x[1], r[1], y[1], 256, 256)
    row_kernel[(1,)](x[0], r[0], y[0], 256, BLOCK=256)
    memory.check()


@pytest.mark.parametrize("first", [0, 100, 3000])
@pytest.mark.parametrize("second", [0, 4, 100, 3000])
def test_two_numbers(first, second, rng):
    memory = Memory(rng)
    n, block = 100, 128
    x, y = memory.part(4096), memory.part(12288)
    mean, rstd = memory.part(4096 + first), memory.part(4096 + second)
    value = x[1][:n].copy()
    mean[1][0] = value.sum()
    rstd[1][0] = value.sum() + max(value.max(), 0)
    y[1][:n] = value - value.sum()
    kernel = two_kernel[(1,)](x[0], mean[0], rstd[0], y[0], n, BLOCK=block)
    memory.check()
    check_guarded(kernel)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("shift", [-1024, -400, -4, 0, 8, 796, 800])
@pytest.mark.parametrize("m", [0, 13, 256])
def test_blocks(m, shift, masked, rng):
    memory = Memory(rng)
    n, block = 200, 256
    x, z, y = memory.part(4096), memory.part(4096 + shift), memory.part(12288)
    value = np.full(block, 3, np.float32)
    value[:n] = x[1][:n]
    total = value.sum()
    at = np.arange(block)
    where = at % 3 == 1 if masked else at < m
    z[1][:block][where] = (total - at.astype(np.float32))[where]
    y[1][:n] = value[:n] + (value * total).max()
    kernel = blocks_kernel[(1,)](x[0], z[0], y[0], n, m, MASKED=masked, BLOCK=block)
    memory.check()
    check_guarded(kernel)


@pytest.mark.parametrize("place", [-16, 0, 8, 128, 60, 700, 1240, 4000])
@pytest.mark.parametrize(("rows", "columns"), [(8, 32), (5, 30)])
def test_tiles(rows, columns, place, rng):
    memory = Memory(rng)
    stride = 40
    x, r, y = memory.part(4096), memory.part(4096 + place), memory.part(12288)
    value = np.full((8, 32), 5, np.float32)
    value[:rows, :columns] = x[1][: 8 * stride].reshape(8, stride)[:rows, :columns]
    sums = value.sum(axis=1)
    r[1][:rows] = sums[:rows]
    y[1][:256] = (value + sums[:, None]).ravel()
    kernel = tile_kernel[(1,)](x[0], r[0], y[0], stride, rows, columns, BM=8, BN=32)
    memory.check()
    check_guarded(kernel)


@pytest.mark.parametrize("place", [-8, 0, 400, 1200, 4000])
def test_rows_in_a_loop(place, rng):
    """Each iteration compares again: the number lies in the row of some."""
    memory = Memory(rng, 8192)
    n, rows = 100, 6
    x, r, y = memory.part(4096), memory.part(4096 + place), memory.part(16384)
    for row in range(rows):
        value = x[1][row * n : row * n + n].copy()
        r[1][row] = value.sum()
        y[1][row * n : row * n + n] = value + value.sum()
    kernel = rows_kernel[(1,)](x[0], r[0], y[0], n, rows, BLOCK=128)
    memory.check()
    check_guarded(kernel)


@triton.jit
def many_kernel(a, b, c, r, y, BLOCK: tl.constexpr):
    """More pairs of loads and stores than are guarded."""
    at = tl.arange(0, BLOCK)
    x0, x1, x2 = tl.load(a + at), tl.load(b + at), tl.load(c + at)
    tl.store(r, tl.sum(x0 + x1 + x2, axis=0))
    tl.store(r + 1, tl.sum(x0 * x1 + x2, axis=0))
    tl.store(r + 2, tl.sum(x0 * x2 + x1, axis=0))
    tl.store(y + at, x0 + x1 * 2 + x2 * 3)


@pytest.mark.parametrize("places", [(0, 0, 0), (0, 512, 1024), (0, 4, 8), (12, 4, 0)])
@pytest.mark.parametrize("at", [0, 8, 504, 1024, 3000])
def test_many(places, at, rng):
    memory = Memory(rng)
    a, b, c = (memory.part(4096 + place) for place in places)
    r, y = memory.part(4096 + at), memory.part(12288)
    x0, x1, x2 = (x[1][:128].copy() for x in (a, b, c))
    numbers = [(x0 + x1 + x2).sum(), (x0 * x1 + x2).sum(), (x0 * x2 + x1).sum()]
    r[1][:3] = numbers
    y[1][:128] = x0 + x1 * 2 + x2 * 3
    many_kernel[(1,)](a[0], b[0], c[0], r[0], y[0], BLOCK=128)
    memory.check()
