# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that torch.compile turns into Triton kernels, against the C++ that it writes for CPUs."""

from __future__ import annotations

import os

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import tilebridge.inductor
import torch
import torch._inductor.config as config
import torch.nn.functional as F

tilebridge.inductor.enable()
PEER = "Inductor's C++"
SIZES = [(256, 1024), (2048, 4096)]
DTYPES = [torch.float32, torch.bfloat16]


def backward(function):
    """Gradients of all arguments, of which a training step takes most of its time."""

    def run(*arguments):
        leaves = [a.detach().requires_grad_() for a in arguments]
        result = function(*leaves)
        return torch.autograd.grad(result, leaves, torch.ones_like(result))

    return run


def rotate(x, angle):
    first, second = x.chunk(2, -1)
    c, s = angle.cos(), angle.sin()
    return torch.cat([first * c - second * s, second * c + first * s], -1)


def adam(p, g, m, v):
    m = m * 0.9 + g * 0.1
    v = v * 0.999 + g * g * 0.001
    return p - 1e-3 * m / (v.sqrt() + 1e-8), m, v


def functions(m, n, dtype):
    """(name, function, arguments) each."""

    def leaf(*shape):
        return torch.randn(shape).to(dtype)

    x, y, w, b = leaf(m, n), leaf(m, n), leaf(n), leaf(n)
    half = n // 2
    target = torch.randint(0, n, (m,))
    rows, columns = torch.randint(0, m, (m,)), torch.randint(0, n, (m, n))
    picture = x.view(4, 16, m // 64, n)
    yield "add", lambda x, y: x + y, [x, y]
    yield "add of a transposed", lambda x, y: x + y.t(), [x, leaf(n, m)]
    yield "sin, sigmoid, erf", lambda x, y: torch.sin(x) * y.sigmoid() + x.erf(), [x, y]
    yield "silu times", lambda x, y: F.silu(x) * y, [x, y]
    yield "bias, gelu", lambda x, b: F.gelu(x + b), [x, b]
    yield "remainder, floor", lambda x, y: x % y + (x / y).floor(), [x, y]
    yield "dropout", lambda x: F.dropout(x, 0.1) + 1, [x]
    yield "rotary", rotate, [x, leaf(m, half)]
    yield "adam", adam, [x, y, leaf(m, n), leaf(m, n).abs()]
    yield "softmax", lambda x: x.softmax(-1), [x]
    yield "softmax dim 0", lambda x: x.softmax(0), [x]
    yield "log_softmax", lambda x: x.log_softmax(-1), [x]
    yield "layer norm", lambda x, y, w, b: F.layer_norm(x + y, (n,), w, b), [x, y, w, b]
    yield "rms norm", lambda x, y, w: F.rms_norm(x + y, (n,), w), [x, y, w]
    yield "group norm", lambda x: F.silu(F.group_norm(x, 4)), [picture]
    yield "cross entropy", lambda x: F.cross_entropy(x, target), [x]
    yield "sum dim 1", lambda x, y: (x * y).sum(1), [x, y]
    yield "sum dim 0", lambda x, y: (x * y).sum(0), [x, y]
    yield "sum", lambda x, y: (x - y).square().sum(), [x, y]
    yield "var_mean dim 1", lambda x: torch.var_mean(x, 1), [x]
    yield "amax dim 0", lambda x: x.amax(0), [x]
    yield "argmax", lambda x: x.argmax(1), [x]
    yield "cumsum", lambda x: x.cumsum(1), [x]
    yield "cumsum dim 0", lambda x: x.cumsum(0), [x]
    yield "embedding, sum", lambda x: F.embedding(rows.view(-1, 8), x).sum(1), [x]
    yield "gather", lambda x: x.gather(1, columns), [x]
    yield "index_add", lambda x, y: x.index_add(0, rows, y), [x, y]
    yield "cat, transpose", lambda x, y: torch.cat([x, y], 1).t().contiguous(), [x, y]
    yield "pad, flip", lambda x: F.pad(x.flip(1), (1, 2, 3, 4)), [x]
    yield "max_pool2d", lambda x: F.max_pool2d(x, 2), [picture]
    yield "bilinear", lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), [picture]
    for name, function, arguments in (
        ("gelu", F.gelu, [x]),
        ("softmax", lambda x: x.softmax(-1), [x]),
        ("layer norm", lambda x, w, b: F.layer_norm(x, (n,), w, b), [x, w, b]),
        ("rms norm", lambda x, w: F.rms_norm(x, (n,), w), [x, w]),
        ("cross entropy", lambda x: F.cross_entropy(x, target), [x]),
        ("embedding", lambda x: F.embedding(rows, x), [x]),
    ):
        yield f"{name} backward", backward(function), arguments


def compiled(function, backend: str):
    """Compiled at the first call, by the backend that is then set."""
    made = torch.compile(function, dynamic=False, options={"cpu_backend": backend})

    def call(*arguments):
        with config.patch(cpu_backend=backend):
            return made(*arguments)

    return call


def cases():
    for dtype in DTYPES:
        kind = str(dtype).removeprefix("torch.")
        for m, n in SIZES:
            for name, function, arguments in functions(m, n, dtype):
                torch._dynamo.reset()
                ours, theirs = (compiled(function, backend) for backend in ("triton", "cpp"))
                yield (
                    f"{name} {kind} {m}x{n}",
                    lambda f=ours, a=arguments: f(*a),
                    lambda f=theirs, a=arguments: f(*a),
                )
