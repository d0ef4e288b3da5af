# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the packages ask about the device, answered for a CPU. Nothing here touches a kernel.

Packages for GPUs choose a device by its vendor and size grids by its multiprocessors. Where a package has no way to
be told about a CPU, the questions to PyTorch that it asks are answered here, before it is imported.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import types
from pathlib import Path

import torch


class Properties:
    """What torch.cuda.get_device_properties would say."""

    name = "cpu"
    major, minor = 8, 0
    multi_processor_count = os.cpu_count() or 1
    max_threads_per_multi_processor = 1024
    warp_size = 32
    L2_cache_size = 1 << 20
    total_memory = 8 << 30
    shared_memory_per_block_optin = shared_memory_per_block = 1 << 20


class PhiloxGenerator:
    """A seed and an offset, laid out as a generator of torch.cuda keeps its state."""

    def __init__(self):
        self.manual_seed(0)

    def manual_seed(self, seed: int):
        self.state = torch.tensor([seed, 0], dtype=torch.int64)

    def get_state(self):
        return self.state.clone().view(torch.uint8)

    def set_state(self, state):
        self.state = state.view(torch.int64).clone()


class DeviceContext(contextlib.nullcontext):
    def __init__(self, device=None):
        super().__init__()


def cpu_as_device() -> None:
    """Gives torch.cpu the queries that torch.cuda and its kin have."""
    generator = PhiloxGenerator()
    answers = {
        "device": DeviceContext,
        "current_device": lambda: 0,
        "get_device_properties": lambda device=None: Properties,
        "get_device_capability": lambda device=None: (8, 0),
        "get_device_name": lambda device=None: "cpu",
        "default_generators": {"cpu": generator, 0: generator},
        "mem_get_info": lambda device=None: (8 << 30, 16 << 30),
    }
    for name, answer in answers.items():
        setattr(torch.cpu, name, answer)


def cuda_queries() -> None:
    """The questions about a GPU's size that are asked of torch.cuda whatever the tensors' device is."""
    torch.cuda.get_device_properties = lambda device=None: Properties
    torch.cuda.current_device = lambda: 0


@contextlib.contextmanager
def tensors_on_cuda():
    """Tensors say that they are where a package asks for them, and are in the CPU's memory all the same."""
    torch.Tensor.is_cuda = property(lambda self: True)
    try:
        yield
    finally:
        del torch.Tensor.is_cuda


def one_configuration() -> None:
    """Autotuners take their first configuration: these are tests of results, and compiling takes the time."""
    import triton

    initialize = triton.runtime.Autotuner.__init__

    def first(self, fn, arg_names, configs, *args, **kwargs):
        initialize(self, fn, arg_names, list(configs)[:1], *args, **kwargs)

    triton.runtime.Autotuner.__init__ = first


def without_asserts(name: str) -> None:
    """Imports a module as `python -O` does: for one whose only hindrance is an assertion that a tensor is on CUDA."""
    spec = importlib.util.find_spec(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    exec(compile(Path(spec.origin).read_text(), spec.origin, "exec", optimize=1), module.__dict__)


def liger() -> None:
    """liger-kernel falls back to "cpu" by itself, but for the grid of DyT's backward, which knows three vendors."""
    cpu_as_device()
    cuda_queries()
    one_configuration()
    import liger_kernel.ops

    sys.modules["liger_kernel.ops.dyt"].infer_device = lambda: "cuda"
    without_asserts("liger_kernel.ops.mlp")
    liger_kernel.ops.LigerMLPFunction = sys.modules["liger_kernel.ops.mlp"].LigerMLPFunction


def flag_gems() -> None:
    """flag-gems looks its device up in a module of the vendor. This is nvidia's, kernels and tuning tables as they
    are, with "cpu" as the device's name; the operators are registered for PyTorch's dispatch key "CPU"."""
    cpu_as_device()
    cuda_queries()
    one_configuration()
    backends = Path(
        importlib.util.find_spec("flag_gems").submodule_search_locations[0], "runtime", "backend"
    )
    sys.path.insert(0, str(backends))
    from backend_utils import VendorInfoBase

    vendor = types.ModuleType("_nvidia")
    vendor.__path__ = [str(backends / "_nvidia")]
    vendor.vendor_info = VendorInfoBase(
        vendor_name="nvidia", device_name="cpu", device_query_cmd="true", triton_extra_name="cuda"
    )
    vendor.CUSTOMIZED_UNUSED_OPS = ()
    sys.modules["_nvidia"] = vendor
    os.environ["GEMS_VENDOR"] = "nvidia"

    import flag_gems  # noqa: F401

    # Its launcher passes constexprs to compiled kernels from Triton 3.3 to 3.6 and knows no later version, where it is
    # the same.
    entry = sys.modules["flag_gems.utils.libentry"]
    entry.major_version, entry.minor_version = 3, 6


def fla() -> None:
    """fla-core takes its device from Triton's driver, and asks the size of torch.cuda's shared memory."""
    cpu_as_device()
    cuda_queries()
    one_configuration()


def helion() -> None:
    """helion takes CPU tensors as they are, with a configuration that is given."""
    cpu_as_device()
