# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans of rows that are shorter than a vector, several of which are scanned at once: along them, across them, and backwards."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, SIGNED, check_equal, dtypes, whole_range


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def later(a, b):
    """Tells its operands apart: what comes last, and is not 0."""
    return tl.where(b == 0, a, b)


@triton.jit
def multiply_add(a_first, b_first, a_then, b_then):
    return a_first * a_then, b_first * a_then + b_then


@triton.jit
def scan_kernel(
    x, out, rows, columns, stride,
    M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, OP: tl.constexpr, REVERSE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.arange(0, N)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    at = row[:, None] * stride + column[None, :]
    value = tl.load(x + at, mask=inside, other=0)
    if OP == "sum":
        value = tl.cumsum(value, AXIS, reverse=REVERSE)
    elif OP == "max":
        value = tl.associative_scan(value, AXIS, larger, reverse=REVERSE)
    elif OP == "later":
        value = tl.associative_scan(value, AXIS, later, reverse=REVERSE)
    else:
        pair = tl.associative_scan((value, value + 1), AXIS, multiply_add, reverse=REVERSE)
        value = pair[1]
    tl.store(out + at, value.to(out.dtype.element_ty), mask=inside)


def scanned(x, block, op, axis, reverse):
    """In blocks of rows; in `x`'s type, which is as wide as it needs to be."""
    rows, columns = x.shape
    padded = torch.zeros([triton.cdiv(rows, block[0]) * block[0], block[1]], dtype=x.dtype)
    padded[:rows, :columns] = x
    lines = padded.reshape(-1, *block).movedim(axis + 1, 0)
    lines = lines.flip(0).clone() if reverse else lines.clone()
    a, b = lines.clone(), lines + 1
    for i in range(1, lines.shape[0]):
        if op == "sum":
            lines[i] += lines[i - 1]
        elif op == "max":
            lines[i] = torch.maximum(lines[i], lines[i - 1])
        elif op == "later":
            lines[i] = torch.where(lines[i] == 0, lines[i - 1], lines[i])
        else:
            b[i] += b[i - 1] * a[i]
    lines = b if op == "pair" else lines
    lines = lines.flip(0) if reverse else lines
    return lines.movedim(0, axis + 1).reshape(padded.shape)[:rows, :columns]


def small(shape, dtype, rng):
    """Whose scans are exact, but for overflow: few are not 0, 1 or -1."""
    low = 0 if dtype == torch.uint8 else -1
    return torch.randint(low, 2, shape, generator=rng).to(dtype)


BLOCKS = [(64, 4), (64, 2), (16, 8), (4, 4), (2, 2), (1, 4), (4, 64), (2, 128), (32, 16), (8, 1)]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("op", ["sum", "max", "later", "pair"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_blocks(block, axis, op, reverse, rng):
    """All of the block's rows and columns, or some of them; rows that follow one another, or lie apart."""
    for rows, columns, stride in (
        (3 * block[0], block[1], block[1]),
        (2 * block[0] + 1, max(block[1] - 1, 1), block[1]),
        (block[0], block[1], block[1] + 3),
        (0, block[1], block[1]),
    ):
        x = torch.full([max(rows, 1), stride], float("nan"))
        x[:rows, :columns] = small([rows, columns], torch.float32, rng)
        out = torch.full_like(x, 7)
        grid = (max(triton.cdiv(rows, block[0]), 1),)
        scan_kernel[grid](x, out, rows, columns, stride, *block, AXIS=axis, OP=op, REVERSE=reverse)
        wanted = scanned(x[:rows, :columns].double(), block, op, axis, reverse)
        check_equal(out[:rows, :columns], wanted, tolerance=(1e-5, 1e-4))
        assert (out[rows:] == 7).all()
        assert (out[:, columns:] == 7).all()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", dtypes(FLOATS, SIGNED, torch.uint8), ids=str)
@pytest.mark.parametrize("block", [(64, 4), (8, 2), (16, 8), (4, 64)], ids=str)
def test_types(block, dtype, reverse, rng):
    rows, columns = 5 * block[0], block[1]
    x = small([rows, columns], dtype, rng)
    kind = dtype if dtype.is_floating_point or dtype == torch.int64 else torch.int32
    for axis in (0, 1):
        out = torch.zeros([rows, columns], dtype=kind)
        scan_kernel[(5,)](
            x, out, rows, columns, columns, *block, AXIS=axis, OP="sum", REVERSE=reverse
        )
        wide = x.double() if dtype.is_floating_point else x.long()
        check_equal(out, scanned(wide, block, "sum", axis, reverse).to(kind), tolerance=(0, 0))


@pytest.mark.parametrize("dtype", dtypes(SIGNED), ids=str)
@pytest.mark.parametrize("reverse", [False, True])
def test_extreme_numbers(dtype, reverse, rng):
    """What stands in for a neighbour must change no number."""
    x = whole_range(rng, [64, 4], dtype)
    x[::3] = torch.iinfo(dtype).min
    x[1::7] = torch.iinfo(dtype).max
    for axis in (0, 1):
        out = torch.zeros_like(x)
        scan_kernel[(1,)](x, out, 64, 4, 4, 64, 4, AXIS=axis, OP="max", REVERSE=reverse)
        assert torch.equal(out, scanned(x, (64, 4), "max", axis, reverse))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_infinities_stay_in_their_lines(axis, reverse):
    x = torch.full([64, 4], -0.0)
    x[5, 2], x[17, 0], x[40, 3], x[63, 1] = float("inf"), float("nan"), float("-inf"), float("inf")
    out = torch.zeros_like(x)
    scan_kernel[(1,)](x, out, 64, 4, 4, 64, 4, AXIS=axis, OP="sum", REVERSE=reverse)
    wanted = scanned(x, (64, 4), "sum", axis, reverse)
    assert torch.equal(out.isnan(), wanted.isnan())
    number = ~wanted.isnan()
    assert torch.equal(out[number], wanted[number])
    assert torch.equal(out[number].signbit(), wanted[number].signbit())


@triton.jit
def cube_kernel(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):  # fmt: skip
    at = tl.arange(0, A)[:, None, None] * B * C + tl.arange(0, B)[None, :, None] * C
    at += tl.arange(0, C)[None, None, :]
    tl.store(out + at, tl.cumsum(tl.load(x + at), AXIS, reverse=REVERSE))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape", [(8, 4, 2), (2, 2, 2), (16, 2, 4), (2, 16, 4), (4, 1, 2)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cubes(shape, axis, reverse, rng):
    x = small(shape, torch.float32, rng)
    out = torch.zeros_like(x)
    cube_kernel[(1,)](x, out, *shape, AXIS=axis, REVERSE=reverse)
    wanted = x.flip(axis).cumsum(axis).flip(axis) if reverse else x.cumsum(axis)
    assert torch.equal(out, wanted)
