#!/usr/bin/python3
"""The whole reproduction, in full size: every verdict recomputed, mistakes made in what computes them, and parts against one run.

    reproduction.py PARLEY PARLEY_MISTAKEN [--out DIR] [--data DIR]

--out DIR keeps everything; called again it goes on where it was. Exit 1 if a mistake in the computation (mistakes.py) or a
broken number keeps its verdict, if three parts put together differ from one run, or if the papers' figures take
more than 4 minutes of processor time on each of two cores; time elapsed is told, for others may use the machine. --data (default: PARLEY_DATA, else ../shared/data if it is there)
repeats it on real records beside the stand-ins. Random runs of S and A that are finished are kept (runs/) and not made again:
the second and third pass read those of the first, and compute everything that follows from them, and V, H and B, anew.
"""

import argparse
import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PARTS = 3
CORES, MINUTES = 2, 4


def parley(binary, out, *arguments):
    """What it prints, and time elapsed and processor time of the papers' figures. OUT.log has those of each."""
    out.mkdir(parents=True, exist_ok=True)
    log = out.with_suffix(".log")
    with log.open("w") as lines:
        done = subprocess.run([binary, "--json", "reproduce", "--out", out, *map(str, arguments)], text=True,
                              stdout=subprocess.PIPE, stderr=lines, check=False)
    if done.returncode:
        raise SystemExit(log.read_text())
    times = re.findall(r"^[SAVH]-.*: ([0-9.]+) s, ([0-9.]+) s of processor time$", log.read_text(), re.MULTILINE)
    return json.loads(done.stdout), [sum(map(float, column)) for column in zip(*times)]


def keep_runs(source, out):
    shutil.copytree(source / "runs", out / "runs", dirs_exist_ok=True)


def files_of(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*")
                  if path.is_file() and "runs" not in path.relative_to(folder).parts)


def same_bytes(one, other):
    names = files_of(one)
    if names != files_of(other):
        return [f"files differ: {sorted(set(names) ^ set(files_of(other)))}"]
    return [f"{name} differs" for name in names if not filecmp.cmp(one / name, other / name, shallow=False)]


def whole(binary, out, extra=()):
    found, times = parley(binary, out, *extra)
    text = (out / "mutations.txt").read_text().splitlines()
    print(f"{out.name}: {found['summary']} of {len(found['figures'])}; {text[-1]}", flush=True)
    return [f"{out.name}: {line}" for line in text if "SURVIVES" in line], times


def mistakes(binary, out):
    """Mistakes in the computation: which items notice. Kept in OUT/mistakes.txt."""
    kept = out / "mistakes.txt"
    if not kept.exists():
        done = subprocess.run([binary], text=True, stdout=subprocess.PIPE, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stdout)
        kept.write_text(done.stdout)
    lines = kept.read_text().splitlines()
    print(lines[-1], flush=True)
    return [f"mistake {line.strip()}" for line in lines if "SURVIVES" in line]


def parts(binary, out):
    for k in range(1, PARTS + 1):
        keep_runs(out / "standins", out / f"part{k}")
        parley(binary, out / f"part{k}", "--part", f"{k}/{PARTS}")
    parley(binary, out / "merged", "--merge", *(out / f"part{k}" for k in range(1, PARTS + 1)))
    return same_bytes(out / "standins", out / "merged")


def check(binary, mistaken, out, data):
    fresh = not (out / "standins/runs").exists()
    problems, (elapsed, seconds) = whole(binary, out / "standins")
    print(f"papers, stand-ins: {seconds:.0f} s of processor time, {seconds / CORES / 60:.1f} min on {CORES} cores; "
          f"{elapsed / 60:.1f} min elapsed, load {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores"
          + ("" if fresh else "; some runs were there already"), flush=True)
    if seconds > CORES * MINUTES * 60:
        problems.append(f"the papers' part takes more than {MINUTES} min on {CORES} cores")
    if data.is_dir():
        keep_runs(out / "standins", out / "real")
        problems += whole(binary, out / "real", ["--data", data])[0]
    else:
        problems.append(f"no real records in {data}: set PARLEY_DATA")
    problems += mistakes(mistaken, out)
    different = parts(binary, out)
    print(f"{PARTS} parts and one run: {len(different)} of {len(files_of(out / 'standins'))} files differ", flush=True)
    return problems + different


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parley", type=pathlib.Path)
    parser.add_argument("mistaken", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("PARLEY_DATA", "../shared/data"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        problems = check(options.parley.resolve(), options.mistaken.resolve(), options.out or pathlib.Path(scratch),
                         options.data)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
