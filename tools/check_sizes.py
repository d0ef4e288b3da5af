#!/usr/bin/env python3
"""Fails where a file is longer than 400 lines, or 600 for .td files and tests."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {".cpp", ".h", ".py", ".sh", ".cmake", ".td", ".mlir", ".ttir", ".c"}
# Data that other programs wrote, and pages that gen_docs.py writes.
NOT_WRITTEN_BY_HAND = ("test/ttir/", "docs/generated/")


def limit_for(path):
    if path.suffix in {".td", ".mlir", ".ttir"} or path.parts[0] == "test":
        return 600
    return 400


def main():
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    failures = []
    for name in filter(None, files):
        path = pathlib.PurePosixPath(name)
        on_disk = ROOT / name
        if path.suffix not in SOURCES or name.startswith(NOT_WRITTEN_BY_HAND):
            continue
        if not on_disk.is_file():
            continue
        lines = on_disk.read_text(errors="replace").count("\n")
        if lines > limit_for(path):
            failures.append(
                f"{name}: {lines} lines, the limit is {limit_for(path)}: split it by family"
            )
    print("\n".join(failures), end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
