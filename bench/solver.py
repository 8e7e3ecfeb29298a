#!/usr/bin/env python3
"""Our reference optima beside liblinear and scikit-learn: same rows, same objective, one run.

    scripts/bench solver [--data FOLDER] [--repeats 5] [--threads 2]

FOLDER holds a9a/a9a.zst; without it that problem is left out. For each problem the best time of every solver is
shown with its gap: its fitness over the best one that any solver found, minus 1, computed from its
theta by the same numpy code; ours also shows the gap that it certifies. The time of ours includes
all that is made from the rows; that of scikit-learn and liblinear is of fit/train on arrays that
are already converted.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import time
import warnings

import numpy as np

BOX = 1e6  # does not cut


def a9a(folder):
    packed = pathlib.Path(folder) / "a9a" / "a9a.zst"
    text = subprocess.run(["zstd", "-dcq", packed], capture_output=True, check=True, text=True).stdout
    lines = [line.split() for line in text.splitlines()]
    rows, labels = np.zeros((len(lines), 123)), np.array([float(line[0]) for line in lines])
    for i, line in enumerate(lines):
        for word in line[1:]:
            index, value = word.split(":")
            rows[i, int(index) - 1] = float(value)
    return rows, labels


def regression(count=750_000, columns=10):
    random = np.random.default_rng(1)
    rows = random.standard_normal((count, columns))
    return rows, 0.1 * rows @ random.standard_normal(columns) + 0.1 * random.standard_normal(count)


def fraud(count=90_000, columns=31):
    """Heavy tails, one class in ten, a constant column: like card payments."""
    random = np.random.default_rng(2)
    labels = np.where(random.random(count) < 0.1, 1.0, -1.0)
    rows = random.standard_t(5, (count, columns))
    rows[:, :5] += 1.2 * (labels[:, None] > 0)
    rows[:, -1] = 1
    return rows, labels


def fitness(loss, rows, labels, theta, l2):
    score = rows @ theta
    margin = labels * score
    terms = {"squared": lambda: (score - labels) ** 2,
             "logistic": lambda: np.logaddexp(0, -margin),
             "hinge": lambda: np.maximum(0, 1 - margin)}[loss]()
    return terms.mean() + l2 / 2 * theta @ theta


def ours(program, loss, rows, labels, l2, threads, repeats):
    with tempfile.NamedTemporaryFile() as file:
        file.write(struct.pack("<QQ", *rows.shape))
        rows.astype("<f8").tofile(file)
        labels.astype("<f8").tofile(file)
        file.flush()
        command = [program, file.name, loss, repr(l2), repr(BOX), str(threads), str(repeats)]
        done = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    return min(done["seconds"]), np.array(done["theta"]), done["gap"]


def timed(repeats, solve):
    best, theta = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        theta = solve()
        best = min(best, time.perf_counter() - start)
    return best, np.asarray(theta).ravel()


def liblinear(kind, rows, labels, l2, tolerance):
    """The sum form: |w|^2/2 + C sum of losses, C = 1/(n l2)."""
    import liblinearutil
    # Lists, because Debian's binding knows an older scipy only.
    sparse = [{int(j) + 1: float(row[j]) for j in np.flatnonzero(row)} for row in rows]
    problem = liblinearutil.problem(labels.tolist(), sparse)
    options = liblinearutil.parameter(f"-s {kind} -c {1 / (len(labels) * l2)} -e {tolerance} -q")

    def solve():
        model = liblinearutil.train(problem, options)
        sign = 1 if model.get_labels()[0] == 1 else -1
        return sign * np.array(model.get_decfun()[0])
    return solve


def scikit_learn(loss, rows, labels, l2, tolerance):
    from sklearn import linear_model, svm
    c = 1 / (len(labels) * l2) if l2 > 0 else None
    if loss == "squared":
        model = linear_model.LinearRegression(fit_intercept=False)
    elif loss == "logistic":
        model = linear_model.LogisticRegression(C=c, fit_intercept=False, tol=tolerance,
                                                solver="newton-cholesky", max_iter=1000)
    else:
        model = svm.LinearSVC(C=c, loss="hinge", dual=True, fit_intercept=False, tol=tolerance,
                              max_iter=20000)
    return lambda: model.fit(rows, labels).coef_


def normal_equations(rows, labels, l2):
    def solve():
        hessian = 2 * rows.T @ rows / len(labels) + l2 * np.eye(rows.shape[1])
        return np.linalg.solve(hessian, 2 * rows.T @ labels / len(labels))
    return solve


def compare(title, loss, data, l2, others, options):
    rows, labels = data
    found = []
    for threads in range(1, options.threads + 1):
        seconds, theta, certified = ours(options.program, loss, rows, labels, l2, threads,
                                         options.repeats)
        found.append((f"parley, {threads} thread{'s' * (threads > 1)}", seconds, theta, certified))
    for name, solve in others(rows, labels):
        seconds, theta = timed(options.repeats, solve)
        found.append((name, seconds, theta, None))
    values = [fitness(loss, rows, labels, theta, l2) for _, _, theta, _ in found]
    print(f"\n{title}: {rows.shape[0]:,} x {rows.shape[1]}, {loss}, l2 = {l2:.4g}, "
          f"best fitness {min(values):.12g}")
    print(f"  {'solver':<34}{'ms':>9}{'times ours':>12}{'gap':>10}{'certified':>11}")
    for (name, seconds, _, certified), value in zip(found, values):
        print(f"  {name:<34}{1e3 * seconds:>9.1f}{seconds / found[0][1]:>12.2f}"
              f"{value / min(values) - 1:>10.1e}"
              f"{'' if certified is None else f'{certified:.1e}':>11}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--data", default=os.environ.get("PARLEY_DATA"),
                        help="folder with a9a/a9a.zst, $PARLEY_DATA if not given")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")  # scikit-learn's about convergence: the gap says it
    if options.data:
        data = a9a(options.data)
        l2 = 1 / len(data[1])
        compare("a9a", "logistic", data, l2, lambda x, y: [
            ("liblinear -s 0, default", liblinear(0, x, y, l2, 0.01)),
            ("liblinear -s 0, -e 1e-4", liblinear(0, x, y, l2, 1e-4)),
            ("scikit-learn newton-cholesky 1e-6", scikit_learn("logistic", x, y, l2, 1e-6))], options)
    else:
        print("a9a is left out: give its folder with --data")
    compare("least squares", "squared", regression(), 0.0, lambda x, y: [
        ("numpy normal equations", normal_equations(x, y, 0.0)),
        ("scikit-learn LinearRegression", scikit_learn("squared", x, y, 0.0, 0))], options)
    for l2 in (1e-3, 1e-5):
        compare("fraud-like", "hinge", fraud(), l2, lambda x, y, l2=l2: [
            ("liblinear -s 3, default", liblinear(3, x, y, l2, 0.1)),
            ("LinearSVC 1e-4, 20,000 passes", scikit_learn("hinge", x, y, l2, 1e-4))],
            options)


if __name__ == "__main__":
    main()
