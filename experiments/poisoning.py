#!/usr/bin/env python3
"""What one owner that lies about its data does to the model of all, under each protocol.

    experiments/poisoning.py [--parley build/release/parley] [--seeds 5] [--columns]

Ten owners of 1,000 rows, ten features, two classes, epsilon 2, delta 1e-6. One of them exchanges the
classes of all its rows, or gives every row the same far point and one class. AUC of the joint model on 20,000
new rows that are like the honest owners', mean and standard deviation over seeds of data and noise.
Under sharing three owners hold columns of the same 10,000 rows; one that holds three of them, not the classes, gives
numbers that have nothing to do with the people, or the same far point for all; or the holder of the classes exchanges them.
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
PARTS = ((0, 4), (4, 7), (7, 10))  # the columns of each owner under sharing; the first holds the classes
SHARING_LIES = ("honest", "classes exchanged", "one far point", "other numbers")


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


def sharing_charter():
    columns = "".join(f'[[column]]\nname = "x{j}"\nowner = "owner-{i}"\nkind = "number"\nbounds = [-4.0, 4.0]\nmissing = 0.0\n'
                      for i, part in enumerate(PARTS) for j in range(*part))
    owners = "".join(f'[[owner]]\nname = "owner-{i}"\nepsilon = 2.0\nmax_row_norm = 1.0\ncolumns = '
                     f'{json.dumps([f"x{j}" for j in range(*part)])}\n' for i, part in enumerate(PARTS))
    return ('[charter]\nversion = 1\nname = "poisoning"\nconsortium = "test.example"\n'
            f'[records]\nid = "id"\ncount = {OWNERS * ROWS}\n[target]\nowner = "owner-0"\ncolumn = "y"\nlevels = ["no", "yes"]\n{columns}'
            '[model]\nloss = "squared"\nl2 = 1e-3\nbox = 5.0\n[protocol]\nname = "sharing"\nrule = "gradients"\ndealer = "learner"\nrounds = 20\nstep = 1.0\n'
            'momentum = 0.8\naverage = "tail"\nmodel_ball = 4.0\n[privacy]\ndelta = 1e-6\nmechanism = "gaussian"\nmax_row_norm = 1.7321\n'
            f'{owners}[learner]\nname = "learner"\n')


def columns_of(text, part, theta, draw, lie):
    """One owner's columns of rows of all, as it gives them."""
    lines = text.splitlines()
    names = lines[0].split(",")
    keep = [names.index(f"x{j}") for j in range(*PARTS[part])] + ([names.index("y")] if part == 0 else [])
    out = [",".join(["id"] + [names[k] for k in keep])]
    for number, line in enumerate(lines[1:]):
        cells = line.split(",")
        if part == 0 and lie == "classes exchanged":
            cells[-1] = "no" if cells[-1] == "yes" else "yes"
        if part == 1 and lie == "one far point":
            cells[:-1] = [f"{3 * t:.5f}" for t in theta]
        if part == 1 and lie == "other numbers":
            cells[:-1] = [f"{draw.gauss(0, 1) / math.sqrt(FEATURES):.5f}" for _ in theta]
        out.append(",".join([str(number)] + [cells[k] for k in keep]))
    return "\n".join(out) + "\n"


def one_of_columns(seed, lie, folder):
    draw = random.Random(seed)
    theta = direction(draw)
    rows, new = rows_of(draw, OWNERS * ROWS, theta), rows_of(draw, NEW, theta)
    data = folder / "data"
    data.mkdir(exist_ok=True)
    for part in range(len(PARTS)):
        (data / f"owner-{part}.csv").write_text(columns_of(rows, part, theta, draw, lie))
    (folder / "job.toml").write_text(sharing_charter())
    parley(folder, "simulate", "job.toml", "--data", "data", "--seed", seed, "--out", f"out-{seed}")
    scores = [0.0] * NEW
    for part in range(len(PARTS)):  # New rows are everybody's true ones.
        model = json.loads((folder / f"out-{seed}" / "simulated" / f"owner-{part}" / "part.json").read_text())["model"]["model"]["theta"]
        for i, line in enumerate(columns_of(new, part, theta, draw, "honest").splitlines()[1:]):
            scores[i] += sum(a * float(b) for a, b in zip(model, line.split(",")[1:]))
    return auc(scores, [line.endswith("yes") for line in new.splitlines()[1:]])


def direction(draw):
    theta = [draw.gauss(0, 1) for _ in range(FEATURES)]
    length = math.sqrt(sum(t * t for t in theta))
    return [t / length for t in theta]


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
    theta = direction(draw)
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


def table(title, ways, lies, measure):
    print(f"{title:<22}" + "".join(f"{lie:>24}" for lie in lies))
    for way in ways:
        cells = []
        for lie in lies:
            with tempfile.TemporaryDirectory() as folder:
                found = [measure(seed, way, lie, pathlib.Path(folder)) for seed in range(OPTIONS.seeds)]
            cells.append(f"{statistics.mean(found):.4f} ± {statistics.stdev(found):.4f}")
        print(f"{way:<22}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


def main():
    if not OPTIONS.columns:
        table("AUC", WAYS, LIES, one)
    table("AUC, columns", ("sharing",), SHARING_LIES, lambda seed, _, lie, folder: one_of_columns(seed, lie, folder))


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser(description=__doc__)
    PARSER.add_argument("--parley", default="build/release/parley")
    PARSER.add_argument("--seeds", type=int, default=5)
    PARSER.add_argument("--columns", action="store_true", help="columns in several places only")
    OPTIONS = PARSER.parse_args()
    main()
