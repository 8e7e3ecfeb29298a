#!/usr/bin/env python3
"""With public rows: the job that `parley forecast --tune` chooses, beside diffprivlib, over seeds.

    PARLEY_DATA=FOLDER experiments/with_pilot.py [--parley build/release/parley] [--seeds 20] [--epsilons 1 10] [TABLE...]

Tables, rows held out and owners are those of experiments/no_pilot.py, with at most 20,000 rows to train on. The first 1,000
of them are public; five owners hold the others. A draft charter names columns, owners, epsilons and delta 1e-6, and
`--tune` chooses all else, once for a table and an epsilon: it sees no private row. diffprivlib (pure epsilon) has all these rows in
one place, the public ones included, and the best of three C *as judged on the held-out rows* with seeds 1 to 3; that C then has
all seeds. A seed is one of the noise. Held-out AUC, means over seeds; the difference with two standard errors of it.
"""

import argparse
import hashlib
import math
import pathlib
import statistics
import tempfile
import warnings

import no_pilot
import worth
from no_pilot import CS, OWNERS, ROOT
from charters import block

PILOT, MOST, FIRST = 1000, 20000, 3


class Table(no_pilot.Table):
    def __init__(self, parley, folder, name):
        super().__init__(parley, folder, name)
        self.train = self.train[:MOST]
        self.owners = {f"owner-{i + 1}": self.train[PILOT + i::OWNERS] for i in range(OWNERS)}
        for file, members in {"pilot": self.train[:PILOT], **self.owners}.items():
            with open(self.folder / f"{file}.csv", "w", newline="") as out:
                writer = worth.csv.DictWriter(out, list(self.train[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(members)

    def tuned(self, epsilon):
        sha256 = hashlib.sha256((self.folder / "pilot.csv").read_bytes()).hexdigest()
        owners = [block("[[owner]]", {"name": name, "rows": len(rows), "epsilon": epsilon, "delta": 1e-6})
                  for name, rows in self.owners.items()]
        (self.folder / "draft.charter.toml").write_text("\n".join([
            block("[charter]", {"version": 1, "name": "pilot", "consortium": "with-pilot.example"}),
            block("[pilot]", {"file": "pilot.csv", "sha256": sha256, "rows": PILOT}),
            block("[target]", self.target), *self.columns,
            block("[model]", {"loss": self.loss, "bias": True, "box": 5.0}), block("[protocol]", {}),
            block("[privacy]", {"delta": 1e-6}), *owners, block("[learner]", {"name": "learner"})]))
        job = f"job-{epsilon:g}.charter.toml"
        self.ask("forecast", "draft.charter.toml", "--tune", "--out", job)
        return job

    def ours(self, job, seed):
        out = f"run-{job}-{seed}"
        self.ask("simulate", job, "--data", ".", "--held-out", 0, "--seed", seed, "--out", out)
        lines = self.ask("predict", f"{out}/model.json", "test.csv").split("\n")
        return self.judged([float(line.split(",")[-1]) for line in lines[1:] if line])

    def theirs(self, epsilon, seeds):
        first = self.diffprivlib(epsilon, range(1, FIRST + 1))
        best = max(CS, key=lambda c: first[c])
        return best, [self.diffprivlib_with(epsilon, best, seed) for seed in seeds]

    def diffprivlib_with(self, epsilon, c, seed):
        x, count = no_pilot.encoded(self.train, self.columns)
        test, _ = no_pilot.encoded(self.test, self.columns)
        y = [1 if row[self.target["column"]] == "yes" else -1 for row in self.train]
        fit = no_pilot.LogisticRegression(epsilon=epsilon, data_norm=math.sqrt((self.ones or count) + 1), C=c,
                                          max_iter=200, random_state=seed).fit(x, y)
        return self.judged(fit.decision_function(test))


def line_of(table, name, epsilon, seeds):
    job = table.tuned(epsilon)
    ours = [table.ours(job, seed) for seed in seeds]
    c, theirs = table.theirs(epsilon, seeds)
    apart = statistics.fmean(ours) - statistics.fmean(theirs)
    error = math.sqrt((statistics.variance(ours) + statistics.variance(theirs)) / len(seeds))
    return (f"| {name} | {len(table.train)} | {epsilon:g} | {statistics.fmean(ours):.4f} | {statistics.fmean(theirs):.4f} "
            f"(C = {c:g}) | {apart:+.4f} ± {2 * error:.4f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parley", type=pathlib.Path, default=ROOT / "build/release/parley")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1, 10])
    parser.add_argument("names", nargs="*", metavar="TABLE")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| table | rows | ε | ours | diffprivlib | ahead |\n|---|---|---|---|---|---|")
    for name in options.names or [n for n in no_pilot.TABLES if n.split()[-1] not in ("rate", "days")]:
        with tempfile.TemporaryDirectory() as folder:
            table = Table(options.parley.resolve(), folder, name)
            for epsilon in options.epsilons:
                print(line_of(table, name, epsilon, range(1, options.seeds + 1)), flush=True)


if __name__ == "__main__":
    main()
