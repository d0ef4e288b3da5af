# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""torch.compile with Triton kernels for CPU tensors.

PyTorch's compiler, Inductor, has the setting `torch._inductor.config.cpu_backend = "triton"` and needs nothing else: it
finds Tilebridge among Triton's backends as "cpu". `enable()` makes that setting, and corrects what PyTorch's Python code
does for CPUs because there was no Triton for them:

- Inductor times kernels against each other (`max_autotune`) in programs whose text is not indented right on a CPU, and
  inside `device(...)`, which its interface to CPUs lacks.
- FlexAttention uses a template in C++ on a CPU, without a backward pass. With `flex_attention=True` it uses its
  templates in Triton, forward and backward.

The corrections are known to fit PyTorch 2.13; where PyTorch's code has other names, an error says so.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import os
import sys
import textwrap

__all__ = ["enable"]


def enable(*, flex_attention: bool = False) -> None:
    """Makes Inductor produce Triton kernels for CPU tensors, for the rest of the program."""
    import torch._inductor.config as config

    config.cpu_backend = "triton"
    _let_benchmarks_run()
    if flex_attention:
        _use_flex_templates()


class _Device(contextlib.nullcontext):
    """`with device(d)` of a machine with one CPU device."""

    def __init__(self, device=None):
        super().__init__()


@functools.cache
def _let_benchmarks_run() -> None:
    from torch._dynamo.device_interface import CpuInterface
    from torch._inductor.codegen.common import register_device_op_overrides
    from torch._inductor.codegen.cpu_device_op_overrides import CpuDeviceOpOverrides

    class OneLine(CpuDeviceOpOverrides):
        # Inductor pastes this text into programs that are indented, so it must be one line.
        def import_get_raw_stream_as(self, name: str) -> str:
            return f"{name} = lambda _: 0"

    register_device_op_overrides("cpu", OneLine())
    CpuInterface.device = _Device


@functools.cache
def _use_flex_templates() -> None:
    """Takes from FlexAttention's code the branches for CPUs, which choose C++ and refuse gradients."""
    _without_cpu_branches("torch.nn.attention.flex_attention", "_validate_device")
    _without_cpu_branches("torch.nn.attention.flex_attention", "_apply_kernel_options")
    # Its decorator registers it again.
    _without_cpu_branches("torch._inductor.kernel.flex.flex_attention", "flex_attention")

    # How many pieces a short query's keys are cut into: enough for all cores, as on a GPU for its multiprocessors.
    decoding = importlib.import_module("torch._inductor.kernel.flex.flex_decoding")
    decoding.get_split_k = lambda batch, heads, keys: max(
        (os.cpu_count() or 1) * 2 // max(batch * heads, 1), 1
    )


class _NeverCPU(ast.NodeTransformer):
    """Replaces comparisons of anything with "cpu" by False."""

    def __init__(self):
        self.count = 0

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        is_cpu = (
            isinstance(node.ops[0], ast.Eq) and getattr(node.comparators[0], "value", None) == "cpu"
        )
        self.count += is_cpu
        return ast.copy_location(ast.Constant(False), node) if is_cpu else node


def _without_cpu_branches(module_name: str, name: str) -> None:
    module = importlib.import_module(module_name)
    module = sys.modules[module_name]  # a function may have the module's name
    function = getattr(module, name, None)
    if function is None:
        raise RuntimeError(
            f"this version of PyTorch has no {module_name}.{name}: FlexAttention cannot be changed"
        )
    function = inspect.unwrap(function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    transformer = _NeverCPU()
    tree = ast.fix_missing_locations(transformer.visit(tree))
    if not transformer.count:
        raise RuntimeError(
            f"{module_name}.{name} of this version of PyTorch does not ask for a CPU"
        )
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    exec(compile(tree, function.__code__.co_filename, "exec"), module.__dict__)
