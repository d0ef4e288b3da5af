# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the runner of Triton's tests, with small test files in their place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import run
from triton_suite import causes, expectations, report, suites, tutorials
from triton_suite.pool import Pool, Settings, TestFile


def run_files(
    folder: Path,
    sources: dict[str, str],
    workers=2,
    timeout=60.0,
    done_before=(),
    options=(),
    select=None,
):
    """Runs the sources as test files and returns the files and the results by name of the case."""
    for name, source in sources.items():
        (folder / name).write_text(source)
    results: dict[str, dict] = {}

    def on_result(file, nodeid, result):
        name = nodeid.split("::", 1)[1]
        assert name not in results, f"{name} ran twice"
        results[name] = result

    (folder / "pytest.ini").write_text("[pytest]\n")
    files = [TestFile(name, set(done_before)) for name in sources]
    settings = Settings(
        python=sys.executable,
        cwd=folder,
        environment={**os.environ, "PYTHONPATH": str(HERE), "PYTHONHASHSEED": "0"},
        pytest_options=[
            "-p",
            "no:cacheprovider",
            "-c",
            str(folder / "pytest.ini"),
            "-q",
            "-s",
            *options,
        ],
        workers=workers,
        timeout=timeout,
        select=select or (lambda names: list(range(len(names)))),
        on_result=on_result,
    )
    Pool(files, settings).run()
    return files, results


def test_each_way_to_end_is_told_apart(tmp_path):
    source = """
import pytest
def test_passes(): pass
def test_fails(): assert 1 + 1 == 3, "so it is"
def test_skips(): pytest.skip("a reason")
@pytest.mark.xfail(reason="known")
def test_known(): assert False
@pytest.fixture
def broken(): raise OSError("no device")
def test_setup(broken): pass
def test_prints(capfd):
    print("text")
    assert capfd.readouterr().out == "text\\n"
"""
    _, results = run_files(tmp_path, {"test_ends.py": source}, workers=1)
    outcomes = {name: result["outcome"] for name, result in results.items()}
    assert outcomes == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_skips": "skipped",
        "test_known": "xfailed",
        "test_setup": "failed",
        "test_prints": "passed",
    }
    assert results["test_skips"]["reason"] == "a reason"
    assert results["test_fails"]["type"] == "AssertionError"
    assert results["test_fails"]["message"].startswith("so it is")
    assert results["test_fails"]["where"] == "test_ends.py:4"
    assert (results["test_setup"]["phase"], results["test_setup"]["type"]) == ("setup", "OSError")


def test_a_crash_and_a_hang_cost_one_case_each(tmp_path):
    source = """
import os, signal, subprocess, time, pytest
@pytest.mark.parametrize("i", range(12))
def test_case(i):
    if i == 3: os.kill(os.getpid(), signal.SIGSEGV)
    if i == 5: time.sleep(1000)
    if i == 7: os._exit(3)
    if i == 8: subprocess.Popen(["sleep", "1000"])
"""
    _, results = run_files(tmp_path, {"test_bad.py": source}, timeout=8)
    assert len(results) == 12
    others = {name: r for name, r in results.items() if r["outcome"] != "passed"}
    assert {name: r["outcome"] for name, r in others.items()} == {
        "test_case[3]": "crashed",
        "test_case[5]": "timeout",
        "test_case[7]": "crashed",
    }
    assert "SIGSEGV" in others["test_case[3]"]["message"]
    assert "status 3" in others["test_case[7]"]["message"]
    # Where it hung is in what it printed.
    assert "test_bad.py" in others["test_case[5]"]["log"]


def test_files_that_cannot_be_collected(tmp_path):
    sources = {
        "test_import.py": "import there_is_no_such_module\n",
        "test_dies.py": "import os\nos._exit(7)\n",
        "test_module.py": "import pytest\npytest.skip('not here', allow_module_level=True)\n",
        "test_empty.py": "\n",
        "test_good.py": "def test_good(): pass\n",
    }
    files, results = run_files(tmp_path, sources)
    by_name = {file.path: file for file in files}
    assert "there_is_no_such_module" in by_name["test_import.py"].error
    assert "status 7" in by_name["test_dies.py"].error
    assert by_name["test_module.py"].module_skip == "not here"
    assert by_name["test_empty.py"].collected == []
    assert not by_name["test_empty.py"].error
    assert {name: r["outcome"] for name, r in results.items()} == {"test_good": "passed"}


def test_work_is_shared_resumed_and_selected(tmp_path):
    source = """
import glob, os, pytest, time
@pytest.mark.parametrize("i", range(200))
def test_case(i):
    open(f"ran-{i}", "w").write(str(os.getpid()))
    open(f"process-{os.getpid()}", "w").close()
    # The first waits for the other worker, however long that takes to start.
    end = time.monotonic() + 50
    while len(glob.glob("process-*")) < 2 and time.monotonic() < end: time.sleep(0.02)
"""
    files, results = run_files(tmp_path, {"test_many.py": source}, done_before=["test_case[0]"])
    assert len(results) == 199
    assert files[0].starts == 2
    processes = {path.read_text() for path in tmp_path.glob("ran-*")}
    assert len(processes) == 2
    assert not (tmp_path / "ran-0").exists()
    few, results = run_files(
        tmp_path,
        {"test_many.py": source},
        options=["-k", "9"],
        select=lambda names: run.sample(names, 3, 0),
    )
    assert len(few[0].collected) == 38
    assert len(results) == 3


