#!/usr/bin/env python3
"""Our boosted trees beside scikit-learn's HistGradientBoosting: time, and AUC or RMSE on held-out rows.

    scripts/bench trees [--data FOLDER] [--seeds 5] [--threads 1] [--repeats 3]

Three tables. Time: 40 trees of depth 3 on the same normal numbers, best of the repeats, on the clock and of the
processors. Quality, same options: 100 trees of depth 3, learning rate 0.1, 20 rows a leaf, l2 1, on 2,000 and
20,000 rows. Owners: 500 own rows, alone and with 1,000 public ones; ours is the owner's choice among three settings
by its own held-out rows (learn/trees/for_owner.h), scikit-learn's the same three settings by a 4:1 split of the rows
that it has. Quality is on 8,000 other rows, mean over the seeds, each a division of the table; "ours better by" is
the mean difference with its standard error. FOLDER ($PARLEY_DATA) holds adult, lendingclub and diabetes130.
"""

import argparse
import csv
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import time

import pypi

pypi.need("numpy", "sklearn", versions={"sklearn": "scikit-learn"})
import numpy as np  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor  # noqa: E402
from sklearn.metrics import log_loss, roc_auc_score  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

OPTIONS = {"max_iter": 100, "learning_rate": 0.1, "max_depth": 3, "max_leaf_nodes": None, "min_samples_leaf": 20,
           "l2_regularization": 1.0}
OWNER_SETTINGS = [
    {"max_iter": 60, "learning_rate": .08, "max_leaf_nodes": 8, "min_samples_leaf": 15, "l2_regularization": 1},
    {"max_iter": 40, "learning_rate": .06, "max_leaf_nodes": 6, "min_samples_leaf": 20, "l2_regularization": 5},
    {"max_iter": 100, "learning_rate": .05, "max_leaf_nodes": 4, "min_samples_leaf": 10, "l2_regularization": 1}]
HELD_OUT = 8000


# The tables: (rows, labels); numbers as they are, missing ones at their median, categories one-hot.

def read(folder, file, names=None):
    text = subprocess.run(["zstd", "-dcq", pathlib.Path(folder) / f"{file}.zst"], capture_output=True, check=True,
                          text=True).stdout
    return list(csv.DictReader(text.splitlines(), fieldnames=names, skipinitialspace=True))


def number(text):
    try:
        return float(text.rstrip("%"))
    except ValueError:
        return np.nan


def encode(records, numbers, categories):
    columns = []
    for name in numbers:
        values = np.array([number(record[name]) for record in records])
        columns.append(np.where(np.isnan(values), np.nanmedian(values), values))
    for name in categories:
        values = np.array([record[name] for record in records])
        levels, counts = np.unique(values, return_counts=True)
        columns += [values == level for level, count in zip(levels, counts) if count >= 0.005 * len(values)]
    return np.column_stack(columns).astype(float)


def adult(folder):
    names = "age work fnl edu edun marital job rel race sex gain loss hours country y".split()
    records = read(folder, "adult/adult.data", names) + read(folder, "adult/adult.test", names)
    rows = encode(records, ["age", "edun", "gain", "loss", "hours"],
                  ["work", "marital", "job", "rel", "race", "sex"])
    return rows, np.array([1.0 if ">50K" in record["y"] else -1.0 for record in records])


def lending(folder):
    records = read(folder, "lendingclub/lendingclub_combined.csv")
    rows = encode(records, ["loan_amnt", "term_months", "annual_inc", "dti", "revol_bal", "revol_util", "open_acc",
                            "delinq_2yrs_zero", "pub_rec_zero", "emp_length"], ["home_ownership", "purpose"])
    return rows, records


def lending_default(folder):
    rows, records = lending(folder)
    return rows, np.array([1.0 if number(record["default"]) > 0 else -1.0 for record in records])


def lending_rate(folder):
    rows, records = lending(folder)
    return rows, np.array([number(record["int_rate"]) for record in records])


def diabetes(folder):
    records = read(folder, "diabetes130/diabetic_data.csv")
    rows = encode(records, ["num_lab_procedures", "num_procedures", "num_medications", "number_outpatient",
                            "number_emergency", "number_inpatient", "number_diagnoses"],
                  ["race", "gender", "age", "admission_type_id", "discharge_disposition_id", "admission_source_id",
                   "max_glu_serum", "A1Cresult", "metformin", "glipizide", "glyburide", "insulin", "change"])
    return rows, records


def diabetes_readmitted(folder):
    rows, records = diabetes(folder)
    return rows, np.array([-1.0 if record["readmitted"] == "NO" else 1.0 for record in records])


def diabetes_days(folder):
    rows, records = diabetes(folder)
    return rows, np.array([number(record["time_in_hospital"]) for record in records])


TABLES = {"adult": ("logistic", adult), "lending default": ("logistic", lending_default),
          "diabetes readmitted": ("logistic", diabetes_readmitted), "lending rate": ("squared", lending_rate),
          "diabetes days": ("squared", diabetes_days)}


# The two boosters: rows in, scores out.

def write(folder, name, rows, labels):
    path = pathlib.Path(folder) / name
    with open(path, "wb") as file:
        file.write(struct.pack("<QQ", *rows.shape))
        rows.astype("<f8").tofile(file)
        labels.astype("<f8").tofile(file)
    return path


