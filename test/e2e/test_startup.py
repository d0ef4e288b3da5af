# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton's key of its own files, kept from one process to the next."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tilebridge.triton_backend import startup

pytestmark = pytest.mark.compiled("is about the plugin")


class Counted:
    """A key that is computed from what is in a folder, and how often that was done."""

    def __init__(self, folder):
        self.folder, self.calls = folder, 0

    def __call__(self) -> str:
        self.calls += 1
        return f"key-{self.calls}"

    def asked(self) -> str:
        return startup.remembered(self, str(self.folder))


@pytest.fixture
def triton_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEBRIDGE_CACHE_DIR", str(tmp_path / "cache" / "deep"))
    for part in ("compiler", "language/extra", "runtime", "_C"):
        (tmp_path / "triton" / part).mkdir(parents=True)
        (tmp_path / "triton" / part / "a.py").write_text("x = 1\n")
    return tmp_path / "triton"


def change_text(folder):
    (folder / "language" / "extra" / "a.py").write_text("x = 2\n")


def change_time(folder):
    os.utime(folder / "_C" / "a.py", ns=(1, 1))


def add_file(folder):
    (folder / "compiler" / "b.py").write_text("")


def take_file(folder):
    (folder / "compiler" / "a.py").unlink()


def link_backend(folder):
    (folder.parent / "mine").mkdir()
    (folder.parent / "mine" / "c.py").write_text("")
    (folder / "backends").mkdir()
    (folder / "backends" / "mine").symlink_to(folder.parent / "mine")


@pytest.mark.parametrize("change", [change_text, change_time, add_file, take_file, link_backend])
def test_the_key_is_computed_again_where_a_file_changed(change, triton_folder):
    key = Counted(triton_folder)
    assert [key.asked(), key.asked(), key.asked()] == ["key-1"] * 3
    assert key.calls == 1
    change(triton_folder)
    assert [key.asked(), key.asked()] == ["key-2"] * 2


def test_files_that_python_makes_do_not_matter(triton_folder):
    key = Counted(triton_folder)
    key.asked()
    (triton_folder / "compiler" / "__pycache__").mkdir()
    (triton_folder / "compiler" / "__pycache__" / "a.pyc").write_text("")
    assert key.asked() == "key-1"


@pytest.mark.parametrize("damage", ["", "key-9", "key-9\nanother", "\n"])
def test_a_damaged_entry_is_replaced(damage, triton_folder):
    key = Counted(triton_folder)
    key.asked()
    (entry,) = (triton_folder.parent / "cache" / "deep").iterdir()
    entry.write_text(damage)
    assert [key.asked(), key.asked()] == ["key-2"] * 2


def test_without_a_folder_to_keep_it_in(triton_folder, monkeypatch):
    key = Counted(triton_folder)
    monkeypatch.setenv("TILEBRIDGE_CACHE_DIR", "")
    assert [key.asked(), key.asked()] == ["key-1", "key-2"]
    # A file is in the folder's place.
    (triton_folder.parent / "cache").write_text("")
    monkeypatch.setenv("TILEBRIDGE_CACHE_DIR", str(triton_folder.parent / "cache"))
    assert [key.asked(), key.asked()] == ["key-3", "key-4"]
    monkeypatch.delenv("TILEBRIDGE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(triton_folder.parent / "home"))
    assert startup.cache_folder() == str(triton_folder.parent / "home" / ".cache" / "tilebridge")
    monkeypatch.setenv("XDG_CACHE_HOME", "/there")
    assert startup.cache_folder() == "/there/tilebridge"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    assert startup.cache_folder() == ""


TELL = """
import triton
from triton.runtime import cache, driver
own = cache.triton_key
driver.active.get_current_target()
driver.active.get_current_target()
hashed = []
import hashlib
plain = hashlib.sha256
hashlib.sha256 = lambda *given: (hashed.append(1), plain(*given))[1]
key = cache.triton_key()
print(len(hashed), key == own.__wrapped__(), key == cache.triton_key(), cache.triton_key is not own)
"""


def test_the_key_is_tritons(tmp_path):
    def tell() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", TELL],
            env={**os.environ, "TILEBRIDGE_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return done.stdout.split()

    first, second = tell(), tell()
    assert first[1:] == second[1:] == ["True"] * 3
    assert int(first[0]) > int(second[0]) == 1


def test_a_function_that_is_not_tritons_stays(monkeypatch):
    from triton.runtime import cache

    def mine():
        return "mine"

    monkeypatch.setattr(cache, "triton_key", mine)
    startup.install()
    assert cache.triton_key is mine
