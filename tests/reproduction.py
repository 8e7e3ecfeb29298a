#!/usr/bin/python3
"""The whole reproduction, in full size: every verdict recomputed, every deciding measure broken, and parts against one run.

    reproduction.py PARLEY [--out DIR] [--data DIR]

Exit 1 if a broken measure keeps its verdict, or if three parts put together differ from one run. --data (default: PARLEY_DATA,
else ../shared/data if it is there) repeats it on real records beside the stand-ins.
"""

import argparse
import filecmp
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PARTS = 3


def parley(binary, *arguments):
    done = subprocess.run([binary, "--json", "--quiet", "reproduce", *map(str, arguments)], text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    return json.loads(done.stdout)


def files_of(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*")
                  if path.is_file() and "runs" not in path.relative_to(folder).parts)


def same_bytes(one, other):
    names = files_of(one)
    if names != files_of(other):
        return [f"files differ: {sorted(set(names) ^ set(files_of(other)))}"]
    return [f"{name} differs" for name in names if not filecmp.cmp(one / name, other / name, shallow=False)]


def check(binary, out, extra):
    found = parley(binary, "--out", out / "whole", *extra)
    print(f"{found['summary']} of {len(found['figures'])}")
    problems = [line for line in (out / "whole/mutations.txt").read_text().splitlines() if "SURVIVES" in line]
    for k in range(1, PARTS + 1):
        parley(binary, "--part", f"{k}/{PARTS}", "--out", out / f"part{k}", *extra)
    parley(binary, "--merge", *(out / f"part{k}" for k in range(1, PARTS + 1)), "--out", out / "merged")
    return problems + same_bytes(out / "whole", out / "merged")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parley", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("PARLEY_DATA", "../shared/data"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = options.out or pathlib.Path(scratch)
        problems = check(options.parley.resolve(), out / "standins", [])
        if pathlib.Path(options.data).is_dir():
            problems += check(options.parley.resolve(), out / "real", ["--data", options.data])
        else:
            problems.append(f"no real records in {options.data}: set PARLEY_DATA")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
