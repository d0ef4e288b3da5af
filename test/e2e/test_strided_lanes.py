# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements that are a few elements apart: real parts, colors, every fourth byte."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16,
    torch.int8, torch.int16, torch.int32, torch.int64, torch.bool,
]  # fmt: skip
names = {"ids": lambda d: str(d).removeprefix("torch.")}


@triton.jit
def every_kernel(
    x, y, z, n, S: tl.constexpr, MASK: tl.constexpr, BLOCK: tl.constexpr, OTHER: tl.constexpr
):
    at = tl.arange(0, BLOCK)
    if MASK == "none":
        value = tl.load(x + at * S)
        tl.store(z + at, value)
        tl.store(y + at * S, value)
    else:
        mask = at < n
        if MASK == "holes":
            mask = mask & (at % 3 != 1)
        value = tl.load(x + at * S, mask=mask, other=OTHER)
        tl.store(z + at, value)
        tl.store(y + at * S, value, mask=mask)


def numbers(rng, count, dtype):
    if dtype == torch.bool:
        return torch.randint(0, 2, [count], generator=rng).bool()
    return torch.randint(-100, 100, [count], generator=rng).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, **names)
@pytest.mark.parametrize("stride", [2, 3, 4, 5, 7, 8, 9, 16])
@pytest.mark.parametrize(
    ("mask", "n", "block"),
    [
        ("none", 2, 2), ("none", 16, 16), ("none", 256, 256), ("tail", 1, 64),
        ("tail", 200, 256), ("tail", 61, 64), ("holes", 97, 128), ("holes", 32, 32),
    ],
)  # fmt: skip
def test_every_nth(mask, n, block, stride, dtype, rng):
    # The arrays end with the last element that the kernel uses.
    count = (n - 1) * stride + 1
    x, before = numbers(rng, count, dtype), numbers(rng, count, dtype)
    y, z = at_end_of_memory(before), torch.zeros(block).to(dtype)
    other = True if dtype == torch.bool else 5
    every_kernel[(1,)](at_end_of_memory(x), y, z, n, S=stride, MASK=mask, BLOCK=block, OTHER=other)
    at = torch.arange(block)
    mask = (at < n) & ((at % 3 != 1) | (mask != "holes"))
    expected = torch.full([block], other).to(dtype)
    expected[mask] = x[at[mask] * stride]
    assert torch.equal(z, expected)
    before[at[mask] * stride] = x[at[mask] * stride]
    assert torch.equal(y, before)


@triton.jit(do_not_specialize=["XS", "YS"])
def strides_kernel(x, y, z, n, first, XS, YS, MASK: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if MASK:
        # Not a box: the mask is computed for each lane.
        mask = (at < n) & (at % 3 != first)
        value = tl.load(x + at * XS, mask=mask, other=1)
        tl.store(y + at * YS, value, mask=mask)
        tl.store(z + at, tl.load(x + at * XS, mask=at < n, other=1))
    else:
        value = tl.load(x + at * XS)
        tl.store(y + at * YS, value)
        tl.store(z + at, value)


@pytest.mark.parametrize("dtype", DTYPES, **names)
@pytest.mark.parametrize("x_stride", [0, 1, -1, 2, -2, 5])
@pytest.mark.parametrize("masked", [False, True])
def test_strides_that_the_launch_knows(masked, x_stride, dtype, rng):
    """A broadcast dimension's is 0, that of a reversed one -1."""
    for y_stride in (1, -1, 3):
        for n, block in [(256, 256)] if not masked else [(201, 256), (3, 16), (0, 64)]:
            x, y = numbers(rng, 1 + 255 * abs(x_stride), dtype), numbers(rng, 800, dtype)
            z, before = torch.zeros(block).to(dtype), y.clone()
            memory = at_end_of_memory(x)
            begin = 255 * abs(x_stride) if x_stride < 0 else 0
            to = 766 if y_stride < 0 else 0
            strides_kernel[(1,)](
                memory[begin:], y[to:], z, n, 1, x_stride, y_stride, MASK=masked, BLOCK=block
            )
            at = torch.arange(block)
            read = x[(begin + at * x_stride).clamp(0, len(x) - 1)]
            mask = (at < n) & ((at % 3 != 1) | (not masked))
            before[(to + at * y_stride)[mask]] = read[mask]
            assert torch.equal(y, before)
            one = torch.ones(1).to(dtype)
            assert torch.equal(z, torch.where(at < n, read, one))


@triton.jit(do_not_specialize=["XR", "XC", "YR", "YC", "ZR", "ZC"])
def layouts_kernel(x, y, z, m, n, XR, XC, YR, YC, ZR, ZC, BM: tl.constexpr, BN: tl.constexpr):
    """z = 3 x - y, of any layouts."""
    row = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    column = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    mask = (row < m) & (column < n)
    a = tl.load(x + row * XR + column * XC, mask=mask)
    b = tl.load(y + row * YR + column * YC, mask=mask)
    tl.store(z + row * ZR + column * ZC, 3 * a - b, mask=mask)


def layouts(x):
    """(what it is, the m x n of it) each: neighbours of a row are 1, m, 0, -1 and 2 apart."""
    m, n = x.shape
    yield "rows", x, (n, 1)
    yield "columns", x.t().contiguous().t(), (1, m)
    yield "one row", x[:1].clone().expand(m, n), (0, 1)
    yield "one column", x[:, :1].clone().expand(m, n), (1, 0)
    yield "every second", x.repeat_interleave(2, 1)[:, ::2], (2 * n, 2)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != torch.bool], **names)
