# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What of flag-gems' operators is not to be read from PyTorch's samples."""

from __future__ import annotations

import torch

# Results are random: their shape and type is compared.
RANDOM = {
    "bernoulli_",
    "dropout",
    "exponential_",
    "multinomial",
    "native_dropout",
    "normal",
    "normal_",
    "rand",
    "rand_like",
    "randn",
    "randn_like",
    "randperm",
    "uniform_",
}

# An overload that PyTorch's samples do not reach: one that takes the same arguments.
ALIASES = {
    "absolute": "abs",
    "arcsinh": "asinh",
    "arcsinh_": "asinh",
    "arctanh_": "atanh",
    "clip": "clamp",
    "clip_": "clamp",
    "conj_physical": "abs",
    "divide.Tensor": "div.Tensor",
    "divide_.Tensor": "div.Tensor",
    "divide.Tensor_mode": "div.Tensor_mode",
    "divide_.Tensor_mode": "div.Tensor_mode",
    "gelu_": "gelu",
    "greater.Scalar": "gt.Scalar",
    "greater.Tensor": "gt.Tensor",
    "hardswish_": "hardswish",
    "isclose": "eq.Tensor",
    "isfinite": "abs",
    "kron": "mm",
    "log_sigmoid": "abs",
    "prelu": "_prelu_kernel",
    "relu6": "relu",
    "resolve_conj": "abs",
    "resolve_neg": "abs",
    "selu": "relu",
    "selu_": "relu",
    "square": "relu",
    "square_": "relu",
    "true_divide.Tensor": "div.Tensor",
    "true_divide_.Tensor": "div.Tensor",
    "where.self_out": "where.self",
    "zero_": "relu",
}

# The second argument of these is a number; the first is that of the overload named.
SCALAR = {
    "__ior__.Scalar": "bitwise_or.Tensor",
    "__or__.Scalar": "bitwise_or.Tensor",
    "bitwise_and.Scalar": "bitwise_and.Tensor",
    "bitwise_and_.Scalar": "bitwise_and.Tensor",
    "bitwise_or.Scalar": "bitwise_or.Tensor",
    "bitwise_or_.Scalar": "bitwise_or.Tensor",
    "divide.Scalar": "div.Tensor",
    "divide_.Scalar": "div.Tensor",
    "floor_divide.Scalar": "floor_divide",
    "floor_divide_.Scalar": "floor_divide",
    "remainder_.Scalar": "remainder.Tensor",
    "true_divide.Scalar": "div.Tensor",
    "true_divide_.Scalar": "div.Tensor",
}


def _each(make):
    def calls():
        generator = torch.Generator().manual_seed(1)
        return [
            make(lambda *shape, dtype=dtype: torch.randn(shape, generator=generator).to(dtype))
            for dtype in (torch.float32, torch.bfloat16)
        ]

    return calls


# Arguments for overloads whose samples PyTorch decomposes before they reach a kernel.
VALUES = {
    "rms_norm": _each(lambda r: ((r(3, 127), [127], r(127), 1e-6), {})),
    "hstack": _each(lambda r: (([r(3, 5), r(3, 7)],), {})),
    "vstack": _each(lambda r: (([r(3, 5), r(2, 5)],), {})),
    "tile": _each(lambda r: ((r(3, 5), [2, 3]), {})),
    "var": _each(lambda r: ((r(13, 127),), {})),
    "var.dim": _each(lambda r: ((r(13, 127), [1]), {})),
    "conv1d": _each(lambda r: ((r(2, 4, 17), r(6, 4, 3), r(6)), {})),
    "conv2d": _each(lambda r: ((r(2, 4, 9, 11), r(6, 4, 3, 3), r(6)), {})),
    "conv3d": _each(lambda r: ((r(1, 3, 5, 6, 7), r(4, 3, 3, 3, 3), r(4)), {})),
    "margin_ranking_loss": _each(lambda r: ((r(17), r(17), torch.ones(17)), {})),
    "one_hot": lambda: [
        ((torch.tensor([0, 3, 1, 4]),), {}),
        ((torch.tensor([[2, 0], [1, 1]]), 5), {}),
    ],
    "isfinite": lambda: [((torch.tensor([1.0, float("inf"), float("nan"), -float("inf")]),), {})],
    "randperm": lambda: [((17,), {})],
    "_is_all_true": lambda: [
        ((torch.tensor([True, True]),), {}),
        ((torch.tensor([True, False]),), {}),
    ],
    "native_dropout": _each(lambda r: ((r(13, 127), 0.0, True), {})),
}

# Operators that differ from PyTorch by what their own code says, on any device, and how.
KNOWN = {
    "addr": "rounds the product to bf16 before it adds",
    "index_add_": "takes the strides of a source that is not contiguous for its positions",
    "nll_loss2d_forward": "leaves the total weight uninitialized unless it takes the mean",
    "avg_pool2d": "ceil_mode: divides a window that leaves the input by its full size",
    "avg_pool2d_backward": "ceil_mode: divides a window that leaves the input by its full size",
    "bincount": "with weights gives int64 where PyTorch gives float64",
    "nll_loss_forward": "leaves the total weight uninitialized unless it takes the mean",
    "pow_.Tensor": "computes powers of integers in f32",
    "soft_margin_loss": "computes f16 in f32, where PyTorch's overflows",
    "_upsample_nearest_exact1d": "takes the sample that `nearest` takes, without the half pixel of `nearest-exact`",
    "unfold_backward": "takes a gradient that is not contiguous as if it were",
    "upsample_nearest3d": "takes an input that is not contiguous as if it were",
    "topk": "orders equal elements in another way than PyTorch",
    "native_group_norm": "reads the next group where a group's size is no power of two",
    "native_group_norm_backward": "reads the next group where a group's size is no power of two",
}
