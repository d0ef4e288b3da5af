# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in a process of their own: for another target, for what ends a process, for what is printed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path


def run_program(
    folder: Path, text: str, *arguments, target: str | None = None, **environment: str
) -> subprocess.CompletedProcess:
    """Runs `text` as `folder`/program.py, with kernels for `target` (an accelerator's name with its
    options, or the path of its file; None: the CPU)."""
    script = folder / "program.py"
    script.write_text(textwrap.dedent(text))
    if target is not None:
        environment["TILEBRIDGE_TARGET"] = f"accel:{target}"
    return subprocess.run(
        [sys.executable, str(script), *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=280,  # less than a test may take (conftest.py), which then tells of it
        check=False,
    )


def output_of(folder: Path, text: str, *arguments, **options) -> str:
    """What such a program printed, which must not fail."""
    done = run_program(folder, text, *arguments, **options)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
