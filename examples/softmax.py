# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax over rows, fused: a row is read once and written once.

`row_softmax_kernel` holds a whole row in one block and walks over several rows.
`long_softmax_kernel` takes rows of any length in two passes over blocks of columns, keeping a
running maximum and a sum that is rescaled when the maximum grows.
"""

import torch
import triton
import triton.language as tl
from harness import SHORT_NAME, Case, main, output, random, seeded, tolerance_of


@triton.jit
def row_softmax_kernel(x, out, rows, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * x_stride + at, mask=inside, other=-float("inf")).to(tl.float32)
        weight = tl.exp(value - tl.max(value, axis=0))
        weight = weight / tl.sum(weight, axis=0)
        tl.store(out + row * out_stride + at, weight.to(out.dtype.element_ty), mask=inside)


@triton.jit
def long_softmax_kernel(x, out, columns, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * x_stride
    out += row * out_stride
    at = tl.arange(0, BLOCK)
    top = tl.full((), -float("inf"), tl.float32)
    total = tl.zeros((), tl.float32)
    for start in range(0, columns, BLOCK):
        value = tl.load(x + start + at, mask=start + at < columns, other=-float("inf")).to(
            tl.float32
        )
        new_top = tl.maximum(top, tl.max(value, axis=0))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(value - new_top), axis=0)
        top = new_top
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        value = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(
            out + start + at, (tl.exp(value - top) / total).to(out.dtype.element_ty), mask=inside
        )


def case(
    rows: int,
    columns: int,
    dtype: torch.dtype = torch.float32,
    block: int | None = None,
    padding: int = 0,
) -> Case:
    """With `block`, rows are taken in blocks of that many columns. Rows lie `padding` apart."""

    def inputs(seed):
        x = random(seeded(seed), [rows, columns + padding], dtype)[:, :columns]
        return {"x": x, "out": output([rows, columns], dtype)}

    def run(t):
        x, out = t["x"], t["out"]
        if not rows or not columns:
            return (out,)
        if block is None:
            whole = triton.next_power_of_2(columns)
            row_softmax_kernel[(min(rows, 4096),)](
                x, out, rows, columns, x.stride(0), out.stride(0), BLOCK=whole, num_stages=2
            )
        else:
            long_softmax_kernel[(rows,)](x, out, columns, x.stride(0), out.stride(0), BLOCK=block)
        return (out,)

    few = 256 if block is None else 32
    return Case(
        name=f"softmax {'' if block is None else 'long '}{SHORT_NAME[dtype]}",
        size=f"{rows}x{columns}",
        inputs=inputs,
        run=run,
        reference=lambda t: (torch.softmax(t["x"].double(), dim=1),),
        torch_run=lambda t: torch.softmax(t["x"], dim=1, out=t["out"]),
        tolerance=tolerance_of(dtype),
        work=rows * columns,
        probe=case(few, columns, dtype, block, padding) if rows > few else None,
    )


CASES = [
    case(8192, 1000),
    case(4096, 781, torch.bfloat16, padding=3),
    case(128, 50257, block=4096),
]
EXTREMES = [
    ("softmax f32", case(8, 16), case(8, 4096)),
    ("softmax long f32", case(4, 5000, block=16), case(4, 5000, block=4096)),
]

if __name__ == "__main__":
    main(CASES)
