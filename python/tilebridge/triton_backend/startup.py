# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What Triton finds out about itself in each process, kept from one to the next.

Triton's cache has a key of Triton's own files. To tell it, each process reads and hashes all of libtriton.so, 500 MB in
3.9.0, before its first launch: a third of a second, and several where the file is not in memory. Here the key is kept
on disk beside the compiled kernels, by what the file system says of the files: sizes, numbers, and when they changed.
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile

# In Triton's folder: what its key is of, and maybe more.
_PARTS = ("compiler", "backends", "language", "runtime", "_C")


def cache_folder() -> str:
    """Where the runtime keeps compiled kernels (runtime/DiskCache.cpp); empty: nowhere."""
    if (own := os.environ.get("TILEBRIDGE_CACHE_DIR")) is not None:
        return own
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        base = os.path.join(home, ".cache") if home else ""
    return os.path.join(base, "tilebridge") if base else ""


def _state_of(folder: str) -> str:
    """Changes with any file of Triton's."""
    lines = []
    for part in _PARTS:
        # Backends that are developed beside Triton are links.
        for root, folders, names in os.walk(os.path.join(folder, part), followlinks=True):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                path = os.path.join(root, name)
                found = os.stat(path)
                numbers = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
                lines.append(f"{path} {numbers}")
    return "\n".join(lines)


def remembered(compute, folder: str) -> str:
    """compute(), the key of what is in `folder`, or what it was when that was the same. Never the reason of an error."""
    try:
        where = cache_folder()
        if not where:
            return compute()
        name = hashlib.sha256(_state_of(folder).encode()).hexdigest()
        path = os.path.join(where, f"{name}.triton-key")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                key, _, end = file.read().partition("\n")
            if key and end == name:
                return key
    except (OSError, ValueError):
        return compute()
    key = compute()
    part = ""
    try:
        os.makedirs(where, mode=0o700, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=where, suffix=".part")
        with open(handle, "w", encoding="utf-8") as file:
            file.write(f"{key}\n{name}")
        os.replace(part, path)
    except (OSError, ValueError):
        if os.path.exists(part):
            os.unlink(part)
    return key


def install() -> None:
    """Puts it in the place of Triton's function, once, and only if that is what is known here."""
    try:
        from triton.runtime import cache

        original = cache.triton_key
        # Triton's workers, and others, have put functions of their own there.
        if not hasattr(original, "cache_info") or not hasattr(original, "__wrapped__"):
            return
        folder = os.path.dirname(os.path.dirname(os.path.abspath(cache.__file__)))
    except Exception:
        return
    if getattr(original.__wrapped__, "of_tilebridge", False):
        return

    def triton_key():
        return remembered(original, folder)

    triton_key.of_tilebridge = True
    cache.triton_key = functools.cache(triton_key)
