# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random straight-line kernels whose arguments are parts of one memory, anywhere in it: a load sees what was
stored before it, by whatever argument, and nothing that is stored after it. NumPy does the same in order.

Numbers are integers below 2^24 in f32: all sums are exact."""

import importlib.util
import random

import numpy as np
import pytest
import tilebridge
import torch

pytestmark = pytest.mark.compiled("the evaluator runs one access after the other anyway")

HEAD = """import numpy as np
import triton
import triton.language as tl


@triton.jit
def kernel({arguments}, n, B: tl.constexpr):
    at = tl.arange(0, B)
{kernel}


def model({arguments}, n, B):
    at = np.arange(B)
{model}
"""
# What is loaded or stored: all, the first n, or two thirds.
MASKS = {"all": ("", "at >= 0"), "first": ("at < n", "at < n"), "some": ("at % 3 != 1",) * 2}


class Program:
    """One kernel, as Triton and as NumPy would have it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        choice = self.random.choice
        self.block = choice([16, 64, 128, 256])
        self.first = choice([self.block, self.block - 1, self.block // 2 + 3, 5])
        self.arguments = self.random.randint(2, 5)
        self.blocks, self.scalars = [], []
        self.lines = []
        self.load()
        for _ in range(self.random.randint(4, 12)):
            self.random.choices([self.load, self.combine, self.reduce, self.store], [2, 3, 3, 4])[
                0
            ]()
        for _ in range(2):
            self.combine()
            self.store()

    def add(self, kernel, model):
        self.lines.append((kernel, model))

    def block_name(self):
        self.blocks.append(f"v{len(self.blocks)}")
        return self.blocks[-1]

    def place(self, offsets):
        return self.random.randrange(self.arguments), self.random.choice(offsets)

    def load(self):
        (p, offset), other = self.place([0, 0, 3, self.block // 2]), self.random.choice([0.0, 2.0])
        mask, inside = MASKS[self.random.choice(list(MASKS))]
        masked = f", mask={mask}, other={other}" if mask else ""
        name = self.block_name()
        self.add(
            f"{name} = tl.load(p{p} + {offset} + at{masked})",
            f"{name} = np.where({inside}, p{p}[{offset}:{offset} + B], np.float32({other}))",
        )

    def combine(self):
        one = self.random.choice(self.blocks)
        other = self.random.choice([*self.blocks, *self.scalars, "1.0"])
        sign = self.random.choice("+-")
        name = self.block_name()
        self.add(
            f"{name} = tl.clamp({one} {sign} {other}, -1000.0, 1000.0)",
            f"{name} = np.clip({one} {sign} {other}, -1000, 1000).astype(np.float32)",
        )

    def reduce(self):
        block, kind = self.random.choice(self.blocks), self.random.choice(["sum", "max"])
        name = f"s{len(self.scalars)}"
        self.scalars.append(name)
        self.add(
            f"{name} = tl.clamp(tl.{kind}({block}, axis=0), -500.0, 500.0)",
            f"{name} = np.float32(np.clip({block}.{kind}(), -500, 500))",
        )

    def store(self):
        if self.scalars and self.random.random() < 0.5:
            p, offset = self.place([0, 1, 7, self.block // 2])
            value = self.random.choice(self.scalars)
            self.add(f"tl.store(p{p} + {offset}, {value})", f"p{p}[{offset}] = {value}")
            return
        p, offset = self.place([0, 0, 2])
        value = self.random.choice(self.blocks)
        mask, inside = MASKS[self.random.choice(list(MASKS))]
        masked = f", mask={mask}" if mask else ""
        kernel = model = value
        if self.random.random() < 0.2:
            kernel = f"tl.clamp(tl.cumsum({value}, axis=0), -1000.0, 1000.0)"
            model = f"np.clip(np.cumsum({value}), -1000, 1000).astype(np.float32)"
        self.add(
            f"tl.store(p{p} + {offset} + at, {kernel}{masked})",
            f"p{p}[{offset}:{offset} + B][{inside}] = {model}[{inside}]",
        )

    def text(self):
        indent = "    "
        loop = [f"{indent}for _ in range(2):"] if self.random.random() < 0.2 else []
        inner = indent * (1 + len(loop))
        kernel, model = (
            "\n".join([*loop, *(inner + line[i] for line in self.lines)]) for i in (0, 1)
        )
        arguments = ", ".join(f"p{i}" for i in range(self.arguments))
        return HEAD.format(arguments=arguments, kernel=kernel, model=model)

    def places(self, kind):
        """Where the arguments begin: mostly apart, or anywhere near each other, or at the edges of each other."""
        near = [-1, 0, 0, 1, 4, self.block - 1, self.block, -self.block]
        ways = {
            "apart": lambda: 600 * self.random.randrange(6) + self.random.randrange(3),
            "near": lambda: 1000 + self.random.randrange(-self.block, self.block),
            "edges": lambda: 1000 + self.random.choice(near),
        }
        return [400 + ways[kind]() for _ in range(self.arguments)]


@pytest.mark.parametrize("part", range(4))
def test_arguments_that_overlap(part, tmp_path):
    guarded = 0
    for seed in range(12 * part, 12 * part + 12):
        program = Program(seed)
        path = tmp_path / f"program_{seed}.py"
        path.write_text(program.text())
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for trial, kind in enumerate(["apart", "near", "edges"] * 3):
            numbers = np.random.RandomState(20 * seed + trial).randint(-9, 10, 6000)
            memory = torch.from_numpy(numbers.astype(np.float32))
            expected = memory.numpy().copy()
            places = program.places(kind)
            kernel = module.kernel[(1,)](
                *(memory[at:] for at in places), program.first, B=program.block
            )
            module.model(*(expected[at:] for at in places), program.first, program.block)
            wrong = np.flatnonzero(memory.numpy() != expected)
            assert wrong.size == 0, f"at {wrong[:8]}, arguments at {places}\n{path.read_text()}"
        guarded += any("used again" in d["text"] for d in tilebridge.explain(kernel)["decisions"])
    assert guarded > 0, "no program has a load that is guarded"
