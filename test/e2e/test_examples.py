# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example kernel on awkward sizes: nothing, one, primes, tails, gaps, transposed operands."""

import attention
import cross_entropy
import demo
import dropout
import embedding
import grouped_gemm
import histogram
import layer_norm
import linear_scan
import matmul
import pytest
import softmax
import torch
import vector_add
from harness import check
from support import HAS_BLOCK_POINTERS, INTERPRETED

F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
E5M2, E4M3 = torch.float8_e5m2, torch.float8_e4m3fn


def run_all(cases):
    """One pytest parameter a case, named by its kernel and size."""
    marks = pytest.mark.compiled("bf16 arithmetic is wrong in the interpreter")
    return pytest.mark.parametrize(
        "case",
        [pytest.param(c, id=str(c), marks=[marks] if "bf16" in c.name else []) for c in cases],
    )


def verify(case, seed):
    result = check(case, seed)
    assert result.ok, f"error {result.error}: {result.detail}"


@run_all(
    [vector_add.case(n, block=b) for n in (0, 1, 2, 127, 128, 129, 1000) for b in (1, 128)]
    + [vector_add.case(4099, d, 256) for d in (F16, BF16, F64)]
    + [
        vector_add.case(1031, d, 64)
        for d in (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
    ]
    + [vector_add.case(100003, block=b) for b in (16, 512, 4096, 32768)]
)
def test_vector_add(case, seed):
    verify(case, seed)


@run_all(
    [softmax.case(r, c) for r, c in ((0, 5), (1, 1), (3, 2), (7, 127), (5, 128), (2, 129))]
    + [softmax.case(300, 33), softmax.case(3, 5000)]
    + [softmax.case(13, 97, d, padding=5) for d in (F16, BF16, F32)]
    + [softmax.case(3, c, block=64) for c in (1, 63, 64, 65, 1009)]
    + [softmax.case(3, 1009, d, block=128, padding=1) for d in (F16, BF16)]
)
def test_softmax(case, seed):
    verify(case, seed)


MATMULS = [("pointers", F32), ("kernel_desc", F32), ("host_desc", F32)]
if HAS_BLOCK_POINTERS:
    MATMULS.append(("blocks", F32))
SHAPES = [(1, 1, 1), (16, 16, 16), (31, 17, 13), (33, 70, 129), (64, 128, 96), (1, 257, 5)]
ALIGNED = [(16, 16, 16), (33, 80, 144), (1, 256, 4), (100, 60, 36)]


@run_all(
    [
        matmul.case(m, n, k, d, how, (32, 32, 16))
        for how, d in MATMULS
        for m, n, k in (ALIGNED if "desc" in how else SHAPES)
    ]
    + [
        matmul.case(45, 37, 50, d, "pointers", (16, 32, 16), layouts)
        for d in (F32, F16)
        for layouts in (("padded", "rows"), ("transposed", "padded"), ("rows", "transposed"))
    ]
    + [matmul.case(37, 41, 53, d, block=(16, 16, 32)) for d in (F16, BF16, torch.int8, E5M2, E4M3)]
    + [matmul.case(48, 64, 80, d, "host_desc", (16, 32, 16)) for d in (F16, BF16)]
    + [matmul.case(32, 48, 64, d, "kernel_desc", (16, 16, 32)) for d in (F16, BF16)]
    + [matmul.case(20, 30, 40, activation="leaky_relu", block=(16, 16, 16))]
    + [matmul.case(130, 131, 132, block=b) for b in ((128, 128, 64), (16, 256, 32), (64, 16, 128))]
    + [matmul.case(17, 19, 0, block=(16, 16, 16)), matmul.case(0, 4, 4), matmul.case(4, 0, 4)]
    + [matmul.case(40, 40, 40, F16, out_dtype=F32), matmul.case(40, 40, 40, BF16, out_dtype=F32)]
)
def test_matmul(case, seed):
    if INTERPRETED and case.name.startswith("matmul f16"):
        pytest.skip("the interpreter sums f16 products in f16")
    verify(case, seed)


@pytest.mark.compiled("one f64 dot is all it takes; the interpreter has no f64 accumulator")
def test_matmul_f64(seed):
    verify(matmul.case(45, 37, 50, F64, block=(16, 16, 16)), seed)


@run_all(
    [layer_norm.forward_case(r, c, block=64) for r, c in ((1, 1), (3, 63), (2, 64), (5, 1000))]
    + [layer_norm.forward_case(7, 301, d, 128) for d in (F16, BF16)]
    + [layer_norm.forward_case(0, 10)]
)
def test_layer_norm(case, seed):
    verify(case, seed)


@run_all(
    [layer_norm.backward_case(r, c, groups=g) for r, c, g in ((1, 2, 1), (100, 33, 3), (64, 64, 1))]
    + [layer_norm.backward_case(50, 200, d, 4) for d in (F16, BF16)]
)
def test_layer_norm_backward(case, seed):
    verify(case, seed)


def test_locks_exclude_each_other(seed):
    """All rows fight for one lock, many times: a lost update shows in the gradients."""
    case = layer_norm.backward_case(64 if INTERPRETED else 2000, 16, groups=1)
    for attempt in range(1 if INTERPRETED else 5):
        verify(case, seed + attempt)


@run_all(
    [dropout.case(n, p=p, block=128) for n in (0, 1, 127, 1000) for p in (0.0, 0.3)]
    + [dropout.case(1000, p=1.0 - 2**-20, block=64)]
    + [dropout.case(777, d, 0.5, s, 256) for d in (F16, BF16) for s in (0, 5, (3 << 33) + 1)]
)
def test_dropout(case, seed):
    verify(case, seed)


@run_all(
    [
        attention.case(2, 3, n, 16, causal=c, block=(32, 16))
        for n in (1, 15, 16, 33, 100)
        for c in (False, True)
    ]
    + [attention.case(1, 2, 50, 32, causal=c, block=(16, 32)) for c in (False, True)]
    + [attention.case(1, 2, 20, 32, keys=k, block=(16, 16)) for k in (1, 16, 70)]
    + [attention.case(1, 2, 70, 64, d, c) for d in (F16, BF16) for c in (False, True)]
    + [
        attention.case(2, 2, 50, 16, d, c, (16, 32), how="host_desc")
        for d in (F32, F16, BF16)
        for c in (False, True)
    ]
    + [attention.case(1, 1, 0, 16)]
)
def test_attention(case, seed):
    verify(case, seed)


@run_all(
    [
        grouped_gemm.case(shapes, d, (16, 16, 16), 3)
        for shapes in ([(1, 1, 1)], [(40, 30, 20), (17, 1, 100), (16, 16, 16)], [(5, 5, 0)], [])
        for d in (F32, BF16)
    ]
    + [grouped_gemm.case([(20, 20, 20)] * 5, F16, (16, 32, 32), 2)]
)
def test_grouped_gemm(case, seed):
    verify(case, seed)


@run_all(
    [linear_scan.case(2, t, 5, block=(16, 4)) for t in (0, 1, 15, 16, 17, 50)]
    + [linear_scan.case(1, 40, 33, d, (8, 32)) for d in (F16, BF16)]
    + [linear_scan.case(1, 20, 1, block=(1, 1)), linear_scan.case(1, 300, 3, block=(256, 1))]
)
def test_linear_scan(case, seed):
    verify(case, seed)


@run_all(
    [cross_entropy.case(r, c, block=64) for r, c in ((0, 9), (1, 1), (9, 63), (15, 200))]
    + [cross_entropy.case(15, 333, d, 128) for d in (F16, BF16)]
    + [cross_entropy.case(4, 50, ignored_rows=False)]
)
def test_cross_entropy(case, seed):
    verify(case, seed)


@run_all(
    [
        embedding.case(n, 10, width, block=(4, 16), outside=o)
        for n, width in ((1, 1), (7, 15), (9, 40))
        for o in (False, True)
    ]
    + [embedding.case(20, 9, 33, d, (8, 32), i) for d in (F16, BF16) for i in (torch.int32,)]
    + [embedding.case(20, 9, 33, torch.int8, (8, 32), torch.int64, True, 7)]
    + [embedding.case(0, 9, 33)]
)
def test_embedding(case, seed):
    verify(case, seed)


@run_all(
    [histogram.case(n, b, 64, 3) for n in (0, 1, 63, 1000) for b in (2, 16, 256)]
    + [histogram.case(100000, 256, 4096, 16)]
)
def test_histogram(case, seed):
    verify(case, seed)


@run_all([case.probe or case for module in demo.modules() for case in module.CASES])
def test_demo(case, seed):
    """What scripts/demo.sh runs, as --quick has it: its blocks, and smaller problems."""
    verify(case, seed)