def ours(program, mode, train, test, arguments, public=None):
    with tempfile.TemporaryDirectory() as folder:
        files = [write(folder, "train", *train), write(folder, "test", *test)]
        last = [write(folder, "public", *public)] if public else []
        done = subprocess.run([program, mode, *files, *map(str, arguments), *last], capture_output=True, check=True,
                              text=True).stdout
    return json.loads(done)


def ours_grown(program, loss, train, test, options, threads):
    arguments = [loss, options["max_iter"], options["max_depth"], options["learning_rate"],
                 options["min_samples_leaf"], options["l2_regularization"], threads]
    return ours(program, "grow", train, test, arguments)


def scikit_learn(loss, options):
    kind = HistGradientBoostingClassifier if loss == "logistic" else HistGradientBoostingRegressor
    return kind(**options, early_stopping=False)


def scores_of(loss, model, rows):
    return model.decision_function(rows) if loss == "logistic" else model.predict(rows)


def scikit_learn_chosen(loss, train, test_rows):
    rows, labels = train
    order = np.random.default_rng(0).permutation(len(labels))
    grow, judge = order[:int(.8 * len(order))], order[int(.8 * len(order)):]

    def judged(settings):
        model = scikit_learn(loss, settings).fit(rows[grow], labels[grow])
        if loss == "squared":
            return np.mean((model.predict(rows[judge]) - labels[judge]) ** 2)
        return log_loss(labels[judge] > 0, model.predict_proba(rows[judge])[:, 1], labels=[False, True])
    return scores_of(loss, scikit_learn(loss, min(OWNER_SETTINGS, key=judged)).fit(rows, labels), test_rows)


# What is printed.

def quality(loss, scores, labels):
    if loss == "logistic":
        return roc_auc_score(labels, scores)
    return float(np.sqrt(np.mean((np.asarray(scores) - labels) ** 2)))


def print_line(name, loss, pairs):
    """Pairs of ours and theirs, one per seed; larger AUC, smaller RMSE is better."""
    pairs = np.array(pairs)
    better = (pairs[:, 0] - pairs[:, 1]) * (1 if loss == "logistic" else -1)
    error = better.std(ddof=1) / np.sqrt(len(better)) if len(better) > 1 else np.nan
    print(f"  {name:<44}{'AUC' if loss == 'logistic' else 'RMSE':<6}{pairs[:, 0].mean():>9.4f}"
          f"{pairs[:, 1].mean():>14.4f}{better.mean():>+14.4f} +- {error:.4f}", flush=True)


def compare_tables(options):
    print(f"\n  {'':<50}{'ours':>9}{'scikit-learn':>14}{'ours better by':>17}")
    for name, (loss, load) in TABLES.items():
        rows, labels = load(options.data)
        found = {}
        for seed in range(1, options.seeds + 1):
            order = np.random.default_rng(seed).permutation(len(labels))
            test, rest = order[:HELD_OUT], order[HELD_OUT:]
            part = lambda index: (rows[index], labels[index])  # noqa: B023, E731

            def note(title, mine, theirs):
                pair = (quality(loss, mine, labels[test]), quality(loss, theirs, labels[test]))  # noqa: B023
                found.setdefault(title, []).append(pair)  # noqa: B023
            for count in (2000, 20_000):
                grown = ours_grown(options.program, loss, part(rest[:count]), part(test), OPTIONS, options.threads)
                model = scikit_learn(loss, OPTIONS).fit(*part(rest[:count]))
                note(f"{name}, {count:,} rows", grown["scores"], scores_of(loss, model, rows[test]))
            own, public = rest[:500], rest[500:1500]
            for title, extra in ((f"{name}, owner of 500", None), (f"{name}, owner of 500 + 1,000", public)):
                mine = ours(options.program, "owner", part(own), part(test), [loss, seed, options.threads],
                            None if extra is None else part(extra))
                known = own if extra is None else np.concatenate([own, extra])
                note(title, mine["scores"], scikit_learn_chosen(loss, part(known), rows[test]))
        for title, pairs in found.items():
            print_line(title, loss, pairs)


def compare_times(options):
    settings = {**OPTIONS, "max_iter": 40}
    print(f"\n  {'40 trees of depth 3':<24}{'ours':>9}{'processors':>12}{'scikit-learn':>14}{'processors':>12}  seconds, "
          f"{options.threads} thread{'s' * (options.threads > 1)}")
    for count, columns in ((10_000, 40), (100_000, 100)):
        random = np.random.default_rng(1)
        rows = random.standard_normal((count, columns))
        labels = np.where(random.random(count) < 1 / (1 + np.exp(-rows[:, 0] * rows[:, 1] - rows[:, 2])), 1.0, -1.0)
        best = np.full(4, np.inf)
        for _ in range(options.repeats):
            done = ours_grown(options.program, "logistic", (rows, labels), (rows[:1], labels[:1]), settings,
                              options.threads)
            start, processor = time.perf_counter(), time.process_time()
            scikit_learn("logistic", settings).fit(rows, labels)
            best = np.minimum(best, [done["seconds"], done["processor"], time.perf_counter() - start,
                                     time.process_time() - processor])
        print(f"  {f'{count:,} x {columns}':<24}{best[0]:>9.3f}{best[1]:>12.3f}{best[2]:>14.3f}{best[3]:>12.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--data", default=os.environ.get("PARLEY_DATA"), help="folder of tables, $PARLEY_DATA if not given")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with threadpool_limits(options.threads):
        compare_times(options)
        if options.data:
            compare_tables(options)
        else:
            print("tables are left out: give their folder with --data")


if __name__ == "__main__":
    main()
