# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums and maxima over each axis of an array of three dimensions."""

import torch
import triton
import triton.language as tl
from bench import SHORT_NAME, Bench, cdiv, next_power_of_2, output, random, seeded

from kernels import pick

GROUP = "reductions"


@triton.jit
def reduce_kernel(
    x, out, outer, length, inner, MAX: tl.constexpr, BL: tl.constexpr, BI: tl.constexpr
):
    """x is (outer, length, inner); `length` is reduced."""
    at = tl.program_id(1) * BI + tl.arange(0, BI)
    x += tl.program_id(0).to(tl.int64) * length * inner
    total = tl.full([BL, BI], -float("inf") if MAX else 0.0, tl.float32)
    for start in range(0, length, BL):
        step = start + tl.arange(0, BL)
        inside = (step[:, None] < length) & (at[None, :] < inner)
        other = -float("inf") if MAX else 0.0
        value = tl.load(x + step[:, None] * inner + at[None, :], mask=inside, other=other)
        total = tl.maximum(total, value.to(tl.float32)) if MAX else total + value.to(tl.float32)
    result = tl.max(total, axis=0) if MAX else tl.sum(total, axis=0)
    tl.store(out + tl.program_id(0) * inner + at, result.to(out.dtype.element_ty), mask=at < inner)


@triton.jit
def reduce_rows_kernel(x, out, rows, length, MAX: tl.constexpr, BM: tl.constexpr, BL: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    other = -float("inf") if MAX else 0.0
    total = tl.full([BM, BL], other, tl.float32)
    for start in range(0, length, BL):
        step = start + tl.arange(0, BL)
        inside = (row[:, None] < rows) & (step[None, :] < length)
        at = row[:, None].to(tl.int64) * length + step[None, :]
        value = tl.load(x + at, mask=inside, other=other).to(tl.float32)
        total = tl.maximum(total, value) if MAX else total + value
    result = tl.max(total, axis=1) if MAX else tl.sum(total, axis=1)
    tl.store(out + row, result.to(out.dtype.element_ty), mask=row < rows)


def reduction(
    shape: tuple[int, int, int], axis: int, is_max: bool = False, dtype: torch.dtype = torch.float32
) -> Bench:
    outer = inner = 1
    for size in shape[:axis]:
        outer *= size
    for size in shape[axis + 1 :]:
        inner *= size
    length = shape[axis]
    block = (4, min(256, next_power_of_2(inner)))
    rows = (8, min(512, next_power_of_2(length)))
    kept = [size for i, size in enumerate(shape) if i != axis]
    grid = (outer, cdiv(inner, block[1]))
    elements = outer * length * inner

    def launch(t):
        if inner == 1:
            reduce_rows_kernel[(cdiv(outer, rows[0]),)](
                t["x"], t["out"], outer, length, MAX=is_max, BM=rows[0], BL=rows[1]
            )
        else:
            reduce_kernel[grid](
                t["x"], t["out"], outer, length, inner, MAX=is_max, BL=block[0], BI=block[1]
            )

    def expression(x):
        return x.amax(dim=axis) if is_max else x.sum(dim=axis)

    return Bench(
        name=f"{'max' if is_max else 'sum'} axis {axis} {SHORT_NAME[dtype]}",
        size="x".join(map(str, shape)),
        inputs=lambda: {"x": random(seeded(7), shape, dtype), "out": output(kept, dtype)},
        ours={"pointers": launch},
        outputs=("out",),
        takes=("x",),
        torch=expression,
        eager=lambda t: (
            torch.amax(t["x"], dim=axis, out=t["out"])
            if is_max
            else torch.sum(t["x"], dim=axis, out=t["out"])
        ),
        jax=lambda jnp, jax: lambda x: x.max(axis=axis) if is_max else x.sum(axis=axis),
        numpy=lambda np, t: (np.max if is_max else np.sum)(t["x"], axis=axis, out=t["out"]),
        tolerance=(1e-4, 1e-3) if dtype == torch.float32 else (2e-2, 2e-1),
        bytes=(elements + outer * inner) * float(dtype.itemsize),
        flops=float(elements),
    )


def benches(sizes: str) -> list[Bench]:
    shapes = pick(
        sizes, [(3, 4, 5)], [(256, 256, 256)], [(16, 16, 16), (64, 64, 64), (256, 256, 256)]
    )
    found = [reduction(s, axis) for s in shapes for axis in (0, 1, 2)]
    if sizes != "tiny":
        found += [reduction(shapes[-1], 2, True), reduction(shapes[-1], 0, True)]
        found += [reduction((1, 4096, 4096), 2), reduction((1, 4096, 4096), 1)]
    return found
