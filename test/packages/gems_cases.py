# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Operators of flag-gems: each that it registers with ATen, on the calls that PyTorch's own samples make.

An operator is registered alone, so that what its Python code calls is PyTorch's. flag-gems is made for Triton 3.3 to 3.6
and uses block pointers: run it with Triton 3.7.1.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import hosts

os.environ.setdefault(
    "FLAGGEMS_CACHE_DIR", str(Path(tempfile.gettempdir(), "tilebridge-flag-gems"))
)
warnings.simplefilter("ignore")
hosts.flag_gems()

import flag_gems
import tilebridge
import torch
from gems_calls import copy
from gems_known import ALIASES, KNOWN, RANDOM, SCALAR, VALUES
from gems_values import CALLS, MEANT, OUTSIDE, REFERENCES
from torch.utils._pytree import tree_flatten, tree_map

LIMIT = 8  # calls of an operator
TOLERANCE = {torch.float32: (1e-3, 1e-4), torch.bfloat16: (3e-2, 3e-2), torch.float16: (5e-3, 5e-3)}
# The kernels compute these in f32.
TOLERANCE[torch.complex64] = TOLERANCE[torch.float64] = TOLERANCE[torch.float32]


def registered() -> dict:
    table = {}
    for entry in flag_gems._FULL_CONFIG:
        if len(entry) < 3 or entry[2]():
            table.setdefault(entry[0], entry[1])
    return table


@functools.cache
def recorded() -> dict:
    path = Path(os.environ["FLAGGEMS_CACHE_DIR"], f"calls-{torch.__version__}.pt")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        keys = path.with_suffix(".keys")
        names = set(registered()) | set(ALIASES.values()) | {k.split(".")[0] for k in registered()}
        keys.write_text("\n".join(sorted(names)))
        subprocess.run(
            [sys.executable, str(Path(__file__).with_name("gems_calls.py")), keys, path], check=True
        )
    return torch.load(path, weights_only=False)


def overload(key: str):
    name, _, form = key.partition(".")
    return getattr(getattr(torch.ops.aten, name), form or "default")


def exists(key: str) -> bool:
    try:
        return overload(key) is not None
    except AttributeError:
        return False


def calls_of(key: str) -> list:
    """Recorded calls, or those of an overload that takes the same arguments."""
    calls = recorded()
    if key in VALUES:
        return VALUES[key]()
    made = CALLS[key]() if key in CALLS else []
    if calls.get(key) or made:
        return made + calls.get(key, [])
    name, _, form = key.partition(".")
    if key in SCALAR:
        return [((a[0], 3), {**k}) for a, k in calls.get(SCALAR[key], [])]
    base = ALIASES.get(key)
    if base is None and name.endswith("_"):
        base = name[:-1] if name[:-1] in calls else f"{name[:-1]}.{form or 'Tensor'}"
    if form.endswith("out") and base is None:
        base = (
            name
            if name in calls
            else f"{name}.{form.removesuffix('_out').replace('out', 'Tensor')}"
        )
    made = []
    for args, kwargs in calls.get(base, []):
        if form.endswith("out"):
            try:
                result = overload(base)(*clone(args), **clone(kwargs))
            except Exception:
                continue
            if isinstance(result, torch.Tensor):
                made.append((args, {**kwargs, "out": torch.empty_like(result)}))
        else:
            made.append((args, kwargs))
    return made


def clone(tree):
    return tree_map(lambda t: copy(t) if isinstance(t, torch.Tensor) else t, tree)


def shapes(call) -> str:
    def show(t):
        return f"{str(t.dtype)[6:]}{list(t.shape)}" if isinstance(t, torch.Tensor) else t

    return str(tree_map(show, call))[:120]


def tensors(tree):
    return [t for t in tree_flatten(tree)[0] if isinstance(t, torch.Tensor)]


def run_call(key: str, function, call, check) -> None:
    name = MEANT.get(key, key)
    target = overload(name)
    mutable = target._schema.is_mutable
    try:
        torch.manual_seed(0)
        args, kwargs = clone(call)
        expected = REFERENCES.get(key, target)(*args, **kwargs)
    except Exception:
        return  # PyTorch itself does not take it
    left = tensors((expected, (args, kwargs) if mutable else None))
    library = torch.library.Library("aten", "IMPL")
    try:
        library.impl(name, function, "CPU")
        args, kwargs = clone(call)
        with torch.no_grad(), hosts.tensors_on_cuda():
            actual = target(*args, **kwargs)
    except tilebridge.TilebridgeError:
        raise
    except (Exception, RecursionError) as e:
        # Raised by the package's Python code or by Triton's front end: on a GPU as well.
        check.refused.append(
            f"{shapes(call)}: {type(e).__name__}: {' '.join(str(e).split())[-160:]}"
        )
        return
    finally:
        library._destroy()
    if key in REFERENCES and isinstance(expected, torch.Tensor):
        actual = tensors(actual)[0]
    right = tensors((actual, (args, kwargs) if mutable else None))
    if not left and not right:
        check.close(shapes(call), actual, expected)
    if len(left) != len(right):
        check.refused.append(
            f"{shapes(call)}: gives {len(right)} tensors where PyTorch gives {len(left)}"
        )
    for expected, actual in zip(left, right, strict=False):
        if actual.shape != expected.shape or actual.dtype != expected.dtype:
            # The package's Python code allocates results.
            kinds = [f"{str(t.dtype)[6:]}{list(t.shape)}" for t in (actual, expected)]
            check.refused.append(
                f"{shapes(call)}: allocates {kinds[0]} where PyTorch gives {kinds[1]}"
            )
            continue
        if key.partition(".")[0] in RANDOM:
            check.compared += 1
            continue
        r, a = TOLERANCE.get(expected.dtype, (None, None))
        check.close(shapes(call), actual, expected, rtol=r, atol=a)


def case(key: str, function):
    def run(check):
        if not exists(MEANT.get(key, key)):
            check.refused.append("the overload does not exist in ATen")
            return
        is_outside, why = OUTSIDE.get(key, (lambda args: False, ""))
        for call in calls_of(key)[:LIMIT]:
            if is_outside(call[0]):
                check.refused.append(f"the package's own: {why}")
                continue
            compared = check.compared
            run_call(key, function, call, check)
            if key in KNOWN and check.problems:
                check.refused.append(f"the package's own: {KNOWN[key]}")
                check.problems.clear()
                check.compared = compared

    return run


def cases():
    return {key: case(key, function) for key, function in sorted(registered().items())}
