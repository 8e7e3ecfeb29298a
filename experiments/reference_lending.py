#!/usr/bin/env python3
"""The lending-like data on which the numpy reference measured the ladder (docs/results/ladder.md).

    pip install numpy
    experiments/reference_lending.py FOLDER [--rows 10000] [--seed 1]

Writes bank-a.csv, bank-b.csv, bank-c.csv and pilot.csv. `parley data generate lending` follows the
same laws with other random numbers, and needs no numpy.
"""

import argparse
import csv
import os

import numpy as np


def attributes(n, rng, drift):
    """22 attributes and an interest rate in percent; the position in the file is time."""
    t = np.linspace(0, 1, n, endpoint=False)
    q = rng.standard_normal(n)  # credit quality
    grade = np.searchsorted([-.966, -.113, .618, 1.213, 1.852, 2.512], q).astype(float)
    sub = np.clip(np.floor((q + 2.2) * 7.2), 0, 34)
    u = rng.standard_normal(n)
    income = np.exp(11.08 + .55 * (.9 * u - .25 * q))
    amount = np.exp(9.45 + .6 * (.45 * u + .85 * rng.standard_normal(n) + .1 * q))
    amount = np.minimum(np.clip(amount, 500, 40000), 35000)
    term = (rng.random(n) < 1 / (1 + np.exp(1.2 - .9 * q - .00003 * (amount - 15000)))).astype(float)
    employed = np.clip(rng.integers(0, 14, n), 0, 10).astype(float)
    home = rng.choice([1., 2., 3.], n, p=[.5, .4, .1])
    verified = rng.choice([1., 2., 3.], n, p=[.30, .37, .33])
    dti = np.clip(18 + 8 * (.8 * rng.standard_normal(n) + .25 * q - .2 * u), 0, 40)
    delinquent = rng.poisson(.31 * np.exp(.25 * q))
    inquiries = rng.poisson(.69 * np.exp(.25 * q))
    accounts = np.clip(11.5 + 5.3 * rng.standard_normal(n) + 1.0 * u, 1, 60)
    records = rng.poisson(.2, n)
    balance = np.exp(9.35 + 1.0 * (.6 * u + .8 * rng.standard_normal(n)))
    used = np.clip(55 + 24 * (.4 * q + .9 * rng.standard_normal(n)), 0, 120)
    total = np.clip(accounts * 1.6 + 7 + 7 * rng.standard_normal(n), 2, 130)
    state = rng.integers(1, 52, n).astype(float)
    purpose = rng.choice(np.arange(1, 15.), n)
    collections = rng.poisson(.015, n)
    age = np.clip(rng.normal(41, 12, n), 18, 85)
    rate = (4.05 + .46 * sub * (1 + drift * .30 * (.5 - t)) + .55 * grade + 1.1 * term + .010 * used +
            .25 * inquiries - drift * 1.2 * (t - .5) - drift * 1.0 * (t - .5) * term +
            rng.normal(0, 1.15, n))
    rate = np.clip(rate, 5.32, 28.99)
    instalment = (amount * (rate / 1200) / (1 - (1 + rate / 1200) ** (-(36 + 24 * term))) *
                  (1 + .02 * rng.standard_normal(n)))
    return np.column_stack([amount, term, grade, sub, employed, home, np.log(income), verified, dti,
                            delinquent, inquiries, accounts, records, np.log(balance), used, total,
                            state, purpose, collections, age, instalment, income / 1e4]), rate


def features(raw, pilot, count=10):
    """Standardised, rotated and whitened by the pilot, the last rows."""
    public = raw[-pilot:]
    z = (raw - public.mean(0)) / (public.std(0) + 1e-9)
    values, vectors = np.linalg.eigh(np.cov(z[-pilot:].T))
    order = np.argsort(values)[::-1][:count]
    return z @ vectors[:, order] / np.sqrt(values[order])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=10_000, help="of each owner")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    pilot, owners = 10_000, ["bank-a", "bank-b", "bank-c"]
    raw, rate = attributes(len(owners) * options.rows + pilot, np.random.default_rng(options.seed), .7)
    z = features(raw, pilot)
    os.makedirs(options.folder, exist_ok=True)
    for i, name in enumerate(owners + ["pilot"]):
        begin = i * options.rows
        end = len(z) if name == "pilot" else begin + options.rows
        with open(os.path.join(options.folder, name + ".csv"), "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([f"pc{j + 1}" for j in range(z.shape[1])] + ["int_rate"])
            for row, label in zip(z[begin:end], rate[begin:end]):
                writer.writerow([repr(float(v)) for v in row] + [repr(float(label))])


if __name__ == "__main__":
    main()
