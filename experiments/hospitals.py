#!/usr/bin/env python3
"""86 hospitals, T = 1000: the asynchronous paper to the letter against the owner-enforced cap.

    experiments/hospitals.py [--parley build/release/parley] [--runs 8] [--rows 1900000]

Every line is `parley simulate --standin hospital` of one charter with a few keys changed: 86 hospitals
of unequal sizes, squared loss, l2 = 2e-5, a = 0.1, clip 20, as in docs/theory (D10, D11). `paper` is calibration "paper": nothing is cut, real-valued noise split by T, the last
theta_L. `literal` is the same with records cut to the clip, exact noise and a ledger: answers = T.
`cap` splits each hospital's epsilon by 12 answers, which its ledger enforces; `copies` hands over the
mean of all copies instead of the last theta_L, `tail` the average over the last half.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOSPITALS, ROUNDS, CAP = 86, 1000, 12
COLUMNS = "".join(f"""[[column]]
name = "x{i}"
kind = "number"
bounds = [-10.0, 10.0]
missing = 0.0
""" for i in range(1, 11))

KINDS = [
    ("paper", "the paper to the letter (NOT PRIVATE)",
     {"privacy.calibration": "paper", "protocol.output": "last", "protocol.answers": ROUNDS}),
    ("literal", "the same, records cut, exact noise",
     {"protocol.output": "last", "protocol.answers": ROUNDS}),
    ("cap", "cap of 12 answers, last point", {"protocol.output": "last"}),
    ("tail", "cap, tail average", {"protocol.output": "tail"}),
    ("copies", "cap, mean of all copies", {"protocol.output": "copies"}),
]


def sizes(rows):
    """10,000 rows each and a log-normal share of the rest, at most 5 times the mean share."""
    draw = random.Random(1)
    least = rows // 190
    shares = [math.exp(draw.gauss(0, .8)) for _ in range(HOSPITALS)]
    mean = sum(shares) / HOSPITALS
    shares = [min(share, 5 * mean) for share in shares]
    return [least + int((rows - HOSPITALS * least) * share / sum(shares)) for share in shares]


def charter(rows, epsilon):
    owners = "".join(f'[[owner]]\nname = "hospital-{i + 1}"\nrows = {n}\nepsilon = {epsilon}\n'
                     for i, n in enumerate(rows))
    return f"""[charter]
version = 1
name = "hospitals"
consortium = "hospitals.example"
[pilot]
file = "pilot.csv"
sha256 = "{'0' * 64}"
rows = 10000
[target]
column = "log_los"
bounds = [-1.5, 2.5]
center = 0.0
scale = 2.5
{COLUMNS}
[model]
loss = "squared"
l2 = 2e-5
box = 1000000.0
[protocol]
name = "async"
rounds = {ROUNDS}
answers = {CAP}
step = 0.1
output = "last"
[privacy]
max_grad_norm = 20.0
evaluate = 0.0
{owners}[learner]
name = "health-ministry"
"""


def simulate(parley, folder, text, keys, runs):
    file = os.path.join(folder, "hospitals.charter.toml")
    with open(file, "w") as out:
        out.write(text)
    command = [parley, "simulate", file, "--standin", "hospital", "--runs", str(runs), "--seed", "1",
               "--json", "--out", os.path.join(folder, "run")]
    for key, value in keys.items():
        command += ["--set", f"{key}={value}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["result"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parley", default=os.path.join(ROOT, "build/release/parley"))
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--rows", type=int, default=1_900_000, help="of all hospitals together")
    parser.add_argument("--epsilon", type=float, nargs="*", default=[0.1, 1.0, 10.0])
    options = parser.parse_args()
    rows = sizes(options.rows)
    print("| epsilon | what | relative fitness | standard error | hospitals that gain |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for epsilon in options.epsilon:
            for _, what, keys in KINDS:
                result = simulate(options.parley, folder, charter(rows, epsilon), keys, options.runs)
                fitness = result["relative_fitness"]
                gain = sum(owner["gains"] for owner in result["owners"])
                print(f"| {epsilon:g} | {what} | {fitness['mean']:.3g} | {fitness['standard_error']:.1g} "
                      f"| {gain} of {len(rows)} |", flush=True)


if __name__ == "__main__":
    main()
