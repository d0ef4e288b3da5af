# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans and sorts: axes, types, own regions, both directions."""

import math

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from blocks import SHAPES, axes, load_block, padded, store_flat
from support import FLOATS, SIGNED, check_equal, dtypes, normal, output, whole_range


@triton.jit
def multiply_add(a_first, b_first, a_then, b_then):
    return a_first * a_then, b_first * a_then + b_then


@triton.jit
def scan_kernel(
    x, y, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr,
    AXIS: tl.constexpr, OP: tl.constexpr, REVERSE: tl.constexpr,
):  # fmt: skip
    value = load_block(x, A, B, C)
    if OP == "cumsum":
        result = tl.cumsum(value, axis=AXIS, reverse=REVERSE)
    elif OP == "cumprod":
        result = tl.cumprod(value, axis=AXIS, reverse=REVERSE)
    else:
        pair = tl.associative_scan(
            (value, load_block(y, A, B, C)), AXIS, multiply_add, reverse=REVERSE
        )
        result = pair[1]
    store_flat(out, result)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("op", ["cumsum", "cumprod", "pairs"])
@pytest.mark.parametrize(("shape", "axis"), [*axes(SHAPES, with_all=False)])
def test_scan_over_axes(op, shape, axis, reverse, rng):
    x, y = normal(rng, shape), normal(rng, shape)
    out = output([x.numel()], torch.float32)
    scan_kernel[(1,)](x, y, out, *padded(shape), AXIS=axis, OP=op, REVERSE=reverse)
    a, b = x.double(), y.double()
    if reverse:
        a, b = a.flip(axis), b.flip(axis)
    if op == "cumsum":
        wanted = a.cumsum(axis)
    elif op == "cumprod":
        wanted = a.cumprod(axis)
    else:
        wanted = b.clone()
        lines, factors = wanted.movedim(axis, 0), a.movedim(axis, 0)
        for i in range(1, lines.shape[0]):
            lines[i] += factors[i] * lines[i - 1]
    if reverse:
        wanted = wanted.flip(axis)
    check_equal(out, wanted.flatten(), tolerance=(1e-4, 1e-4))


@pytest.mark.parametrize("dtype", dtypes(FLOATS, SIGNED))
def test_scan_of_types(dtype, rng):
    shape = (8, 32)
    x = normal(rng, shape, dtype) if dtype.is_floating_point else whole_range(rng, shape, dtype)
    result = dtype if dtype.is_floating_point or dtype == torch.int64 else torch.int32
    out = output([x.numel()], result)
    scan_kernel[(1,)](x, x, out, *padded(shape), AXIS=1, OP="cumsum", REVERSE=False)
    wide = x.double() if dtype.is_floating_point else x.long()
    wanted = wide.cumsum(1).flatten()
    if not dtype.is_floating_point:
        wanted = wanted.to(result)
    coarse = dtype in (torch.float16, torch.bfloat16)
    check_equal(out, wanted, tolerance=(0.05, 0.2) if coarse else None)


@triton.jit
def running_sum_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.associative_scan(tl.load(x + i), 0, plus))


@triton.jit
def plus(a, b):
    return a + b


@pytest.mark.compiled("bf16 arithmetic is wrong in the interpreter")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_running_sums_of_narrow_floats_round_once(dtype, rng):
    """With a rounding at each step the end of 1,024 elements would be off by several percent."""
    x = torch.rand([1024], generator=rng).to(dtype)
    out = output([1024], dtype)
    running_sum_kernel[(1,)](x, out, N=1024)
    wanted = x.double().cumsum(0)
    check_equal(out, wanted, tolerance=(2.0**-8 if dtype == torch.bfloat16 else 2.0**-11, 0))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def smaller(a, b):
    return tl.minimum(a, b)


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def all_bits(a, b):
    return a & b


@triton.jit
def any_bits(a, b):
    return a | b


@triton.jit
def odd_bits(a, b):
    return a ^ b


