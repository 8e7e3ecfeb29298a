#!/usr/bin/env python3
"""A pilot from another region or time: alarms, and what becomes of the model.

    PARLEY_DATA=FOLDER experiments/wrong_pilot.py [--parley build/release/parley] [--seeds 6] [--epsilons 1 10] [CASE...]

Owners' rows and public rows come from different parts of a table of experiments/worth.py: other years, another state, another
job. 1,000 public rows are drawn from their part for every seed; of the owners' at most 20,000 are taken, 4,000 of them held out, the others
divided by chance among five owners. Rule pilot_newton in secure sums, delta 1e-6, 4 rounds, l2 1e-3, columns by public bounds, the clip
at 90 % of the public rows' gradients. Loss on the held-out rows above that of the best model without privacy, in %, mean over seeds:
on_alarm = "continue" (steps are cut and unknown columns left out, as always), on_alarm = "gram", the pilot's own model, and a tenth of the
owners' rows alone without privacy.
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import pypi  # noqa: E402

pypi.need("numpy", "sklearn", versions={"sklearn": "scikit-learn==1.5.2"})
import numpy  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402

import worth  # noqa: E402
from jobs import run  # noqa: E402
from charters import block  # noqa: E402
from tables import encoded  # noqa: E402

PILOT, ROWS, HELD_OUT, OWNERS, L2 = 1000, 20000, 4000, 5, 1e-3

# table, column, values of the public rows, values of the owners' rows (none: all others)
CASES = {"loans 2011, 2007/08": (lambda: worth.loans("year"), "year", ("2007", "2008"), ("2011",)),
         "loans 2010, 2007 to 09": (lambda: worth.loans("year"), "year", ("2007", "2008", "2009"), ("2010",)),
         "loans, California": (lambda: worth.loans("addr_state"), "addr_state", ("CA",), None),
         "adult, professionals": (lambda: worth.adult("job"), "job", ("Prof-specialty",), None),
         "adult, services": (lambda: worth.adult("job"), "job", ("Other-service",), None),
         "diabetes, cardiology": (lambda: worth.diabetes(True), "medical_specialty", ("Cardiology",), None),
         "diabetes days, Medicare": (lambda: worth.diabetes(False), "payer_code", ("MC",), None),
         "creditcard, first hours": (worth.creditcard, "hours", ("0", "1", "2", "3"), None),
         "loans by purpose, small business": (worth.loans_default, "purpose", ("small_business",), None)}


class Case:
    def __init__(self, parley, folder, name):
        self.parley, self.folder = parley, pathlib.Path(folder)
        make, column, public, private = CASES[name]
        rows, _, self.target, self.columns, self.loss = make()
        random.Random(1).shuffle(rows)
        self.public = [row for row in rows if row[column] in public]
        owners = [row for row in rows if (row[column] in private if private else row[column] not in public)][:ROWS]
        self.test, self.train = owners[:HELD_OUT], owners[HELD_OUT:]
        self.owners = {f"owner-{i + 1}": self.train[i::OWNERS] for i in range(OWNERS)}
        for each, members in {"test": self.test, **self.owners}.items():
            self.write(each, members)
        self.best = self.excess_of([self.train])

    def write(self, name, rows):
        with open(self.folder / f"{name}.csv", "w", newline="") as file:
            writer = worth.csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def label(self, row):
        value = row[self.target["column"]]
        if self.loss == worth.LOGISTIC:
            return 1.0 if value == "yes" else -1.0
        low, high = self.target["bounds"]
        return (min(max(float(value), low), high) - self.target["center"]) / self.target["scale"]

    def mean_loss(self, scores):
        labels = [self.label(row) for row in self.test]
        if self.loss == worth.LOGISTIC:
            return statistics.fmean(numpy.logaddexp(0, -y * u) for y, u in zip(labels, scores))
        return statistics.fmean((u - y) ** 2 for y, u in zip(labels, scores))

    def scores_of(self, rows, at):
        """What a model of `rows`, without privacy, says about the rows `at`."""
        x, y = encoded(rows, self.columns)[0], numpy.array([self.label(row) for row in rows])
        if self.loss == worth.LOGISTIC:
            model = LogisticRegression(C=1 / (L2 * len(y)), max_iter=1000).fit(x, y)
            return model.decision_function(encoded(at, self.columns)[0])
        return Ridge(alpha=L2 * len(y) / 2).fit(x, y).predict(encoded(at, self.columns)[0])

    def excess_of(self, parts):
        return statistics.fmean(self.mean_loss(self.scores_of(rows, self.test)) for rows in parts)

    def clip(self, rows):
        """Nine tenths of these rows' gradients at their optimum are shorter."""
        scores, labels = self.scores_of(rows, rows), numpy.array([self.label(row) for row in rows])
        slopes = (1 / (1 + numpy.exp(labels * scores)) if self.loss == worth.LOGISTIC else 2 * abs(scores - labels))
        lengths = numpy.sqrt((encoded(rows, self.columns)[0] ** 2).sum(axis=1) + 1)
        return float(numpy.quantile(slopes * lengths, .9))

    def percent(self, loss):
        return 100 * (loss / self.best - 1)

    def ask(self, *command):
        return run([self.parley, "--quiet", *command], cwd=self.folder)

    def prepare(self, seed):
        """The public rows of this seed, and the bundle by bounds."""
        pilot = random.Random(seed).sample(self.public, min(PILOT, len(self.public)))
        self.write("pilot", pilot)
        self.max_grad_norm = self.clip(pilot)
        (self.folder / "bundle.json").unlink(missing_ok=True)
        self.charter(1, "", "continue")
        self.ask("data", "prepare", "job.charter.toml", "--pilot", "pilot.csv", "--bounds")

    def charter(self, epsilon, bundle, on_alarm):
        sha = worth.hashlib.sha256((self.folder / "pilot.csv").read_bytes()).hexdigest()
        owners = [block("[[owner]]", {"name": name, "rows": len(rows), "epsilon": epsilon, "delta": 1e-6})
                  for name, rows in self.owners.items()]
        privacy = {"max_grad_norm": self.max_grad_norm}
        if on_alarm == "gram":
            privacy["max_row_norm"] = math.sqrt(len(self.columns) + 1)
        (self.folder / "job.charter.toml").write_text("\n".join([
            block("[charter]", {"version": 1, "name": "wrong", "consortium": "wrong-pilot.example"}),
            block("[pilot]", {"file": "pilot.csv", "sha256": sha,
                              "rows": sum(1 for _ in open(self.folder / "pilot.csv")) - 1}),
            block("[preprocess]", {"bundle": "bundle.json", "sha256": bundle}) if bundle else "",
            block("[target]", self.target), *self.columns,
            block("[model]", {"loss": self.loss, "bias": True, "l2": L2, "box": 20.0}),
            block("[protocol]", {"name": "sync", "rule": "pilot_newton", "rounds": 4, "step": 1.0, "average": "none",
                                 "momentum": 0.0, "on_alarm": on_alarm}), block("[privacy]", privacy),
            block("[secure_aggregation]", {"repeats": 0}), *owners, block("[learner]", {"name": "learner"})]))

    def trained(self, epsilon, on_alarm, seed):
        """Was there an alarm, and the loss on held-out rows."""
        bundle = worth.hashlib.sha256((self.folder / "bundle.json").read_bytes()).hexdigest()
        self.charter(epsilon, bundle, on_alarm)
        out = f"run-{epsilon:g}-{on_alarm}-{seed}"
        came = json.loads(self.ask("simulate", "job.charter.toml", "--data", ".", "--seed", seed, "--json", "--out", out))
        model = json.loads((self.folder / out / "model.json").read_text())
        return came["result"]["pilot_check"]["alarm"], self.mean_loss(self.scores(model["model"]["theta"]))

    def scores(self, theta):
        test = encoded(self.test, self.columns)[0]
        return numpy.c_[test, numpy.ones(len(test))] @ numpy.array(theta)


