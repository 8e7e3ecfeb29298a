#!/usr/bin/env python3
"""Three banks without a learner of their own: what each way of learning is worth to the first bank.

    experiments/owners_that_learn.py [--parley build/release/parley] [--runs 50] [--rows 10000]

Every line is `parley simulate --standin lending` of the example charter with another learner: pilot-Newton,
T = 2, clip 4, Laplace noise. `relative fitness` is of the model that bank-a ends with, on all rows; `alone` is the
best model of its own rows without noise.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CENTRAL = '[learner]\nname = "central-bank"              # has no private input at all\n'
BANK = '[learner]\nname = "bank-a"\n'
GRADIENTS = 'rule = "pilot_newton"\nrounds = 2\nstep = 1.0\n'

# what, its [protocol], its [learner], its [privacy]
WAYS = [
    ("a central learner, `own_noise` or a graph", GRADIENTS, CENTRAL, "max_grad_norm = 4.0\n"),
    *((f"`others_first`, {how} prox = {prox}",
       GRADIENTS + f'owner_learner = "others_first"\nprox = {prox}\n' + more, BANK,
       "max_grad_norm = 4.0\n")
      for how, more in (("tuned,", ""), ("published,", "publish = true\n"))
      for prox in (0.3, 3.0, 30.0)),
    ("`statistics` of the others", 'rule = "statistics"\nowner_learner = "statistics"\n', BANK,
     "max_row_norm = 8.0\nlabel_weight = 8.0\n"),  # as the pilot chose in ladder.py
    ("copies of `own_noise`", GRADIENTS + 'owner_learner = "own_noise"\ncopies = true\n', "",
     "max_grad_norm = 4.0\n"),
    ("copies of `others_first`, prox = 3",
     GRADIENTS + 'owner_learner = "others_first"\nprox = 3.0\ncopies = true\n', "",
     "max_grad_norm = 4.0\n"),
]


def charter(protocol, learner, privacy, rows, epsilon):
    with open(os.path.join(ROOT, "examples", "three-banks.charter.toml"), encoding="utf8") as file:
        text = file.read()
    text = re.sub(r"rows     = 100000", f"rows     = {rows}", text)
    text = re.sub(r"epsilon  = 1.0", f"epsilon  = {epsilon}", text)
    text = re.sub(r"\[protocol\].*?(?=\n\[)", f'[protocol]\nname = "sync"\n{protocol}', text, flags=re.S)
    text = re.sub(r"\[privacy\].*?(?=\n\[)", f"[privacy]\nevaluate = 0.0\n{privacy}", text, flags=re.S)
    head, _ = text.split("[learner]")
    return head + learner


def simulate(parley, text, runs):
    with tempfile.NamedTemporaryFile("w", suffix=".charter.toml", encoding="utf8") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([parley, "--json", "--quiet", "simulate", file.name, "--standin", "lending",
                               "--runs", str(runs)], text=True, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["result"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parley", default=os.path.join(ROOT, "build", "release", "parley"))
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rows", type=int, default=10000)
    options = parser.parse_args()
    print("| epsilon | bank-a learns by | relative fitness | standard error | alone |\n|---|---|---|---|---|")
    for epsilon in (0.3, 1.0):
        for what, protocol, learner, privacy in WAYS:
            result = simulate(options.parley,
                              charter(protocol, learner, privacy, options.rows, epsilon), options.runs)
            own = [m for m in result.get("own_models", []) if m["owner"] == "bank-a"]
            spread = own[0]["relative_fitness"] if own else result["relative_fitness"]
            print(f"| {epsilon} | {what} | {spread['mean']:.2g} | {spread['standard_error']:.1g} | "
                  f"{result['owners'][0]['local_only']:.2g} |", flush=True)


if __name__ == "__main__":
    main()
