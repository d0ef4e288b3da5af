# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What triton.testing needs to time kernels on the CPU, where a launch is done when it returns."""

from __future__ import annotations

import contextlib
import ctypes
import time
from pathlib import Path

CPP_TYPES = {
    "i1": "int8_t",
    "u1": "uint8_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "fp16": "double",
    "bf16": "double",
    "fp32": "double",
    "f32": "double",
    "fp64": "double",
}


class Event:
    def __init__(self, enable_timing: bool = True, **_):
        self.seconds = 0.0

    def record(self, stream=None) -> None:
        self.seconds = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds; never 0, which callers divide by."""
        return max((end.seconds - self.seconds) * 1e3, 1e-6)


class DeviceInterface:
    Event = Event

    @staticmethod
    def synchronize(device=None) -> None:
        pass

    @staticmethod
    def current_device() -> int:
        return 0

    @staticmethod
    def set_device(device) -> None:
        pass

    @staticmethod
    def current_stream(device=None) -> int:
        return 0

    @staticmethod
    def stream(stream):
        return contextlib.nullcontext()


def _last_level_cache_bytes() -> int:
    sizes = [0]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        with contextlib.suppress(OSError, ValueError):
            text = path.read_text().strip()
            unit = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
            sizes.append(int(text.rstrip("KM")) * unit)
    return max(sizes)


class CacheFlusher:
    """Memory that takes the kernel's data out of the caches when it is written: twice the last level's size."""

    def __init__(self):
        size = min(max(2 * _last_level_cache_bytes(), 16 << 20), 256 << 20)
        self.memory = (ctypes.c_char * size)()

    def zero_(self) -> None:
        ctypes.memset(self.memory, 0, len(self.memory))
