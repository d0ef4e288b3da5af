# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A gather: rows of a table, picked by an index tensor. Indices outside the table give a row of
zeros."""

import torch
import triton
import triton.language as tl
from harness import SHORT_NAME, Case, main, output, random, seeded, tolerance_of


@triton.jit
def embedding_kernel(
    table, ids, out, count, entries, width, table_row, BM: tl.constexpr, BN: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    picked = tl.load(ids + rows, mask=rows < count, other=-1)
    known = (picked >= 0) & (picked < entries)
    inside = cols[None, :] < width
    value = tl.load(
        table + picked[:, None] * table_row + cols[None, :], mask=known[:, None] & inside, other=0.0
    )
    tl.store(
        out + rows[:, None] * width + cols[None, :], value, mask=(rows[:, None] < count) & inside
    )


def case(
    count: int,
    entries: int,
    width: int,
    dtype: torch.dtype = torch.float32,
    block: tuple[int, int] | None = None,
    id_dtype: torch.dtype = torch.int64,
    outside: bool = False,
    padding: int = 0,
) -> Case:
    """With `outside`, some indices lie outside the table. Blocks as wide as a row, if that is not
    too long, write memory from one end to the other."""

    def inputs(seed):
        g = seeded(seed)
        low, high = (-3, entries + 3) if outside else (0, entries)
        return {
            "table": random(g, [entries, width + padding], dtype)[:, :width],
            "ids": torch.randint(low, high, [count], generator=g).to(id_dtype),
            "out": output([count, width], dtype),
        }

    def run(t):
        bm, bn = block or (16, min(triton.next_power_of_2(width), 1024))
        if count and width:
            embedding_kernel[(triton.cdiv(count, bm), triton.cdiv(width, bn))](
                t["table"],
                t["ids"],
                t["out"],
                count,
                entries,
                width,
                t["table"].stride(0),
                BM=bm,
                BN=bn,
            )
        return (t["out"],)

    def reference(t):
        known = (t["ids"] >= 0) & (t["ids"] < entries)
        rows = t["table"].double()[t["ids"].long().clamp(0, entries - 1)]
        return (torch.where(known[:, None], rows, 0.0),)

    return Case(
        name=f"embedding {SHORT_NAME[dtype]}",
        size=f"{count} of {entries}x{width}",
        inputs=inputs,
        run=run,
        reference=reference,
        torch_run=lambda t: (
            torch.index_select(t["table"], 0, t["ids"], out=t["out"]) if not outside else None
        ),
        tolerance=tolerance_of(dtype) if dtype.is_floating_point else (0.0, 0.0),
        work=count * width,
        probe=case(256, entries, width, dtype, block, id_dtype, outside, padding)
        if count > 256
        else None,
    )


CASES = [case(16384, 32000, 512), case(8191, 5000, 768, torch.bfloat16, id_dtype=torch.int32)]
EXTREMES = [
    ("embedding f32", case(100, 50, 300, block=(16, 16)), case(100, 50, 300, block=(16, 256))),
]

if __name__ == "__main__":
    main(CASES)
