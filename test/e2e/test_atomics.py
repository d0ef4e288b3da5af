# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic operations of every kind and type, under contention and with masks."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output


@triton.jit
def rmw_kernel(x, target, old, n, N: tl.constexpr, OP: tl.constexpr, SAME: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    value = tl.load(x + i, mask=i < n)
    at = target + (tl.arange(0, N) if SAME else i)
    mask = i < n
    if OP == "add":
        was = tl.atomic_add(at, value, mask=mask)
    elif OP == "max":
        was = tl.atomic_max(at, value, mask=mask)
    elif OP == "min":
        was = tl.atomic_min(at, value, mask=mask)
    elif OP == "and":
        was = tl.atomic_and(at, value, mask=mask)
    elif OP == "or":
        was = tl.atomic_or(at, value, mask=mask)
    elif OP == "xor":
        was = tl.atomic_xor(at, value, mask=mask)
    else:
        was = tl.atomic_xchg(at, value, mask=mask)
    tl.store(old + i, was, mask=mask)


APPLY = {
    "add": torch.add,
    "max": torch.maximum,
    "min": torch.minimum,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "xchg": lambda a, b: b,
}

KINDS = [(op, d) for op in APPLY for d in (torch.int32, torch.int64, torch.uint32, torch.uint64)]
KINDS += [(op, d) for op in ("add", "max", "min", "xchg") for d in (torch.float32, torch.float64)]
KINDS += [("add", torch.float16), ("add", torch.bfloat16)]


def kinds():
    for op, dtype in KINDS:
        lacks = dtype == torch.bfloat16 or (op == "xchg" and dtype.is_floating_point)
        marks = [pytest.mark.compiled("lacks this type")] if lacks else []
        yield pytest.param(op, dtype, id=f"{op}-{str(dtype)[6:]}", marks=marks)


def apply(op, a, b):
    if a.dtype in (torch.uint32, torch.uint64):
        signed = {torch.uint32: torch.int64, torch.uint64: torch.int64}[a.dtype]
        return APPLY[op](a.to(signed), b.to(signed)).to(a.dtype)
    return APPLY[op](a, b)


@pytest.mark.parametrize(("op", "dtype"), [*kinds()])
def test_each_element_once(op, dtype, rng):
    n = 50
    if dtype.is_floating_point:
        x, before = normal(rng, [64], dtype), normal(rng, [64], dtype)
    else:
        x = torch.randint(0, 1 << 30, [64], generator=rng).to(dtype)
        before = torch.randint(0, 1 << 30, [64], generator=rng).to(dtype)
        if dtype.is_signed:
            x, before = x - (1 << 29), before - (1 << 29)
    target = before.clone()
    old = output([64], torch.float32).to(dtype) if dtype.is_floating_point else before.clone()
    rmw_kernel[(4,)](x, target, old, n, N=16, OP=op, SAME=False)
    assert torch.equal(old[:n], before[:n])
    assert torch.equal(target[n:], before[n:])
    assert torch.equal(target[:n], apply(op, before[:n], x[:n]))


@pytest.mark.parametrize("dtype", dtypes(torch.int32, torch.int64, torch.float32, torch.float64))
@pytest.mark.parametrize("op", ["add", "max", "min"])
def test_contention(op, dtype, rng):
    """All programs update the same few elements; each update must count."""
    n, programs = 16, 400
    x = torch.randint(-100, 100, [programs, n], generator=rng).to(dtype)
    start = torch.zeros(n, dtype=dtype)
    target, old = start.clone(), output([programs * n], dtype)
    rmw_kernel[(programs,)](x, target, old, programs * n, N=n, OP=op, SAME=True)
    wide = x.double()
    wanted = {
        "add": wide.sum(0),
        "max": wide.amax(0).clamp(min=0),
        "min": wide.amin(0).clamp(max=0),
    }
    check_equal(target, wanted[op], tolerance=(0, 0))


@triton.jit
def same_element_kernel(target, N: tl.constexpr):
    tl.atomic_add(target + tl.arange(0, N) % 2, tl.arange(0, N))


@pytest.mark.parametrize("n", [2, 64, 1024])
def test_one_block_that_hits_an_element_often(n):
    target = torch.zeros(2, dtype=torch.int32)
    same_element_kernel[(3,)](target, N=n)
    every = torch.arange(n)
    assert target.tolist() == [3 * int(every[::2].sum()), 3 * int(every[1::2].sum())]


@triton.jit
def rows_kernel(x, target, old, columns, skip, OP: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Rows of `columns` elements that follow one another, so that most begin between vectors."""
    row = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    col = tl.arange(0, N)[None, :]
    at = row * columns + col
    inside = (col < columns) & (col % skip != 1)
    value = tl.load(x + at, mask=inside, other=0)
    if OP == "add":
        was = tl.atomic_add(target + at, value, mask=inside)
    elif OP == "max":
        was = tl.atomic_max(target + at, value, mask=inside)
    else:
        was = tl.atomic_xchg(target + at, value, mask=inside)
    tl.store(old + row * N + col, was, mask=inside)


LANES = [(op, d) for op in ("add", "max", "xchg") for d in (torch.int32, torch.int64)]
LANES += [("add", torch.float16), ("add", torch.float32), ("add", torch.float64)]
LANES += [("max", torch.float32), ("max", torch.float64)]


@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.parametrize("columns", [1, 5, 16, 31])
@pytest.mark.parametrize(("op", "dtype"), LANES, ids=lambda value: str(value)[-7:])
def test_rows_that_begin_anywhere(op, dtype, columns, shift, rng):
    rows, skip = 4, 6
    x = torch.randint(-99, 99, [rows, columns], generator=rng).to(dtype)
    memory = torch.randint(-99, 99, [rows * columns + 16], generator=rng).to(dtype)
    before, target = memory.clone(), memory[shift:]
    old = torch.full([rows, 32], 77, dtype=dtype)
    rows_kernel[(2,)](x, target, old, columns, skip, OP=op, M=2, N=32)
    inside = (torch.arange(columns) % skip != 1).expand(rows, columns)
    first = before[shift : shift + rows * columns].view(rows, columns)
    changed = torch.where(inside, apply(op, first, x), first)
    wanted = before.clone()
    wanted[shift : shift + rows * columns] = changed.flatten()
    assert torch.equal(memory, wanted)
    shown = torch.full([rows, 32], 77, dtype=dtype)
    shown[:, :columns] = torch.where(inside, first, 77)
    assert torch.equal(old, shown)


@triton.jit
def beside_kernel(target, plain, times, N: tl.constexpr):
    """Every other program writes, without atomics, elements that lie between those of the others."""
    at = tl.arange(0, N)
    pid = tl.program_id(0)
    if pid % 2 == 0:
        for _ in range(times):
            tl.atomic_add(target + at, 1, mask=at % 4 != 2)
    else:
        for i in range(times):
            tl.store(target + at * 4 + 2, i + 1 + tl.load(plain + at), mask=at < N // 4)


@pytest.mark.compiled("the interpreter runs one program after the other")
@pytest.mark.parametrize("dtype", dtypes(torch.int32, torch.int64, torch.float32, torch.float64))
def test_what_a_mask_leaves_out_is_somebody_elses(dtype):
    n, times = 32, 20000
    target, plain = torch.zeros(n, dtype=dtype), torch.zeros(n, dtype=dtype)
    beside_kernel[(2,)](target, plain, times, N=n, launch_cooperative_grid=True)
    assert target.tolist() == [times] * n


@triton.jit
def windows_kernel(x, target, n, N: tl.constexpr):
    """Programs whose blocks overlap, each from one element further on."""
    pid = tl.program_id(0)
    i = tl.arange(0, N)
    tl.atomic_add(target + pid % 16 + i, tl.load(x + pid * N + i), sem="relaxed")


@pytest.mark.parametrize(
    "dtype", dtypes(torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)
)
def test_blocks_that_overlap(dtype, rng):
    programs, n = 300, 64
    x = torch.randint(-3, 4, [programs, n], generator=rng).to(dtype)
    target = torch.zeros(n + 16, dtype=dtype)
    windows_kernel[(programs,)](x, target, n, N=n)
    wanted = torch.zeros(n + 16, dtype=torch.float64)
    for i in range(programs):
        wanted[i % 16 : i % 16 + n] += x[i].double()
    check_equal(target, wanted, tolerance=(0, 0))


@triton.jit
def scalar_kernel(counter, out, limit):
    ticket = tl.atomic_add(counter, 1)
    if ticket < limit:
        tl.store(out + ticket, ticket * 10)
    tl.atomic_max(counter + 1, ticket)
    tl.atomic_add(counter + 2, 5, mask=ticket < limit)


@pytest.mark.parametrize("programs", [1, 7, 500])
def test_tickets(programs):
    counter = torch.zeros(3, dtype=torch.int32)
    out = torch.full([programs], -1, dtype=torch.int32)
    limit = programs // 2
    scalar_kernel[(programs,)](counter, out, limit)
    assert counter.tolist() == [programs, programs - 1, 5 * limit]
    assert out.tolist() == [i * 10 if i < limit else -1 for i in range(programs)]


@triton.jit
def cas_kernel(target, expected, new, old, N: tl.constexpr):
    at = tl.arange(0, N)
    was = tl.atomic_cas(target + at, tl.load(expected + at), tl.load(new + at))
    tl.store(old + at, was)


@pytest.mark.parametrize("dtype", dtypes(torch.int32, torch.int64, torch.float32, torch.float16))
def test_compare_and_swap(dtype, rng):
    n = 32
    before = torch.randint(0, 3, [n], generator=rng).to(dtype)
    expected = torch.randint(0, 3, [n], generator=rng).to(dtype)
    new = torch.randint(10, 90, [n], generator=rng).to(dtype)
    target, old = before.clone(), output([n], dtype)
    cas_kernel[(1,)](target, expected, new, old, N=n)
    assert torch.equal(old, before)
    assert torch.equal(target, torch.where(before == expected, new, before))


@triton.jit
def spin_lock_kernel(lock, shared, times):
    """A read, a change and a write that only the lock makes one."""
    for _ in range(times):
        while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
            pass
        value = tl.load(shared)
        tl.store(shared, value + 1)
        tl.store(shared + 1, value * 2)
        tl.atomic_xchg(lock, 0, sem="release")


def test_spin_lock():
    lock = torch.zeros(1, dtype=torch.int32)
    shared = torch.zeros(2, dtype=torch.int64)
    spin_lock_kernel[(50,)](lock, shared, 20)
    assert shared.tolist() == [1000, 1998]
    assert lock.item() == 0


@triton.jit
def ordering_kernel(target, out, SEM: tl.constexpr, SCOPE: tl.constexpr):
    was = tl.atomic_add(target, 1, sem=SEM, scope=SCOPE)
    tl.store(out + tl.program_id(0), was)


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("scope", ["gpu", "cta", "sys"])
def test_semantics_and_scopes(sem, scope):
    target, out = torch.zeros(1, dtype=torch.int32), output([9], torch.int32)
    ordering_kernel[(9,)](target, out, SEM=sem, SCOPE=scope)
    assert sorted(out.tolist()) == list(range(9))


@triton.jit
def scatter_add_kernel(x, idx, target, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    inside = i < n
    index = tl.load(idx + i, mask=inside, other=0)
    tl.atomic_add(target + index, tl.load(x + i, mask=inside), mask=inside)


@pytest.mark.parametrize("n", [1, 100, 1000])
def test_scatter_add(n, rng):
    x = torch.randint(-9, 9, [n], generator=rng).float()
    idx = torch.randint(0, 20, [n], generator=rng)
    target = torch.zeros(20)
    scatter_add_kernel[(triton.cdiv(n, 64),)](x, idx, target, n, N=64)
    check_equal(target, torch.zeros(20).index_add(0, idx, x), tolerance=(0, 0))


@triton.jit
def wait_kernel(flags, out, LAST: tl.constexpr):
    """Each program waits for the one after it."""
    pid = tl.program_id(0)
    if pid < LAST:
        tl.atomic_poll(flags + pid + 1, pid + 1)
    tl.store(out + pid, tl.atomic_load(flags + pid + 1) if pid < LAST else pid)
    tl.atomic_store(flags + pid, pid)


@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="Triton 3.9 has it")
@pytest.mark.compiled("the interpreter runs one program after the other")
@pytest.mark.parametrize("programs", [1, 2, 7, 64])
def test_waiting_for_later_programs(programs):
    flags = torch.full([programs], -1, dtype=torch.int32)
    out = torch.full([programs], -1, dtype=torch.int32)
    wait_kernel[(programs,)](flags, out, LAST=programs - 1)
    wanted = torch.arange(1, programs + 1, dtype=torch.int32)
    wanted[-1] = programs - 1
    assert torch.equal(out, wanted)
    assert torch.equal(flags, torch.arange(programs, dtype=torch.int32))


@triton.jit
def volatile_kernel(flags, begun, out, n, FORM: tl.constexpr):
    """The first program reads again and again what the second writes once that has begun."""
    at = tl.arange(0, 16)
    if tl.program_id(0) == 0:
        tl.atomic_xchg(begun, 1)
        seen, i = 0.0, 0
        while (seen == 0) & (i < 2_000_000_000):  # A second or more, and no test that hangs.
            if FORM == "scalar":
                value = tl.load(flags + 3, volatile=True).to(tl.float32)
            elif FORM == "masked scalar":
                value = tl.load(flags + 3, mask=n > 3, other=0, volatile=True).to(tl.float32)
            elif FORM == "block":
                value = tl.max(tl.load(flags + at, volatile=True).to(tl.float32), 0)
            else:
                loaded = tl.load(flags + at, mask=at < n, other=-1, volatile=True).to(tl.float32)
                value = tl.max(loaded, 0) + tl.min(loaded, 0) + 1
            seen = value
            i += 1
        tl.store(out, seen)
    else:
        while tl.atomic_add(begun, 0) == 0:
            pass
        for _ in range(20000):  # Until it has read once.
            tl.atomic_add(begun, 1)
        tl.store(flags + 3, 5)


@pytest.mark.compiled("the interpreter runs one program after the other")
@pytest.mark.parametrize("form", ["scalar", "masked scalar", "block", "masked block"])
@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.int32, torch.int64, torch.float16, torch.float32], ids=str
)
def test_volatile_loads_are_read_each_time(form, dtype):
    flags, begun = torch.zeros(16, dtype=dtype), torch.zeros(1, dtype=torch.int32)
    out = output([1], torch.float32)
    volatile_kernel[(2,)](flags, begun, out, 13, FORM=form, launch_cooperative_grid=True)
    assert out.item() == 5


@triton.jit
def lost_kernel(flags):
    tl.atomic_poll(flags, 1)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="Triton 3.9 has it")
@pytest.mark.compiled("the interpreter waits for ever")
def test_waiting_for_nobody():
    with pytest.raises(Exception, match="a program has waited for a minute"):
        lost_kernel[(1,)](torch.zeros(1, dtype=torch.int32))
