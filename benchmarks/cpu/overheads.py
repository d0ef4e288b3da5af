# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a launch costs besides the kernel's work, and how long compilation takes without any cache."""

from __future__ import annotations

import contextlib
import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import attention
import machine
import matmul
import torch
import triton
import triton.language as tl
import vector_add
from quiet import wait_until_quiet
from tilebridge.triton_backend import quick

ELEMENTS = 4096
BLOCK = 1024
NO_CACHE = 1  # TILEBRIDGE_COMPILE_NO_CACHE


def mean_seconds(call: Callable[[], object], count: int = 2000) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


@contextlib.contextmanager
def triton_alone():
    """Triton's JIT launches as if Tilebridge had no quick way past it."""
    methods = {"run": quick.triton_run, "__getitem__": quick.triton_item}
    ours = {name: getattr(triton.JITFunction, name) for name, own in methods.items() if own}
    for name in ours:
        setattr(triton.JITFunction, name, methods[name])
    try:
        yield
    finally:
        for name, method in ours.items():
            setattr(triton.JITFunction, name, method)


def launches() -> dict[str, float]:
    """Seconds a launch of ELEMENTS takes: Triton's JIT with a launcher that does nothing, all of a
    call in Python, the C interface."""
    x, y, out = (torch.ones(ELEMENTS) for _ in range(3))
    grid = (ELEMENTS // BLOCK,)
    kernel = vector_add.add_kernel
    start = kernel[grid]

    def call():
        start(x, y, out, ELEMENTS, BLOCK=BLOCK)

    call()
    compiled = kernel.warmup(x, y, out, ELEMENTS, BLOCK=BLOCK, grid=grid)
    run = compiled.run  # makes the launcher
    whole, alone = [], []
    with triton_alone():
        start_alone = kernel[grid]

    def call_alone():
        start_alone(x, y, out, ELEMENTS, BLOCK=BLOCK)

    wait_until_quiet()
    # In turn, and the least: what it costs where nothing disturbs it. Many short rounds, since a
    # virtual machine's core may change its speed by half within tenths of a second: both must meet
    # the fast times.
    for _ in range(301):
        whole.append(mean_seconds(call, 100))
        compiled._run = lambda *_: None
        with triton_alone():
            alone.append(mean_seconds(call_alone, 100))
        compiled._run = run
    found = {"python_s": min(whole), "jit_s": min(alone), "ratio": min(whole) / min(alone)}
    found |= c_launch(compiled.asm["so"], [x.data_ptr(), y.data_ptr(), out.data_ptr(), ELEMENTS])
    return found


def c_launch(artefact: bytes, slots: list[int]) -> dict[str, float]:
    from tilebridge import _native

    runtime = ctypes.CDLL(str(_native.library_dir() / _native.RUNTIME))
    handle = ctypes.c_void_p()
    if runtime.tilebridge_load_bytes(
        artefact, ctypes.c_size_t(len(artefact)), ctypes.byref(handle)
    ):
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = machine.build(Path(folder))
        if path is None:
            return {}
        seconds = ctypes.CDLL(str(path)).machine_launch_seconds
    seconds.restype = ctypes.c_double
    launch = ctypes.cast(runtime.tilebridge_launch, ctypes.c_void_p)
    array = (ctypes.c_uint64 * len(slots))(*slots)
    programs, count = ctypes.c_int64(ELEMENTS // BLOCK), ctypes.c_size_t(len(slots))
    return {"c_s": seconds(launch, handle, programs, array, count, 20000)}


def sources() -> dict[str, str]:
    """The TTIR of the kernels whose compilation is timed."""
    x = torch.ones(ELEMENTS)
    kernel = vector_add.add_kernel.warmup(x, x, x, ELEMENTS, BLOCK=BLOCK, grid=(1,))
    found = {"vector add": kernel.asm["ttir"]}
    a = torch.ones(512, 512)
    for bm, bn, bk in ((32, 32, 32), (64, 64, 32), (128, 128, 32), (256, 256, 32)):
        kernel = matmul.matmul_pointers_kernel.warmup(
            a, a, a, 512, 512, 512, *a.stride() * 3,
            BM=bm, BN=bn, BK=bk, GROUP=8, ACC=tl.float32, ACTIVATION="", grid=(1,),
        )  # fmt: skip
        found[f"matmul {bm}x{bn}x{bk}"] = kernel.asm["ttir"]
    q = torch.ones(1, 8, 512, 64)
    for block in (32, 64, 128, 256):
        kernel = attention.attention_kernel.warmup(
            q, q, q, q, torch.ones(8, 512), *q.stride()[:3] * 4, 8, 512, 512, 0.18,
            D=64, BM=block, BN=block, CAUSAL=False, grid=(1,),
        )  # fmt: skip
        found[f"attention {block}x{block}"] = kernel.asm["ttir"]
    return found


FIRST = """
import sys, time
source = open(sys.argv[1], "rb").read()
from tilebridge import _native
start = time.perf_counter()
_native.launcher().compile(source, "cpu", flags=1)
print(time.perf_counter() - start)
"""


def first_seconds(source: str, trials: int = 5) -> float:
    """Loading the compiler and compiling, in a new process: the median of some."""
    with tempfile.NamedTemporaryFile("w", suffix=".ttir") as file:
        file.write(source)
        file.flush()
        command = [sys.executable, "-c", FIRST, file.name]
        times = [
            float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            for _ in range(trials)
        ]
    return statistics.median(times)


def compilations(trials: int = 9) -> list[dict]:
    """In rounds over all kernels, so that a change of the machine's speed meets all of them."""
    from tilebridge import _native

    compiler, kernels = _native.launcher(), sources()
    wait_until_quiet()
    times: dict[str, list[float]] = {name: [] for name in kernels}
    for _ in range(trials):
        for name, source in kernels.items():
            start = time.perf_counter()
            compiler.compile(source.encode(), "cpu", flags=NO_CACHE)
            times[name].append(time.perf_counter() - start)
    rows = [
        {"name": name, "median_s": statistics.median(values), "least_s": min(values)}
        for name, values in times.items()
    ]
    rows[0]["first_s"] = first_seconds(kernels[rows[0]["name"]])
    return rows
