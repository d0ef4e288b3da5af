# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tile programs: NumPy, the reference evaluator and compiled code agree. The long run is test/random/fuzz.py."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tilebridge import _native

pytestmark = pytest.mark.compiled("the programs are IR")

FOLDER = Path(__file__).resolve().parents[1] / "random"
SECONDS = float(os.environ.get("TILEBRIDGE_RANDOM_SECONDS", "20"))


def fuzz(*arguments):
    # A process of its own: it forks, and must not have threads.
    return subprocess.run(
        [sys.executable, str(FOLDER / "fuzz.py"), *map(str, arguments)],
        env={**os.environ, "TILEBRIDGE_LIB_DIR": str(_native.library_dir())},
        capture_output=True,
        text=True,
        timeout=SECONDS + 300,
    )


# Parts of one range of seeds, so that they run beside one another.
@pytest.mark.parametrize("first", [0, 400, 800])
def test_programs_agree(first, tmp_path):
    done = fuzz("--first", first, "--count", 400, "--seconds", SECONDS, "--save", tmp_path)
    small = "\n".join(path.read_text() for path in tmp_path.glob("*.ttir"))
    assert done.returncode == 0, f"{done.stdout}\n{small}\n{done.stderr}"
    assert re.search(r"[1-9]\d* programs, 0 failed", done.stdout), done.stdout + done.stderr


def test_a_difference_is_found_and_shrunk(tmp_path):
    """With a wrong sum in NumPy's part, the smallest program that shows it has a sum and a store."""
    script = tmp_path / "broken.py"
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(FOLDER)!r})\n"
        "import integers, fuzz\n"
        "integers.INTEGER_OPS['arith.xori'] = lambda x, y: (x ^ y) + (x == x)\n"
        "sys.exit(fuzz.main())\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            str(script),
            "--first",
            "0",
            "--failures",
            "1",
            "--save",
            str(tmp_path / "found"),
        ],
        env={**os.environ, "TILEBRIDGE_LIB_DIR": str(_native.library_dir())},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found = sorted((tmp_path / "found").glob("*.ttir"), key=lambda path: path.stat().st_size)
    text = found[0].read_text()
    assert "arith.xori" in text
    assert "evaluator" in text
    assert "NumPy" in text
    assert len(text.splitlines()) < 45, text
