# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the simulated time of a kernel cannot do: undercut the roofline, or grow with a faster machine.

Kernels of examples/ run on targets that differ in one figure each. What is lowered is the same for all of them; depth changes
that, too.
"""

import json

import numpy as np
import pytest
from accel_cpp_support import LIBRARIES, ROOT
from support import INTERPRETED
from tilebridge import accel
from tilebridge.triton_backend import simulated

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

DUMPS = ROOT / "test" / "ttir" / "examples" / "3.9.0"
HEADS, LENGTH, SIZE = 2, 96, 64
EMBEDDED = 200


def random(*shape, dtype=np.float32):
    return np.random.default_rng(5).standard_normal(shape).astype(dtype)


def attention(dtype):
    strides = [s for _ in range(4) for s in (HEADS * LENGTH * SIZE, LENGTH * SIZE, SIZE)]
    values = [random(2, HEADS, LENGTH, SIZE, dtype=dtype) for _ in range(4)]
    return [*values, random(2 * HEADS * LENGTH), *strides, HEADS, LENGTH, LENGTH, np.float32(0.18)]


def grouped():
    """The addresses of the products' operands are in arrays."""
    shapes = [(64, 96, 40), (70, 33, 64)]
    parts = [
        [random(*(shape[i] for i in sides)) for shape in shapes]
        for sides in ((0, 2), (2, 1), (0, 1))
    ]
    addresses = [np.array([one.ctypes.data for one in part]) for part in parts]
    rows = [[k, n, n] for m, n, k in shapes]
    HIDDEN["grouped gemm"] = [one for part in parts for one in part]
    return [*addresses, np.array(shapes, np.int32), np.array(rows, np.int32), len(shapes)]


# Arrays that a kernel reaches by addresses that it loads.
HIDDEN = {}
HALVES = [random(192, 160, dtype=np.float16), random(160, 128, dtype=np.float16)]
PRODUCT = [*HALVES, np.zeros((192, 128), np.float16), 192, 128, 160, 160, 128, 128]
TOKENS = np.random.default_rng(6).integers(0, 50, 40)
# The file in test/ttir, the grid, and the arguments: each kernel of examples/, with tails.
KERNELS = {
    "vector add": ("vector-add-f32", (20,), [*(random(20000) for _ in range(3)), 20000]),
    "dropout": ("dropout-f32", (9,), [random(8500), random(8500), 8500, np.float32(0.25), 7]),
    "softmax": ("softmax-f32", (9,), [*(random(37, 781) for _ in range(2)), 37, 781, 781, 781]),
    "long softmax": (
        "softmax-long-f32",
        (5,),
        [random(5, 5000), random(5, 5000), 5000, 5000, 5000],
    ),
    "layer norm": (
        "layer-norm-f32",
        (19,),
        [
            *(random(*s) for s in ((19, 301), (19, 301), (301,), (301,), (19,), (19,))),
            301,
            301,
            np.float32(1e-5),
        ],
    ),
    # Fewer rows than locks: nobody waits for one.
    "layer norm backward": (
        "layer-norm-backward-f32-layer-norm-backward-kernel",
        (19,),
        [
            *(random(*s) for s in ((19, 301), (19, 301), (64, 301), (64, 301), (19, 301))),
            *(random(*s) for s in ((301,), (19,), (19,))),
            np.zeros(64, np.int32),
            301,
            301,
        ],
    ),
    "sums of parts": (
        "layer-norm-backward-f32-sum-partials-kernel",
        (3,),
        [*(random(*s) for s in ((64, 301), (64, 301), (301,), (301,))), 64, 301],
    ),
    "cross entropy": (
        "cross-entropy-f32",
        (9,),
        [
            random(9, 5000),
            np.array([-100, 3, 4999, 0, 17, -100, 2048, 4096, 1]),
            random(9),
            random(9, 5000),
            5000,
            5000,
            -100,
        ],
    ),
    "embedding": (
        "embedding-f32",
        (3, 1),
        [random(50, EMBEDDED), TOKENS, random(40, EMBEDDED), 40, 50, EMBEDDED, EMBEDDED],
    ),
    "linear scan": (
        "linear-scan-f32",
        (2, 3),
        [*(random(3, 130, 100) for _ in range(3)), 130, 100],
    ),
    "matmul": ("matmul-f16-pointers", (12,), PRODUCT),
    "grouped gemm": ("grouped-gemm-f32", (8,), grouped()),
    "attention": ("attention-f16", (2, 4), attention(np.float16)),
    "causal attention": ("attention-causal-f32", (2, 4), attention(np.float32)),
    "histogram": (
        "histogram-i32",
        (5,),
        [np.arange(5000, dtype=np.int32) % 16, np.zeros(4096, np.int32), 5000],
    ),
}
# One block of the product for each of 64 PEs.
SQUARE = [random(512, 64, dtype=np.float16), random(64, 512, dtype=np.float16)]
SQUARE += [np.zeros((512, 512), np.float16), 512, 512, 64, 64, 512, 512]
TARGETS = ("grid-1x8", "mtia-2i-like")
ALL = KERNELS | {"square": ("matmul-f16-pointers", (64,), SQUARE)}


