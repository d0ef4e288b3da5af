# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the kernels of packages from PyPI on the CPU and compares them with PyTorch: see docs/testing.md.

usage: run.py [PACKAGE...] [-k PART] [--smoke] [--limit SECONDS] [--results FOLDER] [--write-docs]
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import harness

PACKAGES = {
    "liger": "liger-kernel",
    "gems": "flag-gems",
    "inductor": "torch",
    "fla": "fla-core",
    "helion": "helion",
}
SMOKE = {
    "liger": ["softmax", "rms_norm", "cross_entropy"],
    "inductor": ["mlp", "softmax_dynamic"],
}


def version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def names_of(package: str) -> list[str]:
    """The cases' names, by a child: importing a package patches what it asks about the device."""
    import subprocess

    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import json, {package}_cases as m; "
    code += "print(json.dumps(list(m.cases())))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if process.returncode:
        raise SystemExit(f"{package}: {process.stderr[-2000:]}")
    return json.loads(process.stdout.splitlines()[-1])


def run(package: str, arguments) -> dict:
    names = names_of(package)
    if arguments.smoke:
        names = [n for n in names if n in SMOKE.get(package, ())]
    if arguments.k:
        names = [n for n in names if arguments.k in n]

    def report(result):
        detail = result["detail"][0] if result["detail"] else ""
        print(
            f"{result['outcome']:9} {result['seconds']:6} s  {package}:{result['case']}  {detail[:160]}",
            flush=True,
        )

    results = harness.run_package(package, names, limit=arguments.limit, report=report)
    return {
        "package": PACKAGES[package],
        "version": version(PACKAGES[package]),
        "triton": version("triton"),
        "torch": version("torch"),
        "cases": results,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "packages", nargs="*", choices=[*PACKAGES, []], metavar="PACKAGE", help=", ".join(PACKAGES)
    )
    parser.add_argument("-k", metavar="PART", help="only cases whose name contains PART")
    parser.add_argument("--smoke", action="store_true", help="the few cases that take seconds")
    parser.add_argument("--limit", type=float, default=300, help="seconds a case may take")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("build/packages"),
        help="folder for the results, as JSON",
    )
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help="write docs/conformance-packages.md from the results",
    )
    arguments = parser.parse_args()
    arguments.results.mkdir(parents=True, exist_ok=True)
    failed = 0
    for package in arguments.packages or ([] if arguments.write_docs else list(PACKAGES)):
        result = run(package, arguments)
        path = arguments.results / f"{package}-triton-{result['triton']}.json"
        path.write_text(json.dumps(result, indent=1) + "\n")
        count = {o: sum(c["outcome"] == o for c in result["cases"]) for o in harness.OUTCOMES}
        print(
            f"{result['package']} {result['version']}:",
            ", ".join(f"{n} {o}" for o, n in count.items() if n),
        )
        failed += len(result["cases"]) - count["passed"] - count["refused"]
    if arguments.write_docs:
        import report

        report.write(arguments.results, HERE.parents[1] / "docs" / "conformance-packages.md")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
