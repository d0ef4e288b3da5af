# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Inductor's own tests with Triton as the backend for CPUs.

usage: inductor_suite.py FOLDER [-k PART] [--shard I/N] [--results FOLDER]

FOLDER is test/inductor of a checkout of PyTorch, whose test_torchinductor.py is not part of this repository. As
PyTorch's test_triton_cpu_backend.py does, the tests of CommonTemplate run on the CPU with
`torch._inductor.config.cpu_backend = "triton"`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import re
import sys
import time
from pathlib import Path

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import pytest

SUITE = """
import test_torchinductor
from torch._inductor import config


@config.patch(cpu_backend="triton")
class CpuTritonTests(test_torchinductor.TestCase):
    common = test_torchinductor.check_model
    device = "cpu"


test_torchinductor.copy_tests(
    test_torchinductor.CommonTemplate, CpuTritonTests, "cpu", xfail_prop="_expected_failure_triton_cpu"
)
"""


def import_tests() -> list[str]:
    """Imports the tests; names that the PyTorch at hand does not have (any more) are made up, and listed."""
    missing = []
    while True:
        try:
            importlib.import_module("test_torchinductor")
            return missing
        except ImportError as e:
            match = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(e))
            if not match:
                raise
            sys.modules.pop("test_torchinductor", None)
            setattr(importlib.import_module(match[2]), match[1], lambda *a, **k: lambda f: f)
            missing.append(f"{match[2]}.{match[1]}")


class Collector:
    """A plug-in of pytest that keeps results, and runs one shard of the tests."""

    def __init__(self, shard: tuple[int, int]):
        self.shard = shard
        self.results: list[dict] = []

    def pytest_collection_modifyitems(self, config, items):
        index, count = self.shard
        random.Random(0).shuffle(items)
        items[:] = items[index::count]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        if report.when == "call" or report.failed or (report.when == "setup" and report.skipped):
            message = str(call.excinfo.value) if call.excinfo else ""
            name = report.outcome
            if message == "Unexpected success":
                name = "unexpected success"
            self.results.append(
                {
                    "case": item.name,
                    "outcome": name,
                    "detail": [" ".join(message.split("To execute this test")[0].split())[:400]],
                    "seconds": round(report.duration, 1),
                }
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-k", default="", metavar="PART")
    parser.add_argument("--shard", default="0/1", metavar="I/N")
    parser.add_argument("--timeout", default="150", metavar="SECONDS", help="for a test")
    parser.add_argument("--results", type=Path, default=Path("build/packages"))
    arguments = parser.parse_args()
    arguments.results.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(arguments.folder.resolve()))
    missing = import_tests()
    index, count = map(int, arguments.shard.split("/"))
    collector = Collector((index, count))
    suite = arguments.results.resolve() / "test_inductor_on_triton.py"
    suite.write_text(SUITE)
    started = time.time()
    options = [
        "-q",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        f"--timeout={arguments.timeout}",
        "-c",
        os.devnull,
    ]
    pytest.main(
        [str(suite), *options, *(["-k", arguments.k] if arguments.k else [])], plugins=[collector]
    )
    import torch
    import triton

    result = {
        "package": "PyTorch's test_torchinductor.py",
        "version": torch.__version__,
        "triton": triton.__version__,
        "torch": torch.__version__,
        "missing": missing,
        "seconds": round(time.time() - started),
        "cases": collector.results,
    }
    path = arguments.results / f"suite-{index}-of-{count}-triton-{triton.__version__}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    failed = [r for r in collector.results if r["outcome"] == "failed"]
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
