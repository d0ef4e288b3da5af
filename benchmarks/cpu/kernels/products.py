# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products: types, shapes, batches, and what is fused behind them."""

import matmul
import torch
import triton
import triton.language as tl
from bench import SHORT_NAME, Bench, Tuned, cdiv, output, prepared, random, seeded, tolerance_of

from kernels import pick

GROUP = "matmul"
F32, BF16, F16, I8 = torch.float32, torch.bfloat16, torch.float16, torch.int8
E5M2 = torch.float8_e5m2
# What an autotuner would be given for a CPU.
TRIED = (
    (32, 32, 64),
    (32, 64, 64),
    (64, 64, 32),
    (64, 64, 64),
    (128, 128, 64),
    (256, 256, 64),
)


@triton.jit
def batched_matmul_kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a += tl.program_id(2).to(tl.int64) * m * k
    b += tl.program_id(2).to(tl.int64) * k * n
    c += tl.program_id(2).to(tl.int64) * m * n
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        a_tile = tl.load(
            a + rows[:, None] * k + depth[None, :],
            mask=(rows[:, None] < m) & (depth[None, :] < k),
            other=0.0,
        )
        b_tile = tl.load(
            b + depth[:, None] * n + cols[None, :],
            mask=(depth[:, None] < k) & (cols[None, :] < n),
            other=0.0,
        )
        acc = tl.dot(a_tile, b_tile, acc)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(c + rows[:, None] * n + cols[None, :], acc.to(c.dtype.element_ty), mask=inside)


