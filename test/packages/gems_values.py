# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Calls of overloads that PyTorch's samples do not reach, and what PyTorch gives where it has no kernel for CPUs."""

from __future__ import annotations

import itertools

import torch
import torch.nn.functional as F

# Registered under a name that means something else in ATen, or nothing: the overload that the function is for.
MEANT = {
    "bitwise_left_shift": "bitwise_left_shift.Tensor",
    "bitwise_right_shift": "bitwise_right_shift.Tensor",
    "copysign": "copysign.Tensor",
    "greater.out": "greater.Tensor_out",
}


class Data:
    """Random tensors of one type."""

    def __init__(self, dtype: torch.dtype):
        self.dtype = dtype
        self.generator = torch.Generator().manual_seed(1)

    def __call__(self, *shape):
        return torch.randn(shape, generator=self.generator).to(self.dtype)

    def integers(self, *shape, low=0, high=100, dtype=torch.int64):
        return torch.randint(low, high, shape, generator=self.generator).to(dtype)


def each(make):
    """Calls by `make` with data in f32 and bf16."""
    return lambda: [make(Data(dtype)) for dtype in (torch.float32, torch.bfloat16)]


def once(make):
    return lambda: [make(Data(torch.float32))]


def _weight_norm(r):
    v, g = r(6, 5), r(6, 1)
    return v, g, torch._weight_norm_interface(v, g, 0)[1]


SCALARS = {
    "bitwise_and.Scalar_Tensor": once(lambda r: ((29, r.integers(3, 127)), {})),
    "bitwise_or.Scalar_Tensor": once(lambda r: ((29, r.integers(3, 127)), {})),
    "remainder.Scalar_Tensor": once(lambda r: ((29, r.integers(3, 127, low=1)), {})),
    "__ior__.Tensor": once(lambda r: ((r.integers(3, 127), r.integers(3, 127)), {})),
    "__or__.Tensor": once(lambda r: ((r.integers(3, 127), r.integers(3, 127)), {})),
    "bitwise_left_shift": once(lambda r: ((r.integers(3, 127), r.integers(127, high=20)), {})),
    "bitwise_right_shift": once(lambda r: ((r.integers(3, 127), r.integers(127, high=20)), {})),
}
for _name in ("div", "div_", "divide", "divide_"):
    SCALARS[f"{_name}.Scalar_mode"] = lambda: [
        ((Data(torch.float32)(3, 127), 0.75), {"rounding_mode": mode})
        for mode in ("floor", "trunc")
    ]

OUT = {
    "arcsinh.out": each(lambda r: ((r(3, 127),), {"out": r(3, 127)})),
    "copysign.out": each(lambda r: ((r(3, 127), r(3, 127)), {"out": r(3, 127)})),
    "fill.Tensor_out": each(lambda r: ((r(3, 127), r()), {"out": r(3, 127)})),
    "greater.Scalar_out": each(
        lambda r: ((r(3, 127), 0.25), {"out": torch.zeros(3, 127, dtype=torch.bool)})
    ),
    "greater.out": each(
        lambda r: ((r(3, 127), r(3, 127)), {"out": torch.zeros(3, 127, dtype=torch.bool)})
    ),
    "square.out": each(lambda r: ((r(3, 127),), {"out": r(3, 127)})),
    "sum.IntList_out": each(lambda r: ((r(3, 127), [1]), {"out": r(3)})),
    "zero.out": each(lambda r: ((r(3, 127),), {"out": r(3, 127)})),
}

SHAPES = {
    "all.dim": once(lambda r: ((r.integers(13, 7, high=3), 1), {})),
    "diag": each(lambda r: ((r(17),), {})),
    "pad": lambda: [
        ((Data(torch.float32)(3, 4, 5), [1, 2, 0, 3]), {"mode": "constant", "value": 7.0}),
        ((Data(torch.float32)(3, 4, 5), [1, 2]), {"mode": "reflect"}),
    ],
    "repeat_interleave.self_Tensor": each(lambda r: ((r(3, 5), torch.tensor([1, 0, 2]), 0), {})),
    "repeat_interleave.self_int": each(lambda r: ((r(3, 5), 3, 1), {})),
    "lift_fresh_copy": each(lambda r: ((r(3, 127),), {})),
    "rand_like": each(lambda r: ((r(3, 127),), {})),
    "normal.float_Tensor": each(lambda r: ((0.5, r(3, 127).abs()), {})),
    "isin.Scalar_Tensor": once(lambda r: ((7, r.integers(127, high=20)), {})),
    "isin.Tensor_Scalar": once(lambda r: ((r.integers(127, high=20), 7), {})),
    "fill.Tensor": each(lambda r: ((r(3, 127), r()), {})),
    "fill_.Tensor": each(lambda r: ((r(3, 127), r()), {})),
    "zero": each(lambda r: ((r(3, 127),), {})),
    "copysign": each(lambda r: ((r(3, 127), r(3, 127)), {})),
    "allclose": lambda: [
        ((torch.ones(300), torch.ones(300)), {}),
        ((torch.ones(300), torch.arange(300.0)), {}),
    ],
    "equal": lambda: [
        ((torch.ones(300), torch.ones(300)), {}),
        ((torch.ones(300), torch.arange(300.0)), {}),
    ],
    "quantile": once(lambda r: ((r(13, 17), torch.tensor([0.1, 0.5, 0.9])), {"dim": 1})),
    "_index_put_impl_": each(
        lambda r: ((r(9, 5), [torch.tensor([0, 3, 8])], r(3, 5)), {"accumulate": True})
    ),
    "unfold_backward": each(lambda r: ((r(3, 5, 7, 3), [5, 5, 7], 0, 3, 1), {})),
    "_assert_async": lambda: [((torch.tensor(True),), {})],
    "_functional_sym_constrain_range_for_size": lambda: [((5, 2, 7, torch.ones(3)), {})],
}

