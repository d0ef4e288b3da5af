# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products whose sums are split over programs: PEs of a line add up their parts as a chain or a tree, or each adds in memory."""

import json

import pytest
from accel_cpp_support import ROOT
from programs import output_of
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

PROGRAM = """
import json, re, sys
import torch, triton, triton.language as tl
from tilebridge import accel

@triton.jit
def split_k(a, b, c, M, N, K, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    s = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.program_id(2) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, SPLIT * BK):
        left = K - i
        x = tl.load(a + r[:, None] * K + (i + k)[None, :], mask=(r[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(b + (i + k)[:, None] * N + s[None, :], mask=(k[:, None] < left) & (s[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.atomic_add(c + r[:, None] * N + s[None, :], acc, mask=(r[:, None] < M) & (s[None, :] < N))

M, N, K, SPLIT = map(int, sys.argv[1:])
B = 32
g = torch.Generator().manual_seed(1)
a, b = torch.randn(M, K, generator=g).half(), torch.randn(K, N, generator=g).half()
for landing in ("late", "random:3"):
    c = torch.ones(M, N)
    with accel.simulation(landing=landing, lowered=True):
        split_k[(triton.cdiv(M, B), triton.cdiv(N, B), SPLIT)](a, b, c, M, N, K, SPLIT, B, B, B)
    assert torch.allclose(c, 1 + a.float() @ b.float(), atol=1e-3 * K**0.5), (c - 1 - a.float() @ b.float()).abs().max()
stats = accel.last_stats()
print(json.dumps({
    "how": re.findall(r"accel.reduce_line .* algorithm (\\w+)", accel.last_lowered()),
    "written": sum(memory["bytes_written"] for memory in stats["memories"] if memory["name"] == "sram"),
}))
"""


def run(tmp_path, change, *sizes: int) -> dict:
    target = json.loads((ROOT / "accel-backend" / "targets" / "mtia-2i-like.json").read_text())
    change(target["reduction"])
    (tmp_path / "target.json").write_text(json.dumps(target))
    text = output_of(tmp_path, PROGRAM, *sizes, target=str(tmp_path / "target.json"))
    return json.loads(text.splitlines()[-1])


def as_it_is(reduction):
    pass


def narrow(reduction):
    reduction["bandwidth_bytes_per_cycle"]["value"] = 16


def without(reduction):
    reduction["lines"]["value"] = "none"


# Whole blocks, tails in all dimensions, and fewer programs than PEs.
SIZES = [(64, 256, 1024, 8), (60, 250, 1000, 8), (64, 32, 256, 8)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("change", "how"), [(as_it_is, ["tree"]), (narrow, ["chain"])])
def test_pes_of_a_line_add_up_their_parts(change, how, sizes, tmp_path):
    m, n, _, _ = sizes
    told = run(tmp_path, change, *sizes)
    assert told["how"] == how
    # One PE of each line adds to memory.
    assert told["written"] == m * n * 4


@pytest.mark.parametrize("sizes", SIZES)
def test_each_pe_adds_where_the_machine_cannot(sizes, tmp_path):
    m, n, _, split = sizes
    told = run(tmp_path, without, *sizes)
    assert told["how"] == []
    assert told["written"] == m * n * 4 * split


def test_a_split_that_fills_no_line(tmp_path):
    told = run(tmp_path, as_it_is, 64, 64, 500, 3)
    assert told["how"] == []
