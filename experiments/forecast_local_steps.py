#!/usr/bin/env python3
"""Forecasts of federated training on a9a beside what then came out, for several numbers of local steps.

    PARLEY_DATA=FOLDER experiments/forecast_local_steps.py [--parley build/release/parley] [--runs 3]

Ten owners with 3,000 rows each, 2,561 public rows held out. Rows are those of the numpy reference times the root of
14, which is their length: step and l2 are scaled to match. Owners are drawn alike, or their shares of
positives rise from 0 to 70 % (mild), or they are sorted by label; how far they differ is then declared as
`parley simulate` without noise finds it: what owners alone miss, less what they would by chance.
"""

import argparse
import json
import pathlib
import random
import tempfile
import hashlib

from jobs import ROOT, run, unpack
from charters import block, number

OWNERS = 10
EACH = 3000


def dealt(rows, how):
    """Rows of each owner."""
    if how == "alike":
        return [rows[i * EACH:(i + 1) * EACH] for i in range(OWNERS)]
    positive = [row for row in rows if row.startswith("+")]
    negative = [row for row in rows if not row.startswith("+")]
    shares = [1 if how == "sorted" and i >= OWNERS * 3 // 4 else 0 if how == "sorted" else .7 * i / 9
              for i in range(OWNERS)]
    whole = sum(shares)
    found = []
    for share in shares:
        count = min(EACH, round(len(positive) * share / whole)) if whole else 0
        count = min(count, len(positive)) if how == "sorted" else min(count, round(EACH * share))
        own = [positive.pop() for _ in range(min(count, len(positive)))]
        own += [negative.pop() for _ in range(min(EACH - len(own), len(negative)))]
        found.append(own)
    return found


def charter(folder, owners, pilot, rounds, steps, epsilon):
    sha = hashlib.sha256((folder / "pilot.libsvm").read_bytes()).hexdigest()
    path = folder / "job.toml"
    path.write_text("\n".join([
        block("[charter]", {"version": 1, "name": "a9a", "consortium": "real.example"}),
        block("[pilot]", {"file": "pilot.libsvm", "sha256": sha, "rows": len(pilot)}),
        block("[target]", {"column": "income", "levels": ["-1", "+1"]}), number("f", 0, 1, 0, count=123),
        block("[model]", {"loss": "logistic", "l2": .014, "box": 8.0}),
        block("[protocol]", {"name": "federated", "rounds": rounds, "local_steps": steps, "step": .25}),
        block("[privacy]", {"max_row_norm": 14 ** .5}),
        block("[secure_aggregation]", {"repeats": 0}),
        *[block("[[owner]]", {"name": f"owner-{i}", "rows": len(rows), "epsilon": float(epsilon),
                              "delta": 1e-5}) for i, rows in enumerate(owners)],
        block("[learner]", {"name": "learner"})]))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parley", default=ROOT / "build/release/parley")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    rows = unpack("a9a/a9a").splitlines(keepends=True)
    random.Random(1).shuffle(rows)
    pilot, rest = rows[:2561], rows[2561:]
    print("| owners | K | ε | declared τ² | forecast | of it leading apart | realised | error | safe floor | advised |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for how in ("alike", "mild", "sorted"):
        with tempfile.TemporaryDirectory() as name:
            folder, owners = pathlib.Path(name), dealt(rest, how)
            for file, own in {"pilot": pilot, **{f"owner-{i}": o for i, o in enumerate(owners)}}.items():
                (folder / f"{file}.libsvm").write_text("".join(own))
            differ = 0
            for steps in (1, 5, 20):
                path = charter(folder, owners, pilot, 200 // steps, steps, 1)
                forecast = [options.parley, "--json", "forecast", path, "--threads", 1]
                real = json.loads(run([options.parley, "--json", "simulate", path, "--data", folder, "--runs",
                                       options.runs, "--threads", 1]))["result"]
                if how != "alike" and not differ:
                    chance = json.loads(run(forecast))["answers"]["for_whom"]
                    missed = [o["local_only"] for o in real["owners"]]
                    differ = sum(missed) / OWNERS - sum(o["local_only"] for o in chance) / OWNERS
                found = json.loads(run([*forecast, "--differ", differ]))
                mean, realised = found["expected"]["relative_fitness"]["mean"], real["relative_fitness"]["mean"]
                print(f"| {how} | {steps} | 1 | {differ:.2g} | {100 * mean:.3g} % | "
                      f"{100 * found['expected']['parts']['drift']:.2g} % | {100 * realised:.3g} % | "
                      f"{100 * (mean / realised - 1):+.0f} % | {found['local_steps']['safe_floor']} | "
                      f"{found['local_steps']['advised']} |", flush=True)


if __name__ == "__main__":
    main()
