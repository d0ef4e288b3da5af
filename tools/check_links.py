#!/usr/bin/env python3
"""Fails where a page of the project links to a file that is not there."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    pages = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    failures = 0
    for name in pages:
        page = ROOT / name
        if not page.is_file() or name.startswith("docs/generated/"):
            continue
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target and not (page.parent / target).exists():
                failures += 1
                print(f"{name}: links to {target}, which is not there")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
