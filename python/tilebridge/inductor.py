# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""torch.compile with Triton kernels for CPU tensors.

PyTorch's compiler, Inductor, has the setting `torch._inductor.config.cpu_backend = "triton"` and needs nothing else: it
finds Tilebridge among Triton's backends as "cpu". `enable()` makes that setting, and corrects what PyTorch's Python code
does for CPUs because there was no Triton for them:

- Inductor times kernels against each other (`max_autotune`) in programs whose text is not indented right on a CPU, and
  inside `device(...)`, which its interface to CPUs lacks.
- Its templates of convolutions take no bias, and for a CPU it hands them one, so that `max_autotune` ends in an error for
  every convolution with a bias. The bias is added behind the template, as on a GPU.
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
    _add_bias_behind_templates()
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
def _add_bias_behind_templates() -> None:
    """Splits the bias from convolutions on CPUs where templates are tried."""
    import torch._inductor.config as config
    import torch._inductor.kernel.conv  # registers what is wrapped here  # noqa: F401
    from torch._inductor.lowering import lowerings
    from torch._inductor.utils import _use_conv_autotune_backend

    aten = importlib.import_module("torch").ops.aten

    def wrap(lower):
        @functools.wraps(lower)
        def convolution(x, weight, bias, *rest, **kwargs):
            templates = (
                config.max_autotune or config.max_autotune_gemm
            ) and _use_conv_autotune_backend("TRITON")
            if bias is None or not templates or x.get_device_or_error().type != "cpu":
                return lower(x, weight, bias, *rest, **kwargs)
            result = lower(x, weight, None, *rest, **kwargs)
            spatial = len(weight.get_size()) - 2
            channels = result.get_size()[-spatial - 1]
            shaped = lowerings[aten.view.default](bias, [channels] + [1] * spatial)
            return lowerings[aten.add.Tensor](result, shaped)

        return convolution

    for name in (aten.convolution, aten.convolution.default):
        if name in lowerings:
            lowerings[name] = wrap(lowerings[name])


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
