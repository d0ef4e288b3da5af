# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs all example kernels and prints a table: errors against float64, times against PyTorch.

    python examples/demo.py [--only WORD] [--quick] [--json FILE] [--no-interpreter]
    python examples/demo.py --compile-times

Triton's interpreter, which executes the same kernels on a CPU with NumPy, runs in a process of its
own. It is far slower, so it gets the same kernel with the same blocks on a smaller problem (the
column says which) and its time is scaled by the work.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import quiet

FAMILIES = (
    "vector_add",
    "softmax",
    "matmul",
    "layer_norm",
    "dropout",
    "attention",
    "grouped_gemm",
    "linear_scan",
    "cross_entropy",
    "embedding",
    "histogram",
)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="WORD", help="kernels whose name has WORD")
    parser.add_argument("--quick", action="store_true", help="small problems, few repetitions")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE, - for stdout")
    parser.add_argument("--no-interpreter", action="store_true", help="leave its columns out")
    parser.add_argument(
        "--compile-times", action="store_true", help="time compilation with cold caches instead"
    )
    parser.add_argument("--child", choices=("interpreter", "compile"), help=argparse.SUPPRESS)
    return parser.parse_args()


def modules():
    return [importlib.import_module(family) for family in FAMILIES]


def chosen_cases(options) -> list:
    cases = [case for module in modules() for case in module.CASES]
    cases = [case for case in cases if options.only in str(case)]
    return [case.probe or case for case in cases] if options.quick else cases


def run_child(kind: str, options, environment: dict[str, str]) -> list:
    """This script again, in a process with another environment; what it prints is JSON."""
    command = [sys.executable, __file__, "--child", kind, "--only", options.only]
    if options.quick:
        command.append("--quick")
    result = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if result.returncode:
        sys.exit(f"the {kind} process failed:\n{result.stderr[-4000:]}")
    return json.loads(result.stdout.splitlines()[-1])


def interpreter_child(options) -> list[dict]:
    """Times the smaller problem of each case; runs with TRITON_INTERPRET=1."""
    results = []
    for case in chosen_cases(options):
        probe = case.probe or case
        tensors = probe.inputs(0)
        best = float("inf")
        for _ in range(2):
            start = time.perf_counter()
            probe.run(tensors)
            best = min(best, time.perf_counter() - start)
            if best > 0.3:
                break
        results.append({"size": probe.size, "work": probe.work, "seconds": best})
    return results


def measure(case, budget: float) -> dict:
    from harness import check, median_seconds

    start = time.perf_counter()
    result = check(case)
    first = time.perf_counter() - start
    tensors = case.inputs(0)
    row = {
        "kernel": case.name,
        "size": case.size,
        "kind": case.kind,
        "error": result.error,
        "ok": result.ok,
        "detail": result.detail,
        "first_s": first,
        "ours_s": median_seconds(lambda: case.run(tensors), budget),
    }
    if case.torch_run is not None:
        row["torch_s"] = median_seconds(lambda: case.torch_run(tensors), budget)
        row["ratio"] = row["torch_s"] / row["ours_s"]
    return row


def milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.3f}"


def print_row(row: dict) -> None:
    ratio = f"{row['ratio']:.2f}" if "ratio" in row else "-"
    cells = (
        f"{row['kernel']:<26} {row['size']:<20} {row['error']:9.2e}"
        f" {'ok' if row['ok'] else 'WRONG':<6}"
        f"{milliseconds(row['ours_s']):>10} {milliseconds(row.get('torch_s')):>10} {ratio:>7}"
    )
    if "interpreter_s" in row:
        cells += f"{milliseconds(row['interpreter_s']):>13} {row['speedup']:>8.0f}"
        cells += f"  {row['interpreter_size']}"
    print(cells, flush=True)


