# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of how tutorials are run and judged, with small programs in their place."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from conformance_tutorial import MEASURED, MEASURING
from triton_suite import tutorials


@pytest.mark.parametrize(
    ("status", "output", "passed"),
    [
        (0, "✅ Triton and Torch match\n", True),
        (0, "❌ Triton and Torch differ\n✅ Triton and Torch match\n", False),
        (0, "nothing\n", False),
        (1, "✅ Triton and Torch match\nAssertionError\n", False),
        (None, f"✅ Triton and Torch match\n{MEASURING}\n", True),
        (None, "✅ Triton and Torch match\n", False),
        (None, f"{MEASURING}\n", False),
        (None, "", False),
    ],
)
def test_a_tutorial_is_judged_by_what_it_prints(status, output, passed):
    tutorial = tutorials.Tutorial("03.py", prints="✅ Triton and Torch match")
    assert tutorials.judge(tutorial, status, output)[0] is passed


def test_a_tutorial_whose_reference_is_wrong():
    tutorial = tutorials.Tutorial("05.py", fails_with="allclose(db", reason="half precision")
    assert tutorials.judge(tutorial, 1, "assert allclose(db)") == (True, "half precision")
    assert tutorials.judge(tutorial, 1, "assert allclose(dx)") == (False, "assert allclose(dx)")
    assert tutorials.judge(tutorial, None, "") == (False, "did not end in time")


def run_program(folder: Path, source: str, run, timeout=60.0, measure=1.0, **about):
    """What comes of a program that stands for a tutorial, and what it left in the folder of the results."""
    tutorial = tutorials.Tutorial("09-example.py", **about)
    place = folder / "triton/python/tutorials"
    place.mkdir(parents=True)
    (place / tutorial.name).write_text(source)
    (folder / "triton/pytest.ini").write_text("[pytest]\n")
    arguments = argparse.Namespace(
        out=folder,
        python=sys.executable,
        tutorial_timeout=timeout,
        measure_seconds=measure,
        keyword=None,
    )
    environment = {**os.environ, "PYTHONPATH": str(HERE), "MPLBACKEND": "Agg"}
    outcome = run(tutorial, place, arguments, environment)
    (log,) = folder.glob("09-example.py.*")
    return outcome, log.read_text()


MEASURES = """
import sys, time
from triton import testing
print(sys.argv, __name__)
# What follows the points, a table and a plot, wants packages that only tutorials want.
testing.Mark._run = lambda self, bench, *rest, **options: [self.fn(n=n, who="a") for n in bench.x_vals]
assert CHECK
@testing.perf_report(testing.Benchmark(x_names=["n"], x_vals=[1, 2, 3], line_arg="who", line_vals=["a"],
                                       line_names=["A"], plot_name="", args={}))
def measure(n, who):
    time.sleep(0 if n < 3 else LAST)
    return float(n)
measure.run(print_data=True)
print("the end")
"""


def test_a_program_that_measures_to_its_end(tmp_path):
    source = MEASURES.replace("CHECK", "True").replace("LAST", "0")
    outcome, log = run_program(tmp_path, source, tutorials.run_script)
    assert (outcome.passed, outcome.note) == (True, "")
    assert log.startswith("['09-example.py'] __main__")
    assert log.count(MEASURED) == 3
    assert "the end" in log


def test_measurements_are_not_waited_for(tmp_path):
    source = MEASURES.replace("CHECK", "True").replace("LAST", "1000")
    outcome, log = run_program(tmp_path, source, tutorials.run_script)
    assert (outcome.passed, outcome.note) == (True, "its measurements were ended after 2 of them")
    assert "the end" not in log


def test_a_check_before_the_measurements_counts(tmp_path):
    source = MEASURES.replace("CHECK", "1 + 1 == 3")
    outcome, _ = run_program(tmp_path, source, tutorials.run_script)
    assert (outcome.passed, outcome.note) == (False, "AssertionError")


def test_a_program_that_hangs_before_its_measurements(tmp_path):
    outcome, _ = run_program(
        tmp_path, "import time\ntime.sleep(1000)\n", tutorials.run_script, timeout=3
    )
    assert (outcome.passed, outcome.note) == (False, "did not end in time")


CASES = """
import os, pytest, resource, torch
def test_is_limited(): assert resource.getrlimit(resource.RLIMIT_DATA)[0] < 1 << 50
@pytest.mark.parametrize("gigabytes", [0, 1 << 20])
def test_op(gigabytes): torch.empty(gigabytes << 30, dtype=torch.int8)
def test_skips(): pytest.skip("not here")
"""


def test_cases_too_large_for_the_machine(tmp_path):
    about = {"how": "pytest", "fails_with": "can't allocate memory", "reason": "too large"}
    outcome, log = run_program(tmp_path, CASES, tutorials.run_cases, **about)
    assert outcome.passed
    assert outcome.note == "2 passed; 1 skipped; 1 too large; too large: test_op[1048576]"
    assert log.count('"case"') == 4


def test_cases_known_to_be_too_large_are_not_run(tmp_path):
    source = CASES + "def test_huge(): os.kill(os.getpid(), 11)\n"
    about = {"how": "pytest", "fails_with": "can't allocate memory", "reason": "too large"}
    outcome, log = run_program(
        tmp_path, source, tutorials.run_cases, gigabytes={"huge": 1e6, "_limited": 1e-6}, **about
    )
    assert outcome.passed
    assert outcome.note.endswith("2 too large; too large: test_huge, test_op[1048576]")
    assert log.count('"case"') == 5


def test_a_case_that_crashes_is_named(tmp_path):
    source = CASES + "def test_dies(): os.kill(os.getpid(), 11)\n"
    about = {"how": "pytest", "fails_with": "can't allocate memory", "reason": "too large"}
    outcome, _ = run_program(tmp_path, source, tutorials.run_cases, **about)
    assert not outcome.passed
    assert "failed: test_dies" in outcome.note