def test_module_fixtures_live_as_long_as_the_module(tmp_path):
    source = """
import pytest
made = []
@pytest.fixture(scope="module")
def costly():
    made.append(1)
    return len(made)
@pytest.mark.parametrize("i", range(30))
def test_case(costly, i): assert costly == 1
"""
    _, results = run_files(tmp_path, {"test_fixture.py": source}, workers=1)
    assert [r["outcome"] for r in results.values()] == ["passed"] * 30


def test_results_are_found_again(tmp_path):
    path = tmp_path / "results.jsonl"
    results = run.Results(path, resume=False)
    results.add("a.py", "test_x[1]", {"outcome": "failed"})
    results.add("a.py", "test_x[1]", {"outcome": "passed"})
    results.add_collected("a.py", 7)
    results.stream.write('{"file": "a.py", "ca')  # a run that was ended
    results.stream.close()
    again = run.Results(path, resume=True)
    assert again.by_file == {"a.py": {"test_x[1]": {"outcome": "passed"}}}
    assert again.collected == {"a.py": 7}
    assert run.Results(path, resume=False).by_file == {}


def test_sample_is_spread_and_covers_each_function():
    names = [f"f.py::test_a[{i}]" for i in range(10)] + ["f.py::test_b", "f.py::test_c[x]"]
    assert run.sample(names, 2, 0) == [2, 7, 10, 11]
    assert run.sample(names, 2, 1) == [3, 8, 10, 11]
    assert run.sample(names, None, 0) == list(range(12))
    assert run.sample(names, 100, 0) == list(range(12))


FAILED = {"outcome": "failed", "type": "KeyError", "message": "no ttgir here"}


def expectation(**more):
    return expectations.Expectation(
        **{"tests": ["a.py::test_x[*"], "reason": "GPU", "fails_with": ["llir", "ttgir"], **more}
    )


def test_expectations_match_name_and_failure():
    entry = expectation()
    judged = expectations.judge([entry], "a.py::test_x[1-[2]]", FAILED)
    assert (judged["outcome"], judged["was"], judged["reason"]) == ("expected", "failed", "GPU")
    assert expectations.judge([entry], "a.py::test_y[1]", FAILED) == FAILED
    wrong = {"outcome": "failed", "type": "AssertionError", "message": "values differ"}
    assert expectations.judge([entry], "a.py::test_x[1]", wrong) == wrong
    assert entry.matched == 1
    passed = {"outcome": "passed"}
    assert expectations.judge([entry], "a.py::test_x[2]", passed) == passed


def test_stale_expectations_are_reported():
    used, unused, elsewhere = expectation(), expectation(), expectation(tests=["b.py::test_z"])
    passes = expectation(fails_with=[])
    expectations.judge([used], "a.py::test_x[1]", FAILED)
    expectations.judge([passes], "a.py::test_x[1]", FAILED)
    expectations.judge([passes], "a.py::test_x[2]", {"outcome": "passed"})
    lines = expectations.stale([used, unused, elsewhere, passes], ["a.py"])
    assert len(lines) == 2
    assert "no failure of this kind" in lines[0]
    assert "1 passed, such as a.py::test_x[2]" in lines[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[expected]]\ntests = ['a']\n", "'reason' is missing"),
        ("[[expected]]\ntests = ['a']\nreason = 'b'\nfail_with = 'c'\n", "unknown keys: fail_with"),
    ],
)
def test_a_bad_list_is_refused(tmp_path, text, message):
    path = tmp_path / "expected.toml"
    path.write_text(text)
    with pytest.raises(expectations.ListError, match=message):
        expectations.load(path, "triton-3.9")


def test_the_lists_of_this_repository_can_be_read():
    for name in ("triton-3.9", "triton-3.7"):
        assert suites.load(HERE / "suites.toml", name).files
    assert expectations.load(HERE / "expected.toml", "triton-3.9")
    assert tutorials.load(HERE / "suites.toml")
    with pytest.raises(expectations.ListError, match="no suite 'triton-2'"):
        suites.load(HERE / "suites.toml", "triton-2")


def failure(type, message, outcome="failed"):
    return {"outcome": outcome, "type": type, "message": message}


