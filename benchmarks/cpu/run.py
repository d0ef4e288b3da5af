# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times our kernels beside PyTorch, Inductor, JAX and NumPy, in turn, in one process.

    python benchmarks/cpu/run.py [--only WORD,WORD] [--sizes quick|full] [--threads N]
                                 [--json FILE] [--html FILE] [--compare OLD.json]

What is wrong is not timed. The ratio is the best peer's median time over ours: above 1 we are
faster. docs/performance.md says how to read the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[1] / "examples"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

VERSION = 1  # of the JSON


def parse_arguments(arguments=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="WORDS",
        help="problems whose group, name or size has a word; launch, compile",
    )
    parser.add_argument("--sizes", choices=("tiny", "quick", "full"), default="quick")
    parser.add_argument("--threads", type=int, default=0, help="default: the machine's cores")
    parser.add_argument("--peers", default="eager,inductor,jax,numpy", help="default: all four")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--budget", type=float, default=1.5, help="seconds of timing a problem")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE")
    parser.add_argument("--html", metavar="FILE", help="write a page with plots to FILE")
    parser.add_argument("--compare", metavar="OLD.json", help="also print what changed since then")
    parser.add_argument("--record", metavar="FOLDER", help="compile for --target into FOLDER")
    parser.add_argument("--target", default="cpu", help="of --record, such as cpu:sapphirerapids")
    parser.add_argument("--replay", metavar="FOLDER", help="time what --record compiled")
    parser.add_argument("--against", metavar="FOLDER", help="time --replay's beside FOLDER's")
    parser.add_argument("--list", action="store_true", help="only name the problems")
    options = parser.parse_args(arguments)
    if options.against and not options.replay:
        parser.error("--against FOLDER is beside what --replay FOLDER has")
    return options


def use_cores(threads: int) -> int:
    """Keeps the process to the first `threads` of its cores: no library can take more then."""
    cores = sorted(os.sched_getaffinity(0))
    count = min(threads or len(cores), len(cores))
    os.sched_setaffinity(0, cores[:count])
    return count


def chosen(options) -> list:
    from kernels import benches

    words = [word for word in options.only.split(",") if word]
    found = []
    for bench in benches(options.sizes):
        text = f"{bench.group} {bench}"
        if not words or any(word in text for word in words):
            found.append(bench)
    return found


