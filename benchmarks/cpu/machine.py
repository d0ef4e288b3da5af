# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the machine itself can do: its name, its caches, and its measured limits."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

SOURCE = Path(__file__).with_name("machine.c")
LIBRARY_NAME = "libmachine.so"
COPIES = 15  # of each way, for the limit of a whole run


def build(folder: Path) -> Path | None:
    """machine.c as a library, or None where there is no C compiler."""
    compiler = next(filter(shutil.which, ("clang-22", "clang", "gcc", "cc")), None)
    if compiler is None:
        return None
    target = folder / LIBRARY_NAME
    command = [compiler, "-O2", "-ffp-contract=fast", "-pthread", "-shared", "-fPIC", str(SOURCE)]
    subprocess.run([*command, "-o", str(target)], check=True)
    return target


def load(library: Path | None) -> ctypes.CDLL | None:
    """`library`, or machine.c compiled now; None where neither is to be had."""
    with tempfile.TemporaryDirectory() as folder:
        path = library if library and library.exists() else build(Path(folder))
        return ctypes.CDLL(str(path)) if path else None


class Team:
    """What all threads together can do, to be timed as kernels are: by its wall time, in the same
    rounds."""

    def __init__(self, native: ctypes.CDLL, threads: int):
        self.copy = native.machine_copy
        self.copy.restype = None
        self.copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self.operate = native.machine_operate
        self.operate.restype = ctypes.c_double
        self.operate.argtypes = [ctypes.c_char_p, ctypes.c_double]
        if native.machine_threads(threads) < threads:
            raise RuntimeError(f"the system does not give {threads} threads to measure on")

    def copies(self, to: int, source: int, size: int) -> dict[str, Callable[[], object]]:
        """Of so many bytes from one address to another; twice as many are moved. By memcpy, and
        past the caches; a limit is the better of the two."""
        return {
            "memcpy": lambda: self.copy(to, source, size, 0),
            "streaming": lambda: self.copy(to, source, size, 1),
        }

    def arithmetic(self, rate: str, operations: float) -> dict[str, Callable[[], object]]:
        """So many operations on numbers of a type ("f32", "bf16", "i8"), as f32 where it has no
        instructions; nothing where the processor multiplies and adds in no way known here."""
        for kind in (rate.encode(), b"f32"):
            if self.operate(kind, 1.0):
                return {"arithmetic": lambda kind=kind: self.operate(kind, operations)}
        return {}


def model_name() -> str:
    """The CPU's name; one of a virtual machine, which may be any, with what tells it from others."""
    path = Path("/proc/cpuinfo")
    known = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        key, _, value = line.partition(":")
        known.setdefault(key.strip(), value.strip())
    name = known.get("model name") or platform.processor() or platform.machine()
    if any(letter.isdigit() for letter in name) or "cpu family" not in known:
        return name
    flags = known.get("flags", "").split()
    amx = " with AMX" if "amx_tile" in flags else ""
    return f"{name}{amx} (family {known['cpu family']}, model {known.get('model')})"


def cache_bytes(level: int) -> int:
    """The size of the data cache of a level, 0 where the system does not tell."""
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            if int((folder / "level").read_text()) != level:
                continue
            if (folder / "type").read_text().strip() == "Instruction":
                continue
            text = (folder / "size").read_text().strip()
        except OSError:
            continue
        return int(text.rstrip("KM")) * {"K": 1 << 10, "M": 1 << 20}[text[-1]]
    return 0


def last_cache_bytes() -> int:
    return max(cache_bytes(level) for level in (1, 2, 3, 4)) or 32 << 20


def describe(threads: int) -> dict:
    return {
        "cpu": model_name(),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "threads": threads,
        "l1_bytes": cache_bytes(1),
        "l2_bytes": cache_bytes(2),
        "last_cache_bytes": last_cache_bytes(),
        "system": platform.platform(),
        "load": list(os.getloadavg()),
    }


def _on_threads(count: int, work) -> float:
    """The sum of what `work()` returns, on so many threads at once; ctypes lets them run."""
    results = [0.0] * count
    gate = threading.Barrier(count)

    def body(index: int) -> None:
        gate.wait()
        results[index] = work()

    workers = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(results)


def limits(threads: int, library: Path | None = None) -> dict[str, float]:
    """As `measure` finds them, in a process of its own: what it asks of the system (memory, and
    AMX's registers) does not stay with the kernels."""
    command = [sys.executable, __file__, str(threads), str(library or "")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def measure(threads: int, library: Path | None, seconds: float = 0.02) -> dict[str, float]:
    """Arithmetic in operations a second (f32, bf16, i8; absent without such a unit), of so many
    threads together the best of each, and copying out of cache in bytes read and written a second,
    the median."""
    native = load(library)
    if native is None:
        return {}
    found = {}
    native.machine_rate.restype = ctypes.c_double
    native.machine_rate.argtypes = [ctypes.c_char_p, ctypes.c_double]
    for kind in ("f32", "bf16", "i8"):
        step = functools.partial(native.machine_rate, kind.encode(), seconds)
        rate = max(_on_threads(threads, step) for _ in range(3))
        if rate:
            found[kind] = rate
    size = max(2 * last_cache_bytes(), 128 << 20)
    to, source = (ctypes.create_string_buffer(size) for _ in range(2))
    ctypes.memset(to, 1, size)
    ctypes.memset(source, 2, size)
    calls = Team(native, threads).copies(ctypes.addressof(to), ctypes.addressof(source), size)
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(COPIES):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - start)
    found["copy"] = 2 * size / min(map(statistics.median, taken.values()))
    return found


def better(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """The limits that two measurements have shown: what disturbs one only makes it lower."""
    return {kind: max(one[kind], other[kind]) for kind in one if kind in other}


if __name__ == "__main__":
    given = Path(sys.argv[2]) if sys.argv[2] else None
    print(json.dumps(measure(int(sys.argv[1]), given)))
