# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tilebridge runs Triton kernels on the CPU.

Installed beside Triton, it is Triton's backend wherever no other one is active: kernels run on CPU tensors as they
are. On a machine with a GPU it steps aside; there it is asked for with TRITON_DEFAULT_BACKEND=tilebridge in the
environment, or with tilebridge.activate() in the program.
"""

from __future__ import annotations

from tilebridge.errors import (
    ArtefactError,
    CompileError,
    KernelAssertionError,
    TilebridgeError,
)

__version__ = "0.1.0"
__all__ = [
    "ArtefactError",
    "CompileError",
    "KernelAssertionError",
    "TilebridgeError",
    "activate",
    "compile_ttir",
    "describe_threads",
    "explain",
]


def activate() -> None:
    """Makes Tilebridge Triton's backend for the rest of the program, also where there is a GPU.

    Kernels that were launched before keep what they were compiled for.
    """
    from triton.runtime import driver

    from tilebridge.triton_backend.driver import CPUDriver

    driver.set_active(CPUDriver())


def compile_ttir(
    ttir: str | bytes,
    *,
    target: str = "cpu",
    stage: str = "so",
    source_name: str | None = None,
    print_after: str | None = None,
) -> bytes:
    """Compiles TTIR and returns the artefact, or one of the stages before it.

    The stages are "ttir", "bridge", "vector", "llvm", "asm" and "so", "explain" and "explain-json" of explain().
    What `print_after` names goes to stderr.
    """
    import sys

    from tilebridge import _native

    data = ttir.encode() if isinstance(ttir, str) else bytes(ttir)
    output, log = _native.launcher().compile(data, target, stage, source_name, print_after)
    if log:
        print(log, end="", file=sys.stderr)
    return output


def explain(kernel) -> dict:
    """What became of each access of a kernel to memory: see docs/explain.md.

    `kernel` is a compiled kernel, which a launch `kernel[grid](...)` returns, or TTIR. The result is the object that
    `tilebridge explain --json` prints: its "kernel" is the name, its "accesses" a list ordered by source line.
    """
    import json

    ttir = kernel if isinstance(kernel, (str, bytes)) else kernel.asm["ttir"]
    return json.loads(compile_ttir(ttir, stage="explain-json"))


def describe_threads() -> str:
    """Which threads the next launch runs on, such as "OpenMP with 8 threads (.../libgomp.so.1)"."""
    from tilebridge import _native

    return _native.launcher().describe_threads()
