# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs Triton's own tests on Tilebridge and writes docs/conformance.md. See docs/testing.md."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from triton_suite import expectations, report, suites
from triton_suite.pool import Pool, Settings, TestFile

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--triton",
        metavar="DIR",
        default=os.environ.get("TRITON_SOURCES"),
        help="a checkout of Triton's sources, or its folder python/ (default: $TRITON_SOURCES)",
    )
    parser.add_argument(
        "--suite", default="triton-3.9", help="a section of suites.toml (default: %(default)s)"
    )
    parser.add_argument(
        "--python",
        default=str(ROOT / ".venv/bin/python"),
        help="the interpreter that has Triton and Tilebridge (default: .venv's)",
    )
    parser.add_argument(
        "--file", action="append", default=[], help="only test files whose path has this in it"
    )
    parser.add_argument("-k", dest="keyword", help="only cases that pytest's -k selects")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="at most N cases a test function, spread evenly"
    )
    parser.add_argument(
        "--shift", type=int, default=0, metavar="N", help="with --sample: other cases"
    )
    parser.add_argument(
        "--workers",
        "-n",
        type=int,
        default=os.cpu_count() or 1,
        help="processes (default: one a core)",
    )
    parser.add_argument(
        "--timeout", type=float, default=300, help="seconds a case may take (default: %(default)s)"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="keep the results that are there; run only what is missing",
    )
    parser.add_argument(
        "--failed", action="store_true", help="with --resume: run what did not pass again, too"
    )
    parser.add_argument(
        "--timing", action="store_true", help="note how long the parts of each compilation took"
    )
    parser.add_argument(
        "--report", action="store_true", help="run nothing: tell of the results that are there"
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build/conformance", help="folder of the results"
    )
    parser.add_argument(
        "--page", type=Path, help="write the table into this page (docs/conformance.md)"
    )
    parser.add_argument("--tutorials", action="store_true", help="run the tutorials, not the tests")
    parser.add_argument(
        "--tutorial-timeout",
        type=float,
        default=600,
        help="seconds that a tutorial's checks may take (default: %(default)s)",
    )
    parser.add_argument(
        "--measure-seconds",
        type=float,
        default=60,
        help="seconds of a tutorial's measurements that are waited for (default: %(default)s)",
    )
    arguments = parser.parse_args()
    if not arguments.triton:
        parser.error("--triton DIR, or $TRITON_SOURCES, must name a checkout of Triton's sources")
    return arguments


def worker_environment(arguments: argparse.Namespace, scratch: Path) -> dict[str, str]:
    """What a worker runs in: caches of its own, so that no kernel comes from an earlier run."""
    environment = dict(os.environ)
    environment.update(
        TRITON_DEFAULT_BACKEND="tilebridge",
        TRITON_CACHE_DIR=str(scratch / "triton-cache"),
        TILEBRIDGE_CACHE_DIR=str(scratch / "tilebridge-cache"),
        PYTHONDONTWRITEBYTECODE="1",
        # Some parameters are sets: all workers must collect the same cases in the same order.
        PYTHONHASHSEED="0",
        # Two threads a launch: as many as a race needs.
        OMP_NUM_THREADS=os.environ.get("OMP_NUM_THREADS", "2"),
        OMP_WAIT_POLICY="passive",
        # Some tests make tensors of 64 MiB thousands of times. Memory that goes back to the system at once costs more
        # in page faults than all else: without these two test_conversions.py takes three times as long.
        MALLOC_MMAP_MAX_="0",
        MALLOC_TRIM_THRESHOLD_=str(1 << 34),
        TILEBRIDGE_CONFORMANCE_TIMING="1" if arguments.timing else "0",
    )
    path = [str(HERE), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(p for p in path if p)
    return environment


def describe_environment(python: str, environment: dict[str, str]) -> dict[str, str]:
    """Versions for the page; raises where the environment cannot run the tests."""
    code = (
        "import json, torch, triton\n"
        "from triton.runtime import driver\n"
        "import tilebridge\n"
        "print(json.dumps(dict(triton=triton.__version__, torch=torch.__version__, tilebridge=tilebridge.__version__,"
        " backend=driver.active.get_current_target().backend)))"
    )
    done = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise expectations.ListError(
            f"{python} cannot run Triton with Tilebridge:\n{done.stderr[-2000:]}"
        )
    return json.loads(done.stdout.splitlines()[-1])


def sample(names: list[str], most: int | None, shift: int) -> list[int]:
    """Positions of at most `most` cases of each function, spread evenly over its cases."""
    if most is None:
        return list(range(len(names)))
    by_function: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        by_function.setdefault(name.split("[")[0], []).append(position)
    chosen: set[int] = set()
    for positions in by_function.values():
        count = min(most, len(positions))
        for i in range(count):
            chosen.add(
                positions[(int((i + 0.5) * len(positions) / count) + shift) % len(positions)]
            )
    return sorted(chosen)


class Results:
    """Results as a file of JSON lines that grows while the tests run, so that --resume finds them."""

    def __init__(self, path: Path, resume: bool):
        self.path = path
        self.by_file: dict[str, dict[str, dict]] = {}
        # How many cases each file has, also those that a sample left out.
        self.collected: dict[str, int] = {}
        if resume and path.exists():
            for line in path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # the last line of a run that was ended
                if "collected" in entry:
                    self.collected[entry["file"]] = entry["collected"]
                else:
                    self.by_file.setdefault(entry.pop("file"), {})[entry.pop("case")] = entry
        self.stream = path.open("a" if resume else "w", buffering=1)

    def add_collected(self, file: str, count: int) -> None:
        self.collected[file] = count
        self.stream.write(json.dumps({"file": file, "collected": count}) + "\n")

    def add(self, file: str, case: str, result: dict) -> None:
        self.by_file.setdefault(file, {})[case] = result
        self.stream.write(json.dumps({"file": file, "case": case, **result}) + "\n")


class Progress:
    def __init__(self):
        self.started = self.shown = time.monotonic()
        self.counts: dict[str, int] = {}

    def add(self, outcome: str) -> None:
        self.counts[outcome] = self.counts.get(outcome, 0) + 1
        now = time.monotonic()
        if now - self.shown > 15:
            self.shown = now
            text = ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))
            print(f"{now - self.started:6.0f} s  {text}", flush=True)


