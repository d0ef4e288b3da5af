#!/usr/bin/env python3
"""Fails where a pass has no lit test, a test no RUN line, or a source file no CMake list."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = [
    "frontend",
    "triton-to-linalg",
    "cpu-backend",
    "reference",
    "accel-backend",
    "gpu-backend",
    "compiler",
    "runtime",
    "tools",
    "test/unit",
]


def run_lines(path):
    return [line for line in path.read_text().splitlines() if "RUN:" in line]


def passes_without_test():
    """The mirror rule: the tests of the passes of folder X are in test/lit/X."""
    for td in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*Passes.td")):
        folder = td.relative_to(ROOT).parts[0]
        tests = [path for path in (ROOT / "test/lit" / folder).rglob("*") if path.is_file()]
        text = "\n".join(line for path in tests for line in run_lines(path))
        for flag in re.findall(r':\s*Pass<\s*"([^"]+)"', td.read_text()):
            if not re.search(
                rf"(?<![\w-]){re.escape(flag)}(?![\w-])",
                text.replace("--", " -").replace(" -", " "),
            ):
                yield f"{td.relative_to(ROOT)}: no RUN line in test/lit/{folder} uses {flag}"


def tests_that_never_run():
    for path in sorted((ROOT / "test/lit").rglob("*")):
        if path.suffix not in {".mlir", ".ttir", ".test"} or "Inputs" in path.parts:
            continue
        if not run_lines(path):
            yield f"{path.relative_to(ROOT)}: has no RUN line"


def compiled_files():
    """What the build tree of scripts/setup.sh compiles: lists may hold names that CMake puts together."""
    database = ROOT / "build" / "compile_commands.json"
    if not database.exists():
        return set()
    return {pathlib.Path(entry["file"]) for entry in json.loads(database.read_text())}


def sources_that_are_not_built():
    compiled = compiled_files()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.cpp")):
            if path in compiled:
                continue
            # The list may be in the file's own folder or in one above it.
            above = path.parent
            while above != ROOT:
                lists = above / "CMakeLists.txt"
                name = re.escape(path.relative_to(above).as_posix())
                if lists.exists() and re.search(rf"(?<![\w/-]){name}(?![\w.-])", lists.read_text()):
                    break
                above = above.parent
            else:
                yield f"{path.relative_to(ROOT)}: is in no CMakeLists.txt"


def main():
    failures = [
        *passes_without_test(),
        *tests_that_never_run(),
        *sources_that_are_not_built(),
    ]
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
