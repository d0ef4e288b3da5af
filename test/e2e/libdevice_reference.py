# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What functions of floats give, to 40 digits, and where they are tried."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
from mpmath import mp, mpf

mp.dps = 40

COUNT = 500


@dataclass
class Entry:
    """`limit`: the largest error allowed, in ulp, of f32 and f64."""

    exact: Callable
    operands: Callable
    limit: tuple[float, float] = (2.0, 4.0)


def ulps_off(got, exact, arguments, np_type) -> float:
    """How far a result is from the exact one, in units of its last place."""
    with mp.workdps(40):
        expected = exact(
            *(int(a) if isinstance(a, np.integer) else mpf(float(a)) for a in arguments)
        )
    info = np.finfo(np_type)
    if mpmath.isnan(expected):
        return 0.0 if np.isnan(got) else math.inf
    if np.isnan(got):
        return math.inf
    largest = mpf(float(info.max))
    if abs(expected) > largest:
        beyond = np.isinf(got) and (got > 0) == (expected > 0)
        almost = not mpmath.isinf(expected) and abs(got) == info.max and expected * got > 0
        return 0.0 if beyond or almost else math.inf
    if np.isinf(got):
        return math.inf if abs(expected) < largest * (1 - mpf(2) ** -20) else 1.0
    if expected == 0:
        return 0.0 if got == 0 else math.inf
    exponent = max(mpmath.mag(expected) - 1, info.minexp)
    return float(abs(mpf(float(got)) - expected) / mpf(2) ** (exponent - info.nmant))


def spread(low, high, special=()):
    """Numbers between bounds, evenly spread, and near zero as well."""

    def make(rng, np_type):
        x = rng.uniform(low, high, COUNT)
        x[::4] = np.clip(x[::4] * 10.0 ** rng.uniform(-12, 0, len(x[::4])), low, high)
        return [np.concatenate([np.array(special), x]).astype(np_type)]

    return make


def powers(low, high, special=()):
    """Positive numbers of any size between powers of two."""

    def make(rng, np_type):
        x = np.exp2(rng.uniform(low, high, COUNT))
        return [np.concatenate([np.array(special), x]).astype(np_type)]

    return make


def several(*makers):
    def make(rng, np_type):
        columns = [maker(rng, np_type)[0] for maker in makers]
        shortest = min(map(len, columns))
        return [rng.permutation(column)[:shortest] for column in columns]

    return make


def whole(low, high):
    return lambda rng, np_type: [rng.integers(low, high, COUNT).astype(np.int32)]


def lengths(arity):
    return several(*(spread(-100, 100) for _ in range(arity)))


def orders(low, high):
    def make(rng, np_type):
        return [
            rng.integers(-4, 12, COUNT).astype(np.int32),
            rng.uniform(low, high, COUNT).astype(np_type),
        ]

    return make


INF, NAN = math.inf, math.nan


def reciprocal(function):
    return lambda *x: 1 / function(*x)


def norm(*x):
    return mpmath.sqrt(sum(v * v for v in x))


