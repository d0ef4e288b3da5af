# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixture of experts: routing (softmax and the best K experts), and the products of the routed
tokens with their experts' weights, as serving engines do it: tokens sorted by expert, each
expert's padded to whole blocks, one launch for all."""

import torch
import triton
import triton.language as tl
from bench import SHORT_NAME, Bench, cdiv, output, random, seeded, tolerance_of

from kernels import pick

GROUP = "mixture of experts"
F32, BF16 = torch.float32, torch.bfloat16
BM = 32


@triton.jit
def routing_kernel(
    logits, weights, ids, tokens, E: tl.constexpr, K: tl.constexpr, BT: tl.constexpr
):
    token = tl.program_id(0) * BT + tl.arange(0, BT)
    expert = tl.arange(0, E)
    inside = token < tokens
    value = tl.load(
        logits + token[:, None] * E + expert[None, :], mask=inside[:, None], other=0.0
    ).to(tl.float32)
    weight = tl.exp(value - tl.max(value, axis=1)[:, None])
    weight = weight / tl.sum(weight, axis=1)[:, None]
    for rank in tl.static_range(K):
        best = tl.max(weight, axis=1)
        which = tl.argmax(weight, axis=1)
        tl.store(weights + token * K + rank, best, mask=inside)
        tl.store(ids + token * K + rank, which, mask=inside)
        weight = tl.where(expert[None, :] == which[:, None], -1.0, weight)


@triton.jit
def expert_matmul_kernel(
    x, w, out, sorted_ids, block_experts, routed, n, k,
    TOP_K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """out[i] = x[i / TOP_K] @ w[expert of i]; padding of sorted_ids is `routed` or more."""
    across = n // BN
    block = tl.program_id(0) // across
    cols = tl.program_id(0) % across * BN + tl.arange(0, BN)
    slot = tl.load(sorted_ids + block * BM + tl.arange(0, BM))
    inside = slot < routed
    expert = tl.load(block_experts + block).to(tl.int64)
    inner = tl.arange(0, BK)
    a_at = x + (slot[:, None] // TOP_K) * k + inner[None, :]
    b_at = w + expert * k * n + inner[:, None] * n + cols[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, k // BK):
        a = tl.load(a_at, mask=inside[:, None], other=0.0)
        acc = tl.dot(a, tl.load(b_at), acc)
        a_at += BK
        b_at += BK * n
    out_at = out + slot[:, None] * n + cols[None, :]
    tl.store(out_at, acc.to(out.dtype.element_ty), mask=inside[:, None])


def routing(tokens: int, experts: int, k: int) -> Bench:
    def expression(logits):
        weights, ids = torch.topk(torch.softmax(logits, dim=1), k, dim=1)
        return weights, ids.to(torch.int32)

    def with_jax(jnp, jax):
        return lambda logits: jax.lax.top_k(jax.nn.softmax(logits, axis=1), k)

    return Bench(
        name="moe routing f32",
        size=f"{tokens}x{experts} best {k}",
        inputs=lambda: {
            # Far enough from one another that every way of rounding gives the same order.
            "logits": torch.rand([tokens, experts], generator=seeded(15)).argsort(dim=1) * 0.1,
            "weights": output([tokens, k], F32),
            "ids": output([tokens, k], torch.int32),
        },
        ours={
            "pointers": lambda t: routing_kernel[(cdiv(tokens, 16),)](
                t["logits"], t["weights"], t["ids"], tokens, E=experts, K=k, BT=16
            )
        },
        outputs=("weights", "ids"),
        takes=("logits",),
        torch=expression,
        jax=with_jax,
        bytes=4.0 * tokens * experts + 8.0 * tokens * k,
        flops=4.0 * tokens * experts,
    )


def sort_by_expert(ids: torch.Tensor, experts: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The routed slots by expert, each expert's padded to whole blocks, and the blocks' experts."""
    routed = ids.numel()
    slots, owners = [], []
    for expert in range(experts):
        mine = (ids.flatten() == expert).nonzero()[:, 0].to(torch.int32)
        blocks = -(-len(mine) // BM)
        slots.append(torch.full([blocks * BM], routed, dtype=torch.int32))
        slots[-1][: len(mine)] = mine
        owners += [expert] * blocks
    return torch.cat(slots), torch.tensor(owners, dtype=torch.int32)


def expert_products(
    tokens: int, experts: int, n: int, k: int, top_k: int, dtype: torch.dtype = F32
) -> Bench:
    def inputs():
        g = seeded(16)
        ids = torch.rand([tokens, experts], generator=g).topk(top_k, dim=1).indices
        slots, owners = sort_by_expert(ids, experts)
        return {
            "x": random(g, [tokens, k], dtype),
            "w": random(g, [experts, k, n], dtype),
            "ids": ids,
            "slots": slots,
            "owners": owners,
            "out": output([tokens * top_k, n], dtype),
            "torch_out": output([tokens * top_k, n], dtype),
        }

    def pointers(t):
        grid = (len(t["owners"]) * (n // 64),)
        expert_matmul_kernel[grid](
            t["x"], t["w"], t["out"], t["slots"], t["owners"], tokens * top_k, n, k,
            TOP_K=top_k, BM=BM, BN=64, BK=32,
        )  # fmt: skip

    def loop(x, w, ids, out):
        flat = ids.flatten()
        for expert in range(experts):
            mine = (flat == expert).nonzero()[:, 0]
            if len(mine):
                out[mine] = x[mine // top_k] @ w[expert]
        return out

    def with_jax(jnp, jax):
        def products(x, w, slots, owners):
            rows = x[jnp.minimum(slots // top_k, tokens - 1)].reshape(-1, BM, k)
            blocks = jnp.matmul(rows, w[owners])
            return (
                jnp.zeros([tokens * top_k, n], x.dtype)
                .at[slots]
                .set(blocks.reshape(-1, n), mode="drop")
            )

        return products

    return Bench(
        name=f"moe products {SHORT_NAME[dtype]}",
        size=f"{tokens} tokens {experts} experts {n}x{k}",
        inputs=inputs,
        ours={"pointers": pointers},
        outputs=("out",),
        takes=("x", "w", "slots", "owners"),
        eager=lambda t: loop(t["x"], t["w"], t["ids"], t["torch_out"]),
        jax=with_jax,
        reference=lambda t: loop(
            t["x"].double(), t["w"].double(), t["ids"], t["out"].double().clone()
        ),
        tolerance=tolerance_of(dtype, k),
        bytes=float((tokens * k + experts * n * k + tokens * top_k * n) * dtype.itemsize),
        flops=2.0 * tokens * top_k * n * k,
        rate="bf16" if dtype == BF16 else "f32",
        copies_out=False,
    )


def benches(sizes: str) -> list[Bench]:
    if sizes == "tiny":
        return [routing(10, 8, 2), expert_products(10, 4, 64, 64, 2)]
    found = [routing(*s) for s in pick(sizes, [], [(4096, 64, 8)], [(64, 64, 8), (4096, 64, 8)])]
    shapes = pick(
        sizes, [], [(256, 8, 1024, 512, 2)], [(16, 8, 1024, 512, 2), (256, 8, 1024, 512, 2)]
    )
    return found + [expert_products(*s, d) for s in shapes for d in (F32, BF16)]