@triton.jit
def linear_gelu_kernel(
    x, w, bias, out, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    row, col = matmul.tile_of_program(tl.program_id(0), m, n, BM, BN, GROUP)
    rows = row * BM + tl.arange(0, BM)
    cols = col * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        a_tile = tl.load(
            x + rows[:, None] * k + depth[None, :],
            mask=(rows[:, None] < m) & (depth[None, :] < k),
            other=0.0,
        )
        b_tile = tl.load(
            w + depth[:, None] * n + cols[None, :],
            mask=(depth[:, None] < k) & (cols[None, :] < n),
            other=0.0,
        )
        acc = tl.dot(a_tile, b_tile, acc)
    acc += tl.load(bias + cols, mask=cols < n).to(tl.float32)[None, :]
    acc = 0.5 * acc * (1 + tl.erf(acc * 0.7071067811865476))
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(out + rows[:, None] * n + cols[None, :], acc.to(out.dtype.element_ty), mask=inside)


def rate_of(dtype: torch.dtype) -> str:
    return {BF16: "bf16", I8: "i8"}.get(dtype, "f32")


def with_jax_product(dtype: torch.dtype):
    if dtype in (E5M2, I8):
        return None

    def product(jnp, jax):
        kind = {F32: jnp.float32, BF16: jnp.bfloat16, F16: jnp.float16}[dtype]
        return lambda a, b: jnp.matmul(a, b, preferred_element_type=kind)

    return product


def square(
    m: int,
    n: int,
    k: int,
    dtype: torch.dtype = F32,
    blocks: tuple[tuple[int, int, int], ...] = (),
    tag: str = "",
) -> Bench:
    out_dtype = {I8: torch.int32, E5M2: F16}.get(dtype, dtype)
    # What a launch of one program would not fill is not tried.
    blocks = blocks or tuple(b for b in TRIED if b[0] <= max(m, 64) and b[1] <= max(n, 64))

    def inputs():
        g = seeded(8)
        return {
            "a": random(g, [m, k], dtype),
            "b": random(g, [k, n], dtype),
            "c": output([m, n], out_dtype),
        }

    def launch(how):
        def with_block(block):
            return prepared(lambda t: matmul.prepared(t["a"], t["b"], t["c"], how, block))

        return Tuned({block_text(block): with_block(block) for block in blocks})

    ours = {"pointers": launch("pointers"), "descriptors": launch("host_desc")}
    if min(n, k) * dtype.itemsize % 16 or n * out_dtype.itemsize % 16:
        del ours["descriptors"]
    return Bench(
        name=f"matmul{tag} {SHORT_NAME[dtype]}",
        size=f"{m}x{n}x{k}",
        inputs=inputs,
        ours=ours,
        outputs=("c",),
        takes=("a", "b"),
        torch=(lambda a, b: torch._int_mm(a, b))
        if dtype == I8
        else torch.matmul
        if dtype != E5M2
        else lambda a, b: torch.matmul(a.to(BF16), b.to(BF16)),
        eager=lambda t: matmul.torch_matmul(t, dtype),
        jax=with_jax_product(dtype),
        numpy=(lambda np, t: np.matmul(t["a"], t["b"], out=t["c"])) if dtype == F32 else None,
        reference=lambda t: t["a"].double() @ t["b"].double(),
        tolerance=tolerance_of(out_dtype if dtype != E5M2 else BF16, k),
        bytes=float((m * k + k * n) * dtype.itemsize + m * n * out_dtype.itemsize),
        flops=2.0 * m * n * k,
        rate=rate_of(dtype),
        copies_out=False,
        wide=square(m, n, k) if dtype in (BF16, F16, I8) and not tag else None,
    )


def block_text(block: tuple[int, ...]) -> str:
    return "x".join(map(str, block))


def batched(batch: int, m: int, n: int, k: int, dtype: torch.dtype = F32) -> Bench:
    def inputs():
        g = seeded(9)
        return {
            "a": random(g, [batch, m, k], dtype),
            "b": random(g, [batch, k, n], dtype),
            "c": output([batch, m, n], dtype),
        }

    def pointers(t):
        batched_matmul_kernel[(cdiv(m, 64), cdiv(n, 64), batch)](
            t["a"], t["b"], t["c"], m, n, k, BM=64, BN=64, BK=32
        )

    return Bench(
        name=f"batched matmul {SHORT_NAME[dtype]}",
        size=f"{batch}x{m}x{n}x{k}",
        inputs=inputs,
        ours={"pointers": pointers},
        outputs=("c",),
        takes=("a", "b"),
        torch=torch.bmm,
        eager=lambda t: torch.bmm(t["a"], t["b"], out=t["c"]),
        jax=with_jax_product(dtype),
        tolerance=tolerance_of(dtype, k),
        bytes=float(batch * (m * k + k * n + m * n) * dtype.itemsize),
        flops=2.0 * batch * m * n * k,
        rate=rate_of(dtype),
        copies_out=False,
    )


def linear_gelu(m: int, n: int, k: int, dtype: torch.dtype = F32) -> Bench:
    def inputs():
        g = seeded(10)
        return {
            "x": random(g, [m, k], dtype),
            "w": random(g, [k, n], dtype),
            "bias": random(g, [n], dtype),
            "out": output([m, n], dtype),
        }

    def pointers(t):
        grid = (cdiv(m, 64) * cdiv(n, 64),)
        linear_gelu_kernel[grid](
            t["x"], t["w"], t["bias"], t["out"], m, n, k, BM=64, BN=64, BK=32, GROUP=8
        )

    return Bench(
        name=f"linear + gelu {SHORT_NAME[dtype]}",
        size=f"{m}x{n}x{k}",
        inputs=inputs,
        ours={"pointers": pointers},
        outputs=("out",),
        takes=("x", "w", "bias"),
        torch=lambda x, w, bias: torch.nn.functional.gelu(torch.addmm(bias, x, w)),
        jax=lambda jnp, jax: lambda x, w, b: jax.nn.gelu(x @ w + b, approximate=False),
        tolerance=tolerance_of(dtype, k),
        bytes=float((m * k + k * n + m * n) * dtype.itemsize),
        flops=2.0 * m * n * k,
        rate=rate_of(dtype),
        copies_out=False,
    )


def benches(sizes: str) -> list[Bench]:
    if sizes == "tiny":
        return [square(40, 24, 32), batched(2, 20, 24, 16), linear_gelu(20, 24, 32)]
    edges = pick(sizes, [], [256, 1024], [64, 128, 256, 512, 1024, 2048])
    found = [square(s, s, s) for s in edges]
    for dtype in (BF16, F16, I8, E5M2):
        some = pick(sizes, [], [512], [256, 512, 1024] + ([2048, 4096] if dtype == BF16 else []))
        found += [square(s, s, s, dtype) for s in some]
    if sizes == "full":
        found += [square(1024, 1024, 1024, F32, (b,), f" {block_text(b)}") for b in BLOCKS]
        found.append(square(1000, 1000, 1000))
    for shape in pick(sizes, [], [(16, 4096, 4096)], [(1, 4096, 4096), (16, 4096, 4096)]):
        found += [square(*shape, d, SKINNY, " skinny") for d in (F32, BF16)]
    found.append(square(4096, 64, 1024, F32, tag=" tall"))
    found += [batched(32, 128, 128, 64), batched(32, 128, 128, 64, BF16)]
    found += [linear_gelu(512, 512, 512, d) for d in (F32, BF16)]
    return found


# Each by itself: what a choice costs.
BLOCKS = (
    (32, 32, 32),
    (64, 64, 32),
    (64, 128, 32),
    (128, 128, 32),
    (128, 128, 128),
    (256, 256, 64),
)
SKINNY = ((16, 64, 64), (16, 64, 128), (16, 128, 64), (16, 1024, 16), (16, 2048, 16))
