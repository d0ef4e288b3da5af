# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic of all types: wrapping, division, shifts, comparison, broadcasting, scalars."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, INTEGERS, NAMES, check_equal, dtypes, normal, output, whole_range


@triton.jit
def binary_kernel(x, y, out, N: tl.constexpr, OP: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    b = tl.load(y + at)
    if OP == "+":
        value = a + b
    elif OP == "-":
        value = a - b
    elif OP == "*":
        value = a * b
    elif OP == "//":
        value = a // b
    elif OP == "/":
        value = a / b
    elif OP == "%":
        value = a % b
    elif OP == "&":
        value = a & b
    elif OP == "|":
        value = a | b
    elif OP == "^":
        value = a ^ b
    elif OP == "<<":
        value = a << b
    elif OP == ">>":
        value = a >> b
    elif OP == "min":
        value = tl.minimum(a, b)
    elif OP == "max":
        value = tl.maximum(a, b)
    elif OP == "<":
        value = a < b
    elif OP == "<=":
        value = a <= b
    elif OP == "==":
        value = a == b
    elif OP == "!=":
        value = a != b
    elif OP == ">":
        value = a > b
    else:
        value = a >= b
    tl.store(out + at, value.to(out.dtype.element_ty))


def truncated(a, b):
    """Division as in C, which is what // and % of integers mean in a kernel."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


PYTHON = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": truncated,
    "%": lambda a, b: a - b * truncated(a, b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "min": min,
    "max": max,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def wrap(value, dtype):
    bits = torch.iinfo(dtype).bits
    value = int(value) % (1 << bits)
    return value - (1 << bits) if dtype.is_signed and value >> (bits - 1) else value


@pytest.mark.parametrize("op", PYTHON)
@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda d: NAMES[d])
def test_integers(op, dtype, rng):
    n = 64
    x, y = whole_range(rng, [n], dtype), whole_range(rng, [n], dtype)
    if op in ("//", "%"):
        # The one quotient that does not fit is undefined, as is a division by zero.
        low = torch.iinfo(dtype).min
        x = torch.tensor([5 if v == low else v for v in x.tolist()], dtype=dtype)
        y = torch.tensor([1, 2, 7, 100] + [v or 3 for v in y.tolist()[4:]], dtype=dtype)
    if op in ("<<", ">>"):
        bits = torch.iinfo(dtype).bits
        y = torch.randint(0, bits, [n], generator=rng).to(dtype)
    if op in ("==", "<=", ">="):
        y[::2] = x[::2]
    out = output([n], dtype)
    binary_kernel[(1,)](x, y, out, N=n, OP=op)
    wanted = [wrap(PYTHON[op](a, b), dtype) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert out.tolist() == wanted


@pytest.mark.parametrize(
    "op", ["+", "-", "*", "/", "%", "min", "max", "<", "<=", "==", "!=", ">", ">="]
)
@pytest.mark.parametrize("dtype", dtypes(FLOATS))
def test_floats(op, dtype, rng):
    n = 64
    x, y = normal(rng, [n], dtype), normal(rng, [n], dtype)
    y[y == 0] = 1
    y[::5] = x[::5]
    if op == "%":
        x, y = x * 100, y.abs() + 0.5
    out = output([n], torch.float32 if op == "/" and dtype != torch.float64 else dtype)
    binary_kernel[(1,)](x, y, out, N=n, OP=op)
    a, b = x.double(), y.double()
    wanted = {
        "/": lambda: a / b,
        "%": lambda: torch.fmod(a, b),
        "min": lambda: torch.minimum(a, b),
        "max": lambda: torch.maximum(a, b),
    }.get(op, lambda: PYTHON[op](a, b).double())()
    check_equal(out, wanted, dtype=dtype)


def remainder_operands(rng, dtype):
    """Pairs whose quotients are integers, nearly integers, huge, or none; and any bits."""
    special = [0.0, float("inf"), float("nan"), 1e-45, 2.0**-126, 3.4e38, 1.0, 0.1, 2.0**29, 5e8]
    if dtype == torch.float64:
        special += [5e-324, 2.0**-1022, 1.7e308, 2.0**53, 2.0**53 - 1]
    special = torch.tensor([sign * v for v in special for sign in (1, -1)], dtype=dtype)
    yield special.repeat_interleave(len(special)), special.repeat(len(special))
    y = torch.randn([4096], generator=rng, dtype=dtype)
    bits = 32 if dtype == torch.float32 else 56
    factor = torch.randint(1, 1 << bits, [4096], generator=rng)
    for factors in (factor, factor >> torch.randint(0, bits - 1, [4096], generator=rng)):
        x = y * factors
        yield x, y
        yield torch.nextafter(x, torch.zeros((), dtype=dtype)), y
        yield torch.nextafter(x, torch.full((), torch.inf, dtype=dtype)), y
    words = torch.randint(-(2**31), 2**31, [2, 4096 * dtype.itemsize // 4], generator=rng).int()
    yield tuple(words.view(dtype))


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float64))
def test_remainders_are_exact(dtype, rng):
    integer = torch.int32 if dtype == torch.float32 else torch.int64
    for x, y in remainder_operands(rng, dtype):
        # Alone in its vector as well as beside others: some quotients are for the C library.
        for a, b in ((x, y), (x.repeat_interleave(64), y.repeat_interleave(64))):
            n = triton.next_power_of_2(len(a))
            a, b = (torch.cat([v, torch.ones(n - len(v), dtype=dtype)]) for v in (a, b))
            out = output([n], dtype)
            for start in range(0, n, 4096):
                piece = slice(start, start + 4096)
                binary_kernel[(1,)](a[piece], b[piece], out[piece], N=min(n, 4096), OP="%")
            with np.errstate(all="ignore"):
                wanted = torch.from_numpy(np.fmod(a.double().numpy(), b.double().numpy())).to(dtype)
            same = (out.view(integer) == wanted.view(integer)) | (out.isnan() & wanted.isnan())
            assert same.all(), (a[~same][:5], b[~same][:5])


@triton.jit
def boolean_kernel(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at) > 0
    b = tl.load(y + at) > 0
    tl.store(out + at, (a & b).to(tl.int32))
    tl.store(out + N + at, (a | b).to(tl.int32))
    tl.store(out + 2 * N + at, (a ^ b).to(tl.int32))
    tl.store(out + 3 * N + at, (~a).to(tl.int32))
    tl.store(out + 4 * N + at, (a == b).to(tl.int32))
    tl.store(out + 5 * N + at, tl.where(a, b, a).to(tl.int32))
    tl.store(out + 6 * N + at, a.to(tl.int32) + b.to(tl.int32))


def test_booleans(rng):
    n = 32
    x, y = normal(rng, [n]), normal(rng, [n])
    out = output([7, n], torch.int32)
    boolean_kernel[(1,)](x, y, out, N=n)
    a, b = x > 0, y > 0
    wanted = [a & b, a | b, a ^ b, ~a, a == b, torch.where(a, b, a), a.int() + b.int()]
    check_equal(out, torch.stack([w.int() for w in wanted]))


@triton.jit
def unary_kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    tl.store(out + at, -a)
    tl.store(out + N + at, tl.abs(a))


@pytest.mark.parametrize("dtype", dtypes(FLOATS, torch.int8, torch.int16, torch.int32, torch.int64))
def test_negation_and_absolute(dtype, rng):
    n = 32
    x = normal(rng, [n], dtype)
    if dtype.is_floating_point:
        x[:4] = torch.tensor([0.0, -0.0, float("inf"), -float("inf")])
    out = output([2, n], dtype)
    unary_kernel[(1,)](x, out, N=n)
    check_equal(out, torch.stack([-x, x.abs()]), tolerance=(0, 0))


@triton.jit
def scalar_mix_kernel(x, out, i, f, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    s = tl.load(x)
    tl.store(out + at, a * i + f)
    tl.store(out + N + at, (s + i) * a - (f if i > 2 else s))
    tl.store(out + 2 * N + at, tl.where(a > s, i, f))
    tl.store(out + 3 * N + at, 2 / (1 + a * a) + i // 2 + i % 2)
    tl.store(out + 4 * N + at, 1.5)


@pytest.mark.parametrize("i", [0, 1, 3, 16, -5])
def test_scalars_and_tensors(i, rng):
    n, f = 16, 0.375
    x = normal(rng, [n])
    out = output([5, n], torch.float32)
    scalar_mix_kernel[(1,)](x, out, i, f, N=n)
    a, s = x.double(), x[0].double()
    ones = torch.ones(n)
    half = truncated(i, 2)
    wanted = [
        a * i + f,
        (s + i) * a - (f if i > 2 else s),
        torch.where(a > s, float(i), f),
        2 / (1 + a * a) + half + (i - 2 * half),
        ones * 1.5,
    ]
    check_equal(out, torch.stack([w.double() for w in wanted]))


@triton.jit
def mixed_types_kernel(a8, b16, c32, d64, h, f, out, N: tl.constexpr):
    at = tl.arange(0, N)
    v8 = tl.load(a8 + at)
    v16 = tl.load(b16 + at)
    v32 = tl.load(c32 + at)
    v64 = tl.load(d64 + at)
    half = tl.load(h + at)
    single = tl.load(f + at)
    tl.store(out + at, (v8 + v16).to(tl.float64))
    tl.store(out + N + at, (v16 * v32).to(tl.float64))
    tl.store(out + 2 * N + at, (v32 + v64).to(tl.float64))
    tl.store(out + 3 * N + at, (half * v8).to(tl.float64))
    tl.store(out + 4 * N + at, (half + single).to(tl.float64))
    tl.store(out + 5 * N + at, (single * v32).to(tl.float64))


def test_promotion_of_mixed_types(rng):
    n = 32
    v8 = whole_range(rng, [n], torch.int8)
    v16 = whole_range(rng, [n], torch.int16)
    v32 = whole_range(rng, [n], torch.int32)
    v64 = whole_range(rng, [n], torch.int64)
    half, single = normal(rng, [n], torch.float16), normal(rng, [n])
    out = output([6, n], torch.float64)
    mixed_types_kernel[(1,)](v8, v16, v32, v64, half, single, out, N=n)
    wanted = [v8 + v16, v16 * v32, v32 + v64, half * v8, half + single, single * v32]
    check_equal(out, torch.stack([w.double() for w in wanted]), tolerance=(2e-3, 1e-3))


@triton.jit
def umulhi_kernel(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.umulhi(tl.load(x + at), tl.load(y + at)))


@pytest.mark.parametrize("dtype", [torch.uint32, torch.uint64, torch.int32], ids=lambda d: NAMES[d])
def test_umulhi(dtype, rng):
    n = 32
    x, y = whole_range(rng, [n], dtype), whole_range(rng, [n], dtype)
    out = output([n], dtype)
    umulhi_kernel[(1,)](x, y, out, N=n)
    bits = torch.iinfo(dtype).bits
    mask = (1 << bits) - 1
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    assert [v & mask for v in out.tolist()] == [((a & mask) * (b & mask)) >> bits for a, b in pairs]


@triton.jit
def divide_helpers_kernel(x, out, d, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    tl.store(out + at, tl.cdiv(a, d))
    tl.store(out + N + at, tl.cdiv(a, 7) * 7 - a)
    tl.store(out + 2 * N + at, a // d * d + a % d)


def test_division_helpers(rng):
    n = 64
    x = torch.randint(0, 100000, [n], generator=rng, dtype=torch.int32)
    out = output([3, n], torch.int32)
    divide_helpers_kernel[(1,)](x, out, 13, N=n)
    wanted = [(x + 12) // 13, (x + 6) // 7 * 7 - x, x]
    check_equal(out, torch.stack(wanted))


@triton.jit
def scalar_division_kernel(out, a, b):
    tl.store(out, a // b)
    tl.store(out + 1, a % b)


@pytest.mark.compiled
@pytest.mark.parametrize(("a", "b"), [(7, 0), (-(2**31), -1), (0, 0), (-17, 5), (17, -5)])
def test_scalar_division_does_not_trap(a, b):
    out = torch.full((2,), -1, dtype=torch.int32)
    scalar_division_kernel[(1,)](out, a, b)
    # What has no quotient may give anything, but the process lives.
    if b != 0 and (a, b) != (-(2**31), -1):
        assert out.tolist() == [int(a / b), a - b * int(a / b)]
