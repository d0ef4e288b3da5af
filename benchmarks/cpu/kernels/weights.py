# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with weights of 4 bits: integers with a scale a group (as GPTQ and AWQ store them), and
MXFP4, whose blocks of 32 share a power of two.

PyTorch has no such product for these layouts on a CPU. Its best is to hold the weights widened, in
the activations' type: the peer is that plain product, without the cost of widening.
"""

import torch
import triton
import triton.language as tl
from bench import SHORT_NAME, Bench, cdiv, next_power_of_2, output, random, seeded, tolerance_of

from kernels import pick

GROUP = "weights of 4 bits"
GROUP_SIZE = 128
F32, BF16 = torch.float32, torch.bfloat16
# What the 16 codes of FP4 (1 sign, 2 exponent, 1 mantissa) stand for.
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
E2M1_VALUES = torch.tensor([*E2M1, *(-v for v in E2M1)])


@triton.jit
def int4_matmul_kernel(
    x, packed, scales, out, m, n, k,
    GROUP_SIZE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """packed is (k / 8, n): eight weights of a column in an int32; scales is (k / GROUP_SIZE, n)."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        a = tl.load(x + rows[:, None] * k + depth[None, :], mask=rows[:, None] < m, other=0.0)
        word = tl.load(packed + (depth[:, None] // 8) * n + cols[None, :])
        code = (word >> ((depth[:, None] % 8) * 4)) & 15
        scale = tl.load(scales + (start // GROUP_SIZE) * n + cols)
        weight = (code - 8).to(tl.float32) * scale[None, :].to(tl.float32)
        acc = tl.dot(a, weight.to(a.dtype), acc)
    inside = rows[:, None] < m
    tl.store(out + rows[:, None] * n + cols[None, :], acc.to(out.dtype.element_ty), mask=inside)


@triton.jit
def mxfp4_matmul_kernel(
    x, packed, scales, out, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """packed is (n, k / 2), the even element in the low bits; scales is (n, k / 32)."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        half = start // 2 + tl.arange(0, BK // 2)
        block = start // 32 + tl.arange(0, BK // 32)
        a = tl.load(x + rows[:, None] * k + depth[None, :], mask=rows[:, None] < m, other=0.0)
        b = tl.load(packed + cols[None, :] * (k // 2) + half[:, None])
        b_scale = tl.load(scales + cols[:, None] * (k // 32) + block[None, :])
        acc = tl.dot_scaled(a, None, "bf16", b, b_scale, "e2m1", acc)
    inside = rows[:, None] < m
    tl.store(out + rows[:, None] * n + cols[None, :], acc.to(out.dtype.element_ty), mask=inside)


def block_of(m: int) -> int:
    return max(16, min(64, next_power_of_2(m)))


def dense(t):
    return torch.matmul(t["x"], t["weight"], out=t["dense_out"])


def product(name, m, n, k, dtype, inputs, pointers, packed_bytes) -> Bench:
    return Bench(
        name=name,
        size=f"{m}x{n}x{k}",
        inputs=inputs,
        ours={"pointers": pointers},
        outputs=("out",),
        takes=("x", "weight"),
        torch=torch.matmul,
        eager=dense,
        jax=lambda jnp, jax: jnp.matmul,
        tolerance=tolerance_of(dtype, k),
        bytes=float((m * k + m * n) * dtype.itemsize + packed_bytes),
        flops=2.0 * m * n * k,
        rate="bf16" if dtype == BF16 else "f32",
        copies_out=False,
    )


def int4(m: int, n: int, k: int, dtype: torch.dtype) -> Bench:
    def inputs():
        g = seeded(11)
        codes = torch.randint(0, 16, [k, n], generator=g)
        shifts = torch.arange(8).view(1, 8, 1) * 4
        words = (codes.view(k // 8, 8, n) << shifts).sum(dim=1)
        scales = (torch.rand([k // GROUP_SIZE, n], generator=g) * 0.1).to(dtype)
        weight = (codes - 8).float() * scales.float().repeat_interleave(GROUP_SIZE, dim=0)
        return {
            "x": random(g, [m, k], dtype),
            "packed": torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32),
            "scales": scales,
            "weight": weight.to(dtype),
            "out": output([m, n], dtype),
            "dense_out": output([m, n], dtype),
        }

    def pointers(t):
        bm = block_of(m)
        int4_matmul_kernel[(cdiv(m, bm), n // 64)](
            t["x"], t["packed"], t["scales"], t["out"], m, n, k,
            GROUP_SIZE=GROUP_SIZE, BM=bm, BN=64, BK=64,
        )  # fmt: skip

    name = f"int4 matmul {SHORT_NAME[dtype]}"
    return product(name, m, n, k, dtype, inputs, pointers, n * k / 2)


def mxfp4(m: int, n: int, k: int) -> Bench:
    def inputs():
        g = seeded(12)
        codes = torch.randint(0, 16, [n, k], generator=g)
        exponents = torch.randint(122, 130, [n, k // 32], generator=g)
        factors = torch.exp2(exponents.float() - 127).repeat_interleave(32, dim=1)
        pairs = codes.view(n, k // 2, 2)
        return {
            "x": random(g, [m, k], BF16),
            "packed": (pairs[..., 0] | pairs[..., 1] << 4).to(torch.uint8),
            "scales": exponents.to(torch.uint8),
            "weight": (E2M1_VALUES[codes] * factors).to(BF16).t().contiguous(),
            "out": output([m, n], BF16),
            "dense_out": output([m, n], BF16),
        }

    def pointers(t):
        bm = block_of(m)
        mxfp4_matmul_kernel[(cdiv(m, bm), n // 64)](
            t["x"], t["packed"], t["scales"], t["out"], m, n, k, BM=bm, BN=64, BK=64
        )

    return product("mxfp4 matmul bf16", m, n, k, BF16, inputs, pointers, n * k * (0.5 + 1 / 32))


def benches(sizes: str) -> list[Bench]:
    shapes = pick(
        sizes,
        [(3, 64, 128)],
        [(512, 512, 512)],
        [(1, 4096, 4096), (16, 4096, 4096), (512, 512, 512), (512, 1024, 1024)],
    )
    found = [int4(*s, d) for s in shapes for d in (F32, BF16)]
    return found + [mxfp4(*s) for s in shapes]
