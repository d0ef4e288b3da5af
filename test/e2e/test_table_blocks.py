# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over blocks that a table chooses: the next one is asked for, and nothing is read behind the table."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, dtypes, normal, output


@triton.jit
def sum_kernel(
    x, table, out, count, begin, stride, R: tl.constexpr, C: tl.constexpr, STEP: tl.constexpr,
    HOW: tl.constexpr,
):  # fmt: skip
    """Blocks of R rows, each C elements of `stride`, by one table for each program."""
    program = tl.program_id(0)
    r, c = tl.arange(0, R), tl.arange(0, C)
    total = tl.zeros([R, C], tl.float32)
    for i in range(begin, count, STEP):
        page = tl.load(table + program * count + i).to(tl.int64)
        if HOW == "columns":
            block = tl.load(x + page * R * stride + c[None, :] * stride + r[:, None])
        elif HOW == "masked":
            block = tl.load(
                x + page * R * stride + r[:, None] * stride + c[None, :],
                mask=(c < C - 3)[None, :],
                other=0.0,
            )
        else:
            block = tl.load(x + page * R * stride + r[:, None] * stride + c[None, :])
        total += tl.exp(block.to(tl.float32))
        if HOW == "changed":
            # What the table says next was not known before.
            tl.store(table + program * count + tl.minimum(i + STEP, count - 1), 1)
    tl.store(out + program * R * C + r[:, None] * C + c[None, :], total)


@pytest.mark.parametrize("how", ["rows", "columns", "masked", "changed"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
@pytest.mark.parametrize(
    ("count", "begin", "step", "programs"),
    # Only launches that read some MiB ask.
    [(300, 0, 1, 4), (1, 0, 1, 1), (8192, 2, 3, 4), (8192, 0, 1, 1), (5, 5, 1, 2)],
)
def test_blocks(count, begin, step, programs, dtype, how, rng):
    rows = columns = 16
    stride, pages = 20, 40
    x = normal(rng, [pages * rows * stride + 64], dtype)
    table = torch.randint(0, pages - 1, [programs, count], generator=rng, dtype=torch.int32)
    blocks = x[: pages * rows * stride].view(pages, rows, stride)[:, :, :columns].double().exp()
    wanted = torch.zeros(programs, rows, columns, dtype=torch.float64)
    for program in range(programs):
        chosen = table[program, begin::step].long()
        if how == "changed":
            chosen = torch.where(torch.arange(len(chosen)) > 0, 1, chosen)
        wanted[program] = blocks[chosen].sum(0)
    if how == "columns":
        wanted = wanted.transpose(1, 2)
    elif how == "masked":
        wanted[:, :, columns - 3 :] = len(range(begin, count, step))
    out = output([programs, rows, columns], torch.float32)
    sum_kernel[(programs,)](
        x, at_end_of_memory(table), out, count, begin, stride, rows, columns, step, how
    )
    torch.testing.assert_close(out.double(), wanted, rtol=2e-3, atol=1e-2)


@triton.jit
def token_kernel(
    x, q, table, out, count, begin, stride, by, D: tl.constexpr, BN: tl.constexpr,
    HOW: tl.constexpr,
):  # fmt: skip
    """Sums of exponentials of tokens' products with a vector, by one table of tokens for each program."""
    program = tl.program_id(0)
    d = tl.arange(0, D)
    total = tl.zeros([D], tl.float32)
    carried = begin + tl.arange(0, BN)
    for start in range(begin, count, BN):
        at = start + tl.arange(0, BN)
        if HOW == "pages":
            # Four tokens a page.
            page = tl.load(table + program * count + at // 4, mask=at < count, other=0)
            token = (page * 4 + at % 4) % 50
        elif HOW == "carried":
            token = tl.load(table + program * count + carried, mask=carried < count, other=0)
        elif HOW == "whole":
            token = tl.load(table + program * count + at)
        elif HOW == "other":
            token = tl.load(table + program * count + at, mask=at < count, other=start % 7)
        else:
            token = tl.load(table + program * count + at, mask=at < count, other=0)
        if HOW == "moved":
            token = (token + start) % 50
        elif HOW == "twice":
            token = tl.load(table + program * count + token)
        if HOW == "columns":
            block = tl.load(
                x + token[None, :] * stride + d[:, None], mask=at[None, :] < count, other=0.0
            ).to(tl.float32)
            score = tl.dot(tl.broadcast_to(tl.load(q + d).to(tl.float32)[None, :], [2, D]), block)
            score = tl.sum(score, 0) * 0.5
        else:
            block = tl.load(
                x + token[:, None] * stride + d[None, :], mask=at[:, None] < count, other=0.0
            ).to(tl.float32)
            score = tl.sum(block * tl.load(q + d).to(tl.float32)[None, :], 1)
        weight = tl.where(at < count, tl.exp(score * 0.1), 0.0)
        if HOW == "columns":
            total += tl.sum(block * weight[None, :], 1)
        else:
            total += tl.sum(block * weight[:, None], 0)
        if HOW == "changed":
            tl.store(table + program * count + tl.minimum(start + BN, count - 1), by)
        carried += BN
    tl.store(out + program * D + d, total)


@pytest.mark.parametrize(
    "how",
    ["masked", "whole", "columns", "pages", "carried", "moved", "twice", "other", "changed"],
)
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
@pytest.mark.parametrize(
    ("count", "begin", "programs"),
    # The last launches read some MiB, and ask.
    [(37, 0, 2), (16, 16, 1), (4096, 0, 6), (4093, 16, 6), (4090, 3, 6)],
)
def test_tokens(count, begin, programs, dtype, how, rng):
    d, block, tokens, stride = 64, 16, 50, 70
    if how == "whole":
        count = begin + (count - begin) // block * block
    x = normal(rng, [tokens, stride], dtype)
    q = normal(rng, [d], dtype)
    table = torch.randint(
        0, min(tokens, count), [programs, count], generator=rng, dtype=torch.int32
    )
    chosen = table[:, begin:].long()
    start = torch.arange(begin, count) - torch.arange(0, max(count - begin, 0)) % block
    if how == "moved":
        chosen = (chosen + start) % 50
    elif how == "pages":
        at = torch.arange(begin, count)
        chosen = (table[:, at // 4].long() * 4 + at % 4) % 50
    elif how == "twice":
        chosen = torch.gather(table.long(), 1, chosen)
    elif how == "changed":
        chosen = chosen.clone()
        chosen[:, block::block] = 7
    rows = x[:, :d].double()[chosen]
    weight = torch.exp((rows @ q.double()) * 0.1)
    wanted = (rows * weight[..., None]).sum(1)
    out = output([programs, d], torch.float32)
    token_kernel[(programs,)](
        at_end_of_memory(x), q, at_end_of_memory(table), out, count, begin, stride, 7, d, block, how
    )
    torch.testing.assert_close(out.double(), wanted, rtol=2e-3, atol=2e-2)
