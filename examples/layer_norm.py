# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layer normalization, forward and backward.

Backward, all rows add to the same gradients of weight and bias: each program adds its row to one
of GROUPS partial sums, which a lock guards (compare-and-swap to take it, exchange to give it
back); a second kernel sums the partial sums.
"""

import torch
import triton
import triton.language as tl
from harness import SHORT_NAME, Case, main, output, random, seeded, tolerance_of

EPSILON = 1e-5


@triton.jit
def layer_norm_forward_kernel(
    x, y, weight, bias, mean, rstd, stride, columns, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        total += tl.load(x + start + at, mask=start + at < columns, other=0.0).to(tl.float32)
    center = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        value = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
        distance = tl.where(inside, value - center, 0.0)
        squares += distance * distance
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean + row, center)
    tl.store(rstd + row, scale)
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        value = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(weight + start + at, mask=inside).to(tl.float32)
        b = tl.load(bias + start + at, mask=inside).to(tl.float32)
        result = (value - center) * scale * w + b
        tl.store(y + start + at, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def layer_norm_backward_kernel(
    dx, dy, partial_dw, partial_db, x, weight, mean, rstd, locks, stride, columns,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    slope = tl.load(dy + row * stride + at, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(rstd + row)
    normal = tl.where(inside, (value - tl.load(mean + row)) * scale, 0.0)
    weighted = w * slope
    along = tl.sum(normal * weighted, axis=0) / columns
    average = tl.sum(weighted, axis=0) / columns
    result = (weighted - (normal * along + average)) * scale
    tl.store(dx + row * stride + at, result.to(dx.dtype.element_ty), mask=inside)

    group = row % GROUPS
    lock = locks + group
    dw_at = partial_dw + group * columns + at
    db_at = partial_db + group * columns + at
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(dw_at, tl.load(dw_at, mask=inside) + slope * normal, mask=inside)
    tl.store(db_at, tl.load(db_at, mask=inside) + slope, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def sum_partials_kernel(
    partial_dw, partial_db, dw, db, groups, columns, BM: tl.constexpr, BN: tl.constexpr
):
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    dw_sum = tl.zeros((BM, BN), tl.float32)
    db_sum = tl.zeros((BM, BN), tl.float32)
    for start in range(0, groups, BM):
        rows = start + tl.arange(0, BM)
        inside = (rows[:, None] < groups) & (cols[None, :] < columns)
        at = rows[:, None] * columns + cols[None, :]
        dw_sum += tl.load(partial_dw + at, mask=inside, other=0.0)
        db_sum += tl.load(partial_db + at, mask=inside, other=0.0)
    tl.store(dw + cols, tl.sum(dw_sum, axis=0).to(dw.dtype.element_ty), mask=cols < columns)
    tl.store(db + cols, tl.sum(db_sum, axis=0).to(db.dtype.element_ty), mask=cols < columns)


def make_inputs(seed: int, rows: int, columns: int, dtype: torch.dtype, groups: int):
    g = seeded(seed)
    x = random(g, [rows, columns], dtype)
    wide = x.double()
    variance = (wide - wide.mean(dim=1, keepdim=True)).square().mean(dim=1)
    return {
        "x": x,
        "dy": random(g, [rows, columns], dtype),
        "weight": random(g, [columns], dtype),
        "bias": random(g, [columns], dtype),
        "y": output([rows, columns], dtype),
        "mean": wide.mean(dim=1).float(),
        "rstd": (variance + EPSILON).rsqrt().float(),
        "dx": output([rows, columns], dtype),
        "dw": output([columns], dtype),
        "db": output([columns], dtype),
        "partial": output([2, groups, columns], torch.float32),
        "locks": output([groups], torch.int32),
    }


def forward_case(
    rows: int, columns: int, dtype: torch.dtype = torch.float32, block: int = 1024
) -> Case:
    def run(t):
        if rows and columns:
            layer_norm_forward_kernel[(rows,)](
                t["x"], t["y"], t["weight"], t["bias"], t["mean"], t["rstd"],
                columns, columns, EPSILON, BLOCK=block,
            )  # fmt: skip
        return (t["y"],)

    def reference(t):
        args = [t[name].double() for name in ("x", "weight", "bias")]
        return (torch.nn.functional.layer_norm(args[0], [columns], args[1], args[2], EPSILON),)

    return Case(
        name=f"layer norm {SHORT_NAME[dtype]}",
        size=f"{rows}x{columns}",
        inputs=lambda seed: make_inputs(seed, rows, columns, dtype, 1),
        run=run,
        reference=reference,
        torch_run=lambda t: torch.nn.functional.layer_norm(
            t["x"], [columns], t["weight"], t["bias"], EPSILON
        ),
        tolerance=tolerance_of(dtype),
        work=rows * columns,
        probe=forward_case(64, columns, dtype, block) if rows > 64 else None,
    )


def backward_case(
    rows: int, columns: int, dtype: torch.dtype = torch.float32, groups: int = 64
) -> Case:
    def run(t):
        dw_part, db_part = t["partial"]
        t["partial"].zero_()
        t["locks"].zero_()
        if rows and columns:
            layer_norm_backward_kernel[(rows,)](
                t["dx"], t["dy"], dw_part, db_part, t["x"], t["weight"],
                t["mean"], t["rstd"], t["locks"], columns, columns, GROUPS=groups, BLOCK=triton.next_power_of_2(columns),
            )  # fmt: skip
            sum_partials_kernel[(triton.cdiv(columns, 128),)](
                dw_part, db_part, t["dw"], t["db"], groups, columns, BM=32, BN=128
            )
        return (t["dx"], t["dw"], t["db"])

    def gradients(t, wide):
        x, w, b, dy = (
            (t[n].double() if wide else t[n].detach()) for n in ("x", "weight", "bias", "dy")
        )
        mean, rstd = t["mean"].to(x.dtype)[:, None], t["rstd"].to(x.dtype)[:, None]
        return torch.ops.aten.native_layer_norm_backward(
            dy, x, [columns], mean, rstd, w, b, [True] * 3
        )

    relative, absolute = tolerance_of(dtype)
    return Case(
        name=f"layer norm backward {SHORT_NAME[dtype]}",
        size=f"{rows}x{columns}",
        inputs=lambda seed: make_inputs(seed, rows, columns, dtype, groups),
        run=run,
        reference=lambda t: gradients(t, True),
        torch_run=lambda t: gradients(t, False),
        # The gradients of weight and bias sum over the rows.
        tolerance=(relative, absolute * max(1.0, rows**0.5)),
        work=rows * columns,
        probe=backward_case(64, columns, dtype, groups) if rows > 64 else None,
    )


CASES = [
    forward_case(4096, 1024),
    forward_case(4096, 1000, torch.float16),
    backward_case(4096, 1024),
    backward_case(2048, 1000, torch.float16),
]
EXTREMES = [
    ("layer norm f32", forward_case(4, 5000, block=16), forward_case(4, 5000, block=4096)),
    ("layer norm backward f32", backward_case(4, 16), backward_case(4, 4096)),
]

if __name__ == "__main__":
    main(CASES)
