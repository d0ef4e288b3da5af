# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of layer norm and RMS norm.

Each program takes a share of the rows and keeps its part of the weight's gradient in a block, so
that no two programs add to the same memory; a second kernel sums the parts.
"""

import layer_norm
import torch
import triton
import triton.language as tl
from bench import Bench, cdiv, next_power_of_2, output, random, seeded

from kernels import pick

GROUP = "backward"
EPSILON = 1e-5
PROGRAMS = 64


@triton.jit
def norm_backward_kernel(
    x, dy, weight, mean, rstd, dx, partial_dw, partial_db, rows, columns, share,
    CENTERED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    w = tl.load(weight + at, mask=inside, other=0.0)
    dw = tl.zeros([BLOCK], tl.float32)
    db = tl.zeros([BLOCK], tl.float32)
    for row in range(program * share, min((program + 1) * share, rows)):
        value = tl.load(x + row * columns + at, mask=inside, other=0.0)
        slope = tl.load(dy + row * columns + at, mask=inside, other=0.0)
        scale = tl.load(rstd + row)
        if CENTERED:
            value = tl.where(inside, value - tl.load(mean + row), 0.0)
        normal = value * scale
        weighted = w * slope
        along = tl.sum(normal * weighted, axis=0) / columns
        result = weighted - normal * along
        if CENTERED:
            result -= tl.sum(weighted, axis=0) / columns
            db += slope
        dw += slope * normal
        tl.store(dx + row * columns + at, result * scale, mask=inside)
    tl.store(partial_dw + program * columns + at, dw, mask=inside)
    if CENTERED:
        tl.store(partial_db + program * columns + at, db, mask=inside)


def norm_backward(rows: int, columns: int, centered: bool) -> Bench:
    share = cdiv(rows, PROGRAMS)

    def inputs():
        g = seeded(4)
        x = random(g, [rows, columns], torch.float32)
        wide = x.double()
        center = wide.mean(dim=1, keepdim=True) if centered else 0.0
        variance = (wide - center).square().mean(dim=1)
        return {
            "x": x,
            "dy": random(g, [rows, columns], torch.float32),
            "weight": random(g, [columns], torch.float32),
            "bias": random(g, [columns], torch.float32),
            "mean": wide.mean(dim=1).float(),
            "rstd": (variance + EPSILON).rsqrt().float(),
            "dx": output([rows, columns], torch.float32),
            "dw": output([columns], torch.float32),
            "db": output([columns], torch.float32),
            "partial": torch.zeros([2, PROGRAMS, columns]),
        }

    def pointers(t):
        part_w, part_b = t["partial"]
        norm_backward_kernel[(PROGRAMS,)](
            t["x"], t["dy"], t["weight"], t["mean"], t["rstd"], t["dx"], part_w, part_b,
            rows, columns, share, CENTERED=centered, BLOCK=next_power_of_2(columns),
        )  # fmt: skip
        layer_norm.sum_partials_kernel[(cdiv(columns, 128),)](
            part_w, part_b, t["dw"], t["db"], PROGRAMS, columns, BM=32, BN=128
        )

    def expression(x, dy, weight, mean, rstd):
        normal = (x - mean[:, None]) * rstd[:, None] if centered else x * rstd[:, None]
        weighted = dy * weight
        along = (normal * weighted).mean(dim=1, keepdim=True)
        result = weighted - normal * along
        if centered:
            result = result - weighted.mean(dim=1, keepdim=True)
        gradients = result * rstd[:, None], (dy * normal).sum(dim=0)
        return (*gradients, dy.sum(dim=0)) if centered else gradients

    def eager(t):
        return torch.ops.aten.native_layer_norm_backward(
            t["dy"], t["x"], [columns], t["mean"][:, None], t["rstd"][:, None],
            t["weight"], t["bias"], [True] * 3,
        )  # fmt: skip

    def with_jax(jnp, jax):
        def gradients(x, dy, weight, mean, rstd):
            normal = (x - mean[:, None]) * rstd[:, None] if centered else x * rstd[:, None]
            weighted = dy * weight
            result = weighted - normal * (normal * weighted).mean(axis=1, keepdims=True)
            if centered:
                result = result - weighted.mean(axis=1, keepdims=True)
            both = result * rstd[:, None], (dy * normal).sum(axis=0)
            return (*both, dy.sum(axis=0)) if centered else both

        return gradients

    return Bench(
        name=f"{'layer' if centered else 'rms'} norm backward f32",
        size=f"{rows}x{columns}",
        inputs=inputs,
        ours={"pointers": pointers},
        outputs=("dx", "dw", "db") if centered else ("dx", "dw"),
        takes=("x", "dy", "weight", "mean", "rstd"),
        torch=expression,
        eager=eager if centered else None,
        jax=with_jax,
        tolerance=(1e-4, 1e-4 * rows**0.5),
        bytes=12.0 * rows * columns,
        flops=14.0 * rows * columns,
    )


def benches(sizes: str) -> list[Bench]:
    shapes = pick(
        sizes,
        [(5, 24)],
        [(256, 256), (16384, 1024)],
        [(256, 256), (4096, 781), (4096, 4096), (16384, 1024)],
    )
    return [norm_backward(*s, centered) for centered in (True, False) for s in shapes]
