# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A column or a row for each program, of matrices that lie the other way: softmax and sums along the first dimension, copies
of transposed matrices. GPUs read such elements of neighbouring programs together."""

import torch
import triton
import triton.language as tl
from bench import SHORT_NAME, Bench, cdiv, next_power_of_2, output, random, seeded, tolerance_of

from kernels import pick
from kernels.movement import transposed

GROUP = "columns"


@triton.jit
def softmax_kernel(x, out, rows, columns, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    at = row * columns + tl.program_id(0)
    value = tl.load(x + at, mask=row < rows, other=-float("inf")).to(tl.float32)
    weight = tl.exp(value - tl.max(value, axis=0))
    weight = weight / tl.sum(weight, axis=0)
    tl.store(out + at, weight.to(out.dtype.element_ty), mask=row < rows)


@triton.jit
def cumsum_kernel(x, out, rows, columns, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    at = row * columns + tl.program_id(0)
    value = tl.load(x + at, mask=row < rows, other=0.0)
    tl.store(out + at, tl.cumsum(value, axis=0), mask=row < rows)


@triton.jit
def copy_kernel(x, out, columns, x0, x1, out0, out1, BLOCK: tl.constexpr):
    """One row of blocks after another, as a generator of elementwise kernels numbers them."""
    tiles = tl.cdiv(columns, BLOCK)
    row = tl.program_id(0) // tiles
    col = tl.program_id(0) % tiles * BLOCK + tl.arange(0, BLOCK)
    inside = col < columns
    tl.store(
        out + row * out0 + col * out1, tl.load(x + row * x0 + col * x1, mask=inside), mask=inside
    )


def matrix(rows, columns, dtype):
    return lambda: {
        "x": random(seeded(11), [rows, columns], dtype),
        "out": output([rows, columns], dtype),
    }


def along_columns(
    name: str, kernel, rows: int, columns: int, dtype, torch_function, jax_function, **more
) -> Bench:
    block = next_power_of_2(rows)
    return Bench(
        name=f"{name} of columns {SHORT_NAME[dtype]}",
        size=f"{rows}x{columns}",
        inputs=matrix(rows, columns, dtype),
        ours={
            "pointers": lambda t: kernel[(columns,)](t["x"], t["out"], rows, columns, BLOCK=block)
        },
        outputs=("out",),
        takes=("x",),
        torch=lambda x: torch_function(x, 0),
        eager=lambda t: torch_function(t["x"], 0, out=t["out"]),
        jax=jax_function,
        bytes=2.0 * rows * columns * dtype.itemsize,
        **more,
    )


def softmax(rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Bench:
    return along_columns(
        "softmax", softmax_kernel, rows, columns, dtype, torch.softmax,
        lambda jnp, jax: lambda x: jax.nn.softmax(x, axis=0),
        tolerance=tolerance_of(dtype), flops=4.0 * rows * columns,
    )  # fmt: skip


def cumsum(rows: int, columns: int) -> Bench:
    return along_columns(
        "cumsum", cumsum_kernel, rows, columns, torch.float32, torch.cumsum,
        lambda jnp, jax: lambda x: jnp.cumsum(x, axis=0),
        tolerance=(1e-4, 1e-3), flops=1.0 * rows * columns,
    )  # fmt: skip


def copy(rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Bench:
    grid = (columns * cdiv(rows, 256),)

    def launch(t):
        copy_kernel[grid](t["x"], t["out"], rows, 1, columns, rows, 1, BLOCK=256)

    name, size = f"copy by rows {SHORT_NAME[dtype]}", f"{columns}x{rows} transposed"
    return transposed(name, size, rows, columns, dtype, {"pointers": launch})


def benches(sizes: str) -> list[Bench]:
    shapes = pick(sizes, [(5, 7)], [(512, 1024)], [(64, 256), (512, 1024), (2048, 4096)])
    found = [make(*shape) for make in (softmax, cumsum, copy) for shape in shapes]
    if sizes == "full":
        found += [softmax(*shapes[-1], torch.bfloat16), copy(*shapes[-1], torch.bfloat16)]
    return found
