# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks, rows and lanes that masks leave out lie where there is no memory."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, normal

pytestmark = pytest.mark.compiled("the interpreter makes addresses of all lanes")

FAR = 1 << 42
DTYPES = [torch.float32, torch.bfloat16, torch.int8]


@triton.jit
def vocabulary_kernel(weights, tokens, out, low, high, n, STEP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    token = tl.load(tokens + row)
    is_here = (token >= low) & (token < high)
    place = weights + (token - low) * n * STEP + at * STEP
    value = tl.load(place, mask=is_here & (at < n), other=3)
    tl.store(out + row * BLOCK + at, value)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "block"), [(64, 64), (37, 64), (256, 256), (201, 256), (3, 4)])
@pytest.mark.parametrize("step", [1, 2])
def test_vocabulary(dtype, n, block, step):
    """Tokens of another shard point far away from the weights."""
    rng = torch.Generator().manual_seed(n)
    table = (normal(rng, [5, n * step]) * 20).to(dtype)
    tokens = torch.tensor([7, 3, FAR, 11, -FAR, 8, 12, 0, FAR // 3], dtype=torch.int64)
    out = torch.full([len(tokens), block], 9).to(dtype)
    args = at_end_of_memory(table), tokens, out, 7, 12, n
    vocabulary_kernel[(len(tokens),)](*args, STEP=step, BLOCK=block)
    wanted = torch.full_like(out, 3)
    for row, token in enumerate(tokens.tolist()):
        if 7 <= token < 12:
            wanted[row, :n] = table[token - 7, ::step]
    torch.testing.assert_close(out, wanted, rtol=0, atol=0)


@triton.jit
def rows_kernel(x, out, places, rows, columns, T: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Rows at the end of memory, or wherever `places` says; those from `rows` on are left out."""
    i, j = tl.arange(0, BM), tl.arange(0, BN)
    if T == "rows":
        at = i[:, None] * columns + j[None, :]
    elif T == "transposed":
        at = i[:, None] + j[None, :] * rows
    else:
        at = tl.load(places + i)[:, None] + j[None, :] * rows
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    value = tl.load(x + at, mask=mask, other=0.0)
    tl.store(out + i[:, None] * BN + j[None, :], value)
    tl.store(out + BM * BN + i, tl.sum(value, axis=1))


@pytest.mark.parametrize("way", ["rows", "transposed", "gathered"])
@pytest.mark.parametrize(
    ("rows", "columns"), [(0, 0), (16, 32), (9, 27), (16, 5), (3, 32), (0, 32)]
)
def test_rows(way, rows, columns):
    rng = torch.Generator().manual_seed(rows + columns)
    table = torch.randint(-9, 9, (rows * columns + 1,), generator=rng).float()
    places = torch.where(torch.arange(16) < rows, torch.arange(16), FAR)
    out = torch.full([16 * 32 + 16], 7.0)
    rows_kernel[(1,)](at_end_of_memory(table), out, places, rows, columns, T=way, BM=16, BN=32)
    wanted = torch.zeros(16, 32)
    part = table[: rows * columns]
    part = part.view(rows, columns) if way == "rows" else part.view(columns, rows).T
    wanted[:rows, :columns] = part
    torch.testing.assert_close(out[: 16 * 32].view(16, 32), wanted, rtol=0, atol=0)
    torch.testing.assert_close(out[16 * 32 :], wanted.sum(dim=1), rtol=0, atol=0)


@triton.jit
def flags_kernel(x, flags, out, far, N: tl.constexpr):
    """Masks by lane, and one for all lanes that memory has; stores as well."""
    i = tl.arange(0, N)
    is_on = tl.load(flags + i) > 0
    value = tl.load(x + far + i, mask=is_on, other=-1.0)
    value += tl.load(x + far + i % 40, mask=is_on, other=-2.0)
    tl.store(out + far + i, value, mask=is_on)
    tl.store(out + far + i, value, mask=tl.load(flags + N) > 0)
    tl.store(out + far + i, value * 2, mask=(i < tl.load(flags + N)) & (i >= 3))
    tl.store(out + i, value)


@pytest.mark.parametrize("n", [4, 64, 512])
@pytest.mark.parametrize("far", [0, FAR, -FAR])
def test_flags(n, far):
    x, flags = torch.randn(n), torch.zeros(n + 1, dtype=torch.int32)
    if not far:
        flags[1:n:3] = 1
    out = torch.full([n], 7.0)
    flags_kernel[(1,)](at_end_of_memory(x), flags, at_end_of_memory(out) if far else out, far, N=n)
    if far:
        return
    is_on = flags[:n] > 0
    wanted = torch.where(is_on, x, -1.0) + torch.where(is_on, x[torch.arange(n) % 40], -2.0)
    torch.testing.assert_close(out, wanted, rtol=0, atol=0)


@triton.jit
def product_kernel(
    a, b, out, m, n, BM: tl.constexpr, BN: tl.constexpr, K: tl.constexpr, T: tl.constexpr
):
    i, j, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, K)
    x = tl.load(a + i[:, None] * K + k[None, :], mask=(i < m)[:, None], other=0.0)
    at = j[None, :] * K + k[:, None] if T else k[:, None] * n + j[None, :]
    y = tl.load(b + at, mask=(j < n)[None, :], other=0.0)
    tl.store(out + i[:, None] * BN + j[None, :], tl.dot(x, y, out_dtype=tl.float32))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("m", "n"), [(0, 0), (1, 32), (32, 32), (17, 19)])
def test_products(dtype, transposed, m, n):
    rng = torch.Generator().manual_seed(m)
    a = torch.randint(-4, 4, (m * 32 + 1,), generator=rng).to(dtype)
    b = torch.randint(-4, 4, (n * 32 + 1,), generator=rng).to(dtype)
    out = torch.full([32, 32], 7.0)
    ends = at_end_of_memory(a), at_end_of_memory(b)
    product_kernel[(1,)](*ends, out, m, n, BM=32, BN=32, K=32, T=transposed)
    wanted = torch.zeros(32, 32)
    right = b[: n * 32].float()
    right = right.view(n, 32).T if transposed else right.view(32, n)
    wanted[:m, :n] = a[: m * 32].float().view(m, 32) @ right
    torch.testing.assert_close(out, wanted, rtol=0, atol=0)
