# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a simulated accelerator reaches, and what several buffers and multicasts give.

    python benchmarks/accel/figures.py [--target NAME] [--only WORDS] [--quick] [--json FILE]

Each kernel is checked against PyTorch. docs/accel-figures.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))
os.environ.setdefault("TRITON_DEFAULT_BACKEND", "tilebridge")
os.environ["TILEBRIDGE_TARGET"] = "accel:mtia-2i-like"  # Another one for each line.

import attention
import matmul
import softmax
import torch
import triton
import triton.language as tl
import vector_add
from tilebridge import _native, accel

# What is left away, as the settings behind a target's name.
WHOLE, NO_BUFFERS, NO_MULTICAST = "", ",depth=1", ",multicast=off"
NEITHER = NO_BUFFERS + NO_MULTICAST
HOW = {
    WHOLE: "both",
    NO_BUFFERS: "one buffer",
    NO_MULTICAST: "no multicast",
    NEITHER: "neither",
}


@triton.jit
def copy_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def polynomial_kernel(x, y, n, DEGREE: tl.constexpr, BLOCK: tl.constexpr):
    """As much arithmetic for each element as DEGREE says."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    sums = value
    for _ in tl.static_range(DEGREE):
        sums = sums * value + 0.5
    tl.store(y + at, sums, mask=at < n)


@dataclass
class Problem:
    name: str
    launch: Callable[[], None]
    check: Callable[[], bool]
    inputs: list[torch.Tensor]
    outputs: list[torch.Tensor]
    kernel: object
    settings: tuple[str, ...] = (WHOLE,)
    # What of the target's description is another; empty: nothing.
    changes: dict = field(default_factory=dict)


def bytes_of(tensors) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def random(*shape, dtype=torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)


def product(size: int, memory: str = "") -> Problem:
    a, b = random(size, size, dtype=torch.float16), random(size, size, dtype=torch.float16)
    c = torch.empty(size, size, dtype=torch.float16)
    block = min(256, size // 8)
    kernel = matmul.matmul_pointers_kernel

    def launch():
        strides = (size, 1, size, 1, size, 1)
        sizes = {"BM": block, "BN": block, "BK": 64, "GROUP": 8}
        grid = ((size // block) ** 2,)
        kernel[grid](a, b, c, size, size, size, *strides, **sizes, ACC=tl.float32, ACTIVATION="")

    def check():
        rows = slice(0, size, size // 8)
        exact = a[rows].double() @ b.double()
        return torch.allclose(c[rows].double(), exact, rtol=2e-3, atol=2e-2)

    name = f"matmul f16 {size}^3" + (f", tensors in {memory}" if memory else "")
    every = (WHOLE, NO_BUFFERS, NO_MULTICAST, NEITHER)
    changes = {"tensors_in": memory} if memory else {}
    return Problem(name, launch, check, [a, b], [c], kernel, every, changes)


def elementwise(kind: str, count: int, degree: int = 0, settings=(WHOLE,), pes=0) -> Problem:
    """`pes`: on so many rows and columns of PEs."""
    x, z, y = random(count), random(count), torch.empty(count)
    block = 4096
    grid = (triton.cdiv(count, block),)
    if kind == "copy":
        kernel, inputs = copy_kernel, [x]
        launch = lambda: kernel[grid](x, y, count, block)  # noqa: E731
        expected = lambda: x  # noqa: E731
    elif kind == "add":
        kernel, inputs = vector_add.add_kernel, [x, z]
        launch = lambda: kernel[grid](x, z, y, count, BLOCK=block)  # noqa: E731
        expected = lambda: x + z  # noqa: E731
    else:
        x.clamp_(-1, 1)
        kernel, inputs = polynomial_kernel, [x]
        launch = lambda: kernel[grid](x, y, count, degree, block)  # noqa: E731

        def expected():
            sums = x.double()
            for _ in range(degree):
                sums = sums * x + 0.5
            return sums.float()

    check = lambda: torch.allclose(y, expected(), rtol=1e-5, atol=1e-5)  # noqa: E731
    name = f"{kind} f32 {count}" + (f", degree {degree}" if degree else "")
    name += f", {pes}x{pes} PEs" if pes else ""
    changes = {"grid": {"assumed": "for a figure", "rows": pes, "columns": pes}} if pes else {}
    return Problem(name, launch, check, inputs, [y], kernel, settings, changes)


def rows(count: int, columns: int) -> Problem:
    x, y = random(count, columns), torch.empty(count, columns)
    kernel = softmax.row_softmax_kernel
    block = triton.next_power_of_2(columns)

    def launch():
        kernel[(64,)](x, y, count, columns, columns, columns, BLOCK=block)

    def check():
        return torch.allclose(y, torch.softmax(x, 1), rtol=1e-4, atol=1e-6)

    return Problem(f"softmax f32 {count}x{columns}", launch, check, [x], [y], kernel)


def attend(batch: int, heads: int, length: int, size: int, causal: bool) -> Problem:
    case = attention.case(batch, heads, length, size, torch.float16, causal=causal)
    tensors = case.inputs(1)
    inputs = [tensors[name] for name in "qkv"]
    outputs = [tensors["out"], tensors["lse"]]

    def check():
        want = case.reference(tensors)[0]
        return torch.allclose(tensors["out"].double(), want, rtol=1e-2, atol=1e-2)

    name = f"attention f16 {batch}x{heads}x{length}x{size}" + ", causal" * causal
    kernel = attention.attention_kernel
    both = (WHOLE, NO_MULTICAST)
    return Problem(name, lambda: case.run(tensors), check, inputs, outputs, kernel, both)


def problems(quick: bool) -> list[Callable[[], Problem]]:
    size, count = (512, 1 << 18) if quick else (2048, 1 << 24)
    length = 256 if quick else 512
    return [
        lambda: product(size),
        lambda: product(size, memory="dram"),
        lambda: elementwise("copy", count),
        lambda: elementwise("add", count),
        *(
            lambda degree=degree: elementwise("polynomial", count // 4, degree, (WHOLE, NO_BUFFERS))
            for degree in (2, 8, 16)
        ),
        *(
            lambda degree=degree: elementwise(
                "polynomial", count // 64, degree, (WHOLE, NO_BUFFERS), pes=2
            )
            for degree in (1, 2)
        ),
        lambda: rows(count // 4096, 1000),
        lambda: attend(2, 4, length, 64, causal=False),
        lambda: attend(2, 4, length, 64, causal=True),
    ]


def target_with(name: str, changes: dict, folder: Path) -> str:
    """The target, or a file like it with these changes."""
    if not changes:
        return name
    path = Path(name) if name.endswith(".json") else _native.library_dir() / f"targets/{name}.json"
    changed = folder / f"{path.stem}-{'-'.join(changes)}.json"
    changed.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return str(changed)


def measure(problem: Problem, setting: str, target: str) -> dict:
    os.environ["TILEBRIDGE_TARGET"] = f"accel:{target}{setting}"
    problem.kernel.device_caches.clear()
    for tensor in problem.outputs:
        tensor.fill_(math.nan)
    problem.launch()
    if not problem.check():
        raise SystemExit(f"{problem.name}: wrong result with {HOW[setting]}")
    stats = accel.last_stats()
    local = {"local"} | {memory["name"] for memory in stats["memories"] if not memory["bytes_read"]}
    far = [memory for memory in stats["memories"] if memory["name"] not in local]
    return {
        "name": problem.name,
        "setting": HOW[setting],
        "cycles": stats["cycles"],
        "bound": stats["roofline"]["bound"],
        "fraction": stats["roofline"]["fraction"],
        "read": sum(memory["bytes_read"] for memory in far),
        "written": sum(memory["bytes_written"] for memory in far),
        "saved": stats["multicast_saved_bytes"],
        "inputs": bytes_of(problem.inputs),
        "outputs": bytes_of(problem.outputs),
        "terms": stats["roofline"]["terms"],
    }


def line(result: dict, whole: float) -> str:
    """`whole`: the cycles with nothing left away."""
    times = result["cycles"] / whole
    saved = f"{result['saved'] / 1e6:.1f}" if result["saved"] else ""
    return (
        f"| {result['name']} | {result['setting']} | {result['cycles']:.0f} | {times:.2f}"
        f" | {100 * result['fraction']:.1f} % of {result['bound']}"
        f" | {result['read'] / 1e6:.1f} | {result['read'] / result['inputs']:.2f}"
        f" | {saved} | {result['written'] / 1e6:.1f} | {result['written'] / result['outputs']:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="mtia-2i-like")
    parser.add_argument("--only", default="", help="problems with one of these words")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    options = parser.parse_args()
    words = options.only.split()
    print("| kernel | with | cycles | times | reached | read MB | of inputs | saved MB", end="")
    print(" | written MB | of outputs |\n" + "|---" * 10 + "|")
    results = []
    folder = Path(tempfile.mkdtemp())
    for make in problems(options.quick):
        problem = make()
        if words and not any(word in problem.name for word in words):
            continue
        target = target_with(options.target, problem.changes, folder)
        whole = None
        for setting in problem.settings:
            results.append(measure(problem, setting, target))
            whole = whole or results[-1]["cycles"]
            print(line(results[-1], whole), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
