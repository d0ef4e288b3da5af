# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the benchmarks, compiled ahead of time for another machine.

`record` notes the launches of each problem: the TTIR of each kernel, the grid and the arguments.
The kernels are then compiled for the target, into a folder that replay.py runs where there is
neither LLVM nor this version of Triton:

    FOLDER/manifest.json            the launches of each problem
    FOLDER/<kernel>-<hash>.so       a kernel for the target
    FOLDER/libtilebridge_runtime.so, FOLDER/libmachine.so
"""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
from pathlib import Path

import machine
from bench import Bench, Tensors
from replay import MANIFEST, VERSION


class Recorder:
    """While it is installed, Triton's launches are noted and not done."""

    def __init__(self):
        self.sources: dict[str, tuple[str, int]] = {}  # artefact's hash: TTIR, flags
        self.kernels: dict[int, str] = {}  # id of a loaded kernel: its artefact's hash
        self.kept: list = []  # so that no id is used twice
        self.launches: list[tuple[str, list[int], list[int], list[str]]] = []

    def install(self) -> None:
        from tilebridge.triton_backend import compiler, driver
        from triton.runtime import driver as runtime_driver

        make_so, make_launcher = compiler.make_so, driver.make_launcher
        recorder = self

        def make_so_and_note(ttir, metadata, options):
            artefact = make_so(ttir, metadata, options)
            key = hashlib.sha256(artefact).hexdigest()[:16]
            recorder.sources[key] = (str(ttir), compiler._flags(options))
            return artefact

        class Utils(driver.CPUUtils):
            def load_binary(self, name, artefact, shared, device):
                loaded = super().load_binary(name, artefact, shared, device)
                recorder.kept.append(loaded)
                recorder.kernels[id(loaded[1])] = hashlib.sha256(artefact).hexdigest()[:16]
                return loaded

        class Launcher:
            def __init__(self, src, metadata):
                self.native = make_launcher(src, metadata)

            def __call__(self, x, y, z, stream, function, packed, *rest):
                slots = self.native.slots(*rest[3:])
                bits = list(struct.unpack(f"<{len(slots) // 8}Q", slots))
                types = json.loads(function.manifest)["signature"]
                recorder.launches.append((recorder.kernels[id(function)], [x, y, z], bits, types))

        compiler.make_so = make_so_and_note
        runtime_driver.active.utils = Utils()
        runtime_driver.active.launcher_cls = Launcher


def slot_kinds(types: list[str]) -> list[bool]:
    """Of each slot of a launch, whether it is an address."""
    kinds: list[bool] = []
    for kind in types:
        kinds.append(kind.startswith(("*", "tensordesc")))
        if kind.startswith("tensordesc"):
            rank = kind.count(",") + 1
            kinds += [False] * (2 * rank + 1)
    return kinds


def name_address(address: int, tensors: Tensors) -> list:
    for name, tensor in tensors.items():
        if not hasattr(tensor, "data_ptr"):
            continue
        offset = address - tensor.data_ptr()
        if 0 <= offset < max(tensor.numel() * tensor.element_size(), 1):
            return [name, offset]
    raise ValueError("a launch has an address that is in no tensor of its problem")


def record(benches: list[Bench], folder: Path, target: str) -> int:
    """Writes the folder; returns how many problems are in it."""
    from tilebridge import _native

    folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder()
    recorder.install()
    entries, written = [], set()
    for bench in benches:
        tensors = bench.inputs()
        launches = [
            (variant, block, launch)
            for variant in bench.ours
            for block, launch in bench.launches(variant).items()
        ]
        for variant, block, launch in launches:
            recorder.launches.clear()
            launch(tensors)
            steps = []
            for key, grid, slots, types in recorder.launches:
                ttir, flags = recorder.sources[key]
                name = json.loads(_kernel_manifest(recorder, key))["name"]
                file = f"{name}-{key}.so"
                if file not in written:
                    written.add(file)
                    artefact, _ = _native.launcher().compile(
                        ttir.encode(), target, source_name=f"<{name}>", flags=flags
                    )
                    (folder / file).write_bytes(artefact)
                kinds = slot_kinds(types)
                assert len(kinds) == len(slots), (types, len(slots))
                arguments = [
                    name_address(bits, tensors) if is_address and bits else bits
                    for bits, is_address in zip(slots, kinds, strict=True)
                ]
                steps.append({"file": file, "grid": grid, "slots": arguments})
            entry = {"name": bench.name, "size": bench.size, "variant": variant, "block": block}
            entries.append(entry | {"launches": steps})
        print(f"recorded {bench}", flush=True)
    shutil.copy(_native.library_dir() / _native.RUNTIME, folder / _native.RUNTIME)
    machine.build(folder)
    manifest = {"version": VERSION, "target": target, "problems": entries}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    return len(entries)


def _kernel_manifest(recorder: Recorder, key: str) -> str:
    return next(
        loaded[1].manifest for loaded in recorder.kept if recorder.kernels[id(loaded[1])] == key
    )
