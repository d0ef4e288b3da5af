# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic in bf16 is rounded after each operation, as PyTorch's is: bits are compared, but of NaNs."""

import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.compiled("the interpreter rounds in another way")


def check(got, wanted):
    is_nan = wanted.isnan()
    assert torch.equal(got.isnan(), is_nan)
    assert torch.equal(got[~is_nan].view(torch.int16), wanted[~is_nan].view(torch.int16))


def codes(count, seed):
    """Bits of all kinds: every number of bf16 in turn, NaNs with all payloads among them."""
    order = torch.randperm(1 << 16, generator=torch.Generator().manual_seed(seed))
    return (order[torch.arange(count) % (1 << 16)] - (1 << 15)).to(torch.int16).view(torch.bfloat16)


@triton.jit
def chain_kernel(a, b, c, out, n, WAY: tl.constexpr, NEGATES: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(a + i, mask=inside, other=1.0)
    y = tl.load(b + i, mask=inside, other=1.0)
    z = tl.load(c + i, mask=inside, other=1.0)
    if WAY == "rope":
        r = x * y - z * x
    elif WAY == "products":
        r = x * y * z * y * x
    elif WAY == "quotient":
        r = (x + y) / (z - x) * y
    elif WAY == "choice":
        # Triton 3.7 negates as 0 - x, which differs in the sign of zeros.
        p = x * y
        r = tl.where(x < y, -p if NEGATES else p * -1.0, tl.abs(y) + z) * z
    elif WAY == "several":
        p = x * y
        tl.store(out + n + i, p, mask=inside)
        r = p + p * z
    else:
        # In Triton 3.7 they are f32.
        least = tl.minimum(y, z).to(tl.bfloat16)
        r = tl.maximum(x * y, least).to(tl.bfloat16) * 0.3333 + z
    tl.store(out + i, r, mask=inside)


def expected(x, y, z, way):
    if way == "rope":
        return x * y - z * x
    if way == "products":
        return x * y * z * y * x
    if way == "quotient":
        return (x + y) / (z - x) * y
    if way == "choice":
        return torch.where(x < y, -(x * y), y.abs() + z) * z
    if way == "several":
        return x * y + x * y * z
    least = torch.where(y.isnan(), z, torch.where(z.isnan() | (y < z), y, z))
    p = x * y
    most = torch.where(p.isnan(), least, torch.where(least.isnan() | (p > least), p, least))
    return most * torch.tensor(0.3333, dtype=torch.bfloat16) + z


@pytest.mark.parametrize("way", ["rope", "products", "quotient", "choice", "several", "maximum"])
@pytest.mark.parametrize(("n", "block"), [(1 << 16, 1024), (3001, 256), (77, 128), (5, 1)])
@pytest.mark.parametrize("special", [False, True])
def test_chains(way, n, block, special):
    if special:
        x, y, z = (codes(n, seed) for seed in (1, 2, 3))
    else:
        rng = torch.Generator().manual_seed(n)
        x, y, z = (torch.randn(n, generator=rng).bfloat16() for _ in range(3))
    out = torch.zeros(2 * n, dtype=torch.bfloat16)
    negates = not triton.__version__.startswith("3.7")
    chain_kernel[(triton.cdiv(n, block),)](x, y, z, out, n, WAY=way, NEGATES=negates, BLOCK=block)
    wanted = expected(x, y, z, way)
    if way == "quotient":
        # A quotient is within 2 ulp of f32: it may be rounded to the next bf16.
        is_number = wanted.isfinite() & (wanted.abs() > 1e-30)
        assert torch.equal(out[:n].isnan(), wanted.isnan())
        torch.testing.assert_close(out[:n][is_number], wanted[is_number], rtol=2**-7, atol=0)
        return
    check(out[:n], wanted)
    if way == "several":
        check(out[n:], x * y)


@triton.jit
def nan_kernel(wide, half, out, N: tl.constexpr):
    """NaNs that lower bits alone make such, rounded and used as f32 again."""
    i = tl.arange(0, N)
    x = tl.load(wide + i).to(tl.bfloat16).to(tl.float32)
    h = tl.load(half + i).to(tl.float32).to(tl.bfloat16).to(tl.float32)
    tl.store(out + i, x * 2)
    tl.store(out + N + i, h * 2)


@pytest.mark.parametrize("n", [4, 64])
def test_nans(n):
    wide = torch.tensor([0x7FFFFFFF, 0x7F800001, -1, 0x7FC0FFFF], dtype=torch.int64)
    half = torch.tensor([0x7FFF, 0x7C01, -1, 0x7E00], dtype=torch.int64)
    wide = wide.to(torch.int32).view(torch.float32).repeat(n // 4)
    half = half.to(torch.int16).view(torch.float16).repeat(n // 4)
    out = torch.zeros(2 * n)
    nan_kernel[(1,)](wide, half, out, N=n)
    assert out.isnan().all()


@triton.jit
def rotary_kernel(q, cos, sin, HEADS: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, D // 2)
    c, s = tl.load(cos + row * (D // 2) + at), tl.load(sin + row * (D // 2) + at)
    for head in range(HEADS):
        place = q + (row * HEADS + head) * D + at
        a, b = tl.load(place), tl.load(place + D // 2)
        tl.store(place, a * c - b * s)
        tl.store(place + D // 2, b * c + a * s)


@pytest.mark.parametrize("d", [16, 64, 128])
@pytest.mark.parametrize("special", [False, True])
def test_rotary(d, special):
    rows, heads, half = 7, 3, d // 2
    rng = torch.Generator().manual_seed(d)
    angle = torch.rand(rows, half, generator=rng) * 6
    q = torch.randn(rows, heads, 2, half, generator=rng).bfloat16()
    if special:
        q = codes(q.numel(), 5).view(q.shape).clone()
    cos, sin = angle.cos().bfloat16(), angle.sin().bfloat16()
    c, s = cos[:, None], sin[:, None]
    a, b = q[:, :, 0], q[:, :, 1]
    wanted = torch.stack([a * c - b * s, b * c + a * s], dim=2)
    out = q.clone()
    rotary_kernel[(rows,)](out, cos, sin, HEADS=heads, D=d)
    check(out, wanted)
