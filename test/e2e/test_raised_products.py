# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products that are added up one step along K in each iteration, and are computed as those of tl.dot."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output


@triton.jit
def tile_kernel(
    a, b, c, m, n, k, sam, sak, sbk, sbn, scm, scn,
    FORM: tl.constexpr, STEP: tl.constexpr, TYPE: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    pa = a + i * sam
    pb = b + j * sbn
    acc = tl.full([M, N], 1, TYPE)
    for s in range(0, k, STEP):
        x = tl.load(a + i * sam + s * sak, mask=i < m, other=0).to(TYPE)
        y = tl.load(b + s * sbk + j * sbn, mask=j < n, other=0).to(TYPE)
        if FORM == 0:
            acc += x[:, None] * y[None, :]
        elif FORM == 1:  # operands and terms in the other order
            acc = y[None, :] * x[:, None] + acc
        elif FORM == 2:  # subtracted
            acc -= x[:, None] * y[None, :]
        elif FORM == 3:  # several terms, two of which are one term's sums
            acc += x[:, None] * y[None, :] - (x * 2)[:, None] * (y + 1)[None, :]
        elif FORM == 4:  # by pointers
            u = tl.load(pa, mask=i < m, other=0).to(TYPE)
            v = tl.load(pb, mask=j < n, other=0).to(TYPE)
            acc += u[:, None] * v[None, :]
            pa += sak * STEP
            pb += sbk * STEP
        elif FORM == 5:  # the iteration's number, and what is no zero behind the last one
            acc += (x + s)[:, None] * (y * 0.5 + 3)[None, :]
        elif FORM == 6:  # blocks of two dimensions, and a mask on K
            u = tl.load(a + i[:, None] * sam + s * sak, mask=(i[:, None] < m) & (s < k), other=0)
            v = tl.load(b + s * sbk + j[None, :] * sbn, mask=(j[None, :] < n) & (s < k), other=0)
            acc += u.to(TYPE) * v.to(TYPE)
        elif FORM == 7:  # what stays the same by what does not
            acc += (i % 3).to(TYPE)[:, None] * y[None, :]
        elif FORM == 8:  # what is not there is no zero
            u = tl.load(a + i * sam + s * sak, mask=i < m - 3, other=1).to(TYPE)
            v = tl.load(b + s * sbk + j * sbn, mask=j < n - 2, other=s + 1).to(TYPE)
            acc += u[:, None] * v[None, :]
    tl.store(c + i[:, None] * scm + j[None, :] * scn, acc, mask=(i < m)[:, None] & (j < n)[None, :])


def wanted_of(a, b, form, step):
    x, y = a[:, ::step].double(), b[::step].double()
    m, k = a.shape
    s = torch.arange(0, k, step, dtype=torch.float64)
    if form == 2:
        return 1 - x @ y
    if form == 3:
        return 1 + x @ y - (2 * x) @ (y + 1)
    if form == 5:
        return 1 + (x + s) @ (y * 0.5 + 3)
    if form == 7:
        return 1 + (torch.arange(m) % 3).double()[:, None].expand(m, len(s)) @ y
    if form == 8:
        x, y = x.clone(), y.clone()
        x[-3:], y[:, -2:] = 1, s[:, None] + 1
    return 1 + x @ y


def run_tile(a, b, c, form, step=1, kind=tl.float32, M=16, N=32):
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, M), triton.cdiv(n, N))
    tile_kernel[grid](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(),
        FORM=form, STEP=step, TYPE=kind, M=M, N=N,
    )  # fmt: skip


@pytest.mark.parametrize("form", range(9))
@pytest.mark.parametrize("k", [0, 1, 31, 32, 33, 71])
@pytest.mark.parametrize("step", [1, 3])
def test_forms(form, k, step, rng):
    m, n = 19, 45
    a, b, c = normal(rng, [m, k]), normal(rng, [k, n]), output([m, n], torch.float32)
    run_tile(a, b, c, form, step)
    scale = 50 if form in (5, 8) else 4
    check_equal(c, wanted_of(a, b, form, step).float(), terms=scale * (k + 2))


