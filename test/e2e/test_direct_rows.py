# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of few rows with weights that are computed: a single row is multiplied with them as they are unpacked.

Each kernel first runs on full blocks of NaN, so that what a later run does not compute holds those.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, normal

pytestmark = pytest.mark.compiled("the interpreter has no bf16")
DTYPES = [torch.float32, torch.float16, torch.bfloat16]


@triton.jit
def int4_kernel(
    x, packed, scales, out, M, N, K,
    GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """packed is (K / 8, N), scales (K / GROUP, N)."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = cols < N
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        depth = start + tl.arange(0, BK)
        a = tl.load(x + rows[:, None] * K + depth[None, :],
                    mask=(rows[:, None] < M) & (depth[None, :] < K), other=0.0)  # fmt: skip
        word = tl.load(packed + (depth[:, None] // 8) * N + cols[None, :],
                       mask=inside[None, :] & (depth[:, None] < K), other=0)  # fmt: skip
        scale = tl.load(scales + (start // GROUP) * N + cols, mask=inside, other=0.0)
        code = (word >> ((depth[:, None] % 8) * 4)) & 15
        acc = tl.dot(a, (code - 8).to(a.dtype) * scale[None, :], acc, input_precision="ieee")
    mask = (rows[:, None] < M) & inside[None, :]
    tl.store(out + rows[:, None] * N + cols[None, :], acc, mask=mask)


@triton.jit
def bytes_kernel(
    x, w, out, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """w is (K, N), of integers or floats of 8 bits."""
    rows, cols = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    depth = tl.program_id(1) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK * SPLIT):
        a = tl.load(x + rows[:, None] * K + start + depth[None, :],
                    mask=(rows[:, None] < M) & (depth[None, :] < K - start), other=0.0)  # fmt: skip
        b = tl.load(w + (start + depth[:, None]) * N + cols[None, :],
                    mask=(depth[:, None] < K - start) & (cols[None, :] < N), other=0.0)  # fmt: skip
        acc = tl.dot(a, b.to(a.dtype), acc, input_precision="ieee")
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.atomic_add(out + rows[:, None] * N + cols[None, :], acc, mask=mask)


def close(got, wanted, k):
    torch.testing.assert_close(got.double(), wanted, rtol=2e-5, atol=2e-5 * k**0.5)


# Rows: one, one behind a block of 16 (which finds what that has packed, or not), and more.
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 17])
@pytest.mark.parametrize(
    "shape", [(64, 128, 64, 64), (33, 96, 32, 32), (100, 48, 128, 64)], ids=str
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_codes_of_4_bits(dtype, shape, m, rng):
    n, k, bn, bk = shape
    group = 32 if bk == 32 else 64
    codes = torch.randint(0, 16, [k, n], generator=rng)
    words = (codes.view(k // 8, 8, n) << (torch.arange(8).view(1, 8, 1) * 4)).sum(1)
    packed = torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32)
    scales = (torch.rand([triton.cdiv(k, group), n], generator=rng) + 0.1).to(dtype)
    # Each product is rounded to the activations' type.
    wide = (codes - 8).to(dtype) * scales.repeat_interleave(group, 0)[:k]
    x = normal(rng, [m, k], dtype)
    out = torch.full((m, n), 7.0)
    nan = torch.full((16, k), float("nan"), dtype=dtype)
    poisoned = torch.zeros(16, n)
    grid = (1, triton.cdiv(n, bn))
    int4_kernel[grid](nan, packed, scales, poisoned, 16, n, k, group, 16, bn, bk)
    assert poisoned.isnan().all()
    grid = (triton.cdiv(m, 16), triton.cdiv(n, bn))
    int4_kernel[grid](
        at_end_of_memory(x), at_end_of_memory(packed), scales, out, m, n, k, group, 16, bn, bk
    )
    close(out, x.double() @ wide.double(), k)


@pytest.mark.parametrize("split", [1, 2])
@pytest.mark.parametrize("m", [1, 3, 4])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("weights", ["int8", "uint8", "float8_e4m3fn", "float8_e5m2"])
def test_bytes(weights, dtype, m, split, rng):
    weights = getattr(torch, weights)
    for n, k in ((128, 128), (65, 70)):
        if weights.is_floating_point:
            w = normal(rng, [k, n]).to(weights)
        else:
            low = -128 if weights == torch.int8 else 0
            w = torch.randint(low, low + 256, [k, n], generator=rng).to(weights)
        x = normal(rng, [m, k], dtype)
        out = torch.zeros(16, n)
        given = at_end_of_memory(w.view(torch.int8)).view(weights)
        grid = (triton.cdiv(n, 64), split)
        bytes_kernel[grid](at_end_of_memory(x), given, out, m, n, k, 16, 64, 32, split)
        assert (out[m:] == 0).all()
        size = 1 if weights.is_floating_point else 100
        close(out[:m] / size, x.double() @ w.double() / size, k)


@triton.jit
def runs_kernel(x, w, out, M, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A loop that may not run, and runs of it that go on where the one before ended."""
    rows, cols, depth = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        a = tl.load(
            x + rows[:, None] * 256 + start + depth[None, :], mask=rows[:, None] < M, other=0.0
        )
        b = tl.load(w + (start + depth[:, None]) * BN + cols[None, :])
        acc = tl.dot(a, b.to(a.dtype) * 2, acc, input_precision="ieee")
    for start in range(k, 256, BK):
        a = tl.load(
            x + rows[:, None] * 256 + start + depth[None, :], mask=rows[:, None] < M, other=0.0
        )
        b = tl.load(w + (start + depth[:, None]) * BN + cols[None, :])
        acc = tl.dot(a, b.to(a.dtype) * 3, acc, input_precision="ieee")
    tl.store(out + rows[:, None] * BN + cols[None, :], acc, mask=rows[:, None] < M)


@pytest.mark.parametrize("k", [0, 224, 256])
@pytest.mark.parametrize("m", [0, 1, 2])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_loops_in_turn(dtype, m, k, rng):
    w = torch.randint(-128, 128, [256, 64], generator=rng, dtype=torch.int8)
    x = normal(rng, [2, 256], dtype)
    out = torch.full((16, 64), 7.0)
    runs_kernel[(1,)](x, w, out, m, k, 16, 64, 32)
    assert (out[m:] == 7).all()
    factor = torch.where(torch.arange(256) < k, 2, 3)[:, None]
    wide = (w.double() * factor).to(dtype).double()
    close(out[:m] / 100, x[:m].double() @ wide / 100, 256)


@triton.jit
def columns_kernel(
    x, packed, zeros, scales, out, M, N, K,
    GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """packed is (K, N / 8), zeros (K / GROUP, N / 8): eight columns a word, the even ones before the odd ones."""
    order = ((tl.arange(0, 2) * 4)[None, :] + tl.arange(0, 4)[:, None]).reshape(8) * 4
    shifts = tl.broadcast_to(order[None, :], (BK * (BN // 8), 8)).reshape(BK, BN)
    rows, cols = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    words = tl.program_id(0) * (BN // 8) + tl.arange(0, BN // 8)
    depth = tl.program_id(1) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK * SPLIT):
        k = start + depth
        a = tl.load(x + rows[:, None] * K + k[None, :],
                    mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)  # fmt: skip
        b = tl.load(packed + k[:, None] * (N // 8) + words[None, :],
                    mask=(k[:, None] < K) & (words[None, :] < N // 8), other=0)  # fmt: skip
        b = tl.interleave(b, b)
        b = tl.interleave(b, b)
        b = tl.interleave(b, b)
        g = (start + tl.program_id(1) * BK) // GROUP + tl.arange(0, 1)
        inside = g < K // GROUP
        z = tl.load(zeros + g[:, None] * (N // 8) + words[None, :],
                    mask=inside[:, None] & (words[None, :] < N // 8), other=0)  # fmt: skip
        z = tl.interleave(z, z)
        z = tl.interleave(z, z)
        z = tl.interleave(z, z)
        z = tl.broadcast_to(z, (BK, BN))
        s = tl.load(scales + g[:, None] * N + cols[None, :],
                    mask=inside[:, None] & (cols[None, :] < N), other=0.0)  # fmt: skip
        w = (((b >> shifts) & 15) - ((z >> shifts) & 15)).to(a.dtype) * s
        acc = tl.dot(a, w, acc, input_precision="ieee")
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.atomic_add(out + rows[:, None] * N + cols[None, :], acc, mask=mask)


@pytest.mark.parametrize("m", [1, 2, 16])
@pytest.mark.parametrize("n", [64, 40])
@pytest.mark.parametrize("split", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_columns_of_a_word(dtype, split, n, m, rng):
    k, group = 128, 64

    def pack(codes):
        at = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7]) * 4
        words = (codes.view(-1, n // 8, 8) << at).sum(2)
        return torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32)

    codes = torch.randint(0, 16, [k, n], generator=rng)
    zeros = torch.randint(0, 16, [k // group, n], generator=rng)
    scales = (torch.rand([k // group, n], generator=rng) + 0.1).to(dtype)
    wide = (codes - zeros.repeat_interleave(group, 0)).to(dtype)
    wide = wide * scales.repeat_interleave(group, 0)
    x = normal(rng, [m, k], dtype)
    out = torch.zeros(16, n)
    columns_kernel[(triton.cdiv(n, 32), split)](
        at_end_of_memory(x), at_end_of_memory(pack(codes)), at_end_of_memory(pack(zeros)), scales,
        out, m, n, k, group, 16, 32, 32, split,
    )  # fmt: skip
    assert (out[m:] == 0).all()
    close(out[:m], x.double() @ wide.double(), k)


@triton.jit
def times_kernel(
    x, packed, out, M, N, K,
    T: tl.constexpr, BITS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """packed is (K, N / T): T columns a word, of so many bits each."""
    rows, cols = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    words, depth = tl.program_id(0) * (BN // T) + tl.arange(0, BN // T), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + depth
        a = tl.load(x + rows[:, None] * K + k[None, :],
                    mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)  # fmt: skip
        w = tl.load(packed + k[:, None] * (N // T) + words[None, :],
                    mask=(k[:, None] < K) & (words[None, :] < N // T), other=0)  # fmt: skip
        w = tl.broadcast_to(w[:, :, None], (BK, BN // T, T)).reshape(BK, BN)
        w = (w >> ((cols % T) * BITS)[None, :]) & ((1 << BITS) - 1)
        acc = tl.dot(a, w.to(a.dtype), acc, input_precision="ieee")
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(out + rows[:, None] * N + cols[None, :], acc, mask=mask)


@pytest.mark.parametrize("m", [1, 3, 5, 16])
@pytest.mark.parametrize("shape", [(32, 32, 16), (96, 70, 64), (64, 33, 128)], ids=str)
@pytest.mark.parametrize("times", [2, 4, 8, 16])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_words_of_so_many_columns(dtype, times, shape, m, rng):
    n, k, bn = shape
    bits = min(4, 32 // times)
    codes = torch.randint(0, 1 << bits, [k, n], generator=rng)
    packed = (codes.view(k, n // times, times) << (torch.arange(times) * bits)).sum(2)
    packed = torch.where(packed >= 1 << 31, packed - (1 << 32), packed).to(torch.int32)
    x, out = normal(rng, [m, k], dtype), torch.full((m, n), 7.0)
    times_kernel[(triton.cdiv(n, bn),)](
        at_end_of_memory(x), at_end_of_memory(packed), out, m, n, k, times, bits, 16, bn, 32
    )
    close(out, x.double() @ codes.double(), k)
