# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of few queries, of which several share a key's head: what its tests have in common."""

import torch
from support import check_equal, normal


def check_shared_heads(kernel, group, first_group, length, dtype, rng, **arguments):
    """`kernel` with `group` queries a key's head; before, with `first_group` of NaN, so that what it
    does not compute holds those. Behind the last query nothing is stored."""
    key_heads, d = 3, arguments["D"]

    def run(make, group):
        q = make([key_heads * group, d])
        k, v = make([key_heads, length, d]), make([key_heads, length, d])
        o = torch.full((key_heads * group + arguments["H"], d), 7.0)
        kernel[(key_heads,)](q, k, v, o, length, d**-0.5, GROUP=group, **arguments)
        return q, k, v, o

    run(lambda shape: torch.full(shape, float("nan"), dtype=dtype), first_group)
    q, k, v, o = run(lambda shape: normal(rng, shape, dtype), group)
    wanted = torch.nn.functional.scaled_dot_product_attention(
        q.double().view(key_heads, group, d), k.double(), v.double()
    ).view(-1, d)
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    check_equal(o[: key_heads * group], wanted, tolerance=(tolerance, tolerance))
    assert (o[key_heads * group :] == 7).all()
