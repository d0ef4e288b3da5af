# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of rows of a vector or two: the lanes of several rows are combined by one tree."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, SIGNED, check_equal, dtypes, normal, output, whole_range


@triton.jit
def larger_magnitude(a, b):
    return tl.maximum(tl.abs(a), tl.abs(b))


@triton.jit
def rows_kernel(
    x, out, scaled, m, n, stride_m, stride_n,
    OP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    value = tl.load(x + rows[:, None] * stride_m + cols[None, :] * stride_n, mask=inside, other=0)
    if OP == "sum":
        result = tl.sum(value, 1)
    elif OP == "max":
        result = tl.max(value, 1)
    elif OP == "min":
        result = tl.min(value, 1)
    elif OP == "xor":
        result = tl.xor_sum(value, 1)
    else:
        result = tl.reduce(value, 1, larger_magnitude)
    tl.store(out + rows, result, mask=rows < m)
    if OP == "sum":
        all_of_it = value.to(tl.float32) * result.to(tl.float32)[:, None]
        tl.store(scaled + rows[:, None] * n + cols[None, :], all_of_it, mask=inside)


def run(x, m, n, op, block):
    out, scaled = output([m], x.dtype), output([m, n], torch.float32)
    rows_kernel[(triton.cdiv(m, block[0]),)](x, out, scaled, m, n, *x.stride(), op, *block)
    return out, scaled


BLOCKS = [(1, 16), (2, 2), (4, 4), (8, 8), (16, 16), (64, 32), (32, 1), (4, 64)]


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("op", ["sum", "max", "min", "own"])
def test_operations(op, transposed, block, rng):
    for m, n in ((1, 1), (37, block[1]), (67, max(block[1] - 3, 1))):
        x = normal(rng, [n, m] if transposed else [m, n], torch.float32)
        x = x.t() if transposed else x
        out, scaled = run(x, m, n, op, block)
        wide, rest = x.double(), n < block[1]
        if op == "sum":
            check_equal(out, wide.sum(1), terms=n)
            check_equal(scaled, wide * out.double()[:, None], dtype=torch.float32)
        elif op == "own":
            # A block of one column is its element.
            wanted = wide.abs().amax(1) if block[1] > 1 else wide[:, 0]
            check_equal(out, wanted)
        else:
            wanted = wide.amax(1) if op == "max" else wide.amin(1)
            check_equal(
                out,
                (wanted.clamp(min=0) if op == "max" else wanted.clamp(max=0)) if rest else wanted,
            )


@pytest.mark.parametrize("block", [(8, 8), (16, 16), (4, 32), (16, 64)], ids=str)
@pytest.mark.parametrize("op", ["sum", "max", "min"])
@pytest.mark.parametrize("dtype", dtypes(FLOATS, SIGNED, torch.uint8, torch.uint32), ids=str)
def test_types(dtype, op, block, rng):
    m, n = 45, block[1]
    x = normal(rng, [m, n], dtype) if dtype.is_floating_point else whole_range(rng, [m, n], dtype)
    out, _ = run(x, m, n, op, block)
    if op == "sum" and dtype.is_floating_point:
        check_equal(out, x.double().sum(1), terms=n, dtype=dtype)
    elif op == "sum":
        check_equal(out, x.long().sum(1).to(dtype))
    else:
        wide = x if dtype.is_floating_point else x.long()
        check_equal(out, (wide.amax(1) if op == "max" else wide.amin(1)).to(dtype))


@pytest.mark.parametrize("n", [2, 8, 32])
@pytest.mark.parametrize("dtype", dtypes(torch.int8, torch.int32, torch.uint8), ids=str)
def test_exclusive_or(dtype, n, rng):
    x = whole_range(rng, [45, n], dtype)
    wanted = x.long()
    while wanted.shape[1] > 1:
        wanted = wanted[:, ::2] ^ wanted[:, 1::2]
    check_equal(run(x, 45, n, "xor", (8, n))[0], wanted[:, 0].to(dtype))


@pytest.mark.parametrize("n", [8, 16, 32])
def test_a_row_has_the_same_sum_in_any_place(n, rng):
    row = normal(rng, [n], torch.float32)
    for m in (1, 5, 8, 61):
        out, _ = run(row.repeat(m, 1), m, n, "sum", (16, n))
        assert (out == out[0]).all()
        assert out[0] == run(row[None], 1, n, "sum", (16, n))[0][0]


@triton.jit
def groups_kernel(x, codes, scales, n, G: tl.constexpr, S: tl.constexpr):
    """Integers of 8 bits and a scale for each S numbers."""
    group = tl.program_id(0) * G + tl.arange(0, G)
    at = group[:, None] * S + tl.arange(0, S)[None, :]
    value = tl.load(x + at, mask=at < n, other=0.0)
    scale = tl.max(tl.abs(value), 1) / 127
    tl.store(scales + group, scale, mask=group * S < n)
    safe = tl.where(scale == 0, 1.0, scale)
    code = value / safe[:, None]
    tl.store(codes + at, (code + tl.where(code < 0, -0.5, 0.5)).to(tl.int8), mask=at < n)


@pytest.mark.parametrize("size", [4, 16, 32])
@pytest.mark.parametrize("n", [1, 31, 32, 1000, 4096])
def test_groups_that_are_quantized(n, size, rng):
    x = normal(rng, [n], torch.float32)
    x[: n // 4] = 0
    groups = triton.cdiv(n, size)
    codes, scales = output([n], torch.int8), output([groups], torch.float32)
    groups_kernel[(triton.cdiv(groups, 16),)](x, codes, scales, n, G=16, S=size)
    padded = torch.zeros(groups * size)
    padded[:n] = x
    wanted = padded.double().view(groups, size).abs().amax(1) / 127
    check_equal(scales, wanted, dtype=torch.float32)
    back = codes.double() * scales.double().repeat_interleave(size)[:n]
    assert ((back - x.double()).abs() <= scales.double().repeat_interleave(size)[:n] * 0.501).all()


@triton.jit
def cube_kernel(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    at = a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :]
    result = tl.sum(tl.load(x + at), AXIS)
    if AXIS == 0:
        place = b[:, None] * C + c[None, :]
    elif AXIS == 1:
        place = a[:, None] * C + c[None, :]
    else:
        place = a[:, None] * B + b[None, :]
    tl.store(out + place, result)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(2, 8, 16), (4, 2, 8), (4, 16, 4), (1, 4, 32), (8, 1, 16)])
