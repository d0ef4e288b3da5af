# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops, branches, early returns and calls."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output, ramp


@triton.jit
def loop_kernel(out, start, stop, step, N: tl.constexpr):
    total = tl.zeros([N], tl.int64)
    count = 0
    last = -1000
    for i in range(start, stop, step):
        total += i * (tl.arange(0, N) + 1)
        count += 1
        last = i
    tl.store(out + tl.arange(0, N), total)
    tl.store(out + N, count)
    tl.store(out + N + 1, last)


@pytest.mark.parametrize(
    "bounds",
    [(0, 0, 1), (0, 1, 1), (0, 10, 3), (5, 2, 1), (-7, 8, 5), (3, 1000, 999), (0, 2**30, 2**29)],
)
def test_for_over_run_time_bounds(bounds):
    n = 8
    out = output([n + 2], torch.int64)
    loop_kernel[(1,)](out, *bounds, N=n)
    seen = list(range(*bounds))
    k = torch.arange(1, n + 1, dtype=torch.int32)  # the products wrap in 32 bits
    wanted = sum((k * i).long() for i in seen) if seen else torch.zeros(n, dtype=torch.long)
    wanted = [*wanted.tolist(), len(seen), seen[-1] if seen else -1000]
    assert out.tolist() == wanted


@triton.jit
def backward_loop_kernel(out, start, stop):
    total = 0
    for i in range(start, stop, -2):
        total = total * 10 + i
    tl.store(out, total)


@pytest.mark.parametrize(("start", "stop"), [(9, 0), (8, -1), (0, 0), (3, 5)])
def test_for_with_negative_step(start, stop):
    out = output([1], torch.int32)
    backward_loop_kernel[(1,)](out, start, stop)
    total = 0
    for i in range(start, stop, -2):
        total = total * 10 + i
    assert out.item() == total


@triton.jit
def wide_loop_kernel(out, start, stop):
    """The induction variable has 64 bits."""
    total = tl.zeros((), tl.int64)
    count = 0
    for i in range(start, stop, 1 << 33):
        total += i >> 3
        count += 1
    tl.store(out, total)
    tl.store(out + 1, count)


def test_for_over_64_bits():
    start, stop = 1 << 40, (1 << 40) + (1 << 37)
    out = output([2], torch.int64)
    wide_loop_kernel[(1,)](out, start, stop)
    seen = range(start, stop, 1 << 33)
    assert out.tolist() == [sum(i >> 3 for i in seen), len(seen)]


@triton.jit
def nested_kernel(x, out, rows, cols, N: tl.constexpr):
    at = tl.arange(0, N)
    total = tl.zeros([N], tl.float32)
    for i in range(rows):
        line = tl.zeros([N], tl.float32)
        for j in range(i, cols):
            if j % 3 == 0:
                line += tl.load(x + (i * cols + j) * N + at)
            elif j % 3 == 1:
                line -= tl.load(x + (i * cols + j) * N + at)
            else:
                line = line * 0.5
        total = tl.where(line > total, line, total + 1)
    tl.store(out + at, total)


@pytest.mark.parametrize(("rows", "cols"), [(0, 3), (1, 1), (4, 6), (6, 4)])
def test_nested_loops_and_branches(rows, cols, rng):
    n = 16
    x = normal(rng, [rows, cols, n])
    out = output([n], torch.float32)
    nested_kernel[(1,)](x, out, rows, cols, N=n)
    total = torch.zeros(n)
    for i in range(rows):
        line = torch.zeros(n)
        for j in range(i, cols):
            line = (line + x[i, j], line - x[i, j], line * 0.5)[j % 3]
        total = torch.where(line > total, line, total + 1)
    check_equal(out, total)


@triton.jit
def collatz_kernel(x, out, n):
    i = tl.program_id(0)
    if i >= n:
        return
    value = tl.load(x + i)
    steps = 0
    while value != 1:
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    tl.store(out + i, steps)


def collatz(value):
    steps = 0
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    return steps


