# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Calls of ATen's operators, as PyTorch's database of operators makes them: python gems_calls.py KEYS FILE.

Each operator of the database runs with its samples, forward and backward, and a dispatch mode keeps the arguments of
the overloads named in the file KEYS: a few for each type, with shapes that differ.
"""

from __future__ import annotations

import collections
import contextlib
import io
import random
import sys
import time
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

PER_TYPE = 4  # calls kept of an overload for each type
LARGEST = 300_000  # elements in all tensors of a call
SECONDS = 4  # for the samples of an operator
TYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.bool]
# Operators that end in no overload of interest and take long.
SKIPPED = (
    "linalg.",
    "fft.",
    "sparse",
    "masked.",
    "signal",
    "ldl",
    "svd",
    "lu_",
    "qr",
    "eig",
    "cholesky",
    "lobpcg",
)


def overload_name(function) -> str:
    name = function.name().removeprefix("aten::")
    return name.removesuffix(".default")


class Recorder(TorchDispatchMode):
    def __init__(self, wanted: set[str]):
        super().__init__()
        self.wanted = wanted
        self.calls = collections.defaultdict(lambda: collections.defaultdict(dict))

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = overload_name(function)
        if name in self.wanted:
            self.keep(name, args, kwargs)
        return function(*args, **kwargs)

    def keep(self, name, args, kwargs):
        tensors = [t for t in tree_flatten((args, kwargs))[0] if isinstance(t, torch.Tensor)]
        if sum(t.numel() for t in tensors) > LARGEST:
            return
        kept = self.calls[name][str(tensors[0].dtype) if tensors else ""]
        shape = str(
            tree_map(
                lambda t: (t.shape, t.stride()) if isinstance(t, torch.Tensor) else t,
                (args, kwargs),
            )
        )
        if shape in kept:
            return
        if len(kept) >= PER_TYPE:  # later samples are the odder ones: keep some of all
            if random.random() > PER_TYPE / (len(kept) + 8):
                return
            kept.pop(random.choice(list(kept)))
        kept[shape] = tree_map(
            lambda t: copy(t) if isinstance(t, torch.Tensor) else t, (tuple(args), dict(kwargs))
        )


def copy(t: torch.Tensor) -> torch.Tensor:
    """The same values, shape and strides, in memory of its own."""
    t = t.detach()
    if t.is_contiguous() or any(s == 0 for s in t.stride()) or not t.numel():
        return t.clone()
    return torch.empty_strided(t.size(), t.stride(), dtype=t.dtype).copy_(t)


def run_samples(op, dtype, recorder):
    """An operator and its form in place on its samples; in f32 backward too."""
    gradients = dtype == torch.float32 and op.supports_autograd
    started = time.time()
    for i, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=gradients)):
        if i >= 25 or time.time() - started > SECONDS / 2:
            return
        with contextlib.suppress(Exception), recorder:
            result = op.op(sample.input, *sample.args, **sample.kwargs)
            if gradients:
                ends = [
                    t
                    for t in tree_flatten(result)[0]
                    if isinstance(t, torch.Tensor) and t.requires_grad
                ]
                torch.autograd.backward(ends, [torch.randn_like(t) for t in ends])
            elif op.inplace_variant and i < 4:
                op.inplace_variant(sample.input.clone(), *sample.args, **sample.kwargs)


def can_be_saved(call) -> bool:
    with contextlib.suppress(Exception):
        torch.save(call, io.BytesIO())
        return True
    return False


def record(wanted: set[str]) -> dict[str, list]:
    random.seed(0)
    torch.manual_seed(0)
    recorder = Recorder(wanted)
    for op in op_db:
        if any(part in op.name for part in SKIPPED):
            continue
        started = time.time()
        for dtype in TYPES:
            if time.time() - started > SECONDS or dtype not in op.supported_dtypes("cpu"):
                continue
            with contextlib.suppress(Exception):
                run_samples(op, dtype, recorder)
    # Types by turns, so that the first few calls of an overload have all of them.
    calls = {}
    for name, by_type in recorder.calls.items():
        rows = [list(kept.values()) for kept in by_type.values()]
        turns = [row[i] for i in range(PER_TYPE) for row in rows if i < len(row)]
        calls[name] = [call for call in turns if can_be_saved(call)]
    return calls


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with open(sys.argv[1]) as file:
        keys = set(file.read().split())
    torch.save(record(keys), sys.argv[2])
