# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of a product's left operand that the loop writes to, before or behind the product, at any distance."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal


@triton.jit
def update_kernel(
    a, b, c, o, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STORE_FIRST: tl.constexpr,
):  # fmt: skip
    rows, cols = tl.arange(0, BM), tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        at = rows[:, None] * k + depth[None, :]
        x = tl.load(a + at, mask=rows[:, None] < m, other=0.0)
        y = tl.load(b + depth[:, None] * n + cols[None, :])
        changed = (x.to(tl.float32) * 2 + 1).to(x.dtype)
        if STORE_FIRST:
            tl.store(o + at, changed, mask=rows[:, None] < m)
            acc = tl.dot(x, y, acc)
        else:
            acc = tl.dot(x, y, acc)
            tl.store(o + at, changed, mask=rows[:, None] < m)
    tl.store(c + rows[:, None] * n + cols[None, :], acc, mask=rows[:, None] < m)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("shift", [0, 32, -32, 1, 10_000])
@pytest.mark.parametrize("store_first", [True, False])
@pytest.mark.parametrize("m", [1, 3, 13, 16])
@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float8_e5m2], ids=str
)
def test_rows_that_the_loop_writes(m, store_first, shift, dtype, rng):
    n, k, step = 32, 128, 32
    memory, b = normal(rng, [12_400], dtype), normal(rng, [k, n], dtype)
    wanted_memory = memory.clone()

    def rows_at(tensor, begin):
        return torch.as_strided(tensor, (m, k), (k, 1), begin)

    wanted = torch.zeros(m, n, dtype=torch.float64)
    for begin in range(0, k, step):
        piece = slice(begin, begin + step)
        x = rows_at(wanted_memory, 100)[:, piece].clone()
        rows_at(wanted_memory, 100 + shift)[:, piece] = (x.float() * 2 + 1).to(dtype)
        wanted += x.double() @ b[piece].double()
    c = torch.zeros(m, n)
    update_kernel[(1,)](
        memory[100:], b, c, memory[100 + shift :], m, n, k,
        BM=16, BN=n, BK=step, STORE_FIRST=store_first,
    )  # fmt: skip
    size = wanted.abs().max().item()
    check_equal(c, wanted, tolerance=(1e-3, 1e-3 * size))
    check_equal(memory.float(), wanted_memory.float(), tolerance=(1e-2, 1e-2))
