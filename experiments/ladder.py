#!/usr/bin/env python3
"""The ladder of mechanisms at equal epsilon: three banks, 10,000 loans each, epsilon = 1.

    experiments/ladder.py [--parley build/release/parley] [--runs 200] [--data FOLDER] [--rows NAME…]
                          [--halves mixed|time]

Every line is `parley simulate` of examples/three-banks.charter.toml with a few keys changed, on
`--standin lending` or on the files of FOLDER (bank-a.csv, bank-b.csv, bank-c.csv, pilot.csv, for
example from experiments/reference_lending.py). The first table has the constants that the
numpy reference had. For the second all constants are chosen on the public rows
alone: one half of them is the pilot, the other half plays three small owners whose epsilon is so much
larger that their noise is that of the real ones; whichever constants do best there (seed 2) are run
once on the owners' rows (seed 1), and nothing is chosen again. The halves are every other row, or with
`--halves time` the later rows (the pilot) and the earlier ones (the owners), for a pilot in order of time
whose owners' rows are older still.
"""

import argparse
import concurrent.futures
import csv
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OWNERS = ["bank-a", "bank-b", "bank-c"]
ROWS, EPSILON = 10_000, 1.0

ALGORITHM2 = {"rule": "algorithm2", "rounds": 98, "step": 0.5, "start": "zero", "average": "paper"}
CONSTANT = {"rule": "constant", "step": 0.5, "start": "zero", "average": "tail"}
NEWTON = {"rule": "pilot_newton", "step": 1.0, "start": "pilot", "average": "tail"}
GAUSSIAN = {"mechanism": "gaussian", "delta": 1e-6}


def job(protocol, privacy):
    return {**{f"protocol.{k}": v for k, v in protocol.items()},
            **{f"privacy.{k}": v for k, v in privacy.items()}}


# Of each row the numpy reference's relative fitness at 10,000 rows.
WANTED = {"1": 18.1, "2": 0.0103, "3": 0.00125, "4": 0.00095, "5": 0.00054, "6": 0.00036,
          "7": 0.00035, "8": 0.0162, "9": 0.151}

# Row, what it is, keys of the charter. The reference names no constants for statistics.
LADDER = [
    ("1", "Algorithm 2, T = 100, Laplace, worst-case clip 2520",
     job(ALGORITHM2, {"max_grad_norm": 2520})),
    ("2", "Algorithm 2, T = 100, Laplace, clip 2", job(ALGORITHM2, {"max_grad_norm": 2})),
    ("3", "constant step, tail average, 10 rounds, Laplace, clip 2",
     job({**CONSTANT, "rounds": 10}, {"max_grad_norm": 2})),
    ("4", "Algorithm 2, T = 100, Gaussian, clip 2",
     job(ALGORITHM2, {"max_grad_norm": 2, **GAUSSIAN})),
    ("5", "constant step, tail average, 20 rounds, Gaussian, clip 1",
     job({**CONSTANT, "rounds": 20}, {"max_grad_norm": 1, **GAUSSIAN})),
    ("6", "pilot-Newton, 2 rounds, Laplace, clip 4",
     job({**NEWTON, "rounds": 2}, {"max_grad_norm": 4})),
    ("7", "pilot-Newton, 2 rounds, Gaussian, clip 2",
     job({**NEWTON, "rounds": 2}, {"max_grad_norm": 2, **GAUSSIAN})),
]


def jobs_of(protocol, noise, clips, rounds):
    return [job({**protocol, "rounds": t}, {"max_grad_norm": c, **noise})
            for c, t in itertools.product(clips, rounds)]


def statistics_of(noise, lengths):
    return [job({"rule": "statistics"}, {"max_row_norm": r, "label_weight": w, **noise})
            for r, w in itertools.product(lengths, (1, 2, 4, 8, 16, 32))]


# Row, what it is, from which constants the pilot chooses.
FAMILIES = [
    ("2", "Algorithm 2, T = 100, Laplace", jobs_of(ALGORITHM2, {}, (1, 2, 4, 8), (98,))),
    ("3", "constant step, tail average, Laplace", jobs_of(CONSTANT, {}, (2, 4, 8), (5, 10, 20))),
    ("4", "Algorithm 2, T = 100, Gaussian", jobs_of(ALGORITHM2, GAUSSIAN, (1, 2, 4), (98,))),
    ("5", "constant step, tail average, Gaussian",
     jobs_of(CONSTANT, GAUSSIAN, (1, 2, 4), (10, 20, 50))),
    ("6", "pilot-Newton, Laplace", jobs_of(NEWTON, {}, (2, 4, 8), (1, 2, 3, 5))),
    ("7", "pilot-Newton, Gaussian", jobs_of(NEWTON, GAUSSIAN, (1, 2, 4), (1, 2, 3, 5))),
    ("8", "statistics once, Gaussian", statistics_of(GAUSSIAN, (1, 1.5, 2, 3, 4))),
    ("9", "statistics once, Laplace", statistics_of({}, (2, 3, 4, 5, 6, 8, 10))),
]


