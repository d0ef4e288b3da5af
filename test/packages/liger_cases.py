# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Operators of liger-kernel: each autograd function of liger_kernel.ops, forward and backward, against plain PyTorch.

The package takes CPU tensors as they are. What it asks of the host is in `hosts.liger`.
"""

from __future__ import annotations

import hosts

hosts.liger()

import liger_kernel.ops as ops
import liger_losses
import torch
import torch.nn.functional as F
from liger_reference import moe, neighborhood_mask, rms_norm, rotate, sinkhorn
from liger_support import compare, leaf, norm, rows


def case_group_norm(check):
    for n, c, groups, h in [(2, 4, 2, 16), (3, 6, 3, 127), (1, 5, 1, 33)]:
        compare(
            check,
            f"{n}x{c}x{h}/{groups}",
            lambda x, w, b, c=c, groups=groups: ops.LigerGroupNormFunction.apply(
                x, w, b, c, groups, 1e-5
            ),
            lambda x, w, b, groups=groups: F.group_norm(x, groups, w, b, 1e-5),
            [leaf(n, c, h), leaf(c), leaf(c)],
            atol=1e-4,
        )


def case_rope(check):
    for b, hq, hk, s, d in [(1, 2, 2, 8, 16), (2, 3, 1, 13, 32)]:
        angle = torch.rand(1, s, d // 2) * 6
        cos, sin = (torch.cat([f(angle), f(angle)], -1) for f in (torch.cos, torch.sin))

        def ours(q, k, cos=cos, sin=sin):
            return ops.LigerRopeFunction.apply(q, k, cos, sin)

        def reference(q, k, cos=cos, sin=sin):
            return tuple(t * cos[:, None] + rotate(t) * sin[:, None] for t in (q, k))

        # The package rotates in place, so the leaves are behind an operation.
        compare(
            check,
            f"{b}x{hq}x{hk}x{s}x{d}",
            lambda q, k, f=ours: f(q * 1, k * 1),
            reference,
            [leaf(b, hq, s, d), leaf(b, hk, s, d)],
        )


def case_qwen2vl_mrope(check):
    section = [2, 3, 3]
    for b, hq, hk, s in [(1, 2, 2, 8), (2, 3, 1, 13)]:
        d = 2 * sum(section)
        angle = torch.rand(3, b, s, d // 2) * 6
        cos, sin = (torch.cat([f(angle), f(angle)], -1) for f in (torch.cos, torch.sin))

        def reference(q, k, cos=cos, sin=sin):
            def mix(table):
                parts = table.split(section * 2, dim=-1)
                return torch.cat([part[i % 3] for i, part in enumerate(parts)], -1)[:, None]

            return tuple(t * mix(cos) + rotate(t) * mix(sin) for t in (q, k))

        compare(
            check,
            f"{b}x{hq}x{hk}x{s}",
            lambda q, k, cos=cos, sin=sin: ops.LigerQwen2VLMRopeFunction.apply(
                q * 1, k * 1, cos, sin, section
            ),
            reference,
            [leaf(b, hq, s, d), leaf(b, hk, s, d)],
        )


def case_llama4_rope(check):
    for b, hq, hk, s, d in [(1, 2, 2, 8, 16), (2, 3, 1, 13, 32)]:
        angle = (torch.rand(1, s, d // 2) * 6).expand(
            b, -1, -1
        )  # the batches share their positions
        freqs = torch.polar(torch.ones_like(angle), angle)

        def reference(q, k, freqs=freqs):
            def turn(t):
                pairs = torch.view_as_complex(t.reshape(*t.shape[:-1], -1, 2))
                return torch.view_as_real(pairs * freqs[:, :, None, :]).flatten(3)

            return turn(q), turn(k)

        compare(
            check,
            f"{b}x{hq}x{hk}x{s}x{d}",
            lambda q, k, freqs=freqs: ops.LigerLlama4RopeFunction.apply(q * 1, k * 1, freqs),
            reference,
            [leaf(b, s, hq, d), leaf(b, s, hk, d)],
        )


def case_embedding(check):
    for v, d, n in [(8, 16, 5), (31, 127, 40)]:
        index = torch.randint(0, v, (n,))
        compare(
            check,
            f"{v}x{d}",
            lambda w, index=index: ops.LigerEmbeddingFunction.apply(w, index),
            lambda w, index=index: F.embedding(index, w),
            [leaf(v, d)],
        )


def case_dyt(check):
    for m, n in [(2, 64), (13, 127), (5, 1025)]:
        compare(
            check,
            f"{m}x{n}",
            lambda x, a, g, b: ops.LigerDyTFunction.apply(x, a, g, b),
            lambda x, a, g, b: g * torch.tanh(a * x) + b,
            [leaf(m, n), leaf(1), leaf(n), leaf(n)],
        )


def case_mlp(check):
    for m, h, i in [(4, 16, 32), (13, 36, 68)]:  # rows of a multiple of 16 bytes
        tensors = [
            leaf(1, m, h),
            leaf(i, h, scale=0.2),
            leaf(i, h, scale=0.2),
            leaf(h, i, scale=0.2),
        ]

        def reference(x, g, u, d):
            return (F.silu(x @ g.t()) * (x @ u.t())) @ d.t()

        compare(check, f"{m}x{h}x{i}", ops.LigerMLPFunction.apply, reference, tensors)


def case_tiled_mlp(check):
    from torch import nn

    for m, h, shards in [(8, 16, 2), (13, 33, 4)]:
        model = nn.Sequential(nn.Linear(h, 2 * h), nn.SiLU(), nn.Linear(2 * h, h))
        x = torch.randn(1, m, h)
        ours, theirs = (x.clone().requires_grad_() for _ in range(2))
        parameters = list(model.parameters())
        actual = ops.apply_tiled_mlp(lambda module, t: module(t), model, ours, shards, parameters)
        actual.sum().backward()
        grads = [p.grad.clone() for p in parameters]
        model.zero_grad()
        expected = model(theirs)
        expected.sum().backward()
        check.close("result", actual.detach(), expected.detach())
        check.close("grad", [ours.grad, *grads], [theirs.grad, *(p.grad for p in parameters)])


def case_multi_token_attention(check):
    for sparse in (False, True):
        for b, c, length, k in [(2, 4, 8, 3), (1, 3, 13, 5)]:
            lower = torch.ones(length, length, dtype=torch.bool).tril()

            def ours(x, w, bias, k=k, sparse=sparse):
                return ops.LigerMultiTokenAttentionFunction.apply(
                    x, w, bias, 1, k // 2, 1, 1, sparse
                )

            def reference(x, w, bias, k=k, lower=lower, sparse=sparse):
                from liger_reference import sparsemax

                x = x.masked_fill(~lower, -1e9)
                p = sparsemax(x, -1) if sparse else x.softmax(-1)
                return F.conv2d(p, w, bias, padding=k // 2).masked_fill(~lower, 0.0)

            compare(
                check,
                f"sparse {sparse} {b}x{c}x{length}",
                ours,
                reference,
                [leaf(b, c, length, length), leaf(c, c, k, k), leaf(c)],
            )


def case_sparsemax(check):
    from liger_reference import sparsemax

    for dim in (-1, 1):
        for shape in [(2, 3, 16), (3, 13, 127)]:
            compare(
                check,
                f"dim {dim} {shape}",
                lambda x, dim=dim: ops.LigerSparsemaxFunction.apply(x, dim),
                lambda x, dim=dim: sparsemax(x, dim),
                [leaf(*shape)],
            )


def case_neighborhood_attention(check):
    for dilation in (1, 2):
        for b, h, s, d, k in [(1, 2, 16, 16, 3), (2, 1, 13, 32, 5)]:
            mask = neighborhood_mask(s, k, dilation)

            def reference(q, key, v, mask=mask, d=d):
                scores = (q @ key.transpose(-1, -2)) / d**0.5
                return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v

            compare(
                check,
                f"dilation {dilation} {b}x{h}x{s}x{d}",
                lambda q, key, v, k=k, dilation=dilation: (
                    ops.LigerFusedNeighborhoodAttentionFunction.apply(q, key, v, k, dilation)
                ),
                reference,
                [leaf(b, h, s, d) for _ in range(3)],
                rtol=1e-3,
                atol=1e-4,
            )


def case_fused_moe(check):
    for t, e, h, i, k in [(6, 4, 16, 32, 2), (13, 3, 33, 17, 1), (40, 5, 64, 24, 3)]:
        index = torch.rand(t, e).topk(k, dim=-1).indices.to(torch.int32)
        tensors = [
            leaf(t, h),
            leaf(e, 2 * i, h, scale=0.2),
            leaf(e, h, i, scale=0.2),
            torch.rand(t, k).softmax(-1).requires_grad_(),
        ]
        compare(
            check,
            f"{t}x{e}x{h}x{i} top {k}",
            lambda x, up, down, w, index=index: ops.LigerFusedMoEFunction.apply(
                x, up, down, index, w
            ),
            lambda x, up, down, w, index=index: moe(x, up, down, index.long(), w),
            tensors,
            rtol=1e-3,
            atol=1e-4,
        )


def case_attn_res(check):
    for n, b, t, d in [(4, 1, 8, 64), (3, 2, 5, 123)]:

        def reference(v, q, w):
            key = v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + 1e-6) * w
            return torch.einsum("nbt,nbtd->btd", (key @ q).softmax(0), v)

        compare(
            check,
            f"{n}x{b}x{t}x{d}",
            lambda v, q, w: ops.LigerAttnResFunction.apply(v, q, w, 1e-6),
            reference,
            [leaf(n, b, t, d), leaf(d), leaf(d)],
            atol=1e-4,
        )


def case_mhc_coeffs(check):
    for b, t, hc, c in [(1, 4, 4, 16), (2, 5, 2, 33)]:
        width = 2 * hc + hc * hc
        tensors = [
            leaf(b, t, hc, c),
            leaf(hc * c, width, scale=0.1),
            leaf(width),
            leaf(),
            leaf(),
            leaf(),
        ]

        def reference(x, phi, bias, pre, post, res, hc=hc):
            rows = x.reshape(-1, x.shape[-2] * x.shape[-1])
            mix = (rows @ phi) * torch.rsqrt(rows.pow(2).mean(-1, keepdim=True) + 1e-6)
            h_pre = torch.sigmoid(mix[:, :hc] * pre + bias[:hc]) + 1e-2
            h_post = torch.sigmoid(mix[:, hc : 2 * hc] * post + bias[hc : 2 * hc]) * 2.0
            logits = mix[:, 2 * hc :].reshape(-1, hc, hc) * res + bias[2 * hc :].reshape(hc, hc)
            lead = x.shape[:-2]
            return (
                h_pre.reshape(*lead, hc),
                h_post.reshape(*lead, hc),
                sinkhorn(logits, 4, 1e-6).reshape(*lead, hc, hc),
            )

        compare(
            check,
            f"{b}x{t}x{hc}x{c}",
            lambda *a: ops.LigerMHCCoeffsFunction.apply(*a, True, 4, 1e-6, 1e-2, 1e-6, 2.0),
            reference,
            tensors,
            rtol=2e-3,
            atol=2e-3,
        )


def case_mhc_pre(check):
    for b, t, hc, c in [(1, 4, 4, 16), (2, 5, 2, 33)]:
        compare(
            check,
            f"{b}x{t}x{hc}x{c}",
            ops.LigerMHCPreFunction.apply,
            lambda x, h: (x * h.unsqueeze(-1)).sum(-2),
            [leaf(b, t, hc, c), leaf(b, t, hc)],
        )


def case_mhc_post_res(check):
    for b, t, hc, c in [(1, 4, 4, 16), (2, 5, 2, 33)]:
        compare(
            check,
            f"{b}x{t}x{hc}x{c}",
            ops.LigerMHCPostResFunction.apply,
            lambda x, f, p, r: (
                torch.einsum("btoi,btic->btoc", r, x) + p.unsqueeze(-1) * f.unsqueeze(-2)
            ),
            [leaf(b, t, hc, c), leaf(b, t, c), leaf(b, t, hc), leaf(b, t, hc, hc)],
        )


def case_mm_int8int2(check):
    from liger_kernel.ops.experimental.mm_int8int2 import matmul, pack_weights

    for m, k, n in [(16, 1024, 32), (13, 2048, 65)]:  # K: a multiple of 4 blocks
        a = torch.randint(-127, 127, (m, k), dtype=torch.int8)
        w = torch.randint(-1, 2, (k, n), dtype=torch.int32)
        packed = pack_weights(w.clone(), 2)
        actual = matmul(a, packed)
        check.close(f"{m}x{k}x{n}", actual, a.int() @ w, exact_dtype=False)


def cases():
    gelu = lambda a, b: F.gelu(a, approximate="tanh") * b  # noqa: E731
    table = {
        "softmax": rows(ops.LigerSoftmaxFunction.apply, lambda x: x.softmax(-1)),
        "swiglu": rows(ops.LigerSiLUMulFunction.apply, lambda a, b: F.silu(a) * b, count=2),
        "geglu": rows(ops.LigerGELUMulFunction.apply, gelu, count=2),
        "relu_squared": rows(ops.LigerReLUSquaredFunction.apply, lambda x: F.relu(x).pow(2)),
        "layer_norm": norm(
            lambda x, w, b: ops.LigerLayerNormFunction.apply(x, w, b, 1e-5),
            lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-5),
            parameters=2,
            atol=1e-1,
        ),
        "rms_norm": norm(
            lambda x, w: ops.LigerRMSNormFunction.apply(x, w, 1e-6), rms_norm, atol=1e-1
        ),
        "poly_norm": lambda check: [
            compare(
                check,
                f"{m}x{n}",
                lambda x, w, b: ops.LigerPolyNormFunction.apply(x * 1, w, b, 1e-6),
                lambda x, w, b: sum(w[i] * rms_norm(x ** (3 - i), None) for i in range(3)) + b,
                [leaf(m, n), leaf(3), leaf()],
                rtol=1e-3,
                atol=1e-3,
            )
            for m, n in [(2, 64), (13, 127), (5, 1025)]
        ],
        "fused_add_rms_norm": norm(
            lambda x, w: ops.LigerFusedAddRMSNormFunction.apply(x * 2, x * 3, w, 1e-6),
            lambda x, w: (rms_norm(x * 5, w), x * 5),
            atol=1e-1,
        ),
        "modulated_rms_norm": lambda check: [
            compare(
                check,
                f"{b}x{t}x{n}",
                lambda x, w, scale, shift: ops.LigerModulatedRMSNormFunction.apply(
                    x * 1, w, scale, shift, 1e-6
                ),
                lambda x, w, scale, shift: rms_norm(x, w) * (1 + scale[:, None]) + shift[:, None],
                [leaf(b, t, n), leaf(n), leaf(b, n), leaf(b, n)],
                atol=1e-3,
            )
            for b, t, n in [(1, 2, 64), (2, 5, 127)]
        ],
        "fused_gate_up_swiglu": lambda check: [
            compare(
                check,
                f"{m}x{n}",
                lambda y: ops.LigerFusedGateUpSiLUMulFunction.apply(y),
                lambda y: F.silu(y.chunk(2, -1)[0]) * y.chunk(2, -1)[1],
                [leaf(m, 2 * n)],
            )
            for m, n in [(1, 1), (4, 64), (13, 127)]
        ],
    }
    prefix = "case_"
    for name, function in [*vars(liger_losses).items(), *globals().items()]:
        if name.startswith(prefix):
            table[name.removeprefix(prefix)] = function
    return table
