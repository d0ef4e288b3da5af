# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that only move elements, and broadcasting."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output, ramp


@triton.jit
def load_2d(x, M: tl.constexpr, N: tl.constexpr):
    return tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])


@triton.jit
def load_3d(x, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A)[:, None, None]
    j = tl.arange(0, B)[None, :, None]
    return tl.load(x + (i * B + j) * C + tl.arange(0, C)[None, None, :])


@triton.jit
def store_flat(out, value):
    flat = tl.reshape(value, [value.numel])
    tl.store(out + tl.arange(0, value.numel), flat)


@triton.jit
def shape_kernel(x, y, out, M: tl.constexpr, N: tl.constexpr, OP: tl.constexpr):
    a = load_2d(x, M, N)
    b = load_2d(y, M, N)
    if OP == "trans":
        store_flat(out, tl.trans(a))
    elif OP == "T":
        store_flat(out, a.T)
    elif OP == "permute":
        store_flat(out, tl.permute(a, (1, 0)))
    elif OP == "reshape":
        store_flat(out, tl.reshape(a, [M * N // 4, 4]))
    elif OP == "view":
        store_flat(out, a.reshape([2, M * N // 2]) + b.reshape([2, M * N // 2]))
    elif OP == "ravel":
        store_flat(out, tl.ravel(a))
    elif OP == "join":
        store_flat(out, tl.join(a, b))
    elif OP == "interleave":
        store_flat(out, tl.interleave(a, b))
    elif OP == "split":
        even, odd = tl.split(tl.reshape(a, [M, N // 2, 2]))
        store_flat(out, even * 10 - odd)
    elif OP == "broadcast":
        store_flat(out, tl.broadcast_to(tl.sum(a, axis=1)[:, None], [M, N]))
    elif OP == "expand":
        store_flat(out, tl.expand_dims(tl.sum(a, axis=0), 0) + a * 0)
    elif OP == "flip":
        store_flat(out, tl.flip(a, 1))
    elif OP == "where":
        store_flat(out, tl.where(tl.arange(0, M)[:, None] > tl.arange(0, N)[None, :], a, b))
    else:
        store_flat(out, tl.sum(a, axis=1)[:, None] - tl.max(b, axis=0)[None, :])


def wanted_shape(op, a, b):
    m, n = a.shape
    return {
        "trans": lambda: a.t(),
        "T": lambda: a.t(),
        "permute": lambda: a.t(),
        "reshape": lambda: a,
        "view": lambda: a + b,
        "ravel": lambda: a,
        "join": lambda: torch.stack([a, b], -1),
        "interleave": lambda: torch.stack([a, b], -1),
        "split": lambda: a[:, ::2] * 10 - a[:, 1::2],
        "broadcast": lambda: a.sum(1, keepdim=True).expand(m, n),
        "expand": lambda: a.sum(0, keepdim=True).expand(m, n),
        "flip": lambda: a.flip(1),
        "where": lambda: torch.where(torch.arange(m)[:, None] > torch.arange(n)[None, :], a, b),
        "outer": lambda: a.sum(1)[:, None] - b.amax(0)[None, :],
    }[op]().flatten()


OPS = "trans T permute reshape view ravel join interleave split broadcast expand flip where outer".split()


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("shape", [(4, 4), (16, 32), (1, 8), (8, 2), (2, 256)])
def test_two_dimensions(op, shape, rng):
    m, n = shape
    x, y = normal(rng, shape), normal(rng, shape)
    wanted = wanted_shape(op, x.double(), y.double())
    out = output([wanted.numel()], torch.float32)
    shape_kernel[(1,)](x, y, out, M=m, N=n, OP=op)
    check_equal(out, wanted, terms=m * n)


@pytest.mark.parametrize("op", ["trans", "join", "split", "where", "reshape"])
@pytest.mark.parametrize("dtype", dtypes(torch.int8, torch.int64, torch.float16, torch.bfloat16))
def test_two_dimensions_of_types(op, dtype, rng):
    x = torch.randint(-6, 6, [8, 16], generator=rng).to(dtype)
    y = torch.randint(-6, 6, [8, 16], generator=rng).to(dtype)
    wanted = wanted_shape(op, x, y)
    out = output([wanted.numel()], dtype)
    shape_kernel[(1,)](x, y, out, M=8, N=16, OP=op)
    check_equal(out, wanted)


@triton.jit
def permute_kernel(
    x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr,
    P: tl.constexpr, Q: tl.constexpr, R: tl.constexpr,
):  # fmt: skip
    store_flat(out, tl.permute(load_3d(x, A, B, C), (P, Q, R)))


@pytest.mark.parametrize(
    "order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
)
def test_permute_of_three_dimensions(order, rng):
    x = normal(rng, [4, 8, 2])
    out = output([x.numel()], torch.float32)
    permute_kernel[(1,)](x, out, 4, 8, 2, *order)
    check_equal(out, x.permute(order).flatten())


@triton.jit
def high_rank_kernel(x, out, N: tl.constexpr):
    value = tl.reshape(tl.load(x + tl.arange(0, N)), [2, 4, 2, N // 16])
    value = tl.permute(value, (3, 1, 0, 2))
    value = value + tl.sum(value, axis=1, keep_dims=True)
    store_flat(out, value)


def test_four_dimensions(rng):
    x = normal(rng, [128])
    out = output([128], torch.float32)
    high_rank_kernel[(1,)](x, out, N=128)
    value = x.double().reshape(2, 4, 2, 8).permute(3, 1, 0, 2)
    check_equal(out, (value + value.sum(1, keepdim=True)).flatten())


@triton.jit
def cat_kernel(x, y, out, N: tl.constexpr):
    both = tl.cat(tl.load(x + tl.arange(0, N)), tl.load(y + tl.arange(0, N)), can_reorder=True)
    tl.store(out + tl.arange(0, 2 * N), both)


@pytest.mark.parametrize("n", [1, 16, 64])
def test_cat_holds_all_elements(n, rng):
    x, y = normal(rng, [n]), normal(rng, [n])
    out = output([2 * n], torch.float32)
    cat_kernel[(1,)](x, y, out, N=n)
    check_equal(out.sort().values, torch.cat([x, y]).sort().values)


@triton.jit
def gather_kernel(
    x, idx, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, AXIS: tl.constexpr
):
    value = load_2d(x, M, N)
    if AXIS == 1:
        index = load_2d(idx, M, K)
    else:
        index = load_2d(idx, K, N)
    store_flat(out, tl.gather(value, index, AXIS))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("k", [1, 4, 32])
def test_gather_within_a_block(axis, k, rng):
    m, n = 8, 16
    x = normal(rng, [m, n])
    shape = (m, k) if axis == 1 else (k, n)
    idx = torch.randint(0, x.shape[axis], shape, generator=rng, dtype=torch.int32)
    out = output([idx.numel()], torch.float32)
    gather_kernel[(1,)](x, idx, out, M=m, N=n, K=k, AXIS=axis)
    check_equal(out, x.gather(axis, idx.long()).flatten())


@triton.jit
def range_kernel(out, START: tl.constexpr, END: tl.constexpr):
    n: tl.constexpr = END - START
    tl.store(out + tl.arange(0, n), tl.arange(START, END))
    tl.store(out + n + tl.arange(0, n), tl.full([n], 7, tl.int32) + tl.zeros([n], tl.int32))
    grid = tl.arange(0, n)[:, None] * 100 + tl.arange(START, END)[None, :]
    tl.store(out + 2 * n + tl.arange(0, n), tl.max(grid, axis=0))


@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 16), (5, 21), (100, 102)])
def test_ranges_and_constants(start, end):
    n = end - start
    out = output([3, n], torch.int32)
    range_kernel[(1,)](out, START=start, END=end)
    seen = torch.arange(start, end)
    check_equal(out, torch.stack([seen, torch.full([n], 7), seen + 100 * (n - 1)]))


@triton.jit
def broadcast_kernel(x, y, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.load(x + tl.arange(0, A))
    b = tl.load(y + tl.arange(0, B))
    value = a[:, None, None] * b[None, :, None] + tl.arange(0, C)[None, None, :]
    store_flat(out, value)


def test_broadcast_to_three_dimensions(rng):
    a, b, c = 4, 8, 2
    x, y = normal(rng, [a]), normal(rng, [b])
    out = output([a * b * c], torch.float32)
    broadcast_kernel[(1,)](x, y, out, A=a, B=b, C=c)
    wanted = x.double()[:, None, None] * y.double()[None, :, None] + ramp(c).double()
    check_equal(out, wanted.flatten())


@triton.jit
def histogram_kernel(x, out, n, N: tl.constexpr, BINS: tl.constexpr, MASK: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at)
    counts = tl.histogram(value, BINS, mask=at < n) if MASK else tl.histogram(value, BINS)
    tl.store(out + tl.arange(0, BINS), counts)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    ("n", "bins"), [(1, 1), (2, 1), (16, 4), (64, 64), (1024, 16), (256, 512), (8192, 2048)]
)
def test_histogram(masked, n, bins, rng):
    # Neighbours are often equal, and some bins are hit far more often than others.
    x = (torch.rand([n], generator=rng) ** 3 * bins).int()
    out = output([bins], torch.int32)
    some = n * 2 // 3
    histogram_kernel[(1,)](x, out, some, N=n, BINS=bins, MASK=masked)
    check_equal(out, torch.bincount(x[:some] if masked else x, minlength=bins))
