# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program three ways: NumPy, the reference evaluator, compiled code."""

from __future__ import annotations

import ctypes

import numpy as np
from dtypes import Dtype, decode, encode
from ir import Machine, Program
from native import Runtime, RuntimeFailure

GUARD = 256  # bytes beside an array, which nobody may write


class Buffer:
    """An array in memory with a guard on both sides."""

    def __init__(self, data: bytes, divisible: bool, element: int, before: int):
        """The pointer is `before` bytes behind the array's begin."""
        self.size = len(data)
        self.memory = np.full(self.size + 2 * GUARD + 64, 0x5A, np.uint8)
        address = self.memory.ctypes.data
        # The pointer is a multiple of 16 bytes, or of one element and nothing more.
        self.begin = GUARD + (-(address + GUARD + before)) % 16
        if not divisible:
            self.begin += element
        self.memory[self.begin : self.begin + self.size] = np.frombuffer(data, np.uint8)
        self.address = address + self.begin
        self.pointer = self.address + before

    def contents(self) -> np.ndarray:
        return self.memory[self.begin : self.begin + self.size].copy()

    def is_intact(self) -> bool:
        before, behind = self.memory[: self.begin], self.memory[self.begin + self.size :]
        return bool((before == 0x5A).all() and (behind == 0x5A).all())


def differences(x: np.ndarray, y: np.ndarray, dtype: Dtype, error: float) -> np.ndarray:
    """Where two arrays differ by more than is right."""
    if not dtype.is_float:
        return x != y
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if error:
        with np.errstate(all="ignore"):
            same |= np.abs(x - y) <= error
    return ~same


def _launch(program: Program, machine: Machine, launch) -> tuple[list[np.ndarray], list[int]]:
    """The arrays after a launch, and which were written beside."""
    buffers, arguments = [], []
    middle = Machine.SIZE // 2
    for i, (_, array) in enumerate(program.arrays):
        low, high = machine.low[i], machine.high[i]
        data = encode(machine.initial[i][middle + low : middle + high], array.dtype).tobytes()
        size = array.dtype.bytes
        buffers.append(Buffer(data, array.divisible, size, -low * size))
        arguments.append(("*" + array.dtype.triton, buffers[-1].pointer))
    for value, number in program.scalars:
        arguments.append((value.type.dtype.triton, number))
    launch(arguments, buffers)
    spoiled = [i for i, buffer in enumerate(buffers) if not buffer.is_intact()]
    return [buffer.contents() for buffer in buffers], spoiled


def check(program: Program, runtime: Runtime) -> str:
    """What is wrong with a program; "" where all three agree."""
    machine = Machine(program)
    machine.run()
    ttir = program.text().encode()
    results = {}
    for name in ("evaluator", "cpu"):

        def launch(arguments, buffers, name=name):
            if name == "cpu":
                runtime.run(ttir, program.grid, arguments)
            else:
                memory = [(buffer.address, buffer.size) for buffer in buffers]
                runtime.evaluate(ttir, program.grid, arguments, memory)

        try:
            results[name], spoiled = _launch(program, machine, launch)
        except RuntimeFailure as error:
            return f"{name}: {error}"
        if spoiled:
            return f"{name}: writes beside the array of argument {spoiled[0]}"
    middle = Machine.SIZE // 2
    for i, (_, array) in enumerate(program.arrays):
        values = {name: decode(raw[i], array.dtype) for name, raw in results.items()}
        values["NumPy"] = machine.memory[i][middle + machine.low[i] : middle + machine.high[i]]
        for name, other in (("evaluator", "cpu"), ("evaluator", "NumPy")):
            wrong = differences(values[name], values[other], array.dtype, array.error)
            if wrong.any():
                at = int(np.argmax(wrong))
                return (
                    f"argument {i} ({array.dtype.name}): {int(wrong.sum())} of {wrong.size} elements"
                    f" differ by more than {array.error:.3g}, first {at + machine.low[i]}:"
                    f" {name} {values[name][at]!r}, {other} {values[other][at]!r}"
                )
    return ""


__all__ = ["Buffer", "check", "ctypes", "differences"]
