# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One function of tl.extra.libdevice as a kernel, and numbers to try it on."""

from itertools import zip_longest

import numpy as np
import torch
import triton
import triton.language as tl

UNSIGNED = {"uint32": torch.uint32, "uint64": torch.uint64}


@triton.jit
def call_kernel(
    MODULE: tl.constexpr, NAME: tl.constexpr, a, b, c, d, out, ARITY: tl.constexpr, N: tl.constexpr
):
    at = tl.arange(0, N)
    function: tl.constexpr = getattr(MODULE, NAME)
    x = tl.load(a + at)
    if ARITY == 1:
        r = function(x)
    elif ARITY == 2:
        r = function(x, tl.load(b + at))
    elif ARITY == 3:
        r = function(x, tl.load(b + at), tl.load(c + at))
    else:
        r = function(x, tl.load(b + at), tl.load(c + at), tl.load(d + at))
    tl.store(out + at, r)


def call(module, name, operands, result, kinds=()):
    """The function on tensors of one length, padded to a power of two by their first element.

    An operand whose kind is unsigned is passed as such, with the same bits.
    """
    count = len(operands[0])
    size = triton.next_power_of_2(count)
    padded = [torch.cat([x, x[:1].expand(size - count)]).contiguous() for x in operands]
    padded = [x.view(UNSIGNED.get(kind, x.dtype)) for x, kind in zip_longest(padded, kinds)]
    out = torch.zeros(size, dtype=result)
    rest = [padded[0]] * (4 - len(padded))
    call_kernel[(1,)](module, name, *padded, *rest, out, len(padded), size)
    return out[:count]


def hard_numbers(rng, np_type, count):
    """Numbers of any size, denormal and large ones and short ones among them."""
    info = np.finfo(np_type)
    exponents = rng.integers(info.minexp - info.nmant, info.maxexp, count)
    x = np.ldexp(rng.uniform(1, 2, count), exponents).astype(np_type)
    x[::3] = rng.integers(-50, 50, len(x[::3])).astype(np_type)
    x[1::3] = rng.normal(0, 1, len(x[1::3])).astype(np_type)
    return x * rng.choice([-1, 1], count).astype(np_type)
