# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks that are added to memory by copies that accumulate, where the target's engine does."""

import json

import pytest
from accel_cpp_support import ROOT
from programs import output_of
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

HEAD = """
import json, re, sys
import torch, triton, triton.language as tl
from tilebridge import accel

def run(kernel, grid, make, expected, *rest, exact=False, **constants):
    results = []
    for landing in ("late", "random:5"):
        into = make()
        with accel.simulation(landing=landing, lowered=True):
            kernel[grid](into, *rest, **constants)
        if exact:
            assert torch.equal(into, expected), (into - expected).abs().max()
        else:
            assert torch.allclose(into.double(), expected.double(), rtol=1e-4, atol=1e-3), (into - expected).abs().max()
    text = accel.last_lowered()
    stats = accel.last_stats()
    chip = [m for m in stats["memories"] if m["name"] == CHIP][0]
    print(json.dumps({"copies": len(re.findall("accumulate add", text)), "atomics": len(re.findall(r"accel\\.atomic ", text)),
                      "lines": re.findall(r"accel.reduce_line .* algorithm (\\w+)", text), "cycles": stats["cycles"],
                      "read": chip["bytes_read"], "written": chip["bytes_written"]}))

g = torch.Generator().manual_seed(3)
"""

SPLIT_K = """
@triton.jit
def split_k(c, a, b, M, N, K, SPLIT: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.program_id(1) * B + tl.arange(0, B)
    k = tl.program_id(2) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for i in range(0, K, SPLIT * B):
        left = K - i
        x = tl.load(a + r[:, None] * K + (i + k)[None, :], mask=(r[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(b + (i + k)[:, None] * N + s[None, :], mask=(k[:, None] < left) & (s[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.atomic_add(c + r[:, None] * N + s[None, :], acc, mask=(r[:, None] < M) & (s[None, :] < N))

M, N, K, SPLIT = 60, 90, 250, 6
a, b = torch.randn(M, K, generator=g).half(), torch.randn(K, N, generator=g).half()
run(split_k, (2, 3, SPLIT), lambda: torch.ones(M, N), 1 + a.float() @ b.float(), a, b, M, N, K, SPLIT=SPLIT, B=32)
"""

FORMS = """
@triton.jit
def forms(c, x, n, low, stride, FORM: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    if FORM == 0:
        tl.atomic_add(c + i, v, mask=i < n)
    elif FORM == 1:
        tl.atomic_add(c + i * stride, v, mask=(i >= low) & (i < n))
    elif FORM == 2:
        tl.atomic_add(c + tl.arange(0, B), v, mask=v % 3 == 0)
    elif FORM == 3:
        tl.atomic_add(c + tl.arange(0, B) * 0, v, mask=low <= i, sem="relaxed")
    elif FORM == 4:
        tl.atomic_add(c + (B - 1 - tl.arange(0, B)), v)
    else:
        tl.atomic_add(c + i % 7, v)

B, n, low, stride = 32, 75, 9, 2
i = torch.arange(96)
for dtype in (torch.int32, torch.int64, torch.float32):
    x = torch.randint(-1000, 1000, (128,), generator=g).to(dtype)
    v = torch.where(i < n, x[:96], 0).to(dtype)
    for form in range(6):
        if form == 2 and dtype.is_floating_point:  # a remainder of integers
            continue
        where = [i, i * stride, i % B, i * 0, B - 1 - i % B, i % 7][form]
        taken = [i < n, (i >= low) & (i < n), torch.fmod(v, 3) == 0, low <= i, i >= 0, i >= 0][form]
        start = torch.randint(-9, 9, (200,), generator=g).to(dtype)
        expected = start.clone().index_add_(0, where[taken], v[taken])
        run(forms, (3,), start.clone, expected, x, n, low, stride, FORM=form, B=B, exact=not dtype.is_floating_point)
"""

