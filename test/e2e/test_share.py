# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which cases scripts/test.sh leaves out (`leave_out` in conftest.py)."""

import math
from dataclasses import dataclass

import pytest
from conftest import leave_out


@dataclass(frozen=True)
class Item:
    nodeid: str
    mark: str = ""

    def get_closest_marker(self, name):
        return self.mark == name


def items_of(function: str, count: int, mark: str = "") -> list:
    return [Item(f"test_x.py::{function}[{i}-f32]", mark) for i in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 16, 17, 19, 20, 300])
@pytest.mark.parametrize(("least", "share"), [(2, 8), (16, 3), (2, 1)])
def test_so_many_are_left(count, least, share):
    items = items_of("test_many", count)
    out = leave_out(items, share, least)
    left = min(count, least + math.ceil(max(0, count - least) / share))
    assert len(items) == left
    assert len(out) == count - left
    assert set(items) | set(out) == set(items_of("test_many", count))


def test_each_function_counts_for_itself():
    items = [*items_of("test_one", 10), Item("test_x.py::test_alone"), *items_of("test_other", 40)]
    leave_out(items, 4, 2)
    names = [item.nodeid.partition("[")[0].partition("::")[2] for item in items]
    assert [names.count(name) for name in ("test_one", "test_alone", "test_other")] == [4, 1, 12]


def test_what_is_whole_stays():
    items = items_of("test_all", 40, "whole")
    assert not leave_out(items, 4, 2)
    assert len(items) == 40
