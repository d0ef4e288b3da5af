# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""torch.compile with Triton kernels for CPU tensors, against eager PyTorch: models, forward and backward.

PyTorch asks for a backend of Triton named "cpu", which Tilebridge's second entry point is.
"""

from __future__ import annotations

import os

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import tilebridge.inductor
import torch
import torch._inductor.config as config
import torch.nn.functional as F
from torch import nn

tilebridge.inductor.enable(flex_attention=True)
config.fx_graph_cache = False

KERNELS = {"count": 0}
CELLS = torch.arange(117).reshape(13, 9)


def count_kernels() -> None:
    """Counts launches of Triton kernels: a case that launches none shows nothing."""
    from triton.compiler.compiler import CompiledKernel

    handle = CompiledKernel._init_handles

    def counting(self):
        KERNELS["count"] += 1
        return handle(self)

    CompiledKernel._init_handles = counting


count_kernels()


def compare(check, label, function, inputs, dynamic=None, rtol=None, atol=None, backward=True):
    torch._dynamo.reset()
    before = KERNELS["count"]
    compiled = torch.compile(function, dynamic=dynamic)
    for i, args in enumerate(inputs):
        ours, theirs = (
            [a.detach().clone().requires_grad_(a.requires_grad) for a in args] for _ in range(2)
        )
        module = function if isinstance(function, nn.Module) else None
        actual = compiled(*ours)
        expected = function(*theirs)
        check.close(f"{label} {i}", _detached(actual), _detached(expected), rtol, atol)
        if not backward:
            continue
        first = [t[0] if isinstance(t, (tuple, list)) else t for t in (actual, expected)]
        gradient = torch.randn_like(first[1])
        gradients = []
        for result, leaves in zip(first, (ours, theirs), strict=True):
            wanted = [t for t in leaves if t.requires_grad] + (
                list(module.parameters()) if module else []
            )
            gradients.append(torch.autograd.grad(result, wanted, gradient, allow_unused=True))
        for j, (a, e) in enumerate(zip(*gradients, strict=True)):
            if e is not None:
                check.close(f"{label} {i} grad {j}", a, e, rtol, atol)
    if KERNELS["count"] == before:
        check.problems.append(f"{label}: no Triton kernel was compiled")


def _detached(result):
    return [t.detach() for t in result] if isinstance(result, (tuple, list)) else result.detach()


def leaf(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype).requires_grad_()


class Block(nn.Module):
    """A transformer's block, with attention written out."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (
            part.reshape(b, t, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).chunk(3, -1)
        )
        scores = q @ k.transpose(-1, -2) / (c // self.heads) ** 0.5
        mask = torch.ones(t, t, dtype=torch.bool).tril()
        y = scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 6, 3, stride=2)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, x):
        y = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        return F.avg_pool2d(F.silu(self.second(y)), 2)


def simple(function, *shapes, dtypes=(torch.float32,), **options):
    def case(check):
        for dtype in dtypes:
            inputs = [[leaf(*shape, dtype=dtype) for shape in shapes]]
            tolerance = {} if dtype is torch.float32 else {"rtol": 3e-2, "atol": 3e-2}
            compare(check, str(dtype)[6:], function, inputs, **{**tolerance, **options})

    return case


def changing(function, shapes, **options):
    """One compiled function, with sizes that change from call to call."""

    def case(check):
        compare(
            check,
            "dynamic",
            function,
            [[leaf(*shape) for shape in each] for each in shapes],
            dynamic=True,
            **options,
        )

    return case


def case_mlp(check):
    model = nn.Sequential(
        nn.Linear(33, 65), nn.GELU(), nn.LayerNorm(65), nn.Linear(65, 17), nn.Softmax(-1)
    )
    compare(check, "mlp", model, [[leaf(13, 33)]], atol=1e-4)


def case_transformer_block(check):
    compare(check, "block", Block(32, 4), [[leaf(2, 13, 32)]], rtol=1e-3, atol=1e-4)


def case_convolutions(check):
    compare(check, "convolutions", Convolutions(), [[leaf(2, 3, 17, 19)]], rtol=1e-3, atol=1e-4)


