# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that each go down one column, or a few, in a loop: those of a line run together, or of four lines."""

import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from support import INTERPRETED, check_equal, normal

# Blocks of 1 to 16 columns: alone, a line of f32, four lines and some, many groups.
COLUMNS = [1, 3, 16, 67, 256]


def programs_together(kernel):
    decisions = tilebridge.explain(kernel)["decisions"]
    return sorted(int(d["programs"]) for d in decisions if d["kind"] == "merged")


@triton.jit
def product_kernel(
    w, x, out, rows, columns, stride, BK: tl.constexpr, BN: tl.constexpr, HOW: tl.constexpr, MASK: tl.constexpr
):  # fmt: skip
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    if HOW == "block":
        total = tl.zeros([BK, BN], tl.float32)
    else:
        total = tl.zeros([BN], tl.float32)
    for start in range(0, rows, BK):
        k = start + tl.arange(0, BK)
        inside = k[:, None] < rows
        if MASK:
            inside &= n[None, :] < columns
        a = tl.load(w + k[:, None] * stride + n[None, :], mask=inside, other=0).to(tl.float32)
        b = tl.load(x + k, mask=k < rows, other=0).to(tl.float32)
        if HOW == "block":
            total += a * b[:, None]
        elif HOW == "index":
            total += tl.sum(a * b[:, None] + tl.where(inside, n[None, :], 0), 0)
        else:
            total += tl.sum(a * b[:, None], 0)
    if HOW == "block":
        total = tl.sum(total, 0)
    elif HOW == "scan":
        total = tl.sum(tl.cumsum(tl.broadcast_to(total[None, :], (4, BN)), 0), 0)
    tl.store(out + n, total.to(out.dtype.element_ty), mask=n < columns)


