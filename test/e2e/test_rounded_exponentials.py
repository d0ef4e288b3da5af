# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exponentials of which only the bits of bf16 or f16 count: results within a fiftieth of a unit of the correctly rounded ones,
and f32 that a kernel stores beside them as exact as ever."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.compiled("the interpreter computes with NumPy's functions")

SHORT = [torch.bfloat16, torch.float16]
# Bits of a number, and the least exponent of a normal one.
FORMATS = {torch.bfloat16: (8, -126), torch.float16: (11, -14)}
INFINITY = float("inf")


def units(got: torch.Tensor, wanted: np.ndarray) -> float:
    """Largest distance in units of the last place of the result; what is as infinite, or as little a number, has none."""
    bits, least = FORMATS[got.dtype]
    most = float(torch.finfo(got.dtype).max)
    exponent = np.where(wanted == 0, least, np.frexp(wanted)[1] - 1)
    unit = np.exp2(np.maximum(exponent, least) - (bits - 1.0))
    # From half a unit above the largest one on the nearest is infinity.
    half = most * 2.0 ** -(bits + 1)
    got = got.double().numpy()
    assert np.array_equal(np.isnan(got), np.isnan(wanted))
    ends = np.isinf(got) | np.isinf(wanted) | np.isnan(wanted)
    edge = ends & ~np.isnan(wanted)
    size = np.minimum(np.abs(wanted), 2 * most)
    assert np.all((size >= most + 0.9 * half)[edge])
    assert np.all(np.sign(got)[edge] == np.sign(wanted)[edge])
    return float((np.abs(got[~ends] - wanted[~ends]) / unit[~ends]).max(initial=0))


def numbers(shape, dtype, seed, scale=3.0) -> torch.Tensor:
    return (scale * torch.randn(shape, generator=torch.Generator().manual_seed(seed))).to(dtype)


@triton.jit
def function_kernel(x, out, n, NAME: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    value = tl.load(x + i, mask=inside).to(tl.float32)
    if NAME == "exp":
        value = tl.exp(value)
    elif NAME == "exp2":
        value = tl.exp2(value)
    elif NAME == "sigmoid":
        value = tl.sigmoid(value)
    elif NAME == "silu":
        value = value * tl.sigmoid(value)
    elif NAME == "complement":  # a difference that is exp(x) / (exp(x) + 1)
        value = value * (1 - 1 / (tl.exp(value) + 1))
    elif NAME == "less":  # a difference
        value = tl.exp(value) - 1
    elif NAME == "tanh":  # as most write it: a difference of quotients
        value = 1 - 2 / (tl.exp(2 * value) + 1)
    elif NAME == "log":
        value = tl.log(tl.exp(value) + 1)
    tl.store(out + i, value.to(out.dtype.element_ty), mask=inside)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


WANTED = {
    "exp": np.exp,
    "exp2": np.exp2,
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "less": np.expm1,
    "tanh": np.tanh,
    "log": lambda x: np.log1p(np.exp(x)),
}


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("name", ["exp", "exp2", "sigmoid", "silu"])
@pytest.mark.parametrize("block", [1024, 8])
def test_all_numbers(name, dtype, block):
    """Each bf16 or f16: infinities, NaN, what over- and underflows; 17 of them again, so that the last vector is not whole."""
    codes = torch.cat([torch.arange(1 << 16), torch.arange(17)]) - (1 << 15)
    x = codes.to(torch.int16).view(dtype)
    if block == 8:
        x = x[::7].contiguous()
    out = torch.empty_like(x)
    function_kernel[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), name, block)
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = WANTED[name](x.double().numpy())
    if name in ("sigmoid", "silu"):  # exp(-x) is infinite as f32
        wanted[x.double().numpy() < -88.73] = 0
    if name == "silu":
        wanted[np.isneginf(x.double().numpy())] = np.nan
    assert units(out, wanted) < 0.52


@pytest.mark.parametrize("dtype", SHORT)
def test_complement(dtype):
    x = numbers([5003], dtype, 2)
    out = torch.empty_like(x)
    function_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), "complement", 1024)
    x = x.double().numpy()
    wanted = x * sigmoid(x)
    # 1 - ... is rounded as f32.
    eps = 2.0 ** -FORMATS[dtype][0]
    error = np.abs(out.double().numpy() - wanted)
    assert np.all(error <= 1.02 * eps * np.abs(wanted) + 2.0**-23 * np.abs(x) + 2.0**-25)


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("name", ["less", "tanh", "log"])
def test_precise_where_it_shows(name, dtype):
    """Differences of small numbers: an approximated exponential would leave nothing of them."""
    x = numbers([5003], dtype, 1, 2.0**-6) if name != "log" else -numbers([5003], dtype, 1).abs()
    out = torch.empty_like(x)
    function_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), name, 1024)
    wanted = WANTED[name](x.double().numpy())
    error = np.abs(out.double().numpy() - wanted)
    eps = 2.0 ** -FORMATS[dtype][0]
    assert np.all(error <= 1.01 * eps * np.abs(wanted) + 2.0**-22)