def run_tests(arguments: argparse.Namespace) -> int:
    suite = suites.load(HERE / "suites.toml", arguments.suite)
    listed = expectations.load(HERE / "expected.toml", arguments.suite)
    arguments.out.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="tilebridge-conformance-"))
    try:
        tree = suites.stage(Path(arguments.triton), scratch / "triton")
        environment = worker_environment(arguments, scratch)
        about = describe_environment(arguments.python, environment)
        if about["triton"] != suite.triton or about["backend"] != "cpu":
            raise expectations.ListError(
                f"the suite {arguments.suite} is for Triton {suite.triton} on 'cpu'; {arguments.python} has Triton"
                f" {about['triton']} on '{about['backend']}'"
            )
        names, left_out = suites.select(suite, tree, arguments.file)
        if not names:
            raise expectations.ListError(
                f"no test file of the suite has {arguments.file} in its path"
            )
        results = Results(
            arguments.out / f"{arguments.suite}.jsonl", arguments.resume or arguments.report
        )
        files = []
        for name in names:
            before = results.by_file.get(name, {})
            keep = {
                case
                for case, r in before.items()
                if not arguments.failed or r["outcome"] in ("passed", "skipped")
            }
            files.append(TestFile(name, keep))
        options = [
            "--device",
            "cpu",
            "-p",
            "no:cacheprovider",
            "-c",
            str(tree / "pytest.ini"),
            "-q",
            "-s",
        ]
        if arguments.keyword:
            options += ["-k", arguments.keyword]
        progress = Progress()

        def on_result(file: TestFile, nodeid: str, result: dict) -> None:
            results.add(file.path, nodeid.split("::", 1)[1], result)
            progress.add(result["outcome"])

        def select(nodeids: list[str]) -> list[int]:
            chosen = sample(nodeids, arguments.sample, arguments.shift)
            return [
                i for i in chosen if all(e.run or not e.names(short(nodeids[i])) for e in listed)
            ]

        def short(nodeid: str) -> str:
            return nodeid[nodeid.index("test/") + 5 :] if "test/" in nodeid else nodeid

        settings = Settings(
            python=arguments.python,
            cwd=tree / "python/test",
            environment=environment,
            pytest_options=options,
            workers=arguments.workers,
            timeout=arguments.timeout,
            select=select,
            on_result=on_result,
        )
        files.sort(key=lambda f: suites.order(suite, tree, f.path))
        if not arguments.report:
            Pool(files, settings).run()
            for file in files:
                if file.collected is not None and not arguments.keyword:
                    results.add_collected(file.path, len(file.collected))
        run = report.Run(
            suite=arguments.suite,
            sources=suites.revision(Path(arguments.triton)) or suite.sources,
            about=about,
            seconds=time.monotonic() - progress.started,
            workers=arguments.workers,
            whole=not (arguments.sample or arguments.keyword or arguments.file or arguments.report),
            left_out=left_out,
            whole_files=not (arguments.sample or arguments.keyword),
        )
        for file in sorted(files, key=lambda f: f.path):
            run.add_file(
                file,
                results.by_file.get(file.path, {}),
                listed,
                results.collected.get(file.path, 0),
            )
        whole = [f.path for f in files] if not (arguments.sample or arguments.keyword) else []
        run.stale = expectations.stale(listed, whole)
        (arguments.out / f"{arguments.suite}.json").write_text(
            json.dumps(run.as_json(), indent=1) + "\n"
        )
        print(run.summary())
        if arguments.page:
            report.write_section(arguments.page, arguments.suite, run.as_markdown())
        return 0 if run.is_good() else 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main() -> int:
    arguments = parse_arguments()
    # The workers are in sessions of their own: what ends this process must end them.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        if arguments.tutorials:
            from triton_suite import tutorials

            return tutorials.run(arguments, worker_environment)
        return run_tests(arguments)
    except expectations.ListError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
