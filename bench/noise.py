#!/usr/bin/env python3
"""Draws per second of one core, ours beside OpenDP's and numpy's, in one run.

    scripts/bench noise [seconds]

Ours and OpenDP's are exact discrete Gaussians from a cryptographic generator; OpenDP draws a vector in one
call. numpy's are floating-point numbers from a generator that anyone can predict, rounded: not a
mechanism, but what noise costs at the least. Both come from PyPI into a virtual environment under
build/.
"""

import subprocess
import sys
import time

import pypi

pypi.need("numpy", "opendp")
import numpy  # noqa: E402 pylint: disable=wrong-import-position
import opendp.prelude as dp  # noqa: E402 pylint: disable=wrong-import-position


def best(draw, count, seconds):
    """Most draws per second over batches of `count`."""
    fastest, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end or fastest == float("inf"):
        start = time.perf_counter()
        draw()
        fastest = min(fastest, time.perf_counter() - start)
    return count / fastest


def report(name, parameter, rate):
    print(f"{name:<24} {parameter:<14} {rate / 1e6:8.3f} M/s", flush=True)


def opendp_gaussian(scale, count, seconds):
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    mechanism = dp.m.make_gaussian(*space, scale=scale)
    zeros = [0] * count
    return best(lambda: mechanism(zeros), count, seconds)


def main():
    seconds = (sys.argv[2:] or ["1"])[0]
    subprocess.run([sys.argv[1], seconds], check=True)
    seconds = float(seconds)
    for bits in (3, 10, 20, 33):
        report("OpenDP, exact Gaussian", f"sigma 2^{bits}", opendp_gaussian(2.0 ** bits, 20_000, seconds))
    generator, count = numpy.random.default_rng(), 1_000_000
    for bits in (3, 33):
        report("numpy, rounded", f"sigma 2^{bits}",
               best(lambda: numpy.rint(generator.normal(0, 2.0 ** bits, count)).astype("i8"), count, seconds))


if __name__ == "__main__":
    main()
