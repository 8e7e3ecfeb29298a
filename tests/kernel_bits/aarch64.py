#!/usr/bin/env python3
"""The record map's integers under qemu-aarch64 are those of this machine (docs/checks.md, (iii)).

    aarch64.py SOURCE PROGRAM     PROGRAM is kernel_bits built for this machine
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
COMPILERS = ("aarch64-linux-gnu-g++", "aarch64-linux-gnu-g++-12")
EMULATORS = ("qemu-aarch64-static", "qemu-aarch64")
# No contraction, as in the product: a fused multiply-add is one only where it is written.
FLAGS = ["-std=c++20", "-static", "-ffp-contract=off"]


def first(names):
    return next(filter(None, map(shutil.which, names)), None)


def output(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def main():
    source, program = map(pathlib.Path, sys.argv[1:])
    compiler, emulator = first(COMPILERS), first(EMULATORS)
    if not compiler or not emulator:
        print(f"skipped: no {COMPILERS[0]} or no {EMULATORS[1]} here; "
              "apt-get install g++-aarch64-linux-gnu qemu-user")
        return SKIPPED
    here = output(program)
    different = []
    with tempfile.TemporaryDirectory() as folder:
        for level in ("-O0", "-O2", "-O3"):
            other = f"{folder}/kernel_bits{level}"
            subprocess.run([compiler, *FLAGS, level, f"-I{source}/src", f"-I{source}/include",
                            source / "tests/kernel_bits/main.cc", source / "src/parley/base/result.cc",
                            "-o", other], check=True)
            there = output(emulator, other)
            print(f"aarch64 {level}: {there.strip()}; here: {here.strip()}")
            different += [level] if there != here else []
    return 1 if different or not here else 0


if __name__ == "__main__":
    sys.exit(main())