def case_optimizer(check):
    """Steps of Adam as one compiled function, many tensors in a kernel."""

    def train(compile_step):
        torch.manual_seed(0)
        torch._dynamo.reset()
        model = nn.Sequential(nn.Linear(17, 33), nn.Tanh(), nn.Linear(33, 5))
        optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(1e-2))
        step = torch.compile(optimizer.step) if compile_step else optimizer.step
        x, y = torch.randn(13, 17), torch.randn(13, 5)
        for _ in range(3):
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            step()
        return [p.detach() for p in model.parameters()]

    check.close("parameters", train(True), train(False), rtol=1e-4, atol=1e-5)


def case_matmul_templates(check):
    """Products by Inductor's templates in Triton rather than by a library."""
    with config.patch(
        max_autotune_gemm=True, max_autotune_gemm_backends="TRITON", max_autotune=True
    ):
        for m, k, n in [(16, 16, 16), (33, 65, 17), (128, 64, 96)]:
            compare(
                check,
                f"{m}x{k}x{n}",
                lambda a, b: F.relu(a @ b + 1),
                [[leaf(m, k), leaf(k, n)]],
                rtol=1e-3,
                atol=1e-3,
            )


def case_convolution_templates(check):
    """Convolutions by Inductor's templates, with and without a bias, and ones that have no template."""
    kinds = (
        ("bias", lambda x, w, b: F.relu(F.conv2d(x, w, b, 1, 1)), (2, 4, 9, 11), (6, 4, 3, 3), 6),
        ("strides", lambda x, w, b: F.conv2d(x, w, b, 2), (1, 4, 13, 11), (8, 4, 3, 2), 8),
        ("no batch", lambda x, w, b: F.conv2d(x, w, b), (4, 9, 11), (6, 4, 3, 3), 6),
        ("groups", lambda x, w, b: F.conv2d(x, w, b, 1, 1, 1, 2), (1, 4, 7, 9), (6, 2, 3, 3), 6),
        ("1 x 1", lambda x, w, b: F.conv2d(x, w, b), (2, 8, 5, 7), (6, 8, 1, 1), 6),
        ("3D", lambda x, w, b: F.conv3d(x, w, b, 1, 1), (1, 2, 5, 4, 7), (4, 2, 3, 3, 3), 4),
        ("none", lambda x, w, b: F.conv2d(x, w, None, 1, 1) * b, (1, 4, 9, 11), (6, 4, 3, 3), 1),
    )
    with config.patch(
        max_autotune=True, max_autotune_gemm_backends="TRITON", max_autotune_conv_backends="TRITON"
    ):
        for label, function, x, w, bias in kinds:
            inputs = [[torch.randn(x), torch.randn(w), torch.randn(bias)]]
            compare(check, label, function, inputs, rtol=1e-3, atol=1e-3, backward=False)


def flex(
    score=None, mask=None, sizes=((1, 2, 128, 16), (2, 2, 77, 32)), kv_heads=None, options=None
):
    """FlexAttention's templates, forward and backward, against its eager form."""

    def case(check):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        for b, h, t, d in sizes:
            torch._dynamo.reset()
            before = KERNELS["count"]
            heads = kv_heads or h
            block = create_block_mask(mask, None, None, t, t, device="cpu") if mask else None
            arguments = {"score_mod": score, "block_mask": block, "enable_gqa": heads != h}
            q, k, v = leaf(b, h, t, d), leaf(b, heads, t, d), leaf(b, heads, t, d)
            actual = torch.compile(flex_attention)(q, k, v, kernel_options=options, **arguments)
            twins = [x.detach().clone().requires_grad_() for x in (q, k, v)]
            expected = flex_attention(*twins, **arguments)
            label = f"{b}x{h}x{t}x{d}"
            check.close(label, actual.detach(), expected.detach(), rtol=2e-3, atol=2e-3)
            gradient = torch.randn_like(expected)
            actual.backward(gradient)
            expected.backward(gradient)
            for i, (a, e) in enumerate(zip((q, k, v), twins, strict=True)):
                check.close(f"{label} grad {i}", a.grad, e.grad, rtol=5e-3, atol=5e-3)
            if KERNELS["count"] == before:
                check.problems.append(f"{label}: no Triton kernel was compiled")

    return case


