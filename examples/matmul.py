# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix multiplication, four ways to address the operands.

`pointers`     tensors of pointers; a modulo wraps rows and columns, K and the result are masked
`blocks`       block pointers, checked at the bounds (Triton 3.7 and older)
`kernel_desc`  tensor descriptors that the kernel makes
`host_desc`    tensor descriptors that the caller makes

Programs are numbered so that GROUP rows of tiles are finished before the next ones start:
neighbours share operands in the cache.
"""

import functools

import torch
import triton
import triton.language as tl
from harness import SHORT_NAME, Case, main, output, random, seeded, tolerance_of
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def tile_of_program(program, m, n, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """The row and column of a program's tile, in the grouped order."""
    across = tl.cdiv(n, BN)
    group = program // (GROUP * across)
    first = group * GROUP
    height = min(tl.cdiv(m, BM) - first, GROUP)
    within = program - group * GROUP * across
    return first + within % height, within // height


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.125 * x)


@triton.jit
def finish(acc, ACTIVATION: tl.constexpr, TYPE: tl.constexpr):
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    return acc.to(TYPE)


@triton.jit
def matmul_pointers_kernel(
    a, b, c, m, n, k,
    a_row, a_col, b_row, b_col, c_row, c_col,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    ACC: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    row, col = tile_of_program(tl.program_id(0), m, n, BM, BN, GROUP)
    rows = (row * BM + tl.arange(0, BM)) % m
    cols = (col * BN + tl.arange(0, BN)) % n
    inner = tl.arange(0, BK)
    a_at = a + rows[:, None] * a_row + inner[None, :] * a_col
    b_at = b + inner[:, None] * b_row + cols[None, :] * b_col
    acc = tl.zeros((BM, BN), dtype=ACC)
    for step in range(0, tl.cdiv(k, BK)):
        left = k - step * BK
        a_tile = tl.load(a_at, mask=inner[None, :] < left, other=0.0)
        b_tile = tl.load(b_at, mask=inner[:, None] < left, other=0.0)
        acc = tl.dot(a_tile, b_tile, acc, out_dtype=ACC)
        a_at += BK * a_col
        b_at += BK * b_row
    out_rows = row * BM + tl.arange(0, BM)
    out_cols = col * BN + tl.arange(0, BN)
    inside = (out_rows[:, None] < m) & (out_cols[None, :] < n)
    c_at = c + out_rows[:, None] * c_row + out_cols[None, :] * c_col
    tl.store(c_at, finish(acc, ACTIVATION, c.dtype.element_ty), mask=inside)


@triton.jit
def matmul_blocks_kernel(
    a, b, c, m, n, k,
    a_row, a_col, b_row, b_col, c_row, c_col,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    ACC: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    row, col = tile_of_program(tl.program_id(0), m, n, BM, BN, GROUP)
    a_block = tl.make_block_ptr(a, (m, k), (a_row, a_col), (row * BM, 0), (BM, BK), (1, 0))
    b_block = tl.make_block_ptr(b, (k, n), (b_row, b_col), (0, col * BN), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=ACC)
    for _ in range(0, k, BK):
        a_tile = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b_tile = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a_tile, b_tile, acc, out_dtype=ACC)
        a_block = tl.advance(a_block, (0, BK))
        b_block = tl.advance(b_block, (BK, 0))
    c_block = tl.make_block_ptr(c, (m, n), (c_row, c_col), (row * BM, col * BN), (BM, BN), (1, 0))
    tl.store(c_block, finish(acc, ACTIVATION, c.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def matmul_kernel_desc_kernel(
    a, b, c, m, n, k,
    a_row, b_row, c_row,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    ACC: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    row, col = tile_of_program(tl.program_id(0), m, n, BM, BN, GROUP)
    a_desc = tl.make_tensor_descriptor(a, shape=[m, k], strides=[a_row, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b, shape=[k, n], strides=[b_row, 1], block_shape=[BK, BN])
    c_desc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[c_row, 1], block_shape=[BM, BN])
    acc = tl.zeros((BM, BN), dtype=ACC)
    for start in range(0, k, BK):
        acc = tl.dot(
            a_desc.load([row * BM, start]), b_desc.load([start, col * BN]), acc, out_dtype=ACC
        )
    c_desc.store([row * BM, col * BN], finish(acc, ACTIVATION, c.dtype.element_ty))


@triton.jit
def matmul_host_desc_kernel(
    a_desc, b_desc, c_desc, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    ACC: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    row, col = tile_of_program(tl.program_id(0), m, n, BM, BN, GROUP)
    acc = tl.zeros((BM, BN), dtype=ACC)
    for start in range(0, k, BK):
        acc = tl.dot(
            a_desc.load([row * BM, start]), b_desc.load([start, col * BN]), acc, out_dtype=ACC
        )
    c_desc.store([row * BM, col * BN], finish(acc, ACTIVATION, c_desc.dtype))


def prepared(a, b, c, how, block, group=8, activation=""):
    """A function without arguments that computes c = activation(a @ b) with the kernel `how`, for one
    that is called again and again."""
    (m, k), n = a.shape, b.shape[1]
    bm, bn, bk = block
    acc = tl.float32 if a.dtype.is_floating_point else tl.int32
    if a.dtype == torch.float64:
        acc = tl.float64
    sizes = {"BM": bm, "BN": bn, "BK": bk, "GROUP": group, "ACC": acc, "ACTIVATION": activation}
    strides = (*a.stride(), *b.stride(), *c.stride())
    if how == "pointers":
        kernel, arguments = matmul_pointers_kernel, (a, b, c, m, n, k, *strides)
    elif how == "blocks":
        kernel, arguments = matmul_blocks_kernel, (a, b, c, m, n, k, *strides)
    elif how == "kernel_desc":
        rows = (a.stride(0), b.stride(0), c.stride(0))
        kernel, arguments = matmul_kernel_desc_kernel, (a, b, c, m, n, k, *rows)
    else:
        descriptors = (
            TensorDescriptor.from_tensor(a, [bm, bk]),
            TensorDescriptor.from_tensor(b, [bk, bn]),
            TensorDescriptor.from_tensor(c, [bm, bn]),
        )
        kernel, arguments = matmul_host_desc_kernel, (*descriptors, m, n, k)
    grid = (-(-m // bm) * -(-n // bn),)
    return functools.partial(kernel[grid], *arguments, **sizes)


def launch(a, b, c, how, block, **options):
    """Computes c = activation(a @ b); `options` are those of `prepared`."""
    prepared(a, b, c, how, block, **options)()
    return c


def operand(g, rows, columns, dtype, layout):
    """A matrix stored by rows, by columns ("transposed") or with gaps between rows ("padded")."""
    if layout == "transposed":
        return random(g, [columns, rows], dtype).t()
    if layout == "padded":
        return random(g, [rows, columns + 16], dtype)[:, :columns]
    return random(g, [rows, columns], dtype)


def torch_matmul(t, dtype):
    """PyTorch's fastest way; for fp8 it has none on a CPU, so it widens to bf16 first."""
    a, b = t["a"], t["b"]
    if dtype == torch.int8:
        return torch._int_mm(a, b)
    if dtype in (torch.float8_e5m2, torch.float8_e4m3fn):
        return torch.matmul(a.to(torch.bfloat16), b.to(torch.bfloat16))
    return torch.matmul(a, b, out=t["c"])


def case(
    m: int,
    n: int,
    k: int,
    dtype: torch.dtype = torch.float32,
    how: str = "pointers",
    block: tuple[int, int, int] = (64, 64, 32),
    layouts: tuple[str, str] = ("rows", "rows"),
    out_dtype: torch.dtype | None = None,
    activation: str = "",
) -> Case:
    if out_dtype is None:
        narrow = (torch.float8_e5m2, torch.float8_e4m3fn)
        out_dtype = (
            torch.int32 if dtype == torch.int8 else torch.float16 if dtype in narrow else dtype
        )

    def inputs(seed):
        g = seeded(seed)
        return {
            "a": operand(g, m, k, dtype, layouts[0]),
            "b": operand(g, k, n, dtype, layouts[1]),
            "c": output([m, n], out_dtype),
        }

    def reference(t):
        if dtype == torch.int8:
            return (t["a"].double() @ t["b"].double(),)
        product = t["a"].double() @ t["b"].double()
        return (torch.where(product >= 0, product, 0.125 * product) if activation else product,)

    def run(t):
        if m and n:
            launch(t["a"], t["b"], t["c"], how, block, activation=activation)
        return (t["c"],)

    small = 128
    return Case(
        name=f"matmul {SHORT_NAME[dtype]} {how}",
        size=f"{m}x{n}x{k}" if (m, n) != (k, k) else str(k),
        inputs=inputs,
        run=run,
        reference=reference,
        torch_run=lambda t: torch_matmul(t, dtype),
        tolerance=tolerance_of(out_dtype, k),
        kind="compute",
        work=m * n * k,
        probe=case(small, small, small, dtype, how, block, layouts, out_dtype, activation)
        if min(m, n, k) > small
        else None,
    )


HAS_BLOCK_POINTERS = tuple(int(v) for v in triton.__version__.split(".")[:2]) < (3, 8)

CASES = [
    case(1024, 1024, 1024),
    case(1024, 1024, 1024, torch.float16),
    case(1024, 1024, 1024, torch.bfloat16),
    case(512, 512, 512, torch.int8),
    case(512, 512, 512, torch.float8_e5m2),
    case(512, 512, 512, torch.float8_e4m3fn),
    case(
        1000, 1000, 1000, torch.float32, layouts=("padded", "transposed"), activation="leaky_relu"
    ),
    case(512, 512, 512, torch.float32, "kernel_desc"),
    case(512, 512, 512, torch.bfloat16, "host_desc"),
]
EXTREMES = [
    (
        "matmul f32 pointers",
        case(130, 130, 130, block=(16, 16, 16)),
        case(130, 130, 130, block=(128, 128, 64)),
    ),
    (
        "matmul bf16 host_desc",
        case(144, 144, 144, torch.bfloat16, "host_desc", (16, 16, 16)),
        case(144, 144, 144, torch.bfloat16, "host_desc", (128, 128, 64)),
    ),
]
if HAS_BLOCK_POINTERS:
    CASES += [
        case(512, 512, 512, torch.float32, "blocks"),
        case(500, 500, 500, torch.float16, "blocks", layouts=("transposed", "rows")),
    ]
    EXTREMES += [
        (
            "matmul f32 blocks",
            case(130, 130, 130, how="blocks", block=(16, 16, 16)),
            case(130, 130, 130, how="blocks", block=(128, 128, 64)),
        )
    ]

if __name__ == "__main__":
    main(CASES)
