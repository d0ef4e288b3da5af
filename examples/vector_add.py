# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vector add: each program adds one block of two vectors. The last block is masked."""

import torch
import triton
import triton.language as tl
from harness import SHORT_NAME, Case, main, output, random, seeded, tolerance_of


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)


def case(n: int, dtype: torch.dtype = torch.float32, block: int = 1024) -> Case:
    def inputs(seed):
        g = seeded(seed)
        return {
            "x": random(g, [n], dtype),
            "y": random(g, [n], dtype),
            "out": output([n], dtype),
        }

    def run(t):
        if n:
            add_kernel[(triton.cdiv(n, block),)](t["x"], t["y"], t["out"], n, BLOCK=block)
        return (t["out"],)

    def reference(t):
        if dtype.is_floating_point:
            return (t["x"].double() + t["y"].double(),)
        return (t["x"] + t["y"],)

    return Case(
        name=f"vector add {SHORT_NAME[dtype]}",
        size=str(n),
        inputs=inputs,
        run=run,
        reference=reference,
        torch_run=lambda t: torch.add(t["x"], t["y"], out=t["out"]),
        tolerance=tolerance_of(dtype),
        work=n,
        probe=case(64 * block, dtype, block) if n > 64 * block else None,
    )


CASES = [
    case(1 << 24),
    case(1 << 24, torch.bfloat16),
    case((1 << 23) + 17, torch.int32, block=4096),
]
EXTREMES = [("vector add f32", case(10000, block=16), case(10000, block=4096))]

if __name__ == "__main__":
    main(CASES)
