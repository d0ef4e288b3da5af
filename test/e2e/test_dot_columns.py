# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of which not all columns are stored: panels behind the last one need not be computed, nor packed.

Each kernel first runs on full blocks of NaN, so that what a later run does not compute holds those.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, dtypes, normal, small_numbers


@triton.jit
def columns_kernel(
    a, b, c, places, m, n, k, KNOWN: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    if KNOWN is None or KNOWN > BN:
        cols += tl.program_id(1) * BN
    limit = n if KNOWN is None else KNOWN
    acc = tl.zeros((BM, BN), ACC)
    if HOW == "carried":
        acc += 1
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        inside = (rows[:, None] < m) & (depth[None, :] < k)
        x = tl.load(a + rows[:, None] * k + depth[None, :], mask=inside, other=0.0)
        inside = (depth[:, None] < k) & (cols[None, :] < limit)
        if HOW == "transposed":
            y = tl.load(b + depth[:, None] + cols[None, :] * k, mask=inside, other=0.0)
        elif HOW == "wrapped":
            there = b + depth[:, None] * n + (cols % n)[None, :]
            y = tl.load(there, mask=depth[:, None] < k, other=0.0)
        elif HOW == "gathered":
            token = tl.load(places + cols, mask=cols < limit, other=0)
            y = tl.trans(
                tl.load(b + token[:, None] * k + depth[None, :], mask=tl.trans(inside), other=0.0)
            )
        else:
            y = tl.load(b + depth[:, None] * n + cols[None, :], mask=inside, other=0.0)
        if HOW == "computed":
            y = (y * 2).to(y.dtype)
        if HOW == "carried":
            acc = acc * 2 + tl.dot(x, y, out_dtype=ACC)
        else:
            acc = tl.dot(x, y, acc, out_dtype=ACC)
    inside = (rows[:, None] < m) & (cols[None, :] < limit)
    if HOW == "gathered":  # Tokens as columns.
        token = tl.load(places + cols, mask=cols < limit, other=0)
        tl.store(c + rows[:, None] + token[None, :] * m, acc, mask=inside)
    elif HOW == "middle":
        tl.store(c + rows[:, None] * n + cols[None, :], acc, mask=inside & (cols[None, :] >= 3))
    else:
        tl.store(c + rows[:, None] * n + cols[None, :], acc, mask=inside)


HOWS = ["plain", "transposed", "wrapped", "gathered", "computed", "carried", "middle"]
BLOCKS = [(16, 64, 16), (16, 32, 64), (32, 256, 32)]


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [1, 45])
@pytest.mark.parametrize("n", [1, 17, 40, 130])
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8), ids=str)
def test_few_columns(m, n, how, block, dtype, rng):
    k = 100
    sums, acc = (torch.float32, tl.float32) if dtype.is_floating_point else (torch.int32, tl.int32)

    def run(a, b, known):
        m, n = a.shape[0], b.shape[1]
        places = torch.randperm(n, generator=rng).int()
        right = b
        if how == "transposed":
            right = b.t().contiguous()
        elif how == "gathered":
            right = torch.empty_like(b.t())
            right[places.long()] = b.t()
        c = torch.full((n, m) if how == "gathered" else (m, n), 7, dtype=sums)
        grid = (triton.cdiv(m, block[0]), triton.cdiv(n, block[1]))
        columns_kernel[grid](
            at_end_of_memory(a), at_end_of_memory(right.contiguous()), c, places, m, n, k, known,
            *block, ACC=acc, HOW=how,
        )  # fmt: skip
        return c[places.long()].t() if how == "gathered" else c

    a, b = small_numbers(rng, [m, k], dtype), small_numbers(rng, [k, n], dtype)
    wanted = a.double() @ b.double() * (2 if how == "computed" else 1)
    if how == "carried":
        wanted = torch.ones(m, n, dtype=torch.float64)
        for start in range(0, k, block[2]):
            part = slice(start, start + block[2])
            wanted = wanted * 2 + a[:, part].double() @ b[part].double()
    for known in (None, n) if how in ("plain", "computed") else (None,):
        if dtype.is_floating_point:
            nan = float("nan")
            full = torch.full((k, block[1]), nan, dtype=dtype)
            run(torch.full((block[0], k), nan, dtype=dtype), full, None)
        c = run(a, b, known)
        first = 3 if how == "middle" else 0
        check_equal(c[:, first:], wanted[:, first:], terms=4000 if how == "carried" else 400)
        assert (c[:, :first] == 7).all()


@pytest.mark.parametrize("n", [1, 5, 33])
@pytest.mark.parametrize("how", ["plain", "transposed"])
@pytest.mark.parametrize("dtype", dtypes(torch.float64, torch.float16), ids=str)
def test_few_columns_of_other_types(n, how, dtype, rng):
    m, k, block = 20, 48, (16, 64, 16)
    sums, acc = (torch.float64, tl.float64) if dtype == torch.float64 else (dtype, tl.float16)
    a, b = normal(rng, [m, k], dtype), normal(rng, [k, n], dtype)
    c = torch.full((m, n), 7, dtype=sums)
    right = b.t().contiguous() if how == "transposed" else b
    columns_kernel[triton.cdiv(m, block[0]), 1](
        at_end_of_memory(a), at_end_of_memory(right), c, c, m, n, k, None, *block, ACC=acc, HOW=how
    )
    check_equal(c, a.double() @ b.double(), tolerance=(0.02, 0.05) if sums == dtype else None)


@triton.jit
def empty_kernel(a, b, c, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, cols = tl.arange(0, BM), tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + depth[None, :])
        y = tl.load(b + depth[:, None] * BN + cols[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * BN + cols[None, :], acc, mask=cols[None, :] < n)


@pytest.mark.parametrize("n", [0, 3, 128])
@pytest.mark.parametrize("k", [0, 64])
def test_no_columns_and_no_steps(n, k, rng):
    a, b = normal(rng, [16, 64], torch.float32), normal(rng, [64, 128], torch.float32)
    c = torch.full((16, 128), 7.0)
    empty_kernel[(1,)](a, b, c, n, k, 16, 128, 32)
    check_equal(c[:, :n], a[:, :k].double() @ b[:k, :n].double(), terms=400)
    assert (c[:, n:] == 7).all()


@triton.jit
def shared_kernel(
    a, b, c, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STEP: tl.constexpr
):
    # Programs that follow one another multiply the same b, and store ever more columns of the product.
    program = tl.program_id(0)
    rows, cols = program * BM + tl.arange(0, BM), tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + depth[None, :])
        y = tl.load(b + depth[:, None] * BN + cols[None, :])
        acc = tl.dot(x, y, acc)
    limit = tl.minimum((program // 4) * STEP, n)
    tl.store(c + rows[:, None] * BN + cols[None, :], acc, mask=cols[None, :] < limit)


@pytest.mark.parametrize("step", [1, 40])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_columns_of_shared_operands(step, dtype, rng):
    programs, k, n = 24, 96, 130
    a, b = normal(rng, [16 * programs, k], dtype), normal(rng, [k, 256], dtype)
    c = torch.full((16 * programs, 256), 7.0)
    shared_kernel[(programs,)](a, b, c, n, k, 16, 256, 32, step)
    wanted = a.double() @ b.double()
    for program in range(programs):
        rows, limit = slice(16 * program, 16 * (program + 1)), min(program // 4 * step, n)
        check_equal(c[rows, :limit], wanted[rows, :limit], terms=400)
        assert (c[rows, limit:] == 7).all()
