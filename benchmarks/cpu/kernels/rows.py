# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each row by itself: softmax, layer norm, RMS norm, cross entropy, cumulative sums."""

import cross_entropy
import layer_norm
import softmax
import torch
import triton
import triton.language as tl
from bench import (
    SHORT_NAME,
    Bench,
    Tuned,
    cdiv,
    next_power_of_2,
    output,
    random,
    seeded,
    tolerance_of,
)

from kernels import pick

GROUP = "rows"
EPSILON = 1e-5


@triton.jit
def softmax_desc_kernel(x, out, rows, columns, BM: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BM
    x_desc = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BM, BLOCK])
    out_desc = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [BM, BLOCK])
    value = x_desc.load([row, 0]).to(tl.float32)
    value = tl.where(tl.arange(0, BLOCK)[None, :] < columns, value, -float("inf"))
    weight = tl.exp(value - tl.max(value, axis=1)[:, None])
    weight = weight / tl.sum(weight, axis=1)[:, None]
    out_desc.store([row, 0], weight.to(x.dtype.element_ty))


@triton.jit
def rms_norm_kernel(x, weight, y, rstd, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / columns + eps)
    tl.store(rstd + row, scale)
    w = tl.load(weight + at, mask=inside).to(tl.float32)
    tl.store(y + row * columns + at, (value * scale * w).to(y.dtype.element_ty), mask=inside)


@triton.jit
def cumsum_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    tl.store(out + row * columns + at, tl.cumsum(value, axis=0), mask=inside)


def matrix(rows, columns, dtype, extra=None):
    def inputs():
        g = seeded(3)
        t = {"x": random(g, [rows, columns], dtype), "out": output([rows, columns], dtype)}
        return t | (extra(g) if extra else {})

    return inputs


