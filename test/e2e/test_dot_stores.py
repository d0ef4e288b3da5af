# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of a loop's product that the last steps along K store to the array: blocks that are there in part, outputs over operands,
operands that jump, other layouts, and what stands between the loop and the store."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal

TYPES = (torch.float32, torch.float64, torch.float16, torch.int8)


@triton.jit
def kernel(
    a, b, out, seen, m, n, k, half, jump, a_row, b_row, out_row, out_col,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    """a[:, i] is `jump` elements further on from column `half` on."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    for _turn in range(2 if HOW == "twice" else 1):
        acc = tl.zeros((BM, BN), ACC)
        for start in range(0, k, BK):
            at = start + tl.arange(0, BK)
            place = start + tl.where(start >= half, jump, 0) + tl.arange(0, BK)
            x = tl.load(
                a + rows[:, None] * a_row + place[None, :],
                mask=(rows[:, None] < m) & (at[None, :] < k),
                other=0,
            )
            y = tl.load(
                b + at[:, None] * b_row + cols[None, :],
                mask=(at[:, None] < k) & (cols[None, :] < n),
                other=0,
            )
            acc = tl.dot(x, y, acc, out_dtype=ACC)
        places = rows[:, None] * out_row + cols[None, :] * out_col
        if HOW == "seen":
            tl.store(seen + places, tl.load(out + places, mask=inside), mask=inside)
        if HOW == "added":
            acc += tl.load(out + places, mask=inside, other=0)
        tl.store(out + places, acc, mask=inside)
        if HOW == "again":
            tl.store(seen + places, acc, mask=inside)


def numbers(rng, shape, dtype):
    if not dtype.is_floating_point:
        return torch.randint(-128, 128, shape, generator=rng).to(dtype)
    return normal(rng, shape, dtype)


def sums_of(dtype):
    wide = {torch.float64: (torch.float64, tl.float64), torch.int8: (torch.int32, tl.int32)}
    return wide.get(dtype, (torch.float32, tl.float32))


def product(a, b, m, n):
    """In more precision; integers exactly."""
    exact = torch.int64 if not a.dtype.is_floating_point else torch.float64
    return a[:m].to(exact) @ b[:, :n].to(exact)


def launch(a, b, out, m, n, k, block=(64, 64, 32), how="plain", half=2**30, jump=0, seen=None):
    bm, bn, bk = block
    kernel[(triton.cdiv(m, bm), triton.cdiv(n, bn))](
        a, b, out, out if seen is None else seen, m, n, k, half, jump,
        a.stride(0), b.stride(0), *out.stride(),
        BM=bm, BN=bn, BK=bk, ACC=sums_of(a.dtype)[1], HOW=how,
    )  # fmt: skip


def framed(shape, dtype):
    """An output in the middle of memory, all of which is 77."""
    whole = torch.full([shape[0] + 2, shape[1] + 37], 77, dtype=dtype)
    return whole, whole[1:-1, 5 : 5 + shape[1]]


def check_frame(whole, shape):
    whole = whole.clone()
    whole[1:-1, 5 : 5 + shape[1]] = 77
    assert (whole == 77).all()


@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("block", [(64, 64, 32), (16, 16, 16), (32, 128, 64), (128, 32, 16)])
@pytest.mark.parametrize(
    "shape", [(128, 128, 64), (130, 131, 67), (1, 1, 1), (64, 64, 1200), (65, 200, 0)]
)
def test_blocks_in_the_array(shape, block, dtype, rng):
    m, n, k = shape
    a, b = numbers(rng, [m, k], dtype), numbers(rng, [k, n], dtype)
    whole, out = framed([m, n], sums_of(dtype)[0])
    launch(a, b, out, m, n, k, block)
    check_equal(out, product(a, b, m, n), terms=4 * k)
    check_frame(whole, [m, n])


@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("how", ["added", "seen", "again", "twice"])
@pytest.mark.parametrize("m", [64, 50])
def test_what_stands_between(m, how, dtype, rng):
    a, b = numbers(rng, [m, 100], dtype), numbers(rng, [100, 64], dtype)
    out = numbers(rng, [m, 64], torch.int8).to(sums_of(dtype)[0])
    before, seen = out.clone(), torch.zeros_like(out)
    launch(a, b, out, m, 64, 100, how=how, seen=seen)
    wanted = product(a, b, m, 64)
    if how == "added":
        wanted = wanted + before.to(wanted.dtype)
    check_equal(out, wanted, terms=400)
    if how in ("seen", "again"):
        assert torch.equal(seen, before if how == "seen" else out)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float64))
@pytest.mark.parametrize("shift", [0, 1, 17, 64 * 96, 63 * 96 + 40, -5, -64 * 96])
@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize("k", [32, 96])
def test_outputs_over_operands(k, which, shift, dtype, rng):
    """One program reads all of its operands before it stores."""
    memory = numbers(rng, [3 * 96 * 96], dtype)
    operand = memory[96 * 96 :].as_strided([64, k] if which == "a" else [k, 64], [96, 1])
    other = numbers(rng, [k, 64] if which == "a" else [64, k], dtype)
    out = memory[96 * 96 + shift :].as_strided([64, 64], [96, 1])
    a, b = (operand, other) if which == "a" else (other, operand)
    wanted = product(a, b, 64, 64)
    launch(a, b, out, 64, 64, k)
    check_equal(out, wanted, terms=4 * k)


@pytest.mark.parametrize("dtype", dtypes(torch.float32))
@pytest.mark.parametrize("shift", [0, 64 * 96, 32 * 96, -32 * 96, -48 * 96, -64 * 96])
def test_outputs_over_rows_that_run_backwards(shift, dtype, rng):
    memory = numbers(rng, [4 * 96 * 96], dtype)
    start = 2 * 96 * 96
    a, b = memory[start:], numbers(rng, [96, 64], dtype)
    out = memory[start - 63 * 96 + shift :].as_strided([64, 64], [96, 1])
    rows = torch.stack([memory[start - 96 * i :][:96] for i in range(64)])
    wanted = product(rows, b, 64, 64)
    kernel[(1, 1)](
        a, b, out, out, 64, 64, 96, 2**30, 0, -96, 64, 96, 1,
        BM=64, BN=64, BK=32, ACC=tl.float32, HOW="plain",
    )  # fmt: skip
    check_equal(out, wanted, terms=400)


@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("m", [64, 40, 1])
@pytest.mark.parametrize("half", [32, 64, 512, 544, 992])
def test_operands_that_jump(half, m, dtype, rng):
    """Steps before the jump stay where they lie; so often the last block along K is padded, and is packed."""
    k, jump = 1009, 333
    memory, b = numbers(rng, [m, k + jump + 64], dtype), numbers(rng, [k, 64], dtype)
    a = torch.cat([memory[:, :half], memory[:, half + jump : k + jump]], 1)
    whole, out = framed([m, 64], sums_of(dtype)[0])
    launch(memory, b, out, m, 64, k, half=half, jump=jump)
    check_equal(out, product(a, b, m, 64), terms=4 * k)
    check_frame(whole, [m, 64])


@pytest.mark.parametrize("dtype", dtypes(*TYPES))
@pytest.mark.parametrize("layout", ["transposed", "apart", "one row"])
def test_layouts_of_outputs(layout, dtype, rng):
    a, b = numbers(rng, [64, 80], dtype), numbers(rng, [80, 64], dtype)
    sums = sums_of(dtype)[0]
    memory = torch.full([64 * 64 * 2], 77, dtype=sums)
    strides = {"transposed": [1, 64], "apart": [128, 2], "one row": [0, 1]}[layout]
    out = memory.as_strided([64, 64], strides)
    m = 1 if layout == "one row" else 64
    launch(a, b, out, m, 64, 80)
    check_equal(out[:m], product(a, b, m, 64), terms=320)
    if layout == "apart":
        assert (memory[1::2] == 77).all()
