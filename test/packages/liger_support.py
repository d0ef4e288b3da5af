# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Comparing an operator of liger-kernel with plain PyTorch, forward and backward."""

from __future__ import annotations

import torch

F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
# Rows and columns: one, a power of two, primes, one more than a block.
ROWS = [(1, 1), (4, 64), (13, 127), (3, 1025)]


def leaf(*shape, dtype=F32, scale=1.0):
    return (torch.randn(shape) * scale).to(dtype).requires_grad_()


def twins(tensors):
    """The same leaves twice: one for the package, one in f32 for the reference."""
    ours = [t.detach().clone().requires_grad_(t.requires_grad) for t in tensors]
    theirs = [t.detach().float().clone().requires_grad_(t.requires_grad) for t in tensors]
    return ours, theirs


def compare(check, label, function, reference, tensors, **tolerance):
    """Results, and the gradients of all leaves for random gradients of all results."""
    ours, theirs = twins(tensors)
    actual, expected = function(*ours), reference(*theirs)
    actual = [
        t for t in (actual if isinstance(actual, (tuple, list)) else [actual]) if t is not None
    ]
    expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    actual = actual[: len(expected)]
    check.close(
        label,
        [t.detach() for t in actual],
        [t.detach() for t in expected],
        exact_dtype=False,
        **tolerance,
    )
    pairs = [(a, e) for a, e in zip(actual, expected, strict=True) if e.requires_grad]
    if not pairs:
        return
    grads = [torch.randn(e.shape) for _, e in pairs]
    # Copies: some of the package's functions write their gradient in place.
    torch.autograd.backward(
        [a for a, _ in pairs],
        [g.to(a.dtype, copy=True) for (a, _), g in zip(pairs, grads, strict=True)],
    )
    torch.autograd.backward([e for _, e in pairs], grads)
    for i, (a, e) in enumerate(zip(ours, theirs, strict=True)):
        if e.grad is not None and a.requires_grad:
            check.close(f"{label} grad {i}", a.grad, e.grad, exact_dtype=False, **tolerance)


def rows(function, reference, dtypes=(F32, BF16), count=1, **tolerance):
    """A case over ROWS and types for functions of `count` tensors of one shape."""

    def case(check):
        for dtype in dtypes:
            for shape in ROWS:
                tensors = [leaf(*shape, dtype=dtype) for _ in range(count)]
                compare(check, f"{dtype} {shape}", function, reference, tensors, **tolerance)

    return case


def norm(function, reference, parameters=1, **tolerance):
    """A case for functions of a block of rows and of some vectors as long as a row."""

    def case(check):
        for dtype in (F32, BF16):
            for m, n in [(2, 64), (13, 127), (5, 1025)]:
                tensors = [
                    leaf(m, n, dtype=dtype),
                    *(leaf(n, dtype=dtype) for _ in range(parameters)),
                ]
                bf16 = dict(rtol=3e-2, atol=6e-2) if dtype is BF16 else {}
                compare(
                    check, f"{dtype} {m}x{n}", function, reference, tensors, **{**bf16, **tolerance}
                )

    return case
