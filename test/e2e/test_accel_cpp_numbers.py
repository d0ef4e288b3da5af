# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ for accelerators: arithmetic on all types gives what the simulator does, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from accel_cpp_support import compare, kernel

N = 96
POINTERS = {"i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64"}


def elementwise(operations, operand, result):
    """Each operation on blocks of two arrays; results behind one another in the third."""
    local = '#accel.memory<"local">'
    lines = [
        f"  %x = accel.alloc {{offset = 0}} : memref<{N}x{operand}, {local}>",
        f"  %y = accel.alloc {{offset = 1024}} : memref<{N}x{operand}, {local}>",
        f"  %r = accel.alloc {{offset = 2048}} : memref<{N}x{result}, {local}>",
    ]
    for i, name in enumerate("xy"):
        lines += [
            f"  %v{name} = memref.reinterpret_cast %a{i} to offset: [0], sizes: [{N}], strides: [1] : "
            f"memref<?x{operand}, strided<[1], offset: ?>> to memref<{N}x{operand}, strided<[1]>>",
            f"  accel.copy %v{name} to %{name} : (memref<{N}x{operand}, strided<[1]>>, "
            f"memref<{N}x{operand}, {local}>) -> ()",
        ]
    identity = "affine_map<(i) -> (i)>"
    for number, operation in enumerate(operations):
        lines += [
            f"  linalg.generic {{indexing_maps = [{identity}, {identity}, {identity}], "
            f'iterator_types = ["parallel"]}} ins(%x, %y : memref<{N}x{operand}, {local}>, '
            f"memref<{N}x{operand}, {local}>) outs(%r : memref<{N}x{result}, {local}>) {{",
            f"  ^bb0(%p: {operand}, %q: {operand}, %o: {result}):",
            f"    {operation}",
            f"    linalg.yield %res : {result}",
            "  }",
            f"  %o{number} = memref.reinterpret_cast %a2 to offset: [{number * N}], sizes: [{N}], strides: [1] : "
            f"memref<?x{result}, strided<[1], offset: ?>> to memref<{N}x{result}, strided<[1], offset: {number * N}>>",
            "  scf.if %first {",
            f"    accel.copy %r to %o{number} : (memref<{N}x{result}, {local}>, "
            f"memref<{N}x{result}, strided<[1], offset: {number * N}>>) -> ()",
            "  }",
        ]
    return kernel("numbers", [operand, operand, result], "\n".join(lines))


INTEGERS = """addi subi muli divsi divui remsi remui floordivsi ceildivsi ceildivui shli shrsi shrui maxsi minsi maxui
minui andi ori xori""".split()
FLOATS = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split()
MATH = """absf exp exp2 expm1 log log2 log10 log1p sqrt rsqrt cbrt erf floor ceil trunc round roundeven sin cos
tan asin atan sinh tanh asinh""".split()


