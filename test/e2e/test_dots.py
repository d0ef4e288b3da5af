# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of blocks: types, shapes, batches, accumulators, transposed and computed operands."""

import pytest
import torch
import triton
import triton.language as tl
from support import FP8, check_equal, dtypes, normal, output


@triton.jit
def dot_kernel(
    a, b, c, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr,
    HOW: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    if HOW == "a_transposed":
        x = tl.trans(tl.load(a + k[:, None] * M + i[None, :]))
    else:
        x = tl.load(a + i[:, None] * K + k[None, :])
    if HOW == "b_transposed":
        y = tl.load(b + j[:, None] * K + k[None, :]).T
    else:
        y = tl.load(b + k[:, None] * N + j[None, :])
    if HOW == "accumulate":
        start = tl.load(c + i[:, None] * N + j[None, :]).to(ACC)
        z = tl.dot(x, y, start, out_dtype=ACC, input_precision=PRECISION)
    elif HOW == "add":
        z = tl.load(c + i[:, None] * N + j[None, :]).to(ACC) + tl.dot(x, y, out_dtype=ACC)
    elif HOW == "scaled":
        z = tl.dot(x * 2, y + 1, out_dtype=ACC) * 3
    else:
        z = tl.dot(x, y, out_dtype=ACC, input_precision=PRECISION)
    tl.store(out + i[:, None] * N + j[None, :], z)


def run_dot(
    rng, m, n, k, dtype, how="plain", precision=None, acc=tl.float32, out_dtype=torch.float32
):
    if dtype.is_floating_point:
        a, b = normal(rng, [m, k], dtype), normal(rng, [k, n], dtype)
    else:
        a, b = (torch.randint(-100, 100, s, generator=rng).to(dtype) for s in ([m, k], [k, n]))
    c = torch.randint(-9, 9, [m, n], generator=rng).to(out_dtype)
    out = output([m, n], out_dtype)
    first = a.t().contiguous() if how == "a_transposed" else a
    second = b.t().contiguous() if how == "b_transposed" else b
    dot_kernel[(1,)](first, second, c, out, M=m, N=n, K=k, ACC=acc, HOW=how, PRECISION=precision)
    x, y, z = a.double(), b.double(), c.double()
    if how == "scaled":
        wanted = 3 * ((a * 2).double() @ (b + 1).double())
    else:
        wanted = x @ y + (z if how in ("accumulate", "add") else 0)
    return out, wanted


@pytest.mark.compiled("sums in f16, and has no bf16")
@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 64, 16), (128, 16, 64), (16, 128, 32)])
@pytest.mark.parametrize("dtype", dtypes(torch.float16, torch.bfloat16, torch.float32))
def test_float_dots(shape, dtype, rng):
    out, wanted = run_dot(rng, *shape, dtype)
    check_equal(out, wanted, terms=shape[2] * 4)


@pytest.mark.parametrize("shape", [(16, 16, 32), (32, 64, 64)])
def test_int8_dot(shape, rng):
    out, wanted = run_dot(rng, *shape, torch.int8, acc=tl.int32, out_dtype=torch.int32)
    check_equal(out, wanted)


@pytest.mark.parametrize("dtype", FP8, ids=str)
def test_fp8_dot(dtype, rng):
    out, wanted = run_dot(rng, 32, 32, 64, dtype)
    check_equal(out, wanted, tolerance=(1e-2, 1e-2))


@triton.jit
def pair_kernel(
    a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr,
    IMPRECISE: tl.constexpr,
):  # fmt: skip
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    k = tl.arange(0, K)
    x = tl.load(a + i * K + k[None, :])
    y = tl.load(b + k[:, None] * N + j)
    if IMPRECISE > 0:
        z = tl.dot(x, y, out_dtype=ACC, max_num_imprecise_acc=IMPRECISE)
    else:
        z = tl.dot(x, y, out_dtype=ACC)
    tl.store(out + i * N + j, z)