def bits(value) -> int:
    if isinstance(value, np.ndarray):
        return value.ctypes.data
    if isinstance(value, np.floating):
        return int(value.view(np.uint32))
    return value % (1 << 32) if value < 0 else value


def simulate(name: str, target: str) -> dict:
    dump, grid, values = ALL[name]
    ttir = (DUMPS / f"{dump}.mlir").read_text()
    kernel = simulated.SimulatedKernel(simulated.artefact_of(ttir, f"accel:{target}"))
    arrays = [v for v in values if isinstance(v, np.ndarray)] + HIDDEN.get(name, [])
    memory = [(v.ctypes.data, v.nbytes) for v in arrays]
    kernel.run((*grid, *[1] * (3 - len(grid))), [bits(v) for v in values], memory)
    stats = accel.last_stats()
    for term, cycles in stats["roofline"]["terms"].items():
        assert stats["cycles"] >= cycles, f"{name} on {target} is faster than {term}"
    return stats


def description(target: str) -> dict:
    return json.loads((LIBRARIES / "targets" / f"{target}.json").read_text())


def number(value):
    return value["value"] if isinstance(value, dict) and "value" in value else value


def scaled(value, by: float):
    """A figure, or a table of them, times `by`."""
    value = number(value)
    if isinstance(value, dict):
        return {key: scaled(each, by) for key, each in value.items()}
    return value * by


def with_bandwidth(machine: dict, by: float) -> None:
    for memory in machine["memories"]:
        if memory["name"] == number(machine["tensors_in"]):
            memory["bandwidth_bytes_per_cycle"] = scaled(memory["bandwidth_bytes_per_cycle"], by)


def with_engines(machine: dict, by: float) -> None:
    for engine in machine["dma"]:
        engine["bandwidth_bytes_per_cycle"] = scaled(engine["bandwidth_bytes_per_cycle"], by)


def with_rates(machine: dict, by: float) -> None:
    for unit in machine["compute"]:
        if unit["name"] != "scalar":
            unit["operations_per_cycle"] = scaled(unit["operations_per_cycle"], by)


def with_latency(machine: dict, by: float) -> None:
    for memory in machine["memories"]:
        if memory["scope"] == "chip":
            memory["latency_cycles"] = int(scaled(memory["latency_cycles"], 1 / by))


CHANGES = {
    "bandwidth": with_bandwidth,
    "engines": with_engines,
    "rates": with_rates,
    "latency": with_latency,
}


def is_less(faster: dict, slower: dict) -> bool:
    # The order in which PEs get a shared port changes, and with it what the last one waits for.
    return faster["cycles"] <= slower["cycles"] * 1.01


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_faster_machine_is_not_slower(name, target, change, tmp_path):
    before = None
    for by in (0.25, 1, 4):
        machine = description(target)
        CHANGES[change](machine, by)
        path = tmp_path / f"{change}-{by}.json"
        path.write_text(json.dumps(machine))
        stats = simulate(name, str(path))
        if before is not None:
            assert is_less(stats, before), f"{change} times {by}: {stats['cycles']}"
            assert [m["bytes_read"] for m in stats["memories"]] == [
                m["bytes_read"] for m in before["memories"]
            ]
        before = stats


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("target", TARGETS)
def test_more_buffers_are_not_slower(name, target):
    before = None
    for depth in (1, 2, 3, 8):
        stats = simulate(name, f"{target},depth={depth}")
        assert before is None or is_less(stats, before), f"{depth} buffers: {stats['cycles']}"
        before = stats


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("target", [*TARGETS, "tiny-16kb"])
@pytest.mark.parametrize("latency", [1, 20])
def test_as_many_buffers_as_help(name, target, latency, tmp_path):
    machine = description(target)
    with_latency(machine, 1 / latency)
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(machine))
    own = simulate(name, str(path))
    for depth in (2, 8):
        assert is_less(own, simulate(name, f"{path},depth={depth}")), f"{depth} buffers"


def test_more_than_two_buffers_hide_a_long_latency(tmp_path):
    machine = description("grid-1x1")
    with_latency(machine, 1 / 40)
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(machine))
    own, two = (simulate("matmul", f"{path}{end}")["cycles"] for end in ("", ",depth=2"))
    assert own < two / 2, f"{own} cycles, {two} with two buffers"


@pytest.mark.parametrize("name", KERNELS)
def test_multicast_leaves_no_read_away(name):
    both, alone = (simulate(name, f"mtia-2i-like{end}") for end in ("", ",multicast=off"))
    read = [
        sum(m["bytes_read"] for m in stats["memories"] if m["name"] != "local")
        for stats in (both, alone)
    ]
    assert alone["multicast_saved_bytes"] == 0
    # PEs without a program take part in the multicasts of their line.
    assert read[0] + both["multicast_saved_bytes"] >= read[1]


def test_fan_out():
    """A product whose blocks fill the grid: each line of 8 PEs reads once what its PEs read alone."""
    both, alone = (simulate("square", f"mtia-2i-like{end}") for end in ("", ",multicast=off"))
    read = [
        next(m["bytes_read"] for m in s["memories"] if m["name"] == "sram") for s in (both, alone)
    ]
    assert read[0] * 8 == read[1]
    assert both["multicast_saved_bytes"] == read[0] * 7
