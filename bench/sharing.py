#!/usr/bin/env python3
"""ADMM sharing of columns beside numpy with cached factors and beside scipy, as the paper describes
its prototype: same data, same iteration, one run.

    scripts/bench sharing [--data FOLDER] [--repeats 3]

FOLDER holds a9a/a9a.zst; without it that problem is left out. gisette-like is made: 6,000 x 5,000,
pixel-like columns in [-1, 1] of which half are permuted copies. Ours is timed on two threads with
its factors; numpy too, whose BLAS may use both cores. scipy solves every party's step by L-BFGS-B
with a gradient and every record's by L-BFGS-B on the vector of all, with its default tolerances,
for one round, started where numpy has got after two: that round is repeated in thought.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import time

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse

from solver import a9a

ROUNDS, RHO = 20, 0.1


def gisette_like(rows=6000, columns=5000, seed=7):
    random = np.random.default_rng(seed)
    factors, half = 40, columns // 2
    hidden = random.standard_normal((rows, factors))
    loads = random.standard_normal((factors, half)) * (random.random((factors, half)) < 0.15)
    pixels = hidden @ loads + 0.5 * random.standard_normal((rows, half))
    pixels = np.maximum(pixels - np.quantile(pixels, 0.87), 0)
    pixels = np.minimum(pixels / np.quantile(pixels[pixels > 0], 0.99), 1)
    probes = np.stack([pixels[random.permutation(rows), j] for j in range(half)], axis=1)
    table = np.concatenate([pixels, probes], axis=1)[:, random.permutation(columns)]
    direction = random.standard_normal(factors)
    score = hidden @ direction / np.linalg.norm(direction) + 0.05 * random.standard_normal(rows)
    return 2 * table - 1, np.where(score > 0, 1.0, -1.0)


def sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


def prox(centre, labels, rho):
    a = labels * centre
    w = np.clip(0.0, a, a + 1 / rho)
    for _ in range(40):
        p = sigmoid(-w)
        move = (w - a - p / rho) / (1 + p * (1 - p) / rho)
        w = w - move
        if np.max(np.abs(move) / (1 + np.abs(w))) < 1e-14:
            break
    return labels * w


class Sharing:
    """The iteration of learn/vertical/admm/admm.h, in Boyd's scaling."""

    def __init__(self, parts, labels, lam):
        self.parts, self.labels, self.lam = parts, labels, lam
        self.c, self.rho_z = 1 / len(parts), RHO / len(parts)
        self.shares = [np.zeros(len(labels)) for _ in parts]
        self.models = [np.zeros(part.shape[1]) for part in parts]
        self.sum, self.z, self.y = np.zeros(len(labels)), np.zeros(len(labels)), -labels / 2

    def factor(self):
        self.factors = []
        for part in self.parts:
            gram = part.T @ part
            gram = np.asarray(gram.todense()) if scipy.sparse.issparse(gram) else gram
            gram[np.diag_indices_from(gram)] += self.lam / RHO
            self.factors.append(scipy.linalg.cho_factor(gram, lower=True, overwrite_a=True))

    def cached(self, m, v):
        return scipy.linalg.cho_solve(self.factors[m], self.parts[m].T @ v)

    def by_scipy(self, m, v):
        part = self.parts[m]

        def value(x):
            rest = part @ x - v
            return (self.lam / 2 * x @ x + RHO / 2 * rest @ rest,
                    self.lam * x + RHO * (part.T @ rest))
        return scipy.optimize.minimize(value, self.models[m], jac=True, method="L-BFGS-B").x

    def prox_by_scipy(self, centre, labels, rho):
        def value(z):
            margin = labels * z
            return (np.logaddexp(0, -margin).sum() + rho / 2 * ((z - centre) ** 2).sum(),
                    -labels * sigmoid(-margin) + rho * (z - centre))
        return scipy.optimize.minimize(value, self.z, jac=True, method="L-BFGS-B").x

    def round(self, solve, nearest):
        h = self.c * (self.sum - self.z) + self.y / RHO
        for m, part in enumerate(self.parts):
            self.models[m] = solve(m, self.shares[m] - h)
            self.shares[m] = np.asarray(part @ self.models[m]).ravel()
        self.sum = sum(self.shares)
        self.z = nearest(self.sum + self.y / self.rho_z, self.labels, self.rho_z)
        self.y = self.y + self.rho_z * (self.sum - self.z)

    def objective(self):
        squares = sum(model @ model for model in self.models)
        return np.logaddexp(0, -self.labels * self.sum).mean() + self.lam / 2 * squares / len(self.labels)


def ours(program, rows, labels, sparse, lam, widths, repeats):
    with tempfile.NamedTemporaryFile() as file:
        file.write(struct.pack("<QQ", *rows.shape))
        rows.astype("<f8").tofile(file)
        labels.astype("<f8").tofile(file)
        file.flush()
        command = [program, file.name, str(int(sparse)), repr(lam), repr(RHO), str(ROUNDS), "2",
                   str(repeats), *map(str, widths)]
        return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def compare(title, data, sparse, lam, widths, options):
    rows, labels = data
    found = ours(options.program, rows, labels, sparse, lam, widths, options.repeats)
    ends = np.cumsum(widths)
    parts = [rows[:, end - width:end] for end, width in zip(ends, widths)]
    parts = [scipy.sparse.csr_matrix(part) if sparse else np.ascontiguousarray(part) for part in parts]
    numpy_run = Sharing(parts, labels, lam)
    start = time.perf_counter()
    numpy_run.factor()
    factored = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(ROUNDS):
        numpy_run.round(numpy_run.cached, prox)
    numpy_s = time.perf_counter() - start
    scipy_run = Sharing(parts, labels, lam)
    scipy_run.factor()
    for _ in range(2):
        scipy_run.round(scipy_run.cached, prox)
    start = time.perf_counter()
    scipy_run.round(scipy_run.by_scipy, scipy_run.prox_by_scipy)
    scipy_s = time.perf_counter() - start
    print(f"\n{title}: {rows.shape[0]:,} x {rows.shape[1]:,} at {len(widths)} parties, logistic")
    print(f"  {'':<30}{'factors, ms':>12}{'round, ms':>11}{f'{ROUNDS} rounds, ms':>15}{'objective':>12}")
    each = (found["seconds"] - found["first"]) / (ROUNDS - 1)
    line = "  {:<30}{:>12.1f}{:>11.2f}{:>15.0f}{:>12.6f}"
    print(line.format("parley, two threads", 1e3 * (found["first"] - each), 1e3 * each,
                      1e3 * found["seconds"], found["objective"]))
    print(line.format("numpy, cached factors", 1e3 * factored, 1e3 * numpy_s / ROUNDS,
                      1e3 * (factored + numpy_s), numpy_run.objective()))
    print(f"  {'scipy, L-BFGS-B, one round':<30}{'':>12}{1e3 * scipy_s:>11.0f}{1e3 * ROUNDS * scipy_s:>15.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--data", default=os.environ.get("PARLEY_DATA"))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.data and (pathlib.Path(options.data) / "a9a" / "a9a.zst").exists():
        compare("a9a", a9a(options.data), True, 1.0, [66, 57], options)
    compare("gisette-like", gisette_like(), False, 60.0, [2000, 2000, 1000], options)


if __name__ == "__main__":
    main()