def cases():
    half = (torch.float32, torch.bfloat16, torch.float16)
    causal = lambda b, h, q, kv: q >= kv  # noqa: E731
    return {
        "mlp": case_mlp,
        "transformer_block": case_transformer_block,
        "convolutions": case_convolutions,
        "optimizer": case_optimizer,
        "pointwise": simple(
            lambda x, y: torch.sin(x) * y.sigmoid() + x.erf(), (13, 127), (127,), dtypes=half
        ),
        "softmax": simple(lambda x: x.softmax(-1), (13, 1025), dtypes=half),
        "softmax_outer": simple(lambda x: x.softmax(0), (67, 33)),
        "log_softmax": simple(lambda x: x.log_softmax(-1), (13, 1025)),
        "layer_norm": simple(
            lambda x, w, b: F.layer_norm(x, (127,), w, b), (13, 127), (127,), (127,), atol=1e-4
        ),
        "rms_norm": simple(lambda x, w: F.rms_norm(x, (127,), w), (13, 127), (127,)),
        "sum": simple(lambda x: (x.sum(0), x.sum(1), x.sum()), (33, 4099), rtol=1e-3, atol=1e-2),
        "reductions": simple(
            lambda x: (x.amax(1), x.amin(0), x.mean(1), x.var(1), x.prod(1)), (13, 127)
        ),
        "arguments": simple(
            lambda x: (x.argmax(1), x.argmin(0), x.sort(1)[0]), (13, 64), backward=False
        ),
        "scan": simple(
            lambda x: (x.cumsum(1), x.cumsum(0), x.cumprod(1)), (13, 127), rtol=1e-3, atol=1e-3
        ),
        "logcumsumexp": simple(lambda x: x.logcumsumexp(1), (13, 127), backward=False),
        "embedding": lambda check: compare(
            check,
            "embedding",
            lambda w: F.embedding(torch.tensor([[3, 1], [0, 3]]), w).sum(1),
            [[leaf(7, 33)]],
        ),
        "gather_scatter": lambda check: compare(
            check,
            "gather",
            lambda x: torch.zeros(13, 9).scatter_add(1, CELLS % 9, x.gather(1, CELLS % 7)),
            [[leaf(13, 7)]],
        ),
        "cat_transpose": simple(
            lambda x, y: torch.cat([x.t(), y], 1).contiguous() * 2, (33, 17), (17, 5)
        ),
        "upsample": simple(
            lambda x: F.interpolate(x, scale_factor=2.5, mode="bilinear"), (1, 3, 9, 11), atol=1e-4
        ),
        "group_norm": simple(lambda x: F.group_norm(x, 3), (2, 6, 9, 5), atol=1e-4),
        "cross_entropy": simple(lambda x: F.cross_entropy(x, torch.arange(13) % 7), (13, 129)),
        "dropout_determinism": simple(lambda x: F.dropout(x, 0.0) + 1, (13, 127)),
        "softmax_dynamic": changing(lambda x: x.softmax(-1), [[(13, 127)], [(5, 64)], [(2, 1025)]]),
        "norm_dynamic": changing(
            lambda x, w: F.layer_norm(x, x.shape[-1:], w),
            [[(13, 127), (127,)], [(5, 64), (64,)]],
            atol=1e-4,
        ),
        "matmul_bias_dynamic": changing(
            lambda x, y: F.relu(x @ y).sum(0),
            [[(13, 33), (33, 9)], [(7, 33), (33, 21)]],
            rtol=1e-3,
            atol=1e-3,
        ),
        "matmul_templates": case_matmul_templates,
        "convolution_templates": case_convolution_templates,
        "flex_plain": flex(),
        "flex_causal": flex(mask=causal),
        "flex_score": flex(score=lambda s, b, h, q, kv: s + (q - kv) * 0.01),
        "flex_window": flex(mask=lambda b, h, q, kv: (q >= kv) & (q - kv <= 32)),
        "flex_grouped": flex(mask=causal, sizes=((1, 4, 128, 16),), kv_heads=2),
        "flex_descriptors": flex(mask=causal, sizes=((1, 2, 128, 16),), options={"USE_TMA": True}),
    }
