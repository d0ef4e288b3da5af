# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""liger-kernel's operators, forward alone and with the backward, in a cache and out of it, f32 and bf16."""

from __future__ import annotations

import hosts

hosts.liger()

import liger_kernel.ops as ops
import torch
import torch.nn.functional as F
from liger_reference import rms_norm, rotate, tvd

SIZES = [(256, 1024), (2048, 4096)]
DTYPES = [torch.float32, torch.bfloat16]


def fresh(tensors):
    return [t.detach().clone().requires_grad_(t.is_floating_point()) for t in tensors]


def results_of(function, tensors):
    result = function(*tensors)
    result = result if isinstance(result, (tuple, list)) else [result]
    return [t for t in result if isinstance(t, torch.Tensor) and t.requires_grad]


def both(name, ours, eager, tensors):
    """The two cases of an operator: (name, ours, eager)."""
    forward, whole = [], []
    for function in (ours, eager):
        leaves = fresh(tensors)

        def run(function=function, leaves=leaves):
            function(*leaves)

        def gradients(function=function, leaves=leaves):
            results = results_of(function, leaves)
            # Some of the package's functions write their gradient in place.
            slopes = [torch.ones_like(t) for t in results]
            torch.autograd.grad(results, leaves, slopes, allow_unused=True)

        forward.append(run)
        whole.append(gradients)
    yield f"{name} forward", *forward
    yield f"{name} forward, backward", *whole


def of_rows(m, n, dtype):
    def leaf(*shape):
        return torch.randn(shape).to(dtype)

    target = torch.randint(0, n, (m,))
    teacher = torch.randn(m, n).log_softmax(-1).to(dtype)
    index = torch.randint(0, 5000, (m,))
    x, y, w, b = leaf(m, n), leaf(m, n), leaf(n), leaf(n)
    yield "softmax", ops.LigerSoftmaxFunction.apply, lambda x: x.softmax(-1), [x]
    yield "swiglu", ops.LigerSiLUMulFunction.apply, lambda a, b: F.silu(a) * b, [x, y]
    yield (
        "geglu",
        ops.LigerGELUMulFunction.apply,
        lambda a, b: F.gelu(a, approximate="tanh") * b,
        [x, y],
    )
    yield "relu squared", ops.LigerReLUSquaredFunction.apply, lambda x: F.relu(x).square(), [x]
    yield (
        "layer norm",
        lambda x, w, b: ops.LigerLayerNormFunction.apply(x, w, b, 1e-5),
        lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-5),
        [x, w, b],
    )
    yield (
        "rms norm",
        lambda x, w: ops.LigerRMSNormFunction.apply(x, w, 1e-6),
        lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-6),
        [x, w],
    )
    yield (
        "poly norm",
        lambda x, w, b: ops.LigerPolyNormFunction.apply(x * 1, w, b, 1e-6),
        lambda x, w, b: sum(w[i] * rms_norm(x ** (3 - i), None) for i in range(3)) + b,
        [x, leaf(3), leaf()],
    )
    yield (
        "group norm",
        lambda x, w, b: ops.LigerGroupNormFunction.apply(x, w, b, 32, 4, 1e-5),
        lambda x, w, b: F.group_norm(x, 4, w, b, 1e-5),
        [x.view(m // 32, 32, n), leaf(32), leaf(32)],
    )
    yield (
        "dynamic tanh",
        ops.LigerDyTFunction.apply,
        lambda x, a, w, b: w * torch.tanh(a * x) + b,
        [x, leaf(1), w, b],
    )
    yield (
        "cross entropy",
        lambda x: ops.LigerCrossEntropyFunction.apply(
            x * 1, target, None, -100, 0.0, 0.0, "mean", None
        )[0],
        lambda x: F.cross_entropy(x, target),
        [x],
    )
    yield (
        "kl divergence",
        lambda x: ops.LigerKLDivLossFunction.apply(x, teacher.exp(), "batchmean", False),
        lambda x: F.kl_div(x, teacher.exp(), reduction="batchmean"),
        [x.log_softmax(-1)],
    )
    yield (
        "total variation",
        lambda x: ops.LigerTVDLossFunction.apply(x, teacher.exp(), None, "batchmean"),
        lambda x: tvd(x, teacher.exp(), "batchmean"),
        [x.softmax(-1)],
    )
    yield (
        "embedding",
        lambda w: ops.LigerEmbeddingFunction.apply(w, index),
        lambda w: F.embedding(index, w),
        [leaf(5000, n // 4)],
    )


def of_heads(b, hq, hk, length, d, dtype):
    angle = torch.rand(1, length, d // 2) * 6
    cos, sin = (torch.cat([f(angle), f(angle)], -1).to(dtype) for f in (torch.cos, torch.sin))
    turns = torch.polar(torch.ones_like(angle), angle).expand(b, -1, -1)

    def turn(t):
        pairs = torch.view_as_complex(t.float().reshape(*t.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * turns[:, :, None, :]).flatten(3).to(t.dtype)

    yield (
        "rope",
        lambda q, k: ops.LigerRopeFunction.apply(q * 1, k * 1, cos, sin),
        lambda q, k: tuple(t * cos[:, None] + rotate(t) * sin[:, None] for t in (q, k)),
        [torch.randn(b, h, length, d).to(dtype) for h in (hq, hk)],
    )
    yield (
        "rope of pairs",
        lambda q, k: ops.LigerLlama4RopeFunction.apply(q * 1, k * 1, turns),
        lambda q, k: (turn(q), turn(k)),
        [torch.randn(b, length, h, d).to(dtype) for h in (hq, hk)],
    )


def cases():
    for dtype in DTYPES:
        kind = str(dtype).removeprefix("torch.")
        for m, n in SIZES:
            for name, *rest in of_rows(m, n, dtype):
                yield from both(f"{name} {kind} {m}x{n}", *rest)
        for shape in [(1, 8, 2, 256, 64), (2, 32, 8, 1024, 128)]:
            for name, *rest in of_heads(*shape, dtype):
                yield from both(f"{name} {kind} {'x'.join(map(str, shape))}", *rest)
