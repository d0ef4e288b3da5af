# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention: forward over whole sequences, and one query against a long cache of keys."""

import math

import attention
import torch
import triton
import triton.language as tl
from attention import LOG2_E
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

GROUP = "attention"
F32, BF16 = torch.float32, torch.bfloat16
# What an autotuner would be given for a CPU.
TRIED = ((32, 64), (64, 64), (64, 128), (128, 64), (128, 128), (256, 128), (256, 256))


@triton.jit
def visit_described_keys(
    acc, total, top, q, k_desc, v_desc, rows, head_start, first, last, length, scale,
    BN: tl.constexpr, CAUSAL: tl.constexpr, BOUND: tl.constexpr,
):  # fmt: skip
    """attention.visit_keys, with descriptors."""
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        score = tl.dot(q, k_desc.load([head_start + start, 0]).T) * scale
        if BOUND:
            score = tl.where(keys[None, :] < length, score, -float("inf"))
        if CAUSAL:
            score = tl.where(rows[:, None] >= keys[None, :], score, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        weight = tl.exp2(score - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(weight, axis=1)
        v = v_desc.load([head_start + start, 0])
        acc = tl.dot(weight.to(v.dtype), v, acc * shrink[:, None])
        top = new_top
    return acc, total, top


@triton.jit
def described_attention_kernel(
    q_desc, k_desc, v_desc, out, lse, length, scale,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """attention.attention_kernel's two loops, so that descriptors and pointers do the same work."""
    tile = tl.program_id(0)
    head_start = tl.program_id(1) * length
    rows = tile * BM + tl.arange(0, BM)
    q = q_desc.load([head_start + tile * BM, 0])
    acc = tl.zeros([BM, D], tl.float32)
    total = tl.zeros([BM], tl.float32)
    top = tl.full([BM], -float("inf"), tl.float32)
    whole = length // BN * BN
    if CAUSAL:
        split = min(tile * BM // BN * BN, whole)
        end = min((tile + 1) * BM, length)
    else:
        split = whole
        end = length
    acc, total, top = visit_described_keys(
        acc, total, top, q, k_desc, v_desc, rows, head_start, 0, split, length, scale,
        BN, False, False,
    )  # fmt: skip
    acc, total, top = visit_described_keys(
        acc, total, top, q, k_desc, v_desc, rows, head_start, split, end, length, scale,
        BN, CAUSAL, True,
    )  # fmt: skip
    o_at = out + (head_start + rows[:, None]) * D + tl.arange(0, D)[None, :]
    tl.store(o_at, (acc / total[:, None]).to(out.dtype.element_ty), mask=rows[:, None] < length)
    tl.store(
        lse + head_start + rows, (top + tl.log2(total)) * 0.6931471805599453, mask=rows < length
    )


@triton.jit
def decode_kernel(
    q, k, v, out, length, scale, share,
    SPLITS: tl.constexpr, D: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """One query a head. Each program visits a share of the keys and leaves a sum to be merged."""
    head = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    features = tl.arange(0, D)
    query = tl.load(q + head * D + features).to(tl.float32) * scale
    top = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    acc = tl.zeros([D], tl.float32)
    end = min((part + 1) * share, length)
    for start in range(part * share, end, BN):
        at = start + tl.arange(0, BN)
        inside = at < end
        rows = head * length * D + at[:, None] * D + features[None, :]
        key = tl.load(k + rows, mask=inside[:, None], other=0.0).to(tl.float32)
        score = tl.sum(key * query[None, :], axis=1)
        score = tl.where(inside, score, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=0))
        weight = tl.exp2(score - new_top)
        shrink = tl.exp2(top - new_top)
        value = tl.load(v + rows, mask=inside[:, None], other=0.0).to(tl.float32)
        acc = acc * shrink + tl.sum(weight[:, None] * value, axis=0)
        total = total * shrink + tl.sum(weight, axis=0)
        top = new_top
    base = out + (head * SPLITS + part) * (D + 2)
    tl.store(base + features, acc)
    tl.store(base + D, total)
    tl.store(base + D + 1, top)


@triton.jit
def decode_merge_kernel(parts, out, SPLITS: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0).to(tl.int64)
    features = tl.arange(0, D)
    split = tl.arange(0, SPLITS)
    base = parts + (head * SPLITS + split) * (D + 2)
    top = tl.load(base + D + 1)
    weight = tl.exp2(top - tl.max(top, axis=0))
    total = tl.sum(tl.load(base + D) * weight, axis=0)
    acc = tl.load(base[:, None] + features[None, :])
    result = tl.sum(acc * weight[:, None], axis=0) / total
    tl.store(out + head * D + features, result.to(out.dtype.element_ty))


def with_jax_attention(causal: bool, scale: float):
    def make(jnp, jax):
        def attend(q, k, v):
            score = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32) * scale
            if causal:
                seen = jnp.tril(jnp.ones(score.shape[-2:], bool))
                score = jnp.where(seen, score, -jnp.inf)
            weight = jax.nn.softmax(score, axis=-1).astype(v.dtype)
            return jnp.einsum("bhqk,bhkd->bhqd", weight, v)

        return attend

    return make


def reference(causal: bool, scale: float):
    def compute(t):
        q, k, v = (t[name].double() for name in "qkv")
        score = q @ k.transpose(-1, -2) * scale
        if causal:
            score = score.masked_fill(torch.ones_like(score, dtype=torch.bool).triu(1), -math.inf)
        return torch.softmax(score, -1) @ v

    return compute


def forward(
    heads: int, length: int, d: int, dtype: torch.dtype = F32, causal: bool = False, batch: int = 1
) -> Bench:
    scale = 1 / math.sqrt(d)

    def inputs():
        g = seeded(13)
        t = {name: random(g, [batch, heads, length, d], dtype) for name in "qkv"}
        t["out"] = output([batch, heads, length, d], dtype)
        t["lse"] = output([batch, heads, length], F32)
        return t

    def pointers(t, bm, bn):
        q, k, v, out = t["q"], t["k"], t["v"], t["out"]
        strides = [s for x in (q, k, v, out) for s in x.stride()[:3]]
        return lambda: attention.attention_kernel[(cdiv(length, bm), batch * heads)](
            q, k, v, out, t["lse"], *strides, heads, length, length, scale * LOG2_E,
            D=d, BM=bm, BN=bn, CAUSAL=causal,
        )  # fmt: skip

    def descriptors(t, bm, bn):
        descs = [
            described(t[name], [block, d]) for name, block in (("q", bm), ("k", bn), ("v", bn))
        ]
        return lambda: described_attention_kernel[(cdiv(length, bm), batch * heads)](
            *descs, t["out"], t["lse"], length, scale * LOG2_E,
            D=d, BM=bm, BN=bn, CAUSAL=causal,
        )  # fmt: skip

    def tuned(launch):
        return Tuned(
            {
                f"{bm}x{bn}": prepared(lambda t, bm=bm, bn=bn: launch(t, bm, bn))
                for bm, bn in TRIED
                if max(bm, bn) <= max(length, 64)
            }
        )

    def expression(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, scale=scale
        )

    work = batch * heads * length * length * d * (0.5 if causal else 1.0)
    return Bench(
        name=f"attention{' causal' * causal} {SHORT_NAME[dtype]}",
        size=f"{batch}x{heads}x{length}x{d}",
        inputs=inputs,
        ours={"pointers": tuned(pointers), "descriptors": tuned(descriptors)},
        outputs=("out",),
        takes=("q", "k", "v"),
        torch=expression,
        jax=with_jax_attention(causal, scale),
        reference=reference(causal, scale),
        tolerance=tolerance_of(dtype, length),
        bytes=4.0 * batch * heads * length * d * dtype.itemsize,
        flops=4.0 * work,
        rate="bf16" if dtype == BF16 else "f32",
        copies_out=False,
    )


# Shares of the keys, and keys at once.
TRIED_DECODING = ((1, 64), (1, 128), (4, 64), (4, 128))


def decode(heads: int, length: int, d: int, dtype: torch.dtype = F32) -> Bench:
    scale = 1 / math.sqrt(d)
    most = max(splits for splits, _ in TRIED_DECODING)

    def inputs():
        g = seeded(14)
        return {
            "q": random(g, [1, heads, 1, d], dtype),
            "k": random(g, [1, heads, length, d], dtype),
            "v": random(g, [1, heads, length, d], dtype),
            "out": output([1, heads, 1, d], dtype),
            "parts": output([heads, most, d + 2], F32),
        }

    def pointers(t, splits, bn):
        decode_kernel[(heads, splits)](
            t["q"], t["k"], t["v"], t["parts"], length, scale * LOG2_E,
            cdiv(length, splits), SPLITS=splits, D=d, BN=bn,
        )  # fmt: skip
        decode_merge_kernel[(heads,)](t["parts"], t["out"], SPLITS=splits, D=d)

    return Bench(
        name=f"attention decoding {SHORT_NAME[dtype]}",
        size=f"{heads}x{length}x{d}",
        inputs=inputs,
        ours={
            "pointers": Tuned(
                {
                    f"{splits} of {bn}": (lambda t, s=splits, bn=bn: pointers(t, s, bn))
                    for splits, bn in TRIED_DECODING
                }
            )
        },
        outputs=("out",),
        takes=("q", "k", "v"),
        torch=lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(
            q, k, v, scale=scale
        ),
        jax=with_jax_attention(False, scale),
        reference=reference(False, scale),
        tolerance=tolerance_of(dtype, length),
        bytes=2.0 * heads * length * d * dtype.itemsize,
        flops=4.0 * heads * length * d,
        copies_out=False,
    )


def benches(sizes: str) -> list[Bench]:
    if sizes == "tiny":
        return [forward(2, 40, 16), forward(2, 40, 16, BF16, True), decode(2, 70, 16)]
    shapes = pick(sizes, [], [(8, 1024, 64)], [(8, 128, 64), (8, 1024, 64), (4, 4096, 128)])
    found = [forward(*s, dt, c) for s in shapes for dt in (F32, BF16) for c in (False, True)]
    caches = pick(sizes, [], [(32, 4096, 128)], [(32, 512, 128), (32, 4096, 128)])
    return found + [decode(*s, dt) for s in caches for dt in (F32, BF16)]