def line_of(case, name, options):
    tenths = [case.train[i::10] for i in range(10)]
    found = {e: {"alarms": 0, "continue": [], "gram": []} for e in options.epsilons}
    for seed in range(1, options.seeds + 1):
        case.prepare(seed)
        for epsilon, each in found.items():
            for on_alarm in ("continue", "gram"):
                alarm, loss = case.trained(epsilon, on_alarm, seed)
                each[on_alarm].append(case.percent(loss))
            each["alarms"] += alarm
    both = lambda text: "; ".join(text(each) for each in found.values())
    return (f"| {name} | {both(lambda e: str(e['alarms']))} of {options.seeds} | "
            f"{both(lambda e: '%+.1f' % statistics.fmean(e['continue']))} | "
            f"{both(lambda e: '%+.1f' % statistics.fmean(e['gram']))} | {case.percent(case.excess_of(tenths)):+.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parley", type=pathlib.Path, default=ROOT / "build/release/parley")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1, 10])
    parser.add_argument("names", nargs="*", metavar="CASE")
    options = parser.parse_args()
    print("| owners, pilot | alarms | on_alarm = \"continue\" | \"gram\" | a tenth of the owners' rows alone |\n|---|---|---|---|---|")
    for name in options.names or CASES:
        with tempfile.TemporaryDirectory() as folder:
            print(line_of(Case(options.parley.resolve(), folder, name), name, options), flush=True)


if __name__ == "__main__":
    main()