@triton.jit
def softmax_kernel(x, out, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * stride + i, mask=i < columns, other=-float("inf")).to(tl.float32)
    weight = tl.exp(value - tl.max(value, axis=0))
    weight = weight / tl.sum(weight, axis=0)
    tl.store(out + row * stride + i, weight.to(out.dtype.element_ty), mask=i < columns)


def softmax(x: torch.Tensor) -> np.ndarray:
    x = x.double().numpy()
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("columns", [1, 2, 17, 64, 781, 1024, 4099])
@pytest.mark.parametrize("masked", [False, True])
def test_softmax(dtype, columns, masked):
    """`masked`: with -infinity and with the smallest number here and there, and from column 1 to the end of a row."""
    whole = numbers([7, columns + 5], dtype, columns)
    x = whole[:, :columns]
    if masked:
        x[1, 1:] = -INFINITY
        x[2, ::3] = torch.finfo(dtype).min
        x[3, 1::2] = -INFINITY
        x[4] = torch.finfo(dtype).min
        x[5, 0] = torch.finfo(dtype).max
    whole_out = torch.full_like(whole, 7)
    softmax_kernel[(7,)](whole, whole_out, columns, columns + 5, triton.next_power_of_2(columns))
    assert torch.all(whole_out[:, columns:] == 7)
    assert units(whole_out[:, :columns], softmax(x)) < 0.52


@triton.jit
def long_softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    """The sum is multiplied by an exponential in each iteration."""
    row = tl.program_id(0) * columns
    i = tl.arange(0, BLOCK)
    top = tl.full((), -float("inf"), tl.float32)
    total = tl.zeros((), tl.float32)
    for start in range(0, columns, BLOCK):
        value = tl.load(x + row + start + i, mask=start + i < columns, other=-float("inf"))
        value = value.to(tl.float32)
        new_top = tl.maximum(top, tl.max(value, axis=0))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(value - new_top), axis=0)
        top = new_top
    for start in range(0, columns, BLOCK):
        inside = start + i < columns
        value = tl.load(x + row + start + i, mask=inside, other=0.0).to(tl.float32)
        weight = tl.exp(value - top) / total
        tl.store(out + row + start + i, weight.to(out.dtype.element_ty), mask=inside)


@pytest.mark.parametrize("dtype", SHORT)
def test_many_rescaled_sums(dtype):
    """Rows that grow to their end, so that each of 313 steps shrinks the sum."""
    x = (numbers([3, 5003], torch.float32, 3, 0.1) + torch.arange(5003) / 500).to(dtype)
    out = torch.empty_like(x)
    long_softmax_kernel[(3,)](x, out, 5003, 16)
    assert units(out, softmax(x)) < 0.52


