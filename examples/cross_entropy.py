# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cross entropy of logits against class indices, one row a program, and its gradient in the same
pass over the row.

Rows whose target is `IGNORED` give a loss of 0 and a gradient of 0.
"""

import torch
import triton
import triton.language as tl
from harness import SHORT_NAME, Case, main, output, random, seeded, tolerance_of

IGNORED = -100


@triton.jit
def cross_entropy_kernel(
    logits, targets, loss, grad, stride, classes, ignored, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    target = tl.load(targets + row)
    logits += row * stride
    grad += row * classes
    at = tl.arange(0, BLOCK)
    if target == ignored:
        tl.store(loss + row, 0.0)
        for start in range(0, classes, BLOCK):
            tl.store(
                grad + start + at,
                tl.zeros([BLOCK], grad.dtype.element_ty),
                mask=start + at < classes,
            )
        return
    top = -float("inf")
    total = 0.0
    for start in range(0, classes, BLOCK):
        value = tl.load(logits + start + at, mask=start + at < classes, other=-float("inf")).to(
            tl.float32
        )
        new_top = tl.maximum(top, tl.max(value, axis=0))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(value - new_top), axis=0)
        top = new_top
    picked = tl.load(logits + target).to(tl.float32)
    tl.store(loss + row, tl.log(total) + top - picked)
    for start in range(0, classes, BLOCK):
        inside = start + at < classes
        value = tl.load(logits + start + at, mask=inside, other=-float("inf")).to(tl.float32)
        slope = tl.exp(value - top) / total - tl.where(start + at == target, 1.0, 0.0)
        tl.store(grad + start + at, slope.to(grad.dtype.element_ty), mask=inside)


def case(
    rows: int,
    classes: int,
    dtype: torch.dtype = torch.float32,
    block: int = 1024,
    ignored_rows: bool = True,
) -> Case:
    def inputs(seed):
        g = seeded(seed)
        targets = torch.randint(0, classes, [rows], generator=g)
        if ignored_rows:
            targets[::7] = IGNORED
        return {
            "logits": random(g, [rows, classes], dtype),
            "targets": targets,
            "loss": output([rows], torch.float32),
            "grad": output([rows, classes], dtype),
        }

    def run(t):
        if rows:
            cross_entropy_kernel[(rows,)](
                t["logits"],
                t["targets"],
                t["loss"],
                t["grad"],
                t["logits"].stride(0),
                classes,
                IGNORED,
                BLOCK=block,
            )
        return (t["loss"], t["grad"])

    def reference(t):
        logits = t["logits"].double().requires_grad_()
        loss = torch.nn.functional.cross_entropy(
            logits, t["targets"], ignore_index=IGNORED, reduction="none"
        )
        loss.sum().backward()
        return (loss, logits.grad)

    def torch_run(t):
        logits = t["logits"].detach().requires_grad_()
        loss = torch.nn.functional.cross_entropy(
            logits, t["targets"], ignore_index=IGNORED, reduction="none"
        )
        loss.sum().backward()

    return Case(
        name=f"cross entropy {SHORT_NAME[dtype]}",
        size=f"{rows}x{classes}",
        inputs=inputs,
        run=run,
        reference=reference,
        torch_run=torch_run,
        tolerance=tolerance_of(dtype),
        work=rows * classes,
        probe=case(16, classes, dtype, block, ignored_rows) if rows > 16 else None,
    )


CASES = [case(512, 32000, block=4096), case(500, 10007, torch.bfloat16)]
EXTREMES = [("cross entropy f32", case(4, 5000, block=16), case(4, 5000, block=4096))]

if __name__ == "__main__":
    main(CASES)
