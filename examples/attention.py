# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Flash attention, forward: softmax(Q K^T * scale) V without the matrix of scores ever in memory.

A program owns BM queries of one head and walks over the keys, BN at a time. Causal: blocks that
lie wholly below the diagonal need no mask, so the walk is two loops over one body. Sequence
lengths need not be multiples of a block.

`host_desc` is the same walk with tensor descriptors over (batch * heads * sequence, head size):
rows past a head's end belong to the next head and are masked.
"""

import math

import torch
import triton
import triton.language as tl
from harness import SHORT_NAME, Case, main, output, random, seeded, tolerance_of
from triton.tools.tensor_descriptor import TensorDescriptor

LOG2_E = 1.4426950408889634


@triton.jit
def visit_keys(
    acc, total, top, q, k_at, v_at, k_row, v_row, rows, first, last, length, scale,
    BN: tl.constexpr, CAUSAL: tl.constexpr, BOUND: tl.constexpr,
):  # fmt: skip
    """Adds the keys [first, last) to the running softmax, with the masks CAUSAL and BOUND."""
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        if BOUND:
            k = tl.load(k_at + start * k_row, mask=keys[None, :] < length, other=0.0)
            v = tl.load(v_at + start * v_row, mask=keys[:, None] < length, other=0.0)
        else:
            k = tl.load(k_at + start * k_row)
            v = tl.load(v_at + start * v_row)
        score = tl.dot(q, k) * scale
        if BOUND:
            score = tl.where(keys[None, :] < length, score, -float("inf"))
        if CAUSAL:
            score = tl.where(rows[:, None] >= keys[None, :], score, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        weight = tl.exp2(score - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(weight, axis=1)
        acc = acc * shrink[:, None]
        acc = tl.dot(weight.to(v.dtype), v, acc)
        top = new_top
    return acc, total, top


@triton.jit
def attention_kernel(
    q, k, v, out, lse,
    q_batch, q_head, q_row, k_batch, k_head, k_row, v_batch, v_head, v_row, o_batch, o_head, o_row,
    heads, length, keys_length, scale,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    batch = (tl.program_id(1) // heads).to(tl.int64)
    head = (tl.program_id(1) % heads).to(tl.int64)
    rows = tile * BM + tl.arange(0, BM)
    features = tl.arange(0, D)
    cols = tl.arange(0, BN)
    q_at = q + batch * q_batch + head * q_head + rows[:, None] * q_row + features[None, :]
    k_at = k + batch * k_batch + head * k_head + cols[None, :] * k_row + features[:, None]
    v_at = v + batch * v_batch + head * v_head + cols[:, None] * v_row + features[None, :]
    q_tile = tl.load(q_at, mask=rows[:, None] < length, other=0.0)
    acc = tl.zeros([BM, D], tl.float32)
    total = tl.zeros([BM], tl.float32)
    top = tl.full([BM], -float("inf"), tl.float32)
    whole = keys_length // BN * BN
    if CAUSAL:
        # Keys before this program's rows are all seen; the rest, up to the last row, are not.
        split = min(tile * BM // BN * BN, whole)
        end = min((tile + 1) * BM, keys_length)
    else:
        split = whole
        end = keys_length
    acc, total, top = visit_keys(
        acc, total, top, q_tile, k_at, v_at, k_row, v_row, rows, 0, split, keys_length, scale,
        BN, False, False,
    )  # fmt: skip
    acc, total, top = visit_keys(
        acc, total, top, q_tile, k_at, v_at, k_row, v_row, rows, split, end, keys_length, scale,
        BN, CAUSAL, True,
    )  # fmt: skip
    acc = acc / total[:, None]
    o_at = out + batch * o_batch + head * o_head + rows[:, None] * o_row + features[None, :]
    tl.store(o_at, acc.to(out.dtype.element_ty), mask=rows[:, None] < length)
    lse_at = lse + tl.program_id(1) * length + rows
    tl.store(lse_at, (top + tl.log2(total)) * 0.6931471805599453, mask=rows < length)


@triton.jit
def attention_desc_kernel(
    q_desc, k_desc, v_desc, out, lse, length, scale,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    head_start = tl.program_id(1) * length
    rows = tile * BM + tl.arange(0, BM)
    q_tile = q_desc.load([head_start + tile * BM, 0])
    acc = tl.zeros([BM, D], tl.float32)
    total = tl.zeros([BM], tl.float32)
    top = tl.full([BM], -float("inf"), tl.float32)
    end = min((tile + 1) * BM, length) if CAUSAL else length
    for start in range(0, end, BN):
        keys = start + tl.arange(0, BN)
        score = tl.dot(q_tile, k_desc.load([head_start + start, 0]).T) * scale
        seen = keys[None, :] < length
        if CAUSAL:
            seen = seen & (rows[:, None] >= keys[None, :])
        score = tl.where(seen, score, -float("inf"))
        new_top = tl.maximum(top, tl.max(score, axis=1))
        weight = tl.exp2(score - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(weight, axis=1)
        v_tile = v_desc.load([head_start + start, 0])
        acc = tl.dot(weight.to(v_tile.dtype), v_tile, acc * shrink[:, None])
        top = new_top
    o_at = out + (head_start + rows[:, None]) * D + tl.arange(0, D)[None, :]
    tl.store(o_at, (acc / total[:, None]).to(out.dtype.element_ty), mask=rows[:, None] < length)
    tl.store(
        lse + head_start + rows, (top + tl.log2(total)) * 0.6931471805599453, mask=rows < length
    )


def case(
    batch: int,
    heads: int,
    length: int,
    d: int,
    dtype: torch.dtype = torch.float32,
    causal: bool = False,
    block: tuple[int, int] = (64, 64),
    keys: int | None = None,
    how: str = "pointers",
) -> Case:
    keys_length = length if keys is None else keys
    name = ("attention", "causal" * causal, SHORT_NAME[dtype], "desc" * (how == "host_desc"))
    scale = 1 / math.sqrt(d)

    def inputs(seed):
        g = seeded(seed)
        # Stored as (batch, sequence, head, feature), as projections leave them.
        shapes = {"q": length, "k": keys_length, "v": keys_length}
        t = {
            name: random(g, [batch, size, heads, d], dtype).transpose(1, 2)
            for name, size in shapes.items()
        }
        if how == "host_desc":
            t = {name: value.contiguous() for name, value in t.items()}
        t["out"] = output([batch, heads, length, d], dtype)
        t["lse"] = output([batch, heads, length], torch.float32)
        return t

    def run(t):
        q, k, v, out = t["q"], t["k"], t["v"], t["out"]
        bm, bn = block
        grid = (triton.cdiv(length, bm), batch * heads)
        if not length or not batch * heads:
            return (out, t["lse"])
        sizes = {"D": d, "BM": bm, "BN": bn, "CAUSAL": causal}
        if how == "host_desc":
            descs = [
                TensorDescriptor.from_tensor(x.view(-1, d), [b, d])
                for x, b in ((q, bm), (k, bn), (v, bn))
            ]
            attention_desc_kernel[grid](*descs, out, t["lse"], length, scale * LOG2_E, **sizes)
        else:
            strides = [s for x in (q, k, v, out) for s in x.stride()[:3]]
            attention_kernel[grid](
                q,
                k,
                v,
                out,
                t["lse"],
                *strides,
                heads,
                length,
                keys_length,
                scale * LOG2_E,
                **sizes,
            )
        return (out, t["lse"])

    def reference(t):
        score = t["q"].double() @ t["k"].double().transpose(-1, -2) * scale
        if causal:
            score = score.masked_fill(torch.ones_like(score, dtype=torch.bool).triu(1), -math.inf)
        return (torch.softmax(score, -1) @ t["v"].double(), torch.logsumexp(score, -1))

    return Case(
        name=" ".join(filter(None, name)),
        size=f"{batch}x{heads}x{length}x{d}" + ("" if keys is None else f" keys {keys}"),
        inputs=inputs,
        run=run,
        reference=reference,
        torch_run=lambda t: torch.nn.functional.scaled_dot_product_attention(
            t["q"], t["k"], t["v"], is_causal=causal, scale=scale
        ),
        tolerance=tolerance_of(dtype, keys_length),
        kind="compute",
        work=batch * heads * length * keys_length * d,
        probe=case(1, 2, 128, d, dtype, causal, block, how=how) if length > 128 else None,
    )


CASES = [
    case(1, 8, 1000, 64),
    case(1, 8, 1000, 64, causal=True),
    case(1, 8, 1024, 64, torch.float16),
    case(1, 8, 1000, 64, torch.bfloat16, causal=True, how="host_desc"),
]
EXTREMES = [
    (
        "attention causal f32",
        case(1, 1, 200, 16, causal=True, block=(16, 16)),
        case(1, 1, 200, 128, causal=True, block=(128, 128)),
    ),
    (
        "attention bf16 desc",
        case(1, 1, 200, 16, torch.bfloat16, block=(16, 16), how="host_desc"),
        case(1, 1, 200, 128, torch.bfloat16, block=(128, 128), how="host_desc"),
    ),
]

if __name__ == "__main__":
    main(CASES)
