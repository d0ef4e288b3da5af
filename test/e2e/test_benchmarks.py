# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/cpu: it runs, says what it measured, and times nothing that is wrong. No time is asserted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / "cpu"
pytestmark = pytest.mark.compiled("it measures compiled kernels")

TIMING = {"median_s", "low_s", "high_s", "least_s", "rounds", "disturbed"}


def python(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmarks")
    command = [FOLDER / "run.py", "--sizes", "tiny", "--only", "add,matmul f32,launch"]
    command += [
        "--threads",
        "1",
        "--peers",
        "eager,numpy,nothing",
        "--rounds",
        "3",
        "--budget",
        "0.01",
    ]
    result = python(*command, "--json", folder / "new.json", "--html", folder / "page.html")
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout, json.loads((folder / "new.json").read_text()), folder


def test_schema(measured):
    text, found, _ = measured
    assert found["version"] == 1
    assert "thread of the process" in text  # whether others ran beside what was timed
    assert found["peers"] == ["eager", "numpy"]
    assert "nothing is left out" in text
    assert found["machine"]["threads"] == 1
    assert {row["name"] for row in found["results"]} >= {"add f32", "matmul f32"}
    for row in found["results"]:
        assert row["problems"] == {}
        assert {"pointers", "eager"} <= set(row["runners"])
        for timing in row["runners"].values():
            assert set(timing) == TIMING
            assert (
                0 < timing["least_s"] <= timing["low_s"] <= timing["median_s"] <= timing["high_s"]
            )
        assert row["best_peer"] in row["runners"]
        assert 0 < row["ratio_low"] <= row["ratio"] <= row["ratio_high"]
        assert row["bytes_per_s"] > 0
    assert {"pointers", "descriptors"} <= set(found["results"][0]["runners"])
    for row in found["results"]:
        assert ("descriptor_ratio" in row) == ("descriptors" in row["runners"])
        if "descriptor_ratio" in row:
            assert 0 < row["descriptor_low"] <= row["descriptor_ratio"] <= row["descriptor_high"]
    assert set(found["launch"]) == {"python_s", "jit_s", "ratio", "c_s"}
    assert all(value > 0 for value in found["launch"].values())


def test_a_build_that_compiles_slower_is_told_of(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEBRIDGE_LIB_DIR", str(tmp_path))
    ask = (
        f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import run; print(run.notes_of_build())"
    )
    told = python("-c", ask)
    assert "libtilebridge_compiler_cpu.so was not built" in told.stdout, told.stderr
    (tmp_path / "libtilebridge_compiler_cpu.so").touch()
    assert python("-c", ask).stdout == "[]\n"


def test_page_needs_no_other_file(measured):
    text = (measured[2] / "page.html").read_text()
    assert "<svg" in text
    assert "add f32" in text
    assert "http" not in text
    assert "src=" not in text


def test_tables(measured):
    """The page of figures, and the table of all machines inside of another page."""
    folder = measured[2]
    page = folder / "other.md"
    page.write_text("before\n<!-- written by tables.py -->\nold\n<!-- end -->\nafter\n")
    done = python(FOLDER / "tables.py", folder / "new.json", "--summary", page)
    assert done.returncode == 0, done.stderr
    assert "| matmul f32 | 40x24x32 |" in done.stdout
    assert "| a launch in Python: of Triton's JIT alone | <= 1.50 |" in done.stdout
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("<!-- end -->\nafter\n")
    assert "old" not in text
    assert "| elementwise | " in text
    assert "| targets met | " in text


def test_comparison_with_an_earlier_run(measured):
    folder = measured[2]
    old = json.loads((folder / "new.json").read_text())
    for row in old["results"]:
        for timing in row["runners"].values():
            timing["median_s"] *= 1000
    (folder / "old.json").write_text(json.dumps(old))
    command = [FOLDER / "run.py", "--sizes", "tiny", "--only", "add", "--threads", "1"]
    command += ["--peers", "", "--rounds", "3", "--budget", "0.01"]
    result = python(*command, "--compare", folder / "old.json")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "time then / time now" in result.stdout
    assert "*" in result.stdout  # What changed much is marked.


def test_recorded_kernels_run_without_triton(tmp_path):
    """Compiled ahead of time for a CPU of this architecture, and launched through the C interface."""
    folder = tmp_path / "recorded"
    options = ["--sizes", "tiny", "--only", "add,matmul f32,layer norm backward"]
    done = python(FOLDER / "run.py", *options, "--record", folder, "--target", "cpu")
    assert done.returncode == 0, done.stdout + done.stderr
    # A module that cannot be imported stands for the missing package.
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text("raise ImportError('not here')")
    options += ["--replay", str(folder), "--peers", "eager", "--rounds", "3", "--budget", "0.01"]
    start = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.path.insert(0, {str(FOLDER)!r})"
    )
    start += f"; import run; sys.exit(run.main({[*options, '--json', str(tmp_path / 'f.json')]!r}))"
    done = python("-c", start)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "f.json").read_text())
    assert found["target"] == "cpu"
    timed = {row["name"]: set(row["runners"]) for row in found["results"]}
    assert timed["add f32"] >= {"pointers", "descriptors", "eager"}
    assert timed["matmul f32"] >= {"pointers", "descriptors", "eager"}
    assert "pointers" in timed["layer norm backward f32"]
    done = python(FOLDER / "run.py", *options, "--against", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    for group in ("elementwise", "matmul", "backward"):
        means = [line for line in done.stdout.splitlines() if "geometric mean of" in line]
        (line,) = (line for line in means if line.startswith(f"{group} "))
        assert float(line.split()[1]) > 0, line
    done = python(FOLDER / "run.py", *options, "--against", folder, "--only", "gelu")
    assert done.returncode == 1
    assert "none of these problems" in done.stdout


WRONG = """
import sys
sys.path[:0] = [{folder!r}, {examples!r}]
import run
from kernels import elementwise
import torch, dataclasses
bench = elementwise.add(1000)
def late(t):
    torch.add(t["x"], t["y"], out=t["out"])
    t["out"][999] += 0.5
def silent(t):
    pass
def fails(t):
    raise ValueError("no")
bench = dataclasses.replace(
    bench, ours={{"pointers": late, "descriptors": silent, "third": fails, "right": bench.ours["pointers"]}},
    numpy=lambda np, t: np.subtract(t["x"], t["y"], out=t["out"]))
options = run.parse_arguments(["--rounds", "3", "--budget", "5"])
row = run.measure_one(bench, options, ["eager", "numpy"])
assert set(row["problems"]) == {{"pointers", "descriptors", "third", "numpy"}}, row
assert set(row["runners"]) == {{"right", "eager"}}, row
assert "ratio" in row, row
assert not run.ours_is_right(row)
"""


PATIENCE = """
import sys
sys.path[:0] = [{folder!r}, {examples!r}]
import dataclasses
import torch
import peers, report, run
from kernels import products
small, middle, large = (products.square(n, n, n, torch.float32) for n in (16, 512, 4096))
assert small.name == large.name and large.flops > 1e6 * small.flops
patience = peers.Patience()
assert patience.allows(large, "eager")
patience.note(small, "eager", 1e-3)
patience.note(small, "jax", 1e-9)
patience.note(small, "eager", 1e-9)  # the longest counts
assert patience.allows(small, "eager") and not patience.allows(large, "eager")
assert patience.allows(large, "jax")
assert patience.allows(dataclasses.replace(large, name="other"), "eager")
assert patience.allows(dataclasses.replace(large, flops=0.0), "eager")
patience.note(middle, "eager", 1e-3)  # the larger one tells more
assert patience.allows(large, "eager")
patience.note(small, "eager", 1e-3)
assert patience.allows(large, "eager")
patience.note(middle, "eager", 1.0)
assert not patience.allows(large, "eager")
row = run.measure_one(dataclasses.replace(large, ours={{}}, flops=1e15, inputs=small.inputs),
                      run.parse_arguments(["--rounds", "3"]), ["eager"], None, None, patience)
assert row["problems"] == {{"eager": report.TOO_SLOW}} and not row["runners"], row
"""


def test_peers_that_would_take_too_long_are_left_out():
    script = PATIENCE.format(folder=str(FOLDER), examples=str(ROOT / "examples"))
    result = python("-c", script)
    assert result.returncode == 0, result.stdout + result.stderr


def test_what_is_wrong_is_not_timed():
    script = WRONG.format(folder=str(FOLDER), examples=str(ROOT / "examples"))
    result = python("-c", script)
    assert result.returncode == 0, result.stdout + result.stderr


COPIED = """
import sys
sys.path[:0] = [{folder!r}, {examples!r}]
import ctypes, machine, run, time, torch
from kernels import elementwise, products
native = machine.load(None)
for threads in (1, 3, 2):
    team = machine.Team(native, threads)
    for size in (0, 1, 63, 64, 1000, 262144, 2621441 + 77):
        for to_at, from_at in ((0, 0), (3, 17)):
            source = bytearray(i * 7 % 251 for i in range(size + 64))
            for name in ("memcpy", "streaming"):
                to = bytearray(size + 64)
                address = ctypes.addressof(ctypes.c_char.from_buffer(to)) + to_at
                other = ctypes.addressof(ctypes.c_char.from_buffer(source)) + from_at
                team.copies(address, other, size)[name]()
                wanted = bytes(to_at) + source[from_at : from_at + size] + bytes(64 - to_at)
                assert to == wanted, (threads, size, to_at, name)
options = run.parse_arguments(["--rounds", "3", "--budget", "5"])
bench = elementwise.add(5000)
row = run.measure_one(bench, options, ["eager"], None, team)
assert "limits" not in row and "of_copy" not in run.shares(row, ["pointers"], {{"copy": 1.0}}), row
machine.last_cache_bytes = lambda: int(bench.bytes) // 2
row = run.measure_one(bench, options, ["eager"], None, team)
assert set(row["limits"]) == {{"memcpy", "streaming"}}, row
assert set(row["runners"]) == {{"pointers", "descriptors", "eager"}}, row
assert all(timing["rounds"] == row["runners"]["eager"]["rounds"] for timing in row["limits"].values())
row["limits"]["memcpy"]["median_s"] = 3 * row["runners"]["pointers"]["median_s"]
row["limits"]["streaming"]["median_s"] = 2 * row["runners"]["pointers"]["median_s"]
assert run.shares(row, ["pointers"], {{}})["of_copy"] == 2, row
for kind in ("f32", "bf16", "i8", "another"):
    for operations in (1.0, 1000.0, 1e7 + 1):
        done = team.arithmetic(kind, operations)["arithmetic"]()
        # Whole steps of each thread: AMX's of bytes are 131072 operations.
        assert operations <= done < operations + 1e6, (kind, operations, done)
least = {{}}
for operations in (1e7, 1e10) * 3:
    start = time.perf_counter()
    team.arithmetic("f32", operations)["arithmetic"]()
    taken = time.perf_counter() - start
    least[operations] = min(taken, least.get(operations, taken))
# A thread that waits for its core may take milliseconds for the few.
assert least[1e10] > 4 * least[1e7], least
row = run.measure_one(products.square(128, 128, 128, torch.float32), options, ["eager"], None, team)
assert set(row["limits"]) == {{"arithmetic"}}, row
row["limits"]["arithmetic"]["median_s"] = row["runners"]["pointers"]["median_s"] / 4
assert run.shares(row, ["pointers"], {{"f32": 1.0}})["of_peak"] == 0.25, row
del row["limits"]
found = run.shares(row, ["pointers"], {{"f32": 2.0}})
assert found["of_peak"] == found["flops_per_s"] / 2, found
assert "of_f32" not in row, row
row = run.measure_one(products.square(64, 96, 128, torch.float16), options, [])
assert 0 < row["of_f32_low"] <= row["of_f32"] <= row["of_f32_high"], row
"""


def test_limits_are_whole_and_timed_with_the_kernels():
    script = COPIED.format(folder=str(FOLDER), examples=str(ROOT / "examples"))
    result = python("-c", script)
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_such_problem():
    result = python(FOLDER / "run.py", "--only", "no such problem")
    assert result.returncode == 1
    assert "no problem has one of 'no such problem'" in result.stderr


def row_of(name, size, group, ours, eager, place="memory", **more):
    runners = {"pointers": {"median_s": ours}, "eager": {"median_s": eager}}
    row = {"name": name, "size": size, "group": group, "place": place, "bytes": 2.0**28}
    return row | {"runners": runners, "ratio": eager / ours, "best_peer": "eager"} | more


def test_targets_are_met_or_not(monkeypatch):
    """The figures that decide are the least ones, and a target without figures is left out."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import targets

    rows = [
        row_of("add f32", "99", "elementwise", 1.0, 2.0, of_copy=0.9, descriptor_ratio=0.97),
        row_of("softmax f32", "9x9", "rows", 1.0, 1.5, of_copy=0.8),
        row_of("layer norm f32", "9", "rows", 1.0, 1.5, of_copy=2.0, bytes=2.0**28 - 1),
        row_of("cumsum f32", "3", "rows", 1.0, 0.1, bytes=64.0),  # Too small to count.
        row_of("matmul f32", "256x256x256", "matmul", 1.0, 0.949),
        row_of("matmul f16", "256x256x256", "matmul", 1.2, 9.0),
        row_of("matmul bf16", "256x256x256", "matmul", 9.0, 9.0, of_f32=0.81),
        row_of("matmul i8", "256x256x256", "matmul", 1.0, 9.0, of_f32=0.79),
        row_of("attention f32", "1x1x9x9", "attention", 1.0, 1.05),
    ]
    launch = {"python_s": 6e-6, "jit_s": 5e-6, "ratio": 1.2, "c_s": 4e-6}
    compiled = [
        {"name": "vector add", "median_s": 0.03, "first_s": 0.07},
        {"name": "matmul 32x32x32", "median_s": 0.1},
        {"name": "matmul 256x256x32", "median_s": 0.1304},
    ]
    result = {"results": rows, "limits": {"f32": 1e9}, "launch": launch, "compile": compiled}
    result["machine"] = {"last_cache_bytes": 2**27}
    found = {target.what: target for target in targets.targets(result)}
    met = {what for what, target in found.items() if target.met}
    assert met == {
        "memory-bound, out of cache: of the best peer",
        "memory-bound, geometric mean: of the best peer",
        "add, twice the last cache: of the copy rate",
        "matmul f32: of PyTorch",  # By the two digits that are printed.
        "matmul f16: of our f32 rate",
        "matmul bf16: of our f32 rate",
        "a launch in Python: of Triton's JIT alone",
        "compilation: matmul, the slowest block",
        "compilation: matmul, blocks of 256 to 32",
    }
    # Part of its arrays is in the cache, so that it says nothing about memory.
    unknown = [target for target in found.values() if target.met is None]
    assert [t.what for t in unknown] == ["layer norm, twice the last cache: of the copy rate"]
    assert targets.state(unknown[0]) == "not measured"
    assert set(found) - met - {unknown[0].what} == {
        "softmax, twice the last cache: of the copy rate",
        "matmul i8: of our f32 rate",
        "attention: of PyTorch",
        "descriptors: of pointers",
        "a launch through the C interface",
        "compilation, first in a process: vector add",
    }
    assert (
        "0.80 (softmax f32 9x9)"
        in found["softmax, twice the last cache: of the copy rate"].measured
    )
    table = "\n".join(targets.lines(list(found.values())))
    assert "| attention: of PyTorch | >= 1.10 | 1.05 (attention f32 1x1x9x9) | not met |" in table


def test_scale_targets(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import targets

    def run_of(seconds, peak, flops=2 * 1024**3):
        row = row_of("matmul f32", "1", "matmul", seconds, 1.0)
        return {"results": [row | {"flops": flops, "rate": "f32"}], "limits": {"f32": peak}}

    elsewhere = {"results": [row_of("matmul f32", "2", "matmul", 1.0, 1.0)], "limits": {}}
    assert not targets.scale_targets({"1": run_of(2.0, 1.0), "4": elsewhere})  # No size is in both.
    assert not targets.scale_targets({"1": run_of(2.0, 1.0, 1000), "4": run_of(1.0, 1.0, 1000)})
    # 3 times as fast with 4 threads, of a machine whose peak is 3.5 times as high then.
    scaled = targets.scale_targets({"1": run_of(3.0, 1.0), "4": run_of(1.0, 3.5)})
    assert [(target.measured[:4], target.met) for target in scaled] == [
        ("0.75", False),
        ("0.86", True),
    ]
