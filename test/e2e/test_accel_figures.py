# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/accel on small sizes: results are checked, and what multicast saves is what is read without it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

FIGURES = Path(__file__).resolve().parents[2] / "benchmarks" / "accel" / "figures.py"


def test_figures_of_small_sizes(tmp_path):
    path = tmp_path / "figures.json"
    child = subprocess.run(
        [sys.executable, FIGURES, "--quick", "--only", "matmul softmax PEs", "--json", path],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-4000:]
    figures = {(one["name"], one["setting"]): one for one in json.loads(path.read_text())}
    both, alone = (figures["matmul f16 512^3", how] for how in ("both", "no multicast"))
    # Lines of 8 PEs.
    assert both["read"] == both["inputs"]
    assert alone["read"] == 8 * both["read"]
    assert both["saved"] == 7 * both["read"]
    assert both["written"] == both["outputs"]
    rows = next(one for (name, _), one in figures.items() if name.startswith("softmax"))
    assert (rows["read"], rows["written"]) == (rows["inputs"], rows["outputs"])
    name = "polynomial f32 4096, degree 2, 2x2 PEs"
    assert figures[name, "one buffer"]["cycles"] >= figures[name, "both"]["cycles"]
    for one in figures.values():
        assert all(one["cycles"] >= term for term in one["terms"].values())
