#!/usr/bin/env python3
"""The estimators beside diffprivlib and scikit-learn: held-out AUC at epsilon 0.1, 1 and 10, and the time of a fit.

    PARLEY_DATA=FOLDER experiments/python_estimators.py [--seeds 20] [--tables a9a adult ...] [--deltas 1e-6 0]
        [--epsilons 0.1 1 10] [--time]

The package must be importable (an installed wheel, or PYTHONPATH=apps/python with PARLEY_LIBRARY). Tables are those of
experiments/no_pilot.py: a quarter of the rows, at most 10,000, is held out, of the others at most 40,000 train. Both know how long a row can be
(one level of a category is 1): it is diffprivlib's data_norm and our max_row_norm. All else are the estimators' defaults: ours with delta
1e-6 and with delta 0, diffprivlib's with C = 1, scikit-learn's LogisticRegression without privacy. Nothing is chosen on these tables. Mean and standard error over seeds
1, 2, ...; --time measures one fit of 1,000,000 x 31 generated rows.
"""

import argparse
import math
import pathlib
import resource
import statistics
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import pypi  # noqa: E402

pypi.need("diffprivlib", "numpy", "sklearn",
          versions={"diffprivlib": "diffprivlib==0.6.6", "sklearn": "scikit-learn==1.5.2"})
import numpy  # noqa: E402
import parley  # noqa: E402
import random  # noqa: E402
from diffprivlib.models import LogisticRegression as Theirs  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402

import no_pilot  # noqa: E402
from tables import encoded  # noqa: E402


def table(name):
    rows, _, target, columns, _ = no_pilot.TABLES[name]()
    random.Random(1).shuffle(rows)
    held = min(len(rows) // 4, no_pilot.HELD_OUT)
    parts = rows[held:held + no_pilot.MOST], rows[:held]
    made = [encoded(part, columns) for part in parts]
    x, ones = [numpy.ascontiguousarray(rows) for rows, _ in made], no_pilot.KNOWN.get(name, made[0][1])
    y = [numpy.array([row[target["column"]] == "yes" for row in part]) for part in parts]
    return x[0], y[0], x[1], y[1], ones + 1


def figures(fits, xt, yt):
    found = [roc_auc_score(yt, fit.decision_function(xt)) for fit in fits]
    error = statistics.stdev(found) / math.sqrt(len(found)) if len(found) > 1 else 0
    return f"{statistics.fmean(found):.5f} ± {error:.5f}"


def compare(name, seeds, deltas, epsilons):
    x, y, xt, yt, longest = table(name)
    norm = math.sqrt(longest)
    plain = roc_auc_score(yt, LogisticRegression(max_iter=500).fit(x, y).decision_function(xt))
    for epsilon in epsilons:
        ours = [figures([parley.DPLogisticRegression(epsilon, delta=delta, bounds=(-1, 1), n_jobs=1, random_state=seed,
                                                     max_row_norm=norm if delta else longest).fit(x, y)
                         for seed in seeds], xt, yt) for delta in deltas]
        theirs = figures([Theirs(epsilon=epsilon, data_norm=norm, max_iter=200, random_state=seed).fit(x, y)
                          for seed in seeds], xt, yt)
        print(f"| {name} | {len(y)} x {x.shape[1]} | {epsilon:g} | {' | '.join(ours)} | {theirs} | {plain:.4f} |", flush=True)


def timed(what, fit):
    began, worked = time.perf_counter(), time.process_time()
    fit()
    print(f"| {what} | {time.perf_counter() - began:.2f} s | {time.process_time() - worked:.2f} s | "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB |", flush=True)


def time_fits():
    x = numpy.random.RandomState(1).uniform(-1, 1, (1_000_000, 31))
    y = x[:, 0] + x[:, 1] > 0
    print("| fit of 1,000,000 x 31 | time | processor time | largest memory of the process so far |\n|---|---|---|---|")
    timed("the rows themselves", lambda: None)
    timed("DPLogisticRegression, epsilon 1, delta 1e-8", lambda: parley.DPLogisticRegression(delta=1e-8, bounds=(-1, 1)).fit(x, y))
    timed("scikit-learn LogisticRegression", lambda: LogisticRegression().fit(x, y))
    timed("diffprivlib LogisticRegression, epsilon 1", lambda: Theirs(epsilon=1, data_norm=math.sqrt(31)).fit(x, y))


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--tables", nargs="*", default=["a9a", "adult", "loans default", "sparcs long stay"])
    parser.add_argument("--deltas", nargs="*", type=float, default=[1e-6, 0.0])
    parser.add_argument("--epsilons", nargs="*", type=float, default=[0.1, 1, 10])
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if options.time:
        time_fits()
    if options.tables:
        ours = " | ".join(f"DPLogisticRegression, delta {delta:g}" for delta in options.deltas)
        print(f"| table | rows | epsilon | {ours} | diffprivlib, C = 1 | scikit-learn, no privacy |\n"
              + "|---" * (5 + len(options.deltas)) + "|")
    for name in options.tables:
        compare(name, range(1, options.seeds + 1), options.deltas, options.epsilons)


if __name__ == "__main__":
    main()
