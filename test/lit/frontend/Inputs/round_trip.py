"""Reads every .mlir file of a folder as text, generic text and bytecode and prints it in each form.

    python round_trip.py tilebridge-opt FOLDER [FLAG ...]

What is printed must be read again as the same, in whatever form. Text of a wheel must also come back
as it was, but for what `WRITTEN_ANEW` says. Flags run a pipeline first and ask only for the former.
"""

import pathlib
import re
import subprocess
import sys

SPLIT = "// -----"
# 3.7 writes the block of a descriptor as a tensor type.
WRITTEN_ANEW = [(re.compile(r"tensordesc<tensor<([^<>]*)>>"), r"tensordesc<\1>")]
WRITTEN_ANEW += [(re.compile(r"(make_tensor_descriptor .*, )<tensor<([^<>]*)>>"), r"\1<\2>")]


def run(tool, data, *flags):
    command = [tool, *flags, "-"]
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}")
    return done.stdout


def parts(text):
    return [re.sub(r"\s*\Z", "\n", part) for part in text.split(SPLIT + "\n")]


def main():
    tool, folder, *flags = sys.argv[1:]
    files = sorted(pathlib.Path(folder).glob("*.mlir"))
    if not files:
        sys.exit(f"{folder} holds no .mlir file")
    sources = [re.sub(r"\s*\Z", "\n", file.read_text()) for file in files]
    split = f"-split-input-file={SPLIT}"
    text = run(tool, (SPLIT + "\n").join(sources).encode(), split, *flags)
    printed = parts(text.decode())
    if len(printed) != len(files):
        sys.exit(f"{len(files)} files gave {len(printed)} modules")

    failed = False
    for file, source, again in zip(files, sources, printed, strict=True):
        for pattern, new in WRITTEN_ANEW:
            source = pattern.sub(new, source)
        if source != again and not flags and "loc(" not in source:
            print(f"{file.name}: printed differently")
            failed = True
    if run(tool, text, split) != text:
        print("printed text is not printed the same again")
        failed = True
    generic = run(tool, text, split, "-mlir-print-op-generic")
    if run(tool, generic, split) != text:
        print("the generic form is not printed as the text that it came from")
        failed = True
    # Bytecode cannot be split: the modules go into one.
    whole = run(tool, b"module {\n" + text.replace(SPLIT.encode(), b"") + b"}\n")
    if run(tool, run(tool, whole, "-emit-bytecode")) != whole:
        print("bytecode is not printed as the text that it came from")
        failed = True
    sys.exit(failed)


main()
