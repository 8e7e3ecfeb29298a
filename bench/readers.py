#!/usr/bin/python3
"""The readers beside those of pandas and scikit-learn, on the same files in the same run.

    scripts/bench readers 1 > /dev/null     # builds it
    bench/readers.py build/release/bench/readers_bench [MB]

Needs python3-pandas and python3-sklearn; what is not installed is left out. Times are processor
seconds of one process, reading only; the best of three.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

PEERS = {
    "pandas.read_csv": ("csv", "import pandas; f = lambda p: pandas.read_csv(p)"),
    "numpy.loadtxt": ("csv", "import numpy; f = lambda p: numpy.loadtxt(p, delimiter=',', skiprows=1)"),
    "sklearn load_svmlight_file": (
        "sparse", "from sklearn.datasets import load_svmlight_file; f = lambda p: load_svmlight_file(p)"),
}
TIMED = """
import resource, sys, time
{prepare}
before = time.process_time()
f(sys.argv[1])
print(time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
"""


def lines(kind, columns, chance):
    for _ in range(4000):
        if kind == "csv":
            yield ",".join(f"{chance.uniform(-100, 100):.6g}" for _ in range(columns + 1)) + "\n"
        else:
            at = sorted(chance.sample(range(1, columns + 1), 14))
            yield chance.choice(["-1", "+1"]) + "".join(f" {j}:1" for j in at) + "\n"


def write(path, kind, columns, mb):
    block = "".join(lines(kind, columns, random.Random(1)))
    with open(path, "w") as file:
        if kind == "csv":
            file.write(",".join([*(f"f{j + 1}" for j in range(columns)), "y"]) + "\n")
        for _ in range(int(mb * 1e6 / len(block)) + 1):
            file.write(block)


def ours(binary, kind, path, columns):
    out = subprocess.run([binary, "file", kind, path, str(columns)], check=True, text=True,
                         capture_output=True).stdout
    words = out.split()
    return float(words[words.index("rows") + 1]), float(words[words.index("peak") + 1])


def peer(prepare, path):
    done = subprocess.run([sys.executable, "-c", TIMED.format(prepare=prepare), path], text=True,
                          capture_output=True, check=False)
    return tuple(map(float, done.stdout.split())) if done.returncode == 0 else None


def main():
    binary, mb = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as folder:
        for kind, columns in [("csv", 20), ("sparse", 123)]:
            path = str(pathlib.Path(folder) / kind)
            write(path, kind, columns, mb)
            size = pathlib.Path(path).stat().st_size / 1e6
            own, memory = min(ours(binary, kind, path, columns) for _ in range(3))
            print(f"{kind}, {size:.0f} MB: parley {own:.2f} s, {size / own:.0f} MB/s, "
                  f"peak {memory:.0f} MB")
            for name, (its, prepare) in PEERS.items():
                runs = [peer(prepare, path) for _ in range(3)] if its == kind else []
                if not runs or None in runs:
                    continue
                seconds, memory = min(runs)
                print(f"  {name}: {seconds:.2f} s, {size / seconds:.0f} MB/s, peak {memory:.0f} MB "
                      f"with Python; parley takes {own / seconds:.2f} of its time")


if __name__ == "__main__":
    main()
