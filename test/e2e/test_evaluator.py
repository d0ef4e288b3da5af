# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example kernel at a small size: the reference evaluator and compiled code give the same.

The same to the last bit where the order of operations is the same, else within twice the example's tolerance. The
grouped GEMM reads addresses from a tensor, which lead to arrays that the launch does not know.
"""

import sys

import attention
import cross_entropy
import dropout
import embedding
import histogram
import layer_norm
import linear_scan
import matmul
import pytest
import softmax
import torch
import vector_add
from harness import compare

pytestmark = pytest.mark.compiled("the interpreter does not go through the backend")

F16, BF16, F32 = torch.float16, torch.bfloat16, torch.float32

# No sums, and no functions that are approximated.
EXACT = [
    vector_add.case(129, F32, 128),
    vector_add.case(100, BF16, 32),
    dropout.case(200, F16, 0.3, block=64),
    embedding.case(9, 7, 20),
    histogram.case(300, 16, 64, 3),
]
ROUNDED = [
    softmax.case(3, 33),
    softmax.case(2, 50, BF16, block=16),
    matmul.case(17, 19, 23, F32, "pointers", (16, 16, 16)),
    matmul.case(20, 32, 16, F16, "kernel_desc", (16, 16, 16)),
    matmul.case(20, 32, 16, BF16, "host_desc", (16, 16, 16)),
    layer_norm.forward_case(3, 40, block=16),
    layer_norm.backward_case(9, 20, groups=2),
    attention.case(1, 2, 20, 16, causal=True, block=(16, 16)),
    attention.case(1, 1, 20, 16, F16, False, (16, 16), how="host_desc"),
    linear_scan.case(2, 17, 5, block=(16, 4)),
    cross_entropy.case(3, 40, block=16),
]


def forget_compiled():
    """Kernels that this process has compiled are compiled again: Triton does not look at the variable."""
    for module in (
        m for name, m in sys.modules.items() if "examples" in (getattr(m, "__file__", "") or "")
    ):
        for function in vars(module).values():
            function = getattr(function, "fn", function)
            if hasattr(function, "device_caches"):
                function.device_caches.clear()


def outputs(case, seed, monkeypatch, checked):
    forget_compiled()
    if checked:
        monkeypatch.setenv("TILEBRIDGE_CHECK", "1")
    else:
        monkeypatch.delenv("TILEBRIDGE_CHECK", raising=False)
    return case.run(case.inputs(seed))


@pytest.mark.parametrize("case", EXACT, ids=str)
def test_the_same_bits(case, seed, monkeypatch):
    evaluated = outputs(case, seed, monkeypatch, True)
    compiled = outputs(case, seed, monkeypatch, False)
    for x, y in zip(evaluated, compiled, strict=True):
        assert torch.equal(x.view(torch.uint8), y.view(torch.uint8))


@pytest.mark.parametrize("case", ROUNDED, ids=str)
def test_the_same_values(case, seed, monkeypatch):
    evaluated = outputs(case, seed, monkeypatch, True)
    compiled = outputs(case, seed, monkeypatch, False)
    relative, absolute = case.tolerance
    for x, y in zip(evaluated, compiled, strict=True):
        result = compare(x, y, (2 * relative, 2 * absolute))
        assert result.ok, result.detail
