# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of bf16 whose even elements are kept apart from the odd ones until they are stored, from any element on."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * x_stride + at, mask=inside, other=-float("inf")).to(tl.float32)
    weight = tl.exp(value - tl.max(value, axis=0))
    weight = weight / tl.sum(weight, axis=0)
    tl.store(out + row * out_stride + at, weight.to(out.dtype.element_ty), mask=inside)


def softmax(x, out, block):
    softmax_kernel[(x.shape[0],)](x, out, x.shape[1], x.stride(0), out.stride(0), BLOCK=block)


def check(x, out):
    wanted = torch.softmax(x.double(), 1)
    torch.testing.assert_close(out.double(), wanted, rtol=0.004, atol=1e-30)


@pytest.mark.compiled("bf16 arithmetic is wrong in the interpreter")
@pytest.mark.parametrize("shift", [0, 1, 2, 5, 31, 32])
@pytest.mark.parametrize(("rows", "columns", "block"), [(14500, 900, 1024), (13000, 1024, 1024)])
def test_around_the_caches(rows, columns, block, shift, rng):
    """Stores begin at a line, which is an even or an odd element of the row; few rows have the same bits."""
    x = torch.randn([rows, columns], generator=rng).bfloat16()
    around = torch.full([rows * (columns + 3) + shift], 7, dtype=torch.bfloat16)
    out = around[shift:].view(rows, columns + 3)[:, :columns]
    softmax(x, out, block)
    few = torch.full_like(x[:301], 7)
    softmax(x[:301], few, block)
    assert torch.equal(out[:301], few)
    check(x[::97], out[::97])
    out.fill_(7)
    assert (around == 7).all()


@pytest.mark.compiled("bf16 arithmetic is wrong in the interpreter")
@pytest.mark.parametrize("columns", [1, 2, 31, 33, 64, 95, 97, 127, 129, 200, 255, 256])
def test_lengths(columns, rng):
    """Infinities and rows of nothing but NaN stay in their elements and rows."""
    x = torch.randn([37, columns], generator=rng).bfloat16()
    x[3], x[4, columns // 2] = float("nan"), float("nan")
    x[5:9, : columns // 2] = -float("inf")
    x[9, columns - 1] = 3e38
    out = torch.full_like(x, 7)
    softmax(x, out, triton.next_power_of_2(columns))
    assert out[[3, 4]].isnan().all()
    rest = [row for row in range(37) if row not in (3, 4)]
    check(x[rest], out[rest])


@triton.jit
def beside_kernel(x, out, kept, columns, KIND: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=-float("inf")).to(tl.float32)
    weight = tl.exp(value - tl.max(value, axis=0))
    total = tl.sum(weight, axis=0)
    tl.store(out + row * columns + at, (weight / total).to(out.dtype.element_ty), mask=inside)
    if KIND == "moved":
        tl.store(kept + row * columns + at, weight, mask=inside)
    elif KIND == "computed":
        tl.store(kept + row * columns + at, weight * 2, mask=inside)
    elif KIND == "moved first":
        tl.store(kept + row * columns + at, value, mask=inside)
        tl.store(out + row * columns + at, (value + total).to(out.dtype.element_ty), mask=inside)
    else:
        tl.store(kept + row * columns + columns - 1 - at, weight, mask=inside)


@pytest.mark.compiled("bf16 arithmetic is wrong in the interpreter")
@pytest.mark.parametrize("kind", ["moved", "computed", "moved first", "reversed"])
@pytest.mark.parametrize("columns", [33, 64, 200, 256, 512, 1021, 1024, 4001])
def test_f32_beside(columns, kind, rng):
    """What is kept in f32 is stored in f32, too, in its order."""
    x = torch.randn([21, columns], generator=rng).bfloat16()
    out, kept = torch.full_like(x, 7), torch.full(x.shape, 7.0)
    beside_kernel[(21,)](x, out, kept, columns, kind, triton.next_power_of_2(columns))
    value = x.double()
    weight = torch.exp(value - value.max(1, keepdim=True).values)
    total = weight.sum(1, keepdim=True)
    wanted = value + total if kind == "moved first" else weight / total
    torch.testing.assert_close(out.double(), wanted, rtol=0.005, atol=1e-30)
    wanted = {"computed": weight * 2, "moved first": value, "reversed": weight.flip(1)}.get(
        kind, weight
    )
    torch.testing.assert_close(kept.double(), wanted, rtol=1e-6, atol=0)
