# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hazards 12 to 19: programs that compilers of this kind have rejected, or ran at a price.

Hazard 15 is about block pointers: see test_block_pointers.py; hazard 16 has test_memory.py.
"""

import os
import subprocess
import sys

import pytest
import torch
import triton
import triton.language as tl
from support import TL, check_equal, dtypes, normal, output


# ------------------------------------------------- 12: what a loop or branch may carry
@triton.jit
def carried_kernel(x, out, steps, N: tl.constexpr, TYPE: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at)
    total = tl.zeros([N], TYPE)
    seen = tl.full([N], 0, tl.int1)
    for _ in range(steps):
        total = total + value.to(TYPE)
        seen = seen | (total.to(tl.int64) > 100)
        value = (value + 1).to(value.dtype)
    tl.store(out + at, total.to(tl.int64))
    tl.store(out + N + at, seen.to(tl.int64))


@pytest.mark.parametrize("dtype", dtypes(torch.int64, torch.int32, torch.int16, torch.int8))
def test_hazard_12_loop_carried_integers(dtype, rng):
    n, steps = 64, 7
    x = torch.randint(-50, 50, [n], generator=rng).to(dtype)
    out = output([2 * n], torch.int64)
    carried_kernel[(1,)](x, out, steps, N=n, TYPE=TL[dtype])
    total = torch.zeros(n, dtype=dtype)
    seen = torch.zeros(n, dtype=torch.bool)
    for i in range(steps):
        total = total + x + i
        seen |= total.long() > 100
    check_equal(out, torch.cat([total.long(), seen.long()]))


@triton.jit
def carried_pointer_kernel(x, out, rows, N: tl.constexpr):
    at = tl.arange(0, N)
    tile = x + at
    scalar = x
    total = tl.zeros([N], tl.float32)
    corner = 0.0
    for row in range(rows):
        total += tl.load(tile)
        corner += tl.load(scalar)
        tile += N
        if row % 2 == 0:
            scalar += N + 1
        else:
            scalar += N - 1
    tl.store(out + at, total)
    tl.store(out + N, corner)


@triton.jit
def chosen_pointer_kernel(x, y, out, n, N: tl.constexpr):
    at = tl.arange(0, N)
    row = tl.program_id(0)
    if row % 2 == 0:
        source = x + row * N
        stride = 1
    else:
        source = y + row
        stride = n
    value = tl.load(source + at * stride)
    picked = tl.where(at % 3 == 0, x + at, y + at)
    tl.store(out + row * 2 * N + at, value)
    tl.store(out + row * 2 * N + N + at, tl.load(picked))


@triton.jit
def walk_kernel(next_at, out, start, limit):
    """Follows a list: the count of steps and the end are known only by walking."""
    node = start
    steps = 0
    p = next_at + start
    while (node >= 0) & (steps < limit):
        p = next_at + node
        node = tl.load(p)
        steps += 1
    tl.store(out, steps)
    tl.store(out + 1, tl.load(p))


@triton.jit(noinline=True)
def second_half(p, n):
    return p + n // 2


@triton.jit
def called_pointer_kernel(x, out, n, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(second_half(x, n) + at))


def test_hazard_12_pointers_as_values(rng):
    n, rows = 32, 6
    x = normal(rng, [rows * n + 2 * n])
    out = output([n + 1], torch.float32)
    carried_pointer_kernel[(1,)](x, out, rows, N=n)
    check_equal(out[:n], x[: rows * n].reshape(rows, n).double().sum(0))
    at, corner = 0, 0.0
    for row in range(rows):
        corner += float(x[at])
        at += n + 1 if row % 2 == 0 else n - 1
    check_equal(out[n:], torch.tensor([corner]))

    y = normal(rng, [n * n])
    out = output([rows, 2, n], torch.float32)
    chosen_pointer_kernel[(rows,)](x, y, out, n, N=n)
    for row in range(rows):
        wanted = x[row * n : row * n + n] if row % 2 == 0 else y[row::n][:n]
        check_equal(out[row, 0], wanted)
        check_equal(out[row, 1], torch.where(torch.arange(n) % 3 == 0, x[:n], y[:n]))

    order = torch.randperm(20, generator=rng)
    links = torch.full([20], -1, dtype=torch.int32)
    links[order[:-1]] = order[1:].int()
    out = output([2], torch.int32)
    for limit, last in ((100, -1), (5, int(order[5]))):
        walk_kernel[(1,)](links, out, int(order[0]), limit)
        assert out.tolist() == [min(limit, 20), last]

    out = output([n // 2], torch.float32)
    called_pointer_kernel[(1,)](x, out, n, N=n // 2)
    check_equal(out, x[n // 2 : n])


# ------------------------------------------------- 13: booleans in memory
@triton.jit
def boolean_kernel(x, flags, out, n, N: tl.constexpr):
    at = tl.arange(0, N)
    inside = at < n
    value = tl.load(x + at, mask=inside, other=0.0)
    flag = tl.load(flags + at, mask=inside, other=0)
    tl.store(out + at, (value > 0) & flag, mask=inside)
    tl.store(out + N + at, flag == 0, mask=inside)
    as_byte = (out + 2 * N).to(tl.pointer_type(tl.int8))
    tl.store(as_byte + at, (value > 0).to(tl.int8), mask=inside)
    from_byte = tl.load(flags.to(tl.pointer_type(tl.int8), bitcast=True) + at, mask=inside, other=0)
    tl.store(out + 3 * N + at, from_byte == 1, mask=inside)
    tl.store(out + 4 * N, tl.load(flags) & (n > 0))


def test_hazard_13_boolean_buffers(rng):
    size = 64
    for n in (size, 50, 1):
        x = normal(rng, [size])
        flags = normal(rng, [size], torch.bool)
        out = torch.zeros(4 * size + 1, dtype=torch.bool)
        boolean_kernel[(1,)](x, flags, out, n, N=size)
        wanted = torch.zeros(4 * size + 1, dtype=torch.bool)
        wanted[:n] = (x[:n] > 0) & flags[:n]
        wanted[size : size + n] = ~flags[:n]
        wanted[2 * size : 2 * size + n] = x[:n] > 0
        wanted[3 * size : 3 * size + n] = flags[:n]
        wanted[4 * size] = flags[0]
        assert out.view(torch.uint8).max() <= 1
        check_equal(out, wanted)


# ------------------------------------------------- 14: what is not supported
@triton.jit
def inline_assembly_kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at)
    value = tl.inline_asm_elementwise("vote.all $0,$1;", "=r,r", [value], tl.int32, True, 1)
    tl.store(out + at, value)


@pytest.mark.compiled("asks for the compiler's message")
def test_hazard_14_unsupported_op_is_an_error():
    x = torch.arange(16, dtype=torch.int32)
    out = torch.full([16], 77, dtype=torch.int32)
    with pytest.raises(Exception, match="elementwise_inline_asm") as failure:
        inline_assembly_kernel[(1,)](x, out, N=16)
    text = str(failure.value)
    line = inline_assembly_kernel.fn.__code__.co_firstlineno + 4
    assert f"{os.path.basename(__file__)}:{line}" in text, text
    assert (out == 77).all()


# ------------------------------------------------- 17: the precision of sums
@triton.jit
def sum_kernel(x, out, narrow, N: tl.constexpr):
    value = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.sum(value, axis=0).to(tl.float32))
    tl.store(out + 1, tl.sum(value.to(tl.float32), axis=0))
    tl.store(narrow, tl.sum(value.to(tl.float32), axis=0).to(narrow.dtype.element_ty))


@triton.jit
def dot_kernel(a, b, out, N: tl.constexpr, ACC: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    product = tl.dot(tl.load(a + at), tl.load(b + at), out_dtype=ACC)
    tl.store(out + at, product.to(tl.float32))


def test_hazard_17_precision_of_sums(rng):
    n = 256
    # The sum overflows f16, whatever the order: in f16 it is infinite, in f32 it is not.
    x = (torch.rand([n], generator=rng) * 100 + 400).to(torch.float16)
    out = output([2], torch.float32)
    narrow = output([1], torch.float16)
    sum_kernel[(1,)](x, out, narrow, N=n)
    assert out[0] == float("inf")
    check_equal(out[1:], x.double().sum()[None])
    assert narrow[0] == float("inf")

    # 1 + eps / 4 many times over: f32 keeps the small terms.
    small = torch.full([4096], 2.0**-13, dtype=torch.float16)
    small[0] = 1.0
    sum_kernel[(1,)](small, out, narrow, N=4096)
    check_equal(out[1:], small.double().sum()[None])
    check_equal(narrow, small.double().sum()[None])


@pytest.mark.compiled("the interpreter sums the products of f16 in f16")
@pytest.mark.parametrize("dtype", dtypes(torch.float16, torch.bfloat16))
def test_hazard_17_precision_of_dots(dtype, rng):
    n = 64
    a = (torch.rand([n, n], generator=rng) + 1).to(dtype)
    b = (torch.rand([n, n], generator=rng) + 1).to(dtype)
    out = output([n, n], torch.float32)
    dot_kernel[(1,)](a, b, out, N=n, ACC=tl.float32)
    check_equal(out, a.double() @ b.double(), tolerance=(1e-5, 0))
    if dtype == torch.float16:
        dot_kernel[(1,)](a, b, out, N=n, ACC=tl.float16)
        check_equal(out, a.double() @ b.double(), tolerance=(2e-2, 0))
        assert torch.equal(out, out.half().float())  # the result is rounded to f16


# ------------------------------------------------- 18: the key of the compile cache
CACHE_PROGRAM = """
from triton.compiler import make_backend
from triton.runtime import driver
from tilebridge import _native
print(make_backend(driver.active.get_current_target()).hash())
print(_native.launcher().compiler_id())
"""


@pytest.mark.compiled("asks the backend")
def test_hazard_18_cache_key_has_version_and_host():
    """Triton's cache and ours hold one entry a compiler and a target."""

    def keys(**environment):
        command = [sys.executable, "-c", CACHE_PROGRAM]
        done = subprocess.run(
            command, env=os.environ | environment, capture_output=True, text=True, check=True
        )
        return done.stdout.split("\n")[:2]

    key, compiler = keys()
    assert keys() == [key, compiler]
    assert keys(TILEBRIDGE_TARGET="cpu:x86-64-v2")[0] != key
    assert compiler in key
    assert len(compiler) > 10


