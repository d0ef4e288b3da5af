# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FlagGems' operators for PyTorch, in a cache and out of it, f32 and bf16."""

from __future__ import annotations

import hosts

hosts.flag_gems()

import flag_gems
import torch

SIZES = [(256, 1024), (2048, 4096)]
DTYPES = [torch.float32, torch.bfloat16]
ONE = "exp gelu silu tanh sigmoid relu rsqrt abs neg cos erf log reciprocal isnan sqrt exp2 atan"
TWO = "add.Tensor mul.Tensor div.Tensor maximum pow.Tensor_Tensor eq.Tensor remainder.Tensor"
ALL = "sum mean max prod argmax vector_norm"


def operators() -> dict:
    """The package's functions by the name of the operator that they replace."""
    table = {}
    for entry in flag_gems._FULL_CONFIG:
        if len(entry) < 3 or entry[2]():
            table.setdefault(entry[0], entry[1])
    return table


def eager(key: str):
    name, _, overload = key.partition(".")
    return getattr(getattr(torch.ops.aten, name), overload or "default")


def calls(m, n, dtype):
    """(operator, what is special, arguments, keywords) each."""
    x, y = torch.randn(m, n).to(dtype), torch.randn(m, n).to(dtype)
    positive, mask = x.abs() + 1e-3, x > 0
    row, column = torch.randn(n).to(dtype), torch.randn(m, 1).to(dtype)
    rows = torch.randint(0, m, (m,))
    columns = torch.randint(0, n, (m, n))
    for key in ONE.split():
        yield key, "", [positive], {}
    for key in TWO.split():
        yield key, "", [positive, y.abs() + 1e-3], {}
    yield "add.Tensor", "row", [x, row], {}
    yield "mul.Tensor", "column", [x, column], {}
    yield "add.Tensor", "transposed", [x, y.t().contiguous().t()], {}
    yield "copy_", "", [x.clone(), y], {}
    yield "copy_", "transposed", [x.clone(), y.t().contiguous().t()], {}
    yield "where.self", "", [mask, x, y], {}
    yield "masked_fill.Scalar", "", [x, mask, 0.0], {}
    for key in ALL.split():
        yield key, "", [x], {}
    for dim in (1, 0):
        kind = f"dim {dim}"
        for key in ("sum.dim_IntList", "amax"):
            yield key, kind, [x, [dim]], {}
        for key in ("max.dim", "cumsum", "prod.dim_int", "all.dim"):
            yield key, kind, [x, dim], {}
        for key in ("_softmax", "_log_softmax"):
            yield key, kind, [x, dim, False], {}
        yield "var_mean.correction", kind, [x, [dim]], {"correction": 1}
        yield "flip", kind, [x, [dim]], {}
        yield "cat", kind, [[x, y], dim], {}
        yield "gather", kind, [x, dim, columns if dim else columns % m], {}
        yield "index_select", kind, [x, dim, rows % n if dim else rows], {}
    yield "native_layer_norm", "", [x, [n], row, row, 1e-5], {}
    groups = torch.randn(m).to(dtype)
    yield "native_group_norm", "", [x.view(1, m, n), groups, groups, 1, m, n, 8, 1e-5], {}
    yield "repeat", "", [x, [2, 1]], {}
    yield "constant_pad_nd", "", [x, [1, 2, 3, 4]], {}
    yield "tril", "", [x], {}
    yield "embedding", "", [x, rows], {}
    yield "index.Tensor", "", [x, [rows]], {}
    yield "index_put", "", [x, [rows], y], {}
    yield "index_add", "", [x, 0, rows, y], {}
    yield "scatter.src", "", [x, 1, torch.rand(m, n).argsort(1), y], {}
    yield "topk", "", [x, 8], {}
    if (m, n) == SIZES[0]:
        yield "sort", "", [x], {}
        yield "mm", "", [x, torch.randn(n, 512).to(dtype)], {}
        yield "mv", "", [x, row], {}
        yield "kron", "", [x[:16, :16], y[:32, :32]], {}
        picture = x.view(4, 16, 64, 64)
        yield "upsample_nearest2d", "", [picture, [128, 128]], {}


def cases():
    table = operators()
    for dtype in DTYPES:
        kind = str(dtype).removeprefix("torch.")
        for m, n in SIZES:
            for key, what, arguments, keywords in calls(m, n, dtype):
                if key not in table:
                    continue

                def ours(f=table[key], a=arguments, k=keywords):
                    f(*a, **k)

                reference = eager(key)

                def theirs(f=reference, a=arguments, k=keywords):
                    f(*a, **k)

                yield f"{' '.join(filter(None, [key, what]))} {kind} {m}x{n}", ours, theirs
