# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the TTIR of all example kernels, as the installed Triton lowers them, to
test/ttir/examples/<version>/.

    python test/ttir/dump.py [--out DIR] [--locations] [--only NAME]

Every demo case and both ends of every range of block sizes are launched through a backend that
records the TTIR and computes nothing, so that argument types and divisibility are those of a real
launch.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
import re
import sys
from pathlib import Path

# The recording backend stands alone, whatever plugins are installed.
os.environ["TRITON_BACKENDS_IN_TREE"] = "1"
os.environ["TRITON_ALWAYS_COMPILE"] = "1"

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import torch
import triton
from demo import FAMILIES
from tilebridge.triton_backend.compiler import CPUOptions, run_ttir_passes
from triton.backends import Backend, backends
from triton.backends.compiler import BaseBackend, GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime.driver import driver

LARGEST = 100_000  # bytes of one file

recorded: list[tuple[str, str]] = []  # (kernel, text) of the launches so far


@dataclasses.dataclass(frozen=True)
class Options(CPUOptions):
    """Those of the CPU, so that a kernel is lowered as it is for the compiler."""

    debug: bool = True
    sanitize_overflow: bool = False
    backend_name: str = "record"
    arch: str = "none"


class RecordingBackend(BaseBackend):
    binary_ext = "none"

    @staticmethod
    def supports_target(target):
        return target.backend == "record"

    def hash(self):
        return "record"

    def parse_options(self, opts):
        names = {f.name for f in dataclasses.fields(Options)}
        return Options(**{k: v for k, v in opts.items() if k in names and v is not None})

    def pack_metadata(self, metadata):
        return ()

    def get_codegen_implementation(self, options):
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def get_module_map(self):
        return {}

    def load_dialects(self, ctx):
        pass

    def add_stages(self, stages, options, language=None):
        stages["ttir"] = self.make_ttir
        stages["none"] = lambda module, metadata: b"none"

    @staticmethod
    def make_ttir(module, metadata):
        run_ttir_passes(module)
        metadata["name"] = module.get_entry_func_name()
        metadata["shared"] = 1
        recorded.append((metadata["name"], str(module) if LOCATIONS else module.str_nodebug()))
        return module


class _Utils:
    def get_device_properties(self, device):
        return {
            "max_shared_mem": 1 << 30,
            "multiprocessor_count": 1,
            "max_num_regs": 1 << 16,
            "warpSize": 1,
        }

    def load_binary(self, name, kernel, shared, device):
        return object(), object(), 1, 0, 1 << 20

    def unload_module(self, module):
        pass


class RecordingDriver(DriverBase):
    def __init__(self):
        self.utils = _Utils()
        self.launcher_cls = lambda source, metadata: lambda *args: None

    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        return GPUTarget("record", "none", 1)

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device):
        return 0

    def get_active_torch_device(self):
        return torch.device("cpu")

    def map_python_to_cpp_type(self, name):
        return name

    def get_benchmarker(self):
        return lambda call, **options: call()


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def cases(family: str):
    """(name, case) of all that a family exports."""
    module = importlib.import_module(family)
    yield from ((slug(case.name), case) for case in module.CASES)
    for name, smallest, largest in module.EXTREMES:
        yield slug(name) + "-smallest", smallest
        yield slug(name) + "-largest", largest


def strip_machine(text: str) -> str:
    """Locations name files as the machine knows them: keep what lies below the repository."""
    return text.replace(f"{ROOT}/", "").replace(f"{Path(triton.__file__).parents[1]}/", "")


def main() -> int:
    global LOCATIONS
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=ROOT / "test/ttir/examples" / triton.__version__
    )
    parser.add_argument("--locations", action="store_true", help="keep the source locations")
    parser.add_argument("--only", default="", help="only names that contain this")
    options = parser.parse_args()
    LOCATIONS = options.locations
    backends["record"] = Backend(RecordingBackend, RecordingDriver)
    driver.set_active(RecordingDriver())
    options.out.mkdir(parents=True, exist_ok=True)
    known: dict[str, str] = {}
    failed = 0
    for family in FAMILIES:
        for name, case in cases(family):
            if options.only not in name:
                continue
            recorded.clear()
            try:
                case.run(case.inputs(0))
            except Exception as error:
                failed += 1
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            for kernel, text in recorded:
                text = strip_machine(text)
                if text in known:
                    continue
                stem = name if len(recorded) == 1 else f"{name}-{slug(kernel)}"
                path = options.out / f"{stem}.mlir"
                if path.name in known.values():
                    path = options.out / f"{stem}-{slug(case.size)}.mlir"
                known[text] = path.name
                if len(text) > LARGEST:
                    print(f"{path.name}: {len(text)} bytes are too many", file=sys.stderr)
                    failed += 1
                    continue
                path.write_text(text)
    print(f"{len(known)} kernels of Triton {triton.__version__} in {options.out}, {failed} failed")
    return 1 if failed else 0


LOCATIONS = False

if __name__ == "__main__":
    sys.exit(main())
