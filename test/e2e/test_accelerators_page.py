# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands that docs/accelerators.md shows run as they stand there, on the files that it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from accel_cpp_support import ABI, LIBRARIES, ROOT, TOOL

FENCE = re.compile(r"^```(sh|(?:json|cpp|py) (\S+))\n(.*?)^```", re.S | re.M)


def test_commands_of_the_page(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    # What an installation has below its prefix.
    headers = tmp_path / "include" / "tilebridge" / "accel"
    headers.mkdir(parents=True)
    for header in [*ABI.glob("*.h"), *(ABI / "reference").glob("accel_*.h")]:
        (headers / header.name).symlink_to(header)
    (tmp_path / "lib").symlink_to(LIBRARIES)
    environment = dict(
        os.environ, PATH=f"{Path(sys.executable).parent}:{TOOL.parent}:{os.environ['PATH']}"
    )
    commands = 0
    for kind, name, text in FENCE.findall((ROOT / "docs" / "accelerators.md").read_text()):
        if kind != "sh":
            (tmp_path / name).write_text(text)
            continue
        commands += 1
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{text}{done.stdout}{done.stderr}"
    assert commands >= 6
    picture = ROOT / "docs" / "images" / "accel-matmul.svg"
    assert (tmp_path / "matmul.svg").read_text() == picture.read_text(), (
        "draw the picture of the page anew"
    )
