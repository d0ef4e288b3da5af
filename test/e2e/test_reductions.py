# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions and scans: every kind, type, shape and axis, and combiners of the user's own."""

import math

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, SIGNED, check_equal, dtypes, normal, output, whole_range


@triton.jit
def load_block(x, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """A block of rank 1 to 3; B or C is 0 where the rank is less."""
    if C > 0:
        i = tl.arange(0, A)[:, None, None]
        j = tl.arange(0, B)[None, :, None]
        value = tl.load(x + (i * B + j) * C + tl.arange(0, C)[None, None, :])
    elif B > 0:
        value = tl.load(x + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    else:
        value = tl.load(x + tl.arange(0, A))
    return value


@triton.jit
def store_flat(out, value):
    if len(value.shape) == 0:
        tl.store(out, value.to(out.dtype.element_ty))
    else:
        flat = tl.reshape(value, [value.numel])
        tl.store(out + tl.arange(0, value.numel), flat.to(out.dtype.element_ty))


@triton.jit
def reduce_kernel(
    x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr,
    AXIS: tl.constexpr, OP: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    value = load_block(x, A, B, C)
    if OP == "sum":
        result = tl.sum(value, axis=AXIS, keep_dims=KEEP)
    elif OP == "max":
        result = tl.max(value, axis=AXIS, keep_dims=KEEP)
    elif OP == "min":
        result = tl.min(value, axis=AXIS, keep_dims=KEEP)
    elif OP == "argmax":
        result = tl.argmax(value, axis=AXIS, keep_dims=KEEP)
    else:
        result = tl.argmin(value, axis=AXIS, keep_dims=KEEP)
    store_flat(out, result)


SHAPES = [(1,), (64,), (1, 1), (8, 16), (1, 32), (32, 1), (4, 8, 16), (2, 1, 4)]


def padded(shape):
    return (*shape, 0, 0)[:3]


def axes(shapes, with_all=True):
    for shape in shapes:
        for axis in [*range(len(shape))] + ([None] if with_all else []):
            yield pytest.param(shape, axis, id=f"{'x'.join(map(str, shape))}-{axis}")


@pytest.mark.parametrize("op", ["sum", "max", "min", "argmax", "argmin"])
@pytest.mark.parametrize(("shape", "axis"), [*axes(SHAPES)])
def test_reduction_over_axes(op, shape, axis, rng):
    if axis is None and op.startswith("arg"):
        pytest.skip("arg reductions take one axis")
    x = normal(rng, shape)
    wide = x.double()
    if axis is None:
        wanted = {"sum": wide.sum, "max": wide.max, "min": wide.min}[op]()
    else:
        wanted = {
            "sum": wide.sum,
            "max": wide.amax,
            "min": wide.amin,
            "argmax": wide.argmax,
            "argmin": wide.argmin,
        }[op](axis)
    out = output([wanted.numel()], torch.int32 if op.startswith("arg") else torch.float32)
    for keep in (False, True):
        reduce_kernel[(1,)](x, out, *padded(shape), AXIS=axis, OP=op, KEEP=keep)
        check_equal(out, wanted.flatten(), terms=x.numel())


@pytest.mark.parametrize("op", ["sum", "max", "min"])
@pytest.mark.parametrize("dtype", dtypes(FLOATS, SIGNED, torch.uint8, torch.uint32))
def test_reduction_of_types(op, dtype, rng):
    shape = (16, 32)
    x = normal(rng, shape, dtype)
    for axis in (0, 1):
        if dtype.is_floating_point:
            wanted = x.double()
        else:
            wanted = x.long()
        wanted = {"sum": wanted.sum, "max": wanted.amax, "min": wanted.amin}[op](axis)
        if not dtype.is_floating_point and op == "sum":
            result = torch.int64 if dtype == torch.int64 else torch.int32
            wanted = wanted.to(result)
        else:
            result = dtype
        out = output([wanted.numel()], result)
        reduce_kernel[(1,)](x, out, *padded(shape), AXIS=axis, OP=op, KEEP=False)
        scale = 8 if op == "sum" and dtype in (torch.float16, torch.bfloat16) else 1
        tolerance = None if scale == 1 else (0.05, 0.3)
        check_equal(out, wanted, tolerance=tolerance, context=f"axis {axis}")


@triton.jit
def boolean_sum_kernel(x, out, N: tl.constexpr):
    value = tl.load(x + tl.arange(0, N))
    positive = value > 0
    tl.store(out, tl.sum(positive.to(tl.int32), axis=0))
    tl.store(out + 1, tl.max(positive.to(tl.int32), axis=0))
    tl.store(out + 2, tl.min(positive.to(tl.int32), axis=0))


@pytest.mark.parametrize("n", [1, 2, 1024, 4096])
def test_reduction_of_booleans(n, rng):
    x = normal(rng, [n])
    out = output([3], torch.int32)
    boolean_sum_kernel[(1,)](x, out, N=n)
    positive = x > 0
    assert out.tolist() == [int(positive.sum()), int(positive.max()), int(positive.min())]


@triton.jit
def max_indices_kernel(x, values, indices, M: tl.constexpr, N: tl.constexpr, LEFT: tl.constexpr):
    value = load_block(x, M, N, 0)
    top, at = tl.max(value, axis=1, return_indices=True, return_indices_tie_break_left=LEFT)
    rows = tl.arange(0, M)
    tl.store(values + rows, top)
    tl.store(indices + rows, at)
    low, at = tl.min(value, axis=1, return_indices=True, return_indices_tie_break_left=LEFT)
    tl.store(values + M + rows, low)
    tl.store(indices + M + rows, at)


@pytest.mark.parametrize("left", [True, False])
def test_max_with_indices(left, rng):
    m, n = 16, 32
    x = torch.randint(-5, 5, [m, n], generator=rng).float()
    values, indices = output([2, m], torch.float32), output([2, m], torch.int32)
    max_indices_kernel[(1,)](x, values, indices, M=m, N=n, LEFT=left)
    check_equal(values, torch.stack([x.amax(1), x.amin(1)]))
    picked = x[None].expand(2, m, n).gather(2, indices.long()[:, :, None])[:, :, 0]
    check_equal(picked, values)
    if left:
        first = torch.stack(
            [(x == x.amax(1)[:, None]).int().argmax(1), (x == x.amin(1)[:, None]).int().argmax(1)]
        )
        check_equal(indices, first)


@triton.jit
def welford(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    count = count_a + count_b
    delta = mean_b - mean_a
    share = count_b / tl.where(count == 0, 1.0, count)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def welford_kernel(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    value = load_block(x, M, N, 0)
    mean, m2, count = tl.reduce((value, value * 0, value * 0 + 1), AXIS, welford)
    R: tl.constexpr = M * N // (M if AXIS == 0 else N)
    at = tl.arange(0, R)
    tl.store(out + at, mean)
    tl.store(out + R + at, m2 / count)
    tl.store(out + 2 * R + at, count)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(16, 32), (1, 64), (64, 1)])
def test_reduction_with_own_combiner(axis, shape, rng):
    x = normal(rng, shape) + 3
    wide = x.double()
    wanted = [
        wide.mean(axis),
        wide.var(axis, unbiased=False),
        torch.full([x.shape[1 - axis]], x.shape[axis]),
    ]
    out = output([3 * x.shape[1 - axis]], torch.float32)
    welford_kernel[(1,)](x, out, M=shape[0], N=shape[1], AXIS=axis)
    check_equal(out, torch.cat(wanted), tolerance=(1e-4, 1e-5))


@triton.jit
def any_nonzero(a, b):
    return tl.where(a != 0, a, b)


@triton.jit
def log_sum_exp(a, b):
    top = tl.maximum(a, b)
    return top + tl.log(tl.exp(a - top) + tl.exp(b - top))


@triton.jit
def own_region_kernel(x, y, out, N: tl.constexpr):
    tl.store(out, tl.reduce(tl.load(x + tl.arange(0, N)), 0, log_sum_exp))
    tl.store(out + 1, tl.reduce(tl.load(y + tl.arange(0, N)), 0, any_nonzero))


@pytest.mark.parametrize("n", [1, 2, 16, 256])
def test_reduction_that_has_no_identity(n, rng):
    """The second is not commutative; Triton promises no order, so any nonzero element is right."""
    x = normal(rng, [n])
    y = normal(rng, [n]) * (torch.rand([n], generator=rng) < 0.2)
    out = output([2], torch.float32)
    own_region_kernel[(1,)](x, y, out, N=n)
    check_equal(out[0], torch.logsumexp(x.double(), 0))
    nonzero = [v for v in y.tolist() if v != 0]
    assert out[1].item() in (nonzero or [0.0])


@triton.jit
def max_nan_kernel(x, out, N: tl.constexpr):
    value = tl.load(x + tl.program_id(0) * N + tl.arange(0, N))
    tl.store(out + tl.program_id(0) * 2, tl.max(value, axis=0))
    tl.store(out + tl.program_id(0) * 2 + 1, tl.min(value, axis=0))


@pytest.mark.compiled("NumPy's own rules for NaN")
@pytest.mark.parametrize("n", [1, 16, 64])
def test_max_ignores_nan_unless_all_are(n, rng):
    x = normal(rng, [4, n])
    x[1] = math.nan
    x[2, : n // 2] = math.nan
    x[3] = -math.inf
    out = output([4, 2], torch.float32)
    max_nan_kernel[(4,)](x, out, N=n)
    top, low = x.clone(), x.clone()
    top[x.isnan()], low[x.isnan()] = -math.inf, math.inf
    wanted = torch.stack([top.amax(1), low.amin(1)], dim=1)
    wanted[1] = math.nan
    if n == 1:
        wanted[2] = x[2, 0]
    check_equal(out, wanted)


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
def sort_kernel(x, out, N: tl.constexpr, DOWN: tl.constexpr):
    row = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + row, tl.sort(tl.load(x + row), descending=DOWN))


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.int32, torch.float16, torch.int8))
@pytest.mark.parametrize("n", [2, 16, 128])
def test_sort(n, dtype, down, rng):
    x = normal(rng, [4, n], dtype)
    out = output([4, n], dtype)
    sort_kernel[(4,)](x, out, N=n, DOWN=down)
    check_equal(out, x.sort(dim=1, descending=down).values, tolerance=(0, 0))


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
def row_kernel(x, out, n, other, OP: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=other).to(tl.float32)
    if OP == "sum":
        result = tl.sum(value, 0)
    elif OP == "squares":
        result = tl.sum(value * value, 0)
    elif OP == "powers":
        result = tl.sum(tl.exp(value * 0.125), 0)
    else:
        result = tl.max(-value, 0)
    tl.store(out + tl.program_id(0), result)


@pytest.mark.parametrize("other", [0, 1])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.bfloat16, torch.int8))
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 100, 256, 511, 512])
def test_sums_of_rows_shorter_than_their_block(n, dtype, other, rng):
    x = normal(rng, [3, n], dtype)
    a = torch.full([3, 512], other).double()
    a[:, :n] = x.double()
    wanted = {
        "sum": a.sum(1),
        "squares": (a * a).sum(1),
        "powers": (a * 0.125).exp().sum(1),
        "largest": (-a).amax(1),
    }
    for op, result in wanted.items():
        out = output([3], torch.float32)
        row_kernel[(3,)](x, out, n, other, OP=op, N=512)
        check_equal(out, result, tolerance=(1e-4, 1e-4), context=op)


@triton.jit
def sum_kernel(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))


@pytest.mark.parametrize("n", [1, 64, 100, 256, 511, 512])
def test_sum_of_negative_zeros(n):
    """A masked element is 0.0, with which the sum is 0.0 and not -0.0."""
    out = output([1], torch.float32)
    sum_kernel[(1,)](torch.full([n], -0.0), out, n, N=512)
    assert out.item() == 0.0
    assert math.copysign(1.0, out.item()) == (1.0 if n < 512 else -1.0)