def prepare(bench, tensors, peer_names: list[str], replay=None) -> tuple[dict, dict, dict]:
    """The runners that compute the right values, why the others do not run, and the block sizes
    that were chosen."""
    import peers
    import torch
    from bench import reference_of, wrong
    from pairs import fastest, our_runners

    wanted = reference_of(bench, tensors)
    runners, problems, blocks = {}, {}, {}
    for variant in bench.ours:
        try:
            calls = our_runners(bench, variant, tensors, replay)
            if not calls:
                continue
            block = fastest(calls)
            call = calls[block]
            if block:
                blocks[variant] = block
            for name in bench.outputs:
                if tensors[name].dtype.is_floating_point:
                    tensors[name].fill_(float("nan"))
                else:
                    tensors[name].zero_()
            call()
            detail = wrong(tuple(tensors[name] for name in bench.outputs), wanted, bench.tolerance)
        except Exception as error:
            detail = f"{type(error).__name__}: {str(error).strip()[:300]}"
        if detail:
            problems[variant] = detail
        else:
            runners[variant] = call
    for name in peer_names:
        try:
            call = peers.runner(name, bench, tensors)
            with torch.no_grad() if name == "inductor" else torch.enable_grad():
                got = peers.results(call(), bench)
            if not bench.is_random and (detail := wrong(got, wanted, bench.tolerance)):
                problems[name] = detail
                continue
        except peers.Absent:
            continue
        except Exception as error:
            problems[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
            continue
        runners[name] = call
    return runners, problems, blocks


def place_of(bytes_: float) -> str:
    """Where the arrays are while they are used over and over."""
    import machine

    if bytes_ <= machine.cache_bytes(2) / 2:
        return "L2"
    return "last cache" if bytes_ <= machine.last_cache_bytes() / 2 else "memory"


def limit_runners(row: dict, team) -> dict:
    """What bounds the problem, as `machine.Team` does it: copies that move as many bytes, where that
    compares (`targets`), or as much arithmetic."""
    import machine
    import report
    import targets
    import torch

    if team is None:
        return {}
    if report.is_arithmetic(row):
        return team.arithmetic(row["rate"], row["flops"])
    if not targets.is_beyond_caches(row, {"last_cache_bytes": machine.last_cache_bytes()}):
        return {}
    size = int(row["bytes"]) // 2
    to, source = (torch.ones(size, dtype=torch.uint8) for _ in range(2))
    calls = team.copies(to.data_ptr(), source.data_ptr(), size)
    # Each holds the arrays.
    return {name: lambda call=call, _=(to, source): call() for name, call in calls.items()}


def measure_one(bench, options, peer_names, replay=None, team=None, patience=None) -> dict:
    import peers
    import report
    from measure import time_in_turn
    from pairs import compare_forms, compare_wide

    patience = patience or peers.Patience()
    tensors = bench.inputs()
    willing = [name for name in peer_names if patience.allows(bench, name)]
    runners, problems, blocks = prepare(bench, tensors, willing, replay)
    problems |= {name: report.TOO_SLOW for name in peer_names if name not in willing}
    row = {
        "group": bench.group,
        "name": bench.name,
        "size": bench.size,
        "bytes": bench.bytes,
        "flops": bench.flops,
        "rate": bench.rate,
        "place": place_of(bench.bytes),
        "problems": problems,
        "blocks": blocks,
        "runners": {},
    }
    bounds = limit_runners(row, team)
    timed = time_in_turn(runners | bounds, options.rounds, options.budget)
    for name in willing:
        if name in timed:
            patience.note(bench, name, timed[name].median)
    row["runners"] = {name: timed[name].fields() for name in runners}
    if bounds:
        row["limits"] = {name: timed[name].fields() for name in bounds}
    row |= ratios(row, list(bench.ours))
    if {"pointers", "descriptors"} <= set(runners):
        row |= compare_forms(bench, tensors, blocks, replay)
    if bench.wide and "pointers" in runners:
        row |= compare_wide(bench, runners["pointers"], replay)
    return row


def ratios(row: dict, variants: list[str]) -> dict:
    timed = row["runners"]
    ours = [name for name in variants if name in timed]
    others = [name for name in timed if name not in variants]
    found: dict = {}
    if not ours:
        return found
    mine = timed[ours[0]]
    if others:
        best = min(others, key=lambda name: timed[name]["median_s"])
        found["best_peer"] = best
        found["ratio"] = timed[best]["median_s"] / mine["median_s"]
        found["ratio_low"] = timed[best]["low_s"] / mine["high_s"]
        found["ratio_high"] = timed[best]["high_s"] / mine["low_s"]
    return found


def shares(row: dict, variants: list[str], limits: dict) -> dict:
    """Our rates, and their shares of what the machine did in the same rounds: of the better copy,
    or of the arithmetic. Where that was not timed, of the limits of the whole run."""
    ours = [name for name in variants if name in row["runners"]]
    if not ours:
        return {}
    mine = row["runners"][ours[0]]["median_s"]
    found = {"bytes_per_s": row["bytes"] / mine, "flops_per_s": row["flops"] / mine}
    if timed := row.get("limits"):
        what = "of_peak" if "arithmetic" in timed else "of_copy"
        found[what] = min(timing["median_s"] for timing in timed.values()) / mine
    elif peak := limits.get(row["rate"]) or limits.get("f32"):
        found["of_peak"] = found["flops_per_s"] / peak
    return found


def measure_overheads(options, result: dict) -> None:
    """Launching and compiling, where Tilebridge itself is here and they are asked for."""
    words = [word for word in options.only.split(",") if word]
    if options.replay or (options.sizes == "tiny" and not words):
        return
    import overheads

    if not words or "launch" in words:
        result["launch"] = overheads.launches()
    if not words or "compile" in words:
        result["compile"] = overheads.compilations()


def notes_of_build() -> list[str]:
    """What of the libraries that are measured makes figures worse than users see."""
    from tilebridge import _native

    if (_native.library_dir() / "libtilebridge_compiler_cpu.so").exists():
        return []
    return [
        "libtilebridge_compiler_cpu.so was not built (scripts/setup.sh does it): the first compilation "
        "of a process takes longer than users see, as it loads LLVM's shared libraries"
    ]


def record_all(found: list, options) -> int:
    import tempfile

    # What Triton has compiled before would not be compiled again, and not be noted.
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        from record import record

        count = record(found, Path(options.record), options.target)
    print(f"{count} problems for {options.target} are in {options.record}")
    return 0


def main(arguments=None) -> int:
    options = parse_arguments(arguments)
    threads = use_cores(options.threads)
    from measure import keep_freed_memory, prepare_environment

    prepare_environment(threads)
    keep_freed_memory()
    from replay import Replay, stand_in_for_triton

    if options.replay:
        stand_in_for_triton()
    import machine
    import peers
    import report
    import targets
    import torch
    import triton
    from quiet import wait_until_quiet

    torch.set_num_threads(threads)
    found = chosen(options)
    if options.list:
        print("\n".join(f"{bench.group:18} {bench}" for bench in found))
        return 0
    if not found and not {"launch", "compile"} & set(options.only.split(",")):
        sys.exit(f"no problem has one of '{options.only}' in its name; --list shows all")
    if options.record:
        return record_all(found, options)
    replay = Replay(Path(options.replay)) if options.replay else None
    if options.against:
        from against import compare

        return compare(found, Path(options.against), replay, options.budget)
    names, notes = peers.available([name for name in options.peers.split(",") if name])
    notes += [] if options.replay else notes_of_build()
    library = Path(options.replay, machine.LIBRARY_NAME) if options.replay else None
    limits = machine.limits(threads, library)
    native = machine.load(library)
    team = machine.Team(native, threads) if native else None
    result = {
        "version": VERSION,
        "time": time.strftime("%Y-%m-%d %H:%M"),
        "machine": machine.describe(threads),
        "limits": limits,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "target": replay.manifest["target"] if replay else "",
        "sizes": options.sizes,
        "peers": names,
        "notes": notes,
        "results": [],
    }
    report.print_head(result)
    measure_overheads(options, result)
    patience = peers.Patience()
    for bench in found:
        row = measure_one(bench, options, names, replay, team, patience)
        row |= shares(row, list(bench.ours), limits)
        result["results"].append(row)
        report.print_row(row, names)
    wait_until_quiet()
    result["limits"] = machine.better(limits, machine.limits(threads, library))
    for row in result["results"]:
        row |= shares(row, list(report.OURS), result["limits"])
    report.print_summary(result)
    targets.print_targets(result)
    if options.compare:
        report.print_changes(json.loads(Path(options.compare).read_text()), result)
    if options.json:
        report.write_json(options.json, result)
    if options.html:
        import page

        Path(options.html).write_text(page.render(result))
    wrong = [row for row in result["results"] if not ours_is_right(row)]
    return 1 if wrong else 0


def ours_is_right(row: dict) -> bool:
    return not {"pointers", "descriptors"} & set(row["problems"])


if __name__ == "__main__":
    sys.exit(main())
