#!/usr/bin/env python3
"""No public rows: rule gram beside diffprivlib, on held-out rows, at epsilon 0.1, 1 and 10.

    PARLEY_DATA=FOLDER experiments/no_pilot.py [--parley build/release/parley] [--seeds 3] [--epsilons 0.1 1 10]
        [TABLE...]

The tables are those of experiments/worth.py and a9a. A quarter of a table's rows, at most 10,000, is held out; of the others
at most 40,000 are divided by chance among five owners (shuffled with seed 1). Parley trains with rule gram in secure sums,
delta 1e-6, 20 rounds and l2 1e-4, or, where eigenvalues below 0.3 or more are noise, 5 rounds and 1e-3: as the
reference says, nothing else is set. diffprivlib (pure epsilon) has all rows in one place, the bound of a row's length that follows from
its columns (of a9a both know that a row has 14 ones), and the best of three C *as judged on the held-out rows*; its default C = 1 stands in brackets. For numbers:
RMSE, with diffprivlib's LinearRegression. Means over seeds 1, 2, ...; predictions of numbers are cut to the target's bounds.
"""

import argparse
import math
import pathlib
import random
import re
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
from diffprivlib.models import LinearRegression, LogisticRegression  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402

import worth  # noqa: E402
from jobs import run, unpack  # noqa: E402
from charters import block, category, number  # noqa: E402
from tables import encoded  # noqa: E402

OWNERS, MOST, HELD_OUT, CS = 5, 40000, 10000, (1, .01, .0001)
KNOWN = {"a9a": 14}  # ones in a row, known from what the columns were: both methods are told


def a9a():
    rows = []
    for line in unpack("a9a/a9a").splitlines():
        label, *ones = line.split()
        rows.append({"rich": "yes" if label == "+1" else "no", **{f"f{i}": "0" for i in range(1, 124)},
                     **{f"f{entry.split(':')[0]}": "1" for entry in ones}})
    columns = [category(f"f{i}", ["1"], encode="one_hot") for i in range(1, 124)]
    return rows, None, worth.classes("rich"), columns, worth.LOGISTIC


