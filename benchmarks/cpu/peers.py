# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What we are compared with. A peer makes a callable of a problem, or says why it cannot."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from bench import Bench, Tensors, as_tuple
from report import PATIENCE_SECONDS

NAMES = ("eager", "inductor", "jax", "numpy")
Runner = Callable[[], Any]  # its result is what is checked


class Absent(Exception):
    """Why a peer does not do a problem."""


def eager(bench: Bench, t: Tensors) -> Runner:
    if bench.eager is not None:
        function = bench.eager
        return lambda: function(t)
    if bench.torch is None:
        raise Absent("no such function")
    expression, arguments = bench.torch, [t[name] for name in bench.takes]
    return lambda: expression(*arguments)


def inductor(bench: Bench, t: Tensors) -> Runner:
    """torch.compile with fixed shapes. It writes the preallocated outputs where that costs nothing."""
    if bench.torch is None:
        raise Absent("no such function")
    torch._dynamo.reset()
    arguments = [t[name] for name in bench.takes]
    if bench.copies_out:
        outputs = [torch.empty_like(t[name]) for name in bench.outputs]

        def step(outputs, *arguments):
            for out, value in zip(outputs, as_tuple(bench.torch(*arguments)), strict=False):
                out.copy_(value)

        compiled = torch.compile(step, dynamic=False, fullgraph=True)

        def run():
            compiled(outputs, *arguments)
            return outputs

        return run
    compiled = torch.compile(bench.torch, dynamic=False, fullgraph=True)
    return lambda: compiled(*arguments)


def jax(bench: Bench, t: Tensors) -> Runner:
    if bench.jax is None:
        raise Absent("no such function")
    import jax
    import jax.numpy as jnp

    arguments = [jax.dlpack.from_dlpack(t[name].detach()) for name in bench.takes]
    compiled = jax.jit(bench.jax(jnp, jax))
    return lambda: jax.block_until_ready(compiled(*arguments))


def numpy(bench: Bench, t: Tensors) -> Runner:
    if bench.numpy is None:
        raise Absent("no such function")
    import numpy as np

    arrays = {}
    for name, value in t.items():
        with contextlib.suppress(TypeError, AttributeError):  # bf16 is no type of NumPy's
            arrays[name] = value.clone().numpy() if name in bench.outputs else value.numpy()
    function = bench.numpy

    def run():
        function(np, arrays)
        return [arrays[name] for name in bench.outputs]

    try:
        run()
    except KeyError as missing:
        raise Absent(f"no such type for {missing}") from None
    return run


def runner(peer: str, bench: Bench, t: Tensors) -> Runner:
    return {"eager": eager, "inductor": inductor, "jax": jax, "numpy": numpy}[peer](bench, t)


class Patience:
    """Leaves out who would take too long: as long for an operation as for the largest problem of the
    same name before, which hardly counts what a first call costs. PyTorch multiplies bf16 a thousand
    times slower than f32 on CPUs without a unit for it."""

    def __init__(self) -> None:
        # Operations of the largest problem, and seconds for one of them.
        self._largest: dict[tuple[str, str], tuple[float, float]] = {}

    def note(self, bench: Bench, peer: str, seconds: float) -> None:
        if bench.flops:
            key, found = (bench.name, peer), (bench.flops, seconds / bench.flops)
            self._largest[key] = max(self._largest.get(key, found), found)

    def allows(self, bench: Bench, peer: str) -> bool:
        _, each = self._largest.get((bench.name, peer), (0.0, 0.0))
        return each * bench.flops <= PATIENCE_SECONDS


def results(value: Any, bench: Bench) -> tuple[torch.Tensor, ...]:
    """What a peer returned, as tensors, as many as the problem has."""
    found = []
    for item in as_tuple(value)[: len(bench.outputs)]:
        if not isinstance(item, torch.Tensor):
            item = torch.utils.dlpack.from_dlpack(item) if _is_jax(item) else torch.as_tensor(item)
        found.append(item)
    return tuple(found)


def _is_jax(value: Any) -> bool:
    return type(value).__module__.startswith("jax")


def available(wanted: list[str]) -> tuple[list[str], list[str]]:
    """The peers that are here, and a line for each that is not."""
    here, notes = [], []
    for name in wanted:
        try:
            __import__({"eager": "torch", "inductor": "torch", "jax": "jax"}.get(name, name))
        except ImportError:
            notes.append(
                f"{name} is left out: it is not installed (scripts/setup.sh --with-peers does)"
            )
        else:
            here.append(name)
    return here, notes
