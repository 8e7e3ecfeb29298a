#!/usr/bin/env python3
"""Leaves of public trees as features: adult among 20 owners of 500 rows, columns alone against columns and leaves.

    PARLEY_DATA=FOLDER experiments/public_trees.py [--parley build/release/parley] [--seeds 5] [--epsilons 1 3 10]

Every seed shuffles the table and cuts it into 8,000 rows held out, 1,000 public rows and the owners'. Bundles are
`parley data prepare --cut 4 --length 2` (columns) and `--trees 40` (and leaves). Fixed beforehand: pilot_newton with
two rounds, the last point, in secure sums that 16 owners survive and 4 may betray, delta 1e-6; clip at the 90 %
quantile of the public rows' gradients at their own optimum; l2 0.001 for columns, 0.003 for leaves. AUC on
the rows held out, mean and standard deviation over the seeds.
"""

import argparse
import collections
import json
import math
import os
import random
import statistics
import tempfile

from jobs import NEWTON, POOL, ROOT, Job, unpack
from charters import category, number
from real_data import auc

HEAD = "age work fnl edu edun marital job rel race sex gain loss hours country y".split()
OWNERS, ROWS, PILOT, HELD_OUT = 20, 500, 1000, 8000
DESIGNS = {"columns": (["--cut", 4, "--length", 2], 1e-3), "columns and leaves": (["--trees", 40], 3e-3)}
SUMS = {"protocol.rounds": 2, "protocol.average": "none", "privacy.mechanism": "gaussian",
        "secure_aggregation.survivors": 16, "secure_aggregation.colluders": 4, "secure_aggregation.repeats": 0,
        **{f"owner.{i}.delta": 1e-6 for i in range(OWNERS)}}


def adult():
    """All rows of both files; the class without the full stop that one of them has."""
    rows = []
    for file in ("adult/adult.data", "adult/adult.test"):
        for line in unpack(file).splitlines():
            values = [value.strip() for value in line.split(",")]
            if len(values) == len(HEAD):
                rows.append(dict(zip(HEAD, values[:-1] + [values[-1].rstrip(".")])))
    return rows


def columns_of(rows):
    """Numbers, and of each category the levels with at least 0.5 % of all rows but for the most frequent one."""
    columns = [number("age", 20, 80, 50), number("edun", 3, 16, 9), number("gain", 0, 99999, 0, log=True),
               number("loss", 0, 5000, 0, log=True), number("hours", 5, 90, 48)]
    for name in ("work", "marital", "rel", "race", "sex", "edu", "job"):
        counts = collections.Counter(row[name] for row in rows).most_common(12)
        levels = [level for level, count in counts if count >= .005 * len(rows)]
        columns.append(category(name, levels[1:], encode="one_hot"))
    return columns


def lengths(job):
    """Of the pilot's features without leaves: the columns of the bundle, and a bias of 1."""
    bundle = json.loads((job.folder / "bundle.json").read_text())
    names = [bundle["encoded"][j] for j in bundle["select"]]
    means, scales = ([bundle[key][j] for j in bundle["select"]] for key in ("mean", "scale"))

    def encoded(row, name):
        if "=" in name:
            column, level = name.split("=", 1)
            return float(row[column] == level)
        low, high = {"age": (20, 80), "edun": (3, 16), "gain": (0, 99999), "loss": (0, 5000), "hours": (5, 90)}[name]
        value = min(max(float(row[name]), low), high)
        return math.log1p(value) if name in ("gain", "loss") else value

    def square(row):
        values = [(encoded(row, n) - m) / s for n, m, s in zip(names, means, scales)]
        return 1 + sum(min(abs(value), bundle["cut"]) ** 2 for value in values)

    leaves = len(bundle["trees"]["trees"]) * bundle["trees"]["leaf"] ** 2 if "trees" in bundle else 0
    return [math.sqrt(square(row) + leaves) for row in job.pilot]


def clip_of(job):
    """The 90 % quantile of the sizes of the pilot's gradients at the pilot's own optimum."""
    scores = job.scores(job.pilot_alone(), job.folder / "pilot.csv")
    sizes = sorted(length / (1 + math.exp(score if row["y"] == ">50K" else -score))
                   for length, score, row in zip(lengths(job), scores, job.pilot))
    return round(sizes[int(.9 * len(sizes))], 3)


def measured(parley, folder, rows, columns, seed, epsilons):
    """AUC by design and epsilon; epsilon 0 is the pilot's own model."""
    rows = rows[:]
    random.Random(seed).shuffle(rows)
    held_out, pilot, rest = rows[:HELD_OUT], rows[HELD_OUT:HELD_OUT + PILOT], rows[HELD_OUT + PILOT:]
    owners = {f"owner-{i + 1}": rest[i * ROWS:(i + 1) * ROWS] for i in range(OWNERS)}
    found = {}
    for design, (prepare, l2) in DESIGNS.items():
        task = {"target": {"column": "y", "levels": ["<=50K", ">50K"]}, "columns": columns, "prepare": prepare,
                "model": {"loss": "logistic", "l2": l2, "box": 10.0}}
        job = Job(parley, os.path.join(folder, f"{seed} {design}"), task, pilot, owners)
        file = job.write("held_out", held_out)
        keys = {**NEWTON, "protocol.step": 1.0, "privacy.max_grad_norm": clip_of(job), **SUMS}
        models = {0: job.pilot_alone(), **{e: job.simulate(keys, e, seed)[1] for e in epsilons}}
        for epsilon, model in models.items():
            scores = job.scores(model, file)
            found[design, epsilon] = auc(list(zip(scores, [row["y"] == ">50K" for row in held_out])))
    print(f"seed {seed}: " + ", ".join(f"{d} {e or 'pilot'} {v:.4f}" for (d, e), v in found.items()), flush=True)
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--parley", default=ROOT / "build/release/parley")
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--epsilons", type=float, nargs="+", default=[1, 3, 10])
    options = options.parse_args()
    rows = adult()
    columns = columns_of(rows)
    with tempfile.TemporaryDirectory() as folder:
        all_found = list(POOL.map(lambda seed: measured(options.parley, folder, rows, columns, seed, options.epsilons),
                                  range(1, options.seeds + 1)))
    print(f"\n| features | public rows alone | {' | '.join(f'ε = {e:g}' for e in options.epsilons)} |")
    print("|---|---" + "|---" * len(options.epsilons) + "|")
    for design in DESIGNS:
        values = [[found[design, e] for found in all_found] for e in [0, *options.epsilons]]
        print(f"| {design} | " + " | ".join(
            f"{statistics.fmean(v):.4f} ± {statistics.stdev(v) if len(v) > 1 else 0:.4f}" for v in values) + " |")


if __name__ == "__main__":
    main()
