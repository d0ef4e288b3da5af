# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The TTIR files that other tests read are what the installed Triton makes of the examples."""

import subprocess
import sys
from pathlib import Path

import pytest
import triton

FOLDER = Path(__file__).resolve().parents[1] / "ttir"


@pytest.mark.compiled("needs Triton's own front end")
def test_dumps_are_current(tmp_path):
    kept = FOLDER / "examples" / triton.__version__
    if not kept.is_dir():
        pytest.skip(f"no dumps of Triton {triton.__version__} are kept")
    command = [sys.executable, str(FOLDER / "dump.py"), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    fresh = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert sorted(fresh) == sorted(path.name for path in kept.iterdir())
    stale = [name for name, text in fresh.items() if (kept / name).read_text() != text]
    assert not stale, f"run test/ttir/dump.py: {stale}"