@pytest.mark.parametrize("dtype", dtypes(torch.int32, torch.int64))
def test_while(dtype):
    n = 50
    x = torch.arange(1, n + 1).to(dtype)
    out = torch.zeros(n + 5, dtype=torch.int32)
    collatz_kernel[(n + 5,)](x, out, n)
    assert out.tolist() == [collatz(v) for v in range(1, n + 1)] + [0] * 5


@triton.jit
def tensor_while_kernel(x, out, N: tl.constexpr):
    """Newton's square root until all elements rest."""
    at = tl.arange(0, N)
    value = tl.load(x + at)
    root = value
    change = tl.full([], 1.0, tl.float32)
    rounds = 0
    while (change > 1e-6) & (rounds < 50):
        new = 0.5 * (root + value / root)
        change = tl.max(tl.abs(new - root) / new, axis=0)
        root = new
        rounds += 1
    tl.store(out + at, root)
    tl.store(out + N, rounds)


def test_while_over_tensors(rng):
    n = 32
    x = torch.rand([n], generator=rng) * 100 + 0.1
    out = output([n + 1], torch.float32)
    tensor_while_kernel[(1,)](x, out, N=n)
    check_equal(out[:n], x.double().sqrt())
    assert 3 < out[n] < 50


@triton.jit
def early_return_kernel(x, out, n, N: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, N)
    if row == 1:
        return
    value = tl.load(x + row * N + at)
    top = tl.max(value, axis=0)
    if top < 0:
        tl.store(out + row * N + at, value * 0)
        return
    for i in range(n):
        value += i
    if row == 3:
        tl.store(out + row * N + at, -value)
        return
    tl.store(out + row * N + at, value)


def test_early_return(rng):
    rows, n, times = 6, 16, 4
    x = normal(rng, [rows, n])
    x[4] = -x[4].abs() - 1
    out = torch.full([rows, n], 99.0)
    early_return_kernel[(rows,)](x, out, times, N=n)
    wanted = x.double() + 6
    wanted[1] = 99
    wanted[3] *= -1
    wanted[4] = 0
    check_equal(out, wanted)


@triton.jit
def branch_values_kernel(x, out, which, N: tl.constexpr):
    """A branch that gives several values of several types."""
    at = tl.arange(0, N)
    if which > 0:
        a = tl.load(x + at)
        b = tl.arange(0, N)
        c = which * 2
        d = a > 0
    else:
        a = tl.zeros([N], tl.float32)
        b = N - tl.arange(0, N)
        c = which
        d = tl.full([N], 1, tl.int1)
    result = tl.where(d, a + b, -c.to(tl.float32))
    tl.store(out + at, result)


@pytest.mark.compiled("the interpreter's c is a plain number when the branch is not taken")
@pytest.mark.parametrize("which", [0, 3, -5])
def test_if_with_values(which, rng):
    n = 16
    x = normal(rng, [n])
    out = output([n], torch.float32)
    branch_values_kernel[(1,)](x, out, which, N=n)
    at = torch.arange(n)
    if which > 0:
        wanted = torch.where(x > 0, x + at, torch.tensor(-2.0 * which))
    else:
        wanted = (n - at).float()
    check_equal(out, wanted)


@triton.jit
def static_kernel(out, TIMES: tl.constexpr, N: tl.constexpr, KIND: tl.constexpr):
    at = tl.arange(0, N)
    total = tl.zeros([N], tl.int32)
    for i in tl.static_range(TIMES):
        if i % 2 == 0:
            total += at * i
        else:
            total -= i
    if KIND == "double":
        total *= 2
    elif KIND == "negate":
        total = -total
    tl.store(out + at, total)


@pytest.mark.parametrize("kind", ["double", "negate", "keep"])
@pytest.mark.parametrize("times", [0, 1, 5])
def test_static_range_and_constexpr_branches(times, kind):
    n = 8
    out = output([n], torch.int32)
    static_kernel[(1,)](out, TIMES=times, N=n, KIND=kind)
    at = torch.arange(n)
    total = torch.zeros(n, dtype=torch.long)
    for i in range(times):
        total = total + at * i if i % 2 == 0 else total - i
    total = {"double": total * 2, "negate": -total, "keep": total}[kind]
    check_equal(out, total)


