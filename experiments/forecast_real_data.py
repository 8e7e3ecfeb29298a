#!/usr/bin/env python3
"""Forecasts from the public rows alone beside what then came out, on real tables split over owners.

    PARLEY_DATA=FOLDER experiments/forecast_real_data.py [--parley build/release/parley] [--runs 20] [NAME…]

NAME: lending, a9a, creditcard (default: all). Rows, features and pilots are those of real_data.py. The
draft leaves rule, rounds, step, clip and weights open: `parley forecast --tune` completes it from the pilot,
and `parley simulate` runs the completed charter on the owners' rows, which the forecast never saw.
"""

import argparse
import json
import os
import pathlib
import re
import tempfile

import real_data
from jobs import ROOT, Job, run

EPSILONS = (0.1, 1, 10)


def forecast_and_run(job, epsilon, runs):
    text = job.charter(list(job.owners)).read_text()
    draft = re.sub(r"(?m)^(rule|rounds|step|max_grad_norm) = .*\n", "", text)
    draft = re.sub(r"(?m)^epsilon = .*$", f"epsilon = {epsilon}", draft)
    (job.folder / "draft.toml").write_text(draft)
    complete = job.folder / f"complete-{epsilon}.toml"
    found = json.loads(run([job.parley, "--json", "forecast", job.folder / "draft.toml", "--tune",
                            "--out", complete, "--threads", 1]))
    result = json.loads(run([job.parley, "--json", "simulate", complete, "--data", job.folder,
                             "--runs", runs, "--threads", 1, "--out", job.folder / f"out-{epsilon}"]))
    return found, result["result"]


def percent(value):
    return f"{100 * value:.3g} %"


def line(epsilon, found, real):
    expected, answers = found["expected"], found["answers"]
    metric = expected["metric"]["name"]
    chosen = {c["key"].split(".")[1]: c["value"] for c in found["chosen"]}
    low, high = answers["how_sure"]["interval"]
    realised = real["relative_fitness"]["mean"]
    pairs = list(zip(answers["for_whom"], real["owners"]))
    ahead = sum((a["joint"] < a["local_only"]) == b["gains"] for a, b in pairs)
    told = ", ".join(sorted({a["verdicts"][0]["answer"] for a, _ in pairs}))
    locals_ = [owner["local_only"] for owner in real["owners"]]
    cells = [f"{epsilon:g}", f"{percent(expected['relative_fitness']['mean'])} ({percent(low)} to {percent(high)})",
             percent(realised), f"{100 * (expected['relative_fitness']['mean'] / realised - 1):+.0f} %",
             percent(expected["pilot_only"]), percent(real["owners"][0]["pilot_only"]),
             percent(answers["for_whom"][0]["local_only"]), percent(sum(locals_) / len(locals_)),
             f"{expected['metric']['joint']:.4f}", f"{real['metrics']['joint'][metric]:.4f}",
             f"{ahead} of {len(pairs)}", told,
             f"{chosen['rule']}, {chosen['rounds']} rounds, clip {chosen['max_grad_norm']}"]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parley", default=ROOT / "build/release/parley", type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("names", nargs="*", default=[])
    given = parser.parse_args()
    for name in given.names or ["lending", "a9a", "creditcard"]:
        task, _, pilot, owners = getattr(real_data, name)()
        with tempfile.TemporaryDirectory() as folder:
            job = Job(given.parley, pathlib.Path(folder) / name, task, pilot, owners)
            print(f"\n**{name}**: {len(owners)} owners with {len(next(iter(owners.values())))} rows, pilot "
                  f"{len(pilot)} rows, {given.runs} runs\n")
            print("| ε | forecast | realised | error | pilot alone | realised | owner alone | realised "
                  "| metric | realised | ahead of alone or not, rightly | verdicts against alone | chosen |\n" + "|---" * 13 + "|")
            for epsilon in EPSILONS:
                print(line(epsilon, *forecast_and_run(job, epsilon, given.runs)), flush=True)


if __name__ == "__main__":
    main()