DESCRIPTOR = """
@triton.jit
def reduces(c, x, M, N, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    rows = tl.program_id(0) * BM
    block = tl.load(x + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
    d.atomic_add([rows - 2, 8], block)

M, N, BM, BN = 21, 20, 16, 16
x = torch.randn(BM, BN, generator=g)
expected = torch.zeros(M, N)
for p in range(2):
    for r in range(BM):
        if 0 <= p * BM - 2 + r < M:
            expected[p * BM - 2 + r, 8:20] += x[r, :12]
run(reduces, (2,), lambda: torch.zeros(M, N), expected, x, M, N, BM=BM, BN=BN)
"""

ORDERED = """
@triton.jit
def last_one(c, x, count, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(c + i, tl.load(x + tl.program_id(0) * B + i))
    if tl.atomic_add(count, 1) == tl.num_programs(0) - 1:
        tl.store(out + i, tl.load(c + i))

x = torch.randint(0, 99, (5, 16), generator=g)
count, out = torch.zeros(1, dtype=torch.int32), torch.zeros(16, dtype=torch.int64)
c = torch.zeros(16, dtype=torch.int64)
with accel.simulation(lowered=True):
    last_one[(5,)](c, x, count, out, B=16)
assert torch.equal(out, x.sum(0))
text = accel.last_lowered()
print(json.dumps({"copies": len(re.findall("accumulate add", text)), "atomics": len(re.findall(r"accel\\.atomic ", text))}))
"""


def run_all(tmp_path, program: str, target: str, chip: str = "dram", change=None) -> list[dict]:
    """What each launch told."""
    if change:
        description = json.loads(
            (ROOT / "accel-backend" / "targets" / f"{target}.json").read_text()
        )
        change(description)
        (tmp_path / "target.json").write_text(json.dumps(description))
        target = str(tmp_path / "target.json")
    text = output_of(tmp_path, f"CHIP = {chip!r}\n" + HEAD + program, target=target)
    return [json.loads(line) for line in text.splitlines()]


def run(*words, **options) -> dict:
    return run_all(*words, **options)[-1]


def accumulates(description):
    for engine in description["dma"]:
        engine["accumulate"] = {"value": True, "assumed": "a test"}


def test_parts_of_sums_are_added_by_the_engine(tmp_path):
    told = run(tmp_path, SPLIT_K, "ascend-910b-like")
    assert told["copies"] >= 1
    assert told["atomics"] == 0
    # Each part is written once, and what is there is read.
    assert told["written"] == 60 * 90 * 4 * 6
    assert told["read"] >= told["written"]


def test_a_line_adds_up_before_one_of_it_accumulates(tmp_path):
    def change(description):
        accumulates(description)
        description["reduction"]["bandwidth_bytes_per_cycle"]["value"] = 4096

    program = SPLIT_K.replace("250, 6", "250, 8")
    told = run(tmp_path, program, "mtia-2i-like", chip="sram", change=change)
    assert told["lines"] == ["tree"]
    assert told["copies"] >= 1
    assert told["written"] == 60 * 90 * 4


def test_each_accumulates_where_the_network_is_slow(tmp_path):
    def change(description):
        accumulates(description)
        description["reduction"]["bandwidth_bytes_per_cycle"]["value"] = 0.25

    program = SPLIT_K.replace("250, 6", "250, 8")
    told = run(tmp_path, program, "mtia-2i-like", chip="sram", change=change)
    assert told["lines"] == []
    assert told["copies"] >= 1
    assert told["written"] == 60 * 90 * 4 * 8


def test_forms_of_blocks(tmp_path):
    told = run_all(tmp_path, FORMS, "ascend-910b-like")
    # A remainder is no stride.
    element = {"copies": 0, "atomics": 1}
    kinds = [{"copies": one["copies"], "atomics": one["atomics"]} for one in told]
    assert [kind == element for kind in kinds] == [False] * 5 + [True] + [False] * 5 + [True] + [
        False
    ] * 4 + [True]
    assert all(kind["copies"] >= 1 or kind == element for kind in kinds)


def test_descriptors(tmp_path):
    assert run(tmp_path, DESCRIPTOR, "ascend-910b-like")["atomics"] == 0


def test_what_orders_other_accesses_stays_atomic(tmp_path):
    told = run(tmp_path, ORDERED, "ascend-910b-like")
    assert told == {"copies": 0, "atomics": 1}
