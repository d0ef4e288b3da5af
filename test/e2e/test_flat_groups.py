# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads and stores at `i ^ 1` and `i // 2` that loops shuffle: masks, tails, in place, rows, reductions, flat indices."""

import pytest
import torch
import triton
import triton.language as tl

DTYPES = [torch.float32, torch.bfloat16, torch.int64, torch.uint8]


def random(shape, dtype, rng):
    return torch.randint(0, 100, shape, generator=rng).to(dtype)


def exchanged(x, bits):
    return x.view(-1)[torch.arange(x.numel()) ^ bits].view(x.shape)


@triton.jit
def flat_kernel(x, y, out, n, BITS: tl.constexpr, R: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    value = tl.load(x + (i ^ BITS), mask=m, other=3) + tl.load(y + i // R, mask=m, other=5)
    tl.store(out + i, value, mask=m)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("bits", "repeats"), [(1, 2), (2, 4), (3, 16), (4, 64), (8, 2), (16, 128)])
def test_flat(dtype, bits, repeats, rng):
    """Ends that are whole groups, and ends that are none; blocks that are whole and in part."""
    for n, block in ((4096, 1024), (1000, 256), (32, 1024), (2976, 512)):
        n -= n % (2 * bits if bits != 3 else 4)
        x, y = random([n], dtype, rng), random([triton.cdiv(n, repeats)], dtype, rng)
        out = torch.zeros([n + 16], dtype=dtype)
        flat_kernel[(triton.cdiv(n, block),)](x, y, out, n, bits, repeats, block)
        expected = exchanged(x, bits) + y.repeat_interleave(repeats)[:n]
        assert torch.equal(out[:n], expected), (n, block)
        assert not out[n:].any()


@triton.jit
def odd_kernel(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    value = tl.load(x + (i ^ 1), mask=(i ^ 1) < n, other=3) + tl.load(
        y + i // 2, mask=i < n, other=5
    )
    tl.store(out + i, value)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 16, 33, 63, 64])
