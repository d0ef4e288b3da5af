# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dropout whose mask is never stored: a counter-based generator makes it again from the seed.

The reference holds its own Philox generator (4x32 bits, 10 rounds), so that every element is
checked and not a statistic.
"""

import numpy as np
import torch
import triton
import triton.language as tl
from harness import SHORT_NAME, Case, main, output, random, seeded, tolerance_of


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside).to(tl.float32)
    keep = tl.rand(seed, at) > p
    result = tl.where(keep, value / (1 - p), 0.0)
    tl.store(out + at, result.to(out.dtype.element_ty), mask=inside)


def philox(seed: int, counter: np.ndarray) -> np.ndarray:
    """The first 32 bits that the generator gives for each counter."""
    low_32 = np.uint64(0xFFFFFFFF)
    c = [counter.astype(np.uint64)] + [np.zeros(counter.shape, np.uint64) for _ in range(3)]
    key = [seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF]
    for _ in range(10):
        product_0 = c[0] * np.uint64(0xD2511F53)
        product_2 = c[2] * np.uint64(0xCD9E8D57)
        c = [
            (product_2 >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]),
            product_2 & low_32,
            (product_0 >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]),
            product_0 & low_32,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0].astype(np.uint32)


def uniform(seed: int, n: int) -> torch.Tensor:
    """What tl.rand(seed, [0, n)) gives, in [0, 1)."""
    bits = philox(seed, np.arange(n)).view(np.int32)
    folded = np.where(bits < 0, -1 - bits.astype(np.int64), bits)
    return torch.from_numpy(folded.astype(np.float32) * np.float32(4.6566127342e-10))


def case(
    n: int, dtype: torch.dtype = torch.float32, p: float = 0.25, seed: int = 1234, block: int = 1024
) -> Case:
    def inputs(data_seed):
        return {"x": random(seeded(data_seed), [n], dtype), "out": output([n], dtype)}

    def run(t):
        if n:
            dropout_kernel[(triton.cdiv(n, block),)](t["x"], t["out"], n, p, seed, BLOCK=block)
        return (t["out"],)

    def reference(t):
        keep = uniform(seed, n) > np.float32(p)
        return (torch.where(keep, t["x"].double() / (1 - p), 0.0),)

    return Case(
        name=f"dropout {SHORT_NAME[dtype]}",
        size=str(n),
        inputs=inputs,
        run=run,
        reference=reference,
        torch_run=lambda t: torch.dropout(t["x"], p, True),
        tolerance=tolerance_of(dtype),
        kind="other",
        work=n,
        probe=case(32 * block, dtype, p, seed, block) if n > 32 * block else None,
    )


CASES = [case(1 << 22), case((1 << 21) + 3, torch.float16, p=0.5, seed=(7 << 32) + 11)]
EXTREMES = [("dropout f32", case(5000, block=16), case(5000, block=4096))]

if __name__ == "__main__":
    main(CASES)
