#!/usr/bin/env python3
"""Joint against local-only training on real tables at epsilon 0.1, 1 and 10, on rows held out.

    PARLEY_DATA=FOLDER experiments/real_data.py [--parley build/release/parley] [--seeds 5] [NAME…]

NAME: a9a, creditcard, lending, sparcs, diabetes130 (default: all). Rows are shuffled with seed 1 and cut
into rows held out, public pilot rows, and the owners'. Features and constants (clip, rounds, step) come
from the pilot alone. All three trainings start at the pilot's best model and are pure epsilon: all owners
together; each owner on its own at the same epsilon, mean over owners; and each owner on its own without
noise, for itself only, with features from its own rows. Seeds of the noise are 1, 2, ….
"""

import argparse
import collections
import csv
import math
import os
import random
import statistics
import tempfile

from jobs import POOL, ROOT, Chooser, Job, constants, newton, unpack
from charters import category, number

EPSILONS = (0.1, 1, 10)
CLIPS, STEPS = (1, 4, 16, 64), (0.01, 0.1, 0.3, 1.0)


def table(file):
    rows = list(csv.DictReader(unpack(file).splitlines()))
    random.Random(1).shuffle(rows)
    return rows


def deal(rows, held_out, pilot, owners):
    """Rows held out, pilot, and equal owners of the rest."""
    rest = rows[held_out + pilot:]
    each = len(rest) // owners
    return rows[:held_out], rows[held_out:held_out + pilot], {
        f"owner-{i + 1}": rest[i * each:(i + 1) * each] for i in range(owners)}


def a9a():
    rows = unpack("a9a/a9a").splitlines(keepends=True)
    random.Random(1).shuffle(rows)
    task = {"target": {"column": "income", "levels": ["-1", "+1"]}, "columns": [number("f", 0, 1, 0, count=123)],
            "model": {"loss": "logistic", "l2": 1e-3, "box": 5.0}, "prepare": None}
    _, pilot, owners = deal(rows, 0, 2561, 3)
    return task, unpack("a9a/a9a.t").splitlines(keepends=True), pilot, owners


def creditcard():
    # Frauds lie far out: bounds near the bulk keep their gradients, and with them the class weights, inside
    # a clip that the others need, too.
    columns = [number(f"V{i}", -6, 6, 0) for i in range(1, 29)] + [number("Amount", 0, 30000, 22, log=True)]
    task = {"target": {"column": "Class", "levels": ["0", "1"]}, "columns": columns, "prepare": ["--top", 10],
            "model": {"loss": "logistic", "l2": 1e-3, "box": 5.0, "class_weights": [1.0, 10.0]}}
    rows = table("creditcard/creditcard_subset_28266.csv")
    return task, *deal(rows, 6000, 3000, 3)


# Of every category one level at least is left out of the one-hot columns: with all of them and the bias the
# curvature has a direction without any, and a Newton step carries the noise in it up to the box.
def lending():
    columns = [number("loan_amnt", 500, 35000, 12700), number("term_months", 36, 60, 36),
               number("annual_inc", 0, 500000, 64000, log=True), number("dti", 0, 40, 15),
               number("revol_bal", 0, 200000, 12000, log=True), number("revol_util", 0, 120, 50),
               number("open_acc", 0, 40, 10), number("delinq_2yrs_zero", 0, 1, 1),
               number("pub_rec_zero", 0, 1, 1), number("emp_length", 0, 10, 5),
               category("home_ownership", ["RENT", "MORTGAGE"], encode="one_hot"),
               category("purpose", ["debt_consolidation", "credit_card", "small_business", "car", "wedding",
                                    "major_purchase"], encode="one_hot")]
    task = {"target": {"column": "int_rate", "bounds": [5.0, 29.0], "center": 13.5, "scale": 10.0},
            "columns": columns, "prepare": [], "model": {"loss": "squared", "l2": 1e-3, "box": 2.0}}
    return task, *deal(table("lendingclub/lendingclub_combined.csv"), 24794, 1000, 10)