def test_blocks_of_three_dimensions(shape, axis, rng):
    x = normal(rng, list(shape), torch.float32)
    wanted = x.double().sum(axis)
    out = output(list(wanted.shape), torch.float32)
    cube_kernel[(1,)](x, out, *shape, AXIS=axis)
    check_equal(out, wanted, terms=shape[axis])


@triton.jit
def several_kernel(x, w, out, m, n, COUNT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """As many reductions of the same rows, the last one of what is computed with a column's weight."""
    rows, cols = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    value = tl.load(x + rows[:, None] * n + cols[None, :], mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(w + cols, mask=cols < n, other=0.0).to(tl.float32)
    tl.store(out + rows, tl.sum(value * weight[None, :], 1), mask=rows < m)
    tl.store(out + m + rows, tl.max(value, 1), mask=rows < m)
    if COUNT > 2:
        tl.store(out + 2 * m + rows, tl.min(value, 1), mask=rows < m)
    if COUNT > 3:
        tl.store(out + 3 * m + rows, tl.sum(value, 1), mask=rows < m)
    if COUNT > 4:
        tl.store(out + 4 * m + rows, tl.sum(tl.where(value > 0, value, 0.0), 1), mask=rows < m)


@pytest.mark.compiled("the interpreter has neither fp8 nor bf16")
@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float8_e5m2],
    ids=str,
)
@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("block", [(8, 4), (16, 8), (32, 16), (64, 32), (2, 32), (16, 64)], ids=str)
def test_several_reductions_of_the_same_rows(block, count, dtype, rng):
    for m, n in ((32, block[1]), (37, block[1]), (67, block[1] - 3), (1, 1)):
        x, w = torch.randn(m, n, generator=rng).to(dtype), torch.randn(n, generator=rng).to(dtype)
        out = torch.full((count, m), float("nan"))
        several_kernel[(triton.cdiv(m, block[0]),)](x, w, out, m, n, count, *block)
        wide = x.double()
        padded = torch.nn.functional.pad(wide, (0, block[1] - n))
        wanted = [
            wide @ w.double(),
            padded.amax(1),
            padded.amin(1),
            wide.sum(1),
            wide.clamp(min=0).sum(1),
        ]
        torch.testing.assert_close(out.double(), torch.stack(wanted[:count]), rtol=1e-5, atol=1e-4)


@triton.jit
def pieces_kernel(
    x, out, m, n, stride, MAX: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    other = -float("inf") if MAX else 0.0
    total = tl.full([BM, BN], other, tl.float32)
    for start in range(0, n, BN):
        cols = start + tl.arange(0, BN)
        inside = (rows[:, None] < m) & (cols[None, :] < n)
        at = x + rows[:, None].to(tl.int64) * stride + cols[None, :]
        value = tl.load(at, mask=inside, other=other).to(tl.float32)
        total = tl.maximum(total, value) if MAX else total + value
    result = tl.max(total, axis=1) if MAX else tl.sum(total, axis=1)
    tl.store(out + rows, result, mask=rows < m)


@pytest.mark.parametrize("is_max", [False, True], ids=["sum", "max"])
@pytest.mark.parametrize("gap", [0, 16, 127, 128, 500])
@pytest.mark.parametrize(
    ("n", "block"), [(256, 256), (300, 512), (31, 512), (1000, 256), (768, 256)]
)
def test_rows_from_memory(n, block, gap, is_max, rng):
    # Several at once where 512 bytes or more are between them, of what caches do not hold. The last
    # block has rows that are not there.
    m = (18 << 20) // (4 * n) // 8 * 8 + 3
    room = torch.full((m, n + gap), float("nan"))
    x = room[:, :n]
    x.copy_(normal(rng, [m, n], torch.float32))
    x[5], x[m - 1] = -0.0, -float("inf") if is_max else -0.0
    out = output([m], torch.float32)
    pieces_kernel[(triton.cdiv(m, 8),)](x, out, m, n, n + gap, MAX=is_max, BM=8, BN=block)
    if is_max:
        assert (out == x.amax(1)).all()
    else:
        check_equal(out, x.double().sum(1), terms=n)
    if n % block and not is_max:
        # What is behind the end is 0.0.
        assert not torch.signbit(out[[5, m - 1]]).any()
