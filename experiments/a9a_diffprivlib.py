#!/usr/bin/env python3
"""a9a, logistic regression at pure epsilon: Parley beside diffprivlib, training and test accuracy.

    PARLEY_DATA=FOLDER experiments/a9a_diffprivlib.py [--parley build/release/parley] [--seeds 10]

The file a9a is shuffled with seed 1; its first 2,561 rows are public, the other 30,000 lie at one owner or
at three. diffprivlib (objective perturbation) has all 32,561 rows at one place, the bound of a row's length
that follows from its columns declared (fourteen ones, data_norm = sqrt(14)), and C = 1, its default, or the C
that does best on the public rows. Parley's constants are chosen on the public rows, too: with
"start at zero" nothing else is known from them, with pilot-Newton also start and curvature. Accuracy is on
all 32,561 rows of a9a and on a9a.t; mean of the seeds 1, 2, ….
"""

import argparse
import itertools
import pathlib
import random
import statistics
import sys
import tempfile
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import pypi  # noqa: E402

pypi.need("diffprivlib", "numpy", "sklearn",
          versions={"diffprivlib": "diffprivlib==0.6.6", "sklearn": "scikit-learn==1.5.2"})
import numpy  # noqa: E402
from diffprivlib.models import LogisticRegression  # noqa: E402

from jobs import POOL, Chooser, Job, constants, newton, unpack  # noqa: E402
from charters import number  # noqa: E402

EPSILONS, PILOT, FEATURES, ONES = (0.1, 1, 10), 2561, 123, 14
CS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
TASK = {"target": {"column": "income", "levels": ["-1", "+1"]}, "columns": [number("f", 0, 1, 0, count=FEATURES)],
        "model": {"loss": "logistic", "l2": 1e-3, "box": 5.0}, "prepare": None}
ZERO = {"protocol.rule": "constant", "protocol.start": "zero"}
SCHEDULES = ((4, 0.5), (5, 0), (5, 0.3), (7, 0.3), (7, 0.5), (8, 0.6), (10, 0.8), (20, 0.8), (40, 0.9),
             (80, 0.9))  # rounds and momentum
FROM_ZERO = [{**ZERO, "protocol.average": a, "protocol.rounds": t, "protocol.step": s, "protocol.momentum": m,
              "privacy.max_grad_norm": c}
             for c, (t, m), s, a in itertools.product((4, 7.5), SCHEDULES, (1.0, 2.0, 3.0, 4.0), ("tail", "none"))]


def matrix(lines):
    x, y = numpy.zeros((len(lines), FEATURES)), numpy.empty(len(lines))
    for i, line in enumerate(lines):
        label, *ones = line.split()
        y[i] = float(label)
        x[i, [int(entry.split(":")[0]) - 1 for entry in ones]] = 1
    return x, y


class Diffprivlib:
    def __init__(self, rows, test):
        self.rows, self.test = matrix(rows), matrix(test)
        self.fitted, self.judged = matrix(rows[0:PILOT:2]), matrix(rows[1:PILOT:2])

    def fit(self, rows, epsilon, c, seed):
        model = LogisticRegression(epsilon=epsilon, data_norm=ONES ** 0.5, C=c, max_iter=200, random_state=seed)
        return model.fit(*rows)

    def choose(self, epsilon):
        """The C that does best on the public rows at the noise of all of them. C counts records against one
        regulariser, and epsilon their noise, so both are scaled with the number of rows."""
        ratio = len(self.rows[1]) / len(self.fitted[1])
        score = lambda c: statistics.fmean(self.fit(self.fitted, epsilon * ratio, c * ratio, s).score(*self.judged)
                                           for s in range(1, 6))
        return max(CS, key=score)

    def accuracy(self, epsilon, c, seeds):
        models = [self.fit(self.rows, epsilon, c, seed) for seed in seeds]
        return [[model.score(*rows) for rows in (self.rows, self.test)] for model in models]


class Parley:
    def __init__(self, parley, folder, rows, test, owners):
        private = rows[PILOT:]
        parts = {f"owner-{i + 1}": private[i::owners] for i in range(owners)}
        self.job = Job(parley, pathlib.Path(folder) / f"a9a-{owners}", TASK, rows[:PILOT], parts)
        self.chooser = Chooser(self.job)
        self.files = [(self.job.write(name, part), [line.split()[0] == "+1" for line in part])
                      for name, part in (("all", rows), ("test", test))]

    def judge(self, model):
        return [statistics.fmean((u > 0) == label for u, label in zip(self.job.scores(model, file), labels))
                for file, labels in self.files]

    def accuracy(self, candidates, epsilon, seeds):
        keys = self.chooser.choose(candidates, epsilon, self.job.rows, len(self.job.owners))
        found = POOL.map(lambda seed: self.judge(self.job.simulate(keys, epsilon, seed)[1]), seeds)
        momentum = keys.get("protocol.momentum")
        last = ", last iterate" if keys.get("protocol.average") == "none" else ""
        return list(found), constants(keys) + (f", momentum {momentum:g}" if momentum else "") + last


def line(epsilon, what, figures, note):
    train, test = zip(*figures)
    spread = f" ± {statistics.stdev(train):.4f}" if len(train) > 1 else ""
    print(f"| {epsilon} | {what} | {statistics.fmean(train):.4f}{spread} | "
          f"{statistics.fmean(test):.4f} | {note} |", flush=True)


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parley", default=ROOT / "build/release/parley")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    rows, test = (unpack(file).splitlines(keepends=True) for file in ("a9a/a9a", "a9a/a9a.t"))
    random.Random(1).shuffle(rows)
    seeds = range(1, options.seeds + 1)
    with tempfile.TemporaryDirectory() as folder:
        theirs = Diffprivlib(rows, test)
        ours = [Parley(options.parley, folder, rows, test, owners) for owners in (1, 3)]
        print("| epsilon | who | training accuracy | test accuracy | constants |\n|---|---|---|---|---|")
        line("", "the pilot alone, public", [ours[0].judge(ours[0].job.pilot_alone())], "")
        for epsilon in EPSILONS:
            for c in dict.fromkeys((1.0, theirs.choose(epsilon))):
                line(epsilon, "diffprivlib", theirs.accuracy(epsilon, c, seeds), f"C {c:g}")
            for parley in ours:
                for what, candidates in ("start at zero", FROM_ZERO), ("pilot-Newton", newton((4, 7.5))):
                    name = f"Parley, {len(parley.job.owners)} owner{'s' * (len(parley.job.owners) > 1)}, {what}"
                    line(epsilon, name, *parley.accuracy(candidates, epsilon, seeds))


if __name__ == "__main__":
    main()