def test_odd_ends(n, rng):
    x, y = random([64], torch.float32, rng), random([32], torch.float32, rng)
    out = torch.zeros([64])
    odd_kernel[(1,)](x, y, out, n, 64)
    i = torch.arange(64)
    expected = torch.where((i ^ 1) < n, x[i ^ 1], 3.0) + torch.where(i < n, y[i // 2], 5.0)
    assert torch.equal(out, expected)


@triton.jit
def stored_kernel(x, out, n, BITS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + (i ^ BITS), tl.load(x + i, mask=i < n) * 2, mask=i < n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bits", [1, 2, 3, 8])
def test_stored(dtype, bits, rng):
    for n, block in ((1024, 512), (992, 256), (16, 64), (208, 64)):
        x = random([n], dtype, rng)
        out = torch.zeros([n + 16], dtype=dtype)
        stored_kernel[(triton.cdiv(n, block),)](x, out, n, bits, block)
        assert torch.equal(out[:n], exchanged(x * 2, bits)), (n, block)
        assert not out[n:].any()


@triton.jit
def rope_kernel(x, cos, sin, out, rows, D: tl.constexpr, BD: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    d = tl.arange(0, BD)
    m = (r < rows)[:, None] & (d < D)[None, :]
    at = r[:, None] * D + d[None, :]
    a = tl.load(x + at, mask=m, other=0).to(tl.float32)
    b = tl.load(x + r[:, None] * D + (d ^ 1)[None, :], mask=m, other=0).to(tl.float32)
    half = r[:, None] * (D // 2) + (d // 2)[None, :]
    c = tl.load(cos + half, mask=m, other=0)
    s = tl.load(sin + half, mask=m, other=0)
    sign = tl.where(d % 2 == 0, -1.0, 1.0)[None, :]
    tl.store(out + at, (a * c + b * s * sign).to(out.dtype.element_ty), mask=m)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("where", ["apart", "in place", "one element before", "one row before"])
@pytest.mark.parametrize(("rows", "columns"), [(37, 64), (5, 80), (16, 8), (3, 2), (1, 128)])
def test_rope(dtype, where, rows, columns, rng):
    """Also where what is written is what is read, or begins somewhere else in it."""
    before = {"one element before": 1, "one row before": columns}.get(where, 0)
    memory = torch.randn([rows * columns + before], generator=rng).to(dtype)
    x = memory[before:].view(rows, columns)
    angles = torch.rand([rows, columns // 2], generator=rng) * 6
    cos, sin = angles.cos(), angles.sin()
    pairs = torch.view_as_complex(x.clone().float().view(rows, columns // 2, 2))
    expected = torch.view_as_real(pairs * torch.complex(cos, sin)).reshape(rows, columns).to(dtype)
    out = torch.zeros_like(x) if where == "apart" else memory[: rows * columns].view(rows, columns)
    block = max(triton.next_power_of_2(columns), 2)
    rows_of_program = triton.next_power_of_2(rows)
    rope_kernel[(1,)](x, cos, sin, out, rows, columns, block, rows_of_program)
    torch.testing.assert_close(
        out, expected, rtol=1e-2 if dtype != torch.float32 else 1e-5, atol=1e-5
    )


@triton.jit
def across_kernel(x, y, out, sums, N: tl.constexpr, M: tl.constexpr):
    """Lanes run along the other dimension, and a reduction takes them."""
    i, j = tl.arange(0, N), tl.arange(0, M)
    a = tl.load(x + i[:, None] * M + (j ^ 1)[None, :])
    b = tl.load(y + i[:, None] * (M // 2) + (j // 2)[None, :])
    tl.store(out + j[None, :] * N + i[:, None], a - b)
    tl.store(sums + i, tl.sum(a * b, 1))
    tl.store(sums + N + j, tl.max(a + b, 0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.int16])
@pytest.mark.parametrize(("n", "m"), [(16, 64), (64, 2), (2, 32), (128, 8)])
def test_across(dtype, n, m, rng):
    x, y = random([n, m], dtype, rng) % 11, random([n, m // 2], dtype, rng) % 11
    out, sums = torch.zeros([m, n], dtype=dtype), torch.zeros([n + m], dtype=dtype)
    across_kernel[(1,)](x, y, out, sums, n, m)
    a, b = exchanged(x, 1), y.repeat_interleave(2, 1)
    assert torch.equal(out, (a - b).t())
    assert torch.equal(sums, torch.cat([(a * b).sum(1).to(dtype), (a + b).max(0).values]))


@triton.jit
def reused_kernel(x, out, picked, N: tl.constexpr):
    """What is exchanged is scanned, reversed, and looked up in, too."""
    i = tl.arange(0, N)
    a = tl.load(x + (i ^ 1))
    b = tl.load(x + i // 2)
    tl.store(out + i, tl.cumsum(a, 0))
    tl.store(out + N + i, tl.flip(a, 0) + tl.flip(b, 0))
    tl.store(picked + i, tl.gather(b, (i * 7) % N, 0))


def test_reused(rng):
    n = 64
    x = random([n], torch.int32, rng)
    out, picked = torch.zeros([2 * n], dtype=torch.int32), torch.zeros([n], dtype=torch.int32)
    reused_kernel[(1,)](x, out, picked, n)
    a, b = exchanged(x, 1), x[torch.arange(n) // 2]
    assert torch.equal(out, torch.cat([a.cumsum(0).int(), (a.flip(0) + b.flip(0))]))
    assert torch.equal(picked, b[torch.arange(n) * 7 % n])


@triton.jit
def scattered_kernel(x, index, out, N: tl.constexpr, W):
    """Rows end within the block that is stored: lanes begin anywhere."""
    i = tl.arange(0, N)
    value = tl.load(x + (i ^ 1)) + tl.load(x + i // 2)
    tl.store(out + (i // W) * (W + 3) + i % W, value)
    tl.store(index + i, value)


@pytest.mark.parametrize("width", [5, 16, 37, 100, 256])
def test_scattered(width, rng):
    n = 256
    x = random([n], torch.float32, rng)
    rows = triton.cdiv(n, width)
    index, out = torch.zeros([n]), torch.zeros([rows * (width + 3)])
    scattered_kernel[(1,)](x, index, out, n, width)
    i = torch.arange(n)
    expected = exchanged(x, 1) + x[i // 2]
    assert torch.equal(index, expected)
    assert torch.equal(out[(i // width) * (width + 3) + i % width], expected)
