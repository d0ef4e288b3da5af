# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products by AMX's tiles: other tests again, in a process where an emulator executes its instructions."""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CHOSEN = (
    "test_dot_loops.py::test_ends_along_k",
    "test_dot_loops.py::test_orders",
    "test_dot_loops.py::test_blocks",
    "test_dot_loops.py::test_fp8",
    "test_dots.py::test_int8_dot",
    "test_dot_columns.py::test_few_columns",
    "test_dot_known_rows.py::test_known_rows",
    "test_dot_rows.py::test_few_rows",
    "test_dot_rows.py::test_descriptors_whose_blocks_begin_outside",
    "test_trimmed_blocks.py::test_attention",
    "test_trimmed_blocks.py::test_gradient",
)


def cpu_flags() -> set[str]:
    flags = re.search(r"^flags.*", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return set(flags[0].split()) if flags else set()


@pytest.fixture(scope="module")
def emulator(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("clang-22")
    if platform.machine() != "x86_64" or not {"avx512f", "avx512bw", "avx512vl"} <= cpu_flags():
        pytest.skip("AMX comes with AVX-512")
    if "amx_tile" in cpu_flags():
        # It would execute the instruction that configures tiles, so that an emulator of the others knows no shapes.
        pytest.skip("this CPU has AMX: the tests themselves use it")
    if compiler is None:
        pytest.skip("no C compiler")
    library = tmp_path_factory.mktemp("amx") / "amx_emulator.so"
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", "-o", library, HERE / "amx_emulator.c", "-ldl"],
        check=True,
    )
    return library


@pytest.mark.compiled("has no targets")
def test_emulated_tiles(emulator, tmp_path):
    environment = os.environ | {
        "LD_PRELOAD": str(emulator),
        "TILEBRIDGE_TARGET": "cpu,+amx-tile,+amx-bf16,+amx-int8",
        "TRITON_CACHE_DIR": str(tmp_path / "triton"),
        "TILEBRIDGE_CACHE_DIR": str(tmp_path / "tilebridge"),
    }
    options = ["-q", "-p", "no:cacheprovider", "-k", "bf16 or bfloat16 or int8 or fp8"]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *CHOSEN],
        cwd=HERE, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-2000:]
    executed = re.search(r"amx_emulator: (\d+) instructions", result.stderr)
    assert executed is not None, result.stderr[-2000:]
    assert int(executed[1]) > 1000
