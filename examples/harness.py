# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all example kernels have in common: a description of one problem, and how it is checked
and timed.

Each module of this folder holds one family of kernels and exports

    case(**sizes_and_blocks) -> Case    one problem, any size
    CASES                               the problems that the demo runs
    EXTREMES                            (name, smallest block, largest block): for compile times

A `Case` owns its data: `inputs(seed)` makes all tensors, the preallocated outputs included, `run`
launches the kernel on them and returns the outputs, `reference` computes the same in float64,
`torch_run` is PyTorch's own fast way to the same values.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import quiet

quiet.keep_pools_short()  # before PyTorch, which imports NumPy

import torch

# The examples run on CPU tensors. Beside a usable GPU, Tilebridge has to be asked for by name;
# Triton reads this at the first launch.
os.environ.setdefault("TRITON_DEFAULT_BACKEND", "tilebridge")

Tensors = dict[str, object]
Outputs = tuple[torch.Tensor, ...]

# (relative, absolute) error of one rounded operation on values near 1, with room for a few of them.
TOLERANCE = {
    torch.float64: (1e-12, 1e-12),
    torch.float32: (1e-5, 1e-5),
    torch.float16: (2e-3, 2e-3),
    torch.bfloat16: (1e-2, 1e-2),
    torch.float8_e5m2: (0.25, 1e-2),
    torch.float8_e4m3fn: (0.125, 1e-2),
}

SHORT_NAME = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float8_e5m2: "f8e5m2",
    torch.float8_e4m3fn: "f8e4m3",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "i1",
}


@dataclass(frozen=True)
class Case:
    """One kernel on one problem."""

    name: str  # "softmax f32"
    size: str  # "4096x1000"
    inputs: Callable[[int], Tensors]
    run: Callable[[Tensors], Outputs]
    reference: Callable[[Tensors], Outputs]
    torch_run: Callable[[Tensors], object] | None = None
    tolerance: tuple[float, float] = (0.0, 0.0)
    kind: str = "memory"  # what bounds its speed: memory, compute or other
    work: float = 1.0  # bytes, operations, ...: only ratios between cases of one kernel are used
    probe: Case | None = None  # the same kernel on less work, for Triton's interpreter

    def __str__(self) -> str:
        return f"{self.name} {self.size}"


@dataclass(frozen=True)
class Check:
    """The largest error of a run, and whether all elements are within the tolerance."""

    error: float
    ok: bool
    detail: str = ""


def tolerance_of(dtype: torch.dtype, terms: int = 1) -> tuple[float, float]:
    """For a result that sums `terms` products of values near 1; integers are exact."""
    if dtype not in TOLERANCE:
        return (0.0, 0.0)
    relative, absolute = TOLERANCE[dtype]
    return (relative, absolute + 2e-7 * terms)


def random(generator: torch.Generator, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Normal floats, or integers: all of 8 bits, up to 1000 for wider ones."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator).bool()
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        low, high = max(info.min, -1000), min(info.max, 1000)
        return torch.randint(low, high + 1, shape, generator=generator).to(dtype)
    return torch.randn(shape, generator=generator, dtype=torch.float32).to(dtype)


def output(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """A tensor for results, full of a value that no kernel gives, so that a missing store shows."""
    if dtype.is_floating_point:
        return torch.full(shape, math.nan, dtype=torch.float32).to(dtype)
    return torch.full(shape, 1 if dtype == torch.bool else torch.iinfo(dtype).max, dtype=dtype)


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def compare(got: torch.Tensor, wanted: torch.Tensor, tolerance: tuple[float, float]) -> Check:
    """Compares one output with its float64 reference; NaN must meet NaN, infinities their like."""
    if got.shape != wanted.shape:
        return Check(math.inf, False, f"shape {tuple(got.shape)}, wanted {tuple(wanted.shape)}")
    if got.numel() == 0:
        return Check(0.0, True)
    relative, absolute = tolerance
    got, wanted = got.detach().double(), wanted.detach().double()
    same = (got == wanted) | (got.isnan() & wanted.isnan())
    difference = torch.where(same, 0.0, (got - wanted).abs()).nan_to_num(nan=math.inf)
    bad = difference > absolute + relative * wanted.abs().nan_to_num(posinf=0.0)
    detail = ""
    if bad.any():
        at = tuple(int(i) for i in bad.nonzero()[0])
        detail = f"{int(bad.sum())} of {bad.numel()} wrong, first at {at}: "
        detail += f"{float(got[at])}, wanted {float(wanted[at])}"
    return Check(float(difference.max()), not detail, detail)


def check(case: Case, seed: int = 0) -> Check:
    """Runs a case and compares all its outputs with the reference."""
    tensors = case.inputs(seed)
    outputs = case.run(tensors)
    checks = [
        compare(got, wanted, case.tolerance)
        for got, wanted in zip(outputs, case.reference(tensors), strict=True)
    ]
    detail = "; ".join(f"output {i}: {c.detail}" for i, c in enumerate(checks) if c.detail)
    return Check(max((c.error for c in checks), default=0.0), all(c.ok for c in checks), detail)


def median_seconds(call: Callable[[], object], budget: float = 0.5, least: int = 3) -> float:
    """The median time of a call, warm, of as many runs as fit the budget but at least `least`.

    Threads that another library's work has left waiting actively are asleep before it begins.
    A call that alone takes longer than the budget is run once: PyTorch's f16 matmul takes seconds
    on a CPU without such a unit, and no repetition changes what that says.
    """
    quiet.wait_until_quiet()
    start = time.perf_counter()
    call()
    if (first := time.perf_counter() - start) > budget:
        return first
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < least or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    times.sort()
    return times[len(times) // 2]


def main(cases: Sequence[Case]) -> None:
    """Checks and times each case; the exit status is 1 after a wrong result."""
    wrong = 0
    for case in cases:
        result = check(case)
        tensors = case.inputs(0)
        ours = median_seconds(lambda: case.run(tensors))  # noqa: B023
        line = f"{case!s:48} error {result.error:9.2e}  {ours * 1e3:9.3f} ms"
        if case.torch_run is not None:
            theirs = median_seconds(lambda: case.torch_run(tensors))  # noqa: B023
            line += f"  PyTorch {theirs * 1e3:9.3f} ms"
        if not result.ok:
            wrong += 1
            line += f"  WRONG: {result.detail}"
        print(line)
    sys.exit(1 if wrong else 0)
