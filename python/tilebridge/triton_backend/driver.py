# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What Triton asks about the machine, and how it launches."""

from __future__ import annotations

import os
import platform
import threading

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from tilebridge.triton_backend import NAME

_asking = threading.local()


def _another_backend_is_active(own: type) -> bool:
    """Whether a backend besides this one would be active, such as that of a GPU which is usable."""
    if getattr(_asking, "now", False):
        return False  # Another backend that does as this one does is asking back.
    _asking.now = True
    try:
        from triton.backends import backends

        for backend in backends.values():
            try:
                if backend.driver is not own and backend.driver.is_active():
                    return True
            except Exception:
                continue  # A backend that cannot even tell is not usable.
    except Exception:
        return False
    finally:
        _asking.now = False
    return False


class CPUUtils:
    """What Triton uses to load kernels."""

    def get_device_properties(self, device) -> dict[str, int]:
        return {
            # Blocks live in ordinary memory: there is no limit that a kernel could tune for.
            "max_shared_mem": 1 << 30,
            "multiprocessor_count": os.cpu_count() or 1,
            "max_num_regs": 1 << 16,
            "max_threads_per_sm": 1024,
            "warpSize": 1,
            "sm_clock_rate": 1,
            "mem_clock_rate": 1,
            "mem_bus_width": 64,
        }

    def load_binary(self, name: str, artefact: bytes, shared: int, device: int):
        """Returns module, function, registers (at least 1: programs divide by it), spills, most threads."""
        from tilebridge import _native
        from tilebridge.triton_backend import checked, simulated

        if artefact.startswith(checked.MARK):
            kernel = checked.CheckedKernel(artefact.removeprefix(checked.MARK))
        elif artefact.startswith(simulated.MARK):
            kernel = simulated.SimulatedKernel(artefact)
        else:
            kernel = _native.launcher().load(artefact)
        return kernel, kernel, 1, 0, 1 << 20

    def unload_module(self, module) -> None:
        """The kernel goes when nothing refers to it any more."""

    def set_printf_fifo_size(self, size: int) -> None:
        """Prints are not buffered."""


def make_launcher(src, metadata):
    """The callable that Triton calls for each launch of a kernel; see python/native/Launcher.c."""
    from tilebridge import _native
    from tilebridge.triton_backend import checked, quick, simulated
    from tilebridge.triton_backend.compiler import compile_target

    signature = dict(src.signature)
    types = tuple(_normalize(kind) for kind in signature.values())
    launcher = _native.launcher().Launcher(
        metadata.name,
        tuple(str(name) for name in signature),
        types,
        bool(getattr(metadata, "launch_cooperative_grid", False)),
    )
    is_slow = checked.is_asked_for() or simulated.is_asked_for(compile_target())
    if is_slow:
        return checked.CheckedLauncher(launcher, types)
    quick.install()
    return launcher


# triton.compile("kernel.ttir") takes types from the IR, spelled as there.
_IR_ELEMENTS = {
    "f16": "fp16",
    "f32": "fp32",
    "f64": "fp64",
    "f8E5M2": "fp8e5",
    "f8E4M3FN": "fp8e4nv",
    "f8E5M2FNUZ": "fp8e5b16",
    "f8E4M3FNUZ": "fp8e4b8",
}


def _normalize(kind):
    if isinstance(kind, (tuple, list)):
        return tuple(map(_normalize, kind))
    element = kind.removeprefix("*")
    return kind[: len(kind) - len(element)] + _IR_ELEMENTS.get(element, element)


class CPUDriver(DriverBase):
    def __init__(self):
        from tilebridge.triton_backend import startup

        startup.install()
        self.utils = CPUUtils()
        self.launcher_cls = make_launcher

    @classmethod
    def is_active(cls) -> bool:
        """True where Tilebridge is asked for by name, or where no other backend can work."""
        selected = os.environ.get("TRITON_DEFAULT_BACKEND")
        return selected == NAME if selected else not _another_backend_is_active(cls)

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cpu", platform.machine(), 1)

    def get_current_device(self) -> str:
        return "cpu"  # as torch.cpu.current_device() has it: both are keys of a kernel's caches

    def set_current_device(self, device) -> None:
        pass

    def get_current_stream(self, device) -> int:
        return 0

    def get_active_torch_device(self):
        import torch

        # Programs that ask for the device go on with `getattr(torch, device.type)`, as on any device. Of its functions
        # PyTorch leaves this one out on CPUs, where there is one stream.
        if not hasattr(torch.cpu, "set_stream"):
            torch.cpu.set_stream = lambda stream: None
        return torch.device("cpu")

    def map_python_to_cpp_type(self, ty: str) -> str:
        from tilebridge.triton_backend.benchmark import CPP_TYPES

        return "void *" if ty.startswith(("*", "tensordesc")) else CPP_TYPES[ty]

    def get_device_interface(self):
        from tilebridge.triton_backend.benchmark import DeviceInterface

        return DeviceInterface

    def get_benchmarker(self):
        from triton.testing import do_bench

        from tilebridge import accel
        from tilebridge.triton_backend import simulated
        from tilebridge.triton_backend.compiler import compile_target

        return accel.do_bench if simulated.is_asked_for(compile_target()) else do_bench

    def get_empty_cache_for_benchmark(self):
        from tilebridge.triton_backend.benchmark import CacheFlusher

        return CacheFlusher()

    def clear_cache(self, cache) -> None:
        cache.zero_()
