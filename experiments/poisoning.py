#!/usr/bin/env python3
"""What one owner that lies about its data does to the model of all, under each protocol of rows.

    experiments/poisoning.py [--parley build/release/parley] [--seeds 5]

Ten owners of 1,000 rows, ten features, two classes, epsilon 2, delta 1e-6. One of them exchanges the
classes of all its rows, or gives every row the same far point and one class. AUC of the joint model on 20,000
new rows that are like the honest owners', mean and standard deviation over seeds of data and noise.
An owner that does not lie about its data but sends arbitrary numbers is not simulated: under sync and async nothing but the
box bounds what it does.
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import tempfile

OWNERS, ROWS, NEW, FEATURES = 10, 1000, 20000, 10
COMMON = "[privacy]\ndelta = 1e-6\nmechanism = \"gaussian\"\nevaluate = 0.0\n"
WAYS = {
    "sync": '[protocol]\nname = "sync"\nrule = "constant"\nrounds = 20\nstep = 2.0\naverage = "tail"\n'
            + COMMON + "max_grad_norm = 1.0\n",
    "sync in secure sums": '[protocol]\nname = "sync"\nrule = "constant"\nrounds = 20\nstep = 2.0\naverage = "tail"\n'
                           "[secure_aggregation]\nrepeats = 0\n" + COMMON + "max_grad_norm = 1.0\n",
    "async": '[protocol]\nname = "async"\nrounds = 200\nanswers = 20\nstep = 0.029\n' + COMMON + "max_grad_norm = 1.0\n",
    "federated": '[protocol]\nname = "federated"\nrounds = 10\nlocal_steps = 5\nstep = 1.9\n'
                 "[secure_aggregation]\nrepeats = 0\n" + COMMON + "max_row_norm = 2.0\n",
}
LIES = ("honest", "classes exchanged", "one far point")


def rows_of(draw, count, theta, lie="honest"):
    lines = [",".join([f"x{j}" for j in range(FEATURES)] + ["y"])]
    for _ in range(count):
        z = [draw.gauss(0, 1) / math.sqrt(FEATURES) for _ in range(FEATURES)]
        yes = draw.random() < 1 / (1 + math.exp(-4 * sum(a * b for a, b in zip(theta, z))))
        if lie == "classes exchanged":
            yes = not yes
        if lie == "one far point":
            z, yes = [3 * t for t in theta], False
        lines.append(",".join([f"{value:.5f}" for value in z] + ["yes" if yes else "no"]))
    return "\n".join(lines) + "\n"


def charter(way):
    columns = "".join(f'[[column]]\nname = "x{j}"\nkind = "number"\nbounds = [-4.0, 4.0]\nmissing = 0.0\n'
                      for j in range(FEATURES))
    owners = "".join(f'[[owner]]\nname = "owner-{i}"\nrows = {ROWS}\nepsilon = 2.0\n' for i in range(OWNERS))
    return ('[charter]\nversion = 1\nname = "poisoning"\nconsortium = "test.example"\n'
            f'[target]\ncolumn = "y"\nlevels = ["no", "yes"]\n{columns}'
            f'[model]\nloss = "logistic"\nl2 = 1e-3\nbox = 5.0\n{WAYS[way]}{owners}[learner]\nname = "learner"\n')


def parley(folder, *arguments):
    done = subprocess.run([pathlib.Path(OPTIONS.parley).resolve(), "--json", "--quiet", *map(str, arguments)], text=True,
                          capture_output=True, check=False, cwd=folder)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def auc(scores, labels):
    order = sorted(range(len(scores)), key=scores.__getitem__)
    positive = sum(labels)
    ranks = sum(rank for rank, i in enumerate(order, 1) if labels[i])
    return (ranks - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))


def one(seed, way, lie, folder):
    draw = random.Random(seed)
    theta = [draw.gauss(0, 1) for _ in range(FEATURES)]
    length = math.sqrt(sum(t * t for t in theta))
    theta = [t / length for t in theta]
    data = folder / "data"
    data.mkdir(exist_ok=True)
    for i in range(OWNERS):
        (data / f"owner-{i}.csv").write_text(rows_of(draw, ROWS, theta, lie if i == 0 else "honest"))
    new = rows_of(draw, NEW, theta)
    (folder / "new.csv").write_text(new)
    (folder / "job.toml").write_text(charter(way))
    parley(folder, "simulate", "job.toml", "--data", "data", "--seed", seed, "--out", f"out-{seed}-{way}-{lie}".replace(" ", "_"))
    model = next(folder.glob(f"out-{seed}-{way}-{lie}".replace(" ", "_") + "/model.json"))
    scores = parley(folder, "predict", model, "new.csv")["values"]
    return auc(scores, [line.endswith("yes") for line in new.splitlines()[1:]])


def main():
    print(f"{'AUC':<22}" + "".join(f"{lie:>24}" for lie in LIES))
    for way in WAYS:
        cells = []
        for lie in LIES:
            with tempfile.TemporaryDirectory() as folder:
                found = [one(seed, way, lie, pathlib.Path(folder)) for seed in range(OPTIONS.seeds)]
            cells.append(f"{statistics.mean(found):.4f} ± {statistics.stdev(found):.4f}")
        print(f"{way:<22}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser(description=__doc__)
    PARSER.add_argument("--parley", default="build/release/parley")
    PARSER.add_argument("--seeds", type=int, default=5)
    OPTIONS = PARSER.parse_args()
    main()
