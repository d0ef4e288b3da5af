# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every function of tl.extra.libdevice, against mpmath and exact arithmetic.

`python test_libdevice.py` prints the table of docs/libdevice.md.
"""

import ast
import inspect
import math
import struct
from fractions import Fraction
from itertools import zip_longest

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from libdevice_reference import FLOAT_FUNCTIONS, ulps_off
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice
from triton.language.extra.hip import libdevice as hip_libdevice

pytestmark = pytest.mark.compiled("the interpreter has no external functions")

TYPES = {
    "int32": torch.int32,
    "uint32": torch.int32,
    "int64": torch.int64,
    "uint64": torch.int64,
    "int16": torch.int16,
    "fp32": torch.float32,
    "fp64": torch.float64,
}
UNSIGNED = {"uint32": torch.uint32, "uint64": torch.uint64}


@triton.jit
def call_kernel(
    MODULE: tl.constexpr, NAME: tl.constexpr, a, b, c, d, out, ARITY: tl.constexpr, N: tl.constexpr
):
    at = tl.arange(0, N)
    function: tl.constexpr = getattr(MODULE, NAME)
    x = tl.load(a + at)
    if ARITY == 1:
        r = function(x)
    elif ARITY == 2:
        r = function(x, tl.load(b + at))
    elif ARITY == 3:
        r = function(x, tl.load(b + at), tl.load(c + at))
    else:
        r = function(x, tl.load(b + at), tl.load(c + at), tl.load(d + at))
    tl.store(out + at, r)


def call(module, name, operands, result, kinds=()):
    """The function on tensors of one length, padded to a power of two by their first element.

    An operand whose kind is unsigned is passed as such, with the same bits.
    """
    count = len(operands[0])
    size = triton.next_power_of_2(count)
    padded = [torch.cat([x, x[:1].expand(size - count)]).contiguous() for x in operands]
    padded = [x.view(UNSIGNED.get(kind, x.dtype)) for x, kind in zip_longest(padded, kinds)]
    out = torch.zeros(size, dtype=result)
    rest = [padded[0]] * (4 - len(padded))
    call_kernel[(1,)](module, name, *padded, *rest, out, len(padded), size)
    return out[:count]


def variants(module):
    """(function, operand types, symbol, result type) of all that the module maps to a symbol."""
    found = []
    for node in ast.parse(inspect.getsource(module)).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for table in (n for n in ast.walk(node) if isinstance(n, ast.Dict)):
            for key, value in zip(table.keys, table.values, strict=True):
                operands = [ast.unparse(e).split("'")[1] for e in key.elts]
                symbol, kind = (ast.unparse(e) for e in value.elts)
                kind = kind.split("'")[1] if "'" in kind else kind.removeprefix("core.")
                found.append((node.name, tuple(operands), symbol.strip("'"), kind))
    return found


CUDA = variants(cuda_libdevice)
HIP = variants(hip_libdevice)


def test_the_tables_are_found():
    assert len(CUDA) > 300
    assert len(HIP) > 90


@pytest.mark.slow
@pytest.mark.parametrize(("module", "table"), [("cuda", CUDA), ("hip", HIP)])
def test_every_variant_compiles(module, table):
    module = cuda_libdevice if module == "cuda" else hip_libdevice
    for name, operands, _, kind in table:
        values = [torch.tensor([1, 0, 3, 2], dtype=TYPES[o]) for o in operands]
        call(module, name, values, TYPES.get(kind, torch.int32), operands)


def test_it_is_what_kernels_get():
    @triton.jit
    def kernel(x, out):
        tl.store(out, libdevice.tgamma(tl.load(x)))
        tl.store(out + 1, tl.extra.libdevice.tgamma(tl.load(x + 1)))
        tl.store(out + 2, tl.extra.cuda.libdevice.tgamma(tl.load(x + 2)))

    x, out = torch.tensor([4.0, 5.0, 0.5]), torch.zeros(3)
    kernel[(1,)](x, out)
    torch.testing.assert_close(out, torch.tensor([6.0, 24.0, math.sqrt(math.pi)]))


def measured(name, dtype, seed=20261121):
    """The largest error in ulp, where it is, and how many values were tried."""
    entry = FLOAT_FUNCTIONS[name]
    np_type = np.float32 if dtype == torch.float32 else np.float64
    operands = entry.operands(np.random.default_rng(seed), np_type)
    tensors = [torch.from_numpy(x) for x in operands]
    got = call(cuda_libdevice, name, tensors, dtype).numpy()
    worst, where = 0.0, None
    for i, value in enumerate(got):
        arguments = [x[i] for x in operands]
        off = ulps_off(value, entry.exact, arguments, np_type)
        if off > worst:
            worst, where = off, arguments
    return worst, where, len(got)


FLOATS = [
    (name, dtype)
    for name in FLOAT_FUNCTIONS
    for dtype in (torch.float32, torch.float64)
    if any(v[0] == name and v[3] == ("fp32" if dtype == torch.float32 else "fp64") for v in CUDA)
]


@pytest.mark.parametrize(("name", "dtype"), FLOATS)
def test_accuracy(name, dtype):
    worst, where, _ = measured(name, dtype)
    limit = FLOAT_FUNCTIONS[name].limit[0 if dtype == torch.float32 else 1]
    assert worst <= limit, f"{worst:.2f} ulp at {where}"


ENDS = [  # function, argument, result
    ("erf", math.inf, 1.0),
    ("erfc", -math.inf, 2.0),
    ("erfcx", math.inf, 0.0),
    ("erfcx", -math.inf, math.inf),
    ("erfcx", -30.0, math.inf),
    ("normcdf", math.inf, 1.0),
    ("normcdf", -math.inf, 0.0),
    ("normcdf", 1e300, 1.0),
    ("cyl_bessel_i0", math.inf, math.inf),
    ("cyl_bessel_i1", -math.inf, -math.inf),
    ("j0", math.inf, 0.0),
    ("y0", 0.0, -math.inf),
    ("y1", -1.0, math.nan),
    ("tgamma", -math.inf, math.nan),
    ("tgamma", 0.0, math.inf),
    ("tgamma", -3.0, math.nan),
    ("lgamma", -math.inf, math.inf),
    ("lgamma", -2.0, math.inf),
    ("sinpi", math.inf, math.nan),
    ("sinpi", -3.0, -0.0),
    ("sinpi", 4.0, 0.0),
    ("sinpi", -0.0, -0.0),
    ("cospi", 1.5, 0.0),
    ("cospi", -0.5, 0.0),
    ("cospi", 1e15, 1.0),
    ("rcbrt", -0.0, -math.inf),
    ("erfinv", -0.0, -0.0),
    ("hypot", (math.inf, math.nan), math.inf),
    ("hypot", (math.nan, 1.0), math.nan),
    ("rhypot", (0.0, 0.0), math.inf),
    ("norm3d", (math.nan, -math.inf, 1.0), math.inf),
    ("norm4d", (0.0, -0.0, 0.0, 0.0), 0.0),
    ("remainder", (5.0, 0.0), math.nan),
    ("saturatef", math.nan, 0.0),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("name", "argument", "wanted"), ENDS)
def test_special_values(name, argument, wanted, dtype):
    if name == "saturatef" and dtype == torch.float64:
        pytest.skip("is of f32")
    arguments = argument if isinstance(argument, tuple) else (argument,)
    operands = [torch.tensor([x, x], dtype=dtype) for x in arguments]
    got = call(cuda_libdevice, name, operands, dtype).numpy()
    np.testing.assert_array_equal(got, np.full(2, wanted))
    if not math.isnan(wanted):
        assert np.signbit(got[0]) == (math.copysign(1, wanted) < 0)


# Arithmetic with directed rounding.


def neighbours(exact, np_type):
    """The floats next to an exact number, below and above (equal if it is one)."""
    largest = Fraction(float(np.finfo(np_type).max))
    inf = np_type(np.inf)
    if exact > largest:
        return np.finfo(np_type).max, inf
    if exact < -largest:
        return -inf, np.finfo(np_type).min
    near = np_type(float(exact))
    if not np.isfinite(near):
        near = np.finfo(np_type).max if near > 0 else np.finfo(np_type).min
    with np.errstate(all="ignore"):
        while Fraction(float(near)) > exact:
            near = np.nextafter(near, -inf)
        while Fraction(float(np.nextafter(near, inf))) <= exact and np.isfinite(
            np.nextafter(near, inf)
        ):
            near = np.nextafter(near, inf)
    if Fraction(float(near)) == exact:
        return near, near
    return near, np.nextafter(near, inf)


def is_directed(got, below, above, mode, exact):
    if mode == "rd":
        return got == below
    if mode == "ru":
        return got == above
    return got == (below if exact >= 0 else above)


def hard_numbers(rng, np_type, count):
    """Numbers of any size, denormal and large ones and short ones among them."""
    info = np.finfo(np_type)
    exponents = rng.integers(info.minexp - info.nmant, info.maxexp, count)
    x = np.ldexp(rng.uniform(1, 2, count), exponents).astype(np_type)
    x[::3] = rng.integers(-50, 50, len(x[::3])).astype(np_type)
    x[1::3] = rng.normal(0, 1, len(x[1::3])).astype(np_type)
    return x * rng.choice([-1, 1], count).astype(np_type)


EXACT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y if y else None,
    "rcp": lambda x: 1 / x if x else None,
    "fma": lambda x, y, z: x * y + z,
}


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize("operation", list(EXACT))
@pytest.mark.parametrize("np_type", [np.float32, np.float64])
def test_directed_arithmetic(operation, mode, np_type):
    rng = np.random.default_rng(7)
    arity = EXACT[operation].__code__.co_argcount
    operands = [hard_numbers(rng, np_type, 300) for _ in range(arity)]
    result = torch.float32 if np_type == np.float32 else torch.float64
    tensors = [torch.from_numpy(x) for x in operands]
    got = call(cuda_libdevice, f"{operation}_{mode}", tensors, result).numpy()
    for i, value in enumerate(got):
        arguments = [Fraction(float(x[i])) for x in operands]
        exact = EXACT[operation](*arguments)
        if exact is None:
            continue
        below, above = neighbours(exact, np_type)
        assert is_directed(value, below, above, mode, exact), (
            operation,
            mode,
            [x[i] for x in operands],
            value,
        )


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize("np_type", [np.float32, np.float64])
def test_directed_root(mode, np_type):
    x = np.abs(hard_numbers(np.random.default_rng(8), np_type, 300))
    result = torch.float32 if np_type == np.float32 else torch.float64
    got = call(cuda_libdevice, f"sqrt_{mode}", [torch.from_numpy(x)], result).numpy()
    for argument, root in zip(x, got, strict=True):
        exact, square = Fraction(float(argument)), Fraction(float(root)) ** 2
        if mode == "ru":
            before = Fraction(float(np.nextafter(root, np_type(0)))) ** 2
            assert square >= exact
            assert before < exact or root == 0
        else:
            after = Fraction(float(np.nextafter(root, np_type(np.inf)))) ** 2
            assert square <= exact < after


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize("source", ["double", "int", "uint", "ll", "ull"])
@pytest.mark.parametrize("target", ["float", "double"])
def test_directed_casts(source, target, mode):
    if target == "double" and source in ("double", "int", "uint"):
        pytest.skip("is exact")
    rng = np.random.default_rng(9)
    width = 64 if source in ("ll", "ull") else 32
    if source == "double":
        operand = hard_numbers(rng, np.float64, 300)
        operand[:50] = hard_numbers(rng, np.float32, 50).astype(np.float64) * 1.0000001
        exact = [Fraction(float(v)) for v in operand]
    else:
        operand = rng.integers(-(2 ** (width - 1)), 2 ** (width - 1), 300, dtype=np.int64)
        operand >>= rng.integers(0, width - 1, 300)
        operand[:3] = [0, -1, 1]
        exact = [Fraction(int(v) % 2**width if source.startswith("u") else int(v)) for v in operand]
        operand = operand.astype(np.int32 if width == 32 else np.int64)
    np_type = np.float32 if target == "float" else np.float64
    result = torch.float32 if target == "float" else torch.float64
    tensor = torch.from_numpy(operand)
    name = f"{source}2{target}_{mode}"
    kind = f"uint{width}" if source.startswith("u") else None
    got = call(cuda_libdevice, name, [tensor], result, [kind]).numpy()
    for value, number in zip(got, exact, strict=True):
        below, above = neighbours(number, np_type)
        assert is_directed(value, below, above, mode, number), (name, number, value)
        assert number != 0 or source == "double" or not np.signbit(value)


# Integers and bits.


def as_signed(value, width=32):
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value


def low24(value):
    return as_signed(value % (1 << 24), 24)


def permute(x, y, selector):
    both = (y % 2**32) << 32 | x % 2**32
    return sum(((both >> 8 * (selector >> 4 * i & 7)) & 0xFF) << 8 * i for i in range(4))


INTEGER_FUNCTIONS = {
    "clz": (1, lambda x: 32 - (x % 2**32).bit_length()),
    "popc": (1, lambda x: (x % 2**32).bit_count()),
    "ffs": (1, lambda x: (x & -x).bit_length()),
    "brev": (1, lambda x: int(f"{x % 2**32:032b}"[::-1], 2)),
    "abs": (1, abs),
    "byte_perm": (3, permute),
    "mulhi": (2, lambda x, y: x * y >> 32),
    "mul24": (2, lambda x, y: low24(x) * low24(y)),
    "sad": (3, lambda x, y, z: abs(x - y) + z),
    "hadd": (2, lambda x, y: (x + y) >> 1),
    "rhadd": (2, lambda x, y: (x + y + 1) >> 1),
}


@pytest.mark.parametrize("name", INTEGER_FUNCTIONS)
def test_integers(name):
    arity, exact = INTEGER_FUNCTIONS[name]
    rng = np.random.default_rng(3)
    operands = [rng.integers(-(2**31), 2**31, 500, dtype=np.int64) for _ in range(arity)]
    for x in operands:
        x[:100] >>= rng.integers(0, 32, 100)
        x[100:104] = [0, -1, -(2**31), 2**31 - 1]
    tensors = [torch.from_numpy(x).to(torch.int32) for x in operands]
    kinds = (None, None, "uint32") if name == "sad" else ()
    got = call(cuda_libdevice, name, tensors, torch.int32, kinds)
    for i, value in enumerate(got.tolist()):
        arguments = [int(x[i]) for x in operands]
        assert as_signed(value) == as_signed(exact(*arguments)), (name, arguments)


@pytest.mark.parametrize("name", ["clz", "popc", "ffs", "brev", "mulhi"])
def test_integers_of_64_bits(name):
    exact = {
        "clz": lambda x: 64 - (x % 2**64).bit_length(),
        "popc": lambda x: (x % 2**64).bit_count(),
        "ffs": lambda x: (x & -x).bit_length(),
        "brev": lambda x: int(f"{x % 2**64:064b}"[::-1], 2),
        "mulhi": lambda x, y: x * y >> 64,
    }[name]
    rng = np.random.default_rng(4)
    operands = [
        rng.integers(-(2**63), 2**63, 200, dtype=np.int64)
        for _ in range(exact.__code__.co_argcount)
    ]
    operands[0][:4] = [0, -1, -(2**63), 2**63 - 1]
    result = torch.int64 if name in ("brev", "mulhi") else torch.int32
    got = call(cuda_libdevice, name, [torch.from_numpy(x) for x in operands], result)
    for i, value in enumerate(got.tolist()):
        assert as_signed(value, 64) == as_signed(exact(*(int(x[i]) for x in operands)), 64)


SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    -5e-324,
    1e-310,
    1e38,
    2.0**-1022,
    math.inf,
    -math.inf,
    math.nan,
    0.1,
    -3.7,
]


@pytest.mark.parametrize("np_type", [np.float32, np.float64])
def test_parts_of_floats(np_type):
    tiny = 1e-45 if np_type == np.float32 else 5e-324
    x = np.array([*SPECIAL, tiny, -tiny, 1e-40, 3.0, -8.0], dtype=np_type)
    x = np.concatenate([x, hard_numbers(np.random.default_rng(5), np_type, 200)])
    dtype = torch.float32 if np_type == np.float32 else torch.float64
    tensor = torch.from_numpy(x)
    logb = call(cuda_libdevice, "logb", [tensor], dtype).numpy()
    ilogb = call(cuda_libdevice, "ilogb", [tensor], torch.int32).numpy()
    signs = call(cuda_libdevice, "signbit", [tensor], torch.int32).numpy()
    assert (signs != 0).tolist() == np.signbit(x).tolist()
    for value, real, integer in zip(x, logb, ilogb, strict=True):
        if np.isnan(value):
            assert np.isnan(real)
            assert integer == -(2**31)
        elif value == 0:
            assert real == -np.inf
            assert integer == -(2**31)
        elif np.isinf(value):
            assert real == np.inf
            assert integer == 2**31 - 1
        else:
            assert real == integer == math.frexp(float(value))[1] - 1


@pytest.mark.parametrize("np_type", [np.float32, np.float64])
def test_scaling(np_type):
    rng = np.random.default_rng(6)
    x = np.concatenate([np.array(SPECIAL, dtype=np_type), hard_numbers(rng, np_type, 2000)])
    n = rng.integers(-1200, 1200, len(x)).astype(np.int32)
    n[:40] = rng.choice([0, 1, -1, 2**31 - 1, -(2**31)], 40)
    dtype = torch.float32 if np_type == np.float32 else torch.float64
    for name in ("ldexp", "scalbn"):
        got = call(cuda_libdevice, name, [torch.from_numpy(x), torch.from_numpy(n)], dtype).numpy()
        with np.errstate(all="ignore"):
            expected = np.ldexp(x, np.clip(n, -5000, 5000))
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


@pytest.mark.parametrize("np_type", [np.float32, np.float64])
def test_next_after(np_type):
    rng = np.random.default_rng(6)
    x = np.concatenate(
        [np.repeat(np.array(SPECIAL, dtype=np_type), 14), hard_numbers(rng, np_type, 200)]
    )
    y = np.concatenate(
        [np.tile(np.array(SPECIAL, dtype=np_type), 14), hard_numbers(rng, np_type, 200)]
    )
    dtype = torch.float32 if np_type == np.float32 else torch.float64
    got = call(
        cuda_libdevice, "nextafter", [torch.from_numpy(x), torch.from_numpy(y)], dtype
    ).numpy()
    with np.errstate(all="ignore"):
        expected = np.nextafter(x, y)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(
        np.signbit(got)[~np.isnan(got)], np.signbit(expected)[~np.isnan(got)]
    )


def test_bits_of_doubles():
    x = torch.from_numpy(hard_numbers(np.random.default_rng(1), np.float64, 100))
    high = call(cuda_libdevice, "double2hiint", [x], torch.int32)
    low = call(cuda_libdevice, "double2loint", [x], torch.int32)
    for value, h, l in zip(x.tolist(), high.tolist(), low.tolist(), strict=True):  # noqa: E741
        assert struct.pack("<d", value) == struct.pack("<ii", l, h)
    assert call(cuda_libdevice, "hiloint2double", [high, low], torch.float64).tolist() == x.tolist()


def test_sums_are_not_fused():
    """add_rn and mul_rn round each, whatever is around them."""

    @triton.jit
    def kernel(x, y, z, out, N: tl.constexpr):
        at = tl.arange(0, N)
        product = libdevice.mul_rn(tl.load(x + at), tl.load(y + at))
        tl.store(out + at, libdevice.add_rn(product, tl.load(z + at)))

    x, y = torch.randn(256), torch.randn(256)
    z = -(x * y)
    out = torch.ones(256)
    kernel[(1,)](x, y, z, out, 256)
    assert torch.equal(out, torch.zeros(256))


if __name__ == "__main__":
    print("| function | f32 | f64 |\n|---|---|---|")
    for name in sorted({name for name, _ in FLOATS}):
        cells = [
            f"{measured(name, dtype)[0]:.2f}" if (name, dtype) in FLOATS else ""
            for dtype in (torch.float32, torch.float64)
        ]
        print(f"| `{name}` | {' | '.join(cells)} |")
