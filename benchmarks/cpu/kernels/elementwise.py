# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One value out for one value in: add, SiLU-mul, GELU, dropout, rotary embedding."""

import dropout
import torch
import triton
import triton.language as tl
import vector_add
from bench import SHORT_NAME, Bench, cdiv, output, random, seeded, tolerance_of

from kernels import pick

GROUP = "elementwise"
BLOCK = 1024


@triton.jit
def add_desc_kernel(x, y, out, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    x_desc = tl.make_tensor_descriptor(x, [n], [1], [BLOCK])
    y_desc = tl.make_tensor_descriptor(y, [n], [1], [BLOCK])
    out_desc = tl.make_tensor_descriptor(out, [n], [1], [BLOCK])
    out_desc.store([start], x_desc.load([start]) + y_desc.load([start]))


@triton.jit
def silu_mul_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    gate = tl.load(x + at, mask=inside).to(tl.float32)
    up = tl.load(y + at, mask=inside).to(tl.float32)
    tl.store(out + at, (gate * tl.sigmoid(gate) * up).to(out.dtype.element_ty), mask=inside)


@triton.jit
def gelu_kernel(x, out, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside).to(tl.float32)
    if TANH:
        inner = 0.7978845608028654 * (value + 0.044715 * value * value * value)
        # tanh by the exponential function, as most kernels for GPUs write it
        result = value * (1 - 1 / (tl.exp(2 * inner) + 1))
    else:
        result = 0.5 * value * (1 + tl.erf(value * 0.7071067811865476))
    tl.store(out + at, result.to(out.dtype.element_ty), mask=inside)


@triton.jit
def rotary_kernel(x, cos, sin, out, tokens, heads, HALF: tl.constexpr, BT: tl.constexpr):
    """x is (tokens, heads, 2 * HALF); the two halves of a head are the coordinates that turn."""
    token = tl.program_id(0) * BT + tl.arange(0, BT)
    half = tl.arange(0, HALF)
    inside = token[:, None] < tokens
    c = tl.load(cos + token[:, None] * HALF + half[None, :], mask=inside)
    s = tl.load(sin + token[:, None] * HALF + half[None, :], mask=inside)
    for head in range(heads):
        at = (token[:, None] * heads + head) * (2 * HALF) + half[None, :]
        first = tl.load(x + at, mask=inside).to(tl.float32)
        second = tl.load(x + at + HALF, mask=inside).to(tl.float32)
        kind = out.dtype.element_ty
        tl.store(out + at, (first * c - second * s).to(kind), mask=inside)
        tl.store(out + at + HALF, (second * c + first * s).to(kind), mask=inside)


def vectors(n, dtype, names):
    def inputs():
        g = seeded(1)
        return {name: random(g, [n], dtype) for name in names} | {"out": output([n], dtype)}

    return inputs


def grid(n):
    return (cdiv(n, BLOCK),)


def add(n: int, dtype: torch.dtype = torch.float32) -> Bench:
    def launch(kernel):
        start = kernel[grid(n)]
        return lambda t: start(t["x"], t["y"], t["out"], n, BLOCK=BLOCK)

    return Bench(
        name=f"add {SHORT_NAME[dtype]}",
        size=str(n),
        inputs=vectors(n, dtype, ("x", "y")),
        ours={"pointers": launch(vector_add.add_kernel), "descriptors": launch(add_desc_kernel)},
        outputs=("out",),
        takes=("x", "y"),
        torch=torch.add,
        eager=lambda t: torch.add(t["x"], t["y"], out=t["out"]),
        jax=lambda jnp, jax: jnp.add,
        numpy=lambda np, t: np.add(t["x"], t["y"], out=t["out"]),
        tolerance=tolerance_of(dtype),
        bytes=3.0 * n * dtype.itemsize,
        flops=n,
    )


def silu_mul(n: int, dtype: torch.dtype = torch.float32) -> Bench:
    return Bench(
        name=f"silu-mul {SHORT_NAME[dtype]}",
        size=str(n),
        inputs=vectors(n, dtype, ("x", "y")),
        ours={
            "pointers": lambda t: silu_mul_kernel[grid(n)](t["x"], t["y"], t["out"], n, BLOCK=BLOCK)
        },
        outputs=("out",),
        takes=("x", "y"),
        torch=lambda x, y: torch.nn.functional.silu(x) * y,
        jax=lambda jnp, jax: lambda x, y: jax.nn.silu(x) * y,
        tolerance=tolerance_of(dtype),
        bytes=3.0 * n * dtype.itemsize,
        flops=n,
    )


def gelu(n: int, dtype: torch.dtype, tanh: bool) -> Bench:
    return Bench(
        name=f"gelu {'tanh' if tanh else 'erf'} {SHORT_NAME[dtype]}",
        size=str(n),
        inputs=vectors(n, dtype, ("x",)),
        ours={
            "pointers": lambda t: gelu_kernel[grid(n)](t["x"], t["out"], n, TANH=tanh, BLOCK=BLOCK)
        },
        outputs=("out",),
        takes=("x",),
        torch=lambda x: torch.nn.functional.gelu(x, approximate="tanh" if tanh else "none"),
        eager=lambda t: torch.ops.aten.gelu.out(
            t["x"], approximate="tanh" if tanh else "none", out=t["out"]
        ),
        jax=lambda jnp, jax: lambda x: jax.nn.gelu(x, approximate=tanh),
        tolerance=tolerance_of(dtype),
        bytes=2.0 * n * dtype.itemsize,
        flops=n,
    )


def drop(n: int, p: float = 0.25, seed: int = 1234) -> Bench:
    return Bench(
        name="dropout f32",
        size=str(n),
        inputs=vectors(n, torch.float32, ("x",)),
        ours={
            "pointers": lambda t: dropout.dropout_kernel[grid(n)](
                t["x"], t["out"], n, p, seed, BLOCK=BLOCK
            )
        },
        outputs=("out",),
        takes=("x",),
        torch=lambda x: torch.nn.functional.dropout(x, p, True),
        jax=lambda jnp, jax: (
            lambda x: jnp.where(
                jax.random.bernoulli(jax.random.key(seed), 1 - p, x.shape), x / (1 - p), 0.0
            )
        ),
        reference=lambda t: torch.where(
            dropout.uniform(seed, n) > p, t["x"].double() / (1 - p), 0.0
        ),
        bytes=8.0 * n,
        flops=n,
        is_random=True,
    )


def rotary(tokens: int, heads: int, d: int, dtype: torch.dtype = torch.float32) -> Bench:
    half = d // 2

    def inputs():
        g = seeded(2)
        angle = torch.rand([tokens, half], generator=g) * 6.28
        return {
            "x": random(g, [tokens, heads, d], dtype),
            "cos": angle.cos(),
            "sin": angle.sin(),
            "out": output([tokens, heads, d], dtype),
        }

    def expression(x, cos, sin):
        first, second = x[..., :half], x[..., half:]
        c, s = cos[:, None, :], sin[:, None, :]
        return torch.cat([first * c - second * s, second * c + first * s], dim=-1).to(x.dtype)

    def with_jax(jnp, jax):
        def turn(x, cos, sin):
            first, second = x[..., :half], x[..., half:]
            c, s = cos[:, None, :], sin[:, None, :]
            parts = [first * c - second * s, second * c + first * s]
            return jnp.concatenate(parts, axis=-1).astype(x.dtype)

        return turn

    return Bench(
        name=f"rotary {SHORT_NAME[dtype]}",
        size=f"{tokens}x{heads}x{d}",
        inputs=inputs,
        ours={
            "pointers": lambda t: rotary_kernel[(cdiv(tokens, 16),)](
                t["x"], t["cos"], t["sin"], t["out"], tokens, heads, HALF=half, BT=16
            )
        },
        outputs=("out",),
        takes=("x", "cos", "sin"),
        torch=expression,
        jax=with_jax,
        tolerance=tolerance_of(dtype),
        bytes=2.0 * tokens * heads * d * dtype.itemsize + 8.0 * tokens * half,
        flops=6.0 * tokens * heads * half,
    )


def benches(sizes: str) -> list[Bench]:
    f32, bf16 = torch.float32, torch.bfloat16
    lengths = pick(
        sizes, [1000], [4096, 1 << 24], [4096, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24]
    )
    found = [add(n) for n in lengths]
    long = lengths[-1]
    dtypes = pick(sizes, [f32], [f32, bf16], [f32, bf16, torch.float16])
    found += [add(long, d) for d in dtypes[1:]]
    rest = pick(sizes, [1000], [1 << 18, 1 << 24], [4096, 1 << 18, 1 << 22, 1 << 24])
    for n in rest:
        found += [silu_mul(n), gelu(n, f32, False), gelu(n, f32, True)]
    found += [silu_mul(long, d) for d in dtypes[1:]]
    found += [gelu(long, d, True) for d in dtypes[1:]]
    found += [drop(n) for n in pick(sizes, [1000], [1 << 22], [4096, 1 << 18, 1 << 22, 1 << 24])]
    tokens = pick(sizes, [10], [4096], [16, 512, 4096, 16384])
    found += [rotary(n, 32 if sizes != "tiny" else 2, 128) for n in tokens]
    found += [rotary(tokens[-1], 32 if sizes != "tiny" else 2, 128, d) for d in dtypes[1:]]
    return found