def demo(options) -> int:
    import torch
    import triton

    cases = chosen_cases(options)
    if not cases:
        sys.exit(f"no kernel has '{options.only}' in its name; kernels: {', '.join(FAMILIES)}")
    interpreted = []
    if not options.no_interpreter:
        interpreted = run_child("interpreter", options, {"TRITON_INTERPRET": "1"})
    print(
        f"Triton {triton.__version__}, PyTorch {torch.__version__} with {torch.get_num_threads()}"
        f" threads, {os.cpu_count()} CPUs ({platform.machine()})"
    )
    print("Times in ms, the median of warm runs. ratio: PyTorch's time by ours; more is better.")
    if interpreted:
        print("interpreter: scaled from the size in the last column; speedup: its time by ours.")
    header = (
        f"{'kernel':<26} {'size':<20} {'error':>9} {'':<6}{'ours':>10} {'PyTorch':>10} {'ratio':>7}"
    )
    print(header + (f"{'interpreter':>13} {'speedup':>8}  of size" if interpreted else ""))
    rows = []
    for index, case in enumerate(cases):
        try:
            row = measure(case, 0.05 if options.quick else 0.3)
        except Exception as error:  # one kernel that fails to compile must not hide the others
            rows.append({"kernel": case.name, "size": case.size, "ok": False, "detail": str(error)})
            print(f"{case.name:<26} {case.size:<20} FAILED ({type(error).__name__})", flush=True)
            continue
        if interpreted:
            probe = interpreted[index]
            row["interpreter_s"] = probe["seconds"] * case.work / probe["work"]
            row["interpreter_size"] = probe["size"]
            row["speedup"] = row["interpreter_s"] / row["ours_s"]
        rows.append(row)
        print_row(row)
    wrong = [row for row in rows if not row["ok"]]
    for row in wrong:
        print(f"\n{row['kernel']} {row['size']}: {row['detail']}")
    print(
        f"\n{len(rows) - len(wrong)} of {len(rows)} kernels are within the tolerance of their type"
    )
    write_json(options, rows)
    return 1 if wrong else 0


def write_json(options, rows: list[dict]) -> None:
    if options.json == "-":
        print(json.dumps(rows))
    elif options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


def compile_child(options) -> list[dict]:
    """Compiles both ends of each range of block sizes; runs with empty caches."""
    import triton

    seen: list[dict] = []

    def listen(*, src, metadata, metadata_group, times, cache_hit):
        total = times.ir_initialization + sum(stage for _, stage in times.lowering_stages)
        seen.append({"kernel": src.name, "total_s": total / 1e6, "cache_hit": cache_hit})

    knobs = importlib.import_module("triton.knobs")
    knobs.compilation.listener = listen
    vector_add = importlib.import_module("vector_add")
    warm = vector_add.case(100, block=32)
    warm.run(warm.inputs(0))
    assert triton.__version__
    rows = []
    for module in modules():
        for name, smallest, largest in module.EXTREMES:
            if options.only not in name:
                continue
            times = []
            for case in (smallest, largest):
                seen.clear()
                case.run(case.inputs(0))
                # A case may launch several kernels: the slowest to compile counts.
                times.append(max(entry["total_s"] for entry in seen if not entry["cache_hit"]))
            rows.append({"kernel": name, "smallest_s": times[0], "largest_s": times[1]})
    return rows


def compile_times(options) -> int:
    runs = []
    for _ in range(1 if options.quick else 5):
        with tempfile.TemporaryDirectory() as cache:
            environment = {
                "TRITON_CACHE_DIR": os.path.join(cache, "triton"),
                "TILEBRIDGE_CACHE_DIR": os.path.join(cache, "tilebridge"),
            }
            runs.append(run_child("compile", options, environment))
    # What else runs on the machine only ever adds to a time.
    print("Compile time from the Triton source to machine code, caches empty, best of", len(runs))
    print(f"{'kernel':<28} {'smallest block':>15} {'largest block':>14} {'ratio':>6}")
    rows = []
    for same in zip(*runs, strict=True):
        row = {"kernel": same[0]["kernel"]}
        for key in ("smallest_s", "largest_s"):
            row[key] = min(run[key] for run in same)
        row["ratio"] = row["largest_s"] / row["smallest_s"]
        rows.append(row)
        print(
            f"{row['kernel']:<28} {row['smallest_s'] * 1e3:>12.0f} ms"
            f" {row['largest_s'] * 1e3:>11.0f} ms {row['ratio']:>6.2f}"
        )
    write_json(options, rows)
    return 0


def main() -> int:
    options = parse_arguments()
    quiet.keep_pools_short()
    if options.child == "interpreter":
        print(json.dumps(interpreter_child(options)))
        return 0
    if options.child == "compile":
        print(json.dumps(compile_child(options)))
        return 0
    return compile_times(options) if options.compile_times else demo(options)


if __name__ == "__main__":
    sys.exit(main())
