#!/usr/bin/env python3
"""Parses the MLIR examples: every ```mlir block in the .td files and in docs/.

A block is a whole file (it has a module or a function) or some operations, whose free values may be
anything. A block with an ellipsis is a sketch and is only counted.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^[ \t]*```mlir[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.S | re.M)
# Found after all was parsed: a value that is not in the example, a function without a body.
HARMLESS = re.compile(
    r"error: (use of undeclared SSA value name"
    r"|.*symbol declaration cannot have public visibility)"
)


def blocks():
    files = [*ROOT.glob("*/**/*.td"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")]
    for path in sorted(files):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(("build", ".")):
            continue
        text = path.read_text()
        for match in FENCE.finditer(text):
            yield name, text.count("\n", 0, match.start()) + 1, textwrap.dedent(match.group(1))


def as_module(block):
    if re.search(r"^\s*(module\b|builtin\.module\b|(func\.func|tt\.func)\b)", block, re.M):
        return block
    lines = block.splitlines()
    aliases = [line for line in lines if re.match(r"[#!]\w+ = ", line)]
    rest = [line for line in lines if line not in aliases]
    # An op of no dialect: its region needs no terminator.
    return "\n".join([*aliases, '"example.region"() ({', *rest, "}) : () -> ()"])


def errors_of(tool, block):
    result = subprocess.run(
        [tool, "--allow-unregistered-dialect", "-o", "/dev/null", "-"],
        input=as_module(block),
        capture_output=True,
        text=True,
    )
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    if result.returncode < 0:
        errors.append(f"error: the parser died of signal {-result.returncode}")
    return [error for error in errors if not HARMLESS.search(error)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", nargs="?", default=ROOT / "build/bin/tilebridge-opt")
    tool = parser.parse_args().tool
    if not pathlib.Path(tool).exists():
        sys.exit(f"check_examples.py: {tool} is not there: build it first (ninja -C build)")
    parsed = sketches = failures = 0
    for name, line, block in blocks():
        if "..." in block:
            sketches += 1
            continue
        parsed += 1
        errors = errors_of(tool, block)
        failures += bool(errors)
        for error in errors:
            print(f"{name}:{line}: the example does not parse: {error.split('error: ', 1)[1]}")
    print(f"examples: {parsed} parsed, {failures} failed, {sketches} sketches with an ellipsis")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
