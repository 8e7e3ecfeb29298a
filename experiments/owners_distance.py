#!/usr/bin/env python3
"""How well one paid number tells how much owners differ: rule "distance" over drawn owners.

    experiments/owners_distance.py [--parley build/release/parley] [--seeds 40]

30 owners of 200 or 1,000 rows, 20 features, tau 0.1, 1,000 public rows, delta 1e-6, secure sums with
the default survivors and colluders. Squared loss, y = (theta + b).z + e with z ~ N(0, I), e of variance
1/2 and b ~ N(0, tau/40 I), so that gradients in the metric of the Hessian have unit covariance, as in the
numpy reference's simulation. Every seed draws owners, public rows and noise anew; the clip is what
`parley forecast` chooses. Prints mean and standard deviation of the estimate over seeds, how often its
90 % interval holds 0.1, and the reference's deviation.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

OWNERS, FEATURES, TAU, PILOT = 30, 20, 0.1, 1000
SPECIFIED = {(200, .1): .125, (200, .2): .066, (200, .5): .031,
             (1000, .1): .022, (1000, .2): .014, (1000, .5): .011}


def write_rows(file, count, theta, draw):
    lines = [",".join([f"x{j}" for j in range(FEATURES)] + ["y"])]
    for _ in range(count):
        z = [draw.gauss(0, 1) for _ in range(FEATURES)]
        y = sum(a * b for a, b in zip(theta, z)) + draw.gauss(0, .5 ** .5)
        lines.append(",".join(f"{value:.5f}" for value in z + [y]))
    file.write_text("\n".join(lines) + "\n")


def charter(folder, rows, epsilon):
    digest = subprocess.run(["sha256sum", folder / "pilot.csv"], text=True, capture_output=True,
                            check=True).stdout.split()[0]
    columns = "".join(f'[[column]]\nname = "x{j}"\nkind = "number"\nbounds = [-8.0, 8.0]\n'
                      "missing = 0.0\n" for j in range(FEATURES))
    owners = "".join(f'[[owner]]\nname = "owner-{i}"\nrows = {rows}\nepsilon = {epsilon}\n'
                     for i in range(OWNERS))
    return (f'[charter]\nversion = 1\nname = "distance"\nconsortium = "test.example"\n'
            f'[pilot]\nfile = "pilot.csv"\nsha256 = "{digest}"\nrows = {PILOT}\n'
            f'[target]\ncolumn = "y"\nbounds = [-20.0, 20.0]\n{columns}'
            '[model]\nloss = "squared"\nl2 = 0.0\nbox = 10.0\n'
            '[protocol]\nname = "sync"\nrule = "distance"\n[privacy]\ndelta = 1e-6\n'
            f'{owners}[learner]\nname = "learner"\n')


def parley(*arguments):
    done = subprocess.run([OPTIONS.parley, "--json", "--quiet", *map(str, arguments)], text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def bought(seed, rows, folder):
    draw = random.Random(1000 * seed + rows)
    centre = [draw.gauss(0, .2) for _ in range(FEATURES)]
    write_rows(folder / "pilot.csv", PILOT, centre, draw)
    for i in range(OWNERS):
        own = [value + draw.gauss(0, (TAU / (2 * FEATURES)) ** .5) for value in centre]
        write_rows(folder / f"owner-{i}.csv", rows, own, draw)
    found = {}
    for epsilon in (.1, .2, .5):
        file = folder / "job.charter.toml"
        file.write_text(charter(folder, rows, epsilon))
        parley("forecast", file, "--out", file)
        found[epsilon] = parley("simulate", file, "--data", folder, "--seed", seed)["result"]["bought"]
    return found


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parley", default="build/release/parley")
    parser.add_argument("--seeds", type=int, default=40)
    return parser.parse_args()


def main():
    seeds = OPTIONS.seeds
    print("rows  epsilon  mean tau  s.d.   specified  interval holds 0.1  without noise: mean, s.d.; own distances")
    for rows in (200, 1000):
        with tempfile.TemporaryDirectory() as folder:
            found = [bought(seed, rows, pathlib.Path(folder)) for seed in range(seeds)]
        noiseless = [each[.1]["noiseless"] for each in found]
        exact = statistics.mean(each[.1]["exact"] for each in found)
        for epsilon in (.1, .2, .5):
            taus = [each[epsilon]["tau"] for each in found]
            held = sum(each[epsilon]["low"] <= TAU <= each[epsilon]["high"] for each in found)
            print(f"{rows:4}  {epsilon:7}  {statistics.mean(taus):8.4f}  {statistics.stdev(taus):.4f}"
                  f"  {SPECIFIED[rows, epsilon]:8.3f}  {held:3} of {seeds:3}"
                  f"           {statistics.mean(noiseless):.4f}, {statistics.stdev(noiseless):.4f};"
                  f" {exact:.4f}", flush=True)


if __name__ == "__main__":
    OPTIONS = options()
    main()