def softmax_rows(rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Bench:
    block = next_power_of_2(columns)

    def pointers(t):
        softmax.row_softmax_kernel[(min(rows, 4096),)](
            t["x"], t["out"], rows, columns, columns, columns, BLOCK=block
        )

    def descriptors(t, bm):
        grid = (cdiv(rows, bm),)
        softmax_desc_kernel[grid](t["x"], t["out"], rows, columns, BM=bm, BLOCK=block)

    ours = {"pointers": pointers}
    if columns * dtype.itemsize % 16 == 0:
        # The rows of a block.
        ours["descriptors"] = Tuned(
            {f"{bm}x{block}": (lambda t, bm=bm: descriptors(t, bm)) for bm in (1, 4)}
        )
    return Bench(
        name=f"softmax {SHORT_NAME[dtype]}",
        size=f"{rows}x{columns}",
        inputs=matrix(rows, columns, dtype),
        ours=ours,
        outputs=("out",),
        takes=("x",),
        torch=lambda x: torch.softmax(x, dim=1),
        eager=lambda t: torch.softmax(t["x"], dim=1, out=t["out"]),
        jax=lambda jnp, jax: lambda x: jax.nn.softmax(x, axis=1),
        tolerance=tolerance_of(dtype),
        bytes=2.0 * rows * columns * dtype.itemsize,
        flops=4.0 * rows * columns,
    )


def layer_norm_rows(rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Bench:
    def extra(g):
        return {
            "weight": random(g, [columns], dtype),
            "bias": random(g, [columns], dtype),
            "mean": output([rows], torch.float32),
            "rstd": output([rows], torch.float32),
        }

    def pointers(t):
        layer_norm.layer_norm_forward_kernel[(rows,)](
            t["x"], t["out"], t["weight"], t["bias"], t["mean"], t["rstd"],
            columns, columns, EPSILON, BLOCK=min(next_power_of_2(columns), 1024),
        )  # fmt: skip

    def with_jax(jnp, jax):
        def norm(x, weight, bias):
            wide = x.astype(jnp.float32)
            mean = wide.mean(axis=1, keepdims=True)
            distance = wide - mean
            scale = jax.lax.rsqrt((distance * distance).mean(axis=1, keepdims=True) + EPSILON)
            return (distance * scale * weight + bias).astype(x.dtype)

        return norm

    return Bench(
        name=f"layer norm {SHORT_NAME[dtype]}",
        size=f"{rows}x{columns}",
        inputs=matrix(rows, columns, dtype, extra),
        ours={"pointers": pointers},
        outputs=("out",),
        takes=("x", "weight", "bias"),
        torch=lambda x, w, b: torch.nn.functional.layer_norm(x, [columns], w, b, EPSILON),
        jax=with_jax,
        tolerance=tolerance_of(dtype),
        bytes=2.0 * rows * columns * dtype.itemsize,
        flops=8.0 * rows * columns,
    )


def rms_norm_rows(rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Bench:
    def pointers(t):
        rms_norm_kernel[(rows,)](
            t["x"], t["weight"], t["out"], t["rstd"], columns, EPSILON,
            BLOCK=next_power_of_2(columns),
        )  # fmt: skip

    def with_jax(jnp, jax):
        def norm(x, weight):
            wide = x.astype(jnp.float32)
            scale = jax.lax.rsqrt((wide * wide).mean(axis=1, keepdims=True) + EPSILON)
            return (wide * scale * weight).astype(x.dtype)

        return norm

    return Bench(
        name=f"rms norm {SHORT_NAME[dtype]}",
        size=f"{rows}x{columns}",
        inputs=matrix(
            rows,
            columns,
            dtype,
            lambda g: {
                "weight": random(g, [columns], dtype),
                "rstd": output([rows], torch.float32),
            },
        ),
        ours={"pointers": pointers},
        outputs=("out",),
        takes=("x", "weight"),
        torch=lambda x, w: torch.nn.functional.rms_norm(x, [columns], w, EPSILON),
        jax=with_jax,
        tolerance=tolerance_of(dtype),
        bytes=2.0 * rows * columns * dtype.itemsize,
        flops=4.0 * rows * columns,
    )


def entropy(rows: int, classes: int) -> Bench:
    def extra(g):
        return {
            "targets": torch.randint(0, classes, [rows], generator=g),
            "loss": output([rows], torch.float32),
        }

    def pointers(t):
        cross_entropy.cross_entropy_kernel[(rows,)](
            t["x"], t["targets"], t["loss"], t["out"], classes, classes, -100,
            BLOCK=min(next_power_of_2(classes), 1024),
        )  # fmt: skip

    def expression(x, targets):
        """The loss and its gradient, as the kernel gives both."""
        logs = torch.log_softmax(x, dim=1)
        hot = torch.arange(classes) == targets[:, None]
        return -logs.gather(1, targets[:, None])[:, 0], logs.exp() - hot.to(x.dtype)

    def eager(t):
        x = t["x"].detach().requires_grad_()
        loss = torch.nn.functional.cross_entropy(x, t["targets"], reduction="none")
        (gradient,) = torch.autograd.grad(loss, x, torch.ones_like(loss))
        return loss.detach(), gradient

    def with_jax(jnp, jax):
        def both(x, targets):
            logs = jax.nn.log_softmax(x, axis=1)
            loss = -jnp.take_along_axis(logs, targets[:, None], axis=1)[:, 0]
            return loss, jnp.exp(logs) - jax.nn.one_hot(targets, classes, dtype=x.dtype)

        return both

    return Bench(
        name="cross entropy f32",
        size=f"{rows}x{classes}",
        inputs=matrix(rows, classes, torch.float32, extra),
        ours={"pointers": pointers},
        outputs=("loss", "out"),
        takes=("x", "targets"),
        torch=expression,
        eager=eager,
        jax=with_jax,
        bytes=8.0 * rows * classes,
        flops=8.0 * rows * classes,
    )


def cumsum(rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Bench:
    block = next_power_of_2(columns)
    return Bench(
        name=f"cumsum {SHORT_NAME[dtype]}",
        size=f"{rows}x{columns}",
        inputs=matrix(rows, columns, dtype),
        ours={"pointers": lambda t: cumsum_kernel[(rows,)](t["x"], t["out"], columns, BLOCK=block)},
        outputs=("out",),
        takes=("x",),
        torch=lambda x: torch.cumsum(x, dim=1),
        eager=lambda t: torch.cumsum(t["x"], dim=1, out=t["out"]),
        jax=lambda jnp, jax: lambda x: jnp.cumsum(x, axis=1),
        numpy=lambda np, t: np.cumsum(t["x"], axis=1, out=t["out"]),
        tolerance=(1e-4, 1e-3),
        bytes=2.0 * rows * columns * dtype.itemsize,
        flops=float(rows * columns),
    )


def benches(sizes: str) -> list[Bench]:
    shapes = pick(
        sizes,
        [(3, 24)],
        [(256, 256), (16384, 1024)],
        [(4, 1024), (256, 256), (4096, 781), (1024, 4096), (16384, 1024), (4096, 8192)],
    )
    found = []
    for make in (softmax_rows, layer_norm_rows, rms_norm_rows):
        found += [make(*shape) for shape in shapes]
        if sizes != "tiny":
            found.append(make(16384, 1024, torch.bfloat16))
    found += [
        entropy(*s) for s in pick(sizes, [(3, 20)], [(512, 32000)], [(64, 1000), (512, 32000)])
    ]
    found += [cumsum(*s) for s in shapes]
    return found
