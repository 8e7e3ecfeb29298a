#!/usr/bin/env python3
"""One asynchronous run with very many simulated owners: time and memory.

    experiments/many_owners.py [--parley build/release/parley] [--owners 100000] [--answers 1]

Every owner has 20 rows of `--standin lending`, its own ledger and its own entropy, and gives `answers`
answers through gate, ledger and wire. Memory is the largest resident set of the process.
"""

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def charter(owners, answers, epsilon):
    table = "name,rows,epsilon,delta\n" + "".join(f"o{i},20,{epsilon:g},0\n" for i in range(owners))
    text = f"""[charter]
version = 1
name = "many"
consortium = "many.example"
[pilot]
file = "pilot.csv"
sha256 = "{'0' * 64}"
rows = 10000
[target]
column = "int_rate"
bounds = [5.0, 29.0]
center = 13.25
scale = 15.75
[[column]]
name = "pc"
count = 10
kind = "number"
bounds = [-40.0, 40.0]
missing = 0.0
[model]
loss = "squared"
l2 = 2e-5
box = 1.0
[protocol]
name = "async"
rounds = {owners * answers}
step = 0.25
output = "tail"
[privacy]
max_grad_norm = 8.0
evaluate = 0.0
[owners]
file = "owners.csv"
sha256 = "{hashlib.sha256(table.encode()).hexdigest()}"
[learner]
name = "learner"
"""
    return text, table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parley", default=os.path.join(ROOT, "build/release/parley"))
    parser.add_argument("--owners", type=int, default=100_000)
    parser.add_argument("--answers", type=int, default=1)
    parser.add_argument("--epsilon", type=float, default=1.0)
    options = parser.parse_args()
    text, table = charter(options.owners, options.answers, options.epsilon)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("many.charter.toml", text), ("owners.csv", table)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(content)
        started = time.monotonic()
        done = subprocess.run([options.parley, "simulate", os.path.join(folder, "many.charter.toml"),
                               "--standin", "lending", "--json", "--out", ""],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wall = time.monotonic() - started
        if done.returncode != 0:
            sys.exit(done.stderr)
    result = json.loads(done.stdout)["result"]
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{options.owners} owners, {options.owners * options.answers} answers: {wall:.1f} s, "
          f"{memory:.0f} MB, relative fitness {result['relative_fitness']['mean']:.3g}")


if __name__ == "__main__":
    main()
