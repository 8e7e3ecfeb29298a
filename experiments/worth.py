#!/usr/bin/env python3
"""Is it worth it? Four figures of every owner on its own held-out rows, beside the forecast made before.

    PARLEY_DATA=FOLDER experiments/worth.py run [--parley build/release/parley] [--seeds 2] [--epsilons 1 10]
        [--ways large small] [--out worth.jsonl] [DIVISION...]
    experiments/worth.py report worth.jsonl

`run` divides each table among owners in two ways: `large`, three owners by chance; `small`, up to twenty owners
that differ (hospitals, states, jobs, ...), with at most 1,000 rows each. 1,000 rows drawn by chance are public,
three tenths of every owner's rows are held out. A draft charter names columns, owners, epsilons and delta 1e-6;
the product does the rest: `parley forecast --tune`, the distance between owners bought at
epsilon 0.1, `parley forecast --distance`, `parley simulate --held-out 0.3`. Every owner becomes a line of the file.
`report` prints the tables. Fixed beforehand: all of it; bounds of numbers are rounded quantiles of the table and
stand for what a consortium would know.
"""

import argparse
import collections
import csv
import hashlib
import json
import math
import pathlib
import random
import statistics
import tempfile

from jobs import ROOT, run, unpack
from charters import block, category, number

PILOT, SMALL, OWNERS, LEAST, HELD_OUT = 1000, 1000, 20, 300, 0.3


def table(file):
    return list(csv.DictReader(unpack(file).splitlines()))


def rounded(value):
    return 0.0 if value == 0 else float(f"{value:.1g}")


def as_number(text):
    try:
        return float(text.rstrip("%"))
    except ValueError:
        return None


def number_column(rows, name, log=False):
    """Bounds as somebody would state them: where nearly all rows lie, to one digit."""
    values = sorted(v for v in (as_number(row[name]) for row in rows) if v is not None)
    low, high = (rounded(values[int(q * (len(values) - 1))]) for q in (.003, .997))
    high = high if high > low else low + 1
    return number(name, low, high, (low + high) / 2, **({"log": True} if log else {}))


def category_column(rows, name):
    """Levels with at least 0.5 % of all rows, at most twelve, but for the most frequent one."""
    counts = collections.Counter(row[name] for row in rows).most_common(12)
    levels = [level for level, count in counts if count >= .005 * len(rows) and level != ""]
    return category(name, levels[1:], encode="one_hot")


def columns(rows, numbers, categories, logs=()):
    return ([number_column(rows, name, name in logs) for name in numbers] +
            [category_column(rows, name) for name in categories])


LOGISTIC, SQUARED = "logistic", "squared"


def classes(column):
    return {"column": column, "levels": ["no", "yes"]}


def sparcs(long):
    rows = table("sparcs/sparcs_2024_heart_failure.csv")
    for row in rows:
        row["long"] = "yes" if float(row["los"]) > 6 else "no"
    made = columns(rows, [], ["age_group", "sex", "race_group", "ethnicity", "admission_type", "apr_severity",
                              "apr_mortality_risk", "payer_group", "proc_group", "discharge_group"])
    target = classes("long") if long else {"column": "los", "bounds": [0, 30], "center": 6.0, "scale": 10.0}
    return rows, "hospital_id", target, made, LOGISTIC if long else SQUARED


def loans(by):
    rows = [row for row in table("lendingclub/LoanStats3a_42537x54.csv") if row["int_rate"] and row["loan_amnt"]]
    for row in rows:
        row["int_rate"], row["revol_util"] = row["int_rate"].rstrip("%"), row["revol_util"].rstrip("%")
        row["year"], row["term"] = row["issue_d"][:4], row["term"].strip()
    made = columns(rows, ["loan_amnt", "annual_inc", "dti", "delinq_2yrs", "inq_last_6mths", "open_acc", "pub_rec",
                          "revol_bal", "revol_util", "total_acc"],
                   ["term", "emp_length", "home_ownership", "verification_status", "purpose"],
                   ["annual_inc", "revol_bal"])
    target = {"column": "int_rate", "bounds": [5.0, 25.0], "center": 12.0, "scale": 10.0}
    return rows, by, target, made, SQUARED