def integers_of(width):
    rng = np.random.default_rng(width)
    limits = np.iinfo(f"i{width // 8}")
    x = rng.integers(limits.min, limits.max, N, dtype=f"i{width // 8}", endpoint=True)
    y = rng.integers(limits.min, limits.max, N, dtype=f"i{width // 8}", endpoint=True)
    x[:6] = [0, 1, -1, limits.min, limits.max, limits.min]
    y[:6] = [0, -1, limits.min, -1, 3, 0]
    y[20:60] = rng.integers(-width, 2 * width, 40) % 120
    return x, y


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_integers(width, tmp_path):
    t = f"i{width}"
    operations = [f"%res = arith.{op} %p, %q : {t}" for op in INTEGERS]
    operations += [f"%res = math.{op} %p : {t}" for op in ("absi", "ctpop", "ctlz", "cttz")]
    operations += [f"%res, %low = arith.{op}_extended %p, %q : {t}" for op in ("mulsi", "mului")]
    operations += [f"%low, %res = arith.{op}_extended %p, %q : {t}" for op in ("mulsi", "mului")]
    operations += [
        f"%c = arith.cmpi {how}, %p, %q : {t} %res = arith.extui %c : i1 to {t}"
        for how in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
    ]
    operations += [
        f"%c = arith.cmpi slt, %p, %q : {t} %res = arith.extsi %c : i1 to {t}",
        f"%c = arith.cmpi slt, %p, %q : {t}\n %d = arith.cmpi ugt, %p, %q : {t}\n"
        f"%e = arith.cmpi ne, %c, %d : i1 %res = arith.extui %e : i1 to {t}",
        f"%c = arith.cmpi slt, %p, %q : {t}\n %d = arith.cmpi ugt, %p, %q : {t}\n"
        f"%e = arith.cmpi eq, %c, %d : i1 %res = arith.extui %e : i1 to {t}",
        f"%f = arith.sitofp %p : {t} to f32 %res = arith.fptosi %f : f32 to {t}",
        f"%f = arith.uitofp %p : {t} to f64 %res = arith.fptoui %f : f64 to {t}",
        f"%c = arith.cmpi slt, %p, %q : {t} %res = arith.select %c, %p, %q : {t}",
    ]
    if width > 8:
        operations += [
            f"%s = arith.trunci %p : {t} to i8 %res = arith.extsi %s : i8 to {t}",
            f"%s = arith.trunci %p : {t} to i8 %res = arith.extui %s : i8 to {t}",
        ]
    x, y = integers_of(width)
    result = np.zeros(len(operations) * N, x.dtype)
    text = elementwise([op.replace(" %res", "\n    %res") for op in operations], t, t)
    compare(text, "numbers", "grid-1x8", (1,), [x, y, result], tmp_path)


@pytest.mark.parametrize("t", ["f16", "f32", "f64"])
def test_floats(t, tmp_path):
    operations = [f"%res = arith.{op} %p, %q : {t}" for op in FLOATS]
    operations += [f"%res = math.{op} %p : {t}" for op in MATH]
    operations += [f"%res = arith.negf %p : {t}", f"%res = math.copysign %p, %q : {t}"]
    operations += [f"%res = math.fma %p, %q, %p : {t}", f"%res = math.powf %p, %q : {t}"]
    for how in "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split():
        operations.append(f"%c = arith.cmpf {how}, %p, %q : {t} %res = arith.uitofp %c : i1 to {t}")
    for small in ("bf16", "f8E5M2", "f8E4M3FN", "f8E4M3B11FNUZ", "f8E4M3FNUZ"):
        operations.append(
            f"%s = arith.truncf %p : {t} to {small} %res = arith.extf %s : {small} to {t}"
        )
    if t == "f16":  # as wide as bf16
        operations = [op for op in operations if "bf16" not in op]
    rng = np.random.default_rng(1)
    x = (rng.standard_normal(N) * 10 ** rng.uniform(-4, 3, N)).astype(t.replace("f", "float"))
    y = (rng.standard_normal(N) * 10 ** rng.uniform(-4, 3, N)).astype(x.dtype)
    x[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 448.0, 1e-7]
    y[:8] = [-0.0, 0.0, np.inf, 1.0, 2.0, np.nan, 0.0, -1e-7]
    result = np.zeros(len(operations) * N, x.dtype)
    text = elementwise([op.replace(" %res", "\n    %res") for op in operations], t, t)
    compare(text, "numbers", "grid-1x8", (1,), [x, y, result], tmp_path)


DIRECTIONS = ["downward", "upward", "toward_zero"]


