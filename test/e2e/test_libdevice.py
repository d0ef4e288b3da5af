# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every function of tl.extra.libdevice, against mpmath and exact arithmetic.

`python test_libdevice.py` prints the table of docs/libdevice.md.
"""

import ast
import inspect
import math

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from libdevice_reference import FLOAT_FUNCTIONS, ulps_off
from libdevice_support import call
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


if __name__ == "__main__":
    print("| function | f32 | f64 |\n|---|---|---|")
    for name in sorted({name for name, _ in FLOATS}):
        cells = [
            f"{measured(name, dtype)[0]:.2f}" if (name, dtype) in FLOATS else ""
            for dtype in (torch.float32, torch.float64)
        ]
        print(f"| `{name}` | {' | '.join(cells)} |")
