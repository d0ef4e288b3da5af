# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types as NumPy computes with them.

An integer is an intN, a boolean a bool_. A float of any type is a float64 that the type can hold: what is
computed in double and rounded once is right for every type of at most 24 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Dtype:
    """One element type."""

    name: str  # as TTIR writes it
    triton: str  # as signatures write it
    bits: int
    precision: int = 0  # of a float: bits of the significand, the hidden one included
    max_exponent: int = 0
    has_infinity: bool = True

    @property
    def is_float(self) -> bool:
        return self.precision > 0

    @property
    def is_small_float(self) -> bool:
        return self.is_float and self.bits == 8

    @property
    def bytes(self) -> int:
        return max(1, self.bits // 8)

    @property
    def numpy(self) -> np.dtype:
        if self.is_float:
            return np.dtype(np.float64)
        return np.dtype(np.bool_) if self.bits == 1 else np.dtype(f"int{self.bits}")

    @property
    def epsilon(self) -> float:
        return 2.0 ** (1 - self.precision)

    @property
    def largest(self) -> float:
        if self.name == "f8E4M3FN":
            return 448.0
        return (2.0 - self.epsilon) * 2.0**self.max_exponent

    @property
    def exact_integers(self) -> int:
        """Sums of integers up to this are exact, in any order."""
        return 2**self.precision


I1 = Dtype("i1", "i1", 1)
I8 = Dtype("i8", "i8", 8)
I16 = Dtype("i16", "i16", 16)
I32 = Dtype("i32", "i32", 32)
I64 = Dtype("i64", "i64", 64)
F8E5 = Dtype("f8E5M2", "fp8e5", 8, 3, 15)
F8E4 = Dtype("f8E4M3FN", "fp8e4nv", 8, 4, 8, has_infinity=False)
F16 = Dtype("f16", "fp16", 16, 11, 15)
BF16 = Dtype("bf16", "bf16", 16, 8, 127)
F32 = Dtype("f32", "fp32", 32, 24, 127)
F64 = Dtype("f64", "fp64", 64, 53, 1023)

INTEGERS = [I8, I16, I32, I64]
FLOATS = [F16, BF16, F32, F64]
SMALL_FLOATS = [F8E5, F8E4]
BY_NAME = {d.name: d for d in [I1, *INTEGERS, *SMALL_FLOATS, *FLOATS]}


def round_to(values, dtype: Dtype, *, toward_zero=False, saturate=False) -> np.ndarray:
    """float64 to what the type can hold, to the nearest even one."""
    values = np.asarray(values, np.float64)
    if dtype.name == "f64":
        return values
    smallest = 1 - dtype.max_exponent if dtype.has_infinity else -6
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(values)
        quantum = np.ldexp(1.0, np.maximum(exponent - 1, smallest) - dtype.precision + 1)
        scaled = values / quantum
        rounded = (np.trunc(scaled) if toward_zero else np.rint(scaled)) * quantum
    finite = np.isfinite(values)
    over = finite & (np.abs(rounded) > dtype.largest)
    limit = np.copysign(dtype.largest, values)
    beyond = limit if saturate or toward_zero else np.copysign(np.inf, values)
    rounded = np.where(over, beyond, np.where(finite, rounded, values))
    if saturate:
        rounded = np.where(np.isinf(values), limit, rounded)
    return np.where(np.isnan(values), np.nan, np.copysign(rounded, values))


def _small_float_table(dtype: Dtype) -> np.ndarray:
    bits = np.arange(256)
    fraction_bits = dtype.precision - 1
    exponent = (bits >> fraction_bits) & ((1 << (7 - fraction_bits)) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    bias = 15 if dtype.name == "f8E5M2" else 7
    normal = np.ldexp(1 + fraction / 2.0**fraction_bits, exponent - bias)
    subnormal = np.ldexp(fraction / 2.0**fraction_bits, 1 - bias)
    values = np.where(exponent == 0, subnormal, normal)
    if dtype.has_infinity:
        values = np.where(exponent == 31, np.where(fraction == 0, np.inf, np.nan), values)
    else:
        values = np.where((bits & 127) == 127, np.nan, values)
    return np.where(bits & 128, -values, values)


_TABLES = {d.name: _small_float_table(d) for d in SMALL_FLOATS}


def decode(raw: np.ndarray, dtype: Dtype) -> np.ndarray:
    """Bytes in memory to values."""
    raw = np.ascontiguousarray(raw)
    if dtype.is_small_float:
        return _TABLES[dtype.name][raw.view(np.uint8)]
    if dtype.name == "bf16":
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype.is_float:
        return raw.view(f"float{dtype.bits}").astype(np.float64)
    if dtype.bits == 1:
        return raw.view(np.uint8) != 0
    return raw.view(dtype.numpy).copy()


def encode(values: np.ndarray, dtype: Dtype) -> np.ndarray:
    """Values that the type can hold to bytes in memory."""
    values = np.ascontiguousarray(values)
    if dtype.is_small_float:
        table = _TABLES[dtype.name]
        order = np.argsort(np.where(np.isnan(table[:128]), np.inf, table[:128]), kind="stable")
        found = order[np.searchsorted(table[:128][order], np.abs(values)) % 128]
        found = np.where(np.isnan(values), 127, found)
        return (found | np.where(np.signbit(values), 128, 0)).astype(np.uint8)
    with np.errstate(all="ignore"):
        if dtype.name == "bf16":
            single = values.astype(np.float32).view(np.uint32)
            quiet = np.where(np.isnan(values), 0x7FC0, single >> 16)
            return quiet.astype(np.uint16).view(np.uint8)
        if dtype.is_float:
            return values.astype(f"float{dtype.bits}").view(np.uint8)
    return values.astype(np.uint8 if dtype.bits == 1 else dtype.numpy).view(np.uint8)


def sample(rng: np.random.Generator, dtype: Dtype, flavor: str, count: int) -> np.ndarray:
    """Data: `small` integers, `normal` numbers, or any `special` ones."""
    if dtype.bits == 1:
        return rng.random(count) < 0.5
    if not dtype.is_float:
        low, high = np.iinfo(dtype.numpy).min, np.iinfo(dtype.numpy).max
        if flavor == "small":
            return rng.integers(-4, 5, count).astype(dtype.numpy)
        values = rng.integers(low, high, count, dtype=dtype.numpy, endpoint=True)
        edges = np.array([low, high, 0, -1, 1, low + 1], dtype.numpy)
        return np.where(rng.random(count) < 0.2, rng.choice(edges, count), values)
    if flavor == "small":
        return rng.integers(-4, 5, count).astype(np.float64)
    values = np.clip(rng.standard_normal(count), -4, 4)
    if flavor == "special":
        values = np.ldexp(values, rng.integers(-dtype.max_exponent, dtype.max_exponent, count))
        edges = [0.0, -0.0, np.nan, 1.0, -1.0, 0.5, dtype.largest, -dtype.largest, 2.0**-14]
        edges += [np.inf, -np.inf] if dtype.has_infinity else []
        edges += [2.0 ** (2 - dtype.max_exponent - dtype.precision)]
        values = np.where(rng.random(count) < 0.3, rng.choice(np.array(edges), count), values)
    return round_to(values, dtype, saturate=dtype.is_small_float)
