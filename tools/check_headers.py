#!/usr/bin/env python3
"""Fails where a C++ or TableGen file does not begin with the license header."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LICENSE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def main():
    files = subprocess.run(
        ["git", "ls-files", "*.cpp", "*.h", "*.td", "*.c"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    failures = [
        name
        for name in files
        if (ROOT / name).is_file()
        and LICENSE not in "\n".join((ROOT / name).read_text().splitlines()[:8])
    ]
    for name in failures:
        print(f"{name}: does not begin with the license header (see frontend/TTDialect.cpp)")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
