# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong results that compilers of this kind have shipped, one test each, always on random data: values.

The numbers are those of the project's list; test_hazards_access.py has the hazards of memory.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, INTEGERS, SIGNED, TL, check_equal, dtypes, normal, output, whole_range


# ------------------------------------------------- 2: the identity of a reduction
@triton.jit
def bit_and(a, b):
    return a & b


@triton.jit
def bit_or(a, b):
    return a | b


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def reduce_rows_kernel(x, out, N: tl.constexpr, OP: tl.constexpr):
    value = tl.load(x + tl.program_id(0) * N + tl.arange(0, N))
    if OP == "and":
        result = tl.reduce(value, 0, bit_and)
    elif OP == "or":
        result = tl.reduce(value, 0, bit_or)
    elif OP == "xor":
        result = tl.xor_sum(value, axis=0)
    elif OP == "product":
        result = tl.reduce(value, 0, product)
    elif OP == "max":
        result = tl.max(value, axis=0)
    else:
        result = tl.min(value, axis=0)
    tl.store(out + tl.program_id(0), result.to(out.dtype.element_ty))


@pytest.mark.parametrize("op", ["and", "or", "xor", "product", "max", "min"])
@pytest.mark.parametrize("dtype", dtypes(SIGNED, torch.uint8, torch.uint32))
@pytest.mark.parametrize("n", [1, 32])
def test_hazard_02_reduction_identity(op, dtype, n, rng):
    rows = 6
    x = whole_range(rng, [rows, n], dtype)
    if op == "and":
        x |= torch.tensor(-2).to(dtype) if dtype.is_signed else x.new_tensor(0x7E)
    x[0] = torch.iinfo(dtype).min
    x[1] = torch.iinfo(dtype).max
    out = output([rows], dtype)
    reduce_rows_kernel[(rows,)](x, out, N=n, OP=op)
    wanted = []
    for row in x.tolist():
        value = row[0]
        for v in row[1:]:
            if op == "product":
                value = value * v
            else:
                value = {
                    "and": value & v,
                    "or": value | v,
                    "xor": value ^ v,
                    "max": max(value, v),
                    "min": min(value, v),
                }[op]
        bits = torch.iinfo(dtype).bits
        value %= 1 << bits
        wanted.append(value - (1 << bits) if dtype.is_signed and value >> (bits - 1) else value)
    assert out.tolist() == wanted


# ------------------------------------------------- 6: NaN in compare, select, minimum, maximum
@triton.jit
def nan_kernel(x, y, out, N: tl.constexpr, OP: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    b = tl.load(y + at)
    if OP == "select_gt":
        value = tl.where(a > b, a, b)
    elif OP == "select_lt":
        value = tl.where(a < b, a, b)
    elif OP == "select_ge_swapped":
        value = tl.where(a >= b, b, a)
    elif OP == "select_not_le":
        value = tl.where((a <= b) == 0, a, b)
    elif OP == "max":
        value = tl.maximum(a, b)
    elif OP == "min":
        value = tl.minimum(a, b)
    elif OP == "max_nan":
        value = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "min_nan":
        value = tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "clamp":
        value = tl.clamp(a, -1.0, 1.0)
    elif OP == "clamp_nan":
        value = tl.clamp(a, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL)
    else:
        value = tl.where(a != a, 1.0, 0.0) + tl.where(a == b, 2.0, 0.0)
    tl.store(out + at, value.to(out.dtype.element_ty))


NAN_REFERENCES = {
    "select_gt": lambda a, b: torch.where(a > b, a, b),
    "select_lt": lambda a, b: torch.where(a < b, a, b),
    "select_ge_swapped": lambda a, b: torch.where(a >= b, b, a),
    "select_not_le": lambda a, b: torch.where(~(a <= b), a, b),
    "max": torch.fmax,
    "min": torch.fmin,
    "max_nan": torch.maximum,
    "min_nan": torch.minimum,
    # Without propagation the bounds win over NaN.
    "clamp": lambda a, b: torch.fmin(torch.fmax(a, a.new_tensor(-1)), a.new_tensor(1)),
    "clamp_nan": lambda a, b: torch.clamp(a, -1, 1),
    "compare": lambda a, b: (a.isnan() * 1 + (a == b) * 2).to(a.dtype),
}


@pytest.mark.parametrize("op", NAN_REFERENCES)
@pytest.mark.parametrize("dtype", dtypes(FLOATS))
def test_hazard_06_nan_of_compare_and_select(op, dtype, rng):
    n = 64
    values = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -2.0])
    pick = torch.randint(0, len(values), [2, n], generator=rng)
    a, b = values[pick].to(dtype)
    out = output([n], dtype)
    nan_kernel[(1,)](a, b, out, N=n, OP=op)
    check_equal(out, NAN_REFERENCES[op](a, b))
    if op in ("max_nan", "min_nan"):
        zeros = torch.tensor([0.0, -0.0] * (n // 2), dtype=dtype)
        nan_kernel[(1,)](zeros, -zeros, out, N=n, OP=op)
        assert (torch.signbit(out) == (op == "min_nan")).all()


# ------------------------------------------------- 7: argmax and argmin
@triton.jit
def arg_kernel(x, out, N: tl.constexpr, LEFT: tl.constexpr, LARGEST: tl.constexpr):
    row = tl.program_id(0)
    value = tl.load(x + row * N + tl.arange(0, N))
    if LARGEST:
        index = tl.argmax(value, 0, tie_break_left=LEFT)
    else:
        index = tl.argmin(value, 0, tie_break_left=LEFT)
    tl.store(out + row, index)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.int32, torch.int8))