@triton.jit
def pipelined_kernel(x, out, n, N: tl.constexpr):
    at = tl.arange(0, N)
    total = tl.zeros([N], tl.float32)
    for i in tl.range(0, n, num_stages=3, loop_unroll_factor=2):
        total += tl.load(x + i * N + at)
    tl.store(out + at, total)


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_range_with_hints(n, rng):
    x = normal(rng, [n, 32])
    out = output([32], torch.float32)
    pipelined_kernel[(1,)](x, out, n, N=32)
    check_equal(out, x.double().sum(0))


@triton.jit(noinline=True)
def clipped_sum(x, n, limit):
    total = 0.0
    for i in range(n):
        total += tl.load(x + i)
    if total > limit:
        return limit
    return total


@triton.jit(noinline=True)
def store_square(out, value):
    tl.store(out, value * value)


@triton.jit(noinline=True)
def two_results(a, b):
    return a + b, a * b


@triton.jit
def calls_kernel(x, out, n, limit):
    row = tl.program_id(0)
    total = clipped_sum(x + row * n, n, limit)
    store_square(out + row * 3, total)
    s, p = two_results(row, n)
    tl.store(out + row * 3 + 1, s.to(tl.float32))
    tl.store(out + row * 3 + 2, p.to(tl.float32) + clipped_sum(x, 1, limit))


def test_calls_that_are_not_inlined(rng):
    rows, n, limit = 5, 6, 0.75
    x = normal(rng, [rows, n])
    out = output([rows, 3], torch.float32)
    calls_kernel[(rows,)](x, out, n, limit)
    sums = x.double().sum(1).clamp(max=limit)
    row = torch.arange(rows).double()
    first = x[0, 0].double().clamp(max=limit)
    check_equal(out, torch.stack([sums**2, row + n, row * n + first], dim=1))


@triton.jit
def grid_kernel(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    at = (z * ny + y) * nx + x
    tl.store(out + at, x + 100 * y + 10000 * z + 1000000 * nz)


@pytest.mark.parametrize("grid", [(1,), (5,), (3, 4), (2, 3, 5), (1, 1, 7), (1, 9, 1)])
def test_program_ids(grid):
    nx, ny, nz = (*grid, 1, 1)[:3]
    out = output([nz, ny, nx], torch.int32)
    grid_kernel[grid](out)
    z, y, x = torch.meshgrid(*(torch.arange(s) for s in (nz, ny, nx)), indexing="ij")
    check_equal(out, x + 100 * y + 10000 * z + 1000000 * nz)


@triton.jit
def many_programs_kernel(out, n):
    i = tl.program_id(0)
    tl.store(out + i, i * 2, mask=i < n)


def test_many_small_programs():
    n = 3000
    out = output([n], torch.int32)
    many_programs_kernel[(n,)](out, n)
    check_equal(out, ramp(n, torch.int32) * 2)


@triton.jit
def stored_then_carried_on_kernel(x, steps, last, N: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, N)
    total = tl.zeros([N], tl.float32)
    best = tl.full([N], 1, tl.float32)
    for j in range(0, (tl.num_programs(1) - tl.program_id(1)) % 3):
        v = tl.load(x + j * N + i)
        total = total * 0.5 + v
        best = tl.maximum(best, v)
        tl.store(steps + (p * 3 + j) * N + i, total)
    for j in range(1, 1 + p % 3):
        total = total - tl.load(x + j * N + i) * tl.max(best)
        best += 1
    tl.store(last + p * N + i, total + best)


def test_what_is_stored_is_carried_on(rng):
    n, programs = 32, 64
    x = normal(rng, [3, n])
    steps, last = output([programs, 3, n], torch.float32), output([programs, n], torch.float32)
    steps.fill_(-7)
    stored_then_carried_on_kernel[(programs,)](x, steps, last, N=n)
    for p in range(programs):
        total, best = x[0].double(), x[0].double().clamp(min=1)
        assert torch.equal(steps[p, 0], x[0])
        assert (steps[p, 1:] == -7).all()
        for j in range(1, 1 + p % 3):
            total = total - x[j].double() * best.max()
            best = best + 1
        check_equal(last[p], total + best, tolerance=(1e-5, 1e-5))