def mnist49():
    """Fours and nines, 28 x 28 pixels averaged to 7 x 7."""
    rows = []
    for line in unpack("mnist49/mnist49_train.libsvm").splitlines():
        label, *entries = line.split()
        cells = [0.0] * 49
        for entry in entries:
            place, value = entry.split(":")
            i = int(place) - 1
            cells[i // 28 // 4 * 7 + i % 28 // 4] += float(value) / 255 / 16
        rows.append({"four": "yes" if label == "+1" else "no", **{f"c{k}": f"{v:.5f}" for k, v in enumerate(cells)}})
    columns = [number(f"c{k}", 0, 1, 0) for k in range(49)]
    return rows, None, worth.classes("four"), columns, worth.LOGISTIC


TABLES = {"adult": lambda: worth.adult("job"), "diabetes again": lambda: worth.diabetes(True),
          "loans default": worth.loans_default, "creditcard": worth.creditcard, "a9a": a9a,
          "sparcs long stay": lambda: worth.sparcs(True), "loans rate": lambda: worth.loans("addr_state"),
          "sparcs days": lambda: worth.sparcs(False), "diabetes days": lambda: worth.diabetes(False), "mnist49": mnist49}


class Table:
    def __init__(self, parley, folder, name):
        self.parley, self.folder, self.ones = parley, pathlib.Path(folder), KNOWN.get(name)
        rows, _, self.target, self.columns, self.loss = TABLES[name]()
        random.Random(1).shuffle(rows)
        held = min(len(rows) // 4, HELD_OUT)
        self.test, self.train = rows[:held], rows[held:held + MOST]
        self.owners = {f"owner-{i + 1}": self.train[i::OWNERS] for i in range(OWNERS)}
        for owner, members in {"test": self.test, **self.owners}.items():
            with open(self.folder / f"{owner}.csv", "w", newline="") as file:
                writer = worth.csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(members)

    def charter(self, epsilon, rounds, l2):
        owners = [block("[[owner]]", {"name": name, "rows": len(rows), "epsilon": epsilon, "delta": 1e-6})
                  for name, rows in self.owners.items()]
        (self.folder / "gram.charter.toml").write_text("\n".join([
            block("[charter]", {"version": 1, "name": "gram", "consortium": "no-pilot.example"}),
            block("[target]", self.target), *self.columns,
            block("[model]", {"loss": self.loss, "bias": True, "l2": l2, "box": 20.0}),
            block("[protocol]", {"name": "sync", "rule": "gram", "rounds": rounds}),
            block("[privacy]", {"max_row_norm": math.sqrt(self.ones + 1)} if self.ones else {}), *owners,
            block("[learner]", {"name": "learner"})]))

    def ask(self, *command):
        return run([self.parley, "--quiet", *command], cwd=self.folder)

    def gram(self, epsilon, seed):
        self.charter(epsilon, 20, 1e-4)
        said = self.ask("charter", "explain", "gram.charter.toml")
        refused = "REFUSED" in said
        if refused or float(re.search(r"eigenvalues below ([\d.e-]+)", said)[1]) > .3:
            self.charter(epsilon, 5, 1e-3)
        if refused:
            return math.nan
        self.ask("simulate", "gram.charter.toml", "--data", ".", "--seed", seed, "--out", f"run-{epsilon:g}-{seed}")
        lines = self.ask("predict", f"run-{epsilon:g}-{seed}/model.json", "test.csv").split("\n")
        return self.judged([float(line.split(",")[-1]) for line in lines[1:] if line])

    def judged(self, scores):
        if self.loss == worth.LOGISTIC:
            return roc_auc_score([row[self.target["column"]] == "yes" for row in self.test], scores)
        low, high = self.target["bounds"]
        true = [min(max(float(row[self.target["column"]]), low), high) for row in self.test]
        return math.sqrt(statistics.fmean((min(max(s, low), high) - t) ** 2 for s, t in zip(scores, true)))

    def diffprivlib(self, epsilon, seeds):
        """By C; of numbers under "lin"."""
        x, count = encoded(self.train, self.columns)
        test, _ = encoded(self.test, self.columns)
        norm, column = math.sqrt((self.ones or count) + 1), self.target["column"]
        if self.loss == worth.LOGISTIC:
            y = [1 if row[column] == "yes" else -1 for row in self.train]
            fit = lambda c, seed: LogisticRegression(epsilon=epsilon, data_norm=norm, C=c, max_iter=200,
                                                     random_state=seed).fit(x, y)
            return {c: statistics.fmean(self.judged(fit(c, s).decision_function(test)) for s in seeds) for c in CS}
        low, high = self.target["bounds"]
        y = numpy.array([min(max(float(row[column]), low), high) for row in self.train])
        fit = lambda seed: LinearRegression(epsilon=epsilon, bounds_X=(-1, 1), bounds_y=(low, high),
                                            random_state=seed).fit(x, y)
        return {"lin": statistics.median(self.judged(fit(s).predict(test)) for s in seeds)}


def mean(values):
    return f"{statistics.fmean(values):.4f}" if not any(map(math.isnan, values)) else "refused"


def line_of(table, name, options):
    seeds = range(1, options.seeds + 1)
    ours = [mean([table.gram(epsilon, seed) for seed in seeds]) for epsilon in options.epsilons]
    theirs = [table.diffprivlib(epsilon, seeds) for epsilon in options.epsilons]
    best = max if table.loss == worth.LOGISTIC else min
    default = " / ".join(f"{each[1]:.4f}" for each in theirs if 1 in each)
    return (f"| {name} | {len(table.train)} | {' / '.join(ours)} | "
            f"{' / '.join(f'{best(each.values()):.4f}' for each in theirs)}{f' ({default})' if default else ''} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parley", type=pathlib.Path, default=ROOT / "build/release/parley")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[.1, 1, 10])
    parser.add_argument("names", nargs="*", metavar="TABLE")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| table | rows | gram | diffprivlib, best C (C = 1) |\n|---|---|---|---|")
    for name in options.names or TABLES:
        with tempfile.TemporaryDirectory() as folder:
            print(line_of(Table(options.parley.resolve(), folder, name), name, options), flush=True)


if __name__ == "__main__":
    main()
