# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many matrix products of different sizes in one launch.

The addresses of the matrices come in arrays of int64, as do their sizes. A fixed number of
programs shares all tiles of all products: program p takes tiles p, p + programs, p + 2 * programs
and so on, through a while loop a product.
"""

import torch
import triton
import triton.language as tl
from harness import SHORT_NAME, Case, main, output, random, seeded, tolerance_of


@triton.jit
def grouped_gemm_kernel(
    a_addresses, b_addresses, c_addresses, sizes, strides, groups,
    TYPE: tl.constexpr, PROGRAMS: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    done = 0
    for group in range(groups):
        m = tl.load(sizes + group * 3)
        n = tl.load(sizes + group * 3 + 1)
        k = tl.load(sizes + group * 3 + 2)
        a_row = tl.load(strides + group * 3)
        b_row = tl.load(strides + group * 3 + 1)
        c_row = tl.load(strides + group * 3 + 2)
        across = tl.cdiv(n, BN)
        tiles = tl.cdiv(m, BM) * across
        a = tl.load(a_addresses + group).to(tl.pointer_type(TYPE))
        b = tl.load(b_addresses + group).to(tl.pointer_type(TYPE))
        c = tl.load(c_addresses + group).to(tl.pointer_type(TYPE))
        while (tile >= done) & (tile < done + tiles):
            row = (tile - done) // across * BM
            col = (tile - done) % across * BN
            rows = row + tl.arange(0, BM)
            cols = col + tl.arange(0, BN)
            inner = tl.arange(0, BK)
            acc = tl.zeros((BM, BN), tl.float32)
            for start in range(0, k, BK):
                depth = start + inner
                a_tile = tl.load(
                    a + rows[:, None] * a_row + depth[None, :],
                    mask=(rows[:, None] < m) & (depth[None, :] < k),
                    other=0.0,
                )
                b_tile = tl.load(
                    b + depth[:, None] * b_row + cols[None, :],
                    mask=(depth[:, None] < k) & (cols[None, :] < n),
                    other=0.0,
                )
                acc = tl.dot(a_tile, b_tile, acc)
            inside = (rows[:, None] < m) & (cols[None, :] < n)
            tl.store(c + rows[:, None] * c_row + cols[None, :], acc.to(TYPE), mask=inside)
            tile += PROGRAMS
        done += tiles


def case(
    shapes: list[tuple[int, int, int]],
    dtype: torch.dtype = torch.float32,
    block: tuple[int, int, int] = (64, 64, 32),
    programs: int = 8,
) -> Case:
    """`shapes` are (m, n, k) of each product."""

    def inputs(seed):
        g = seeded(seed)
        a = [random(g, [m, k], dtype) for m, n, k in shapes]
        b = [random(g, [k, n], dtype) for m, n, k in shapes]
        c = [output([m, n], dtype) for m, n, k in shapes]
        rows = [[x.stride(0), y.stride(0), z.stride(0)] for x, y, z in zip(a, b, c, strict=True)]
        addresses = [
            torch.tensor([x.data_ptr() for x in xs], dtype=torch.int64) for xs in (a, b, c)
        ]
        return {
            "a": a,
            "b": b,
            "c": c,
            "addresses": addresses,
            "sizes": torch.tensor(shapes, dtype=torch.int32).reshape(-1, 3),
            "strides": torch.tensor(rows, dtype=torch.int32).reshape(-1, 3),
        }

    def run(t):
        bm, bn, bk = block
        element = {
            torch.float32: tl.float32,
            torch.float16: tl.float16,
            torch.bfloat16: tl.bfloat16,
        }[dtype]
        grouped_gemm_kernel[(programs,)](
            *t["addresses"], t["sizes"], t["strides"], len(shapes),
            TYPE=element, PROGRAMS=programs, BM=bm, BN=bn, BK=bk,
        )  # fmt: skip
        return tuple(t["c"])

    def torch_run(t):
        for a, b, c in zip(t["a"], t["b"], t["c"], strict=True):
            torch.matmul(a, b, out=c)

    work = sum(m * n * k for m, n, k in shapes)
    small = [(64, 64, 64), (128, 64, 64)]
    return Case(
        name=f"grouped gemm {SHORT_NAME[dtype]}",
        size=f"{len(shapes)} products, {work / 1e6:.3g} MFMA",
        inputs=inputs,
        run=run,
        reference=lambda t: tuple(
            a.double() @ b.double() for a, b in zip(t["a"], t["b"], strict=True)
        ),
        torch_run=torch_run,
        tolerance=tolerance_of(dtype, max((k for _, _, k in shapes), default=1)),
        kind="compute",
        work=work,
        probe=case(small, dtype, block, programs) if work > 1e7 else None,
    )


CASES = [
    case([(512, 512, 512), (256, 256, 256), (100, 300, 77), (1024, 64, 128)]),
    case([(512, 512, 512), (129, 255, 65)], torch.float16),
]
SOME = [(100, 60, 33), (1, 1, 1), (64, 128, 64)]
EXTREMES = [("grouped gemm f32", case(SOME, block=(16, 16, 16)), case(SOME, block=(128, 128, 64)))]

if __name__ == "__main__":
    main(CASES)
