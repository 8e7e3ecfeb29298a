#!/usr/bin/python3
"""A learner with many owners: rounds per second, its processor time and its memory.

    scripts/bench learner [rounds]

The real `parley learner run`, mutual TLS, 1,000 parameters, signed receipts; the owners are threads of one
other process that answer at once, without records, noise or a disk. The bound is what two threads reach that
pass as many bytes over loopback and do nothing else. On a machine with few processors the owners' work
(TLS, hashes, signatures) takes a part of the time: "learner ms/answer" is the learner's own, and "of it alone" how many
rounds a second that would allow.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

OWNERS = (2, 50, 200)
NUMBERS = 1000


def rounds_of(owners, rounds):
    """Fewer where a round has more answers, so that all takes a minute or so."""
    return max(12, rounds * 50 // max(owners, 50))


def port_of(log, learner):
    for line in log:
        if found := re.search(r"listening on port (\d+)", line):
            return found[1]
    sys.exit(f"the learner ended with {learner.wait()}")


def measure(bench, parley, owners, rounds):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([bench, "prepare", folder, str(owners), str(rounds), str(NUMBERS)], check=True)
        with open(folder / "log", "w+", encoding="utf8") as log:
            learner = subprocess.Popen(
                [parley, "--quiet", "--json", "learner", "run", folder / "job.charter.toml", "--identity",
                 folder, "--listen", "127.0.0.1:0", "--out", folder / "job"],
                stdout=log, stderr=subprocess.PIPE, text=True)
            port = port_of(learner.stderr, learner)
            fake = subprocess.Popen([bench, "owners", folder, port, str(learner.pid)],
                                    stdout=subprocess.PIPE, text=True)
            for _ in learner.stderr:  # So that it can go on writing.
                pass
            _, status, used = os.wait4(learner.pid, 0)
            measured = fake.communicate()[0]
        if status or fake.returncode:
            sys.exit(f"the learner ended with {status}, the owners with {fake.returncode}")
        rate, processor = map(float, measured.split())
        return rate, processor, used.ru_maxrss / 1024


def main():
    bench = pathlib.Path(sys.argv[1]).resolve()
    parley = bench.parent.parent / "parley"
    rounds = int((sys.argv[2:] or ["100"])[0])
    size = 8 * NUMBERS + 200  # of a question, and about of an answer
    print(f"{'owners':>6} {'rounds':>6} {'rounds/s':>9} {'loopback bound':>15} {'MB/round':>9} "
          f"{'learner ms/answer':>18} {'of it alone':>12} {'peak MB':>8} {'kB/owner':>9}")
    before = None
    for owners in OWNERS:
        count = rounds_of(owners, rounds)
        rate, processor, peak = measure(bench, parley, owners, count)
        bound = float(subprocess.run([bench, "bound", str(owners), str(size), str(count)], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout)
        more = "" if before is None else f"{1024 * (peak - before[1]) / (owners - before[0]):,.0f}"
        print(f"{owners:>6} {count:>6} {rate:>9,.1f} {bound:>15,.0f} {2e-6 * owners * size:>9.2f} "
              f"{1e3 * processor:>18.3f} {1 / (owners * max(processor, 1e-9)):>12,.0f} {peak:>8.1f} {more:>9}")
        before = (owners, peak)


if __name__ == "__main__":
    main()
