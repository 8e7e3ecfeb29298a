#!/usr/bin/env python3
"""Our pass over the records beside the speed of memory, and beside the same query written in numpy.

    scripts/bench kernel [--rows 1000000] [--repeats 5]

First kernel_bench's table. Then the query of a charter, once by each: for every record score, slope,
gradient, its L1 norm, the clip, rounding to the lattice, and the sum over records, in doubles, 31
columns. Both start from arrays in memory; numpy's one or two temporary matrices are part of its way
and of its time. numpy runs on one thread, as its element-wise operations always do. Shown are the best
times, and the largest difference of the two sums in steps of the lattice: single roundings, no more.
"""

import os
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
import json
import subprocess
import tempfile
import time

import numpy as np

COLUMNS = 31
MAX_GRAD_NORM = 8.0
THETA = np.full(COLUMNS, 0.01)  # that of kernel_bench

SLOPES = {
    "squared": lambda score, label: 2 * (score - label),
    "hinge": lambda score, label: np.where(label * score < 1, -label, 0.0),
    "logistic": lambda score, label: -label / (1 + np.exp(label * score)),
}


def naive(loss, rows, labels, clip, gamma):
    slopes = SLOPES[loss](rows @ THETA, labels)
    gradients = slopes[:, None] * rows
    norms = np.abs(gradients).sum(axis=1)
    gradients *= np.minimum(1, clip / np.maximum(norms, 1e-300))[:, None]
    return np.rint(gradients / gamma).sum(axis=0)


def timed(repeats, work):
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def ours(program, file, loss, threads, repeats):
    command = [program, file, loss, str(threads), repr(MAX_GRAD_NORM), str(repeats)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def compare(options):
    random = np.random.default_rng(1)
    rows = random.uniform(-1, 1, (options.rows, COLUMNS))
    labels = np.where(random.random(options.rows) < 0.5, 1.0, -1.0)
    print(f"\n{options.rows:,} x {COLUMNS}, beside numpy {np.__version__}")
    print(f"  {'loss':<10}{'ours, 1 thread':>16}{'2 threads':>11}{'numpy':>10}{'times ours':>12}"
          f"{'steps apart':>13}")
    with tempfile.NamedTemporaryFile() as file:
        np.array(rows.shape, "<u8").tofile(file)
        rows.tofile(file)
        labels.tofile(file)
        file.flush()
        for loss in SLOPES:
            one, two = (ours(options.program, file.name, loss, threads, 5 * options.repeats)
                        for threads in (1, 2))
            seconds, total = timed(options.repeats,
                                   lambda: naive(loss, rows, labels, one["clip"], one["gamma"]))
            apart = np.abs(total - np.array(one["sum"], float)).max()
            print(f"  {loss:<10}{1e3 * one['seconds']:>13.1f} ms{1e3 * two['seconds']:>8.1f} ms"
                  f"{1e3 * seconds:>7.0f} ms{seconds / one['seconds']:>12.1f}{apart:>13.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    subprocess.run([options.program, str(options.rows)], check=True)
    compare(options)


if __name__ == "__main__":
    main()