@pytest.mark.parametrize("t", ["f32", "f64"])
def test_directed(t, tmp_path):
    """Rounding in a direction; operands whose results lie between two numbers, and at the ends of the range."""
    operations = []
    for direction in DIRECTIONS:

        def one(function, operands, types, direction=direction):
            return f'%res = linalg_ext.directed "{function}" {direction}({operands}) : ({types}) -> {t}'

        operations += [one(f, "%p, %q", f"{t}, {t}") for f in ("add", "sub", "mul", "div")]
        operations += [one("sqrt", "%p", t), one("fma", "%p, %q, %p", f"{t}, {t}, {t}")]
        for width in (32, 64):
            convert = f"%i = arith.fptosi %p : {t} to i{width}\n    "
            operations.append(convert + one("sitofp", "%i", f"i{width}"))
            negated = (
                convert
                + f"%z = arith.constant -1 : i{width}\n    %n = arith.xori %i, %z : i{width}\n    "
            )
            operations.append(negated + one("uitofp", "%n", f"i{width}"))
        if t == "f32":
            wide = "%w = arith.extf %p : f32 to f64\n    %v = arith.extf %q : f32 to f64\n    "
            wide += "%m = arith.mulf %w, %v : f64\n    "
            operations.append(wide + one("truncf", "%m", "f64"))
    rng = np.random.default_rng(2)
    x = (rng.standard_normal(N) * 10 ** rng.uniform(-4, 9, N)).astype(t.replace("f", "float"))
    y = (rng.standard_normal(N) * 10 ** rng.uniform(-4, 3, N)).astype(x.dtype)
    tiny, large = np.finfo(x.dtype).tiny, np.finfo(x.dtype).max
    x[:10] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, large, -large, tiny, 1.0]
    y[:10] = [-0.0, 0.0, np.inf, 1.0, 2.0, -1.0, large, 2.0, tiny, 3.0]
    result = np.zeros(len(operations) * N, x.dtype)
    _, expected = compare(
        elementwise(operations, t, t), "numbers", "grid-1x8", (1,), [x, y, result], tmp_path
    )
    # The directions differ, so that one taken for another shows.
    results = expected[2].reshape(len(DIRECTIONS), -1)
    assert not np.array_equal(results[0], results[1], equal_nan=True)
    assert not np.array_equal(results[2], results[1], equal_nan=True)


# All values of each format, by magnitude: they are exact in f32.
TINY = {
    "f4E2M1FN": (4, [0, 0.5, 1, 1.5, 2, 3, 4, 6]),
    "f6E2M3FN": (6, [i / 8 if i < 8 else (8 + i % 8) / 8 * 2 ** (i // 8 - 1) for i in range(32)]),
    "f6E3M2FN": (6, [i / 16 if i < 4 else (4 + i % 4) / 4 * 2 ** (i // 4 - 3) for i in range(32)]),
}


@pytest.mark.parametrize("name", TINY)
def test_floats_of_four_and_six_bits(name, tmp_path):
    """Packed bits become floats, as elements of scaled blocks do."""
    width, magnitudes = TINY[name]
    widen = (
        f"%t = arith.bitcast %b : i{width} to {name}\n    %f = arith.extf %t : {name} to f32\n    "
    )
    bits = f"%b = arith.trunci %p : i32 to i{width}\n    "
    shifted = f"%s = arith.shrui %p, %q : i32\n    %b = arith.trunci %s : i32 to i{width}\n    "
    operations = [
        bits + widen + "%res = arith.bitcast %f : f32 to i32",
        shifted + widen + "%res = arith.bitcast %f : f32 to i32",
        bits
        + f"%t = arith.bitcast %b : i{width} to {name}\n    %h = arith.extf %t : {name} to f16\n    "
        + "%res = arith.fptosi %h : f16 to i32",
    ]
    x = (
        np.arange(N, dtype=np.int32)
        | np.random.default_rng(3).integers(0, 1 << 24, N, np.int32) << 7
    )
    y = np.full(N, 3, np.int32)
    result = np.zeros(len(operations) * N, np.int32)
    _, expected = compare(
        elementwise(operations, "i32", "i32"), "numbers", "grid-1x8", (1,), [x, y, result], tmp_path
    )
    values = np.array(magnitudes + [-m for m in magnitudes], np.float32)
    for number, code in enumerate([x, x >> 3]):
        got = expected[2][number * N : (number + 1) * N].view(np.float32)
        np.testing.assert_array_equal(got, values[code % (1 << width)])
