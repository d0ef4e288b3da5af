# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""liger-kernel's losses: some are fused with the linear layer before them."""

from __future__ import annotations

import liger_kernel.ops as ops
import torch
import torch.nn.functional as F
from liger_reference import cross_entropy, grpo, jsd, tvd
from liger_support import compare, leaf


def case_cross_entropy(check):
    for options in (
        {},
        {"label_smoothing": 0.1, "lse_square_scale": 1e-3},
        {"reduction": "sum", "softcap": 20.0},
        {"weight": True},
    ):
        for m, v in [(1, 8), (7, 127), (5, 1025)]:
            target = torch.randint(0, v, (m,))
            if m > 1:
                target[0] = -100
            opts = dict(options)
            weight = torch.rand(v) + 0.5 if opts.pop("weight", False) else None

            def ours(x, target=target, weight=weight, opts=opts):
                return ops.LigerCrossEntropyFunction.apply(
                    x,
                    target,
                    weight,
                    -100,
                    opts.get("lse_square_scale", 0.0),
                    opts.get("label_smoothing", 0.0),
                    opts.get("reduction", "mean"),
                    opts.get("softcap"),
                )[0]

            def reference(x, target=target, weight=weight, opts=opts):
                return cross_entropy(x, target, weight=weight, **opts)

            compare(check, f"{options} {m}x{v}", ours, reference, [leaf(m, v)])


def case_fused_linear_cross_entropy(check):
    for bias in (False, True):
        for bt, h, v in [(4, 16, 32), (13, 33, 127)]:
            target = torch.randint(0, v, (bt,))
            target[0] = -100
            tensors = [leaf(bt, h), leaf(v, h, scale=0.2)] + ([leaf(v)] if bias else [])

            def ours(x, w, b=None, target=target):
                return ops.LigerFusedLinearCrossEntropyFunction.apply(x, w, target, b)[0]

            def reference(x, w, b=None, target=target):
                return F.cross_entropy(F.linear(x, w, b), target)

            compare(check, f"bias {bias} {bt}x{h}x{v}", ours, reference, tensors)


def case_jsd(check):
    for beta in (0.0, 0.1, 0.5, 1.0):
        for bt, v in [(4, 16), (7, 127), (3, 1025)]:
            target = torch.randn(bt, v).log_softmax(-1)

            def ours(x, target=target, beta=beta):
                return ops.LigerJSDFunction.apply(x.log_softmax(-1), target, None, beta)

            def reference(x, target=target, beta=beta):
                return jsd(x.log_softmax(-1), target, beta)

            compare(check, f"beta {beta} {bt}x{v}", ours, reference, [leaf(bt, v)])


def case_fused_linear_jsd(check):
    for beta in (0.0, 0.5):
        for bt, h, v in [(4, 16, 32), (13, 33, 127)]:
            tx, tw = torch.randn(bt, h), torch.randn(v, h) * 0.3

            def ours(x, w, tx=tx, tw=tw, beta=beta):
                return ops.LigerFusedLinearJSDFunction.apply(x, w, tx, tw, None, beta, -100, 2.0)

            def reference(x, w, tx=tx, tw=tw, beta=beta):
                student = ((x @ w.t()) / 2.0).log_softmax(-1)
                return jsd(student, ((tx @ tw.t()) / 2.0).log_softmax(-1), beta)

            compare(
                check, f"beta {beta} {bt}", ours, reference, [leaf(bt, h), leaf(v, h, scale=0.3)]
            )


def case_kl_div(check):
    for reduction in ("batchmean", "sum", "mean", "none"):
        for log_target in (False, True):
            for bt, v in [(4, 16), (7, 127), (3, 1025)]:
                q = torch.randn(bt, v).softmax(-1)
                target = q.log() if log_target else q

                def ours(x, target=target, reduction=reduction, log_target=log_target):
                    return ops.LigerKLDivLossFunction.apply(
                        x.log_softmax(-1), target, reduction, log_target
                    )

                def reference(x, target=target, reduction=reduction, log_target=log_target):
                    return F.kl_div(
                        x.log_softmax(-1), target, reduction=reduction, log_target=log_target
                    )

                if reduction == "none":  # the package gives a gradient for scalars only
                    x = torch.randn(bt, v)
                    check.close(f"none {bt}x{v}", ours(x), reference(x))
                else:
                    compare(
                        check, f"{reduction} {log_target} {bt}x{v}", ours, reference, [leaf(bt, v)]
                    )