def inverse_erfc(p):
    if not 0 <= p <= 2:
        return mpmath.nan
    if p in (0, 2):
        return mpmath.inf if p == 0 else -mpmath.inf
    if p > 1:
        return -inverse_erfc(2 - p)
    with mp.workdps(60 + (0 if p > 1e-30 else int(-mpmath.log10(p)) // 4)):
        if p > 1e-15:
            y = mpmath.erfinv(1 - p)
        else:
            y = mpmath.sqrt(-mpmath.log(p * mpmath.sqrt(-mpmath.log(p) * mpmath.pi)))
        for _ in range(12):
            scaled = mpmath.exp(y * y) * mpmath.erfc(y)
            y -= (y * y + mpmath.log(p) - mpmath.log(scaled)) * scaled * mpmath.sqrt(mpmath.pi) / 2
        return y


def inverse_erf(x):
    if not abs(x) < 1:
        return mpmath.sign(x) * mpmath.inf if abs(x) == 1 else mpmath.nan
    if abs(x) < mpf(10) ** -12:
        return x * mpmath.sqrt(mpmath.pi) / 2 * (1 + mpmath.pi * x * x / 12)
    return mpmath.sign(x) * inverse_erfc(1 - abs(x)) if abs(x) > 0.4 else mpmath.erfinv(x)


def scaled_erfc(x):
    return mpmath.exp(x * x) * mpmath.erfc(x)


def with_poles(function):
    """Infinity where the function has a pole at zero or below, NaN below where it is not real."""

    def exact(x):
        if x == 0:
            return -mpmath.inf
        return mpmath.nan if x < 0 else function(x)

    return exact


def neumann(n, x):
    return mpmath.bessely(n, x)


FLOAT_FUNCTIONS = {
    "sin": Entry(mpmath.sin, spread(-100, 100)),
    "cos": Entry(mpmath.cos, spread(-100, 100)),
    "tan": Entry(mpmath.tan, spread(-100, 100), (4.0, 4.0)),
    "sinpi": Entry(lambda x: mpmath.sinpi(x), spread(-100, 100, (0.0, 1.0, -2.0, 0.5, 1e9))),
    "cospi": Entry(lambda x: mpmath.cospi(x), spread(-100, 100, (0.0, 1.0, -2.0, 0.5, 1e9))),
    "asin": Entry(mpmath.asin, spread(-1, 1, (-1.0, 1.0)), (4.0, 4.0)),
    "acos": Entry(mpmath.acos, spread(-1, 1, (-1.0, 1.0)), (4.0, 4.0)),
    "atan": Entry(mpmath.atan, spread(-50, 50, (INF, -INF)), (4.0, 4.0)),
    "atan2": Entry(mpmath.atan2, lengths(2), (4.0, 4.0)),
    "sinh": Entry(mpmath.sinh, spread(-80, 80), (4.0, 4.0)),
    "cosh": Entry(mpmath.cosh, spread(-80, 80), (4.0, 4.0)),
    "tanh": Entry(mpmath.tanh, spread(-20, 20), (4.0, 4.0)),
    "asinh": Entry(mpmath.asinh, spread(-1000, 1000), (4.0, 4.0)),
    "acosh": Entry(mpmath.acosh, spread(1, 1000, (1.0,)), (4.0, 4.0)),
    "atanh": Entry(mpmath.atanh, spread(-0.9999, 0.9999), (4.0, 4.0)),
    "exp": Entry(mpmath.exp, spread(-86, 88), (2.0, 4.0)),
    "exp2": Entry(lambda x: mpf(2) ** x, spread(-120, 127), (2.0, 4.0)),
    "exp10": Entry(lambda x: mpf(10) ** x, spread(-37, 38), (4.0, 4.0)),
    "expm1": Entry(mpmath.expm1, spread(-30, 80), (4.0, 4.0)),
    "log": Entry(mpmath.log, powers(-120, 120), (2.0, 4.0)),
    "log2": Entry(lambda x: mpmath.log(x, 2), powers(-120, 120), (2.0, 4.0)),
    "log10": Entry(mpmath.log10, powers(-120, 120), (4.0, 4.0)),
    "log1p": Entry(mpmath.log1p, spread(-0.9999, 1000), (4.0, 4.0)),
    "cbrt": Entry(lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), spread(-1000, 1000), (4.0, 4.0)),
    "rcbrt": Entry(lambda x: 1 / mpmath.cbrt(x), powers(-120, 120), (1.0, 4.0)),
    "sqrt": Entry(mpmath.sqrt, powers(-120, 120), (0.5, 0.5)),
    "rsqrt": Entry(reciprocal(mpmath.sqrt), powers(-120, 120), (1.5, 1.5)),
    "rsqrt_rn": Entry(reciprocal(mpmath.sqrt), powers(-120, 120), (0.5, 0.5)),
    "pow": Entry(lambda x, y: x**y, several(powers(-5, 5), spread(-20, 20)), (4.0, 4.0)),
    "powi": Entry(lambda x, n: x**n, several(spread(-5, 5), whole(-9, 20)), (1.0, 4.0)),
    "erf": Entry(mpmath.erf, spread(-4, 4, (INF, -INF, NAN)), (4.0, 4.0)),
    "erfc": Entry(mpmath.erfc, spread(-4, 9), (4.0, 4.0)),
    "erfcx": Entry(scaled_erfc, spread(-5, 60, (12.0, 12.000001, 1e30)), (1.0, 4.0)),
    "erfinv": Entry(
        inverse_erf, spread(-1, 1, (0.0, 0.5, -0.5, 1.0, -1.0, 0.99999, 2.0, NAN)), (1.0, 4.0)
    ),
    "erfcinv": Entry(
        inverse_erfc,
        several(spread(0, 2, (0.0, 2.0, 1.0, 0.5, 1.5, 1e-30, 1e-37, 2.5, NAN))),
        (1.0, 4.0),
    ),
    "normcdf": Entry(mpmath.ncdf, spread(-12, 8), (1.0, 5.0)),
    "normcdfinv": Entry(
        lambda p: -mpmath.sqrt(2) * inverse_erfc(2 * p),
        spread(0, 1, (0.0, 1.0, 0.5, 1e-30)),
        (1.0, 5.0),
    ),
    "tgamma": Entry(mpmath.gamma, spread(-5.9, 33, (0.5, 1.0, 5.0)), (1.0, 10.0)),
    "lgamma": Entry(
        lambda x: mpmath.log(abs(mpmath.gamma(x))), spread(0, 100, (0.5, 3.0)), (1.0, 10.0)
    ),
    "j0": Entry(lambda x: mpmath.besselj(0, x), spread(-2.3, 2.3, (0.0,)), (1.0, 10.0)),
    "j1": Entry(lambda x: mpmath.besselj(1, x), spread(-3.5, 3.5, (0.0,)), (1.0, 10.0)),
    "y0": Entry(with_poles(lambda x: neumann(0, x)), spread(1, 3.8, (0.0, -1.0)), (1.0, 20.0)),
    "y1": Entry(with_poles(lambda x: neumann(1, x)), spread(0.1, 2.1, (0.0, -1.0)), (1.0, 20.0)),
    "jn": Entry(lambda n, x: mpmath.besselj(n, x), orders(0.5, 2), (1.0, 40.0)),
    "yn": Entry(lambda n, x: neumann(n, x), orders(0.1, 0.8), (1.0, 40.0)),
    "cyl_bessel_i0": Entry(
        lambda x: mpmath.besseli(0, x), spread(-85, 85, (0.0, 20.0, 20.00001)), (1.0, 6.0)
    ),
    "cyl_bessel_i1": Entry(
        lambda x: mpmath.besseli(1, x), spread(-85, 85, (0.0, 20.0, 20.00001)), (1.0, 6.0)
    ),
    "hypot": Entry(norm, lengths(2), (1.0, 2.0)),
    "norm3d": Entry(norm, lengths(3), (1.0, 3.0)),
    "norm4d": Entry(norm, lengths(4), (1.0, 4.0)),
    "rhypot": Entry(reciprocal(norm), lengths(2), (1.0, 3.0)),
    "rnorm3d": Entry(reciprocal(norm), lengths(3), (1.0, 4.0)),
    "rnorm4d": Entry(reciprocal(norm), lengths(4), (1.0, 5.0)),
    "fma": Entry(lambda x, y, z: x * y + z, lengths(3), (0.5, 0.5)),
    "fdim": Entry(lambda x, y: max(x - y, mpf(0)), lengths(2), (0.5, 0.5)),
    "fmod": Entry(lambda x, y: mpmath.sign(x) * (abs(x) % abs(y)), lengths(2), (0.0, 0.0)),
    "remainder": Entry(lambda x, y: x - y * mpmath.nint(x / y), lengths(2), (0.0, 0.0)),
    "fast_expf": Entry(mpmath.exp, spread(-80, 80)),
    "fast_logf": Entry(mpmath.log, powers(-120, 120)),
    "fast_sinf": Entry(mpmath.sin, spread(-3, 3)),
    "fast_cosf": Entry(mpmath.cos, spread(-3, 3)),
    "fast_tanf": Entry(mpmath.tan, spread(-1.5, 1.5), (4.0, 4.0)),
    "fast_powf": Entry(lambda x, y: x**y, several(powers(-5, 5), spread(-5, 5)), (4.0, 4.0)),
    "fast_dividef": Entry(lambda x, y: x / y, several(spread(-9, 9), powers(-9, 9)), (0.5, 0.5)),
}
