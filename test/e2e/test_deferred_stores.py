# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that are kept in scratch memory and stored at a program's end: the thread's next program stores them."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output

HALVES = dtypes(torch.float32, torch.bfloat16, torch.float16)


@pytest.fixture(autouse=True)
def one_thread():
    """Few programs would be shared out one by one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@triton.jit
def softmax_kernel(x, out, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * x_stride + at, mask=inside, other=-float("inf")).to(tl.float32)
    weight = tl.exp(value - tl.max(value, axis=0))
    weight = weight / tl.sum(weight, axis=0)
    tl.store(out + row * out_stride + at, weight.to(out.dtype.element_ty), mask=inside)


def guarded(rows, columns, stride, shift, dtype):
    """Rows `stride` apart, and all around them."""
    around = torch.full([rows * stride + shift], 7, dtype=dtype)
    return around[shift:].view(rows, stride)[:, :columns], around


@pytest.mark.parametrize(
    ("rows", "columns", "block"),
    [
        (1, 1, 1),
        (2, 31, 32),
        (5, 64, 64),
        (37, 129, 256),
        (3, 1000, 1024),
        (9, 1024, 1024),
        (70, 781, 1024),
        (4, 5003, 8192),
        (6, 64, 1024),
        (3, 40000, 65536),
        (3, 90000, 131072),
        (3, 140000, 262144),
    ],
)
@pytest.mark.parametrize("dtype", HALVES)
def test_softmax(dtype, rows, columns, block, rng):
    for shift, padding in ((0, 0), (5, 3), (16, 16)):
        x = normal(rng, [rows, columns], dtype)
        out, around = guarded(rows, columns, columns + padding, shift, dtype)
        softmax_kernel[(rows,)](x, out, columns, columns, columns + padding, BLOCK=block)
        check_equal(out, torch.softmax(x.double(), 1), dtype)
        out.fill_(7)
        assert (around == 7).all()


@pytest.mark.compiled("half a GB of interpreted elements takes a minute")
@pytest.mark.parametrize("columns", [8192, 8190])
def test_around_the_caches(columns, rng):
    """The stores begin at a line, the exponentials at the row's first element."""
    rows = 3000
    x = normal(rng, [rows, columns])
    out, around = guarded(rows, columns, columns + 1, 3, torch.float32)
    softmax_kernel[(rows,)](x, out, columns, columns, columns + 1, BLOCK=8192)
    assert torch.allclose(out, torch.softmax(x, 1), rtol=1e-5, atol=1e-9)
    out.fill_(7)
    assert (around == 7).all()


def test_in_place(rng):
    x = normal(rng, [40, 500])
    expected = torch.softmax(x.double(), 1)
    softmax_kernel[(40,)](x, x, 500, 500, 500, BLOCK=512)
    check_equal(x, expected, torch.float32)


def test_what_is_no_number(rng):
    """A row's NaN stays in the row, and so do what overflows and what is 0."""
    x = normal(rng, [9, 300])
    x[1, 7] = float("nan")
    x[3] = -float("inf")
    x[4, 299] = float("inf")
    x[6] *= 1e38
    x[7, ::2] = -float("inf")
    out = output([9, 300], torch.float32)
    softmax_kernel[(9,)](x, out, 300, 300, 300, BLOCK=512)
    # tl.max ignores NaN, so that only the sum has it.
    check_equal(out, torch.softmax(x.double(), 1), torch.float32)


@triton.jit
def ragged_kernel(
    x, lengths, scale, bias, out, total, stride, heads, BLOCK: tl.constexpr, BIAS: tl.constexpr
):
    """Rows of all lengths by two ids; what is stored takes more than the sum, and other arguments."""
    row = tl.program_id(1) * heads + tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < tl.load(lengths + row)
    value = tl.load(x + row * stride + at, mask=inside, other=-float("inf"))
    top = tl.max(value, axis=0)
    weight = tl.exp(value - top)
    all_of = tl.sum(weight, axis=0)
    tl.store(total + row, top + tl.log(all_of))
    weight = weight * tl.load(scale + row) / all_of
    if BIAS:
        weight += tl.load(bias + at, mask=inside)
    tl.store(out + row * stride + at, weight, mask=inside)


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize(("heads", "batch", "block"), [(1, 50, 512), (7, 6, 1024), (40, 1, 128)])
def test_ragged(heads, batch, block, has_bias, rng):
    rows = heads * batch
    lengths = torch.randint(0, block + 1, [rows], generator=rng, dtype=torch.int32)
    lengths[::5] = block
    x, scale, bias = normal(rng, [rows, block]), normal(rng, [rows]), normal(rng, [block])
    out, total = torch.full([rows, block], 7.0), output([rows], torch.float32)
    ragged_kernel[(heads, batch)](
        x, lengths, scale, bias, out, total, block, heads, BLOCK=block, BIAS=has_bias
    )
    outside = torch.arange(block)[None] >= lengths[:, None]
    scores = x.double().masked_fill(outside, -float("inf"))
    expected = torch.softmax(scores, 1) * scale[:, None].double() + has_bias * bias[None].double()
    check_equal(out, torch.where(outside, 7.0, expected), torch.float32)
    there = lengths > 0
    check_equal(total[there], torch.logsumexp(scores, 1)[there], torch.float32)


@triton.jit
def chain_kernel(x, out, rows, columns, apart, BLOCK: tl.constexpr):
    """Each row is computed from what the turn before has stored."""
    at = tl.arange(0, BLOCK)
    inside = at < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
        weight = tl.exp(value - tl.max(value, axis=0))
        weight = 5 * weight / tl.sum(weight, axis=0)
        tl.store(out + (row + apart) * columns + at, weight, mask=inside)


@pytest.mark.parametrize(("columns", "block"), [(64, 64), (200, 256), (1024, 1024)])
def test_tiles_in_order(columns, block, rng):
    x = normal(rng, [9, columns])
    expected = x.double()
    for row in range(8):
        expected[row + 1] = 5 * torch.softmax(expected[row], 0)
    chain_kernel[(1,)](x, x, 8, columns, 1, BLOCK=block)
    check_equal(x, expected, torch.float32, terms=16)


@pytest.mark.parametrize("programs", [1, 3, 64])
def test_tiles_in_no_order(programs, rng):
    x, out = normal(rng, [41, 300]), output([41, 300], torch.float32)
    chain_kernel[(programs,)](x, out, 41, 300, 0, BLOCK=512)
    check_equal(out, 5 * torch.softmax(x.double(), 1), torch.float32, terms=4)


@triton.jit
def two_outputs_kernel(x, first, second, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    weight = tl.exp(value - tl.max(value, axis=0))
    total = tl.sum(weight, axis=0)
    tl.store(first + row * columns + at, weight / total, mask=inside)
    tl.store(second + row * columns + at, weight * total, mask=inside)


def test_two_outputs(rng):
    x = normal(rng, [21, 100])
    first, second = output([21, 100], torch.float32), output([21, 100], torch.float32)
    two_outputs_kernel[(21,)](x, first, second, 100, BLOCK=128)
    weight = torch.exp(x.double() - x.double().max(1, keepdim=True).values)
    check_equal(first, weight / weight.sum(1, keepdim=True), torch.float32)
    check_equal(second, weight * weight.sum(1, keepdim=True), torch.float32, terms=4)