# ------------------------------------------------- 19: scalar arguments
@triton.jit
def half_scalar_kernel(out, h: "fp16", b: "bf16", d: "fp64", s: "fp32"):  # noqa: F821
    tl.store(out, h.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, d)
    tl.store(out + 3, s.to(tl.float64))


@pytest.mark.compiled("the interpreter passes Python floats on")
def test_hazard_19_half_precision_scalars(rng):
    out = output([4], torch.float64)
    for value in (1.5, -0.1, 3.14159, 65504.0, 1e-7, float("inf")):
        half_scalar_kernel[(1,)](out, value, value, value, value)
        wanted = [
            torch.tensor(value, dtype=t).double()
            for t in (torch.float16, torch.bfloat16, torch.float64, torch.float32)
        ]
        check_equal(out, torch.stack(wanted), tolerance=(0, 0))


@triton.jit
def argument_kernel(out, maybe, pair, nested, flag, big, unsigned, COUNT: tl.constexpr):
    if maybe is None:
        tl.store(out, -1.0)
    else:
        tl.store(out, tl.load(maybe))
    tl.store(out + 1, pair[0] + pair[1])
    tl.store(out + 2, tl.load(nested[0]) + nested[1][0] * nested[1][1])
    tl.store(out + 3, tl.where(flag, 10.0, 20.0))
    tl.store(out + 4, big.to(tl.float32))
    tl.store(out + 5, unsigned.to(tl.float32))
    tl.store(out + 6, COUNT)


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_hazard_19_none_tuples_and_booleans(flag, given, rng):
    x = normal(rng, [4])
    out = output([7], torch.float32)
    nested = (x[2:3], (3, 5.5))
    argument_kernel[(1,)](
        out,
        x if given else None,
        (2, 0.25),
        nested,
        flag,
        -(1 << 40),
        (1 << 63) + (1 << 50),
        COUNT=9,
    )
    first = float(x[0]) if given else -1.0
    wanted = [first, 2.25, float(x[2]) + 16.5, 10.0 if flag else 20.0]
    wanted += [-float(1 << 40), float((1 << 63) + (1 << 50)), 9.0]
    check_equal(out, torch.tensor(wanted))
