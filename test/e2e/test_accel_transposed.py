# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposed blocks on engines of few dimensions: rows in the order of memory, and no element by itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import output_of
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

HERE = Path(__file__).resolve().parent


@pytest.mark.parametrize("target", ["dma-1d", "hexagon-like"])
def test_what_the_cpu_leaves(target):
    child = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "accel_comparison"),
            *("-p", "no:cacheprovider", "test_transposed_blocks.py"),
        ],
        env=os.environ
        | {"TILEBRIDGE_TARGET": f"accel:{target}"}
        | ({"TILEBRIDGE_ACCEL_CPP": "1"} if target == "dma-1d" else {}),
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stdout[-4000:]


PROGRAM = """
import json
import torch
from test_transposed_blocks import cube_kernel, load_kernel, masked_kernel, store_kernel
import tilebridge.accel

told = {}
x, y = torch.randn(32, 64), torch.zeros(64, 32)
for name, kernel in dict(load=load_kernel, store=store_kernel, masked=masked_kernel).items():
    kernel[(1,)](x, y, 64, 32, 64, 32)
    told[name] = tilebridge.accel.last_stats()["accesses"]
cube_kernel[(1,)](torch.randn(8, 32, 16), torch.zeros(32, 16, 8), 16, 8, 32)
told["cube"] = tilebridge.accel.last_stats()["accesses"]
print(json.dumps(told))
"""

WHOLE = "subview, transposed"


def test_no_access_is_a_loop_of_elements(tmp_path):
    told = json.loads(output_of(tmp_path, PROGRAM, target="dma-1d", PYTHONPATH=path()))
    for name, forms in {
        "load": [WHOLE, "subview"],
        "store": ["subview", WHOLE],
        "masked": ["masked load, transposed", "masked store, transposed"],
        "cube": [WHOLE, WHOLE],
    }.items():
        loaded, stored = told[name]
        assert [loaded["form"], stored["form"]] == forms
        # One run of bytes each, by the PE that has the program.
        assert (loaded["transfers"], stored["transfers"]) == (1, 1)
    assert "'dma' takes 4096 descriptors for the block, and 1 in" in told["cube"][0]["reason"]
    assert "reason" not in told["load"][1]
    assert told["masked"][0]["reason"].count(";") == 1


def test_engines_that_take_the_block_get_it_as_it_is(tmp_path):
    told = json.loads(output_of(tmp_path, PROGRAM, target="mtia-2i-like", PYTHONPATH=path()))
    assert {access["form"] for access in told["load"] + told["store"]} == {"subview"}


def path() -> str:
    return os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
