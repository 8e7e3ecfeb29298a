#!/usr/bin/env python3
"""a9a with its columns at two owners: what its rules reach through the whole protocol, test accuracy and log loss.

    PARLEY_DATA=FOLDER experiments/a9a_columns.py [--parley build/release/parley] [--seeds 10] [--rule statistics] [--products] [--without-dealer]

Of the fourteen attributes eight have their 66 columns at the first owner, which has the label too, and six their
57 at the second. Every one is 1/sqrt(14), so that a whole record is no longer than 1. With --products the first owner adds
a column for every pair of levels of two of its own attributes, education and occupation each with marital status, and
ones are 1/sqrt(16). Constants are chosen on the training rows alone: candidates train on four fifths of them and are
judged by the log loss of the last fifth, mean of three seeds (this choice is not charged to epsilon); the best is trained
on all of them and judged on a9a.t, once per seed. With --without-dealer attributes are categories, of which products are made by the
charter, two owners share sums of products by themselves, and l2 and box are those of the others in its units; the box of
rounds is chosen with steps and rounds. Every job is `parley simulate`: two owners with ledgers, a dealer, sealed letters; every prediction is `parley
predict` by each owner, masked, and then of the sum. Log loss is of the probability (1 + score)/2, cut to .02 to .98.
"""

import argparse
import csv
import itertools
import json
import math
import pathlib
import random
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
from jobs import POOL, run, unpack  # noqa: E402
from charters import block, category, number  # noqa: E402

EPSILONS = (1, 3, 10)
COLUMNS = {"first": range(1, 67), "second": range(67, 124)}
ATTRIBUTES = {"first": 8, "second": 6}
EDUCATION, MARITAL, OCCUPATION = range(35, 40), range(40, 47), range(47, 61)
PRODUCTS = ((EDUCATION, MARITAL), (OCCUPATION, MARITAL))
GRADIENTS = [{"rule": "gradients", "dealer": "learner", "rounds": t, "step": s, "momentum": m, "model_ball": 4.0}
             for t, s, m in ((20, 3.0, 0.8), (40, 1.0, 0.9))]
# Without a dealer, of features that are 1: steps as those above are for 1/sqrt(14), and the box.
ROUNDS = [{"rule": "gradients", "dealer": "none", "rounds": 20, "step": 3 / 14, "momentum": 0.8, "box": box}
          for box in (0.125, 0.25, 0.5)]
STATISTICS = [{"rule": "statistics", "rounds": 1, "dealer": "learner"}]
SIZES = {"first": (5, 8, 5, 16, 5, 7, 14, 6), "second": (5, 2, 2, 2, 5, 41)}  # columns of each attribute


