#!/usr/bin/env python3
"""Monte Carlo beside the same runs in numpy: batched over the runs and blocked over the rows.

    scripts/bench monte_carlo [--rows 90000] [--runs 100] [--repeats 1]

First the support vector machine: Wu et al., Algorithm 2, T = 100, 31 columns, three owners, Laplace
noise on every coordinate of every owner's answer in every round. numpy holds the runs as columns of
one matrix and takes the rows in blocks that stay in the cache, best of several block sizes, in single
and in double precision: plainly written, and with everything between its products in place, which
leaves little but OpenBLAS. The time is that of all rounds, from arrays in memory, and one evaluation of
the final models. Ours and numpy's runs have different draws, so that their mean fitnesses agree within
their standard errors.

Then the grid of ten epsilons times ten numbers of rows of linear regression, 750,000 x 10 records at
its largest, through second moments: everything from rows in memory to the table of 100 means.
"""

import os
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is loaded

import argparse
import json
import subprocess
import tempfile
import time

import numpy as np

COLUMNS = 31
ROUNDS = 100
SCALE = 2 * 53 * ROUNDS / (30_000 * 1.0)  # Laplace's b for a clip of 53, 30,000 rows, epsilon 1


def records(rows):
    """Heavy-tailed features of two classes, a constant, rows shortened to 53 in L1."""
    random = np.random.default_rng(1)
    labels = np.where(random.random(rows) < 0.02, 1.0, -1.0)
    features = random.standard_t(5, (rows, COLUMNS - 1)) + 0.5 * (labels[:, None] > 0)
    features = np.hstack([features, np.ones((rows, 1))])
    features *= np.minimum(1, 53 / np.abs(features).sum(axis=1))[:, None]
    return features, labels


class Plain:
    """The gradient of the mean hinge loss as one writes it: blocks, two products each."""

    def __init__(self, rows, labels, runs, block):
        starts = range(0, len(rows), block)
        self.blocks = [(rows[k:k + block], labels[k:k + block, None]) for k in starts]
        self.count = rows.dtype.type(len(rows))

    def __call__(self, theta):
        total = np.zeros_like(theta)
        for z, y in self.blocks:
            total += z.T @ np.where(y * (z @ theta) < 1, -y, y.dtype.type(0))
        return total / self.count


class InPlace:
    """The same with labels multiplied in beforehand and no temporary arrays."""

    def __init__(self, rows, labels, runs, block):
        signed = rows * labels[:, None]
        self.blocks = [signed[first:first + block] for first in range(0, len(rows), block)]
        self.margins = np.empty((block, runs), rows.dtype)
        self.short = np.empty((block, runs), bool)
        self.part = np.empty((rows.shape[1], runs), rows.dtype)

    def __call__(self, theta):
        total, count = np.zeros_like(theta), 0
        for block in self.blocks:
            margins, short = self.margins[:len(block)], self.short[:len(block)]
            np.matmul(block, theta, out=margins)
            np.less(margins, 1, out=short)
            np.copyto(margins, short)
            np.matmul(block.T, margins, out=self.part)
            total -= self.part
            count += len(block)
        return total / theta.dtype.type(count)


def value(rows, labels, theta, block):
    total = np.zeros(theta.shape[1])
    for first in range(0, len(rows), block):
        z, y = rows[first:first + block], labels[first:first + block, None]
        total += np.maximum(0, 1 - y * (z @ theta)).sum(axis=0)
    return 0.5 * (theta ** 2).sum(axis=0) + total / len(rows)


def in_numpy(kind, rows, labels, runs, block, random):
    """Fitness of the averages of all runs."""
    theta = np.zeros((COLUMNS, runs), rows.dtype)
    average, gradient = theta.copy(), kind(rows, labels, runs, block)
    eta = 1 / np.sqrt(ROUNDS)
    for k in range(1, ROUNDS - 1):
        noise = random.laplace(0, SCALE, (3,) + theta.shape).mean(axis=0).astype(rows.dtype)
        theta = np.clip(theta - (theta + gradient(theta) + noise)
                        / np.sqrt(k).astype(rows.dtype), -50, 50)
        part = rows.dtype.type((1 + eta) / (k + 1 + eta))
        average = (1 - part) * average + part * theta
    return value(rows, labels, average, block)


def timed(repeats, work):
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def best_of_numpy(kind, features, labels, options, dtype):
    """Seconds, the block size with the fastest gradient, and the fitness of the runs."""
    rows, signs = features.astype(dtype), labels.astype(dtype)
    theta = np.zeros((COLUMNS, options.runs), dtype)
    passes = {size: kind(rows, signs, options.runs, size) for size in (128, 256, 512, 1024, 4096)}
    block = min(passes, key=lambda size: timed(5, lambda: passes[size](theta))[0])
    took, fitness = timed(options.repeats, lambda: in_numpy(kind, rows, signs, options.runs, block,
                                                            np.random.default_rng(7)))
    return took, block, fitness


def ours(options, *arguments):
    command = [options.program, *(str(argument) for argument in arguments)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def write(file, rows, labels):
    np.array(rows.shape, "<u8").tofile(file)
    rows.tofile(file)
    labels.tofile(file)
    file.flush()


def compare(options):
    features, labels = records(options.rows)
    print(f"{options.runs} runs of {ROUNDS} rounds, hinge, {options.rows:,} x {COLUMNS}, beside numpy "
          f"{np.__version__} on one thread")
    with tempfile.NamedTemporaryFile() as file:
        write(file, features, labels)
        one, two = (ours(options, "svm", file.name, threads, options.runs, SCALE, 3 * options.repeats)
                    for threads in (1, 2))
    print(f"  {'ours, 1 thread':<24} {one['seconds']:6.2f} s\n  {'ours, 2 threads':<24} {two['seconds']:6.2f} s"
          f"    (rows packed in {one['pack']:.2f} s; mean fitness {one['fitness']:.4f} +- "
          f"{one['error']:.4f})")
    for kind, dtype in ((Plain, np.float32), (Plain, np.float64),
                        (InPlace, np.float32), (InPlace, np.float64)):
        took, block, fitness = best_of_numpy(kind, features, labels, options, dtype)
        name = f"numpy {dtype.__name__}, {'plain' if kind is Plain else 'in place'}"
        print(f"  {name:<24} {took:6.2f} s    {took / one['seconds']:.2f} times ours on one "
              f"thread, {took / two['seconds']:.2f} on two (blocks of {block}; mean fitness "
              f"{fitness.mean():.4f} +- {fitness.std() / np.sqrt(len(fitness)):.4f})")


def grid(options):
    random = np.random.default_rng(2)
    rows = random.normal(0, 1, (750_000, 10))
    labels = rows @ random.normal(0, .1, 10) + random.normal(0, .1, len(rows))
    print(f"10 epsilons x 10 numbers of rows x {options.runs} runs, squared, up to 750,000 x 10")
    with tempfile.NamedTemporaryFile() as file:
        write(file, rows, labels)
        for threads in (1, 2):
            result = ours(options, "grid", file.name, threads, options.runs, 5 * options.repeats)
            print(f"  ours, {threads} thread{'s' if threads > 1 else ' '}   {result['seconds']:6.3f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=90_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    compare(options)
    grid(options)


if __name__ == "__main__":
    main()
