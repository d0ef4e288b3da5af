# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Inductor's own tests with Triton as the backend for CPUs.

usage: inductor_suite.py FOLDER [-k PART] [--resume] [--failed] [--workers N] [--results FOLDER] [--sources TEXT]

FOLDER is test/inductor of a checkout of PyTorch, which is not part of this repository. Of it test_triton_cpu_backend.py
runs as it is: the tests of test_torchinductor.py with `torch._inductor.config.cpu_backend = "triton"`. Each case runs in a
worker process that goes on after it; one that crashes or hangs costs that case. What fails is run with Inductor's backend
in C++ as well: where that fails, too, the test does not fit this PyTorch.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONFORMANCE = HERE.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

from triton_suite.pool import Pool, Settings, TestFile

TESTS = "test_triton_cpu_backend.py"


def environment(folder: Path, scratch: str) -> dict[str, str]:
    path = [str(folder), str(HERE), str(CONFORMANCE), os.environ.get("PYTHONPATH", "")]
    return {
        # These may be set to caches that live longer.
        "TRITON_CACHE_DIR": f"{scratch}/triton",
        "TORCHINDUCTOR_CACHE_DIR": f"{scratch}/inductor",
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in path if p),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }


# Outcomes that need no further look.
GOOD = ("passed", "skipped", "unexpected success", "expected failure", "refused")


# What Triton itself says of things that it has no more.
GONE = {"Block pointers have been removed": "Triton 3.8 and later have no block pointers"}


def as_case(name: str, result: dict) -> dict:
    """A result of a worker as test/packages writes it."""
    outcome, message = result["outcome"], result.get("message") or result.get("reason") or ""
    if message == "Unexpected success":
        outcome = "unexpected success"
    if outcome == "xfailed":
        outcome = "expected failure"
    for text, reason in GONE.items():
        if outcome == "failed" and text in message:
            outcome, message = "refused", reason
    message = " ".join(message.split("To execute this test")[0].split())[:400]
    kind = result.get("type", "")
    detail = f"{kind}: {message}" if kind and kind not in message else message
    return {
        "case": name,
        "outcome": outcome,
        "detail": [detail],
        "seconds": round(result["seconds"], 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-k", default="", metavar="PART")
    parser.add_argument("--timeout", type=float, default=300, help="seconds a case may take")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--resume", action="store_true", help="run only what is missing")
    parser.add_argument("--failed", action="store_true", help="with --resume: also what failed")
    parser.add_argument("--results", type=Path, default=Path("build/packages"))
    parser.add_argument(
        "--sources", default="", metavar="TEXT", help="what the page says of where FOLDER is from"
    )
    arguments = parser.parse_args()
    # The workers are in sessions of their own: what ends this process must end them.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    folder = arguments.folder.resolve()
    if not (folder / TESTS).exists():
        parser.error(f"{folder} has no {TESTS}: it is not test/inductor of a checkout of PyTorch")
    arguments.results.mkdir(parents=True, exist_ok=True)
    triton = metadata.version("triton")
    path = arguments.results / f"suite-triton-{triton}.json"
    cases: dict[str, dict] = {}
    if arguments.resume and path.exists():
        cases = {case["case"]: case for case in json.loads(path.read_text())["cases"]}
    done = {n for n, c in cases.items() if not arguments.failed or c["outcome"] in GOOD}
    started = time.monotonic()

    def write() -> None:
        result = {
            "package": "PyTorch's " + TESTS,
            "sources": arguments.sources,
            "version": metadata.version("torch"),
            "triton": triton,
            "torch": metadata.version("torch"),
            "collected": len(file.collected or []),
            "seconds": round(time.monotonic() - started),
            "cases": list(cases.values()),
        }
        path.write_text(json.dumps(result, indent=1) + "\n")

    def on_result(file: TestFile, nodeid: str, result: dict) -> None:
        name = nodeid.split("::", 1)[1]
        cases[name] = case = as_case(name, result)
        print(
            f"{case['outcome']:18} {case['seconds']:6} s  {name}  {case['detail'][0][:160]}",
            flush=True,
        )
        write()

    def on_peer_result(_: TestFile, nodeid: str, result: dict) -> None:
        """A test that fails with PyTorch's own backend as well says nothing of ours."""
        case = cases[nodeid.split("::", 1)[1]]
        peer = as_case("", result)
        print(
            f"{peer['outcome']:18} with C++  {case['case']}  {peer['detail'][0][:160]}", flush=True
        )
        if peer["outcome"] not in GOOD:
            case["outcome"] = "refused"
            case["detail"].insert(0, "fails with Inductor's C++ backend, too: " + peer["detail"][0])
            write()

    file = TestFile(TESTS, done)
    with tempfile.TemporaryDirectory(prefix="tilebridge-inductor-") as scratch:

        def run(file: TestFile, peer: bool, on_result) -> None:
            options = ["-p", "inductor_imports", "-p", "no:cacheprovider", "-c", os.devnull]
            options += ["-q", "-s", "--rootdir", str(folder)]
            settings = Settings(
                python=sys.executable,
                cwd=folder,
                environment={
                    **environment(folder, scratch),
                    "TILEBRIDGE_INDUCTOR_PEER": "1" if peer else "0",
                },
                pytest_options=[*options, *(["-k", arguments.k] if arguments.k else [])],
                workers=arguments.workers,
                timeout=arguments.timeout,
                select=lambda names: list(range(len(names))),
                on_result=on_result,
            )
            Pool([file], settings).run()

        run(file, False, on_result)
        failed = {name for name, case in cases.items() if case["outcome"] not in GOOD}
        if failed:
            others = {n.split("::", 1)[1] for n in file.collected or []} - failed
            again = TestFile(TESTS, others)
            run(again, True, on_peer_result)
            file.error = file.error or again.error
    write()
    if file.error:
        print(file.error, file=sys.stderr)
        return 1
    return 0 if all(case["outcome"] in GOOD for case in cases.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
