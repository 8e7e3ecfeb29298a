"""Plays jobs of all protocols under faults that follow from seeds; see --help."""

import argparse
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

import attacks
import job
import plan
import self_test
from faults import can
from worlds import WORLDS


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/soak", description="Plays real processes of all protocols under a seeded plan "
        "of faults, and checks every job afterwards. Exit status 1: something was violated.")
    parser.add_argument("minutes", nargs="?", type=float, help="how long new jobs are begun")
    parser.add_argument("--seed", type=int, help="of the first job; the next has the next one")
    parser.add_argument("--jobs", type=int, help="how many, instead of minutes")
    parser.add_argument("--at-once", type=int, default=2, help="jobs at the same time (2)")
    parser.add_argument("--protocol", choices=WORLDS, action="append",
                        help="only this one (then a seed is of another plan)")
    parser.add_argument("--only", action="append", choices=plan.WEIGHTS, metavar="FAULT",
                        help="keep only faults of this kind")
    parser.add_argument("--attacks", type=int, nargs="?", const=2000, metavar="ROUNDS",
                        help="measure an honest job of so many rounds under each attack instead")
    parser.add_argument("--self-test", action="store_true",
                        help="plant violations and see that each is found")
    return parser.parse_args()


class Soak:
    def __init__(self, chosen, folder):
        self.chosen, self.folder = chosen, folder
        self.first = random.randrange(10**8) if chosen.seed is None else chosen.seed
        self.counts, self.violations = collections.Counter(), {}
        self.lock, self.stopped = threading.Lock(), threading.Event()
        self.jobs, self.next = collections.Counter(), self.first
        self.templates = folder / "made"
        self.templates.mkdir()

    def seeds(self):
        """One after the other, until it is enough."""
        end = time.monotonic() + 60 * (self.chosen.minutes or 10)
        while not self.stopped.is_set():
            with self.lock:
                begun = self.next - self.first
                if self.chosen.jobs is not None and begun >= self.chosen.jobs:
                    return
                if self.chosen.jobs is None and time.monotonic() > end:
                    return
                self.next += 1
            yield self.first + begun

    def work(self):
        for seed in self.seeds():
            drawn = plan.drawn(seed, can, tuple(self.chosen.protocol or WORLDS))
            if self.chosen.only:
                drawn.faults = drawn.befalls(*self.chosen.only)
            with contextlib.suppress(job.Interrupted):
                played = job.play(drawn, self.folder, self.templates, self.stopped)
                with self.lock:
                    self.note(drawn, *played)

    def note(self, drawn, counts, violation, seconds):
        self.jobs[drawn.protocol] += 1
        self.counts.update(counts)
        faults = "; ".join(map(str, drawn.faults))
        print(f"seed {drawn.seed}: {drawn.protocol}, {seconds:.1f} s: {faults}: "
              f"{'VIOLATED: ' + violation if violation else 'well'}", flush=True)
        if violation:
            self.violations[drawn.seed] = (drawn.protocol, violation)

    def run(self):
        print(f"first seed {self.first}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(self.chosen.at_once) as workers:
            for done in [workers.submit(self.work) for _ in range(self.chosen.at_once)]:
                done.result()
        self.summary()
        return 1 if self.violations else 0

    def stop(self, *_):
        """No new job; the ones that run are ended and count as nothing."""
        print("interrupted", flush=True)
        self.stopped.set()

    def summary(self):
        print("\n| what | how often |\n|---|---|")
        print(f"| jobs | {sum(self.jobs.values())} |")
        for name, count in sorted(self.jobs.items()):
            print(f"| jobs of {name} | {count} |")
        for what, count in sorted(self.counts.items()):
            print(f"| {what.replace('_', ' ')} | {count} |")
        left_out = [kind for kind in plan.WEIGHTS if not can(kind)]
        if left_out:
            print(f"| left out on this machine: {', '.join(left_out)} | |")
        print(f"| violations | {len(self.violations)} |")
        for seed, (protocol, what) in self.violations.items():
            print(f"\nseed {seed} ({protocol}): {what.splitlines()[0]}")


def main():
    chosen = arguments()
    with tempfile.TemporaryDirectory(prefix="soak-", dir=os.environ.get("PARLEY_SOAK_FOLDER"),
                                     ignore_cleanup_errors=True) as place:
        folder = pathlib.Path(place).resolve()
        if chosen.self_test:
            return self_test.run(folder)
        if chosen.attacks is not None:
            return attacks.table(folder, chosen.attacks)
        soak = Soak(chosen, folder)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, soak.stop)
        return soak.run()


if __name__ == "__main__":
    sys.exit(main())
