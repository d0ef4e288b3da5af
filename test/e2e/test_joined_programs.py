# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two programs of short rows that wait for their sums together: the bits are those of programs alone."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal

FLOATS = dtypes(torch.float32, torch.bfloat16, torch.float16)
LEAST = 128  # programs of a launch that run two at a time


def around(rows, columns, stride, shift, dtype):
    """Rows `stride` apart, and all around them."""
    everything = torch.full([rows * stride + shift], 7, dtype=dtype)
    return everything[shift:].view(rows, stride)[:, :columns], everything


@triton.jit
def norm_kernel(x, w, b, out, mean, x_stride, out_stride, columns, eps, BLOCK: tl.constexpr):
    """A layer norm whose rows are gone over in blocks."""
    row = tl.program_id(0)
    total = 0.0
    for at in range(0, columns, BLOCK):
        i = at + tl.arange(0, BLOCK)
        value = tl.load(x + row * x_stride + i, mask=i < columns, other=0.0).to(tl.float32)
        total += tl.sum(value, axis=0)
    middle = total / columns
    squares = 0.0
    for at in range(0, columns, BLOCK):
        i = at + tl.arange(0, BLOCK)
        value = tl.load(x + row * x_stride + i, mask=i < columns, other=0.0).to(tl.float32)
        value = tl.where(i < columns, value - middle, 0.0)
        squares += tl.sum(value * value, axis=0)
    scale = 1 / tl.sqrt(squares / columns + eps)
    tl.store(mean + row, middle)
    for at in range(0, columns, BLOCK):
        i = at + tl.arange(0, BLOCK)
        inside = i < columns
        value = tl.load(x + row * x_stride + i, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(w + i, mask=inside).to(tl.float32)
        bias = tl.load(b + i, mask=inside).to(tl.float32)
        value = (value - middle) * scale * weight + bias
        tl.store(out + row * out_stride + i, value.to(out.dtype.element_ty), mask=inside)


def norm(x, w, b, out, mean, columns, block):
    norm_kernel[(x.shape[0],)](
        x, w, b, out, mean, x.stride(0), out.stride(0), columns, 1e-5, BLOCK=block
    )  # fmt: skip


@pytest.mark.parametrize("rows", [LEAST - 1, LEAST, LEAST + 1, 401])
@pytest.mark.parametrize(
    ("columns", "block"),
    [(1, 16), (37, 64), (64, 64), (256, 256), (781, 256), (1024, 1024), (1100, 1024), (2100, 1024)],
)
@pytest.mark.parametrize("dtype", FLOATS)
def test_layer_norm(dtype, columns, block, rows, rng):
    """Beside f64, and beside launches with few programs, which run alone."""
    w, b = normal(rng, [columns], dtype), normal(rng, [columns], dtype)
    for shift, padding in ((0, 0), (5, 3)):
        x, _ = around(rows, columns, columns + padding, shift, dtype)
        x.copy_(normal(rng, [rows, columns], dtype))
        out, everything = around(rows, columns, columns + padding, shift, dtype)
        mean = torch.zeros(rows)
        norm(x, w, b, out, mean, columns, block)
        wide = x.double()
        wanted = torch.nn.functional.layer_norm(wide, [columns], w.double(), b.double(), 1e-5)
        limit = {torch.float32: 1e-4, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
        torch.testing.assert_close(out.double(), wanted, rtol=limit, atol=limit)
        torch.testing.assert_close(mean.double(), wide.mean(1), rtol=1e-4, atol=1e-5)
        alone, everything_alone = around(rows, columns, columns + padding, shift, dtype)
        mean_alone = torch.zeros(rows)
        for first in range(0, rows, 100):
            some = slice(first, first + 100)
            norm(x[some], w, b, alone[some], mean_alone[some], columns, block)
        assert torch.equal(everything, everything_alone)
        assert torch.equal(mean, mean_alone)


def test_in_place(rng):
    """A row that is written where it is read is the program's own; so are not those of the next one."""
    x = normal(rng, [300, 200], torch.bfloat16)
    w, b = normal(rng, [200], torch.bfloat16), normal(rng, [200], torch.bfloat16)
    mean, out = torch.zeros(300), torch.empty_like(x)
    norm(x, w, b, out, mean, 200, 256)
    norm(x, w, b, x, mean, 200, 256)
    assert torch.equal(x, out)


def test_not_a_number(rng):
    """What is in one row is in no other."""
    x = normal(rng, [200, 96], torch.float32)
    w, b = torch.ones(96), torch.zeros(96)
    x[3, 5], x[8, 0], x[9, 95] = float("nan"), float("inf"), -float("inf")
    out, mean = torch.zeros_like(x), torch.zeros(200)
    norm(x, w, b, out, mean, 96, 128)
    assert out[[3, 8, 9]].isnan().all(1).tolist() == [True, True, True]
    others = [row for row in range(200) if row not in (3, 8, 9)]
    wanted = torch.nn.functional.layer_norm(x[others], [96])
    torch.testing.assert_close(out[others], wanted)


@triton.jit
def share_kernel(x, out, factors, rows, columns, BLOCK: tl.constexpr):
    """Of a grid of two axes; a factor of the program behind, and rows that are left out."""
    row, plane = tl.program_id(0), tl.program_id(1)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    begin = (plane * rows + row) * columns
    value = tl.load(x + begin + at, mask=inside, other=0.0)
    total = tl.sum(tl.abs(value), axis=0)
    if row % 3 != 1:
        factor = tl.load(factors + row + 1)
        tl.store(out + begin + at, value / total * factor, mask=inside)


@pytest.mark.parametrize("columns", [5, 64, 300])
@pytest.mark.parametrize(("planes", "rows"), [(1, 129), (3, 43), (130, 1), (2, 64), (65, 2)])
def test_grids(planes, rows, columns, rng):
    x = normal(rng, [planes, rows, columns], torch.float32)
    factors = normal(rng, [rows + 1], torch.float32)
    out = torch.full_like(x, 7)
    share_kernel[(rows, planes)](
        x, out, factors, rows, columns, BLOCK=triton.next_power_of_2(columns)
    )
    wanted = x / x.abs().sum(2, keepdim=True) * factors[1:, None]
    wanted[:, 1::3] = 7
    torch.testing.assert_close(out, wanted)


@triton.jit
def ragged_kernel(x, out, lengths, stride, BLOCK: tl.constexpr):
    """Rows whose lengths are read: programs differ in their loops' bounds."""
    row = tl.program_id(0)
    length = tl.load(lengths + row)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * stride + at, mask=at < length, other=0.0)
    total = tl.sum(value * value, axis=0)
    tl.store(out + row * stride + at, value / tl.sqrt(total + 1), mask=at < length)


def test_ragged(rng):
    x = normal(rng, [200, 256], torch.float32)
    lengths = torch.randint(0, 257, [200], generator=rng, dtype=torch.int32)
    lengths[:4] = torch.tensor([0, 1, 256, 255])
    out = torch.full_like(x, 7)
    ragged_kernel[(200,)](x, out, lengths, 256, BLOCK=256)
    inside = torch.arange(256) < lengths[:, None]
    kept = torch.where(inside, x, 0)
    wanted = torch.where(inside, x / (kept.square().sum(1, keepdim=True) + 1).sqrt(), 7)
    torch.testing.assert_close(out, wanted)


@triton.jit
def quantize_kernel(x, codes, scales, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(value), axis=0), 1e-6) / 127
    tl.store(scales + row, scale)
    code = value / scale
    tl.store(codes + row * columns + at, code.to(tl.int8), mask=inside)


@pytest.mark.parametrize("dtype", FLOATS)
def test_quantize(dtype, rng):
    x = normal(rng, [333, 500], dtype)
    codes, scales = torch.zeros([333, 500], dtype=torch.int8), torch.zeros(333)
    quantize_kernel[(333,)](x, codes, scales, 500, BLOCK=512)
    wide = x.float()
    wanted = wide.abs().amax(1).clamp_min(1e-6) / 127
    check_equal(scales, wanted)
    check_equal(codes, (wide / wanted[:, None]).to(torch.int8))