@triton.jit
def known_kernel(
    a, b, c, m, n, K: tl.constexpr, OTHER: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    """The number of steps is known. What is not there may be a number of the iteration."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    acc = tl.zeros([M, N], tl.float32)
    for s in range(K):
        x = tl.load(a + i * K + s, mask=i < m, other=2)
        y = tl.load(b + s * n + j, mask=j < n, other=s if OTHER else 3)
        acc += x[:, None] * y[None, :]
    tl.store(c + i[:, None] * N + j[None, :], acc)


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("k", [5, 8, 40, 96, 100, 101])
def test_known_steps(k, other, rng):
    m, n = 13, 30
    a, b, c = normal(rng, [m, k]), normal(rng, [k, n]), torch.empty(16, 32)
    known_kernel[(1,)](a, b, c, m, n, K=k, OTHER=other, M=16, N=32)
    x, y = torch.full([16, k], 2.0).double(), torch.full([k, 32], 3.0).double()
    if other:
        y[:] = torch.arange(k, dtype=torch.float64)[:, None]
    x[:m], y[:, :n] = a, b
    check_equal(c, (x @ y).float(), terms=100 * k)


@pytest.mark.parametrize("layout", range(8))
def test_layouts(layout, rng):
    """Operands and results that are transposed, and have padded rows."""
    m, n, k = 37, 70, 43

    def matrix(rows, columns, isTransposed):
        block = (
            normal(rng, [columns, rows + 3]) if isTransposed else normal(rng, [rows, columns + 3])
        )
        return block[:, :-3].T if isTransposed else block[:, :-3]

    a, b = matrix(m, k, layout & 1), matrix(k, n, layout & 2)
    c = torch.full((n, m), 7.0).T if layout & 4 else torch.full((m, n), 7.0)
    run_tile(a, b, c, 0, N=64)
    check_equal(c, wanted_of(a, b, 0, 1).float(), terms=k)


@pytest.mark.parametrize("form", [0, 3])
@pytest.mark.parametrize("dtype", dtypes(torch.float16, torch.bfloat16))
def test_widened(dtype, form, rng):
    a, b, c = normal(rng, [20, 70], dtype), normal(rng, [70, 65], dtype), torch.empty(20, 65)
    run_tile(a, b, c, form)
    check_equal(c, wanted_of(a, b, form, 1).float(), terms=4 * 70)


@pytest.mark.parametrize("form", [0, 2, 4, 6])
@pytest.mark.parametrize("dtype", dtypes(torch.int8, torch.int16, torch.int32, torch.uint8))
def test_integers(dtype, form, rng):
    """Sums run over as integers of 32 bits do."""
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    a = torch.randint(low, high, [18, 45], generator=rng).to(dtype)
    b = torch.randint(low, high, [45, 66], generator=rng).to(dtype)
    c = torch.empty(18, 66, dtype=torch.int32)
    run_tile(a, b, c, form, kind=tl.int32)
    product = (a.long() @ b.long()) * (-1 if form == 2 else 1) + 1
    wanted = (product + 2**31) % 2**32 - 2**31
    assert torch.equal(c.long(), wanted)


def test_doubles(rng):
    a, b = normal(rng, [20, 45], torch.float64), normal(rng, [45, 40], torch.float64)
    c = torch.empty(20, 40, dtype=torch.float64)
    run_tile(a, b, c, 0, kind=tl.float64)
    check_equal(c, wanted_of(a, b, 0, 1), terms=45)


def test_special_values(rng):
    """Zeros behind the last step meet no infinity."""
    a, b, c = normal(rng, [16, 33]), normal(rng, [33, 32]), torch.empty(16, 32)
    b[7, 3], b[32, 4], a[2, 32] = float("inf"), float("nan"), float("-inf")
    run_tile(a, b, c, 5)
    wanted = wanted_of(a, b, 5, 1).float()
    assert torch.equal(torch.isnan(c), torch.isnan(wanted))
    assert torch.equal(torch.isinf(c), torch.isinf(wanted))


@triton.jit
def row_kernel(a, b, c, m, n, k, ORDER: tl.constexpr, EPILOGUE: tl.constexpr, B: tl.constexpr):
    if ORDER == 0:
        i, block = tl.program_id(0), tl.program_id(1)
    elif ORDER == 1:
        i, block = tl.program_id(1), tl.program_id(0)
    elif ORDER == 2:
        blocks = tl.cdiv(n, B)
        i, block = tl.program_id(0) // blocks, tl.program_id(0) % blocks
    else:
        i, block = tl.program_id(0) % m, tl.program_id(0) // m
    j = block * B + tl.arange(0, B)
    acc = tl.zeros([B], tl.float32)
    for s in range(k):
        acc += tl.load(a + i * k + s).to(tl.float32) * tl.load(
            b + s * n + j, mask=j < n, other=0
        ).to(tl.float32)
    if EPILOGUE:
        bias = tl.load(b + j, mask=j < n, other=0).to(tl.float32)
        acc = tl.maximum(acc + bias, 0) * tl.load(a + i).to(tl.float32)
    tl.store(c + i * n + j, acc, mask=j < n)


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("epilogue", [False, True])
@pytest.mark.parametrize(
    ("m", "n", "k"), [(1, 40, 9), (11, 64, 33), (45, 70, 40), (64, 128, 32), (77, 7, 64)]
)
def test_rows(m, n, k, epilogue, order, rng):
    a, b, c = normal(rng, [m, k]), normal(rng, [k, n]), output([m, n], torch.float32)
    blocks = triton.cdiv(n, 64)
    # Groups of 16 rows from 64 programs on, of 8, and single ones.
    grid = [(m, blocks), (blocks, m), (m * blocks,), (m * blocks,)][order]
    row_kernel[grid](a, b, c, m, n, k, ORDER=order, EPILOGUE=epilogue, B=64)
    wanted = a.double() @ b.double()
    if epilogue:
        wanted = torch.relu(wanted + b[0].double()) * a.flatten()[:m].double()[:, None]
    check_equal(c, wanted.float(), terms=2 * k)


@pytest.mark.parametrize("dtype", dtypes(torch.float16, torch.bfloat16))
def test_rows_of_narrow_types(dtype, rng):
    a, b, c = normal(rng, [35, 40], dtype), normal(rng, [40, 100], dtype), torch.empty(35, 100)
    row_kernel[(35, 2)](a, b, c, 35, 100, 40, ORDER=0, EPILOGUE=False, B=64)
    check_equal(c, (a.double() @ b.double()).float(), terms=40)


@pytest.mark.parametrize("place", ["a", "b"])
def test_results_in_place(place):
    """One program alone may write what it has read: the sums are stored behind all loads."""
    a = torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64) % 5
    b = torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64) % 7
    wanted = 1 + a @ b
    c = a if place == "a" else b
    run_tile(a, b, c, 0, M=64, N=64)
    assert torch.equal(c, wanted)


@triton.jit
def two_sums_kernel(a, b, c, d, e, n, k, M: tl.constexpr, N: tl.constexpr):
    """Two products of one column, and sums that are no product."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    first = tl.zeros([M, N], tl.float32)
    second = tl.zeros([M, N], tl.float32)
    rows = tl.zeros([M], tl.float32)
    most = tl.full([N], float("-inf"), tl.float32)
    for s in range(k):
        x = tl.load(a + i * k + s)
        y = tl.load(b + s * n + j, mask=j < n, other=0)
        first += x[:, None] * y[None, :]
        second += (x * x)[:, None] * tl.exp(y)[None, :]
        rows += x * x
        most = tl.maximum(most, y)
    at = i[:, None] * n + j[None, :]
    tl.store(c + at, first + rows[:, None], mask=(j < n)[None, :])
    tl.store(d + at, second, mask=(j < n)[None, :])
    tl.store(e + j, most, mask=j < n)


@pytest.mark.parametrize("k", [1, 40])
def test_several_sums(k, rng):
    m, n = 16, 27
    a, b = normal(rng, [m, k]), normal(rng, [k, n])
    c, d, e = torch.empty(m, n), torch.empty(m, n), torch.empty(n)
    two_sums_kernel[(1,)](a, b, c, d, e, n, k, M=m, N=32)
    x, y = a.double(), b.double()
    check_equal(c, (x @ y + (x * x).sum(1)[:, None]).float(), terms=2 * k + 2)
    check_equal(d, ((x * x) @ y.exp()).float(), terms=8 * k + 8)
    assert torch.equal(e, b.amax(0))


@triton.jit
def narrow_kernel(a, b, c, d, k, M: tl.constexpr, N: tl.constexpr):
    """Sums and products that are rounded to the operands' type."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    acc = tl.zeros([M, N], a.dtype.element_ty)
    wide = tl.zeros([M, N], tl.float32)
    for s in range(k):
        x = tl.load(a + i * k + s)
        y = tl.load(b + s * N + j)
        acc += x[:, None] * y[None, :]
        wide += (x[:, None] * y[None, :]).to(tl.float32)
    at = i[:, None] * N + j[None, :]
    tl.store(c + at, acc)
    tl.store(d + at, wide)


@pytest.mark.parametrize("dtype", dtypes(torch.float16, torch.bfloat16))
def test_what_is_rounded_stays(dtype, rng):
    m, n, k = 16, 64, 40
    a, b = normal(rng, [m, k], dtype), normal(rng, [k, n], dtype)
    c, d = torch.empty(m, n, dtype=dtype), torch.empty(m, n)
    narrow_kernel[(1,)](a, b, c, d, k, M=m, N=n)
    acc, wide = torch.zeros(m, n, dtype=dtype), torch.zeros(m, n)
    for s in range(k):
        product = a[:, s, None] * b[None, s]
        acc = acc + product
        wide = wide + product.float()
    assert torch.equal(c, acc)
    assert torch.equal(d, wide)


@triton.jit
def masked_kernel(
    a, b, c, m, n, k, low, high, FORM: tl.constexpr, STEP: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):  # fmt: skip
    i, j = tl.arange(0, M), tl.arange(0, N)
    acc = tl.zeros([M, N], tl.float32)
    for s in range(0, k, STEP):
        if FORM == 0:
            x = tl.load(a + i * k + s, mask=(i < m) & (s < high), other=0)
            y = tl.load(b + s * n + j, mask=(j < n) & (s >= low), other=0)
        elif FORM == 1:  # both ends, the other way round
            x = tl.load(a + i * k + s, mask=(i < m) & (high > s) & (low <= s), other=0)
            y = tl.load(b + s * n + j, mask=j < n, other=0)
        elif (
            FORM == 2
        ):  # the ends of both operands differ, and belong to what is computed from the number
            x = tl.load(a + i * k + s, mask=(i < m) & (s * 2 <= 2 * high - 2), other=0)
            y = tl.load(b + s * n + j, mask=(j < n) & (s - 1 > low - 2), other=0)
        elif FORM == 3:  # a condition that stays the same
            x = tl.load(a + i * k + s, mask=(i < m) & (s < high) & (low < 4), other=0)
            y = tl.load(b + s * n + j, mask=j < n, other=0)
        elif FORM == 4:  # all iterations are known, and what is not there is no zero
            x = tl.load(a + i * k + s, mask=(i < m) & (s < high), other=2)
            y = tl.load(b + s * n + j, mask=(j < n) & (s >= low), other=3)
        elif FORM == 5:  # no range
            x = tl.load(a + i * k + s, mask=(i < m) & (s != high), other=0)
            y = tl.load(b + s * n + j, mask=(j < n) & ((s < low) | (s > high)), other=0)
        acc += x.to(tl.float32)[:, None] * y.to(tl.float32)[None, :]
    tl.store(c + i[:, None] * n + j[None, :], acc, mask=(i < m)[:, None] & (j < n)[None, :])


@pytest.mark.parametrize("form", range(6))
@pytest.mark.parametrize("ends", [(0, 29), (3, 17), (8, 8), (20, 5), (-4, 1000), (39, 40), (0, -3)])
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_other_ends(form, ends, step, dtype, rng):
    """Masks along K that are not the loop's end."""
    (low, high), m, n, k = ends, 13, 45, 40
    a, b, c = normal(rng, [m, k], dtype), normal(rng, [k, n], dtype), torch.empty(m, n)
    masked_kernel[(1,)](a, b, c, m, n, k, low, high, FORM=form, STEP=step, M=16, N=64)
    x, y = a.double().clone(), b.double().clone()
    s = torch.arange(k)
    x_there, y_there = s < high, s >= low
    if form == 1:
        x_there, y_there = x_there & y_there, s >= 0
    elif form == 3:
        x_there, y_there = x_there & (low < 4), s >= 0
    elif form == 5:
        x_there, y_there = s != high, (s < low) | (s > high)
    x[:, ~x_there], y[~y_there] = (2, 3) if form == 4 else (0, 0)
    check_equal(c, (x[:, ::step] @ y[::step]).float(), terms=10 * k)


@triton.jit
def known_ends_kernel(a, b, c, low, high, K: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    acc = tl.zeros([M, N], tl.float32)
    for s in range(K):
        x = tl.load(a + i * K + s, mask=(i < M - 1) & (s < high), other=2)
        y = tl.load(b + s * N + j, mask=(j < N - 1) & (s >= low), other=3)
        acc += x[:, None] * y[None, :]
    tl.store(c + i[:, None] * N + j[None, :], acc)


@pytest.mark.parametrize("ends", [(0, 29), (3, 17), (8, 8), (20, 5), (-4, 1000), (40, 0)])
def test_other_ends_of_known_steps(ends, rng):
    """What is not there is no zero."""
    (low, high), m, n, k = ends, 16, 32, 40
    a, b, c = normal(rng, [m, k]), normal(rng, [k, n]), torch.empty(m, n)
    known_ends_kernel[(1,)](a, b, c, low, high, K=k, M=m, N=n)
    x, y = a.double().clone(), b.double().clone()
    s = torch.arange(k)
    x[-1:], y[:, -1:] = 2, 3
    x[:, s >= high], y[s < low] = 2, 3
    check_equal(c, (x @ y).float(), terms=20 * k)


@triton.jit
def descriptor_kernel(
    a, b, c, m, n, k, rows, lda, ldb, FORM: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    """Rows of `a` and `b` are their steps; the arrays have `rows` of them, fewer or more than the loop's steps."""
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    columns = tl.make_tensor_descriptor(a, [rows, m], [lda, 1], [1, M])
    lines = tl.make_tensor_descriptor(b, [rows, n], [ldb, 1], [1, N])
    acc = tl.zeros([M, N], tl.float32)
    for s in range(0, k):
        at = s - 3 if FORM == 1 else s
        x = (
            tl.reshape(columns.load([at, i]), [M])
            if FORM < 2
            else tl.load(a + s * lda + i + tl.arange(0, M))
        )
        y = lines.load([at, j])
        if FORM == 0:
            acc += tl.trans(columns.load([at, i])).to(tl.float32) * y.to(tl.float32)
        else:
            acc += x.to(tl.float32)[:, None] * y.to(tl.float32)
    out = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    out.store([i, j], acc)


@pytest.mark.parametrize("form", range(3))
@pytest.mark.parametrize(
    "sizes",
    [
        (32, 64, 40, 40),
        (32, 64, 45, 40),
        (32, 64, 7, 29),
        (24, 52, 31, 31),
        (24, 52, 0, 8),
        (8, 4, 12, 1),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_descriptors(form, sizes, dtype, rng):
    m, n, k, rows = sizes
    if form == 2:
        m = 32
    a, b = normal(rng, [max(rows, k), 40], dtype), normal(rng, [max(rows, k), 72], dtype)
    c = torch.empty(m, n)
    grid = (triton.cdiv(m, 16), triton.cdiv(n, 32))
    descriptor_kernel[grid](a, b, c, m, n, k, rows, 40, 72, FORM=form, M=16, N=32)
    x, y = a[:k, :m].double().clone(), b[:k, :n].double().clone()
    if form == 1:
        x, y = torch.roll(x, 3, 0), torch.roll(y, 3, 0)
        x[:3], y[:3] = 0, 0
        x[rows + 3 :], y[rows + 3 :] = 0, 0
    else:
        y[rows:] = 0
    check_equal(c, (x.T @ y).float(), terms=10 * (k + 2))
