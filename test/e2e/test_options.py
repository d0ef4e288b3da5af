# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a launch may set: contraction, sanitizing, and what only means something on a GPU."""

import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.compiled("the interpreter has no options")


@triton.jit
def residue_kernel(x, y, z, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at) * tl.load(y + at) + tl.load(z + at))


def residue(**options):
    """x * y - round(x * y): the rounding error where the two are fused, else zero."""
    x, y = torch.rand(256) + 1, torch.rand(256) + 1
    out = torch.ones(256)
    kernel = residue_kernel[(1,)](x, y, -(x * y), out, 256, **options)
    return out, kernel


def fuses():
    """Whether this CPU has fused multiply-adds."""
    with open("/proc/cpuinfo") as info:
        return " fma " in info.read().replace("\n", " ")


def test_fusion_is_an_option(monkeypatch):
    out, kernel = residue(enable_fp_fusion=False)
    assert torch.equal(out, torch.zeros(256))
    assert not kernel.metadata.enable_fp_fusion
    if not fuses():
        return
    out, other = residue(enable_fp_fusion=True)
    assert (out != 0).any()
    assert other.hash != kernel.hash
    assert (residue()[0] != 0).any()
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "0")
    out, kernel = residue(num_stages=7)  # not the kernel that is at hand already
    assert torch.equal(out, torch.zeros(256))


def test_overflow_is_found_in_debug_mode():
    @triton.jit
    def kernel(x, y, out):
        tl.store(out, tl.load(x) + tl.load(y))

    x, y = torch.tensor([2**31 - 1], dtype=torch.int32), torch.tensor([1], dtype=torch.int32)
    out = torch.zeros(1, dtype=torch.int32)
    kernel[(1,)](x, y, out)
    assert out[0] == -(2**31)
    kernel[(1,)](x, y, out, debug=True, sanitize_overflow=False)
    with pytest.raises(AssertionError, match="overflow"):
        kernel[(1,)](x, y, out, debug=True)


def test_options_of_gpus_do_nothing():
    for options in (
        {"num_warps": 8, "num_stages": 4, "num_ctas": 2, "maxnreg": 128},
        {"waves_per_eu": 2, "matrix_instr_nonkdim": 16, "kpack": 2, "schedule_hint": "none"},
        {"launch_cooperative_grid": True, "launch_pdl": True},
    ):
        out, _ = residue(enable_fp_fusion=False, **options)
        assert torch.equal(out, torch.zeros(256))


def test_options_that_are_wrong():
    with pytest.raises(AssertionError, match="num_warps must be a power of 2"):
        residue(num_warps=3)
    with pytest.raises(KeyError, match="no_such_option"):
        residue(no_such_option=1)


def test_what_it_became_can_be_read(tmp_path, monkeypatch):
    _, kernel = residue(enable_fp_fusion=False)
    assert "tt.func public @residue_kernel" in kernel.asm["ttir"]
    assert "linalg.generic" in kernel.asm["bridge"]
    assert "define" in kernel.asm["llir"]
    assert "tilebridge_run" in kernel.asm["asm"]
    assert "llir" in kernel.asm
    with pytest.raises(KeyError):
        kernel.asm["ptx"]

    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path))
    out, _ = residue(enable_fp_fusion=False, num_stages=5)
    assert torch.equal(out, torch.zeros(256))
    written = {path.suffix: path for path in tmp_path.rglob("*") if path.is_file()}
    assert "define" in written[".llir"].read_text()
    assert ".ttir" in written
