# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which of Triton's test files a run takes, and a copy of them that the wheel's own Triton can be tested with."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from triton_suite.expectations import ListError


@dataclass
class Suite:
    name: str
    triton: str
    sources: str
    files: list[str]
    left_out: dict[str, str]
    # The files that take longest: they go first, so that no worker is left alone with one of them at the end.
    longest: list[str] = field(default_factory=list)


def load(path: Path, name: str) -> Suite:
    with path.open("rb") as file:
        document = tomllib.load(file)
    if name not in document:
        raise ListError(f"{path.name} has no suite '{name}'; it has {', '.join(document)}")
    section = document[name]
    return Suite(
        name,
        section["triton"],
        section["sources"],
        section["files"],
        section.get("left_out", {}),
        section.get("longest", []),
    )


def python_folder(checkout: Path) -> Path:
    for folder in (checkout / "python", checkout):
        if (folder / "test/unit/language").is_dir():
            return folder
    raise ListError(
        f"{checkout} is not a checkout of Triton's sources: python/test/unit/language is not there"
    )


def stage(checkout: Path, target: Path) -> Path:
    """Copies the tests, unchanged. In the checkout itself python/triton would be imported in place of the wheel's."""
    folder = python_folder(checkout)
    (target / "python").mkdir(parents=True)
    for name in ("test", "tutorials"):
        if (folder / name).is_dir():
            shutil.copytree(
                folder / name,
                target / "python" / name,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
    if (folder / "conftest.py").exists():
        shutil.copy(folder / "conftest.py", target / "python/conftest.py")
    settings = folder.parent / "pytest.ini"
    if settings.exists():
        shutil.copy(settings, target / "pytest.ini")
    else:
        (target / "pytest.ini").write_text("[pytest]\n")
    return target


def revision(checkout: Path) -> str | None:
    """The commit of a checkout that git knows, for the page."""
    if not (python_folder(checkout).parent / ".git").exists():
        return None
    done = subprocess.run(
        ["git", "-C", str(checkout), "log", "-1", "--format=%h of %cs"],
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() or None


def select(suite: Suite, tree: Path, wanted: list[str]) -> tuple[list[str], dict[str, str]]:
    """The files to run, and those that are left out with the reason; paths are relative to python/test."""
    base = tree / "python/test"
    found = sorted(
        {str(path.relative_to(base)) for pattern in suite.files for path in base.glob(pattern)}
    )
    left_out = {}
    taken = []
    for name in found:
        reason = next(
            (text for pattern, text in suite.left_out.items() if fnmatch(name, pattern)), None
        )
        if reason is not None:
            left_out[name] = reason
        elif not wanted or any(part in name for part in wanted):
            taken.append(name)
    return taken, left_out


def order(suite: Suite, tree: Path, name: str) -> tuple[int, int]:
    """Sorts files so that the longest go first: those that the suite names, then by size."""
    place = suite.longest.index(name) if name in suite.longest else len(suite.longest)
    return place, -(tree / "python/test" / name).stat().st_size
