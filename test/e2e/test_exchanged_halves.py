# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices with one bit exchanged, `i ^ 2` to `i ^ 32`: whole vectors are loaded and shuffled where all of them are there."""

import pytest
import torch
import triton
import triton.language as tl

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int16, torch.uint8]
BITS = [1, 2, 4, 8, 16, 32]


def random(shape, dtype, rng):
    return torch.randint(0, 100, shape, generator=rng).to(dtype)


@triton.jit
def flat_kernel(x, out, n, first, B: tl.constexpr, BIT: tl.constexpr, MASK: tl.constexpr):
    i = first + tl.program_id(0) * B + tl.arange(0, B)
    other = i ^ BIT
    if MASK == "other":
        value = tl.load(x + other, mask=other < n, other=7)
    elif MASK == "own":
        value = tl.load(x + other, mask=i < n, other=7)
    else:
        value = tl.load(x + other)
    tl.store(out + i, value, mask=i < n)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bit", BITS)
@pytest.mark.parametrize("mask", ["none", "other", "own"])
def test_rows(mask, bit, dtype, rng):
    """Ends at, before and behind whole groups; a beginning that is none; the smallest blocks."""
    blocks = (2 * bit, 4 * bit, 64) if dtype == torch.bfloat16 else (64,)
    for n in (0, 1, bit, 2 * bit, 16, 37, 48, 64, 96, 128, 113):
        for block in blocks:
            for first in (0, 16) if dtype != torch.float32 else (0, 1, 16, 48):
                x = random([n + first + 256], dtype, rng)
                out = torch.zeros_like(x)
                end = n + first if mask != "none" else n
                grid = (triton.cdiv(n, block) + 1,)
                flat_kernel[grid](x, out, end, first, block, bit, mask)
                i = torch.arange(first, max(end, first))
                wanted = torch.zeros_like(x)
                wanted[i] = x[i ^ bit]
                if mask == "other":
                    wanted[i[(i ^ bit) >= end]] = 7
                assert torch.equal(out, wanted), (n, block, first)


@triton.jit
def behind_kernel(x, out, n, B: tl.constexpr, BIT: tl.constexpr):
    i = tl.arange(0, B)
    other = i ^ BIT
    tl.store(out + i, tl.load(x + other, mask=other < n, other=float("inf")))


@pytest.mark.parametrize("bit", BITS)
@pytest.mark.parametrize("n", [0, 16, 32, 48, 64, 40, 5])
def test_nothing_behind_the_mask_is_seen(bit, n, rng):
    x = random([64], torch.float32, rng)
    x[n:] = float("nan")
    out = torch.zeros(64)
    behind_kernel[(1,)](x, out, n, 64, bit)
    i = torch.arange(64) ^ bit
    assert torch.equal(out, torch.where(i < n, x[i], float("inf")))


@triton.jit
def forms_kernel(
    x, out, stride, B: tl.constexpr, BIT: tl.constexpr, OTHER: tl.constexpr, HOW: tl.constexpr
):
    i = tl.arange(0, B)
    a = i ^ BIT
    if HOW == "scaled":
        at = a * 3
    elif HOW == "strided":
        at = a * stride
    elif HOW == "with itself":
        at = a + i
    elif HOW == "with others":
        at = a + (i ^ OTHER)
    elif HOW == "twice":
        at = a * 2 + a
    elif HOW == "quotient":
        at = a + i // (2 * BIT) * 5
    elif HOW == "remainder":
        at = a + i % (2 * BIT)
    elif HOW == "negative":
        at = 2 * B - a
    elif HOW == "divided":
        at = a // 2
    elif HOW == "two bits":
        at = a ^ OTHER
    elif HOW == "wide":
        at = a.to(tl.int64) * 2
    elif HOW == "zero extended":
        at = a.to(tl.uint32).to(tl.int64) + 1
    elif HOW == "runs":
        at = a + i // 16 * i // 16
    else:
        at = tl.where(a < 32, a, a + 1)
    tl.store(out + i, tl.load(x + at))


