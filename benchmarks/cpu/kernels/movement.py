# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data that only moves: embedding gather, transpose."""

import embedding
import torch
import triton
import triton.language as tl
from bench import SHORT_NAME, Bench, cdiv, next_power_of_2, output, random, seeded

from kernels import pick

GROUP = "movement"


@triton.jit
def transpose_kernel(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (row[:, None] < rows) & (col[None, :] < columns)
    value = tl.load(x + row[:, None] * columns + col[None, :], mask=inside)
    at = out + col[:, None] * rows + row[None, :]
    tl.store(at, value.T, mask=(col[:, None] < columns) & (row[None, :] < rows))


@triton.jit
def transpose_desc_kernel(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    x_desc = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BM, BN])
    out_desc = tl.make_tensor_descriptor(out, [columns, rows], [rows, 1], [BN, BM])
    out_desc.store([col, row], x_desc.load([row, col]).T)


def transposed(
    name: str, size: str, rows: int, columns: int, dtype: torch.dtype, ours: dict
) -> Bench:
    """`out`, columns x rows, is `x` transposed."""
    return Bench(
        name=name,
        size=size,
        inputs=lambda: {
            "x": random(seeded(5), [rows, columns], dtype),
            "out": output([columns, rows], dtype),
        },
        ours=ours,
        outputs=("out",),
        takes=("x",),
        torch=lambda x: x.t().contiguous(),
        eager=lambda t: t["out"].copy_(t["x"].t()),
        jax=lambda jnp, jax: lambda x: x.T + 0,
        numpy=lambda np, t: np.copyto(t["out"], t["x"].T),
        tolerance=(0.0, 0.0),
        bytes=2.0 * rows * columns * dtype.itemsize,
    )


def transpose(rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Bench:
    def launch(kernel):
        grid = (cdiv(rows, 64), cdiv(columns, 64))
        return lambda t: kernel[grid](t["x"], t["out"], rows, columns, BM=64, BN=64)

    ours = {"pointers": launch(transpose_kernel)}
    if rows * dtype.itemsize % 16 == 0 and columns * dtype.itemsize % 16 == 0:
        ours["descriptors"] = launch(transpose_desc_kernel)
    return transposed(
        f"transpose {SHORT_NAME[dtype]}", f"{rows}x{columns}", rows, columns, dtype, ours
    )


def gather(count: int, entries: int, width: int, dtype: torch.dtype = torch.float32) -> Bench:
    def inputs():
        g = seeded(6)
        return {
            "table": random(g, [entries, width], dtype),
            "ids": torch.randint(0, entries, [count], generator=g),
            "out": output([count, width], dtype),
        }

    bn = min(next_power_of_2(width), 1024)
    grid = (cdiv(count, 16), cdiv(width, bn))
    return Bench(
        name=f"embedding {SHORT_NAME[dtype]}",
        size=f"{count} of {entries}x{width}",
        inputs=inputs,
        ours={
            "pointers": lambda t: embedding.embedding_kernel[grid](
                t["table"], t["ids"], t["out"], count, entries, width, width, BM=16, BN=bn
            )
        },
        outputs=("out",),
        takes=("table", "ids"),
        torch=lambda table, ids: table[ids],
        eager=lambda t: torch.index_select(t["table"], 0, t["ids"], out=t["out"]),
        jax=lambda jnp, jax: lambda table, ids: jnp.take(table, ids, axis=0),
        numpy=lambda np, t: np.take(t["table"], t["ids"], axis=0, out=t["out"], mode="clip"),
        tolerance=(0.0, 0.0),
        bytes=2.0 * count * width * dtype.itemsize + 8.0 * count,
    )


def benches(sizes: str) -> list[Bench]:
    shapes = pick(
        sizes,
        [(20, 12)],
        [(64, 64), (4096, 4096)],
        [(64, 64), (512, 512), (1000, 1003), (4096, 4096), (8192, 4096)],
    )
    found = [transpose(*s) for s in shapes]
    if sizes != "tiny":
        found.append(transpose(4096, 4096, torch.bfloat16))
    gathers = pick(
        sizes,
        [(7, 11, 24)],
        [(16384, 32000, 512)],
        [(128, 5000, 64), (8192, 50000, 64), (16384, 32000, 512), (16384, 32000, 4096)],
    )
    return found + [gather(*s) for s in gathers]
