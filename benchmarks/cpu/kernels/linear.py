# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear layers as models have them: weights of N x K, and from one token to many; weights of 8 bits with a scale a
row, too."""

import torch
import triton
import triton.language as tl
from bench import (
    SHORT_NAME,
    Bench,
    Tuned,
    cdiv,
    described,
    output,
    prepared,
    random,
    seeded,
    tolerance_of,
)

from kernels import pick
from kernels.products import block_text, rate_of

GROUP = "linear"
F32, BF16 = torch.float32, torch.bfloat16
FEW = ((16, 64, 64), (16, 128, 128))
MANY = ((64, 64, 64), (128, 128, 64))


@triton.jit
def linear_kernel(x, w, out, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x_tile = tl.load(
            x + rows[:, None] * k + depth[None, :],
            mask=(rows[:, None] < m) & (depth[None, :] < k),
            other=0.0,
        )
        w_tile = tl.load(
            w + cols[None, :] * k + depth[:, None],
            mask=(cols[None, :] < n) & (depth[:, None] < k),
            other=0.0,
        )
        acc = tl.dot(x_tile, w_tile, acc)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(out + rows[:, None] * n + cols[None, :], acc.to(out.dtype.element_ty), mask=inside)


@triton.jit
def linear_desc_kernel(x, w, out, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(x.load([row, start]), w.load([col, start]).T, acc)
    out.store([row, col], acc.to(out.dtype))


def linear(m: int, n: int, k: int, dtype: torch.dtype) -> Bench:
    def inputs():
        g = seeded(11)
        return {
            "x": random(g, [m, k], dtype),
            "w": random(g, [n, k], dtype),
            "out": output([m, n], dtype),
        }

    def launch(described_operands: bool):
        def with_block(block):
            bm, bn, bk = block
            grid = (cdiv(m, bm), cdiv(n, bn))

            def pointers(t):
                x, w, out = t["x"], t["w"], t["out"]
                return lambda: linear_kernel[grid](x, w, out, m, n, k, bm, bn, bk)

            def descriptors(t):
                x, w = described(t["x"], [bm, bk]), described(t["w"], [bn, bk])
                out = described(t["out"], [bm, bn])
                return lambda: linear_desc_kernel[grid](x, w, out, k, bm, bn, bk)

            return prepared(descriptors if described_operands else pointers)

        return Tuned({block_text(block): with_block(block) for block in (FEW if m <= 16 else MANY)})

    return Bench(
        name=f"linear {SHORT_NAME[dtype]}",
        size=f"{m}x{n}x{k}",
        inputs=inputs,
        ours={"pointers": launch(False), "descriptors": launch(True)},
        outputs=("out",),
        takes=("x", "w"),
        torch=torch.nn.functional.linear,
        eager=lambda t: torch.matmul(t["x"], t["w"].T, out=t["out"]),
        jax=lambda jnp, jax: lambda x, w: jnp.matmul(x, w.T, preferred_element_type=x.dtype),
        tolerance=tolerance_of(dtype, k),
        bytes=float((m * k + k * n + m * n) * dtype.itemsize),
        flops=2.0 * m * n * k,
        rate=rate_of(dtype),
        copies_out=False,
    )


@triton.jit
def scaled_linear_kernel(
    x, w, scales, out, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x_tile = tl.load(x + rows[:, None] * k + depth[None, :], mask=rows[:, None] < m, other=0.0)
        w_tile = tl.load(w + cols[None, :] * k + depth[:, None])
        acc = tl.dot(x_tile, w_tile.to(x_tile.dtype), acc)
    acc = acc * tl.load(scales + cols)[None, :].to(tl.float32)
    tl.store(
        out + rows[:, None] * n + cols[None, :],
        acc.to(out.dtype.element_ty),
        mask=rows[:, None] < m,
    )


def int8_linear(m: int, n: int, k: int) -> Bench:
    """PyTorch has a kernel of its own for these weights."""

    def inputs():
        g = seeded(14)
        return {
            "x": random(g, [m, k], BF16),
            "w": random(g, [n, k], torch.int8),
            "scales": torch.rand([n], generator=g).to(BF16),
            "out": output([m, n], BF16),
        }

    def with_block(block):
        bm, bn, bk = block
        grid = (cdiv(m, bm), n // bn)

        def pointers(t):
            x, w, scales, out = t["x"], t["w"], t["scales"], t["out"]
            return lambda: scaled_linear_kernel[grid](x, w, scales, out, m, n, k, bm, bn, bk)

        return prepared(pointers)

    return Bench(
        name="linear bf16 x int8",
        size=f"{m}x{n}x{k}",
        inputs=inputs,
        ours={
            "pointers": Tuned(
                {block_text(block): with_block(block) for block in (FEW if m <= 16 else MANY)}
            )
        },
        outputs=("out",),
        takes=("x", "w", "scales"),
        torch=lambda x, w, scales: torch.nn.functional.linear(x, w.to(x.dtype)) * scales,
        eager=lambda t: torch._weight_int8pack_mm(t["x"], t["w"], t["scales"]),
        tolerance=tolerance_of(BF16, k),
        bytes=float((m * k + m * n + n) * 2 + n * k),
        flops=2.0 * m * n * k,
        rate=rate_of(BF16),
        copies_out=False,
    )


def benches(sizes: str) -> list[Bench]:
    if sizes == "tiny":
        return [linear(20, 24, 32, F32), int8_linear(20, 128, 128)]
    tokens = pick(sizes, [], [16], [1, 4, 16, 64, 512])
    found = [linear(m, 4096, 4096, dtype) for dtype in (F32, BF16) for m in tokens]
    # A head over few tokens, whose weights stay in a cache.
    found += [linear(m, 1024, 1024, dtype) for dtype in (F32, BF16) for m in tokens[:3]]
    return found + [int8_linear(m, 4096, 4096) for m in tokens]
