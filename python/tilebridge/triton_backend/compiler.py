# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""From Triton's IR to a compiled kernel."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from dataclasses import dataclass, fields
from typing import Any

from triton import knobs
from triton._C.libtriton import ir, passes
from triton.backends.compiler import BaseBackend, GPUTarget

# TILEBRIDGE_COMPILE_... of runtime/tilebridge.h
COMPILE_REMARKS = 2
COMPILE_NO_CONTRACTION = 8


@dataclass(frozen=True)
class CPUOptions:
    """What a launch may set. Triton refuses keywords that are not here, so those that only mean something on a GPU are
    here too, and do nothing."""

    num_warps: int = 1
    num_ctas: int = 1
    num_stages: int = 1
    warp_size: int = 1
    cluster_dims: tuple = (1, 1, 1)
    maxnreg: int | None = None
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    extern_libs: tuple = ()
    debug: bool = False
    sanitize_overflow: bool = True  # where `debug` is set
    backend_name: str = "cpu"
    arch: str = ""
    ir_override: str | None = None
    instrumentation_mode: str = ""
    fpsan_homomorphic_casts: bool = False
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e4nv", "fp8e4b8", "fp8e5b16", "fp8e4b15")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    # The knobs of other backends that tutorials and autotuning lists pass.
    matrix_instr_nonkdim: int = 0
    waves_per_eu: int = 0
    kpack: int = 1
    schedule_hint: str = "none"
    ptx_options: str | None = None
    ptx_version: int | None = None
    num_consumer_groups: int = 0
    num_buffers_warp_spec: int = 0
    reg_dec_producer: int = 0
    reg_inc_consumer: int = 0
    clc: bool = False

    def __post_init__(self):
        if isinstance(self.extern_libs, dict):
            object.__setattr__(self, "extern_libs", tuple(self.extern_libs.items()))
        if self.num_warps <= 0 or self.num_warps & (self.num_warps - 1):
            # The class of exception that Triton's users know for this.
            raise AssertionError(f"num_warps must be a power of 2, not {self.num_warps}")

    def hash(self) -> str:
        return hashlib.sha256(repr(sorted(self.__dict__.items())).encode()).hexdigest()


def _fuses(requested: bool | None) -> bool:
    """Whether a product and a sum may be one operation: as the launch says, else TRITON_DEFAULT_FP_FUSION."""
    if getattr(knobs.language, "force_disable_fp_fusion", False):
        return False
    return knobs.language.default_fp_fusion if requested is None else bool(requested)


def compile_target() -> str:
    """What kernels are compiled for: $TILEBRIDGE_TARGET ("cpu:x86-64-v3", "accel:mtia-2i-like"), else this machine."""
    return os.environ.get("TILEBRIDGE_TARGET") or "cpu"


@functools.cache
def _identity() -> str:
    from tilebridge import _native

    return _native.launcher().compiler_id()


def run_ttir_passes(module) -> None:
    """The part of the work that Triton's own passes do, independent of any machine."""
    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    passes.common.add_inliner(manager)
    passes.common.add_canonicalizer(manager)
    passes.ttir.add_combine(manager)
    passes.ttir.add_reorder_broadcast(manager)
    passes.common.add_cse(manager)
    passes.common.add_symbol_dce(manager)
    passes.ttir.add_loop_unroll(manager)
    manager.run(module, "make_ttir")


def make_ttir(module, metadata: dict[str, Any], options: CPUOptions) -> str:
    run_ttir_passes(module)
    text = _describe(module, metadata)
    if options.num_warps == 1 or "tt.print " not in text:
        return text
    # As on a GPU each thread of a program prints a value that is not a block; a warp is one thread here.
    module.set_attr("ttg.num-warps", ir.builder(module.context).get_int32_attr(options.num_warps))
    return str(module)


# What threads of a GPU exchange values for, by way of shared memory.
_EXCHANGES = ('"tt.reduce"', '"tt.scan"', "tt.dot", "tt.gather", "tt.histogram")


def _describe(module, metadata: dict[str, Any]) -> str:
    text = str(module)
    metadata["name"] = module.get_entry_func_name()
    # There is none here, but programs that size themselves by a kernel's shared memory divide by it.
    metadata["shared"] = int(any(operation in text for operation in _EXCHANGES))
    # Programs that wait for one another run at the same time.
    if "tt.atomic_poll" in text:
        metadata["launch_cooperative_grid"] = True
    return text