@pytest.mark.parametrize("bn", [1, 2, 4, 8, 16, 32, 64])
@pytest.mark.parametrize("how", ["sum", "block", "index", "scan"])
@pytest.mark.parametrize("rows", [0, 1, 16, 37])
def test_products(rows, how, bn, rng):
    """Behind the columns and between the rows there is NaN."""
    for columns in COLUMNS:
        for pad in (0, 5):
            w = torch.full([rows + 1, columns + pad], float("nan"))
            w[:rows, :columns] = normal(rng, [rows, columns], torch.float32)
            x = normal(rng, [rows + 1], torch.float32)
            x[rows:] = float("nan")
            out = torch.full([columns + 7], 7.0)
            grid = (triton.cdiv(columns, bn),)
            kernel = product_kernel[grid](
                w, x, out, rows, columns, columns + pad, 16, bn, how, True
            )
            wanted = x[:rows].double() @ w[:rows, :columns].double()
            if how == "index":
                wanted += rows * torch.arange(columns)
            if how == "scan":
                wanted *= 10
            check_equal(out[:columns], wanted, tolerance=(1e-4, 1e-3))
            assert (out[columns:] == 7).all()
            # Of one row there is no loop.
            if not INTERPRETED and columns == 256 and rows > 1:
                line = max(16 // bn, 2)
                lines = 4 if how == "scan" else 16
                # More than a line, only where rows are summed and nothing else.
                together = bn <= 16 or how != "scan"
                wanted = [line, lines * 16 // bn] if together else []
                assert programs_together(kernel) == wanted


@pytest.mark.parametrize("bn", [1, 2, 16, 32, 64])
@pytest.mark.parametrize("how", ["sum", "block"])
def test_sums_of_many_lines(how, bn, rng):
    """Groups of 16 lines, in a grid of four of them, and what is left."""
    rows, columns = 37, 1024 + 83
    w = torch.full([rows + 1, columns + 5], float("nan"))
    w[:rows, :columns] = normal(rng, [rows, columns], torch.float32)
    x = normal(rng, [rows + 1], torch.float32)
    x[rows:] = float("nan")
    out = torch.full([columns + 7], 7.0)
    grid = (triton.cdiv(columns, bn),)
    product_kernel[grid](w, x, out, rows, columns, columns + 5, 16, bn, how, True)
    wanted = x[:rows].double() @ w[:rows, :columns].double()
    check_equal(out[:columns], wanted, tolerance=(1e-4, 1e-3))
    assert (out[columns:] == 7).all()


@pytest.mark.parametrize("bn", [2, 4, 8, 16, 32, 64])
@pytest.mark.parametrize("columns", [16, 32, 40])
def test_programs_behind_all_columns(columns, bn, rng):
    """They have none, all alike."""
    w, x = normal(rng, [37, columns], torch.float32), normal(rng, [37], torch.float32)
    out = torch.full([columns + 512], 7.0)
    product_kernel[(512 // bn,)](w, x, out, 37, columns, columns, 16, bn, "sum", True)
    check_equal(out[:columns], x.double() @ w.double(), tolerance=(1e-4, 1e-3))
    assert (out[columns:] == 7).all()


TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int32]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("bn", [1, 2, 4, 8, 16, 32, 64])
@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.compiled("thousands of programs")
def test_types_and_many_programs(dtype, bn, mask, rng):
    """So many programs that four lines run together."""
    for columns in (16384, 16384 + 64 + 16 + 8):
        if columns % bn:
            continue
        w = torch.randint(-3, 4, [24, columns], generator=rng).to(dtype)
        x = torch.randint(-3, 4, [24], generator=rng).to(dtype)
        out = torch.zeros([columns], dtype=torch.float32)
        product_kernel[(columns // bn,)](w, x, out, 24, columns, columns, 8, bn, "sum", mask)
        assert torch.equal(out.double(), x.double() @ w.double())


@triton.jit
def others_kernel(
    x, out, limit, rows, columns, B: tl.constexpr, BN: tl.constexpr, HOW: tl.constexpr
):
    """What may be taken for what is the same in all programs, but is not."""
    pid = tl.program_id(0)
    n = pid * BN + tl.arange(0, BN)
    total = tl.zeros([BN], tl.float32)
    end = rows
    if HOW == "own end":
        end = tl.minimum(rows, pid + 1)
    first = 0
    if HOW == "own columns":
        n = tl.minimum(pid * BN, limit) + tl.arange(0, BN)
    if HOW == "branch":
        if pid < limit:
            total += 1
    if HOW == "scalar":
        total += tl.load(x + pid)
    for start in range(first, end, B):
        k = start + tl.arange(0, B)
        inside = (k < end)[:, None] & (n < columns)[None, :]
        if HOW == "width":
            inside &= (tl.arange(0, BN) < limit)[None, :]
        v = tl.load(x + k[:, None] * columns + n[None, :], mask=inside, other=0.0)
        if HOW == "columns":
            v = v + tl.sum(v, 1)[:, None]
        if HOW == "numbers":
            v = v * pid + tl.arange(0, BN)[None, :]
        if HOW == "largest":
            v = tl.where(k[:, None] == tl.argmax(v, 0)[None, :] + start, v, 0.0)
        total += tl.sum(v, 0)
    tl.store(out + pid * BN + tl.arange(0, BN), total, mask=pid * BN + tl.arange(0, BN) < columns)


@pytest.mark.parametrize(
    "how", ["own end", "own columns", "width", "branch", "scalar", "columns", "numbers", "largest"]
)
@pytest.mark.parametrize("bn", [2, 4, 8, 16, 32, 64])
def test_programs_that_differ(how, bn, rng):
    rows, block = 24, 8
    for columns in (16, 61, 200):
        for limit in (0, 5, 1000):
            x = torch.randint(-9, 9, [rows, columns], generator=rng).to(torch.float32)
            out = torch.zeros([columns])
            others_kernel[(triton.cdiv(columns, bn),)](x, out, limit, rows, columns, block, bn, how)
            j = torch.arange(columns)
            pid, at = j // bn, j
            wanted = torch.zeros([columns], dtype=torch.float64)
            padded = torch.zeros([rows, columns + 2048], dtype=torch.float64)
            padded[:, :columns] = x
            if how == "own columns":
                at = torch.minimum(pid * bn, torch.tensor(limit)) + j % bn
            v = padded[:, at]
            if how == "own end":
                v = v * (torch.arange(rows)[:, None] < pid + 1)
            elif how == "width":
                v = v * (j % bn < limit)
            elif how == "branch":
                wanted += (pid < limit).double()
            elif how == "scalar":
                wanted += x.flatten()[pid]
            elif how == "columns":
                sums = padded[:, : triton.cdiv(columns, bn) * bn].reshape(rows, -1, bn).sum(2)
                v = v + sums[:, pid]
            elif how == "numbers":
                v = v * pid + j % bn
            elif how == "largest":
                blocks = v.reshape(-1, block, columns)
                v = blocks * torch.nn.functional.one_hot(blocks.argmax(1), block).transpose(1, 2)
                v = v.reshape(rows, columns)
            wanted += v.sum(0)
            check_equal(out, wanted, tolerance=(1e-6, 1e-3))


@triton.jit
def middle_kernel(x, out, depth, columns, BK: tl.constexpr):
    """The sum along the dimension before the last, a program a number."""
    pid = tl.program_id(0)
    row, column = pid // columns, pid % columns
    total = 0.0
    for start in range(0, depth, BK):
        k = start + tl.arange(0, BK)
        v = tl.load(x + (row * depth + k) * columns + column, mask=k < depth, other=0.0)
        total += tl.sum(v, 0)
    tl.store(out + pid, total)


@pytest.mark.parametrize("columns", [1, 5, 16, 40, 64, 130])
def test_sums_along_the_middle(columns, rng):
    x = normal(rng, [7, 50, columns], torch.float32)
    out = torch.zeros([7, columns])
    kernel = middle_kernel[(7 * columns,)](x, out, 50, columns, 16)
    check_equal(out, x.double().sum(1), tolerance=(1e-5, 1e-4))
    if not INTERPRETED and columns > 1:
        assert programs_together(kernel) == [16]