# Window, stride, padding, dilation, and whether a window may leave the input.
POOL = ([3, 3], [2, 2], [1, 1], [1, 1], True)
NETWORKS = {
    "nll_loss_forward": each(lambda r: ((r(5, 9), r.integers(5, high=9), r(9), 1, -100), {})),
    "conv1d.padding": each(lambda r: ((r(2, 4, 17), r(6, 4, 3), r(6), [2], "valid"), {})),
    "conv2d.padding": each(lambda r: ((r(2, 4, 9, 11), r(6, 4, 3, 3), r(6), [1, 1], "valid"), {})),
    "conv3d.padding": each(
        lambda r: ((r(1, 3, 5, 6, 7), r(4, 3, 3, 3, 3), r(4), [1, 1, 1], "same"), {})
    ),
    "_conv_depthwise2d": each(
        lambda r: ((r(2, 4, 9, 11), r(4, 1, 3, 3), [3, 3], r(4), [1, 1], [1, 1], [1, 1]), {})
    ),
    "_upsample_bicubic2d_aa": once(lambda r: ((r(2, 3, 8, 9), [5, 6], False), {})),
    "_upsample_bicubic2d_aa_backward": once(
        lambda r: ((r(2, 3, 5, 6), [5, 6], [2, 3, 8, 9], False), {})
    ),
    "_weight_norm_interface": once(lambda r: ((r(6, 5), r(6, 1), 0), {})),
    "_weight_norm_interface_backward": once(lambda r: ((r(6, 5), *_weight_norm(r), 0), {})),
    "embedding_backward": each(
        lambda r: ((r(4, 3, 16), r.integers(4, 3, high=9), 9, -1, False, False), {})
    ),
    "gather_backward": each(lambda r: ((r(3, 7), r(5, 7), 0, r.integers(3, 7, high=5), False), {})),
    "max_pool2d_backward": each(lambda r: ((r(2, 3, 4, 5), r(2, 3, 7, 9), *POOL), {})),
    "_grouped_mm": lambda: [
        (
            (
                Data(torch.bfloat16)(48, 32),
                Data(torch.bfloat16)(3, 32, 64),
                torch.tensor([16, 24, 48], dtype=torch.int32),
            ),
            {},
        )
    ],
    "_flash_attention_forward": lambda: [
        (
            (
                *(Data(torch.bfloat16)(2, 33, 4, 32) for _ in range(3)),
                None,
                None,
                33,
                33,
                0.0,
                c,
                False,
            ),
            {},
        )
        for c in (False, True)
    ],
}

CALLS = {**SCALARS, **OUT, **SHAPES, **NETWORKS}


def _max_pool2d_backward(grad, x, *window):
    x = x.clone().requires_grad_()
    F.max_pool2d(x, *window).backward(grad)
    return x.grad


def _attention(query, key, value, *rest, **_):
    q, k, v = (t.transpose(1, 2).float() for t in (query, key, value))
    return (
        F.scaled_dot_product_attention(q, k, v, is_causal=rest[5]).transpose(1, 2).to(query.dtype)
    )


def _grouped(a, b, ends, **_):
    starts = [0, *ends.tolist()]
    return torch.cat([a[s:e] @ b[i] for i, (s, e) in enumerate(itertools.pairwise(starts))])


# In place of operators that PyTorch has for GPUs only, or that it leaves open. One tensor: the first of the results.
REFERENCES = {
    "_conv_depthwise2d": lambda x, weight, size, *rest: F.conv2d(x, weight, *rest, groups=4),
    "max_pool2d_backward": _max_pool2d_backward,
    "_flash_attention_forward": _attention,
    "_grouped_mm": _grouped,
    # It is stable, which PyTorch's is on request.
    "sort": lambda x, dim=-1, down=False: torch.sort(x, dim=dim, descending=down, stable=True),
}

# Calls that are no input of an operator on any device, and why: taken out of PyTorch's.
OUTSIDE = {
    "native_batch_norm_backward": (
        lambda args: args[5] is not None and args[5].numel() == 0,
        "reads saved statistics that PyTorch leaves empty in inference mode",
    ),
}