def case_fused_linear_kl_div(check):
    for bt, h, v in [(4, 16, 32), (13, 33, 127)]:
        target = torch.randn(bt, v).softmax(-1)

        def ours(x, w, target=target):
            return ops.LigerFusedLinearKLDivFunction.apply(
                x, w, target, None, "batchmean", -100, 2.0
            )

        def reference(x, w, target=target):
            return F.kl_div(((x @ w.t()) / 2.0).log_softmax(-1), target, reduction="batchmean")

        compare(check, f"{bt}x{h}x{v}", ours, reference, [leaf(bt, h), leaf(v, h, scale=0.3)])


def case_tvd(check):
    for reduction in ("batchmean", "sum", "mean"):
        for bt, v in [(4, 16), (7, 127), (3, 1025)]:
            q = torch.randn(bt, v).softmax(-1)

            def ours(x, q=q, reduction=reduction):
                return ops.LigerTVDLossFunction.apply(x.softmax(-1), q, None, reduction)

            def reference(x, q=q, reduction=reduction):
                return tvd(x.softmax(-1), q, reduction)

            compare(check, f"{reduction} {bt}x{v}", ours, reference, [leaf(bt, v)])


def case_fused_ce_tvd(check):
    for bt, v in [(4, 16), (7, 127), (3, 1025)]:
        teacher, target = torch.randn(bt, v), torch.randint(0, v, (bt,))

        def ours(x, teacher=teacher, target=target):
            return ops.LigerFusedCETVDFunction.apply(x, teacher, target)

        def reference(x, teacher=teacher, target=target):
            distance = 0.5 * (x.softmax(-1) - teacher.softmax(-1)).abs().sum(-1)
            return F.cross_entropy(x, target, reduction="none"), distance

        compare(check, f"{bt}x{v}", ours, reference, [leaf(bt, v)])


def case_grpo_loss(check):
    for beta in (0.0, 0.04):
        for b, t, v in [(2, 4, 16), (3, 7, 127)]:
            ids = torch.randint(0, v, (b, t))
            old, reference_logp = -torch.rand(b, t) * 3, -torch.rand(b, t) * 3
            advantage = torch.randn(b)
            mask = (torch.rand(b, t) > 0.2).int()

            def ours(
                x, ids=ids, old=old, ref=reference_logp, advantage=advantage, mask=mask, beta=beta
            ):
                return ops.GrpoLossFunction.apply(
                    x,
                    old,
                    ref,
                    ids,
                    advantage,
                    mask,
                    0.9,
                    beta,
                    0.2,
                    0.4,
                    False,
                    "grpo",
                    None,
                    False,
                )[0]

            def reference(
                x, ids=ids, old=old, ref=reference_logp, advantage=advantage, mask=mask, beta=beta
            ):
                return grpo(x, old, ref, ids, advantage, mask, 0.9, beta, 0.2, 0.4)

            compare(check, f"beta {beta} {b}x{t}x{v}", ours, reference, [leaf(b, t + 1, v)])


def case_scaled_cross_entropy(check):
    function = ops.LigerFusedLinearScaledCrossEntropyFunction
    for bt, h, v in [(4, 16, 32), (13, 33, 127)]:
        target = torch.randint(0, v, (bt,))
        compare(
            check,
            f"{bt}x{h}x{v}",
            lambda x, w, target=target: function.apply(x, w, target, 0.8),
            lambda x, w, target=target: F.cross_entropy(
                (x @ w.t()) / 0.8, target, reduction="none"
            ),
            [leaf(bt, h), leaf(v, h, scale=0.3)],
        )
