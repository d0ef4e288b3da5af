# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What liger-kernel's operators compute, in plain PyTorch."""

from __future__ import annotations

import torch
import torch.nn.functional as F


def rms_norm(x, w, eps=1e-6):
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return y if w is None else y * w


def cross_entropy(
    x,
    target,
    weight=None,
    lse_square_scale=0.0,
    label_smoothing=0.0,
    reduction="mean",
    softcap=None,
):
    if softcap is not None:
        x = softcap * torch.tanh(x / softcap)
    loss = F.cross_entropy(x, target, weight, label_smoothing=label_smoothing, reduction=reduction)
    if lse_square_scale:
        squares = x.logsumexp(-1).pow(2)[target != -100]
        loss = loss + lse_square_scale * (squares.mean() if reduction == "mean" else squares.sum())
    return loss


def jsd(student, teacher, beta):
    """Of log-probabilities; beta 0 and 1 are the two divergences of Kullback and Leibler."""
    p, q = teacher.exp(), student.exp()
    if beta == 0.0:
        total = (p * (teacher - student)).sum()
    elif beta == 1.0:
        total = (q * (student - teacher)).sum()
    else:
        log_m = (beta * p + (1 - beta) * q).log()
        total = (beta * p * (teacher - log_m) + (1 - beta) * q * (student - log_m)).sum()
    return total / student.shape[0]


def tvd(p, q, reduction):
    total = 0.5 * (p - q).abs()
    return {
        "batchmean": total.sum() / p.shape[0],
        "sum": total.sum(),
        "mean": total.sum() / p.numel(),
    }[reduction]


def rotate(x):
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


def sparsemax(x, dim):
    """The projection of each row onto the simplex."""
    ordered = x.sort(dim, descending=True).values
    rank = torch.arange(1, x.shape[dim] + 1, dtype=x.dtype)
    rank = rank.reshape([-1 if i == dim % x.dim() else 1 for i in range(x.dim())])
    sums = ordered.cumsum(dim)
    support = (1 + rank * ordered > sums).sum(dim, keepdim=True)
    tau = (sums.gather(dim, support - 1) - 1) / support
    return torch.clamp(x - tau, min=0)


def sinkhorn(logits, steps, eps):
    m = logits.softmax(-1) + eps
    m = m / (m.sum(-2, keepdim=True) + eps)
    for _ in range(steps - 1):
        m = m / (m.sum(-1, keepdim=True) + eps)
        m = m / (m.sum(-2, keepdim=True) + eps)
    return m


def neighborhood_mask(length, kernel, dilation):
    distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
    return (distance.abs() <= kernel // 2 * dilation) & (distance % dilation == 0)


def moe(x, gate_up, down, index, weights):
    gate, up = torch.einsum("th,eih->tei", x, gate_up).chunk(2, -1)
    each = torch.einsum("tei,ehi->teh", F.silu(gate) * up, down)
    chosen = each.gather(1, index.unsqueeze(-1).expand(-1, -1, each.shape[-1]))
    return (chosen * weights.unsqueeze(-1)).sum(1)


def grpo(logits, old, ref, ids, advantage, mask, temperature, beta, eps_low, eps_high):
    logp = (logits[:, :-1] / temperature).log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    ratio = (logp - old).exp()
    clipped = ratio.clamp(1 - eps_low, 1 + eps_high)
    loss = -torch.min(ratio * advantage[:, None], clipped * advantage[:, None]) * mask
    if beta:
        loss = loss + beta * ((ref - logp).exp() - (ref - logp) - 1) * mask
    return loss