def test_failures_with_one_cause_are_one_group():
    results = {
        "a.py::test_a[1]": failure(
            "CompileError", "/tmp/x1/a.py:3:7: error: 'tt.dot' has 16 rows\n  note: there"
        ),
        "a.py::test_a[2]": failure("CompileError", "/home/b.py:99:1: error: 'tt.dot' has 128 rows"),
        "a.py::test_b": failure(
            "AssertionError", "\nNot equal to tolerance rtol=0.01\nMismatched: 3"
        ),
        "a.py::test_c": failure(
            "AssertionError", "Tensor-likes are not close!\n\nMismatched elements: 1"
        ),
        "a.py::test_d": failure("crashed", "the process was ended by SIGSEGV", "crashed"),
        "a.py::test_e": failure("timeout", "did not end within 5 s", "timeout"),
        "a.py::test_f": {"outcome": "passed"},
        "a.py::test_g": failure(
            "ValueError", "tensor<4x8xf32> is not memref<?xf32, strided<[1], offset: ?>>"
        ),
    }
    groups = causes.group(results)
    assert [(g.kind, g.text, len(g.cases)) for g in groups] == [
        ("CompileError", "'tt.dot' has N rows", 2),
        ("wrong values", causes.WRONG_VALUES, 2),
        ("ValueError", "tensor<…> is not memref<…>", 1),
        ("crashed", "the process was ended by SIGSEGV", 1),
        ("timeout", "did not end in time", 1),
    ]
    assert groups[0].functions == {"a.py::test_a": 2}


def make_checkout(folder: Path) -> Path:
    (folder / "python/test/unit/language").mkdir(parents=True)
    (folder / "python/test/unit/cuda").mkdir()
    (folder / "python/triton").mkdir()
    (folder / "python/test/unit/language/test_core.py").write_text("")
    (folder / "python/test/unit/cuda/test_tma.py").write_text("")
    return folder


def test_the_tests_are_staged_without_tritons_package(tmp_path):
    checkout = make_checkout(tmp_path / "triton")
    for given in (checkout, checkout / "python"):
        tree = suites.stage(given, tmp_path / f"staged-{given.name}")
        assert (tree / "python/test/unit/language/test_core.py").exists()
        assert not (tree / "python/triton").exists()
    with pytest.raises(expectations.ListError, match="not a checkout"):
        suites.stage(tmp_path, tmp_path / "x")
    suite = suites.Suite("s", "3.9.0", "x", ["unit/**/test_*.py"], {"unit/cuda/*": "CUDA"})
    assert suites.select(suite, tree, []) == (
        ["unit/language/test_core.py"],
        {"unit/cuda/test_tma.py": "CUDA"},
    )
    assert suites.select(suite, tree, ["nothing"])[0] == []


def test_the_longest_files_go_first(tmp_path):
    (tmp_path / "python/test").mkdir(parents=True)
    for name, size in {"a.py": 1, "b.py": 300, "c.py": 2, "d.py": 20}.items():
        (tmp_path / "python/test" / name).write_text("#" * size)
    suite = suites.Suite("s", "3.9.0", "x", ["*.py"], {}, longest=["d.py", "c.py"])
    names = sorted(["a.py", "b.py", "c.py", "d.py"], key=lambda n: suites.order(suite, tmp_path, n))
    assert names == ["d.py", "c.py", "b.py", "a.py"]


def make_run(results: dict[str, dict], listed=()) -> report.Run:
    about = {"triton": "3.9.0", "torch": "2", "tilebridge": "0", "backend": "cpu"}
    made = report.Run("triton-3.9", "main", about, 3000, 2, True, {"unit/cuda/a.py": "CUDA"})
    file = TestFile("a.py", collected=[f"python/test/a.py::{case}" for case in results])
    made.add_file(file, results, list(listed))
    return made


def test_the_page_counts_and_names():
    results = {
        "test_x[1]": FAILED,
        "test_x[2]": {"outcome": "passed"},
        "test_y[a|b]": failure("ValueError", "bad <thing>"),
        "test_z": {"outcome": "skipped", "reason": "only for Hopper"},
    }
    made = make_run(results, [expectation()])
    page = made.as_markdown()
    assert "| a.py | 4 | 1 | 1 | 1 | 1 |" in page
    assert "| 1 | ValueError: bad &lt;thing> | `test_y[a\\|b]` |" in page
    assert "| 1 | GPU | `test_x[1]` |" in page
    assert "| 1 | only for Hopper | `test_z` |" in page
    assert "| `cuda/a.py` | CUDA |" in page
    assert not made.is_good()
    assert made.as_json()["expected"] == {"a.py::test_x[1]": "GPU"}
    assert (
        made.summary()
        .splitlines()[-1]
        .startswith("triton-3.9: 4 collected, 1 passed, 1 failed, 1 expected")
    )


def test_cases_that_are_not_to_run_are_expected():
    made = report.Run("s", "main", {}, 1, 1, True, {})
    file = TestFile("a.py", collected=["python/test/a.py::test_x[1]"])
    made.add_file(file, {}, [expectation(run=False)])
    assert made.totals == {"expected": 1}
    assert made.is_good()


def test_only_the_section_is_replaced(tmp_path):
    page = tmp_path / "conformance.md"
    page.write_text("# Conformance\n\n<!-- begin a -->\nold\n<!-- end a -->\n\n## By hand\n")
    report.write_section(page, "a", "new\n")
    report.write_section(page, "b", "second\n")
    assert page.read_text() == (
        "# Conformance\n\n<!-- begin a -->\nnew\n<!-- end a -->\n\n## By hand\n\n"
        "<!-- begin b -->\nsecond\n<!-- end b -->\n"
    )