@triton.jit
def two_types_kernel(x, short, long, total, n, WITH_SHORT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = i < n
    value = tl.load(x + i, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(value)
    twice = tl.exp2(value)
    if WITH_SHORT:
        tl.store(short + i, e.to(short.dtype.element_ty), mask=inside)
        ratio = twice / tl.sum(twice, axis=0)
        tl.store(short + n + i, ratio.to(short.dtype.element_ty), mask=inside)
    tl.store(long + i, e, mask=inside)
    tl.store(total, tl.log(tl.sum(twice, axis=0)))


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("n", [1, 37, 512, 1021])
def test_f32_beside(dtype, n):
    """The same bits of f32, and of the logarithm of a sum, whether results are rounded as well or not."""
    x = numbers([n], dtype, n)
    stored, alone = torch.empty(n), torch.empty(n)
    sums = torch.empty(2)
    short = torch.empty(2 * n, dtype=dtype)
    block = triton.next_power_of_2(n)
    two_types_kernel[(1,)](x, short, stored, sums, n, True, block)
    two_types_kernel[(1,)](x, short, alone, sums[1:], n, False, block)
    assert torch.equal(stored, alone)
    wanted = np.exp(x.double().numpy())
    assert np.all(np.abs(stored.double().numpy() - wanted) <= 1.5 * 2.0**-23 * wanted)
    wanted = np.log(np.exp2(x.double().numpy()).sum())
    assert abs(sums[0].item() - wanted) <= 2.0**-21 * max(1, abs(wanted))
    assert abs(sums[1].item() - wanted) <= 2.0**-21 * max(1, abs(wanted))


@triton.jit
def attention_kernel(q, k, v, out, length, D: tl.constexpr, BN: tl.constexpr):
    """Without the logarithm of the sum: weights are only rounded for the product, and added up."""
    i, d = tl.arange(0, 32), tl.arange(0, D)
    query = tl.load(q + i[:, None] * D + d[None, :])
    top = tl.full([32], -float("inf"), tl.float32)
    total = tl.zeros([32], tl.float32)
    acc = tl.zeros([32, D], tl.float32)
    for start in range(0, length, BN):
        j = start + tl.arange(0, BN)
        key = tl.load(k + j[None, :] * D + d[:, None], mask=j[None, :] < length, other=0.0)
        score = tl.where(j[None, :] < length, tl.dot(query, key), -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        weight = tl.exp(score - new_top[:, None])
        shrink = tl.exp(top - new_top)
        value = tl.load(v + j[:, None] * D + d[None, :], mask=j[:, None] < length, other=0.0)
        total = total * shrink + tl.sum(weight, axis=1)
        acc = tl.dot(weight.to(value.dtype), value, acc * shrink[:, None])
        top = new_top
    tl.store(out + i[:, None] * D + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@pytest.mark.parametrize("dtype", SHORT)
@pytest.mark.parametrize("length", [1, 16, 61, 1009])
def test_attention(dtype, length):
    q, k = numbers([32, 64], dtype, 5, 0.3), numbers([length, 64], dtype, 6, 0.5)
    v = numbers([length, 64], dtype, 7)
    out = torch.empty_like(q)
    attention_kernel[(1,)](q, k, v, out, length, 64, 32)
    q, k, v = (each.double() for each in (q, k, v))
    weight = torch.softmax(q @ k.T, dim=1)
    # Each weight was rounded, and so was the result.
    eps = 2.0 ** -FORMATS[dtype][0]
    limit = 1.1 * eps * (weight @ v.abs() + (weight @ v).abs())
    assert torch.all((out.double() - weight @ v).abs() <= limit + 1e-6)


@triton.jit
def atomic_kernel(x, sums, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n).to(tl.float32)
    e = tl.exp(value)
    tl.atomic_add(sums + i, e, mask=i < n)
    tl.store(out + i, e.to(out.dtype.element_ty), mask=i < n)


def test_atomics_of_f32():
    x = numbers([1000], torch.bfloat16, 9)
    sums, out = torch.zeros(1000), torch.empty_like(x)
    atomic_kernel[(1,)](x, sums, out, 1000, 1024)
    wanted = np.exp(x.double().numpy())
    assert np.all(np.abs(sums.double().numpy() - wanted) <= 1.5 * 2.0**-23 * wanted)
    assert units(out, wanted) < 0.52


@triton.jit
def scale_kernel(
    x, exponents, out, codes, FROM: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """Rows of numbers by one power of two for each."""
    row = tl.arange(0, ROWS)
    at = row[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    value = tl.load(x + at).to(tl.float32)
    if FROM == "ceil":  # how block scales are found
        largest = tl.maximum(tl.max(tl.abs(value), 1), 1e-4)
        exponent = tl.ceil(tl.log2(largest * (1 / 448.0)))
    elif FROM == "integer":
        exponent = tl.load(exponents + row).to(tl.float32)
    elif FROM == "biased":
        exponent = 127.0 - (tl.load(exponents + row) + 127).to(tl.uint8).to(tl.float32)
        exponent = -exponent
    elif FROM == "rounded":
        exponent = tl.floor(tl.load(exponents + row).to(tl.float32) * 1.01 + 0.5) * 1.0
    else:  # "carried" by a loop
        exponent = tl.zeros([ROWS], tl.float32)
        for _ in range(4):
            exponent = tl.maximum(exponent + tl.load(exponents + row).to(tl.float32), -100.0)
    scaled = value * tl.exp2(-exponent)[:, None]
    tl.store(codes + row, exponent)
    if out.dtype.element_ty == tl.uint8:
        scaled = tl.clamp(scaled, -448.0, 448.0)
        tl.store(out + at, scaled.to(tl.float8e4nv).to(tl.uint8, bitcast=True))
    else:
        tl.store(out + at, scaled.to(out.dtype.element_ty))


@pytest.mark.parametrize("source", ["ceil", "integer", "biased", "rounded", "carried"])
@pytest.mark.parametrize("target", [torch.uint8, *SHORT])
@pytest.mark.parametrize("dtype", [torch.float32, *SHORT])
@pytest.mark.parametrize(("rows", "columns"), [(16, 32), (1, 512), (4, 1)])
def test_powers_of_two_are_exact(rows, columns, dtype, target, source, rng):
    """Many numbers are right between two of those that they are rounded to, and stay there."""
    x = torch.randint(-255, 256, (rows, columns), generator=rng).to(dtype)
    if target == torch.float16:
        x = x * 8.03125
    if target == torch.bfloat16:
        x = x * 1.5
    exponents = torch.randint(-3, 4, (rows,), generator=rng, dtype=torch.int32)
    out = torch.empty(x.shape, dtype=target)
    used = torch.empty(rows)
    scale_kernel[(1,)](x, exponents, out, used, source, rows, columns)
    assert torch.equal(used, used.round())
    wanted = x.double() * torch.exp2(-used.double())[:, None]
    if target == torch.uint8:
        wanted = wanted.float().clamp(-448, 448).to(torch.float8_e4m3fn).view(torch.uint8)
    assert torch.equal(out, wanted.float().to(target))