def loans_default():
    rows = table("lendingclub/lendingclub_combined.csv")
    for row in rows:
        row["default"] = "yes" if float(row["default"] or 0) > 0 else "no"
    made = columns(rows, ["loan_amnt", "term_months", "annual_inc", "dti", "revol_bal", "revol_util", "open_acc",
                          "delinq_2yrs_zero", "pub_rec_zero", "emp_length"], ["home_ownership"],
                   ["annual_inc", "revol_bal"])
    return rows, "purpose", classes("default"), made, LOGISTIC


def diabetes(readmitted):
    """The first encounter of every patient, so that a record is a person."""
    first = {}
    for row in table("diabetes130/diabetic_data.csv"):
        first.setdefault(row["patient_nbr"], row)
    rows = list(first.values())
    for row in rows:
        row["diagnosis"], row["again"] = row["diag_1"][:1], "no" if row["readmitted"] == "NO" else "yes"
    made = columns(rows, ["num_lab_procedures", "num_procedures", "num_medications", "number_outpatient",
                          "number_emergency", "number_inpatient", "number_diagnoses"],
                   ["race", "gender", "age", "admission_type_id", "discharge_disposition_id",
                    "admission_source_id", "diagnosis", "A1Cresult", "metformin", "glipizide", "glyburide",
                    "insulin", "change"])
    target = classes("again") if readmitted else {"column": "time_in_hospital", "bounds": [1, 14],
                                                  "center": 4.3, "scale": 5.0}
    return (rows, "medical_specialty" if readmitted else "payer_code", target, made,
            LOGISTIC if readmitted else SQUARED)


def adult(by):
    head = "age work fnl edu edun marital job rel race sex gain loss hours country y".split()
    rows = []
    for file in ("adult/adult.data", "adult/adult.test"):
        for line in unpack(file).splitlines():
            values = [value.strip() for value in line.split(",")]
            if len(values) == len(head):
                rows.append({**dict(zip(head, values)), "rich": "yes" if ">50K" in values[-1] else "no"})
    made = [number("age", 20, 80, 50), number("edun", 3, 16, 9), number("gain", 0, 99999, 0, log=True),
            number("loss", 0, 5000, 0, log=True), number("hours", 5, 90, 48)]
    names = ["work", "marital", "rel", "race", "sex", "edu"] + (["job"] if by != "job" else [])
    return rows, by, classes("rich"), made + columns(rows, [], names), LOGISTIC