HOW = ["scaled", "strided", "with itself", "with others", "twice", "quotient", "remainder", "negative",
       "divided", "two bits", "wide", "zero extended", "runs", "chosen"]  # fmt: skip


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("bit", BITS)
def test_what_is_computed_from_it(how, bit, rng):
    x = random([1000], torch.float32, rng)
    i = torch.arange(64)
    for other in (1, 4, 16):
        out = torch.zeros(64)
        forms_kernel[(1,)](x, out, 5, 64, bit, other, how)
        a = i ^ bit
        at = {
            "scaled": a * 3, "strided": a * 5, "with itself": a + i, "with others": a + (i ^ other),
            "twice": 3 * a, "quotient": a + i // (2 * bit) * 5, "remainder": a + i % (2 * bit),
            "negative": 128 - a, "divided": a // 2, "two bits": a ^ other, "wide": a * 2, "zero extended": a + 1,
            "runs": a + i // 16 * i // 16, "chosen": torch.where(a < 32, a, a + 1),
        }[how]  # fmt: skip
        assert torch.equal(out, x[at]), other


@triton.jit
def block_kernel(
    x, out, rows, columns, R: tl.constexpr, C: tl.constexpr, RBIT: tl.constexpr, CBIT: tl.constexpr, T: tl.constexpr
):  # fmt: skip
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.arange(0, C)
    other = (c ^ CBIT)[None, :]
    row = r[:, None]
    if RBIT > 0:
        row = (r ^ RBIT)[:, None]
    value = tl.load(x + row * columns + other, mask=(row < rows) & (other < columns), other=9)
    inside = (r < rows)[:, None] & (c < columns)[None, :]
    if T:
        tl.store(out + c[:, None] * rows + r[None, :], tl.trans(value), mask=tl.trans(inside))
    else:
        tl.store(out + r[:, None] * columns + c[None, :], value, mask=inside)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], ids=str)
@pytest.mark.parametrize(
    ("rbit", "cbit"), [(0, 1), (0, 2), (0, 4), (0, 8), (1, 2), (2, 2), (4, 8), (8, 1)]
)
@pytest.mark.parametrize("transposed", [False, True])
def test_blocks(rbit, cbit, transposed, dtype, rng):
    for rows, columns, block in (
        (32, 64, (16, 64)),
        (33, 48, (16, 64)),
        (16, 16, (16, 16)),
        (17, 61, (16, 64)),
        (48, 32, (16, 32)),
    ):
        x = random([rows, columns], dtype, rng)
        out = torch.zeros([columns, rows] if transposed else [rows, columns], dtype=dtype)
        grid = (triton.cdiv(rows, block[0]),)
        block_kernel[grid](x, out, rows, columns, *block, rbit, cbit, transposed)
        r, c = torch.arange(rows) ^ rbit, torch.arange(columns) ^ cbit
        inside = (r < rows)[:, None] & (c < columns)[None, :]
        found = x[r.clamp(max=rows - 1)][:, c.clamp(max=columns - 1)]
        wanted = torch.where(inside, found, 9).to(dtype)
        assert torch.equal(out.T if transposed else out, wanted), (rows, columns)


@triton.jit
def store_kernel(x, out, n, B: tl.constexpr, BIT: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + (i ^ BIT), tl.load(x + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bit", BITS)
@pytest.mark.parametrize("n", [0, 16, 64, 100, 192, 201])
def test_stores(n, bit, dtype, rng):
    x = random([n + 128], dtype, rng)
    out = torch.zeros_like(x)
    store_kernel[(triton.cdiv(n, 64) + 1,)](x, out, n, 64, bit)
    i = torch.arange(n)
    wanted = torch.zeros_like(x)
    wanted[i ^ bit] = x[i]
    assert torch.equal(out, wanted)


@triton.jit
def hadamard_kernel(x, out, scratch, rows, B: tl.constexpr):
    """Each step reads what the one before wrote."""
    i = tl.arange(0, B)
    at = tl.program_id(0) * B
    tl.store(scratch + at + i, tl.load(x + at + i))
    for bit in tl.static_range(0, 6):
        tl.debug_barrier()
        a = tl.load(scratch + at + i)
        b = tl.load(scratch + at + (i ^ (1 << bit)))
        tl.store(scratch + at + i, tl.where((i >> bit) & 1 == 0, a + b, b - a))
    tl.debug_barrier()
    tl.store(out + at + i, tl.load(scratch + at + i))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32], ids=str)
def test_hadamard(dtype, rng):
    x = random([5, 64], dtype, rng)
    out, scratch = torch.zeros_like(x), torch.zeros_like(x)
    hadamard_kernel[(5,)](x, out, scratch, 5, 64)
    matrix = torch.ones([1, 1], dtype=torch.float64)
    for _ in range(6):
        matrix = torch.kron(torch.tensor([[1.0, 1], [1, -1]], dtype=torch.float64), matrix)
    assert torch.equal(out.double(), x.double() @ matrix)