def sparcs():
    """Hospitals with 100 discharges or more are owners, the discharges of the others the pilot."""
    columns = [category("age_group", ["30-49", "50-69", "70 or Older"], encode="integer"),
               category("sex", ["F", "M"], encode="integer"), number("apr_severity_code", 1, 4, 2),
               category("race_group", ["White", "Black/African American"], encode="one_hot"),
               category("apr_mortality_risk", ["Minor", "Moderate", "Major", "Extreme"], encode="integer"),
               category("discharge_group", ["Home", "Home Health", "Skilled Nursing / LTC", "Hospital Transfer",
                                            "Left AMA", "Death"], encode="one_hot"),
               category("proc_group", ["minor_or_diagnostic", "organ_or_respiratory_support",
                                       "cardiac_procedure"], encode="one_hot"),
               category("payer_group", ["Medicare", "Medicaid"], encode="one_hot"),
               category("ed_indicator", ["N", "Y"], encode="integer")]
    # Stays above 30 days count as 30: few, and each would cost the clip of all the others.
    task = {"target": {"column": "los", "bounds": [1, 30], "center": 6.0, "scale": 10.0},
            "columns": columns, "prepare": [], "model": {"loss": "squared", "l2": 1e-3, "box": 2.0}}
    hospitals = collections.defaultdict(list)
    for row in table("sparcs/sparcs_2024_heart_failure.csv"):
        row["los"] = str(min(30, int(row["los"])))
        hospitals[row["hospital_id"]].append(row)
    large = [rows for _, rows in sorted(hospitals.items()) if len(rows) >= 100]
    pilot = [row for _, rows in sorted(hospitals.items()) if len(rows) < 100 for row in rows]
    random.Random(1).shuffle(pilot)
    held_out = [row for rows in large for row in rows[:len(rows) // 5]]
    return task, held_out, pilot, {f"hospital-{i + 1}": rows[len(rows) // 5:] for i, rows in enumerate(large)}


def diabetes130():
    """The first encounter of every patient, so that a record is a person. The file does not say which
    hospital, so 30 hospitals of equal size get patients by chance."""
    columns = [category("age", [f"[{a}-{a + 10})" for a in range(0, 100, 10)], encode="integer"),
               category("gender", ["Female", "Male"], encode="integer"),
               category("race", ["Caucasian", "AfricanAmerican"], encode="one_hot"),
               *[category(name, levels, encode="one_hot") for name, levels in [
                   ("admission_type_id", ["1", "2", "3"]), ("discharge_disposition_id", ["1", "3", "6"]),
                   ("admission_source_id", ["1", "7"]), ("A1Cresult", ["None"]), ("insulin", ["No", "Steady"])]],
               number("num_lab_procedures", 0, 120, 43), number("num_procedures", 0, 6, 1),
               number("num_medications", 1, 60, 15), number("number_diagnoses", 1, 16, 7),
               number("number_inpatient", 0, 10, 0), number("number_emergency", 0, 10, 0),
               category("change", ["No", "Ch"], encode="integer"),
               category("diabetesMed", ["No", "Yes"], encode="integer")]
    task = {"target": {"column": "time_in_hospital", "bounds": [1, 14], "center": 4.3, "scale": 5.0},
            "columns": columns, "prepare": [], "model": {"loss": "squared", "l2": 1e-3, "box": 2.0}}
    first = {}
    for row in csv.DictReader(unpack("diabetes130/diabetic_data.csv").splitlines()):
        first.setdefault(row["patient_nbr"], row)
    rows = list(first.values())
    random.Random(1).shuffle(rows)
    return task, *deal(rows, 12000, 2000, 30)


def auc(pairs):
    """Chance that a positive scores above a negative, ties half."""
    pairs, below, sum_of_wins, at = sorted(pairs), 0, 0.0, 0
    while at < len(pairs):
        end = at
        while end < len(pairs) and pairs[end][0] == pairs[at][0]:
            end += 1
        positive = sum(label for _, label in pairs[at:end])
        sum_of_wins += positive * (below + (end - at - positive) / 2)
        below, at = below + end - at - positive, end
    positives = len(pairs) - below
    return sum_of_wins / (positives * below)


def precision_at_recall(pairs, recall):
    """Best precision of a threshold that finds this share of the positives."""
    wanted, found, best = recall * sum(label for _, label in pairs), 0, 0.0
    ranked = sorted(pairs, reverse=True)
    for i, (score, label) in enumerate(ranked):
        found += label
        last_of_ties = i + 1 == len(ranked) or ranked[i + 1][0] != score
        if found >= wanted and last_of_ties:
            best = max(best, found / (i + 1))
    return best


def log_loss(pairs, weights):
    """Of scores u: log(1 + exp(-u)) for the second class, log(1 + exp(u)) for the first, weighted."""
    loss = lambda m: max(0.0, -m) + math.log1p(math.exp(-abs(m)))
    return statistics.fmean(weights[label] * loss(u if label else -u) for u, label in pairs)


class Judge:
    """The metrics of models on the rows held out."""

    def __init__(self, name, job, rows):
        self.name, self.job, self.file, target = name, job, job.write("held-out", rows), job.task["target"]
        classes = target.get("levels")
        text = [row[target["column"]] if isinstance(row, dict) else row.split()[0] for row in rows]
        self.truth = [classes.index(t) if classes else float(t) for t in text]
        self.classes = bool(classes)

    def heads(self):
        if not self.classes:
            return ["RMSE", "R2"]
        return ["AUC", "precision at recall 0.8", "loss"] if self.name == "creditcard" else [
            "AUC", "accuracy", "loss"]

    def __call__(self, model):
        pairs = list(zip(self.job.scores(model, self.file), self.truth))
        if not self.classes:
            error = statistics.fmean((u - y) ** 2 for u, y in pairs)
            return [math.sqrt(error), 1 - error / statistics.pvariance(self.truth)]
        middle = precision_at_recall(pairs, 0.8) if self.name == "creditcard" else statistics.fmean(
            (u > 0) == label for u, label in pairs)
        return [auc(pairs), middle, log_loss(pairs, self.job.task["model"].get("class_weights", [1, 1]))]


def line(name, what, figures, note=""):
    columns = list(zip(*figures))
    spread = f" ± {statistics.stdev(columns[0]):.4f}" if len(figures) > 1 else ""
    cells = [f"{statistics.fmean(c):.4f}" for c in columns]
    print(f"| {name} | {what} | {cells[0]}{spread} | {' | '.join(cells[1:])} | {note} |", flush=True)


def report(name, parley, folder, seeds):
    task, held_out, pilot, owners = globals()[name]()
    job = Job(parley, os.path.join(folder, name), task, pilot, owners)
    judge, chooser, candidates = Judge(name, job, held_out), Chooser(job), newton(CLIPS, steps=STEPS)
    sizes = sorted(job.owners.values())
    print(f"\n**{name}**: {len(owners)} owners with {sizes[0]} to {sizes[-1]} rows, pilot {len(pilot)} rows, "
          f"{len(held_out)} rows held out\n")
    print(f"| epsilon | training | {' | '.join(judge.heads())} | constants |")
    print("|---|---|" + "---|" * (len(judge.heads()) + 1))
    line("", "pilot alone", [judge(job.pilot_alone())])
    line("", "an owner for itself, no noise", list(POOL.map(
        lambda o: judge(Job(parley, os.path.join(folder, f"{name}-{o}"), task, owners[o],
                            {"nobody": pilot[:100]}).pilot_alone()), owners)))
    alone = lambda keys, epsilon, owner, seed: judge(job.simulate(keys, epsilon, seed, 1, [owner])[1])
    for epsilon in EPSILONS:
        keys = chooser.choose(candidates, epsilon, job.rows, len(owners))
        joint = lambda seed: judge(job.simulate(keys, epsilon, seed)[1])
        line(epsilon, "joint", list(POOL.map(joint, range(1, seeds + 1))), constants(keys))
        keys = chooser.choose(candidates, epsilon, job.rows / len(owners), 1)
        # With many owners one seed each is an average over many already.
        pairs = [(o, s) for o in owners for s in range(1, (1 if len(owners) > 10 else seeds) + 1)]
        line(epsilon, "each owner alone", list(POOL.map(lambda p: alone(keys, epsilon, *p), pairs)),
             constants(keys))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parley", default=ROOT / "build/release/parley")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or ["a9a", "creditcard", "lending", "sparcs", "diabetes130"]:
            report(name, options.parley, folder, options.seeds)


if __name__ == "__main__":
    main()