class Columns:
    """The records of one job in a folder: a file for every owner, and the charter."""

    def __init__(self, parley, folder, rows, judged, products):
        self.parley, self.folder, self.count = parley, folder, len(rows)
        self.products = products
        self.ones = {"first": ATTRIBUTES["first"] + len(products), "second": ATTRIBUTES["second"]}
        self.columns = {owner: [(j,) for j in columns] for owner, columns in COLUMNS.items()}
        self.columns["first"] += [pair for one, other in products for pair in itertools.product(one, other)]
        self.labels = {f"r{i:06d}": line.split()[0] == "+1" for i, line in enumerate(judged)}
        folder.mkdir(parents=True)
        for owner in COLUMNS:
            self.write(folder / f"{owner}.csv", owner, rows)
            self.write(folder / f"{owner}.judged.csv", owner, judged)

    def names(self, owner):
        return [f"{owner}{j + 1}" for j in range(len(self.columns[owner]))]

    def write(self, path, owner, rows):
        value, holds_label = 1 / math.sqrt(sum(self.ones.values())), owner == "first"
        with open(path, "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(["id", *self.names(owner), *["income"] * holds_label])
            for i, line in enumerate(rows):
                label, *ones = line.split()
                here = {int(one.split(":")[0]) for one in ones}
                cells = [value if here.issuperset(each) else 0 for each in self.columns[owner]]
                out.writerow([f"r{i:06d}", *cells, *[label] * holds_label])

    def charter(self, keys, epsilon):
        return "\n".join([
            block("[charter]", {"version": 1, "name": "a9a", "consortium": "agencies.example"}),
            block("[records]", {"id": "id", "count": self.count}),
            block("[target]", {"owner": "first", "column": "income", "levels": ["-1", "+1"]}),
            *[number(owner, 0, 1, 0, count=len(columns), owner=owner) for owner, columns in self.columns.items()],
            block("[model]", {"loss": "squared", "l2": 2 / self.count, "box": 8.0}),
            block("[protocol]", {"name": "sharing", **keys}),
            block("[privacy]", {"max_row_norm": 1.0, "delta": 1e-5}),
            *[block("[[owner]]", {"name": owner, "epsilon": float(epsilon),
                                  "max_row_norm": math.sqrt(ones / sum(self.ones.values())),
                                  "columns": self.names(owner)}) for owner, ones in self.ones.items()],
            block("[learner]", {"name": "office"})])

    def train(self, keys, epsilon, seed):
        """Accuracy and log loss on the judged rows."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            out = pathlib.Path(out)
            (out / "job.charter.toml").write_text(self.charter(keys, epsilon))
            run([self.parley, "--quiet", "simulate", out / "job.charter.toml", "--data", self.folder, "--seed", seed,
                 "--threads", 1, "--json", "--out", out / "job"])
            for owner in COLUMNS:
                scores = run([self.parley, "predict", out / "job" / "simulated" / owner / "part.json",
                              self.folder / f"{owner}.judged.csv", "--query", "judged"])
                (out / owner).write_text(scores)
            opened = json.loads(run([self.parley, "--json", "predict", out / "job" / "manifest.json",
                                     *[out / owner for owner in COLUMNS]]))
        return self.judge(dict(zip(opened["ids"], opened["values"])))

    def judge(self, scores):
        right, loss = 0, 0.0
        for name, label in self.labels.items():
            p = min(max((1 + scores[name]) / 2, 0.02), 0.98)
            right += (scores[name] >= 0) == label
            loss -= math.log(p if label else 1 - p)
        return right / len(self.labels), loss / len(self.labels)


class Cells(Columns):
    """The same without a dealer: attributes are categories, of which a record may lack one."""

    def attributes(self, owner):
        first = COLUMNS[owner].start
        for size in SIZES[owner]:
            yield range(first, first + size)
            first += size

    def names(self, owner):
        return [f"{owner}{j + 1}" for j in range(len(SIZES[owner]))]

    def write(self, path, owner, rows):
        holds_label = owner == "first"
        with open(path, "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(["id", *self.names(owner), *["income"] * holds_label])
            for i, line in enumerate(rows):
                label, *ones = line.split()
                here = {int(one.split(":")[0]) for one in ones}
                cells = [next((f"c{j}" for j in each if j in here), "") for each in self.attributes(owner)]
                out.writerow([f"r{i:06d}", *cells, *[label] * holds_label])

    def pairs(self):
        """Names of the first owner's products, and of their factors."""
        starts = [each.start for each in self.attributes("first")]
        for number, factors in enumerate(self.products, 1):
            yield f"pair{number}", [f"first{starts.index(each.start) + 1}" for each in factors]

    def charter(self, keys, epsilon):
        all_ones = sum(self.ones.values())
        rounds = keys["rule"] == "gradients"
        box = keys["box"] if rounds else 8.0 / math.sqrt(all_ones)
        protocol = {key: value for key, value in keys.items() if key != "box"} if rounds else {
            "rule": "statistics", "dealer": "none"}
        columns = [category(name, [f"c{j}" for j in each], owner=owner) for owner in COLUMNS
                   for name, each in zip(self.names(owner), self.attributes(owner))]
        columns += [block("[[column]]", {"name": name, "kind": "category", "product_of": factors, "owner": "first"})
                    for name, factors in self.pairs()]
        held = {owner: self.names(owner) for owner in COLUMNS}
        held["first"] += [name for name, _ in self.pairs()]
        return "\n".join([
            block("[charter]", {"version": 1, "name": "a9a", "consortium": "agencies.example"}),
            block("[records]", {"id": "id", "count": self.count}),
            block("[target]", {"owner": "first", "column": "income", "levels": ["-1", "+1"]}),
            *columns,
            block("[model]", {"loss": "squared", "l2": 2 * all_ones / self.count, "box": box}),
            block("[protocol]", {"name": "sharing", **protocol}),
            block("[privacy]", {"delta": 1e-5}),
            *[block("[[owner]]", {"name": owner, "epsilon": float(epsilon), "columns": held[owner]})
              for owner in COLUMNS],
            block("[learner]", {"name": "office"})])


def means(figures):
    return [statistics.fmean(each) for each in zip(*figures)]


def choose(job, candidates, epsilon):
    if len(candidates) == 1:
        return candidates[0]
    found = [means(POOL.map(lambda seed: job.train(keys, epsilon, seed), range(101, 104))) for keys in candidates]
    for keys, (accuracy, loss) in zip(candidates, found):
        print(f"  epsilon {epsilon}: {accuracy:.4f} {loss:.4f} {text_of(keys)}", file=sys.stderr, flush=True)
    return candidates[min(range(len(found)), key=lambda i: found[i][1])]


def text_of(keys):
    return ", ".join(f"{key} {value:g}" for key, value in keys.items() if key not in ("rule", "dealer"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parley", default=ROOT / "build/release/parley")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--products", action="store_true")
    parser.add_argument("--without-dealer", action="store_true")
    parser.add_argument("--rule", choices=("gradients", "statistics"), action="append")
    options = parser.parse_args()
    rows, test = (unpack(file).splitlines() for file in ("a9a/a9a", "a9a/a9a.t"))
    mixed = random.Random(1).sample(rows, len(rows))
    cut = len(mixed) * 4 // 5
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        products = PRODUCTS if options.products else ()
        kind = Cells if options.without_dealer else Columns
        tried = kind(options.parley, folder / "tried", mixed[:cut], mixed[cut:], products)
        job = kind(options.parley, folder / "job", rows, test, products)
        print("| rule | epsilon | accuracy | log loss | constants |\n|---|---|---|---|---|", flush=True)
        for rule in options.rule or (("statistics",) if options.without_dealer else ("gradients", "statistics")):
            for epsilon in EPSILONS:
                gradients = ROUNDS if options.without_dealer else GRADIENTS
                keys = choose(tried, {"gradients": gradients, "statistics": STATISTICS}[rule], epsilon)
                figures = list(POOL.map(lambda seed: job.train(keys, epsilon, seed), range(1, options.seeds + 1)))
                accuracy, loss = means(figures)
                spread = [statistics.stdev(each) if len(each) > 1 else 0 for each in zip(*figures)]
                print(f"| {rule} | {epsilon} | {accuracy:.4f} ± {spread[0]:.4f} | {loss:.4f} ± {spread[1]:.4f} | "
                      f"{text_of(keys)} |", flush=True)


if __name__ == "__main__":
    main()
