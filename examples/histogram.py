# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A histogram: each program counts its blocks in registers and adds the counts to the result
once, atomically."""

import torch
import triton
import triton.language as tl
from harness import Case, main, output, seeded


@triton.jit
def histogram_kernel(x, counts, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    mine = tl.zeros([BINS], tl.int32)
    stride = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, stride):
        at = start + tl.arange(0, BLOCK)
        inside = at < n
        mine += tl.histogram(tl.load(x + at, mask=inside, other=0), BINS, mask=inside)
    tl.atomic_add(counts + tl.arange(0, BINS), mine)


def case(n: int, bins: int = 256, block: int = 1024, programs: int = 8) -> Case:
    def inputs(seed):
        g = seeded(seed)
        # Some bins are hit far more often than others.
        x = (torch.rand([n], generator=g) ** 2 * bins).int()
        return {"x": x, "counts": output([bins], torch.int32)}

    def run(t):
        t["counts"].zero_()
        histogram_kernel[(programs,)](t["x"], t["counts"], n, BINS=bins, BLOCK=block)
        return (t["counts"],)

    return Case(
        name="histogram i32",
        size=f"{n} in {bins}",
        inputs=inputs,
        run=run,
        reference=lambda t: (torch.bincount(t["x"], minlength=bins),),
        torch_run=lambda t: torch.bincount(t["x"], minlength=bins),
        kind="other",
        work=n,
        probe=case(32 * block, bins, block, programs) if n > 32 * block else None,
    )


CASES = [case(1 << 22), case((1 << 20) + 13, bins=16)]
EXTREMES = [("histogram i32", case(10000, block=16), case(10000, block=4096))]

if __name__ == "__main__":
    main(CASES)