@pytest.mark.parametrize("n", [1, 8, 128])
def test_hazard_07_argmax_of_extreme_rows(largest, dtype, n, rng):
    rows = [normal(rng, [n], dtype) for _ in range(4)]
    rows += [torch.randint(0, 3, [n], generator=rng).to(dtype) for _ in range(4)]
    if dtype.is_floating_point:
        rows += [torch.full([n], v).to(dtype) for v in (float("inf"), -float("inf"))]
    else:
        info = torch.iinfo(dtype)
        rows += [torch.full([n], v).to(dtype) for v in (info.min, info.max)]
    x = torch.stack(rows)
    for left in (True, False):
        out = output([len(rows)], torch.int32)
        arg_kernel[(len(rows),)](x, out, N=n, LEFT=left, LARGEST=largest)
        best = x.amax(1) if largest else x.amin(1)
        for row, index in enumerate(out.tolist()):
            assert 0 <= index < n, f"row {row}: index {index}"
            assert x[row, index] == best[row]
            if left:
                assert index == int((x[row] == best[row]).nonzero()[0]), f"row {row}: not leftmost"


@pytest.mark.compiled("NumPy refuses rows of NaN")
@pytest.mark.parametrize("largest", [True, False])
def test_hazard_07_argmax_of_nan(largest, rng):
    """What Triton's comparisons make of NaN is not specified, an index outside the row is wrong."""
    n = 16
    x = normal(rng, [6, n])
    x[0] = float("nan")
    x[1, 0] = float("nan")
    x[2, n - 1] = float("nan")
    x[3, 3:9] = float("nan")
    out = output([6], torch.int32)
    arg_kernel[(6,)](x, out, N=n, LEFT=True, LARGEST=largest)
    assert all(0 <= index < n for index in out.tolist()), out.tolist()


# ------------------------------------------------- 11: 32 and 64 bits
@triton.jit
def wide_kernel(n, out, N: tl.constexpr):
    at = tl.arange(0, N)
    narrow = n * at  # wraps in 32 bits
    tl.store(out + at, narrow.to(tl.int64))
    tl.store(out + N + at, n.to(tl.int64) * at)
    tl.store(out + 2 * N + at, (n + n).to(tl.int64) + at)
    tl.store(out + 3 * N + at, narrow.to(tl.uint32).to(tl.int64))


def test_hazard_11_integer_widths(rng):
    n = 16
    at = torch.arange(n)
    for value in (1 << 29, (1 << 31) - 1, 3, -(1 << 30), (1 << 30) + 12345):
        out = output([4 * n], torch.int64)
        wide_kernel[(1,)](value, out, N=n)
        narrow = (value * at).to(torch.int32)
        wanted = [narrow.long(), value * at, torch.tensor(2 * value).int().long() + at]
        wanted.append(narrow.long() & 0xFFFFFFFF)
        check_equal(out, torch.cat(wanted))


def test_all_types_are_known():
    assert set(INTEGERS) <= set(TL)
