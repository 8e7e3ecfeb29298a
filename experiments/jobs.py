"""Jobs on real rows for the experiments beside this file: a charter whose columns are prepared from its
pilot, `parley simulate` and `parley predict` on it, and constants chosen on the pilot's rows alone."""

import concurrent.futures
import csv
import hashlib
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from charters import block  # noqa: E402

NEWTON = {"protocol.rule": "pilot_newton", "protocol.average": "tail", "protocol.start": "pilot"}
POOL = concurrent.futures.ThreadPoolExecutor(2)


def unpack(file):
    """The text of a file of the data folder, PARLEY_DATA."""
    folder = os.environ.get("PARLEY_DATA") or sys.exit("set PARLEY_DATA to the folder of the data")
    return subprocess.run(["zstd", "-dc", f"{folder}/{file}.zst"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def run(command, cwd=None):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=cwd)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


class Job:
    """`task` has target, columns, model and prepare; rows are dicts, or lines of a LIBSVM file."""

    def __init__(self, parley, folder, task, pilot, owners):
        self.parley, self.task, self.folder = parley, task, pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.owners = {name: len(rows) for name, rows in owners.items()}
        self.rows = sum(self.owners.values())
        self.ending = ".csv" if isinstance(pilot[0], dict) else ".libsvm"
        self.pilot = pilot
        for name, rows in {"pilot": pilot, **owners}.items():
            self.write(name, rows)
        self.charters, self.preprocess = {}, ""
        self.prepare()

    def write(self, name, rows):
        path = self.folder / (name + self.ending)
        with open(path, "w", newline="") as file:
            if self.ending == ".csv":
                writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            else:
                file.writelines(rows)
        return path

    def prepare(self):
        """The bundle of the pilot; a task with prepare = None goes without one."""
        if self.task["prepare"] is not None:
            run([self.parley, "data", "prepare", self.charter(list(self.owners)), "--pilot",
                 self.folder / ("pilot" + self.ending), *self.task["prepare"], "--out",
                 self.folder / "bundle.json"])
            sha = hashlib.sha256((self.folder / "bundle.json").read_bytes()).hexdigest()
            self.preprocess = block("[preprocess]", {"bundle": "bundle.json", "sha256": sha})
            self.charters = {}

    def charter(self, owners):
        key = tuple(owners)
        if key not in self.charters:
            pilot = "pilot" + self.ending
            sha = hashlib.sha256((self.folder / pilot).read_bytes()).hexdigest()
            text = "\n".join([
                block("[charter]", {"version": 1, "name": "real", "consortium": "real.example"}),
                block("[pilot]", {"file": pilot, "sha256": sha, "rows": len(self.pilot)}),
                self.preprocess, block("[target]", self.task["target"]), *self.task["columns"],
                block("[model]", {"bias": True, **self.task["model"]}),
                block("[protocol]", {"name": "sync", "rule": "constant", "rounds": 1, "step": 1.0}),
                block("[privacy]", {"max_grad_norm": 8.0, "evaluate": 0.0}),
                *[block("[[owner]]", {"name": o, "rows": self.owners[o], "epsilon": 1.0}) for o in owners],
                block("[learner]", {"name": "learner"})])
            path = self.folder / f"{hashlib.sha256(repr(key).encode()).hexdigest()[:12]}.charter.toml"
            path.write_text(text)
            self.charters[key] = path
        return self.charters[key]

    def simulate(self, keys, epsilon, seed=1, runs=1, owners=None):
        """The result and the model's file."""
        owners = owners or list(self.owners)
        keys = {**keys, **{f"owner.{i}.epsilon": epsilon for i in range(len(owners))}}
        name = hashlib.sha256(repr((keys, seed, runs, owners)).encode()).hexdigest()[:16]
        out = self.folder / "runs" / name
        command = [self.parley, "simulate", self.charter(owners), "--data", self.folder, "--runs", runs,
                   "--seed", seed, "--threads", 1, "--json", "--out", out]
        for key, value in keys.items():
            command += ["--set", f"{key}={value}"]
        return json.loads(run(command))["result"], out / "model.json"

    def scores(self, model, file):
        return [float(line) for line in run([self.parley, "predict", model, file]).split("\n")[1:] if line]

    def pilot_alone(self):
        """The pilot's best model: a job whose step is next to nothing, and so is what the owners add."""
        keys = {**NEWTON, "protocol.rounds": 1, "protocol.step": 1e-12, "privacy.max_grad_norm": 1}
        return self.simulate(keys, 1)[1]


def newton(clips, rounds=(1, 3), steps=(0.1, 0.3, 1.0)):
    return [{**NEWTON, "protocol.rounds": t, "protocol.step": s, "privacy.max_grad_norm": c}
            for c, t, s in itertools.product(clips, rounds, steps)]


class Chooser:
    """Chooses constants on public rows: half of them is a pilot, the other half plays one owner, whose
    epsilon is so much larger that the noise in the mean gradient is that of the real owners; then the
    halves change places."""

    def __init__(self, job):
        halves = [job.pilot[0::2], job.pilot[1::2]]
        self.jobs = [Job(job.parley, job.folder / f"chooser-{i}", job.task, halves[i], {"player": halves[1 - i]})
                     for i in range(2)]

    def judge(self, keys, epsilon, rows, owners):
        scaled = [epsilon * rows / (job.rows * math.sqrt(owners)) for job in self.jobs]
        return sum(job.simulate(keys, e, 2, 6)[0]["fitness"]["mean"] for job, e in zip(self.jobs, scaled))

    def choose(self, candidates, epsilon, rows, owners):
        found = list(POOL.map(lambda keys: self.judge(keys, epsilon, rows, owners), candidates))
        return candidates[found.index(min(found))]


def constants(keys):
    rounds = keys["protocol.rounds"]
    return (f"clip {keys['privacy.max_grad_norm']:g}, {rounds} round{'s' * (rounds > 1)}, "
            f"step {keys['protocol.step']:g}")