ACCUMULATE = {
    "sum": np.add,
    "product": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@triton.jit
def combine_kernel(x, out, n, OP: tl.constexpr, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.program_id(0) * n + i
    value = tl.load(x + at, mask=i < n, other=1)
    if OP == "sum":
        result = tl.associative_scan(value, 0, plus, reverse=REVERSE)
    elif OP == "product":
        result = tl.associative_scan(value, 0, product, reverse=REVERSE)
    elif OP == "max":
        result = tl.associative_scan(value, 0, larger, reverse=REVERSE)
    elif OP == "min":
        result = tl.associative_scan(value, 0, smaller, reverse=REVERSE)
    elif OP == "and":
        result = tl.associative_scan(value, 0, all_bits, reverse=REVERSE)
    elif OP == "or":
        result = tl.associative_scan(value, 0, any_bits, reverse=REVERSE)
    else:
        result = tl.associative_scan(value, 0, odd_bits, reverse=REVERSE)
    tl.store(out + at, result, mask=i < n)


def scan_rows(x, op, reverse):
    out = output(x.shape, x.dtype)
    rows, n = x.shape
    combine_kernel[(rows,)](x, out, n, OP=op, N=triton.next_power_of_2(n), REVERSE=reverse)
    return out


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", dtypes(SIGNED, torch.uint8))
@pytest.mark.parametrize("op", ACCUMULATE)
@pytest.mark.parametrize("n", [4, 64, 61])
def test_scan_with_one_operation(n, op, dtype, reverse, rng):
    """Whatever is put where there is no neighbour must change no number, the least and the largest among them."""
    x = whole_range(rng, [3, n], dtype)
    info = torch.iinfo(dtype)
    x[1, : n // 2] = info.min
    x[2, : n // 2] = info.max
    if op == "product":
        x |= 1
    a = np.ones([3, triton.next_power_of_2(n)], x.numpy().dtype)
    a[:, :n] = x.numpy()
    step = -1 if reverse else 1
    wanted = ACCUMULATE[op].accumulate(a[:, ::step], axis=1, dtype=a.dtype)[:, ::step][:, :n]
    check_equal(scan_rows(x, op, reverse), torch.from_numpy(wanted.copy()), tolerance=(0, 0))


@pytest.mark.parametrize("op", ["sum", "product"])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_keeps_signs_of_zeros_and_infinities(reverse, op):
    x = torch.full([4, 64], -0.0)
    if op == "product":
        x[0] = 1.0
        x[0, 31] = -1.0
    x[1, 32] = math.inf
    x[2, 33] = -math.inf
    x[3, 30] = math.nan
    step = -1 if reverse else 1
    with np.errstate(invalid="ignore"):
        wanted = ACCUMULATE[op].accumulate(x.numpy()[:, ::step], axis=1)[:, ::step]
    out = scan_rows(x, op, reverse).numpy()
    np.testing.assert_array_equal(out, wanted)
    number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(out)[number], np.signbit(wanted)[number])


@triton.jit
def stored_scan_kernel(
    x, out, low, n, stride, OP: tl.constexpr, OTHER: tl.constexpr, FROM_LOW: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """The scan begins with the first element of the block, whatever is loaded and stored of it."""
    row = tl.program_id(0)
    at = tl.arange(0, N)
    inside = (at >= low) & (at < n)
    value = tl.load(x + row * stride + at, mask=inside, other=OTHER)
    if OP == "sum":
        result = tl.cumsum(value * 2, axis=0) + 1
    else:
        result = tl.associative_scan(value, 0, largest)
    tl.store(
        out + row * stride + at,
        result.to(out.dtype.element_ty),
        mask=inside if FROM_LOW else at < n,
    )


@triton.jit
def largest(a, b):
    return tl.maximum(a, b)


def stored_scan(x, op, low, n, other, from_low):
    """What the kernel makes of `x`, and what it leaves."""
    block = triton.next_power_of_2(x.shape[1])
    a = np.full([x.shape[0], block], other, np.float64)
    a[:, low:n] = x[:, low:n].double().numpy()
    wanted = 2 * a.cumsum(axis=1) + 1 if op == "sum" else np.maximum.accumulate(a, axis=1)
    result = x.double().clone()
    result[:, low if from_low else 0 : n] = torch.from_numpy(wanted)[:, low if from_low else 0 : n]
    return result


@pytest.mark.parametrize("shift", [None, 0, 1, -16, 40])
@pytest.mark.parametrize(("low", "n"), [(0, 300), (0, 0), (0, 1), (5, 257), (40, 64), (0, 299)])
@pytest.mark.parametrize("op", ["sum", "largest"])
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float32, torch.float16, torch.int32, torch.int64), ids=str
)
def test_scan_between_load_and_store(dtype, op, low, n, shift, rng):
    """The output elsewhere, the operand itself, or `shift` elements away from it."""
    columns, other = 300, 3 if op == "sum" else -2
    x = torch.randint(-2, 3, [1, columns], generator=rng).to(dtype)
    for from_low in (False, True):
        memory = torch.zeros([1000], dtype=dtype)
        operand = memory[300 : 300 + columns]
        operand.copy_(x[0])
        out = memory[300 + shift :] if shift is not None else memory[650:]
        before = out[:columns].clone()
        wanted = stored_scan(x, op, low, n, other, from_low)[0]
        written = torch.zeros([columns], dtype=torch.bool)
        written[low if from_low else 0 : n] = True
        wanted = torch.where(written, wanted, before.double())
        stored_scan_kernel[(1,)](
            operand, out, low, n, columns, OP=op, OTHER=other, FROM_LOW=from_low, N=512
        )
        check_equal(out[:columns], wanted, tolerance=(0, 0))


@pytest.mark.parametrize("columns", [1500, 2048])
def test_stored_scan_around_the_caches(columns, rng):
    """More than the last cache keeps is written."""
    rows = 3000
    x = torch.randint(-2, 3, [rows, columns], generator=rng).to(torch.float32)
    out = output([rows, columns], torch.float32)
    stored_scan_kernel[(rows,)](
        x, out, 0, columns, columns, OP="sum", OTHER=0, FROM_LOW=False, N=2048
    )
    check_equal(out, 2 * x.cumsum(1) + 1, tolerance=(0, 0))


@triton.jit
def used_twice_kernel(x, out, total, n, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at, mask=at < n, other=0.0)
    sums = tl.cumsum(value, axis=0)
    again = tl.cumsum(sums, axis=0)
    tl.store(out + at, sums, mask=at < n)
    tl.store(out + n + at, sums * again, mask=at < n)
    tl.store(total, tl.max(again, axis=0))


@pytest.mark.parametrize("n", [1, 64, 201])
def test_scan_that_several_use(n, rng):
    x = torch.randint(0, 3, [n], generator=rng).to(torch.float32)
    out, total = output([2 * n], torch.float32), output([1], torch.float32)
    used_twice_kernel[(1,)](x, out, total, n, N=256)
    sums = x.double().cumsum(0)
    again = sums.cumsum(0)
    check_equal(out[:n], sums, tolerance=(0, 0))
    check_equal(out[n:], sums * again, tolerance=(0, 0))
    assert total.item() >= again.max().item()


@triton.jit
def rows_kernel(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    """Blocks of rows, one after the other, each with what the last one gave."""
    at = tl.arange(0, BN)[None, :]
    row = tl.arange(0, BM)[:, None]
    for start in range(0, rows, BM):
        inside = (start + row < rows) & (at < columns)
        value = tl.load(x + (start + row) * columns + at, mask=inside, other=0.0)
        tl.store(out + (start + row) * columns + at, tl.cumsum(value, axis=1), mask=inside)


@pytest.mark.parametrize(("bm", "columns"), [(1, 37), (4, 64), (8, 5), (4, 1)])
def test_scan_of_blocks_of_rows(bm, columns, rng):
    x = torch.randint(-9, 10, [13, columns], generator=rng).to(torch.float32)
    out = output([13, columns], torch.float32)
    rows_kernel[(1,)](x, out, 13, columns, BM=bm, BN=triton.next_power_of_2(columns))
    check_equal(out, x.double().cumsum(1), tolerance=(0, 0))
