# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What one line of the benchmarks is: a problem, our kernels for it, and how others say the same.

All that compute a problem are checked against its reference in f64 before any of them is timed.
Peers that take `out=` write where they are told; the others return fresh arrays (see measure.py
for what that costs them).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from harness import SHORT_NAME, compare, output, random, seeded, tolerance_of
from triton.tools.tensor_descriptor import TensorDescriptor

__all__ = [
    "SHORT_NAME",
    "Bench",
    "Tuned",
    "cdiv",
    "described",
    "next_power_of_2",
    "output",
    "prepared",
    "random",
    "seeded",
    "tolerance_of",
]

Tensors = dict[str, Any]


def cdiv(x: int, y: int) -> int:
    """Triton's own takes several microseconds, as it works in kernels too."""
    return -(-x // y)


def next_power_of_2(x: int) -> int:
    return 1 << (x - 1).bit_length()


def described(tensor: torch.Tensor, block: list[int]) -> TensorDescriptor:
    """A descriptor of a tensor's rows, for blocks of this shape."""
    return TensorDescriptor.from_tensor(tensor.view(-1, tensor.shape[-1]), block)


def prepared(prepare: Callable[[Tensors], Callable[[], object]]) -> Callable[[Tensors], object]:
    """A launch whose call is made once for its tensors, and kept with the output: what makes grids,
    strides and descriptors (of which one takes Triton 1.6 us) is not timed."""

    def run(t: Tensors) -> object:
        output = t["out"] if "out" in t else t["c"]
        calls = output.__dict__.setdefault("calls", {})
        if run not in calls:
            calls[run] = prepare(t)
        return calls[run]()

    return run


@dataclass(frozen=True)
class Tuned:
    """A launch in several block sizes, by what they are called. The fastest is measured, as a user's
    triton.autotune would take it; which one that is stands in the results."""

    launches: dict[str, Callable[[Tensors], object]]


@dataclass(frozen=True)
class Bench:
    name: str  # "softmax f32"
    size: str  # "4096x1024"
    inputs: Callable[[], Tensors]  # with the outputs, which are written over and over
    ours: dict[str, Callable[[Tensors], object] | Tuned]  # "pointers", "descriptors"
    outputs: tuple[str, ...]
    takes: tuple[str, ...]  # the tensors that the expressions below get, in order
    torch: Callable[..., Any] | None = None  # an expression without side effects
    eager: Callable[[Tensors], Any] | None = None  # PyTorch's fastest call, where it is another
    jax: Callable[[Any, Any], Callable] | None = None  # from (jax.numpy, jax) to the expression
    numpy: Callable[[Tensors], Any] | None = None  # on arrays that share the tensors' memory
    reference: Callable[[Tensors], Any] | None = None  # default: `torch` in f64
    tolerance: tuple[float, float] = (1e-5, 1e-5)
    bytes: float = 0.0  # what has to be read and written
    flops: float = 0.0
    rate: str = "f32"  # whose arithmetic peak bounds it: a key of machine.limits()
    copies_out: bool = True  # whether Inductor's version writes the given outputs (else fresh)
    is_random: bool = False  # peers draw other numbers: they are not checked
    wide: Bench | None = None  # the same in f32, whose rate this one is compared with
    group: str = ""  # set by kernels.benches()
    tags: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        return f"{self.name} {self.size}"

    def launches(self, variant: str) -> dict[str, Callable[[Tensors], object]]:
        """The launches of a variant by block size; the name is empty where there is one only."""
        how = self.ours[variant]
        return how.launches if isinstance(how, Tuned) else {"": how}


def as_tuple(value: Any) -> tuple:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def widened(value: Any) -> Any:
    is_float = isinstance(value, torch.Tensor) and value.dtype.is_floating_point
    return value.double() if is_float else value


def reference_of(bench: Bench, tensors: Tensors) -> tuple[torch.Tensor, ...]:
    if bench.reference is not None:
        return as_tuple(bench.reference(tensors))
    assert bench.torch is not None, bench
    return as_tuple(bench.torch(*(widened(tensors[name]) for name in bench.takes)))


def wrong(results: tuple, wanted: tuple, tolerance: tuple[float, float]) -> str:
    """What is wrong with the results, or nothing."""
    if len(results) != len(wanted):
        return f"{len(results)} results, wanted {len(wanted)}"
    for index, (got, want) in enumerate(zip(results, wanted, strict=True)):
        result = compare(got, want, tolerance)
        if not result.ok:
            return f"result {index}: {result.detail}"
    return ""