@pytest.mark.parametrize("shape", [(7, 131), (1, 1), (33, 64), (0, 5)])
def test_layouts_that_the_launch_knows(shape, dtype, rng):
    """What is compiled for rows whose neighbours are 1 apart is used for those only."""
    m, n = shape
    one, other = (numbers(rng, m * n, dtype).reshape(m, n) for _ in range(2))
    for block in [(1, 256), (4, 32), (16, 1)]:
        grid = (triton.cdiv(max(m, 1), block[0]), triton.cdiv(n, block[1]))
        for _, x, xs in layouts(one):
            for kind, y, ys in layouts(other):
                for zs in [(n, 1), (1, m), (3 * n, 3)]:
                    z = numbers(rng, 3 * m * n, dtype)
                    expected = z.clone()
                    expected.as_strided((m, n), zs).copy_((3 * x - y).to(dtype))
                    layouts_kernel[grid](x, y, z, m, n, *xs, *ys, *zs, BM=block[0], BN=block[1])
                    assert torch.equal(z, expected), (kind, xs, ys, zs, block)
        # In place.
        x = one.clone()
        layouts_kernel[grid](x, other, x, m, n, n, 1, n, 1, n, 1, BM=block[0], BN=block[1])
        assert torch.equal(x, (3 * one - other).to(dtype))


@triton.jit
def turn_kernel(x, rows, half, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < half
    re = tl.load(x + row * half * 2 + at * 2, mask=inside)
    im = tl.load(x + row * half * 2 + at * 2 + 1, mask=inside)
    tl.store(x + row * half * 2 + at * 2, re - 2 * im, mask=inside)
    tl.store(x + row * half * 2 + at * 2 + 1, im + 3 * re, mask=inside)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.float64], **names
)
@pytest.mark.parametrize("half", [1, 13, 64, 200])
def test_pairs_in_place(half, dtype, rng):
    rows = 3
    x = torch.randint(-9, 9, [rows, half, 2], generator=rng).to(dtype)
    re, im = x[..., 0], x[..., 1]
    expected = torch.stack([re - 2 * im, im + 3 * re], -1)
    memory = at_end_of_memory(x)
    turn_kernel[(rows,)](memory, rows, half, BLOCK=triton.next_power_of_2(half))
    assert torch.equal(memory, expected)


@triton.jit
def shifted_kernel(x, y, S: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at * S)
    b = tl.load(x + at * S + 1)
    tl.store(y + at * S, a + 2 * b)
    tl.store(y + at * S + 1, b - a)


@pytest.mark.compiled("what overlaps is tested in compiled code")
@pytest.mark.parametrize("shift", [-64, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 63, 64, 400])
@pytest.mark.parametrize("stride", [2, 3, 4])
def test_results_over_what_is_read(stride, shift, rng):
    """All loads are before all stores, wherever the results lie; later stores win."""
    block, begin = 64, 500
    memory = torch.randint(-9, 9, [1200], generator=rng).float()
    expected = memory.clone()
    at = torch.arange(block) * stride
    a, b = memory[begin + at].clone(), memory[begin + at + 1].clone()
    expected[begin + shift + at] = a + 2 * b
    expected[begin + shift + at + 1] = b - a
    shifted_kernel[(1,)](memory[begin:], memory[begin + shift :], S=stride, BLOCK=block)
    assert torch.equal(memory, expected)


@triton.jit
def tile_kernel(x, y, rows, columns, S: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.arange(0, BM)[:, None], tl.arange(0, BN)[None, :]
    inside = (i < rows) & (j < columns)
    value = tl.load(x + (i * columns + j) * S + 1, mask=inside, other=0)
    sums = tl.sum(value.to(tl.float32), axis=1)
    tl.store(y + (i * columns + j) * S, value + sums[:, None].to(value.dtype), mask=inside)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int16], **names)
@pytest.mark.parametrize("stride", [2, 3, 4])
@pytest.mark.parametrize(("rows", "columns"), [(8, 64), (5, 37), (1, 1)])
def test_one_color_of_rows(rows, columns, stride, dtype, rng):
    x = torch.randint(-3, 4, [rows, columns, stride], generator=rng).to(dtype)
    y = torch.full_like(x, 9)
    expected = y.clone()
    value = x[..., 1].float()
    expected[..., 0] = (value + value.sum(1, keepdim=True)).to(dtype)
    tile_kernel[(1,)](x, y, rows, columns, S=stride, BM=8, BN=64)
    assert torch.equal(y, expected)