@pytest.mark.compiled("sums in f16, and knows no mixtures")
@pytest.mark.parametrize("shape", [(16, 32, 64), (64, 16, 32), (1, 8, 16)])
@pytest.mark.parametrize("acc", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize(
    ("left", "right"),
    [(a, b) for a in FP8 for b in FP8] + [(torch.float16, torch.float16)],
    ids=str,
)
def test_pairs_of_types_and_narrow_accumulators(shape, acc, left, right, rng):
    m, n, k = shape
    a, b = normal(rng, [m, k], left), normal(rng, [k, n], right)
    out = output([m, n], acc)
    kind = tl.float32 if acc == torch.float32 else tl.float16
    for imprecise in (0, 16) if left in FP8 else (0,):
        pair_kernel[(1,)](a, b, out, M=m, N=n, K=k, ACC=kind, IMPRECISE=imprecise)
        check_equal(out, a.double() @ b.double(), terms=k * 4)


@pytest.mark.compiled("has no f64 accumulator")
def test_f64_dot(rng):
    out, wanted = run_dot(rng, 16, 32, 64, torch.float64, acc=tl.float64, out_dtype=torch.float64)
    check_equal(out, wanted, tolerance=(1e-12, 1e-12))


@pytest.mark.parametrize("how", ["accumulate", "add", "scaled", "a_transposed", "b_transposed"])
def test_operands(how, rng):
    out, wanted = run_dot(rng, 32, 16, 64, torch.float32, how)
    check_equal(out, wanted, terms=1000)


@pytest.mark.compiled("NumPy wants no less than 16")
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 16, 16), (16, 1, 16), (16, 16, 1), (2, 4, 8), (4, 256, 2)]
)
def test_small_dots(shape, rng):
    out, wanted = run_dot(rng, *shape, torch.float32)
    check_equal(out, wanted, terms=100)


@pytest.mark.compiled("knows no precisions")
@pytest.mark.parametrize("precision", ["ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"])
@pytest.mark.parametrize("shape", [(32, 32, 32), (16, 64, 128)])
def test_input_precisions(shape, precision, rng):
    out, wanted = run_dot(rng, *shape, torch.float32, precision=precision)
    check_equal(out, wanted, tolerance=(2e-2, 2e-2) if precision == "tf32" else (1e-4, 1e-4))


@triton.jit
def batched_kernel(
    a, b, out, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    g = tl.arange(0, B)[:, None, None]
    i = tl.arange(0, M)[None, :, None]
    j = tl.arange(0, N)[None, None, :]
    x = tl.load(a + (g * M + i) * K + tl.arange(0, K)[None, None, :])
    y = tl.load(b + (g * K + tl.arange(0, K)[None, :, None]) * N + j)
    tl.store(out + (g * M + i) * N + j, tl.dot(x, y, out_dtype=ACC))


@pytest.mark.compiled("has no f64 accumulator, and sums in f16")
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int8)
)
@pytest.mark.parametrize("shape", [(1, 16, 32, 64), (4, 16, 32, 64), (2, 1, 8, 4), (8, 64, 2, 16)])
def test_batched_dot(shape, dtype, rng):
    batch, m, n, k = shape
    a, b = normal(rng, [batch, m, k], dtype), normal(rng, [batch, k, n], dtype)
    acc = {torch.float64: torch.float64, torch.int8: torch.int32}.get(dtype, torch.float32)
    out = output([batch, m, n], acc)
    kind = {torch.float64: tl.float64, torch.int32: tl.int32}.get(acc, tl.float32)
    batched_kernel[(1,)](a, b, out, B=batch, M=m, N=n, K=k, ACC=kind)
    wanted = a.double() @ b.double()
    check_equal(out, wanted.to(acc) if dtype == torch.int8 else wanted, terms=k * 4)


@triton.jit
def chain_kernel(a, b, c, out, times, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    x, y, z = tl.load(a + at), tl.load(b + at), tl.load(c + at)
    acc = tl.zeros([N, N], tl.float32)
    for step in range(times):
        inner = tl.dot(x, y)
        inner = tl.where(inner > 0, inner, inner * 0.1)
        acc = tl.dot(inner.to(z.dtype), z, acc * 0.5) + step
    tl.store(out + at, acc + tl.sum(acc, axis=1)[:, None])


@pytest.mark.parametrize("times", [0, 1, 3])
def test_chained_dots_in_a_loop(times, rng):
    n = 16
    a, b, c = (normal(rng, [n, n]) for _ in range(3))
    out = output([n, n], torch.float32)
    chain_kernel[(1,)](a, b, c, out, times, N=n)
    acc = torch.zeros(n, n).double()
    for step in range(times):
        inner = a.double() @ b.double()
        inner = torch.where(inner > 0, inner, inner * 0.1)
        acc = inner @ c.double() + acc * 0.5 + step
    check_equal(out, acc + acc.sum(1)[:, None], tolerance=(1e-4, 1e-3))


@triton.jit
def nan_kernel(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at)))


def test_nan_and_infinity_go_through(rng):
    n = 16
    a, b = normal(rng, [n, n]), normal(rng, [n, n])
    a[2, 3] = float("inf")
    a[5, 0] = float("nan")
    b[7, 7] = 0.0
    out = output([n, n], torch.float32)
    nan_kernel[(1,)](a, b, out, N=n)
    check_equal(out, a.double() @ b.double(), terms=100)
