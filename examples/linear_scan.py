# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A linear recurrence over time, h[t] = a[t] * h[t-1] + b[t], for many independent channels.

Inside a block of time steps the recurrence is an associative scan over pairs (a, b); from block
to block the last state is carried.
"""

import torch
import triton
import triton.language as tl
from harness import SHORT_NAME, Case, main, output, seeded, tolerance_of


@triton.jit
def compose(a_first, b_first, a_then, b_then):
    """The step `first`, then the step `then`, as one step."""
    return a_first * a_then, b_first * a_then + b_then


@triton.jit
def linear_scan_kernel(a, b, h, steps, channels, BT: tl.constexpr, BC: tl.constexpr):
    cols = tl.program_id(0) * BC + tl.arange(0, BC)
    batch = tl.program_id(1).to(tl.int64) * steps * channels
    state = tl.zeros([1, BC], tl.float32)
    last = tl.arange(0, BT)[:, None] == BT - 1
    for start in range(0, steps, BT):
        times = start + tl.arange(0, BT)
        inside = (times[:, None] < steps) & (cols[None, :] < channels)
        at = batch + times[:, None] * channels + cols[None, :]
        decay = tl.load(a + at, mask=inside, other=1.0).to(tl.float32)
        drive = tl.load(b + at, mask=inside, other=0.0).to(tl.float32)
        decays, drives = tl.associative_scan((decay, drive), 0, compose)
        value = decays * state + drives
        tl.store(h + at, value.to(h.dtype.element_ty), mask=inside)
        state = tl.sum(tl.where(last, value, 0.0), axis=0)[None, :]


def by_steps(a: torch.Tensor, b: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    state = b.new_zeros(b.shape[0], b.shape[2])
    for t in range(a.shape[1]):
        state = a[:, t] * state + b[:, t]
        h[:, t] = state
    return h


def case(
    batch: int,
    steps: int,
    channels: int,
    dtype: torch.dtype = torch.float32,
    block: tuple[int, int] = (64, 64),
) -> Case:
    shape = [batch, steps, channels]

    def inputs(seed):
        g = seeded(seed)
        a = torch.rand(shape, generator=g) * 0.5 + 0.5
        return {
            "a": a.to(dtype),
            "b": torch.randn(shape, generator=g).to(dtype),
            "h": output(shape, dtype),
        }

    def run(t):
        bt, bc = block
        if batch and channels:
            linear_scan_kernel[(triton.cdiv(channels, bc), batch)](
                t["a"], t["b"], t["h"], steps, channels, BT=bt, BC=bc
            )
        return (t["h"],)

    def reference(t):
        a, b = t["a"].double(), t["b"].double()
        return (by_steps(a, b, torch.empty_like(a)),)

    return Case(
        name=f"linear scan {SHORT_NAME[dtype]}",
        size="x".join(str(s) for s in shape),
        inputs=inputs,
        run=run,
        reference=reference,
        torch_run=lambda t: by_steps(t["a"], t["b"], t["h"]),
        tolerance=tolerance_of(dtype),
        kind="other",
        work=batch * steps * channels,
        probe=case(1, 128, min(channels, 128), dtype, block)
        if batch * steps * channels > 1 << 17
        else None,
    )


CASES = [case(2, 1000, 512), case(1, 2048, 500, torch.bfloat16)]
EXTREMES = [
    ("linear scan f32", case(1, 300, 70, block=(16, 16)), case(1, 300, 70, block=(256, 64)))
]

if __name__ == "__main__":
    main(CASES)
