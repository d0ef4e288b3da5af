# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pointers through everything: chosen, carried, passed on, cast, read from memory.

Each kernel is compared with NumPy; `forms_of` says what its accesses became, so that one that could be
structured and is not fails as well.
"""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import INTERPRETED, TL, check_equal, normal, output


def forms_of(kernel, *operations):
    """What the accesses became, ordered by line; of `operations` only, if any are named."""
    if INTERPRETED:
        return None
    import tilebridge

    told = tilebridge.explain(kernel)["accesses"]
    return [a["form"] for a in told if not operations or a["operation"] in operations]


def check_forms(kernel, wanted, *operations):
    assert INTERPRETED or forms_of(kernel, *operations) == wanted


# ---------------------------------------------------------------- chosen
@triton.jit
def chosen_scalar_kernel(x, y, out, which, n, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    p = x if which > 0 else y
    tl.store(out + at, tl.load(p + at, mask=at < n), mask=at < n)


@triton.jit
def chosen_block_kernel(x, y, out, which, n, N: tl.constexpr):
    """Different bases, offsets and strides in the two branches."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    if which > 0:
        p = x + at
    else:
        p = y + 5 + 2 * at
    tl.store(out + at, tl.load(p, mask=at < n), mask=at < n)


@triton.jit
def chosen_where_kernel(x, y, out, which, n, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    p = tl.where(which > 0, x + at, y + 5 + 2 * at)
    tl.store(out + at, tl.load(p, mask=at < n), mask=at < n)


@triton.jit
def chosen_offset_kernel(x, y, out, which, n, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    if which > 0:
        step = at
        base = x
    else:
        step = 5 + 2 * at
        base = y
    tl.store(out + at, tl.load(base + step, mask=at < n), mask=at < n)


@pytest.mark.parametrize("which", [1, 0])
@pytest.mark.parametrize("n", [1, 31, 64, 100])
@pytest.mark.parametrize(
    "kernel", [chosen_scalar_kernel, chosen_block_kernel, chosen_where_kernel, chosen_offset_kernel]
)
def test_chosen(kernel, n, which, rng):
    x, y, out = normal(rng, [300]), normal(rng, [300]), output([n + 1], torch.float32)
    if kernel is chosen_scalar_kernel:
        wanted = (x if which else y)[:n]
    else:
        wanted = x[:n] if which else y[5 : 5 + 2 * n : 2]
    compiled = kernel[(triton.cdiv(n, 32),)](x, y, out, which, n, N=32)
    check_equal(out[:n], wanted)
    assert out[n].isnan()
    check_forms(compiled, ["subview", "subview"])


@triton.jit
def chosen_lanes_kernel(x, y, out, n, N: tl.constexpr):
    at = tl.arange(0, N)
    p = tl.where(at % 3 == 0, x + at, y + 2 * at)
    tl.store(tl.where(at % 2 == 0, out + at, out + N + at), tl.load(p, mask=at < n), mask=at < n)


@pytest.mark.parametrize("n", [1, 31, 64])
def test_chosen_by_lane(n, rng):
    x, y = normal(rng, [64]), normal(rng, [128])
    out = torch.full([128], 7.0)
    chosen_lanes_kernel[(1,)](x, y, out, n, N=64)
    at = np.arange(n)
    wanted = np.full(128, 7.0, np.float32)
    value = np.where(at % 3 == 0, x.numpy()[:n], y.numpy()[2 * at])
    wanted[np.where(at % 2 == 0, at, 64 + at)] = value
    check_equal(out, torch.from_numpy(wanted))


# ---------------------------------------------------------------- carried
@triton.jit
def swapped_kernel(x, y, out, times, N: tl.constexpr):
    """Two buffers that take turns, as in a sort or a stencil."""
    at = tl.arange(0, N)
    a = x + at
    b = y + at
    total = tl.zeros([N], tl.float32)
    for i in range(times):
        total += tl.load(a) * (i + 1)
        a, b = b, a
    tl.store(out + at, total)


@triton.jit
def swapped_scalar_kernel(x, y, out, times, N: tl.constexpr):
    at = tl.arange(0, N)
    a = x
    b = y
    total = tl.zeros([N], tl.float32)
    for i in range(times):
        total += tl.load(a + at) * (i + 1)
        a, b = b, a
    tl.store(out + at, total)


@pytest.mark.parametrize("times", [0, 1, 2, 7])
@pytest.mark.parametrize("kernel", [swapped_kernel, swapped_scalar_kernel])
def test_swapped(kernel, times, rng):
    x, y, out = normal(rng, [32]), normal(rng, [32]), output([32], torch.float32)
    compiled = kernel[(1,)](x, y, out, times, N=32)
    wanted = torch.zeros(32, dtype=torch.float64)
    for i in range(times):
        wanted += (y if i % 2 else x).double() * (i + 1)
    check_equal(out, wanted, terms=10)
    check_forms(compiled, ["subview", "subview"])


@triton.jit
def spreading_kernel(x, out, times, N: tl.constexpr):
    """The stride grows, and the block restarts where a counter says so."""
    at = tl.arange(0, N)
    p = x + at
    total = tl.zeros([N], tl.float32)
    for i in range(times):
        total += tl.load(p)
        if i % 3 == 2:
            p = x + at + i
        else:
            p += at
    tl.store(out + at, total)


@pytest.mark.parametrize("times", [0, 1, 5, 9])
def test_growing_stride(times, rng):
    x, out = normal(rng, [400]), output([32], torch.float32)
    compiled = spreading_kernel[(1,)](x, out, times, N=32)
    at = np.arange(32)
    place, wanted = at.copy(), np.zeros(32)
    for i in range(times):
        wanted += x.numpy()[place].astype(np.float64)
        place = at + i if i % 3 == 2 else place + at
    check_equal(out, torch.from_numpy(wanted), terms=10)
    check_forms(compiled, ["subview", "subview"])


@triton.jit
def doubling_kernel(x, out, n, N: tl.constexpr):
    """A while loop whose offsets double."""
    at = tl.arange(0, N)
    offset = at
    p = x + 1
    total = tl.zeros([N], tl.float32)
    step = 1
    while step < n:
        total += tl.load(p + offset)
        offset = offset * 2
        p += step
        step *= 2
    tl.store(out + at, total)
    tl.store(out + N + at, tl.load(p + offset))


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_while_with_pointers(n, rng):
    x, out = normal(rng, [600]), output([64], torch.float32)
    compiled = doubling_kernel[(1,)](x, out, n, N=32)
    at, step, base, total = np.arange(32), 1, 1, np.zeros(32)
    while step < n:
        total += x.numpy()[base + at].astype(np.float64)
        at, base, step = at * 2, base + step, step * 2
    check_equal(out[:32], torch.from_numpy(total), terms=10)
    check_equal(out[32:], x[torch.from_numpy(base + at)])
    check_forms(compiled, ["subview"] * 4)


@triton.jit
def list_kernel(nodes, values, out, N: tl.constexpr):
    """A linked list: the next node's address is in memory."""
    at = tl.arange(0, N)
    total = tl.zeros([N], tl.float32)
    node = nodes
    while node.to(tl.int64) != 0:
        value = tl.load(node + 1).to(tl.pointer_type(tl.float32))
        total += tl.load(value + at)
        node = tl.load(node).to(tl.pointer_type(tl.int64))
    tl.store(out + at, total)


@pytest.mark.compiled("the interpreter knows no addresses")
def test_linked_list(rng):
    values = normal(rng, [5, 16])
    nodes = torch.zeros(5, 2, dtype=torch.int64)
    order = [3, 0, 4, 1]
    for i, node in enumerate(order):
        nodes[node, 1] = values[i].data_ptr()
        if i + 1 < len(order):
            nodes[node, 0] = nodes[order[i + 1]].data_ptr()
    out = output([16], torch.float32)
    list_kernel[(1,)](nodes[order[0]], values, out, N=16)
    check_equal(out, values[:4].double().sum(0), terms=4)


# ---------------------------------------------------------------- from memory, casts
@triton.jit
def table_kernel(table, out, n, N: tl.constexpr, M: tl.constexpr):
    """A tensor of pointers read from memory, one row each."""
    i = tl.arange(0, N)
    j = tl.arange(0, M)
    rows = tl.load(table + i, mask=i < n).to(tl.pointer_type(tl.float32))
    values = tl.load(rows[:, None] + j[None, :], mask=i[:, None] < n, other=-1)
    tl.store(out + i[:, None] * M + j[None, :], values)


@triton.jit
def table_loop_kernel(table, out, n, M: tl.constexpr):
    j = tl.arange(0, M)
    for i in range(n):
        row = tl.load(table + i).to(tl.pointer_type(tl.float32))
        tl.store(out + i * M + j, tl.load(row + j))


@pytest.mark.compiled("the interpreter knows no addresses")
@pytest.mark.parametrize("n", [1, 5, 8])
def test_tables_of_pointers(n, rng):
    rows = [normal(rng, [16]) for _ in range(8)]
    table = torch.tensor([r.data_ptr() for r in rows], dtype=torch.int64)
    out = output([8, 16], torch.float32)
    table_kernel[(1,)](table, out, n, N=8, M=16)
    check_equal(out[:n], torch.stack(rows)[:n])
    assert (out[n:] == -1).all()
    out = output([n, 16], torch.float32)
    compiled = table_loop_kernel[(1,)](table, out, n, M=16)
    check_equal(out, torch.stack(rows)[:n])
    check_forms(compiled, ["scalar", "subview", "subview"])


@triton.jit
def integer_kernel(x, out, n, N: tl.constexpr, HOW: tl.constexpr):
    at = tl.arange(0, N)
    if HOW == "scalar":
        p = (x.to(tl.int64) + 8).to(tl.pointer_type(tl.float32)) + at
    elif HOW == "tensor":
        p = ((x + at).to(tl.int64) + 8).to(tl.pointer_type(tl.float32))
    elif HOW == "odd":
        p = (24 + (x + 2 * at).to(tl.int64) - 4 * at - 16).to(tl.pointer_type(tl.float32))
    else:
        p = (x.to(tl.int64) + 4 * at.to(tl.int64) + 8).to(tl.pointer_type(tl.float32))
    tl.store(out + at, tl.load(p, mask=at < n, other=3.0))


@pytest.mark.compiled("the interpreter knows no addresses")
@pytest.mark.parametrize("how", ["scalar", "tensor", "odd", "sum"])
@pytest.mark.parametrize("n", [1, 13, 32])
def test_integers_that_become_pointers(how, n, rng):
    x, out = normal(rng, [40]), output([32], torch.float32)
    compiled = integer_kernel[(1,)](x, out, n, N=32, HOW=how)
    wanted = torch.full([32], 3.0)
    wanted[:n] = x[2 : 2 + n]
    check_equal(out, wanted)
    check_forms(compiled, ["subview", "subview"])


@triton.jit
def recast_kernel(x, out, start, n, N: tl.constexpr, T: tl.constexpr, S: tl.constexpr):
    """Elements of another width, as a scalar pointer and as a tensor of pointers."""
    at = tl.arange(0, N)
    p = (x + start).to(tl.pointer_type(T)) + at
    q = (x + start + S * at).to(tl.pointer_type(T))
    tl.store(out + at, tl.load(p, mask=at < n))
    tl.store(out + N + at, tl.load(q, mask=at < n))


@pytest.mark.compiled("the interpreter keeps the type of the array")
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (torch.int32, torch.int8),
        (torch.int32, torch.int16),
        (torch.int8, torch.int32),
        (torch.int16, torch.int64),
        (torch.float32, torch.int64),
        (torch.float64, torch.int16),
        (torch.int32, torch.float32),
    ],
    ids=str,
)
def test_pointers_to_other_elements(source, target, rng):
    n = 13
    x = torch.randint(0, 256, [4096], generator=rng, dtype=torch.int32).to(torch.uint8)
    out = torch.zeros(64, dtype=target)
    start = 8
    step = max(1, target.itemsize // source.itemsize)
    compiled = recast_kernel[(1,)](x.view(source), out, start, n, N=32, T=TL[target], S=step)
    begin = start * source.itemsize
    wanted = x[begin : begin + n * target.itemsize].view(target)
    check_equal(out[:n], wanted)
    wide = x[begin:].view(source)[: n * step : step] if target.itemsize < source.itemsize else None
    if wide is not None:  # the first bytes of each
        wanted = wide.contiguous().view(target)[:: source.itemsize // target.itemsize]
    check_equal(out[32 : 32 + n], wanted)
    assert (out[n:32] == 0).all()
    check_forms(compiled, ["subview"] * 4)


# ---------------------------------------------------------------- shapes
@triton.jit
def cat_kernel(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    p = tl.cat(x + at, y + 3 * at, can_reorder=True)
    q = tl.cat(out + at, out + N + at, can_reorder=True)
    tl.store(q, tl.load(p))


@triton.jit
def join_kernel(x, y, out, N: tl.constexpr):
    at = tl.arange(0, N)
    p = tl.join((x + at).to(tl.int64), (y + at).to(tl.int64)).to(tl.pointer_type(tl.float32))
    place = tl.join(at, at + N)
    tl.store(out + place, tl.load(p))


@pytest.mark.compiled("the interpreter has no cat of pointers")
@pytest.mark.parametrize("n", [2, 16, 64])
def test_joined_pointers(n, rng):
    x, y = normal(rng, [3 * n]), normal(rng, [3 * n])
    out = output([2 * n], torch.float32)
    cat_kernel[(1,)](x, y, out, N=n)
    check_equal(out, torch.cat([x[:n], y[::3]]))
    out = output([2 * n], torch.float32)
    join_kernel[(1,)](x, y, out, N=n)
    check_equal(out, torch.cat([x[:n], y[:n]]))


@triton.jit
def shaped_kernel(x, out, s0, s1, M: tl.constexpr, N: tl.constexpr, HOW: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    p = x + i[:, None] * s0 + j[None, :] * s1
    q = out + i[:, None] * N + j[None, :]
    if HOW == "trans":
        tl.store(tl.trans(q), tl.load(tl.trans(p)))
    elif HOW == "reshape":
        tl.store(tl.reshape(q, [M // 2, 2, N]), tl.load(tl.reshape(p, [M // 2, 2, N])))
    elif HOW == "split":
        tl.store(tl.reshape(q, [M, 2, N // 2]), tl.load(tl.reshape(p, [M, 2, N // 2])))
    elif HOW == "permute":
        a = tl.permute(tl.reshape(p, [M, 2, N // 2]), [1, 2, 0])
        b = tl.permute(tl.reshape(q, [M, 2, N // 2]), [1, 2, 0])
        tl.store(b, tl.load(a))
    elif HOW == "expand":
        tl.store(q[:, None, :], tl.load(tl.expand_dims(p, 1)))
    else:
        tl.store(q.reshape([M * N]), tl.load(p.reshape([M * N])))


@pytest.mark.parametrize("how", ["trans", "reshape", "split", "permute", "expand", "flat"])
@pytest.mark.parametrize("strides", [(16, 1), (37, 1), (1, 8), (40, 2), (-20, 1), (0, 1), (3, 0)])
def test_shaped_pointers(how, strides, rng):
    m, n = 8, 16
    x, out = normal(rng, [2000]), output([m, n], torch.float32)
    start = x[500:]
    compiled = shaped_kernel[(1,)](start, out, *strides, M=m, N=n, HOW=how)
    check_equal(
        out,
        torch.as_strided(x, [m, n], [abs(s) for s in strides], 500)
        if min(strides) >= 0
        else torch.stack([x[500 - 20 * i : 516 - 20 * i] for i in range(m)]),
    )
    if how != "flat":
        check_forms(compiled, ["subview", "subview"])
