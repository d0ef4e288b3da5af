# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights of 4 bits whose columns are contiguous, with scales and zeros a group, of one matrix or one of several."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, dtypes, normal, output

GROUP = 32


@triton.jit
def packed_kernel(
    x, w, scales, zeros, out, chosen, m, n, k, groups,
    GROUP: tl.constexpr, ZEROS: tl.constexpr, CHOSEN: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    row, column = tl.program_id(0), tl.program_id(1)
    if CHOSEN:  # A matrix for each block of rows, if one is left.
        matrix = tl.load(chosen + row).to(tl.int64)
        if matrix < 0:
            return
        w += matrix * n * (k // 2)
        scales += matrix * n * groups
        zeros += matrix * (n // 2) * groups
    rows = row * BM + tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    there = (columns % n).to(tl.int64)  # The last block begins again.
    depth = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        a = tl.load(
            x + rows[:, None] * k + start + depth[None, :], mask=rows[:, None] < m, other=0.0
        )
        byte = tl.load(w + there[None, :] * (k // 2) + start // 2 + depth[:, None] // 2)
        code = (byte >> (depth[:, None] % 2 * 4)) & 15
        group = (start + depth[:, None]) // GROUP
        scale = tl.load(scales + there[None, :] * groups + group).to(tl.float32)
        if ZEROS == "columns":  # Two columns a byte, which lie apart.
            pair = tl.load(zeros + (there[None, :] // 2) * groups + group)
            zero = ((pair >> (there[None, :] % 2 * 4)) & 15).to(tl.float32)
        elif ZEROS == "rows":  # Two columns a byte, one after the other.
            pair = tl.load(zeros + group * (n // 2) + there[None, :] // 2)
            zero = ((pair >> (there[None, :] % 2 * 4)) & 15).to(tl.float32)
        else:
            zero = 8.0
        weight = (code.to(tl.float32) - zero) * scale
        acc = tl.dot(a, weight.to(a.dtype), acc)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(out + rows[:, None] * n + columns[None, :], acc, mask=inside)


def draw(rng, least, shape):
    return torch.randint(least, 16, shape, generator=rng)


def pairs(codes, dim):
    low, high = codes.unflatten(dim, (-1, 2)).unbind(dim + 1)
    return (low | high << 4).to(torch.uint8)


def run(rng, m, n, k, dtype, zeros, block, matrices=None):
    count = matrices.max().item() + 1 if matrices is not None else 1
    x = normal(rng, [m, k], dtype)
    codes, zero = draw(rng, 0, [count, n, k]), draw(rng, 0, [count, n, k // GROUP])
    scales = (normal(rng, [count, n, k // GROUP]).abs() + 0.1).to(dtype)
    packed_zero = pairs(zero, 1)
    if zeros == "rows":
        packed_zero = packed_zero.transpose(1, 2).contiguous()
    if zeros == "none":
        zero.fill_(8)
    weight = (codes - zero.repeat_interleave(GROUP, 2)) * scales.float().repeat_interleave(GROUP, 2)
    weight = weight.to(dtype).double()
    out = output([m, n], torch.float32)
    out.fill_(7)
    packed_kernel[triton.cdiv(m, block[0]), triton.cdiv(n, block[1])](
        at_end_of_memory(x), at_end_of_memory(pairs(codes, 2)), at_end_of_memory(scales), at_end_of_memory(packed_zero),
        out, matrices, m, n, k, k // GROUP, GROUP, zeros, matrices is not None, *block,
    )  # fmt: skip
    wanted = x.double() @ weight[0].t()
    for i, matrix in enumerate(matrices if matrices is not None else []):
        part = slice(i * block[0], (i + 1) * block[0])
        wanted[part] = 7 if matrix < 0 else x[part].double() @ weight[matrix].t()
    check_equal(out, wanted, dtype=torch.float32, tolerance=(1e-4, 1e-3 * k))


# 64 and 128 columns are whole blocks; others wrap around.
@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 16, 33])
@pytest.mark.parametrize("n", [64, 128, 90])
@pytest.mark.parametrize("zeros", ["none", "columns", "rows"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.bfloat16), ids=str)
def test_matrix(m, n, zeros, dtype, rng):
    run(rng, m, n, 96, dtype, zeros, (16, 64, 32))


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("block", [(16, 32, 16), (16, 16, 32), (32, 128, 32), (2, 64, 16)])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16), ids=str)
def test_blocks(block, dtype, rng):
    run(rng, 2, 200, 128, dtype, "columns", block)


# A block may be longer than a group.
@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("zeros", ["columns", "rows"])
def test_several_groups_a_block(m, zeros, rng):
    run(rng, m, 128, 128, torch.bfloat16, zeros, (16, 64, 64))


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("n", [128, 90])
@pytest.mark.parametrize("zeros", ["none", "columns", "rows"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16), ids=str)
def test_chosen_matrices(n, zeros, dtype, rng):
    chosen = torch.tensor([2, 0, -1, 0, 1], dtype=torch.int32)
    run(rng, 70, n, 96, dtype, zeros, (16, 64, 32), chosen)


# What is infinite or no number in a row of `a` is so in its products alone.
@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [1, 2, 4])
@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_rows_with_infinities(m, value, rng):
    x = torch.zeros([m, 64], dtype=torch.bfloat16)
    x[m - 1, 5] = value
    codes = draw(rng, 9, [64, 64])
    scales, zeros = torch.ones([64, 2], dtype=torch.bfloat16), pairs(torch.full([64, 2], 8), 0)
    out = output([m, 64], torch.float32)
    packed_kernel[1, 1](
        x,
        pairs(codes, 1),
        scales,
        zeros,
        out,
        None,
        m,
        64,
        64,
        2,
        GROUP,
        "columns",
        False,
        16,
        64,
        32,
    )
    wanted = x.double() @ (codes - 8).double().t()
    check_equal(out, wanted, dtype=torch.float32)