class Ladder:
    def __init__(self, parley, runs, data, folder, by_time=False):
        self.parley, self.runs, self.folder, self.pilot, self.by_time = parley, runs, folder, None, by_time
        self.charter = os.path.join(folder, "ladder.charter.toml")
        self.data = data or self.generate()
        # Every job sets these itself, and not all rules have all of them.
        own = re.compile(r"(rule|rounds|step|momentum|average|start|max_grad_norm|clip) *=")
        with open(os.path.join(ROOT, "examples/three-banks.charter.toml")) as file:
            lines = [line for line in file if not own.match(line)]
        with open(self.charter, "w") as file:
            file.writelines(lines)

    def generate(self):
        folder = os.path.join(self.folder, "data")
        command = [self.parley, "data", "generate", "lending", "--out", folder]
        subprocess.run(command + [f"--owner={name}={ROWS}" for name in OWNERS], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return folder

    def simulate(self, keys, data, rows, epsilon, runs, seed):
        """Mean relative fitness, its standard error and the whole result."""
        pilot = os.path.join(data, "pilot.csv")
        with open(pilot, "rb") as file:
            content = file.read()
        keys = {**keys, "privacy.evaluate": 0, "pilot.rows": content.count(b"\n") - 1,
                "pilot.sha256": hashlib.sha256(content).hexdigest()}
        for i in range(len(OWNERS)):
            keys |= {f"owner.{i}.rows": rows, f"owner.{i}.epsilon": epsilon}
        command = [self.parley, "simulate", self.charter, "--data", data, "--runs", str(runs), "--seed", str(seed), "--threads", "1",
                   "--json", "--out", os.path.join(self.folder, f"run-{seed}-{hash(str(keys)) & 0xffffffff:x}")]
        for key, value in keys.items():
            command += ["--set", f"{key}={value}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        result = json.loads(done.stdout)["result"]
        return result["relative_fitness"]["mean"], result["relative_fitness"]["standard_error"], result

    def score(self, keys):
        return self.simulate(keys, self.data, ROWS, EPSILON, self.runs, seed=1)

    def halves(self):
        """The public rows as a small job of their own: a pilot and three owners."""
        if self.pilot:
            return self.pilot
        self.pilot = os.path.join(self.folder, "pilot")
        os.makedirs(self.pilot)
        with open(os.path.join(self.data, "pilot.csv"), newline="") as file:
            head, *rows = list(csv.reader(file))
        half = len(rows) // 2
        fitted, judged = (rows[half:], rows[:half]) if self.by_time else (rows[0::2], rows[1::2])
        each = len(judged) // len(OWNERS)
        owners = [judged[i * each:(i + 1) * each] if self.by_time else judged[i::len(OWNERS)][:each]
                  for i in range(len(OWNERS))]
        parts = {"pilot": fitted} | dict(zip(OWNERS, owners))
        for name, part in parts.items():
            with open(os.path.join(self.pilot, name + ".csv"), "w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([head] + part)
        self.pilot_rows = each
        return self.pilot

    def choose(self, candidates, pool):
        """The candidate that does best on the public rows, at the noise of the real job."""
        data = self.halves()
        epsilon = EPSILON * ROWS / self.pilot_rows
        judge = lambda keys: self.simulate(keys, data, self.pilot_rows, epsilon, self.runs, seed=2)[0]
        scores = list(pool.map(judge, candidates))
        return candidates[scores.index(min(scores))]


def constants(keys):
    if keys["protocol.rule"] == "statistics":
        return f"length {keys['privacy.max_row_norm']}, label weight {keys['privacy.label_weight']}"
    return f"clip {keys['privacy.max_grad_norm']}, {keys['protocol.rounds']} rounds"


def against(name, found):
    return f"{100 * (found / WANTED[name] - 1):+.0f} %"


def given(ladder, pool, rows):
    print("| row | mechanism | reference | measured | standard error | difference |")
    print("|---|---|---|---|---|---|")
    for (name, what, _), (found, error, _) in zip(rows, pool.map(ladder.score, [r[2] for r in rows])):
        print(f"| {name} | {what} | {WANTED[name]:.3g} | {found:.3g} | {error:.1g} | "
              f"{against(name, found)} |", flush=True)


def chosen(ladder, pool, rows):
    print("\n| row | constants chosen on the pilot | which | reference | measured | "
          "standard error | difference | gain |\n|---|---|---|---|---|---|---|---|")
    first = result = None
    for name, what, candidates in rows:
        best = ladder.choose(candidates, pool)
        found, error, result = ladder.score(best)
        first = first or found
        print(f"| {name} | {what} | {constants(best)} | {WANTED[name]:.3g} | {found:.3g} | {error:.1g} | "
              f"{against(name, found)} | {first / found:.1f} |", flush=True)
    if result:
        alone = ", ".join(f"{owner['local_only']:.3g}" for owner in result["owners"])
        print(f"\nWithout collaboration and noise: {alone}; the pilot alone: "
              f"{result['owners'][0]['pilot_only']:.3g}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parley", default=os.path.join(ROOT, "build/release/parley"))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--data", help="folder with bank-a.csv, bank-b.csv, bank-c.csv, pilot.csv")
    parser.add_argument("--halves", choices=["mixed", "time"], default="mixed")
    parser.add_argument("--rows", nargs="*", help="rows of the tables, for example 2 6")
    options = parser.parse_args()
    wanted = lambda rows: [row for row in rows if options.rows is None or row[0] in options.rows]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        ladder = Ladder(options.parley, options.runs, options.data, folder, options.halves == "time")
        given(ladder, pool, wanted(LADDER))
        chosen(ladder, pool, wanted(FAMILIES))


if __name__ == "__main__":
    main()
