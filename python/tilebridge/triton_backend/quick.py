# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Launches that Triton has done once are done without its JIT: what python/native/Quick.h needs to know of Triton.

Methods in C stand in for JITFunction.run and JITFunction.__getitem__. They call Triton's own for whatever they have
not seen yet, and after that describe() says by what the launch can be known again. One more stands in for
ConstexprFunction.__call__, of which triton.cdiv is one, that grids call: Triton's takes longer than all of the launch.
"""

from __future__ import annotations

import inspect
import os
import sys

from tilebridge import _native

# What JITFunction.run reads, as far as this module and Quick*.c know what it means. Another version of Triton may read
# more: then all launches go its way.
_KNOWN_NAMES = frozenset(
    """
    RuntimeError _do_compile _pack_args active add_stages_inspection_hook append callable compilation compute_cache_key
    debug device_caches driver fpsan_homomorphic_casts function get get_current_device get_current_stream
    instrumentation_mode items kernel_cache knobs launch_enter_hook launch_exit_hook launch_metadata len object
    packed_metadata pre_run_hooks run runtime used_global_vals values
    """.split()
)
# The same of ConstexprFunction.__call__.
_KNOWN_NAMES_OF_CONSTANTS = frozenset(
    "_unwrap_if_constexpr constexpr fn interpret items knobs runtime triton.language.core".split()
)
# Of the first, what decides which kernel is taken.
_SETTINGS = (
    ("runtime", "debug"),
    ("compilation", "instrumentation_mode"),
    ("compilation", "fpsan_homomorphic_casts"),
)
# Keywords that JITFunction.run sets or takes away: a parameter of such a name is left to Triton.
_RESERVED = {"grid", "warmup", *(name for _, name in _SETTINGS)}

# As in Quick.h: an argument is compared by its value, or by its range and these.
_BY_VALUE = 255
_BY_RANGE, _BY_ONE, _BY_ALIGNMENT = 3, 4, 8

_DEVICE = "cpu"
_installing = _native.lock_that_forks_wait_for()
_is_decided = False
_knows_tensors = False
# JITFunction's methods as they were, where they were replaced.
triton_run = triton_item = triton_constant = None


def install() -> None:
    """Called when a launcher is made: puts the methods in place, and notices that PyTorch is there."""
    global _is_decided, _knows_tensors
    with _installing:
        if not _is_decided:
            _is_decided = True
            if os.environ.get("TILEBRIDGE_QUICK_LAUNCH") != "0":
                _put_in_place()
        if not _knows_tensors and "torch" in sys.modules:
            _knows_tensors = _learn_tensors()


def _put_in_place() -> None:
    global triton_run, triton_item, triton_constant
    from triton import knobs
    from triton.compiler import CompiledKernel
    from triton.language.core import dtype
    from triton.runtime import jit
    from triton.tools.tensor_descriptor import TensorDescriptor

    from tilebridge.triton_backend.driver import CPUDriver

    own_run, own_item = jit.JITFunction.run, jit.JITFunction.__getitem__
    own_constant = jit.ConstexprFunction.__call__
    settings = _settings(knobs)
    if (
        settings is None
        or not inspect.isfunction(own_run)
        or not inspect.isfunction(own_item)
        or not _KNOWN_NAMES.issuperset(own_run.__code__.co_names)
    ):
        return
    run, item, constant = _native.launcher().set_up_quick_launches(
        jit.JITFunction,
        CompiledKernel,
        TensorDescriptor,
        dtype,
        CPUDriver,
        knobs.HookChain,
        jit.ConstexprFunction,
        own_run,
        own_item,
        own_constant,
        vars(knobs),
        vars(jit.driver),
        describe,
        finish,
        settings,
    )
    triton_run, triton_item, triton_constant = own_run, own_item, own_constant
    jit.JITFunction.run = run
    jit.JITFunction.__getitem__ = item
    if inspect.isfunction(own_constant) and _KNOWN_NAMES_OF_CONSTANTS.issuperset(
        own_constant.__code__.co_names
    ):
        jit.ConstexprFunction.__call__ = constant


def _settings(knobs):
    """(group, name, variable of the environment or None) of each; None if one is of a kind that is not known."""
    found = []
    for group, name in _SETTINGS:
        holder = type(getattr(knobs, group))
        value = inspect.getattr_static(holder, name, None)
        if isinstance(value, knobs.env_base):
            found.append((group, name, value.key.encode()))
        elif hasattr(type(value), "__get__"):
            return None
        elif hasattr(holder, name):
            found.append((group, name, None))
    return tuple(found)


def _learn_tensors() -> bool:
    from tilebridge import _native

    torch = sys.modules["torch"]
    parameter = getattr(getattr(torch, "nn", None), "Parameter", None)
    if parameter is None:
        return False  # It is being imported.
    exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    _native.launcher().learn_tensors(torch.Tensor, parameter, exchange)
    return True


def describe(function, positional: int, keywords: tuple[str, ...], kernel):
    """By what a launch that gave `kernel` can be known again: see completeEntry() in QuickEntry.c. None: by nothing."""
    from tilebridge import _native

    native = _native.launcher()
    names = vars(function)
    launcher = getattr(kernel, "_run", None)
    if type(launcher) is not native.Launcher or type(kernel.function) is not native.Kernel:
        return None
    key = _key_of(names["device_caches"], kernel)
    used = names["used_global_vals"]
    used_now = _globals(used)
    parameters = function.signature.parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    if (
        key is None
        or used_now is None
        or not kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
        or _RESERVED & parameters.keys()
    ):
        return None
    order = tuple(parameters)
    given = (*order[:positional], *keywords)
    index = {name: i for i, name in enumerate(given)}
    rules = {parameter.name: _rule(parameter) for parameter in function.params}
    sources = tuple(index.get(name, -1) for name in order)
    defaults = tuple(
        parameters[name].default if source < 0 else None
        for name, source in zip(order, sources, strict=True)
    )
    return (
        tuple(rules.get(name, _BY_VALUE) for name in given),
        sources,
        order,
        defaults,
        key,
        launcher,
        names["debug"],
        used,
        used_now,
    )


def _rule(parameter) -> int:
    """By what Triton tells arguments apart."""
    if parameter.is_constexpr:
        return _BY_VALUE
    if parameter.do_not_specialize:
        return _BY_RANGE
    is_aligned = not parameter.do_not_specialize_on_alignment
    return _BY_RANGE | _BY_ONE | (_BY_ALIGNMENT if is_aligned else 0)


def _key_of(device_caches, kernel) -> str | None:
    kernels = dict.get(device_caches, _DEVICE, ({},))[0]
    key = next((key for key, value in list(kernels.items()) if value is kernel), None)
    return key if type(key) is str else None


def _globals(used) -> tuple | None:
    """(names, name, the object, the value in a constexpr) of each global that the kernel uses. Triton compares them
    with copies at each launch; here they must be the same objects, of classes that do not change."""
    from triton.language.core import constexpr, dtype

    constants = (bool, int, float, str, type(None), dtype)
    found = []
    for (name, _), (_, holder) in list(used.items()):
        value = holder.get(name)
        inner = value.value if type(value) is constexpr else None
        if type(inner if inner is not None else value) not in constants or name not in holder:
            return None
        found.append((holder, name, value, inner))
    return tuple(found)


def finish(kernel, grid, bound):
    """The end of JITFunction.run, where the grid's function has been called and what follows is not usual."""
    from triton import knobs
    from triton.runtime import driver

    size = len(grid)
    numbers = (grid[0], grid[1] if size > 1 else 1, grid[2] if size > 2 else 1)
    stream = driver.active.get_current_stream(driver.active.get_current_device())
    values = bound.values()
    metadata = kernel.launch_metadata(grid, stream, *values)
    kernel.run(
        *numbers,
        stream,
        kernel.function,
        kernel.packed_metadata,
        metadata,
        knobs.runtime.launch_enter_hook,
        knobs.runtime.launch_exit_hook,
        *values,
    )
    return kernel
