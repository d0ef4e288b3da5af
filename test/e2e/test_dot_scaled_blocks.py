# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of blocks along K that are scaled before they are added up, as those of 8 bits with a scale for 128 steps are,
with rows and columns that wrap around at the ends; few rows with columns that are contiguous, in parts of a split K too.

Each kernel first runs on full blocks of large numbers, so that what a later run does not compute holds those.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, normal

pytestmark = pytest.mark.compiled("the interpreter has neither fp8 nor bf16")


@triton.jit
def blocks_kernel(
    a, b, c, a_scales, b_scales, M, N, K, GROUP: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """b is (N, K); scales for each row and group, and each group of columns and steps."""
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    cols = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    depth = tl.arange(0, BK)
    groups = tl.cdiv(K, GROUP)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        k = i * BK + depth
        x = tl.load(a + rows[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
        y = tl.load(b + cols[None, :] * K + k[:, None], mask=k[:, None] < K, other=0.0)
        s = tl.load(a_scales + rows * groups + i * BK // GROUP)
        t = tl.load(b_scales + cols // GROUP * groups + i * BK // GROUP)
        part = tl.dot(x, y, input_precision="ieee").to(tl.float32)
        acc += part * s[:, None] * t[None, :]
    row, col = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (row[:, None] < M) & (col[None, :] < N)
    tl.store(c + row[:, None] * N + col[None, :], acc, mask=mask)


def given(shape, dtype, rng):
    if dtype == torch.int8:
        return torch.randint(-128, 128, shape, generator=rng, dtype=dtype)
    return normal(rng, shape).to(dtype)


TYPES = [torch.float32, torch.bfloat16, torch.int8, torch.float8_e4m3fn]


@pytest.mark.parametrize("m", [1, 2, 3, 5, 16, 20])
@pytest.mark.parametrize(("n", "k"), [(64, 256), (70, 200)], ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_scaled(dtype, n, k, m, rng):
    group = 128

    def run(a):
        m = a.shape[0]
        s = torch.rand([m, triton.cdiv(k, group)], generator=rng) + 0.5
        out = torch.full((m + 1, n), 7.0)
        grid = (triton.cdiv(m, 16), triton.cdiv(n, 64))
        blocks_kernel[grid](
            at_end_of_memory(a), at_end_of_memory(b), out, s, t, m, n, k, group, 16, 64, 128
        )
        assert (out[m:] == 7).all()
        return out[:m], s

    b = given([n, k], dtype, rng)
    t = torch.rand([triton.cdiv(n, group), triton.cdiv(k, group)], generator=rng) + 0.5
    run(torch.full((16, k), 100).to(dtype))
    a = given([m, k], dtype, rng)
    got, s = run(a)
    left = a.float().double() * s.double().repeat_interleave(group, 1)[:, :k]
    right = (
        b.float().double()
        * t.double().repeat_interleave(group, 0)[:n].repeat_interleave(group, 1)[:, :k]
    )
    size = 1e4 if dtype == torch.int8 else 1
    torch.testing.assert_close(
        got.double() / size, left @ right.T / size, rtol=1e-4, atol=1e-4 * k**0.5
    )


@triton.jit
def split_kernel(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr
):
    rows, cols = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    depth = tl.program_id(1) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), c.dtype.element_ty)
    for start in range(0, K, BK * SPLIT):
        k = start + depth
        x = tl.load(
            a + rows[:, None] * K + k[None, :],
            mask=(rows[:, None] < M) & (k[None, :] < K),
            other=0.0,
        )
        y = tl.load(
            b + cols[None, :] * K + k[:, None],
            mask=(k[:, None] < K) & (cols[None, :] < N),
            other=0.0,
        )
        acc += tl.dot(x, y.to(x.dtype), out_dtype=acc.dtype, input_precision="ieee")
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.atomic_add(c + rows[:, None] * N + cols[None, :], acc, mask=mask)


@pytest.mark.parametrize("m", [1, 3, 16, 30])
@pytest.mark.parametrize(("n", "k"), [(64, 512), (40, 300)], ids=str)
@pytest.mark.parametrize(
    "types",
    [(torch.bfloat16, torch.bfloat16), (torch.bfloat16, torch.int8), (torch.int8, torch.int8)],
    ids=str,
)
def test_parts_of_k(types, n, k, m, rng):
    a, b = given([m, k], types[0], rng), given([n, k], types[1], rng)
    block = 16 if m <= 16 else 32
    sums = torch.int32 if types[0] == torch.int8 else torch.float32
    c = torch.zeros(block, n, dtype=sums)
    split_kernel[(triton.cdiv(n, 32), 2)](
        at_end_of_memory(a), at_end_of_memory(b), c, m, n, k, block, 32, 128, 2
    )
    assert (c[m:] == 0).all()
    wanted = a.double() @ b.double().T
    if sums == torch.int32:
        assert torch.equal(c[:m].double(), wanted)
    else:
        size = 100 if types[1] == torch.int8 else 1
        torch.testing.assert_close(c[:m].double() / size, wanted / size, rtol=1e-4, atol=1e-3)
