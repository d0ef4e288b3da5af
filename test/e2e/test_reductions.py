# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions: axes, types, own regions, NaN, rows shorter than their block."""

import math

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from blocks import SHAPES, axes, load_block, padded, store_flat
from support import FLOATS, SIGNED, check_equal, dtypes, normal, output


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
@pytest.mark.parametrize("shape", [(16, 32), (1, 64), (64, 1), (2, 2048), (1024, 4)])
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
def weighted_kernel(x, w, out, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    mean, m2, weight = tl.reduce((value, value * 0, tl.load(w + i)), 0, welford)
    tl.store(out, mean)
    tl.store(out + 1, m2)
    tl.store(out + 2, weight)


@pytest.mark.parametrize("n", [2, 16, 64, 1024])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.7, 1.0])
def test_parts_without_weight_do_not_count(share, n, rng):
    x = normal(rng, [n]) * 3 + 100
    w = torch.rand([n], generator=rng) * (torch.rand([n], generator=rng) < share)
    # What is nowhere else is nowhere in the result.
    x[w == 0] = 250
    out = output([3], torch.float32)
    weighted_kernel[(1,)](x, w, out, N=n)
    total = w.double().sum()
    check_equal(out[2], total)
    if total == 0:
        assert out[0] == 250
        assert out[1] == 0
        return
    mean = (x.double() * w).sum() / total
    check_equal(out[0], mean, tolerance=(1e-5, 1e-4))
    check_equal(out[1], ((x.double() - mean) ** 2 * w).sum(), tolerance=(1e-3, 1e-4))


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
@pytest.mark.parametrize("n", [1, 16, 64, 1024])
def test_max_ignores_nan_unless_all_are(n, rng):
    x = normal(rng, [4, n])
    if n > 1:
        # behind the largest and the smallest one, in their lanes
        for at, extreme in ((n - 1, 100.0), (n - 2, -100.0)):
            x[0, at % 64 : at : 64] = extreme
            x[0, at] = math.nan
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
def row_kernel(x, out, n, other, OP: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=other).to(tl.float32)
    if OP == "sum":
        result = tl.sum(value, 0)
    elif OP == "squares":
        result = tl.sum(value * value, 0)
    elif OP == "powers":
        result = tl.sum(tl.exp(value * 0.125), 0)
    elif OP == "bits":
        result = tl.xor_sum(value.to(tl.int32), 0)
    elif OP == "least":
        result = tl.min(value.to(tl.int32), 0)
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
        "bits": torch.from_numpy(np.bitwise_xor.reduce(a.int().numpy(), axis=1)).double(),
        "least": a.int().amin(1).double(),
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


@triton.jit
def compose(a, b, c, d):
    """x -> a x + b, and then x -> c x + d: the order matters."""
    return a * c, b * c + d


@triton.jit
def whole_kernel(x, out, rows, columns, A: tl.constexpr, B: tl.constexpr, DTYPE: tl.constexpr):
    i, j = tl.arange(0, A)[:, None], tl.arange(0, B)[None, :]
    value = tl.load(x + i * columns + j, mask=(i < rows) & (j < columns), other=0).to(DTYPE)
    tl.store(out, tl.sum(value))
    tl.store(out + 1, tl.sum(value.to(tl.float16)))
    tl.store(out + 2, tl.max(value) + tl.min(value))
    slope = 1 + ((i + j) % 3 == 0).to(tl.int32)
    a, b = tl.reduce((slope + 0 * j, i * 7 + j), None, compose)
    tl.store(out + 3, a)
    tl.store(out + 4, b)
    part = tl.sum(tl.reshape(tl.abs(value), (A // 2, 2 * B)), axis=1)
    tl.store(out + 5 + tl.arange(0, A // 2), part)


@pytest.mark.parametrize("shape", [(2, 4), (4, 512), (64, 8), (16, 128)])
def test_whole_blocks(shape, rng):
    """What `tl.sum(x)` makes a row of is not in memory as one."""
    A, B = shape
    for rows, columns in [(A, B), (A - 1, B - 3), (1, 1), (0, B)]:
        x = normal(rng, [rows, columns])
        out = output([5 + A // 2], torch.float64)
        whole_kernel[(1,)](x, out, rows, columns, A=A, B=B, DTYPE=tl.float32)
        block = torch.zeros(A, B).double()
        block[:rows, :columns] = x
        check_equal(out[0], block.sum(), dtype=torch.float32, terms=A * B)
        # In f32, and rounded once.
        check_equal(out[1], block.half().double().sum(), dtype=torch.float16, terms=2)
        check_equal(out[2], block.max() + block.min(), dtype=torch.float32)
        a, b = 1, 0
        for i in range(A):
            for j in range(B):
                slope = 1 + ((i + j) % 3 == 0)
                a, b = a * slope, b * slope + i * 7 + j
        wrapped = torch.tensor([a % 2**32, b % 2**32]).to(torch.int32)
        assert torch.equal(out[3:5].to(torch.int32), wrapped)
        parts = block.abs().view(A // 2, 2 * B).sum(1)
        check_equal(out[5:], parts, dtype=torch.float32, terms=2 * B)


@triton.jit
def extremes_kernel(x, y, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i, mask=i < n, other=float("nan"))
    b = tl.load(y + i, mask=i < n, other=float("nan"))
    tl.store(out + i, tl.maximum(a, b), mask=i < n)
    tl.store(out + n + i, tl.minimum(a, b), mask=i < n)
    tl.store(out + 2 * n, tl.max(a))
    tl.store(out + 2 * n + 1, tl.min(b))


@pytest.mark.compiled("NumPy's maxima are those of IEEE 754-2008")
@pytest.mark.parametrize("n", [1, 3, 4, 16, 61, 500])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_signaling_nans_are_missing_numbers(dtype, n, rng):
    """As other NaNs are; some CPUs make a NaN of one and a number."""
    integer = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    signaling = torch.tensor(float("inf")).to(dtype).view(integer) + 1
    x, y = normal(rng, [n], dtype), normal(rng, [n], dtype)
    x.view(integer)[::3] = signaling
    y.view(integer)[1::3] = signaling
    assert x[0].isnan()
    out = output([2 * n + 2], dtype)
    extremes_kernel[(1,)](x, y, out, n, N=512)
    # Infinities stand for what is missing; nothing is missing twice.
    low, high = -float("inf"), float("inf")
    fill = [[v.double().nan_to_num(f) for v in (x, y)] for f in (low, high)]
    assert torch.equal(out[:n].double(), torch.maximum(*fill[0]))
    assert torch.equal(out[n : 2 * n].double(), torch.minimum(*fill[1]))
    most, least = out[2 * n :].double()
    assert most == fill[0][0].max() or (x.isnan().all() and most.isnan())
    assert least == fill[1][1].min() or (y.isnan().all() and least.isnan())
