#!/usr/bin/env python3
"""Our accountants beside dp_accounting: same events, same delta, one run.

    scripts/bench account [--repeats 5]

For each step of dp_accounting's grid we ask for the coarsest accuracy at which our epsilon is at
most theirs, and time that; both are upper bounds, so the smaller one is the tighter. The first
computation in a process is timed too: it fills tables that later ones find. dp_accounting comes from
PyPI into a virtual environment under build/.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import pypi

pypi.need("dp_accounting")
import dp_accounting  # noqa: E402 pylint: disable=wrong-import-position

sys.path.insert(0, str(pypi.ROOT / "experiments"))
import dp_events  # noqa: E402


def times(count, event):
    return {"self_composed": {"count": count, "event": event}}


def sampled(probability, noise):
    return {"poisson_sampled": {"sampling_probability": probability,
                                "event": {"gaussian": {"noise_multiplier": noise}}}}


GAUSSIAN = times(1000, {"gaussian": {"noise_multiplier": 1.0}})
SAMPLED = times(10000, sampled(0.01, 1.0))
LAPLACE = times(100, {"laplace": {"noise_multiplier": 10.0}})
MIXED = {"composed": {"events": [times(100, sampled(0.005, 0.8)),
                                 times(200, {"gaussian": {"noise_multiplier": 8.0}}),
                                 times(100, {"laplace": {"noise_multiplier": 10.0}})]}}
CASES = [  # title, events, delta, their steps
    ("Gaussian, noise 1, 1,000 times", GAUSSIAN, 1e-5, (1e-3,)),
    ("sampled 0.01, noise 1, 10,000 times", SAMPLED, 1e-5, (1e-3, 1e-4, 1e-5)),
    ("Laplace, noise 10, 100 times", LAPLACE, 1e-5, (1e-3, 1e-4)),
    ("mixed, 400 releases", MIXED, 1e-6, (1e-3, 1e-4)),
]
ACCURACIES = [10 ** (-k / 4) for k in range(10, 33)]  # 3e-3 to 1e-8


def ours(program, events, delta, accuracy, repeats, epsilon=None):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(events, file)
        file.flush()
        words = [program, file.name, "add_remove", str(delta), str(accuracy), str(repeats)]
        words += [str(epsilon)] if epsilon else []
        return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)


def theirs(events, delta, step, repeats):
    event, relation = dp_events.load(events, "add_remove")
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        accountant = dp_events.pld.PLDAccountant(relation, value_discretization_interval=step)
        epsilon = accountant.compose(event).get_epsilon(delta)
        best = min(best, time.perf_counter() - start)
        if best > 2:
            break
    return epsilon, best


def as_tight(program, events, delta, target):
    """The coarsest accuracy that is at least as tight; the finest if none is."""
    for accuracy in ACCURACIES:
        if ours(program, events, delta, accuracy, 1)["value"] <= target:
            return accuracy
    return ACCURACIES[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'events':<37}{'step':>7}{'theirs':>15}{'ms':>9}{'ours':>15}{'ms':>9}{'first':>9}"
          f"{'times':>8}")
    for title, events, delta, steps in CASES:
        for step in steps:
            epsilon, seconds = theirs(events, delta, step, options.repeats)
            accuracy = as_tight(options.program, events, delta, epsilon)
            found = ours(options.program, events, delta, accuracy, 4 * options.repeats)
            first = ours(options.program, events, delta, accuracy, 1)
            print(f"{title:<37}{step:>7g}{epsilon:>15.9f}{1e3 * seconds:>9.1f}"
                  f"{found['value']:>15.9f}{1e3 * found['seconds']:>9.2f}"
                  f"{1e3 * first['seconds']:>9.2f}{seconds / found['seconds']:>8.0f}")
    print("\ncalibration by pld, sampled 0.01, 1,000 times, delta 1e-6")
    for epsilon in (0.001, 0.01, 1, 100):
        found = ours(options.program, times(1000, sampled(0.01, 1.0)), 1e-6, 1e-6, 1, epsilon)
        print(f"  epsilon {epsilon:<6g} noise {found['value']:<18.9g}{1e3 * found['seconds']:>8.1f} ms"
              f"{found['megabytes']:>7.1f} MB")


if __name__ == "__main__":
    main()
