#!/usr/bin/env python3
"""Fails where two files define a type of the same name in the same namespace.

No compiler and no linker says so: they keep one of the two destructors for both.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["frontend", "triton-to-linalg", "cpu-backend", "accel-backend", "reference", "compiler"]
FOLDERS += ["runtime"]
OPENS = re.compile(r"^(?:inline )?namespace *([\w:]*) *\{")
CLOSES = re.compile(r"^\} *// namespace")
DEFINES = re.compile(
    r"^(?:struct|class|union|enum class|enum) (?:alignas\(\w+\) )?(\w+)\b(?!::)[^;]*$"
)


def types_of(text):
    """The types that others could mean, by their whole names."""
    namespaces = []
    for line in text.splitlines():
        if found := OPENS.match(line):
            namespaces.append(found[1])
        elif CLOSES.match(line) and namespaces:
            namespaces.pop()
        elif (found := DEFINES.match(line)) and all(namespaces):
            yield "::".join([*namespaces, found[1]])


def main():
    places = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".cpp", ".h"}:
                name = path.relative_to(ROOT).as_posix()
                for each in set(types_of(path.read_text(errors="replace"))):
                    places.setdefault(each, []).append(name)
    failures = [
        f"{each} is defined in {' and in '.join(files)}: give one another name, or a namespace"
        for each, files in sorted(places.items())
        if len(files) > 1
    ]
    print("\n".join(failures), end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
