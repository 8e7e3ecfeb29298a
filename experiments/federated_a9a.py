#!/usr/bin/env python3
"""a9a over owners that add up securely: excess loss with noise for several numbers of local steps, and what a secure sum gains.

    cmake --build --preset release --target federated_bench
    PARLEY_DATA=FOLDER experiments/federated_a9a.py [--bench build/release/bench/federated_bench] [--seeds 5]

200 local steps of 3.5, K at a time, l2 = 1e-3, rows of norm 1, delta = 1e-5; the model is the mean of the last
quarter of the rounds. Cells are the objective above the optimum of all rows, mean and standard deviation over the
seeds 1, 2, … of the noise, beside those of the numpy reference in brackets. Owners are alike, or lie in an order in which the
share of positives goes from 0 to 70 % (mild), or is sorted. survivors = all owners, colluders = 1, repeats = 0.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = (("iid", 0), ("iid", 1), ("iid", 3), ("mild", 0), ("mild", 1), ("sorted", 0), ("sorted", 1))
SPECIFIED = {1: (.0017, .0025, .0018, .0017, .0025, .0017, .0025),
             2: (.0017, .0025, .0018, None, None, .0041, .0049),
             5: (.0017, .0023, .0017, .0027, .0036, .0160, .0167),
             10: (.0016, .0025, .0017, None, None, .0371, .0394),
             20: (.0014, .0025, .0015, .0058, .0079, .0705, .0726),
             50: (.0012, .0025, .0014, None, None, .1313, .1275)}
GAIN = {(10, 1, False): .0025, (10, 1, True): .0112, (100, 1, False): .0025, (100, 1, True): .1014,
        (10, 3, False): .0017, (10, 3, True): None, (100, 3, False): .0017, (100, 3, True): .0152}


def measured(bench, seeds):
    folder = os.environ.get("PARLEY_DATA") or sys.exit("set PARLEY_DATA to the folder of the data")
    done = subprocess.run([bench, folder, str(seeds)], check=True, text=True, stdout=subprocess.PIPE)
    cells = {}
    for line in done.stdout.splitlines():
        found = json.loads(line)
        key = tuple(found[name] for name in ("split", "owners", "local_steps", "epsilon", "alone"))
        cells.setdefault(key, []).append(found)
    return cells


def shown(runs, specified):
    values = [run["excess"] for run in runs]
    text = f"{statistics.mean(values):.4f}"
    if len(values) > 1:
        text += f" ± {statistics.stdev(values):.4f}"
    return text + (f" ({specified:.4f})" if specified is not None else "")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--bench", default=ROOT / "build/release/bench/federated_bench")
    options.add_argument("--seeds", type=int, default=5)
    options = options.parse_args()
    cells = measured(options.bench, options.seeds)
    names = [f"{split}, {f'ε = {epsilon}' if epsilon else 'no noise'}" for split, epsilon in COLUMNS]
    print(f"| K (rounds) | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for steps, specified in SPECIFIED.items():
        row = [shown(cells[split, 10, steps, epsilon, False], value)
               if (split, 10, steps, epsilon, False) in cells else "–"
               for (split, epsilon), value in zip(COLUMNS, specified)]
        print(f"| {steps} ({200 // steps}) | {' | '.join(row)} |")
    print("\n| owners, ε (K = 10) | noise inside the sum | every owner protects itself |\n|---|---|---|")
    for owners, epsilon in ((10, 1), (100, 1), (10, 3), (100, 3)):
        row = [shown(cells["iid", owners, 10, epsilon, alone], GAIN[owners, epsilon, alone])
               + f", accuracy {statistics.mean(r['accuracy'] for r in cells['iid', owners, 10, epsilon, alone]):.4f}"
               for alone in (False, True)]
        print(f"| {owners}, {epsilon} | {' | '.join(row)} |")


if __name__ == "__main__":
    main()