def _flags(options: CPUOptions) -> int:
    remarks = COMPILE_REMARKS if os.environ.get("TILEBRIDGE_REMARKS") == "1" else 0
    return remarks | (0 if options.enable_fp_fusion else COMPILE_NO_CONTRACTION)


def _explain(ttir: str, target: str, name: str) -> None:
    from tilebridge import _native

    report, _ = _native.launcher().compile(ttir.encode(), target, "explain", f"<{name}>")
    print(report.decode(), end="", file=sys.stderr)


def make_so(ttir, metadata: dict[str, Any], options: CPUOptions) -> bytes:
    """TTIR to an artefact, by the compiler in this process."""
    from tilebridge import _native
    from tilebridge.triton_backend import checked, simulated

    if not isinstance(ttir, str):  # triton.compile("kernel.ttir") leaves out the stage before
        ttir = _describe(ttir, metadata)
    if checked.is_asked_for():
        return checked.MARK + ttir.encode()
    explains = os.environ.get("TILEBRIDGE_EXPLAIN") == "1"
    if simulated.is_asked_for(compile_target()):
        if explains:
            _explain(ttir, compile_target(), metadata["name"])
        return simulated.artefact_of(ttir, compile_target())
    flags = _flags(options)
    artefact, log = _native.launcher().compile(
        ttir.encode(), compile_target(), source_name=f"<{metadata['name']}>", flags=flags
    )
    if explains:
        _explain(ttir, "cpu", metadata["name"])
    if log:
        print(log, end="", file=sys.stderr)
    return artefact


def _text_of_stage(ttir: str, key: str, flags: int = 0) -> str:
    from tilebridge import _native

    stage = {"llir": "llvm", "asm": "asm", "bridge": "bridge"}[key]
    return (
        _native.launcher()
        .compile(ttir.encode(), compile_target(), stage, "<ttir>", None, flags)[0]
        .decode()
    )


def _offer_texts() -> None:
    """kernel.asm["llir"], ["asm"] and ["bridge"] are made when they are asked for: few programs ask."""
    from triton.compiler.compiler import AsmDict

    original = AsmDict.__missing__
    if hasattr(original, "of_tilebridge"):
        return

    def missing(self, key):
        if key in ("llir", "asm", "bridge") and "so" in self and "ttir" in self:
            self[key] = _text_of_stage(self["ttir"], key)
            return self[key]
        return original(self, key)

    missing.of_tilebridge = True
    AsmDict.__missing__ = missing


class CPUBackend(BaseBackend):
    binary_ext = "so"

    def __init__(self, target: GPUTarget):
        super().__init__(target)
        _offer_texts()

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cpu"

    def hash(self) -> str:
        from tilebridge.triton_backend import checked

        return f"{_identity()}-{compile_target()}{'-checked' if checked.is_asked_for() else ''}"

    def parse_options(self, opts: dict[str, Any]) -> CPUOptions:
        known = {field.name for field in fields(CPUOptions)}
        given = {k: v for k, v in opts.items() if k in known and v is not None}
        given["enable_fp_fusion"] = _fuses(given.get("enable_fp_fusion"))
        return CPUOptions(**given)

    def pack_metadata(self, metadata):
        return (metadata.num_warps, metadata.num_ctas, metadata.shared)

    def get_codegen_implementation(self, options: CPUOptions) -> dict[str, Any]:
        functions = {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}
        try:
            # The conversion of fp8e4b15 is written in plain Triton and lives there.
            from triton.language.extra import cuda

            functions["convert_custom_types"] = cuda.convert_custom_float8_sm80
        except (ImportError, AttributeError):
            pass
        return functions

    def get_module_map(self):
        from triton.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, context) -> None:
        """What TTIR needs is loaded already."""

    def add_stages(self, stages, options: CPUOptions, language=None) -> None:
        if language is not None and getattr(language, "name", "TRITON") != "TRITON":
            raise NotImplementedError(
                "Tilebridge compiles Triton kernels; this one is written in Gluon, whose layouts belong to GPUs"
            )
        stages["ttir"] = lambda module, metadata: make_ttir(module, metadata, options)
        if not knobs.compilation.dump_ir:
            stages["so"] = lambda ttir, metadata: make_so(ttir, metadata, options)
            return
        source = {}

        def make_llir(ttir, metadata):
            source["ttir"] = ttir if isinstance(ttir, str) else _describe(ttir, metadata)
            return _text_of_stage(source["ttir"], "llir", _flags(options))

        stages["llir"] = make_llir
        stages["so"] = lambda _, metadata: make_so(source["ttir"], metadata, options)
