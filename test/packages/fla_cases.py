# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Operators of fla-core (flash linear attention), forward and backward, against recurrences in plain PyTorch.

The package asks Triton's driver for its target and takes "cpu" as a device.
"""

from __future__ import annotations

import hosts

hosts.fla()

import torch
import torch.nn.functional as F
from fla import ops

# Batch, length, heads, width of keys, width of values: lengths around the chunks of 64, widths that need masks.
SIZES = [(1, 16, 1, 16, 16), (2, 67, 2, 32, 48)]


def recurrence(q, k, v, decay=None, beta=None, scale=None, bonus=None):
    """S = diag(exp(decay)) S + k w, o = q S; w is v, or with beta what the delta rule writes.

    With bonus, a token reads the state from before it and its own product times the bonus."""
    batch, length, heads, width = q.shape
    scale = width**-0.5 if scale is None else scale
    state = q.new_zeros(batch, heads, width, v.shape[-1])
    results = []
    for t in range(length):
        qt, kt, vt = q[:, t] * scale, k[:, t], v[:, t]
        if bonus is not None:
            product = kt.unsqueeze(-1) * vt.unsqueeze(-2)
            results.append(
                torch.einsum("bhk,bhkv->bhv", qt, state + bonus[None, :, :, None] * product)
            )
        if decay is not None:
            gate = decay[:, t]
            state = state * (
                gate.exp()[..., None] if gate.dim() == 3 else gate.exp()[..., None, None]
            )
        if beta is not None:
            vt = (vt - torch.einsum("bhk,bhkv->bhv", kt, state)) * beta[:, t, :, None]
        state = state + kt.unsqueeze(-1) * vt.unsqueeze(-2)
        if bonus is None:
            results.append(torch.einsum("bhk,bhkv->bhv", qt, state))
    return torch.stack(results, 1)


def attention(q, k, v, bias=None):
    groups = q.shape[2] // k.shape[2]
    k, v = (x.repeat_interleave(groups, 2) for x in (k, v))
    scores = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias
    length = q.shape[1]
    scores = scores.masked_fill(~torch.ones(length, length, dtype=torch.bool).tril(), float("-inf"))
    return torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v)


def leaf(*shape):
    return torch.randn(shape).requires_grad_()


def gates(*shape):
    return F.logsigmoid(torch.randn(shape)).requires_grad_()


def compare(check, label, function, reference, tensors, rtol=2e-3, atol=2e-3):
    """The result and all gradients, in f32."""
    theirs = [t.detach().clone().requires_grad_() for t in tensors]
    actual, expected = function(*tensors), reference(*theirs)
    actual = actual[0] if isinstance(actual, tuple) else actual
    check.close(label, actual.detach(), expected.detach(), rtol=rtol, atol=atol)
    grad = torch.randn_like(expected)
    actual.backward(grad)
    expected.backward(grad)
    for i, (a, e) in enumerate(zip(tensors, theirs, strict=True)):
        scale = max(1.0, e.grad.abs().max().item())
        check.close(f"{label} grad {i}", a.grad, e.grad, rtol=rtol, atol=atol * scale)


def family(function, reference, extra=lambda b, t, h, k, v: (), normalize=False, **tolerance):
    """A case for q, k, v and what `extra` makes; `normalize`: keys of length one, as the delta rule needs."""

    def case(check):
        for b, t, h, k, v in SIZES:
            key = (
                F.normalize(torch.randn(b, t, h, k), dim=-1).requires_grad_()
                if normalize
                else leaf(b, t, h, k)
            )
            tensors = [leaf(b, t, h, k), key, leaf(b, t, h, v), *extra(b, t, h, k, v)]
            compare(check, f"{b}x{t}x{h}x{k}x{v}", function, reference, tensors, **tolerance)

    return case


def per_head(b, t, h, k, v):
    return (gates(b, t, h),)


def per_channel(b, t, h, k, v):
    return (gates(b, t, h, k),)


def rates(b, t, h, k, v):
    return (torch.rand(b, t, h).requires_grad_(),)


def retention(q, k, v):
    heads = torch.arange(q.shape[2], dtype=torch.float32)
    decay = (1 - torch.exp2(-5 - heads)).log().expand(q.shape[0], q.shape[1], -1)
    return recurrence(q, k, v, decay)


def case_hgrn(function):
    def reference(x, g):
        state, results = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            state = g[:, t].exp() * state + x[:, t]
            results.append(state)
        return torch.stack(results, 1)

    def case(check):
        for b, t, d in [(1, 16, 32), (2, 67, 100)]:
            compare(check, f"{b}x{t}x{d}", function, reference, [leaf(b, t, d), gates(b, t, d)])

    return case


def case_attention(check):
    for b, t, hq, h, d in [(1, 16, 1, 1, 16), (2, 67, 4, 2, 32)]:
        tensors = [leaf(b, t, hq, d), leaf(b, t, h, d), leaf(b, t, h, d)]
        compare(check, f"{b}x{t}x{hq}x{h}x{d}", ops.parallel_attn, attention, tensors)


def case_forgetting_attention(check):
    def reference(q, k, v, g):
        total = g.cumsum(1).permute(0, 2, 1)
        return attention(q, k, v, total.unsqueeze(-1) - total.unsqueeze(-2))

    for b, t, h, d in [(1, 16, 1, 16), (2, 67, 2, 32)]:
        tensors = [leaf(b, t, h, d), leaf(b, t, h, d), leaf(b, t, h, d), gates(b, t, h)]
        compare(check, f"{b}x{t}x{h}x{d}", ops.parallel_forgetting_attn, reference, tensors)


def case_rwkv6(function):
    def case(check):
        for b, t, h, k, v in SIZES:
            tensors = [
                leaf(b, t, h, k),
                leaf(b, t, h, k),
                leaf(b, t, h, v),
                gates(b, t, h, k),
                leaf(h, k),
            ]
            compare(
                check,
                f"{b}x{t}x{h}x{k}x{v}",
                function,
                lambda r, k, v, w, u: recurrence(r, k, v, w, bonus=u),
                tensors,
            )

    return case


def cases():
    plain = lambda f: lambda q, k, v: f(q, k, v, normalize=False)  # noqa: E731
    gated = lambda q, k, v, g: recurrence(q, k, v, g)  # noqa: E731
    delta = lambda q, k, v, beta: recurrence(q, k, v, beta=beta)  # noqa: E731
    gated_delta = lambda q, k, v, g, beta: recurrence(q, k, v, g, beta)  # noqa: E731

    def with_rates(make):
        return lambda *size: (*make(*size), *rates(*size))

    def by_gk(q, k, v, g):
        return ops.fused_recurrent_gla(q, k, v, gk=g)

    def simple(f):
        return lambda q, k, v, g: f(q, k, v, g=g)

    def in_bf16(f):
        return lambda *tensors: f(*(t.bfloat16() for t in tensors))[0].float()

    def delta_with(f):
        return lambda q, k, v, g, beta: f(q, k, v, g=g, beta=beta)

    return {
        "chunk_linear_attn": family(plain(ops.chunk_linear_attn), recurrence),
        "fused_recurrent_linear_attn": family(plain(ops.fused_recurrent_linear_attn), recurrence),
        "chunk_retention": family(ops.chunk_retention, retention),
        "fused_recurrent_retention": family(ops.fused_recurrent_retention, retention),
        "parallel_retention": family(ops.parallel_retention, retention),
        "chunk_simple_gla": family(simple(ops.chunk_simple_gla), gated, per_head),
        "fused_recurrent_simple_gla": family(
            simple(ops.fused_recurrent_simple_gla), gated, per_head
        ),
        "parallel_simple_gla": family(simple(ops.parallel_simple_gla), gated, per_head),
        "chunk_gla": family(ops.chunk_gla, gated, per_channel),
        "fused_recurrent_gla": family(by_gk, gated, per_channel),
        # This one takes bf16 and nothing else.
        "chunk_delta_rule": family(
            in_bf16(ops.chunk_delta_rule), delta, rates, normalize=True, rtol=5e-2, atol=5e-2
        ),
        "fused_recurrent_delta_rule": family(
            ops.fused_recurrent_delta_rule, delta, rates, normalize=True
        ),
        "chunk_gated_delta_rule": family(
            ops.chunk_gated_delta_rule, gated_delta, with_rates(per_head), normalize=True
        ),
        "chunk_kda": family(
            delta_with(ops.chunk_kda), gated_delta, with_rates(per_channel), normalize=True
        ),
        "fused_recurrent_hgrn": case_hgrn(ops.fused_recurrent_hgrn),
        "chunk_hgrn": case_hgrn(ops.hgrn.chunk_hgrn),
        "chunk_rwkv6": case_rwkv6(ops.chunk_rwkv6),
        "fused_recurrent_rwkv6": case_rwkv6(ops.fused_recurrent_rwkv6),
        "parallel_attn": case_attention,
        "parallel_forgetting_attn": case_forgetting_attention,
    }