def creditcard():
    rows = sorted(table("creditcard/creditcard_subset_28266.csv"), key=lambda row: float(row["Time"]))
    for i, row in enumerate(rows):
        row["hours"], row["fraud"] = str(i * OWNERS // len(rows)), "yes" if row["Class"] == "1" else "no"
    made = [number(f"V{i}", -6, 6, 0) for i in range(1, 29)] + [number("Amount", 0, 30000, 22, log=True)]
    return rows, "hours", classes("fraud"), made, LOGISTIC


DIVISIONS = {
    "sparcs days by hospital": lambda: sparcs(False), "sparcs long stay by hospital": lambda: sparcs(True),
    "loans rate by state": lambda: loans("addr_state"), "loans rate by year": lambda: loans("year"),
    "loans default by purpose": loans_default, "diabetes again by specialty": lambda: diabetes(True),
    "diabetes days by payer": lambda: diabetes(False), "adult by job": lambda: adult("job"),
    "adult by country": lambda: adult("country"), "creditcard by time": creditcard}


def divided(rows, by, way, seed):
    """Public rows, and the rows of every owner."""
    rows = rows[:]
    random.Random(seed).shuffle(rows)
    pilot, rest = rows[:PILOT], rows[PILOT:]
    if way == "large":
        each = min(len(rest) // 3, 20000)
        return pilot, {f"owner-{i + 1}": rest[i * each:(i + 1) * each] for i in range(3)}
    groups = collections.defaultdict(list)
    for row in rest:
        groups[row[by]].append(row)
    enough = sorted(name for name, members in groups.items() if len(members) >= LEAST)
    chosen = sorted(random.Random(seed).sample(enough, min(OWNERS, len(enough))))
    return pilot, {f"owner-{i + 1}": groups[name][:SMALL] for i, name in enumerate(chosen)}


def kept_of(rows):
    """What is left of an owner's rows for training: `--held-out 0.3` takes every third."""
    return rows - math.ceil(rows / round(1 / HELD_OUT))


class Table:
    """One table with its owners in a folder, and what is asked of it."""

    def __init__(self, parley, folder, name, way, seed):
        self.parley, self.folder, self.seed = parley, pathlib.Path(folder), seed
        rows, by, self.target, self.columns, self.loss = DIVISIONS[name]()
        pilot, self.owners = divided(rows, by, way, seed)
        for owner, members in {"pilot": pilot, **self.owners}.items():
            with open(self.folder / f"{owner}.csv", "w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(members)

    def write(self, file, epsilon, more):
        """A charter: columns, owners with the rows that they train on, and budgets."""
        sha256 = hashlib.sha256((self.folder / "pilot.csv").read_bytes()).hexdigest()
        owners = [block("[[owner]]", {"name": name, "rows": kept_of(len(rows)), "epsilon": epsilon, "delta": 1e-6})
                  for name, rows in self.owners.items()]
        (self.folder / file).write_text("\n".join([
            block("[charter]", {"version": 1, "name": "worth", "consortium": "worth.example"}),
            block("[pilot]", {"file": "pilot.csv", "sha256": sha256, "rows": PILOT}),
            block("[target]", self.target), *self.columns, *more, *owners,
            block("[learner]", {"name": "learner"})]))
        return file

    def ask(self, *command):
        return run([self.parley, "--quiet", *command], cwd=self.folder)

    def all_rows(self):
        """Charters name the rows to train on; what is held out is taken from all of an owner's."""
        return [part for i, rows in enumerate(self.owners.values())
                for part in ("--set", f"owner.{i}.rows={len(rows)}")]

    def chosen(self, epsilon):
        """The job that `--tune` makes of a draft; its name, and what won."""
        draft = self.write("draft.charter.toml", epsilon, [
            block("[model]", {"loss": self.loss, "bias": True, "box": 5.0}), block("[protocol]", {}),
            block("[privacy]", {"delta": 1e-6})])
        found = json.loads(self.ask("forecast", draft, "--tune", "--json", "--out", f"job-{epsilon:g}.charter.toml"))
        return f"job-{epsilon:g}.charter.toml", found["chosen"]

    def bought(self):
        """How far owners are apart, at epsilon 0.1, on the rows that they train on: a job of its own."""
        draft = self.write("unlike.charter.toml", 0.1, [
            block("[model]", {"loss": self.loss, "bias": True, "l2": 1e-3, "box": 5.0}),
            block("[protocol]", {"name": "sync", "rule": "distance"}), block("[privacy]", {})])
        self.ask("forecast", draft, "--out", "distance.charter.toml")
        self.ask("simulate", "distance.charter.toml", "--data", ".", "--seed", self.seed, "--out", "distance",
                 *self.all_rows())
        return "distance/model.json"

    def measured(self, epsilon, distance):
        """Of every owner: what was said before, and what came out."""
        job, chosen = self.chosen(epsilon)
        said = json.loads(self.ask("forecast", job, "--json", "--distance", distance))
        came = json.loads(self.ask("simulate", job, "--data", ".", "--held-out", HELD_OUT, "--json", "--seed", self.seed,
                                   "--out", f"run-{epsilon:g}", *self.all_rows()))["result"]["own_rows"]
        for said_of, came_of in zip(said["answers"]["for_whom"], came["owners"]):
            if "why_not" not in came_of:
                yield {"metric": came["metric"], "chosen": chosen, "said": said_of, "came": came_of}


def measure(options):
    with open(options.out, "a") as out:
        for name in options.names or DIVISIONS:
            for way, seed in ((w, s) for w in options.ways for s in range(1, options.seeds + 1)):
                with tempfile.TemporaryDirectory() as folder:
                    table = Table(options.parley.resolve(), folder, name, way, seed)
                    distance = table.bought()
                    for epsilon in options.epsilons:
                        for line in table.measured(epsilon, distance):
                            print(json.dumps({"division": name, "way": way, "seed": seed, "epsilon": epsilon, **line}),
                                  file=out, flush=True)
                        print(name, way, seed, epsilon, "done", flush=True)


def noisy(range_, error):
    """A forecast's 90 % interval for a figure that is measured with this standard error."""
    down, up = range_["mean"] - range_["low"], range_["high"] - range_["mean"]
    return range_["mean"] - math.hypot(down, 1.645 * error), range_["mean"] + math.hypot(up, 1.645 * error)


def holds(range_, figure):
    low, high = noisy(range_, figure["standard_error"])
    return low <= figure["value"] <= high


def refuted(verdict, gain):
    """By the paired test: what came out is on the other side of what counts by 1.645 standard errors."""
    low, high = (gain["value"] + sign * 1.645 * gain["standard_error"] for sign in (-1, 1))
    worth = verdict["threshold"]
    if verdict["answer"] == "worth it":
        return high < worth
    return verdict["answer"] != "not sure" and (low > worth or verdict["answer"] == "no difference" and high < -worth)


def share(values):
    values = list(values)
    return f"{100 * statistics.fmean(values):.0f} %" if values else "-"


def row_of(name, lines, against):
    place, key = {"alone": (0, "gain_over_alone"), "own + public": (1, "gain_over_own_public")}[against]
    verdicts = [(line["said"]["verdicts"][place], line["came"][key]) for line in lines]
    said = [verdict for verdict, _ in verdicts]
    sure = [refuted(*each) for each in verdicts if each[0]["answer"] != "not sure"]
    gained = [verdict["answer"] == "worth it" for verdict, gain in verdicts
              if gain["value"] - 1.645 * gain["standard_error"] > verdict["threshold"]]
    answers = collections.Counter(verdict["answer"] for verdict in said)
    return [name, str(len(lines)), f"{statistics.fmean(v['gain']['mean'] for v in said):.4f}",
            f"{statistics.fmean(g['value'] for _, g in verdicts):.4f}",
            share(holds(v["gain"], g) for v, g in verdicts),
            " / ".join(str(answers[a]) for a in ("worth it", "no difference", "not worth it", "not sure")),
            f"{sum(sure)} of {len(sure)}", f"{sum(gained)} of {len(gained)}"]


def print_table(head, rows):
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def groups_of(lines, *keys):
    groups = collections.defaultdict(list)
    for line in lines:
        groups[tuple(line[key] for key in keys)].append(line)
    return groups


FIGURES = ("alone", "own_public", "joint", "personal")


def figures_of(lines):
    """Means over owners, as forecast and as measured."""
    return [f"{statistics.fmean(line['said']['figures'][f]['mean'] for line in lines):.4f} → "
            f"{statistics.fmean(line['came'][f]['value'] for line in lines):.4f}" for f in FIGURES]


def chosen_in(lines):
    values = {choice["key"]: choice["value"] for choice in lines[0]["chosen"]}
    return ", ".join(f"{key.split('.')[-1]} {value}" for key, value in values.items()
                     if key.split(".")[-1] in ("name", "rule", "rounds", "l2", "features"))


def report(options):
    lines = [json.loads(line) for line in options.file.read_text().splitlines()]
    for (metric,), some in groups_of(lines, "metric").items():
        print(f"\n**{metric}**, forecast → on own held-out rows, means over owners")
        print_table(["table", "way", "ε", "owners", "alone", "own + public", "joint", "personal", "chosen (seed 1)"],
                    [[*map(str, key), str(len(each)), *figures_of(each), chosen_in(each)]
                     for key, each in groups_of(some, "division", "way", "epsilon").items()])
    head = ["", "owners", "forecast gain", "came out", "90 % interval holds",
            "worth it / no difference / not worth it / not sure", "verdicts refuted", "of those that gained: told so"]
    for against in ("alone", "own + public"):
        print(f"\n**Against {against}**")
        for (metric,), some in groups_of(lines, "metric").items():
            print_table([metric, *head[1:]],
                        [row_of("all", some, against)] +
                        [row_of(" ".join(map(str, key)), each, against)
                         for key, each in groups_of(some, "division", "way").items()])
    worse = [gain["value"] < -line["said"]["verdicts"][0]["threshold"] and
             gain["value"] < -1.645 * gain["standard_error"]
             for line in lines for gain in [line["came"]["gain_over_alone"]]]
    print(f"\nPersonal materially worse than alone, paired t below -1.645: {sum(worse)} of {len(worse)}.")
    for figure in FIGURES:
        print(f"Metric of {figure} within its 90 % interval: "
              f"{share(holds(line['said']['figures'][figure], line['came'][figure]) for line in lines)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("run")
    first.add_argument("--parley", type=pathlib.Path, default=ROOT / "build/release/parley")
    first.add_argument("--seeds", type=int, default=2)
    first.add_argument("--epsilons", type=float, nargs="+", default=[1, 10])
    first.add_argument("--ways", nargs="+", default=["large", "small"])
    first.add_argument("--out", default="worth.jsonl")
    first.add_argument("names", nargs="*", metavar="DIVISION")
    first.set_defaults(do=measure)
    second = commands.add_parser("report")
    second.add_argument("file", type=pathlib.Path)
    second.set_defaults(do=report)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
